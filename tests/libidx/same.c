/* same.c: see same.h. */
#include "tests/libidx/same.h"

#include <stdlib.h>
#include <string.h>

#include "libidx/segment/table_reader.h"
#include "libidx/view/index.h"
#include "tests/libidx/forge.h"
#include "tests/libidx/sets.h"
#include "tests/libidx/support.h"

#define PAGE 4096

/* The two, both open. */
struct both {
    const char *paths[2];
    struct idx_index *indexes[2];
    struct idx_properties properties[2];
};

/* ---- Properties ---- */

static void compare_properties(const struct both *both) {
    const struct idx_properties *a = &both->properties[0], *b = &both->properties[1];
    assert_int_equal(a->bits, b->bits);
    assert_int_equal(a->k, b->k);
    assert_int_equal(a->id_type, b->id_type);
    assert_string_equal(a->recipe, b->recipe);
    assert_string_equal(a->scheme->name, b->scheme->name);
    assert_int_equal(a->scheme->table_count, b->scheme->table_count);
    assert_int_equal(a->segments, 1);
    assert_int_equal(b->segments, 1);
    assert_int_equal(a->fingerprints, b->fingerprints);
    assert_int_equal(a->documents, b->documents);
    assert_int_equal(a->by_id, b->by_id);
    assert_int_equal(a->by_id_bytes, b->by_id_bytes);
}

static void compare_heaviest(const struct both *both) {
    uint64_t fingerprints[2], documents[2];
    for (size_t i = 0; i < 2; i++)
        assert_ok(idx_get_heaviest(both->indexes[i], &fingerprints[i], &documents[i], &failure));
    assert_int_equal(fingerprints[0], fingerprints[1]);
    assert_int_equal(documents[0], documents[1]);
}

/* ---- Tables ---- */

/* Whether the first table is in the order of the numbers: then whoever writes tables chooses the code by that order.
 * Where it is not, a builder still has that order, and a merge has that of the first table (SPEC.md, chapter 5). */
static bool has_one_code(const struct both *both) {
    const struct idx_scheme *scheme = both->properties[0].scheme;
    uint64_t top = UINT64_C(1) << (scheme->bits - 1), outside = all_ones(scheme->bits) & ~scheme->tables[0].mask;
    return (outside & top) == 0 && (outside & (outside + 1)) == 0;
}

static void compare_table_properties(const struct both *both, size_t table) {
    struct idx_table_properties properties[2];
    memset(properties, 0, sizeof properties);
    for (size_t i = 0; i < 2; i++)
        assert_ok(idx_get_table_properties(both->indexes[i], 0, table, &properties[i], &failure));
    for (size_t i = 0; i < 2 && !has_one_code(both); i++) { /* what depends on the code */
        properties[i].blocks = properties[i].directory_bytes = properties[i].file_bytes = 0;
        properties[i].expected_blocks = properties[i].even_blocks = 0;
    }
    assert_memory_equal(&properties[0], &properties[1], sizeof properties[0]);
}

/* The fingerprints of a table, in its order. */
static void compare_table_content(const struct both *both, size_t table) {
    struct idxi_table_stream *streams = malloc(2 * sizeof *streams);
    uint64_t read[2];
    size_t counts[2] = {1, 1};
    assert_non_null(streams);
    for (size_t i = 0; i < 2; i++) idxi_table_stream_init(&streams[i], &both->indexes[i]->segments[0]->tables[table]);
    while (counts[0] > 0) {
        for (size_t i = 0; i < 2; i++)
            assert_ok(streams[i].stream.read(&streams[i].stream, &read[i], NULL, 1, &counts[i], &failure));
        assert_int_equal(counts[0], counts[1]);
        if (counts[0] > 0) assert_true(read[0] == read[1]);
    }
    free(streams);
}

/* Only the header has the uuid. */
static void compare_table_bytes(const struct both *both, size_t table) {
    size_t sizes[2];
    uint8_t *bytes[2];
    for (size_t i = 0; i < 2; i++)
        bytes[i] = read_file(path_in(both->paths[i], "000001/table-%02zu.tbl", table), &sizes[i]);
    assert_int_equal(sizes[0], sizes[1]);
    assert_true(sizes[0] >= PAGE);
    assert_memory_equal(bytes[0] + PAGE, bytes[1] + PAGE, sizes[0] - PAGE);
    free(bytes[0]);
    free(bytes[1]);
}

/* ---- Maps from IDs ---- */

