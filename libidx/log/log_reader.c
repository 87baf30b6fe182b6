/* log_reader.c: reads the log while a writer may be at it. LMDB writes over the pages that a transaction needed once
 * two more have been committed; what was read until then is as it was. Where they were faster, reading begins again. */
#include "libidx/log/log_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/bytes.h"
#include "libidx/base/error.h"
#include "libidx/base/file.h"

/* ---- Pages ---- */

/* A level's buffer, of at least `size` bytes. */
static enum idx_status get_buffer(struct idxi_log *log, unsigned level, size_t size, uint8_t **buffer,
                                  struct idx_error *error) {
    if (log->capacities[level] < size) {
        free(log->levels[level]);
        log->levels[level] = malloc(size);
        log->capacities[level] = log->levels[level] == NULL ? 0 : size;
        if (log->levels[level] == NULL) return idxi_fail_memory(error);
    }
    *buffer = log->levels[level];
    return IDX_OK;
}

static enum idx_status fetch(const struct idxi_pages *pages, uint64_t number, uint64_t count, unsigned level,
                             const uint8_t **page, struct idx_error *error) {
    static const uint64_t most = IDXF_MAX_RECORD_ID_BYTES + 65536;
    uint8_t *buffer = NULL;
    if (count > most / pages->page_size + 1 || number > INT64_MAX / pages->page_size - count)
        return idxi_fail(error, IDX_BAD_CONTENT, pages->path,
                         "is no sound LMDB file: restore it from a copy, or rebuild the index");
    size_t size = (size_t)(count * pages->page_size);
    struct idxi_log *log = pages->context;
    IDXI_TRY(get_buffer(log, level, size, &buffer, error));
    *page = buffer;
    log->fetched = true;
    return idxi_read_at(log->file, buffer, size, number * pages->page_size, pages->path, error);
}

/* Reads the meta page that counts. It is read twice, as the writer may be about to write it. */
static enum idx_status read_meta(struct idxi_log *log, struct idxi_meta *newest, struct idx_error *error) {
    uint8_t first[2][IDXI_META_BYTES], again[2][IDXI_META_BYTES];
    struct idxi_meta second;
    IDXI_TRY(idxi_read_at(log->file, first[0], sizeof *first, 0, log->path, error));
    IDXI_TRY(idxi_meta_read(newest, first[0], log->path, error));
    uint64_t place = newest->page_size;
    IDXI_TRY(idxi_read_at(log->file, first[1], sizeof *first, place, log->path, error));
    for (;;) {
        IDXI_TRY(idxi_read_at(log->file, again[0], sizeof *again, 0, log->path, error));
        IDXI_TRY(idxi_read_at(log->file, again[1], sizeof *again, place, log->path, error));
        if (memcmp(first, again, sizeof first) == 0) break;
        memcpy(first, again, sizeof first);
    }
    IDXI_TRY(idxi_meta_read(newest, first[0], log->path, error));
    IDXI_TRY(idxi_meta_read(&second, first[1], log->path, error));
    bool is_pair = newest->transaction % 2 == 0 && newest->transaction - second.transaction + 1 <= 2;
    if (newest->page_size != place || second.page_size != place || !is_pair)
        return idxi_fail(error, IDX_BAD_CONTENT, log->path,
                         "has meta pages that don't agree: restore it from a copy, or rebuild the index");
    if (newest->transaction < second.transaction) *newest = second;
    return IDX_OK;
}

/* Whether all that was read is still of the transaction that was begun. */
static enum idx_status check_stands(struct idxi_log *log, bool *stands, struct idx_error *error) {
    struct idxi_meta newest;
    log->fetched = false;
    IDXI_TRY(read_meta(log, &newest, error));
    *stands = newest.transaction <= log->meta.transaction + 1;
    return IDX_OK;
}

/* ---- What the log says of itself ---- */

