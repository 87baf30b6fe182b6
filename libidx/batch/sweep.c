/* sweep.c: sweeps tables. The permuted queries are sorted for each table. Threads share the ranges of its permuted
 * values, cut by their leading bits so that a range fits the caches. If few queries fall into a range, their blocks are
 * probed, in order. If many do, the whole range is decoded once and searched for each of them. A query with one of its
 * leading bits flipped falls into another range, and is answered when that range is visited: so each range sees all its
 * queries together, and the table's file is read in order. */
#include "libidx/batch/sweep.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "libidx/base/base.h"
#include "libidx/batch/cost.h"
#include "libidx/batch/decoded_range.h"
#include "libidx/lookup/search.h"

/* The queries are swept in parts of at least so many, however little memory there is. */
#define MIN_QUERIES ((size_t)4096)

#define MAX_SPLIT_BITS 32 /* how many bits ranges are cut by at most; keys have no more */

struct sweep {
    const struct idx_index *index;
    const struct idxi_probing *probing;
    const uint64_t *queries; /* some of all queries; the first is number `begin` */
    size_t count, begin;
    unsigned distance, threads;
    struct idxi_results *results;
    struct idxi_progress *progress;
    struct idxi_sorted_queries *sorted; /* for the tables that are swept together */
    size_t sorted_count;
    atomic_size_t next; /* the next table to sort for, then the next range of all tables */
    atomic_bool failed;
};

/* What one thread needs for sweeping. */
struct worker {
    struct sweep *sweep;
    const struct idxi_sorted_queries *queries; /* those sorted for the table that is swept */
    struct idxi_match_buffer buffer;
    struct idx_error *error;
    struct idxi_search search;
    struct idxi_probe_buffer probe_buffer; /* for the probes of `search` */
    struct idxi_decoded_range range;
    unsigned range_bits; /* how many first bits the values of the current range share */
};

/* ---- Queries of a range ---- */

/* How many keys ahead of its use a query is prefetched. */
#define AHEAD 16

/* Returns the query of the key at `place`, and prefetches a later one, before place `end`. */
static inline struct idxi_table_query make_table_query(const struct worker *worker, size_t place, size_t end) {
    const struct idxi_sorted_queries *sorted = worker->queries;
    size_t number = (uint32_t)sorted->keys[place];
    if (place + AHEAD < end) __builtin_prefetch(&sorted->queries[(uint32_t)sorted->keys[place + AHEAD]], 0, 3);
    return (struct idxi_table_query){sorted->table, number, sorted->order,
                                     idxf_permute(&sorted->table->permutation, sorted->queries[number])};
}

/* Called for the sorted queries [begin, end), which fall into a range once the bits of `flips` are flipped. Up to
 * `radius` more bits may be flipped, behind the leading bits that the range shares. */
typedef enum idx_status (*queries_visitor)(struct worker *worker, size_t begin, size_t end, uint64_t flips,
                                           unsigned radius);

/* Visits all queries that have the first `bits` bits of `value` once the bits of `flips`, and at most `radius` of the
 * first `flippable` bits, are flipped. It calls itself for each bit that it flips, with the bits before that one as
 * flippable, so that no set of bits is flipped twice. */
static enum idx_status visit_queries_in_range(struct worker *worker, uint64_t value, unsigned bits, uint64_t flips,
                                              unsigned flippable, unsigned radius, queries_visitor visit) {
    size_t begin, end;
    idxi_sorted_queries_find_range(worker->queries, value ^ flips, bits, &begin, &end);
    if (begin < end) IDXI_TRY(visit(worker, begin, end, flips, radius));
    for (unsigned i = 0; i < flippable && radius > 0; i++)
        IDXI_TRY(visit_queries_in_range(worker, value, bits, flips ^ UINT64_C(1) << (63 - i), i, radius - 1, visit));
    return IDX_OK;
}

/* ---- Few queries ---- */

/* An idxi_match_visitor: adds a match to worker->buffer. Returns false after an error, which worker->error has then. */
static bool add_match(void *context, size_t query, const struct idx_match *match) {
    struct worker *worker = context;
    return idxi_add_match(&worker->buffer, worker->sweep->begin + query, match->fingerprint, worker->error) == IDX_OK;
}

