/* table_stream.c: tests of a table read as a stream: all its fingerprints in order, however many are asked for at a
 * time, and damage told as idx_verify tells it. */
#include <stdlib.h>
#include <string.h>

#include "format/bytes.h"
#include "libidx/index.h"
#include "libidx/table_stream.h"
#include "tests/libidx/forge.h"
#include "tests/libidx/sets.h"
#include "tests/libidx/support.h"

#define COUNT 20000

static int compare_numbers(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Reads a stream to its end, `capacity` at a time, but now and then 3, so that what was decoded is left over. Returns
 * the status at the end. */
static enum idx_status read_all(struct idxi_table_stream *stream, size_t capacity, uint64_t *into, size_t room,
                                size_t *read) {
    uint64_t *some = malloc(capacity * sizeof *some);
    size_t count = 1, calls = 0;
    enum idx_status status = IDX_OK;
    assert_non_null(some);
    for (*read = 0; status == IDX_OK && count > 0; *read += count) {
        size_t asked = capacity > 3 && calls++ % 5 == 1 ? 3 : capacity;
        count = 0;
        status = stream->stream.read(&stream->stream, some, NULL, asked, &count, &failure);
        if (status != IDX_OK) break;
        assert_in_range(count, 0, asked);
        assert_in_range(*read + count, 0, room);
        memcpy(into + *read, some, count * sizeof *some);
    }
    free(some);
    return status;
}

/* ---- Sound tables ---- */

static void check_table(const struct idxi_table *table, const struct set *set) {
    static const size_t capacities[] = {1, 2, 63, 64, 65, 127, 128, 1000, COUNT + 64};
    uint64_t *expected = malloc((set->distinct_count + 1) * 2 * sizeof *expected);
    struct idxi_table_stream stream;
    size_t count;
    assert_non_null(expected);
    uint64_t *read = expected + set->distinct_count;
    for (size_t i = 0; i < set->distinct_count; i++) expected[i] = idxf_permute(&table->permutation, set->distinct[i]);
    qsort(expected, set->distinct_count, sizeof *expected, compare_numbers);
    idxi_table_stream_init(&stream, table);
    for (size_t i = 0; i < LENGTH(capacities); i++) {
        assert_ok(read_all(&stream, capacities[i], read, set->distinct_count, &count));
        assert_int_equal(count, set->distinct_count);
        assert_memory_equal(read, expected, count * sizeof *read);
        assert_ok(stream.stream.read(&stream.stream, read, NULL, 1, &count, &failure)); /* and stays at the end */
        assert_int_equal(count, 0);
        assert_ok(stream.stream.rewind(&stream.stream, &failure));
    }
    free(expected);
}

/* Rewound in the middle of a block and of what was asked for. */
static void check_rewinding(const struct idxi_table *table) {
    uint64_t first[100], again[100];
    struct idxi_table_stream stream;
    size_t count, other;
    idxi_table_stream_init(&stream, table);
    assert_ok(stream.stream.read(&stream.stream, first, NULL, 100, &count, &failure));
    assert_ok(stream.stream.read(&stream.stream, again, NULL, 3, &other, &failure));
    assert_ok(stream.stream.rewind(&stream.stream, &failure));
    assert_ok(stream.stream.read(&stream.stream, again, NULL, 100, &other, &failure));
    assert_int_equal(other, count);
    assert_memory_equal(again, first, count * sizeof *first);
}

static void test_every_shape(void **state) {
    for (unsigned i = 0; i < 4 * SHAPE_COUNT; i++) {
        struct set set = make_set((enum shape)(i / 4), i % 2 == 0 ? 64 : 31, scale(COUNT), i);
        const char *path = path_in(*state, "%u", i);
        struct idx_build_options options = options_for(set.bits, 3, "4");
        options.codec = i % 4 < 2 ? IDX_CODEC_DELTA : IDX_CODEC_XOR;
        options.block_size = i % 3 == 0 ? 64 : i % 3 == 1 ? 1024 : 4096;
        options.id_type = IDX_ID_NONE;
        build_index(path, &options, set.items, set.count);
        struct idx_index *index = open_index(path, (enum idx_residence)(i % 4));
        for (size_t table = 0; table < 4; table++) check_table(&index->segments[0]->tables[table], &set);
        if (set.distinct_count > 100) check_rewinding(&index->segments[0]->tables[0]);
        idx_close(index);
        remove_all(path);
        free_set(&set);
    }
}

/* More than is let go of at a time. */
static void test_a_large_table(void **state) {
    const char *path = path_in(*state, "i");
    struct idx_build_options options = options_for(64, 3, "2:1:1");
    struct set set = make_set(SHAPE_UNIFORM, 64, 1200000, 1);
    struct idxi_table_stream stream;
    uint64_t *read = malloc(set.distinct_count * sizeof *read);
    size_t count;
    assert_non_null(read);
    options.id_type = IDX_ID_NONE;
    options.block_size = 64;
    build_index(path, &options, set.items, set.count);
    struct idx_index *index = open_index(path, IDX_RESIDENCE_NONE);
    const struct idxi_table *table = &index->segments[0]->tables[0];
    assert_true(table->layout.directory > IDXI_DROPPED_BYTES); /* its order is that of numbers */
    idxi_table_stream_init(&stream, table);
    assert_ok(read_all(&stream, 1000, read, set.distinct_count, &count));
    assert_int_equal(count, set.distinct_count);
    assert_memory_equal(read, set.distinct, count * sizeof *read);
    free(read);
    idx_close(index);
    free_set(&set);
}

/* ---- Damage ---- */

/* Two tables of 2,000 neighbours: blocks of more than one chunk. */
static const char *build_dense(const char *folder, enum idx_codec codec) {
    static uint64_t dense[2000];
    const char *path = path_in(folder, codec == IDX_CODEC_XOR ? "xor" : "delta");
    struct idx_build_options options = options_for(64, 3, "2:1:1");
    options.block_size = 4096;
    options.codec = codec;
    options.id_type = IDX_ID_NONE;
    for (size_t i = 0; i < LENGTH(dense); i++) dense[i] = i;
    build_index(path, &options, dense, LENGTH(dense));
    return path;
}

/* Reads table 0 to its fault; returns how many fingerprints come before it. */
static size_t expect_fault(const char *path, size_t capacity, enum idx_status expected, const char *sentence) {
    uint64_t read[4000];
    size_t count;
    struct idxi_table_stream stream;
    struct idx_index *index = open_index(path, IDX_RESIDENCE_NONE);
    idxi_table_stream_init(&stream, &index->segments[0]->tables[0]);
    assert_status(expected, read_all(&stream, capacity, read, LENGTH(read), &count));
    if (strstr(failure.sentence, sentence) == NULL) fail_msg("%s", failure.sentence);
    for (size_t i = 0; i < count; i++) assert_int_equal(read[i], i);
    idx_close(index);
    return count;
}

static void test_damage(void **state) {
    static const uint8_t ones[8] = {255, 255, 255, 255, 255, 255, 255, 255}, zeros[8] = {0}, one = 1, low = 254;
    const char *path = build_dense(*state, IDX_CODEC_DELTA), *table = path_in(path, "000001/table-00.tbl");
    size_t size, begin = 4096 + 4096; /* of the second block */
    uint8_t *bytes = read_file(table, &size), count = bytes[begin];
    change_bytes(table, begin + 100, &one, 1);
    assert_int_equal(expect_fault(path, 64, IDX_BAD_CHECKSUM, "checksum"), 1023 / 64 * 64 + 63);
    forge_table(table, begin + 100, bytes + begin + 100, 1);

    forge_table(table, begin + 2, zeros, 8); /* again from 0 */
    assert_int_equal(expect_fault(path, 64, IDX_BAD_CONTENT, "don't ascend (byte 8192)"), 1023);
    assert_int_equal(expect_fault(path, 1, IDX_BAD_CONTENT, "don't ascend (byte 8192)"), 1023);
    forge_table(table, begin + 10 + 200, zeros, 8); /* high parts gone: this fault of the block comes first */
    assert_int_equal(expect_fault(path, 64, IDX_BAD_CONTENT, "differences don't fit"), 1023);
    forge_table(table, begin, bytes + begin, 4096);

    forge_table(table, 4096 + 2, ones, 8); /* wraps around in the first chunk */
    assert_int_equal(expect_fault(path, 64, IDX_BAD_CONTENT, "don't ascend (byte 4096)"), 0);
    forge_table(table, 4096, bytes + 4096, 4096);

    count--;
    forge_table(table, begin, &count, 1);
    assert_int_equal(expect_fault(path, 64, IDX_BAD_CONTENT, "count"), 1999);
    forge_table(table, begin, zeros, 2);
    assert_int_equal(expect_fault(path, 64, IDX_BAD_CONTENT, "count"), 1023);
    forge_table(table, begin, bytes + begin, 2);
    forge_table(table, begin + 1, &low, 1); /* a width above 56 */
    assert_int_equal(expect_fault(path, 64, IDX_BAD_CONTENT, "don't fit"), 1023);
    free(bytes);
}

static void test_damage_of_xor(void **state) {
    static const uint8_t ones[8] = {255, 255, 255, 255, 255, 255, 255, 255};
    const char *path = build_dense(*state, IDX_CODEC_XOR), *table = path_in(path, "000001/table-00.tbl");
    forge_table(table, 4096 + 100, ones, 8);
    uint64_t read[4000];
    size_t count;
    struct idxi_table_stream stream;
    struct idx_index *index = open_index(path, IDX_RESIDENCE_NONE);
    idxi_table_stream_init(&stream, &index->segments[0]->tables[0]);
    assert_status(IDX_BAD_CONTENT, read_all(&stream, 64, read, LENGTH(read), &count));
    assert_in_range(count, 1, 1000);
    idx_close(index);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        in_folder(test_every_shape),
        in_folder(test_a_large_table),
        in_folder(test_damage),
        in_folder(test_damage_of_xor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
