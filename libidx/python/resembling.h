/* resembling.h: the sets of texts that come in, for builders, writers and look-ups of indexes that have sets. */
#ifndef IDX_PYTHON_RESEMBLING_H
#define IDX_PYTHON_RESEMBLING_H

#include "libidx/python/core.h"
#include "libidx/python/items.h"

/* Texts: the set of each, whose hashes ascend, and its ID. */
struct sets {
    struct array hashes, counts; /* the hashes of all sets, one set after the other, and how many each has */
    struct idx_set *list;
    struct items items;
};

/* Takes sets, and checks that their counts fit the hashes, and that the hashes of each set ascend. If it succeeds, the
 * caller releases the sets. */
bool sets_take(PyObject *hashes, PyObject *counts, struct sets *sets);

/* Takes (hashes, counts, ids), as a method gets them. `may_lack_ids` is as for items_take. */
bool sets_take_texts(PyObject *arguments, enum idx_id_type id_type, bool may_lack_ids, struct sets *sets);

/* Releases the arrays, the list and the items. */
void sets_release(struct sets *sets);

#endif
