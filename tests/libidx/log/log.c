/* log.c: tests of pending.mdb: what its writer acknowledges is read, in whole transactions, while it writes, deletes
 * and is killed; and damage is told, whatever the bytes are. */
#include "libidx/log/log_reader.h"
#include "libidx/log/log_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <lmdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/libidx/faults.h"
#include "tests/libidx/support.h"

static const struct idxf_record_rules rules = {.uuid = {1, 2, 3}, .bits = 64, .id_type = IDXF_ID_TEXT};

static uint64_t mix(uint64_t number) {
    uint64_t z = number * UINT64_C(0x9e3779b97f4a7c15) + 1;
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    return z ^ z >> 31;
}

/* ---- Records, each given by its number ---- */

#define LONG_ID 20000 /* bytes: pages of its own */

struct made {
    struct idxf_record record;
    uint8_t id[LONG_ID];
};

static void make_record(struct made *made, uint64_t sequence) {
    uint64_t random = mix(sequence);
    made->record = (struct idxf_record){.operation = (enum idxf_operation)(random % 3), .fingerprint = random};
    if (made->record.operation == IDXF_REMOVE_FINGERPRINT) return;
    made->record.id = made->id;
    made->record.id_size = random % 500 == 1 ? LONG_ID : random / 3 % 40;
    memset(made->id, (int)(random >> 50), made->record.id_size);
}

static bool is_as_made(uint64_t sequence, const struct idxf_record *record) {
    struct made made;
    make_record(&made, sequence);
    return record->operation == made.record.operation && record->fingerprint == made.record.fingerprint &&
           record->id_size == made.record.id_size && memcmp(record->id, made.id, record->id_size) == 0;
}

/* ---- Writing and reading ---- */

static int open_folder(const char *path) {
    int folder = open(path, O_RDONLY | O_DIRECTORY);
    assert_true(folder >= 0);
    return folder;
}

static enum idx_status open_writer(struct idxi_log_writer **writer, const char *path, uint64_t sequence) {
    int folder = open_folder(path);
    enum idx_status status = idxi_log_writer_open(writer, folder, path, &rules, sequence, &failure);
    close(folder);
    return status;
}

static enum idx_status open_log(struct idxi_log **log, const char *path) {
    int folder = open_folder(path);
    enum idx_status status = idxi_log_open(log, folder, path, &rules, &failure);
    close(folder);
    return status;
}

/* Appends `count` records in one transaction. */
static enum idx_status append(struct idxi_log_writer *writer, size_t count) {
    struct made *made = malloc(count * sizeof *made);
    struct idxf_record *records = malloc(count * sizeof *records);
    uint64_t last = idxi_log_writer_last(writer);
    for (size_t i = 0; i < count; i++) {
        make_record(&made[i], last + 1 + i);
        records[i] = made[i].record;
    }
    enum idx_status status = idxi_log_append(writer, records, count, &failure);
    free(records);
    free(made);
    return status;
}

struct seen {
    uint64_t next;
    size_t wrong;
    size_t most; /* stops after as many; 0: never */
    size_t count;
};

static enum idx_status see(void *context, uint64_t sequence, const struct idxf_record *record,
                           struct idx_error *error) {
    struct seen *seen = context;
    (void)error;
    seen->wrong += sequence != seen->next++ || !is_as_made(sequence, record);
    return ++seen->count == seen->most ? IDX_CANCELLED : IDX_OK;
}

static enum idx_status read_from(struct idxi_log *log, uint64_t after, uint64_t *last, bool *gone,
                                 struct idx_error *error) {
    struct seen seen = {.next = after + 1};
    enum idx_status status = idxi_log_read(log, after, see, &seen, last, gone, error);
    return seen.wrong > 0 || *last != seen.next - 1 ? IDX_INVALID_ARGUMENT : status; /* which reading never says */
}

static void check_read(struct idxi_log *log, uint64_t after, uint64_t expected) {
    uint64_t last;
    bool gone;
    assert_ok(read_from(log, after, &last, &gone, &failure));
    assert_int_equal(last, expected);
    assert_false(gone);
}