/* A queries_visitor: probes for each of the queries. Probes may still be under way when it returns, so an error of
 * adding their matches may show only in a later call. */
static enum idx_status probe_queries(struct worker *worker, size_t begin, size_t end, uint64_t flips, unsigned radius) {
    for (size_t i = begin; i < end; i++) {
        struct idxi_table_query query = make_table_query(worker, i, end);
        IDXI_TRY(idxi_probe_table(&worker->search, &query, query.permuted ^ flips, 64 - worker->range_bits, radius));
    }
    return IDX_OK;
}

/* Probes for all queries that fall into a range. Some of the probes may be under way still when this returns. */
static enum idx_status probe_range(struct worker *worker, uint64_t value, unsigned bits) {
    worker->range_bits = bits;
    IDXI_TRY(visit_queries_in_range(worker, value, bits, 0, bits, worker->queries->radius, probe_queries));
    return worker->search.stopped ? worker->error->status : IDX_OK;
}

/* ---- Many queries ---- */

/* A queries_visitor: searches the decoded range for each of the queries. */
static enum idx_status search_decoded_range(struct worker *worker, size_t begin, size_t end, uint64_t flips,
                                            unsigned radius) {
    const struct sweep *sweep = worker->sweep;
    idxi_search_range search_range = idxi_choose_search_range();
    struct idxi_range_search search = {.index = sweep->index,
                                       .probing = sweep->probing,
                                       .queries = worker->queries,
                                       .range = &worker->range,
                                       .distance = sweep->distance,
                                       .buffer = &worker->buffer,
                                       .error = worker->error};
    for (size_t i = begin; i < end && search.status == IDX_OK; i++) {
        struct idxi_table_query query = make_table_query(worker, i, end);
        search.permuted = query.permuted;
        search.number = sweep->begin + query.number;
        search_range(&search, query.permuted ^ flips, 64 - worker->range_bits, radius);
    }
    return search.status;
}

/* ---- Ranges ---- */

/* Returns how many nanoseconds `count` queries are expected to save if they are searched for in a decoded range,
 * instead of being probed. The values of the range share `bits` bits, and up to `radius` of the bits after these may be
 * flipped. */
static double estimate_savings(const struct idxi_sorted_queries *queries, size_t count, unsigned bits,
                               unsigned radius) {
    double patterns = idxi_count_patterns(queries->flippable > bits ? queries->flippable - bits : 0, radius);
    return (double)count * patterns *
           (idxi_get_ordered_probe_time(queries->table) - idxi_get_search_time(queries->table));
}

/* Returns whether decoding a range of `blocks` blocks is faster than probing for its queries. Only the queries that
 * have the first `bits` bits of `value` are counted. As many are assumed to fall into the range by each combination of
 * flipped leading bits. */
static bool is_worth_decoding(const struct worker *worker, uint64_t value, unsigned bits, uint64_t blocks) {
    const struct idxi_sorted_queries *queries = worker->queries;
    size_t begin, end;
    idxi_sorted_queries_find_range(queries, value, bits, &begin, &end);
    double saved_time = 0, combinations = 1; /* of `flip_count` of the leading bits: C(bits, flip_count) */
    for (unsigned flip_count = 0; flip_count <= queries->radius && flip_count <= bits; flip_count++) {
        saved_time += combinations * estimate_savings(queries, end - begin, bits, queries->radius - flip_count);
        combinations = combinations * (bits - flip_count) / (flip_count + 1);
    }
    return saved_time > idxi_get_decode_time(queries->table, blocks);
}

/* Returns whether a range that shares `bits` bits can be halved by the next bit: that bit may be flipped, so no probe
 * needs both halves, and keys have it. */
static bool can_halve_range(const struct idxi_sorted_queries *queries, unsigned bits) {
    return bits < queries->flippable && bits < MAX_SPLIT_BITS;
}

