/* log.c: tests of pending.log: what its writer acknowledges is read, in whole frames, while it writes, is replaced and
 * is killed; calls that fail lose nothing; and damage is told, whichever bit it is. */
#include "libidx/log/log_reader.h"
#include "libidx/log/log_writer.h"

#include <errno.h>
#include <fcntl.h>
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
#include <unistd.h>

#include "libidx/segment/manifest_file.h"
#include "tests/libidx/faults.h"
#include "tests/libidx/support.h"

static const struct idxf_record_rules rules = {.uuid = {1, 2, 3}, .bits = 64, .id_type = IDXF_ID_TEXT};

static uint64_t mix(uint64_t number) {
    uint64_t z = number * UINT64_C(0x9e3779b97f4a7c15) + 1;
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    return z ^ z >> 31;
}

/* ---- Records, each given by its number ---- */

#define LONG_ID 20000 /* bytes: more than is read at first */

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
           record->id_size == made.record.id_size &&
           (record->id_size == 0 || memcmp(record->id, made.id, record->id_size) == 0);
}

/* ---- A folder with a manifest and a log ---- */

static int open_folder(const char *path) {
    int folder = open(path, O_RDONLY | O_DIRECTORY);
    assert_true(folder >= 0);
    return folder;
}

/* *state is a folder with the manifest of an index. */
static int make_index(void **state) {
    if (make_folder(state) != 0) return -1;
    struct idxf_manifest *manifest = calloc(1, sizeof *manifest);
    *manifest = (struct idxf_manifest){.bits = 64, .scheme = "1", .table_count = 1, .segment_count = 1};
    memcpy(manifest->uuid, rules.uuid, sizeof rules.uuid);
    manifest->tables[0].mask = 1;
    manifest->segments[0].number = 1;
    int folder = open_folder(*state);
    enum idx_status status = idxi_manifest_create(folder, *state, manifest, &failure);
    close(folder);
    free(manifest);
    return status == IDX_OK ? 0 : -1;
}
#define on_index(test) cmocka_unit_test_setup_teardown(test, make_index, remove_folder)

static struct idxf_manifest_log entry_of(const char *path, uint64_t *sequence) {
    struct idxf_manifest *manifest = malloc(sizeof *manifest);
    int folder = open_folder(path);
    assert_ok(idxi_manifest_load(manifest, folder, path, NULL, &failure));
    struct idxf_manifest_log entry = manifest->log;
    if (sequence != NULL) *sequence = manifest->sequence;
    close(folder);
    free(manifest);
    return entry;
}

static void change_sequence(void *sequence, struct idxf_manifest *manifest) {
    manifest->sequence = *(const uint64_t *)sequence;
}

/* As a compaction does. */
static void set_sequence(const char *path, uint64_t sequence) {
    bool switched;
    int folder = open_folder(path);
    if (idxi_manifest_switch(folder, path, change_sequence, &sequence, &switched, &failure) != IDX_OK) abort();
    close(folder);
}

static enum idx_status open_writer(struct idxi_log_writer **writer, const char *path) {
    int folder = open_folder(path);
    enum idx_status status = idxi_log_writer_open(writer, folder, path, &failure);
    close(folder);
    return status;
}

/* Opens the log to read what is behind `after`. */
static enum idx_status open_log(struct idxi_log *log, const char *path, uint64_t after, struct idx_error *error) {
    int folder = open_folder(path);
    struct idxf_manifest *manifest = malloc(sizeof *manifest);
    enum idx_status status = idxi_manifest_load(manifest, folder, path, NULL, error);
    *log = (struct idxi_log){.file = -1};
    if (status == IDX_OK) status = idxi_log_open(log, folder, path, &rules, &manifest->log, after, error);
    close(folder);
    free(manifest);
    if (status != IDX_OK) idxi_log_close(log);
    return status;
}

/* Appends `count` records in one frame. */
static enum idx_status append(struct idxi_log_writer *writer, size_t count) {
    struct made *made = malloc(count * sizeof *made + 1);
    struct idxf_record *records = malloc(count * sizeof *records + 1);
    uint64_t last = idxi_log_writer_get_last_sequence(writer);
    for (size_t i = 0; i < count; i++) {
        make_record(&made[i], last + 1 + i);
        records[i] = made[i].record;
    }
    enum idx_status status = idxi_log_append_records(writer, records, count, &failure);
    free(records);
    free(made);
    return status;
}

struct seen {
    uint64_t last;
    size_t wrong;
    size_t most; /* stops before as many; 0: never */
    size_t count;
};

static enum idx_status see(void *context, const struct idxf_record *record, struct idx_error *error) {
    struct seen *seen = context;
    (void)error;
    if (seen->most > 0 && seen->count + 1 == seen->most) return IDX_CANCELLED;
    seen->wrong += !is_as_made(seen->last + 1, record);
    seen->last++;
    seen->count++;
    return IDX_OK;
}

/* Reads what is new behind `after`; sets *last. */
static enum idx_status read_on(struct idxi_log *log, uint64_t after, uint64_t *last, struct idx_error *error) {
    struct seen seen = {.last = after};
    enum idx_status status = idxi_log_visit_records(log, after, NULL, see, &seen, error);
    *last = seen.last;
    return seen.wrong > 0 ? IDX_INVALID_ARGUMENT : status; /* which reading never says */
}