static void test_append_and_read(void **state) {
    const char *folder = *state;
    struct idxi_log_writer *writer;
    struct idxi_log *log, *second;
    assert_ok(open_log(&log, folder));
    check_read(log, 0, 0); /* there is none yet */
    check_read(log, 7, 7);
    assert_int_equal(count_entries(folder), 0);
    assert_ok(open_writer(&writer, folder, 0));
    check_read(log, 0, 0);
    for (uint64_t batch = 0, last = 0; batch < 60; batch++) {
        assert_int_equal(idxi_log_writer_last(writer), last);
        assert_ok(append(writer, batch % 17 * batch));
        last += batch % 17 * batch;
        check_read(log, last / 2, last);
        check_read(log, last, last);
        check_read(log, last + 5, last + 5);
    }
    uint64_t last = idxi_log_writer_last(writer);
    idxi_log_writer_close(writer);
    assert_ok(open_log(&second, folder));
    check_read(second, 0, last);
    assert_ok(open_writer(&writer, folder, 0));
    assert_int_equal(idxi_log_writer_last(writer), last);
    assert_ok(append(writer, 1));
    check_read(second, last, last + 1);
    check_read(log, 0, last + 1);
    idxi_log_writer_close(writer);
    idxi_log_close(log);
    idxi_log_close(second);
}

static void test_the_visitor_ends_it(void **state) {
    const char *folder = *state;
    struct idxi_log_writer *writer;
    struct idxi_log *log;
    uint64_t last;
    bool gone;
    assert_ok(open_writer(&writer, folder, 0));
    assert_ok(append(writer, 30));
    assert_ok(open_log(&log, folder));
    struct seen seen = {.next = 1, .most = 10};
    assert_int_equal(idxi_log_read(log, 0, see, &seen, &last, &gone, &failure), IDX_CANCELLED);
    assert_int_equal(last, 9);
    check_read(log, 9, 30);
    idxi_log_close(log);
    idxi_log_writer_close(writer);
}

static void test_delete(void **state) {
    const char *folder = *state;
    struct idxi_log_writer *writer;
    struct idxi_log *log;
    uint64_t last;
    bool gone;
    assert_ok(open_writer(&writer, folder, 0));
    assert_ok(open_log(&log, folder));
    assert_ok(append(writer, 3000));
    assert_ok(idxi_log_delete(writer, 1000, &failure));
    check_read(log, 1000, 3000);
    assert_ok(read_from(log, 999, &last, &gone, &failure));
    assert_int_equal(last, 999);
    assert_true(gone);
    assert_ok(idxi_log_delete(writer, 1000, &failure));
    assert_ok(idxi_log_delete(writer, 2999, &failure));
    check_read(log, 2999, 3000);
    assert_ok(idxi_log_delete(writer, 3000, &failure));
    check_read(log, 3000, 3000);
    assert_ok(append(writer, 10));
    check_read(log, 3000, 3010);
    idxi_log_writer_close(writer);
    assert_status(IDX_BAD_CONTENT, open_writer(&writer, folder, 2000)); /* an older manifest came back */
    assert_ok(open_writer(&writer, folder, 3005));
    assert_int_equal(idxi_log_writer_last(writer), 3010);
    assert_ok(idxi_log_delete(writer, 3010, &failure));
    idxi_log_writer_close(writer);
    assert_ok(open_writer(&writer, folder, 3010));
    assert_int_equal(idxi_log_writer_last(writer), 3010);
    assert_ok(append(writer, 1));
    idxi_log_writer_close(writer);
    assert_ok(open_writer(&writer, folder, 4000)); /* a newer one: what is there is done with */
    assert_ok(append(writer, 1));
    check_read(log, 4000, 4001);
    idxi_log_writer_close(writer);
    idxi_log_close(log);
}