/* Answers the queries that fall into a range: values whose first `bits` bits are those of `value`. A large range that
 * is worth decoding is halved first. */
static enum idx_status answer_range(struct worker *worker, uint64_t value, unsigned bits) {
    const struct idxi_sorted_queries *queries = worker->queries;
    uint64_t rest_mask = idxf_low_bits(64 - bits);
    struct idxf_start begin, last_start;
    IDXI_TRY(idxi_table_find_block(queries->table, value, &begin, worker->error));
    IDXI_TRY(idxi_table_find_block(queries->table, value | rest_mask, &last_start, worker->error));
    uint64_t end = last_start.block + (last_start.block < queries->table->header.blocks), blocks = end - begin.block;
    bool is_large = blocks * queries->table->header.block_size > 2 * IDXI_RANGE_BYTES;
    if (begin.block >= end) return IDX_OK;
    if (!is_worth_decoding(worker, value, bits, blocks) || (is_large && !can_halve_range(queries, bits)))
        return probe_range(worker, value, bits);
    if (is_large) {
        IDXI_TRY(answer_range(worker, value, bits + 1));
        return answer_range(worker, value | UINT64_C(1) << (63 - bits), bits + 1);
    }
    IDXI_TRY(idxi_decoded_range_read(&worker->range, queries->table, value, bits, &begin, end, worker->error));
    worker->range_bits = bits;
    return visit_queries_in_range(worker, value, bits, 0, bits, queries->radius, search_decoded_range);
}

/* ---- Threads ---- */

/* An idxi_plain_task: sorts the queries for tables that no other thread has taken, until none is left. One spare array
 * serves all tables of a thread, since it takes time to get new memory. */
static enum idx_status sort_queries_for_tables(void *context, size_t number, struct idx_error *error) {
    struct sweep *sweep = context;
    uint64_t *spare = idxi_array_reserve(sweep->count);
    enum idx_status status = spare == NULL ? idxi_fail_memory(error) : IDX_OK;
    size_t place;
    (void)number;
    while (status == IDX_OK && (place = atomic_fetch_add(&sweep->next, 1)) < sweep->sorted_count) {
        status = idxi_sorted_queries_sort(&sweep->sorted[place], sweep->queries, sweep->count, spare, error);
        if (status == IDX_OK) status = idxi_progress_add(sweep->progress, 0, error); /* fails if cancelled */
    }
    idxi_array_release(spare, sweep->count);
    return status;
}

/* Answers the ranges that no other thread has taken, of all planned tables. The ranges of all tables are numbered in a
 * row, and `range` is the number within the current table. Probes stay under way from one range of a table to the next,
 * so that they wait for memory together. */
static enum idx_status sweep_remaining_ranges(struct worker *worker) {
    struct sweep *sweep = worker->sweep;
    size_t range = atomic_fetch_add(&sweep->next, 1);
    for (size_t i = 0; i < sweep->sorted_count; i++) {
        const struct idxi_sorted_queries *queries = &sweep->sorted[i];
        worker->queries = queries;
        size_t ranges = (size_t)1 << queries->range_bits;
        idxi_search_init(&worker->search, sweep->index, sweep->distance, sweep->queries, add_match, worker,
                         worker->error);
        idxi_search_set_probe_buffer(&worker->search, &worker->probe_buffer);
        worker->search.segment = queries->segment;
        for (; range < ranges && !sweep->failed; range = atomic_fetch_add(&sweep->next, 1) - queries->first_range) {
            IDXI_TRY(answer_range(worker, queries->range_bits == 0 ? 0 : (uint64_t)range << (64 - queries->range_bits),
                                  queries->range_bits));
            IDXI_TRY(
                idxi_progress_add(sweep->progress, queries->starts[range + 1] - queries->starts[range], worker->error));
        }
        IDXI_TRY(idxi_search_complete_probes(&worker->search));
        if (worker->search.stopped) return worker->error->status; /* adding a match has failed */
        range -= ranges; /* the number of a range among those of the next table and all after it */
    }
    return idxi_results_add_buffer(&worker->buffer, worker->error);
}

