/* pending_find.c: finds the fingerprints of a view within a distance of queries, by scanning their buckets. */
#include "format/processor.h"
#include "libidx/log/pending_records.h"

#ifdef IDXF_X86
#include <immintrin.h>
#endif

IDXF_INLINE uint64_t scan_each(const uint64_t *fingerprints, size_t count, uint64_t query, unsigned distance) {
    uint64_t near = 0;
    for (size_t i = 0; i < count; i++) near |= (uint64_t)(idxf_count_bits(fingerprints[i] ^ query) <= distance) << i;
    return near;
}

static uint64_t scan_plain(const uint64_t *fingerprints, size_t count, uint64_t query, unsigned distance) {
    return scan_each(fingerprints, count, query, distance);
}

#ifdef IDXF_X86
IDXF_BMI2 static uint64_t scan_bmi2(const uint64_t *fingerprints, size_t count, uint64_t query, unsigned distance) {
    return scan_each(fingerprints, count, query, distance);
}

IDXF_AVX512 static uint64_t scan_avx512(const uint64_t *fingerprints, size_t count, uint64_t query, unsigned distance) {
    const __m512i wanted = _mm512_set1_epi64((long long)query), most = _mm512_set1_epi64(distance);
    uint64_t near = 0;
    for (size_t i = 0; i < count; i += 8) {
        __mmask8 there = count - i >= 8 ? 0xff : (__mmask8)((1u << (count - i)) - 1);
        __m512i errors = _mm512_xor_si512(_mm512_maskz_loadu_epi64(there, fingerprints + i), wanted);
        near |= (uint64_t)_mm512_mask_cmple_epu64_mask(there, _mm512_popcnt_epi64(errors), most) << i;
    }
    return near;
}
#endif

size_t idxi_pending_scans(idxi_pending_scan *scans[IDXI_PENDING_SCANS]) {
    size_t count = 0;
    scans[count++] = scan_plain;
#ifdef IDXF_X86
    if (idxf_has_bmi2()) scans[count++] = scan_bmi2;
    if (idxf_has_avx512()) scans[count++] = scan_avx512;
#endif
    return count;
}

/* ---- Finding ---- */

/* Queries that are staged together, so that memory fetches for some while others are compared. */
#define STAGED 16

/* A look-up, of some queries. */
struct search {
    const struct idxi_pending *pending;
    struct idxi_pending_range range;
    const uint64_t *queries;
    size_t count;
    size_t first; /* the number of the first query */
    unsigned distance;
    unsigned parts; /* that are looked at: in one of distance + 1, a match has no error */
    idxi_match_visitor visit;
    void *context;
};

/* Whether the match was in the bucket of a part before this one, too. */
static bool was_before(const struct idxi_pending *pending, unsigned part, uint64_t errors) {
    while (part-- > 0) {
        if ((errors & pending->parts[part].mask) == 0) return true;
    }
    return false;
}

/* Visits a fingerprint near enough, where the view has it. */
static bool visit_near(const struct search *search, size_t query, uint64_t fingerprint) {
    const struct idxi_pending *pending = search->pending;
    uint32_t link = idxi_pending_find_first(pending, fingerprint);
    if (link == 0 || link - 1 >= search->range.end) return true;
    if (!idxi_pending_is_held(pending, search->range, idxi_pending_record(pending, link - 1))) return true;
    struct idx_match match = {fingerprint, idxf_count_bits(fingerprint ^ search->queries[query])};
    return search->visit(search->context, search->first + query, &match);
}

/* Fingerprints that a scan takes at a time. */
#define SCANNED 64

static bool search_array(const struct search *search, size_t query, unsigned part,
                         const struct idxi_pending_array *array) {
    const struct idxi_pending *pending = search->pending;
    uint64_t wanted = search->queries[query];
    size_t count = atomic_load_explicit(&array->count, memory_order_acquire);
    for (size_t i = 0; i < count; i += SCANNED) {
        size_t some = count - i < SCANNED ? count - i : SCANNED;
        uint64_t near = pending->scan(array->fingerprints + i, some, wanted, search->distance);
        for (; near != 0; near &= near - 1) {
            uint64_t fingerprint = array->fingerprints[i + (size_t)__builtin_ctzll(near)];
            if (was_before(pending, part, fingerprint ^ wanted)) continue;
            if (!visit_near(search, query, fingerprint)) return false;
        }
    }
    return true;
}

static void prefetch_array(const struct idxi_pending_array *array) {
    __builtin_prefetch(array);
    __builtin_prefetch((const char *)array + IDXI_CACHE_LINE);
    __builtin_prefetch((const char *)array + 2 * IDXI_CACHE_LINE);
}

/* The arrays of each query's parts; NULL where there is none. */
typedef const struct idxi_pending_array *staged_arrays[STAGED][IDXI_PENDING_MAX_PARTS];

/* Has the buckets fetched, then the arrays. */
static void stage(const struct search *search, staged_arrays arrays) {
    const struct idxi_pending_part *parts = search->pending->parts;
    for (size_t query = 0; query < search->count; query++) {
        for (unsigned part = 0; part < search->parts; part++)
            __builtin_prefetch(idxi_pending_bucket(&parts[part], search->queries[query]));
    }
    for (size_t query = 0; query < search->count; query++) {
        for (unsigned part = 0; part < search->parts; part++) {
            struct idxi_pending_bucket *place = idxi_pending_bucket(&parts[part], search->queries[query]);
            arrays[query][part] = atomic_load_explicit(&place->array, memory_order_acquire);
            if (arrays[query][part] != NULL) prefetch_array(arrays[query][part]);
        }
    }
}

static bool search_staged(const struct search *search) {
    staged_arrays arrays;
    if (search->distance == 0) {
        for (size_t query = 0; query < search->count; query++)
            if (!visit_near(search, query, search->queries[query])) return false;
        return true;
    }
    stage(search, arrays);
    for (size_t query = 0; query < search->count; query++) {
        for (unsigned part = 0; part < search->parts; part++) {
            const struct idxi_pending_array *array = arrays[query][part];
            if (array != NULL && !search_array(search, query, part, array)) return false;
        }
    }
    return true;
}

void idxi_pending_prefetch(const struct idxi_pending_view *view, uint64_t query, unsigned distance) {
    for (unsigned part = 0; part <= distance && distance > 0; part++) {
        struct idxi_pending_bucket *place = idxi_pending_bucket(&view->records->parts[part], query);
        struct idxi_pending_array *array = atomic_load_explicit(&place->array, memory_order_acquire);
        if (array != NULL) prefetch_array(array);
    }
}

bool idxi_pending_find(const struct idxi_pending_view *view, const uint64_t *queries, size_t count, unsigned distance,
                       idxi_match_visitor visit, void *context) {
    struct search search = {.pending = view->records,
                            .range = idxi_pending_range(view),
                            .distance = distance,
                            .parts = distance + 1,
                            .visit = visit,
                            .context = context};
    for (size_t i = 0; i < count && search.range.begin < search.range.end; i += STAGED) {
        search.queries = queries + i;
        search.first = i;
        search.count = count - i < STAGED ? count - i : STAGED;
        if (!search_staged(&search)) return false;
    }
    return true;
}
