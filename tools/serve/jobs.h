/* jobs.h: requests that take longer than a thread that serves connections may be kept from the others: threads of their
 * own answer them, in the order in which they came. */
#ifndef IDX_TOOLS_SERVE_JOBS_H
#define IDX_TOOLS_SERVE_JOBS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct request;

/* The requests that may wait, and how long. */
enum { JOBS_MOST_WAITING = 256, JOBS_WAIT_SECONDS = 30 };

struct jobs {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    struct request *first, **last;
    unsigned waiting;
    atomic_bool ended;
    unsigned threads; /* that were started */
    pthread_t *thread;
};

/* Starts threads. False after a complaint; the others are to be called all the same. */
bool jobs_start(struct jobs *jobs, unsigned threads);

/* Suspends the connection of a request until the request was answered. False where too many wait, or after jobs_stop.
 */
bool jobs_submit(struct jobs *jobs, struct request *request);

/* Refuses those that have waited too long, or whose clients have gone. Called now and then. */
void jobs_reap(struct jobs *jobs);

/* Takes no more, and refuses what waits. Each request that asks request_goes_on is refused from now on. */
void jobs_stop(struct jobs *jobs);
bool jobs_ended(const struct jobs *jobs);

/* Ends the threads, after jobs_stop, once they have answered. */
void jobs_end(struct jobs *jobs);

/* Once nobody can submit any more. */
void jobs_close(struct jobs *jobs);

#endif
