/* parallel.h: the progress of long calls, and work that several threads share. */
#ifndef IDX_LIBIDX_PARALLEL_H
#define IDX_LIBIDX_PARALLEL_H

#include <idx.h>
#include <pthread.h>
#include <stdatomic.h>

/* ---- Progress ---- */

/* A long call reports its progress to a callback of its caller. */

struct idxi_progress {
    idx_progress_visitor visit; /* may be NULL */
    void *context;
    pthread_t caller; /* the thread that began the phase, which alone calls the callback */
    enum idx_phase phase;
    uint64_t total;            /* units of work of the phase */
    atomic_uint_fast64_t done; /* units of work that are done */
    atomic_bool cancelled;     /* the callback has returned false */
    uint64_t reported_at;      /* when the callback was last called, in nanoseconds */
};

/* Initialises a progress, before its first phase. `visit` is called with `context`; NULL: nobody wants reports. */
void idxi_progress_init(struct idxi_progress *progress, idx_progress_visitor visit, void *context);

/* Begins a phase of `total` units of work. The calling thread becomes the one that calls the callback, and calls it at
 * once. Fails with IDX_CANCELLED if the callback has cancelled the call. */
enum idx_status idxi_progress_begin(struct idxi_progress *progress, enum idx_phase phase, uint64_t total,
                                    struct idx_error *error);

/* Adds `units` units of work to those that are done; 0 to check for cancelling alone. Any thread may call it, and
 * should do so about every millisecond. In the thread that began the phase it calls the callback, at most ten times a
 * second. Fails with IDX_CANCELLED if the callback has cancelled the call. */
enum idx_status idxi_progress_add(struct idxi_progress *progress, uint64_t units, struct idx_error *error);

/* ---- Threads ---- */

/* Runs task number `number`, on any thread. If it fails, it must fill *error, which is never NULL. */
typedef enum idx_status (*idxi_plain_task)(void *context, size_t number, struct idx_error *error);

/* Runs the tasks 0 to count - 1, each once, on up to `threads` threads (1 to IDX_MAX_THREADS), the calling one
 * included; fewer if the system allows no more. Each thread takes the next task until there is none, or one has failed.
 * Returns when all threads have ended, with the error of the first failed task. While the calling thread waits for the
 * others, it keeps reporting `progress` (may be NULL). */
enum idx_status idxi_run_parallel(size_t count, unsigned threads, idxi_plain_task task, void *context,
                                  struct idxi_progress *progress, struct idx_error *error);

/* Does what idxi_run_parallel does for tasks that also get the number of their thread: 0 for the calling thread, and
 * others below `threads`. */
enum idx_status idxi_run_parallel_by_thread(size_t count, unsigned threads, idx_task task, void *context,
                                            struct idxi_progress *progress, struct idx_error *error);

#endif
