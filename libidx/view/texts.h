/* texts.h: the texts of a view and their sets: of segments, and pending. */
#ifndef IDX_LIBIDX_TEXTS_H
#define IDX_LIBIDX_TEXTS_H

#include "libidx/view/index.h"

/* Checks that an index has the sets of its texts. Errors: IDX_INVALID_ARGUMENT (it has none). */
enum idx_status idxi_check_has_sets(const struct idx_index *index, struct idx_error *error);

/* Is called for a set of segment number `segment`, or of a pending text, for which `segment` is the number of segments.
 * The members are little-endian, and stay valid as long as the view. Any status but IDX_OK ends the visit. */
typedef enum idx_status (*idxi_set_visitor)(void *context, size_t segment, const struct idxf_set *set,
                                            struct idx_error *error);

/* Visits the sets of all texts that have the integer ID `id` and were not removed: those in segments, the oldest
 * segment first, and then the pending ones, the newest first. Errors: IDX_BAD_CHECKSUM, IDX_BAD_CONTENT; a status of
 * the visitor. */
enum idx_status idxi_visit_sets_of_integer_id(const struct idx_index *index, uint64_t id, idxi_set_visitor visit,
                                              void *context, struct idx_error *error);

/* For an index with text IDs: returns the value (view/documents.h) of the text that the document with value `value`
 * belongs to. A text in a segment is one document, so this is `value`. A pending text has a document for each value of
 * its sketch, with successive values: the text has the value of the first one. */
uint64_t idxi_find_text_value(const struct idx_index *index, uint64_t value);

/* For an index with text IDs: sets *set to the set of the text with this value, even if it was removed. set->key is
 * unspecified. The members belong to the view. Errors: IDX_BAD_CONTENT (there is no such text), IDX_BAD_CHECKSUM. */
enum idx_status idxi_find_set(const struct idx_index *index, uint64_t value, struct idxf_set *set,
                              struct idx_error *error);

/* Sets *set to the set that `sets`, those of a segment with text IDs, have for document `number` of the segment.
 * Errors: as idxi_find_set. */
enum idx_status idxi_find_numbered_set(const struct idxi_sets *sets, uint64_t number, struct idxf_set *set,
                                       struct idx_error *error);

#endif