static void check_new(struct idxi_log *log, uint64_t after, uint64_t expected) {
    uint64_t last;
    assert_ok(read_on(log, after, &last, &failure));
    assert_int_equal(last, expected);
}

/* Opens the log, and reads it. */
static void check_log(const char *path, uint64_t after, uint64_t expected) {
    struct idxi_log log;
    assert_ok(open_log(&log, path, after, &failure));
    check_new(&log, after, expected);
    idxi_log_close(&log);
}

static void make_log(const char *folder, size_t batches, size_t count) {
    struct idxi_log_writer *writer;
    assert_ok(open_writer(&writer, folder));
    for (size_t i = 0; i < batches; i++) assert_ok(append(writer, count));
    idxi_log_writer_close(writer);
}

/* ---- Writing and reading ---- */

/* What a link in the log's place leads to is read, but not written. */
static void test_links_are_not_written(void **state) {
    const char *folder = *state, *moved = path_in(folder, "moved.log");
    struct idxi_log_writer *writer;
    size_t size, size_after;
    make_log(folder, 2, 3);
    assert_int_equal(rename(path_in(folder, "pending.log"), moved), 0);
    assert_int_equal(symlink("moved.log", path_in(folder, "pending.log")), 0);
    uint8_t *before = read_file(moved, &size);
    check_log(folder, 0, 6);
    assert_status(IDX_NO_ACCESS, open_writer(&writer, folder));
    assert_non_null(strstr(failure.sentence, "symbolic link"));
    uint8_t *after = read_file(moved, &size_after);
    assert_int_equal(size_after, size);
    assert_memory_equal(after, before, size);
    free(before);
    free(after);
    check_log(folder, 0, 6);
}

static void test_append_and_read(void **state) {
    const char *folder = *state;
    struct idxi_log_writer *writer;
    struct idxi_log log, second;
    assert_false(entry_of(folder, NULL).exists);
    assert_ok(open_writer(&writer, folder));
    assert_true(entry_of(folder, NULL).exists);
    assert_ok(open_log(&log, folder, 0, &failure));
    check_new(&log, 0, 0);
    uint64_t last = 0;
    for (uint64_t batch = 0; batch < 60; batch++) {
        assert_int_equal(idxi_log_writer_get_last_sequence(writer), last);
        assert_ok(append(writer, batch % 17 * batch));
        uint64_t before = last;
        last += batch % 17 * batch;
        check_new(&log, before, last);
        check_new(&log, last, last);
        check_log(folder, 0, last);
        check_log(folder, last / 2, last);
        check_log(folder, last + 5, last + 5);
    }
    assert_int_equal(entry_of(folder, NULL).last, 0);
    idxi_log_writer_close(writer);
    assert_int_equal(entry_of(folder, NULL).last, last);
    assert_ok(open_log(&second, folder, 0, &failure));
    check_new(&second, 0, last);
    assert_ok(open_writer(&writer, folder));
    assert_int_equal(idxi_log_writer_get_last_sequence(writer), last);
    assert_ok(append(writer, 1));
    check_new(&second, last, last + 1);
    check_new(&log, last, last + 1);
    idxi_log_writer_close(writer);
    idxi_log_close(&log);
    idxi_log_close(&second);
}

/* What a visitor did not take comes again. */
static void test_the_visitor_ends_it(void **state) {
    const char *folder = *state;
    struct idxi_log log;
    make_log(folder, 3, 30);
    assert_ok(open_log(&log, folder, 0, &failure));
    struct seen seen = {.most = 41};
    assert_int_equal(idxi_log_visit_records(&log, 0, NULL, see, &seen, &failure), IDX_CANCELLED);
    assert_int_equal(seen.last, 40);
    check_new(&log, 40, 90);
    idxi_log_close(&log);
}

/* What a reader asks the system for where nothing is new: one read. */
static void test_nothing_new_costs_one_read(void **state) {
    const char *folder = *state;
    struct idxi_log log;
    make_log(folder, 3, 30);
    assert_ok(open_log(&log, folder, 0, &failure));
    check_new(&log, 0, 90);
    size_t before = calls_to_the_system();
    check_new(&log, 90, 90);
    assert_int_equal(calls_to_the_system() - before, 1);
    idxi_log_close(&log);
}

/* A frame's write changes neither the file's length nor what is on disk of it: room is made before. */
static void test_room_is_made_before(void **state) {
    const char *folder = *state;
    struct idxi_log_writer *writer;
    struct stat status;
    size_t grown = 0;
    off_t before = 0;
    assert_ok(open_writer(&writer, folder));
    for (size_t i = 0; i < 1000; i++) {
        assert_ok(append(writer, 3));
        assert_int_equal(stat(path_in(folder, IDXI_LOG_NAME), &status), 0);
        grown += status.st_size != before;
        before = status.st_size;
    }
    assert_in_range(grown, 2, 10);
    idxi_log_writer_close(writer);
}

/* More than a writer makes room for at a time, in a file as short as here. */
static void append_much(void *writer) { assert_ok(append(writer, 10000)); }

