/* status.h: what a service counts, as Prometheus reads it, and what it says of itself and of its index. */
#ifndef IDX_TOOLS_SERVE_STATUS_H
#define IDX_TOOLS_SERVE_STATUS_H

#include "tools/serve/request.h"

#include <stdatomic.h>

enum { METRICS_ROUTES = 16, METRICS_STATUSES = 600, METRICS_BUCKETS = 16 };

/* These are the counts of one route. */
struct route_metrics {
    atomic_ullong statuses[METRICS_STATUSES]; /* Answers of each status. */
    atomic_ullong buckets[METRICS_BUCKETS]; /* Answers by time: above the bound of the bucket before, and up to that of
                                               this one. */
    atomic_ullong nanoseconds;
};

struct metrics {
    struct route_metrics routes[METRICS_ROUTES]; /* The last one counts requests without a route. */
    atomic_ullong queries, matches, added, removed;
};

/* Counts a request that was answered. */
void metrics_count(struct metrics *metrics, unsigned route, unsigned status, uint64_t nanoseconds);

/* Returns the name of a route. */
typedef const char *(*route_namer)(unsigned route);

/* Answers GET /metrics. */
bool metrics_answer(struct request *request, route_namer name);

/* Answers GET /info as `idx info --format json` does. */
void status_answer_info(struct request *request);

/* Answers GET /healthz, with what the service can do. */
bool status_answer_health(struct request *request);

#endif
