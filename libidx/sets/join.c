/* join.c: the set similarity self-join by prefix filter (Chaudhuri and others, ICDE 2006; Bayardo and others, WWW
 * 2007). Members are ordered by rarity. Two sets can only be similar if their prefixes share a member, and the prefix
 * of most sets consists of members that no other set has: these are done without a comparison. */
#include "libidx/sets/join.h"

#include <stdlib.h>

/* How many tasks a block has for each thread, at most: so many that the threads end at about the same time. */
enum { MAX_TASKS_PER_THREAD = 16 };
/* A task has at most one set for each SETS_BEFORE_EACH sets before the block, but this limit is at least
 * MIN_SETS_OF_TASK and at most MAX_SETS_OF_TASK. A large block among few sets would do most of its work in comparing
 * its sets with each other. A small block among many sets would cost more in starting threads than it saves. */
enum { SETS_BEFORE_EACH = 128, MIN_SETS_OF_TASK = 64, MAX_SETS_OF_TASK = 256 };
/* The lists of a set are fetched so many sets before it is compared. */
enum { FETCHED_AHEAD = 4 };
/* Indexed sets get signatures once the sets of a block were compared with so many others each, on average. */
enum { MIN_COMPARED = 64 };
/* How many members all sets of a task have together, at most, unless it has a single set. */
#define MAX_TASK_MEMBERS ((uint64_t)1 << 14)

/* The ranks of a task, how many members their sets have, and what their queries consist of. */
struct idxi_set_task {
    uint32_t begin, end;
    uint64_t members;
    struct idxi_query_arena arena;
};

/* A set of the block, when the sets of the block are compared with each other. */
struct idxi_set_in_block {
    uint32_t end;      /* in the block's index, the sets before it are at the places before this one */
    bool must_compare; /* it is compared with them again, in order of rank, since one of them is or may be similar */
};

/* Returns the set of a rank. */
static const struct idxi_stored_set *get_set(const struct idxi_set_join *join, uint32_t rank) {
    return &join->store->sets[idxi_rank_to_number(join->order, rank)];
}

/* Returns the lowest rank of the sets that equal the set of a rank, which is that rank if there are no others. */
static uint32_t find_first_equal(const struct idxi_set_join *join, uint32_t rank) {
    return join->firsts != NULL ? join->firsts[rank] : join->store->sets[rank].first;
}

/* ---- Results ---- */

/* Until the join ends, a result's `kept` is a rank, or UINT64_MAX as long as the result is undecided. */

/* Returns the result of the set of a rank. */
static struct idx_kept_set *get_result(const struct idxi_set_join *join, uint32_t rank) {
    return &join->kept[idxi_rank_to_number(join->order, rank)];
}

/* Returns whether the result of the set of a rank is that it is kept; false as long as it is undecided. */
static bool is_kept(const struct idxi_set_join *join, uint32_t rank) { return get_result(join, rank)->kept == rank; }

/* Returns whether a set joins an equal one if that is kept. Equal sets reach every similarity. But where similarity
 * does not count, and sets only join those that contain them, sets of fewer than join->contained_size members join
 * none. */
static bool may_join_equal(const struct idxi_set_join *join, uint32_t rank) {
    return join->threshold.total > 0 || get_set(join, rank)->count >= join->contained_size;
}

/* Sets the result of the set of a rank to the set of rank `kept`, which is kept and equals it, or is the set itself. */
static void write_kept_set(const struct idxi_set_join *join, uint32_t rank, uint32_t kept) {
    uint32_t member_count = get_set(join, rank)->count;
    *get_result(join, rank) = (struct idx_kept_set){.kept = kept, .shared = member_count, .total = member_count};
}

/* Makes all results undecided, except those of known sets, which are kept. */
static void reset_results(const struct idxi_set_join *join) {
    for (uint32_t rank = 0; rank < join->store->count; rank++) {
        *get_result(join, rank) = (struct idx_kept_set){.kept = UINT64_MAX};
        if (rank < join->known) write_kept_set(join, rank, rank);
    }
}

