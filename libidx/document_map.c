/* document_map.c: writes and opens docs.mdb and docs.sum. */
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
#define DOCS_FLAGS (MDB_INTEGERKEY | MDB_DUPSORT | MDB_DUPFIXED | MDB_INTEGERDUP)
#define IDS_FLAGS MDB_INTEGERKEY

/* Meta data: little-endian u64 under names, two of them under the last. */
static const char meta_uuid[] = "uuid";
static const char meta_fingerprints[] = "fingerprints";
static const char meta_documents[] = "documents";
static const char meta_heaviest[] = "heaviest";
#define HEAVIEST_BYTES 16

static enum idx_status fail_lmdb(int result, const char *path, const char *action, struct idx_error *error) {
    if (result > 0) return idxi_fail_system(error, result, path, action);
    return idxi_fail(error, IDX_BAD_CONTENT, path, "can't %s: %s", action, mdb_strerror(result));
}

void idxi_heaviest_count(struct idxi_heaviest *heaviest, uint64_t fingerprint) {
    heaviest->run = heaviest->run > 0 && heaviest->last == fingerprint ? heaviest->run + 1 : 1;
    heaviest->last = fingerprint;
    if (heaviest->run <= heaviest->documents) return;
    heaviest->fingerprint = fingerprint;
    heaviest->documents = heaviest->run;
}

/* ---- Writing ---- */

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

static enum idx_status put(struct idxi_map_writer *writer, MDB_dbi database, MDB_val key, MDB_val value, unsigned flags,
                           struct idx_error *error) {
    size_t size = key.mv_size + value.mv_size + 64;
    if (writer->batch_bytes + size > BATCH_BYTES && writer->batch_bytes > 0) {
        IDXI_TRY(commit(writer, error));
        IDXI_TRY(begin(writer, size, error));
    }
    writer->batch_bytes += size;
    int result = mdb_put(writer->txn, database, &key, &value, flags);
    return result == 0 ? IDX_OK : fail_write(writer, result, error);
}

static int open_databases(struct idxi_map_writer *writer) {
    int result = mdb_dbi_open(writer->txn, "docs", MDB_CREATE | DOCS_FLAGS, &writer->docs);
    if (result == 0 && writer->id_type == IDX_ID_TEXT)
        result = mdb_dbi_open(writer->txn, "ids", MDB_CREATE | IDS_FLAGS, &writer->ids);
    if (result == 0) result = mdb_dbi_open(writer->txn, "meta", MDB_CREATE, &writer->meta);
    return result;
}

enum idx_status idxi_map_writer_open(struct idxi_map_writer *writer, const char *folder_path, enum idx_id_type id_type,
                                     struct idx_error *error) {
    *writer = (struct idxi_map_writer){.id_type = id_type};
    writer->path = idxi_path(folder_path, IDXI_DOCUMENTS_NAME);
    if (writer->path == NULL) return idxi_fail_memory(error);
    int result = mdb_env_create(&writer->env);
    if (result == 0) result = mdb_env_set_maxdbs(writer->env, NAMED_DATABASES);
    if (result == 0) result = mdb_env_open(writer->env, writer->path, MDB_NOSUBDIR | MDB_NOLOCK | MDB_NOSYNC, 0666);
    if (result != 0) return fail_lmdb(result, writer->path, "create", error);
    IDXI_TRY(begin(writer, 0, error));
    result = open_databases(writer);
    return result == 0 ? IDX_OK : fail_lmdb(result, writer->path, "create", error);
}

enum idx_status idxi_map_writer_add_id(struct idxi_map_writer *writer, uint64_t number, const void *id, size_t length,
                                       struct idx_error *error) {
    size_t key = (size_t)number;
    if (length >= UINT32_MAX)
        return idxi_fail(error, IDX_LIMIT, NULL, "a document ID of %zu bytes: 4 GiB is the limit", length);
    if (length > BATCH_BYTES && writer->batch_bytes > 0) {
        IDXI_TRY(commit(writer, error));
        IDXI_TRY(begin(writer, length, error));
    }
    return put(writer, writer->ids, (MDB_val){sizeof key, &key}, (MDB_val){length, (void *)(uintptr_t)id}, MDB_APPEND,
               error);
}

