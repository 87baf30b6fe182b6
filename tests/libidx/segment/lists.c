/* lists.c: tests of tables whose directories need lists, as data has it that lies close together: look-ups against a
 * linear scan, the blocks that they search, and reading that begins in the middle of a table. */
#include <stdlib.h>
#include <string.h>

#include "libidx/lookup/search.h"
#include "libidx/view/index.h"
#include "libidx/view/range.h"
#include "tests/libidx/blocks.h"
#include "tests/libidx/sets.h"
#include "tests/libidx/support.h"
#include "tests/libidx/trial.h"

static const uint32_t sizes[] = {64, 128, 256, 512, 1024, 2048, 4096};

/* ---- Look-ups ---- */

/* Half of the fingerprints in one line, close to each other, the others all over. */
static struct set make_two_halves(unsigned bits, size_t count, uint64_t seed) {
    uint64_t *items = malloc(count * sizeof *items), base = next_random(&seed) & all_ones(bits) & ~all_ones(bits / 3);
    assert_non_null(items);
    for (size_t i = 0; i < count; i++)
        items[i] = i % 2 == 0 ? next_random(&seed) & all_ones(bits) : base | (next_random(&seed) & all_ones(bits / 3));
    struct set set = set_of(items, count, bits);
    free(items);
    return set;
}

static void look_up(const char *folder, size_t first, size_t step) {
    static const enum shape shapes[] = {SHAPE_CLUSTERED, SHAPE_PREFIXED,  SHAPE_SKEWED,
                                        SHAPE_DENSE_LOW, SHAPE_DENSE_TOP, SHAPE_COUNT};
    static const unsigned bits[] = {64, 61, 40, 24};
    size_t trials = LENGTH(shapes) * LENGTH(bits) * LENGTH(sizes);
    for (size_t i = first; i < trials; i += step) {
        enum shape shape = shapes[i % LENGTH(shapes)];
        unsigned f = bits[i / LENGTH(shapes) % LENGTH(bits)];
        size_t count = 5000;
        struct set set = shape == SHAPE_COUNT ? make_two_halves(f, count, i) : make_set(shape, f, count, i);
        struct trial trial = {shape == SHAPE_COUNT ? "two halves" : shape_names[shape], .set = &set, .k = 2};
        trial.scheme = i % 2 == 0 ? "3:1" : "2:1:1";
        trial.block_size = sizes[i / LENGTH(shapes) / LENGTH(bits)];
        trial.residence = (enum idx_residence)((i + i / LENGTH(shapes)) % 4);
        trial.segments = 1 + i % 2;
        trial.queries = 40;
        run_trial(folder, &trial);
        free_set(&set);
    }
}

static void test_look_ups(void **state) { look_up(*state, 0, 5); }

static void test_more_look_ups(void **state) {
    for (size_t first = 1; first < 5; first++) look_up(*state, first, 5);
}

/* Keys that differ by 1, which only the last bits of a list tell apart: all numbers of neighbours, so that the last
 * block has one alone. */
static void test_keys_that_differ_by_one(void **state) {
    size_t close = 0;
    for (size_t count = 445; count < 455; count++) {
        uint64_t items[455];
        for (size_t i = 0; i < count; i++) items[i] = UINT64_C(0xfedcba9876543211) + i;
        struct set set = set_of(items, count, 64);
        struct trial trial = {"neighbours", .set = &set, .scheme = "2:1", .k = 1, .block_size = 64, .segments = 1};
        trial.residence = (enum idx_residence)(count % 4);
        trial.queries = 20;
        trial.asked = items + count - 2;
        trial.asked_count = 2;
        run_trial(*state, &trial);
        struct idx_index *index = open_trial(*state, &trial, IDX_ID_NONE);
        const struct idxi_table *table = &index->segments[0]->tables[0];
        struct idxf_list list = idxf_line_read_list(table->directory.lines);
        close += table->header.list_bytes > 0 && list.width >= 63;
        idx_close(index);
        remove_all(path_in(*state, "trial.idx"));
        free_set(&set);
    }
    assert_true(close > 0);
}

/* Where half of the bits are the same in all fingerprints, tables get codes of their own, and their blocks are not
 * searched side by side. */
