/* system.c: what becomes of a build, an opening, a look-up or a check when one call to the system fails, whichever it
 * is: the status that idx.h promises, nothing left behind, nothing leaked, and an index replaced or untouched. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libidx/base/base.h"
#include "libidx/segment/table_writer.h"
#include "libidx/view/index.h"
#include "tests/libidx/faults.h"
#include "tests/libidx/sets.h"
#include "tests/libidx/support.h"

#define COUNT 200

static const char *path, *place; /* of the index, and of its folder */

/* ---- What is tried ---- */

static enum idx_status add_all(struct idx_builder *builder, uint64_t seed) {
    enum idx_status status = IDX_OK;
    for (size_t i = 0; i < COUNT && status == IDX_OK; i++)
        status = idx_builder_add(
            builder, &(struct idx_item){.fingerprint = next_random(&seed), .id = "id", .id_length = 2}, &failure);
    return status;
}

static enum idx_status build_with(bool replace, unsigned threads) {
    struct idx_build_options options = IDX_BUILD_OPTIONS_INIT;
    struct idx_builder *builder;
    options.scheme = "2:1:1";
    options.block_size = 128;
    options.replace = replace;
    options.threads = threads;
    options.by_id = true;
    enum idx_status status = idx_builder_open(&builder, path, &options, &failure);
    if (status != IDX_OK) return status;
    status = add_all(builder, replace ? 2 : 1);
    if (status == IDX_OK) status = idx_builder_finish(builder, NULL, &failure);
    idx_builder_close(builder);
    return status;
}

static enum idx_status try_build(void) { return build_with(false, 1); }
static enum idx_status try_threads(void) { return build_with(false, 2); }
static enum idx_status try_replace(void) { return build_with(true, 1); }
static enum idx_status try_verify(void) { return idx_verify(path, NULL, NULL, &failure); }

static enum idx_status read_index(const struct idx_index *index) {
    struct idx_match match;
    struct idx_document document;
    struct idx_documents *cursor;
    size_t count;
    bool found = false, replaced;
    uint64_t seed = 1, fingerprint = next_random(&seed);
    enum idx_status status = idx_lookup(index, fingerprint, 3, &match, 1, &count, &failure);
    if (status == IDX_OK) status = idx_replaced(index, &replaced, &failure);
    if (status == IDX_OK) status = idx_documents_open(&cursor, index, &failure);
    if (status != IDX_OK) return status;
    status = idx_documents_find(cursor, fingerprint, NULL, &failure);
    if (status == IDX_OK) status = idx_documents_next(cursor, &document, &found, &failure);
    idx_documents_close(cursor);
    if (status == IDX_OK && !(found && count == 1)) return IDX_BAD_CONTENT;
    if (status == IDX_OK)
        status = idx_find_id(index, &(struct idx_item){.id = "id", .id_length = 2}, &fingerprint, 1, &count, &failure);
    return status == IDX_OK && count != COUNT ? IDX_BAD_CONTENT : status;
}

static enum idx_status try_reading(enum idx_residence residence) {
    struct idx_open_options options = IDX_OPEN_OPTIONS_INIT;
    struct idx_index *index;
    options.residence = residence;
    enum idx_status status = idx_open(&index, path, &options, &failure);
    if (status != IDX_OK) return status;
    status = read_index(index);
    idx_close(index);
    return status;
}

static enum idx_status try_reading_memory(void) { return try_reading(IDX_RESIDENCE_ALL); }
static enum idx_status try_reading_mapped(void) { return try_reading(IDX_RESIDENCE_NONE); }
static enum idx_status try_reading_disk(void) { return try_reading(IDX_RESIDENCE_DISK); }

static bool count_pairs(void *context, const struct idx_pair *pairs, size_t count) {
    (void)pairs;
    *(size_t *)context += count;
    return true;
}

#define NEAR 10000

/* All pairs at a large distance, of an array and of the index: of each NEAR numbers from 0 on, and in COUNT of the
 * index none. */
