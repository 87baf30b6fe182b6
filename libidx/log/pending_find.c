/* pending_find.c: finds the fingerprints of a view within a distance of queries, by scanning their buckets. A link to a
 * record is its number plus 1; 0 is no link. */
#include "format/processor.h"
#include "libidx/log/pending_records.h"
#include "libidx/log/pending_table.h"

#ifdef IDXF_X86
#include <immintrin.h>
#endif

/* An idxi_pending_scan, as pending_find.h describes it, compiled below for several kinds of processors. */
IDXF_INLINE uint64_t scan_one_by_one(const uint32_t *folded, size_t count, uint32_t query, unsigned distance) {
    uint64_t near_mask = 0;
    for (size_t i = 0; i < count; i++) near_mask |= (uint64_t)(idxf_count_bits(folded[i] ^ query) <= distance) << i;
    return near_mask;
}

/* The scan for any processor. */
static uint64_t scan_plain(const uint32_t *folded, size_t count, uint32_t query, unsigned distance) {
    return scan_one_by_one(folded, count, query, distance);
}

#ifdef IDXF_X86
/* The scan for processors with BMI2. */
IDXF_BMI2 static uint64_t scan_bmi2(const uint32_t *folded, size_t count, uint32_t query, unsigned distance) {
    return scan_one_by_one(folded, count, query, distance);
}

/* The scan for processors with AVX-512: 16 candidates at a time. The mask `loaded` keeps the last load within the
 * array. */
IDXF_AVX512 static uint64_t scan_avx512(const uint32_t *folded, size_t count, uint32_t query, unsigned distance) {
    const __m512i wanted = _mm512_set1_epi32((int)query), limit = _mm512_set1_epi32((int)distance);
    uint64_t near_mask = 0;
    for (size_t i = 0; i < count; i += 16) {
        __mmask16 loaded = count - i >= 16 ? 0xffff : (__mmask16)((1u << (count - i)) - 1);
        __m512i differing = _mm512_xor_si512(_mm512_maskz_loadu_epi32(loaded, folded + i), wanted);
        near_mask |= (uint64_t)_mm512_mask_cmple_epu32_mask(loaded, _mm512_popcnt_epi32(differing), limit) << i;
    }
    return near_mask;
}
#endif

size_t idxi_pending_list_scans(idxi_pending_scan *scans[IDXI_PENDING_SCANS]) {
    size_t count = 0;
    scans[count++] = scan_plain;
#ifdef IDXF_X86
    if (idxf_has_bmi2()) scans[count++] = scan_bmi2;
    if (idxf_has_avx512()) scans[count++] = scan_avx512;
#endif
    return count;
}

/* ---- Finding ---- */

#define MAX_GROUP 16 /* queries in a group: the memory of all is prefetched before the first is compared */

struct pending_search {
    const struct idxi_pending *pending;
    struct idxi_pending_range range;
    const uint64_t *queries; /* those of the current group */
    size_t query_count;
    size_t first_query; /* the number of queries[0] among all */
    unsigned distance;
    unsigned part_count; /* that are searched: distance + 1, as a match agrees with its query in one of so many */
    bool has_rest;       /* whether the view has records that were appended after the runs were made */
    idxi_near_visitor visit;
    void *context;
};

/* Returns whether the search of a part before `part` has found a match already: its bucket there is that of the query.
 * `errors` are the bits in which the two differ, so none of them may be among the bits that choose the bucket. Runs
 * (in_run) and rests have numbers of buckets of their own, and so choose by different bits. */
static bool was_found_in_earlier_part(const struct idxi_pending *pending, unsigned part, uint64_t errors, bool in_run) {
    while (part-- > 0) {
        uint64_t mask = in_run ? pending->runs[part].bits.mask : pending->rests[part].bits.mask;
        if ((errors & mask) == 0) return true;
    }
    return false;
}

/* Visits a match, the fingerprint of record `first_record`, if it has a document in the view. `place` is that of
 * the query in search->queries. Returns false if the visitor wants to stop. */
