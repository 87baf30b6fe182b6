/* parallel.c: the progress of long calls, and work that several threads share. */
#include "libidx/base/base.h"

#include <time.h>

/* ---- Progress ---- */

#define SECOND_NS 1000000000L
#define REPORT_INTERVAL_NS (SECOND_NS / 10) /* the callback is called at most once in so many nanoseconds */

/* Returns the nanoseconds since some fixed moment, by a clock that is never set. */
static uint64_t get_monotonic_nanoseconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * (uint64_t)SECOND_NS + (uint64_t)time.tv_nsec;
}

void idxi_progress_init(struct idxi_progress *progress, idx_progress_visitor visit, void *context) {
    *progress = (struct idxi_progress){.visit = visit, .context = context, .phase = IDX_PHASE_COUNT};
}

/* Calls the callback, which must not be NULL, unless it has cancelled the call, and notes whether it does so now. */
static void report_progress(struct idxi_progress *progress) {
    if (progress->cancelled) return;
    struct idx_progress report = {progress->phase, progress->done, progress->total};
    if (!progress->visit(progress->context, &report)) progress->cancelled = true;
    progress->reported_at = get_monotonic_nanoseconds();
}

/* Fails with IDX_CANCELLED where the callback has cancelled the call. The sentence relies on the order of enum
 * idx_phase: phases from IDX_PHASE_COMPARING on belong to calls that publish nothing. */
static enum idx_status check_cancelled(struct idxi_progress *progress, struct idx_error *error) {
    if (!progress->cancelled) return IDX_OK;
    return idxi_fail(error, IDX_CANCELLED, NULL, "cancelled: %s",
                     progress->phase < IDX_PHASE_COMPARING ? "nothing was published" : "the results are incomplete");
}

enum idx_status idxi_progress_begin(struct idxi_progress *progress, enum idx_phase phase, uint64_t total,
                                    struct idx_error *error) {
    progress->caller = pthread_self();
    progress->phase = phase;
    progress->total = total;
    progress->done = 0;
    if (progress->visit != NULL) report_progress(progress);
    return check_cancelled(progress, error);
}

enum idx_status idxi_progress_add(struct idxi_progress *progress, uint64_t units, struct idx_error *error) {
    progress->done += units;
    if (progress->visit != NULL && pthread_equal(progress->caller, pthread_self()) &&
        get_monotonic_nanoseconds() - progress->reported_at >= REPORT_INTERVAL_NS)
        report_progress(progress);
    return check_cancelled(progress, error);
}

/* ---- Threads ---- */

/* What the threads of one call share. */
struct work {
    size_t task_count;
    idx_task task;
    void *context;
    atomic_size_t next_task; /* its number */
    atomic_bool failed;
    pthread_mutex_t mutex; /* guards what follows */
    pthread_cond_t thread_ended;
    unsigned running_threads; /* those that have not ended, without the calling one */
    enum idx_status status;
    struct idx_error error;
};