static enum idx_status try_pairs(void) {
    static uint64_t near[NEAR];
    struct idx_join_options options = IDX_JOIN_OPTIONS_INIT;
    struct idx_index *index;
    size_t count = 0;
    for (size_t i = 0; i < NEAR; i++) near[i] = i / 2 * UINT64_C(0x9e3779b97f4a7c15) ^ i % 2;
    options.distance = 8;
    options.threads = 2;
    enum idx_status status = idx_array_pairs(near, NEAR, &options, count_pairs, &count, &failure);
    if (status == IDX_OK) assert_int_equal(count, NEAR / 2);
    if (status == IDX_OK) status = idx_open(&index, path, NULL, &failure);
    if (status != IDX_OK) return status;
    status = idx_pairs(index, &options, count_pairs, &count, &failure);
    if (status == IDX_OK) assert_int_equal(count, NEAR / 2);
    idx_close(index);
    return status;
}

/* A call that fails is made again, and must do then; the first failure is kept. */
#define TWICE(call, error)                                                                                             \
    do {                                                                                                               \
        enum idx_status first_ = (call)(error);                                                                        \
        if (first_ != IDX_OK && status == IDX_OK) status = first_;                                                     \
        if (first_ != IDX_OK) assert_int_equal(try_again(call), IDX_OK);                                               \
    } while (0)

static struct idx_writer *writer;
static struct idx_index *view, *newer;
static uint64_t new_fingerprint, new_seed = 100; /* far from all others */

static bool may_be_done; /* the sync of a call before failed: what it wrote may be there */

/* Makes a call once more. A writer that does not know what is on disk can only be closed; a new one goes on. */
static enum idx_status try_again(enum idx_status (*call)(struct idx_error *)) {
    enum idx_status status = call(NULL);
    if (status != IDX_IO_ERROR || writer == NULL) return status;
    idx_writer_close(writer);
    writer = NULL;
    status = idx_writer_open(&writer, path, NULL, NULL);
    if (status != IDX_OK) return status;
    may_be_done = true;
    status = call(NULL);
    may_be_done = false;
    return status;
}

static enum idx_status open_writer(struct idx_error *error) { return idx_writer_open(&writer, path, NULL, error); }

static void close_writer(void) {
    idx_writer_close(writer);
    writer = NULL;
}

static enum idx_status check_and_add_two(struct idx_error *error) {
    struct idx_item items[2] = {{.fingerprint = new_fingerprint, .id = "a", .id_length = 1},
                                {.fingerprint = new_fingerprint ^ 1, .id = "b", .id_length = 1}};
    size_t counts[2];
    enum idx_status status = check_and_add(writer, items, 2, 1, NULL, 0, counts, error);
    if (status == IDX_OK && !may_be_done) assert_int_equal(counts[0], 0);
    if (status == IDX_OK && !may_be_done) assert_int_equal(counts[1], 1);
    return status;
}

static enum idx_status add_another(struct idx_error *error) {
    struct idx_item item = {.fingerprint = new_fingerprint, .id = "c", .id_length = 1};
    return idx_writer_add(writer, &item, 1, error);
}

static enum idx_status remove_one(struct idx_error *error) {
    struct idx_item item = {.fingerprint = new_fingerprint, .id = "a", .id_length = 1};
    struct idx_removal removal;
    enum idx_status status = idx_writer_remove(writer, IDX_REMOVE_DOCUMENTS, &item, 1, &removal, error);
    if (status == IDX_OK && !may_be_done) assert_int_equal(removal.documents, 1);
    return status;
}

static enum idx_status refresh(struct idx_error *error) { return idx_refresh(view, &newer, error); }

/* Opens a view and a writer, adds two documents, removes one of them, and refreshes the view. */
static enum idx_status try_growing(void) {
    enum idx_status status = idx_open(&view, path, NULL, &failure);
    struct idx_properties before, after;
    if (status != IDX_OK) return status;
    new_fingerprint = next_random(&new_seed);
    TWICE(open_writer, &failure);
    TWICE(check_and_add_two, &failure);
    TWICE(add_another, &failure);
    TWICE(remove_one, &failure);
    TWICE(refresh, &failure);
    idx_get_properties(view, &before);
    idx_get_properties(newer, &after);
    assert_int_equal(after.pending_documents - before.pending_documents, 2);
    assert_int_equal(after.pending_removals - before.pending_removals, 1);
    idx_close(newer);
    idx_close(view);
    disarm(); /* closing tells the manifest how far the log goes, where it can */
    close_writer();
    return status;
}

