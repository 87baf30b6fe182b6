/* document_map.c: opens a document map and its checksums, and reads it, by search or from end to end. */
#include "libidx/segment/document_map.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/bytes.h"
#include "format/document_sums.h"
#include "libidx/base/base.h"

const char *idxi_get_map_name(enum idxi_map_kind kind) { return kind == IDXI_MAP_DOCUMENTS ? "docs.mdb" : "by-id.mdb"; }

const char *idxi_get_sums_name(enum idxi_map_kind kind) {
    return kind == IDXI_MAP_DOCUMENTS ? "docs.sum" : "by-id.sum";
}

/* Writes a number as 8 big-endian bytes. */
static void store_big_endian(uint8_t bytes[8], uint64_t number) {
    for (int i = 7; i >= 0; i--, number >>= 8) bytes[i] = (uint8_t)number;
}

void idxi_make_group_key(uint8_t key[IDXI_GROUP_KEY_BYTES], uint64_t fingerprint, uint64_t value) {
    store_big_endian(key, fingerprint);
    store_big_endian(key + 8, value);
}

void idxi_make_ids_key(uint8_t key[IDXI_IDS_KEY_BYTES], uint64_t number) { store_big_endian(key, number); }

uint64_t idxi_get_ids_number(const uint8_t key[IDXI_IDS_KEY_BYTES]) {
    uint64_t number = 0;
    for (int i = 0; i < IDXI_IDS_KEY_BYTES; i++) number = number << 8 | key[i];
    return number;
}

void idxi_heaviest_add_document(struct idxi_heaviest *heaviest, uint64_t fingerprint) {
    bool is_same = heaviest->last_documents > 0 && heaviest->last_fingerprint == fingerprint;
    heaviest->last_documents = is_same ? heaviest->last_documents + 1 : 1;
    heaviest->last_fingerprint = fingerprint;
    if (heaviest->last_documents <= heaviest->documents) return;
    heaviest->fingerprint = fingerprint;
    heaviest->documents = heaviest->last_documents;
}

/* ---- Reading ---- */

/* Opens the file `name` of the segment's folder, and sets *file to its descriptor and *size to its bytes. The caller
 * closes *file unless it is below 0, also after an error. `path` is for messages. */
static enum idx_status open_file(int folder, const char *name, const char *path, int *file, uint64_t *size,
                                 struct idx_error *error) {
    IDXI_TRY(idxi_open_index_file(file, folder, name, IDXI_OPEN_FILE, path, error));
    return idxi_get_file_size(*file, size, path, error);
}

/* Checks the header of the file of checksums: its uuid must be the segment's, and the length that it states the map's
 * own, `length` bytes. `sums_size` is the size of the file of checksums. */
static enum idx_status check_sums_header(const struct idxi_map *map, int sums_fd, uint64_t sums_size, uint64_t length,
                                         const char *sums_path, struct idx_error *error) {
    struct idxf_document_sums sums = {0};
    uint8_t header[IDXF_DOCUMENT_SUMS_HEADER_BYTES] = {0};
    uint32_t version;
    size_t available = sums_size < sizeof header ? (size_t)sums_size : sizeof header;
    IDXI_TRY(idxi_read_at(sums_fd, header, available, 0, sums_path, error));
    enum idxf_fault fault = idxf_document_sums_header_read(&sums, header, sums_size, &version);
    uint64_t needed = sizeof header + idxf_document_sums_count_pages(&sums) * 8 + sums.extra;
    IDXI_TRY(idxi_check_header(fault, version, sums_size, needed, sums_path, error));
    if (memcmp(sums.uuid, map->segment.uuid, IDXF_UUID_BYTES) != 0) return idxi_fail_foreign_file(error, sums_path);
    if (length != sums.length)
        return idxi_fail(error, IDX_WRONG_SIZE, map->path,
                         "has %llu bytes, but %s says %llu: the file is damaged, or of another index",
                         (unsigned long long)length, idxi_get_sums_name(map->kind), (unsigned long long)sums.length);
    return IDX_OK;
}

