/* document_pages.c: no page of docs.mdb is used unchecked, and behind the checksums none is trusted. One page after the
 * other is filled with noise; each document then comes out as it went in, or the look-up says that the map is damaged.
 * With checksums that match, answers may be wrong, but reading ends, and stays inside. */
#include "tests/libidx/forge.h"
#include "tests/libidx/sets.h"
#include "tests/libidx/support.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libidx/segment/document_pages.h"

#define PAGE 4096
#define LONG_ID 9000 /* bytes: three pages */

/* A map with branch pages, long IDs, and more documents on one fingerprint than a page holds. */
#define FINGERPRINTS 1500
#define DUPLICATES 3000

static size_t id_of(size_t document, char *id) {
    size_t length = write_id(id, document);
    if (document % 100 != 0) return length;
    memset(id + length, 'x', LONG_ID - length);
    return LONG_ID;
}

static uint64_t fingerprint_of(size_t document) {
    return document < FINGERPRINTS ? document * UINT64_C(0x9e3779b97f4a7c15) : 7;
}

static void build_map(const char *path, enum idx_id_type id_type) {
    struct idx_build_options options = options_for(64, 3, "4");
    struct idx_builder *builder;
    char id[LONG_ID];
    options.id_type = id_type;
    assert_ok(idx_builder_open(&builder, path, &options, &failure));
    for (size_t document = 0; document < FINGERPRINTS + DUPLICATES; document++) {
        if (id_type == IDX_ID_TEXT)
            assert_ok(idx_builder_add(
                builder,
                &(struct idx_item){.fingerprint = fingerprint_of(document), .id = id, .id_length = id_of(document, id)},
                &failure));
        else
            assert_ok(idx_builder_add(
                builder, &(struct idx_item){.fingerprint = fingerprint_of(document), .number = document}, &failure));
    }
    assert_ok(idx_builder_finish(builder, NULL, &failure));
    idx_builder_close(builder);
}

/* Checks the document that a cursor gives; `expected` is its number or ID. */
static void check_document(const struct idx_document *document, enum idx_id_type id_type, size_t expected) {
    char id[LONG_ID];
    assert_int_equal(document->number, expected);
    if (id_type != IDX_ID_TEXT) return;
    assert_int_equal(document->id_length, id_of(expected, id));
    assert_memory_equal(document->id, id, document->id_length);
}

/* Walks all documents of a fingerprint, from `first` on. Returns the status of the first call that failed. */
static enum idx_status walk(struct idx_documents *documents, enum idx_id_type id_type, uint64_t fingerprint,
                            size_t first, size_t count) {
    uint64_t found_count;
    enum idx_status status = idx_documents_find(documents, fingerprint, &found_count, &failure);
    if (status != IDX_OK) return status;
    assert_int_equal(found_count, count);
    for (size_t i = 0; i <= count; i++) {
        struct idx_document document;
        bool found;
        status = idx_documents_next(documents, &document, &found, &failure);
        if (status != IDX_OK) return status;
        assert_int_equal(found, i < count);
        if (found) check_document(&document, id_type, first + i);
    }
    return IDX_OK;
}

/* Reads every document; returns how many look-ups met damage. */
static size_t read_all(const char *path, enum idx_id_type id_type) {
    struct idx_index *index;
    struct idx_documents *documents;
    size_t damaged = 0;
    enum idx_status status = idx_open(&index, path, NULL, &failure);
    if (status != IDX_OK) {
        assert_status(IDX_BAD_CHECKSUM, status);
        return 1;
    }
    status = idx_documents_open(&documents, index, &failure);
    for (size_t i = 0; i <= FINGERPRINTS && status == IDX_OK; i++) {
        size_t count = i < FINGERPRINTS ? 1 : DUPLICATES;
        enum idx_status walked = walk(documents, id_type, fingerprint_of(i), i, count);
        if (walked == IDX_OK) continue;
        assert_status(IDX_BAD_CHECKSUM, walked);
        damaged++;
    }
    if (status == IDX_OK) {
        idx_documents_close(documents);
    } else {
        assert_status(IDX_BAD_CHECKSUM, status);
        damaged++;
    }
    idx_close(index);
    return damaged;
}

