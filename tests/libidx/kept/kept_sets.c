/* kept_sets.c: tests of files of sets: what is found in them, what a killed writer leaves, damage, and forks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/libidx/support.h"
#include "tests/random.h"

static struct idx_kept_sets *kept;

static enum idx_status open_by(const char *path, enum idx_id_type id_type, const char *shingles, bool writes) {
    const struct idx_kept_sets_options options = {sizeof options, id_type, shingles, writes, NULL};
    return idx_kept_sets_open(&kept, path, &options, &failure);
}

static enum idx_status open_kept(const char *path, bool writes) {
    return open_by(path, IDX_ID_TEXT, "words=5;v1", writes);
}

static void add(const char *id, uint64_t first, size_t count) {
    uint64_t hashes[100];
    const struct idx_item item = {.id = id, .id_length = strlen(id)};
    const struct idx_set set = {hashes, count};
    for (size_t i = 0; i < count; i++) hashes[i] = first + i;
    assert_ok(idx_kept_sets_add(kept, &item, &set, &failure));
}

/* Whether the set of an ID is the numbers from `first` on. */
static bool has(const char *id, uint64_t first, size_t count) {
    const struct idx_document document = {0, id, strlen(id)};
    struct idx_set set = {NULL, 0};
    assert_ok(idx_kept_sets_find(kept, &document, &set, &failure));
    if (set.hashes == NULL || set.count != count) return false;
    for (size_t i = 0; i < count; i++)
        if (set.hashes[i] != first + i) return false;
    return true;
}

static bool lacks(const char *id) {
    const struct idx_document document = {0, id, strlen(id)};
    struct idx_set set = {NULL, 0};
    assert_ok(idx_kept_sets_find(kept, &document, &set, &failure));
    return set.hashes == NULL;
}

static void test_found(void **state) {
    const char *path = path_in(*state, "sets");
    char id[32];
    assert_status(IDX_NOT_FOUND, open_kept(path, false));
    for (size_t round = 0; round < 3; round++) {
        assert_ok(open_kept(path, true));
        for (size_t i = 0; i < 1000; i++) {
            snprintf(id, sizeof id, "%zu-%zu", round, i);
            add(id, i + round, i % 100);
            if (i % 100 == 99) assert_ok(idx_kept_sets_sync(kept, &failure));
        }
        add("", round, 3);
        assert_true(round > 0 || lacks(""));
        assert_ok(idx_kept_sets_sync(kept, &failure));
        assert_ok(idx_kept_sets_sync(kept, &failure));
        assert_true(has("", round, 3));
        idx_kept_sets_close(kept);
        assert_ok(open_kept(path, round == 1));
        for (size_t i = 0; i < 1000 * (round + 1); i++) {
            snprintf(id, sizeof id, "%zu-%zu", i / 1000, i % 1000);
            assert_true(has(id, i % 1000 + i / 1000, i % 100));
        }
        assert_true(lacks("none"));
        idx_kept_sets_close(kept);
    }
}

static void test_numbers(void **state) {
    const char *path = path_in(*state, "sets");
    static const uint64_t hashes[] = {1, UINT64_MAX};
    const struct idx_set given = {hashes, 2};
    struct idx_set set = {NULL, 0};
    assert_ok(open_by(path, IDX_ID_U64, "chars=3;v1", true));
    assert_ok(idx_kept_sets_add(kept, &(struct idx_item){.number = UINT64_MAX - 1}, &given, &failure));
    assert_ok(idx_kept_sets_sync(kept, &failure));
    assert_ok(idx_kept_sets_find(kept, &(struct idx_document){UINT64_MAX - 1, NULL, 0}, &set, &failure));
    assert_int_equal(set.count, 2);
    assert_memory_equal(set.hashes, hashes, sizeof hashes);
    set.hashes = NULL;
    assert_ok(idx_kept_sets_find(kept, &(struct idx_document){1, NULL, 0}, &set, &failure));
    assert_null(set.hashes);
    idx_kept_sets_close(kept);
    assert_status(IDX_INVALID_ARGUMENT, open_by(path, IDX_ID_U64, "words=5;v1", false));
    assert_status(IDX_INVALID_ARGUMENT, open_by(path, IDX_ID_TEXT, "chars=3;v1", false));
    assert_status(IDX_INVALID_ARGUMENT, open_by(path, IDX_ID_NONE, "chars=3;v1", false));
    assert_status(IDX_INVALID_ARGUMENT,
                  open_by(path, IDX_ID_U64, "a name of more than forty bytes is too long", false));
}