/* A writer makes the file longer, and acknowledges a frame, before each read of opening and reading a log in turn. */
static void test_longer_before_each_read(void **state) {
    const char *folder = *state;
    struct idxi_log_writer *writer;
    uint64_t before, after = 0;
    size_t reads = 0;
    assert_ok(open_writer(&writer, folder));
    do {
        struct idxi_log log;
        uint64_t last;
        before = after;
        arm_to_act(FAULT_READ, reads++, append_much, writer);
        assert_ok(open_log(&log, folder, 0, &failure));
        assert_ok(read_on(&log, 0, &last, &failure));
        disarm();
        after = idxi_log_writer_get_last_sequence(writer);
        check_new(&log, last, after);
        idxi_log_close(&log);
    } while (after > before);
    assert_in_range(reads, 5, 30); /* two of the manifest, two of the head, and those of frames */
    idxi_log_writer_close(writer);
}

static void test_large_records(void **state) {
    const char *folder = *state;
    struct idxi_log_writer *writer;
    struct idxi_log log;
    struct idxf_record record = {.operation = IDXF_ADD, .id_size = IDXF_MAX_RECORD_ID_BYTES};
    uint8_t *id = calloc(1, record.id_size + 1);
    assert_non_null(id);
    record.id = id;
    struct idxf_record three[] = {record, record, record};
    assert_ok(open_writer(&writer, folder));
    assert_ok(idxi_log_append_records(writer, three, 1, &failure));
    assert_ok(idxi_log_append_records(writer, three, 3, &failure));
    assert_ok(open_log(&log, folder, 4, &failure));
    check_new(&log, 4, 4);
    idxi_log_close(&log);
    three[2].id_size++;
    assert_status(IDX_INVALID_ARGUMENT, idxi_log_append_records(writer, three, 3, &failure));
    assert_int_equal(idxi_log_writer_get_last_sequence(writer), 4);
    three[2] = (struct idxf_record){.operation = IDXF_REMOVE_FINGERPRINT, .id = id, .id_size = 1};
    assert_status(IDX_INVALID_ARGUMENT, idxi_log_append_records(writer, three, 3, &failure));
    idxi_log_writer_close(writer);
    free(id);
}

static enum idx_status count_record(void *context, const struct idxf_record *record, struct idx_error *error) {
    uint64_t *count = context;
    (void)error;
    return record->fingerprint == ++*count && record->id_size == 7 ? IDX_OK : IDX_CANCELLED;
}

/* A million records of 20 bytes, in one frame and in many. */
static void test_a_million_records(void **state) {
    const char *folder = *state;
    const size_t count = scale(500000);
    struct idxi_log_writer *writer;
    struct idxi_log log;
    struct idxf_record *records = malloc(count * sizeof *records);
    uint64_t seen = 0;
    assert_non_null(records);
    assert_ok(open_writer(&writer, folder));
    for (size_t round = 0; round < 2; round++) {
        for (size_t i = 0; i < count; i++)
            records[i] = (struct idxf_record){.operation = IDXF_ADD,
                                              .fingerprint = round * count + i + 1,
                                              .id = (const uint8_t *)"1234567",
                                              .id_size = 7};
        for (size_t i = 0, step = round == 0 ? count : 100; i < count; i += step)
            assert_ok(idxi_log_append_records(writer, records + i, count - i < step ? count - i : step, &failure));
    }
    idxi_log_writer_close(writer);
    assert_ok(open_log(&log, folder, 0, &failure));
    assert_ok(idxi_log_visit_records(&log, 0, NULL, count_record, &seen, &failure));
    assert_int_equal(seen, 2 * count);
    idxi_log_close(&log);
    free(records);
}

static void test_sequence_numbers_end(void **state) {
    const char *folder = *state;
    struct idxi_log_writer *writer;
    set_sequence(folder, UINT64_MAX - 4);
    assert_ok(open_writer(&writer, folder));
    assert_status(IDX_LIMIT, append(writer, 4));
    assert_ok(append(writer, 3));
    assert_status(IDX_LIMIT, append(writer, 1));
    check_log(folder, UINT64_MAX - 4, UINT64_MAX - 1);
    idxi_log_writer_close(writer);
}

/* ---- A log in another's place ---- */

static size_t size_of_log(const char *folder) {
    struct stat status;
    assert_int_equal(stat(path_in(folder, IDXI_LOG_NAME), &status), 0);
    return (size_t)status.st_size;
}

static void test_trim(void **state) {
    const char *folder = *state;
    struct idxi_log_writer *writer;
    struct idxi_log log;
    assert_ok(open_writer(&writer, folder));
    for (size_t i = 0; i < 30; i++) assert_ok(append(writer, 100));
    assert_ok(open_log(&log, folder, 0, &failure));
    size_t before = size_of_log(folder);
    struct idxf_manifest_log first = entry_of(folder, NULL);
    set_sequence(folder, 1000);
    assert_ok(idxi_log_trim_records(writer, 1000, &failure));
    assert_in_range(size_of_log(folder), 1, before - 1);
    struct idxf_manifest_log second = entry_of(folder, NULL);
    assert_memory_not_equal(first.id, second.id, sizeof first.id);
    assert_int_equal(second.first, 1000);
    assert_int_equal(second.last, 3000);
    check_log(folder, 1000, 3000);
    idxi_log_close(&log);
    assert_status(IDX_BAD_CONTENT, open_log(&log, folder, 999, &failure));
    assert_ok(idxi_log_trim_records(writer, 1000, &failure));
    assert_memory_equal(entry_of(folder, NULL).id, second.id, sizeof second.id);
    set_sequence(folder, 1050); /* in the middle of a frame */
    assert_ok(idxi_log_trim_records(writer, 1050, &failure));
    assert_int_equal(entry_of(folder, NULL).first, 1000);
    check_log(folder, 1000, 3000);
    set_sequence(folder, 3000);
    assert_ok(append(writer, 10));
    assert_ok(idxi_log_trim_records(writer, 3000, &failure));
    check_log(folder, 3000, 3010);
    set_sequence(folder, 3010);
    assert_ok(idxi_log_trim_records(writer, 3010, &failure));
    assert_in_range(size_of_log(folder), 1, 100000);
    idxi_log_writer_close(writer);
    check_log(folder, 3010, 3010);
    make_log(folder, 1, 5);
    check_log(folder, 3010, 3015);
    set_sequence(folder, 4000); /* what is there is done with */
    make_log(folder, 1, 1);
    check_log(folder, 4000, 4001);
    set_sequence(folder, 4000);
    assert_int_equal(entry_of(folder, NULL).first, 4000);
    assert_int_equal(count_entries(folder), 3);
}

