/* verify_map.c: checks a document map, or a map from IDs. */
#include "libidx/verify/verify.h"

#include <stdlib.h>
#include <string.h>

/* A walk through the documents of a map, in the order of their keys. */
struct document_walk {
    struct idxi_fingerprint_set set;
    struct idxi_heaviest heaviest;
    uint64_t documents;                    /* how many came so far */
    uint64_t last_fingerprint, last_value; /* of the last document; not set if there was none */
    uint64_t *seen; /* a bit for each document number below `number_limit`; NULL: values are no document numbers */
    uint64_t number_limit;
};

/* Returns the limit below which document numbers must be: the number of documents that the manifest states. Each takes
 * a bit of the map or more, so the limit is at most the bits of the map: a wrong number must not make the caller
 * allocate too much. */
static uint64_t get_number_limit(const struct idxi_map *map) {
    return idxi_min(map->segment.documents, map->pages.length * 8);
}

/* Marks a document number as seen. Returns false where it is walk->number_limit or more, or was seen before. */
static bool mark_number_seen(struct document_walk *walk, uint64_t number) {
    if (number >= walk->number_limit || walk->seen[number / 64] >> number % 64 & 1) return false;
    walk->seen[number / 64] |= UINT64_C(1) << number % 64;
    return true;
}

/* Adds the `count` documents of a group to the walk. Fails with IDX_BAD_CONTENT if a document number is out of range or
 * came before. */
static enum idx_status add_documents(const struct idxi_map *map, const uint64_t *fingerprints, const uint64_t *values,
                                     size_t count, struct document_walk *walk, struct idx_error *error) {
    for (size_t i = 0; i < count; i++) {
        if (walk->documents == 0 || fingerprints[i] != walk->last_fingerprint)
            idxi_fingerprint_set_add(&walk->set, fingerprints[i]);
        walk->last_fingerprint = fingerprints[i];
        walk->last_value = values[i];
        walk->documents++;
        idxi_heaviest_add_document(&walk->heaviest, fingerprints[i]);
        if (walk->seen != NULL && !mark_number_seen(walk, values[i]))
            return idxi_fail(error, IDX_BAD_CONTENT, map->path,
                             "has a document number twice or out of range: rebuild the index, or restore it");
    }
    return IDX_OK;
}

/* Fails with IDX_BAD_CONTENT because keys would lead a search to the wrong group. */
static enum idx_status fail_misleading_keys(const struct idxi_map *map, struct idx_error *error) {
    return idxi_fail(error, IDX_BAD_CONTENT, map->path,
                     "has keys that mislead searches: rebuild the index, or restore it");
}

/* Checks that each search for a key from behind the last group up to that of the group at the cursor leads to this
 * group. It is enough to search for the first and the last of these keys. */
static enum idx_status check_searches(const struct idxi_map *map, const struct idxi_page_cursor *cursor,
                                      const struct document_walk *walk, struct idx_error *error) {
    struct idxi_page_cursor low, high;
    uint8_t key[IDXI_GROUP_KEY_BYTES] = {0};
    uint64_t value = walk->last_value + 1; /* 0 if it wraps: then the next fingerprint comes first */
    if (walk->documents > 0) idxi_make_group_key(key, walk->last_fingerprint + (value == 0), value);
    IDXI_TRY(idxi_pages_seek(&map->pages, map->docs_root, key, sizeof key, &low, error));
    IDXI_TRY(idxi_pages_seek(&map->pages, map->docs_root, cursor->key, sizeof key, &high, error));
    bool both_lead_here = low.found && low.value == cursor->value && high.found && high.value == cursor->value;
    return both_lead_here ? IDX_OK : fail_misleading_keys(map, error);
}

/* Checks that the group at the cursor decodes, keeps the rules, is above the one before, and has the right key. Adds
 * its documents to the walk. */
static enum idx_status check_group(const struct idxi_map *map, const struct idxi_page_cursor *cursor,
                                   struct document_walk *walk, struct idx_error *error) {
    struct idxf_group group;
    uint64_t fingerprints[IDXF_MAX_GROUP_ENTRIES], values[IDXF_MAX_GROUP_ENTRIES];
    uint8_t key[IDXI_GROUP_KEY_BYTES];
    IDXI_TRY(idxi_map_open_group(map, cursor, &group, error));
    enum idxf_fault fault = idxf_decode_fingerprints(&group, fingerprints);
    if (fault != IDXF_OK) return idxi_map_fail(map, cursor, fault, error);
    idxf_decode_values(&group, 0, group.count, values);
    bool ascends = walk->documents == 0 || walk->last_fingerprint < fingerprints[0] ||
                   (walk->last_fingerprint == fingerprints[0] && walk->last_value < values[0]);
    fault = ascends ? idxf_group_check(&group, fingerprints, values) : IDXF_FAULT_ORDER;
    if (fault != IDXF_OK) return idxi_map_fail(map, cursor, fault, error);
    idxi_make_group_key(key, fingerprints[group.count - 1], values[group.count - 1]);
    if (memcmp(cursor->key, key, sizeof key) != 0) return fail_misleading_keys(map, error);
    IDXI_TRY(check_searches(map, cursor, walk, error));
    return add_documents(map, fingerprints, values, group.count, walk, error);
}