static enum idx_status find_meta(struct idxi_log *log, uint64_t root, const char *name, size_t size,
                                 struct idxi_page_cursor *cursor, struct idx_error *error) {
    IDXI_TRY(idxi_pages_seek(&log->pages, root, name, strlen(name), cursor, error));
    if (cursor->found && cursor->key_size == strlen(name) && memcmp(cursor->key, name, cursor->key_size) == 0 &&
        cursor->value_size == size)
        return IDX_OK;
    return idxi_fail(error, IDX_BAD_CONTENT, log->path,
                     "does not say its %s: it is damaged; restore it from a copy, or rebuild the index", name);
}

static enum idx_status check_meta_data(struct idxi_log *log, struct idx_error *error) {
    struct idxi_page_cursor cursor;
    uint64_t root;
    IDXI_TRY(idxi_pages_find_root(&log->pages, "meta", &root, error));
    IDXI_TRY(find_meta(log, root, "version", sizeof(uint32_t), &cursor, error));
    uint32_t version = idxf_load32(cursor.value);
    if (version != IDXF_VERSION) return idxi_fail_version(error, version, log->path);
    IDXI_TRY(find_meta(log, root, "uuid", IDXF_UUID_BYTES, &cursor, error));
    if (memcmp(cursor.value, log->rules.uuid, IDXF_UUID_BYTES) != 0) return idxi_fail_foreign(error, log->path);
    return IDX_OK;
}

/* ---- Transactions ---- */

/* What idxi_log_read is doing. */
struct reading {
    struct idxi_log *log;
    idxi_record_visitor visit;
    void *context;
    uint64_t position; /* the last record visited */
    uint64_t target;   /* the last one of the transaction, once it is known */
    bool has_target;
    uint64_t transaction; /* that one */
    bool gone;
    bool stopped; /* by the visitor */
};

static enum idx_status check_key(const struct idxi_log *log, const struct idxi_page_cursor *cursor, uint64_t *sequence,
                                 struct idx_error *error) {
    *sequence = cursor->key_size == IDXF_RECORD_KEY_BYTES ? idxf_record_sequence(cursor->key) : 0;
    if (*sequence != 0 && *sequence <= IDXF_MAX_SEQUENCE) return IDX_OK;
    return idxi_fail(error, IDX_BAD_CONTENT, log->path,
                     "has a record without a number: it is damaged; restore it from a copy, or rebuild the index");
}

/* Begins with the newest transaction, and finds its records. */
static enum idx_status begin(struct idxi_log *log, struct idx_error *error) {
    log->pages.page_size = log->meta.page_size;
    log->pages.main_root = log->meta.main.root;
    if (!log->known) IDXI_TRY(check_meta_data(log, error));
    return idxi_pages_find_database(&log->pages, "log", &log->records, error);
}

/* Finds the first and the last record, both 0 where there is none, between which all others must be. */
static enum idx_status find_bounds(struct idxi_log *log, uint64_t *first, uint64_t *last, struct idx_error *error) {
    struct idxi_page_cursor cursor;
    *first = *last = 0;
    IDXI_TRY(idxi_pages_seek(&log->pages, log->records.root, "", 0, &cursor, error));
    if (cursor.found) IDXI_TRY(check_key(log, &cursor, first, error));
    IDXI_TRY(idxi_pages_last(&log->pages, log->records.root, &cursor, error));
    if (cursor.found) IDXI_TRY(check_key(log, &cursor, last, error));
    if (log->records.entries == (cursor.found ? *last - *first + 1 : 0)) return IDX_OK;
    return idxi_fail(error, IDX_BAD_CONTENT, log->path,
                     "has not as many records as it says: restore it from a copy, or rebuild the index");
}

static enum idx_status fail_gap(const struct idxi_log *log, uint64_t after, struct idx_error *error) {
    return idxi_fail(error, IDX_BAD_CONTENT, log->path,
                     "lacks the record behind number %llu: it is damaged; restore it from a copy, or rebuild the index",
                     (unsigned long long)after);
}

