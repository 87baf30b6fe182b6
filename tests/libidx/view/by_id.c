/* by_id.c: tests of maps from IDs: what idx_find_id answers, compared with a plain map; IDs that share a hash; and maps
 * that are sound but for what they say, written by the library's own writer. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libidx/base/base.h"
#include "libidx/segment/document_writer.h"
#include "libidx/verify/verify.h"
#include "libidx/view/index.h"
#include "tests/libidx/entries.h"
#include "tests/libidx/forge.h"
#include "tests/libidx/sets.h"
#include "tests/libidx/support.h"

#define COUNT 2000
#define IDS 700 /* fewer than documents: so some have several fingerprints, and several times the same */
#define SEGMENTS 3

/* ---- Documents ---- */

/* The documents of a segment, and the plain map of all: which of the IDs 0, 1, 2 … has which fingerprint. */
struct documents {
    size_t count;
    struct {
        uint64_t fingerprint;
        size_t id;
    } all[SEGMENTS * COUNT];
};

static struct documents *make_documents(void) {
    struct documents *documents = calloc(1, sizeof *documents);
    uint64_t seed = 5, few[64];
    assert_non_null(documents);
    for (size_t i = 0; i < LENGTH(few); i++) few[i] = next_random(&seed);
    for (; documents->count < SEGMENTS * COUNT; documents->count++) {
        uint64_t random = next_random(&seed);
        documents->all[documents->count].fingerprint =
            random % 3 == 0 ? few[random / 3 % LENGTH(few)] : next_random(&seed);
        /* The ID of number 0 is everywhere. */
        documents->all[documents->count].id = random % 50 == 1 ? 0 : (size_t)(next_random(&seed) % IDS);
    }
    /* The least and the greatest, and neighbours. */
    static const uint64_t ends[] = {0, 1, UINT64_MAX};
    for (size_t i = 0; i < LENGTH(ends); i++) {
        documents->all[i].fingerprint = ends[i];
        documents->all[i].id = 0;
    }
    return documents;
}

/* IDs of all lengths and bytes, the empty one among them, or numbers over their whole range. */
static size_t write_text(size_t id, char text[300]) {
    size_t length = id % 5 == 0 ? id % 290 : (size_t)snprintf(text, 300, "http://example.org/%zu", id);
    if (id % 5 != 0) return length;
    for (size_t i = 0; i < length; i++) text[i] = (char)(id / 5 + i * (id | 1));
    return length;
}

static uint64_t number_of(size_t id) { return id == 1 ? UINT64_MAX : id * id * UINT64_C(0x123456789abcd); }

static void add(struct idx_builder *builder, enum idx_id_type id_type, uint64_t fingerprint, size_t id) {
    char text[300];
    if (id_type == IDX_ID_TEXT)
        assert_ok(idx_builder_add(
            builder, &(struct idx_item){.fingerprint = fingerprint, .id = text, .id_length = write_text(id, text)},
            &failure));
    else
        assert_ok(idx_builder_add(builder, &(struct idx_item){.fingerprint = fingerprint, .number = number_of(id)},
                                  &failure));
}

static struct idx_build_options options_of(enum idx_id_type id_type) {
    struct idx_build_options options = options_for(64, 1, "2:1");
    options.id_type = id_type;
    options.by_id = true;
    return options;
}

static void build_part(const char *path, enum idx_id_type id_type, const struct documents *documents, size_t begin,
                       size_t end) {
    struct idx_build_options options = options_of(id_type);
    struct idx_builder *builder;
    assert_ok(idx_builder_open(&builder, path, &options, &failure));
    for (size_t i = begin; i < end; i++) add(builder, id_type, documents->all[i].fingerprint, documents->all[i].id);
    assert_ok(idx_builder_finish(builder, NULL, &failure));
    idx_builder_close(builder);
}

/* ---- Exactness ---- */

/* By a linear scan: the distinct fingerprints of an ID, ascending. */
static size_t scan_documents(const struct documents *documents, enum idx_id_type id_type, size_t id,
                             uint64_t *fingerprints) {
    char text[300], other[300];
    size_t length = write_text(id, text), found = 0, distinct = 0;
    for (size_t i = 0; i < documents->count; i++) {
        size_t at = documents->all[i].id;
        bool same = id_type == IDX_ID_TEXT ? write_text(at, other) == length && memcmp(text, other, length) == 0
                                           : number_of(at) == number_of(id);
        if (same) fingerprints[found++] = documents->all[i].fingerprint;
    }
    qsort(fingerprints, found, sizeof *fingerprints, compare_numbers);
    for (size_t i = 0; i < found; i++) {
        if (i == 0 || fingerprints[i] != fingerprints[i - 1]) fingerprints[distinct++] = fingerprints[i];
    }
    return distinct;
}

