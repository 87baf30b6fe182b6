/* parallel.c: see parallel.h. */
#include "libidx/base/parallel.h"

#include <time.h>

#define NANOSECONDS 1000000000L
#define WAIT_NANOSECONDS (NANOSECONDS / 10)

struct work {
    size_t count;
    idxi_task task;
    void *context;
    atomic_size_t next;
    atomic_bool failed;
    pthread_mutex_t mutex; /* for what follows */
    pthread_cond_t ended;
    unsigned running; /* threads besides the caller's */
    enum idx_status status;
    struct idx_error error;
};

static void take_tasks(struct work *work) {
    size_t number;
    while (!work->failed && (number = atomic_fetch_add(&work->next, 1)) < work->count) {
        struct idx_error error;
        enum idx_status status = work->task(work->context, number, &error);
        if (status == IDX_OK) continue;
        work->failed = true;
        pthread_mutex_lock(&work->mutex);
        if (work->status == IDX_OK) {
            work->status = status;
            work->error = error;
        }
        pthread_mutex_unlock(&work->mutex);
    }
}

static void *run_thread(void *context) {
    struct work *work = context;
    take_tasks(work);
    pthread_mutex_lock(&work->mutex);
    work->running--;
    pthread_cond_signal(&work->ended);
    pthread_mutex_unlock(&work->mutex);
    return NULL;
}

static void wait_for_others(struct work *work, struct idxi_progress *progress) {
    pthread_mutex_lock(&work->mutex);
    while (work->running > 0) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += WAIT_NANOSECONDS;
        until.tv_sec += until.tv_nsec / NANOSECONDS;
        until.tv_nsec %= NANOSECONDS;
        pthread_cond_timedwait(&work->ended, &work->mutex, &until);
        pthread_mutex_unlock(&work->mutex);
        if (progress != NULL) (void)idxi_progress_add(progress, 0, NULL);
        pthread_mutex_lock(&work->mutex);
    }
    pthread_mutex_unlock(&work->mutex);
}

enum idx_status idxi_parallel(size_t count, unsigned threads, idxi_task task, void *context,
                              struct idxi_progress *progress, struct idx_error *error) {
    struct work work = {.count = count,
                        .task = task,
                        .context = context,
                        .mutex = PTHREAD_MUTEX_INITIALIZER,
                        .ended = PTHREAD_COND_INITIALIZER};
    pthread_t others[IDX_MAX_THREADS];
    unsigned started = 0, wanted = threads < count ? threads : (unsigned)count;
    /* Others help where they can be started. */
    for (; started + 1 < wanted; started++) {
        pthread_mutex_lock(&work.mutex);
        bool begun = pthread_create(&others[started], NULL, run_thread, &work) == 0;
        work.running += begun;
        pthread_mutex_unlock(&work.mutex);
        if (!begun) break;
    }
    take_tasks(&work);
    wait_for_others(&work, progress);
    while (started > 0) pthread_join(others[--started], NULL);
    pthread_cond_destroy(&work.ended);
    pthread_mutex_destroy(&work.mutex);
    if (work.status != IDX_OK && error != NULL) *error = work.error;
    return work.status;
}
