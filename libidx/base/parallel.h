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

/* Initialises a progress, before its first phase. `visit`, which may be NULL, is called with `context`. */
void idxi_progress_init(struct idxi_progress *progress, idx_progress_visitor visit, void *context);

/* Begins a phase of `total` units of work. The calling thread becomes the one that calls the callback. Returns
 * IDX_CANCELLED where the callback has cancelled the call. */
enum idx_status idxi_progress_begin(struct idxi_progress *progress, enum idx_phase phase, uint64_t total,
                                    struct idx_error *error);

/* Adds `units` units of work to those that are done. Any thread may call it, and should do so about every millisecond.
 * In the thread that began the phase it calls the callback, at most ten times a second. Returns IDX_CANCELLED where the
 * callback has cancelled the call. */
enum idx_status idxi_progress_add(struct idxi_progress *progress, uint64_t units, struct idx_error *error);

/* ---- Threads ---- */

/* Runs the task with this number, on any thread. If it fails, it must fill *error, which is never NULL. */
typedef enum idx_status (*idxi_task)(void *context, size_t number, struct idx_error *error);

/* Runs the tasks 0 to count - 1, each once, on up to `threads` threads, the calling one included. Each thread takes the
 * next task until there is none, or one has failed; then its error is returned. While the calling thread waits for the
 * others, it keeps reporting `progress` (may be NULL). */
enum idx_status idxi_run_parallel(size_t count, unsigned threads, idxi_task task, void *context,
                                  struct idxi_progress *progress, struct idx_error *error);

/* Does the same for tasks that also get the number of their thread, below `threads`. */
enum idx_status idxi_run_parallel_by_thread(size_t count, unsigned threads, idx_task task, void *context,
                                            struct idxi_progress *progress, struct idx_error *error);

#endif
