/* items.c: takes fingerprints and IDs from Python as a builder and a writer need them. */
#include "libidx/python/items.h"

#include <stdlib.h>

void items_release(struct items *items) {
    array_release(&items->fingerprints);
    array_release(&items->numbers);
    strings_release(&items->texts);
    free(items->list);
}

/* Reads the IDs of the items into `texts` for IDX_ID_TEXT, or `numbers` for IDX_ID_U64. `ids` may be None for an index
 * without IDs, which accepts nothing else, and if `may_lack_ids`, for one with integers. Returns false with an
 * exception set for other objects. */
static bool parse_ids_into_items(PyObject *ids, bool may_lack_ids, struct items *items) {
    if (items->id_type == IDX_ID_TEXT) return parse_strings(ids, "ids", &items->texts);
    if (items->id_type == IDX_ID_U64 && !(may_lack_ids && ids == Py_None))
        return parse_array(ids, "ids", &items->numbers);
    if (ids == Py_None) return true;
    return refuse(PyExc_TypeError, "ids: this index keeps none; give None");
}

/* Reads the IDs of the items, whose `count` is set, and checks that there are as many IDs as items. Messages call the
 * items `what`. Returns false with an exception set, and releases the items, if that fails. */
static bool parse_ids_and_check_count(PyObject *ids, bool may_lack_ids, const char *what, struct items *items) {
    bool ok = parse_ids_into_items(ids, may_lack_ids, items);
    size_t id_count = items->id_type == IDX_ID_TEXT ? items->texts.count : items->numbers.count;
    if (ok && ids != Py_None && id_count != items->count) {
        PyErr_Format(PyExc_ValueError, "%zu %s and %zu ids: give as many", items->count, what, id_count);
        ok = false;
    }
    if (!ok) items_release(items);
    return ok;
}

bool parse_items(PyObject *fingerprints, PyObject *ids, enum idx_id_type id_type, bool may_lack_ids,
                 struct items *items) {
    *items = (struct items){.id_type = id_type};
    if (!parse_array(fingerprints, "fingerprints", &items->fingerprints)) return false;
    items->count = items->fingerprints.count;
    return parse_ids_and_check_count(ids, may_lack_ids, "fingerprints", items);
}

bool parse_items_of_texts(PyObject *ids, size_t text_count, enum idx_id_type id_type, bool may_lack_ids,
                          struct items *items) {
    *items = (struct items){.count = text_count, .id_type = id_type};
    return parse_ids_and_check_count(ids, may_lack_ids, "texts", items);
}

bool parse_items_of_ids(PyObject *ids, enum idx_id_type id_type, struct items *items) {
    *items = (struct items){.id_type = id_type};
    bool ok =
        id_type == IDX_ID_TEXT ? parse_strings(ids, "ids", &items->texts) : parse_array(ids, "ids", &items->numbers);
    if (!ok) return false;
    items->count = id_type == IDX_ID_TEXT ? items->texts.count : items->numbers.count;
    return true;
}

struct idx_item *items_make_list(struct items *items) {
    struct idx_item *list = calloc(items->count + 1, sizeof *list);
    items->list = list;
    if (list == NULL) PyErr_NoMemory();
    for (size_t i = 0; i < items->count && list != NULL; i++) {
        if (items->fingerprints.items != NULL) list[i].fingerprint = items->fingerprints.items[i];
        if (items->numbers.items != NULL) list[i].number = items->numbers.items[i];
        if (items->id_type != IDX_ID_TEXT) continue;
        list[i].id = items->texts.items[i];
        list[i].id_length = items->texts.lengths[i];
    }
    return list;
}