/* Writes a table that keeps its keys in a file. */
static enum idx_status try_table(void) {
    static uint64_t fingerprints[20000];
    struct idxi_array_stream stream;
    struct idxi_table_job job = {.name = "table", .path = "table", .temporary_path = "temporary", .key_memory = 64};
    uint64_t size;
    int folder = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return idxi_fail_system(&failure, errno, place, "open");
    for (size_t i = 0; i < LENGTH(fingerprints); i++) fingerprints[i] = i << 40;
    idxi_array_stream_init(&stream, fingerprints, NULL, LENGTH(fingerprints));
    job.header = (struct idxf_table_header){
        .mask = 1, .block_size = 64, .bits = 64, .anchor_bits = 40, .code = {40, {1, 1}}}; /* near, and far */
    job.fingerprints = &stream.stream;
    job.folder = job.temporary_folder = folder;
    enum idx_status status = idxi_table_write(&job, &size, &failure);
    unlinkat(folder, "table", 0);
    close(folder);
    return status;
}

/* ---- How ---- */

typedef enum idx_status (*attempt)(void);

static uint64_t count_documents(void) {
    struct idx_properties properties;
    struct idx_index *index = open_index(path, IDX_RESIDENCE_DIRECTORY);
    idx_get_properties(index, &properties);
    idx_close(index);
    return properties.documents;
}

/* A folder that holds nothing; but when the very last sync fails, the index stands already, and is whole. */
static void expect_nothing_left(const char *folder) {
    if (count_entries(folder) == 0) return;
    assert_int_equal(count_entries(folder), 1);
    assert_ok(idx_verify(path, NULL, NULL, &failure));
    remove_all(path);
}

static void expect_one_index(const char *folder) {
    assert_int_equal(count_entries(folder), 1);
    assert_ok(idx_verify(path, NULL, NULL, &failure));
    assert_int_equal(count_documents(), COUNT);
}

/* Lets the first call of a kind fail, then the second and so on, until there is none left to fail. Each time `try` must
 * return the expected status. Returns the number of calls. */
static size_t fail_each(const char *folder, attempt try, enum fault_kind kind, int fault_errno,
                        enum idx_status expected) {
    bool begins_empty = count_entries(folder) == 0;
    int descriptors = count_entries("/proc/self/fd");
    for (size_t call = 0;; call++) {
        failure = (struct idx_error){0};
        arm(kind, call, 1, fault_errno);
        enum idx_status status = try();
        if (disarm() == 0) {
            assert_ok(status);
            return call;
        }
        if (status != expected) print_error("call %zu of kind %d\n", call, (int)kind);
        assert_status(expected, status);
        if (expected == IDX_DISK_FULL) assert_non_null(strstr(failure.sentence, "; free space there, or put "));
        if (begins_empty)
            expect_nothing_left(folder);
        else
            expect_one_index(folder);
        assert_int_equal(count_entries("/proc/self/fd"), descriptors);
    }
}

static void expect_calls(size_t calls, size_t least) {
    if (calls < least) fail_msg("only %zu calls", calls);
}

static int make_place(void **state) {
    if (make_folder(state) != 0) return -1;
    place = *state;
    path = path_in(place, "i");
    return 0;
}

static int make_index(void **state) {
    if (make_place(state) != 0) return -1;
    return try_build() == IDX_OK ? 0 : -1;
}

/* ---- Memory ---- */

static void test_building_without_memory(void **state) {
    expect_calls(fail_each(*state, try_build, FAULT_ALLOCATION, ENOMEM, IDX_OUT_OF_MEMORY), 20);
    remove_all(path);
    expect_calls(fail_each(*state, try_threads, FAULT_ALLOCATION, ENOMEM, IDX_OUT_OF_MEMORY), 20);
}

static void test_replacing_without_memory(void **state) {
    expect_calls(fail_each(*state, try_replace, FAULT_ALLOCATION, ENOMEM, IDX_OUT_OF_MEMORY), 20);
}

static void test_reading_without_memory(void **state) {
    expect_calls(fail_each(*state, try_reading_memory, FAULT_ALLOCATION, ENOMEM, IDX_OUT_OF_MEMORY), 10);
    expect_calls(fail_each(*state, try_reading_mapped, FAULT_ALLOCATION, ENOMEM, IDX_OUT_OF_MEMORY), 10);
    expect_calls(fail_each(*state, try_reading_disk, FAULT_ALLOCATION, ENOMEM, IDX_OUT_OF_MEMORY), 10);
    expect_calls(fail_each(*state, try_verify, FAULT_ALLOCATION, ENOMEM, IDX_OUT_OF_MEMORY), 10);
    expect_calls(fail_each(*state, try_reading_mapped, FAULT_MAP, ENOMEM, IDX_OUT_OF_MEMORY), 4);
}