/* Visits the record at the cursor, which is to be the next one. */
static enum idx_status visit_record(struct reading *reading, const struct idxi_page_cursor *cursor,
                                    struct idx_error *error) {
    struct idxi_log *log = reading->log;
    struct idxf_record record;
    uint64_t sequence;
    IDXI_TRY(check_key(log, cursor, &sequence, error));
    if (sequence != reading->position + 1) return fail_gap(log, reading->position, error);
    enum idxf_fault fault = idxf_record_read(&log->rules, sequence, &record, cursor->value, cursor->value_size);
    if (fault != IDXF_OK)
        return idxi_fail(error, idxi_fault_status(fault), log->path,
                         "has record number %llu, which %s: restore the file from a copy, or rebuild the index",
                         (unsigned long long)sequence, idxf_fault_sentence(fault));
    enum idx_status status = reading->visit(reading->context, sequence, &record, error);
    reading->stopped = status != IDX_OK;
    if (status == IDX_OK) reading->position = sequence;
    return status;
}

/* Whether the cursor is at a record behind the one that is to be next: those between were deleted. */
static bool is_behind(const struct reading *reading, const struct idxi_page_cursor *cursor) {
    return cursor->key_size == IDXF_RECORD_KEY_BYTES && idxf_record_sequence(cursor->key) > reading->position + 1;
}

/* Visits records of pages that stand. One whose checksum is right may still be of a transaction that failed. */
static enum idx_status visit_records(struct reading *reading, bool *stands, struct idx_error *error) {
    struct idxi_log *log = reading->log;
    struct idxi_page_cursor cursor;
    uint8_t key[IDXF_RECORD_KEY_BYTES];
    if (reading->position >= reading->target) return IDX_OK;
    idxf_record_key(key, reading->position + 1);
    IDXI_TRY(idxi_pages_seek(&log->pages, log->records.root, key, sizeof key, &cursor, error));
    reading->gone = !cursor.found || is_behind(reading, &cursor);
    if (reading->gone) return IDX_OK;
    for (;;) {
        if (!cursor.found) return fail_gap(log, reading->position, error);
        if (log->fetched) IDXI_TRY(check_stands(log, stands, error));
        if (!*stands) return IDX_OK;
        IDXI_TRY(visit_record(reading, &cursor, error));
        if (reading->position == reading->target) return IDX_OK;
        IDXI_TRY(idxi_pages_next(&cursor, error));
    }
}

/* Reads on, in the newest transaction, as long as it stands. */
static enum idx_status read_transaction(struct reading *reading, bool *stands, struct idx_error *error) {
    struct idxi_log *log = reading->log;
    IDXI_TRY(begin(log, error));
    if (!reading->has_target) {
        uint64_t first;
        IDXI_TRY(find_bounds(log, &first, &reading->target, error));
        IDXI_TRY(check_stands(log, stands, error));
        if (!*stands) return IDX_OK;
        reading->has_target = true;
        reading->transaction = log->meta.transaction;
        log->known = true;
    }
    return visit_records(reading, stands, error);
}

/* Whether it is the content that has an error, which may come from pages that were written over. */
static bool is_of_content(enum idx_status status) {
    return status == IDX_WRONG_SIZE || status == IDX_BAD_CHECKSUM || status == IDX_BAD_CONTENT ||
           status == IDX_FOREIGN_FILE || status == IDX_NEW_VERSION;
}

static enum idx_status read_log(struct reading *reading, struct idx_error *error) {
    struct idxi_log *log = reading->log;
    IDXI_TRY(read_meta(log, &log->meta, error));
    if (log->seen != 0 && log->meta.transaction == log->seen && reading->position == log->seen_to) return IDX_OK;
    for (;;) {
        bool stands = true;
        enum idx_status status = read_transaction(reading, &stands, error);
        if (reading->stopped || (status != IDX_OK && !is_of_content(status))) return status;
        if (status == IDX_OK && stands && !reading->gone) break;
        IDXI_TRY(stands ? check_stands(log, &stands, error) : IDX_OK);
        if (stands) return status;
        IDXI_TRY(read_meta(log, &log->meta, error));
    }
    log->seen = reading->transaction;
    log->seen_to = reading->position;
    return IDX_OK;
}

