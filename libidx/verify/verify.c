/* verify.c: checks all that SPEC.md requires of an index. It first opens all files, so that a compaction which deletes
 * some of them does not matter, and then checks them one after the other. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libidx/base/error.h"
#include "libidx/base/file.h"
#include "libidx/base/hash.h"
#include "libidx/verify/verify_by_id.h"
#include "libidx/view/index.h"

/* How often opening starts again if the index is replaced at the same time. */
#define MAX_ATTEMPTS 1000

/* A set of fingerprints, whatever their order: two that differ have other sums, but for an accident of 2^-64. */
struct set {
    bool known;
    uint64_t count;
    uint64_t sum;
};

/* How opening a file went, or a segment's folder. */
struct opening {
    enum idx_status status;
    struct idx_error error;
};

/* Those of a segment, and from the last number on of its tables. */
enum { OPEN_FOLDER, OPEN_DOCUMENTS, OPEN_BY_ID, OPEN_REMOVED, OPEN_TABLES };

struct verification {
    struct idx_index *index;
    struct opening *openings; /* of all segments */
    struct opening log;
    idx_verify_visitor visit;
    void *context;
    enum idx_status status; /* the first damage's */
    struct idx_error *error;
};

static struct opening *openings_of(const struct verification *verification, size_t segment) {
    return verification->openings + segment * (OPEN_TABLES + verification->index->scheme.table_count);
}

