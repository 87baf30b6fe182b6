/* map_cursor.c: see map_cursor.h. */
#include "libidx/segment/map_cursor.h"

#include "libidx/base/error.h"

/* Opens the group at a cursor, and decodes its fingerprints. */
static enum idx_status decode_group(const struct idxi_map *map, const struct idxi_page_cursor *cursor,
                                    struct idxf_group *group, uint64_t *fingerprints, struct idx_error *error) {
    IDXI_TRY(idxi_map_open_group(map, cursor, group, error));
    enum idxf_fault fault = idxf_group_fingerprints(group, fingerprints);
    return fault == IDXF_OK ? IDX_OK : idxi_map_fail(map, cursor, fault, error);
}

/* Goes to the first group whose last entry is not below a fingerprint: for ascending ones often that of the one before.
 */
static enum idx_status seek_group(struct idxi_map_cursor *cursor, uint64_t fingerprint, struct idx_error *error) {
    uint8_t key[IDXI_GROUP_KEY_BYTES];
    if (cursor->decoded && cursor->sought < fingerprint &&
        fingerprint <= cursor->fingerprints[cursor->group.count - 1]) {
        cursor->sought = fingerprint;
        return IDX_OK;
    }
    cursor->decoded = false;
    idxi_group_key(key, fingerprint, 0);
    IDXI_TRY(idxi_pages_seek(&cursor->map->pages, cursor->map->docs_root, key, sizeof key, &cursor->at, error));
    if (!cursor->at.found) return IDX_OK;
    IDXI_TRY(decode_group(cursor->map, &cursor->at, &cursor->group, cursor->fingerprints, error));
    cursor->sought = fingerprint;
    cursor->decoded = true;
    return IDX_OK;
}

/* Finds a fingerprint's entries in a group of `count`: from place *begin on, before *end. */
static void find_in_group(const uint64_t *fingerprints, size_t count, uint64_t fingerprint, size_t *begin,
                          size_t *end) {
    size_t at = 0;
    while (at < count && fingerprints[at] < fingerprint) at++;
    *begin = at;
    while (at < count && fingerprints[at] == fingerprint) at++;
    *end = at;
}

/* How many of a fingerprint's documents are in the groups behind the cursor's. */
static enum idx_status count_behind(const struct idxi_map_cursor *cursor, uint64_t fingerprint, uint64_t *count,
                                    struct idx_error *error) {
    uint64_t fingerprints[IDXF_MAX_GROUP_ENTRIES];
    struct idxi_page_cursor at = cursor->at;
    struct idxf_group group = cursor->group;
    size_t begin, end = group.count;
    while (end == group.count) {
        IDXI_TRY(idxi_pages_next(&at, error));
        if (!at.found) break;
        IDXI_TRY(decode_group(cursor->map, &at, &group, fingerprints, error));
        find_in_group(fingerprints, group.count, fingerprint, &begin, &end);
        *count += end - begin;
        if (*count > cursor->map->segment.documents) return idxi_map_fail(cursor->map, &at, IDXF_FAULT_COUNT, error);
    }
    return IDX_OK;
}

/* From the first group whose last entry is not below the fingerprint, on to the first that ends with another one. */
enum idx_status idxi_map_cursor_find(struct idxi_map_cursor *cursor, uint64_t fingerprint, struct idx_error *error) {
    size_t end;
    cursor->left = 0;
    IDXI_TRY(seek_group(cursor, fingerprint, error));
    if (!cursor->decoded) return IDX_OK;
    find_in_group(cursor->fingerprints, cursor->group.count, fingerprint, &cursor->next, &end);
    uint64_t count = end - cursor->next;
    if (count > 0 && end == cursor->group.count) IDXI_TRY(count_behind(cursor, fingerprint, &count, error));
    cursor->left = count;
    if (count > 0) idxf_group_values(&cursor->group, cursor->next, 1, &cursor->value);
    return IDX_OK;
}

/* Values must ascend: each group of IDs is decoded once then. */
enum idx_status idxi_map_cursor_next(struct idxi_map_cursor *cursor, struct idx_error *error) {
    uint64_t left = cursor->left - 1, before = cursor->value;
    cursor->left = 0; /* where what follows fails */
    if (left == 0) return IDX_OK;
    if (++cursor->next == cursor->group.count) {
        cursor->decoded = false;
        IDXI_TRY(idxi_pages_next(&cursor->at, error));
        if (!cursor->at.found) return idxi_map_fail(cursor->map, &cursor->at, IDXF_FAULT_COUNT, error);
        IDXI_TRY(idxi_map_open_group(cursor->map, &cursor->at, &cursor->group, error));
        cursor->next = 0;
    }
    idxf_group_values(&cursor->group, cursor->next, 1, &cursor->value);
    if (cursor->value <= before) return idxi_map_fail(cursor->map, &cursor->at, IDXF_FAULT_ORDER, error);
    cursor->left = left;
    return IDX_OK;
}