/* The descriptors of a map and its checksums, or -1, and the path of the latter. */
struct files {
    int map_fd, sums_fd;
    char *sums_path;
};

/* Opens both files and maps them. The caller closes `files`, also after an error. */
static enum idx_status open_and_map_files(struct idxi_map *map, int folder, struct files *files,
                                          const struct idx_open_options *options, struct idx_error *error) {
    uint64_t length, sums_length;
    IDXI_TRY(open_file(folder, idxi_get_map_name(map->kind), map->path, &files->map_fd, &length, error));
    IDXI_TRY(open_file(folder, idxi_get_sums_name(map->kind), files->sums_path, &files->sums_fd, &sums_length, error));
    IDXI_TRY(check_sums_header(map, files->sums_fd, sums_length, length, files->sums_path, error));
    map->bytes = length + sums_length;
    return idxi_pages_open(&map->pages, files->map_fd, length, files->sums_fd, sums_length, options, map->path, error);
}

enum idx_status idxi_map_open(struct idxi_map *map, enum idxi_map_kind kind, int folder, const char *folder_path,
                              const struct idxf_manifest_segment *segment, enum idx_id_type id_type,
                              const struct idx_open_options *options, struct idx_error *error) {
    char *sums_path = idxi_join_path(folder_path, idxi_get_sums_name(kind));
    struct files files = {.map_fd = -1, .sums_fd = -1, .sums_path = sums_path};
    *map = (struct idxi_map){.kind = kind,
                             .segment = *segment,
                             .numbers = segment->documents,
                             .id_type = kind == IDXI_MAP_BY_ID ? IDX_ID_U64 : id_type,
                             .hashes_differ = id_type == IDX_ID_U64};
    pthread_mutex_init(&map->mutex, NULL);
    map->path = idxi_join_path(folder_path, idxi_get_map_name(kind));
    enum idx_status status = map->path == NULL || sums_path == NULL
                                 ? idxi_fail_memory(error)
                                 : open_and_map_files(map, folder, &files, options, error);
    if (files.map_fd >= 0) close(files.map_fd);
    if (files.sums_fd >= 0) close(files.sums_fd);
    free(sums_path);
    return status;
}

enum idx_status idxi_map_fail(const struct idxi_map *map, const struct idxi_page_cursor *cursor, enum idxf_fault fault,
                              struct idx_error *error) {
    return idxi_fail_fault(error, fault, map->path, (uint64_t)(cursor->value - map->pages.map));
}

/* Goes to the entry `name` of the database `meta`, whose root page is `meta_root`. Fails with IDX_BAD_CONTENT where
 * there is none. */
static enum idx_status find_meta_entry(const struct idxi_map *map, uint64_t meta_root, const char *name,
                                       struct idxi_page_cursor *cursor, struct idx_error *error) {
    IDXI_TRY(idxi_pages_find(&map->pages, meta_root, name, cursor, error));
    if (cursor->found) return IDX_OK;
    return idxi_fail(error, IDX_BAD_CONTENT, map->path, "does not state its %s: the index is damaged; rebuild it",
                     name);
}

/* Checks that the uuid in the database `meta` is the segment's. Otherwise fails with IDX_FOREIGN_FILE. */
static enum idx_status check_uuid(const struct idxi_map *map, uint64_t meta_root, struct idx_error *error) {
    struct idxi_page_cursor cursor;
    IDXI_TRY(find_meta_entry(map, meta_root, IDXI_META_UUID, &cursor, error));
    bool is_own = cursor.value_size == IDXF_UUID_BYTES && memcmp(cursor.value, map->segment.uuid, IDXF_UUID_BYTES) == 0;
    return is_own ? IDX_OK : idxi_fail_foreign_file(error, map->path);
}

