/* directory.c: tests of the directory as a table's reader uses it: for every fingerprint, and those beside it, the
 * block to begin with is the one that could hold it, or the one before; and for every block, where its key lies is
 * known well enough to read it. No block is read for either. */
#include <stdlib.h>
#include <string.h>

#include "libidx/view/index.h"
#include "tests/libidx/blocks.h"
#include "tests/libidx/forge.h"
#include "tests/libidx/sets.h"
#include "tests/libidx/support.h"
#include "tests/libidx/trial.h"

/* What a directory was asked, and where it began. */
struct counts {
    size_t asked, early; /* at random */
    size_t listed_lines;
};

/* What reading a block relies on: `above` is from the key of the block before, where there is one, to this one's. */
static void check_start(const struct idxi_table *table, const uint64_t *keys, const struct idxf_start *start) {
    unsigned align = 64 - table->header.bits;
    if (start->block > 0) assert_true(keys[start->block - 1] < start->above);
    if (start->block < table->header.blocks) assert_true(start->above >> align <= keys[start->block] >> align);
}

/* Returns whether it begins early. */
static bool ask(const struct idxi_table *table, const uint64_t *keys, uint64_t permuted) {
    uint64_t low = 0, high = table->header.blocks;
    struct idxf_start start;
    assert_ok(idxi_table_find_block(table, permuted, &start, &failure));
    check_start(table, keys, &start);
    assert_true(start.above <= permuted);
    while (low < high) {
        uint64_t middle = (low + high) / 2;
        if (keys[middle] < permuted)
            low = middle + 1;
        else
            high = middle;
    }
    if (start.block == low) return false;
    assert_int_equal(start.block + 1, low);
    return true;
}

/* Each block is found by its number, and begins as it does where all are read from the first on. */
static void locate_all(const struct idxi_table *table, const uint64_t *keys) {
    static uint64_t fingerprints[IDXF_MAX_DECODED_WORDS];
    for (uint64_t block = 0; block < table->header.blocks; block++) {
        struct idxf_start start;
        struct idxi_blocks blocks;
        size_t count;
        assert_ok(idxi_table_find_block_by_number(table, block, &start, &failure));
        assert_int_equal(start.block, block);
        check_start(table, keys, &start);
        idxi_blocks_begin(&blocks, table, &start);
        assert_ok(idxi_blocks_read(&blocks, block + 1, fingerprints, &count, &failure));
        assert_true(fingerprints[count - 1] == keys[block]);
        if (block > 0) assert_true(fingerprints[0] > keys[block - 1]);
    }
}

static void ask_all(const struct idxi_table *table, const struct set *set, struct counts *counts) {
    if (table->header.blocks == 0) return;
    uint64_t *keys = read_keys(table), seed = 1, step = UINT64_C(1) << (64 - set->bits);
    for (size_t i = 0; i < set->distinct_count; i++) {
        uint64_t permuted = idxf_permute(&table->permutation, set->distinct[i]);
        ask(table, keys, permuted);
        ask(table, keys, permuted + step);
        ask(table, keys, permuted - step);
        counts->asked++;
        counts->early += ask(table, keys, next_random(&seed) & ~(step - 1));
    }
    for (unsigned bit = 64 - set->bits; bit < 64; bit++) {
        ask(table, keys, UINT64_C(1) << bit);
        ask(table, keys, (UINT64_C(1) << bit) - step);
    }
    ask(table, keys, 0);
    ask(table, keys, ~(step - 1));
    locate_all(table, keys);
    for (uint64_t line = 0; line < table->layout.directory_lines; line++)
        counts->listed_lines += idxf_count_listed_keys(table->directory.lines + line * IDXF_LINE_BYTES) > 0;
    free(keys);
}

/* Asks all tables of an index of blocks of 64 bytes. */
static struct counts try_set(const char *folder, const char *name, const struct set *set, const char *scheme) {
    struct trial trial = {name, .set = set, .scheme = scheme, .k = 1, .segments = 1, .block_size = 64};
    struct counts counts = {0, 0, 0};
    if (set->bits == 1) trial.k = 0;
    struct idx_index *index = open_trial(folder, &trial, IDX_ID_NONE);
    for (size_t i = 0; i < index->scheme.table_count; i++) ask_all(&index->segments[0]->tables[i], set, &counts);
    idx_close(index);
    remove_all(path_in(folder, "trial.idx"));
    return counts;
}