/* The map grows with what one batch needs. */
static void test_large_records(void **state) {
    const char *folder = *state;
    struct idxi_log_writer *writer;
    struct idxi_log *log;
    bool gone;
    struct idxf_record record = {.operation = IDXF_ADD, .id_size = IDXF_MAX_RECORD_ID_BYTES};
    uint8_t *id = calloc(1, record.id_size + 1);
    uint64_t last;
    assert_non_null(id);
    record.id = id;
    struct idxf_record three[] = {record, record, record};
    assert_ok(open_writer(&writer, folder, 0));
    assert_ok(idxi_log_append(writer, three, 3, &failure));
    assert_ok(open_log(&log, folder));
    struct seen seen = {.next = 1};
    assert_ok(idxi_log_read(log, 0, see, &seen, &last, &gone, &failure));
    assert_int_equal(last, 3);
    three[2].id_size++;
    assert_status(IDX_INVALID_ARGUMENT, idxi_log_append(writer, three, 3, &failure));
    assert_int_equal(idxi_log_writer_last(writer), 3);
    three[2] = (struct idxf_record){.operation = IDXF_REMOVE_FINGERPRINT, .id = id, .id_size = 1};
    assert_status(IDX_INVALID_ARGUMENT, idxi_log_append(writer, three, 3, &failure));
    idxi_log_writer_close(writer);
    idxi_log_close(log);
    free(id);
}

static void test_sequence_numbers_end(void **state) {
    const char *folder = *state;
    struct idxi_log_writer *writer;
    struct idxi_log *log;
    assert_ok(open_writer(&writer, folder, UINT64_MAX - 4));
    assert_status(IDX_LIMIT, append(writer, 4));
    assert_ok(append(writer, 3));
    assert_status(IDX_LIMIT, append(writer, 1));
    assert_ok(open_log(&log, folder));
    check_read(log, UINT64_MAX - 4, UINT64_MAX - 1);
    idxi_log_close(log);
    idxi_log_writer_close(writer);
}

/* ---- Pages that are written over ---- */

#define FORGED 200 /* a record in the middle */

static struct {
    idxi_pages_fetch *fetch; /* the real one */
    struct idxi_log_writer *writer;
    bool done;
} forgery;

/* Stands in for a page that a transaction has just written over which goes on to fail: it has records of numbers that
 * others were committed with. So often were others committed by then. */
static enum idx_status fetch_forged(const struct idxi_pages *pages, uint64_t number, uint64_t count, unsigned level,
                                    const uint8_t **page, struct idx_error *error) {
    enum idx_status status = forgery.fetch(pages, number, count, level, page, error);
    uint8_t key[IDXF_RECORD_KEY_BYTES];
    bool is_leaf = (*page)[10] == 2;
    idxf_record_key(key, FORGED);
    uint8_t *found = is_leaf && !forgery.done ? memmem(*page, count * pages->page_size, key, sizeof key) : NULL;
    if (status != IDX_OK || found == NULL) return status;
    struct made made;
    make_record(&made, FORGED);
    made.record.fingerprint ^= 1;
    idxf_record_write(&rules, FORGED, &made.record, found + sizeof key);
    for (size_t i = 0; i < 3; i++) assert_ok(append(forgery.writer, 1));
    forgery.done = true;
    return IDX_OK;
}

static void test_pages_written_over(void **state) {
    const char *folder = *state;
    struct idxi_log *log;
    assert_ok(open_writer(&forgery.writer, folder, 0));
    assert_ok(append(forgery.writer, 2 * FORGED));
    assert_ok(open_log(&log, folder));
    forgery.fetch = log->pages.fetch;
    forgery.done = false;
    log->pages.fetch = fetch_forged;
    check_read(log, 0, 2 * FORGED);
    assert_true(forgery.done);
    check_read(log, 0, 2 * FORGED + 3);
    idxi_log_close(log);
    idxi_log_writer_close(forgery.writer);
}

