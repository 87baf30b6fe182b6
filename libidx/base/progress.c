/* progress.c: see progress.h. */
#include "libidx/base/progress.h"

#include <time.h>

#include "libidx/base/error.h"

#define NANOSECONDS UINT64_C(1000000000)
#define TELL_EVERY (NANOSECONDS / 10)

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * NANOSECONDS + (uint64_t)time.tv_nsec;
}

void idxi_progress_init(struct idxi_progress *progress, idx_progress_visitor visit, void *context) {
    *progress = (struct idxi_progress){.visit = visit, .context = context, .phase = IDX_PHASE_COUNT};
}

static void tell(struct idxi_progress *progress) {
    if (progress->cancelled) return;
    struct idx_progress told = {progress->phase, progress->done, progress->total};
    if (!progress->visit(progress->context, &told)) progress->cancelled = true;
    progress->told = now();
}

/* Phases from comparing on are those of calls that publish nothing. */
static enum idx_status check_cancelled(struct idxi_progress *progress, struct idx_error *error) {
    if (!progress->cancelled) return IDX_OK;
    return idxi_fail(error, IDX_CANCELLED, NULL, "cancelled: %s",
                     progress->phase < IDX_PHASE_COMPARING ? "nothing was published" : "the results are incomplete");
}

enum idx_status idxi_progress_begin(struct idxi_progress *progress, enum idx_phase phase, uint64_t total,
                                    struct idx_error *error) {
    progress->caller = pthread_self();
    progress->phase = phase;
    progress->total = total;
    progress->done = 0;
    if (progress->visit != NULL) tell(progress);
    return check_cancelled(progress, error);
}

enum idx_status idxi_progress_add(struct idxi_progress *progress, uint64_t more, struct idx_error *error) {
    progress->done += more;
    if (progress->visit != NULL && pthread_equal(progress->caller, pthread_self()) &&
        now() - progress->told >= TELL_EVERY)
        tell(progress);
    return check_cancelled(progress, error);
}
