/* open.c: tests of opening: what is there, what is missing or of another index, versions, properties, replacement. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/libidx/apart.h"
#include "tests/libidx/forge.h"
#include "tests/libidx/sets.h"
#include "tests/libidx/support.h"

#define COUNT 300

/* A small index of two tables; those of different seeds have equal sizes, but not content. */
static const char *build_small(const char *folder, const char *name, uint64_t seed) {
    struct idx_build_options options = options_for(64, 3, "2:1:1");
    const char *path = path_in(folder, "%s", name);
    uint64_t items[COUNT];
    for (size_t i = 0; i < COUNT; i++) items[i] = next_random(&seed);
    options.block_size = 128;
    build_index(path, &options, items, COUNT);
    return path;
}

static enum idx_status try_open(const char *path) {
    struct idx_index *index;
    enum idx_status status = idx_open(&index, path, NULL, &failure);
    if (status == IDX_OK) idx_close(index);
    return status;
}

static bool count_visit(void *context, const struct idx_match *match) {
    (void)match;
    ++*(size_t *)context;
    return true;
}

/* All fingerprints, and the documents of each: how many there are of both. */
static enum idx_status try_reading(const struct idx_index *index, size_t *fingerprints, uint64_t *documents) {
    struct idx_documents *cursor;
    struct idx_document document;
    bool found = true;
    uint64_t seed = 1;
    *fingerprints = 0;
    enum idx_status status = idx_visit_all(index, count_visit, fingerprints, &failure);
    if (status != IDX_OK) return status;
    status = idx_documents_open(&cursor, index, &failure);
    if (status != IDX_OK) return status;
    status = idx_documents_find(cursor, next_random(&seed), documents, &failure);
    while (status == IDX_OK && found) status = idx_documents_next(cursor, &document, &found, &failure);
    idx_documents_close(cursor);
    return status;
}

static enum idx_status try_all(const char *path) {
    struct idx_index *index;
    size_t fingerprints;
    uint64_t documents;
    enum idx_status status = idx_open(&index, path, NULL, &failure);
    if (status != IDX_OK) return status;
    status = try_reading(index, &fingerprints, &documents);
    idx_close(index);
    return status;
}

static void expect_file(const char *end) {
    size_t length = strlen(failure.file), end_length = strlen(end);
    if (length < end_length || strcmp(failure.file + length - end_length, end) != 0)
        fail_msg("the error names %s, not %s", failure.file, end);
    assert_non_null(strstr(failure.sentence, end));
}

/* ---- What is there ---- */

static void test_nothing_there(void **state) {
    assert_status(IDX_NOT_FOUND, try_open(path_in(*state, "none")));
    assert_status(IDX_NOT_FOUND, try_open(path_in(*state, "none/none")));
    assert_status(IDX_NOT_FOUND, try_open(""));
    assert_int_equal(symlink("nowhere", path_in(*state, "link")), 0);
    assert_status(IDX_NOT_FOUND, try_open(path_in(*state, "link")));
    assert_int_equal(idx_open(NULL, path_in(*state, "none"), NULL, NULL), IDX_NOT_FOUND);
}

static void test_something_else_there(void **state) {
    static const char *const manifests[] = {"", "\n", "idx", "idx-index", "idx-index ", "idx-index x", "{\"a\": 1}"};
    write_file(path_in(*state, "file"), "x", 1);
    assert_status(IDX_NOT_AN_INDEX, try_open(path_in(*state, "file")));
    assert_status(IDX_NOT_AN_INDEX, try_open(*state));
    for (size_t i = 0; i < LENGTH(manifests); i++) {
        write_file(path_in(*state, "manifest"), manifests[i], strlen(manifests[i]));
        assert_status(IDX_NOT_AN_INDEX, try_open(*state));
    }
    unlink(path_in(*state, "manifest"));
    assert_int_equal(mkdir(path_in(*state, "manifest"), 0777), 0);
    assert_status(IDX_BAD_CONTENT, try_open(*state));
}

static void test_ways_to_name_it(void **state) {
    const char *path = build_small(*state, "i", 1);
    assert_int_equal(symlink(path, path_in(*state, "link")), 0);
    assert_ok(try_all(path_in(path, "/")));
    assert_ok(try_all(path_in(path, "/.")));
    assert_ok(try_all(path_in(*state, "link")));
    assert_int_equal(chdir(*state), 0);
    assert_ok(try_all("i"));
    assert_ok(try_all("./i/"));
    assert_int_equal(chdir("/"), 0);
}

