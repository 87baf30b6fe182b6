/* verify.c: checks all that SPEC.md rules about an index, file by file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libidx/error.h"
#include "libidx/file.h"
#include "libidx/index.h"

/* A set of fingerprints, whatever their order: two that differ have other sums, but for an accident of 2^-64. */
struct set {
    bool known;
    uint64_t count;
    uint64_t sum;
};

struct verification {
    struct idx_index *index;
    idx_verify_visitor visit;
    void *context;
    enum idx_status status; /* the first damage's */
    struct idx_error *error;
};

static void add_to_set(struct set *set, uint64_t fingerprint) {
    /* The finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014). */
    uint64_t mixed = fingerprint + UINT64_C(0x9e3779b97f4a7c15);
    mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
    set->sum += mixed ^ mixed >> 31;
    set->count++;
}

/* `folder` may be NULL. */
static void report(struct verification *verification, const char *folder, const char *name, enum idx_status status,
                   const struct idx_error *error) {
    char file[2 * IDXI_NAME_BYTES + 2];
    snprintf(file, sizeof file, "%s%s%s", folder == NULL ? "" : folder, folder == NULL ? "" : "/", name);
    if (verification->visit != NULL)
        verification->visit(verification->context, file, status, status == IDX_OK ? "" : error->sentence);
    if (status == IDX_OK || verification->status != IDX_OK) return;
    verification->status = status;
    if (verification->error != NULL) *verification->error = *error;
}

/* ---- Tables ---- */

static enum idx_status check_pages(const struct idxi_table *table, struct idx_error *error) {
    for (uint64_t page = 0; page < table->layout.pages; page++) IDXI_TRY(idxi_table_verify_page(table, page, error));
    return IDX_OK;
}

/* Bytes from begin to end of the file, between sections. */
static enum idx_status check_zeros(const struct idxi_table *table, uint64_t begin, uint64_t end,
                                   struct idx_error *error) {
    for (uint64_t at = begin; at < end; at++) {
        if (table->map[at] != 0) return idxi_fail_fault(error, IDXF_FAULT_PADDING, table->path, at);
    }
    return IDX_OK;
}

/* Walks a block; *previous is the fingerprint before it, where *any. */
static enum idxf_fault check_block(const struct idxi_table *table, uint64_t block, bool *any, uint64_t *previous,
                                   struct set *set) {
    struct idxf_block_cursor cursor;
    uint64_t fingerprints[IDXF_CHUNK];
    size_t count;
    bool ascends = true;
    idxf_block_begin(&cursor, table->decoder, idxi_table_block(table, block));
    while ((count = idxf_block_next(&cursor, fingerprints)) > 0) {
        for (size_t i = 0; i < count; i++) {
            if (*any && fingerprints[i] <= *previous) ascends = false;
            *any = true;
            *previous = fingerprints[i];
            add_to_set(set, idxf_unpermute(&table->permutation, fingerprints[i]));
        }
    }
    if (cursor.fault != IDXF_OK) return cursor.fault;
    if (!ascends) return IDXF_FAULT_ORDER;
    if (*previous != idxi_table_key(table, block)) return IDXF_FAULT_KEY;
    return idxf_block_check_padding(&cursor);
}

static enum idx_status check_blocks(const struct idxi_table *table, struct set *set, struct idx_error *error) {
    bool any = false;
    uint64_t previous = 0;
    for (uint64_t block = 0; block < table->header.blocks; block++) {
        enum idxf_fault fault = check_block(table, block, &any, &previous, set);
        if (fault != IDXF_OK) return idxi_fail_fault(error, fault, table->path, idxi_table_block_offset(table, block));
    }
    return set->count == table->header.fingerprints ? IDX_OK : idxi_fail_fault(error, IDXF_FAULT_COUNT, table->path, 0);
}

static enum idx_status check_directory(const struct idxi_table *table, struct idx_error *error) {
    unsigned bits = table->header.directory_bits;
    uint64_t block = 0;
    if (bits == 0) return IDX_OK;
    for (uint64_t entry = 0; entry <= UINT64_C(1) << bits; entry++) {
        uint64_t at = entry * 4;
        while (block < table->header.blocks && idxi_table_key(table, block) >> (64 - bits) < entry) block++;
        if (idxf_load32(table->directory + at) != block)
            return idxi_fail_fault(error, IDXF_FAULT_DIRECTORY, table->path, table->layout.directory + at);
    }
    return IDX_OK;
}

