/* additions.c: what later releases may add to an index (SPEC.md, chapter 2): what a reader needs is refused by name,
 * and all else is passed over; and document maps with the pages of other machines. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <lmdb.h>

#include "format/bytes.h"
#include "format/checksum.h"
#include "tests/libidx/forge.h"
#include "tests/libidx/support.h"

static const uint64_t fingerprints[] = {5, 5, 9, UINT64_C(1) << 63, 0, UINT64_MAX};

/* LMDB asks for the page size by sysconf, and comes here. 0: the machine's. */
static long page_size;

__attribute__((visibility("default"))) long sysconf(int name) {
    long (*real)(int name);
    void *found = dlsym(RTLD_NEXT, "sysconf");
    if (name == _SC_PAGESIZE && page_size != 0) return page_size;
    memcpy(&real, &found, sizeof real);
    return real(name);
}

/* ---- Files ---- */

/* The lines of the manifest of an index, without the checksum's. */
static char *manifest_lines(const char *path) {
    size_t size;
    char *text = (char *)read_file(path_in(path, "manifest"), &size);
    *strstr(text, "checksum ") = '\0';
    return text;
}

/* Puts `line` behind the first line of the manifest, and `last` behind all others. */
static void add_lines(const char *path, const char *line, const char *last) {
    char *lines = manifest_lines(path);
    size_t first = (size_t)(strchr(lines, '\n') + 1 - lines), room = strlen(lines) + strlen(line) + strlen(last) + 1;
    char *text = malloc(room);
    assert_non_null(text);
    snprintf(text, room, "%.*s%s%s%s", (int)first, lines, line, lines + first, last);
    forge_manifest(path_in(path, "manifest"), text);
    free(text);
    free(lines);
}

/* Lengthens a file by `extra` bytes, says so in its header of `header` bytes at `offset`, and makes its checksum. */
static void lengthen(const char *path, size_t header, size_t offset, uint32_t extra) {
    size_t size;
    uint8_t *bytes = read_file(path, &size);
    bytes = realloc(bytes, size + extra);
    assert_non_null(bytes);
    memset(bytes + size, 'x', extra);
    idxf_store32(bytes + offset, extra);
    idxf_store64(bytes + header - 8, idxf_checksum(bytes, header - 8));
    write_file(path, bytes, size + extra);
    free(bytes);
}

/* ---- Indexes ---- */

/* Two segments, the second of which removes, and pending records. */
static void make_index(const char *path) {
    struct idx_build_options options = options_for(64, 3, "4");
    struct idx_writer_options writing = IDX_WRITER_OPTIONS_INIT;
    struct idx_compact_options compacting = IDX_COMPACT_OPTIONS_INIT;
    const struct idx_item items[] = {{.fingerprint = 77, .id = "a", .id_length = 1},
                                     {.fingerprint = 78, .id = "b", .id_length = 1}};
    const uint64_t removed = 9;
    struct idx_writer *writer;
    options.by_id = true;
    writing.compact_records = 0;
    writing.compact_segments = 0;
    compacting.max_segments = 9;
    compacting.growth = 1;
    build_index(path, &options, fingerprints, LENGTH(fingerprints));
    assert_ok(idx_writer_open(&writer, path, &writing, &failure));
    assert_ok(idx_writer_add(writer, items, 1, &failure));
    assert_ok(remove_by_fingerprint(writer, &removed, 1, NULL, &failure));
    idx_writer_close(writer);
    assert_ok(idx_compact(path, &compacting, NULL, &failure));
    assert_ok(idx_writer_open(&writer, path, &writing, &failure));
    assert_ok(idx_writer_add(writer, items + 1, 1, &failure));
    idx_writer_close(writer);
}

/* What make_index made is found, and nothing is damaged. */
static void check_index(const char *path) {
    static const uint64_t asked[] = {5, 9, UINT64_C(1) << 63, 0, UINT64_MAX, 77, 78, 79};
    static const int64_t expected[] = {0, 2, 2, 3, 4, 5, 6, 7, 7}; /* 9 was removed, 79 never there */
    struct idx_document_lists lists;
    assert_ok(idx_verify(path, NULL, NULL, &failure));
    struct idx_index *index = open_index(path, IDX_RESIDENCE_DIRECTORY);
    assert_ok(idx_list_documents(index, asked, LENGTH(asked), NULL, &lists, &failure));
    assert_memory_equal(lists.offsets, expected, sizeof expected);
    idx_document_lists_close(&lists);
    idx_close(index);
}

static void test_needs_are_refused_by_name(void **state) {
    const char *path = path_in(*state, "i");
    struct idx_index *index;
    make_index(path);
    add_lines(path, "needs wider-blocks\nneeds more\n", "");
    assert_status(IDX_NEW_VERSION, idx_open(&index, path, NULL, &failure));
    assert_non_null(strstr(failure.sentence, "needs 'wider-blocks'"));
    assert_status(IDX_NEW_VERSION, idx_compact(path, NULL, NULL, &failure));
    assert_non_null(strstr(failure.sentence, "needs 'wider-blocks'"));
}

static void test_optional_lines_are_passed_over(void **state) {
    const char *path = path_in(*state, "i");
    make_index(path);
    add_lines(path, "", "optional bloom-filters 7 1\noptional made-by a later release\n");
    check_index(path);
    char *lines = manifest_lines(path);
    assert_non_null(strstr(lines, "\noptional bloom-filters 7 1\n"));
    free(lines);
    /* Who writes a new manifest can't know whether they are still true. */
    assert_ok(idx_compact(path, NULL, NULL, &failure));
    check_index(path);
    lines = manifest_lines(path);
    assert_null(strstr(lines, "optional"));
    free(lines);
}