/* ---- Files ---- */

static void test_building_on_bad_disks(void **state) {
    static const struct {
        enum fault_kind kind;
        int fault_errno;
        enum idx_status expected;
        size_t least;
    } cases[] = {
        {FAULT_WRITE, ENOSPC, IDX_DISK_FULL, 5}, {FAULT_WRITE, EDQUOT, IDX_DISK_FULL, 5},
        {FAULT_WRITE, EIO, IDX_IO_ERROR, 5},     {FAULT_SYNC, EIO, IDX_IO_ERROR, 5},
        {FAULT_SYNC, ENOSPC, IDX_DISK_FULL, 5},  {FAULT_OPEN, EMFILE, IDX_IO_ERROR, 5},
        {FAULT_OPEN, ENOSPC, IDX_DISK_FULL, 5},  {FAULT_MKDIR, EROFS, IDX_NO_ACCESS, 2},
        {FAULT_MKDIR, ENOSPC, IDX_DISK_FULL, 2}, {FAULT_READ, EIO, IDX_IO_ERROR, 1},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        size_t calls = fail_each(*state, try_build, cases[i].kind, cases[i].fault_errno, cases[i].expected);
        expect_calls(calls, cases[i].least);
        remove_all(path);
    }
}

static void test_tables_on_bad_disks(void **state) {
    expect_calls(fail_each(*state, try_table, FAULT_ALLOCATION, ENOMEM, IDX_OUT_OF_MEMORY), 4);
    expect_calls(fail_each(*state, try_table, FAULT_WRITE, ENOSPC, IDX_DISK_FULL), 200); /* keys, eight at a time */
    expect_calls(fail_each(*state, try_table, FAULT_READ, EIO, IDX_IO_ERROR), 200);
    expect_calls(fail_each(*state, try_table, FAULT_OPEN, EACCES, IDX_NO_ACCESS), 3);
    expect_calls(fail_each(*state, try_table, FAULT_SYNC, EIO, IDX_IO_ERROR), 1);
}

/* Where the file system has no files without a name, one loses its name at once. */
static void test_files_that_have_a_name(void **state) {
    static const int unsupported[] = {EOPNOTSUPP, EISDIR};
    for (size_t i = 0; i < LENGTH(unsupported); i++) {
        arm(FAULT_OPEN, 2, 1, unsupported[i]); /* after the folder and the table */
        assert_ok(try_table());
        assert_int_equal(disarm(), 1);
        assert_int_equal(count_entries(*state), 0);
        arm(FAULT_OPEN, 2, 2, unsupported[i]);
        enum idx_status status = try_table();
        assert_int_equal(disarm(), 2);
        assert_status(IDX_IO_ERROR, status);
        assert_non_null(strstr(failure.sentence, "temporary: can't create a temporary file in: "));
        assert_null(strstr(failure.sentence, "choose"));
    }
    arm(FAULT_OPEN, 2, 1, EROFS);
    enum idx_status status = try_table();
    assert_int_equal(disarm(), 1);
    assert_status(IDX_NO_ACCESS, status);
    assert_non_null(strstr(failure.sentence,
                           "temporary: can't create a temporary file in: Read-only file system; choose "
                           "another folder for temporary files"));
}

static void test_replacing_on_bad_disks(void **state) {
    expect_calls(fail_each(*state, try_replace, FAULT_WRITE, ENOSPC, IDX_DISK_FULL), 5);
    expect_calls(fail_each(*state, try_replace, FAULT_MKDIR, ENOSPC, IDX_DISK_FULL), 2);
}

/* When the very last sync fails, that of the folder that holds it, the disk may still know the path as the old index's:
 * the new one stands, and the old one stays beside it until the next build has synced that folder. */