static int open_without_permission(const char *folder) {
    if (!drop_rights()) return CANNOT;
    EXPECT(try_open(path_in(folder, "i")) == IDX_NO_ACCESS);
    EXPECT(idx_verify(path_in(folder, "i"), NULL, NULL, &failure) == IDX_NO_ACCESS);
    return 0;
}

static void test_no_permission(void **state) {
    static const char *const names[] = {"000001/docs.sum", "000001/docs.mdb", "000001/table-01.tbl",
                                        "000001",          "manifest",        ""};
    const char *path = build_small(*state, "i", 1);
    assert_int_equal(chmod(*state, 0755), 0);
    for (size_t i = 0; i < LENGTH(names); i++) {
        assert_int_equal(chmod(path_in(path, "%s", names[i]), 0), 0);
        play_apart(open_without_permission, *state);
    }
}

/* Nobody may write, and the media can't be written either. */
static int read_from_read_only(const char *folder) {
    const char *path = path_in(folder, "i");
    if (!mount_read_only(folder)) return CANNOT;
    EXPECT(try_all(path) == IDX_OK);
    EXPECT(idx_verify(path, NULL, NULL, &failure) == IDX_OK);
    return 0;
}

static void test_read_only_media(void **state) {
    build_small(*state, "i", 1);
    play_apart(read_from_read_only, *state);
}

static int read_without_rights(const char *folder) {
    if (!drop_rights()) return CANNOT;
    EXPECT(try_all(path_in(folder, "i")) == IDX_OK);
    return 0;
}

static void test_read_only_files(void **state) {
    static const char *const names[] = {"000001/table-00.tbl", "000001/table-01.tbl", "000001/docs.mdb",
                                        "000001/docs.sum", "manifest"};
    const char *path = build_small(*state, "i", 1);
    for (size_t i = 0; i < LENGTH(names); i++) assert_int_equal(chmod(path_in(path, "%s", names[i]), 0444), 0);
    assert_int_equal(chmod(path_in(path, "000001"), 0555), 0);
    assert_int_equal(chmod(path, 0555), 0);
    assert_int_equal(chmod(*state, 0555), 0);
    play_apart(read_without_rights, *state);
}

/* ---- What is missing ---- */

static void test_missing_files(void **state) {
    static const char *const names[] = {"000001", "000001/table-00.tbl", "000001/table-01.tbl", "000001/docs.mdb",
                                        "000001/docs.sum"};
    for (size_t i = 0; i < LENGTH(names); i++) {
        const char *path = build_small(*state, (const char[]){(char)('a' + i), '\0'}, 1);
        assert_int_equal(rename(path_in(path, "%s", names[i]), path_in(*state, "away-%zu", i)), 0);
        assert_status(IDX_MISSING_FILE, try_open(path));
        expect_file(names[i]);
        if (strstr(names[i], "tbl") == NULL) continue;
        assert_int_equal(mkdir(path_in(path, "%s", names[i]), 0777), 0);
        assert_status(IDX_BAD_CONTENT, try_open(path));
        expect_file(names[i]);
    }
}

/* A pipe in a file's place is refused at once, though nobody writes to it. */
static void test_pipe_for_a_file(void **state) {
    static const char *const files[] = {"manifest", "000001/table-00.tbl", "000001/docs.mdb", "000001/docs.sum"};
    const char *path = build_small(*state, "i", 1);
    for (size_t i = 0; i < LENGTH(files); i++) {
        const char *file = path_in(path, "%s", files[i]), *aside = path_in(*state, "aside");
        assert_int_equal(rename(file, aside), 0);
        assert_int_equal(mkfifo(file, 0600), 0);
        assert_status(IDX_BAD_CONTENT, try_open(path));
        assert_int_equal(rename(aside, file), 0);
    }
    assert_ok(try_open(path));
}

static void test_missing_manifest(void **state) {
    const char *path = build_small(*state, "i", 1);
    unlink(path_in(path, "manifest"));
    assert_status(IDX_NOT_AN_INDEX, try_open(path));
    assert_non_null(strstr(failure.sentence, "has no manifest, so it is not an idx index"));
}

static void test_missing_second_segment(void **state) {
    const char *parts[] = {build_small(*state, "a", 1), build_small(*state, "b", 2)};
    const char *path = path_in(*state, "whole");
    join_indexes(path, parts, LENGTH(parts));
    assert_ok(try_all(path));
    remove_all(path_in(path, "000002"));
    assert_status(IDX_MISSING_FILE, try_open(path));
    expect_file("whole/000002");
}

/* ---- Files of others ---- */