static void close_file(struct idxi_log *log) {
    if (log->file >= 0) close(log->file);
    log->file = -1;
    log->known = false;
    log->seen = 0;
}

/* Opens the file that stands there now, if any, where it is not the open one. One that is gone stays open. */
static enum idx_status open_file(struct idxi_log *log, struct idx_error *error) {
    struct stat status;
    uint64_t size;
    if (fstatat(log->folder, IDXI_LOG_NAME, &status, 0) != 0)
        return errno == ENOENT ? IDX_OK : idxi_fail_system(error, errno, log->path, "stat");
    if (log->file >= 0 && status.st_dev == log->device && status.st_ino == log->inode) return IDX_OK;
    close_file(log);
    log->file = openat(log->folder, IDXI_LOG_NAME, IDXI_OPEN_FILE);
    if (log->file < 0) return errno == ENOENT ? IDX_OK : idxi_fail_system(error, errno, log->path, "open");
    enum idx_status result = idxi_file_size(log->file, &size, log->path, error);
    if (result == IDX_OK && fstat(log->file, &status) != 0) result = idxi_fail_system(error, errno, log->path, "stat");
    if (result != IDX_OK) close_file(log);
    log->device = status.st_dev;
    log->inode = status.st_ino;
    return result;
}

enum idx_status idxi_log_read(struct idxi_log *log, uint64_t after, idxi_record_visitor visit, void *context,
                              uint64_t *last, bool *gone, struct idx_error *error) {
    struct reading reading = {.log = log, .visit = visit, .context = context, .position = after};
    *last = after;
    *gone = false;
    IDXI_TRY(open_file(log, error));
    if (log->file < 0) return IDX_OK;
    enum idx_status status = read_log(&reading, error);
    *last = reading.position;
    *gone = status == IDX_OK && reading.gone;
    return status;
}

enum idx_status idxi_log_check(struct idxi_log *log, bool *exists, uint64_t *first, uint64_t *last,
                               struct idx_error *error) {
    IDXI_TRY(open_file(log, error));
    *first = *last = 0;
    *exists = log->file >= 0;
    if (!*exists) return IDX_OK;
    IDXI_TRY(read_meta(log, &log->meta, error));
    IDXI_TRY(begin(log, error));
    IDXI_TRY(idxi_pages_check_structure(&log->pages, &log->meta, error));
    return find_bounds(log, first, last, error);
}

/* ---- Opening and closing ---- */

enum idx_status idxi_log_open(struct idxi_log **result, int folder, const char *folder_path,
                              const struct idxf_record_rules *rules, struct idx_error *error) {
    struct idxi_log *log = calloc(1, sizeof *log);
    if (log == NULL) return idxi_fail_memory(error);
    log->rules = *rules;
    log->file = -1;
    log->path = idxi_path(folder_path, IDXI_LOG_NAME);
    log->folder = fcntl(folder, F_DUPFD_CLOEXEC, 0);
    enum idx_status status = IDX_OK;
    if (log->path == NULL)
        status = idxi_fail_memory(error);
    else if (log->folder < 0)
        status = idxi_fail_system(error, errno, folder_path, "open");
    log->pages = (struct idxi_pages){.path = log->path, .fetch = fetch, .context = log};
    if (status == IDX_OK)
        *result = log;
    else
        idxi_log_close(log);
    return status;
}

void idxi_log_close(struct idxi_log *log) {
    if (log == NULL) return;
    close_file(log);
    if (log->folder >= 0) close(log->folder);
    for (unsigned level = 0; level <= IDXI_MAX_DEPTH; level++) free(log->levels[level]);
    free(log->path);
    free(log);
}
