/* items.h: documents that come in: fingerprints with their IDs, as an index of an ID type takes them. */
#ifndef IDX_PYTHON_ITEMS_H
#define IDX_PYTHON_ITEMS_H

#include "libidx/python/module.h"

struct items {
    size_t count;
    struct array fingerprints;
    struct array numbers; /* the IDs of IDX_ID_U64; empty if none were given */
    struct strings texts; /* the IDs of IDX_ID_TEXT */
    enum idx_id_type id_type;
    struct idx_item *list; /* what items_make_list made, or NULL */
};

/* The three functions below read items from Python's objects. `ids` must be None for IDX_ID_NONE. If `may_lack_ids`, it
 * may be None for IDX_ID_U64, too: then the caller numbers the items. If they succeed, the caller releases the items.
 * They return false with an exception set, and leave nothing to release, for
 *
 * - objects that parse_array or parse_strings refuses
 * - another number of IDs than of items (ValueError)
 * - IDs other than None for IDX_ID_NONE (TypeError) */

/* Reads fingerprints with their IDs. */
bool parse_items(PyObject *fingerprints, PyObject *ids, enum idx_id_type id_type, bool may_lack_ids,
                 struct items *items);

/* Reads the IDs of `text_count` texts; all fingerprints are 0. */
bool parse_items_of_texts(PyObject *ids, size_t text_count, enum idx_id_type id_type, bool may_lack_ids,
                          struct items *items);

/* Reads IDs, as many as there are: texts for IDX_ID_TEXT, or else integers. All fingerprints are 0. */
bool parse_items_of_ids(PyObject *ids, enum idx_id_type id_type, struct items *items);

/* Releases what the items hold. Zeroed ones hold nothing. */
void items_release(struct items *items);

/* Makes items->list, the items as calls of the library take them, and returns it. The caller must not have called this
 * before. It stays valid until items_release. Returns NULL with MemoryError set if memory runs out. */
struct idx_item *items_make_list(struct items *items);

#endif
