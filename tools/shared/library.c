/* library.c: calls of the library as commands make them. */
#include "tools/shared/library.h"

#include "tools/shared/json.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

bool succeeded(enum idx_status status, const struct idx_error *error) {
    if (status != IDX_OK && status != IDX_CANCELLED) complain("%s", error->sentence);
    return status == IDX_OK;
}

bool open_unloaded(struct idx_index **index, const char *path) {
    struct idx_open_options options = IDX_OPEN_OPTIONS_INIT;
    struct idx_error error;
    options.residence = IDX_RESIDENCE_NONE;
    return succeeded(idx_open(index, path, &options, &error), &error);
}

bool array_grow(void *array, size_t *capacity, size_t count, size_t size) {
    void *items;
    if (count < *capacity) return true;
    size_t more = 2 * *capacity + 64;
    memcpy(&items, array, sizeof items);
    items = realloc(items, more * size);
    if (items == NULL) return false;
    memcpy(array, &items, sizeof items);
    *capacity = more;
    return true;
}

int compare_u64(const void *first, const void *second) {
    const uint64_t *a = first, *b = second;
    return (*a > *b) - (*a < *b);
}

uint64_t now_nanoseconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* ---- Any number of results ---- */

/* The room for results at first; more is made when the library says how many there are. */
enum { FIRST_RESULTS = 64 };

/* Replaces a list by one with room for `count` items of `size` bytes each, whose contents are not kept. */
static enum idx_status make_room(void **list, size_t *capacity, size_t count, size_t size, struct idx_error *error) {
    if (count <= *capacity) return IDX_OK;
    free(*list);
    *list = malloc(count * size);
    *capacity = *list == NULL ? 0 : count;
    if (*list != NULL) return IDX_OK;
    *error = (struct idx_error){.status = IDX_OUT_OF_MEMORY, .sentence = "out of memory for what was found"};
    return IDX_OUT_OF_MEMORY;
}

enum idx_status find_matches(const struct idx_index *index, uint64_t query, unsigned distance, uint64_t limit,
                             struct found_matches *matches, size_t *count, struct idx_error *error) {
    size_t wanted = FIRST_RESULTS;
    enum idx_status status;
    do {
        void *list = matches->list;
        if (wanted > limit) wanted = (size_t)limit;
        status = make_room(&list, &matches->capacity, wanted, sizeof *matches->list, error);
        matches->list = list;
        if (status == IDX_OK)
            status = idx_lookup(index, query, distance, matches->list, matches->capacity, count, error);
        wanted = status == IDX_OK ? *count : 0;
    } while (wanted > matches->capacity && limit > matches->capacity);
    return status;
}

enum idx_status find_document(const struct idx_index *index, const struct document_id *id, uint64_t **fingerprints,
                              size_t *count, struct idx_error *error) {
    struct idx_properties properties;
    size_t capacity = 0, wanted = FIRST_RESULTS;
    enum idx_status status;
    void *list = NULL;
    idx_get_properties(index, &properties);
    do {
        status = make_room(&list, &capacity, wanted, sizeof **fingerprints, error);
        if (status == IDX_OK && properties.id_type == IDX_ID_U64)
            status = idx_find_id_u64(index, id->number, list, capacity, count, error);
        else if (status == IDX_OK)
            status = idx_find_id(index, id->bytes, id->length, list, capacity, count, error);
        wanted = status == IDX_OK ? *count : 0;
    } while (wanted > capacity);
    *fingerprints = list;
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
