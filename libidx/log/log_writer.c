/* log_writer.c: has LMDB write the log: transactions, room in the map, and what goes wrong with them. */
#include "libidx/log/log_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/bytes.h"
#include "libidx/base/error.h"
#include "libidx/base/file.h"
#include "libidx/lmdb/lmdb_error.h"
#include "libidx/log/log_reader.h"

#define NAMED_DATABASES 2

/* Room in the map beyond the file, at first, in bytes. */
#define MAP_ROOM ((size_t)16 << 20)

/* A new log stands under this name until it is whole. */
#define NEW_NAME IDXI_LOG_NAME ".new"

/* LMDB's own, beside the log. */
#define LMDB_LOCK_NAME IDXI_LOG_NAME "-lock"

/* A log of more bytes than these, all of whose records are in segments, is not worth to be kept: LMDB gives no page
 * back. */
#define LARGE_BYTES ((off_t)1 << 20)

/* Records that a transaction deletes at most, so that its pages fit into memory. */
#define DELETED_AT_ONCE 100000

struct idxi_log_writer {
    struct idxf_record_rules rules;
    MDB_env *env; /* NULL where opening the log that took another's place failed: the next call tries again */
    MDB_dbi log;
    int folder; /* descriptor */
    char *folder_path, *path;
    uint64_t last;   /* the newest record, or what is in the segments */
    uint64_t newest; /* record in the log; 0 while there is none */
};

/* ---- Making ---- */

static int put_meta(MDB_txn *txn, MDB_dbi meta, const char *name, const void *value, size_t size) {
    MDB_val key = {strlen(name), (void *)(uintptr_t)name}, data = {size, (void *)(uintptr_t)value};
    return mdb_put(txn, meta, &key, &data, 0);
}

static int put_first_content(MDB_txn *txn, const struct idxf_record_rules *rules, MDB_dbi *log) {
    MDB_dbi meta;
    uint8_t version[4];
    idxf_store32(version, IDXF_VERSION);
    int result = mdb_dbi_open(txn, "log", MDB_CREATE, log);
    if (result == 0) result = mdb_dbi_open(txn, "meta", MDB_CREATE, &meta);
    if (result == 0) result = put_meta(txn, meta, "uuid", rules->uuid, IDXF_UUID_BYTES);
    return result == 0 ? put_meta(txn, meta, "version", version, sizeof version) : result;
}

/* Puts the newest record of the log that is open into another one. */
static int copy_newest(const struct idxi_log_writer *writer, MDB_txn *txn, MDB_dbi log) {
    MDB_txn *from;
    uint8_t bytes[IDXF_RECORD_KEY_BYTES];
    MDB_val key = {sizeof bytes, bytes}, value;
    idxf_record_key(bytes, writer->newest);
    int result = mdb_txn_begin(writer->env, NULL, 0, &from);
    if (result != 0) return result;
    result = mdb_get(from, writer->log, &key, &value);
    if (result == 0) result = mdb_put(txn, log, &key, &value, 0);
    mdb_txn_abort(from);
    return result;
}

/* Makes a log at a path: an empty one, or where there is a log, one of its newest record. */
static int make_log(const struct idxi_log_writer *writer, const char *path) {
    MDB_env *env;
    MDB_dbi log;
    MDB_txn *txn = NULL;
    int result = mdb_env_create(&env);
    if (result != 0) return result;
    result = mdb_env_set_maxdbs(env, NAMED_DATABASES);
    if (result == 0) result = mdb_env_set_mapsize(env, IDXF_MAX_RECORD_ID_BYTES + MAP_ROOM);
    if (result == 0) result = mdb_env_open(env, path, MDB_NOSUBDIR | MDB_NOLOCK, 0666);
    bool open = result == 0;
    if (result == 0) result = mdb_txn_begin(env, NULL, 0, &txn);
    if (result == 0) result = put_first_content(txn, &writer->rules, &log);
    if (result == 0 && writer->env != NULL) result = copy_newest(writer, txn, log);
    if (result == 0)
        result = mdb_txn_commit(txn);
    else if (txn != NULL)
        mdb_txn_abort(txn);
    if (open) result = idxi_lmdb_write_error(env, result);
    mdb_env_close(env);
    return result;
}