/* A reader of the old file reads it to its end. */
static void test_trim_beside_a_reader(void **state) {
    const char *folder = *state;
    struct idxi_log_writer *writer;
    struct idxi_log log;
    assert_ok(open_writer(&writer, folder));
    for (size_t i = 0; i < 3; i++) assert_ok(append(writer, 100));
    assert_ok(open_log(&log, folder, 0, &failure));
    check_new(&log, 0, 300);
    assert_ok(append(writer, 100));
    set_sequence(folder, 400);
    assert_ok(idxi_log_trim_records(writer, 400, &failure));
    check_new(&log, 300, 400);
    assert_ok(append(writer, 100));
    check_new(&log, 400, 400);
    check_log(folder, 400, 500);
    idxi_log_close(&log);
    idxi_log_writer_close(writer);
}

/* Whatever call fails, the log stays, or is replaced; and one who opens it anew goes on. */
static void trim_with_failures(const char *folder, enum fault_kind kind, int fault_errno, enum idx_status expected,
                               size_t least) {
    int descriptors = count_entries("/proc/self/fd");
    size_t call = 0;
    for (bool ended = false; !ended; call++) {
        struct idxi_log_writer *writer;
        uint64_t sequence;
        assert_ok(open_writer(&writer, folder));
        for (size_t i = 0; i < 4; i++) assert_ok(append(writer, 100));
        entry_of(folder, &sequence);
        uint64_t last = idxi_log_writer_get_last_sequence(writer);
        set_sequence(folder, last - 100);
        arm(kind, call, 1, fault_errno);
        enum idx_status status = idxi_log_trim_records(writer, last - 100, &failure);
        ended = disarm() == 0;
        assert_status(ended ? IDX_OK : expected, status);
        enum idx_status after = append(writer, 1);
        assert_true(after == IDX_OK || (!ended && after == IDX_IO_ERROR));
        idxi_log_writer_close(writer);
        uint64_t now = last + (after == IDX_OK);
        check_log(folder, last - 100, now);
        assert_int_equal(access(path_in(folder, IDXI_LOG_NAME ".new"), F_OK), -1);
        assert_int_equal(count_entries("/proc/self/fd"), descriptors);
    }
    assert_in_range(call, least, 100);
}

static void test_trim_with_failures(void **state) {
    trim_with_failures(*state, FAULT_ALLOCATION, ENOMEM, IDX_OUT_OF_MEMORY, 5);
    trim_with_failures(*state, FAULT_OPEN, EMFILE, IDX_IO_ERROR, 4);
    trim_with_failures(*state, FAULT_READ, EIO, IDX_IO_ERROR, 3);
    trim_with_failures(*state, FAULT_WRITE, ENOSPC, IDX_DISK_FULL, 3);
    trim_with_failures(*state, FAULT_SYNC, EIO, IDX_IO_ERROR, 5);
    trim_with_failures(*state, FAULT_RENAME, EIO, IDX_IO_ERROR, 3);
    trim_with_failures(*state, FAULT_RANDOM, EIO, IDX_IO_ERROR, 3);
}

/* ---- Calls that fail ---- */

/* A frame whose sync failed may be there or not: so the writer writes no more, and the next one brings it to disk. */
static void test_a_sync_that_fails(void **state) {
    const char *folder = *state;
    struct idxi_log_writer *writer;
    make_log(folder, 2, 100);
    assert_ok(open_writer(&writer, folder));
    arm(FAULT_SYNC, 0, 1, ENOSPC); /* as some file systems say late */
    assert_status(IDX_IO_ERROR, append(writer, 10));
    assert_int_equal(disarm(), 1);
    assert_int_equal(idxi_log_writer_get_last_sequence(writer), 200);
    assert_status(IDX_IO_ERROR, append(writer, 10));
    assert_status(IDX_IO_ERROR, idxi_log_make_ready(writer, &failure));
    assert_non_null(strstr(failure.sentence, "close the writer"));
    assert_status(IDX_IO_ERROR, idxi_log_trim_records(writer, 200, &failure));
    idxi_log_writer_close(writer);
    check_log(folder, 0, 210);  /* readers see what may not be on disk */
    arm(FAULT_SYNC, 0, 1, EIO); /* what may not be on disk is synced before anything comes behind it */
    assert_status(IDX_IO_ERROR, open_writer(&writer, folder));
    assert_int_equal(disarm(), 1);
    arm(FAULT_SYNC, SIZE_MAX / 2, 1, EIO);
    assert_ok(open_writer(&writer, folder));
    disarm();
    assert_int_equal(idxi_log_writer_get_last_sequence(writer), 210);
    assert_ok(append(writer, 1));
    idxi_log_writer_close(writer);
    check_log(folder, 0, 211);
}

