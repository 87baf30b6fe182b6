/* items.h: documents that come in: fingerprints with their IDs, as an index of an ID type takes them. */
#ifndef IDX_PYTHON_ITEMS_H
#define IDX_PYTHON_ITEMS_H

#include "libidx/python/module.h"

struct items {
    size_t count;
    struct array fingerprints;
    struct array numbers; /* IDX_ID_U64 */
    struct strings texts; /* IDX_ID_TEXT */
    enum idx_id_type id_type;
    struct idx_item *list; /* what items_make_list made, or NULL */
};

/* Takes fingerprints, and as many IDs. `ids` must be None for IDX_ID_NONE, and may be None for IDX_ID_U64 if
 * `may_lack_ids`: then the caller numbers the items. If it succeeds, the caller releases them. */
bool items_take(PyObject *fingerprints, PyObject *ids, enum idx_id_type id_type, bool may_lack_ids,
                struct items *items);

/* Takes the IDs of so many texts, as items_take does: all fingerprints are 0. */
bool items_take_named(PyObject *ids, size_t texts, enum idx_id_type id_type, bool may_lack_ids, struct items *items);

/* Takes IDs of texts or integers alone: all fingerprints are 0. If it succeeds, the caller releases the items. */
bool items_take_ids(PyObject *ids, enum idx_id_type id_type, struct items *items);

/* Releases what the items hold. Zeroed ones hold nothing. */
void items_release(struct items *items);

/* Returns the items as a writer takes them, valid until items_release, or NULL with an exception for lack of memory. */
struct idx_item *items_make_list(struct items *items);

#endif
