/* build.c: tests of building: options, what may stand at the path, what a failure leaves, what the summary says. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/libidx/apart.h"
#include "tests/libidx/sets.h"
#include "tests/libidx/support.h"

static struct idx_builder *builder;

static enum idx_status open_builder(const char *path, bool replace) {
    struct idx_build_options options = IDX_BUILD_OPTIONS_INIT;
    options.replace = replace;
    return idx_builder_open(&builder, path, &options, &failure);
}

/* Adds documents with IDs of `length` bytes until one is refused. */
static enum idx_status add_documents(size_t count, size_t length) {
    enum idx_status status = IDX_OK;
    uint64_t seed = 1;
    char *id = calloc(length + 32, 1);
    for (size_t i = 0; i < count && status == IDX_OK; i++) {
        snprintf(id, 32, "%zu", i);
        status = idx_builder_add(
            builder, &(struct idx_item){.fingerprint = next_random(&seed), .id = id, .id_length = length}, &failure);
    }
    free(id);
    return status;
}

/* A whole build, without assertions. */
static enum idx_status try_build(const char *path, bool replace, size_t count, size_t length) {
    enum idx_status status = open_builder(path, replace);
    if (status != IDX_OK) return status;
    status = add_documents(count, length);
    if (status == IDX_OK) status = idx_builder_finish(builder, NULL, &failure);
    idx_builder_close(builder);
    return status;
}

static uint64_t count_fingerprints(const char *path) {
    struct idx_properties properties;
    struct idx_index *index = open_index(path, IDX_RESIDENCE_DIRECTORY);
    idx_get_properties(index, &properties);
    idx_close(index);
    return properties.fingerprints;
}

/* ---- Options ---- */

static enum idx_status try_options(const char *folder, struct idx_build_options options) {
    enum idx_status status = idx_builder_open(&builder, path_in(folder, "i"), &options, &failure);
    if (status == IDX_OK) idx_builder_close(builder);
    assert_int_equal(count_entries(folder), 0);
    return status;
}

#define TRY(change) try_options(*state, (options = (struct idx_build_options)IDX_BUILD_OPTIONS_INIT, change, options))

static void test_options_out_of_range(void **state) {
    struct idx_build_options options;
    assert_status(IDX_INVALID_ARGUMENT, TRY(options.bits = 0));
    assert_status(IDX_INVALID_ARGUMENT, TRY(options.bits = 65));
    assert_status(IDX_INVALID_ARGUMENT, TRY(options.bits = 3));
    assert_status(IDX_INVALID_ARGUMENT, TRY(options.k = 17));
    assert_status(IDX_BAD_SCHEME, TRY(options.scheme = "5"));
    assert_status(IDX_WEAK_SCHEME, TRY(options.scheme = "3:1"));
    assert_status(IDX_INVALID_ARGUMENT, TRY(options.block_size = 0));
    assert_status(IDX_INVALID_ARGUMENT, TRY(options.block_size = 32));
    assert_status(IDX_INVALID_ARGUMENT, TRY(options.block_size = 384));
    assert_status(IDX_INVALID_ARGUMENT, TRY(options.block_size = 8192));
    assert_status(IDX_INVALID_ARGUMENT, TRY(options.id_type = (enum idx_id_type)3));
    assert_status(IDX_INVALID_ARGUMENT, TRY(options.threads = 0));
    assert_status(IDX_INVALID_ARGUMENT, TRY(options.threads = 257));
    assert_ok(TRY(options.threads = 256));
    assert_ok(TRY(options.block_size = 4096));
    assert_ok(TRY((options.bits = 1, options.k = 0)));
}

