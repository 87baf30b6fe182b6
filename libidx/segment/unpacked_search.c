/* unpacked_search.c: searches unpacked tables (see unpacked.h). What caches hold is compared directly. Otherwise the
 * probes of a part, and of several queries, go through stages in groups: prefetch where the bucket begins; prefetch the
 * bucket; compare. So the waits for memory overlap. */
#include "format/processor.h"
#include "libidx/fingerprints/lanes_avx2.h"
#include "libidx/segment/unpacked_tables.h"

#define GROUP 32 /* probes that go through the stages together */

/* The fingerprints of a bucket. Vectors are read whole, also beyond its end. */
struct bucket {
    const uint64_t *begin, *end;
};

/* Successive probes of a query in one part. */
struct chunk {
    uint64_t fingerprint; /* the query's */
    uint32_t query, part; /* their numbers; the first query of the search has 0 */
    size_t count;         /* probes */
};

/* Up to GROUP probes. The first chunk describes the first of them, the second chunk those that follow, and so on. */
struct group {
    size_t chunk_count, count; /* count: probes */
    struct chunk chunks[GROUP];
    const uint32_t *starts[GROUP]; /* of each probe, where the array of bucket beginnings has its bucket */
    struct bucket buckets[GROUP];  /* of each probe, once the group was advanced */
};

/* The state of idxi_unpacked_search. */
struct unpacked_search {
    const struct idxi_unpacked *unpacked;
    const struct idxi_bucket_way *way;
    unsigned distance;
    const int *radii; /* of each part, for the distance; -1: it is not probed */
    const uint64_t *queries;
    size_t begin; /* number of the first query; those of chunks are counted from there */
    idxi_near_visitor visit;
    void *context;
    bool stopped;
    struct group *new_group, *prefetched_group; /* being filled; with prefetched buckets, or empty */
    struct group groups[2];
};

/* The parameters are those of compare_group and compare_queries below. */
struct idxi_bucket_way {
    void (*compare_group)(struct unpacked_search *search, const struct group *group);
    void (*compare_queries)(struct unpacked_search *search, size_t end);
};

/* ---- Matches ---- */

/* Returns whether the probes of a part before part `part_number` also find a fingerprint that differs from the query in
 * the bits of `errors`. A part with the radius -1 finds none. */
static bool was_found_in_earlier_part(const struct unpacked_search *search, unsigned part_number, uint64_t errors) {
    for (unsigned i = 0; i < part_number; i++) {
        const struct idxi_part *part = &search->unpacked->layout.parts[i];
        uint32_t value = idxi_get_part_value(part, errors);
        if (search->radii[i] == 0 ? value == 0 : (int)idxf_count_bits(value) <= search->radii[i]) return true;
    }
    return false;
}

/* Visits a fingerprint that is near to the query of a chunk, unless an earlier part found it or the search is stopped.
 * Stops the search if the visitor returns false. */
static void visit_once(struct unpacked_search *search, const struct chunk *chunk, uint64_t fingerprint) {
    if (search->stopped || was_found_in_earlier_part(search, chunk->part, fingerprint ^ chunk->fingerprint)) return;
    search->stopped = !search->visit(search->context, search->begin + chunk->query, fingerprint);
}

/* Visits first[i] for each bit i that is set in `lanes`, unless it is behind the bucket's `end`. */
__attribute__((noinline, unused)) static void visit_lanes(struct unpacked_search *search, const struct chunk *chunk,
                                                          const uint64_t *first, const uint64_t *end, unsigned lanes) {
    for (; lanes != 0; lanes &= lanes - 1) {
        const uint64_t *found = first + __builtin_ctz(lanes);
        if (found < end) visit_once(search, chunk, *found);
    }
}

/* ---- Comparing ---- */

/* Compares the fingerprints of a bucket with the chunk's, and visits those within the distance. It is inlined into
 * loops over many buckets, for each kind of instructions. */
typedef void bucket_function(struct unpacked_search *search, const struct chunk *chunk, struct bucket bucket);

/* Compares all buckets of a group, in which those of a chunk follow each other, by `compare`. */
IDXF_INLINE void compare_group(struct unpacked_search *search, const struct group *group, bucket_function *compare) {
    const struct bucket *bucket = group->buckets;
    for (size_t i = 0; i < group->chunk_count; i++) {
        const struct chunk *chunk = &group->chunks[i];
        for (const struct bucket *end = bucket + chunk->count; bucket < end; bucket++) compare(search, chunk, *bucket);
    }
}

/* Compares the queries from search->begin to before number `end` with their buckets, by `compare`, one bucket after the
 * other, without stages and prefetching. */