static void add_to_set(struct set *set, uint64_t fingerprint) {
    set->sum += idxi_hash(fingerprint);
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
    for (uint64_t page = 0; page < table->layout.pages; page++) {
        if (page * IDXF_PAGE_SIZE % IDXI_DROPPED_BYTES == 0) idxi_table_drop(table);
        IDXI_TRY(idxi_table_verify_page(table, page, error));
    }
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

/* The fingerprints of a table, gone through in its order. */
struct walk {
    struct set set;
    struct idxf_statistics_counter counter;
    struct idxf_directory_writer directory; /* as it should be, up to the blocks so far */
    bool differs;                           /* from what it is */
    uint64_t difference;                    /* where, in the file */
    uint64_t key;                           /* of the last block */
    uint64_t fingerprints[IDXF_DECODED_ROOM];
};

static void note_difference(struct walk *walk, uint64_t offset) {
    if (!walk->differs) walk->difference = offset;
    walk->differs = true;
}

/* Compares the current line, once it has all its keys. */
static void compare_line(const struct idxi_table *table, struct walk *walk) {
    uint64_t at = walk->directory.line * IDXF_LINE_BYTES;
    uint8_t bytes[IDXF_LINE_BYTES];
    idxf_directory_take(&walk->directory, bytes);
    if (memcmp(table->map + table->layout.directory + at, bytes, sizeof bytes) != 0)
        note_difference(walk, table->layout.directory + at);
}

/* Compares a key with its place in the list of its line, where that has one: the line before it has been compared. */
static void compare_key(const struct idxi_table *table, uint64_t block, struct walk *walk) {
    struct idxf_place place = idxf_find_place(walk->key, table->layout.directory_lines);
    const uint8_t *line = table->map + table->layout.directory + place.line * IDXF_LINE_BYTES;
    struct idxf_list list = idxf_line_list(line);
    uint64_t i = block - idxf_line_first(line), bits = list.width;
    if (list.count == 0 || i >= list.count || bits > 64) return; /* comparing the line reports it */
    if (list.at > table->header.list_bytes || idxf_list_bytes(&list) > table->header.list_bytes - list.at) return;
    uint64_t at = (table->layout.lists + list.at) * 8 + i * bits, end = at + bits;
    size_t readable = (size_t)table->layout.checksums;
    bool agrees = idxf_get_bits(table->map, readable, at, list.width) == idxf_leading(place.part, list.width);
    if (i + 1 == list.count) agrees &= idxf_get_bits(table->map, readable, end, (unsigned)(-end % 8)) == 0;
    if (!agrees) note_difference(walk, at / 8);
}

/* Goes through one block. */
static enum idx_status check_block(const struct idxi_table *table, struct idxi_blocks *blocks, struct walk *walk,
                                   struct idx_error *error) {
    uint64_t block = blocks->next, offset = idxi_table_block_offset(table, block);
    struct idxf_bounds bounds = blocks->bounds;
    size_t count;
    if (offset % IDXI_DROPPED_BYTES == 0) idxi_table_drop(table);
    IDXI_TRY(idxi_blocks_read(blocks, block + 1, walk->fingerprints, &count, error));
    for (size_t i = 0; i < count; i++)
        add_to_set(&walk->set, idxf_unpermute(&table->permutation, walk->fingerprints[i]));
    idxf_statistics_add(&walk->counter, walk->fingerprints, count);
    walk->key = walk->fingerprints[count - 1];
    enum idxf_fault fault = idxf_block_check_padding(table->decoder, idxi_table_block(table, block), bounds);
    return fault == IDXF_OK ? IDX_OK : idxi_fail_fault(error, fault, table->path, offset);
}

static enum idx_status check_blocks(const struct idxi_table *table, struct walk *walk, struct idx_error *error) {
    struct idxi_blocks blocks = {table, 0, {0, 0}};
    idxf_statistics_begin(&walk->counter, table->prefix);
    idxf_directory_begin(&walk->directory, table->layout.directory_lines);
    for (uint64_t block = 0; block < table->header.blocks; block++) {
        IDXI_TRY(check_block(table, &blocks, walk, error));
        while (!idxf_directory_add(&walk->directory, walk->key)) compare_line(table, walk);
        compare_key(table, block, walk);
    }
    while (walk->directory.line < walk->directory.lines) compare_line(table, walk);
    bool agrees = walk->set.count == table->header.fingerprints;
    return agrees ? IDX_OK : idxi_fail_fault(error, IDXF_FAULT_COUNT, table->path, 0);
}

/* The lists end where the header says. */
static enum idx_status check_directory(const struct idxi_table *table, struct walk *walk, struct idx_error *error) {
    if (walk->directory.list_bytes != table->header.list_bytes) note_difference(walk, table->layout.lists);
    return walk->differs ? idxi_fail_fault(error, IDXF_FAULT_DIRECTORY, table->path, walk->difference) : IDX_OK;
}

static enum idx_status check_statistics(const struct idxi_table *table, const struct walk *walk,
                                        struct idx_error *error) {
    struct idxf_statistics counted = idxf_statistics_end(&walk->counter, &table->permutation);
    const struct idxf_statistics *said = &table->header.statistics;
    bool agrees = counted.set_bits == said->set_bits && counted.common_bits == said->common_bits &&
                  counted.largest_group == said->largest_group && counted.pairs == said->pairs;
    return agrees ? IDX_OK : idxi_fail_fault(error, IDXF_FAULT_STATISTICS, table->path, 0);
}

static enum idx_status check_sections(const struct idxi_table *table, struct walk *walk, struct idx_error *error) {
    const struct idxf_table_layout *layout = &table->layout;
    uint64_t blocks_end = layout->blocks + table->header.blocks * table->header.block_size;
    uint64_t directory_end = layout->lists + table->header.list_bytes;
    IDXI_TRY(check_pages(table, error));
    IDXI_TRY(check_zeros(table, blocks_end, layout->directory, error));
    IDXI_TRY(check_zeros(table, directory_end, layout->checksums, error));
    IDXI_TRY(check_blocks(table, walk, error));
    IDXI_TRY(check_directory(table, walk, error));
    return check_statistics(table, walk, error);
}

static enum idx_status check_table(const struct idxi_table *table, struct set *set, struct idx_error *error) {
    struct walk *walk = calloc(1, sizeof *walk);
    if (walk == NULL) return idxi_fail_memory(error);
    enum idx_status status = check_sections(table, walk, error);
    *set = walk->set;
    free(walk);
    idxi_table_drop(table);
    return status;
}

static void verify_table(struct verification *verification, size_t segment, size_t number, const char *folder_name,
                         struct set *expected) {
    const struct opening *opening = &openings_of(verification, segment)[OPEN_TABLES + number];
    struct idx_error error = opening->error;
    struct set set = {0};
    char name[IDXI_NAME_BYTES];
    idxi_table_name(number, name);
    enum idx_status status = opening->status;
    const struct idxi_table *table = &verification->index->segments[segment]->tables[number];
    if (status == IDX_OK) status = check_table(table, &set, &error);
    if (status == IDX_OK && !expected->known) {
        *expected = set;
        expected->known = true;
    }
    if (status == IDX_OK && set.sum != expected->sum)
        status =
            idxi_fail(&error, IDX_BAD_CONTENT, table->path,
                      "contains other fingerprints than the first undamaged table: rebuild the index, or restore it");
    report(verification, folder_name, name, status, &error);
}

/* ---- Document maps ---- */

/* The documents of a map, gone through in the order of their keys. */
struct document_walk {
    struct set set;
    struct idxi_heaviest heaviest;
    uint64_t documents;
    uint64_t last_fingerprint, last_value;
    uint64_t *seen; /* a bit for each document number; NULL for IDs that are none */
};

/* Notes that a document number has come; false where it is out of range or came before. */
static bool note_number(uint64_t *seen, uint64_t documents, uint64_t number) {
    if (number >= documents || seen[number / 64] >> number % 64 & 1) return false;
    seen[number / 64] |= UINT64_C(1) << number % 64;
    return true;
}

static enum idx_status note_documents(const struct idxi_map *map, const uint64_t *fingerprints, const uint64_t *values,
                                      size_t count, struct document_walk *walk, struct idx_error *error) {
    for (size_t i = 0; i < count; i++) {
        if (walk->documents == 0 || fingerprints[i] != walk->last_fingerprint) add_to_set(&walk->set, fingerprints[i]);
        walk->last_fingerprint = fingerprints[i];
        walk->last_value = values[i];
        walk->documents++;
        idxi_heaviest_count(&walk->heaviest, fingerprints[i]);
        if (walk->seen != NULL && !note_number(walk->seen, map->segment.documents, values[i]))
            return idxi_fail(error, IDX_BAD_CONTENT, map->path,
                             "has a document number twice or out of range: rebuild the index, or restore it");
    }
    return IDX_OK;
}

static enum idx_status fail_astray(const struct idxi_map *map, struct idx_error *error) {
    return idxi_fail(error, IDX_BAD_CONTENT, map->path,
                     "has keys that mislead searches: rebuild the index, or restore it");
}

/* Searches for the key of the group before, plus 1, and for that of the group at the cursor, lead to it, and so do all
 * between. */
static enum idx_status check_way(const struct idxi_map *map, const struct idxi_page_cursor *cursor,
                                 const struct document_walk *walk, struct idx_error *error) {
    struct idxi_page_cursor low, high;
    uint8_t key[IDXI_GROUP_KEY_BYTES] = {0};
    uint64_t value = walk->last_value + 1;
    if (walk->documents > 0) idxi_group_key(key, walk->last_fingerprint + (value == 0), value);
    IDXI_TRY(idxi_pages_seek(&map->pages, map->docs_root, key, sizeof key, &low, error));
    IDXI_TRY(idxi_pages_seek(&map->pages, map->docs_root, cursor->key, sizeof key, &high, error));
    bool leads = low.found && low.value == cursor->value && high.found && high.value == cursor->value;
    return leads ? IDX_OK : fail_astray(map, error);
}

/* The group at the cursor: it decodes, keeps the rules, is above the one before, and has the key of its last entry. */
static enum idx_status check_group(const struct idxi_map *map, const struct idxi_page_cursor *cursor,
                                   struct document_walk *walk, struct idx_error *error) {
    struct idxf_group group;
    uint64_t fingerprints[IDXF_MAX_GROUP_ENTRIES], values[IDXF_MAX_GROUP_ENTRIES];
    uint8_t key[IDXI_GROUP_KEY_BYTES];
    IDXI_TRY(idxi_map_open_group(map, cursor, &group, error));
    enum idxf_fault fault = idxf_group_fingerprints(&group, fingerprints);
    if (fault != IDXF_OK) return idxi_map_fail(map, cursor, fault, error);
    idxf_group_values(&group, 0, group.count, values);
    bool ascends = walk->documents == 0 || walk->last_fingerprint < fingerprints[0] ||
                   (walk->last_fingerprint == fingerprints[0] && walk->last_value < values[0]);
    fault = ascends ? idxf_group_check(&group, fingerprints, values) : IDXF_FAULT_ORDER;
    if (fault != IDXF_OK) return idxi_map_fail(map, cursor, fault, error);
    idxi_group_key(key, fingerprints[group.count - 1], values[group.count - 1]);
    if (memcmp(cursor->key, key, sizeof key) != 0) return fail_astray(map, error);
    IDXI_TRY(check_way(map, cursor, walk, error));
    return note_documents(map, fingerprints, values, group.count, walk, error);
}

static enum idx_status walk_documents(const struct idxi_map *map, struct document_walk *walk, struct idx_error *error) {
    struct idxi_page_cursor cursor;
    IDXI_TRY(idxi_pages_seek(&map->pages, map->docs_root, "", 0, &cursor, error));
    while (cursor.found) {
        IDXI_TRY(check_group(map, &cursor, walk, error));
        if (walk->documents > map->segment.documents) break;
        IDXI_TRY(idxi_pages_next(&cursor, error));
    }
    return IDX_OK;
}

/* The IDs of a map, gone through by number. */
struct id_walk {
    const struct idxi_map *map;
    uint64_t next; /* the first number of the next group */
};

/* What visiting does not tell: searches for the first and the last number of a group lead to it. */
static enum idx_status check_id(void *context, uint64_t number, const void *id, size_t length,
                                struct idx_error *error) {
    struct id_walk *walk = context;
    const struct idxi_map *map = walk->map;
    struct idxi_page_cursor low, high;
    struct idxf_ids ids;
    uint8_t key[IDXI_IDS_KEY_BYTES];
    (void)id;
    (void)length;
    if (number != walk->next) return IDX_OK;
    idxi_ids_key(key, number);
    IDXI_TRY(idxi_pages_seek(&map->pages, map->ids_root, key, sizeof key, &low, error));
    if (!low.found || low.key_size != sizeof key ||
        idxf_ids_open(&ids, low.value, low.value_size, NULL, 0) != IDXF_OK ||
        idxi_ids_number(low.key) - number != ids.count - 1)
        return fail_astray(map, error);
    IDXI_TRY(idxi_pages_seek(&map->pages, map->ids_root, low.key, sizeof key, &high, error));
    if (!high.found || high.value != low.value) return fail_astray(map, error);
    walk->next = number + ids.count;
    return IDX_OK;
}

static enum idx_status check_ids(const struct idxi_map *map, struct idx_error *error) {
    struct id_walk walk = {map, 0};
    return idxi_map_visit_ids(map, check_id, &walk, error);
}

static enum idx_status compare_counts(const struct idxi_map *map, const struct document_walk *walk,
                                      const struct set *expected, struct idx_error *error) {
    if (walk->documents != map->segment.documents || walk->set.count != map->segment.fingerprints)
        return idxi_fail_fault(error, IDXF_FAULT_COUNT, map->path, 0);
    if (expected->known && walk->set.sum != expected->sum)
        return idxi_fail(error, IDX_BAD_CONTENT, map->path,
                         "contains other fingerprints than the tables: rebuild the index, or restore it");
    return map->id_type == IDX_ID_TEXT ? check_ids(map, error) : IDX_OK;
}

static enum idx_status check_heaviest(const struct idxi_map *map, const struct idxi_heaviest *heaviest,
                                      struct idx_error *error) {
    bool agrees = heaviest->fingerprint == map->heaviest_fingerprint && heaviest->documents == map->heaviest_documents;
    return agrees ? IDX_OK : idxi_fail_fault(error, IDXF_FAULT_STATISTICS, map->path, 0);
}

static enum idx_status check_documents(const struct idxi_map *map, const struct set *expected,
                                       struct idx_error *error) {
    struct document_walk walk = {0};
    if (map->id_type == IDX_ID_NONE) return check_heaviest(map, &walk.heaviest, error);
    if (map->id_type == IDX_ID_TEXT) {
        walk.seen = calloc((size_t)(map->segment.documents / 64 + 1), sizeof *walk.seen);
        if (walk.seen == NULL) return idxi_fail_memory(error);
    }
    enum idx_status status = walk_documents(map, &walk, error);
    if (status == IDX_OK) status = compare_counts(map, &walk, expected, error);
    if (status == IDX_OK) status = check_heaviest(map, &walk.heaviest, error);
    free(walk.seen);
    return status;
}

static enum idx_status check_map(struct idxi_map *map, const struct set *expected, struct idx_error *error) {
    IDXI_TRY(idxi_pages_check_all(&map->pages, error));
    IDXI_TRY(idxi_map_prepare(map, error));
    return check_documents(map, expected, error);
}

/* The document map, then the map from IDs, which is compared with a document map that is sound. */
static void verify_maps(struct verification *verification, size_t segment_number, const char *folder_name,
                        const struct set *expected) {
    static const struct set unknown = {0};
    const struct opening *openings = openings_of(verification, segment_number);
    struct idx_error error = openings[OPEN_DOCUMENTS].error;
    struct idxi_segment *segment = verification->index->segments[segment_number];
    enum idx_status status = openings[OPEN_DOCUMENTS].status;
    if (status == IDX_OK) status = check_map(&segment->map, expected, &error);
    report(verification, folder_name, idxi_map_name(IDXI_MAP_DOCUMENTS), status, &error);
    if (!verification->index->manifest->by_id) return;
    bool sound = status == IDX_OK;
    error = openings[OPEN_BY_ID].error;
    status = openings[OPEN_BY_ID].status;
    if (status == IDX_OK) status = check_map(&segment->by_id, &unknown, &error);
    if (status == IDX_OK && sound)
        status = idxi_verify_by_id(&segment->map, &segment->by_id, IDXI_VERIFY_CHUNK, &error);
    report(verification, folder_name, idxi_map_name(IDXI_MAP_BY_ID), status, &error);
}

/* ---- Opening ---- */

static void open_segment(struct verification *verification, size_t segment) {
    struct idx_index *index = verification->index;
    struct opening *openings = openings_of(verification, segment), *opening = &openings[OPEN_FOLDER];
    int folder;
    opening->status = idxi_segment_open_folder(index, segment, &folder, &opening->error);
    if (opening->status != IDX_OK) return;
    for (size_t table = 0; table < index->scheme.table_count; table++) {
        opening = &openings[OPEN_TABLES + table];
        opening->status = idxi_segment_open_table(index, segment, table, folder, &opening->error);
    }
    opening = &openings[OPEN_DOCUMENTS];
    opening->status = idxi_segment_open_map(index, segment, IDXI_MAP_DOCUMENTS, folder, &opening->error);
    opening = &openings[OPEN_BY_ID];
    if (index->manifest->by_id)
        opening->status = idxi_segment_open_map(index, segment, IDXI_MAP_BY_ID, folder, &opening->error);
    opening = &openings[OPEN_REMOVED];
    opening->status = idxi_segment_open_removed(index, segment, folder, &opening->error);
    close(folder);
}

/* Reads all of it, so its content is then known to be valid. */
static void open_log(struct verification *verification) {
    struct idx_index *index = verification->index;
    struct idxf_record_rules rules = idxi_index_rules(index);
    struct opening *log = &verification->log;
    log->status = idxi_tail_new(&index->tail, &rules, index->manifest->k, index->manifest->sequence, &log->error);
    if (log->status != IDX_OK) return;
    idxi_tail_set_log(index->tail, &index->manifest->log);
    log->status = idxi_tail_read(index->tail, index->folder, index->path, &index->pending, &log->error);
}

static enum idx_status open_once(struct verification *verification, const char *path, struct idx_error *error) {
    struct idx_open_options options = IDX_OPEN_OPTIONS_INIT;
    options.residence = IDX_RESIDENCE_NONE;
    struct idx_index *index = verification->index = idxi_index_new(&options);
    if (index == NULL) return idxi_fail_memory(error);
    IDXI_TRY(idxi_index_open_folder(index, path, error));
    IDXI_TRY(idxi_index_read_manifest(index, error));
    size_t segments = index->manifest->segment_count;
    index->segments = calloc(segments, sizeof(struct idxi_segment *));
    verification->openings = calloc(segments, sizeof(struct opening) * (OPEN_TABLES + index->scheme.table_count));
    if (index->segments == NULL || verification->openings == NULL) return idxi_fail_memory(error);
    for (size_t segment = 0; segment < segments; segment++) open_segment(verification, segment);
    open_log(verification);
    return IDX_OK;
}

static void close_all(struct verification *verification) {
    free(verification->openings);
    idx_close(verification->index);
    verification->openings = NULL;
    verification->index = NULL;
}

/* Whether all could be opened. */
static bool is_open(const struct verification *verification) {
    size_t segments = verification->index->manifest->segment_count;
    const struct opening *end = openings_of(verification, segments);
    for (const struct opening *opening = verification->openings; opening < end; opening++) {
        if (opening->status != IDX_OK) return false;
    }
    return verification->log.status == IDX_OK;
}

/* Opens the index at the path. If it is replaced at the same time, as a whole or by compaction, opens the new one. */
static enum idx_status open_newest(struct verification *verification, const char *path, struct idx_error *error) {
    for (int attempt = 1;; attempt++) {
        enum idx_status status = open_once(verification, path, error);
        const struct idx_index *index = verification->index;
        if ((status == IDX_OK && is_open(verification)) || attempt == MAX_ATTEMPTS || index == NULL ||
            !idxi_index_is_outdated(index))
            return status;
        close_all(verification);
    }
}

/* ---- The whole ---- */

static void verify_segment(struct verification *verification, size_t segment) {
    char name[IDXI_NAME_BYTES];
    struct set expected = {0};
    const struct idx_index *index = verification->index;
    const struct opening *openings = openings_of(verification, segment);
    idxi_segment_name(index->manifest->segments[segment].number, name);
    if (openings[OPEN_FOLDER].status != IDX_OK) {
        report(verification, NULL, name, openings[OPEN_FOLDER].status, &openings[OPEN_FOLDER].error);
        return;
    }
    for (size_t table = 0; table < index->scheme.table_count; table++)
        verify_table(verification, segment, table, name, &expected);
    verify_maps(verification, segment, name, &expected);
    if (index->segments[segment]->entry.removed > 0)
        report(verification, name, IDXI_REMOVED_NAME, openings[OPEN_REMOVED].status, &openings[OPEN_REMOVED].error);
}

static enum idx_status verify(struct verification *verification, const char *path, struct idx_error *error) {
    enum idx_status status = open_newest(verification, path, error);
    bool is_damage = status >= IDX_MISSING_FILE && status < IDX_OUT_OF_MEMORY;
    if (status != IDX_OK && !is_damage) return status;
    struct idx_error copy = error == NULL ? (struct idx_error){0} : *error;
    report(verification, NULL, IDXI_MANIFEST_NAME, status, &copy);
    if (status != IDX_OK) return status;
    const struct idx_index *index = verification->index;
    for (size_t segment = 0; segment < index->manifest->segment_count; segment++) verify_segment(verification, segment);
    if (verification->log.status != IDX_OK || index->manifest->log.exists)
        report(verification, NULL, IDXI_LOG_NAME, verification->log.status, &verification->log.error);
    return verification->status;
}

enum idx_status idx_verify(const char *path, idx_verify_visitor visit, void *context, struct idx_error *error) {
    struct idx_error own;
    struct verification verification = {.visit = visit, .context = context, .error = error == NULL ? &own : error};
    enum idx_status status = verify(&verification, path, verification.error);
    close_all(&verification);
    return status;
}