static void test_replacing_without_syncs(void **state) {
    size_t calls = 0, left = 0;
    for (bool failed = true; failed; calls++) {
        bool replaced;
        struct idx_index *index = open_index(path, IDX_RESIDENCE_DIRECTORY);
        arm(FAULT_SYNC, calls, 1, EIO);
        enum idx_status status = try_replace();
        failed = disarm() > 0;
        assert_status(failed ? IDX_IO_ERROR : IDX_OK, status);
        assert_ok(idx_replaced(index, &replaced, &failure));
        idx_close(index);
        assert_int_equal(replaced, !failed || count_entries(*state) == 2);
        if (replaced && failed) {
            left++;
            arm(FAULT_SYNC, 0, 1, EIO); /* before anything is removed */
            assert_ok(try_replace());
            assert_int_equal(disarm(), 1);
            assert_int_equal(count_entries(*state), 2);
            assert_ok(try_replace());
        }
        expect_one_index(*state);
    }
    expect_calls(calls, 6);
    assert_int_equal(left, 1);
}

static void test_reading_from_bad_disks(void **state) {
    expect_calls(fail_each(*state, try_reading_memory, FAULT_READ, EIO, IDX_IO_ERROR), 5);
    expect_calls(fail_each(*state, try_reading_disk, FAULT_READ, EIO, IDX_IO_ERROR), 5);
    expect_calls(fail_each(*state, try_reading_mapped, FAULT_OPEN, EMFILE, IDX_IO_ERROR), 6);
    expect_calls(fail_each(*state, try_reading_mapped, FAULT_OPEN, EACCES, IDX_NO_ACCESS), 6);
    expect_calls(fail_each(*state, try_verify, FAULT_READ, EIO, IDX_IO_ERROR), 4);
    expect_calls(fail_each(*state, try_verify, FAULT_OPEN, EMFILE, IDX_IO_ERROR), 6);
}

/* Interrupted calls are made again. */
static void test_interruptions(void **state) {
    for (size_t call = 0; call < 10; call++) {
        remove_all(path);
        arm(FAULT_WRITE, call, 3, EINTR);
        assert_ok(try_build());
        expect_calls(disarm(), call < 3 ? 1 : 0);
        arm(FAULT_READ, call, 3, EINTR);
        assert_ok(try_reading_memory());
        expect_calls(disarm(), call < 3 ? 1 : 0);
    }
    expect_one_index(*state);
}

/* Some file systems can't sync folders, and say so by EINVAL: no reason to fail. */
static void test_folders_that_can_not_be_synced(void **state) {
    size_t tolerated = 0, calls = 10;
    for (size_t call = 0; call < calls; call++) {
        arm(FAULT_SYNC, call, 1, EINVAL);
        enum idx_status status = try_build();
        bool failed = disarm() > 0;
        if (failed && status == IDX_OK) tolerated++;
        if (!failed) calls = 0;
        remove_all(path);
    }
    assert_int_equal(tolerated, 3); /* the segment's, the index's, and the one that holds it */
    assert_int_equal(count_entries(*state), 0);
}

static void test_no_random_numbers(void **state) {
    arm(FAULT_RANDOM, 0, SIZE_MAX / 2, ENOSYS);
    enum idx_status status = try_build();
    assert_true(disarm() > 0);
    assert_status(IDX_IO_ERROR, status);
    assert_int_equal(count_entries(*state), 0);
}

/* ---- Publishing ---- */

/* Where renameat2 is not known, a plain rename does it; it replaces nothing, but for an empty folder. */
static void test_publishing_without_renameat2(void **state) {
    static const int unsupported[] = {ENOSYS, EINVAL};
    for (size_t i = 0; i < LENGTH(unsupported); i++) {
        arm(FAULT_RENAME, 0, 1, unsupported[i]);
        assert_ok(try_build());
        assert_int_equal(disarm(), 1);
        expect_one_index(*state);
        remove_all(path);
    }
    arm(FAULT_RENAME, 0, 2, EINVAL);
    enum idx_status status = try_build();
    assert_int_equal(disarm(), 2);
    assert_status(IDX_IO_ERROR, status);
    assert_int_equal(count_entries(*state), 0);
}

/* What comes to stand at the path in the very last moment. */
static void test_publishing_too_late(void **state) {
    static const int there[] = {EEXIST, ENOTEMPTY, ENOTDIR};
    for (size_t i = 0; i < LENGTH(there); i++) {
        arm(FAULT_RENAME, 0, 1, there[i]);
        enum idx_status status = try_build();
        assert_int_equal(disarm(), 1);
        assert_status(IDX_EXISTS, status);
        assert_int_equal(count_entries(*state), 0);
    }
}

