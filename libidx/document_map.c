/* document_map.c: writes docs.mdb and docs.sum, opens them, and reads them from end to end. */
#include "libidx/document_map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/bytes.h"
#include "format/checksum.h"
#include "format/document_sums.h"
#include "libidx/error.h"
#include "libidx/file.h"

#define NAMED_DATABASES 3

/* Meta data: little-endian u64 under names, two of them under the last. */
static const char meta_uuid[] = "uuid";
static const char meta_fingerprints[] = "fingerprints";
static const char meta_documents[] = "documents";
static const char meta_heaviest[] = "heaviest";
#define HEAVIEST_BYTES 16

static void store_big_endian(uint8_t bytes[8], uint64_t number) {
    for (int i = 7; i >= 0; i--, number >>= 8) bytes[i] = (uint8_t)number;
}

void idxi_group_key(uint8_t key[IDXI_GROUP_KEY_BYTES], uint64_t fingerprint, uint64_t value) {
    store_big_endian(key, fingerprint);
    store_big_endian(key + 8, value);
}

void idxi_ids_key(uint8_t key[IDXI_IDS_KEY_BYTES], uint64_t number) { store_big_endian(key, number); }

uint64_t idxi_ids_number(const uint8_t key[IDXI_IDS_KEY_BYTES]) {
    uint64_t number = 0;
    for (int i = 0; i < IDXI_IDS_KEY_BYTES; i++) number = number << 8 | key[i];
    return number;
}

void idxi_heaviest_count(struct idxi_heaviest *heaviest, uint64_t fingerprint) {
    heaviest->run = heaviest->run > 0 && heaviest->last == fingerprint ? heaviest->run + 1 : 1;
    heaviest->last = fingerprint;
    if (heaviest->run <= heaviest->documents) return;
    heaviest->fingerprint = fingerprint;
    heaviest->documents = heaviest->run;
}

/* ---- Writing ---- */

static enum idx_status fail_lmdb(int result, const char *path, const char *action, struct idx_error *error) {
    if (result > 0) return idxi_fail_system(error, result, path, action);
    return idxi_fail(error, IDX_BAD_CONTENT, path, "can't %s: %s", action, mdb_strerror(result));
}

/* A transaction puts at most this much, so that memory stays bounded. */
#define BATCH_BYTES ((size_t)16 << 20)
/* Room that a batch can take in the map, whatever LMDB does with its pages. */
#define BATCH_ROOM ((size_t)256 << 20)

/* LMDB tells of a write that was cut short by EIO, also where the disk is full: trying to write more tells which. */
static enum idx_status fail_write(const struct idxi_map_writer *writer, int result, struct idx_error *error) {
    static const uint8_t page[IDXF_PAGE_SIZE];
    struct stat status;
    mdb_filehandle_t file;
    bool unclear = result == EIO && mdb_env_get_fd(writer->env, &file) == 0 && fstat(file, &status) == 0;
    for (size_t i = 0; i < 256 && unclear; i++) {
        unclear = pwrite(file, page, sizeof page, status.st_size + (off_t)(i * sizeof page)) >= 0;
        if (!unclear) result = errno;
    }
    return fail_lmdb(result, writer->path, "write", error);
}

static enum idx_status begin(struct idxi_map_writer *writer, size_t more, struct idx_error *error) {
    MDB_envinfo info;
    MDB_stat stat;
    mdb_env_info(writer->env, &info);
    mdb_env_stat(writer->env, &stat);
    int result = mdb_env_set_mapsize(writer->env, (info.me_last_pgno + 1) * stat.ms_psize + BATCH_ROOM + 2 * more);
    if (result == 0) result = mdb_txn_begin(writer->env, NULL, 0, &writer->txn);
    writer->batch_bytes = 0;
    return result == 0 ? IDX_OK : fail_lmdb(result, writer->path, "begin a transaction", error);
}

static enum idx_status commit(struct idxi_map_writer *writer, struct idx_error *error) {
    int result = mdb_txn_commit(writer->txn);
    writer->txn = NULL;
    return result == 0 ? IDX_OK : fail_write(writer, result, error);
}