/* Sets *count to the number that the entry `name` of the database `meta` has. Fails unless it has 8 bytes. */
static enum idx_status read_meta_count(const struct idxi_map *map, uint64_t meta_root, const char *name,
                                       uint64_t *count, struct idx_error *error) {
    struct idxi_page_cursor cursor;
    IDXI_TRY(find_meta_entry(map, meta_root, name, &cursor, error));
    if (cursor.value_size != 8) return idxi_fail_fault(error, IDXF_FAULT_COUNT, map->path, 0);
    *count = idxf_load64(cursor.value);
    return IDX_OK;
}

/* Checks the counts of the database `meta`. Those of a document map must be the segment's. A map from IDs counts
 * distinct hashes and entries instead: if the segment can have so many, they replace its counts in map->segment.
 * Otherwise fails with IDX_BAD_CONTENT. */
static enum idx_status check_counts(struct idxi_map *map, uint64_t meta_root, struct idx_error *error) {
    struct idxf_manifest_segment *segment = &map->segment;
    uint64_t fingerprints, documents;
    IDXI_TRY(read_meta_count(map, meta_root, IDXI_META_FINGERPRINTS, &fingerprints, error));
    IDXI_TRY(read_meta_count(map, meta_root, IDXI_META_DOCUMENTS, &documents, error));
    bool counts_agree = fingerprints == segment->fingerprints && documents == segment->documents;
    /* A map from IDs has an entry for each fingerprint, and at most one for each document. If no two IDs have the same
     * hash, each document has one of its own. */
    if (map->kind == IDXI_MAP_BY_ID)
        counts_agree = fingerprints <= documents && (fingerprints > 0 || documents == 0) &&
                       documents >= segment->fingerprints && documents <= segment->documents &&
                       (!map->hashes_differ || documents == segment->documents);
    if (!counts_agree) return idxi_fail_fault(error, IDXF_FAULT_COUNT, map->path, 0);
    if (map->kind == IDXI_MAP_BY_ID) {
        segment->fingerprints = fingerprints;
        segment->documents = documents;
    }
    return IDX_OK;
}

/* Reads which fingerprint has the most documents, and how many. Only a verifier checks whether that is true. */
static enum idx_status read_heaviest(struct idxi_map *map, uint64_t meta_root, struct idx_error *error) {
    struct idxi_page_cursor cursor;
    IDXI_TRY(find_meta_entry(map, meta_root, IDXI_META_HEAVIEST, &cursor, error));
    if (cursor.value_size != IDXI_HEAVIEST_BYTES) return idxi_fail_fault(error, IDXF_FAULT_SIZE, map->path, 0);
    map->heaviest_fingerprint = idxf_load64(cursor.value);
    map->heaviest_documents = idxf_load64(cursor.value + 8);
    return IDX_OK;
}

/* Sets map->dictionary to the dictionary of text IDs, in the mapped pages. */
static enum idx_status find_dictionary(struct idxi_map *map, uint64_t meta_root, struct idx_error *error) {
    struct idxi_page_cursor cursor;
    IDXI_TRY(find_meta_entry(map, meta_root, IDXI_META_DICTIONARY, &cursor, error));
    if (cursor.value_size > IDXF_MAX_DICTIONARY_BYTES) return idxi_map_fail(map, &cursor, IDXF_FAULT_SIZE, error);
    map->dictionary = cursor.value;
    map->dictionary_size = cursor.value_size;
    return IDX_OK;
}

/* Finds the databases, and reads and checks the meta data. May be tried again after an error. */
static enum idx_status read_meta_data(struct idxi_map *map, struct idx_error *error) {
    uint64_t meta_root;
    IDXI_TRY(idxi_pages_find_root(&map->pages, "docs", &map->docs_root, error));
    if (map->id_type == IDX_ID_TEXT) IDXI_TRY(idxi_pages_find_root(&map->pages, "ids", &map->ids_root, error));
    IDXI_TRY(idxi_pages_find_root(&map->pages, "meta", &meta_root, error));
    IDXI_TRY(check_uuid(map, meta_root, error));
    IDXI_TRY(read_heaviest(map, meta_root, error));
    if (map->id_type == IDX_ID_TEXT) IDXI_TRY(find_dictionary(map, meta_root, error));
    return check_counts(map, meta_root, error); /* last, since it replaces what a second attempt compares with */
}