static bool visit_if_in_view(const struct pending_search *search, size_t place, uint32_t first_record) {
    if (!idxi_pending_range_has_document(search->pending, search->range, first_record)) return true;
    return search->visit(search->context, search->first_query + place,
                         idxi_pending_get_fingerprint(search->pending, first_record));
}

#define MAX_SCANNED 64 /* candidates that a scan compares at a time */

/* Candidates for matches of a query: the folded fingerprints of a part's bucket, and links to their first records. They
 * are in the part's run, or in an array of its rest. */
struct candidates {
    const uint32_t *folded, *links;
    size_t count;
    unsigned part;
    bool in_run;
};

/* Visits the candidate with this link to its first record, if it is in the view, within the distance of the query, and
 * not found in an earlier part already. Returns false if the visitor wants to stop. */
static bool visit_candidate(const struct pending_search *search, size_t place, const struct candidates *candidates,
                            uint32_t link) {
    if (link - 1 >= search->range.end) return true;
    uint64_t errors = idxi_pending_get_fingerprint(search->pending, link - 1) ^ search->queries[place];
    if (idxf_count_bits(errors) > search->distance ||
        was_found_in_earlier_part(search->pending, candidates->part, errors, candidates->in_run))
        return true;
    return visit_if_in_view(search, place, link - 1);
}

/* Visits the matches of a query among candidates. Scans their folds first, which leaves some that are too far:
 * visit_candidate compares the whole fingerprints. Returns false if the visitor wants to stop. */
static bool search_candidates(const struct pending_search *search, size_t place, const struct candidates *candidates) {
    uint32_t folded_query = idxi_fold(search->queries[place]);
    for (size_t i = 0; i < candidates->count; i += MAX_SCANNED) {
        size_t scanned = candidates->count - i < MAX_SCANNED ? candidates->count - i : MAX_SCANNED;
        uint64_t near_mask = search->pending->scan(candidates->folded + i, scanned, folded_query, search->distance);
        for (; near_mask != 0; near_mask &= near_mask - 1) {
            uint32_t link = candidates->links[i + (size_t)__builtin_ctzll(near_mask)];
            if (!visit_candidate(search, place, candidates, link)) return false;
        }
    }
    return true;
}

/* Searches an array of a part's rest, as far as it is filled by now. Returns false if the visitor wants to stop. */
static bool search_rest(const struct pending_search *search, size_t place, unsigned part,
                        const struct idxi_pending_array *array) {
    size_t count = atomic_load_explicit(&array->count, memory_order_acquire);
    const struct candidates candidates = {array->folded, idxi_pending_get_array_links(array), count, part, false};
    return search_candidates(search, place, &candidates);
}

/* Searches the bucket of a query in the run of a part. Returns false if the visitor wants to stop. */
static bool search_run(const struct pending_search *search, size_t place, unsigned part) {
    const struct idxi_pending_run *run = &search->pending->runs[part];
    size_t bucket = idxi_pending_choose_bucket(&run->bits, search->queries[place]);
    uint32_t begin = run->begins[bucket];
    const struct candidates candidates = {run->folded + begin, run->links + begin, run->begins[bucket + 1] - begin,
                                          part, true};
    return search_candidates(search, place, &candidates);
}

#define MAX_LINES 8 /* cache lines that are prefetched; the processor itself prefetches those that follow */

/* Prefetches some bytes, or the first MAX_LINES cache lines of them. */
static void prefetch_lines(const void *begin, size_t bytes) {
    size_t line_count = bytes / IDXI_CACHE_LINE + 1;
    for (size_t i = 0; i < (line_count < MAX_LINES ? line_count : MAX_LINES); i++)
        __builtin_prefetch((const char *)begin + i * IDXI_CACHE_LINE);
}

/* Prefetches the bucket of a query in the run of a part, and if has_rest, the array of its bucket in the part's rest.
 * Returns that array, or NULL if the bucket is empty or has_rest is false. */