/* Of a frame that could not be written nothing is there; of one that makes no more room neither. */
static void test_writes_that_fail(void **state) {
    const char *folder = *state;
    struct idxi_log_writer *writer;
    uint64_t last = 0;
    assert_ok(open_writer(&writer, folder));
    for (size_t i = 0; i < 300; i++) {
        arm(FAULT_WRITE, 0, 1, i % 2 == 0 ? ENOSPC : EIO);
        assert_status(i % 2 == 0 ? IDX_DISK_FULL : IDX_IO_ERROR, append(writer, 40));
        assert_int_equal(disarm(), 1);
        assert_int_equal(idxi_log_writer_get_last_sequence(writer), last);
        check_log(folder, 0, last);
        assert_ok(append(writer, 40));
        last += 40;
    }
    check_log(folder, 0, last);
    idxi_log_writer_close(writer);
}

/* No room: none of a batch is there, nor is what was acknowledged lost; and with room again it goes on. */
static void test_disk_full(void **state) {
    const char *folder = *state;
    struct idxi_log_writer *writer;
    struct rlimit before, limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_IGN);
    assert_ok(open_writer(&writer, folder));
    for (rlim_t room = 90000; room < 900000; room += 77777) { /* not whole pages: writes are cut short */
        enum idx_status status = IDX_OK;
        limit = (struct rlimit){room, before.rlim_max};
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
        for (size_t i = 0; i < 10000 && status == IDX_OK; i++) status = append(writer, 100);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        assert_status(IDX_DISK_FULL, status);
        uint64_t last = idxi_log_writer_get_last_sequence(writer);
        check_log(folder, 0, last);
        assert_ok(append(writer, 1));
        check_log(folder, 0, last + 1);
    }
    uint64_t last = idxi_log_writer_get_last_sequence(writer);
    idxi_log_writer_close(writer);
    assert_ok(open_writer(&writer, folder));
    assert_int_equal(idxi_log_writer_get_last_sequence(writer), last);
    idxi_log_writer_close(writer);
    signal(SIGXFSZ, SIG_DFL);
}

/* A child of fork neither writes nor changes what its parent writes. */
static void test_fork(void **state) {
    const char *folder = *state;
    struct idxi_log_writer *writer;
    int status;
    assert_ok(open_writer(&writer, folder));
    assert_ok(append(writer, 10));
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        bool refused = append(writer, 1) == IDX_INVALID_ARGUMENT && idxi_log_trim_records(writer, 5, NULL) != IDX_OK;
        idxi_log_writer_close(writer);
        _exit(refused ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(entry_of(folder, NULL).last, 0);
    assert_ok(append(writer, 10));
    idxi_log_writer_close(writer);
    check_log(folder, 0, 20);
}

/* ---- A writer in another process ---- */

/* What it shares with those who read. */
struct shared {
    _Atomic uint64_t acknowledged, trimmed;
    atomic_bool stop;
};

#define BATCH 10 /* records */

static struct shared *share(void) {
    struct shared *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(shared != MAP_FAILED);
    return shared;
}

/* Appends batches, and has them go so often that new files come all the time. Never returns. */
static void write_all_the_while(const char *folder, struct shared *shared) {
    struct idxi_log_writer *writer;
    if (open_writer(&writer, folder) != IDX_OK) _exit(3);
    for (uint64_t round = 1; !shared->stop; round++) {
        if (append(writer, BATCH) != IDX_OK) _exit(4);
        shared->acknowledged = idxi_log_writer_get_last_sequence(writer);
        if (round % 7 != 0 || shared->acknowledged < 200) continue;
        uint64_t sequence = shared->acknowledged - mix(round) % 20 * BATCH;
        if (sequence <= shared->trimmed) continue;
        set_sequence(folder, sequence);
        shared->trimmed = sequence;
        if (idxi_log_trim_records(writer, sequence, &failure) != IDX_OK) _exit(5);
    }
    idxi_log_writer_close(writer);
    _exit(0);
}

struct readers {
    const char *folder;
    struct shared *shared;
    atomic_size_t failures, news;
};

/* Opens what stands there, as often as another one takes its place meanwhile, which the manifest tells. */
static enum idx_status open_newest(struct idxi_log *log, const char *folder, uint64_t *after, struct idx_error *error) {
    for (;;) {
        uint64_t sequence, again;
        entry_of(folder, &sequence);
        struct idxf_manifest_log entry = entry_of(folder, NULL);
        enum idx_status status = open_log(log, folder, sequence, error);
        *after = sequence;
        if (status == IDX_OK) return IDX_OK;
        struct idxf_manifest_log now = entry_of(folder, &again);
        if (again == sequence && memcmp(entry.id, now.id, sizeof now.id) == 0) return status;
    }
}

/* Follows the log, and begins anew now and then. */
static void *follow(void *context) {
    struct readers *readers = context;
    struct idx_error error;
    while (!readers->shared->stop) {
        struct idxi_log log;
        uint64_t last, acknowledged = readers->shared->acknowledged;
        enum idx_status status = open_newest(&log, readers->folder, &last, &error);
        for (size_t round = 0; round < 30 && status == IDX_OK; round++) {
            uint64_t after = last;
            status = read_on(&log, after, &last, &error);
            bool is_whole = last % BATCH == 0, has_all = round > 0 || last >= acknowledged;
            if (status != IDX_OK || !is_whole || !has_all) {
                print_error("status %d after %llu last %llu: %s\n", status, (unsigned long long)after,
                            (unsigned long long)last, status == IDX_OK ? "" : error.sentence);
                readers->failures++;
            }
            readers->news += last > after;
        }
        readers->failures += status != IDX_OK;
        idxi_log_close(&log);
    }
    return NULL;
}

static void test_readers_beside_a_writer(void **state) {
    enum { THREADS = 3 };
    pthread_t threads[THREADS];
    struct readers readers = {.folder = *state, .shared = share()};
    make_log(readers.folder, 1, BATCH);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) write_all_the_while(readers.folder, readers.shared);
    for (size_t i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, follow, &readers), 0);
    int status = 0;
    while (readers.shared->acknowledged < scale(50000) || readers.news < scale(2000)) {
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

/* Whatever was acknowledged is there after a kill, and nothing half; a new writer goes on. */
static void test_kills(void **state) {
    const char *folder = *state;
    struct shared *shared = share();
    for (size_t i = 0; i < scale(150); i++) {
        struct idxi_log log;
        struct idxi_log_writer *writer;
        uint64_t last, sequence;
        int status;
        uint64_t before = shared->acknowledged;
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) write_all_the_while(folder, shared);
        /* Every other one is killed at work, however slow the machine is; the rest may still begin. */
        while (i % 2 == 0 && shared->acknowledged == before) {
            assert_int_equal(waitpid(child, &status, WNOHANG), 0);
            usleep(1000);
        }
        usleep((useconds_t)(mix(i) % 8000));
        assert_int_equal(kill(child, SIGKILL), 0);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status)); /* it met no error of its own */
        if (!entry_of(folder, &sequence).exists) continue;
        assert_ok(open_log(&log, folder, sequence, &failure));
        assert_ok(read_on(&log, sequence, &last, &failure));
        idxi_log_close(&log);
        assert_int_equal(last % BATCH, 0);
        assert_in_range(last, shared->acknowledged, shared->acknowledged + BATCH);
        assert_ok(open_writer(&writer, folder));
        assert_int_equal(idxi_log_writer_get_last_sequence(writer), last);
        idxi_log_writer_close(writer);
        shared->acknowledged = last;
    }
    assert_true(shared->acknowledged > 0);
    munmap(shared, sizeof *shared);
}

