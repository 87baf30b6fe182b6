/* status.c: answers what a service has counted, which index it has, and that it runs. */
#include "tools/serve/status.h"

#include "tools/answers/properties.h"
#include "tools/serve/answers.h"
#include "tools/serve/peers.h"
#include "tools/serve/service.h"
#include "tools/serve/views.h"

#include <inttypes.h>

/* ---- Metrics ---- */

/* The upper bounds of all buckets but the last, which has none, in nanoseconds. */
static const uint64_t bounds[METRICS_BUCKETS - 1] = {
    50000,    100000,    250000,    500000,    1000000,    2500000,    5000000,     10000000,
    25000000, 100000000, 250000000, 500000000, 1000000000, 5000000000, 30000000000,
};

void metrics_count(struct metrics *metrics, unsigned route, unsigned status, uint64_t nanoseconds) {
    struct route_metrics *of = &metrics->routes[route < METRICS_ROUTES ? route : METRICS_ROUTES - 1];
    unsigned bucket = 0;
    while (bucket < METRICS_BUCKETS - 1 && nanoseconds > bounds[bucket]) bucket++;
    atomic_fetch_add_explicit(&of->statuses[status < METRICS_STATUSES ? status : 0], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&of->buckets[bucket], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&of->nanoseconds, nanoseconds, memory_order_relaxed);
}

static void put_head(struct output *output, const char *name, const char *type, const char *help) {
    output_format(output, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void put_number(struct output *output, const char *name, const char *type, const char *help, uint64_t number) {
    put_head(output, name, type, help);
    output_format(output, "%s %" PRIu64 "\n", name, number);
}

static void put_requests(const struct metrics *metrics, route_namer name, struct output *output) {
    put_head(output, "idx_requests_total", "counter", "Requests that were answered.");
    for (unsigned i = 0; i < METRICS_ROUTES; i++) {
        for (unsigned status = 0; status < METRICS_STATUSES; status++) {
            uint64_t count = atomic_load(&metrics->routes[i].statuses[status]);
            if (count > 0)
                output_format(output, "idx_requests_total{route=\"%s\",code=\"%u\"} %" PRIu64 "\n", name(i), status,
                              count);
        }
    }
}

/* Writes the times of one route. Prometheus wants each bucket to count the faster answers as well. */
static void put_histogram(const struct route_metrics *metrics, const char *route, struct output *output) {
    uint64_t sum = 0;
    for (unsigned i = 0; i < METRICS_BUCKETS; i++) sum += atomic_load(&metrics->buckets[i]);
    if (sum == 0) return;
    sum = 0;
    for (unsigned i = 0; i < METRICS_BUCKETS; i++) {
        sum += atomic_load(&metrics->buckets[i]);
        output_format(output, "idx_request_seconds_bucket{route=\"%s\",le=\"", route);
        if (i < METRICS_BUCKETS - 1)
            output_format(output, "%g\"} %" PRIu64 "\n", (double)bounds[i] / 1e9, sum);
        else
            output_format(output, "+Inf\"} %" PRIu64 "\n", sum);
    }
    output_format(output, "idx_request_seconds_sum{route=\"%s\"} %.6f\n", route,
                  (double)atomic_load(&metrics->nanoseconds) / 1e9);
    output_format(output, "idx_request_seconds_count{route=\"%s\"} %" PRIu64 "\n", route, sum);
}

static void put_index(struct service *service, struct output *output) {
    struct view *view = views_acquire(&service->views);
    const struct idx_properties *properties = &view->properties;
    put_head(output, "idx_index_info", "gauge", "The index that is served.");
    output_format(output, "idx_index_info{uuid=\"%s\",version=\"%s\"} 1\n", properties->uuid, idx_version());
    put_number(output, "idx_index_documents", "gauge", "Documents of the segments, removed ones included.",
               properties->documents);
    put_number(output, "idx_index_fingerprints", "gauge", "Fingerprints of the segments, removed ones included.",
               properties->fingerprints);
    put_number(output, "idx_index_segments", "gauge", "Segments.", properties->segments);
    put_number(output, "idx_index_pending_documents", "gauge", "Documents added since the newest segment.",
               properties->pending_documents);
    put_number(output, "idx_index_pending_removals", "gauge", "Removals since the newest segment.",
               properties->pending_removals);
    views_release(&service->views, view);
}

bool metrics_answer(struct request *request, route_namer name) {
    struct service *service = request->service;
    const struct metrics *metrics = &service->metrics;
    struct output *output = &request->answer;
    put_requests(metrics, name, output);
    put_head(output, "idx_request_seconds", "histogram", "From a request's head to its answer.");
    for (unsigned i = 0; i < METRICS_ROUTES; i++) put_histogram(&metrics->routes[i], name(i), output);
    put_number(output, "idx_queries_total", "counter", "Fingerprints that were looked up.",
               atomic_load(&metrics->queries));
    put_number(output, "idx_matches_total", "counter", "Matches that they had.", atomic_load(&metrics->matches));
    put_number(output, "idx_added_total", "counter", "Documents that were added.", atomic_load(&metrics->added));
    put_number(output, "idx_removed_total", "counter", "Documents that were removed.", atomic_load(&metrics->removed));
    put_number(output, "idx_refreshes_total", "counter", "Newer views of the index that were opened.",
               atomic_load(&service->views.refreshes));
    put_number(output, "idx_refresh_failures_total", "counter", "Attempts at that which failed.",
               atomic_load(&service->views.failures));
    put_number(output, "idx_connections", "gauge", "Open connections.", peers_count(&service->peers));
    put_number(output, "idx_held_bytes", "gauge", "Bytes of bodies and answers in memory.",
               atomic_load(&service->held));
    put_index(service, output);
    request_end(request, "text/plain; version=0.0.4; charset=utf-8");
    return true;
}

/* ---- What is served ---- */

void status_answer_info(struct request *request) {
    struct service *service = request->service;
    struct view *view = views_acquire(&service->views);
    struct idx_error error;
    if (!properties_put_json(view->index, &request->answer, &error)) request_fail_by(request, &error);
    views_release(&service->views, view);
    request_end(request, "application/json");
}

static const char *truth(bool value) { return value ? "true" : "false"; }

bool status_answer_health(struct request *request) {
    struct service *service = request->service;
    struct view *view = views_acquire(&service->views);
    output_format(&request->answer,
                  "{\"status\":\"ok\",\"version\":\"%s\",\"uuid\":\"%s\",\"writable\":%s,\"documents\":%s,"
                  "\"max_k\":%u}\n",
                  idx_version(), view->properties.uuid, truth(service->options->writable),
                  truth(service->documents >= 0), answers_farthest(service, &view->properties));
    views_release(&service->views, view);
    request_end(request, "application/json");
    return true;
}
