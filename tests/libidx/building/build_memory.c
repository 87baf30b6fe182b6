/* build_memory.c: an index does not depend on how much memory made it, nor on threads: with the least memory, where
 * documents and tables go through many runs on disk, it is the same as with plenty; and tests of the folder for these
 * files. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/libidx/apart.h"
#include "tests/libidx/same.h"
#include "tests/libidx/sets.h"
#include "tests/libidx/support.h"

#define PLENTY ((uint64_t)1 << 30)

/* Documents that make three runs or more with the least memory, and their tables two or more; and that make so many
 * that they are merged in levels. */
#define SOME ((size_t)40000)
#define MANY ((size_t)110000)

/* What an index is made for. */
struct make {
    unsigned bits, k;
    const char *scheme;
    enum idx_id_type id_type;
    bool by_id;
};

static struct idx_build_options options_of(const struct make *make, uint64_t memory, unsigned threads) {
    struct idx_build_options options = options_for(make->bits, make->k, make->scheme);
    options.id_type = make->id_type;
    options.by_id = make->by_id;
    options.recipe = "test";
    options.memory_bytes = memory;
    options.threads = threads;
    return options;
}

/* ---- Documents ---- */

/* Mostly different, some of earlier ones, and one in 64 of a single one; integer IDs fall and repeat. */
static enum idx_status add_all(struct idx_builder *builder, const struct make *make, size_t count) {
    uint64_t seed = make->bits, random, earlier[16] = {0};
    for (size_t i = 0; i < count; i++) {
        char id[32];
        random = next_random(&seed);
        uint64_t fingerprint = next_random(&seed) & all_ones(make->bits);
        if (random % 4 == 0) fingerprint = earlier[random / 4 % 16];
        if (random % 64 == 1) fingerprint = all_ones(make->bits);
        earlier[random / 64 % 16] = fingerprint;
        enum idx_status status =
            make->id_type == IDX_ID_TEXT
                ? idx_builder_add(builder,
                                  &(struct idx_item){
                                      .fingerprint = fingerprint, .id = id, .id_length = write_id(id, (count - i) * 7)},
                                  &failure)
                : idx_builder_add(builder,
                                  &(struct idx_item){.fingerprint = fingerprint,
                                                     .number = i % 100 == 99 ? UINT64_MAX - i : i / 64 * 61 % 1009},
                                  &failure);
        if (status != IDX_OK) return status;
    }
    return IDX_OK;
}

static struct idx_build_summary build(const char *path, const struct idx_build_options *options,
                                      const struct make *make, size_t count) {
    struct idx_builder *builder;
    struct idx_build_summary summary;
    assert_ok(idx_builder_open(&builder, path, options, &failure));
    assert_ok(add_all(builder, make, count));
    assert_ok(idx_builder_finish(builder, &summary, &failure));
    idx_builder_close(builder);
    return summary;
}

/* ---- Little memory and much ---- */

/* Whether the two tell the same, but for temporary files. */
static void compare_summaries(const struct idx_build_summary *a, const struct idx_build_summary *b) {
    assert_int_equal(a->documents, b->documents);
    assert_int_equal(a->fingerprints, b->fingerprints);
    assert_int_equal(a->table_bytes, b->table_bytes);
    assert_int_equal(a->by_id_bytes, b->by_id_bytes);
    assert_int_equal(a->tables, b->tables);
    assert_string_equal(a->scheme, b->scheme);
}

static void compare_builds(const char *folder, const struct make *make, size_t count) {
    static const struct {
        uint64_t memory;
        unsigned threads;
    } ways[] = {{IDX_MIN_MEMORY_BYTES, 1}, {IDX_MIN_MEMORY_BYTES, 3}, {PLENTY, 3}};
    const char *whole = path_in(folder, "whole"), *other = path_in(folder, "other"),
               *temporary = path_in(folder, "tmp");
    struct idx_build_options options = options_of(make, PLENTY, 1);
    assert_int_equal(mkdir(temporary, 0777), 0);
    options.temporary_folder = temporary;
    struct idx_build_summary expected = build(whole, &options, make, count);
    assert_int_equal(expected.temporary_bytes, 0);
    for (size_t i = 0; i < LENGTH(ways); i++) {
        options = options_of(make, ways[i].memory, ways[i].threads);
        options.temporary_folder = temporary;
        struct idx_build_summary summary = build(other, &options, make, count);
        assert_true((summary.temporary_bytes > 0) == (ways[i].memory < PLENTY));
        compare_summaries(&expected, &summary);
        assert_same_index(whole, other);
        assert_int_equal(count_entries(temporary), 0);
        remove_all(other);
    }
    assert_int_equal(count_entries(folder), 2);
    remove_all(whole);
    remove_all(temporary);
}