/* Replaces the rank of the kept set in each result by the number of this set, which the caller wants. */
static void replace_ranks_by_numbers(const struct idxi_set_join *join) {
    for (size_t i = 0; i < join->store->count; i++)
        join->kept[i].kept = idxi_rank_to_number(join->order, (uint32_t)join->kept[i].kept);
}

/* Returns the most similar kept set that was found for a set so far; its `total` is 0 if there is none. */
static struct idxi_similar get_best_so_far(const struct idxi_set_join *join, uint32_t rank) {
    const struct idx_kept_set *result = get_result(join, rank);
    return (struct idxi_similar){(uint32_t)result->kept, result->shared, result->total};
}

/* Compares a set with those of a scope. If it finds a more similar one than the set's result has, or the first, makes
 * that the result. */
static enum idx_status improve_result(const struct idxi_set_join *join, struct idxi_prober *prober,
                                      const struct idxi_scope *scope, const struct idxi_query *query,
                                      struct idx_error *error) {
    struct idxi_similar best = get_best_so_far(join, query->rank);
    IDXI_TRY(idxi_prober_compare(prober, scope, query, &best, error));
    if (best.total > 0) *get_result(join, query->rank) = (struct idx_kept_set){best.rank, best.shared, best.total};
    return IDX_OK;
}

/* ---- Comparing with indexed sets ---- */

/* Returns whether a set needs no comparison to find its result. If that is because it joins an equal set of an earlier
 * block, sets its result to that. A set of the first join->known ranks is prepared only to be indexed, so it needs
 * nothing if an equal one was indexed before, or if no more sets are indexed. */
static bool settle_without_comparison(const struct idxi_set_join *join, uint32_t rank) {
    const uint32_t equal_rank = find_first_equal(join, rank);
    if (rank < join->known) return equal_rank != rank || join->is_full;
    if (is_kept(join, rank)) return true;
    /* Results of this block may be written by other threads at this moment. */
    if (equal_rank >= join->begin || !is_kept(join, equal_rank) || !may_join_equal(join, rank)) return false;
    write_kept_set(join, rank, equal_rank);
    return true;
}

/* Makes the query of each set of a task. Prepares the sets that must be compared or indexed, and leaves the prefixes of
 * the others empty. Where results are asked for (join->kept), keeps a set at once if no other one can be similar to it:
 * one without listed members. Fails if memory runs out. */
static enum idx_status prepare_queries(const struct idxi_set_join *join, struct idxi_prober *prober,
                                       const struct idxi_set_task *task, struct idxi_query *queries,
                                       struct idx_error *error) {
    struct idxi_query *to_prepare[MAX_SETS_OF_TASK] = {NULL};
    size_t prepare_count = 0;
    for (uint32_t rank = task->begin; rank < task->end; rank++) {
        struct idxi_query *query = &queries[rank - task->begin];
        *query = (struct idxi_query){.rank = rank};
        if (join->kept != NULL ? !settle_without_comparison(join, rank) : find_first_equal(join, rank) == rank)
            to_prepare[prepare_count++] = query;
    }
    IDXI_TRY(idxi_prober_prepare(prober, to_prepare, prepare_count, error));
    for (size_t i = 0; i < prepare_count && join->kept != NULL; i++) {
        const uint32_t rank = to_prepare[i]->rank;
        if (to_prepare[i]->listed == 0 && find_first_equal(join, rank) == rank) write_kept_set(join, rank, rank);
    }
    return IDX_OK;
}

/* Finds all sets of a scope that are similar to the set of a query, and if there are any, calls join->visit with them.
 */
static enum idx_status visit_similar_sets(const struct idxi_set_join *join, struct idxi_prober *prober,
                                          const struct idxi_scope *scope, const struct idxi_query *query,
                                          struct idx_error *error) {
    struct idxi_similar none = {0};
    prober->found_count = 0;
    IDXI_TRY(idxi_prober_compare(prober, scope, query, &none, error));
    if (prober->found_count == 0) return IDX_OK;
    return join->visit(join->context, query->rank, prober->found, prober->found_count, error);
}