static void test_one_writer(void **state) {
    const char *path = path_in(*state, "sets");
    assert_ok(open_kept(path, true));
    struct idx_kept_sets *first = kept;
    assert_status(IDX_BUSY, open_kept(path, true));
    assert_ok(open_kept(path, false));
    assert_status(IDX_INVALID_ARGUMENT, idx_kept_sets_add(kept, &(struct idx_item){.id = "a", .id_length = 1},
                                                          &(struct idx_set){NULL, 0}, &failure));
    idx_kept_sets_close(kept);
    idx_kept_sets_close(first);
    write_file(path, "something else that has more than sixty-four bytes, as a header has; no sets", 70);
    assert_status(IDX_BAD_CONTENT, open_kept(path, true));
    write_file(path, "short", 5);
    assert_status(IDX_BAD_CONTENT, open_kept(path, true));
}

/* What a forked process does with the sets that it inherited; returns 0 where all was as it should be. */
static int use_inherited(void) {
    if (idx_kept_sets_add(kept, &(struct idx_item){.id = "b", .id_length = 1}, &(struct idx_set){NULL, 0}, &failure) !=
        IDX_INVALID_ARGUMENT)
        return 1;
    if (idx_kept_sets_sync(kept, &failure) != IDX_INVALID_ARGUMENT) return 2;
    idx_kept_sets_close(kept);
    return 0;
}

/* A forked process writes nothing, and leaves the lock to the one that opened the file. */
static void test_forked(void **state) {
    const char *path = path_in(*state, "sets");
    int status;
    assert_ok(open_kept(path, true));
    add("a", 10, 4);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) _exit(use_inherited());
    assert_true(waitpid(child, &status, 0) == child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    struct idx_kept_sets *first = kept;
    assert_status(IDX_BUSY, open_kept(path, true));
    kept = first;
    assert_ok(idx_kept_sets_sync(kept, &failure));
    assert_true(has("a", 10, 4));
    idx_kept_sets_close(kept);
}

/* Closing ends the lock, also where a process that was forked meanwhile lasts. */
static void test_forked_that_lasts(void **state) {
    const char *path = path_in(*state, "sets");
    int go_on[2];
    char byte;
    assert_ok(open_kept(path, true));
    assert_int_equal(pipe(go_on), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(go_on[1]);
        _exit((int)read(go_on[0], &byte, 1));
    }
    idx_kept_sets_close(kept);
    enum idx_status status = open_kept(path, true);
    close(go_on[0]);
    close(go_on[1]);
    assert_true(waitpid(child, NULL, 0) == child);
    assert_status(IDX_OK, status);
    idx_kept_sets_close(kept);
}

static size_t make_file(const char *path, uint8_t **bytes, size_t *last) {
    size_t size;
    assert_ok(open_kept(path, true));
    add("a", 10, 4);
    add("bc", 20, 1);
    assert_ok(idx_kept_sets_sync(kept, &failure));
    free(read_file(path, last));
    add("later", 30, 3);
    assert_ok(idx_kept_sets_sync(kept, &failure));
    idx_kept_sets_close(kept);
    *bytes = read_file(path, &size);
    return size;
}

/* A writer that is killed leaves a part of the last frame, or zeros: what was acknowledged before is there, and the
 * next writer goes on behind it. */
static void test_cut(void **state) {
    const char *path = path_in(*state, "sets"), *cut = path_in(*state, "cut");
    size_t last, size;
    uint8_t *bytes;
    size = make_file(path, &bytes, &last);
    for (size_t length = last; length < size; length++) {
        for (int zeros = 0; zeros < 2; zeros++) {
            if (zeros == 1) memset(bytes + last, 0, size - last);
            write_file(cut, bytes, zeros == 1 ? size : length);
            assert_ok(open_kept(cut, length % 2 == 0));
            assert_true(has("a", 10, 4) && has("bc", 20, 1) && lacks("later"));
            idx_kept_sets_close(kept);
            assert_ok(open_kept(cut, true));
            add("new", 40, 2);
            assert_ok(idx_kept_sets_sync(kept, &failure));
            assert_true(has("a", 10, 4) && has("new", 40, 2));
            idx_kept_sets_close(kept);
            free(bytes);
            bytes = read_file(path, &size);
        }
    }
    for (size_t length = 0; length < 64; length++) {
        write_file(cut, bytes, length);
        assert_status(IDX_BAD_CONTENT, open_kept(cut, false));
        const char *problem = length == 0 ? "is no file of sets" : "was cut off at byte";
        assert_non_null(strstr(failure.sentence, problem));
        assert_ok(open_kept(cut, true));
        idx_kept_sets_close(kept);
    }
    free(bytes);
}

