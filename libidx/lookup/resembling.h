/* resembling.h: options and lists of look-ups by resemblance, and how two sets are compared. */
#ifndef IDX_LIBIDX_RESEMBLING_H
#define IDX_LIBIDX_RESEMBLING_H

#include <idx.h>

#include "libidx/base/base.h"

/* Sets *own to the options of a caller, which are checked. Errors: IDX_INVALID_ARGUMENT. */
enum idx_status idxi_resembling_check(struct idx_resembling_options *own, const struct idx_resembling_options *options,
                                      struct idx_error *error);

/* Returns how many of the smallest members of a set are looked up for a threshold, in an index with sets. */
unsigned idxi_values_to_read(const struct idx_index *index, int64_t threshold);

/* Sets how many members two sets share, and how many members either has. Once the sets can't reach the threshold any
 * more, it stops, and sets two numbers that don't reach it either. The arrays `a` and `b` ascend. */
void idxi_compare_sets(const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count, int64_t threshold,
                       uint32_t *shared, uint32_t *total);

/* Returns whether `shared` of `total` members reach a threshold. */
static inline bool idxi_resembles(uint32_t shared, uint32_t total, int64_t threshold) {
    return total > 0 && (uint64_t)shared * IDX_THRESHOLD_ONE >= (uint64_t)threshold * total;
}

/* The lists that are being made. Zeroed, there are none. */
struct idxi_resembling_lists {
    struct idx_resembling_lists lists;
    size_t queries, documents, ids; /* how many there are so far, and bytes of IDs */
    size_t query_room, document_room, id_room;
};

/* Begins lists, still of no queries. The caller frees made->lists by idx_resembling_lists_close, even if a call fails.
 */
enum idx_status idxi_resembling_begin(struct idxi_resembling_lists *made, struct idx_error *error);

/* Adds a document, whose ID is copied, to the list of the query that is being answered. */
enum idx_status idxi_resembling_add(struct idxi_resembling_lists *made, const struct idx_document *document,
                                    uint32_t shared, uint32_t total, struct idx_error *error);

/* Ends the list of a query: sorts it, the greatest resemblance first, and cuts it to `limit`. */
enum idx_status idxi_resembling_end(struct idxi_resembling_lists *made, uint64_t limit, struct idx_error *error);

#endif