/* Compares a prepared set with the indexed ones: improves its result, or visits the sets that are similar to it. */
static enum idx_status compare_with_indexed(const struct idxi_set_join *join, struct idxi_prober *prober,
                                            const struct idxi_query *query, struct idx_error *error) {
    const struct idxi_scope scope = {.postings = &join->indexed, .end = UINT32_MAX};
    if (query->prefix == 0 || (join->kept != NULL && query->rank < join->known)) return IDX_OK;
    if (join->kept == NULL) return visit_similar_sets(join, prober, &scope, query, error);
    return improve_result(join, prober, &scope, query, error);
}

/* Prepares the sets of a task, and compares them with the indexed ones. Sets queries[i] to the query of rank
 * task->begin + i, for all of the task; their tags and members are in task->arena. */
static enum idx_status compare_task(const struct idxi_set_join *join, struct idxi_set_task *task,
                                    struct idxi_prober *prober, struct idxi_query *queries, struct idx_error *error) {
    const uint32_t count = task->end - task->begin;
    IDXI_TRY(idxi_prober_use_arena(prober, &task->arena, task->members, error));
    IDXI_TRY(prepare_queries(join, prober, task, queries, error));
    for (uint32_t i = 0; i < count; i++) {
        if (i + FETCHED_AHEAD < count) idxi_postings_prefetch(&join->indexed, &queries[i + FETCHED_AHEAD]);
        IDXI_TRY(compare_with_indexed(join, prober, &queries[i], error));
    }
    return idxi_progress_add(join->progress, count, error);
}

/* An idx_task: prepares the sets of task `number` of the block, and compares them with the indexed ones. */
static enum idx_status compare_new_sets(void *context, size_t number, unsigned thread, struct idx_error *error) {
    const struct idxi_set_join *join = context;
    struct idxi_set_task *task = &join->tasks[number];
    return compare_task(join, task, &join->probers[thread], &join->queries[task->begin - join->begin], error);
}

/* ---- Comparing the sets of a block with each other ---- */

/* The sets of a block that may be kept have an index of their own. Threads find out for each set of the block whether
 * it is similar to any of these before it, whether or not that one is kept in the end. Few sets are. Only these few are
 * then compared again, in order of rank, with the sets of the block that are kept. */

/* Returns whether all sets of the block are compared in order of rank at once, without finding out first which ones
 * must be. A single thread does so, since it would only compare some of them twice otherwise. */
static bool decides_in_order(const struct idxi_set_join *join) { return join->threads == 1 && join->kept != NULL; }

/* Returns whether a set would join an equal one of a lower rank in this block, if that is kept. */
static bool has_equal_in_block(const struct idxi_set_join *join, uint32_t rank) {
    const uint32_t equal_rank = find_first_equal(join, rank);
    return equal_rank != rank && equal_rank >= join->begin && may_join_equal(join, rank);
}

/* Returns whether other sets of the block may join the set of a query; or if all similar sets are visited, whether they
 * may be similar to it. */
static bool may_be_joined(const struct idxi_set_join *join, const struct idxi_query *query) {
    const uint32_t rank = query->rank;
    if (query->listed == 0 || join->kept == NULL || rank < join->known) return query->listed > 0;
    return get_result(join, rank)->total == 0 && !has_equal_in_block(join, rank);
}

/* Makes the block's index of those of its sets that others may join. Sets in_block[i].end, for each set of the block,
 * to the place in this index before which the sets before it are. */
static enum idx_status index_sets_of_block(struct idxi_set_join *join, struct idx_error *error) {
    const bool in_order = decides_in_order(join);
    uint32_t joinable_count = 0, place = 0, count = join->end - join->begin;
    idxi_postings_clear(&join->block);
    for (uint32_t i = 0; i < count; i++) {
        const struct idxi_query *query = &join->queries[i];
        join->in_block[i] = (struct idxi_set_in_block){place, in_order && query->prefix > 0};
        if (!may_be_joined(join, query)) continue;
        join->joinable[joinable_count++] = *query;
        place = idxi_postings_place_after(place, query->shared);
    }
    return idxi_postings_add(&join->block, join->joinable, joinable_count, error);
}

/* Compares a set with those before it in the block. Sets must_compare if it is similar to any of them, or would join an
 * equal one: then it is compared again in order of rank. If all similar sets are visited, visits them instead. */