static enum idx_status check_table(const struct idxi_table *table, struct set *set, struct idx_error *error) {
    const struct idxf_table_layout *layout = &table->layout;
    uint64_t blocks_end = layout->blocks + table->header.blocks * table->header.block_size;
    uint64_t entries = table->header.directory_bits == 0 ? 0 : (UINT64_C(1) << table->header.directory_bits) + 1;
    IDXI_TRY(check_pages(table, error));
    IDXI_TRY(check_zeros(table, blocks_end, layout->keys, error));
    IDXI_TRY(check_zeros(table, layout->directory + entries * 4, layout->checksums, error));
    IDXI_TRY(check_blocks(table, set, error));
    return check_directory(table, error);
}

static void verify_table(struct verification *verification, size_t segment, size_t number, int folder,
                         const char *folder_name, struct set *expected) {
    struct idx_error error;
    struct set set = {0};
    char name[IDXI_NAME_BYTES];
    idxi_table_name(number, name);
    enum idx_status status = idxi_segment_open_table(verification->index, segment, number, folder, &error);
    const struct idxi_table *table = &verification->index->segments[segment].tables[number];
    if (status == IDX_OK) status = check_table(table, &set, &error);
    if (status == IDX_OK && !expected->known) {
        *expected = set;
        expected->known = true;
    }
    if (status == IDX_OK && set.sum != expected->sum)
        status = idxi_fail(&error, IDX_BAD_CONTENT, table->path,
                           "holds other fingerprints than the first sound table: rebuild the index, or restore it");
    report(verification, folder_name, name, status, &error);
}

/* ---- Document maps ---- */

/* Notes that a document number has come; false where it is out of range or came before. */
static bool note_number(uint64_t *seen, uint64_t documents, uint64_t number) {
    if (number >= documents || seen[number / 64] >> number % 64 & 1) return false;
    seen[number / 64] |= UINT64_C(1) << number % 64;
    return true;
}

static enum idx_status walk_documents(const struct idxi_map *map, MDB_cursor *cursor, uint64_t *seen, struct set *set,
                                      uint64_t *documents, struct idx_error *error) {
    MDB_val key, value;
    size_t fingerprint = 0;
    int result;
    while ((result = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)) == 0) {
        if (key.mv_size != sizeof fingerprint || value.mv_size != sizeof(size_t))
            return idxi_fail_fault(error, IDXF_FAULT_SIZE, map->path, 0);
        size_t next = *(const size_t *)key.mv_data;
        if (set->count == 0 || next != fingerprint) add_to_set(set, next);
        fingerprint = next;
        if (seen != NULL && !note_number(seen, map->segment.documents, *(const size_t *)value.mv_data))
            return idxi_fail(error, IDX_BAD_CONTENT, map->path,
                             "has a document number twice or out of range: rebuild the index, or restore it");
        ++*documents;
    }
    return result == MDB_NOTFOUND ? IDX_OK : idxi_map_fail(map, result, error);
}

/* The numbers of the IDs are 0 to `documents` - 1: so many of them, the last of which is that. */
static enum idx_status check_ids(const struct idxi_map *map, MDB_txn *txn, uint64_t documents,
                                 struct idx_error *error) {
    MDB_stat stat = {0};
    MDB_cursor *cursor = NULL;
    MDB_val key, value;
    size_t beyond = 0; /* the last number and 1 */
    int result = mdb_stat(txn, map->ids, &stat);
    if (result == 0) result = mdb_cursor_open(txn, map->ids, &cursor);
    if (result == 0 && documents > 0) result = mdb_cursor_get(cursor, &key, &value, MDB_LAST);
    if (result == 0 && documents > 0 && key.mv_size == sizeof beyond) {
        memcpy(&beyond, key.mv_data, sizeof beyond);
        beyond++;
    }
    if (cursor != NULL) mdb_cursor_close(cursor);
    if (result != 0) return idxi_map_fail(map, result, error);
    return stat.ms_entries == documents && beyond == documents ? IDX_OK
                                                               : idxi_fail_fault(error, IDXF_FAULT_COUNT, map->path, 0);
}

static enum idx_status compare_counts(const struct idxi_map *map, MDB_txn *txn, const struct set *set,
                                      const struct set *expected, uint64_t documents, struct idx_error *error) {
    if (documents != map->segment.documents || set->count != map->segment.fingerprints)
        return idxi_fail_fault(error, IDXF_FAULT_COUNT, map->path, 0);
    if (expected->known && set->sum != expected->sum)
        return idxi_fail(error, IDX_BAD_CONTENT, map->path,
                         "holds other fingerprints than the tables: rebuild the index, or restore it");
    return map->id_type == IDX_ID_TEXT ? check_ids(map, txn, documents, error) : IDX_OK;
}