static void test_recipes(void **state) {
    struct idx_build_options options;
    char recipe[257];
    memset(recipe, 'r', sizeof recipe);
    recipe[256] = '\0';
    assert_status(IDX_INVALID_ARGUMENT, TRY(options.recipe = recipe));
    recipe[255] = '\0';
    assert_ok(TRY(options.recipe = recipe));
    assert_ok(TRY(options.recipe = ""));
    assert_status(IDX_INVALID_ARGUMENT, TRY(options.recipe = "a\nb"));
    assert_status(IDX_INVALID_ARGUMENT, TRY(options.recipe = "a\tb"));
    assert_status(IDX_INVALID_ARGUMENT, TRY((options.recipe = "minhash:8;words=5;v1", options.k = 1)));
    assert_ok(TRY((options.recipe = "minhash:8;words=5;v1", options.k = 0)));
    assert_status(IDX_INVALID_ARGUMENT, TRY(options.recipe = "a\x7f"));
    const char *const kept[] = {NULL, "", " ", "words-1 k\xc3\xa9 \xff", recipe};
    for (size_t i = 0; i < LENGTH(kept); i++) {
        struct idx_properties properties;
        const char *path = path_in(*state, "%zu", i);
        options = options_for(64, 3, "4");
        options.recipe = kept[i];
        build_index(path, &options, NULL, 0);
        struct idx_index *index = open_index(path, IDX_RESIDENCE_DIRECTORY);
        idx_get_properties(index, &properties);
        assert_string_equal(properties.recipe, kept[i] == NULL ? "" : kept[i]);
        idx_close(index);
    }
}

/* What the options point to need not outlive the call. */
static void test_options_are_copied(void **state) {
    char scheme[] = "2:1:1", recipe[] = "words-1", path[1000];
    struct idx_build_options options = options_for(64, 3, scheme);
    struct idx_properties properties;
    options.recipe = recipe;
    snprintf(path, sizeof path, "%s", path_in(*state, "i"));
    assert_ok(idx_builder_open(&builder, path, &options, &failure));
    memset(scheme, 'x', sizeof scheme - 1);
    memset(recipe, 'x', sizeof recipe - 1);
    memset(path, 'x', sizeof path - 1);
    memset(&options, 0xee, sizeof options);
    assert_ok(idx_builder_finish(builder, NULL, &failure));
    idx_builder_close(builder);
    struct idx_index *index = open_index(path_in(*state, "i"), IDX_RESIDENCE_DIRECTORY);
    idx_get_properties(index, &properties);
    assert_string_equal(properties.recipe, "words-1");
    assert_string_equal(properties.scheme->name, "2:1:1");
    idx_close(index);
}

/* A program built with an older header has shorter options: the rest is the default. */
static void test_options_of_an_older_header(void **state) {
    struct idx_build_options options = IDX_BUILD_OPTIONS_INIT;
    struct idx_properties properties;
    memset(&options, 0xee, sizeof options);
    options.size = offsetof(struct idx_build_options, scheme);
    options.bits = 20;
    options.k = 2;
    assert_ok(idx_builder_open(&builder, path_in(*state, "i"), &options, &failure));
    assert_ok(idx_builder_add(builder, &(struct idx_item){.fingerprint = 1, .id = "a", .id_length = 1}, &failure));
    assert_ok(idx_builder_finish(builder, NULL, &failure));
    idx_builder_close(builder);
    struct idx_index *index = open_index(path_in(*state, "i"), IDX_RESIDENCE_DIRECTORY);
    idx_get_properties(index, &properties);
    assert_int_equal(properties.bits, 20);
    assert_int_equal(properties.k, 2);
    assert_int_equal(properties.id_type, IDX_ID_TEXT);
    idx_close(index);
}

/* ---- Where it stands ---- */