/* With `replace`, what came or went in the very last moment is looked at again. */
static void test_replacing_too_late(void **state) {
    arm(FAULT_RENAME, 0, 1, EEXIST);
    assert_ok(try_replace());
    assert_int_equal(disarm(), 1);
    expect_one_index(*state);
    arm(FAULT_RENAME, 0, 1, ENOENT);
    assert_ok(try_replace());
    assert_int_equal(disarm(), 1);
    expect_one_index(*state);
    arm(FAULT_RENAME, 0, SIZE_MAX / 2, ENOENT);
    enum idx_status status = try_replace();
    assert_true(disarm() > 1);
    assert_status(IDX_NOT_FOUND, status);
    expect_one_index(*state);
}

/* What can't be exchanged atomically is not replaced. */
static void test_replacing_without_renameat2(void **state) {
    static const int unsupported[] = {ENOSYS, EINVAL};
    bool replaced;
    struct idx_index *index = open_index(path, IDX_RESIDENCE_DIRECTORY);
    for (size_t i = 0; i < LENGTH(unsupported); i++) {
        arm(FAULT_RENAME, 0, 1, unsupported[i]);
        enum idx_status status = try_replace();
        assert_int_equal(disarm(), 1);
        assert_status(IDX_UNSUPPORTED, status);
        assert_ok(idx_replaced(index, &replaced, &failure));
        assert_false(replaced);
        expect_one_index(*state);
    }
    assert_int_equal(fail_each(*state, try_replace, FAULT_RENAME, EPERM, IDX_NO_ACCESS), 1);
    assert_ok(idx_replaced(index, &replaced, &failure));
    assert_true(replaced);
    idx_close(index);
}

/* Threads that can't be started are no reason to fail either. */
static void test_building_without_threads(void **state) {
    arm(FAULT_THREAD, 0, SIZE_MAX / 2, EAGAIN);
    assert_ok(try_threads());
    assert_true(disarm() > 0);
    expect_one_index(*state);
}

/* ---- Look-ups ---- */

#define QUERIES 1000

/* Each fingerprint of the index is found, and nothing else. */
static void look_up_all(const struct idx_index *index, unsigned threads) {
    static uint64_t queries[QUERIES];
    static size_t counts[QUERIES];
    uint64_t seed = 1;
    for (size_t i = 0; i < QUERIES; i++) queries[i] = next_random(&seed);
    assert_ok(look_up_many(index, queries, QUERIES, 0, threads, NULL, 0, counts, &failure));
    for (size_t i = 0; i < QUERIES; i++) assert_int_equal(counts[i], i < COUNT);
}

/* Look-ups need neither memory nor a system call that can fail; threads that can't be started are not needed either. */
static void test_looking_up_without_memory_or_threads(void **state) {
    static const enum fault_kind kinds[] = {FAULT_ALLOCATION, FAULT_OPEN, FAULT_READ, FAULT_MAP, FAULT_THREAD};
    (void)state;
    for (size_t i = 0; i < LENGTH(kinds) * 4; i++) {
        struct idx_index *index = open_index(path, (enum idx_residence)(i % 5));
        arm(kinds[i / 4], 0, SIZE_MAX / 2, EAGAIN);
        look_up_all(index, 1);
        assert_int_equal(disarm(), 0);
        idx_close(index);
    }
    struct idx_index *index = open_index(path, IDX_RESIDENCE_DIRECTORY);
    for (size_t started = 0; started < 3; started++) {
        arm(FAULT_THREAD, started, SIZE_MAX / 2, EAGAIN);
        look_up_all(index, 4);
        assert_int_equal(disarm(), 1); /* it doesn't ask again */
    }
    idx_close(index);
}

static enum idx_status compact(struct idx_error *error) {
    struct idx_compact_options options = IDX_COMPACT_OPTIONS_INIT;
    options.all = new_seed % 2 == 0;
    options.growth = 1;
    return idx_compact(path, &options, NULL, error);
}