static enum idx_status check_documents(const struct idxi_map *map, const struct set *expected,
                                       struct idx_error *error) {
    MDB_txn *txn = NULL;
    MDB_cursor *cursor = NULL;
    struct set set = {0};
    uint64_t documents = 0;
    uint64_t *seen = NULL;
    if (map->id_type == IDX_ID_NONE) return IDX_OK;
    if (map->id_type == IDX_ID_TEXT) {
        seen = calloc((size_t)(map->segment.documents / 64 + 1), sizeof *seen);
        if (seen == NULL) return idxi_fail_memory(error);
    }
    int result = mdb_txn_begin(map->env, NULL, MDB_RDONLY, &txn);
    if (result == 0) result = mdb_cursor_open(txn, map->docs, &cursor);
    enum idx_status status =
        result == 0 ? walk_documents(map, cursor, seen, &set, &documents, error) : idxi_map_fail(map, result, error);
    if (status == IDX_OK) status = compare_counts(map, txn, &set, expected, documents, error);
    if (cursor != NULL) mdb_cursor_close(cursor);
    if (txn != NULL) mdb_txn_abort(txn);
    free(seen);
    return status;
}

static void verify_map(struct verification *verification, size_t segment, int folder, const char *folder_name,
                       const struct set *expected) {
    struct idx_error error;
    struct idxi_map *map = &verification->index->segments[segment].map;
    enum idx_status status = idxi_segment_open_map(verification->index, segment, folder, &error);
    if (status == IDX_OK) status = idxi_pages_check_all(&map->pages, &error);
    if (status == IDX_OK) status = idxi_map_prepare(map, &error);
    if (status == IDX_OK) status = check_documents(map, expected, &error);
    report(verification, folder_name, IDXI_DOCUMENTS_NAME, status, &error);
}

/* ---- The whole ---- */

static void verify_segment(struct verification *verification, size_t segment) {
    struct idx_error error;
    char name[IDXI_NAME_BYTES];
    struct set expected = {0};
    int folder;
    struct idx_index *index = verification->index;
    idxi_segment_name(index->manifest->segments[segment].number, name);
    index->open_segments = segment + 1;
    enum idx_status status = idxi_segment_open_folder(index, segment, &folder, &error);
    if (status != IDX_OK) {
        report(verification, NULL, name, status, &error);
        return;
    }
    for (size_t table = 0; table < index->scheme.table_count; table++)
        verify_table(verification, segment, table, folder, name, &expected);
    verify_map(verification, segment, folder, name, &expected);
    close(folder);
}

static enum idx_status verify(struct verification *verification, const char *path, struct idx_error *error) {
    struct idx_index *index = verification->index;
    IDXI_TRY(idxi_index_open_folder(index, path, error));
    enum idx_status status = idxi_index_read_manifest(index, error);
    bool is_damage = status >= IDX_MISSING_FILE && status < IDX_OUT_OF_MEMORY;
    if (status != IDX_OK && !is_damage) return status;
    struct idx_error copy = error == NULL ? (struct idx_error){0} : *error;
    report(verification, NULL, IDXI_MANIFEST_NAME, status, &copy);
    if (status != IDX_OK) return status;
    index->segments = calloc(index->manifest->segment_count, sizeof *index->segments);
    if (index->segments == NULL) return idxi_fail_memory(error);
    for (size_t segment = 0; segment < index->manifest->segment_count; segment++) verify_segment(verification, segment);
    return verification->status;
}

enum idx_status idx_verify(const char *path, idx_verify_visitor visit, void *context, struct idx_error *error) {
    struct idx_error own;
    struct verification verification = {.visit = visit, .context = context, .error = error == NULL ? &own : error};
    verification.index = calloc(1, sizeof *verification.index);
    if (verification.index == NULL) return idxi_fail_memory(error);
    verification.index->folder = -1;
    verification.index->options = (struct idx_open_options)IDX_OPEN_OPTIONS_INIT;
    verification.index->options.keys = IDX_KEYS_MAPPED;
    enum idx_status status = verify(&verification, path, verification.error);
    idx_close(verification.index);
    return status;
}