/* Runs tasks until there are no more, or one has failed on any thread. The first error stays in work->error. */
static void run_remaining_tasks(struct work *work, unsigned thread) {
    while (!work->failed) {
        struct idx_error error;
        size_t number = atomic_fetch_add(&work->next_task, 1);
        if (number >= work->task_count) return;
        enum idx_status status = work->task(work->context, number, thread, &error);
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

/* One of the threads beside the calling one, which has number 0. */
struct thread {
    struct work *work;
    unsigned number;
    pthread_t handle;
};

/* The function of a thread, whose `context` is its struct thread: runs tasks, and then signals that it has ended. */
static void *run_thread(void *context) {
    struct thread *thread = context;
    struct work *work = thread->work;
    run_remaining_tasks(work, thread->number);
    pthread_mutex_lock(&work->mutex);
    work->running_threads--;
    pthread_cond_signal(&work->thread_ended);
    pthread_mutex_unlock(&work->mutex);
    return NULL;
}

/* Waits until all other threads have ended, and meanwhile reports progress, unless that is NULL, every
 * REPORT_INTERVAL_NS. */
static void wait_for_other_threads(struct work *work, struct idxi_progress *progress) {
    pthread_mutex_lock(&work->mutex);
    while (work->running_threads > 0) {
        struct timespec deadline;
        clock_gettime(CLOCK_REALTIME, &deadline);
        deadline.tv_nsec += REPORT_INTERVAL_NS;
        deadline.tv_sec += deadline.tv_nsec / SECOND_NS;
        deadline.tv_nsec %= SECOND_NS;
        pthread_cond_timedwait(&work->thread_ended, &work->mutex, &deadline);
        pthread_mutex_unlock(&work->mutex);
        if (progress != NULL) (void)idxi_progress_add(progress, 0, NULL); /* reports; the tasks check for cancelling */
        pthread_mutex_lock(&work->mutex);
    }
    pthread_mutex_unlock(&work->mutex);
}

/* Starts up to `count` threads, with the numbers from 1 on, and returns how many it started; the system may allow no
 * more. The mutex is held so that no thread ends before it is counted. */
static unsigned start_threads(struct work *work, struct thread *threads, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        threads[i] = (struct thread){.work = work, .number = i + 1};
        pthread_mutex_lock(&work->mutex);
        bool started = pthread_create(&threads[i].handle, NULL, run_thread, &threads[i]) == 0;
        work->running_threads += started;
        pthread_mutex_unlock(&work->mutex);
        if (!started) return i;
    }
    return count;
}

enum idx_status idxi_run_parallel_by_thread(size_t count, unsigned threads, idx_task task, void *context,
                                            struct idxi_progress *progress, struct idx_error *error) {
    struct work work = {.task_count = count,
                        .task = task,
                        .context = context,
                        .mutex = PTHREAD_MUTEX_INITIALIZER,
                        .thread_ended = PTHREAD_COND_INITIALIZER};
    struct thread other_threads[IDX_MAX_THREADS];
    unsigned used_threads = threads < count ? threads : (unsigned)count; /* with the calling thread */
    unsigned started_count = used_threads > 1 ? start_threads(&work, other_threads, used_threads - 1) : 0;
    run_remaining_tasks(&work, 0);
    wait_for_other_threads(&work, progress);
    while (started_count > 0) pthread_join(other_threads[--started_count].handle, NULL);
    pthread_cond_destroy(&work.thread_ended);
    pthread_mutex_destroy(&work.mutex);
    if (work.status != IDX_OK && error != NULL) *error = work.error;
    return work.status;
}

/* A task that does not get the number of its thread. */
struct plain_task {
    idxi_plain_task task;
    void *context;
};

/* An idx_task that runs the struct plain_task `context`, without the thread's number. */
static enum idx_status run_plain_task(void *context, size_t number, unsigned thread, struct idx_error *error) {
    const struct plain_task *plain = context;
    (void)thread;
    return plain->task(plain->context, number, error);
}

enum idx_status idxi_run_parallel(size_t count, unsigned threads, idxi_plain_task task, void *context,
                                  struct idxi_progress *progress, struct idx_error *error) {
    struct plain_task plain = {.task = task, .context = context};
    return idxi_run_parallel_by_thread(count, threads, run_plain_task, &plain, progress, error);
}

/* A task of a caller of idx_run_tasks. Each counts as one unit of progress. */
struct counted_task {
    idx_task task;
    void *context;
    struct idxi_progress progress;
};

/* An idx_task that runs the struct counted_task `context` and adds it to the progress. Fails also if the callback has
 * cancelled the call. */
static enum idx_status run_counted_task(void *context, size_t number, unsigned thread, struct idx_error *error) {
    struct counted_task *counted = context;
    IDXI_TRY(counted->task(counted->context, number, thread, error));
    return idxi_progress_add(&counted->progress, 1, error);
}

enum idx_status idx_run_tasks(size_t count, unsigned threads, idx_task task, void *context, idx_progress_visitor visit,
                              void *visit_context, struct idx_error *error) {
    struct counted_task counted = {.task = task, .context = context};
    IDXI_TRY(idxi_check_threads(threads, error));
    idxi_progress_init(&counted.progress, visit, visit_context);
    IDXI_TRY(idxi_progress_begin(&counted.progress, IDX_PHASE_TASKS, count, error));
    return idxi_run_parallel_by_thread(count, threads, run_counted_task, &counted, &counted.progress, error);
}
