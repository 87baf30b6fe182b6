/* status.c: answers what a service has counted, which index it has, and that it runs. */
#include "tools/serve/status.h"

#include "tools/answers/properties.h"
#include "tools/connections/peers.h"
#include "tools/serve/answers.h"
#include "tools/serve/service.h"

#include <inttypes.h>

/* ---- Metrics ---- */

/* The upper bounds of all buckets but the last, which has none, in nanoseconds. */
static const uint64_t bucket_bounds[METRICS_BUCKETS - 1] = {
    50000,    100000,    250000,    500000,    1000000,    2500000,    5000000,     10000000,
    25000000, 100000000, 250000000, 500000000, 1000000000, 5000000000, 30000000000,
};

void metrics_count_answer(struct metrics *metrics, unsigned route_index, unsigned status, uint64_t nanoseconds) {
    struct route_metrics *counts = &metrics->routes[route_index < METRICS_ROUTES ? route_index : METRICS_NO_ROUTE];
    unsigned bucket = 0;
    while (bucket < METRICS_BUCKETS - 1 && nanoseconds > bucket_bounds[bucket]) bucket++;
    atomic_fetch_add_explicit(&counts->statuses[status < METRICS_STATUSES ? status : 0], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&counts->buckets[bucket], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&counts->nanoseconds, nanoseconds, memory_order_relaxed);
}

/* Writes the comments HELP and TYPE, which Prometheus wants before the numbers of a metric. `type` is counter, gauge or
 * histogram, and `help` a sentence about the metric. */