/* Moves a file of index b in place of that of index a. */
static void take_file(const char *a, const char *b, const char *name) {
    assert_int_equal(rename(path_in(b, "%s", name), path_in(a, "%s", name)), 0);
}

static void test_tables_of_another_index(void **state) {
    static const char *const names[] = {"000001/table-00.tbl", "000001/table-01.tbl"};
    for (size_t i = 0; i < LENGTH(names); i++) {
        const char *a = build_small(*state, i == 0 ? "a" : "c", 1);
        take_file(a, build_small(*state, i == 0 ? "b" : "d", 2), names[i]);
        assert_status(IDX_FOREIGN_FILE, try_open(a));
        expect_file(names[i]);
    }
}

/* Even of the same documents: a build has its own uuid. */
static void test_segment_of_another_build(void **state) {
    const char *a = build_small(*state, "a", 1), *b = build_small(*state, "b", 1);
    remove_all(path_in(a, "000001"));
    take_file(a, b, "000001");
    assert_status(IDX_FOREIGN_FILE, try_open(a));
    expect_file("000001/table-00.tbl");
}

static void test_tables_exchanged(void **state) {
    const char *path = build_small(*state, "i", 1);
    const char *first = path_in(path, "000001/table-00.tbl"), *second = path_in(path, "000001/table-01.tbl");
    assert_int_equal(rename(first, path_in(*state, "first")), 0);
    assert_int_equal(rename(second, first), 0);
    assert_int_equal(rename(path_in(*state, "first"), second), 0);
    assert_status(IDX_FOREIGN_FILE, try_open(path));
    expect_file("000001/table-00.tbl");
}

static void test_documents_of_another_index(void **state) {
    uint8_t uuid[16];
    const char *a = build_small(*state, "a", 1), *b = build_small(*state, "b", 2);
    take_file(a, b, "000001/docs.mdb");
    assert_status(IDX_BAD_CHECKSUM, try_all(a)); /* they have one size */
    expect_file("000001/docs.mdb");
    take_file(a, b, "000001/docs.sum");
    assert_status(IDX_FOREIGN_FILE, try_open(a));
    expect_file("000001/docs.sum");
    read_segment_uuid(path_in(a, "000001/table-00.tbl"), uuid);
    forge_sums(path_in(a, "000001"), uuid);
    assert_status(IDX_FOREIGN_FILE, try_all(a));
    expect_file("000001/docs.mdb");
}

static void test_documents_of_a_larger_index(void **state) {
    const char *a = build_small(*state, "a", 1), *b = path_in(*state, "b");
    uint64_t items[3000] = {0};
    build_index(b, NULL, items, LENGTH(items));
    take_file(a, b, "000001/docs.mdb");
    assert_status(IDX_WRONG_SIZE, try_open(a));
    expect_file("000001/docs.mdb");
}

static void test_manifest_of_another_index(void **state) {
    const char *a = build_small(*state, "a", 1);
    take_file(a, build_small(*state, "b", 2), "manifest");
    assert_status(IDX_FOREIGN_FILE, try_open(a));
    expect_file("000001/table-00.tbl");
}

/* Headers whose checksums are right, but which are not what the manifest says. */
static void test_tables_against_the_manifest(void **state) {
    const char *path = build_small(*state, "i", 1), *table = path_in(path, "000001/table-01.tbl");
    const char *whole = path_in(*state, "whole");
    static const struct {
        size_t offset;
        uint8_t byte;
        const char *clause;
    } cases[] = {{36, 1, "has a mask"}, {40, 63, "bits per fingerprint"}, {41, 2, "has a radius"}, {48, 45, "counts"}};
    assert_int_equal(link(table, whole), 0);
    for (size_t i = 0; i < LENGTH(cases); i++) {
        size_t size;
        uint8_t *bytes = read_file(whole, &size);
        unlink(table);
        write_file(table, bytes, size);
        free(bytes);
        forge_table(table, cases[i].offset, &cases[i].byte, 1);
        assert_status(IDX_BAD_CONTENT, try_open(path));
        assert_non_null(strstr(failure.sentence, cases[i].clause));
        expect_file("000001/table-01.tbl");
    }
}

/* ---- docs.mdb that is none ---- */