/* Adds a document, removes another, and compacts beside the writer, or without one. */
static enum idx_status try_compacting(void) {
    enum idx_status status = IDX_OK;
    bool exists, beside = new_seed / 2 % 2 == 0;
    new_fingerprint = next_random(&new_seed);
    TWICE(open_writer, &failure);
    TWICE(check_and_add_two, &failure);
    TWICE(remove_one, &failure);
    TWICE(add_another, &failure);
    if (!beside) close_writer();
    TWICE(compact, &failure);
    if (beside) close_writer();
    assert_int_equal(idx_open(&view, path, NULL, NULL) == IDX_OK || idx_open(&view, path, NULL, NULL) == IDX_OK, true);
    if (idx_exists(view, new_fingerprint, 0, &exists, NULL) != IDX_OK)
        assert_int_equal(idx_exists(view, new_fingerprint, 0, &exists, NULL), IDX_OK);
    assert_true(exists);
    idx_close(view);
    return status;
}

/* Where one call fails, the attempt fails or does without; the next one goes well, and nothing is lost. */
static void go_on_after_failures(attempt try, enum fault_kind kind, int fault_errno, enum idx_status expected,
                                 size_t least) {
    for (size_t call = 0;; call++) {
        arm(kind, call, 1, fault_errno);
        enum idx_status status = try();
        bool ended = disarm() == 0;
        if (status != IDX_OK && status != expected) assert_status(expected, status);
        if (call % 16 == 0 || ended) assert_ok(idx_verify(path, NULL, NULL, &failure));
        if (!ended) continue;
        assert_true(call >= least);
        return;
    }
}

/* Some memory only makes it faster. */
static void test_pairs_without_memory(void **state) {
    (void)state;
    go_on_after_failures(try_pairs, FAULT_ALLOCATION, ENOMEM, IDX_OUT_OF_MEMORY, 20);
    go_on_after_failures(try_pairs, FAULT_MAP, ENOMEM, IDX_OUT_OF_MEMORY, 6);
}

static void test_compacting(void **state) {
    (void)state;
    go_on_after_failures(try_compacting, FAULT_ALLOCATION, ENOMEM, IDX_OUT_OF_MEMORY, 50);
    go_on_after_failures(try_compacting, FAULT_OPEN, EMFILE, IDX_IO_ERROR, 30);
    go_on_after_failures(try_compacting, FAULT_MKDIR, ENOSPC, IDX_DISK_FULL, 1);
    go_on_after_failures(try_compacting, FAULT_READ, EIO, IDX_IO_ERROR, 30);
    go_on_after_failures(try_compacting, FAULT_WRITE, ENOSPC, IDX_DISK_FULL, 8);
    go_on_after_failures(try_compacting, FAULT_SYNC, EIO, IDX_IO_ERROR, 8);
    go_on_after_failures(try_compacting, FAULT_RENAME, EIO, IDX_IO_ERROR, 1);
    go_on_after_failures(try_compacting, FAULT_RANDOM, EIO, IDX_IO_ERROR, 1);
}

/* The number of the first record in the log. */
static uint64_t first_record(void) {
    struct idxf_manifest *manifest = malloc(sizeof *manifest);
    read_manifest(path, manifest);
    uint64_t first = manifest->log.first + 1;
    free(manifest);
    return first;
}

/* A manifest whose name could not be synced may be gone after a crash: so the records that it has stay until it is. */
static void test_records_outlive_their_manifest(void **state) {
    bool replaced = false;
    (void)state;
    assert_ok(open_writer(&failure));
    assert_ok(check_and_add_two(&failure));
    assert_ok(add_another(&failure));
    struct idx_index *before = open_index(path, IDX_RESIDENCE_NONE);
    for (size_t call = 0; !replaced; call++) {
        arm(FAULT_SYNC, call, SIZE_MAX / 2, EIO);
        assert_status(IDX_IO_ERROR, idx_compact(path, NULL, NULL, &failure));
        assert_ok(idx_replaced(before, &replaced, &failure));
    }
    assert_status(IDX_IO_ERROR, add_another(&failure));
    assert_true(disarm() > 1);
    assert_int_equal(first_record(), 1);
    assert_ok(add_another(&failure));
    assert_ok(idx_compact(path, NULL, NULL, &failure));
    assert_ok(add_another(&failure));
    assert_true(first_record() > 1);
    idx_close(before);
    idx_writer_close(writer);
}

