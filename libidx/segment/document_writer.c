/* document_writer.c: packs IDs and documents into groups, which LMDB writes. */
#include "libidx/segment/document_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/bytes.h"
#include "format/checksum.h"
#include "format/document_sums.h"
#include "format/limits.h"
#include "libidx/base/base.h"

/* ---- Errors of LMDB ---- */

/* Fails after a call of LMDB that returned `result`. The sentence is `path: can't <action>: <reason>`. */
static enum idx_status fail_lmdb_call(struct idx_error *error, int result, const char *path, const char *action) {
    if (result > 0) return idxi_fail_system(error, result, path, action);
    return idxi_fail(error, result == MDB_PANIC ? IDX_IO_ERROR : IDX_BAD_CONTENT, path, "can't %s: %s", action,
                     mdb_strerror(result));
}

#define TRIED_PAGES 256 /* written behind the end of a file, to find out whether the disk is full */

/* Tries to write TRIED_PAGES pages behind the end of the file of an open environment. Returns the errno of the first
 * write that fails, such as ENOSPC, or EIO if none does. */
static int find_write_errno(MDB_env *env) {
    static const uint8_t page[IDXF_PAGE_SIZE];
    struct stat status;
    mdb_filehandle_t file;
    if (mdb_env_get_fd(env, &file) != 0 || fstat(file, &status) != 0) return EIO;
    for (size_t i = 0; i < TRIED_PAGES; i++) {
        if (pwrite(file, page, sizeof page, status.st_size + (off_t)(i * sizeof page)) < 0) return errno;
    }
    return EIO;
}

/* Fails after a call of LMDB that returned `result` and may have written. LMDB returns EIO for a write that was cut
 * short: then this fails with IDX_DISK_FULL if the disk is full now, else with a sentence that names both causes. */
static enum idx_status fail_lmdb_write(struct idx_error *error, MDB_env *env, int result, const char *path) {
    if (result == EIO) result = find_write_errno(env);
    return fail_lmdb_call(
        error, result, path,
        result != EIO ? "write" : "write (the disk was full for a moment, or it fails: make room, and try again)");
}

/* ---- Writing ---- */

#define NAMED_DATABASES 3

#define ENTRY_OVERHEAD 64 /* about as many bytes as an entry takes at most, besides its key and value */

#define BATCH_BYTES ((size_t)16 << 20)   /* the most that a transaction writes, so that memory stays bounded */
#define BATCH_GROWTH ((size_t)256 << 20) /* by which the map may grow with a batch, whatever LMDB does with pages */

/* Begins a transaction. First lets the map grow by a batch and by the next entry, which has `next_bytes` bytes
 * (0: it is not known yet) and may be larger than a batch. */
static enum idx_status begin_transaction(struct idxi_map_writer *writer, size_t next_bytes, struct idx_error *error) {
    MDB_envinfo info;
    MDB_stat stat;
    mdb_env_info(writer->env, &info);
    mdb_env_stat(writer->env, &stat);
    int result =
        mdb_env_set_mapsize(writer->env, (info.me_last_pgno + 1) * stat.ms_psize + BATCH_GROWTH + 2 * next_bytes);
    if (result == 0) result = mdb_txn_begin(writer->env, NULL, 0, &writer->txn);
    writer->batch_bytes = 0;
    return result == 0 ? IDX_OK : fail_lmdb_call(error, result, writer->path, "begin a transaction");
}

enum idx_status idxi_map_writer_check_process(const struct idxi_map_writer *writer, struct idx_error *error) {
    if (writer->process == getpid()) return IDX_OK;
    return idxi_fail(
        error, IDX_INVALID_ARGUMENT, NULL,
        "this builder was opened by process %ld, and can't be used in a process forked from it: close it here",
        (long)writer->process);
}

/* Commits the transaction, after which there is none. Fails with IDX_INVALID_ARGUMENT in a forked process, because the
 * files are its parent's. */