static void test_documents_not_lmdb(void **state) {
    uint8_t uuid[16], noise[3 * 4096];
    const char *path = build_small(*state, "i", 1), *documents = path_in(path, "000001/docs.mdb");
    static const size_t sizes[] = {0, 1, 19, 20, 4095, 4096, 8191, 8192, 12288};
    read_segment_uuid(path_in(path, "000001/table-00.tbl"), uuid);
    for (size_t i = 0; i < sizeof noise; i++) noise[i] = (uint8_t)(i * 151 + i / 256);
    write_file(documents, noise, sizeof noise);
    assert_status(IDX_WRONG_SIZE, try_open(path));
    expect_file("000001/docs.mdb");
    for (size_t i = 0; i < LENGTH(sizes); i++) {
        write_file(documents, noise, sizes[i]);
        forge_sums(path_in(path, "000001"), uuid);
        assert_status(IDX_BAD_CONTENT, try_open(path));
        expect_file("000001/docs.mdb");
    }
}

static void test_documents_of_the_other_byte_order(void **state) {
    uint8_t uuid[16], magic[4];
    size_t size;
    const char *path = build_small(*state, "i", 1), *documents = path_in(path, "000001/docs.mdb");
    read_segment_uuid(path_in(path, "000001/table-00.tbl"), uuid);
    uint8_t *bytes = read_file(documents, &size);
    for (size_t i = 0; i < 4; i++) magic[i] = bytes[16 + 3 - i];
    free(bytes);
    change_bytes(documents, 16, magic, sizeof magic);
    forge_sums(path_in(path, "000001"), uuid);
    assert_status(IDX_UNSUPPORTED, try_open(path));
    expect_file("000001/docs.mdb");
}

/* ---- Versions ---- */

static void expect_new_version(const char *path, const char *file, const char *version) {
    assert_status(IDX_NEW_VERSION, try_open(path));
    expect_file(file);
    assert_non_null(strstr(failure.sentence, version));
    assert_status(IDX_NEW_VERSION, idx_verify(path, NULL, NULL, &failure));
}

/* With a right checksum or not, the version is told. */
static void test_newer_versions(void **state) {
    static const uint8_t two[4] = {2}, most[4] = {255, 255, 255, 255};
    const char *path = build_small(*state, "i", 1);
    const char *table = path_in(path, "000001/table-01.tbl"), *sums = path_in(path, "000001/docs.sum");
    change_bytes(sums, 8, most, 4);
    expect_new_version(path, "000001/docs.sum", "has format version 4294967295, but libidx");
    forge_table(table, 8, two, 4);
    expect_new_version(path, "000001/table-01.tbl", "has format version 2, but libidx");
    change_bytes(table, 8, most, 4);
    expect_new_version(path, "000001/table-01.tbl", "has format version 4294967295, but libidx");
    forge_manifest(path_in(path, "manifest"), "idx-index 2\nwhatever that may be\n");
    expect_new_version(path, "manifest", "has format version 2, but libidx");
    write_file(path_in(path, "manifest"), "idx-index 17", 12);
    expect_new_version(path, "manifest", "has format version 17, but libidx");
    assert_non_null(
        strstr(failure.sentence, "reads only version 1: use the version of idx that built it, or rebuild it"));
}

/* An index of version 0, of which all files are refused as those of any other version. */
static void test_version_0(void **state) {
    static const char *const names[] = {"000001/docs.sum", "000001/table-01.tbl", "000001/table-00.tbl"};
    static const char clause[] = "has format version 0, but libidx",
                      way[] = "reads only version 1: use the version of idx that built it, or rebuild it";
    static const uint8_t zero[4] = {0};
    const char *path = build_small(*state, "i", 1);
    for (size_t i = 0; i < LENGTH(names); i++) {
        change_bytes(path_in(path, "%s", names[i]), 8, zero, 4);
        expect_new_version(path, names[i], clause);
        assert_non_null(strstr(failure.sentence, way));
    }
    forge_manifest(path_in(path, "manifest"),
                   "idx-index 0\nuuid 0c9d6d4e-0a9f-4d52-8a8e-6f5a4d3c2b1a\nbits 64\nk 3\nid-type text\n");
    expect_new_version(path, "manifest", clause);
    assert_non_null(strstr(failure.sentence, way));
}

/* ---- Manifests ---- */

/* A right checksum, and a line that breaks a rule: the error says which. */
static void test_manifest_that_breaks_a_rule(void **state) {
    const char *path = build_small(*state, "i", 1);
    forge_manifest(path_in(path, "manifest"), "idx-index 1\nuuid 0c9d6d4e-0a9f-4d52-8a8e-6f5a4d3c2b1a\nbits 65\nk 3\n");
    assert_status(IDX_BAD_CONTENT, try_open(path));
    expect_file("manifest");
    assert_non_null(strstr(failure.sentence, "line 3: has a number of bits"));
}