/* Checks all groups in their order. Stops once there are more documents than the manifest states, without failing. */
static enum idx_status check_groups(const struct idxi_map *map, struct document_walk *walk, struct idx_error *error) {
    struct idxi_page_cursor cursor;
    IDXI_TRY(idxi_pages_seek(&map->pages, map->docs_root, "", 0, &cursor, error));
    while (cursor.found) {
        IDXI_TRY(check_group(map, &cursor, walk, error));
        if (walk->documents > map->segment.documents) break;
        IDXI_TRY(idxi_pages_next(&cursor, error));
    }
    return IDX_OK;
}

struct id_walk {
    const struct idxi_map *map;
    uint64_t next; /* the number of the next group's first document */
};

/* A visitor of IDs that checks what visiting does not show: in the map of the struct id_walk `context`, searches for
 * the first and the last document number of a group of IDs lead to it. Does nothing if `number` is not the first of a
 * group. */
static enum idx_status check_id_searches(void *context, uint64_t number, const void *id, size_t length,
                                         struct idx_error *error) {
    struct id_walk *walk = context;
    const struct idxi_map *map = walk->map;
    struct idxi_page_cursor low, high;
    struct idxf_ids ids;
    uint8_t key[IDXI_IDS_KEY_BYTES];
    (void)id;
    (void)length;
    if (number != walk->next) return IDX_OK;
    /* A group's key has its last number: the group found has the right count if it begins with `number`. */
    idxi_make_ids_key(key, number);
    IDXI_TRY(idxi_pages_seek(&map->pages, map->ids_root, key, sizeof key, &low, error));
    if (!low.found || low.key_size != sizeof key ||
        idxf_ids_open(&ids, low.value, low.value_size, NULL, 0) != IDXF_OK ||
        idxi_get_ids_number(low.key) - number != ids.count - 1)
        return fail_misleading_keys(map, error);
    IDXI_TRY(idxi_pages_seek(&map->pages, map->ids_root, low.key, sizeof key, &high, error));
    if (!high.found || high.value != low.value) return fail_misleading_keys(map, error);
    walk->next = number + ids.count;
    return IDX_OK;
}

/* Checks that the map has as many documents and fingerprints as the manifest states; if expected->is_known, that it has
 * the expected fingerprints; and text IDs, if it has any. */
static enum idx_status check_counts_and_ids(const struct idxi_map *map, const struct document_walk *walk,
                                            const struct idxi_fingerprint_set *expected, struct idx_error *error) {
    if (walk->documents != map->segment.documents || walk->set.count != map->segment.fingerprints)
        return idxi_fail_fault(error, IDXF_FAULT_COUNT, map->path, 0);
    if (expected->is_known && walk->set.sum != expected->sum)
        return idxi_fail(error, IDX_BAD_CONTENT, map->path,
                         "contains other fingerprints than the tables: rebuild the index, or restore it");
    struct id_walk ids = {.map = map, .next = 0};
    return map->id_type == IDX_ID_TEXT ? idxi_map_visit_ids(map, check_id_searches, &ids, error) : IDX_OK;
}

/* Checks that the map states the fingerprint with the most documents, and their number, as in *heaviest. */
static enum idx_status check_heaviest(const struct idxi_map *map, const struct idxi_heaviest *heaviest,
                                      struct idx_error *error) {
    bool agrees = heaviest->fingerprint == map->heaviest_fingerprint && heaviest->documents == map->heaviest_documents;
    return agrees ? IDX_OK : idxi_fail_fault(error, IDXF_FAULT_STATISTICS, map->path, 0);
}

/* Checks a map whose documents have no IDs: it has no groups, and states no heaviest fingerprint. */
static enum idx_status check_no_documents(const struct idxi_map *map, struct idx_error *error) {
    struct idxi_heaviest nothing = {0};
    struct idxi_page_cursor cursor;
    IDXI_TRY(idxi_pages_seek(&map->pages, map->docs_root, "", 0, &cursor, error));
    if (cursor.found) return idxi_fail_fault(error, IDXF_FAULT_COUNT, map->path, 0);
    return check_heaviest(map, &nothing, error);
}

/* Checks all documents of a map that is ready (idxi_map_prepare). With text IDs, each document has a number of its own,
 * so each number is noted, and must not come again. In an index of texts, a number comes once for each member of the
 * text's sketch, so none is noted. */
static enum idx_status check_documents(const struct idxi_map *map, const struct idxi_fingerprint_set *expected,
                                       struct idx_error *error) {
    struct document_walk walk = {0};
    if (map->id_type == IDX_ID_NONE) return check_no_documents(map, error);
    if (map->id_type == IDX_ID_TEXT && !map->is_of_texts) {
        walk.number_limit = get_number_limit(map);
        walk.seen = calloc((size_t)(walk.number_limit / 64 + 1), sizeof *walk.seen);
        if (walk.seen == NULL) return idxi_fail_memory(error);
    }
    enum idx_status status = check_groups(map, &walk, error);
    if (status == IDX_OK) status = check_counts_and_ids(map, &walk, expected, error);
    if (status == IDX_OK) status = check_heaviest(map, &walk.heaviest, error);
    free(walk.seen);
    return status;
}

enum idx_status idxi_verify_map(struct idxi_map *map, const struct idxi_fingerprint_set *expected,
                                struct idx_error *error) {
    IDXI_TRY(idxi_pages_check_all(&map->pages, error));
    IDXI_TRY(idxi_map_prepare(map, error));
    return check_documents(map, expected, error);
}