/* ---- Damage ---- */

/* Reads a log that was damaged, and opens it for writing: IDX_OK where both find all that was there. */
static enum idx_status read_damaged(const char *folder, uint64_t expected) {
    const char *manifest_path = path_in(folder, "manifest");
    struct idxi_log log;
    struct idxi_log_writer *writer;
    uint64_t last = 0;
    size_t size;
    uint8_t *manifest = read_file(manifest_path, &size);
    enum idx_status status = open_log(&log, folder, 0, &failure);
    if (status == IDX_OK) {
        status = read_on(&log, 0, &last, &failure);
        idxi_log_close(&log);
    }
    assert_true(status == IDX_OK || is_damage(status) || status == IDX_NEW_VERSION);
    if (status == IDX_OK) assert_int_equal(last, expected);
    enum idx_status opened = open_writer(&writer, folder);
    assert_int_equal(opened, status);
    if (opened != IDX_OK) {
        free(manifest);
        return status;
    }
    assert_int_equal(idxi_log_writer_get_last_sequence(writer), expected);
    idxi_log_writer_close(writer);
    write_file(manifest_path, manifest, size); /* that of the log which the writer may have replaced */
    free(manifest);
    return IDX_OK;
}

/* Each bit of a log that was closed: all that was there is found, or damage is; what is damage does not depend on what
 * another one made of it, since each begins with the file as it was. */
static void test_every_bit(void **state) {
    const char *folder = *state, *path = path_in(folder, IDXI_LOG_NAME);
    size_t size, damaged = 0, same = 0;
    make_log(folder, 4, 5);
    uint8_t *bytes = read_file(path, &size);
    size_t used = size;
    while (bytes[used - 1] == 0) used--;
    for (size_t bit = 0; bit < 8 * size; bit++) {
        size_t at = bit / 8;
        /* Of the zeros between and behind what there is some are enough. */
        bool is_unused =
            (at >= 88 && at < 4096) || (at >= 4128 && at < 8192) || (at >= 8224 && at < 12288) || at >= used + 64;
        if (is_unused && mix(bit) % 500 != 0) continue;
        bytes[at] ^= (uint8_t)(1u << bit % 8);
        write_file(path, bytes, size);
        bytes[at] ^= (uint8_t)(1u << bit % 8);
        bool is_damaged = read_damaged(folder, 20) != IDX_OK;
        if (at < 88 || (at >= 12288 && at < used)) assert_true(is_damaged);
        if (is_unused) assert_false(is_damaged);
        damaged += is_damaged;
        same += !is_damaged;
    }
    /* The checksum of the last frame may end in zeros, which `used` leaves out. */
    assert_in_range(damaged, 8 * (used - 12288), 8 * (used - 12288 + 88 + 7));
    assert_true(same > 8 * 64);
    free(bytes);
}

