/* documents_many.c: tests of the documents of many fingerprints: the same lists as one cursor gives, one fingerprint
 * after the other, of every ID type, of segments with removals and pending documents; bounds, and what is refused. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/libidx/sets.h"
#include "tests/libidx/support.h"

#define KNOWN 3000 /* fingerprints that may have documents: dense, from 0 on, in several groups */
#define HEAVY 77   /* has more documents than a group */
#define DOCUMENTS 12000

/* ---- An index of two segments, and pending documents, with removals of both ---- */

static size_t make_id(char text[64], uint64_t number) {
    if (number % 50 == 0) return 0;
    int length = snprintf(text, 64, "https://example.org/%llu", (unsigned long long)number);
    if (number % 51 == 0) memcpy(text + length++, "\xff", 1);
    return (size_t)length;
}

/* Documents `begin` to `end`, of fingerprints of which some have many. */
static void make_items(struct idx_item *items, char (*ids)[64], size_t begin, size_t end) {
    for (size_t i = begin; i < end; i++) {
        uint64_t seed = i, number = i % 7 == 0 ? i / 2 : i, fingerprint = next_random(&seed) % KNOWN;
        size_t length = make_id(ids[i - begin], number);
        items[i - begin] = (struct idx_item){i % 4 == 0 ? HEAVY : fingerprint, number, ids[i - begin], length};
    }
}

static void build_first(const char *path, enum idx_id_type id_type, const struct idx_item *items, size_t count) {
    struct idx_build_options options = options_for(64, 3, "4");
    struct idx_builder *builder;
    options.id_type = id_type;
    assert_ok(idx_builder_open(&builder, path, &options, &failure));
    for (size_t i = 0; i < count; i++) {
        if (id_type == IDX_ID_TEXT) {
            assert_ok(idx_builder_add(builder,
                                      &(struct idx_item){.fingerprint = items[i].fingerprint,
                                                         .id = items[i].id,
                                                         .id_length = items[i].id_length},
                                      &failure));
        } else {
            assert_ok(idx_builder_add(
                builder, &(struct idx_item){.fingerprint = items[i].fingerprint, .number = items[i].number}, &failure));
        }
    }
    assert_ok(idx_builder_finish(builder, NULL, &failure));
    idx_builder_close(builder);
}

/* Adds documents, and removes some of before, and some fingerprints. */
static void change(const char *path, enum idx_id_type id_type, struct idx_item *items, size_t begin, size_t end) {
    struct idx_writer_options options = IDX_WRITER_OPTIONS_INIT;
    struct idx_writer *writer;
    uint64_t fingerprints[] = {begin % KNOWN, begin % KNOWN + 9, 1500};
    options.compact_records = 0;
    options.compact_segments = 0;
    assert_ok(idx_writer_open(&writer, path, &options, &failure));
    leave_out_ids(writer, items, end);
    assert_ok(idx_writer_add(writer, items + begin, end - begin, &failure));
    if (id_type != IDX_ID_NONE)
        assert_ok(idx_writer_remove(writer, IDX_REMOVE_DOCUMENTS, items + begin / 2, 500, NULL, &failure));
    assert_ok(remove_by_fingerprint(writer, fingerprints, LENGTH(fingerprints), NULL, &failure));
    idx_writer_close(writer);
}

static struct idx_index *make_index(const char *path, enum idx_id_type id_type) {
    struct idx_item *items = malloc(DOCUMENTS * sizeof *items);
    char(*ids)[64] = malloc(DOCUMENTS * sizeof *ids);
    struct idx_compact_options options = IDX_COMPACT_OPTIONS_INIT;
    assert_true(items != NULL && ids != NULL);
    make_items(items, ids, 0, DOCUMENTS);
    build_first(path, id_type, items, DOCUMENTS / 4 * 3);
    change(path, id_type, items, DOCUMENTS / 4 * 3, DOCUMENTS / 8 * 7);
    options.max_segments = 9;
    options.growth = 1;
    assert_ok(idx_compact(path, &options, NULL, &failure));
    change(path, id_type, items, DOCUMENTS / 8 * 7, DOCUMENTS);
    free(items);
    free(ids);
    struct idx_index *index = open_index(path, IDX_RESIDENCE_DIRECTORY);
    struct idx_properties properties;
    idx_get_properties(index, &properties);
    if (id_type != IDX_ID_NONE) assert_int_equal(properties.segments, 2);
    assert_true(properties.pending_documents > 0);
    return index;
}