static void test_manifest_that_does_not_cover(void **state) {
    struct idxf_manifest *manifest = malloc(sizeof *manifest);
    const char *path = build_small(*state, "i", 1);
    assert_non_null(manifest);
    read_manifest(path, manifest);
    manifest->k = 4;
    write_manifest(path, manifest);
    assert_status(IDX_BAD_CONTENT, try_open(path));
    expect_file("manifest");
    assert_non_null(strstr(failure.sentence, "has tables that don't cover its k"));
    manifest->k = 2;
    write_manifest(path, manifest);
    assert_ok(try_all(path));
    free(manifest);
}

static void test_other_files_are_ignored(void **state) {
    const char *path = build_small(*state, "i", 1);
    write_file(path_in(path, "pending"), "x", 1);
    write_file(path_in(path, "000001/removed"), "x", 1);
    write_file(path_in(path, "000001/table-02.tbl"), "x", 1);
    assert_int_equal(mkdir(path_in(path, "000002"), 0777), 0);
    assert_ok(try_all(path));
    assert_ok(idx_verify(path, NULL, NULL, &failure));
}

/* ---- Options ---- */

static void test_options(void **state) {
    const char *path = build_small(*state, "i", 1);
    struct idx_open_options options = IDX_OPEN_OPTIONS_INIT;
    struct idx_index *index;
    uint8_t byte = 0xa5;
    size_t fingerprints;
    uint64_t documents;
    change_bytes(path_in(path, "000001/table-00.tbl"), 4096 + 2000, &byte, 1);
    assert_status(IDX_BAD_CHECKSUM, try_all(path));
    options.skip_page_checks = true; /* what it finds then is its own affair; that it finds it is enough */
    assert_ok(idx_open(&index, path, &options, &failure));
    enum idx_status status = try_reading(index, &fingerprints, &documents);
    assert_true(status == IDX_OK || status == IDX_BAD_CONTENT);
    idx_close(index);
    options.size = offsetof(struct idx_open_options, skip_page_checks); /* of an older header */
    assert_ok(idx_open(&index, path, &options, &failure));
    assert_status(IDX_BAD_CHECKSUM, try_reading(index, &fingerprints, &documents));
    idx_close(index);
    options = (struct idx_open_options)IDX_OPEN_OPTIONS_INIT;
    options.residence = IDX_RESIDENCE_ALL;
    assert_status(IDX_BAD_CHECKSUM, idx_open(&index, path, &options, &failure));
    options.residence = (enum idx_residence)5;
    assert_status(IDX_INVALID_ARGUMENT, idx_open(&index, path, &options, &failure));
}

/* ---- Many times ---- */

static int count_descriptors(void) { return count_entries("/proc/self/fd"); }

static void test_many_times(void **state) {
    const char *path = build_small(*state, "i", 1);
    struct idx_index *indexes[200];
    int before = count_descriptors();
    for (size_t i = 0; i < LENGTH(indexes); i++)
        indexes[i] = open_index(path, i % 2 ? IDX_RESIDENCE_NONE : IDX_RESIDENCE_DIRECTORY);
    for (size_t i = 0; i < LENGTH(indexes); i += 2) {
        size_t fingerprints;
        uint64_t documents;
        assert_ok(try_reading(indexes[i], &fingerprints, &documents));
        assert_int_equal(fingerprints, COUNT);
        idx_close(indexes[i]);
    }
    for (size_t i = 1; i < LENGTH(indexes); i += 2) {
        size_t fingerprints;
        uint64_t documents;
        assert_ok(try_reading(indexes[i], &fingerprints, &documents));
        assert_int_equal(fingerprints, COUNT);
        assert_int_equal(documents, 1);
        idx_close(indexes[i]);
    }
    assert_int_equal(count_descriptors(), before);
    idx_close(NULL);
}

/* As the header says: two, for the folder and the manifest, however many segments there are; none where opening fails.
 */
static void test_descriptors(void **state) {
    const char *parts[] = {build_small(*state, "a", 1), build_small(*state, "b", 2), build_small(*state, "c", 3)};
    const char *path = path_in(*state, "whole");
    join_indexes(path, parts, LENGTH(parts));
    int before = count_descriptors();
    struct idx_index *index = open_index(path, IDX_RESIDENCE_DIRECTORY);
    assert_int_equal(count_descriptors() - before, 2);
    idx_close(index);
    assert_int_equal(count_descriptors(), before);
    change_size(path_in(path, "000003/docs.mdb"), 4096);
    assert_status(IDX_WRONG_SIZE, try_open(path));
    unlink(path_in(path, "000003/table-01.tbl"));
    assert_status(IDX_MISSING_FILE, try_open(path));
    assert_status(IDX_MISSING_FILE, idx_verify(path, NULL, NULL, &failure));
    assert_int_equal(count_descriptors(), before);
}