static void test_all_shapes(void **state) {
    static const unsigned bits[] = {1, 12, 40, 64};
    static const char *const schemes[] = {"@1", "2:1", "@00000fffff,@fffff00000", "2:1"};
    for (size_t i = 0; i < SHAPE_COUNT * LENGTH(bits); i++) {
        enum shape shape = (enum shape)(i % SHAPE_COUNT);
        struct set set = make_set(shape, bits[i / SHAPE_COUNT], scale(20000), i);
        try_set(*state, shape_names[shape], &set, schemes[i / SHAPE_COUNT]);
        free_set(&set);
    }
}

/* With eight cells a block, half a cell lies before a fingerprint in its own: one look-up of 16 begins early. */
static void test_how_often_it_begins_early(void **state) {
    struct set set = make_set(SHAPE_UNIFORM, 64, scale(200000), 1);
    struct counts counts = try_set(*state, "uniform", &set, "2:1");
    double share = (double)counts.early / (double)counts.asked;
    if (share < 0.9 / 16 || share > 1.1 / 16) fail_msg("one of %.2f", 1 / share);
    free_set(&set);
}

/* Where many keys share their leading bits, lines have lists: of all keys, of a few, or in some lines only. */
static void test_lists(void **state) {
    struct set low = make_set(SHAPE_DENSE_LOW, 64, scale(200000), 1), prefixed = make_set(SHAPE_PREFIXED, 64, 20000, 1);
    struct set ball = make_ball(UINT64_C(0xfedcba9876543210), 64, is_sanitized() ? 2 : 3);
    assert_true(try_set(*state, "dense low", &low, "@ffffffffffffffff:1").listed_lines == 1);
    assert_true(try_set(*state, "prefixed", &prefixed, "@ffffffffffffffff:1").listed_lines == 1);
    assert_true(try_set(*state, "ball", &ball, "2:1").listed_lines > 1);
    free_set(&low);
    free_set(&prefixed);
    free_set(&ball);
}

/* All values there are lie as evenly as can be: no cell has two keys. Blocks of 65, a key and a bit for each of the
 * differences, leave 32 for the last one, and a cell is as wide as 8. */
static void test_all_values(void **state) {
    struct set set = make_set(SHAPE_DENSE_LOW, 17, (size_t)1 << 17, 1);
    assert_int_equal(try_set(*state, "all of 17 bits", &set, "@1ffff:1").listed_lines, 0);
    free_set(&set);
}

/* Other writers may fill blocks less. Where the least value there is has the first block to itself, cells that begin
 * between it and the next value lead to the second block. */
static void test_the_least_value_alone(void **state) {
    static const uint64_t values[] = {0, 1};
    const char *path = path_in(*state, "i"), *file = path_in(path, "000001/table-00.tbl");
    const struct forged_block blocks[] = {{.key = 0}, {.key = 1}};
    const uint8_t block_count = 2, cells = 3; /* bits: the first two cells have a key each */
    struct idx_build_options options = options_for(8, 0, "1:1");
    struct set set = set_of(values, 2, 8);
    struct counts counts = {0, 0, 0};
    build_index(path, &options, values, 2);
    forge_table(file, 56, &block_count, 1);
    for (size_t i = 0; i < 2; i++) forge_block(file, i, &blocks[i]);
    forge_table(file, 2 * IDXF_PAGE_SIZE + 8, &cells, 1);
    assert_ok(idx_verify(path, NULL, NULL, &failure));
    struct idx_index *index = open_index(path, IDX_RESIDENCE_NONE);
    ask_all(&index->segments[0]->tables[0], &set, &counts);
    idx_close(index);
    free_set(&set);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        in_folder(test_all_shapes), in_folder(test_how_often_it_begins_early), in_folder(test_lists),
        in_folder(test_all_values), in_folder(test_the_least_value_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