static enum idx_status commit_transaction(struct idxi_map_writer *writer, struct idx_error *error) {
    IDXI_TRY(idxi_map_writer_check_process(writer, error));
    int result = mdb_txn_commit(writer->txn);
    writer->txn = NULL;
    return result == 0 ? IDX_OK : fail_lmdb_write(error, writer->env, result, writer->path);
}

/* Makes an entry of a database. Sets *value to where the caller writes the entry's value, `value_size` bytes, before
 * the next call. `flags` are those of mdb_put. Commits a full transaction first, and begins another one. */
static enum idx_status reserve_entry(struct idxi_map_writer *writer, MDB_dbi database, const void *key, size_t key_size,
                                     size_t value_size, unsigned flags, uint8_t **value, struct idx_error *error) {
    MDB_val mdb_key = {key_size, (void *)(uintptr_t)key}, mdb_value = {value_size, NULL};
    size_t entry_bytes = key_size + value_size + ENTRY_OVERHEAD;
    if (writer->batch_bytes + entry_bytes > BATCH_BYTES && writer->batch_bytes > 0) {
        IDXI_TRY(commit_transaction(writer, error));
        IDXI_TRY(begin_transaction(writer, entry_bytes, error));
    }
    writer->batch_bytes += entry_bytes;
    int result = mdb_put(writer->txn, database, &mdb_key, &mdb_value, flags | MDB_RESERVE);
    *value = mdb_value.mv_data;
    return result == 0 ? IDX_OK : fail_lmdb_write(error, writer->env, result, writer->path);
}

/* Writes the entry `name` of the database `meta`, with a value of `size` bytes. */
static enum idx_status write_meta_entry(struct idxi_map_writer *writer, const char *name, const void *bytes,
                                        size_t size, struct idx_error *error) {
    uint8_t *value = NULL;
    IDXI_TRY(reserve_entry(writer, writer->meta, name, strlen(name), size, 0, &value, error));
    memcpy(value, bytes, size);
    return IDX_OK;
}

#define LENGTH_BYTES 4 /* of an ID's length, which is before each ID that waits for the dictionary */

struct idxi_id_packer {
    /* The first IDs, each behind its length, while they wait for the dictionary. */
    uint8_t *sampled;
    size_t sampled_bytes, sampled_count;
    bool has_dictionary;
    uint8_t dictionary[IDXF_MAX_DICTIONARY_BYTES];
    struct idxf_pieces pieces;
    /* The group to which IDs are being added. */
    uint8_t group[IDXI_IDS_BYTES];
    size_t group_size, group_count;
    uint8_t previous[IDXI_IDS_BYTES]; /* the ID that came last in the group, or its first bytes */
    size_t previous_length;
    uint64_t last_number;
    uint8_t *packed; /* an ID, packed; room for idxf_ids_get_max_bytes(IDXF_MAX_PIECED_BYTES) bytes and a header */
};

/* Frees a packer. Accepts NULL. */
static void free_id_packer(struct idxi_id_packer *packer) {
    if (packer == NULL) return;
    free(packer->sampled);
    free(packer->packed);
    free(packer);
}

/* Returns a packer without IDs, which the caller frees by free_id_packer, or NULL if memory runs out. */
static struct idxi_id_packer *make_id_packer(void) {
    struct idxi_id_packer *packer = calloc(1, sizeof *packer);
    if (packer == NULL) return NULL;
    packer->sampled = malloc(IDXI_MAX_SAMPLED_BYTES);
    packer->packed = malloc(IDXF_IDS_HEADER_BYTES + idxf_ids_get_max_bytes(IDXF_MAX_PIECED_BYTES));
    if (packer->sampled != NULL && packer->packed != NULL) return packer;
    free_id_packer(packer);
    return NULL;
}

/* Creates the databases `docs` and `meta`, and for text IDs `ids`. Returns 0, or the error of LMDB. */
static int create_databases(struct idxi_map_writer *writer) {
    int result = mdb_dbi_open(writer->txn, "docs", MDB_CREATE, &writer->docs);
    if (result == 0 && writer->id_type == IDX_ID_TEXT)
        result = mdb_dbi_open(writer->txn, "ids", MDB_CREATE, &writer->ids);
    if (result == 0) result = mdb_dbi_open(writer->txn, "meta", MDB_CREATE, &writer->meta);
    return result;
}

