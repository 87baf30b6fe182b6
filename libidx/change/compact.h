/* compact.h: compacts the index of a view, in the calling thread or in one of its own. */
#ifndef IDX_LIBIDX_COMPACT_H
#define IDX_LIBIDX_COMPACT_H

#include <idx.h>
#include <pthread.h>
#include <stdatomic.h>

/* Compacts the index of a view as idx_compact does, and closes the view, even after an error. `options` may be NULL.
 * The view has the pending records, so they are not read again. If another compaction has changed the manifest since,
 * does nothing. Errors: as idx_compact. */
enum idx_status idxi_compact_view(struct idx_index *index, const struct idx_compact_options *options,
                                  struct idx_error *error);

/* ---- In the background ---- */

/* A compaction in a thread of its own. Zeroed, none is running. One thread at a time calls idxi_background_begin,
 * idxi_background_wait and idxi_background_cancel. */
struct idxi_background {
    bool has_thread; /* whether there is a thread to join, running or ended */
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

/* Begins to compact the index of a view, with which it shares the pending records, into at most `max_segments`
 * segments. background->has_thread must be false. Call it on the view's thread. Errors, also of beginning, are returned
 * by idxi_background_wait. */
void idxi_background_begin(struct idxi_background *background, const struct idx_index *index, unsigned max_segments);

/* Waits for the compaction that is running, if any, to end. Returns the status of the last compaction, whether it ended
 * or could not begin; IDX_OK if there was none. Sets *error, unless NULL, to its error. */
enum idx_status idxi_background_wait(struct idxi_background *background, struct idx_error *error);

/* Makes the compaction that is running, if any, end soon, and waits for that. The compaction changes nothing, unless it
 * has replaced the manifest already. */
void idxi_background_cancel(struct idxi_background *background);

#endif