/* Makes an entry with room for a value of `size` bytes, to be filled at once. */
static enum idx_status reserve(struct idxi_map_writer *writer, MDB_dbi database, const void *key, size_t key_size,
                               size_t size, unsigned flags, uint8_t **value, struct idx_error *error) {
    MDB_val name = {key_size, (void *)(uintptr_t)key}, room = {size, NULL};
    size_t taken = key_size + size + 64;
    if (writer->batch_bytes + taken > BATCH_BYTES && writer->batch_bytes > 0) {
        IDXI_TRY(commit(writer, error));
        IDXI_TRY(begin(writer, taken, error));
    }
    writer->batch_bytes += taken;
    int result = mdb_put(writer->txn, database, &name, &room, flags | MDB_RESERVE);
    *value = room.mv_data;
    return result == 0 ? IDX_OK : fail_write(writer, result, error);
}

static int open_databases(struct idxi_map_writer *writer) {
    int result = mdb_dbi_open(writer->txn, "docs", MDB_CREATE, &writer->docs);
    if (result == 0 && writer->id_type == IDX_ID_TEXT)
        result = mdb_dbi_open(writer->txn, "ids", MDB_CREATE, &writer->ids);
    if (result == 0) result = mdb_dbi_open(writer->txn, "meta", MDB_CREATE, &writer->meta);
    return result;
}

enum idx_status idxi_map_writer_open(struct idxi_map_writer *writer, const char *folder_path, enum idx_id_type id_type,
                                     struct idx_error *error) {
    *writer = (struct idxi_map_writer){.id_type = id_type};
    writer->path = idxi_path(folder_path, IDXI_DOCUMENTS_NAME);
    writer->sums_path = idxi_path(folder_path, IDXI_SUMS_NAME);
    writer->fingerprints = malloc(2 * IDXI_WAITING * sizeof *writer->fingerprints);
    writer->group = malloc(2 * IDXI_IDS_BYTES);
    bool enough =
        writer->path != NULL && writer->sums_path != NULL && writer->fingerprints != NULL && writer->group != NULL;
    if (!enough) return idxi_fail_memory(error);
    writer->values = writer->fingerprints + IDXI_WAITING;
    writer->previous = writer->group + IDXI_IDS_BYTES;
    int result = mdb_env_create(&writer->env);
    if (result == 0) result = mdb_env_set_maxdbs(writer->env, NAMED_DATABASES);
    if (result == 0) result = mdb_env_open(writer->env, writer->path, MDB_NOSUBDIR | MDB_NOLOCK | MDB_NOSYNC, 0666);
    if (result != 0) return fail_lmdb(result, writer->path, "create", error);
    IDXI_TRY(begin(writer, 0, error));
    result = open_databases(writer);
    return result == 0 ? IDX_OK : fail_lmdb(result, writer->path, "create", error);
}

/* Writes the IDs that wait. */
static enum idx_status put_ids(struct idxi_map_writer *writer, struct idx_error *error) {
    uint8_t key[IDXI_IDS_KEY_BYTES], *value = NULL;
    if (writer->group_count == 0) return IDX_OK;
    idxi_ids_key(key, writer->last_number);
    IDXI_TRY(reserve(writer, writer->ids, key, sizeof key, writer->group_size, MDB_APPEND, &value, error));
    idxf_ids_put_count(writer->group, writer->group_count);
    memcpy(value, writer->group, writer->group_size);
    writer->group_count = 0;
    return IDX_OK;
}

/* Writes an ID that is too long to stand with others. */
static enum idx_status put_long_id(struct idxi_map_writer *writer, uint64_t number, const void *id, size_t length,
                                   struct idx_error *error) {
    uint8_t key[IDXI_IDS_KEY_BYTES], start[IDXF_ID_HEADER_BYTES], *value = NULL;
    size_t start_size = idxf_ids_put_start(start, 0, length);
    idxi_ids_key(key, number);
    IDXI_TRY(put_ids(writer, error));
    IDXI_TRY(reserve(writer, writer->ids, key, sizeof key, IDXF_IDS_HEADER_BYTES + start_size + length, MDB_APPEND,
                     &value, error));
    idxf_ids_put_count(value, 1);
    memcpy(value + IDXF_IDS_HEADER_BYTES, start, start_size);
    memcpy(value + IDXF_IDS_HEADER_BYTES + start_size, id, length);
    return IDX_OK;
}