static size_t find(const struct idx_index *index, enum idx_id_type id_type, size_t id, uint64_t *fingerprints,
                   size_t capacity) {
    char text[300];
    size_t count = 77;
    if (id_type == IDX_ID_TEXT)
        assert_ok(idx_find_id(index, &(struct idx_item){.id = text, .id_length = write_text(id, text)}, fingerprints,
                              capacity, &count, &failure));
    else
        assert_ok(
            idx_find_id(index, &(struct idx_item){.number = number_of(id)}, fingerprints, capacity, &count, &failure));
    return count;
}

/* All IDs that there are, and some that there are not; any room, and none. */
static void compare_index(const char *path, enum idx_id_type id_type, const struct documents *documents) {
    static uint64_t expected[SEGMENTS * COUNT], found[SEGMENTS * COUNT + 1];
    struct idx_index *index = open_index(path, IDX_RESIDENCE_DIRECTORY);
    size_t most = 0, none = 0;
    for (size_t id = 0; id < IDS + 100; id++) {
        size_t count = scan_documents(documents, id_type, id, expected);
        for (size_t capacity = 0; capacity <= count + 1; capacity += capacity < 5 ? 1 : count) {
            memset(found, 0x55, sizeof found);
            assert_int_equal(find(index, id_type, id, capacity == 0 ? NULL : found, capacity), count);
            size_t given = count < capacity ? count : capacity;
            assert_memory_equal(found, expected, given * sizeof *found);
            assert_true(found[given] == UINT64_C(0x5555555555555555));
        }
        most = count > most ? count : most;
        none += count == 0;
    }
    assert_true(most > 20 && none > 50);
    idx_close(index);
}

static void compare_all(const char *folder, enum idx_id_type id_type) {
    struct documents *documents = make_documents();
    const char *parts[SEGMENTS], *whole = path_in(folder, "whole"), *joined = path_in(folder, "joined"),
                                 *merged = path_in(folder, "merged");
    build_part(whole, id_type, documents, 0, documents->count);
    for (size_t i = 0; i < SEGMENTS; i++) {
        parts[i] = path_in(folder, "part-%zu", i);
        build_part(parts[i], id_type, documents, i * COUNT, (i + 1) * COUNT);
    }
    join_indexes(joined, parts, SEGMENTS);
    assert_ok(idx_merge(merged, &joined, 1, NULL, NULL, &failure));
    const char *paths[] = {whole, joined, merged};
    for (size_t i = 0; i < LENGTH(paths); i++) {
        assert_ok(idx_verify(paths[i], NULL, NULL, &failure));
        compare_index(paths[i], id_type, documents);
    }
    free(documents);
}

static void test_text(void **state) { compare_all(*state, IDX_ID_TEXT); }
static void test_u64(void **state) { compare_all(*state, IDX_ID_U64); }

/* Any chunk shows the same, one of a document too. */
static void test_chunks_of_verifying(void **state) {
    static const uint64_t chunks[] = {1, 7, 100, COUNT - 1, COUNT, COUNT + 1};
    struct documents *documents = make_documents();
    for (enum idx_id_type id_type = IDX_ID_TEXT; id_type <= IDX_ID_U64; id_type++) {
        const char *path = path_in(*state, "%d", (int)id_type);
        build_part(path, id_type, documents, 0, COUNT);
        struct idx_index *index = open_index(path, IDX_RESIDENCE_DIRECTORY);
        struct idxi_segment *segment = index->segments[0];
        assert_ok(idxi_map_prepare(&segment->map, &failure));
        assert_ok(idxi_map_prepare(&segment->by_id, &failure));
        for (size_t i = 0; i < LENGTH(chunks); i++)
            assert_ok(idxi_verify_by_id(&segment->map, &segment->by_id, chunks[i], &failure));
        idx_close(index);
    }
    free(documents);
}

/* ---- What is told ---- */

