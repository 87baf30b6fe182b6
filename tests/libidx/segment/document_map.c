/* document_map.c: tests of document maps read from end to end: as a stream of documents, and as a visit of IDs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libidx/view/index.h"
#include "tests/libidx/forge.h"
#include "tests/libidx/sets.h"
#include "tests/libidx/support.h"

/* Every third document is of one fingerprint, which so has groups of its own. */
#define HEAVY UINT64_C(0x8000000000000000)

struct entry {
    uint64_t fingerprint, value;
};

static struct entry *entries;
static size_t count;

static int compare_entries(const void *a, const void *b) {
    const struct entry *x = a, *y = b;
    if (x->fingerprint != y->fingerprint) return x->fingerprint > y->fingerprint ? 1 : -1;
    return (x->value > y->value) - (x->value < y->value);
}

/* Builds an index of `documents`, and notes its entries as they should come. */
static struct idx_index *build(const char *path, enum idx_id_type id_type, size_t documents) {
    struct idx_build_options options = options_for(64, 3, "4");
    struct idx_builder *builder;
    char id[32];
    uint64_t seed = 1;
    count = documents;
    entries = calloc(count + 1, sizeof *entries);
    assert_non_null(entries);
    options.id_type = id_type;
    assert_ok(idx_builder_open(&builder, path, &options, &failure));
    for (size_t i = 0; i < count; i++) {
        uint64_t fingerprint = i % 3 == 0 ? HEAVY : next_random(&seed);
        entries[i] = (struct entry){fingerprint, id_type == IDX_ID_TEXT ? i : i * 1000003 % 100000000};
        if (id_type == IDX_ID_TEXT)
            assert_ok(idx_builder_add(
                builder, &(struct idx_item){.fingerprint = fingerprint, .id = id, .id_length = write_id(id, i)},
                &failure));
        else
            assert_ok(idx_builder_add(
                builder, &(struct idx_item){.fingerprint = fingerprint, .number = entries[i].value}, &failure));
    }
    assert_ok(idx_builder_finish(builder, NULL, &failure));
    idx_builder_close(builder);
    qsort(entries, count, sizeof *entries, compare_entries);
    struct idx_index *index = open_index(path, IDX_RESIDENCE_DIRECTORY);
    assert_ok(idxi_map_prepare(&index->segments[0]->map, &failure));
    return index;
}

/* Reads a stream to its end, or so many entries of it, `capacity` at a time. */
static void check_stream(struct idxi_map_stream *stream, size_t capacity, size_t wanted, uint64_t offset) {
    uint64_t fingerprints[2000], values[2000];
    size_t given, done = 0;
    do {
        assert_ok(stream->stream.read(&stream->stream, fingerprints, values, capacity, &given, &failure));
        assert_in_range(given, 0, capacity);
        for (size_t i = 0; i < given; i++, done++) {
            assert_true(done < count && fingerprints[i] == entries[done].fingerprint);
            assert_true(values[i] == entries[done].value + offset);
        }
    } while (given > 0 && done < wanted);
    if (wanted < count) return;
    assert_int_equal(done, count);
    assert_ok(stream->stream.read(&stream->stream, fingerprints, values, capacity, &given, &failure));
    assert_int_equal(given, 0);
}

static void check_streams(const char *path, enum idx_id_type id_type, size_t documents) {
    static const size_t capacities[] = {1, 2, 7, 100, 1023, 2000};
    static struct idxi_map_stream stream;
    struct idx_index *index = build(path, id_type, documents);
    for (size_t i = 0; i < LENGTH(capacities); i++) {
        idxi_map_stream_init(&stream, &index->segments[0]->map, i * 1000);
        check_stream(&stream, capacities[i], count, i * 1000);
        idxi_map_stream_init(&stream, &index->segments[0]->map, i * 1000);
        check_stream(&stream, capacities[i], count / 2, i * 1000);
    }
    free(entries);
    idx_close(index);
}

static void test_documents_as_a_stream(void **state) {
    check_streams(path_in(*state, "a"), IDX_ID_U64, scale(30000));
    check_streams(path_in(*state, "b"), IDX_ID_TEXT, scale(30000));
    for (size_t few = 0; few < 4; few++) check_streams(path_in(*state, "few-%zu", few), IDX_ID_U64, few);
}