static void test_paths(void **state) {
    static const char *const bad[] = {"", "/", "//", ".", "..", "./", "../", "a/.", "a/..", "a/../"};
    for (size_t i = 0; i < LENGTH(bad); i++) assert_status(IDX_INVALID_ARGUMENT, open_builder(bad[i], false));
    assert_ok(try_build(path_in(*state, "a///"), false, 1, 1));
    assert_ok(try_build(path_in(*state, ".hidden"), false, 1, 1));
    assert_ok(try_build(path_in(*state, "a//b"), false, 1, 1));
    assert_int_equal(chdir(*state), 0);
    assert_ok(try_build("here", false, 1, 1));
    assert_ok(try_build("./there/", false, 1, 1));
    assert_int_equal(chdir("/"), 0);
    assert_int_equal(count_entries(*state), 4);
    assert_int_equal(count_fingerprints(path_in(*state, "here")), 1);
    assert_int_equal(count_fingerprints(path_in(*state, "there")), 1);
    assert_int_equal(count_fingerprints(path_in(*state, "a/b")), 1);
}

static void test_parent_missing(void **state) {
    assert_status(IDX_NOT_FOUND, open_builder(path_in(*state, "no/i"), false));
    assert_status(IDX_NOT_FOUND, open_builder(path_in(*state, "no/i"), true));
    write_file(path_in(*state, "file"), "x", 1);
    assert_status(IDX_NOT_FOUND, open_builder(path_in(*state, "file/i"), false));
    assert_int_equal(count_entries(*state), 1);
}

static int build_in_read_only(const char *folder) {
    if (!mount_read_only(folder)) return CANNOT;
    EXPECT(open_builder(path_in(folder, "new"), false) == IDX_NO_ACCESS);
    EXPECT(open_builder(path_in(folder, "old"), true) == IDX_NO_ACCESS);
    EXPECT(open_builder(path_in(folder, "old"), false) == IDX_EXISTS);
    EXPECT(count_entries(folder) == 1);
    return 0;
}

static void test_parent_on_read_only_media(void **state) {
    assert_ok(try_build(path_in(*state, "old"), false, 1, 1));
    play_apart(build_in_read_only, *state);
}

static int build_without_permission(const char *folder) {
    if (!drop_rights()) return CANNOT;
    EXPECT(open_builder(path_in(folder, "i"), false) == IDX_NO_ACCESS);
    EXPECT(count_entries(folder) == 0);
    return 0;
}

static void test_parent_without_permission(void **state) {
    assert_int_equal(chmod(*state, 0555), 0);
    play_apart(build_without_permission, *state);
}

static void test_something_is_there(void **state) {
    const char *paths[] = {path_in(*state, "file"), path_in(*state, "folder"), path_in(*state, "index"),
                           path_in(*state, "link")};
    write_file(paths[0], "x", 1);
    assert_int_equal(mkdir(paths[1], 0777), 0);
    assert_ok(try_build(paths[2], false, 5, 1));
    assert_int_equal(symlink("nowhere", paths[3]), 0);
    for (size_t i = 0; i < LENGTH(paths); i++) {
        assert_status(IDX_EXISTS, open_builder(paths[i], false));
        assert_string_equal(failure.file, paths[i]);
    }
    assert_int_equal(count_entries(*state), 4);
    assert_int_equal(count_fingerprints(paths[2]), 5);
}

/* ---- Replacing ---- */

static void test_replacing_an_index(void **state) {
    const char *path = path_in(*state, "i");
    assert_ok(try_build(path, true, 5, 1)); /* where there is none */
    assert_ok(try_build(path, true, 6, 1));
    assert_int_equal(count_fingerprints(path), 6);
    assert_int_equal(count_entries(*state), 1);
}

/* Sound or not, and of any version. */
static void test_replacing_a_damaged_index(void **state) {
    const char *path = path_in(*state, "i"), *manifest = path_in(*state, "i/manifest");
    static const char *const begins[] = {"idx-index 0\n", "idx-index 9\nwhatever\n", "idx-index "};
    for (size_t i = 0; i < LENGTH(begins); i++) {
        assert_ok(try_build(path, i > 0, 5, 1));
        write_file(manifest, begins[i], strlen(begins[i]));
        assert_ok(try_build(path, true, 6, 1));
        assert_int_equal(count_fingerprints(path), 6);
    }
    assert_int_equal(count_entries(*state), 1);
}