/* Puts an ID behind those that wait, where it fits. */
static bool append_id(struct idxi_map_writer *writer, const void *id, size_t length) {
    if (writer->group_count == 0) {
        writer->group_size = IDXF_IDS_HEADER_BYTES;
        writer->previous_length = 0;
    }
    size_t shared = idxf_ids_shared(writer->previous, writer->previous_length, id, length), rest = length - shared;
    if (writer->group_size + IDXF_ID_HEADER_BYTES + rest > IDXI_IDS_BYTES || writer->group_count == IDXF_MAX_IDS)
        return false;
    writer->group_size += idxf_ids_put_start(writer->group + writer->group_size, shared, rest);
    if (rest > 0) {
        memcpy(writer->group + writer->group_size, (const uint8_t *)id + shared, rest);
        memcpy(writer->previous + shared, (const uint8_t *)id + shared, rest);
    }
    writer->group_size += rest;
    writer->group_count++;
    writer->previous_length = length;
    return true;
}

enum idx_status idxi_map_writer_add_id(struct idxi_map_writer *writer, uint64_t number, const void *id, size_t length,
                                       struct idx_error *error) {
    if (length > IDXF_MAX_ID_BYTES)
        return idxi_fail(error, IDX_LIMIT, NULL, "a document ID of %zu bytes: 4 GiB is the limit", length);
    if (length > IDXI_IDS_BYTES - IDXF_IDS_HEADER_BYTES - IDXF_ID_HEADER_BYTES)
        return put_long_id(writer, number, id, length, error);
    if (!append_id(writer, id, length)) {
        IDXI_TRY(put_ids(writer, error));
        append_id(writer, id, length);
    }
    writer->last_number = number;
    return IDX_OK;
}

/* Writes what waits, but for the last `keep` documents or fewer. */
static enum idx_status put_groups(struct idxi_map_writer *writer, size_t keep, struct idx_error *error) {
    uint8_t group[IDXI_GROUP_BYTES], key[IDXI_GROUP_KEY_BYTES], *value = NULL;
    size_t done = 0, size;
    while (writer->waiting - done > keep) {
        done += idxf_group_encode(writer->fingerprints + done, writer->values + done, writer->waiting - done,
                                  sizeof group, group, &size);
        idxi_group_key(key, writer->fingerprints[done - 1], writer->values[done - 1]);
        IDXI_TRY(reserve(writer, writer->docs, key, sizeof key, size, MDB_APPEND, &value, error));
        memcpy(value, group, size);
    }
    writer->waiting -= done;
    memmove(writer->fingerprints, writer->fingerprints + done, writer->waiting * sizeof *writer->fingerprints);
    memmove(writer->values, writer->values + done, writer->waiting * sizeof *writer->values);
    return IDX_OK;
}

enum idx_status idxi_map_writer_add(struct idxi_map_writer *writer, const uint64_t *fingerprints,
                                    const uint64_t *values, size_t count, struct idx_error *error) {
    for (size_t i = 0; i < count; i++) {
        if (writer->waiting == IDXI_WAITING) IDXI_TRY(put_groups(writer, IDXF_MAX_GROUP - 1, error));
        idxi_heaviest_count(&writer->heaviest, fingerprints[i]);
        writer->fingerprints[writer->waiting] = fingerprints[i];
        writer->values[writer->waiting++] = values[i];
    }
    return IDX_OK;
}

static enum idx_status put_meta(struct idxi_map_writer *writer, const char *name, const void *bytes, size_t size,
                                struct idx_error *error) {
    uint8_t *value = NULL;
    IDXI_TRY(reserve(writer, writer->meta, name, strlen(name), size, 0, &value, error));
    memcpy(value, bytes, size);
    return IDX_OK;
}

static enum idx_status put_all_meta(struct idxi_map_writer *writer, const struct idxf_manifest_segment *segment,
                                    struct idx_error *error) {
    uint8_t fingerprints[8], documents[8], heaviest[HEAVIEST_BYTES];
    idxf_store64(fingerprints, segment->fingerprints);
    idxf_store64(documents, segment->documents);
    idxf_store64(heaviest, writer->heaviest.fingerprint);
    idxf_store64(heaviest + 8, writer->heaviest.documents);
    IDXI_TRY(put_meta(writer, meta_uuid, segment->uuid, IDXF_UUID_BYTES, error));
    IDXI_TRY(put_meta(writer, meta_fingerprints, fingerprints, sizeof fingerprints, error));
    IDXI_TRY(put_meta(writer, meta_documents, documents, sizeof documents, error));
    return put_meta(writer, meta_heaviest, heaviest, sizeof heaviest, error);
}

