/* pending_find.h: finds pending fingerprints within a distance of queries. Any thread may call these functions, which
 * take no locks and no memory. */
#ifndef IDX_LIBIDX_PENDING_FIND_H
#define IDX_LIBIDX_PENDING_FIND_H

#include "libidx/log/pending_view.h"
#include "libidx/segment/unpacked.h"

/* The parts of idxi_pending_find_near and idxi_pending_prefetch_near that are not inline. view->records must not be
 * NULL. */
void idxi_pending_find_near_in_records(const struct idxi_pending_view *view, unsigned distance, const uint64_t *queries,
                                       size_t begin, size_t end, idxi_near_visitor visit, void *context);
void idxi_pending_prefetch_near_in_records(const struct idxi_pending_view *view, uint64_t query, unsigned distance);

/* Visits the matches of the queries from number `begin` to before `end`, one query after the other: all fingerprints
 * within `distance` (0 to k) of the query that have a pending document, each once, in no particular order. Ends when
 * the visitor returns false. Many queries in one call take less time each. */
static inline void idxi_pending_find_near(const struct idxi_pending_view *view, unsigned distance,
                                          const uint64_t *queries, size_t begin, size_t end, idxi_near_visitor visit,
                                          void *context) {
    if (view->records != NULL) idxi_pending_find_near_in_records(view, distance, queries, begin, end, visit, context);
}

/* Prefetches what idxi_pending_find_near will read for a query. Call it some hundred nanoseconds ahead, and for few
 * queries at a time. */
static inline void idxi_pending_prefetch_near(const struct idxi_pending_view *view, uint64_t query, unsigned distance) {
    if (view->records != NULL) idxi_pending_prefetch_near_in_records(view, query, distance);
}

/* ---- For tests ---- */

/* Scans up to 64 folded candidates, and returns a bit for each of them, from the least significant on: 1 if it is
 * within the distance of the folded query. */
typedef uint64_t idxi_pending_scan(const uint32_t *folded, size_t count, uint32_t query, unsigned distance);

/* Sets `scans` to the ways to scan that this processor has, the fastest last, and returns their number. */
#define IDXI_PENDING_SCANS 3
size_t idxi_pending_list_scans(idxi_pending_scan *scans[IDXI_PENDING_SCANS]);

#endif