static void test_no_documents_as_a_stream(void **state) {
    static const uint64_t items[] = {3, 5};
    static struct idxi_map_stream stream;
    struct idx_build_options options = options_for(64, 3, "4");
    const char *path = path_in(*state, "i");
    options.id_type = IDX_ID_NONE;
    build_index(path, &options, items, LENGTH(items));
    struct idx_index *index = open_index(path, IDX_RESIDENCE_DIRECTORY);
    assert_ok(idxi_map_prepare(&index->segments[0]->map, &failure));
    count = 0;
    idxi_map_stream_init(&stream, &index->segments[0]->map, 0);
    check_stream(&stream, 10, 0, 0);
    idx_close(index);
}

/* The bytes of mapped files that are in memory, on disks or not. */
static size_t read_mapped(void) {
    char line[256];
    unsigned long kilobytes = 0, more;
    FILE *file = fopen("/proc/self/status", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "RssFile: %lu kB", &more) == 1 || sscanf(line, "RssShmem: %lu kB", &more) == 1)
            kilobytes += more;
    }
    fclose(file);
    return kilobytes * 1024;
}

/* Of a large map, pages are dropped behind the stream. */
static void test_memory_of_a_stream(void **state) {
    static struct idxi_map_stream stream;
    struct idx_index *index = build(path_in(*state, "i"), IDX_ID_U64, scale(3000000));
    size_t before = read_mapped(), most = 0;
    free(entries);
    idxi_map_stream_init(&stream, &index->segments[0]->map, 0);
    for (size_t given = 1; given > 0;) {
        uint64_t fingerprints[1000], values[1000];
        assert_ok(stream.stream.read(&stream.stream, fingerprints, values, 1000, &given, &failure));
        size_t now = read_mapped();
        if (now > most) most = now;
    }
    assert_in_range(most, before, before + ((size_t)10 << 20));
    if (scale(100) == 100) assert_true(index->segments[0]->map.pages.length > (size_t)20 << 20);
    idx_close(index);
}

/* ---- IDs ---- */

struct visit {
    uint64_t next, last; /* the number that comes, and that after which to stop */
};

static enum idx_status note_id(void *context, uint64_t number, const void *id, size_t length, struct idx_error *error) {
    struct visit *visit = context;
    char expected[32];
    (void)error;
    assert_int_equal(number, visit->next++);
    assert_int_equal(length, write_id(expected, (size_t)number));
    assert_memory_equal(id, expected, length);
    return number == visit->last ? IDX_LIMIT : IDX_OK;
}

static void test_ids(void **state) {
    struct idx_index *index = build(path_in(*state, "i"), IDX_ID_TEXT, scale(100000));
    const struct idxi_map *map = &index->segments[0]->map;
    struct visit whole = {0, UINT64_MAX}, part = {0, count / 2};
    assert_ok(idxi_map_visit_ids(map, note_id, &whole, &failure));
    assert_int_equal(whole.next, count);
    assert_int_equal(idxi_map_visit_ids(map, note_id, &part, &failure), IDX_LIMIT);
    assert_int_equal(part.next, count / 2 + 1);
    free(entries);
    idx_close(index);
}

/* Each byte of the map damaged in turn, or a share of them: what is read before the damage is right. */
static void test_damaged_maps(void **state) {
    const char *path = path_in(*state, "i");
    size_t size, refused = 0;
    idx_close(build(path, IDX_ID_TEXT, 3000));
    uint8_t *bytes = read_file(path_in(path, "000001/docs.mdb"), &size);
    for (size_t at = 0; at < size; at += 2039) {
        static struct idxi_map_stream stream;
        uint8_t flipped = bytes[at] ^ 0x10;
        struct idx_index *index;
        struct visit visit = {0, UINT64_MAX};
        change_bytes(path_in(path, "000001/docs.mdb"), at, &flipped, 1);
        enum idx_status status = idx_open(&index, path, NULL, &failure), visited = IDX_OK;
        if (status == IDX_OK) {
            struct idxi_map *map = &index->segments[0]->map;
            status = idxi_map_prepare(map, &failure);
            if (status == IDX_OK) {
                size_t given = 1, done = 0;
                uint64_t fingerprints[100], values[100];
                idxi_map_stream_init(&stream, map, 0);
                while (status == IDX_OK && given > 0) {
                    status = stream.stream.read(&stream.stream, fingerprints, values, 100, &given, &failure);
                    for (size_t i = 0; i < given && status == IDX_OK; i++, done++)
                        assert_true(fingerprints[i] == entries[done].fingerprint && values[i] == entries[done].value);
                }
                visited = idxi_map_visit_ids(map, note_id, &visit, &failure);
            }
            idx_close(index);
        }
        if (status != IDX_OK) assert_status(IDX_BAD_CHECKSUM, status);
        if (visited != IDX_OK) assert_status(IDX_BAD_CHECKSUM, visited);
        refused += status != IDX_OK || visited != IDX_OK;
        change_bytes(path_in(path, "000001/docs.mdb"), at, bytes + at, 1);
    }
    assert_true(refused > size / 2039 / 2);
    free(bytes);
    free(entries);
}

