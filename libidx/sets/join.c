/* join.c: the set similarity self-join by prefix filter (Chaudhuri and others, ICDE 2006; Bayardo and others, WWW
 * 2007). Members are ordered by rarity. Two sets can only be similar if their prefixes share a member, and the prefix
 * of most sets consists of members that no other set has: these are done without a comparison. */
#include "libidx/sets/join.h"

#include <stdlib.h>

/* Tasks of a block for each thread, at most. */
enum { TASKS_OF_THREAD = 4 };
/* Sets of a task, at most: one for so many sets before the block, between two bounds. The sets of a block are compared
 * with each other by one thread, so that a large block among few sets would leave nothing to the others; but threads
 * are started for each block, which costs the less the fewer there are. */
enum { SETS_BEFORE = 32, FEW_SETS_OF_TASK = 256, MOST_SETS_OF_TASK = 1024 };
/* So many sets are prepared before the first of them is compared, and of so many more counters are fetched. */
enum { PREPARED_AHEAD = 4, FETCHED_AHEAD = 2 };
/* Sets get signatures once those of a block were compared with so many others each, on average. */
enum { SIGNED_FROM = 64 };
/* Members of all sets of a task together, at most, unless it has a single set. */
#define MEMBERS_OF_TASK ((uint64_t)1 << 16)

/* The ranks of a task, and how many members their sets have. */
struct idxi_set_task {
    uint32_t begin, end;
    uint64_t members;
};

static const struct idxi_stored_set *set_of(const struct idxi_set_join *join, uint32_t rank) {
    return &join->store->sets[idxi_number_of(join->order, rank)];
}

static uint32_t lowest_equal(const struct idxi_set_join *join, uint32_t rank) {
    return join->firsts != NULL ? join->firsts[rank] : join->store->sets[rank].first;
}

/* ---- Results ---- */

/* Until the join ends, a result's `kept` is a rank, or UINT64_MAX as long as the result is undecided. */

static struct idx_kept_set *result_of(const struct idxi_set_join *join, uint32_t rank) {
    return &join->kept[idxi_number_of(join->order, rank)];
}

static bool is_kept(const struct idxi_set_join *join, uint32_t rank) { return result_of(join, rank)->kept == rank; }

/* Returns whether a set joins an equal one that is kept. Equal sets reach every similarity; but where sets only join
 * those that contain them, small ones don't. */
static bool may_join_equal(const struct idxi_set_join *join, uint32_t rank) {
    return join->threshold.total > 0 || set_of(join, rank)->count >= join->contained_size;
}

/* Notes that a set joins an equal one, which is kept, or with `kept` as its own rank that it is kept itself. */
static void settle_equal(const struct idxi_set_join *join, uint32_t rank, uint32_t kept) {
    uint32_t size = set_of(join, rank)->count;
    *result_of(join, rank) = (struct idx_kept_set){.kept = kept, .shared = size, .total = size};
}

/* Makes all results undecided, but those of known sets, which are kept. */
static void begin_results(const struct idxi_set_join *join) {
    for (uint32_t rank = 0; rank < join->store->count; rank++) {
        *result_of(join, rank) = (struct idx_kept_set){.kept = UINT64_MAX};
        if (rank < join->known) settle_equal(join, rank, rank);
    }
}

static void number_results(const struct idxi_set_join *join) {
    for (size_t i = 0; i < join->store->count; i++)
        join->kept[i].kept = idxi_number_of(join->order, (uint32_t)join->kept[i].kept);
}

/* Compares a set with those of an index, and notes the best that it joins, unless its result is better already. */
static enum idx_status improve_result(const struct idxi_set_join *join, struct idxi_prober *prober,
                                      const struct idxi_postings *postings, const struct idxi_query *query,
                                      struct idx_error *error) {
    struct idx_kept_set *result = result_of(join, query->rank);
    struct idxi_similar best = {(uint32_t)result->kept, result->shared, result->total};
    IDXI_TRY(idxi_prober_compare(prober, postings, query, &best, error));
    if (best.total > 0) *result = (struct idx_kept_set){best.rank, best.shared, best.total};
    return IDX_OK;
}