static void test_properties(void **state) {
    struct idx_build_options options = options_of(IDX_ID_TEXT);
    const char *paths[] = {path_in(*state, "with"), path_in(*state, "without")};
    for (size_t i = 0; i < 2; i++) {
        struct idx_properties properties;
        options.by_id = i == 0;
        build_index(paths[i], &options, (const uint64_t[]){1, 2, 3}, 3);
        struct idx_index *index = open_index(paths[i], IDX_RESIDENCE_NONE);
        idx_get_properties(index, &properties);
        assert_int_equal(properties.by_id, i == 0);
        assert_true((properties.by_id_bytes > 0) == (i == 0));
        assert_int_equal(count_entries(path_in(paths[i], "000001")), i == 0 ? 6 : 4);
        idx_close(index);
    }
}

static void expect_refusal(const char *path, bool as_text, const char *clause) {
    struct idx_index *index = open_index(path, IDX_RESIDENCE_NONE);
    size_t count = 77;
    enum idx_status status =
        as_text ? idx_find_id(index, &(struct idx_item){.id = "1", .id_length = 1}, NULL, 0, &count, &failure)
                : idx_find_id(index, &(struct idx_item){.number = 1}, NULL, 0, &count, &failure);
    assert_status(IDX_INVALID_ARGUMENT, status);
    assert_non_null(strstr(failure.sentence, clause));
    assert_int_equal(count, 77);
    idx_close(index);
}

static void test_refusals(void **state) {
    struct idx_build_options options = options_of(IDX_ID_TEXT);
    struct idx_builder *builder;
    build_index(path_in(*state, "text"), &options, (const uint64_t[]){1}, 1);
    options.id_type = IDX_ID_U64;
    build_index(path_in(*state, "u64"), &options, (const uint64_t[]){1}, 1);
    options.by_id = false;
    build_index(path_in(*state, "without"), &options, (const uint64_t[]){1}, 1);
    expect_refusal(path_in(*state, "text"), false, "has IDs of another type than the one that was looked up");
    expect_refusal(path_in(*state, "u64"), true, "has IDs of another type than the one that was looked up");
    expect_refusal(path_in(*state, "without"), false, "has no map from IDs to fingerprints: build it with such a map");
    options.id_type = IDX_ID_NONE;
    options.by_id = true;
    assert_status(IDX_INVALID_ARGUMENT, idx_builder_open(&builder, path_in(*state, "none"), &options, &failure));
    assert_non_null(strstr(failure.sentence, "a map from IDs needs documents with IDs"));
    assert_status(IDX_INVALID_ARGUMENT, idx_estimate_build(&options, 10, &(struct idx_build_estimate){0}, &failure));
}

static void test_no_documents(void **state) {
    struct idx_build_options options = options_of(IDX_ID_TEXT);
    const char *path = path_in(*state, "i");
    size_t count = 77;
    build_index(path, &options, NULL, 0);
    assert_ok(idx_verify(path, NULL, NULL, &failure));
    struct idx_index *index = open_index(path, IDX_RESIDENCE_NONE);
    assert_ok(idx_find_id(index, &(struct idx_item){.id = NULL, .id_length = 0}, NULL, 0, &count, &failure));
    assert_int_equal(count, 0);
    idx_close(index);
}

/* ---- One hash for two IDs ---- */

/* XXH3 of 8 bytes is one to one, so it can be turned round: such an ID was made of the other's hash. */
static const char *const twins[] = {"page/5073", "W6&ZqvM+"};

static void expect_found(const struct idx_index *index, const char *id, const uint64_t *expected, size_t count) {
    uint64_t found[8];
    size_t made;
    assert_ok(idx_find_id(index, &(struct idx_item){.id = id, .id_length = strlen(id)}, found, LENGTH(found), &made,
                          &failure));
    assert_int_equal(made, count);
    assert_memory_equal(found, expected, count * sizeof *expected);
}

static void test_ids_of_one_hash(void **state) {
    static const struct {
        uint64_t fingerprint;
        size_t twin;
    } documents[] = {{7, 0}, {3, 1}, {9, 1}, {9, 0}, {9, 1}};
    struct idx_build_options options = options_of(IDX_ID_TEXT);
    struct idx_builder *builder;
    const char *path = path_in(*state, "i");
    assert_true(idxi_hash_id(twins[0], strlen(twins[0])) == idxi_hash_id(twins[1], strlen(twins[1])));
    assert_ok(idx_builder_open(&builder, path, &options, &failure));
    for (size_t i = 0; i < LENGTH(documents); i++) {
        const char *id = twins[documents[i].twin];
        assert_ok(idx_builder_add(
            builder, &(struct idx_item){.fingerprint = documents[i].fingerprint, .id = id, .id_length = strlen(id)},
            &failure));
    }
    assert_ok(idx_builder_finish(builder, NULL, &failure));
    idx_builder_close(builder);
    assert_ok(idx_verify(path, NULL, NULL, &failure));
    struct idx_index *index = open_index(path, IDX_RESIDENCE_NONE);
    expect_found(index, twins[0], (const uint64_t[]){7, 9}, 2);
    expect_found(index, twins[1], (const uint64_t[]){3, 9}, 2);
    idx_close(index);
}