enum idx_status idxi_map_prepare(struct idxi_map *map, struct idx_error *error) {
    if (atomic_load_explicit(&map->ready, memory_order_acquire)) return IDX_OK;
    enum idx_status status = IDX_OK;
    pthread_mutex_lock(&map->mutex);
    if (!atomic_load_explicit(&map->ready, memory_order_relaxed)) {
        status = read_meta_data(map, error);
        if (status == IDX_OK) atomic_store_explicit(&map->ready, true, memory_order_release);
    }
    pthread_mutex_unlock(&map->mutex);
    return status;
}

void idxi_map_close(struct idxi_map *map) {
    idxi_pages_close(&map->pages);
    free(map->path);
    pthread_mutex_destroy(&map->mutex);
}

enum idx_status idxi_map_open_group(const struct idxi_map *map, const struct idxi_page_cursor *cursor,
                                    struct idxf_group *group, struct idx_error *error) {
    enum idxf_fault fault = cursor->key_size == IDXI_GROUP_KEY_BYTES
                                ? idxf_group_open(group, cursor->value, cursor->value_size)
                                : IDXF_FAULT_SIZE;
    return fault == IDXF_OK ? IDX_OK : idxi_map_fail(map, cursor, fault, error);
}

/* Opens the group at a cursor that found one, and decodes its fingerprints to `fingerprints`, an array of
 * IDXF_MAX_GROUP_ENTRIES. */
static enum idx_status decode_group(const struct idxi_map *map, const struct idxi_page_cursor *cursor,
                                    struct idxf_group *group, uint64_t *fingerprints, struct idx_error *error) {
    IDXI_TRY(idxi_map_open_group(map, cursor, group, error));
    enum idxf_fault fault = idxf_decode_fingerprints(group, fingerprints);
    return fault == IDXF_OK ? IDX_OK : idxi_map_fail(map, cursor, fault, error);
}

enum idx_status idxi_map_find_value(const struct idxi_map *map, uint64_t fingerprint, uint64_t min_value,
                                    uint64_t *value, bool *found, struct idx_error *error) {
    struct idxi_page_cursor cursor;
    struct idxf_group group;
    uint64_t fingerprints[IDXF_MAX_GROUP_ENTRIES];
    uint8_t key[IDXI_GROUP_KEY_BYTES];
    size_t place = 0;
    *found = false;
    idxi_make_group_key(key, fingerprint, min_value);
    IDXI_TRY(idxi_pages_seek(&map->pages, map->docs_root, key, sizeof key, &cursor, error));
    if (!cursor.found) return IDX_OK;
    IDXI_TRY(decode_group(map, &cursor, &group, fingerprints, error));
    while (place < group.count && fingerprints[place] < fingerprint) place++;
    for (; place < group.count && fingerprints[place] == fingerprint; place++) {
        idxf_decode_values(&group, place, 1, value);
        *found = *value >= min_value;
        if (*found) return IDX_OK;
    }
    /* The group's key says that its last entry is not below the sought one. So an entry must follow, and be above. */
    bool is_above = place < group.count && fingerprints[place] > fingerprint;
    return is_above ? IDX_OK : idxi_map_fail(map, &cursor, IDXF_FAULT_ORDER, error);
}

/* ---- Reading all ---- */

#define DROPPED_BYTES ((size_t)8 << 20) /* after so many bytes of groups, pages are dropped from memory */

/* Adds `size` bytes of groups that were read to *undropped_bytes. From DROPPED_BYTES on, drops the pages that were read
 * from memory, and sets *undropped_bytes to 0. */
