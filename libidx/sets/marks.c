/* marks.c: marks the hashes that are in the prefix of a set. Threads take sets in turn, and set bits of one table. */
#include "libidx/sets/marks.h"

#include <stdlib.h>

#include "libidx/sets/probe.h"

/* How many sets a task has. */
#define SETS_PER_TASK ((size_t)1 << 12)

/* What the threads that mark share. */
struct mark_job {
    struct idxi_marks *marks;
    const struct idxi_prober *prober;
    struct idxi_progress *progress;
};

/* Marks a hash by its tag, which has all bits of its counter's number. Several threads may do so at once, hence the
 * atomic operation. */
static void mark_tag(struct idxi_marks *marks, uint32_t tag) {
    uint64_t bit = (uint64_t)tag << 32 >> marks->shift;
    __atomic_fetch_or(&marks->bits[bit / 64], UINT64_C(1) << bit % 64, __ATOMIC_RELAXED);
}

/* Marks the prefix of set number `number`, unless an earlier set equals it. Overwrites the arena. */
static enum idx_status mark_prefix_of_set(struct idxi_marks *marks, struct idxi_prober *prober,
                                          struct idxi_query_arena *arena, uint32_t number, struct idx_error *error) {
    const struct idxi_stored_set *set = &prober->store->sets[number];
    struct idxi_query query = {.rank = number}, *queries[] = {&query};
    if (set->first != number) return IDX_OK;
    IDXI_TRY(idxi_prober_use_arena(prober, arena, set->count, error));
    IDXI_TRY(idxi_prober_prepare(prober, queries, 1, error));
    for (uint32_t i = 0; i < query.prefix; i++) mark_tag(marks, query.tags[i]);
    return IDX_OK;
}

/* An idxi_plain_task: marks the prefixes of the sets of a task, with a prober of its own. */
static enum idx_status mark_prefixes_of_task(void *context, size_t task, struct idx_error *error) {
    const struct mark_job *job = context;
    struct idxi_prober prober = *job->prober;
    struct idxi_query_arena arena = {0};
    size_t begin = task * SETS_PER_TASK, end = begin + SETS_PER_TASK;
    enum idx_status status = IDX_OK;
    if (end > prober.store->count) end = prober.store->count;
    for (size_t i = begin; i < end && status == IDX_OK; i++)
        status = mark_prefix_of_set(job->marks, &prober, &arena, (uint32_t)i, error);
    idxi_prober_close(&prober);
    free(arena.numbers);
    return status == IDX_OK ? idxi_progress_add(job->progress, end - begin, error) : status;
}

enum idx_status idxi_marks_make(struct idxi_marks *marks, const struct idxi_prober *prober, unsigned threads,
                                struct idxi_progress *progress, struct idx_error *error) {
    const struct idxi_counters *counters = prober->counters;
    size_t set_count = prober->store->count;
    *marks = (struct idxi_marks){calloc(counters->size / 64 + 1, sizeof *marks->bits), counters->shift};
    if (marks->bits == NULL) return idxi_fail_memory(error);
    struct mark_job job = {marks, prober, progress};
    IDXI_TRY(idxi_progress_begin(progress, IDX_PHASE_SETS, set_count, error));
    return idxi_run_parallel((set_count + SETS_PER_TASK - 1) / SETS_PER_TASK, threads, mark_prefixes_of_task, &job,
                             progress, error);
}

void idxi_marks_free(struct idxi_marks *marks) {
    free(marks->bits);
    *marks = (struct idxi_marks){0};
}