/* The number of bytes read and summed at a time. */
#define STEP_BYTES ((size_t)256 * IDXF_PAGE_SIZE)

static enum idx_status write_checksums(int file, const char *path, uint64_t length, uint8_t *bytes,
                                       struct idxi_page_writer *writer, struct idx_error *error) {
    for (uint64_t offset = 0; offset < length; offset += STEP_BYTES) {
        size_t size = length - offset < STEP_BYTES ? (size_t)(length - offset) : STEP_BYTES;
        IDXI_TRY(idxi_read_at(file, bytes, size, offset, path, error));
        for (size_t done = 0; done < size; done += IDXF_PAGE_SIZE) {
            uint8_t sum[8];
            idxf_store64(sum, idxf_checksum(bytes + done, size - done < IDXF_PAGE_SIZE ? size - done : IDXF_PAGE_SIZE));
            IDXI_TRY(idxi_page_writer_write(writer, sum, sizeof sum, error));
        }
    }
    return IDX_OK;
}

static enum idx_status write_sums(int file, const struct idxi_map_writer *map, int folder,
                                  struct idxi_page_writer *writer, const uint8_t *uuid, uint64_t *size,
                                  struct idx_error *error) {
    struct idxf_document_sums sums;
    uint8_t header[IDXF_DOCUMENT_SUMS_HEADER_BYTES];
    memcpy(sums.uuid, uuid, IDXF_UUID_BYTES);
    IDXI_TRY(idxi_file_size(file, &sums.length, map->path, error));
    IDXI_TRY(idxi_page_writer_open(writer, folder, IDXI_SUMS_NAME, sizeof header, map->sums_path, error));
    uint8_t *bytes = malloc(STEP_BYTES);
    enum idx_status status =
        bytes == NULL ? idxi_fail_memory(error) : write_checksums(file, map->path, sums.length, bytes, writer, error);
    free(bytes);
    if (status != IDX_OK) return status;
    idxf_document_sums_write(&sums, header);
    IDXI_TRY(idxi_page_writer_finish(writer, header, sizeof header, error));
    *size = sums.length + writer->written;
    return IDX_OK;
}

enum idx_status idxi_map_writer_finish(struct idxi_map_writer *writer, int folder,
                                       const struct idxf_manifest_segment *segment, uint64_t *bytes,
                                       struct idx_error *error) {
    IDXI_TRY(put_ids(writer, error));
    IDXI_TRY(put_groups(writer, 0, error));
    IDXI_TRY(put_all_meta(writer, segment, error));
    IDXI_TRY(commit(writer, error));
    int result = mdb_env_sync(writer->env, 1);
    if (result != 0) return fail_lmdb(result, writer->path, "sync", error);
    mdb_env_close(writer->env);
    writer->env = NULL;

    struct idxi_page_writer sums = {.fd = -1};
    int file = openat(folder, IDXI_DOCUMENTS_NAME, O_RDONLY | O_CLOEXEC);
    if (file < 0) return idxi_fail_system(error, errno, writer->path, "open");
    enum idx_status status = write_sums(file, writer, folder, &sums, segment->uuid, bytes, error);
    idxi_page_writer_close(&sums);
    close(file);
    return status;
}

void idxi_map_writer_close(struct idxi_map_writer *writer) {
    if (writer->txn != NULL) mdb_txn_abort(writer->txn);
    if (writer->env != NULL) mdb_env_close(writer->env);
    free(writer->path);
    free(writer->sums_path);
    free(writer->fingerprints);
    free(writer->group);
    *writer = (struct idxi_map_writer){0};
}

/* ---- Reading ---- */

static enum idx_status open_file(int folder, const char *name, const char *path, int *file, uint64_t *size,
                                 struct idx_error *error) {
    *file = openat(folder, name, IDXI_OPEN_FILE);
    if (*file >= 0) return idxi_file_size(*file, size, path, error);
    if (errno != ENOENT) return idxi_fail_system(error, errno, path, "open");
    return idxi_fail(error, IDX_MISSING_FILE, path,
                     "is missing: the index is damaged; rebuild it, or restore it from a copy");
}

