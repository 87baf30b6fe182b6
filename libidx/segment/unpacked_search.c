/* unpacked_search.c: searches unpacked tables (see unpacked.h). The probes of a part, and of several queries, go
 * through stages in groups: prefetch where the bucket begins; prefetch the bucket; compare. So the waits for memory
 * overlap. */
#include "format/processor.h"
#include "libidx/fingerprints/lanes_avx2.h"
#include "libidx/segment/unpacked_tables.h"

/* Probes that go through the stages together. */
#define GROUP 32

struct probe {
    const uint32_t *start;
    const uint64_t *bucket;
    size_t count, query;
    uint64_t fingerprint; /* the query's */
    unsigned part;
};

struct group {
    size_t count;
    struct probe probes[GROUP];
};

struct search {
    const struct idxi_unpacked *unpacked;
    const struct idxi_bucket_way *way;
    unsigned distance;
    const int *radii;
    idxi_unpacked_visitor visit;
    void *context;
    bool stopped;
    struct group *beginning, *waiting;
    struct group groups[2];
};

struct idxi_bucket_way {
    void (*compare)(struct search *search, const struct group *group);
};

/* ---- Matches ---- */

/* Whether a part before this one finds it as well. */
static bool is_found_before(const struct search *search, unsigned number, uint64_t errors) {
    for (unsigned i = 0; i < number; i++) {
        const struct idxi_part *part = &search->unpacked->layout.parts[i];
        if ((int)idxf_count_bits(idxi_part_value(part, errors)) <= search->radii[i]) return true;
    }
    return false;
}

__attribute__((noinline)) static void report(struct search *search, const struct probe *probe, uint64_t fingerprint) {
    if (search->stopped || is_found_before(search, probe->part, fingerprint ^ probe->fingerprint)) return;
    search->stopped = !search->visit(search->context, probe->query, fingerprint);
}

/* ---- Comparing ---- */

IDXF_INLINE void compare_each(struct search *search, const struct group *group) {
    for (size_t i = 0; i < group->count; i++) {
        const struct probe *probe = &group->probes[i];
        for (size_t j = 0; j < probe->count; j++) {
            if (idxf_count_bits(probe->bucket[j] ^ probe->fingerprint) <= search->distance)
                report(search, probe, probe->bucket[j]);
        }
    }
}

static void compare(struct search *search, const struct group *group) { compare_each(search, group); }

static const struct idxi_bucket_way portable = {compare};

#ifdef IDXF_X86
IDXF_BMI2 static void compare_bmi2(struct search *search, const struct group *group) { compare_each(search, group); }

static const struct idxi_bucket_way bmi2 = {compare_bmi2};

IDXF_AVX2 static void compare_avx2(struct search *search, const struct group *group) {
    const __m256i beyond = _mm256_set1_epi64x((long long)search->distance + 1);
    for (size_t i = 0; i < group->count; i++) {
        const struct probe *probe = &group->probes[i];
        __m256i query = _mm256_set1_epi64x((long long)probe->fingerprint);
        for (size_t j = 0; j < probe->count; j += IDXI_LANES_AVX2) {
            __m256i found = _mm256_loadu_si256((const __m256i *)(const void *)(probe->bucket + j));
            __m256i near = _mm256_cmpgt_epi64(beyond, idxi_count_bits_avx2(_mm256_xor_si256(found, query)));
            unsigned lanes = (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(near));
            if (__builtin_expect(lanes == 0, 1)) continue;
            if (probe->count - j < IDXI_LANES_AVX2) lanes &= (1u << (probe->count - j)) - 1;
            for (; lanes != 0; lanes &= lanes - 1)
                report(search, probe, probe->bucket[j + (size_t)__builtin_ctz(lanes)]);
        }
    }
}

static const struct idxi_bucket_way avx2 = {compare_avx2};

#define LANES 8