/* No room: none of a batch is there, nor is what was acknowledged lost; and with room again it goes on. */
static void test_disk_full(void **state) {
    const char *folder = *state;
    struct idxi_log_writer *writer;
    struct idxi_log *log;
    struct rlimit before, limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_IGN);
    assert_ok(open_writer(&writer, folder, 0));
    assert_ok(open_log(&log, folder));
    for (rlim_t room = 40000; room < 400000; room += 37777) { /* not whole pages: writes are cut short */
        enum idx_status status = IDX_OK;
        limit = (struct rlimit){room, before.rlim_max};
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
        for (size_t i = 0; i < 10000 && status == IDX_OK; i++) status = append(writer, 100);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        assert_status(IDX_DISK_FULL, status);
        uint64_t last = idxi_log_writer_last(writer);
        check_read(log, 0, last);
        assert_ok(append(writer, 1));
        check_read(log, 0, last + 1);
    }
    uint64_t last = idxi_log_writer_last(writer);
    idxi_log_writer_close(writer);
    assert_ok(open_writer(&writer, folder, 0));
    assert_int_equal(idxi_log_writer_last(writer), last);
    idxi_log_writer_close(writer);
    idxi_log_close(log);
    signal(SIGXFSZ, SIG_DFL);
}

static void test_of_another_index(void **state) {
    const char *folder = *state;
    struct idxi_log_writer *writer;
    struct idxi_log *log;
    struct idxf_record_rules other = rules;
    uint64_t last;
    bool gone;
    assert_ok(open_writer(&writer, folder, 0));
    assert_ok(append(writer, 3));
    idxi_log_writer_close(writer);
    other.uuid[15] = 1;
    int descriptor = open_folder(folder);
    assert_ok(idxi_log_open(&log, descriptor, folder, &other, &failure));
    assert_status(IDX_FOREIGN_FILE, read_from(log, 0, &last, &gone, &failure));
    assert_status(IDX_FOREIGN_FILE, idxi_log_writer_open(&writer, descriptor, folder, &other, 0, &failure));
    close(descriptor);
    idxi_log_close(log);
}

/* ---- A new file in the log's place ---- */

#define MUCH 20000 /* records that make the file large */

static size_t size_of_log(const char *folder) {
    struct stat status;
    assert_int_equal(stat(path_in(folder, IDXI_LOG_NAME), &status), 0);
    return (size_t)status.st_size;
}

static struct idxi_log_writer *make_large(const char *folder) {
    struct idxi_log_writer *writer;
    assert_ok(open_writer(&writer, folder, 0));
    for (size_t i = 0; i < MUCH; i += 1000) assert_ok(append(writer, 1000));
    assert_true(size_of_log(folder) > 1 << 20);
    return writer;
}

/* What is deleted gives its room back, whatever deletes it; readers go on, those that missed something are told so. */
static void test_gives_room_back(void **state) {
    const char *folder = *state;
    struct idxi_log *up_to_date, *behind, *late;
    uint64_t last;
    bool gone;
    struct idxi_log_writer *writer = make_large(folder);
    assert_ok(open_log(&up_to_date, folder));
    assert_ok(open_log(&behind, folder));
    assert_ok(open_log(&late, folder));
    check_read(up_to_date, 0, MUCH);
    check_read(behind, 0, MUCH);
    assert_ok(idxi_log_delete(writer, MUCH - 1, &failure)); /* more may come while it is large */
    assert_true(size_of_log(folder) > 1 << 20);
    assert_ok(idxi_log_delete(writer, MUCH, &failure));
    assert_in_range(size_of_log(folder), 1, 100000);
    check_read(up_to_date, MUCH, MUCH);
    check_read(up_to_date, MUCH - 1, MUCH);
    check_read(late, MUCH - 1, MUCH);
    assert_ok(append(writer, 10));
    check_read(up_to_date, MUCH, MUCH + 10);
    assert_ok(read_from(behind, MUCH - 2, &last, &gone, &failure));
    assert_true(gone && last == MUCH - 2);
    idxi_log_writer_close(writer);
    write_file(path_in(folder, IDXI_LOG_NAME ".new"), "x", 1); /* of one who was killed */
    assert_ok(open_writer(&writer, folder, MUCH));
    assert_int_equal(access(path_in(folder, IDXI_LOG_NAME ".new"), F_OK), -1);
    for (size_t i = 0; i < MUCH; i += 1000) assert_ok(append(writer, 1000));
    idxi_log_writer_close(writer);
    assert_true(size_of_log(folder) > 1 << 20);
    assert_ok(open_writer(&writer, folder, 2 * MUCH + 10)); /* opening does it, too */
    assert_in_range(size_of_log(folder), 1, 100000);
    check_read(up_to_date, 2 * MUCH + 9, 2 * MUCH + 10);
    assert_ok(append(writer, 1));
    check_read(up_to_date, 2 * MUCH + 9, 2 * MUCH + 11);
    idxi_log_writer_close(writer);
    idxi_log_close(up_to_date);
    idxi_log_close(behind);
    idxi_log_close(late);
}