enum idx_status idxi_map_writer_add(struct idxi_map_writer *writer, uint64_t fingerprint, uint64_t value,
                                    struct idx_error *error) {
    size_t key = (size_t)fingerprint, data = (size_t)value;
    idxi_heaviest_count(&writer->heaviest, fingerprint);
    return put(writer, writer->docs, (MDB_val){sizeof key, &key}, (MDB_val){sizeof data, &data},
               writer->heaviest.run > 1 ? MDB_APPENDDUP : MDB_APPEND, error);
}

static enum idx_status put_meta(struct idxi_map_writer *writer, const char *name, const void *bytes, size_t size,
                                struct idx_error *error) {
    MDB_val key = {strlen(name), (void *)(uintptr_t)name};
    return put(writer, writer->meta, key, (MDB_val){size, (void *)(uintptr_t)bytes}, 0, error);
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

static enum idx_status write_sums(int file, const char *path, int folder, struct idxi_page_writer *writer,
                                  const uint8_t *uuid, uint64_t *size, struct idx_error *error) {
    struct idxf_document_sums sums;
    uint8_t header[IDXF_DOCUMENT_SUMS_HEADER_BYTES];
    memcpy(sums.uuid, uuid, IDXF_UUID_BYTES);
    IDXI_TRY(idxi_file_size(file, &sums.length, path, error));
    IDXI_TRY(idxi_page_writer_open(writer, folder, IDXI_SUMS_NAME, sizeof header, IDXI_SUMS_NAME, error));
    uint8_t *bytes = malloc(STEP_BYTES);
    enum idx_status status =
        bytes == NULL ? idxi_fail_memory(error) : write_checksums(file, path, sums.length, bytes, writer, error);
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
    IDXI_TRY(put_all_meta(writer, segment, error));
    IDXI_TRY(commit(writer, error));
    int result = mdb_env_sync(writer->env, 1);
    if (result != 0) return fail_lmdb(result, writer->path, "sync", error);
    mdb_env_close(writer->env);
    writer->env = NULL;

    struct idxi_page_writer sums = {.fd = -1};
    int file = openat(folder, IDXI_DOCUMENTS_NAME, O_RDONLY | O_CLOEXEC);
    if (file < 0) return idxi_fail_system(error, errno, writer->path, "open");
    enum idx_status status = write_sums(file, writer->path, folder, &sums, segment->uuid, bytes, error);
    idxi_page_writer_close(&sums);
    close(file);
    return status;
}

void idxi_map_writer_close(struct idxi_map_writer *writer) {
    if (writer->txn != NULL) mdb_txn_abort(writer->txn);
    if (writer->env != NULL) mdb_env_close(writer->env);
    free(writer->path);
    *writer = (struct idxi_map_writer){0};
}

/* ---- Reading ---- */

enum idx_status idxi_map_fail(const struct idxi_map *map, int result, struct idx_error *error) {
    return fail_lmdb(result, map->path, "read", error);
}

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

/* LMDB takes a path: whether it opened the file that the folder's descriptor leads to. */
static bool is_same_file(const struct idxi_map *map, int file) {
    struct stat ours, theirs;
    mdb_filehandle_t handle;
    return mdb_env_get_fd(map->env, &handle) == 0 && fstat(handle, &theirs) == 0 && fstat(file, &ours) == 0 &&
           ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino;
}

static enum idx_status open_environment(struct idxi_map *map, int file, struct idx_error *error) {
    int result = mdb_env_create(&map->env);
    if (result == 0) result = mdb_env_set_maxdbs(map->env, NAMED_DATABASES);
    if (result == 0)
        result =
            mdb_env_open(map->env, map->path, MDB_RDONLY | MDB_NOLOCK | MDB_NOSUBDIR | MDB_NOTLS | MDB_NORDAHEAD, 0);
    if (result == ENOENT || (result == 0 && !is_same_file(map, file)))
        return idxi_fail(error, IDX_FOREIGN_FILE, map->path, "is another file than a moment ago");
    return result == 0 ? IDX_OK : fail_lmdb(result, map->path, "open", error);
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
    IDXI_TRY(idxi_pages_open(&map->pages, files->documents, length, files->sums, sums_length, skip_checks, map->path,
                             error));
    return open_environment(map, files->documents, error);
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

static enum idx_status check_meta(const struct idxi_map *map, MDB_txn *txn, MDB_dbi meta, const char *name,
                                  const void *expected, size_t size, struct idx_error *error) {
    MDB_val key = {strlen(name), (void *)(uintptr_t)name}, value;
    int result = mdb_get(txn, meta, &key, &value);
    if (result != 0) return idxi_map_fail(map, result, error);
    if (value.mv_size == size && memcmp(value.mv_data, expected, size) == 0) return IDX_OK;
    if (name == meta_uuid) return idxi_fail_foreign(error, map->path);
    return idxi_fail_fault(error, IDXF_FAULT_COUNT, map->path, 0);
}

static enum idx_status check_all_meta(const struct idxi_map *map, MDB_txn *txn, MDB_dbi meta, struct idx_error *error) {
    uint8_t fingerprints[8], documents[8];
    idxf_store64(fingerprints, map->segment.fingerprints);
    idxf_store64(documents, map->segment.documents);
    IDXI_TRY(check_meta(map, txn, meta, meta_uuid, map->segment.uuid, IDXF_UUID_BYTES, error));
    IDXI_TRY(check_meta(map, txn, meta, meta_fingerprints, fingerprints, sizeof fingerprints, error));
    return check_meta(map, txn, meta, meta_documents, documents, sizeof documents, error);
}

static enum idx_status read_heaviest(struct idxi_map *map, MDB_txn *txn, MDB_dbi meta, struct idx_error *error) {
    MDB_val key = {strlen(meta_heaviest), (void *)(uintptr_t)meta_heaviest}, value;
    int result = mdb_get(txn, meta, &key, &value);
    if (result != 0) return idxi_map_fail(map, result, error);
    if (value.mv_size != HEAVIEST_BYTES) return idxi_fail_fault(error, IDXF_FAULT_SIZE, map->path, 0);
    map->heaviest_fingerprint = idxf_load64(value.mv_data);
    map->heaviest_documents = idxf_load64((const uint8_t *)value.mv_data + 8);
    return IDX_OK;
}

static enum idx_status open_maps(struct idxi_map *map, MDB_txn *txn, struct idx_error *error) {
    MDB_dbi meta;
    unsigned flags = 0;
    int result = mdb_dbi_open(txn, "docs", 0, &map->docs);
    if (result == 0) result = mdb_dbi_flags(txn, map->docs, &flags);
    if (result == 0 && flags != DOCS_FLAGS) result = MDB_INCOMPATIBLE;
    if (result == 0 && map->id_type == IDX_ID_TEXT) result = mdb_dbi_open(txn, "ids", 0, &map->ids);
    if (result == 0 && map->id_type == IDX_ID_TEXT) result = mdb_dbi_flags(txn, map->ids, &flags);
    if (result == 0 && map->id_type == IDX_ID_TEXT && flags != IDS_FLAGS) result = MDB_INCOMPATIBLE;
    if (result == 0) result = mdb_dbi_open(txn, "meta", 0, &meta);
    if (result != 0) return idxi_map_fail(map, result, error);
    IDXI_TRY(check_all_meta(map, txn, meta, error));
    return read_heaviest(map, txn, meta, error);
}

/* Finds the roots and checks the few pages that opening the databases takes. */
static enum idx_status check_databases(struct idxi_map *map, struct idx_error *error) {
    uint64_t meta_root;
    IDXI_TRY(idxi_pages_check_main(&map->pages, error));
    IDXI_TRY(idxi_pages_find_root(&map->pages, "docs", &map->docs_root, error));
    if (map->id_type == IDX_ID_TEXT) IDXI_TRY(idxi_pages_find_root(&map->pages, "ids", &map->ids_root, error));
    IDXI_TRY(idxi_pages_find_root(&map->pages, "meta", &meta_root, error));
    return idxi_pages_check_tree(&map->pages, meta_root, error);
}

static enum idx_status make_ready(struct idxi_map *map, struct idx_error *error) {
    MDB_txn *txn;
    IDXI_TRY(check_databases(map, error));
    int result = mdb_txn_begin(map->env, NULL, MDB_RDONLY, &txn);
    if (result != 0) return idxi_map_fail(map, result, error);
    enum idx_status status = open_maps(map, txn, error);
    /* Committing keeps the handles that the transaction opened. */
    result = mdb_txn_commit(txn);
    if (status == IDX_OK && result != 0) status = idxi_map_fail(map, result, error);
    return status;
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
    if (map->env != NULL) mdb_env_close(map->env);
    idxi_pages_close(&map->pages);
    free(map->path);
    pthread_mutex_destroy(&map->mutex);
}
