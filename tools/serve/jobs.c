/* jobs.c: runs the threads that answer long requests. */
#include "tools/serve/jobs.h"

#include <stdlib.h>

/* Returns whether a waiting request is still to be answered. If it waited for more than JOBS_WAIT_SECONDS or is beyond
 * a limit of request_check_limits, fails it and returns false; false also if it has failed before. */
static bool check_waiting_request(struct request *request) {
    if (request_get_age_seconds(request) > JOBS_WAIT_SECONDS)
        request_fail(request, MHD_HTTP_SERVICE_UNAVAILABLE, "the service is busy; try again later");
    return request_check_limits(request);
}

/* Waits until a request is in the queue, and takes the first one out of it. Returns NULL once jobs_stop was called and
 * the queue is empty. */
static struct request *wait_and_dequeue_request(struct jobs *jobs) {
    pthread_mutex_lock(&jobs->mutex);
    while (jobs->first_waiting == NULL && !jobs_are_stopped(jobs)) pthread_cond_wait(&jobs->changed, &jobs->mutex);
    struct request *request = jobs->first_waiting;
    if (request != NULL) {
        jobs->first_waiting = request->next;
        if (jobs->first_waiting == NULL) jobs->link_of_next = &jobs->first_waiting;
        jobs->waiting_count--;
    }
    pthread_mutex_unlock(&jobs->mutex);
    return request;
}

/* Answers requests and resumes their connections, until jobs_stop was called and no request waits. The context is the
 * struct jobs. This is the function of each thread. */
static void *answer_requests_until_end(void *context) {
    struct jobs *jobs = context;
    struct request *request;
    while ((request = wait_and_dequeue_request(jobs)) != NULL) {
        if (check_waiting_request(request)) request->route->answer(request);
        MHD_resume_connection(request->connection);
    }
    return NULL;
}

bool jobs_start(struct jobs *jobs, unsigned thread_count) {
    *jobs = (struct jobs){.link_of_next = &jobs->first_waiting};
    pthread_mutex_init(&jobs->mutex, NULL);
    pthread_cond_init(&jobs->changed, NULL);
    jobs->threads = calloc(thread_count, sizeof *jobs->threads);
    while (jobs->threads != NULL && jobs->started_count < thread_count) {
        if (pthread_create(&jobs->threads[jobs->started_count], NULL, answer_requests_until_end, jobs) != 0) break;
        jobs->started_count++;
    }
    if (jobs->started_count < thread_count) complain("can't start %u threads", thread_count);
    return jobs->started_count == thread_count;
}

bool jobs_submit_request(struct jobs *jobs, struct request *request) {
    pthread_mutex_lock(&jobs->mutex);
    bool accepted = jobs->waiting_count < JOBS_MAX_WAITING && !jobs_are_stopped(jobs);
    if (accepted) {
        MHD_suspend_connection(request->connection);
        request->next = NULL;
        *jobs->link_of_next = request;
        jobs->link_of_next = &request->next;
        jobs->waiting_count++;
        pthread_cond_signal(&jobs->changed);
    }
    pthread_mutex_unlock(&jobs->mutex);
    return accepted;
}

void jobs_refuse_overdue(struct jobs *jobs) {
    pthread_mutex_lock(&jobs->mutex);
    struct request **link = &jobs->first_waiting;
    while (*link != NULL) {
        struct request *request = *link;
        if (check_waiting_request(request)) {
            link = &request->next;
            continue;
        }
        *link = request->next;
        jobs->waiting_count--;
        MHD_resume_connection(request->connection); /* It then sends the error. */
    }
    jobs->link_of_next = link;
    pthread_mutex_unlock(&jobs->mutex);
}

void jobs_stop(struct jobs *jobs) {
    pthread_mutex_lock(&jobs->mutex);
    atomic_store(&jobs->stopped, true);
    pthread_cond_broadcast(&jobs->changed);
    pthread_mutex_unlock(&jobs->mutex);
    jobs_refuse_overdue(jobs);
}

bool jobs_are_stopped(const struct jobs *jobs) { return atomic_load_explicit(&jobs->stopped, memory_order_relaxed); }

void jobs_join(struct jobs *jobs) {
    for (unsigned i = 0; i < jobs->started_count; i++) pthread_join(jobs->threads[i], NULL);
    free(jobs->threads);
}

void jobs_close(struct jobs *jobs) {
    pthread_mutex_destroy(&jobs->mutex);
    pthread_cond_destroy(&jobs->changed);
}