/* ---- Comparing ---- */

/* Compares the lists of one fingerprint with what a cursor gives. Returns how many documents it has. */
static uint64_t check_one(const struct idx_index *index, struct idx_documents *cursor, uint64_t fingerprint, size_t at,
                          const struct idx_document_lists *lists, uint64_t max_documents) {
    struct idx_document document;
    uint64_t count = 0, listed = (uint64_t)(lists->offsets[at + 1] - lists->offsets[at]);
    bool found, exists;
    assert_ok(idx_exists(index, fingerprint, 0, &exists, &failure));
    if (exists) assert_ok(idx_documents_find(cursor, fingerprint, NULL, &failure));
    for (found = exists; found; count += found) {
        assert_ok(idx_documents_next(cursor, &document, &found, &failure));
        if (!found || count >= max_documents) continue;
        int64_t slot = lists->offsets[at] + (int64_t)count;
        if (lists->numbers != NULL) {
            assert_true(lists->numbers[slot] == document.number);
        } else {
            const int64_t *offset = &lists->id_offsets[slot];
            assert_int_equal(offset[1] - offset[0], document.id_length);
            assert_memory_equal(lists->ids + offset[0], document.id, document.id_length);
        }
    }
    assert_int_equal(lists->counts[at], count);
    assert_int_equal(listed, count < max_documents ? count : max_documents);
    return count;
}

static void compare(const struct idx_index *index, const uint64_t *fingerprints, size_t count, unsigned threads,
                    uint64_t max_documents) {
    struct idx_document_lists_options options = IDX_DOCUMENT_LISTS_OPTIONS_INIT;
    struct idx_document_lists lists;
    struct idx_documents *cursor;
    uint64_t documents = 0;
    options.threads = threads;
    options.max_documents = max_documents;
    assert_ok(idx_list_documents(index, fingerprints, count, &options, &lists, &failure));
    assert_ok(idx_documents_open(&cursor, index, &failure));
    assert_int_equal(lists.offsets[0], 0);
    for (size_t i = 0; i < count; i++) documents += check_one(index, cursor, fingerprints[i], i, &lists, max_documents);
    assert_true(count < KNOWN || documents > DOCUMENTS / 2);
    idx_documents_close(cursor);
    idx_document_lists_close(&lists);
    assert_null(lists.offsets);
}

static void check_index(const char *path, enum idx_id_type id_type) {
    enum { COUNT = 10000 };
    static uint64_t fingerprints[COUNT];
    uint64_t seed = 1;
    struct idx_index *index = make_index(path, id_type);
    for (size_t i = 0; i < COUNT; i++) {
        fingerprints[i] = i < KNOWN ? i : next_random(&seed) % (KNOWN + 100);
        if (i % 1000 == 999) fingerprints[i] = i % 2000 == 999 ? UINT64_MAX - i : HEAVY;
    }
    compare(index, fingerprints, COUNT, 1, UINT64_MAX);
    compare(index, fingerprints, COUNT, 3, 2);
    compare(index, fingerprints, COUNT, 2, 0);
    compare(index, fingerprints, 1, 1, 1);
    compare(index, NULL, 0, 2, UINT64_MAX);
    idx_close(index);
}

static void test_text(void **state) { check_index(path_in(*state, "i"), IDX_ID_TEXT); }

static void test_integers(void **state) { check_index(path_in(*state, "i"), IDX_ID_U64); }

static void test_none(void **state) {
    static const uint64_t fingerprints[] = {3, 5, 3};
    struct idx_index *index = make_index(path_in(*state, "i"), IDX_ID_NONE);
    struct idx_document_lists lists;
    assert_ok(idx_list_documents(index, fingerprints, LENGTH(fingerprints), NULL, &lists, &failure));
    assert_true(lists.numbers == NULL && lists.id_offsets == NULL && lists.ids == NULL);
    for (size_t i = 0; i < LENGTH(fingerprints); i++) {
        assert_int_equal(lists.counts[i], 0);
        assert_int_equal(lists.offsets[i + 1], 0);
    }
    idx_document_lists_close(&lists);
    idx_document_lists_close(NULL);
    idx_close(index);
}

/* ---- Bounds ---- */