/* Where a frame is cut that has a document of the index, the file is refused; but not where another set of it is there,
 * nor where the index lacks all that can be read. */
static void test_lost(void **state) {
    const char *path = path_in(*state, "sets"), *cut = path_in(*state, "cut");
    struct idx_kept_sets_options options = IDX_KEPT_SETS_OPTIONS_INIT;
    struct idx_build_options building = IDX_BUILD_OPTIONS_INIT;
    size_t last, size;
    uint8_t *bytes;
    size = make_file(path, &bytes, &last);
    for (unsigned kind = 0; kind < 6; kind++) {
        const bool integers = kind == 3, has = kind != 1;
        const char *id = kind == 2 ? "a" : kind == 4 ? "late" : "later";
        const uint64_t value = kind == 5 ? 31 : 30;
        const char *index_path = path_in(*state, "index-%u", kind);
        struct idx_builder *builder;
        struct idx_index *index;
        building.id_type = integers ? IDX_ID_U64 : IDX_ID_TEXT;
        building.k = 0;
        assert_ok(idx_builder_open(&builder, index_path, &building, &failure));
        if (has && integers) assert_ok(idx_builder_add_u64(builder, value, 7, &failure));
        if (has && !integers) assert_ok(idx_builder_add(builder, value, id, strlen(id), &failure));
        assert_ok(idx_builder_finish(builder, NULL, &failure));
        idx_builder_close(builder);
        assert_ok(idx_open(&index, index_path, NULL, &failure));
        options.index = index;
        if (integers) { /* which a file of text IDs has in digits */
            memcpy(bytes + last + 24 + 8, "7\0\0\0\0\0\0\0", 8);
            bytes[last + 24] = 1;
        }
        for (size_t length = last; length < size; length++) {
            const bool shown = length >= last + 24 + 8 + 8 + 8; /* the ID and a hash */
            write_file(cut, bytes, length);
            const bool lost = shown && (kind == 0 || integers);
            assert_status(lost ? IDX_BAD_CONTENT : IDX_OK, idx_kept_sets_open(&kept, cut, &options, &failure));
            if (lost) continue;
            assert_int_equal(idx_kept_sets_cut(kept), length - last);
            idx_kept_sets_close(kept);
        }
        idx_close(index);
    }
    free(bytes);
}

/* The index with integer IDs says that text IDs are decimal: "007" is the document 7 then. */
static void test_leading_zeros(void **state) {
    const char *path = path_in(*state, "sets"), *index_path = path_in(*state, "index");
    struct idx_kept_sets_options options = IDX_KEPT_SETS_OPTIONS_INIT;
    struct idx_build_options building = IDX_BUILD_OPTIONS_INIT;
    struct idx_builder *builder;
    struct idx_index *index;
    building.id_type = IDX_ID_U64;
    assert_ok(idx_builder_open(&builder, index_path, &building, &failure));
    assert_ok(idx_builder_finish(builder, NULL, &failure));
    idx_builder_close(builder);
    assert_ok(open_kept(path, true));
    add("007", 1, 3);
    add("00", 2, 3);
    assert_ok(idx_kept_sets_sync(kept, &failure));
    assert_true(has("007", 1, 3) && lacks("7") && lacks("0"));
    idx_kept_sets_close(kept);
    assert_ok(idx_open(&index, index_path, NULL, &failure));
    options.index = index;
    assert_ok(idx_kept_sets_open(&kept, path, &options, &failure));
    assert_true(has("7", 1, 3) && has("0", 2, 3) && lacks(""));
    idx_kept_sets_close(kept);
    idx_close(index);
}

/* A changed byte is an error, and nothing is cut off then. */
static void test_damage(void **state) {
    const char *path = path_in(*state, "sets"), *other = path_in(*state, "other");
    size_t last, size, after;
    uint8_t *bytes;
    size = make_file(path, &bytes, &last);
    for (size_t i = 0; i < size; i++) {
        bytes[i] ^= 0x41;
        write_file(other, bytes, size);
        enum idx_status status = open_kept(other, i % 2 == 0);
        assert_true(status == IDX_BAD_CHECKSUM || status == IDX_BAD_CONTENT || status == IDX_NEW_VERSION);
        assert_non_null(strstr(failure.sentence, "other"));
        free(read_file(other, &after));
        assert_int_equal(after, size);
        bytes[i] ^= 0x41;
    }
    free(bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        in_folder(test_found),  in_folder(test_numbers), in_folder(test_one_writer),
        in_folder(test_cut),    in_folder(test_lost),    in_folder(test_leading_zeros),
        in_folder(test_damage), in_folder(test_forked),  in_folder(test_forked_that_lasts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
