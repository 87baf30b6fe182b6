/* jobs.h: requests that take longer than a thread that serves connections may be kept from the others: threads of their
 * own answer them, in the order in which they came. */
#ifndef IDX_TOOLS_SERVE_JOBS_H
#define IDX_TOOLS_SERVE_JOBS_H

#include <pthread.h>
#include <stdbool.h>

struct request;

/* The requests that may wait, and how long. */
enum { JOBS_MOST_WAITING = 256, JOBS_WAIT_SECONDS = 30 };

struct jobs {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    struct request *first, **last;
    unsigned waiting;
    bool ended;
    unsigned threads; /* that were started */
    pthread_t *thread;
};

/* Starts threads. False after a complaint; jobs_end is to be called all the same. */
bool jobs_start(struct jobs *jobs, unsigned threads);

/* Suspends the connection of a request until the request was answered. False where too many wait. */
bool jobs_submit(struct jobs *jobs, struct request *request);

/* Answers what waits, and ends the threads. */
void jobs_end(struct jobs *jobs);

#endif