/* ---- Comparing with indexed sets ---- */

/* Returns whether a set, whose result is wanted, needs no comparison. If that is because it joins an equal set of an
 * earlier block, notes so. A known set is only prepared to be indexed: not if an equal one is, or the index is full. */
static bool decide_early(const struct idxi_set_join *join, uint32_t rank) {
    const uint32_t first = lowest_equal(join, rank);
    if (rank < join->known) return first != rank || join->full;
    if (is_kept(join, rank)) return true;
    /* Results of this block may be written by other threads at this moment. */
    if (first >= join->begin || !is_kept(join, first) || !may_join_equal(join, rank)) return false;
    settle_equal(join, rank, first);
    return true;
}

/* Prepares a set, or leaves the query's prefix empty. A set that no other one can be similar to is kept at once. */
static enum idx_status prepare_query(const struct idxi_set_join *join, struct idxi_prober *prober,
                                     struct idxi_query *query, struct idx_error *error) {
    const uint32_t rank = query->rank, first = lowest_equal(join, rank);
    if (join->kept != NULL ? decide_early(join, rank) : first != rank) return IDX_OK;
    IDXI_TRY(idxi_prober_prepare(prober, rank, query, error));
    if (query->listed > 0)
        idxi_postings_fetch(&join->indexed, query);
    else if (join->kept != NULL && first == rank)
        settle_equal(join, rank, rank);
    return IDX_OK;
}

/* Visits a set and all similar ones of an index. */
static enum idx_status visit_similar(const struct idxi_set_join *join, struct idxi_prober *prober,
                                     const struct idxi_postings *postings, const struct idxi_query *query,
                                     struct idx_error *error) {
    struct idxi_similar none = {0};
    prober->found_count = 0;
    IDXI_TRY(idxi_prober_compare(prober, postings, query, &none, error));
    if (prober->found_count == 0) return IDX_OK;
    return join->visit(join->context, query->rank, prober->found, prober->found_count, error);
}

/* Compares a prepared set with the indexed ones: improves its result, or visits those that are similar. */
static enum idx_status compare_with_indexed(const struct idxi_set_join *join, struct idxi_prober *prober,
                                            const struct idxi_query *query, struct idx_error *error) {
    if (query->prefix == 0 || (join->kept != NULL && query->rank < join->known)) return IDX_OK;
    if (join->kept == NULL) return visit_similar(join, prober, &join->indexed, query, error);
    return improve_result(join, prober, &join->indexed, query, error);
}

/* Compares the sets of a task with the indexed ones. Each is compared some sets after it was prepared, when its lists
 * have been fetched. This is an idxi_task. */
static enum idx_status compare_task(void *context, size_t number, struct idx_error *error) {
    const struct idxi_set_join *join = context;
    const struct idxi_set_task *task = &join->tasks[number];
    struct idxi_prober *prober = &join->probers[number];
    struct idxi_query *queries = &join->queries[task->begin - join->begin];
    const uint32_t count = task->end - task->begin;
    IDXI_TRY(idxi_prober_begin(prober, task->members, error));
    for (uint32_t i = 0; i < count + PREPARED_AHEAD; i++) {
        if (i + FETCHED_AHEAD < count) idxi_prober_fetch(prober, task->begin + i + FETCHED_AHEAD);
        if (i < count) {
            queries[i] = (struct idxi_query){.rank = task->begin + i};
            IDXI_TRY(prepare_query(join, prober, &queries[i], error));
        }
        if (i >= PREPARED_AHEAD) IDXI_TRY(compare_with_indexed(join, prober, &queries[i - PREPARED_AHEAD], error));
    }
    return idxi_progress_add(join->progress, count, error);
}