static void make_others(const char *folder) {
    assert_int_equal(mkdir(path_in(folder, "empty"), 0777), 0);
    assert_int_equal(mkdir(path_in(folder, "letters"), 0777), 0);
    write_file(path_in(folder, "letters/letter"), "dear", 4);
    assert_int_equal(mkdir(path_in(folder, "ship"), 0777), 0);
    write_file(path_in(folder, "ship/manifest"), "idx-inde", 8);
    write_file(path_in(folder, "file"), "idx-index 0\n", 12);
    build_index(path_in(folder, "index"), NULL, NULL, 0);
    assert_int_equal(symlink("index", path_in(folder, "link")), 0);
}

static void test_nothing_else_is_replaced(void **state) {
    static const char *const names[] = {"empty", "letters", "ship", "file", "link"};
    size_t size;
    make_others(*state);
    for (size_t i = 0; i < LENGTH(names); i++) {
        assert_status(IDX_NOT_AN_INDEX, open_builder(path_in(*state, "%s", names[i]), true));
        assert_non_null(strstr(failure.sentence, "is not an idx index, so it will not be replaced"));
    }
    assert_int_equal(count_entries(*state), 6);
    assert_int_equal(count_entries(path_in(*state, "empty")), 0);
    assert_int_equal(count_entries(path_in(*state, "letters")), 1);
    uint8_t *bytes = read_file(path_in(*state, "letters/letter"), &size);
    assert_string_equal((char *)bytes, "dear");
    free(bytes);
    assert_int_equal(count_fingerprints(path_in(*state, "link")), 0);
}

/* What comes to stand at the path while the index is built is left alone too. */
static void test_something_comes_meanwhile(void **state) {
    const char *path = path_in(*state, "i");
    for (int replace = 0; replace < 2; replace++) {
        for (int kind = 0; kind < 3; kind++) {
            assert_ok(open_builder(path, replace));
            if (kind == 0) write_file(path, "x", 1);
            if (kind > 0) assert_int_equal(mkdir(path, 0777), 0);
            if (kind > 1) write_file(path_in(path, "x"), "x", 1);
            assert_status(replace ? IDX_NOT_AN_INDEX : IDX_EXISTS, idx_builder_finish(builder, NULL, &failure));
            idx_builder_close(builder);
            assert_int_equal(count_entries(*state), 1);
            assert_int_equal(count_entries(path), kind - 1);
            remove_all(path);
        }
    }
}

static void test_an_index_comes_meanwhile(void **state) {
    const char *path = path_in(*state, "i");
    for (int replace = 0; replace < 2; replace++) {
        assert_ok(open_builder(path, replace));
        struct idx_builder *slow = builder;
        assert_ok(try_build(path, false, 7, 1));
        assert_status(replace ? IDX_OK : IDX_EXISTS, idx_builder_finish(slow, NULL, &failure));
        idx_builder_close(slow);
        assert_int_equal(count_fingerprints(path), replace ? 0 : 7);
        assert_int_equal(count_entries(*state), 1);
        remove_all(path);
    }
}

/* With `replace`, an index that went away meanwhile is no loss. */
static void test_the_index_goes_meanwhile(void **state) {
    const char *path = path_in(*state, "i");
    assert_ok(try_build(path, false, 7, 1));
    assert_ok(open_builder(path, true));
    remove_all(path);
    assert_ok(idx_builder_finish(builder, NULL, &failure));
    idx_builder_close(builder);
    assert_int_equal(count_fingerprints(path), 0);
    assert_int_equal(count_entries(*state), 1);
}

/* ---- Builders ---- */

