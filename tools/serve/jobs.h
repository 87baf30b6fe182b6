/* jobs.h: answers long requests in the order in which they came, in threads of their own, so that they do not keep
 * the threads of libmicrohttpd from other connections. */
#ifndef IDX_TOOLS_SERVE_JOBS_H
#define IDX_TOOLS_SERVE_JOBS_H

#include "tools/serve/request.h"

#include <pthread.h>
#include <stdatomic.h>

/* How many requests may wait for a thread, and for how many seconds each of them may. */
enum { JOBS_MAX_WAITING = 256, JOBS_WAIT_SECONDS = 30 };

struct jobs {
    pthread_mutex_t mutex;
    pthread_cond_t changed;        /* A request waits, or jobs_stop was called. */
    struct request *first_waiting; /* The request that came first of those that wait, or NULL. */
    struct request **link_of_next; /* The `next` of the last request that waits, or &first_waiting. */
    unsigned waiting_count;
    atomic_bool stopped;
    unsigned started_count; /* Threads that were started. */
    pthread_t *threads;     /* The handles of these. */
};

/* Starts `thread_count` threads. Returns false, after a complaint, if not all of them could be started. jobs_stop,
 * jobs_join and jobs_close must be called even then, in this order. */
bool jobs_start(struct jobs *jobs, unsigned thread_count);

/* Has a thread answer the request, whose connection is suspended until then. Returns false, and does nothing, if too
 * many requests wait, or after jobs_stop. */
bool jobs_submit_request(struct jobs *jobs, struct request *request);

/* Takes requests out of the queue that have waited for more than JOBS_WAIT_SECONDS or are beyond a limit of
 * request_check_limits, and answers them with an error. The service calls this several times a second. */
void jobs_refuse_overdue(struct jobs *jobs);

/* Makes jobs_submit_request refuse all further requests, and has each thread end once it finds none that waits. Waiting
 * requests are refused, and those that are being answered are at their next request_check_limits. Does not wait. */
void jobs_stop(struct jobs *jobs);

/* Returns whether jobs_stop was called. Any thread may call this. */
bool jobs_are_stopped(const struct jobs *jobs);

/* Waits until all threads have ended, and frees their handles. Call jobs_stop before, since the threads would never
 * end. */
void jobs_join(struct jobs *jobs);

/* Destroys the mutex and the condition. Call this after jobs_join, once no other thread can submit requests any
 * more. */
void jobs_close(struct jobs *jobs);

#endif