/* Makes and opens writer->env. Returns 0, or the error of LMDB. LMDB fails with EINTR if a signal interrupts it. The
 * environment can't be opened again then, so another one is made. */
static int create_environment(struct idxi_map_writer *writer) {
    for (;;) {
        int result = mdb_env_create(&writer->env);
        if (result == 0) result = mdb_env_set_maxdbs(writer->env, NAMED_DATABASES);
        if (result == 0) result = mdb_env_open(writer->env, writer->path, MDB_NOSUBDIR | MDB_NOLOCK | MDB_NOSYNC, 0666);
        if (result != EINTR) return result;
        mdb_env_close(writer->env);
        writer->env = NULL;
    }
}

enum idx_status idxi_map_writer_open(struct idxi_map_writer *writer, enum idxi_map_kind kind, const char *folder_path,
                                     enum idx_id_type id_type, struct idx_error *error) {
    *writer = (struct idxi_map_writer){.kind = kind, .id_type = id_type, .process = getpid()};
    writer->path = idxi_join_path(folder_path, idxi_get_map_name(kind));
    writer->sums_path = idxi_join_path(folder_path, idxi_get_sums_name(kind));
    writer->fingerprints = malloc(2 * IDXI_MAX_WAITING * sizeof *writer->fingerprints);
    if (id_type == IDX_ID_TEXT) writer->packer = make_id_packer();
    if (writer->path == NULL || writer->sums_path == NULL || writer->fingerprints == NULL ||
        (id_type == IDX_ID_TEXT && writer->packer == NULL))
        return idxi_fail_memory(error);
    writer->values = writer->fingerprints + IDXI_MAX_WAITING;
    int result = create_environment(writer);
    if (result != 0) return fail_lmdb_call(error, result, writer->path, "create");
    IDXI_TRY(begin_transaction(writer, 0, error));
    result = create_databases(writer);
    return result == 0 ? IDX_OK : fail_lmdb_call(error, result, writer->path, "create");
}

/* ---- IDs ---- */

/* Makes the entry of a group of IDs, `size` bytes, whose last document number is `last_number`. Sets *value to where
 * the caller writes the group. */
static enum idx_status reserve_ids_entry(struct idxi_map_writer *writer, uint64_t last_number, size_t size,
                                         uint8_t **value, struct idx_error *error) {
    uint8_t key[IDXI_IDS_KEY_BYTES];
    idxi_make_ids_key(key, last_number);
    return reserve_entry(writer, writer->ids, key, sizeof key, size, MDB_APPEND, value, error);
}

/* Writes the group to which IDs were added, unless it is empty, and empties it. */
static enum idx_status write_id_group(struct idxi_map_writer *writer, struct idx_error *error) {
    struct idxi_id_packer *packer = writer->packer;
    uint8_t *value = NULL;
    if (packer->group_count == 0) return IDX_OK;
    IDXI_TRY(reserve_ids_entry(writer, packer->last_number, packer->group_size, &value, error));
    idxf_ids_write_count(packer->group, packer->group_count);
    memcpy(value, packer->group, packer->group_size);
    packer->group_count = 0;
    return IDX_OK;
}

/* Writes the group to which IDs were added, and then a group of a single ID, that of document `number`: `packed_size`
 * bytes at `packed`, followed by `plain_size` bytes at `plain`, as they are. */
static enum idx_status write_id_alone(struct idxi_map_writer *writer, uint64_t number, const uint8_t *packed,
                                      size_t packed_size, const void *plain, size_t plain_size,
                                      struct idx_error *error) {
    uint8_t *value = NULL;
    IDXI_TRY(write_id_group(writer, error));
    IDXI_TRY(reserve_ids_entry(writer, number, IDXF_IDS_HEADER_BYTES + packed_size + plain_size, &value, error));
    idxf_ids_write_count(value, 1);
    memcpy(value + IDXF_IDS_HEADER_BYTES, packed, packed_size);
    if (plain_size > 0) memcpy(value + IDXF_IDS_HEADER_BYTES + packed_size, plain, plain_size);
    return IDX_OK;
}

