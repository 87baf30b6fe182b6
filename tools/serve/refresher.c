/* refresher.c: a thread that opens newer views of the index. */
#include "tools/serve/refresher.h"

#include "tools/shared/message.h"

#include <errno.h>
#include <time.h>

/* Waits until it is told to refresh, or it is time. False at the end. */
static bool wait(struct refresher *refresher) {
    struct timespec until;
    unsigned seconds = views_wait_to_close(refresher->views) ? 1 : refresher->seconds;
    int waited = 0;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += seconds;
    pthread_mutex_lock(&refresher->mutex);
    while (!refresher->told && !refresher->ended && waited != ETIMEDOUT) {
        if (seconds > 0)
            waited = pthread_cond_timedwait(&refresher->changed, &refresher->mutex, &until);
        else
            pthread_cond_wait(&refresher->changed, &refresher->mutex);
    }
    refresher->told = false;
    bool goes_on = !refresher->ended;
    pthread_mutex_unlock(&refresher->mutex);
    return goes_on;
}

static void *work(void *context) {
    struct refresher *refresher = context;
    while (wait(refresher)) views_refresh(refresher->views);
    return NULL;
}

bool refresher_start(struct refresher *refresher, struct views *views, unsigned seconds) {
    pthread_condattr_t attributes;
    *refresher = (struct refresher){.views = views, .seconds = seconds};
    pthread_mutex_init(&refresher->mutex, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&refresher->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    refresher->started = pthread_create(&refresher->thread, NULL, work, refresher) == 0;
    if (!refresher->started) complain("can't start a thread");
    return refresher->started;
}

static void set(struct refresher *refresher, bool *what) {
    pthread_mutex_lock(&refresher->mutex);
    *what = true;
    pthread_cond_signal(&refresher->changed);
    pthread_mutex_unlock(&refresher->mutex);
}

void refresher_tell(struct refresher *refresher) { set(refresher, &refresher->told); }

void refresher_end(struct refresher *refresher) {
    set(refresher, &refresher->ended);
    if (refresher->started) pthread_join(refresher->thread, NULL);
    pthread_mutex_destroy(&refresher->mutex);
    pthread_cond_destroy(&refresher->changed);
}