static void test_noise(void **state) {
    const char *folder = *state, *path = path_in(folder, IDXI_LOG_NAME);
    size_t size;
    make_log(folder, 8, 100);
    uint8_t *bytes = read_file(path, &size), *copy = malloc(size);
    size_t used = size;
    while (bytes[used - 1] == 0) used--;
    assert_non_null(copy);
    for (size_t page = 0; page < size / 4096; page++) {
        for (unsigned kind = 0; kind < 3; kind++) {
            memcpy(copy, bytes, size);
            for (size_t i = 0; i < 4096; i += 8) {
                uint64_t noise = kind == 0 ? mix(page * 4096 + i) : kind == 1 ? 0 : UINT64_MAX;
                memcpy(copy + page * 4096 + i, &noise, 8);
            }
            write_file(path, copy, size);
            bool is_slot = page == 1 || page == 2;
            assert_int_equal(read_damaged(folder, 800) == IDX_OK, is_slot || page * 4096 >= used);
        }
    }
    free(copy);
    free(bytes);
}

/* Cut off anywhere; only zeros may go. */
static void test_truncations(void **state) {
    const char *folder = *state, *path = path_in(folder, IDXI_LOG_NAME);
    size_t size;
    make_log(folder, 8, 100);
    uint8_t *bytes = read_file(path, &size);
    size_t used = size;
    while (bytes[used - 1] == 0) used--;
    for (size_t cut = 0; cut < size; cut += cut < 13000 ? 64 : 997) {
        write_file(path, bytes, cut);
        assert_int_equal(read_damaged(folder, 800) == IDX_OK, cut >= used);
    }
    free(bytes);
}

/* What was never acknowledged is passed over, and written over; what was is damage. */
static void test_torn_frames(void **state) {
    const char *folder = *state, *path = path_in(folder, IDXI_LOG_NAME);
    size_t size;
    uint8_t *before, *after, *copy;
    struct idxi_log_writer *writer;
    make_log(folder, 2, 10);
    before = read_file(path, &size);
    assert_ok(open_writer(&writer, folder));
    assert_ok(append(writer, 10));
    after = read_file(path, &size); /* with a slot that knows of it */
    size_t begin = 0, end = size;
    while (after[end - 1] == 0) end--;
    for (begin = 12288; before[begin] == after[begin];) begin++;
    copy = malloc(size);
    for (size_t torn = begin; torn <= end; torn++) {
        memcpy(copy, before, size);
        memcpy(copy + begin, after + begin, torn - begin);
        write_file(path, copy, size);
        check_log(folder, 0, torn == end ? 30 : 20);
        memcpy(copy + 4096, after + 4096, 8192);
        write_file(path, copy, size);
        struct idxi_log log;
        uint64_t last;
        assert_ok(open_log(&log, folder, 0, &failure));
        assert_int_equal(read_on(&log, 0, &last, &failure), torn == end ? IDX_OK : IDX_BAD_CHECKSUM);
        idxi_log_close(&log);
    }
    write_file(path, after, size);
    idxi_log_writer_close(writer);
    free(copy);
    free(before);
    free(after);
}

/* Writes a slot, whose checksum is right. */
static void set_slot(const char *folder, unsigned slot, const struct idxf_log_place *place) {
    struct idxf_log log;
    uint8_t bytes[IDXF_LOG_SLOT_BYTES];
    size_t size;
    uint32_t version;
    uint8_t *file = read_file(path_in(folder, IDXI_LOG_NAME), &size);
    assert_int_equal(idxf_log_header_read(&log, file, size, &version), IDXF_OK);
    idxf_log_slot_write(&log, place, bytes);
    memcpy(file + idxf_log_get_slot_offset(slot), bytes, sizeof bytes);
    write_file(path_in(folder, IDXI_LOG_NAME), file, size);
    free(file);
}

static enum idx_status read_all(const char *folder) {
    struct idxi_log log;
    uint64_t last;
    enum idx_status status = open_log(&log, folder, 0, &failure);
    if (status == IDX_OK) status = read_on(&log, 0, &last, &failure);
    idxi_log_close(&log);
    return status;
}

/* No frame ends before the first one begins, where the header counts as one. The slot that says more counts. */
static void test_slots_before_the_frames(void **state) {
    const char *folder = *state;
    struct idxi_log log;
    make_log(folder, 2, 10);
    assert_ok(open_log(&log, folder, 0, &failure));
    const struct idxf_log_place end = log.acknowledged, begin = idxf_log_get_first_place(&log.header);
    idxi_log_close(&log);
    const struct idxf_log_place wrong[] = {
        {0, 0, 0},
        {0, begin.sequence, begin.chain},
        {5, begin.sequence, begin.chain},
        {begin.offset - 1, begin.sequence, begin.chain},
        {begin.offset, begin.sequence + 1, begin.chain},
        {begin.offset, begin.sequence, begin.chain ^ 1},
    };
    for (unsigned i = 0; i < LENGTH(wrong); i++) {
        struct idxi_log_writer *writer;
        set_slot(folder, 0, &wrong[i]);
        set_slot(folder, 1, &wrong[i]);
        assert_status(IDX_BAD_CHECKSUM, read_all(folder));
        assert_int_equal(failure.offset, idxf_log_get_slot_offset(0));
        assert_status(IDX_BAD_CHECKSUM, open_writer(&writer, folder));
        set_slot(folder, 1, &end);
        assert_ok(read_all(folder));
    }
    set_slot(folder, 0, &begin);
    set_slot(folder, 1, &begin);
    assert_ok(read_all(folder));
}