IDXF_AVX512 static void compare_avx512(struct search *search, const struct group *group) {
    const __m512i most = _mm512_set1_epi64((long long)search->distance);
    for (size_t i = 0; i < group->count; i++) {
        const struct probe *probe = &group->probes[i];
        __m512i query = _mm512_set1_epi64((long long)probe->fingerprint);
        for (size_t j = 0; j < probe->count; j += LANES) {
            __m512i errors = _mm512_xor_si512(query, _mm512_loadu_si512(probe->bucket + j));
            unsigned lanes = _mm512_cmple_epu64_mask(_mm512_popcnt_epi64(errors), most);
            if (__builtin_expect(lanes == 0, 1)) continue;
            if (probe->count - j < LANES) lanes &= (1u << (probe->count - j)) - 1;
            for (; lanes != 0; lanes &= lanes - 1)
                report(search, probe, probe->bucket[j + (size_t)__builtin_ctz(lanes)]);
        }
    }
}

static const struct idxi_bucket_way avx512 = {compare_avx512};
#endif

size_t idxi_bucket_ways(const struct idxi_bucket_way *ways[IDXI_MAX_BUCKET_WAYS]) {
    size_t count = 0;
    ways[count++] = &portable;
#ifdef IDXF_X86
    if (idxf_has_bmi2()) ways[count++] = &bmi2;
    if (idxf_has_bmi2() && idxf_has_avx2()) ways[count++] = &avx2;
    if (idxf_has_avx512()) ways[count++] = &avx512;
#endif
    return count;
}

/* ---- Stages ---- */

/* The processor itself goes on with lines behind these. */
#define PREFETCHED 4
#define LINE_FINGERPRINTS 8

/* Finds the buckets of the group that was begun, and prefetches them. While they arrive, the previous group is
 * compared.
 */
static void end_group(struct search *search) {
    struct group *group = search->beginning;
    for (size_t i = 0; i < group->count; i++) {
        struct probe *probe = &group->probes[i];
        const uint64_t *bucket = search->unpacked->fingerprints[probe->part] + probe->start[0];
        probe->bucket = bucket;
        probe->count = probe->start[1] - probe->start[0];
        if (probe->count == 0) continue;
        __builtin_prefetch(bucket);
        size_t most = probe->count < PREFETCHED * LINE_FINGERPRINTS ? probe->count : PREFETCHED * LINE_FINGERPRINTS;
        for (size_t at = LINE_FINGERPRINTS; at < most; at += LINE_FINGERPRINTS) __builtin_prefetch(bucket + at);
        __builtin_prefetch(bucket + most - 1);
    }
    search->way->compare(search, search->waiting);
    search->waiting->count = 0;
    search->beginning = search->waiting;
    search->waiting = group;
}

static void search_query(struct search *search, size_t number, uint64_t query) {
    for (unsigned i = 0; i < search->unpacked->layout.count && !search->stopped; i++) {
        if (search->radii[i] < 0) continue;
        const struct idxi_patterns *patterns = &search->unpacked->patterns[i];
        uint32_t value = idxi_part_value(&search->unpacked->layout.parts[i], query);
        uint32_t count = patterns->counts[search->radii[i]];
        const uint32_t *starts = search->unpacked->starts[i];
        for (uint32_t j = 0; j < count && !search->stopped; j++) {
            struct group *group = search->beginning;
            struct probe *probe = &group->probes[group->count++];
            probe->start = starts + (value ^ patterns->flips[j]);
            __builtin_prefetch(probe->start);
            probe->query = number;
            probe->fingerprint = query;
            probe->part = i;
            if (group->count == GROUP) end_group(search);
        }
    }
}

void idxi_unpacked_search(const struct idxi_unpacked *unpacked, const struct idxi_bucket_way *way, unsigned distance,
                          const uint64_t *queries, size_t begin, size_t end, idxi_unpacked_visitor visit,
                          void *context) {
    const struct idxi_bucket_way *ways[IDXI_MAX_BUCKET_WAYS];
    struct search search;
    search.unpacked = unpacked;
    search.way = way != NULL ? way : ways[idxi_bucket_ways(ways) - 1];
    search.distance = distance;
    search.visit = visit;
    search.context = context;
    search.stopped = false;
    search.beginning = &search.groups[0];
    search.waiting = &search.groups[1];
    search.groups[0].count = search.groups[1].count = 0;
    search.radii = unpacked->radii[distance];
    for (size_t i = begin; i < end && !search.stopped; i++) search_query(&search, i, queries[i]);
    end_group(&search);
    end_group(&search);
}