static void close_environment(struct idxi_log_writer *writer) {
    if (writer->env != NULL) mdb_env_close(writer->env);
    writer->env = NULL;
}

/* Makes a log, which nobody sees before it is whole; it takes the place of the one that is open, if any. LMDB's lock
 * file counts that one's transactions, so it goes, too, and goes first. */
static enum idx_status create(struct idxi_log_writer *writer, struct idx_error *error) {
    char *path = idxi_path(writer->folder_path, NEW_NAME);
    if (path == NULL) return idxi_fail_memory(error);
    int result = make_log(writer, path);
    free(path);
    if (result == 0) {
        close_environment(writer);
        unlinkat(writer->folder, LMDB_LOCK_NAME, 0);
        if (renameat(writer->folder, NEW_NAME, writer->folder, IDXI_LOG_NAME) != 0) result = errno;
    }
    if (result == 0) return IDX_OK;
    unlinkat(writer->folder, NEW_NAME, 0);
    return idxi_fail_lmdb(error, result, writer->path, "create");
}

/* ---- Opening ---- */

/* LMDB goes by the path, where another index may have come to stand. */
static enum idx_status compare_files(const struct idxi_log_writer *writer, const struct stat *ours,
                                     const struct stat *theirs, struct idx_error *error) {
    if (ours->st_dev == theirs->st_dev && ours->st_ino == theirs->st_ino) return IDX_OK;
    return idxi_fail(error, IDX_FOREIGN_FILE, writer->path, "is that of an index which took this one's place: open it");
}

/* Before LMDB opens what is at the path, and makes it where there is nothing. */
static enum idx_status check_path(const struct idxi_log_writer *writer, const struct stat *ours,
                                  struct idx_error *error) {
    struct stat theirs = {0};
    if (stat(writer->path, &theirs) != 0 && errno != ENOENT)
        return idxi_fail_system(error, errno, writer->path, "stat");
    return compare_files(writer, ours, &theirs, error);
}

/* Afterwards, what it opened. */
static enum idx_status check_same(const struct idxi_log_writer *writer, struct idx_error *error) {
    struct stat ours, theirs;
    mdb_filehandle_t file;
    if (mdb_env_get_fd(writer->env, &file) != 0 || fstat(file, &ours) != 0 ||
        fstatat(writer->folder, IDXI_LOG_NAME, &theirs, 0) != 0)
        return idxi_fail_system(error, errno, writer->path, "stat");
    return compare_files(writer, &ours, &theirs, error);
}

static int open_database(struct idxi_log_writer *writer) {
    MDB_txn *txn;
    int result = mdb_txn_begin(writer->env, NULL, 0, &txn);
    if (result != 0) return result;
    result = mdb_dbi_open(txn, "log", 0, &writer->log);
    if (result == 0) return mdb_txn_commit(txn);
    mdb_txn_abort(txn);
    return result;
}

static enum idx_status find_file(const struct idxi_log_writer *writer, struct stat *file, struct idx_error *error) {
    if (fstatat(writer->folder, IDXI_LOG_NAME, file, 0) == 0) return IDX_OK;
    return idxi_fail_system(error, errno, writer->path, "stat");
}

static enum idx_status open_file(struct idxi_log_writer *writer, struct idx_error *error) {
    struct stat file = {0};
    IDXI_TRY(find_file(writer, &file, error));
    IDXI_TRY(check_path(writer, &file, error));
    int result = mdb_env_create(&writer->env);
    if (result == 0) result = mdb_env_set_maxdbs(writer->env, NAMED_DATABASES);
    if (result == 0) result = mdb_env_set_mapsize(writer->env, (size_t)file.st_size + MAP_ROOM);
    if (result == 0) result = mdb_env_open(writer->env, writer->path, MDB_NOSUBDIR, 0666);
    if (result == 0) result = open_database(writer);
    return result == 0 ? check_same(writer, error) : idxi_fail_lmdb(error, result, writer->path, "open");
}

/* Opens the log where it is not. The disk must know that it stands there before anything comes into it. */
static enum idx_status open_environment(struct idxi_log_writer *writer, struct idx_error *error) {
    if (writer->env != NULL) return IDX_OK;
    IDXI_TRY(idxi_sync_folder(writer->folder, writer->folder_path, error));
    enum idx_status status = open_file(writer, error);
    if (status != IDX_OK) close_environment(writer);
    return status;
}

