/* background.c: see background.h. */
#include "libidx/background.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "libidx/error.h"

static bool goes_on(void *context, const struct idx_progress *progress) {
    struct idxi_background *background = context;
    if (atomic_load(&background->cancelled)) return false;
    return background->progress == NULL || background->progress(background->context, progress);
}

static void *run(void *context) {
    struct idxi_background *background = context;
    struct idx_compact_options options = IDX_COMPACT_OPTIONS_INIT;
    options.max_segments = background->max_segments;
    options.progress = goes_on;
    options.context = background;
    background->status = idx_compact(background->path, &options, NULL, &background->error);
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

enum idx_status idxi_background_begin(struct idxi_background *background, const char *path, unsigned max_segments,
                                      struct idx_error *error) {
    background->path = strdup(path);
    background->max_segments = max_segments;
    atomic_store(&background->ended, false);
    atomic_store(&background->cancelled, false);
    background->begun = background->path != NULL && start_thread(background);
    if (background->begun) return IDX_OK;
    free(background->path);
    background->status = idxi_fail_memory(&background->error);
    return idxi_fail_memory(error);
}

enum idx_status idxi_background_end(struct idxi_background *background, bool cancel, struct idx_error *error) {
    if (background->begun) {
        if (cancel) atomic_store(&background->cancelled, true);
        pthread_join(background->thread, NULL);
        background->begun = false;
        free(background->path);
    }
    if (background->status != IDX_OK && error != NULL) *error = background->error;
    return background->status;
}