/* ---- Comparing the sets of a block with each other ---- */

/* Decides about a set, if need be by comparing it with those before it in the block. Sets *must_index to whether it is
 * kept, and others can be similar to it. */
static enum idx_status decide_in_block(const struct idxi_set_join *join, struct idxi_prober *prober,
                                       const struct idxi_query *query, bool *must_index, struct idx_error *error) {
    const uint32_t rank = query->rank, first = lowest_equal(join, rank);
    *must_index = rank < join->known && query->listed > 0;
    if (is_kept(join, rank)) return IDX_OK;
    if (is_kept(join, first) && may_join_equal(join, rank)) {
        settle_equal(join, rank, first);
        return IDX_OK;
    }
    IDXI_TRY(improve_result(join, prober, &join->block, query, error));
    if (result_of(join, rank)->total > 0) return IDX_OK;
    settle_equal(join, rank, rank);
    *must_index = query->listed > 0;
    return IDX_OK;
}

/* Compares the block's sets with each other, in order, and indexes those that must be. Overwrites join->queries. */
static enum idx_status compare_block(struct idxi_set_join *join, struct idxi_prober *prober, struct idx_error *error) {
    uint32_t indexed = 0, count = join->end - join->begin;
    idxi_postings_clear(&join->block);
    for (uint32_t i = 0; i < count; i++) {
        const struct idxi_query *query = &join->queries[i];
        bool must_index = query->listed > 0;
        if (join->kept != NULL)
            IDXI_TRY(decide_in_block(join, prober, query, &must_index, error));
        else if (must_index)
            IDXI_TRY(visit_similar(join, prober, &join->block, query, error));
        if (!must_index) continue;
        IDXI_TRY(idxi_postings_add(&join->block, query, 1, error));
        join->queries[indexed++] = *query;
    }
    return idxi_postings_add(&join->indexed, join->queries, indexed, error);
}

/* ---- Blocks and rounds ---- */

static size_t most_tasks(const struct idxi_set_join *join) { return (size_t)join->threads * TASKS_OF_THREAD; }

/* Makes a block of the sets from join->begin on, and divides it into tasks. Returns how many tasks there are. */
static size_t make_tasks(struct idxi_set_join *join) {
    size_t tasks = 0;
    uint32_t rank = join->begin, most = rank / SETS_BEFORE;
    most = most < FEW_SETS_OF_TASK ? FEW_SETS_OF_TASK : most > MOST_SETS_OF_TASK ? MOST_SETS_OF_TASK : most;
    while (tasks < most_tasks(join) && rank < join->store->count) {
        struct idxi_set_task *task = &join->tasks[tasks++];
        *task = (struct idxi_set_task){.begin = rank, .end = rank, .members = 0};
        do task->members += set_of(join, rank++)->count;
        while (rank < join->store->count && rank - task->begin < most &&
               task->members + set_of(join, rank)->count <= MEMBERS_OF_TASK);
        task->end = rank;
    }
    join->end = rank;
    return tasks;
}

static uint64_t count_compared(const struct idxi_set_join *join) {
    uint64_t compared = 0;
    for (size_t i = 0; i <= most_tasks(join); i++) compared += join->probers[i].compared;
    return compared;
}

/* Sets whether the indexed sets fill the memory, also that which the sets of the store leave when they move to the
 * file: another round costs more than reading them from there. No task runs, so that no set of the store is in use. */
static enum idx_status check_memory(struct idxi_set_join *join, struct idx_error *error) {
    const uint64_t bytes = idxi_postings_bytes(&join->indexed);
    if (bytes > join->memory) IDXI_TRY(idxi_set_store_spill(join->store, &join->memory, error));
    join->full = bytes > join->memory;
    return IDX_OK;
}

/* Compares the sets of the block with each other, and indexes them. If they were compared with many, also by the tasks,
 * sets have signatures from then on. */
