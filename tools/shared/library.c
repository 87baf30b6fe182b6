/* library.c: calls of the library as commands make them. */
#include "tools/shared/library.h"

#include "tools/shared/json.h"

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

/* The room for fingerprints of an ID at first; more is made when the library says how many there are. */
enum { FIRST_FOUND = 64 };

enum idx_status find_fingerprints_of_id(const struct idx_index *index, const struct document_id *id,
                                        uint64_t **fingerprints, size_t *count, struct idx_error *error) {
    struct idx_properties properties;
    enum idx_status status = IDX_OK;
    idx_get_properties(index, &properties);
    const struct idx_item item = properties.id_type == IDX_ID_TEXT
                                     ? (struct idx_item){.id = id->bytes, .id_length = id->length}
                                     : (struct idx_item){.number = id->number};
    *fingerprints = NULL;
    *count = FIRST_FOUND;
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

/* ---- Writing ---- */

void put_document_id(struct output *output, const struct idx_document *document) {
    if (document->id != NULL)
        output_id(output, document->id, document->id_length);
    else
        output_decimal(output, document->number);
}

void put_json_id(struct output *output, const struct idx_document *document) {
    if (document->id != NULL) {
        json_put_bytes(output, document->id, document->id_length);
    } else {
        output_byte(output, '"');
        output_decimal(output, document->number);
        output_byte(output, '"');
    }
}

void put_json_fingerprint(struct output *output, enum notation notation, unsigned bits, uint64_t fingerprint) {
    output_byte(output, '"');
    output_fingerprint(output, notation, bits, fingerprint);
    output_byte(output, '"');
}