static void test_codes_that_differ(void **state) {
    static const char *const schemes[] = {"5:2", "2:1:1", "4:1"};
    enum { MANY = 6000 };
    uint64_t *items = malloc(MANY * sizeof *items), seed = 7;
    assert_non_null(items);
    for (size_t i = 0; i < MANY; i++) items[i] = next_random(&seed) & 0xffffffff;
    struct set set = set_of(items, MANY, 64);
    for (size_t i = 0; i < LENGTH(schemes); i++) {
        struct trial trial = {"half dead", .set = &set, .scheme = schemes[i], .k = 3, .block_size = 64, .segments = 1};
        size_t others = 0;
        trial.queries = 40;
        run_trial(*state, &trial);
        struct idx_index *index = open_trial(*state, &trial, IDX_ID_NONE);
        for (size_t table = 0; table < index->scheme.table_count; table++)
            others += index->segments[0]->tables[table].alike != 0;
        assert_in_range(others, 1, index->scheme.table_count - 1);
        idx_close(index);
        remove_all(path_in(*state, "trial.idx"));
    }
    free(items);
    free_set(&set);
}

/* ---- Blocks searched ---- */

/* From the first block whose key is at least `low` to the first whose key is at least `high`. */
static uint64_t count_range(const struct idxi_table *table, const uint64_t *keys, uint64_t low, uint64_t high) {
    uint64_t begin = 0, end;
    while (begin < table->header.blocks && keys[begin] < low) begin++;
    for (end = begin; end < table->header.blocks && keys[end] < high;) end++;
    return end - begin + (end < table->header.blocks);
}

/* A probe searches the blocks of its range, and one before them at most: none is read to find another one. */
static void check_blocks(const struct idx_index *index, const struct set *set) {
    const struct idxi_probing *probing = &index->probings[0];
    uint64_t seed = 1;
    assert_int_equal(probing->count, 1);
    const struct idxi_table *table = &index->segments[0]->tables[probing->tables[0].table];
    uint64_t *keys = read_keys(table), rest = all_ones(64 - table->prefix);
    for (size_t i = 0; i < 1000; i++) {
        uint64_t query = make_query(set, 3, &seed), blocks;
        uint64_t permuted = idxf_permute(&table->permutation, query);
        uint64_t least = count_range(table, keys, permuted & ~rest, permuted | rest);
        blocks = search_blocks(index, query, 0);
        assert_in_range(blocks, least, least + 1);
    }
    free(keys);
}

static void test_blocks_searched(void **state) {
    for (size_t i = 0; i < SHAPE_COUNT * LENGTH(sizes); i++) {
        enum shape shape = (enum shape)(i % SHAPE_COUNT);
        struct set set = make_set(shape, i % 2 == 0 ? 64 : 37, 5000, i);
        struct trial trial = {shape_names[shape], .set = &set, .scheme = "2:1", .k = 1, .segments = 1};
        trial.block_size = sizes[i / SHAPE_COUNT];
        trial.residence = (enum idx_residence)(i % 4);
        struct idx_index *index = open_trial(*state, &trial, IDX_ID_NONE);
        check_blocks(index, &set);
        idx_close(index);
        remove_all(path_in(*state, "trial.idx"));
        free_set(&set);
    }
}

/* ---- From the middle on ---- */

struct gathered {
    uint64_t *items;
    size_t count, room;
};

static bool gather(void *context, const uint64_t *fingerprints, size_t count) {
    struct gathered *gathered = context;
    assert_true(gathered->count + count <= gathered->room);
    memcpy(gathered->items + gathered->count, fingerprints, count * sizeof *fingerprints);
    gathered->count += count;
    return true;
}

/* Parts follow one another, and together are all: the first table has the order of numbers. */
static void check_parts(const struct idx_index *index, const struct set *set) {
    static const uint32_t parts[] = {1, 2, 3, 10, 97, 1000};
    struct gathered gathered = {malloc((set->distinct_count + 1) * sizeof(uint64_t)), 0, set->distinct_count};
    assert_non_null(gathered.items);
    for (size_t i = 0; i < LENGTH(parts); i++) {
        gathered.count = 0;
        for (uint32_t part = 0; part < parts[i]; part++)
            assert_ok(idx_visit_part(index, part, parts[i], gather, &gathered, &failure));
        assert_int_equal(gathered.count, set->distinct_count);
        assert_memory_equal(gathered.items, set->distinct, gathered.count * sizeof(uint64_t));
    }
    free(gathered.items);
}