static void count_bytes_and_drop_pages(const struct idxi_map *map, size_t *undropped_bytes, size_t size) {
    *undropped_bytes += size;
    if (*undropped_bytes < DROPPED_BYTES) return;
    idxi_pages_drop(&map->pages);
    *undropped_bytes = 0;
}

/* Goes to the next group, and decodes its fingerprints. After the last one, stream->group.count is 0. Fails unless the
 * groups have as many documents as the manifest says. */
static enum idx_status read_next_group(struct idxi_map_stream *stream, struct idx_error *error) {
    const struct idxi_map *map = stream->map;
    struct idxi_page_cursor *cursor = &stream->cursor;
    IDXI_TRY(stream->begun ? idxi_pages_next(cursor, error)
                           : idxi_pages_seek(&map->pages, map->docs_root, "", 0, cursor, error));
    stream->begun = true;
    stream->entries_read = stream->group.count = 0;
    if (cursor->found) {
        IDXI_TRY(decode_group(map, cursor, &stream->group, stream->fingerprints, error));
        count_bytes_and_drop_pages(map, &stream->undropped_bytes, cursor->value_size);
    }
    stream->documents += stream->group.count;
    bool agrees =
        stream->documents == map->segment.documents || (cursor->found && stream->documents < map->segment.documents);
    return agrees ? IDX_OK : idxi_fail_fault(error, IDXF_FAULT_COUNT, map->path, 0);
}

/* Notes an entry, its value without the offset, as the last one that was read. Returns whether it is above the one
 * before, or there is none. */
static bool note_entry_and_check_order(struct idxi_map_stream *stream, uint64_t fingerprint, uint64_t value) {
    bool ascends = !stream->has_last || stream->last_fingerprint < fingerprint ||
                   (stream->last_fingerprint == fingerprint && stream->last_value < value);
    stream->has_last = true;
    stream->last_fingerprint = fingerprint;
    stream->last_value = value;
    return ascends;
}

/* Reads documents as struct idxi_stream says, from one group at a time: the current one, or once all of it were read,
 * the next one. */
static enum idx_status read_documents(struct idxi_stream *base, uint64_t *fingerprints, uint64_t *values,
                                      size_t capacity, size_t *count, struct idx_error *error) {
    struct idxi_map_stream *stream = (struct idxi_map_stream *)base;
    *count = 0;
    if (stream->begun && !stream->cursor.found) return IDX_OK;
    if (stream->entries_read == stream->group.count) IDXI_TRY(read_next_group(stream, error));
    size_t left = stream->group.count - stream->entries_read, copied = left < capacity ? left : capacity;
    memcpy(fingerprints, stream->fingerprints + stream->entries_read, copied * sizeof *fingerprints);
    idxf_decode_values(&stream->group, stream->entries_read, copied, values);
    for (size_t i = 0; i < copied; i++) {
        if (!note_entry_and_check_order(stream, fingerprints[i], values[i]))
            return idxi_map_fail(stream->map, &stream->cursor, IDXF_FAULT_ORDER, error);
        values[i] += stream->offset;
    }
    stream->entries_read += copied;
    *count = copied;
    return IDX_OK;
}

void idxi_map_stream_init(struct idxi_map_stream *stream, const struct idxi_map *map, uint64_t offset) {
    /* Member by member, since zeroing the large array of fingerprints would take longer. */
    stream->stream = (struct idxi_stream){.read = read_documents};
    stream->map = map;
    stream->offset = offset;
    stream->begun = stream->has_last = false;
    stream->undropped_bytes = stream->entries_read = stream->group.count = 0;
    stream->documents = 0;
}