static void expect_unusable(void) {
    assert_status(IDX_INVALID_ARGUMENT,
                  idx_builder_add(builder, &(struct idx_item){.fingerprint = 1, .id = "a", .id_length = 1}, &failure));
    assert_status(IDX_INVALID_ARGUMENT, idx_builder_finish(builder, NULL, &failure));
    assert_string_equal(failure.sentence, "this builder has finished or failed: it can only be closed");
}

static void test_a_finished_builder(void **state) {
    assert_ok(open_builder(path_in(*state, "i"), false));
    assert_ok(idx_builder_finish(builder, NULL, &failure));
    expect_unusable();
    idx_builder_close(builder);
    assert_int_equal(count_fingerprints(path_in(*state, "i")), 0);
}

static void test_an_abandoned_builder(void **state) {
    assert_ok(open_builder(path_in(*state, "i"), false));
    assert_ok(add_documents(500, 70000)); /* so many that a part was written */
    assert_int_equal(count_entries(*state), 1);
    idx_builder_close(builder);
    assert_int_equal(count_entries(*state), 0);
    idx_builder_close(NULL);
}

/* A fingerprint of too many bits is refused, and the builder goes on. */
static void test_bad_fingerprints(void **state) {
    struct idx_build_options options = options_for(33, 3, "auto");
    const char *path = path_in(*state, "i");
    assert_ok(idx_builder_open(&builder, path, &options, &failure));
    assert_ok(
        idx_builder_add(builder, &(struct idx_item){.fingerprint = all_ones(33), .id = "a", .id_length = 1}, &failure));
    assert_status(IDX_INVALID_ARGUMENT,
                  idx_builder_add(builder,
                                  &(struct idx_item){.fingerprint = UINT64_C(1) << 33, .id = "b", .id_length = 1},
                                  &failure));
    assert_string_equal(failure.sentence, "fingerprint 0000000200000000 has more than 33 bits");
    assert_status(
        IDX_INVALID_ARGUMENT,
        idx_builder_add(builder, &(struct idx_item){.fingerprint = UINT64_MAX, .id = "b", .id_length = 1}, &failure));
    assert_ok(idx_builder_add(builder, &(struct idx_item){.fingerprint = 0, .id = "c", .id_length = 1}, &failure));
    assert_ok(idx_builder_finish(builder, NULL, &failure));
    idx_builder_close(builder);
    assert_int_equal(count_fingerprints(path), 2);
}

static void test_ids_too_long(void **state) {
    static const char id[] = "a";
    assert_ok(open_builder(path_in(*state, "i"), false));
    assert_status(IDX_INVALID_ARGUMENT,
                  idx_builder_add(builder,
                                  &(struct idx_item){.fingerprint = 1, .id = id, .id_length = IDX_MAX_ID_BYTES + 1},
                                  &failure));
    assert_ok(idx_builder_add(builder, &(struct idx_item){.fingerprint = 1, .id = id, .id_length = 1}, &failure));
    assert_ok(idx_builder_finish(builder, NULL, &failure));
    idx_builder_close(builder);
    assert_int_equal(count_fingerprints(path_in(*state, "i")), 1);
}

/* ---- Full disks ---- */

/* Tries a build where no file may grow beyond `limit`. */
static enum idx_status build_with_limit(const char *path, rlim_t limit, size_t count, size_t length) {
    struct rlimit before, with;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    with = (struct rlimit){limit, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &with), 0);
    enum idx_status status = try_build(path, true, count, length);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, handler);
    return status;
}

static void test_files_over_the_limit(void **state) {
    const char *path = path_in(*state, "i");
    size_t failed = 0;
    enum idx_status status = IDX_DISK_FULL;
    for (rlim_t limit = 0; status != IDX_OK; limit += limit % 3 == 0 ? 1000 : 4096) {
        status = build_with_limit(path, limit, 2000, 20);
        if (status == IDX_OK) break;
        assert_status(IDX_DISK_FULL, status);
        assert_int_equal(count_entries(*state), 0);
        failed++;
    }
    assert_true(failed > 10);
    assert_int_equal(count_fingerprints(path), 2000);
    assert_status(IDX_DISK_FULL, build_with_limit(path, 50000, 1000, 20)); /* the old index stays */
    assert_int_equal(count_fingerprints(path), 2000);
    assert_int_equal(count_entries(*state), 1);
}