/* A call that fails, whichever it is: the log is the old one or the new one, and the writer goes on, or the next one.
 */
static void replace_with_failures(const char *folder, enum fault_kind kind, int fault_errno, enum idx_status expected,
                                  size_t least) {
    size_t calls = 0;
    for (bool failed = true; failed; calls++) {
        struct idxi_log *log;
        struct idxi_log_writer *writer = make_large(folder);
        int descriptors = count_entries("/proc/self/fd");
        assert_ok(open_log(&log, folder));
        arm(kind, calls, 1, fault_errno);
        enum idx_status status = idxi_log_delete(writer, MUCH, &failure);
        failed = disarm() > 0;
        assert_status(failed ? expected : IDX_OK, status);
        check_read(log, MUCH - 1, MUCH);
        if (calls % 2 == 0) {
            assert_ok(append(writer, 1));
            check_read(log, MUCH, MUCH + 1);
        } else {
            assert_ok(idxi_log_delete(writer, MUCH, &failure));
            assert_in_range(size_of_log(folder), 1, 100000);
        }
        idxi_log_close(log);
        assert_in_range(count_entries("/proc/self/fd"), 0, descriptors);
        idxi_log_writer_close(writer);
        assert_int_equal(access(path_in(folder, IDXI_LOG_NAME ".new"), F_OK), -1);
        assert_ok(open_writer(&writer, folder, MUCH));
        assert_int_equal(idxi_log_writer_last(writer), MUCH + (calls % 2 == 0));
        idxi_log_writer_close(writer);
        assert_int_equal(unlink(path_in(folder, IDXI_LOG_NAME)), 0);
    }
    assert_true(calls > least);
}

static void test_gives_room_back_with_failures(void **state) {
    replace_with_failures(*state, FAULT_ALLOCATION, ENOMEM, IDX_OUT_OF_MEMORY, 1);
    replace_with_failures(*state, FAULT_RENAME, EIO, IDX_IO_ERROR, 1);
    replace_with_failures(*state, FAULT_SYNC, EIO, IDX_IO_ERROR, 1);
}

/* Reads the log by LMDB, as others may, and tells the number of its records; stays in its transaction until the pipe is
 * closed, and then counts again. Never returns. */
static void read_by_lmdb(const char *path, int told, int go_on) {
    MDB_env *env;
    MDB_txn *txn;
    MDB_dbi log;
    MDB_stat before, after;
    char byte;
    if (mdb_env_create(&env) != 0 || mdb_env_set_maxdbs(env, 2) != 0 ||
        mdb_env_open(env, path, MDB_NOSUBDIR | MDB_RDONLY, 0) != 0 || mdb_txn_begin(env, NULL, MDB_RDONLY, &txn) != 0 ||
        mdb_dbi_open(txn, "log", 0, &log) != 0 || mdb_stat(txn, log, &before) != 0)
        _exit(1);
    if (write(told, "x", 1) != 1 || read(go_on, &byte, 1) != 0 || mdb_stat(txn, log, &after) != 0) _exit(2);
    mdb_txn_abort(txn);
    mdb_env_close(env);
    _exit(before.ms_entries == MUCH && after.ms_entries == MUCH ? 0 : 3);
}

