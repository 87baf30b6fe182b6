/* library.c: calls of the library as commands make them. */
#include "tools/shared/library.h"

#include <inttypes.h>
#include <stdlib.h>

bool succeeded(enum idx_status status, const struct idx_error *error) {
    if (status != IDX_OK && status != IDX_CANCELLED) complain("%s", error->sentence);
    return status == IDX_OK;
}

bool open_index_unloaded(struct idx_index **index, const char *path) {
    struct idx_open_options options = IDX_OPEN_OPTIONS_INIT;
    struct idx_error error;
    options.residence = IDX_RESIDENCE_NONE;
    return succeeded(idx_open(index, path, &options, &error), &error);
}

/* ---- Documents by their IDs ---- */

/* How many fingerprints of an ID fit at first. */
enum { INITIAL_CAPACITY = 64 };

enum idx_status find_fingerprints_of_id(const struct idx_index *index, const struct document_id *id,
                                        uint64_t **fingerprints, size_t *count, struct idx_error *error) {
    struct idx_properties properties;
    enum idx_status status = IDX_OK;
    idx_get_properties(index, &properties);
    const struct idx_item item = properties.id_type == IDX_ID_TEXT
                                     ? (struct idx_item){.id = id->bytes, .id_length = id->length}
                                     : (struct idx_item){.number = id->number};
    *fingerprints = NULL;
    *count = INITIAL_CAPACITY;
    /* idx_find_id sets *count to how many there are. If these do not fit, it is called again with enough capacity. */
    for (size_t capacity = 0; status == IDX_OK && *count > capacity;) {
        capacity = *count;
        free(*fingerprints);
        *fingerprints = malloc(capacity * sizeof **fingerprints);
        if (*fingerprints == NULL) {
            *error = (struct idx_error){.status = IDX_OUT_OF_MEMORY, .sentence = "out of memory for what was found"};
            return IDX_OUT_OF_MEMORY;
        }
        status = idx_find_id(index, &item, *fingerprints, capacity, count, error);
    }
    return status;
}
