/* texts.h: the texts of a view and their sets: of segments, and pending. */
#ifndef IDX_LIBIDX_TEXTS_H
#define IDX_LIBIDX_TEXTS_H

#include "libidx/view/index.h"

/* Refuses an index without sets of texts. Errors: IDX_INVALID_ARGUMENT. */
enum idx_status idxi_check_has_sets(const struct idx_index *index, struct idx_error *error);

/* Is called for a set, with its segment, or for a pending one with the number of segments. The members, which are in
 * the order of bytes of files, stay valid as long as the view. Anything but IDX_OK ends the visit. */
typedef enum idx_status (*idxi_set_visitor)(void *context, size_t segment, const struct idxf_set *set,
                                            struct idx_error *error);

/* Visits the sets of the texts that have an integer ID and were not removed. Errors: IDX_BAD_CHECKSUM,
 * IDX_BAD_CONTENT; what the visitor returned. */
enum idx_status idxi_visit_sets_of_integer(const struct idx_index *index, uint64_t id, idxi_set_visitor visit,
                                           void *context, struct idx_error *error);

/* Returns the value of the text, which has a text ID, that has an entry with this value (view/documents.h). It is the
 * number of a document in a segment, counted through all segments, or that of the first pending record of the text. */
uint64_t idxi_find_text_value(const struct idx_index *index, uint64_t value);

/* Sets *set to the set of the text with that value, whatever its key. Errors: IDX_BAD_CHECKSUM, IDX_BAD_CONTENT. */
enum idx_status idxi_find_set(const struct idx_index *index, uint64_t value, struct idxf_set *set,
                              struct idx_error *error);

/* Sets *set to the set, among those of a segment, of the text with this document number. Errors: as idxi_find_set. */
enum idx_status idxi_find_numbered_set(const struct idxi_sets *sets, uint64_t number, struct idxf_set *set,
                                       struct idx_error *error);

#endif