enum idx_status idxi_map_open_ids(const struct idxi_map *map, const struct idxi_page_cursor *cursor,
                                  struct idxf_ids *ids, uint8_t **id, size_t *capacity, struct idx_error *error) {
    size_t needed_bytes = idxf_ids_get_buffer_bytes(cursor->value_size);
    enum idxf_fault fault =
        cursor->key_size == IDXI_IDS_KEY_BYTES
            ? idxf_ids_open(ids, cursor->value, cursor->value_size, map->dictionary, map->dictionary_size)
            : IDXF_FAULT_SIZE;
    if (fault != IDXF_OK) return idxi_map_fail(map, cursor, fault, error);
    if (needed_bytes <= *capacity) return IDX_OK;
    free(*id);
    *id = malloc(needed_bytes);
    *capacity = *id == NULL ? 0 : needed_bytes;
    return *id == NULL ? idxi_fail_memory(error) : IDX_OK;
}

/* The state of idxi_map_visit_ids. */
struct id_visit {
    const struct idxi_map *map;
    idxi_id_visitor visitor;
    void *context;
    uint64_t number; /* of the next ID */
    uint8_t *id;     /* the current ID; as for idxi_map_open_ids */
    size_t capacity; /* bytes of `id` */
};

/* Visits the IDs of the group at a cursor. The key of the group must be the document number of its last ID. */
static enum idx_status visit_ids_of_group(struct id_visit *visit, const struct idxi_page_cursor *cursor,
                                          struct idx_error *error) {
    const struct idxi_map *map = visit->map;
    struct idxf_ids ids;
    IDXI_TRY(idxi_map_open_ids(map, cursor, &ids, &visit->id, &visit->capacity, error));
    if (ids.count > map->numbers - visit->number || idxi_get_ids_number(cursor->key) != visit->number + ids.count - 1)
        return idxi_map_fail(map, cursor, IDXF_FAULT_COUNT, error);
    while (ids.left > 0) {
        enum idxf_fault fault = idxf_ids_next(&ids, visit->id);
        if (fault != IDXF_OK) return idxi_map_fail(map, cursor, fault, error);
        IDXI_TRY(visit->visitor(visit->context, visit->number++, visit->id, ids.length, error));
    }
    return IDX_OK;
}

enum idx_status idxi_map_visit_ids(const struct idxi_map *map, idxi_id_visitor visitor, void *context,
                                   struct idx_error *error) {
    struct id_visit visit = {.map = map, .visitor = visitor, .context = context};
    struct idxi_page_cursor cursor;
    size_t undropped_bytes = 0;
    /* The bytes that further groups may have. Groups of a sound map share no bytes, and this limit ends a walk through
     * a damaged map that has one group in many places. */
    uint64_t bytes_left = map->pages.length;
    enum idx_status status = idxi_pages_seek(&map->pages, map->ids_root, "", 0, &cursor, error);
    while (status == IDX_OK && cursor.found) {
        status = cursor.value_size > bytes_left ? idxi_map_fail(map, &cursor, IDXF_FAULT_SIZE, error)
                                                : visit_ids_of_group(&visit, &cursor, error);
        bytes_left -= cursor.value_size;
        count_bytes_and_drop_pages(map, &undropped_bytes, cursor.value_size);
        if (status == IDX_OK) status = idxi_pages_next(&cursor, error);
    }
    free(visit.id);
    if (status == IDX_OK && map->numbers != UINT64_MAX && visit.number != map->numbers)
        return idxi_fail_fault(error, IDXF_FAULT_COUNT, map->path, 0);
    return status;
}

/* ---- The documents of one fingerprint ---- */

/* Goes to the first group whose last entry is not below a fingerprint, and decodes it. Sets cursor->decoded to whether
 * there is such a group. If the fingerprint sought before has the same group, it is not decoded again. */