/* Packs an ID of `length` bytes, the next one of the group, to packer->packed. Leaves out what it shares with the ID
 * before it in the group, if there is one. Returns the size of the packed ID in bytes. */
static size_t pack_id(struct idxi_id_packer *packer, const void *id, size_t length) {
    size_t previous_length = packer->group_count == 0 ? 0 : packer->previous_length;
    return idxf_ids_encode_id(&packer->pieces, packer->previous, previous_length, id, length, packer->packed);
}

/* Adds the ID of document `number` to the group. A full group is written first, and the ID begins a new one. An ID that
 * is too long for any group is written alone. */
static enum idx_status add_id_to_group(struct idxi_map_writer *writer, uint64_t number, const void *id, size_t length,
                                       struct idx_error *error) {
    struct idxi_id_packer *packer = writer->packer;
    uint8_t head[IDXF_PLAIN_BYTES];
    if (length > IDXF_MAX_PIECED_BYTES)
        return write_id_alone(writer, number, head, idxf_ids_write_plain_head(length, head), id, length, error);
    size_t packed_size = pack_id(packer, id, length);
    bool fits = packer->group_count > 0 && packer->group_count < IDXF_MAX_IDS &&
                packer->group_size + packed_size <= IDXI_IDS_BYTES;
    if (!fits) {
        IDXI_TRY(write_id_group(writer, error));
        packed_size = pack_id(packer, id, length); /* which now shares no bytes with the ID before */
        packer->group_size = IDXF_IDS_HEADER_BYTES;
    }
    if (packer->group_size + packed_size > IDXI_IDS_BYTES)
        return write_id_alone(writer, number, packer->packed, packed_size, NULL, 0, error);
    memcpy(packer->group + packer->group_size, packer->packed, packed_size);
    packer->group_size += packed_size;
    packer->group_count++;
    packer->last_number = number;
    packer->previous_length = length < sizeof packer->previous ? length : sizeof packer->previous;
    if (length > 0) memcpy(packer->previous, id, packer->previous_length);
    return IDX_OK;
}

/* Makes packer->dictionary: the IDs that wait, one after the other. If they don't fit, it takes every second, third and
 * so on. Returns the size of the dictionary in bytes. */
static size_t make_dictionary(struct idxi_id_packer *packer) {
    size_t stride = packer->sampled_bytes / sizeof packer->dictionary + 1, size = 0, position = 0;
    for (size_t i = 0; i < packer->sampled_count; i++) {
        size_t length = idxf_load32(packer->sampled + position);
        size_t free_bytes = sizeof packer->dictionary - size, copied = length < free_bytes ? length : free_bytes;
        if (i % stride == 0) {
            memcpy(packer->dictionary + size, packer->sampled + position + LENGTH_BYTES, copied);
            size += copied;
        }
        position += LENGTH_BYTES + length;
    }
    return size;
}

/* Makes and writes the dictionary. Then adds the IDs that waited for it to groups, and frees their copies. */
static enum idx_status write_dictionary_and_ids(struct idxi_map_writer *writer, struct idx_error *error) {
    struct idxi_id_packer *packer = writer->packer;
    size_t size = make_dictionary(packer), position = 0;
    packer->has_dictionary = true;
    idxf_pieces_init(&packer->pieces, packer->dictionary, size);
    IDXI_TRY(write_meta_entry(writer, IDXI_META_DICTIONARY, packer->dictionary, size, error));
    for (size_t number = 0; number < packer->sampled_count; number++) {
        size_t length = idxf_load32(packer->sampled + position);
        IDXI_TRY(add_id_to_group(writer, number, packer->sampled + position + LENGTH_BYTES, length, error));
        position += LENGTH_BYTES + length;
    }
    free(packer->sampled);
    packer->sampled = NULL;
    return IDX_OK;
}

/* Copies an ID of `length` bytes to those that wait for the dictionary. Returns false, and copies nothing, if the
 * dictionary exists, or must be made now because there is no room for the ID. */