static void write_metric_head(struct output *output, const char *name, const char *type, const char *help) {
    output_format(output, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* Writes a metric that is one number, with its comments, as write_metric_head describes them. */
static void write_metric(struct output *output, const char *name, const char *type, const char *help, uint64_t number) {
    write_metric_head(output, name, type, help);
    output_format(output, "%s %" PRIu64 "\n", name, number);
}

/* Writes how many answers each route gave with each status, and leaves out those that were never given. `get_name`
 * names the routes. */
static void write_request_counts(const struct metrics *metrics, route_namer get_name, struct output *output) {
    write_metric_head(output, "idx_requests_total", "counter", "Requests that were answered.");
    for (unsigned i = 0; i < METRICS_ROUTES; i++) {
        for (unsigned status = 0; status < METRICS_STATUSES; status++) {
            uint64_t count = atomic_load(&metrics->routes[i].statuses[status]);
            if (count > 0)
                output_format(output, "idx_requests_total{route=\"%s\",code=\"%u\"} %" PRIu64 "\n", get_name(i), status,
                              count);
        }
    }
}

/* Writes the times of one route, unless it has no answers. Prometheus wants each bucket to count the faster answers as
 * well, and the count of all answers to be that of the last bucket. */
static void write_time_histogram(const struct route_metrics *metrics, const char *route_name, struct output *output) {
    uint64_t cumulative_counts[METRICS_BUCKETS], answer_count = 0;
    for (unsigned i = 0; i < METRICS_BUCKETS; i++) {
        answer_count += atomic_load(&metrics->buckets[i]);
        cumulative_counts[i] = answer_count;
    }
    if (answer_count == 0) return;
    for (unsigned i = 0; i < METRICS_BUCKETS; i++) {
        output_format(output, "idx_request_seconds_bucket{route=\"%s\",le=\"", route_name);
        if (i < METRICS_BUCKETS - 1)
            output_format(output, "%g\"} %" PRIu64 "\n", (double)bucket_bounds[i] / 1e9, cumulative_counts[i]);
        else
            output_format(output, "+Inf\"} %" PRIu64 "\n", cumulative_counts[i]);
    }
    output_format(output, "idx_request_seconds_sum{route=\"%s\"} %.6f\n", route_name,
                  (double)atomic_load(&metrics->nanoseconds) / 1e9);
    output_format(output, "idx_request_seconds_count{route=\"%s\"} %" PRIu64 "\n", route_name, answer_count);
}

/* Writes metrics of the index, by the properties of the current view: its UUID, and how many documents, fingerprints,
 * segments and pending changes it has. */
static void write_index_metrics(struct service *service, struct output *output) {
    struct view *view = views_acquire(&service->views);
    const struct idx_properties *properties = &view->properties;
    write_metric_head(output, "idx_index_info", "gauge", "The index that is served.");
    output_format(output, "idx_index_info{uuid=\"%s\",version=\"%s\"} 1\n", properties->uuid, idx_version());
    write_metric(output, "idx_index_documents", "gauge", "Documents of the segments, removed ones included.",
                 properties->documents);
    write_metric(output, "idx_index_fingerprints", "gauge", "Fingerprints of the segments, removed ones included.",
                 properties->fingerprints);
    write_metric(output, "idx_index_segments", "gauge", "Segments.", properties->segments);
    write_metric(output, "idx_index_pending_documents", "gauge", "Documents added since the newest segment.",
                 properties->pending_documents);
    write_metric(output, "idx_index_pending_removals", "gauge", "Removals since the newest segment.",
                 properties->pending_removals);
    views_release(&service->views, view);
}

bool metrics_answer(struct request *request, route_namer get_name) {
    struct service *service = request->service;
    const struct metrics *metrics = &service->metrics;
    struct output *output = &request->answer;
    write_request_counts(metrics, get_name, output);
    write_metric_head(output, "idx_request_seconds", "histogram", "From a request's head to its answer.");
    for (unsigned i = 0; i < METRICS_ROUTES; i++) write_time_histogram(&metrics->routes[i], get_name(i), output);
    write_metric(output, "idx_queries_total", "counter", "Fingerprints that were looked up.",
                 atomic_load(&metrics->queries));
    write_metric(output, "idx_matches_total", "counter", "Matches that they had.", atomic_load(&metrics->matches));
    write_metric(output, "idx_added_total", "counter", "Documents that were added.", atomic_load(&metrics->added));
    write_metric(output, "idx_removed_total", "counter", "Documents that were removed.",
                 atomic_load(&metrics->removed));
    write_metric(output, "idx_refreshes_total", "counter", "Newer views of the index that were opened.",
                 atomic_load(&service->views.refresh_count));
    write_metric(output, "idx_refresh_failures_total", "counter", "Attempts at that which failed.",
                 atomic_load(&service->views.failure_count));
    write_metric(output, "idx_connections", "gauge", "Open connections.", peers_count(&service->peers));
    write_metric(output, "idx_held_bytes", "gauge", "Bytes of bodies and answers in memory.",
                 atomic_load(&service->held_bytes));
    write_index_metrics(service, output);
    request_finish_answer(request, "text/plain; version=0.0.4; charset=utf-8");
    return true;
}

/* ---- What is served ---- */

void status_answer_info(struct request *request) {
    struct view *view = views_acquire(&request->service->views);
    struct idx_error error;
    if (!properties_write_json(view->index, &request->answer, &error)) request_fail_by_error(request, &error);
    views_release(&request->service->views, view);
    request_finish_answer(request, "application/json");
}

/* Returns the JSON word for a truth value. */
static const char *spell_bool(bool value) { return value ? "true" : "false"; }

bool status_answer_health(struct request *request) {
    struct service *service = request->service;
    struct view *view = views_acquire(&service->views);
    output_format(&request->answer,
                  "{\"status\":\"ok\",\"version\":\"%s\",\"uuid\":\"%s\",\"writable\":%s,\"documents\":%s,"
                  "\"max_k\":%u}\n",
                  idx_version(), view->properties.uuid, spell_bool(service->options->writable),
                  spell_bool(service->documents_folder >= 0), answers_find_max_distance(service, &view->properties));
    views_release(&service->views, view);
    request_finish_answer(request, "application/json");
    return true;
}