/* One who has the old file open by LMDB, and its lock file, which counts that file's transactions, is no obstacle. */
static void test_gives_room_back_beside_lmdb(void **state) {
    const char *folder = *state;
    int told[2], go_on[2], status;
    char byte;
    struct idxi_log *log;
    struct idxi_log_writer *writer = make_large(folder);
    assert_int_equal(pipe(told), 0);
    assert_int_equal(pipe(go_on), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(go_on[1]);
        read_by_lmdb(path_in(folder, IDXI_LOG_NAME), told[1], go_on[0]);
    }
    assert_int_equal(read(told[0], &byte, 1), 1);
    assert_ok(open_log(&log, folder));
    assert_ok(idxi_log_delete(writer, MUCH, &failure));
    check_read(log, MUCH, MUCH);
    for (uint64_t i = 1; i <= 5; i++) {
        assert_ok(append(writer, 100));
        check_read(log, MUCH, MUCH + 100 * i);
    }
    idxi_log_writer_close(writer);
    assert_ok(open_writer(&writer, folder, MUCH));
    assert_int_equal(idxi_log_writer_last(writer), MUCH + 500);
    idxi_log_writer_close(writer);
    idxi_log_close(log);
    close(go_on[1]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    for (size_t i = 0; i < 2; i++) close(told[i]);
    close(go_on[0]);
}

/* No room for the new file: the old one stays, and takes more. */
static void test_gives_room_back_when_full(void **state) {
    const char *folder = *state;
    struct rlimit before, limit;
    struct idxi_log *log;
    struct idxi_log_writer *writer = make_large(folder);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_IGN);
    for (rlim_t room = 0; room < 28000; room += 5000) {
        limit = (struct rlimit){room, before.rlim_max};
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
        enum idx_status status = idxi_log_delete(writer, MUCH, &failure);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        if (room < 10000) assert_status(IDX_DISK_FULL, status);
        assert_int_equal(access(path_in(folder, IDXI_LOG_NAME ".new"), F_OK), -1);
    }
    assert_ok(open_log(&log, folder));
    check_read(log, MUCH - 1, MUCH);
    assert_ok(append(writer, 1));
    check_read(log, MUCH - 1, MUCH + 1);
    idxi_log_close(log);
    idxi_log_writer_close(writer);
    signal(SIGXFSZ, SIG_DFL);
}

/* ---- A writer in another process ---- */

/* What it shares with those who read. */
struct shared {
    _Atomic uint64_t acknowledged, deleted;
    atomic_size_t replaced; /* how often a new file came */
    atomic_bool stop;
    uint64_t batch;  /* records of one */
    uint64_t kept;   /* batches that are not deleted: fewer than these */
    uint64_t rounds; /* from one deletion to the next one */
};

static struct shared *share(bool replaces) {
    struct shared *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(shared != MAP_FAILED);
    shared->batch = replaces ? 3000 : 10;
    shared->kept = replaces ? 2 : 20;
    shared->rounds = replaces ? 6 : 7;
    return shared;
}

static ino_t inode_of_log(const char *folder) {
    struct stat status;
    char path[4096];
    snprintf(path, sizeof path, "%s/" IDXI_LOG_NAME, folder);
    return stat(path, &status) == 0 ? status.st_ino : 0;
}

/* Appends batches, and deletes so often that pages are used again all the time, or new files come. Never returns. */
static void write_all_the_while(const char *folder, struct shared *shared, uint64_t sequence, bool deletes) {
    struct idxi_log_writer *writer;
    if (open_writer(&writer, folder, sequence) != IDX_OK) _exit(3);
    for (uint64_t round = 1; !shared->stop; round++) {
        if (append(writer, shared->batch) != IDX_OK) _exit(4);
        shared->acknowledged = idxi_log_writer_last(writer);
        if (!deletes || round % shared->rounds != 0 || shared->acknowledged < 200) continue;
        uint64_t deleted = shared->acknowledged - mix(round) % shared->kept * shared->batch;
        if (deleted > shared->deleted) shared->deleted = deleted;
        ino_t inode = inode_of_log(folder);
        if (idxi_log_delete(writer, shared->deleted, &failure) != IDX_OK) _exit(5);
        shared->replaced += inode_of_log(folder) != inode;
    }
    idxi_log_writer_close(writer);
    _exit(0);
}

struct readers {
    const char *folder;
    struct shared *shared;
    atomic_size_t failures, news;
};