IDXF_INLINE void compare_queries(struct unpacked_search *search, size_t end, bucket_function *compare) {
    const struct idxi_unpacked *unpacked = search->unpacked;
    for (size_t number = search->begin; number < end; number++) {
        struct chunk chunk = {.fingerprint = search->queries[number], .query = (uint32_t)(number - search->begin)};
        for (; chunk.part < unpacked->layout.count && !search->stopped; chunk.part++) {
            if (search->radii[chunk.part] < 0) continue;
            const struct idxi_patterns *patterns = &unpacked->patterns[chunk.part];
            const uint64_t *fingerprints = unpacked->fingerprints[chunk.part];
            const uint32_t *starts = unpacked->starts[chunk.part];
            uint32_t value = idxi_get_part_value(&unpacked->layout.parts[chunk.part], chunk.fingerprint);
            uint32_t count = patterns->counts[search->radii[chunk.part]];
            for (uint32_t i = 0; i < count; i++) {
                const uint32_t *start = starts + (value ^ patterns->flips[i]);
                compare(search, &chunk, (struct bucket){fingerprints + start[0], fingerprints + start[1]});
            }
        }
    }
}

/* Compares the fingerprints of a bucket one by one, and visits those within the distance. */
IDXF_INLINE void compare_each(struct unpacked_search *search, const struct chunk *chunk, struct bucket bucket) {
    for (const uint64_t *found = bucket.begin; found < bucket.end; found++) {
        if (idxf_count_bits(*found ^ chunk->fingerprint) <= search->distance) visit_once(search, chunk, *found);
    }
}