/* A writer that notes how far the log goes leaves them out. That alone does not replace the index. */
static void test_optional_lines_that_go(void **state) {
    const char *path = path_in(*state, "i");
    const struct idx_item item = {.fingerprint = 79, .id = "c", .id_length = 1};
    bool replaced;
    make_index(path);
    add_lines(path, "", "optional made-by a later release\n");
    struct idx_index *index = open_index(path, IDX_RESIDENCE_DIRECTORY);
    struct idx_writer *writer = open_simple_writer(path);
    assert_ok(idx_writer_add(writer, &item, 1, &failure));
    idx_writer_close(writer);
    char *lines = manifest_lines(path);
    assert_null(strstr(lines, "optional"));
    free(lines);
    assert_ok(idx_replaced(index, &replaced, &failure));
    assert_false(replaced);
    idx_close(index);
}

static void test_extra_bytes_are_passed_over(void **state) {
    static const char *const sums[] = {"docs.sum", "by-id.sum"};
    const char *path = path_in(*state, "i");
    make_index(path);
    for (unsigned segment = 1; segment <= 2; segment++) {
        for (unsigned table = 0; table < 4; table++)
            lengthen(path_in(path, "%06u/table-%02u.tbl", segment, table), IDXF_PAGE_SIZE, 172, 1 + 5000 * table);
        for (size_t i = 0; i < LENGTH(sums); i++) lengthen(path_in(path, "%06u/%s", segment, sums[i]), 64, 12, 9);
        write_file(path_in(path, "%06u/filters.bin", segment), "later", 5);
    }
    lengthen(path_in(path, "000002/removed"), 64, 12, 33);
    write_file(path_in(path, "later"), "later", 5);
    check_index(path);
    assert_ok(idx_compact(path, NULL, NULL, &failure));
    check_index(path);
}

static void test_other_databases_are_passed_over(void **state) {
    const char *path = path_in(*state, "i"), *segment = path_in(path, "000001");
    MDB_val key = {5, "later"}, value = {7, "release"};
    uint8_t uuid[16];
    MDB_env *env;
    MDB_txn *txn;
    MDB_dbi meta, later;
    make_index(path);
    read_segment_uuid(path_in(segment, "table-00.tbl"), uuid);
    assert_int_equal(mdb_env_create(&env), 0);
    assert_int_equal(mdb_env_set_maxdbs(env, 4), 0);
    assert_int_equal(mdb_env_open(env, path_in(segment, "docs.mdb"), MDB_NOSUBDIR | MDB_NOLOCK, 0666), 0);
    assert_int_equal(mdb_txn_begin(env, NULL, 0, &txn), 0);
    assert_int_equal(mdb_dbi_open(txn, "meta", 0, &meta), 0);
    assert_int_equal(mdb_dbi_open(txn, "later", MDB_CREATE, &later), 0);
    assert_int_equal(mdb_put(txn, meta, &key, &value, 0), 0);
    assert_int_equal(mdb_put(txn, later, &key, &value, 0), 0);
    assert_int_equal(mdb_txn_commit(txn), 0);
    mdb_env_close(env);
    forge_sums(segment, uuid);
    check_index(path);
}

/* ---- Pages of other machines ---- */

static void test_page_sizes(void **state) {
    static const long sizes[] = {8192, 16384, 32768, 65536}; /* LMDB 0.9 takes 32768 in place of the last */
    for (size_t i = 0; i < LENGTH(sizes); i++) {
        const char *path = path_in(*state, "%ld", sizes[i]);
        size_t size;
        page_size = sizes[i];
        make_index(path);
        page_size = 0;
        uint8_t *bytes = read_file(path_in(path, "000001/docs.mdb"), &size);
        uint32_t written;
        memcpy(&written, bytes + 40, sizeof written);
        assert_int_equal(written, sizes[i] > 32768 ? 32768 : sizes[i]);
        free(bytes);
        check_index(path);
        assert_ok(idx_compact(path, NULL, NULL, &failure));
        check_index(path);
    }
}

/* The magic is the other way round. */
static void test_other_byte_order(void **state) {
    const char *path = path_in(*state, "i"), *segment = path_in(path, "000001");
    uint8_t uuid[16], magic[4], swapped[4];
    size_t size;
    make_index(path);
    read_segment_uuid(path_in(segment, "table-00.tbl"), uuid);
    uint8_t *bytes = read_file(path_in(segment, "docs.mdb"), &size);
    memcpy(magic, bytes + 16, sizeof magic);
    free(bytes);
    for (size_t i = 0; i < sizeof magic; i++) swapped[i] = magic[sizeof magic - 1 - i];
    change_bytes(path_in(segment, "docs.mdb"), 16, swapped, sizeof swapped);
    forge_sums(segment, uuid);
    assert_status(IDX_UNSUPPORTED, idx_verify(path, NULL, NULL, &failure));
    assert_non_null(strstr(failure.sentence, "different byte order: run `idx dump` there"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        in_folder(test_needs_are_refused_by_name),
        in_folder(test_optional_lines_are_passed_over),
        in_folder(test_optional_lines_that_go),
        in_folder(test_extra_bytes_are_passed_over),
        in_folder(test_other_databases_are_passed_over),
        in_folder(test_page_sizes),
        in_folder(test_other_byte_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