static enum idx_status check_sums(const struct idxi_map *map, int sums_file, uint64_t sums_size, uint64_t length,
                                  const char *sums_path, struct idx_error *error) {
    struct idxf_document_sums sums;
    uint8_t header[IDXF_DOCUMENT_SUMS_HEADER_BYTES] = {0};
    uint32_t version;
    size_t got = sums_size < sizeof header ? (size_t)sums_size : sizeof header;
    IDXI_TRY(idxi_read_at(sums_file, header, got, 0, sums_path, error));
    enum idxf_fault fault = idxf_document_sums_read(&sums, header, sums_size, &version);
    if (fault == IDXF_FAULT_VERSION) return idxi_fail_version(error, version, sums_path);
    if (fault != IDXF_OK) return idxi_fail_fault(error, fault, sums_path, 0);
    if (memcmp(sums.uuid, map->segment.uuid, IDXF_UUID_BYTES) != 0) return idxi_fail_foreign(error, sums_path);
    if (length != sums.length)
        return idxi_fail(error, IDX_WRONG_SIZE, map->path,
                         "has %llu bytes where docs.sum says %llu: the file is damaged, or of another index",
                         (unsigned long long)length, (unsigned long long)sums.length);
    return IDX_OK;
}

/* The two files, open while the map is opened. */
struct files {
    int documents, sums;
    char *sums_path;
};

static enum idx_status open_map(struct idxi_map *map, int folder, struct files *files, bool skip_checks,
                                struct idx_error *error) {
    uint64_t length, sums_length;
    IDXI_TRY(open_file(folder, IDXI_DOCUMENTS_NAME, map->path, &files->documents, &length, error));
    IDXI_TRY(open_file(folder, IDXI_SUMS_NAME, files->sums_path, &files->sums, &sums_length, error));
    IDXI_TRY(check_sums(map, files->sums, sums_length, length, files->sums_path, error));
    map->bytes = length + sums_length;
    return idxi_pages_open(&map->pages, files->documents, length, files->sums, sums_length, skip_checks, map->path,
                           error);
}

enum idx_status idxi_map_open(struct idxi_map *map, int folder, const char *folder_path,
                              const struct idxf_manifest_segment *segment, enum idx_id_type id_type, bool skip_checks,
                              struct idx_error *error) {
    struct files files = {-1, -1, idxi_path(folder_path, IDXI_SUMS_NAME)};
    *map = (struct idxi_map){.segment = *segment, .id_type = id_type};
    pthread_mutex_init(&map->mutex, NULL);
    map->path = idxi_path(folder_path, IDXI_DOCUMENTS_NAME);
    enum idx_status status = map->path == NULL || files.sums_path == NULL
                                 ? idxi_fail_memory(error)
                                 : open_map(map, folder, &files, skip_checks, error);
    if (files.documents >= 0) close(files.documents);
    if (files.sums >= 0) close(files.sums);
    free(files.sums_path);
    return status;
}

/* Finds what the map says of itself under a name. */
static enum idx_status find_meta(const struct idxi_map *map, uint64_t meta, const char *name,
                                 struct idxi_page_cursor *cursor, struct idx_error *error) {
    IDXI_TRY(idxi_pages_seek(&map->pages, meta, name, strlen(name), cursor, error));
    if (cursor->found && cursor->key_size == strlen(name) && memcmp(cursor->key, name, cursor->key_size) == 0)
        return IDX_OK;
    return idxi_fail(error, IDX_BAD_CONTENT, map->path, "does not say its %s: the index is damaged; rebuild it", name);
}

static enum idx_status check_meta(const struct idxi_map *map, uint64_t meta, const char *name, const void *expected,
                                  size_t size, struct idx_error *error) {
    struct idxi_page_cursor cursor;
    IDXI_TRY(find_meta(map, meta, name, &cursor, error));
    if (cursor.value_size == size && memcmp(cursor.value, expected, size) == 0) return IDX_OK;
    if (name == meta_uuid) return idxi_fail_foreign(error, map->path);
    return idxi_fail_fault(error, IDXF_FAULT_COUNT, map->path, 0);
}

