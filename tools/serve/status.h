/* status.h: what a service counts, as Prometheus reads it, and what it says of itself and of its index. */
#ifndef IDX_TOOLS_SERVE_STATUS_H
#define IDX_TOOLS_SERVE_STATUS_H

#include "tools/serve/request.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct request;

enum { METRICS_ROUTES = 16, METRICS_STATUSES = 600, METRICS_BUCKETS = 16 };

/* Of one route. */
struct route_metrics {
    atomic_ullong statuses[METRICS_STATUSES]; /* answers of each */
    atomic_ullong buckets[METRICS_BUCKETS];   /* that took so long, and not less */
    atomic_ullong nanoseconds;
};

struct metrics {
    struct route_metrics routes[METRICS_ROUTES]; /* by number; the last one is none */
    atomic_ullong queries, matches, added, removed;
};

/* Counts a request that is answered. */
void metrics_count(struct metrics *metrics, unsigned route, unsigned status, uint64_t nanoseconds);

/* GET /metrics. */
bool metrics_answer(struct request *request);

/* GET /info: as `idx info --format json`, and what the service itself can do. */
void status_answer_info(struct request *request);

/* GET /healthz. */
bool status_answer_health(struct request *request);

#endif