static bool keep_id_for_dictionary(struct idxi_id_packer *packer, const void *id, size_t length) {
    if (packer->has_dictionary || packer->sampled_bytes + LENGTH_BYTES + length > IDXI_MAX_SAMPLED_BYTES) return false;
    idxf_store32(packer->sampled + packer->sampled_bytes, (uint32_t)length);
    if (length > 0) memcpy(packer->sampled + packer->sampled_bytes + LENGTH_BYTES, id, length);
    packer->sampled_bytes += LENGTH_BYTES + length;
    packer->sampled_count++;
    return true;
}

enum idx_status idxi_map_writer_add_id(struct idxi_map_writer *writer, uint64_t number, const void *id, size_t length,
                                       struct idx_error *error) {
    if (keep_id_for_dictionary(writer->packer, id, length)) return IDX_OK;
    if (!writer->packer->has_dictionary) IDXI_TRY(write_dictionary_and_ids(writer, error));
    return add_id_to_group(writer, number, id, length, error);
}

/* Writes the IDs that are not in the map yet: those that wait for the dictionary, and the last group. Does nothing
 * without text IDs. */
static enum idx_status write_waiting_ids(struct idxi_map_writer *writer, struct idx_error *error) {
    if (writer->packer == NULL) return IDX_OK;
    if (!writer->packer->has_dictionary) IDXI_TRY(write_dictionary_and_ids(writer, error));
    return write_id_group(writer, error);
}

/* ---- Documents ---- */

/* Writes the first documents that wait in groups, until at most `max_left` are left. A group is as large as fits into
 * IDXI_GROUP_BYTES, so a caller with more documents to come leaves enough for a full one. */
static enum idx_status write_document_groups(struct idxi_map_writer *writer, size_t max_left, struct idx_error *error) {
    uint8_t group[IDXI_GROUP_BYTES], key[IDXI_GROUP_KEY_BYTES], *value = NULL;
    size_t done = 0, size;
    while (writer->waiting_count - done > max_left) {
        done += idxf_group_encode(writer->fingerprints + done, writer->values + done, writer->waiting_count - done,
                                  sizeof group, group, &size);
        idxi_make_group_key(key, writer->fingerprints[done - 1], writer->values[done - 1]);
        IDXI_TRY(reserve_entry(writer, writer->docs, key, sizeof key, size, MDB_APPEND, &value, error));
        memcpy(value, group, size);
    }
    writer->waiting_count -= done;
    memmove(writer->fingerprints, writer->fingerprints + done, writer->waiting_count * sizeof *writer->fingerprints);
    memmove(writer->values, writer->values + done, writer->waiting_count * sizeof *writer->values);
    return IDX_OK;
}

enum idx_status idxi_map_writer_add_documents(struct idxi_map_writer *writer, const uint64_t *fingerprints,
                                              const uint64_t *values, size_t count, struct idx_error *error) {
    for (size_t i = 0; i < count; i++) {
        if (writer->waiting_count == IDXI_MAX_WAITING)
            IDXI_TRY(write_document_groups(writer, IDXF_MAX_GROUP_ENTRIES - 1, error));
        idxi_heaviest_add_document(&writer->heaviest, fingerprints[i]);
        writer->fingerprints[writer->waiting_count] = fingerprints[i];
        writer->values[writer->waiting_count++] = values[i];
    }
    return IDX_OK;
}

/* Writes the meta data that readers compare with the manifest, and the fingerprint with the most documents. */
static enum idx_status write_uuid_and_counts(struct idxi_map_writer *writer,
                                             const struct idxf_manifest_segment *segment, struct idx_error *error) {
    uint8_t fingerprints[8], documents[8], heaviest[IDXI_HEAVIEST_BYTES];
    idxf_store64(fingerprints, segment->fingerprints);
    idxf_store64(documents, segment->documents);
    idxf_store64(heaviest, writer->heaviest.fingerprint);
    idxf_store64(heaviest + 8, writer->heaviest.documents);
    IDXI_TRY(write_meta_entry(writer, IDXI_META_UUID, segment->uuid, IDXF_UUID_BYTES, error));
    IDXI_TRY(write_meta_entry(writer, IDXI_META_FINGERPRINTS, fingerprints, sizeof fingerprints, error));
    IDXI_TRY(write_meta_entry(writer, IDXI_META_DOCUMENTS, documents, sizeof documents, error));
    return write_meta_entry(writer, IDXI_META_HEAVIEST, heaviest, sizeof heaviest, error);
}