static enum idx_status check_all_meta(const struct idxi_map *map, uint64_t meta, struct idx_error *error) {
    uint8_t fingerprints[8], documents[8];
    idxf_store64(fingerprints, map->segment.fingerprints);
    idxf_store64(documents, map->segment.documents);
    IDXI_TRY(check_meta(map, meta, meta_uuid, map->segment.uuid, IDXF_UUID_BYTES, error));
    IDXI_TRY(check_meta(map, meta, meta_fingerprints, fingerprints, sizeof fingerprints, error));
    return check_meta(map, meta, meta_documents, documents, sizeof documents, error);
}

static enum idx_status read_heaviest(struct idxi_map *map, uint64_t meta, struct idx_error *error) {
    struct idxi_page_cursor cursor;
    IDXI_TRY(find_meta(map, meta, meta_heaviest, &cursor, error));
    if (cursor.value_size != HEAVIEST_BYTES) return idxi_fail_fault(error, IDXF_FAULT_SIZE, map->path, 0);
    map->heaviest_fingerprint = idxf_load64(cursor.value);
    map->heaviest_documents = idxf_load64(cursor.value + 8);
    return IDX_OK;
}

static enum idx_status make_ready(struct idxi_map *map, struct idx_error *error) {
    uint64_t meta;
    IDXI_TRY(idxi_pages_find_root(&map->pages, "docs", &map->docs_root, error));
    if (map->id_type == IDX_ID_TEXT) IDXI_TRY(idxi_pages_find_root(&map->pages, "ids", &map->ids_root, error));
    IDXI_TRY(idxi_pages_find_root(&map->pages, "meta", &meta, error));
    IDXI_TRY(check_all_meta(map, meta, error));
    return read_heaviest(map, meta, error);
}