/* The map from IDs, its one copy of the segment's uuid made 0. */
static uint8_t *read_by_id(const char *path, size_t *size) {
    uint8_t uuid[16], *bytes = read_file(path_in(path, "000001/by-id.mdb"), size);
    size_t found = 0;
    read_segment_uuid(path_in(path, "000001/table-00.tbl"), uuid);
    for (size_t i = 0; i + sizeof uuid <= *size; i++) {
        if (memcmp(bytes + i, uuid, sizeof uuid) != 0) continue;
        memset(bytes + i, 0, sizeof uuid);
        found++;
    }
    assert_true(found > 0);
    return bytes;
}

static void compare_by_id(const struct both *both) {
    size_t sizes[2];
    uint8_t *bytes[2];
    if (!both->properties[0].by_id) return;
    for (size_t i = 0; i < 2; i++) bytes[i] = read_by_id(both->paths[i], &sizes[i]);
    assert_int_equal(sizes[0], sizes[1]);
    assert_memory_equal(bytes[0], bytes[1], sizes[0]);
    free(bytes[0]);
    free(bytes[1]);
}

/* ---- Documents ---- */

struct list {
    uint64_t *items;
    size_t count, capacity;
};

static bool note_fingerprint(void *context, const struct idx_match *match) {
    struct list *list = context;
    if (list->count == list->capacity) return false;
    list->items[list->count++] = match->fingerprint;
    return true;
}

/* All fingerprints of an index, in its order. */
static struct list list_fingerprints(const struct both *both, size_t number) {
    size_t capacity = (size_t)both->properties[number].fingerprints;
    struct list list = {malloc((capacity + 1) * sizeof(uint64_t)), 0, capacity + 1};
    assert_non_null(list.items);
    assert_ok(idx_visit_all(both->indexes[number], note_fingerprint, &list, &failure));
    assert_int_equal(list.count, capacity);
    return list;
}

static void compare_documents(struct idx_documents *const *cursors, uint64_t fingerprint) {
    uint64_t counts[2];
    bool found[2] = {true, true};
    for (size_t i = 0; i < 2; i++) assert_ok(idx_documents_find(cursors[i], fingerprint, &counts[i], &failure));
    assert_int_equal(counts[0], counts[1]);
    while (found[0]) {
        struct idx_document documents[2];
        for (size_t i = 0; i < 2; i++) assert_ok(idx_documents_next(cursors[i], &documents[i], &found[i], &failure));
        assert_int_equal(found[0], found[1]);
        if (!found[0]) break;
        assert_int_equal(documents[0].number, documents[1].number);
        assert_int_equal(documents[0].id_length, documents[1].id_length);
        assert_true((documents[0].id == NULL) == (documents[1].id == NULL));
        if (documents[0].id != NULL) assert_memory_equal(documents[0].id, documents[1].id, documents[0].id_length);
    }
}

static void compare_all_documents(const struct both *both) {
    struct list lists[2] = {list_fingerprints(both, 0), list_fingerprints(both, 1)};
    struct idx_documents *cursors[2];
    for (size_t i = 0; i < 2; i++) assert_ok(idx_documents_open(&cursors[i], both->indexes[i], &failure));
    assert_memory_equal(lists[0].items, lists[1].items, lists[0].count * sizeof(uint64_t));
    for (size_t i = 0; i < lists[0].count; i++) compare_documents(cursors, lists[0].items[i]);
    for (size_t i = 0; i < 2; i++) {
        idx_documents_close(cursors[i]);
        free(lists[i].items);
    }
}

/* ---- The whole ---- */

void assert_same_index(const char *path, const char *other) {
    struct both both = {.paths = {path, other}};
    for (size_t i = 0; i < 2; i++) {
        assert_ok(idx_verify(both.paths[i], NULL, NULL, &failure));
        both.indexes[i] = open_index(both.paths[i], IDX_RESIDENCE_DIRECTORY);
        idx_get_properties(both.indexes[i], &both.properties[i]);
    }
    compare_properties(&both);
    compare_heaviest(&both);
    for (size_t i = 0; i < both.properties[0].scheme->table_count; i++) {
        compare_table_properties(&both, i);
        compare_table_content(&both, i);
        if (has_one_code(&both)) compare_table_bytes(&both, i);
    }
    compare_by_id(&both);
    compare_all_documents(&both);
    for (size_t i = 0; i < 2; i++) idx_close(both.indexes[i]);
}
