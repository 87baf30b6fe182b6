/* lookup.c: the calls that look up fingerprints or visit all of them. With one thread, they allocate and lock
 * nothing. */
#include <stdlib.h>

#include "libidx/base/check.h"
#include "libidx/base/parallel.h"
#include "libidx/lookup/nearest.h"
#include "libidx/lookup/search.h"

/* ---- One query ---- */

struct visitor {
    idx_match_visitor visit;
    void *context;
};

static bool visit_match(void *context, size_t query, const struct idx_match *match) {
    const struct visitor *visitor = context;
    (void)query;
    return visitor->visit(visitor->context, match);
}

enum idx_status idx_visit_matches(const struct idx_index *index, uint64_t fingerprint, unsigned distance,
                                  idx_match_visitor visit, void *context, struct idx_error *error) {
    struct visitor visitor = {visit, context};
    struct idxi_search search;
    IDXI_TRY(idxi_check_distance(index, distance, error));
    IDXI_TRY(idxi_check_queries(index, &fingerprint, 1, error));
    idxi_search_init(&search, index, distance, &fingerprint, visit_match, &visitor, error);
    return idxi_search_queries(&search, 0, 1);
}

static bool stop_at_first(void *context, const struct idx_match *match) {
    (void)match;
    *(bool *)context = true;
    return false;
}

enum idx_status idx_exists(const struct idx_index *index, uint64_t fingerprint, unsigned distance, bool *exists,
                           struct idx_error *error) {
    bool found = false;
    IDXI_TRY(idx_visit_matches(index, fingerprint, distance, stop_at_first, &found, error));
    *exists = found;
    return IDX_OK;
}

/* ---- Many queries ---- */

/* Queries to be answered, by one thread or several, each of which takes the next few until none is left. */
struct batch {
    const struct idx_index *index;
    const uint64_t *queries;
    size_t count;
    unsigned distance;
    struct idxi_nearest nearest;
};

/* Queries that a thread takes at a time. */
#define CHUNK 256

static enum idx_status look_up_chunk(void *context, size_t number, struct idx_error *error) {
    struct batch *batch = context;
    struct idxi_search search;
    size_t begin = number * CHUNK, end = batch->count - begin < CHUNK ? batch->count : begin + CHUNK;
    idxi_search_init(&search, batch->index, batch->distance, batch->queries, idxi_nearest_add, &batch->nearest, error);
    IDXI_TRY(idxi_check_queries(batch->index, batch->queries + begin, end - begin, error));
    for (size_t query = begin; query < end; query++) batch->nearest.counts[query] = 0;
    IDXI_TRY(idxi_search_queries(&search, begin, end));
    for (size_t query = begin; query < end; query++) idxi_nearest_sort(&batch->nearest, query);
    return IDX_OK;
}

enum idx_status idx_lookup_many(const struct idx_index *index, const uint64_t *fingerprints, size_t count,
                                const struct idx_lookup_options *options, struct idx_match *matches, size_t capacity,
                                size_t *match_counts, struct idx_error *error) {
    struct idx_lookup_options own = IDX_LOOKUP_OPTIONS_INIT;
    size_t tasks = count / CHUNK + (count % CHUNK > 0);
    idxi_copy_options(&own, options);
    if (own.distance == UINT_MAX) own.distance = index->manifest->k;
    struct batch batch = {index, fingerprints, count, own.distance, {matches, capacity, match_counts}};
    IDXI_TRY(idxi_check_threads(own.threads, error));
    IDXI_TRY(idxi_check_distance(index, own.distance, error));
    if (own.threads > 1) return idxi_parallel(tasks, own.threads, look_up_chunk, &batch, NULL, error);
    for (size_t i = 0; i < tasks; i++) IDXI_TRY(look_up_chunk(&batch, i, error));
    return IDX_OK;
}

enum idx_status idx_lookup(const struct idx_index *index, uint64_t fingerprint, unsigned distance,
                           struct idx_match *matches, size_t capacity, size_t *match_count, struct idx_error *error) {
    size_t count;
    struct batch batch = {index, &fingerprint, 1, distance, {matches, capacity, &count}};
    IDXI_TRY(idxi_check_distance(index, distance, error));
    IDXI_TRY(look_up_chunk(&batch, 0, error));
    *match_count = count;
    return IDX_OK;
}

/* ---- All fingerprints ---- */

struct reading {
    const struct idx_index *index;
    size_t segment;
    idx_fingerprints_visitor visit;
    void *context;
    bool stopped;
};