/* Merges the index where one call fails, whichever it is: nothing is left, but the whole where the last sync fails. */
static void merge_with_failures(enum fault_kind kind, int fault_errno, enum idx_status expected, size_t least) {
    const char *merged = path_in(place, "merged");
    int descriptors = count_entries("/proc/self/fd");
    for (size_t call = 0;; call++) {
        arm(kind, call, 1, fault_errno);
        enum idx_status status = idx_merge(merged, &path, 1, NULL, NULL, &failure);
        bool ended = disarm() == 0;
        assert_status(ended ? IDX_OK : expected, status);
        if (count_entries(place) == 2) assert_ok(idx_verify(merged, NULL, NULL, &failure));
        remove_all(merged);
        expect_one_index(place);
        assert_int_equal(count_entries("/proc/self/fd"), descriptors);
        if (!ended) continue;
        expect_calls(call, least);
        return;
    }
}

static void test_merging(void **state) {
    uint64_t seed = 1;
    struct idx_item removed = {.fingerprint = next_random(&seed), .id = "id", .id_length = 2};
    struct idx_item added = {.fingerprint = next_random(&seed), .id = "a", .id_length = 1};
    struct idx_removal removal;
    (void)state;
    assert_ok(open_writer(&failure));
    assert_ok(idx_writer_remove(writer, IDX_REMOVE_DOCUMENTS, &removed, 1, &removal, &failure));
    assert_int_equal(removal.documents, 1);
    assert_ok(idx_writer_add(writer, &added, 1, &failure));
    idx_writer_close(writer);
    merge_with_failures(FAULT_ALLOCATION, ENOMEM, IDX_OUT_OF_MEMORY, 50);
    merge_with_failures(FAULT_OPEN, EMFILE, IDX_IO_ERROR, 20);
    merge_with_failures(FAULT_READ, EIO, IDX_IO_ERROR, 8);
    merge_with_failures(FAULT_WRITE, ENOSPC, IDX_DISK_FULL, 5);
    merge_with_failures(FAULT_SYNC, EIO, IDX_IO_ERROR, 5);
}

/* What failed is not there, and can be done again. */
static void test_growing(void **state) {
    (void)state;
    go_on_after_failures(try_growing, FAULT_ALLOCATION, ENOMEM, IDX_OUT_OF_MEMORY, 50);
    go_on_after_failures(try_growing, FAULT_READ, EIO, IDX_IO_ERROR, 20);
    go_on_after_failures(try_growing, FAULT_OPEN, EMFILE, IDX_IO_ERROR, 20);
}

/* Where nothing is new, a refresh asks the system twice: for the manifest's file, and for what comes next in the log;
 * also once a writer has closed the log, and told the manifest so. */
static void test_refreshing_without_news(void **state) {
    (void)state;
    assert_ok(open_writer(&failure));
    new_fingerprint = next_random(&new_seed);
    assert_ok(check_and_add_two(&failure));
    view = open_index(path, IDX_RESIDENCE_DIRECTORY);
    for (size_t round = 0; round < 2; round++) {
        assert_ok(idx_refresh(view, &newer, &failure));
        assert_null(newer);
        size_t before = calls_to_the_system();
        assert_ok(idx_refresh(view, &newer, &failure));
        assert_null(newer);
        assert_int_equal(calls_to_the_system() - before, 2);
        if (round == 0) idx_writer_close(writer);
    }
    idx_close(view);
}

#define in_place(test) cmocka_unit_test_setup_teardown(test, make_place, remove_folder)
#define on_index(test) cmocka_unit_test_setup_teardown(test, make_index, remove_folder)

int main(void) {
    const struct CMUnitTest tests[] = {
        in_place(test_building_without_memory),
        on_index(test_replacing_without_memory),
        on_index(test_reading_without_memory),
        on_index(test_pairs_without_memory),
        in_place(test_building_on_bad_disks),
        in_place(test_tables_on_bad_disks),
        in_place(test_files_that_have_a_name),
        on_index(test_replacing_on_bad_disks),
        on_index(test_replacing_without_syncs),
        on_index(test_reading_from_bad_disks),
        in_place(test_interruptions),
        in_place(test_folders_that_can_not_be_synced),
        in_place(test_no_random_numbers),
        in_place(test_publishing_without_renameat2),
        in_place(test_publishing_too_late),
        in_place(test_replacing_too_late),
        on_index(test_replacing_without_renameat2),
        in_place(test_building_without_threads),
        on_index(test_looking_up_without_memory_or_threads),
        on_index(test_growing),
        on_index(test_refreshing_without_news),
        on_index(test_compacting),
        on_index(test_records_outlive_their_manifest),
        on_index(test_merging),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
