/* jobs.c: runs the threads that answer long requests. */
#include "tools/serve/jobs.h"

#include <stdlib.h>

/* Fails a waiting request that waited too long, or is beyond its limits. Returns whether it is still to be answered. */
static bool check_waiting(struct request *request) {
    if (request_seconds(request) > JOBS_WAIT_SECONDS)
        request_fail(request, MHD_HTTP_SERVICE_UNAVAILABLE, "the service is busy; try again later");
    return request_check_limits(request);
}

/* Waits for a request and takes it out of those that wait. Returns NULL once jobs_stop was called and none waits. */
static struct request *take_next(struct jobs *jobs) {
    pthread_mutex_lock(&jobs->mutex);
    while (jobs->first == NULL && !jobs_ended(jobs)) pthread_cond_wait(&jobs->changed, &jobs->mutex);
    struct request *request = jobs->first;
    if (request != NULL) {
        jobs->first = request->next;
        if (jobs->first == NULL) jobs->end = &jobs->first;
        jobs->waiting--;
    }
    pthread_mutex_unlock(&jobs->mutex);
    return request;
}

/* Answers requests until the service ends, in a thread, and lets their connections go on. */
static void *answer_until_end(void *context) {
    struct jobs *jobs = context;
    struct request *request;
    while ((request = take_next(jobs)) != NULL) {
        if (check_waiting(request)) request->route->answer(request);
        MHD_resume_connection(request->connection);
    }
    return NULL;
}

bool jobs_start(struct jobs *jobs, unsigned threads) {
    *jobs = (struct jobs){.end = &jobs->first};
    pthread_mutex_init(&jobs->mutex, NULL);
    pthread_cond_init(&jobs->changed, NULL);
    jobs->handles = calloc(threads, sizeof *jobs->handles);
    while (jobs->handles != NULL && jobs->threads < threads) {
        if (pthread_create(&jobs->handles[jobs->threads], NULL, answer_until_end, jobs) != 0) break;
        jobs->threads++;
    }
    if (jobs->threads < threads) complain("can't start %u threads", threads);
    return jobs->threads == threads;
}

bool jobs_submit(struct jobs *jobs, struct request *request) {
    pthread_mutex_lock(&jobs->mutex);
    bool taken = jobs->waiting < JOBS_MOST_WAITING && !jobs_ended(jobs);
    if (taken) {
        MHD_suspend_connection(request->connection);
        request->next = NULL;
        *jobs->end = request;
        jobs->end = &request->next;
        jobs->waiting++;
        pthread_cond_signal(&jobs->changed);
    }
    pthread_mutex_unlock(&jobs->mutex);
    return taken;
}

void jobs_refuse_overdue(struct jobs *jobs) {
    pthread_mutex_lock(&jobs->mutex);
    struct request **link = &jobs->first;
    while (*link != NULL) {
        struct request *request = *link;
        if (check_waiting(request)) {
            link = &request->next;
            continue;
        }
        *link = request->next;
        jobs->waiting--;
        MHD_resume_connection(request->connection);
    }
    jobs->end = link;
    pthread_mutex_unlock(&jobs->mutex);
}

void jobs_stop(struct jobs *jobs) {
    pthread_mutex_lock(&jobs->mutex);
    atomic_store(&jobs->ended, true);
    pthread_cond_broadcast(&jobs->changed);
    pthread_mutex_unlock(&jobs->mutex);
    jobs_refuse_overdue(jobs);
}

bool jobs_ended(const struct jobs *jobs) { return atomic_load_explicit(&jobs->ended, memory_order_relaxed); }

void jobs_join(struct jobs *jobs) {
    for (unsigned i = 0; i < jobs->threads; i++) pthread_join(jobs->handles[i], NULL);
    free(jobs->handles);
}

void jobs_close(struct jobs *jobs) {
    pthread_mutex_destroy(&jobs->mutex);
    pthread_cond_destroy(&jobs->changed);
}