#define STEP_BYTES ((size_t)256 * IDXF_PAGE_SIZE) /* so many are read at a time to compute their checksums */

/* Appends the checksums of the map's pages to `writer`. `file` is the map, of `length` bytes, and `path` is for
 * messages. `buffer` is scratch of STEP_BYTES. */
static enum idx_status write_checksums(int file, const char *path, uint64_t length, uint8_t *buffer,
                                       struct idxi_page_writer *writer, struct idx_error *error) {
    for (uint64_t offset = 0; offset < length; offset += STEP_BYTES) {
        size_t size = (size_t)idxi_min(length - offset, STEP_BYTES);
        IDXI_TRY(idxi_read_at(file, buffer, size, offset, path, error));
        for (size_t done = 0; done < size; done += IDXF_PAGE_SIZE) {
            uint8_t sum[8];
            idxf_store64(sum, idxf_checksum(buffer + done, (size_t)idxi_min(size - done, IDXF_PAGE_SIZE)));
            IDXI_TRY(idxi_page_writer_write(writer, sum, sizeof sum, error));
        }
    }
    return IDX_OK;
}

/* Writes the file of checksums of a map, which is open as `file`, into `folder`, and syncs it. Sets *total_bytes to the
 * bytes of both files together. Opens `pages`, which the caller closes, also after an error. */
static enum idx_status write_sums_file(int file, const struct idxi_map_writer *map, int folder,
                                       struct idxi_page_writer *pages, const uint8_t *uuid, uint64_t *total_bytes,
                                       struct idx_error *error) {
    struct idxf_document_sums sums = {.extra = 0};
    uint8_t header[IDXF_DOCUMENT_SUMS_HEADER_BYTES];
    memcpy(sums.uuid, uuid, IDXF_UUID_BYTES);
    IDXI_TRY(idxi_get_file_size(file, &sums.length, map->path, error));
    IDXI_TRY(idxi_page_writer_open(pages, folder, idxi_get_sums_name(map->kind), sizeof header, map->sums_path, error));
    uint8_t *buffer = malloc(STEP_BYTES);
    enum idx_status status =
        buffer == NULL ? idxi_fail_memory(error) : write_checksums(file, map->path, sums.length, buffer, pages, error);
    free(buffer);
    if (status != IDX_OK) return status;
    idxf_document_sums_header_write(&sums, header);
    IDXI_TRY(idxi_page_writer_finish(pages, header, sizeof header, error));
    *total_bytes = sums.length + pages->written;
    return IDX_OK;
}

enum idx_status idxi_map_writer_finish(struct idxi_map_writer *writer, int folder,
                                       const struct idxf_manifest_segment *segment, uint64_t *total_bytes,
                                       struct idx_error *error) {
    IDXI_TRY(write_waiting_ids(writer, error));
    IDXI_TRY(write_document_groups(writer, 0, error));
    IDXI_TRY(write_uuid_and_counts(writer, segment, error));
    IDXI_TRY(commit_transaction(writer, error));
    int result = mdb_env_sync(writer->env, 1);
    if (result != 0) return fail_lmdb_call(error, result, writer->path, "sync");
    mdb_env_close(writer->env);
    writer->env = NULL;

    struct idxi_page_writer sums = {.fd = -1};
    int file = openat(folder, idxi_get_map_name(writer->kind), O_RDONLY | O_CLOEXEC);
    if (file < 0) return idxi_fail_system(error, errno, writer->path, "open");
    enum idx_status status = write_sums_file(file, writer, folder, &sums, segment->uuid, total_bytes, error);
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
    free_id_packer(writer->packer);
    *writer = (struct idxi_map_writer){0};
}
