/* pending_find.h: finds pending fingerprints within a distance of queries. Any thread may call these functions, which
 * take no locks and no memory. */
#ifndef IDX_LIBIDX_PENDING_FIND_H
#define IDX_LIBIDX_PENDING_FIND_H

#include "libidx/log/pending_view.h"

/* Is called for a match with query number `query`. Returns false to stop. */
typedef bool (*idxi_match_visitor)(void *context, size_t query, const struct idx_match *match);

/* Visits, for each of `count` queries in turn, all fingerprints within `distance` (0 to k) that have a pending
 * document, each once, in no particular order. Many queries in one call take less time each. Returns false if a visitor
 * did. */
bool idxi_pending_find(const struct idxi_pending_view *view, const uint64_t *queries, size_t count, unsigned distance,
                       idxi_match_visitor visit, void *context);

/* Prefetches what finding a query's matches reads: for few queries at a time, some hundred nanoseconds ahead. */
void idxi_pending_prefetch(const struct idxi_pending_view *view, uint64_t query, unsigned distance);

/* ---- For tests ---- */

/* Scans up to 64 folded candidates, and returns a bit for each of them, from the least significant on: 1 if it is
 * within the distance of the folded query. */
typedef uint64_t idxi_pending_scan(const uint32_t *folded, size_t count, uint32_t query, unsigned distance);

/* Sets `scans` to the ways to scan that this processor has, the fastest last, and returns their number. */
#define IDXI_PENDING_SCANS 3
size_t idxi_pending_list_scans(idxi_pending_scan *scans[IDXI_PENDING_SCANS]);

#endif
