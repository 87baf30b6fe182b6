/* documents.c: the cursor over the documents of a fingerprint. Segments come one after the other, by document number;
 * integer IDs are merged over the segments, so that each comes once. */
#include <stdlib.h>

#include "libidx/error.h"
#include "libidx/index.h"

/* One segment's part. */
struct part {
    const struct idxi_map *map;
    MDB_txn *txn;
    MDB_cursor *cursor;
    bool has;
    uint64_t value; /* where `has` */
};

struct idx_documents {
    const struct idx_index *index;
    size_t part_count;
    struct part parts[];
};

static enum idx_status open_part(struct part *part, struct idxi_map *map, struct idx_error *error) {
    IDXI_TRY(idxi_map_prepare(map, error));
    part->map = map;
    int result = mdb_txn_begin(map->env, NULL, MDB_RDONLY, &part->txn);
    if (result == 0) result = mdb_cursor_open(part->txn, map->docs, &part->cursor);
    return result == 0 ? IDX_OK : idxi_map_fail(map, result, error);
}

enum idx_status idx_documents_open(const struct idx_index *index, struct idx_documents **result,
                                   struct idx_error *error) {
    size_t count = index->manifest->segment_count;
    struct idx_documents *documents = calloc(1, sizeof *documents + count * sizeof *documents->parts);
    if (documents == NULL) return idxi_fail_memory(error);
    documents->index = index;
    for (; documents->part_count < count; documents->part_count++) {
        size_t i = documents->part_count;
        enum idx_status status = open_part(&documents->parts[i], &index->segments[i].map, error);
        if (status == IDX_OK) continue;
        documents->part_count++;
        idx_documents_close(documents);
        return status;
    }
    *result = documents;
    return IDX_OK;
}

void idx_documents_close(struct idx_documents *documents) {
    if (documents == NULL) return;
    for (size_t i = 0; i < documents->part_count; i++) {
        if (documents->parts[i].cursor != NULL) mdb_cursor_close(documents->parts[i].cursor);
        if (documents->parts[i].txn != NULL) mdb_txn_abort(documents->parts[i].txn);
    }
    free(documents);
}

/* Takes the cursor's value, or notes that there is none. */
static enum idx_status take(struct part *part, int result, const MDB_val *value, struct idx_error *error) {
    size_t number;
    part->has = result == 0;
    if (result == MDB_NOTFOUND) return IDX_OK;
    if (result != 0) return idxi_map_fail(part->map, result, error);
    if (value->mv_size != sizeof number) return idxi_fail_fault(error, IDXF_FAULT_SIZE, part->map->path, 0);
    number = *(const size_t *)value->mv_data;
    part->value = number;
    return IDX_OK;
}

static enum idx_status find_in_part(struct part *part, uint64_t fingerprint, uint64_t *count, struct idx_error *error) {
    size_t number = (size_t)fingerprint, found;
    MDB_val key = {sizeof number, &number}, value;
    part->has = false;
    IDXI_TRY(idxi_pages_check_key(&part->map->pages, part->map->docs_root, fingerprint, error));
    int result = mdb_cursor_get(part->cursor, &key, &value, MDB_SET_KEY);
    IDXI_TRY(take(part, result, &value, error));
    if (!part->has) return IDX_OK;
    result = mdb_cursor_count(part->cursor, &found);
    if (result != 0) return idxi_map_fail(part->map, result, error);
    *count += found;
    return IDX_OK;
}

enum idx_status idx_documents_find(struct idx_documents *documents, uint64_t fingerprint, uint64_t *count,
                                   struct idx_error *error) {
    uint64_t total = 0;
    bool has_documents = documents->index->manifest->id_type != IDXF_ID_NONE;
    for (size_t i = 0; i < documents->part_count && has_documents; i++)
        IDXI_TRY(find_in_part(&documents->parts[i], fingerprint, &total, error));
    if (has_documents && total == 0)
        return idxi_fail(error, IDX_BAD_CONTENT, documents->index->path,
                         "has no documents for fingerprint %016llx: if it is the index's, its docs.mdb is damaged",
                         (unsigned long long)fingerprint);
    if (count != NULL) *count = total;
    return IDX_OK;
}

static enum idx_status step(struct part *part, struct idx_error *error) {
    MDB_val key, value;
    int result = mdb_cursor_get(part->cursor, &key, &value, MDB_NEXT_DUP);
    return take(part, result, &value, error);
}

static enum idx_status get_id(const struct part *part, struct idx_document *document, struct idx_error *error) {
    size_t number = (size_t)document->number;
    MDB_val key = {sizeof number, &number}, value;
    IDXI_TRY(idxi_pages_check_key(&part->map->pages, part->map->ids_root, document->number, error));
    int result = mdb_get(part->txn, part->map->ids, &key, &value);
    if (result != 0) return idxi_map_fail(part->map, result, error);
    document->id = value.mv_data;
    document->id_length = value.mv_size;
    return IDX_OK;
}

/* The part whose document comes next, or NULL. */
static struct part *choose(struct idx_documents *documents) {
    bool by_value = documents->index->manifest->id_type == IDXF_ID_U64;
    struct part *chosen = NULL;
    for (size_t i = 0; i < documents->part_count; i++) {
        struct part *part = &documents->parts[i];
        if (part->has && (chosen == NULL || (by_value && part->value < chosen->value))) chosen = part;
    }
    return chosen;
}

enum idx_status idx_documents_next(struct idx_documents *documents, struct idx_document *document, bool *found,
                                   struct idx_error *error) {
    struct part *chosen = choose(documents);
    *found = chosen != NULL;
    if (chosen == NULL) return IDX_OK;
    *document = (struct idx_document){chosen->value, NULL, 0};
    if (documents->index->manifest->id_type == IDXF_ID_TEXT) {
        IDXI_TRY(get_id(chosen, document, error));
        return step(chosen, error);
    }
    for (size_t i = 0; i < documents->part_count; i++) {
        struct part *part = &documents->parts[i];
        if (part->has && part->value == document->number) IDXI_TRY(step(part, error));
    }
    return IDX_OK;
}