static void compare_all(const char *folder, enum idx_id_type id_type) {
    static const struct make makes[] = {
        {64, 3, "auto", IDX_ID_TEXT, false},  {64, 3, "5:2", IDX_ID_TEXT, false},
        {33, 2, "3:1", IDX_ID_TEXT, false},   {33, 3, "2:1:1", IDX_ID_TEXT, false},
        {16, 3, "2:1:1", IDX_ID_TEXT, false}, {16, 1, "@aaaa,@5555", IDX_ID_TEXT, false},
        {1, 0, "auto", IDX_ID_TEXT, false},   {64, 1, "@5555555555555555,@aaaaaaaaaaaaaaaa", IDX_ID_TEXT, false},
    };
    for (size_t i = 0; i < LENGTH(makes); i += is_sanitized() ? 3 : 1) {
        struct make make = makes[i];
        make.id_type = id_type;
        make.by_id = id_type != IDX_ID_NONE && i % 2 == 0;
        compare_builds(folder, &make, i == 0 && !is_sanitized() ? MANY : SOME);
    }
}

static void test_text(void **state) { compare_all(*state, IDX_ID_TEXT); }
static void test_u64(void **state) { compare_all(*state, IDX_ID_U64); }
static void test_none(void **state) { compare_all(*state, IDX_ID_NONE); }

/* The fewest documents that are spilled: the first spill comes before the one that would not fit. */
static void test_about_the_first_spill(void **state) {
    struct make make = {64, 3, "4", IDX_ID_U64, true};
    struct idx_build_options plenty = options_of(&make, PLENTY, 1), least = options_of(&make, IDX_MIN_MEMORY_BYTES, 1);
    for (size_t count = 0; count <= 16384; count = count < 8192 ? count * 2 + 1 : count + 2048) {
        for (size_t more = 0; more < 2; more++) {
            build(path_in(*state, "plenty"), &plenty, &make, count + more);
            build(path_in(*state, "least"), &least, &make, count + more);
            assert_same_index(path_in(*state, "plenty"), path_in(*state, "least"));
            remove_all(path_in(*state, "plenty"));
            remove_all(path_in(*state, "least"));
        }
    }
}

/* Without a folder of their own, temporary files are beside the index, and not to be seen. Their bytes are counted,
 * those of tables too: of one table that needs no sorting, and of four, three of which do. */
static void test_beside(void **state) {
    static const struct make makes[] = {{64, 0, "1:1", IDX_ID_TEXT, false}, {64, 3, "4", IDX_ID_TEXT, false}};
    uint64_t bytes[2];
    for (size_t i = 0; i < 2; i++) {
        struct idx_build_options options = options_of(&makes[i], IDX_MIN_MEMORY_BYTES, 2);
        bytes[i] = build(path_in(*state, "index"), &options, &makes[i], SOME).temporary_bytes;
        assert_int_equal(count_entries(*state), 1);
        remove_all(path_in(*state, "index"));
    }
    assert_true(bytes[0] > SOME * 8); /* 13 bytes a document, and 6 a fingerprint */
    assert_true(bytes[1] > bytes[0] + SOME * 8);
    assert_true(bytes[1] < bytes[0] * 3);
}

/* ---- Too little memory ---- */