/* Finds out which record is the last, by a reader, which trusts nothing. */
static enum idx_status find_bounds(const struct idxi_log_writer *writer, bool *exists, uint64_t *first, uint64_t *last,
                                   struct idx_error *error) {
    struct idxi_log *log;
    IDXI_TRY(idxi_log_open(&log, writer->folder, writer->folder_path, &writer->rules, error));
    enum idx_status status = idxi_log_check(log, exists, first, last, error);
    idxi_log_close(log);
    return status;
}

/* Deletes what is in segments. That may wait, but for records that all are: no gap may come behind them. */
static enum idx_status trim(struct idxi_log_writer *writer, uint64_t first, uint64_t sequence,
                            struct idx_error *error) {
    if (writer->newest == 0 || first > sequence) return IDX_OK;
    if (writer->newest < sequence) return idxi_log_delete(writer, sequence, error);
    idxi_log_delete(writer, sequence, NULL);
    return open_environment(writer, error);
}

static enum idx_status open_writer(struct idxi_log_writer *writer, struct idx_error *error) {
    uint64_t first, last, sequence = writer->last;
    bool exists;
    unlinkat(writer->folder, NEW_NAME, 0); /* of one who was killed */
    IDXI_TRY(find_bounds(writer, &exists, &first, &last, error));
    if (!exists) IDXI_TRY(create(writer, error));
    if (first > sequence + 1)
        return idxi_fail(error, IDX_BAD_CONTENT, writer->path,
                         "begins with record number %llu, where the segments have those up to %llu: records are "
                         "missing; restore the index from a copy",
                         (unsigned long long)first, (unsigned long long)sequence);
    IDXI_TRY(open_environment(writer, error));
    writer->newest = last;
    if (last > sequence) writer->last = last;
    return trim(writer, first, sequence, error);
}

enum idx_status idxi_log_writer_open(struct idxi_log_writer **result, int folder, const char *folder_path,
                                     const struct idxf_record_rules *rules, uint64_t sequence,
                                     struct idx_error *error) {
    struct idxi_log_writer *writer = calloc(1, sizeof *writer);
    if (writer == NULL) return idxi_fail_memory(error);
    writer->rules = *rules;
    writer->last = sequence;
    writer->folder_path = strdup(folder_path);
    writer->path = idxi_path(folder_path, IDXI_LOG_NAME);
    writer->folder = fcntl(folder, F_DUPFD_CLOEXEC, 0);
    enum idx_status status;
    if (writer->folder_path == NULL || writer->path == NULL)
        status = idxi_fail_memory(error);
    else if (writer->folder < 0)
        status = idxi_fail_system(error, errno, folder_path, "open");
    else
        status = open_writer(writer, error);
    if (status == IDX_OK)
        *result = writer;
    else
        idxi_log_writer_close(writer);
    return status;
}

void idxi_log_writer_close(struct idxi_log_writer *writer) {
    if (writer == NULL) return;
    close_environment(writer);
    if (writer->folder >= 0) close(writer->folder);
    free(writer->folder_path);
    free(writer->path);
    free(writer);
}

uint64_t idxi_log_writer_last(const struct idxi_log_writer *writer) { return writer->last; }

/* ---- Transactions ---- */

/* What a transaction does, with what it needs; returns what LMDB says. */
typedef int work_of_transaction(const struct idxi_log_writer *writer, MDB_txn *txn, void *context);

static int run_once(struct idxi_log_writer *writer, work_of_transaction *work, void *context) {
    MDB_txn *txn;
    int result = mdb_txn_begin(writer->env, NULL, 0, &txn);
    if (result != 0) return result;
    result = work(writer, txn, context);
    if (result == 0) return mdb_txn_commit(txn);
    mdb_txn_abort(txn);
    return result;
}

static int grow_map(struct idxi_log_writer *writer) {
    MDB_envinfo info;
    int result = mdb_env_info(writer->env, &info);
    return result == 0 ? mdb_env_set_mapsize(writer->env, 2 * info.me_mapsize) : result;
}

