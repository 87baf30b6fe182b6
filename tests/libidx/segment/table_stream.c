/* table_stream.c: tests of a table read as a stream: all its fingerprints in order, however many are asked for at a
 * time, and damage told as idx_verify tells it. */
#include <stdlib.h>
#include <string.h>

#include "format/bytes.h"
#include "libidx/segment/table_reader.h"
#include "libidx/view/index.h"
#include "tests/libidx/forge.h"
#include "tests/libidx/sets.h"
#include "tests/libidx/support.h"

#define COUNT 20000

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
    for (size_t i = 0; i < LENGTH(capacities); i++) {
        idxi_table_stream_init(&stream, table);
        assert_ok(read_all(&stream, capacities[i], read, set->distinct_count, &count));
        assert_int_equal(count, set->distinct_count);
        assert_memory_equal(read, expected, count * sizeof *read);
        assert_ok(stream.stream.read(&stream.stream, read, NULL, 1, &count, &failure)); /* and stays at the end */
        assert_int_equal(count, 0);
    }
    free(expected);
}

static void test_every_shape(void **state) {
    for (unsigned i = 0; i < 4 * SHAPE_COUNT; i++) {
        struct set set = make_set((enum shape)(i / 4), i % 2 == 0 ? 64 : 31, scale(COUNT), i);
        const char *path = path_in(*state, "%u", i);
        struct idx_build_options options = options_for(set.bits, 3, "4");
        options.block_size = i % 3 == 0 ? 64 : i % 3 == 1 ? 1024 : 4096;
        options.id_type = IDX_ID_NONE;
        build_index(path, &options, set.items, set.count);
        struct idx_index *index = open_index(path, (enum idx_residence)(i % 4));
        for (size_t table = 0; table < 4; table++) check_table(&index->segments[0]->tables[table], &set);
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

#define DENSE 5000
#define FULL 1023 /* fingerprints of a block */

/* Two tables of neighbours, four blocks full and one of 908. Blocks of 4096 bytes are decoded two at a time. */
static const char *build_dense(const char *folder) {
    static uint64_t dense[DENSE];
    const char *path = path_in(folder, "dense");
    struct idx_build_options options = options_for(64, 3, "2:1:1");
    options.block_size = 4096;
    options.id_type = IDX_ID_NONE;
    for (size_t i = 0; i < LENGTH(dense); i++) dense[i] = i;
    build_index(path, &options, dense, LENGTH(dense));
    return path;
}

/* Reads table 0 to its fault; returns how many fingerprints come before it. */
static size_t expect_fault(const char *path, size_t capacity, enum idx_status expected, const char *sentence) {
    uint64_t read[DENSE + FULL];
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

static uint64_t ones[1200];
static const uint64_t beyond[] = {1, 1, DENSE}, ends[] = {1, 0, 1};

/* Block number 3, which is to have 3069 to 4091, and how it is damaged. What comes before: the two blocks that are
 * decoded with it are not given. */
static const struct {
    const char *what;
    struct forged_block block;
    const char *sentence;
    size_t given;
} cases[] = {
    {"sound", {4091, true, 1, {{ones, FULL - 1, 0, 0}}}, NULL, DENSE},
    {"whole, in three chains",
     {4091, false, 3, {{ones, 340, 0, 0}, {ones, 340, 341, 0}, {ones, 340, 682, 0}}},
     NULL,
     DENSE},
    {"in two chains", {4091, false, 2, {{ones, 500, 0, 0}, {ones, 521, 501, 0}}}, NULL, DENSE},
    {"again from 0", {1022, false, 1, {{ones, 1022, 0, 0}}}, "don't ascend (byte 16384)", 2 * FULL},
    {"the key of the block before", {3068, false, 0, {{0}}}, "don't ascend (byte 16384)", 2 * FULL},
    {"down to the block before", {4091, false, 1, {{ones, FULL, 0, 0}}}, "don't ascend (byte 16384)", 2 * FULL},
    {"below 0", {4091, false, 1, {{beyond, 3, 0, 0}}}, "don't ascend (byte 16384)", 2 * FULL},
    {"into the chain below",
     {4091, false, 2, {{ones, 501, 0, 0}, {ones, 521, 501, 0}}},
     "don't ascend (byte 16384)",
     2 * FULL},
    {"equal offsets",
     {4091, false, 3, {{ones, 9, 0, 0}, {ones, 9, 10, 0}, {ones, 9, 10, 0}}},
     "don't ascend (byte 16384)",
     2 * FULL},
    {"offset to the block before",
     {4091, false, 2, {{ones, 9, 0, 0}, {ones, 0, FULL, 0}}},
     "don't ascend (byte 16384)",
     2 * FULL},
    {"place before the chains",
     {4091, false, 2, {{ones, 9, 0, 0}, {ones, 9, 10, -20}}},
     "content that doesn't fit into its block, group, frame or file (byte 16384)",
     2 * FULL},
    {"places that descend",
     {4091, false, 3, {{ones, 9, 0, 0}, {ones, 9, 10, 50}, {ones, 9, 20, 0}}},
     "content that doesn't fit into its block, group, frame or file (byte 16384)",
     2 * FULL},
    {"that, and disorder before",
     {4091, false, 3, {{beyond, 3, 0, 0}, {ones, 9, 10, 50}, {ones, 9, 20, 0}}},
     "content that doesn't fit into its block, group, frame or file (byte 16384)",
     2 * FULL},
    {"1,024 fingerprints", {9000, false, 1, {{ones, 1023, 0, 0}}}, "counts that don't agree (byte 16384)", 2 * FULL},
    {"one too few", {4091, false, 1, {{ones, FULL - 2, 0, 0}}}, "counts that don't agree (byte 0)", 0},
    {"an end too early", {4091, false, 1, {{ends, 3, 0, 0}}}, "unused bits or bytes that are not 0 (byte 16384)", 0},
    {"the key alone", {4091, true, 0, {{0}}}, "counts that don't agree (byte 0)", 0},
};

static void test_damage(void **state) {
    const char *path = build_dense(*state), *table = path_in(path, "000001/table-00.tbl");
    static const uint8_t one = 1;
    for (size_t i = 0; i < LENGTH(ones); i++) ones[i] = 1;
    change_bytes(table, 4096 + 3 * 4096 + 4000, &one, 1);
    assert_int_equal(expect_fault(path, 64, IDX_BAD_CHECKSUM, "checksum (byte 16384)"), 2 * FULL);
    assert_int_equal(expect_fault(path, 1, IDX_BAD_CHECKSUM, "checksum (byte 16384)"), 2 * FULL);
    for (size_t i = 0; i < LENGTH(cases); i++) {
        forge_block(table, 3, &cases[i].block);
        if (cases[i].sentence == NULL) {
            assert_int_equal(expect_fault(path, 64, IDX_OK, ""), DENSE);
            assert_ok(idx_verify(path, NULL, NULL, &failure));
            continue;
        }
        assert_status(IDX_BAD_CONTENT, idx_verify(path, NULL, NULL, &failure));
        if (strstr(failure.sentence, cases[i].sentence) == NULL) fail_msg("%s: %s", cases[i].what, failure.sentence);
        if (cases[i].given == 0) continue;
        assert_int_equal(expect_fault(path, 64, IDX_BAD_CONTENT, cases[i].sentence), cases[i].given);
        assert_int_equal(expect_fault(path, 1, IDX_BAD_CONTENT, cases[i].sentence), cases[i].given);
    }
}

/* The greatest fingerprint there can be is the last one: nothing is above it, in the same read or in the next. */
static void test_a_block_behind_the_greatest(void **state) {
    const char *path = build_dense(*state), *table = path_in(path, "000001/table-00.tbl");
    for (size_t i = 0; i < LENGTH(ones); i++) ones[i] = 1;
    for (uint64_t block = 2; block < 4; block++) {
        const struct forged_block greatest = {UINT64_MAX, false, 1, {{ones, FULL - 1, 0, 0}}};
        const struct forged_block before = {3068, false, 1, {{ones, FULL - 1, 0, 0}}};
        if (block == 3) forge_block(table, 2, &before);
        forge_block(table, block, &greatest);
        assert_status(IDX_BAD_CONTENT, idx_verify(path, NULL, NULL, &failure));
        if (strstr(failure.sentence, "don't ascend") == NULL) fail_msg("%s", failure.sentence);
        assert_int_equal(failure.offset, 4096 + (block + 1) * 4096);
        struct idx_index *index = open_index(path, IDX_RESIDENCE_NONE);
        struct idxi_table_stream stream;
        uint64_t read[DENSE];
        size_t count;
        idxi_table_stream_init(&stream, &index->segments[0]->tables[0]);
        assert_status(IDX_BAD_CONTENT, read_all(&stream, 64, read, DENSE, &count));
        assert_int_equal(failure.offset, 4096 + (block + 1) * 4096);
        idx_close(index);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        in_folder(test_every_shape),
        in_folder(test_a_large_table),
        in_folder(test_damage),
        in_folder(test_a_block_behind_the_greatest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
