/* price.c: tests of what schemes cost: by hand, and against real indexes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "format/block.h"
#include "format/table.h"
#include "libidx/building/segment_output.h"
#include "libidx/scheme/price.h"
#include "libidx/segment/table_reader.h"
#include "libidx/view/index.h"
#include "tests/libidx/blocks.h"
#include "tests/libidx/plans.h"
#include "tests/libidx/sets.h"
#include "tests/libidx/support.h"

#include <idx_planning.h>

/* ---- Costs by hand ---- */

/* 2^20 fingerprints: a probe of 16 bits finds 16, and 20 − 4 bits are flipped where bits are flipped. */
static void test_probes_and_candidates(void **state) {
    (void)state;
    static const struct {
        const char *text;
        unsigned k;
        unsigned least, most;
        double probes, candidates;
    } cases[] = {
        {"4:1", 3, 16, 16, 4, 64},
        {"5:2", 3, 25, 26, 10, 9 * 0.015625 + 0.03125 - 3 * 0.015625 + 3 * 0.03125 - 0.046875},
        {"6:3", 3, 31, 33, 20, 0.0},
        {"2:1:1", 3, 32, 32, 2 * (1 + 17), 2 * (8 + 17 * 0.000244140625)},
        {"2:1:2", 5, 32, 32, 2 * (1 + 17 + 136), 2 * (18 * 8 + 136 * 0.000244140625)},
        {"1:1:3", 3, 64, 64, 1 + 17 + 136 + 680, 154 * 8.0},
        {"@ff00000000000000:1,@00ffffffffffffff", 1, 8, 56, 1 + 8 + 1, 9 * 4096.0},
        {"@ffff000000000000:3,@0000ffffffffffff", 0, 16, 48, 2, 16},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct idx_plan_options options = options_of(1 << 20, 64, cases[i].k);
        struct idx_plan plan = price(&options, cases[i].text);
        assert_string_equal(plan.scheme, cases[i].text);
        assert_int_equal(plan.tables, scheme.table_count);
        assert_int_equal(plan.min_prefix, cases[i].least);
        assert_int_equal(plan.max_prefix, cases[i].most);
        assert_true(plan.probes == cases[i].probes);
        if (!(fabs(plan.candidates - cases[i].candidates) < 0.2))
            fail_msg("%s: %g candidates, not %g", cases[i].text, plan.candidates, cases[i].candidates);
        assert_false(plan.chosen);
    }
}

static void test_blocks_of_a_group(void **state) {
    (void)state;
    assert_true(idxi_estimate_probe_blocks(0, 20) == 1.0625);
    assert_true(idxi_estimate_probe_blocks(50, 20) == 3.5625);
}

/* As measured by what is bench/rows now: 41.4 of 2:1:1 at 1e9, where 4 % of the pages were in memory already, and
 * 9.4 to 10.1 of 5:2 at 1e7. */
static void test_pages_of_a_query(void **state) {
    struct idx_plan_options options = options_of(1000000000, 64, 3);
    (void)state;
    assert_near(price(&options, "2:1:1").pages, 43.2, 0.03);
    options.count = 10000000;
    assert_near(price(&options, "5:2").pages, 10, 0.05);
    options.count = 100; /* a page each table */
    assert_near(price(&options, "2:1:1").pages, 2, 0.1);
    options.block_size = IDX_MAX_BLOCK_SIZE;
    options.count = 1000000000;
    struct idx_plan plan = price(&options, "5:2");
    assert_near(plan.pages, plan.blocks, 0.001);
}

static void test_spared_bits(void **state) {
    (void)state;
    assert_int_equal(idxi_count_spared_bits(1 << 20, 32), 15);
    assert_int_equal(idxi_count_spared_bits((1 << 20) - 1, 32), 16);
    assert_int_equal(idxi_count_spared_bits(1 << 20, 16), 0);
    assert_int_equal(idxi_count_spared_bits(7, 16), 16);
    assert_int_equal(idxi_count_spared_bits(8, 16), 16);
    assert_int_equal(idxi_count_spared_bits(0, 64), 64);
    assert_int_equal(idxi_count_spared_bits(UINT64_MAX, 64), 4);
}

/* ---- Costs of real indexes ---- */

/* The bytes of the lists of a directory of these keys. */
static uint64_t count_list_bytes(const uint64_t *keys, size_t count) {
    struct idxf_directory_writer writer;
    uint8_t line[IDXF_LINE_BYTES];
    idxf_directory_begin(&writer, idxf_directory_count_lines(count));
    for (size_t i = 0; i < count; i++) {
        while (!idxf_directory_add_key(&writer, keys[i])) idxf_directory_write_line(&writer, line);
    }
    while (writer.line < writer.lines) idxf_directory_write_line(&writer, line);
    return writer.list_bytes;
}

/* The size of a table of these fingerprints, ascending and left-aligned. */
static uint64_t count_file_bytes(const uint64_t *items, size_t count, unsigned bits, uint32_t block_size) {
    struct idxf_table_header header = {.block_size = block_size, .fingerprints = count};
    struct idxi_survey survey = {0};
    struct idxf_encoder encoder;
    uint8_t block[IDXF_MAX_BLOCK_SIZE];
    uint64_t *keys = malloc(count * sizeof *keys);
    assert_non_null(keys);
    idxi_survey_add(&survey, items, count, bits);
    struct idxf_block_form form = idxi_survey_choose_form(&survey, bits, block_size);
    idxf_encoder_init(&encoder, &form);
    for (size_t done = 0; done < count; header.blocks++) {
        done += idxf_block_encode(&encoder, items + done, count - done, block);
        keys[header.blocks] = items[done - 1];
    }
    header.list_bytes = count_list_bytes(keys, (size_t)header.blocks);
    free(keys);
    return idxf_table_lay_out(&header).file_size;
}