static enum idx_status compare_set_with_block(const struct idxi_set_join *join, struct idxi_prober *prober,
                                              const struct idxi_query *query, struct idx_error *error) {
    struct idxi_set_in_block *in_block = &join->in_block[query->rank - join->begin];
    struct idxi_scope scope = {.postings = &join->block, .end = in_block->end};
    if (query->prefix == 0 || (join->kept != NULL && query->rank < join->known)) return IDX_OK;
    if (join->kept == NULL) return visit_similar_sets(join, prober, &scope, query, error);
    in_block->must_compare = has_equal_in_block(join, query->rank);
    if (in_block->must_compare) return IDX_OK;
    struct idxi_similar best = get_best_so_far(join, query->rank);
    scope.any_suffices = true;
    IDXI_TRY(idxi_prober_compare(prober, &scope, query, &best, error));
    in_block->must_compare = best.total > 0 && best.rank >= join->begin;
    return IDX_OK;
}

/* An idx_task: compares the prepared sets of task `number` with the index of the block. */
static enum idx_status compare_in_block(void *context, size_t number, unsigned thread, struct idx_error *error) {
    const struct idxi_set_join *join = context;
    const struct idxi_set_task *task = &join->tasks[number];
    for (uint32_t rank = task->begin; rank < task->end; rank++)
        IDXI_TRY(compare_set_with_block(join, &join->probers[thread], &join->queries[rank - join->begin], error));
    return IDX_OK;
}

/* Decides whether a set of the block is kept, if need be by comparing it with the kept ones before it. All sets of
 * lower ranks must be decided. Sets *must_index to whether the set is kept and other sets may be similar to it. */
static enum idx_status decide_set_of_block(const struct idxi_set_join *join, const struct idxi_query *query,
                                           bool *must_index, struct idx_error *error) {
    const uint32_t rank = query->rank, equal_rank = find_first_equal(join, rank);
    const struct idxi_set_in_block *in_block = &join->in_block[rank - join->begin];
    const struct idxi_scope scope = {.postings = &join->block, .end = in_block->end, .kept = join->kept};
    *must_index = rank < join->known && query->listed > 0;
    if (is_kept(join, rank)) return IDX_OK;
    if (is_kept(join, equal_rank) && may_join_equal(join, rank)) {
        write_kept_set(join, rank, equal_rank);
        return IDX_OK;
    }
    if (in_block->must_compare) IDXI_TRY(improve_result(join, &join->probers[0], &scope, query, error));
    if (get_result(join, rank)->total > 0) return IDX_OK;
    write_kept_set(join, rank, rank);
    *must_index = query->listed > 0;
    return IDX_OK;
}

/* Compares the block's sets with each other, decides about them, and adds those that later sets can join to
 * join->indexed. Overwrites join->queries. */
static enum idx_status compare_and_index_block(struct idxi_set_join *join, size_t task_count, struct idx_error *error) {
    uint32_t indexed_count = 0, count = join->end - join->begin;
    IDXI_TRY(index_sets_of_block(join, error));
    if (!decides_in_order(join))
        IDXI_TRY(idxi_run_parallel_by_thread(task_count, join->threads, compare_in_block, join, join->progress, error));
    for (uint32_t i = 0; i < count; i++) {
        const struct idxi_query *query = &join->queries[i];
        bool must_index = query->listed > 0;
        if (join->kept != NULL) IDXI_TRY(decide_set_of_block(join, query, &must_index, error));
        if (must_index) join->queries[indexed_count++] = *query;
    }
    return idxi_postings_add(&join->indexed, join->queries, indexed_count, error);
}

/* ---- Blocks ---- */

/* Returns how many tasks a block has at most. */
static size_t count_max_tasks(const struct idxi_set_join *join) { return (size_t)join->threads * MAX_TASKS_PER_THREAD; }

/* Sets *task to the sets from `rank` on: up to `max_sets` of them, with up to MAX_TASK_MEMBERS members together, but at
 * least one, which there must be. Returns the rank of the set after them. */
