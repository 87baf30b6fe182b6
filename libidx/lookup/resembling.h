/* resembling.h: candidates of look-ups by resemblance, and how they are compared with a set. */
#ifndef IDX_LIBIDX_RESEMBLING_H
#define IDX_LIBIDX_RESEMBLING_H

#include <idx.h>

#include "libidx/base/base.h"

/* Returns the options of a caller, checked. `options` is not NULL. */
enum idx_status idxi_resembling_check(struct idx_resembling_options *own, const struct idx_resembling_options *options,
                                      struct idx_error *error);

/* Sets how many members a set and another one share, and how many either has; where these don't reach the threshold, by
 * which it may stop, they may be any that don't. Both ascend. */
void idxi_compare_sets(const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count, int64_t threshold,
                       uint32_t *shared, uint32_t *total);

/* Returns whether `shared` of `total` members reach a threshold. */
static inline bool idxi_reaches(uint32_t shared, uint32_t total, int64_t threshold) {
    return total > 0 && (uint64_t)shared * IDX_DECIMAL_WEIGHT_ONE >= (uint64_t)threshold * total;
}

/* The lists that are being made. */
struct idxi_resembling_lists {
    struct idx_resembling_lists lists;
    size_t queries, documents, ids; /* how many there are so far, and bytes of IDs */
    size_t query_room, document_room, id_room;
};

/* Makes lists of no queries. */
enum idx_status idxi_resembling_begin(struct idxi_resembling_lists *made, struct idx_error *error);

/* Adds a document to the list of the query that is being answered, whose ID is copied. */
enum idx_status idxi_resembling_add(struct idxi_resembling_lists *made, const struct idx_document *document,
                                    uint32_t shared, uint32_t total, struct idx_error *error);

/* Ends the list of a query: sorts it, the greatest resemblance first, and cuts it to `limit`. */
enum idx_status idxi_resembling_end(struct idxi_resembling_lists *made, uint64_t limit, struct idx_error *error);

#endif