/* ---- Maps that say what is not so ---- */

/* The index that is forged: of documents "0" to "4", or 0 to 4, and "0" once more. */
static const uint64_t small[] = {50, 40, 30, 20, 20};

static const char *build_small(const char *folder, enum idx_id_type id_type) {
    struct idx_build_options options = options_of(id_type);
    const char *path = path_in(folder, "i");
    remove_all(path);
    build_index(path, &options, small, LENGTH(small));
    return path;
}

static uint64_t hash_of(enum idx_id_type id_type, size_t id) {
    char text[32];
    return id_type == IDX_ID_TEXT ? idxi_hash_id(text, write_id(text, id)) : idxi_hash_u64_id(id);
}

/* The entries that the index has by rights. */
static struct entries entries_of(enum idx_id_type id_type) {
    struct entries entries = {0};
    for (size_t i = 0; i < LENGTH(small); i++) add_entry(&entries, hash_of(id_type, i), small[i]);
    return entries;
}

/* Writes the map from IDs anew, with counts that are as they are but for what is added to them. */
static void forge_map(const char *path, struct entries *entries, uint64_t more_hashes, uint64_t more_entries) {
    struct idxf_manifest *manifest = malloc(sizeof *manifest);
    struct idxi_map_writer writer;
    const char *folder = path_in(path, "000001");
    uint64_t bytes, hashes = 0;
    assert_non_null(manifest);
    read_manifest(path, manifest);
    remove_all(path_in(folder, "by-id.mdb"));
    remove_all(path_in(folder, "by-id.sum"));
    sort_entries(entries, true);
    for (size_t i = 0; i < entries->count; i++)
        hashes += i == 0 || entries->fingerprints[i] != entries->fingerprints[i - 1];
    int directory = open(folder, O_RDONLY | O_DIRECTORY);
    assert_true(directory >= 0);
    struct idxf_manifest_segment segment = manifest->segments[0];
    segment.fingerprints = hashes + more_hashes;
    segment.documents = entries->count + more_entries;
    assert_ok(idxi_map_writer_open(&writer, IDXI_MAP_BY_ID, folder, IDX_ID_U64, &failure));
    assert_ok(idxi_map_writer_add_documents(&writer, entries->fingerprints, entries->values, entries->count, &failure));
    assert_ok(idxi_map_writer_finish(&writer, directory, &segment, &bytes, &failure));
    idxi_map_writer_close(&writer);
    close(directory);
    free_entries(entries);
    free(manifest);
}

static void note_damage(void *context, const char *file, enum idx_status status, const char *sentence) {
    (void)sentence;
    if (status != IDX_OK) snprintf(context, 64, "%s", file);
}

static void expect_damage(const char *path, const char *clause) {
    char file[64] = "";
    assert_status(IDX_BAD_CONTENT, idx_verify(path, note_damage, file, &failure));
    assert_string_equal(file, "000001/by-id.mdb");
    if (strstr(failure.sentence, clause) == NULL) fail_msg("%s", failure.sentence);
}

static enum idx_status try_finding(const char *path, enum idx_id_type id_type, size_t id, size_t *count) {
    struct idx_index *index = open_index(path, IDX_RESIDENCE_NONE);
    char text[32];
    enum idx_status status = id_type == IDX_ID_TEXT
                                 ? idx_find_id(index, &(struct idx_item){.id = text, .id_length = write_id(text, id)},
                                               NULL, 0, count, &failure)
                                 : idx_find_id(index, &(struct idx_item){.number = id}, NULL, 0, count, &failure);
    idx_close(index);
    return status;
}

static const char *const other_ids = "contains other IDs than the documents have";

static void test_a_forged_map_can_be_sound(void **state) {
    for (enum idx_id_type id_type = IDX_ID_TEXT; id_type <= IDX_ID_U64; id_type++) {
        const char *path = build_small(*state, id_type);
        struct entries entries = entries_of(id_type);
        forge_map(path, &entries, 0, 0);
        assert_ok(idx_verify(path, NULL, NULL, &failure));
    }
}