static uint32_t fill_task(const struct idxi_set_join *join, struct idxi_set_task *task, uint32_t rank,
                          uint32_t max_sets) {
    const size_t count = join->store->count;
    task->begin = rank;
    task->members = 0;
    do {
        task->members += get_set(join, rank++)->count;
    } while (rank < count && rank - task->begin < max_sets &&
             task->members + get_set(join, rank)->count <= MAX_TASK_MEMBERS);
    task->end = rank;
    return rank;
}

/* Makes a block of sets from join->begin on, where there must be one, and divides it into tasks. Sets join->end to the
 * rank behind the block, and returns how many tasks there are. */
static size_t divide_into_tasks(struct idxi_set_join *join) {
    size_t task_count = 0;
    uint32_t rank = join->begin, max_sets = rank / SETS_BEFORE_EACH;
    max_sets = max_sets < MIN_SETS_OF_TASK ? MIN_SETS_OF_TASK : (uint32_t)idxi_min(max_sets, MAX_SETS_OF_TASK);
    while (task_count < count_max_tasks(join) && rank < join->store->count)
        rank = fill_task(join, &join->tasks[task_count++], rank, max_sets);
    join->end = rank;
    return task_count;
}

/* Returns how many candidates all threads together have compared so far. */
static uint64_t count_compared(const struct idxi_set_join *join) {
    uint64_t compared = 0;
    for (unsigned i = 0; i < join->threads; i++) compared += join->probers[i].compared;
    return compared;
}

/* If the indexed sets fill the memory, moves the sets of the store to the file, and adds their memory to that of the
 * indexed ones: reading sets from there costs less than another round. Sets join->is_full to whether that is filled,
 * too. No task may run, since no set of the store may be in use. */
static enum idx_status spill_or_mark_full(struct idxi_set_join *join, struct idx_error *error) {
    const uint64_t bytes = idxi_postings_bytes(&join->indexed);
    if (bytes > join->memory) IDXI_TRY(idxi_set_store_spill(join->store, &join->memory, error));
    join->is_full = bytes > join->memory;
    return IDX_OK;
}

/* Compares the sets of the block with each other, and indexes them. `compared_before` is what count_compared returned
 * before the block: if its sets were compared with many others on average, indexed sets have signatures from then on.
 */
static enum idx_status finish_block(struct idxi_set_join *join, size_t task_count, uint64_t compared_before,
                                    struct idx_error *error) {
    IDXI_TRY(compare_and_index_block(join, task_count, error));
    IDXI_TRY(spill_or_mark_full(join, error));
    if (count_compared(join) - compared_before < (uint64_t)MIN_COMPARED * (join->end - join->begin)) return IDX_OK;
    IDXI_TRY(idxi_postings_make_signatures(&join->indexed, error));
    return idxi_postings_make_signatures(&join->block, error);
}

/* ---- Sets that wait for a further round ---- */

/* The first round prepares all waiting sets, and writes to a file by which members each finds others. So the rounds
 * after it read little else of them. But once indexed sets have signatures, a search needs all members of a set, and
 * waiting sets are prepared anew in each round. */

/* How many waiting sets a task has, and the least size of a part of the file, in numbers of 32 bits, but for the last.
 */
enum { WAITING_PER_TASK = 1 << 12, MIN_NUMBERS_OF_PART = 1 << 16 };

/* Returns whether searches need all members of a set: they do once the indexed sets have signatures. */
static bool searches_use_all_members(const struct idxi_set_join *join) { return join->indexed.signed_sets != NULL; }

/* An idx_task: prepares up to WAITING_PER_TASK waiting sets, and compares them with the indexed ones. Writes them to
 * the file unless an earlier round did so, or searches need all their members. */
