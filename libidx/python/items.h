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
    struct idx_item *list; /* what items_list made */
};

/* Takes as many IDs as fingerprints. `ids` must be None for IDX_ID_NONE, and may be for IDX_ID_U64 where `numbered`:
 * then the caller numbers them. */
bool items_take(PyObject *fingerprints, PyObject *ids, enum idx_id_type id_type, bool numbered, struct items *items);

/* Takes IDs alone: all fingerprints are 0. */
bool items_take_ids(PyObject *ids, enum idx_id_type id_type, struct items *items);

void items_release(struct items *items);

/* Returns the items as a writer takes them, until items_release. Returns NULL with an exception set if there is no
 * memory. */
struct idx_item *items_list(struct items *items);

#endif
