/* verify_sets.c: checks a file of sets, and that the document map has exactly the entries of their sketches. */
#include <stdlib.h>

#include "libidx/streams/sort.h"
#include "libidx/verify/verify.h"

/* A walk through the sets of a file. */
struct set_walk {
    struct idxi_sets_cursor cursor;
    unsigned sketch;
    struct idxi_fingerprint_set entries; /* of the sketches so far */
    uint64_t member_count;               /* of all sets so far */
    uint64_t key;                        /* of the last set */
    uint64_t *values;                    /* the members of the sketches of all sets so far that have this key */
    size_t value_count, capacity;        /* of values */
};

/* Adds an entry of a document map to a set of entries. The set's sum is of hashes of the fingerprint and the value
 * together. */
static void add_entry(struct idxi_fingerprint_set *entries, uint64_t fingerprint, uint64_t value) {
    uint8_t bytes[16];
    idxf_store64(bytes, fingerprint);
    idxf_store64(bytes + 8, value);
    entries->sum += idxf_checksum(bytes, sizeof bytes);
    entries->count++;
}

/* Adds the entries (value, walk->key) of the sets with the key walk->key to walk->entries, equal ones once, and empties
 * walk->values. */
static enum idx_status add_entries_of_key(struct set_walk *walk, struct idx_error *error) {
    uint64_t *spare = malloc((walk->value_count + 1) * sizeof *spare); /* not 0 bytes */
    if (spare == NULL) return idxi_fail_memory(error);
    if (walk->value_count > 0) idxi_sort_pairs(walk->values, NULL, walk->value_count, false, spare, NULL);
    free(spare);
    for (size_t i = 0; i < walk->value_count; i++)
        if (i == 0 || walk->values[i] != walk->values[i - 1]) add_entry(&walk->entries, walk->values[i], walk->key);
    walk->value_count = 0;
    return IDX_OK;
}

/* Checks that a set's members ascend, and adds those of its sketch to walk->values. If the set has another key than the
 * one before it, first adds the entries of that key. */
static enum idx_status check_set(struct set_walk *walk, const struct idxf_set *set, struct idx_error *error) {
    size_t sketch_count = set->count < walk->sketch ? (size_t)set->count : walk->sketch;
    if (!idxf_members_ascend(set->members, (size_t)set->count))
        return idxi_sets_fail(&walk->cursor, IDXF_FAULT_ORDER, error);
    if (set->key != walk->key) IDXI_TRY(add_entries_of_key(walk, error));
    walk->key = set->key;
    walk->member_count += set->count;
    IDXI_GROW(walk->values, walk->capacity, walk->value_count + sketch_count, error);
    for (size_t i = 0; i < sketch_count; i++) walk->values[walk->value_count++] = idxf_load64(set->members + 8 * i);
    return IDX_OK;
}

/* Checks all sets, the end of the directory, and the numbers of sets and members in the header. */
static enum idx_status check_sets(struct set_walk *walk, struct idx_error *error) {
    const struct idxf_sets_header *header = &walk->cursor.sets->header;
    struct idxf_set set;
    for (bool found = true; found;) {
        IDXI_TRY(idxi_sets_cursor_next(&walk->cursor, &set, &found, error));
        if (found) IDXI_TRY(check_set(walk, &set, error));
    }
    IDXI_TRY(add_entries_of_key(walk, error));
    enum idxf_fault fault = idxf_sets_walk_end(&walk->cursor.walk);
    if (fault == IDXF_OK && (walk->cursor.number != header->sets || walk->member_count != header->members))
        fault = IDXF_FAULT_COUNT;
    return fault == IDXF_OK ? IDX_OK : idxi_sets_fail(&walk->cursor, fault, error);
}

/* Checks that a sound document map has the entries of the sketches, walk->entries, and no others. */
static enum idx_status compare_entries(const struct idxi_map *map, const struct set_walk *walk,
                                       struct idx_error *error) {
    struct idxi_fingerprint_set entries = {0};
    struct idxi_map_stream stream;
    uint64_t fingerprints[IDXI_STREAM_ENTRIES], values[IDXI_STREAM_ENTRIES];
    idxi_map_stream_init(&stream, map, 0);
    for (size_t count = 1; count > 0;) {
        IDXI_TRY(stream.stream.read(&stream.stream, fingerprints, values, IDXI_STREAM_ENTRIES, &count, error));
        for (size_t i = 0; i < count; i++) add_entry(&entries, fingerprints[i], values[i]);
    }
    if (entries.count == walk->entries.count && entries.sum == walk->entries.sum) return IDX_OK;
    return idxi_fail(error, IDX_BAD_CONTENT, walk->cursor.sets->path,
                     "contains sets of other texts than the document map: rebuild the index, or restore it");
}

enum idx_status idxi_verify_sets(const struct idxi_sets *sets, unsigned sketch, const struct idxi_map *map,
                                 struct idx_error *error) {
    struct set_walk walk = {.sketch = sketch};
    idxi_sets_cursor_begin(&walk.cursor, sets);
    enum idx_status status = idxi_sets_check_all(sets, error);
    if (status == IDX_OK) status = check_sets(&walk, error);
    if (status == IDX_OK && map != NULL) status = compare_entries(map, &walk, error);
    free(walk.values);
    return status;
}