static void test_files_over_the_limit_while_adding(void **state) {
    struct rlimit before, with;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    with = (struct rlimit){(rlim_t)5 << 20, before.rlim_max};
    assert_ok(open_builder(path_in(*state, "i"), false));
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &with), 0);
    enum idx_status status = add_documents(1000, 70000);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, handler);
    assert_status(IDX_DISK_FULL, status);
    expect_unusable();
    idx_builder_close(builder);
    assert_int_equal(count_entries(*state), 0);
}

static int build_on_small_disks(const char *folder) {
    const char *place = path_in(folder, "place");
    enum idx_status status = IDX_DISK_FULL;
    EXPECT(mkdir(place, 0777) == 0);
    unsigned bytes = 8192;
    for (; status == IDX_DISK_FULL && bytes < 2000000; bytes += 12288) {
        if (!mount_small(place, bytes)) return CANNOT;
        status = try_build(path_in(place, "i"), false, 2000, 20);
        if (status == IDX_DISK_FULL) EXPECT(count_entries(place) == 0);
    }
    EXPECT(status == IDX_OK);
    EXPECT(bytes > 200000);
    return 0;
}

static void test_small_disks(void **state) { play_apart(build_on_small_disks, *state); }

/* ---- What comes out ---- */

static uint64_t file_size(const char *path) {
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    return (uint64_t)status.st_size;
}

static void test_summary(void **state) {
    struct idx_build_options options = options_for(64, 3, "10");
    struct idx_build_summary summary;
    struct set set = make_set(SHAPE_CLUSTERED, 64, 5000, 1);
    const char *path = path_in(*state, "i");
    uint64_t table_bytes = 0;
    options.id_type = IDX_ID_U64;
    assert_ok(idx_builder_open(&builder, path, &options, &failure));
    for (size_t i = 0; i < set.count; i++) {
        assert_ok(idx_builder_add(builder, &(struct idx_item){.fingerprint = set.items[i], .number = i}, &failure));
        if (i % 3 == 0)
            assert_ok(idx_builder_add(builder, &(struct idx_item){.fingerprint = set.items[i], .number = i}, &failure));
    }
    assert_ok(idx_builder_finish(builder, &summary, &failure));
    idx_builder_close(builder);
    assert_int_equal(summary.documents, set.count);
    assert_int_equal(summary.fingerprints, set.distinct_count);
    assert_int_equal(summary.tables, 10);
    assert_string_equal(summary.scheme, "5:2");
    for (size_t i = 0; i < 10; i++) table_bytes += file_size(path_in(path, "000001/table-%02zu.tbl", i));
    assert_int_equal(summary.table_bytes, table_bytes);
    assert_int_equal(summary.documents_bytes,
                     file_size(path_in(path, "000001/docs.mdb")) + file_size(path_in(path, "000001/docs.sum")));
    assert_int_equal(count_entries(path), 2);
    assert_int_equal(count_entries(path_in(path, "000001")), 12);
    free_set(&set);
}

/* Without IDs, a fingerprint that is added twice counts twice, though the index holds it once. */
static void test_summary_without_ids(void **state) {
    struct idx_build_options options = options_for(64, 3, "10");
    struct idx_build_summary summary;
    options.id_type = IDX_ID_NONE;
    assert_ok(idx_builder_open(&builder, path_in(*state, "i"), &options, &failure));
    for (uint64_t i = 0; i < 5; i++)
        assert_ok(idx_builder_add(builder, &(struct idx_item){.fingerprint = i / 2, .number = 0}, &failure));
    assert_ok(idx_builder_finish(builder, &summary, &failure));
    idx_builder_close(builder);
    assert_int_equal(summary.documents, 5);
    assert_int_equal(summary.fingerprints, 3);
}