/* Reads the one group of a map, and sets its fingerprints and how many there are: 0 if it can't be read. */
static struct idxi_page_cursor read_group(const struct idxi_map *map, uint64_t *fingerprints, size_t *given) {
    uint8_t key[IDXI_GROUP_KEY_BYTES];
    struct idxi_page_cursor cursor;
    struct idxf_group group;
    idxi_make_group_key(key, 0, 0);
    assert_ok(idxi_pages_seek(&map->pages, map->docs_root, key, sizeof key, &cursor, &failure));
    bool ok = cursor.found && idxi_map_open_group(map, &cursor, &group, &failure) == IDX_OK &&
              idxf_decode_fingerprints(&group, fingerprints) == IDXF_OK;
    *given = ok ? group.count : 0;
    return cursor;
}

/* Bits of a group are flipped, and its checksums agree: where an entry comes to be below the one before it, a value
 * that is not found between the two is damage, and not an answer. */
static void test_entries_that_descend(void **state) {
    static const uint64_t four[] = {0x100000, 0x110005, 0x11000a, 0x200000};
    const char *path = path_in(*state, "i");
    struct idx_build_options options = options_for(64, 3, "4");
    struct idx_builder *builder;
    uint64_t given[IDXF_MAX_GROUP_ENTRIES], value;
    uint8_t uuid[16];
    size_t count_given, size, descending = 0;
    bool found;
    options.id_type = IDX_ID_U64;
    assert_ok(idx_builder_open(&builder, path, &options, &failure));
    for (size_t i = 0; i < LENGTH(four); i++)
        assert_ok(idx_builder_add(builder, &(struct idx_item){.fingerprint = four[i], .number = 5}, &failure));
    assert_ok(idx_builder_finish(builder, NULL, &failure));
    idx_builder_close(builder);

    struct idx_index *index = open_index(path, IDX_RESIDENCE_DIRECTORY);
    struct idxi_map *map = &index->segments[0]->map;
    memcpy(uuid, map->segment.uuid, sizeof uuid);
    assert_ok(idxi_map_prepare(map, &failure));
    struct idxi_page_cursor cursor = read_group(map, given, &count_given);
    assert_int_equal(count_given, LENGTH(four));
    assert_ok(idxi_map_find_value(map, four[1], 6, &value, &found, &failure));
    assert_false(found);
    size_t begin = (size_t)(cursor.value - map->pages.map), bits = cursor.value_size * 8;
    idx_close(index);

    uint8_t *bytes = read_file(path_in(path, "000001/docs.mdb"), &size);
    for (size_t bit = 0; bit < bits; bit++) {
        const size_t at = begin + bit / 8;
        const uint8_t flipped = (uint8_t)(bytes[at] ^ 1u << bit % 8);
        change_bytes(path_in(path, "000001/docs.mdb"), at, &flipped, 1);
        forge_sums(path_in(path, "000001"), uuid);
        index = open_index(path, IDX_RESIDENCE_DIRECTORY);
        map = &index->segments[0]->map;
        assert_ok(idxi_map_prepare(map, &failure));
        read_group(map, given, &count_given);
        if (count_given == LENGTH(four) && given[0] < given[1] && given[1] == four[1] && given[2] < given[1]) {
            assert_status(IDX_BAD_CONTENT, idxi_map_find_value(map, four[1], 6, &value, &found, &failure));
            descending++;
        }
        idx_close(index);
        change_bytes(path_in(path, "000001/docs.mdb"), at, bytes + at, 1);
    }
    assert_true(descending > 0);
    free(bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        in_folder(test_documents_as_a_stream), in_folder(test_no_documents_as_a_stream),
        in_folder(test_memory_of_a_stream),    in_folder(test_ids),
        in_folder(test_damaged_maps),          in_folder(test_entries_that_descend),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
