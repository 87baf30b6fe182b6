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

/* Reads sets: counts[i] is how many of the next hashes set i has. Raises ValueError if there are fewer hashes than
 * that, or if the hashes of a set do not ascend. If it succeeds, the caller releases the sets, whose `items` are empty;
 * if it fails, there is nothing to release. */
bool parse_sets(PyObject *hashes, PyObject *counts, struct sets *sets);

/* Reads the tuple (hashes, counts, ids): sets as parse_sets does, and into sets->items their IDs as
 * parse_items_of_texts does, with its `may_lack_ids`. If it succeeds, the caller releases the sets. */
bool parse_sets_with_ids(PyObject *arguments, enum idx_id_type id_type, bool may_lack_ids, struct sets *sets);

/* Releases the arrays, the list and the items. */
void sets_release(struct sets *sets);

#endif