static void damage_each_page(const char *folder, enum idx_id_type id_type) {
    const char *path = path_in(folder, "index.idx"), *map = path_in(path, "000001/docs.mdb");
    size_t size, reached = 0;
    build_map(path, id_type);
    assert_int_equal(read_all(path, id_type), 0);
    uint8_t *bytes = read_file(map, &size);
    assert_int_equal(size % PAGE, 0);
    for (size_t at = 0; at < size; at += PAGE) {
        uint8_t whole[PAGE];
        memcpy(whole, bytes + at, PAGE);
        for (size_t i = 0; i < PAGE; i++) bytes[at + i] = (uint8_t)(bytes[at + i] * 31 + i * 197 + 89);
        write_file(map, bytes, size);
        reached += read_all(path, id_type) > 0;
        memcpy(bytes + at, whole, PAGE);
    }
    /* All but pages that LMDB freed while it wrote. */
    assert_true(reached > size / PAGE * 3 / 4);
    write_file(map, bytes, size);
    assert_int_equal(read_all(path, id_type), 0);
    free(bytes);
}

static void damaged_pages_of_text_ids_are_met_with_an_error(void **state) { damage_each_page(*state, IDX_ID_TEXT); }

static void damaged_pages_of_integer_ids_are_met_with_an_error(void **state) { damage_each_page(*state, IDX_ID_U64); }

/* ---- Behind the checksums ---- */

/* Reads all that can be read, whatever it is. */
static void read_anything(const char *path, bool skip_page_checks) {
    struct idx_open_options options = IDX_OPEN_OPTIONS_INIT;
    struct idx_index *index;
    struct idx_documents *documents;
    options.skip_page_checks = skip_page_checks;
    if (idx_open(&index, path, &options, &failure) != IDX_OK) return;
    bool opened = idx_documents_open(&documents, index, &failure) == IDX_OK;
    for (size_t i = 0; i <= FINGERPRINTS && opened; i += 5) {
        bool found = true;
        enum idx_status status = idx_documents_find(documents, fingerprint_of(i), NULL, &failure);
        for (size_t given = 0; status == IDX_OK && found && given < 40; given++) {
            struct idx_document document;
            uint64_t sum = 0;
            status = idx_documents_next(documents, &document, &found, &failure);
            for (size_t at = 0; status == IDX_OK && found && at < document.id_length; at++)
                sum += ((const uint8_t *)document.id)[at];
            if (sum == 1) print_message("one\n"); /* the bytes are used */
        }
    }
    if (opened) idx_documents_close(documents);
    idx_close(index);
}

/* What LMDB keeps at the begin of a page, and in its nodes, is changed more often than the rest. */
static size_t choose_place(const uint8_t *bytes, size_t size, uint64_t *seed) {
    size_t page = (size_t)(next_random(seed) % (size / PAGE)) * PAGE;
    size_t nodes = (size_t)(bytes[page + 12] | bytes[page + 13] << 8), node = 16 + 2 * (size_t)(next_random(seed) % 50);
    if (nodes < 18 || nodes > PAGE || node >= nodes) node = 16;
    size_t offset = (size_t)(bytes[page + node] | bytes[page + node + 1] << 8) % (PAGE - 64);
    switch (next_random(seed) % 4) {
        case 0: return page + (size_t)(next_random(seed) % 24);
        case 1: return page + node + (size_t)(next_random(seed) % 2);
        case 2: return page + offset + (size_t)(next_random(seed) % 64);
        default: return page + (size_t)(next_random(seed) % PAGE);
    }
}