/* What is in a range, from one fingerprint to another. */
static void check_range(const struct idx_index *index, const struct set *set, size_t begin, size_t end) {
    struct idxi_ranges ranges = {.index = index, .table = 0};
    size_t capacity = IDXI_MIN_RANGE_CAPACITY(1) + set->distinct_count;
    unsigned align = 64 - set->bits;
    struct idxi_range range = {.low = set->distinct[begin] << align, .high = set->distinct[end] << align};
    range.fingerprints = malloc(capacity * sizeof *range.fingerprints);
    range.capacity = capacity;
    assert_non_null(range.fingerprints);
    assert_ok(idxi_range_load(&ranges, &range, &failure));
    assert_int_equal(range.count, end - begin + 1);
    for (size_t i = begin; i <= end; i++) assert_true(range.fingerprints[i - begin] >> align == set->distinct[i]);
    free(range.fingerprints);
}

static void test_from_the_middle_on(void **state) {
    for (size_t i = 0; i < SHAPE_COUNT * LENGTH(sizes); i++) {
        enum shape shape = (enum shape)(i % SHAPE_COUNT);
        struct set set = make_set(shape, i % 2 == 0 ? 64 : 37, 4000, i);
        struct trial trial = {shape_names[shape], .set = &set, .scheme = "2:1", .k = 1, .segments = 1};
        trial.block_size = sizes[i / SHAPE_COUNT];
        trial.residence = (enum idx_residence)(i % 4);
        struct idx_index *index = open_trial(*state, &trial, IDX_ID_NONE);
        check_parts(index, &set);
        for (size_t at = 0; at < set.distinct_count; at += 1 + set.distinct_count / 20)
            check_range(index, &set, at, at + (set.distinct_count - at) / 3);
        idx_close(index);
        remove_all(path_in(*state, "trial.idx"));
        free_set(&set);
    }
}

/* ---- Merged and compacted ---- */

/* Adds fingerprints to an index, and makes one segment of all. */
static void add_and_compact(const char *path, const uint64_t *items, size_t count) {
    struct idx_compact_options options = IDX_COMPACT_OPTIONS_INIT;
    struct idx_writer *writer;
    assert_ok(idx_writer_open(&writer, path, NULL, &failure));
    for (size_t i = 0; i < count; i++) {
        struct idx_item item = {.fingerprint = items[i]};
        assert_ok(idx_writer_add(writer, &item, 1, &failure));
    }
    idx_writer_close(writer);
    options.all = true;
    assert_ok(idx_compact(path, &options, NULL, &failure));
}

/* Two halves of a set are merged; or one is added to the other, and compacted. */
static void test_merged_and_compacted(void **state) {
    for (size_t i = 0; i < 4 * LENGTH(sizes); i++) {
        struct set set = i % 4 == 3 ? make_two_halves(64, 4000, i)
                                    : make_set(i % 4 == 0   ? SHAPE_CLUSTERED
                                               : i % 4 == 1 ? SHAPE_SKEWED
                                                            : SHAPE_DENSE_LOW,
                                               i % 2 == 0 ? 64 : 37, 4000, i);
        struct idx_build_options options = options_for(set.bits, 1, "2:1");
        const char *paths[] = {path_in(*state, "a%zu", i), path_in(*state, "b%zu", i)},
                   *made = path_in(*state, "c%zu", i);
        options.block_size = sizes[i / 4];
        options.id_type = IDX_ID_NONE;
        build_index(paths[0], &options, set.items, set.count / 2);
        build_index(paths[1], &options, set.items + set.count / 2, set.count - set.count / 2);
        assert_ok(idx_merge(made, paths, 2, NULL, NULL, &failure));
        add_and_compact(paths[0], set.items + set.count / 2, set.count - set.count / 2);
        for (size_t j = 0; j < 2; j++) {
            const char *path = j == 0 ? made : paths[0];
            assert_ok(idx_verify(path, NULL, NULL, &failure));
            struct idx_index *index = open_index(path, (enum idx_residence)(i % 4));
            assert_int_equal(index->open_segments, 1);
            check_parts(index, &set);
            idx_close(index);
        }
        free_set(&set);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        in_folder(test_look_ups),
        in_folder(test_keys_that_differ_by_one),
        in_folder(test_codes_that_differ),
        in_folder(test_more_look_ups),
        in_folder(test_blocks_searched),
        in_folder(test_from_the_middle_on),
        in_folder(test_merged_and_compacted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
