/* progress.h: the progress of a long call, for the caller's callback. */
#ifndef IDX_LIBIDX_PROGRESS_H
#define IDX_LIBIDX_PROGRESS_H

#include <idx.h>
#include <pthread.h>
#include <stdatomic.h>

struct idxi_progress {
    idx_progress_visitor visit; /* may be NULL */
    void *context;
    pthread_t caller; /* the thread that may call it */
    enum idx_phase phase;
    uint64_t total;
    atomic_uint_fast64_t done;
    atomic_bool cancelled;
    uint64_t told; /* when the callback was last called, in nanoseconds */
};

/* Begins before the first phase. */
void idxi_progress_init(struct idxi_progress *progress, idx_progress_visitor visit, void *context);

/* Begins a phase. IDX_CANCELLED, here and below: the callback cancelled the call. The calling thread becomes the one
 * that calls the callback. */
enum idx_status idxi_progress_begin(struct idxi_progress *progress, enum idx_phase phase, uint64_t total,
                                    struct idx_error *error);

/* Adds to what is done. Called from any thread, every millisecond or so. */
enum idx_status idxi_progress_add(struct idxi_progress *progress, uint64_t more, struct idx_error *error);

#endif
