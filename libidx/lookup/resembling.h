/* resembling.h: options and lists of look-ups by resemblance, and how two sets are compared. */
#ifndef IDX_LIBIDX_RESEMBLING_H
#define IDX_LIBIDX_RESEMBLING_H

#include <idx.h>

#include "libidx/base/base.h"

/* Sets *copy to the options of a caller, or the defaults for NULL, and checks all but `limit`. *copy is unspecified
 * after an error. Errors: IDX_INVALID_ARGUMENT. */
enum idx_status idxi_resembling_copy_options(struct idx_resembling_options *copy,
                                             const struct idx_resembling_options *options, struct idx_error *error);

/* Returns how many of the smallest members of a set are looked up, so that hardly any set that reaches the threshold
 * (in units of 1 / IDX_THRESHOLD_ONE) is missed; no more than the sketch of the index has. The index must have sets. */
unsigned idxi_count_values_to_look_up(const struct idx_index *index, int64_t threshold);

/* Sets *shared to how many members two sets share, and *total to how many are in at least one of them. Both arrays must
 * ascend. Stops early if shared / total can't reach threshold / IDX_THRESHOLD_ONE any more: then *shared is too small,
 * *total is too large, and the two do not reach the threshold either. */
void idxi_compare_sets(const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count, int64_t threshold,
                       uint32_t *shared, uint32_t *total);

/* Returns whether shared / total is at least threshold / IDX_THRESHOLD_ONE. False if `total` is 0. */
static inline bool idxi_reaches_threshold(uint32_t shared, uint32_t total, int64_t threshold) {
    return total > 0 && (uint64_t)shared * IDX_THRESHOLD_ONE >= (uint64_t)threshold * total;
}

/* Lists under construction. Zeroed, there are none. */
struct idxi_resembling_lists {
    struct idx_resembling_lists lists;
    size_t query_count, document_count, id_bytes; /* how many there are so far, and bytes of IDs */
    size_t query_capacity, document_capacity, id_capacity;
};

/* Makes a zeroed *result ready for the first query, and sets the first offset to 0. The caller frees result->lists by
 * idx_resembling_lists_close, even after an error. Errors: IDX_OUT_OF_MEMORY. */
enum idx_status idxi_resembling_begin_lists(struct idxi_resembling_lists *result, struct idx_error *error);

/* Adds a document, whose ID is copied, to the list of the current query, the one after the list that was ended last.
 * Its set and that of the query share `shared` of `total` members. Errors: IDX_OUT_OF_MEMORY. */
enum idx_status idxi_resembling_add_document(struct idxi_resembling_lists *result, const struct idx_document *document,
                                             uint32_t shared, uint32_t total, struct idx_error *error);

/* Ends the list of the current query: sorts it, the greatest resemblance first, and of equal ones by ID. Then drops all
 * documents behind the first `limit`. The next document is added to the list of the next query. Errors:
 * IDX_OUT_OF_MEMORY. */
enum idx_status idxi_resembling_end_list(struct idxi_resembling_lists *result, uint64_t limit, struct idx_error *error);

#endif