enum idx_status idxi_map_prepare(struct idxi_map *map, struct idx_error *error) {
    if (atomic_load_explicit(&map->ready, memory_order_acquire)) return IDX_OK;
    enum idx_status status = IDX_OK;
    pthread_mutex_lock(&map->mutex);
    if (!atomic_load_explicit(&map->ready, memory_order_relaxed)) {
        status = make_ready(map, error);
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

enum idx_status idxi_map_fail(const struct idxi_map *map, const struct idxi_page_cursor *cursor, enum idxf_fault fault,
                              struct idx_error *error) {
    return idxi_fail_fault(error, fault, map->path, (uint64_t)(cursor->value - map->pages.map));
}

enum idx_status idxi_map_open_group(const struct idxi_map *map, const struct idxi_page_cursor *cursor,
                                    struct idxf_group *group, struct idx_error *error) {
    enum idxf_fault fault = cursor->key_size == IDXI_GROUP_KEY_BYTES
                                ? idxf_group_open(group, cursor->value, cursor->value_size)
                                : IDXF_FAULT_SIZE;
    return fault == IDXF_OK ? IDX_OK : idxi_map_fail(map, cursor, fault, error);
}

/* ---- Reading all ---- */

/* Pages are dropped after as many bytes of groups. */
#define DROPPED_BYTES ((size_t)8 << 20)

static void drop_sometimes(const struct idxi_map *map, size_t *undropped, size_t size) {
    *undropped += size;
    if (*undropped < DROPPED_BYTES) return;
    idxi_pages_drop(&map->pages);
    *undropped = 0;
}

/* Goes to the next group, and decodes its fingerprints; to none, a count of 0, at the end. */
static enum idx_status next_group(struct idxi_map_stream *stream, struct idx_error *error) {
    const struct idxi_map *map = stream->map;
    struct idxi_page_cursor *cursor = &stream->cursor;
    IDXI_TRY(stream->begun ? idxi_pages_next(cursor, error)
                           : idxi_pages_seek(&map->pages, map->docs_root, NULL, 0, cursor, error));
    stream->begun = true;
    stream->given = 0;
    stream->group.count = 0;
    if (cursor->found) {
        IDXI_TRY(idxi_map_open_group(map, cursor, &stream->group, error));
        enum idxf_fault fault = idxf_group_fingerprints(&stream->group, stream->fingerprints);
        if (fault != IDXF_OK) return idxi_map_fail(map, cursor, fault, error);
        drop_sometimes(map, &stream->undropped, cursor->value_size);
    }
    stream->documents += stream->group.count;
    bool agrees =
        stream->documents == map->segment.documents || (cursor->found && stream->documents < map->segment.documents);
    return agrees ? IDX_OK : idxi_fail_fault(error, IDXF_FAULT_COUNT, map->path, 0);
}

static enum idx_status read_map(struct idxi_stream *base, uint64_t *fingerprints, uint64_t *values, size_t capacity,
                                size_t *count, struct idx_error *error) {
    struct idxi_map_stream *stream = (struct idxi_map_stream *)base;
    *count = 0;
    if (stream->begun && !stream->cursor.found) return IDX_OK;
    if (stream->given == stream->group.count) IDXI_TRY(next_group(stream, error));
    size_t left = stream->group.count - stream->given, made = left < capacity ? left : capacity;
    memcpy(fingerprints, stream->fingerprints + stream->given, made * sizeof *fingerprints);
    idxf_group_values(&stream->group, stream->given, made, values);
    for (size_t i = 0; i < made; i++) values[i] += stream->offset;
    stream->given += made;
    *count = made;
    return IDX_OK;
}

static enum idx_status rewind_map(struct idxi_stream *base, struct idx_error *error) {
    struct idxi_map_stream *stream = (struct idxi_map_stream *)base;
    (void)error;
    stream->begun = false;
    stream->given = 0;
    stream->group.count = 0;
    stream->documents = 0;
    return IDX_OK;
}

void idxi_map_stream_init(struct idxi_map_stream *stream, const struct idxi_map *map, uint64_t offset) {
    stream->stream = (struct idxi_stream){read_map, rewind_map};
    stream->map = map;
    stream->offset = offset;
    stream->undropped = 0;
    rewind_map(&stream->stream, NULL);
}

/* Visits the IDs of a group, from document number *number on. `id` has as many bytes as the group. */
static enum idx_status visit_group(const struct idxi_map *map, const struct idxi_page_cursor *cursor, uint8_t *id,
                                   uint64_t *number, idxi_id_visitor visit, void *context, struct idx_error *error) {
    struct idxf_ids ids;
    enum idxf_fault fault = idxf_ids_open(&ids, cursor->value, cursor->value_size);
    if (fault != IDXF_OK) return idxi_map_fail(map, cursor, fault, error);
    if (cursor->key_size != IDXI_IDS_KEY_BYTES || ids.count > map->segment.documents - *number ||
        idxi_ids_number(cursor->key) != *number + ids.count - 1)
        return idxi_map_fail(map, cursor, IDXF_FAULT_COUNT, error);
    while (ids.left > 0) {
        fault = idxf_ids_next(&ids, id);
        if (fault != IDXF_OK) return idxi_map_fail(map, cursor, fault, error);
        IDXI_TRY(visit(context, (*number)++, id, ids.length, error));
    }
    return IDX_OK;
}

enum idx_status idxi_map_reserve_id(uint8_t **id, size_t *capacity, size_t size, struct idx_error *error) {
    if (size <= *capacity) return IDX_OK;
    free(*id);
    *id = malloc(size);
    *capacity = *id == NULL ? 0 : size;
    return *id == NULL ? idxi_fail_memory(error) : IDX_OK;
}

enum idx_status idxi_map_visit_ids(const struct idxi_map *map, idxi_id_visitor visit, void *context,
                                   struct idx_error *error) {
    struct idxi_page_cursor cursor;
    uint8_t *id = NULL;
    uint64_t number = 0;
    size_t capacity = 0, undropped = 0;
    enum idx_status status = idxi_pages_seek(&map->pages, map->ids_root, NULL, 0, &cursor, error);
    while (status == IDX_OK && cursor.found) {
        status = idxi_map_reserve_id(&id, &capacity, cursor.value_size, error);
        if (status == IDX_OK) status = visit_group(map, &cursor, id, &number, visit, context, error);
        drop_sometimes(map, &undropped, cursor.value_size);
        if (status == IDX_OK) status = idxi_pages_next(&cursor, error);
    }
    free(id);
    if (status == IDX_OK && number != map->segment.documents)
        return idxi_fail_fault(error, IDXF_FAULT_COUNT, map->path, 0);
    return status;
}
