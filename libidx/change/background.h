/* background.h: the compaction that a writer has at work in a thread of its own, if any. */
#ifndef IDX_LIBIDX_BACKGROUND_H
#define IDX_LIBIDX_BACKGROUND_H

#include <idx.h>
#include <pthread.h>
#include <stdatomic.h>

/* All zeros: none is at work. One thread at a time calls what follows. */
struct idxi_background {
    bool begun;
    atomic_bool ended, cancelled;
    pthread_t thread;
    struct idx_index *index;
    unsigned max_segments;
    unsigned threads;              /* set by the caller */
    idx_progress_visitor progress; /* may be NULL; set by the caller, with its context */
    void *context;
    enum idx_status status; /* of the last one that has ended */
    struct idx_error error;
};

/* Begins to compact the index of a view, where none is begun; shares with it what is pending. Called by the view's
 * thread. What goes wrong is what idxi_background_end returns. */
void idxi_background_begin(struct idxi_background *background, const struct idx_index *index, unsigned max_segments);

/* Waits for its end, or with `cancel` makes it end soon, undone. Returns what the compaction did, or where none is
 * begun, what the last one did, or that it could not begin; IDX_OK for none. */
enum idx_status idxi_background_end(struct idxi_background *background, bool cancel, struct idx_error *error);

#endif
