/* compact.h: compacts the index of a view, in the calling thread or in one of its own. */
#ifndef IDX_LIBIDX_COMPACT_H
#define IDX_LIBIDX_COMPACT_H

#include <idx.h>
#include <pthread.h>
#include <stdatomic.h>

/* Compacts the index of a view as idx_compact does, and closes the view, also after an error. The view has the pending
 * records, so they are not read again. If another compaction has changed the manifest since, does nothing. */
enum idx_status idxi_compact_view(struct idx_index *index, const struct idx_compact_options *options,
                                  struct idx_error *error);

/* ---- In the background ---- */

/* A compaction in a thread of its own. Zeroed, none is running. One thread at a time calls the functions below. */
struct idxi_background {
    bool begun;
    atomic_bool ended, cancelled;
    pthread_t thread;
    struct idx_index *index;
    unsigned max_segments;
    unsigned threads;              /* set by the caller */
    idx_progress_visitor progress; /* may be NULL; set by the caller, with its context */
    void *context;
    enum idx_status status; /* of the last compaction that has ended */
    struct idx_error error;
};

/* Begins to compact the index of a view, unless a compaction is running; shares the pending records with the view.
 * Called by the view's thread. idxi_background_wait returns errors. */
void idxi_background_begin(struct idxi_background *background, const struct idx_index *index, unsigned max_segments);

/* Waits for the compaction to end. Returns its status, or if none is running, the status of the last one, or why it
 * could not begin. IDX_OK if there was none. */
enum idx_status idxi_background_wait(struct idxi_background *background, struct idx_error *error);

/* Makes the compaction end soon, without effect, and waits for that. */
void idxi_background_cancel(struct idxi_background *background);

#endif