static enum idx_status finish_block(struct idxi_set_join *join, uint64_t compared_before, struct idx_error *error) {
    IDXI_TRY(compare_block(join, &join->probers[most_tasks(join)], error));
    IDXI_TRY(check_memory(join, error));
    if (count_compared(join) - compared_before < (uint64_t)SIGNED_FROM * (join->end - join->begin)) return IDX_OK;
    IDXI_TRY(idxi_postings_sign(&join->indexed, error));
    return idxi_postings_sign(&join->block, error);
}

/* Compares all sets from `start` on with those that are indexed in this round. The next round starts at *next. */
static enum idx_status run_round(struct idxi_set_join *join, uint32_t start, uint32_t *next, struct idx_error *error) {
    const uint32_t count = (uint32_t)join->store->count;
    join->full = false;
    join->summary.rounds++;
    *next = count;
    idxi_postings_clear(&join->indexed);
    IDXI_TRY(idxi_progress_begin(join->progress, IDX_PHASE_SETS, count - start, error));
    for (join->begin = start; join->begin < count; join->begin = join->end) {
        const size_t tasks = make_tasks(join);
        const uint64_t compared = count_compared(join);
        IDXI_TRY(idxi_parallel(tasks, join->threads, compare_task, join, join->progress, error));
        if (join->full) continue;
        IDXI_TRY(finish_block(join, compared, error));
        if (join->full) *next = join->end;
    }
    return IDX_OK;
}

/* Makes what a join works with, which close_join frees even after an error. There is one prober more than tasks: the
 * last one compares the sets of a block with each other. */
static enum idx_status open_join(struct idxi_set_join *join, struct idx_error *error) {
    size_t tasks = most_tasks(join);
    IDXI_TRY(idxi_postings_init(&join->indexed, join->threads, error));
    IDXI_TRY(idxi_postings_init(&join->block, 1, error));
    join->probers = calloc(tasks + 1, sizeof *join->probers);
    join->tasks = calloc(tasks, sizeof *join->tasks);
    join->queries = calloc(tasks * MOST_SETS_OF_TASK, sizeof *join->queries);
    if (join->probers == NULL || join->tasks == NULL || join->queries == NULL) return idxi_fail_memory(error);
    struct idxi_prober prober = {.store = join->store,
                                 .counters = join->counters,
                                 .threshold = join->threshold,
                                 .contained = join->contained,
                                 .contained_size = join->contained_size,
                                 .all = join->kept == NULL,
                                 .reader.store = join->store,
                                 .others.store = join->store};
    if (join->contained.total > 0) {
        IDXI_TRY(idxi_marks_make(&join->marks, &prober, join->threads, join->progress, error));
        prober.marks = &join->marks;
    }
    prober.order = join->order; /* only now: idxi_marks_make takes sets by number, with no order */
    for (size_t i = 0; i <= tasks; i++) join->probers[i] = prober;
    return IDX_OK;
}

/* Sets summary.candidates, too. */
static void close_join(struct idxi_set_join *join) {
    if (join->probers != NULL) join->summary.candidates = count_compared(join);
    for (size_t i = 0; join->probers != NULL && i <= most_tasks(join); i++) idxi_prober_close(&join->probers[i]);
    free(join->probers);
    free(join->tasks);
    free(join->queries);
    idxi_postings_close(&join->indexed);
    idxi_postings_close(&join->block);
    idxi_marks_free(&join->marks);
}

enum idx_status idxi_set_join_run(struct idxi_set_join *join, struct idx_error *error) {
    if (join->kept != NULL) begin_results(join);
    enum idx_status status = open_join(join, error);
    for (uint32_t start = 0, next; start < join->store->count && status == IDX_OK; start = next)
        status = run_round(join, start, &next, error);
    if (status == IDX_OK && join->kept != NULL) number_results(join);
    close_join(join);
    return status;
}