static void test_memory_option(void **state) {
    struct idx_build_options options = options_for(64, 3, "4");
    struct idx_builder *builder;
    options.memory_bytes = IDX_MIN_MEMORY_BYTES - 1;
    assert_status(IDX_INVALID_ARGUMENT, idx_builder_open(&builder, path_in(*state, "index"), &options, &failure));
    assert_string_equal(failure.sentence, "1048575 bytes of memory: the minimum is 1 MiB");
    options.memory_bytes = UINT64_MAX; /* more than there is: as much as can be reserved */
    build_index(path_in(*state, "index"), &options, (const uint64_t[]){1, 2, 3}, 3);
    assert_ok(idx_verify(path_in(*state, "index"), NULL, NULL, &failure));
}

/* ---- The temporary folder ---- */

static void test_no_temporary_folder(void **state) {
    struct idx_build_options options = options_for(64, 3, "4");
    struct idx_builder *builder;
    const char *folders[] = {path_in(*state, "missing"), path_in(*state, "file")};
    write_file(folders[1], "", 0);
    for (size_t i = 0; i < LENGTH(folders); i++) {
        options.temporary_folder = folders[i];
        assert_status(IDX_NOT_FOUND, idx_builder_open(&builder, path_in(*state, "index"), &options, &failure));
        assert_string_equal(failure.file, folders[i]);
        assert_int_equal(count_entries(*state), 1);
    }
}

/* In a folder that can't be written to, what needs no temporary file is built, and what does fails when it does. */
static int play_read_only(const char *folder) {
    struct make make = {64, 3, "4", IDX_ID_U64, false};
    const char *temporary = path_in(folder, "tmp");
    struct idx_build_options options = options_of(&make, PLENTY, 1);
    struct idx_builder *builder;
    EXPECT(mkdir(temporary, 0777) == 0);
    if (!mount_read_only(temporary)) return CANNOT;
    options.temporary_folder = temporary;
    EXPECT(idx_builder_open(&builder, path_in(folder, "plenty"), &options, &failure) == IDX_OK);
    EXPECT(add_all(builder, &make, SOME) == IDX_OK);
    EXPECT(idx_builder_finish(builder, NULL, &failure) == IDX_OK);
    idx_builder_close(builder);
    options.memory_bytes = IDX_MIN_MEMORY_BYTES;
    EXPECT(idx_builder_open(&builder, path_in(folder, "least"), &options, &failure) == IDX_OK);
    EXPECT(add_all(builder, &make, SOME) == IDX_NO_ACCESS);
    EXPECT(strcmp(failure.file, temporary) == 0);
    EXPECT(idx_builder_add(builder, &(struct idx_item){.fingerprint = 1, .number = 1}, &failure) ==
           IDX_INVALID_ARGUMENT);
    EXPECT(idx_builder_finish(builder, NULL, &failure) == IDX_INVALID_ARGUMENT);
    idx_builder_close(builder);
    EXPECT(count_entries(folder) == 2 && count_entries(temporary) == 0);
    return 0;
}

static void test_read_only_temporary_folder(void **state) { play_apart(play_read_only, *state); }

/* A temporary folder that fills up. */
static int play_full(const char *folder) {
    struct make make = {64, 3, "4", IDX_ID_U64, false};
    const char *temporary = path_in(folder, "tmp");
    struct idx_build_options options = options_of(&make, IDX_MIN_MEMORY_BYTES, 2);
    struct idx_builder *builder;
    EXPECT(mkdir(temporary, 0777) == 0);
    if (!mount_small(temporary, 128 << 10)) return CANNOT;
    options.temporary_folder = temporary;
    EXPECT(idx_builder_open(&builder, path_in(folder, "index"), &options, &failure) == IDX_OK);
    EXPECT(add_all(builder, &make, SOME) == IDX_DISK_FULL);
    EXPECT(strcmp(failure.file, temporary) == 0);
    idx_builder_close(builder);
    EXPECT(count_entries(folder) == 1 && count_entries(temporary) == 0);
    return 0;
}

static void test_full_temporary_folder(void **state) { play_apart(play_full, *state); }

int main(void) {
    const struct CMUnitTest tests[] = {
        in_folder(test_text),
        in_folder(test_u64),
        in_folder(test_none),
        in_folder(test_about_the_first_spill),
        in_folder(test_beside),
        in_folder(test_memory_option),
        in_folder(test_no_temporary_folder),
        in_folder(test_read_only_temporary_folder),
        in_folder(test_full_temporary_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