/* The bound is exact: of three fingerprints 7 numbers, and of their documents 3 offsets more and 6 bytes. */
static void test_a_bound_on_bytes(void **state) {
    static const uint64_t set[] = {1, 2}, fingerprints[] = {1, 2, 9};
    struct idx_document_lists_options options = IDX_DOCUMENT_LISTS_OPTIONS_INIT;
    struct idx_document_lists lists = {0};
    const char *path = path_in(*state, "i");
    struct idx_builder *builder;
    assert_ok(idx_builder_open(&builder, path, NULL, &failure));
    for (size_t i = 0; i < LENGTH(set); i++)
        assert_ok(
            idx_builder_add(builder, &(struct idx_item){.fingerprint = set[i], .id = "abc", .id_length = 3}, &failure));
    assert_ok(idx_builder_finish(builder, NULL, &failure));
    idx_builder_close(builder);
    struct idx_index *index = open_index(path, IDX_RESIDENCE_NONE);
    options.max_bytes = (7 + 3) * 8 + 6;
    assert_ok(idx_list_documents(index, fingerprints, LENGTH(fingerprints), &options, &lists, &failure));
    assert_memory_equal(lists.ids, "abcabc", 6);
    idx_document_lists_close(&lists);
    for (options.max_bytes = 0; options.max_bytes < (7 + 3) * 8 + 6; options.max_bytes++) {
        assert_status(IDX_LIMIT,
                      idx_list_documents(index, fingerprints, LENGTH(fingerprints), &options, &lists, &failure));
        assert_null(lists.offsets);
    }
    idx_close(index);
}

static void test_what_is_refused(void **state) {
    static const uint64_t set[] = {1}, wide[] = {1, 1 << 20};
    const char *path = path_in(*state, "i");
    struct idx_build_options building = options_for(16, 2, "4");
    struct idx_document_lists_options options = IDX_DOCUMENT_LISTS_OPTIONS_INIT;
    struct idx_document_lists lists;
    build_index(path, &building, set, LENGTH(set));
    struct idx_index *index = open_index(path, IDX_RESIDENCE_DIRECTORY);
    assert_status(IDX_INVALID_ARGUMENT, idx_list_documents(index, wide, 2, NULL, &lists, &failure));
    options.threads = 0;
    assert_status(IDX_INVALID_ARGUMENT, idx_list_documents(index, set, 1, &options, &lists, &failure));
    options.threads = IDX_MAX_THREADS + 1;
    assert_status(IDX_INVALID_ARGUMENT, idx_list_documents(index, set, 1, &options, &lists, &failure));
    idx_close(index);
}

/* ---- Progress ---- */

int __wrap_clock_gettime(clockid_t clock, struct timespec *time);
int __real_clock_gettime(clockid_t clock, struct timespec *time);

/* The clock stands still: what is told is what is told however fast the machine is. */
int __wrap_clock_gettime(clockid_t clock, struct timespec *time) {
    if (clock != CLOCK_MONOTONIC) return __real_clock_gettime(clock, time);
    *time = (struct timespec){1, 0};
    return 0;
}

struct watcher {
    unsigned calls, cancel_at;
};

static bool watch(void *context, const struct idx_progress *progress) {
    struct watcher *watcher = context;
    assert_int_equal(progress->phase, IDX_PHASE_DOCUMENTS);
    return ++watcher->calls != watcher->cancel_at;
}

static void test_cancelling(void **state) {
    static const uint64_t fingerprints[] = {HEAVY, 1, 2};
    struct idx_index *index = make_index(path_in(*state, "i"), IDX_ID_TEXT);
    struct idx_document_lists lists;
    for (unsigned at = 1; at <= 3; at++) {
        struct watcher watcher = {0, at};
        struct idx_document_lists_options options = IDX_DOCUMENT_LISTS_OPTIONS_INIT;
        options.progress = watch;
        options.context = &watcher;
        enum idx_status wanted = at <= 2 ? IDX_CANCELLED : IDX_OK; /* as it begins with either phase */
        assert_status(wanted, idx_list_documents(index, fingerprints, 3, &options, &lists, &failure));
        if (wanted == IDX_OK) idx_document_lists_close(&lists);
    }
    idx_close(index);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        in_folder(test_text),
        in_folder(test_integers),
        in_folder(test_none),
        in_folder(test_a_bound_on_bytes),
        in_folder(test_what_is_refused),
        in_folder(test_cancelling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