static void test_forged_pages(void **state) {
    static const enum idx_id_type id_types[] = {IDX_ID_TEXT, IDX_ID_U64};
    uint64_t seed = 1;
    for (size_t i = 0; i < LENGTH(id_types); i++) {
        size_t size, rounds = scale(2000);
        const char *path = path_in(*state, "%zu", i), *map = path_in(path, "000001/docs.mdb");
        build_map(path, id_types[i]);
        uint8_t *bytes = read_file(map, &size);
        for (size_t round = 0; round < rounds; round++) {
            size_t changes = 1 + (size_t)(next_random(&seed) % 3), places[3];
            for (size_t j = 0; j < changes; j++) {
                uint8_t byte = (uint8_t)next_random(&seed);
                places[j] = choose_place(bytes, size, &seed);
                change_bytes(map, places[j], &byte, 1);
            }
            read_anything(path, true);
            if (round % 4 == 0) {
                uint8_t uuid[16];
                read_segment_uuid(path_in(path, "000001/table-00.tbl"), uuid);
                forge_sums(path_in(path, "000001"), uuid);
                enum idx_status status = idx_verify(path, NULL, NULL, &failure);
                if (status != IDX_OK) assert_true(is_damage(status) || status == IDX_UNSUPPORTED);
            }
            for (size_t j = 0; j < changes; j++) change_bytes(map, places[j], bytes + places[j], 1);
        }
        free(bytes);
    }
}

/* ---- Shared pages ---- */

#define DEPTH 28
#define LAST UINT64_MAX

/* Opens the pages of a map that is sound. */
static void open_pages(const char *path, struct idxi_pages *pages, uint64_t *root) {
    const char *map = path_in(path, "000001/docs.mdb"), *sums = path_in(path, "000001/docs.sum");
    struct idx_open_options options = IDX_OPEN_OPTIONS_INIT;
    struct stat map_status, sums_status;
    options.skip_page_checks = true;
    int map_file = open(map, O_RDONLY), sums_file = open(sums, O_RDONLY);
    assert_int_equal(fstat(map_file, &map_status), 0);
    assert_int_equal(fstat(sums_file, &sums_status), 0);
    assert_ok(idxi_pages_open(pages, map_file, (uint64_t)map_status.st_size, sums_file, (uint64_t)sums_status.st_size,
                              &options, map, &failure));
    assert_ok(idxi_pages_find_root(pages, "docs", root, &failure));
    close(map_file);
    close(sums_file);
}

static size_t leaf_of(const struct idxi_pages *pages, const struct idxi_page_cursor *cursor) {
    return (size_t)(cursor->way[cursor->depth - 1].page - pages->map) / PAGE;
}

/* A branch page of two nodes: to `first` for all keys below the second one's, which is the greatest that there is. */
static void make_branch(uint8_t *page, size_t number, size_t first, size_t second) {
    uint64_t numbers[] = {number, first, second};
    uint16_t header[] = {0, 1, 20, PAGE - 32, PAGE - 8, PAGE - 32}, key_size = 16;
    memset(page, 0, PAGE);
    memcpy(page, &numbers[0], 8);
    memcpy(page + 8, header, sizeof header);
    memcpy(page + PAGE - 8, &numbers[1], 6);
    memcpy(page + PAGE - 32, &numbers[2], 6);
    memcpy(page + PAGE - 26, &key_size, 2);
    memset(page + PAGE - 24, 0xff, 16);
}

/* Finds the last entry. */
static void find_last(const struct idxi_pages *pages, uint64_t root, struct idxi_page_cursor *last) {
    struct idxi_page_cursor cursor;
    assert_ok(idxi_pages_seek(pages, root, "", 0, &cursor, &failure));
    for (*last = cursor; cursor.found;) {
        *last = cursor;
        assert_ok(idxi_pages_next(&cursor, &failure));
    }
}

/* Puts behind the root's first child, the map's last leaf, a chain of branches that lead to the next one twice, and in
 * the end to the first leaf. */
static void share_pages(const char *path) {
    const char *map = path_in(path, "000001/docs.mdb");
    struct idxi_page_cursor first, last;
    struct idxi_pages pages;
    uint64_t root;
    uint8_t uuid[16];
    size_t size;
    open_pages(path, &pages, &root);
    assert_ok(idxi_pages_seek(&pages, root, "", 0, &first, &failure));
    find_last(&pages, root, &last);
    size_t leaf = leaf_of(&pages, &first), last_leaf = leaf_of(&pages, &last);
    idxi_pages_close(&pages);
    uint8_t *bytes = read_file(map, &size);
    bytes = realloc(bytes, size + DEPTH * PAGE);
    assert_non_null(bytes);
    make_branch(bytes + root * PAGE, root, last_leaf, size / PAGE);
    for (size_t i = 0; i < DEPTH; i++) {
        size_t number = size / PAGE + i, next = i + 1 < DEPTH ? number + 1 : leaf;
        make_branch(bytes + number * PAGE, number, next, next);
    }
    write_file(map, bytes, size + DEPTH * PAGE);
    free(bytes);
    read_segment_uuid(path_in(path, "000001/table-00.tbl"), uuid);
    forge_sums(path_in(path, "000001"), uuid);
}

