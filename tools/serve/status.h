/* status.h: what a service counts, as Prometheus reads it, and what it says of itself and of its index. */
#ifndef IDX_TOOLS_SERVE_STATUS_H
#define IDX_TOOLS_SERVE_STATUS_H

#include "tools/serve/request.h"

#include <stdatomic.h>

/* METRICS_NO_ROUTE counts the requests whose path leads nowhere. */
enum { METRICS_ROUTES = 16, METRICS_NO_ROUTE = METRICS_ROUTES - 1, METRICS_STATUSES = 600, METRICS_BUCKETS = 16 };

struct route_metrics {
    atomic_ullong statuses[METRICS_STATUSES]; /* Answers of each status. */
    atomic_ullong buckets[METRICS_BUCKETS];   /* Answers by time, up to the bound of each bucket. */
    atomic_ullong nanoseconds;                /* The sum of the times of all answers. */
};

struct metrics {
    struct route_metrics routes[METRICS_ROUTES];
    atomic_ullong queries, matches; /* Fingerprints or texts that were looked up, and what was found. */
    atomic_ullong added, removed;   /* Documents. */
};

/* Counts an answered request, by the index of its route and its HTTP status, and its time in nanoseconds. An index from
 * METRICS_ROUTES on counts as METRICS_NO_ROUTE, and a status from METRICS_STATUSES on as 0. Any thread may call
 * this. */
void metrics_count_answer(struct metrics *metrics, unsigned route_index, unsigned status, uint64_t nanoseconds);

/* A function that returns the name of a route by its index, which may be METRICS_NO_ROUTE. */
typedef const char *(*route_namer)(unsigned route_index);

/* Answers GET /metrics in the text format of Prometheus. Returns true, since nothing is left to a job. */
bool metrics_answer(struct request *request, route_namer get_name);

/* Answers GET /info with the properties of the current view, as `idx info --format json` prints them. */
void status_answer_info(struct request *request);

/* Answers GET /healthz, with what the service can do: write, show documents, and up to which k it looks up. Returns
 * true, since nothing is left to a job. */
bool status_answer_health(struct request *request);

#endif