/* An idxi_plain_task: sweeps ranges on one thread. After an error, the other threads end as well. */
static enum idx_status sweep_on_one_thread(void *context, size_t number, struct idx_error *error) {
    struct sweep *sweep = context;
    struct worker *worker = calloc(1, sizeof *worker);
    (void)number;
    if (worker == NULL) return idxi_fail_memory(error);
    worker->sweep = sweep;
    worker->buffer.results = sweep->results;
    worker->error = error;
    enum idx_status status = sweep_remaining_ranges(worker);
    if (status != IDX_OK) sweep->failed = true;
    idxi_decoded_range_free(&worker->range);
    free(worker);
    return status;
}

/* Sweeps along the planned tables: sorts the queries for each, then answers them range by range. Frees the plans, also
 * after an error. */
static enum idx_status sweep_planned_tables(struct sweep *sweep, struct idx_error *error) {
    size_t first_range = 0;
    for (size_t i = 0; i < sweep->sorted_count; i++) {
        sweep->sorted[i].first_range = first_range;
        first_range += (size_t)1 << sweep->sorted[i].range_bits;
    }
    sweep->next = 0;
    enum idx_status status =
        idxi_run_parallel(sweep->threads, sweep->threads, sort_queries_for_tables, sweep, sweep->progress, error);
    sweep->next = 0;
    if (status == IDX_OK)
        status = idxi_run_parallel(sweep->threads, sweep->threads, sweep_on_one_thread, sweep, sweep->progress, error);
    while (sweep->sorted_count > 0) idxi_sorted_queries_free(&sweep->sorted[--sweep->sorted_count]);
    return status;
}

/* ---- All ---- */

/* Bytes for each query and table: 8 for its key, and as many for the spare while the keys are sorted. */
#define QUERY_BYTES 16

/* Sweeps sweep->queries along all tables that are not empty, with the queries sorted for up to `tables_together` tables
 * at a time. */
static enum idx_status sweep_all_tables(struct sweep *sweep, size_t tables_together, struct idx_error *error) {
    const struct idx_index *index = sweep->index;
    size_t probed = sweep->probing->count, table_count = index->manifest->segment_count * probed;
    for (size_t i = 0; i < table_count; i++) {
        struct idxi_sorted_queries queries = idxi_sorted_queries_plan(index, i / probed, i % probed, sweep->distance);
        if (queries.table->header.blocks > 0) sweep->sorted[sweep->sorted_count++] = queries;
        if (sweep->sorted_count == tables_together || i + 1 == table_count)
            IDXI_TRY(sweep_planned_tables(sweep, error));
    }
    return IDX_OK;
}

enum idx_status idxi_sweep_tables(const struct idx_index *index, const uint64_t *queries, size_t count,
                                  const struct idx_batch_options *options, struct idxi_results *results,
                                  struct idxi_progress *progress, struct idx_error *error) {
    struct sweep sweep = {.index = index,
                          .probing = &index->probings[options->distance],
                          .distance = options->distance,
                          .threads = options->threads,
                          .results = results,
                          .progress = progress};
    size_t tables = sweep.probing->count * index->manifest->segment_count;
    size_t max_keys = options->memory_bytes / 2 / QUERY_BYTES;
    size_t max_queries = max_keys > MIN_QUERIES ? max_keys : MIN_QUERIES;
    if (max_queries > UINT32_MAX) max_queries = UINT32_MAX;
    enum idx_status status = IDX_OK;
    sweep.sorted = calloc(tables + 1, sizeof *sweep.sorted);
    if (sweep.sorted == NULL) return idxi_fail_memory(error);
    /* Memory goes to as many queries at a time as possible, and what is left over to more tables at a time. */
    for (; sweep.begin < count && status == IDX_OK; sweep.begin += sweep.count) {
        sweep.count = count - sweep.begin < max_queries ? count - sweep.begin : max_queries;
        sweep.queries = queries + sweep.begin;
        status = sweep_all_tables(&sweep, max_keys / sweep.count > 0 ? max_keys / sweep.count : 1, error);
    }
    free(sweep.sorted);
    return status;
}