/* ---- Replacement ---- */

static bool is_replaced(const struct idx_index *index) {
    bool replaced;
    assert_ok(idx_replaced(index, &replaced, &failure));
    return replaced;
}

static void rebuild(const char *path, uint64_t seed) {
    struct idx_build_options options = IDX_BUILD_OPTIONS_INIT;
    uint64_t items[7];
    for (size_t i = 0; i < LENGTH(items); i++) items[i] = next_random(&seed);
    options.replace = true;
    build_index(path, &options, items, LENGTH(items));
}

static void expect_fingerprints(const struct idx_index *index, size_t expected) {
    size_t fingerprints;
    uint64_t documents;
    assert_ok(try_reading(index, &fingerprints, &documents));
    assert_int_equal(fingerprints, expected);
    assert_int_equal(documents, 1);
}

static void test_replaced(void **state) {
    const char *path = build_small(*state, "i", 1);
    struct idx_index *old = open_index(path, IDX_RESIDENCE_DIRECTORY), *mapped = open_index(path, IDX_RESIDENCE_NONE);
    assert_false(is_replaced(old));
    rebuild(path, 1);
    assert_true(is_replaced(old));
    assert_true(is_replaced(mapped));
    struct idx_index *new = open_index(path, IDX_RESIDENCE_DIRECTORY);
    assert_false(is_replaced(new));
    expect_fingerprints(old, COUNT); /* for the first time: its files are gone from the folder */
    expect_fingerprints(mapped, COUNT);
    expect_fingerprints(new, 7);
    rebuild(path, 1); /* of the same documents */
    assert_true(is_replaced(new));
    remove_all(path);
    assert_true(is_replaced(old));
    expect_fingerprints(old, COUNT);
    expect_fingerprints(new, 7);
    write_file(path, "x", 1);
    assert_true(is_replaced(new));
    idx_close(old);
    idx_close(mapped);
    idx_close(new);
}

/* Replaces the manifest as SPEC.md, chapter 2, says: by rename. It gets these times of change, NULL for now. */
static void replace_manifest(const char *path, struct idxf_manifest *manifest, const struct timespec times[2]) {
    const char *new = path_in(path, "new");
    assert_int_equal(mkdir(new, 0777), 0);
    write_manifest(new, manifest);
    if (times != NULL) assert_int_equal(utimensat(AT_FDCWD, path_in(new, "manifest"), times, 0), 0);
    assert_int_equal(rename(path_in(new, "manifest"), path_in(path, "manifest")), 0);
    assert_int_equal(rmdir(new), 0);
}

/* A new manifest in the same folder is another version of the index. */
static void test_replaced_by_manifest(void **state) {
    const char *path = build_small(*state, "i", 1);
    struct idxf_manifest *manifest = malloc(sizeof *manifest);
    struct idx_index *index = open_index(path, IDX_RESIDENCE_DIRECTORY);
    assert_non_null(manifest);
    read_manifest(path, manifest);
    replace_manifest(path, manifest, NULL);
    assert_false(is_replaced(index));
    manifest->k = 1;
    replace_manifest(path, manifest, NULL);
    assert_true(is_replaced(index));
    write_file(path_in(path, "manifest"), "x", 1);
    assert_true(is_replaced(index));
    unlink(path_in(path, "manifest"));
    assert_true(is_replaced(index));
    idx_close(index);
    free(manifest);
}

/* Clocks of files tick every few milliseconds, so that two manifests may have one size and one time. One that was
 * renamed is told by its inode, which the reader's open file keeps from being used again. Only what rewrites the file
 * in place, as SPEC.md forbids, can be missed: that is what one system call per look costs. */
static void test_manifests_of_one_time(void **state) {
    const char *path = build_small(*state, "i", 1);
    struct idxf_manifest *manifest = malloc(sizeof *manifest);
    struct idx_index *index = open_index(path, IDX_RESIDENCE_DIRECTORY);
    struct stat status;
    assert_non_null(manifest);
    read_manifest(path, manifest);
    assert_int_equal(stat(path_in(path, "manifest"), &status), 0);
    const struct timespec times[2] = {status.st_atim, status.st_mtim};
    unsigned k = manifest->k;
    for (unsigned i = 0; i < 200; i++) {
        manifest->k = (uint8_t)k;
        replace_manifest(path, manifest, times);
        assert_false(is_replaced(index));
        manifest->k = 1;
        replace_manifest(path, manifest, times);
        assert_true(is_replaced(index));
    }
    manifest->k = (uint8_t)k;
    replace_manifest(path, manifest, times);
    assert_false(is_replaced(index));
    manifest->k = 1;
    write_manifest(path, manifest);
    assert_int_equal(utimensat(AT_FDCWD, path_in(path, "manifest"), times, 0), 0);
    assert_false(is_replaced(index));
    idx_close(index);
    free(manifest);
}