/* Follows the log, now from the beginning, now from the newest. */
static void *follow(void *context) {
    struct readers *readers = context;
    struct idx_error error;
    struct idxi_log *log;
    int folder = open(readers->folder, O_RDONLY | O_DIRECTORY);
    readers->failures += idxi_log_open(&log, folder, readers->folder, &rules, &error) != IDX_OK;
    close(folder);
    for (uint64_t round = 0, after = 0; !readers->shared->stop; round++) {
        uint64_t last, acknowledged = readers->shared->acknowledged;
        bool gone;
        if (round % 16 == 0) after = readers->shared->deleted;
        enum idx_status status = read_from(log, after, &last, &gone, &error);
        bool is_whole = last % readers->shared->batch == 0, is_new = gone || last >= acknowledged;
        if (status != IDX_OK || (!gone && !is_whole) || !is_new) {
            print_error("status %d after %llu last %llu gone %d: %s\n", status, (unsigned long long)after,
                        (unsigned long long)last, gone, status == IDX_OK ? "" : error.sentence);
            readers->failures++;
        }
        readers->news += last > after;
        after = gone ? readers->shared->deleted : last;
    }
    idxi_log_close(log);
    return NULL;
}

static void read_beside_a_writer(const char *folder, bool replaces) {
    enum { THREADS = 3 };
    pthread_t threads[THREADS];
    struct readers readers = {.folder = folder, .shared = share(replaces)};
    size_t least = replaces ? scale(30) : 0;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) write_all_the_while(readers.folder, readers.shared, 0, true);
    for (size_t i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, follow, &readers), 0);
    int status = 0;
    while (readers.shared->acknowledged < scale(100000) || readers.news < scale(replaces ? 100 : 2000) ||
           readers.shared->replaced < least) {
        assert_int_equal(waitpid(child, &status, WNOHANG), 0);
        usleep(1000);
    }
    readers.shared->stop = true;
    for (size_t i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(readers.failures, 0);
    munmap(readers.shared, sizeof *readers.shared);
}

static void test_readers_beside_a_writer(void **state) { read_beside_a_writer(*state, false); }
static void test_readers_beside_new_files(void **state) { read_beside_a_writer(*state, true); }

/* Whatever was acknowledged is there after a kill, and nothing half; a new writer goes on. */
static void kill_writers(const char *folder, bool replaces) {
    struct shared *shared = share(replaces);
    struct idxi_log_writer *writer;
    struct idxi_log *log;
    for (size_t i = 0; i < scale(replaces ? 50 : 150) || (replaces && shared->replaced < 5); i++) {
        uint64_t last, deleted = shared->deleted;
        bool gone = true;
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) write_all_the_while(folder, shared, deleted, true);
        usleep((useconds_t)(mix(i) % (replaces ? 100000 + 10000 * i : 8000)));
        assert_int_equal(kill(child, SIGKILL), 0);
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status)); /* it met no error of its own */
        assert_ok(open_log(&log, folder));
        assert_ok(read_from(log, shared->deleted, &last, &gone, &failure));
        idxi_log_close(log);
        assert_false(gone);
        assert_int_equal(last % shared->batch, 0);
        assert_in_range(last, shared->acknowledged, shared->acknowledged + shared->batch);
        assert_ok(open_writer(&writer, folder, shared->deleted));
        assert_int_equal(idxi_log_writer_last(writer), last);
        idxi_log_writer_close(writer);
        shared->acknowledged = last;
    }
    munmap(shared, sizeof *shared);
}

static void test_kills(void **state) { kill_writers(*state, false); }
static void test_kills_beside_new_files(void **state) { kill_writers(*state, true); }

/* ---- Damage ---- */

/* A log with branch pages, pages of long IDs, and free pages. Returns the last record; the first one is 501. */
static uint64_t make_log(const char *folder) {
    struct idxi_log_writer *writer;
    assert_ok(open_writer(&writer, folder, 0));
    for (size_t i = 0; i < 8; i++) assert_ok(append(writer, 1000));
    assert_ok(idxi_log_delete(writer, 500, &failure));
    assert_ok(append(writer, 1));
    assert_ok(append(writer, 1));
    uint64_t last = idxi_log_writer_last(writer);
    idxi_log_writer_close(writer);
    return last;
}