/* Runs a transaction, in a map that is large enough. */
static enum idx_status run(struct idxi_log_writer *writer, work_of_transaction *work, void *context, const char *action,
                           struct idx_error *error) {
    IDXI_TRY(open_environment(writer, error));
    for (;;) {
        int result = run_once(writer, work, context);
        if (result == 0) return IDX_OK;
        if (result == MDB_MAP_FULL) result = grow_map(writer);
        if (result != 0) return idxi_fail_lmdb_write(error, writer->env, result, writer->path, action);
    }
}

struct batch {
    const struct idxf_record *records;
    size_t count;
};

static int put_records(const struct idxi_log_writer *writer, MDB_txn *txn, void *context) {
    const struct batch *batch = context;
    for (size_t i = 0; i < batch->count; i++) {
        const struct idxf_record *record = &batch->records[i];
        uint64_t sequence = writer->last + 1 + i;
        uint8_t bytes[IDXF_RECORD_KEY_BYTES];
        idxf_record_key(bytes, sequence);
        MDB_val key = {sizeof bytes, bytes}, value = {idxf_record_size(record), NULL};
        int result = mdb_put(txn, writer->log, &key, &value, MDB_APPEND | MDB_RESERVE);
        if (result != 0) return result;
        idxf_record_write(&writer->rules, sequence, record, value.mv_data);
    }
    return 0;
}

enum idx_status idxi_log_append(struct idxi_log_writer *writer, const struct idxf_record *records, size_t count,
                                struct idx_error *error) {
    struct batch batch = {records, count};
    if (count == 0) return IDX_OK;
    if (count > IDXF_MAX_SEQUENCE - writer->last)
        return idxi_fail(error, IDX_LIMIT, writer->path, "has no sequence numbers left: build the index again");
    for (size_t i = 0; i < count; i++) {
        enum idxf_fault fault = idxf_record_check(&writer->rules, &records[i]);
        if (fault == IDXF_OK) continue;
        return idxi_fail(error, IDX_INVALID_ARGUMENT, writer->path, "can't have record %zu of a batch, which %s", i + 1,
                         idxf_fault_sentence(fault));
    }
    IDXI_TRY(run(writer, put_records, &batch, "write", error));
    writer->last += count;
    writer->newest = writer->last;
    return IDX_OK;
}

/* ---- Deleting ---- */

struct deletion {
    uint64_t sequence; /* the last one to be deleted */
    bool done;
};

static int delete_at(MDB_cursor *cursor, struct deletion *deletion) {
    MDB_val key, value;
    for (size_t i = 0; i < DELETED_AT_ONCE; i++) {
        int result = mdb_cursor_get(cursor, &key, &value, MDB_FIRST);
        deletion->done = result == MDB_NOTFOUND || (result == 0 && key.mv_size == IDXF_RECORD_KEY_BYTES &&
                                                    idxf_record_sequence(key.mv_data) > deletion->sequence);
        if (deletion->done) return 0;
        if (result == 0) result = mdb_cursor_del(cursor, 0);
        if (result != 0) return result;
    }
    return 0;
}

static int delete_records(const struct idxi_log_writer *writer, MDB_txn *txn, void *context) {
    struct deletion *deletion = context;
    MDB_cursor *cursor;
    if (deletion->sequence >= writer->newest) {
        deletion->done = true;
        return mdb_drop(txn, writer->log, 0);
    }
    int result = mdb_cursor_open(txn, writer->log, &cursor);
    if (result != 0) return result;
    result = delete_at(cursor, deletion);
    mdb_cursor_close(cursor);
    return result;
}

/* Makes a log of the newest record alone take the place of the one that is open. */
static enum idx_status replace(struct idxi_log_writer *writer, struct idx_error *error) {
    IDXI_TRY(create(writer, error));
    return open_environment(writer, error);
}

enum idx_status idxi_log_delete(struct idxi_log_writer *writer, uint64_t sequence, struct idx_error *error) {
    struct deletion deletion = {.sequence = sequence};
    if (sequence == writer->newest && sequence > 0) { /* that one shows how far numbers have come */
        struct stat file = {0};
        IDXI_TRY(open_environment(writer, error));
        IDXI_TRY(find_file(writer, &file, error));
        if (file.st_size > LARGE_BYTES) return replace(writer, error);
        deletion.sequence--;
    }
    while (!deletion.done) IDXI_TRY(run(writer, delete_records, &deletion, "delete records from", error));
    return IDX_OK;
}