/* Leaves out those that were removed, or that earlier segments have. */
static enum idx_status keep_fresh(const struct reading *reading, uint64_t *fingerprints, size_t *count,
                                  struct idx_error *error) {
    bool asks = reading->segment > 0 || reading->index->removes;
    size_t kept = 0;
    for (size_t i = 0; i < *count && asks; i++) {
        bool repeated;
        IDXI_TRY(idxi_is_repeated(reading->index, reading->segment, fingerprints[i], &repeated, error));
        fingerprints[kept] = fingerprints[i];
        kept += !repeated;
    }
    if (asks) *count = kept;
    return IDX_OK;
}

/* Bytes of blocks that the disk is asked for at a time, twice as many ahead of their use. */
#define EXPECTED_BYTES ((uint64_t)256 << 10)

/* Blocks before *expected were asked for; `next` is used next. */
static void expect_blocks(const struct idxi_table *table, uint64_t next, uint64_t end, uint64_t *expected) {
    uint64_t step = EXPECTED_BYTES / table->header.block_size;
    while (table->on_disk && *expected < end && *expected < next + 2 * step) {
        uint64_t until = end - *expected < step ? end : *expected + step;
        idxi_table_expect(table, *expected, until);
        *expected = until;
    }
}

/* Visits the fingerprints of the blocks from `begin` to `end`. */
static enum idx_status visit_blocks(struct reading *reading, const struct idxi_table *table, uint64_t begin,
                                    uint64_t end, uint64_t *fingerprints, struct idx_error *error) {
    struct idxf_start start = {0, 0};
    uint64_t expected = begin;
    size_t count;
    if (begin >= end) return IDX_OK;
    if (begin > 0) IDXI_TRY(idxi_table_locate(table, begin, &start, error));
    struct idxi_blocks blocks;
    idxi_blocks_begin(&blocks, table, &start);
    while (!reading->stopped) {
        expect_blocks(table, blocks.next, end, &expected);
        IDXI_TRY(idxi_blocks_read(&blocks, end, fingerprints, &count, error));
        if (count == 0) return IDX_OK;
        for (size_t i = 0; i < count; i++) fingerprints[i] = idxf_unpermute(&table->permutation, fingerprints[i]);
        IDXI_TRY(keep_fresh(reading, fingerprints, &count, error));
        if (count > 0) reading->stopped = !reading->visit(reading->context, fingerprints, count);
    }
    return IDX_OK;
}

/* ⌊blocks · part / parts⌋ */
static uint64_t get_part(uint64_t blocks, uint64_t part, uint64_t parts) {
    return blocks / parts * part + blocks % parts * part / parts;
}

/* Those that are pending alone: sorting them once for each part would take longer. */
static enum idx_status visit_pending(struct reading *reading, struct idx_error *error) {
    uint64_t *fingerprints;
    size_t count;
    if (reading->stopped || !idxi_has_pending(reading->index)) return IDX_OK;
    IDXI_TRY(idxi_sort_pending(reading->index, true, &fingerprints, &count, error));
    if (count > 0) reading->stopped = !reading->visit(reading->context, fingerprints, count);
    free(fingerprints);
    return IDX_OK;
}

enum idx_status idx_visit_part(const struct idx_index *index, uint32_t part, uint32_t parts,
                               idx_fingerprints_visitor visit, void *context, struct idx_error *error) {
    struct reading reading = {index, 0, visit, context, false};
    if (part >= parts)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL, "part %u of %u: parts are numbered from 0", part, parts);
    uint64_t *fingerprints = malloc(IDXF_DECODED_ROOM * sizeof *fingerprints);
    enum idx_status status = fingerprints == NULL ? idxi_fail_memory(error) : IDX_OK;
    for (; reading.segment < index->manifest->segment_count && status == IDX_OK; reading.segment++) {
        const struct idxi_table *table = &index->segments[reading.segment]->tables[0];
        uint64_t blocks = table->header.blocks, begin = get_part(blocks, part, parts);
        status = visit_blocks(&reading, table, begin, get_part(blocks, (uint64_t)part + 1, parts), fingerprints, error);
    }
    free(fingerprints);
    return status == IDX_OK && part + 1 == parts ? visit_pending(&reading, error) : status;
}

static bool visit_each(void *context, const uint64_t *fingerprints, size_t count) {
    const struct visitor *visitor = context;
    for (size_t i = 0; i < count; i++) {
        struct idx_match match = {fingerprints[i], 0};
        if (!visitor->visit(visitor->context, &match)) return false;
    }
    return true;
}

enum idx_status idx_visit_all(const struct idx_index *index, idx_match_visitor visit, void *context,
                              struct idx_error *error) {
    struct visitor visitor = {visit, context};
    return idx_visit_part(index, 0, 1, visit_each, &visitor, error);
}