/* Reads a log that was damaged: all that is given is as it was; and opens it for writing, which no bytes may crash. */
static enum idx_status read_damaged(const char *folder, uint64_t expected) {
    struct idxi_log *log;
    struct idxi_log_writer *writer;
    uint64_t last;
    bool gone;
    assert_ok(open_log(&log, folder));
    enum idx_status status = read_from(log, 500, &last, &gone, &failure);
    idxi_log_close(log);
    assert_true(status == IDX_OK || is_damage(status));
    if (status == IDX_OK) assert_true(last == expected && !gone);
    enum idx_status opened = open_writer(&writer, folder, 500);
    if (opened != IDX_OK) assert_true(is_damage(opened));
    if (opened != IDX_OK) return status == IDX_OK ? IDX_CANCELLED : status;
    if (status == IDX_OK) assert_int_equal(idxi_log_writer_last(writer), expected);
    if (status == IDX_OK) assert_ok(append(writer, 100));
    if (status == IDX_OK) assert_ok(idxi_log_delete(writer, 600, &failure));
    idxi_log_writer_close(writer);
    return status;
}

static void test_noise(void **state) {
    const char *folder = *state, *path = path_in(folder, IDXI_LOG_NAME);
    size_t size, damaged = 0;
    uint64_t last = make_log(folder);
    uint8_t *bytes = read_file(path, &size), *copy = malloc(size);
    assert_non_null(copy);
    for (size_t page = 0; page < size / 4096; page++) {
        for (unsigned kind = 0; kind < 3; kind++) {
            memcpy(copy, bytes, size);
            for (size_t i = 0; i < 4096; i += 8) {
                uint64_t noise = kind == 0 ? mix(page * 4096 + i) : kind == 1 ? 0 : UINT64_MAX;
                memcpy(copy + page * 4096 + i, &noise, 8);
            }
            write_file(path, copy, size);
            enum idx_status status = read_damaged(folder, last);
            damaged += status != IDX_OK;
            if (page < 1) assert_int_equal(status, IDX_BAD_CONTENT);
        }
    }
    assert_in_range(damaged, size / 4096, 3 * (size / 4096));
    free(copy);
    free(bytes);
}

/* Single bytes, in the pages that lead to the others above all. */
static void test_changed_bytes(void **state) {
    const char *folder = *state, *path = path_in(folder, IDXI_LOG_NAME);
    size_t size;
    uint64_t last = make_log(folder);
    uint8_t *bytes = read_file(path, &size), *copy = malloc(size);
    assert_non_null(copy);
    for (size_t i = 0; i < scale(3000); i++) {
        size_t at = i % 2 == 0 ? mix(i) % size : mix(i) % (size / 4096) * 4096 + mix(i + 1) % 64;
        memcpy(copy, bytes, size);
        copy[at] ^= (uint8_t)(1 + mix(i + 2) % 255);
        write_file(path, copy, size);
        read_damaged(folder, last);
    }
    free(copy);
    free(bytes);
}

static void test_truncations(void **state) {
    const char *folder = *state, *path = path_in(folder, IDXI_LOG_NAME);
    size_t size;
    uint64_t last = make_log(folder);
    uint8_t *bytes = read_file(path, &size);
    for (size_t cut = 0; cut < size; cut += cut < 9000 ? 512 : 4096) {
        write_file(path, bytes, cut);
        enum idx_status status = read_damaged(folder, last);
        if (cut <= 4096) assert_int_equal(status, IDX_WRONG_SIZE);
    }
    free(bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        in_folder(test_append_and_read),
        in_folder(test_the_visitor_ends_it),
        in_folder(test_delete),
        in_folder(test_large_records),
        in_folder(test_sequence_numbers_end),
        in_folder(test_pages_written_over),
        in_folder(test_disk_full),
        in_folder(test_of_another_index),
        in_folder(test_gives_room_back),
        in_folder(test_gives_room_back_with_failures),
        in_folder(test_gives_room_back_beside_lmdb),
        in_folder(test_gives_room_back_when_full),
        in_folder(test_readers_beside_a_writer),
        in_folder(test_readers_beside_new_files),
        in_folder(test_kills),
        in_folder(test_kills_beside_new_files),
        in_folder(test_noise),
        in_folder(test_changed_bytes),
        in_folder(test_truncations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