static void check_table_bytes(size_t count, unsigned bits) {
    uint64_t *items = sorted_uniform(&count, bits);
    for (uint32_t size = IDX_MIN_BLOCK_SIZE; size <= IDX_MAX_BLOCK_SIZE; size *= 2) {
        struct idx_plan_options options = options_of(count, bits, 0);
        options.block_size = size;
        struct idx_plan plan = price(&options, "1:1");
        uint64_t bytes = count_file_bytes(items, count, bits, size);
        if (!is_near(plan.table_bytes, (double)bytes, 0.02))
            fail_msg("%zu of %u bits in blocks of %u bytes: %g, not %llu", count, bits, size, plan.table_bytes,
                     (unsigned long long)bytes);
    }
    free(items);
}

/* Of uniform fingerprints, 1e3 to 1e7, in all sizes of blocks; of fewer bits up to where each second value is there. */
static void test_table_bytes(void **state) {
    static const struct {
        unsigned bits;
        size_t most;
    } cases[] = {{64, 10000000}, {63, 1000000}, {57, 1000000}, {48, 1000000}, {40, 1000000},
                 {32, 1000000},  {24, 1000000}, {20, 1000000}, {12, 2000}};
    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        for (size_t count = 1000; count <= scale(cases[i].most); count *= 10) check_table_bytes(count, cases[i].bits);
    }
}

/* Builds an index of uniform fingerprints without documents, and opens it. */
static struct idx_index *build_uniform(const char *path, size_t count, unsigned bits, unsigned k, const char *text) {
    struct set set = make_set(SHAPE_UNIFORM, bits, count, 7);
    struct idx_build_options options = options_for(bits, k, text);
    options.id_type = IDX_ID_NONE;
    build_index(path, &options, set.items, set.count);
    free_set(&set);
    return open_index(path, IDX_RESIDENCE_DIRECTORY);
}

static void check_bytes(const char *path, size_t count, unsigned bits, const char *text) {
    struct idx_index *index = build_uniform(path, count, bits, 3, text);
    struct idx_plan_options options = options_of(count, bits, 3);
    struct idx_plan plan = price(&options, text);
    double files = 0, resident = 0;
    for (size_t i = 0; i < index->scheme.table_count; i++) {
        const struct idxi_table *table = &index->segments[0]->tables[i];
        files += (double)table->layout.file_size;
        resident += (double)(table->allocated_bytes + idxi_table_count_load_bytes(table, IDX_RESIDENCE_DIRECTORY) +
                             sizeof *table);
        assert_int_equal(table->spared_bits, idxi_count_spared_bits(table->header.fingerprints, table->prefix));
    }
    assert_near(plan.table_bytes, files, 0.02);
    assert_near(plan.resident_bytes, resident, 0.02);
    idx_close(index);
    remove_all(path);
}

static void test_bytes_of_an_index(void **state) {
    const char *path = path_in(*state, "i");
    check_bytes(path, scale(1000000), 64, "2:1:1");
    check_bytes(path, scale(300000), 64, "4:1");
    check_bytes(path, scale(100000), 40, "3:1:1");
    check_bytes(path, 1000, 64, "4:1");
}

/* The mean over random queries, which find nothing but by chance. */
static double count_blocks(const struct idx_index *index, unsigned distance, size_t queries) {
    uint64_t seed = 99, sum = 0;
    for (size_t i = 0; i < queries; i++) {
        sum += search_blocks(index, next_random(&seed), distance);
    }
    return (double)sum / (double)queries;
}

static void test_blocks_searched(void **state) {
    static const struct {
        const char *text;
        unsigned k;
    } cases[] = {
        {"4:1", 3},
        {"5:2", 3},
        {"2:1:1", 3},
        {"3:1:1", 5},
        {"2:1:2", 5},
        {"4:1/4:1", 3},
        {"@fffff00000000000,@00000ffffff00000:1,@00000000000fffff", 3},
        {"@fff0000000000000,@000ffffc00000000:1,@00000003ffffffff:2", 5},
    };
    const char *path = path_in(*state, "i");
    size_t count = scale(1000000);
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct idx_index *index = build_uniform(path, count, 64, cases[i].k, cases[i].text);
        struct idx_plan_options options = options_of(count, 64, cases[i].k);
        double blocks = count_blocks(index, cases[i].k, 300);
        struct idx_plan plan = price(&options, cases[i].text);
        if (!is_near(plan.blocks, blocks, 0.1))
            fail_msg("%s: %g blocks are expected, %g searched", cases[i].text, plan.blocks, blocks);
        idx_close(index);
        remove_all(path);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_probes_and_candidates),
        cmocka_unit_test(test_blocks_of_a_group),
        cmocka_unit_test(test_pages_of_a_query),
        cmocka_unit_test(test_spared_bits),
        cmocka_unit_test(test_table_bytes),
        in_folder(test_bytes_of_an_index),
        in_folder(test_blocks_searched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