/* Neither the order of adding nor the number of threads changes a table, but for the segment's uuid in its header. */
static void test_tables_depend_on_the_set_alone(void **state) {
    struct set set = make_set(SHAPE_CLUSTERED, 50, 3000, 1);
    struct idx_build_options options = options_for(50, 3, "20");
    options.id_type = IDX_ID_NONE;
    build_index(path_in(*state, "a"), &options, set.items, set.count);
    options.threads = 7;
    build_index(path_in(*state, "b"), &options, set.distinct, set.distinct_count);
    for (size_t i = 0; i < 20; i++) {
        size_t a_size, b_size;
        uint8_t *a = read_file(path_in(*state, "a/000001/table-%02zu.tbl", i), &a_size);
        uint8_t *b = read_file(path_in(*state, "b/000001/table-%02zu.tbl", i), &b_size);
        assert_int_equal(a_size, b_size);
        assert_memory_equal(a + 32, b + 32, 4088 - 32);
        assert_memory_equal(a + 4096, b + 4096, a_size - 4096);
        free(a);
        free(b);
    }
    free_set(&set);
}

/* More threads than tables; failures in a thread are told too. */
static void test_threads(void **state) {
    struct set set = make_set(SHAPE_UNIFORM, 64, 20000, 1);
    struct idx_build_options options = options_for(64, 3, "16");
    options.threads = 64;
    build_index(path_in(*state, "i"), &options, set.items, set.count);
    assert_ok(idx_verify(path_in(*state, "i"), NULL, NULL, &failure));
    assert_int_equal(count_fingerprints(path_in(*state, "i")), set.distinct_count);
    free_set(&set);
}

static void test_auto_is_chosen_by_count(void **state) {
    struct idx_build_summary summary;
    struct idx_scheme scheme;
    uint64_t seed = 1;
    assert_ok(open_builder(path_in(*state, "i"), false));
    for (uint64_t i = 0; i < 100; i++)
        assert_ok(idx_builder_add(
            builder, &(struct idx_item){.fingerprint = next_random(&seed), .id = "a", .id_length = 1}, &failure));
    assert_ok(idx_builder_finish(builder, &summary, &failure));
    idx_builder_close(builder);
    assert_ok(idx_scheme_parse(&scheme, "auto", 64, 3, 100, &failure));
    assert_string_equal(summary.scheme, scheme.name);
    assert_int_equal(summary.tables, scheme.table_count);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        in_folder(test_options_out_of_range),
        in_folder(test_recipes),
        in_folder(test_options_are_copied),
        in_folder(test_options_of_an_older_header),
        in_folder(test_paths),
        in_folder(test_parent_missing),
        in_folder(test_parent_on_read_only_media),
        in_folder(test_parent_without_permission),
        in_folder(test_something_is_there),
        in_folder(test_replacing_an_index),
        in_folder(test_replacing_a_damaged_index),
        in_folder(test_nothing_else_is_replaced),
        in_folder(test_something_comes_meanwhile),
        in_folder(test_an_index_comes_meanwhile),
        in_folder(test_the_index_goes_meanwhile),
        in_folder(test_a_finished_builder),
        in_folder(test_an_abandoned_builder),
        in_folder(test_bad_fingerprints),
        in_folder(test_ids_too_long),
        in_folder(test_files_over_the_limit),
        in_folder(test_files_over_the_limit_while_adding),
        in_folder(test_small_disks),
        in_folder(test_summary),
        in_folder(test_summary_without_ids),
        in_folder(test_tables_depend_on_the_set_alone),
        in_folder(test_threads),
        in_folder(test_auto_is_chosen_by_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