/* An entry leads to the fingerprint of other documents: these are asked, so nothing wrong is found. */
static void test_a_wrong_fingerprint(void **state) {
    for (enum idx_id_type id_type = IDX_ID_TEXT; id_type <= IDX_ID_U64; id_type++) {
        const char *path = build_small(*state, id_type);
        struct entries entries = entries_of(id_type);
        size_t count = 77;
        entries.values[1] = 20;
        forge_map(path, &entries, 0, 0);
        expect_damage(path, other_ids);
        assert_ok(try_finding(path, id_type, 1, &count));
        assert_int_equal(count, 0);
        assert_ok(try_finding(path, id_type, 3, &count));
        assert_int_equal(count, 1);
    }
}

/* One that no document has. */
static void test_an_unknown_fingerprint(void **state) {
    const char *path = build_small(*state, IDX_ID_U64);
    struct entries entries = entries_of(IDX_ID_U64);
    entries.values[1] = 41;
    forge_map(path, &entries, 0, 0);
    expect_damage(path, other_ids);
    assert_status(IDX_BAD_CONTENT, try_finding(path, IDX_ID_U64, 1, &(size_t){0}));
}

static void test_a_wrong_hash(void **state) {
    for (enum idx_id_type id_type = IDX_ID_TEXT; id_type <= IDX_ID_U64; id_type++) {
        const char *path = build_small(*state, id_type);
        struct entries entries = entries_of(id_type);
        entries.fingerprints[4]++;
        forge_map(path, &entries, 0, 0);
        expect_damage(path, other_ids);
    }
}

/* An entry too few, as text may have it where an ID comes twice on one fingerprint; and so many that counts say so. */
static void test_entries_that_are_missing(void **state) {
    struct entries entries = entries_of(IDX_ID_TEXT);
    const char *path = build_small(*state, IDX_ID_TEXT);
    entries.count--;
    forge_map(path, &entries, 0, 0);
    expect_damage(path, other_ids);
    assert_ok(try_finding(path, IDX_ID_TEXT, 1, &(size_t){0}));
    entries = entries_of(IDX_ID_TEXT);
    entries.count -= 2; /* fewer than fingerprints */
    forge_map(path, &entries, 0, 0);
    expect_damage(path, "has counts that don't agree");
    assert_status(IDX_BAD_CONTENT, try_finding(path, IDX_ID_TEXT, 1, &(size_t){0}));
    path = build_small(*state, IDX_ID_U64);
    entries = entries_of(IDX_ID_U64);
    entries.count--; /* fewer than documents, whose IDs all differ */
    forge_map(path, &entries, 0, 0);
    expect_damage(path, "has counts that don't agree");
    assert_status(IDX_BAD_CONTENT, try_finding(path, IDX_ID_U64, 1, &(size_t){0}));
}

static void test_entries_too_many(void **state) {
    struct entries entries = entries_of(IDX_ID_TEXT);
    const char *path = build_small(*state, IDX_ID_TEXT);
    add_entry(&entries, hash_of(IDX_ID_TEXT, 0), 20); /* more than documents */
    forge_map(path, &entries, 0, 0);
    expect_damage(path, "has counts that don't agree");
    assert_status(IDX_BAD_CONTENT, try_finding(path, IDX_ID_TEXT, 0, &(size_t){0}));
}

/* Documents "a", "a" and "b" on one fingerprint make two entries, and here there is a third one. */
static void test_an_entry_of_no_document(void **state) {
    struct idx_build_options options = options_of(IDX_ID_TEXT);
    struct idx_builder *builder;
    struct entries entries = {0};
    const char *path = path_in(*state, "i");
    assert_ok(idx_builder_open(&builder, path, &options, &failure));
    for (const char *id = "aab"; *id != '\0'; id++)
        assert_ok(idx_builder_add(builder, &(struct idx_item){.fingerprint = 6, .id = id, .id_length = 1}, &failure));
    assert_ok(idx_builder_finish(builder, NULL, &failure));
    idx_builder_close(builder);
    assert_ok(idx_verify(path, NULL, NULL, &failure));
    for (const char *id = "abc"; *id != '\0'; id++) add_entry(&entries, idxi_hash_id(id, 1), 6);
    forge_map(path, &entries, 0, 0);
    expect_damage(path, other_ids);
}