static enum idx_status compare_waiting_task(void *context, size_t number, unsigned thread, struct idx_error *error) {
    struct idxi_set_join *join = context;
    struct idxi_set_task *task = &join->tasks[thread];
    struct idxi_query *queries = &join->queries[(size_t)thread * MAX_SETS_OF_TASK];
    struct idxi_query_arena *buffer = &join->part_buffers[thread];
    const bool writes_sets = !join->waiting.complete && !searches_use_all_members(join);
    const uint64_t begin_rank = join->begin + (uint64_t)number * WAITING_PER_TASK;
    const uint32_t end_rank = (uint32_t)idxi_min(begin_rank + WAITING_PER_TASK, join->end);
    uint32_t part_begin = (uint32_t)begin_rank;
    buffer->used = 0;
    for (uint32_t rank = part_begin; rank < end_rank;) {
        rank = fill_task(join, task, rank, (uint32_t)idxi_min(end_rank - rank, MAX_SETS_OF_TASK));
        IDXI_TRY(compare_task(join, task, &join->probers[thread], queries, error));
        for (uint32_t i = 0; writes_sets && i < task->end - task->begin; i++)
            IDXI_TRY(idxi_waiting_append_set(buffer, &queries[i], error));
        if (rank < end_rank && buffer->used < MIN_NUMBERS_OF_PART) continue;
        IDXI_TRY(idxi_waiting_write_part(&join->waiting, buffer, part_begin, rank, error));
        part_begin = rank;
    }
    return IDX_OK;
}

/* Sets *query to the next set that must be compared in the part that this thread has read, and begins to fetch its
 * lists. Begins at *place in the numbers of the part, and moves *place behind this set. Returns false if there is none.
 */
static bool read_waiting(const struct idxi_set_join *join, unsigned thread, size_t *place, struct idxi_query *query) {
    const struct idxi_query_arena *buffer = &join->part_buffers[thread];
    while (*place < buffer->used) {
        idxi_waiting_parse_set(buffer, place, query);
        if (query->rank < join->begin || (join->kept != NULL && settle_without_comparison(join, query->rank))) continue;
        idxi_prober_set_min_to_contain(&join->probers[thread], query);
        idxi_postings_prefetch(&join->indexed, query);
        return true;
    }
    return false;
}

/* An idx_task: reads part `number` of the file, and compares those of its sets that are not indexed in this round with
 * the indexed ones. Up to FETCHED_AHEAD sets wait in a ring while their lists are fetched. */
static enum idx_status compare_part_of_file(void *context, size_t number, unsigned thread, struct idx_error *error) {
    const struct idxi_set_join *join = context;
    const struct idxi_waiting_part *part = &join->waiting.parts[number];
    struct idxi_query queries[FETCHED_AHEAD]; /* a ring: set number i is at i % FETCHED_AHEAD */
    size_t place = 0, fetched = 0, compared = 0;
    if (part->end <= join->begin) return IDX_OK;
    IDXI_TRY(idxi_waiting_read_part(&join->waiting, part, &join->part_buffers[thread], error));
    while (true) {
        while (fetched - compared < FETCHED_AHEAD &&
               read_waiting(join, thread, &place, &queries[fetched % FETCHED_AHEAD]))
            fetched++;
        if (compared == fetched) break;
        const struct idxi_query *query = &queries[compared++ % FETCHED_AHEAD];
        IDXI_TRY(compare_with_indexed(join, &join->probers[thread], query, error));
    }
    const uint32_t begin = part->begin > join->begin ? part->begin : join->begin;
    return idxi_progress_add(join->progress, part->end - begin, error);
}

/* Compares all sets from `begin_rank` on with the indexed ones; this round indexes none of them. Reads them from the
 * file if they were all written to it, and if searches need no other members than those in the file. Else prepares
 * them. */
static enum idx_status compare_all_waiting(struct idxi_set_join *join, uint32_t begin_rank, struct idx_error *error) {
    const uint32_t set_count = (uint32_t)join->store->count;
    const size_t task_count = ((size_t)set_count - begin_rank + WAITING_PER_TASK - 1) / WAITING_PER_TASK;
    join->begin = begin_rank;
    join->end = set_count;
    if (join->waiting.complete && !searches_use_all_members(join))
        return idxi_run_parallel_by_thread(join->waiting.count, join->threads, compare_part_of_file, join,
                                           join->progress, error);
    IDXI_TRY(idxi_run_parallel_by_thread(task_count, join->threads, compare_waiting_task, join, join->progress, error));
    join->waiting.complete = join->waiting.complete || !searches_use_all_members(join);
    return IDX_OK;
}

/* ---- Rounds ---- */

/* Indexes sets from rank `begin` on, block by block, until the memory is full, and compares all sets from `begin` on
 * with them. Sets *next to the rank at which the next round begins; if that is the number of sets, the join is done. */