/* Documents of the greatest fingerprint fill the last leaf, and none of the first leaf's groups ends the search for
 * more of them. */
static void test_shared_pages(void **state) {
    const char *path = path_in(*state, "i");
    struct idx_build_options options = options_for(64, 3, "4");
    struct idx_builder *builder;
    struct idx_documents *documents;
    options.id_type = IDX_ID_U64;
    assert_ok(idx_builder_open(&builder, path, &options, &failure));
    for (uint64_t i = 0; i < FINGERPRINTS; i++)
        assert_ok(idx_builder_add(
            builder, &(struct idx_item){.fingerprint = i * UINT64_C(0x9e3779b97f4a7c15), .number = i}, &failure));
    for (uint64_t i = 0; i < 20 * DUPLICATES; i++)
        assert_ok(idx_builder_add(builder, &(struct idx_item){.fingerprint = LAST, .number = i}, &failure));
    assert_ok(idx_builder_finish(builder, NULL, &failure));
    idx_builder_close(builder);
    share_pages(path);
    struct idx_index *index = open_index(path, IDX_RESIDENCE_DIRECTORY);
    assert_ok(idx_documents_open(&documents, index, &failure));
    assert_status(IDX_BAD_CONTENT, idx_documents_find(documents, LAST, NULL, &failure));
    assert_non_null(strstr(failure.sentence, "not a valid LMDB file"));
    idx_documents_close(documents);
    idx_close(index);
    assert_status(IDX_BAD_CONTENT, idx_verify(path, NULL, NULL, &failure));
}

/* A group's values that descend: a reader that took them would decode groups of IDs again and again. */
static void test_values_that_descend(void **state) {
    static const uint64_t one = 1;
    const char *path = path_in(*state, "i"), *map = path_in(path, "000001/docs.mdb");
    struct idx_build_options options = options_for(64, 3, "4");
    struct idx_builder *builder;
    struct idx_documents *documents;
    struct idxi_page_cursor cursor;
    struct idxi_pages pages;
    struct idx_document document;
    uint64_t root;
    uint8_t uuid[16];
    bool found;
    options.id_type = IDX_ID_U64;
    assert_ok(idx_builder_open(&builder, path, &options, &failure));
    assert_ok(idx_builder_add(builder, &(struct idx_item){.fingerprint = one, .number = 1000}, &failure));
    assert_ok(idx_builder_add(builder, &(struct idx_item){.fingerprint = one, .number = 1255}, &failure));
    assert_ok(idx_builder_finish(builder, NULL, &failure));
    idx_builder_close(builder);
    open_pages(path, &pages, &root);
    find_last(&pages, root, &cursor);
    size_t at = (size_t)(cursor.value + cursor.value_size - 2 - pages.map);
    assert_memory_equal(pages.map + at, "\x00\xff", 2);
    idxi_pages_close(&pages);
    change_bytes(map, at, "\xff\x00", 2);
    read_segment_uuid(path_in(path, "000001/table-00.tbl"), uuid);
    forge_sums(path_in(path, "000001"), uuid);
    struct idx_index *index = open_index(path, IDX_RESIDENCE_DIRECTORY);
    assert_ok(idx_documents_open(&documents, index, &failure));
    assert_ok(idx_documents_find(documents, one, NULL, &failure));
    assert_status(IDX_BAD_CONTENT, idx_documents_next(documents, &document, &found, &failure));
    idx_documents_close(documents);
    idx_close(index);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        in_folder(damaged_pages_of_text_ids_are_met_with_an_error),
        in_folder(damaged_pages_of_integer_ids_are_met_with_an_error),
        in_folder(test_forged_pages),
        in_folder(test_shared_pages),
        in_folder(test_values_that_descend),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
