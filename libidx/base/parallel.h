/* parallel.h: work that several threads share, and how far it is. */
#ifndef IDX_LIBIDX_PARALLEL_H
#define IDX_LIBIDX_PARALLEL_H

#include <idx.h>
#include <pthread.h>
#include <stdatomic.h>

/* How far a build or a merge is, as its caller's visitor is told. */
struct idxi_progress {
    idx_progress_visitor visit; /* may be NULL */
    void *context;
    pthread_t caller; /* the thread that may call it */
    enum idx_phase phase;
    uint64_t total;
    atomic_uint_fast64_t done;
    atomic_bool cancelled;
    uint64_t told; /* when it was called last, in nanoseconds */
};

/* Begins with a phase that is still to come. */
void idxi_progress_init(struct idxi_progress *progress, idx_progress_visitor visit, void *context);

/* Begins a phase. IDX_CANCELLED, here as below, where the visitor wants no more. The calling thread becomes the one
 * that calls the visitor. */
enum idx_status idxi_progress_begin(struct idxi_progress *progress, enum idx_phase phase, uint64_t total,
                                    struct idx_error *error);

/* Notes that so much more is done. From any thread, every millisecond or so. */
enum idx_status idxi_progress_add(struct idxi_progress *progress, uint64_t more, struct idx_error *error);

/* Carries out one of several tasks. */
typedef enum idx_status (*idxi_task)(void *context, size_t number, struct idx_error *error);

/* Carries out the tasks 0 to count - 1, each once, on up to `threads` threads, the calling one among them; each takes
 * the next one until there is none, or one has failed: the error of that one is returned. `progress` (may be NULL) is
 * told from time to time also while the calling thread waits for the others. */
enum idx_status idxi_parallel(size_t count, unsigned threads, idxi_task task, void *context,
                              struct idxi_progress *progress, struct idx_error *error);

#endif