static enum idx_status seek_group(struct idxi_map_cursor *cursor, uint64_t fingerprint, struct idx_error *error) {
    uint8_t key[IDXI_GROUP_KEY_BYTES];
    if (cursor->decoded && cursor->sought < fingerprint &&
        fingerprint <= cursor->fingerprints[cursor->group.count - 1]) {
        cursor->sought = fingerprint;
        return IDX_OK;
    }
    cursor->decoded = false;
    idxi_make_group_key(key, fingerprint, 0);
    IDXI_TRY(idxi_pages_seek(&cursor->map->pages, cursor->map->docs_root, key, sizeof key, &cursor->entry, error));
    if (!cursor->entry.found) return IDX_OK;
    IDXI_TRY(decode_group(cursor->map, &cursor->entry, &cursor->group, cursor->fingerprints, error));
    cursor->sought = fingerprint;
    cursor->decoded = true;
    return IDX_OK;
}

/* Finds the entries of a fingerprint among the `count` ascending fingerprints of a group: from place *begin to before
 * *end. If there are none, both are the place where the first one would be. */
static void find_fingerprint_in_group(const uint64_t *fingerprints, size_t count, uint64_t fingerprint, size_t *begin,
                                      size_t *end) {
    size_t place = 0;
    while (place < count && fingerprints[place] < fingerprint) place++;
    *begin = place;
    while (place < count && fingerprints[place] == fingerprint) place++;
    *end = place;
}

/* Adds to *count the documents that a fingerprint has in the groups after that of the cursor. */
static enum idx_status count_in_later_groups(const struct idxi_map_cursor *cursor, uint64_t fingerprint,
                                             uint64_t *count, struct idx_error *error) {
    uint64_t fingerprints[IDXF_MAX_GROUP_ENTRIES];
    struct idxi_page_cursor later = cursor->entry;
    struct idxf_group group;
    size_t begin, end;
    do {
        IDXI_TRY(idxi_pages_next(&later, error));
        if (!later.found) return IDX_OK;
        IDXI_TRY(decode_group(cursor->map, &later, &group, fingerprints, error));
        find_fingerprint_in_group(fingerprints, group.count, fingerprint, &begin, &end);
        *count += end - begin;
        if (*count > cursor->map->segment.documents) return idxi_map_fail(cursor->map, &later, IDXF_FAULT_COUNT, error);
    } while (end == group.count);
    return IDX_OK;
}

enum idx_status idxi_map_cursor_find(struct idxi_map_cursor *cursor, uint64_t fingerprint, struct idx_error *error) {
    size_t end;
    cursor->left = 0;
    IDXI_TRY(seek_group(cursor, fingerprint, error));
    if (!cursor->decoded) return IDX_OK;
    find_fingerprint_in_group(cursor->fingerprints, cursor->group.count, fingerprint, &cursor->next, &end);
    uint64_t count = end - cursor->next;
    if (count > 0 && end == cursor->group.count) IDXI_TRY(count_in_later_groups(cursor, fingerprint, &count, error));
    cursor->left = count;
    if (count > 0) idxf_decode_values(&cursor->group, cursor->next, 1, &cursor->value);
    return IDX_OK;
}

/* Fails with IDX_BAD_CONTENT unless values ascend: so readers decode each group of IDs only once. */
enum idx_status idxi_map_cursor_next(struct idxi_map_cursor *cursor, struct idx_error *error) {
    uint64_t documents_left = cursor->left - 1, last_value = cursor->value;
    cursor->left = 0; /* so that none is left where what follows fails */
    if (documents_left == 0) return IDX_OK;
    if (++cursor->next == cursor->group.count) {
        cursor->decoded = false;
        IDXI_TRY(idxi_pages_next(&cursor->entry, error));
        if (!cursor->entry.found) return idxi_map_fail(cursor->map, &cursor->entry, IDXF_FAULT_COUNT, error);
        IDXI_TRY(idxi_map_open_group(cursor->map, &cursor->entry, &cursor->group, error));
        cursor->next = 0;
    }
    idxf_decode_values(&cursor->group, cursor->next, 1, &cursor->value);
    if (cursor->value <= last_value) return idxi_map_fail(cursor->map, &cursor->entry, IDXF_FAULT_ORDER, error);
    cursor->left = documents_left;
    return IDX_OK;
}