/* Counts that are in bounds, and not those of the entries. */
static void test_wrong_counts(void **state) {
    static const struct {
        uint64_t more_hashes, more_entries;
        bool in_bounds;
    } cases[] = {{(uint64_t)-1, (uint64_t)-1, true},
                 {(uint64_t)-1, 0, true},
                 {0, (uint64_t)-1, false},
                 {1, 0, false},
                 {(uint64_t)-5, 0, false}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        const char *path = build_small(*state, IDX_ID_TEXT);
        struct entries entries = entries_of(IDX_ID_TEXT);
        forge_map(path, &entries, cases[i].more_hashes, cases[i].more_entries);
        expect_damage(path, "has counts that don't agree");
        assert_status(cases[i].in_bounds ? IDX_OK : IDX_BAD_CONTENT, try_finding(path, IDX_ID_TEXT, 1, &(size_t){0}));
    }
}

/* The document map in its place: of integer IDs it has the same form, and as many entries. */
static void test_the_other_map(void **state) {
    const char *path = build_small(*state, IDX_ID_U64), *folder = path_in(path, "000001");
    static const char *const ends[] = {"mdb", "sum"};
    for (size_t i = 0; i < 2; i++) {
        size_t size;
        uint8_t *bytes = read_file(path_in(folder, "docs.%s", ends[i]), &size);
        write_file(path_in(folder, "by-id.%s", ends[i]), bytes, size);
        free(bytes);
    }
    expect_damage(path, other_ids);
}

/* ---- Merging ---- */

/* What is in bounds in each input shows when these are merged: entries too many, or too few. */
static void test_merging_a_wrong_map(void **state) {
    static const uint64_t others[][2] = {{50, 40}, {50, 41}};
    struct idx_build_options options = options_of(IDX_ID_U64);
    const char *other = path_in(*state, "other"), *output = path_in(*state, "out");
    for (size_t i = 0; i < LENGTH(others); i++) {
        const char *path = build_small(*state, IDX_ID_U64), *inputs[] = {path, other};
        struct entries entries = entries_of(IDX_ID_U64);
        build_index(other, &options, others[i], 2);
        entries.values[1] = 41;
        forge_map(path, &entries, 0, 0);
        assert_status(IDX_BAD_CONTENT, idx_merge(output, inputs, 2, NULL, NULL, &failure));
        assert_non_null(strstr(failure.sentence, "contain different documents"));
        assert_int_equal(count_entries(*state), 2);
        remove_all(other);
    }
}

/* The longest ID that a builder takes is one that can be removed. */
static void test_longest_id(void **state) {
    const char *path = path_in(*state, "i");
    struct idx_build_options options = options_for(64, 3, "4");
    struct idx_removal removal;
    struct idx_builder *builder;
    struct idx_writer *writer;
    char *id = calloc(IDX_MAX_ID_BYTES + 1, 1);
    struct idx_item item = {.id = id, .id_length = IDX_MAX_ID_BYTES};
    assert_non_null(id);
    options.by_id = true;
    assert_ok(idx_builder_open(&builder, path, &options, &failure));
    assert_status(IDX_INVALID_ARGUMENT,
                  idx_builder_add(builder,
                                  &(struct idx_item){.fingerprint = 1, .id = id, .id_length = IDX_MAX_ID_BYTES + 1},
                                  &failure));
    assert_string_equal(failure.sentence, "an ID of 16777216 bytes is too long: the maximum is 16777215");
    assert_ok(idx_builder_add(builder, &(struct idx_item){.fingerprint = 1, .id = id, .id_length = IDX_MAX_ID_BYTES},
                              &failure));
    assert_ok(idx_builder_finish(builder, NULL, &failure));
    idx_builder_close(builder);
    assert_ok(idx_verify(path, NULL, NULL, &failure));
    assert_ok(idx_writer_open(&writer, path, NULL, &failure));
    assert_ok(idx_writer_remove(writer, IDX_REMOVE_IDS, &item, 1, &removal, &failure));
    assert_int_equal(removal.documents, 1);
    idx_writer_close(writer);
    free(id);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        in_folder(test_text),
        in_folder(test_u64),
        in_folder(test_chunks_of_verifying),
        in_folder(test_properties),
        in_folder(test_refusals),
        in_folder(test_no_documents),
        in_folder(test_ids_of_one_hash),
        in_folder(test_a_forged_map_can_be_sound),
        in_folder(test_a_wrong_fingerprint),
        in_folder(test_an_unknown_fingerprint),
        in_folder(test_a_wrong_hash),
        in_folder(test_entries_that_are_missing),
        in_folder(test_entries_too_many),
        in_folder(test_an_entry_of_no_document),
        in_folder(test_wrong_counts),
        in_folder(test_the_other_map),
        in_folder(test_merging_a_wrong_map),
        in_folder(test_longest_id),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