/* Defines a way: its functions, compiled for these instructions, which compare buckets by COMPARE. */
#define WAY(NAME, INSTRUCTIONS, COMPARE)                                                                               \
    INSTRUCTIONS static void compare_group_##NAME(struct unpacked_search *search, const struct group *group) {         \
        compare_group(search, group, COMPARE);                                                                         \
    }                                                                                                                  \
    INSTRUCTIONS static void compare_queries_##NAME(struct unpacked_search *search, size_t end) {                      \
        compare_queries(search, end, COMPARE);                                                                         \
    }                                                                                                                  \
    static const struct idxi_bucket_way NAME = {compare_group_##NAME, compare_queries_##NAME};

WAY(portable, , compare_each)

#ifdef IDXF_X86
WAY(bmi2, IDXF_BMI2, compare_each)

/* Compares the fingerprints of a bucket in vectors of four, and visits those within the distance. It compares one
 * vector even of an empty bucket, so up to four fingerprints take no branch. At least four must be readable from
 * bucket.begin on. */
IDXF_AVX2 IDXF_INLINE void compare_bucket_avx2(struct unpacked_search *search, const struct chunk *chunk,
                                               struct bucket bucket) {
    const __m256i above_distance = _mm256_set1_epi64x((long long)search->distance + 1);
    __m256i query = _mm256_set1_epi64x((long long)chunk->fingerprint);
    const uint64_t *next = bucket.begin;
    do {
        __m256i found = _mm256_loadu_si256((const __m256i *)(const void *)next);
        __m256i near = _mm256_cmpgt_epi64(above_distance, idxi_count_bits_avx2(_mm256_xor_si256(found, query)));
        unsigned lanes = (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(near));
        if (__builtin_expect(lanes != 0, 0)) visit_lanes(search, chunk, next, bucket.end, lanes);
        next += IDXI_LANES_AVX2;
    } while (next < bucket.end);
}

WAY(avx2, IDXF_AVX2, compare_bucket_avx2)

#define LANES_AVX512 8

/* Does the same as compare_bucket_avx2, with vectors of eight fingerprints, as many of which must be readable. */
IDXF_AVX512 IDXF_INLINE void compare_bucket_avx512(struct unpacked_search *search, const struct chunk *chunk,
                                                   struct bucket bucket) {
    const __m512i max_distance = _mm512_set1_epi64((long long)search->distance);
    __m512i query = _mm512_set1_epi64((long long)chunk->fingerprint);
    const uint64_t *next = bucket.begin;
    do {
        __m512i errors = _mm512_xor_si512(query, _mm512_loadu_si512(next));
        unsigned lanes = _mm512_cmple_epu64_mask(_mm512_popcnt_epi64(errors), max_distance);
        if (__builtin_expect(lanes != 0, 0)) visit_lanes(search, chunk, next, bucket.end, lanes);
        next += LANES_AVX512;
    } while (next < bucket.end);
}

WAY(avx512, IDXF_AVX512, compare_bucket_avx512)
#endif

size_t idxi_list_bucket_ways(const struct idxi_bucket_way *ways[IDXI_MAX_BUCKET_WAYS]) {
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

/* So many lines of a bucket are prefetched at most: the processor itself goes on with those behind them. */
#define MAX_PREFETCHED_LINES 4
#define LINE_FINGERPRINTS 8

/* An empty bucket is taken to be here, which is in a cache, because one vector is compared even of an empty bucket. */
static const uint64_t zeros[LINE_FINGERPRINTS];

/* Returns the bucket of fingerprints[start[0]] to before fingerprints[start[1]], and prefetches its first lines. As a
 * bucket may begin within a line, even one of LINE_FINGERPRINTS may be across two lines. */
static struct bucket find_and_prefetch_bucket(const uint64_t *fingerprints, const uint32_t *start) {
    bool is_empty = start[0] == start[1];
    struct bucket bucket = {is_empty ? zeros : fingerprints + start[0], is_empty ? zeros : fingerprints + start[1]};
    __builtin_prefetch(bucket.begin);
    __builtin_prefetch(bucket.begin + LINE_FINGERPRINTS - 1);
    for (size_t lines = 2; lines <= MAX_PREFETCHED_LINES; lines++) {
        const uint64_t *last = bucket.begin + lines * LINE_FINGERPRINTS - 1;
        if (last - (LINE_FINGERPRINTS - 1) >= bucket.end) break;
        __builtin_prefetch(last);
    }
    return bucket;
}

/* Finds and prefetches the buckets of search->new_group. While they arrive, compares search->prefetched_group. Then the
 * two change roles: the new group is the prefetched one, and the compared one is emptied, to be filled next. */
static void advance_groups(struct unpacked_search *search) {
    struct group *group = search->new_group;
    size_t probe = 0;
    for (size_t i = 0; i < group->chunk_count; i++) {
        const uint64_t *fingerprints = search->unpacked->fingerprints[group->chunks[i].part];
        for (size_t chunk_end = probe + group->chunks[i].count; probe < chunk_end; probe++)
            group->buckets[probe] = find_and_prefetch_bucket(fingerprints, group->starts[probe]);
    }
    search->way->compare_group(search, search->prefetched_group);
    search->prefetched_group->chunk_count = search->prefetched_group->count = 0;
    search->new_group = search->prefetched_group;
    search->prefetched_group = group;
}

/* Adds a query's probes in one part to search->new_group, and calls advance_groups whenever that is full. chunk.count
 * is the number of all these probes; `value` is the query's value in the part. */
static void stage_part_probes(struct unpacked_search *search, struct chunk chunk, uint32_t value) {
    const struct idxi_unpacked *unpacked = search->unpacked;
    const uint32_t *starts = unpacked->starts[chunk.part], *flips = unpacked->patterns[chunk.part].flips;
    for (size_t probes_left = chunk.count; probes_left > 0 && !search->stopped; probes_left -= chunk.count) {
        struct group *group = search->new_group;
        chunk.count = probes_left < GROUP - group->count ? probes_left : GROUP - group->count;
        group->chunks[group->chunk_count++] = chunk;
        for (size_t end = group->count + chunk.count; group->count < end; flips++) {
            const uint32_t *start = starts + (value ^ *flips);
            __builtin_prefetch(start);
            group->starts[group->count++] = start;
        }
        if (group->count == GROUP) advance_groups(search);
    }
}

/* Adds all probes of query `number` of search->queries to groups, one part after the other. */
static void stage_query_probes(struct unpacked_search *search, size_t number) {
    const struct idxi_unpacked *unpacked = search->unpacked;
    uint64_t query = search->queries[number];
    for (unsigned i = 0; i < unpacked->layout.count && !search->stopped; i++) {
        if (search->radii[i] < 0) continue;
        struct chunk chunk = {query, (uint32_t)(number - search->begin), i,
                              unpacked->patterns[i].counts[search->radii[i]]};
        stage_part_probes(search, chunk, idxi_get_part_value(&unpacked->layout.parts[i], query));
    }
}

/* If the tables have no more bytes than CACHED_BYTES, nothing is prefetched: they are in caches. If many queries probe
 * one bucket in each part, more of the waits can overlap, so prefetching is worth it from fewer bytes on. */
#define CACHED_BYTES ((size_t)8 << 20)
#define CACHED_BYTES_FOR_MANY ((size_t)640 << 10)

/* Returns whether the tables are small enough to be compared directly. `several_queries`: not just one. */
static bool is_cached(const struct unpacked_search *search, bool several_queries) {
    const struct idxi_unpacked *unpacked = search->unpacked;
    bool flips_bits = false;
    for (unsigned i = 0; i < unpacked->layout.count; i++) flips_bits |= search->radii[i] > 0;
    return unpacked->memory_bytes <= (several_queries && !flips_bits ? CACHED_BYTES_FOR_MANY : CACHED_BYTES);
}

void idxi_unpacked_search(const struct idxi_unpacked *unpacked, const struct idxi_bucket_way *way, unsigned distance,
                          const uint64_t *queries, size_t begin, size_t end, idxi_near_visitor visit, void *context) {
    struct unpacked_search search; /* not zeroed, since its groups are large */
    search.unpacked = unpacked;
    search.way = way != NULL ? way : unpacked->way;
    search.distance = distance;
    search.visit = visit;
    search.context = context;
    search.queries = queries;
    search.begin = begin;
    search.stopped = false;
    search.radii = unpacked->radii[distance];
    if (is_cached(&search, end - begin > 1)) {
        search.way->compare_queries(&search, end);
        return;
    }
    search.new_group = &search.groups[0];
    search.prefetched_group = &search.groups[1];
    for (unsigned i = 0; i < 2; i++) search.groups[i].chunk_count = search.groups[i].count = 0;
    for (size_t i = begin; i < end && !search.stopped; i++) stage_query_probes(&search, i);
    advance_groups(&search); /* compares the prefetched group, and prefetches the last one */
    advance_groups(&search); /* compares the last group */
}