static void test_moved_away_and_back(void **state) {
    const char *path = build_small(*state, "i", 1);
    struct idx_index *index = open_index(path, IDX_RESIDENCE_DIRECTORY);
    assert_int_equal(rename(path, path_in(*state, "away")), 0);
    assert_true(is_replaced(index));
    expect_fingerprints(index, COUNT);
    assert_int_equal(rename(path_in(*state, "away"), path), 0);
    assert_false(is_replaced(index));
    idx_close(index);
}

/* ---- Properties ---- */

static void test_properties(void **state) {
    struct idx_build_options options = options_for(61, 3, "10");
    struct idx_properties properties;
    struct set set = make_set(SHAPE_CLUSTERED, 61, 2000, 1);
    uint64_t table_bytes = 0;
    const char *path = path_in(*state, "i");
    options.id_type = IDX_ID_U64;
    options.recipe = "words-1";
    build_index(path, &options, set.items, set.count);
    struct idx_index *index = open_index(path, IDX_RESIDENCE_DIRECTORY);
    idx_get_properties(index, &properties);
    assert_int_equal(properties.format_version, 1);
    assert_int_equal(strlen(properties.uuid), 36);
    assert_int_equal(properties.uuid[14], '4'); /* made at random: RFC 9562, version 4 */
    assert_int_equal(properties.bits, 61);
    assert_int_equal(properties.k, 3);
    assert_int_equal(properties.id_type, IDX_ID_U64);
    assert_string_equal(properties.recipe, "words-1");
    assert_string_equal(properties.scheme->name, "5:2");
    assert_int_equal(properties.scheme->table_count, 10);
    assert_int_equal(properties.segments, 1);
    assert_int_equal(properties.fingerprints, set.distinct_count);
    assert_int_equal(properties.documents, set.count);
    for (size_t i = 0; i < 10; i++) {
        struct idx_table_properties table;
        assert_ok(idx_get_table_properties(index, 0, i, &table, &failure));
        table_bytes += table.file_bytes;
    }
    assert_int_equal(properties.table_bytes, table_bytes);
    assert_true(properties.documents_bytes > 16 * set.count);
    assert_true(properties.resident_bytes > 10 * 4096 && properties.resident_bytes < table_bytes + 1000000);
    idx_close(index);
    free_set(&set);
}

static void test_properties_of_several_segments(void **state) {
    struct idx_properties properties;
    const char *parts[] = {build_small(*state, "a", 1), build_small(*state, "b", 1), build_small(*state, "c", 3)};
    const char *path = path_in(*state, "whole");
    join_indexes(path, parts, LENGTH(parts));
    struct idx_index *index = open_index(path, IDX_RESIDENCE_NONE);
    idx_get_properties(index, &properties);
    assert_int_equal(properties.segments, 3);
    assert_int_equal(properties.fingerprints, 3 * COUNT);
    assert_int_equal(properties.documents, 3 * COUNT);
    idx_close(index);
}

static void test_table_properties(void **state) {
    struct idx_table_properties table;
    const char *path = build_small(*state, "i", 1);
    struct idx_index *index = open_index(path, IDX_RESIDENCE_NONE);
    for (size_t i = 0; i < 2; i++) {
        assert_ok(idx_get_table_properties(index, 0, i, &table, &failure));
        assert_true(table.mask == (i == 0 ? 0xffffffff00000000 : 0x00000000ffffffff));
        assert_int_equal(table.radius, 1);
        assert_int_equal(table.prefix, 32);
        assert_int_equal(table.block_size, 128);
        assert_int_equal(table.fingerprints, COUNT);
        assert_in_range(table.blocks, COUNT / 17, COUNT / 7); /* a tenth of the differences has no code */
        assert_int_equal(table.directory_bytes, 64);
        assert_int_equal(table.file_bytes, 4096 + 3 * (4096 + 8)); /* two pages of blocks, one of the directory */
    }
    assert_status(IDX_INVALID_ARGUMENT, idx_get_table_properties(index, 0, 2, &table, &failure));
    assert_status(IDX_INVALID_ARGUMENT, idx_get_table_properties(index, 1, 0, &table, &failure));
    assert_status(IDX_INVALID_ARGUMENT, idx_get_table_properties(index, SIZE_MAX, SIZE_MAX, &table, &failure));
    idx_close(index);
}