/* A frame that a slot contradicts is damage each time that it is read, and not passed over. */
static void test_damage_stays(void **state) {
    const char *folder = *state;
    struct idxi_log log;
    uint64_t last;
    make_log(folder, 2, 10);
    assert_ok(open_log(&log, folder, 0, &failure));
    struct idxf_log_place end = log.acknowledged;
    idxi_log_close(&log);
    end.chain ^= 1;
    for (unsigned slot = 0; slot < 2; slot++) set_slot(folder, slot, &end);
    assert_ok(open_log(&log, folder, 0, &failure));
    for (unsigned i = 0; i < 3; i++) {
        uint64_t after = i == 0 ? 0 : 10;
        assert_status(IDX_BAD_CHECKSUM, read_on(&log, after, &last, &failure));
        assert_int_equal(last, 10);
    }
    idxi_log_close(&log);
}

/* Bytes of a frame that was torn, behind one that came in its place, are no frame; and they go with the next writer. */
static void test_stale_bytes(void **state) {
    const char *folder = *state, *path = path_in(folder, IDXI_LOG_NAME);
    size_t size, used;
    struct idxi_log_writer *writer;
    make_log(folder, 1, 10);
    uint8_t *bytes = read_file(path, &size);
    for (used = size; bytes[used - 1] == 0;) used--;
    memset(bytes + used, 0x5a, 3000);
    write_file(path, bytes, size);
    check_log(folder, 0, 10);
    assert_ok(open_writer(&writer, folder));
    assert_ok(append(writer, 1));
    check_log(folder, 0, 11);
    uint8_t *now = read_file(path, &size);
    for (used = size; now[used - 1] == 0;) used--;
    bool stays = true; /* a checksum may well end with one of them */
    for (size_t i = 1; i <= 16; i++) stays = stays && now[used - i] == 0x5a;
    assert_false(stays);
    idxi_log_writer_close(writer);
    free(now);
    free(bytes);
}

/* A missing log, another index's, another one of this index, and an older copy. */
static void test_another_log(void **state) {
    const char *folder = *state, *path = path_in(folder, IDXI_LOG_NAME);
    struct idxi_log_writer *writer;
    struct idxi_log log;
    size_t size, first_size;
    uint64_t last;
    make_log(folder, 1, 10);
    uint8_t *first = read_file(path, &first_size);
    make_log(folder, 1, 10);
    uint8_t *second = read_file(path, &size);
    write_file(path, first, first_size);
    assert_ok(open_log(&log, folder, 0, &failure));
    assert_status(IDX_BAD_CONTENT, read_on(&log, 0, &last, &failure)); /* of before the writer that closed it */
    idxi_log_close(&log);
    assert_status(IDX_BAD_CONTENT, open_writer(&writer, folder));
    write_file(path, second, size);
    set_sequence(folder, 15);
    make_log(folder, 1, 10);
    uint8_t *third = read_file(path, &first_size);
    write_file(path, second, size); /* of before it was replaced */
    assert_status(IDX_FOREIGN_FILE, open_log(&log, folder, 15, &failure));
    assert_status(IDX_FOREIGN_FILE, open_writer(&writer, folder));
    assert_int_equal(unlink(path), 0);
    assert_status(IDX_MISSING_FILE, open_log(&log, folder, 15, &failure));
    assert_status(IDX_MISSING_FILE, open_writer(&writer, folder));
    write_file(path, third, first_size);
    check_log(folder, 15, 30);
    struct idxf_record_rules other = rules;
    struct idxf_manifest_log entry = entry_of(folder, NULL);
    int descriptor = open_folder(folder);
    other.uuid[15] = 1;
    assert_status(IDX_FOREIGN_FILE, idxi_log_open(&log, descriptor, folder, &other, &entry, 15, &failure));
    idxi_log_close(&log);
    close(descriptor);
    free(first);
    free(second);
    free(third);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        on_index(test_links_are_not_written),
        on_index(test_append_and_read),
        on_index(test_the_visitor_ends_it),
        on_index(test_nothing_new_costs_one_read),
        on_index(test_room_is_made_before),
        on_index(test_longer_before_each_read),
        on_index(test_large_records),
        on_index(test_a_million_records),
        on_index(test_sequence_numbers_end),
        on_index(test_trim),
        on_index(test_trim_beside_a_reader),
        on_index(test_trim_with_failures),
        on_index(test_a_sync_that_fails),
        on_index(test_writes_that_fail),
        on_index(test_disk_full),
        on_index(test_fork),
        on_index(test_readers_beside_a_writer),
        on_index(test_kills),
        on_index(test_every_bit),
        on_index(test_noise),
        on_index(test_truncations),
        on_index(test_torn_frames),
        on_index(test_slots_before_the_frames),
        on_index(test_damage_stays),
        on_index(test_stale_bytes),
        on_index(test_another_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
