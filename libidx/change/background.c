/* background.c: see background.h. */
#include "libidx/change/background.h"

#include <signal.h>

#include "libidx/base/error.h"
#include "libidx/change/compact.h"

static bool goes_on(void *context, const struct idx_progress *progress) {
    struct idxi_background *background = context;
    if (atomic_load(&background->cancelled)) return false;
    return background->progress == NULL || background->progress(background->context, progress);
}

static void *run(void *context) {
    struct idxi_background *background = context;
    struct idx_compact_options options = IDX_COMPACT_OPTIONS_INIT;
    options.max_segments = background->max_segments;
    options.threads = background->threads;
    options.progress = goes_on;
    options.context = background;
    background->status = idxi_compact(background->index, &options, &background->error);
    atomic_store(&background->ended, true);
    return NULL;
}

/* Signals are for the program's own threads. */
static bool start_thread(struct idxi_background *background) {
    sigset_t all, before;
    sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0) return false;
    bool started = pthread_create(&background->thread, NULL, run, background) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

void idxi_background_begin(struct idxi_background *background, const struct idx_index *index, unsigned max_segments) {
    struct idx_open_options options = IDX_OPEN_OPTIONS_INIT;
    options.residence = IDX_RESIDENCE_NONE;
    background->max_segments = max_segments;
    atomic_store(&background->ended, false);
    atomic_store(&background->cancelled, false);
    background->status = idxi_index_open(&background->index, index->path, &options, index, &background->error);
    if (background->status != IDX_OK) return;
    background->begun = start_thread(background);
    if (background->begun) return;
    idx_close(background->index);
    background->status = idxi_fail_memory(&background->error);
}

enum idx_status idxi_background_end(struct idxi_background *background, bool cancel, struct idx_error *error) {
    if (background->begun) {
        if (cancel) atomic_store(&background->cancelled, true);
        pthread_join(background->thread, NULL);
        background->begun = false;
    }
    if (background->status != IDX_OK && error != NULL) *error = background->error;
    return background->status;
}