static void test_properties_of_nothing(void **state) {
    struct idx_properties properties;
    struct idx_table_properties table;
    const char *path = path_in(*state, "i");
    build_index(path, NULL, NULL, 0);
    struct idx_index *index = open_index(path, IDX_RESIDENCE_DIRECTORY);
    idx_get_properties(index, &properties);
    assert_int_equal(properties.fingerprints, 0);
    assert_int_equal(properties.table_bytes, properties.scheme->table_count * 4096);
    assert_ok(idx_get_table_properties(index, 0, 0, &table, &failure));
    assert_int_equal(table.blocks, 0);
    assert_int_equal(table.directory_bytes, 0);
    assert_true(table.dead_bits == UINT64_MAX);
    assert_int_equal(table.largest_group, 0);
    assert_true(table.mean_group == 0);
    assert_true(table.expected_blocks == 0);
    idx_close(index);
}

/* ---- Errors ---- */

static void test_statuses_have_phrases(void **state) {
    (void)state;
    static const int all[] = {0,   100, 101, 102, 103, 104, 200, 201, 202, 203, 204,
                              205, 206, 300, 301, 302, 303, 304, 400, 401, 402, 403};
    for (size_t i = 0; i < LENGTH(all); i++) {
        assert_string_not_equal(idx_status_string((enum idx_status)all[i]), "unknown status");
        for (size_t other = 0; other < i; other++)
            assert_string_not_equal(idx_status_string((enum idx_status)all[i]),
                                    idx_status_string((enum idx_status)all[other]));
    }
    assert_string_equal(idx_status_string((enum idx_status)999), "unknown status");
    int major, minor, patch, length;
    assert_string_equal(idx_version(), IDX_VERSION);
    assert_int_equal(sscanf(IDX_VERSION, "%2d.%2d.%2d%n", &major, &minor, &patch, &length), 3);
    assert_int_equal(length, strlen(IDX_VERSION));
    assert_int_equal(IDX_VERSION_NUMBER, major * 10000 + minor * 100 + patch);
}

/* A long path keeps its end, and the sentence its line. */
static void test_long_paths(void **state) {
    char path[3000];
    size_t used = (size_t)snprintf(path, sizeof path, "%s", (char *)*state);
    for (int i = 0; i < 12; i++) used += (size_t)snprintf(path + used, sizeof path - used, "/%0200d", i);
    assert_status(IDX_NOT_FOUND, try_open(path));
    assert_int_equal(strlen(failure.file), sizeof failure.file - 1);
    expect_file("00000000011");
    for (int i = 0; i < 10; i++) used += (size_t)snprintf(path + used, sizeof path - used, "/x%050d", i);
    assert_status(IDX_NOT_FOUND, try_open(path));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        in_folder(test_nothing_there),
        in_folder(test_something_else_there),
        in_folder(test_ways_to_name_it),
        in_folder(test_no_permission),
        in_folder(test_read_only_media),
        in_folder(test_read_only_files),
        in_folder(test_missing_files),
        in_folder(test_pipe_for_a_file),
        in_folder(test_missing_manifest),
        in_folder(test_missing_second_segment),
        in_folder(test_tables_of_another_index),
        in_folder(test_segment_of_another_build),
        in_folder(test_tables_exchanged),
        in_folder(test_documents_of_another_index),
        in_folder(test_documents_of_a_larger_index),
        in_folder(test_manifest_of_another_index),
        in_folder(test_tables_against_the_manifest),
        in_folder(test_documents_not_lmdb),
        in_folder(test_documents_of_the_other_byte_order),
        in_folder(test_newer_versions),
        in_folder(test_version_0),
        in_folder(test_manifest_that_breaks_a_rule),
        in_folder(test_manifest_that_does_not_cover),
        in_folder(test_other_files_are_ignored),
        in_folder(test_options),
        in_folder(test_many_times),
        in_folder(test_descriptors),
        in_folder(test_replaced),
        in_folder(test_replaced_by_manifest),
        in_folder(test_manifests_of_one_time),
        in_folder(test_moved_away_and_back),
        in_folder(test_properties),
        in_folder(test_properties_of_several_segments),
        in_folder(test_table_properties),
        in_folder(test_properties_of_nothing),
        in_folder(test_statuses_have_phrases),
        in_folder(test_long_paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