static enum idx_status run_round(struct idxi_set_join *join, uint32_t begin, uint32_t *next, struct idx_error *error) {
    const uint32_t set_count = (uint32_t)join->store->count;
    join->is_full = false;
    join->summary.rounds++;
    idxi_postings_clear(&join->indexed);
    IDXI_TRY(idxi_progress_begin(join->progress, IDX_PHASE_SETS, set_count - begin, error));
    for (join->begin = begin; join->begin < set_count && !join->is_full; join->begin = join->end) {
        const size_t task_count = divide_into_tasks(join);
        const uint64_t compared_before = count_compared(join);
        IDXI_TRY(idxi_run_parallel_by_thread(task_count, join->threads, compare_new_sets, join, join->progress, error));
        IDXI_TRY(finish_block(join, task_count, compared_before, error));
    }
    *next = join->begin;
    return *next < set_count ? compare_all_waiting(join, *next, error) : IDX_OK;
}

/* Allocates what a join works with. free_join frees it, and must be called even after an error. */
static enum idx_status allocate_join(struct idxi_set_join *join, struct idx_error *error) {
    const size_t task_count = count_max_tasks(join), query_count = task_count * MAX_SETS_OF_TASK;
    idxi_waiting_init(&join->waiting, join->store);
    IDXI_TRY(idxi_postings_init(&join->indexed, join->threads, error));
    IDXI_TRY(idxi_postings_init(&join->block, join->threads, error));
    join->probers = calloc(join->threads, sizeof *join->probers);
    join->tasks = calloc(task_count, sizeof *join->tasks);
    join->queries = calloc(query_count, sizeof *join->queries);
    join->joinable = calloc(query_count, sizeof *join->joinable);
    join->in_block = calloc(query_count, sizeof *join->in_block);
    join->part_buffers = calloc(join->threads, sizeof *join->part_buffers);
    if (join->probers == NULL || join->tasks == NULL || join->queries == NULL || join->joinable == NULL ||
        join->in_block == NULL || join->part_buffers == NULL)
        return idxi_fail_memory(error);
    struct idxi_prober prober = {.store = join->store,
                                 .counters = join->counters,
                                 .threshold = join->threshold,
                                 .contained = join->contained,
                                 .contained_size = join->contained_size,
                                 .wants_all = join->kept == NULL,
                                 .reader.store = join->store,
                                 .candidate_reader.store = join->store};
    if (join->contained.total > 0) {
        IDXI_TRY(idxi_marks_make(&join->marks, &prober, join->threads, join->progress, error));
        prober.marks = &join->marks;
    }
    prober.order = join->order; /* only now: idxi_marks_make takes sets by number, with no order */
    for (unsigned i = 0; i < join->threads; i++) join->probers[i] = prober;
    return IDX_OK;
}

/* Frees what allocate_join has made, even if it failed, and sets summary.candidates by the counts of the threads. */
static void free_join(struct idxi_set_join *join) {
    if (join->probers != NULL) join->summary.candidates = count_compared(join);
    for (unsigned i = 0; join->probers != NULL && i < join->threads; i++) idxi_prober_close(&join->probers[i]);
    for (size_t i = 0; join->tasks != NULL && i < count_max_tasks(join); i++) free(join->tasks[i].arena.numbers);
    free(join->probers);
    free(join->tasks);
    free(join->queries);
    free(join->joinable);
    free(join->in_block);
    for (unsigned i = 0; join->part_buffers != NULL && i < join->threads; i++) free(join->part_buffers[i].numbers);
    free(join->part_buffers);
    idxi_waiting_close(&join->waiting);
    idxi_postings_close(&join->indexed);
    idxi_postings_close(&join->block);
    idxi_marks_free(&join->marks);
}

enum idx_status idxi_set_join_run(struct idxi_set_join *join, struct idx_error *error) {
    if (join->kept != NULL) reset_results(join);
    enum idx_status status = allocate_join(join, error);
    for (uint32_t start = 0, next; start < join->store->count && status == IDX_OK; start = next)
        status = run_round(join, start, &next, error);
    if (status == IDX_OK && join->kept != NULL) replace_ranks_by_numbers(join);
    free_join(join);
    return status;
}