static const struct idxi_pending_array *prefetch_bucket(const struct idxi_pending *pending, unsigned part,
                                                        uint64_t query, bool has_rest) {
    const struct idxi_pending_run *run = &pending->runs[part];
    const struct idxi_pending_rest *rest = &pending->rests[part];
    size_t bucket = idxi_pending_choose_bucket(&run->bits, query);
    uint32_t begin = run->begins[bucket];
    prefetch_lines(run->folded + begin, (run->begins[bucket + 1] - begin) * sizeof *run->folded);
    if (!has_rest) return NULL;
    const struct idxi_pending_array *array = atomic_load_explicit(
        &rest->buckets[idxi_pending_choose_bucket(&rest->bits, query)].array, memory_order_acquire);
    if (array != NULL) prefetch_lines(array, IDXI_CACHE_LINE);
    return array;
}

/* For each query and each part, the array of the bucket, or NULL where there is none. */
typedef const struct idxi_pending_array *group_arrays[MAX_GROUP][IDXI_PENDING_MAX_PARTS];

/* Prefetches for all queries of the group, in each part, first the memory that says where their buckets are, and then
 * the buckets. Sets `arrays`. */
static void prefetch_query_group(const struct pending_search *search, group_arrays arrays) {
    const struct idxi_pending *pending = search->pending;
    for (size_t i = 0; i < search->query_count; i++) {
        for (unsigned part = 0; part < search->part_count; part++) {
            const struct idxi_pending_run *run = &pending->runs[part];
            const struct idxi_pending_rest *rest = &pending->rests[part];
            __builtin_prefetch(&run->begins[idxi_pending_choose_bucket(&run->bits, search->queries[i])]);
            if (search->has_rest)
                __builtin_prefetch(&rest->buckets[idxi_pending_choose_bucket(&rest->bits, search->queries[i])]);
        }
    }
    for (size_t i = 0; i < search->query_count; i++)
        for (unsigned part = 0; part < search->part_count; part++)
            arrays[i][part] = prefetch_bucket(pending, part, search->queries[i], search->has_rest);
}

/* Visits the matches of all queries of the group, which are MAX_GROUP at most. Returns false if the visitor wants to
 * stop. */
static bool search_query_group(const struct pending_search *search) {
    group_arrays arrays;
    if (search->distance == 0) { /* The hash table answers: there may be no parts. */
        for (size_t i = 0; i < search->query_count; i++) {
            uint32_t link = idxi_pending_find_first_link(search->pending, search->queries[i]);
            if (link == 0 || link - 1 >= search->range.end) continue;
            if (!visit_if_in_view(search, i, link - 1)) return false;
        }
        return true;
    }
    prefetch_query_group(search, arrays);
    for (size_t i = 0; i < search->query_count; i++) {
        for (unsigned part = 0; part < search->part_count; part++) {
            const struct idxi_pending_array *array = arrays[i][part];
            if (!search_run(search, i, part)) return false;
            if (array != NULL && !search_rest(search, i, part, array)) return false;
        }
    }
    return true;
}

/* Returns whether the view has records that were appended after the runs were made. */
static bool has_records_after_runs(const struct idxi_pending_view *view) {
    return view->last - view->records->base > view->records->run_count;
}

void idxi_pending_prefetch_near_in_records(const struct idxi_pending_view *view, uint64_t query, unsigned distance) {
    /* With distance 0 the hash table answers. */
    for (unsigned part = 0; part <= distance && distance > 0; part++)
        prefetch_bucket(view->records, part, query, has_records_after_runs(view));
}

void idxi_pending_find_near_in_records(const struct idxi_pending_view *view, unsigned distance, const uint64_t *queries,
                                       size_t begin, size_t end, idxi_near_visitor visit, void *context) {
    struct pending_search search = {.pending = view->records,
                                    .range = idxi_pending_get_range(view),
                                    .distance = distance,
                                    .part_count = distance + 1,
                                    .has_rest = has_records_after_runs(view),
                                    .visit = visit,
                                    .context = context};
    for (size_t i = begin; i < end && search.range.begin < search.range.end; i += MAX_GROUP) {
        search.queries = queries + i;
        search.first_query = i;
        search.query_count = end - i < MAX_GROUP ? end - i : MAX_GROUP;
        if (!search_query_group(&search)) return;
    }
}
