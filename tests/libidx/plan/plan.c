/* plan.c: tests of plans: that costs are those of real indexes, that the schemes listed are the best there are, and
 * that `auto` takes the right one. */
#include <idx.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/block.h"
#include "format/table.h"
#include "libidx/build/segment_output.h"
#include "libidx/plan/parts.h"
#include "libidx/plan/plan.h"
#include "libidx/plan/price.h"
#include "libidx/scheme/cost.h"
#include "libidx/scheme/sample.h"
#include "libidx/scheme/scheme.h"
#include "libidx/streams/sort.h"
#include "libidx/view/index.h"
#include "tests/libidx/blocks.h"
#include "tests/libidx/sets.h"
#include "tests/libidx/support.h"

static struct idx_scheme scheme;
static struct idx_plan plans[IDX_MAX_TABLES];
static size_t plan_count;

static struct idx_plan_options options_of(uint64_t count, unsigned bits, unsigned k) {
    struct idx_plan_options options = IDX_PLAN_OPTIONS_INIT;
    options.count = count;
    options.bits = bits;
    options.k = k;
    return options;
}

static struct idx_plan price(const struct idx_plan_options *options, const char *text) {
    struct idx_plan plan;
    assert_ok(idx_scheme_parse(&scheme, text, options->bits, options->k, options->count, &failure));
    idxi_plan_scheme(options, &scheme, &plan);
    return plan;
}

static void make_plans(const struct idx_plan_options *options) {
    assert_ok(idx_plan(options, plans, LENGTH(plans), &plan_count, &failure));
    assert_in_range(plan_count, 1, LENGTH(plans));
}

static const struct idx_plan *chosen_plan(void) {
    const struct idx_plan *chosen = NULL;
    for (size_t i = 0; i < plan_count; i++) {
        if (!plans[i].chosen) continue;
        assert_null(chosen);
        chosen = &plans[i];
    }
    assert_non_null(chosen);
    return chosen;
}

static bool is_near(double a, double b, double tolerance) { return fabs(a - b) <= tolerance * fmax(fabs(a), fabs(b)); }

#define assert_near(a, b, tolerance)                                                                                   \
    do {                                                                                                               \
        if (!is_near(a, b, tolerance)) fail_msg("%s is %g, not %g", #a, (double)(a), (double)(b));                     \
    } while (0)

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
    assert_true(idxi_expected_blocks(0, 20) == 1.0625);
    assert_true(idxi_expected_blocks(50, 20) == 3.5625);
}

/* As measured by bench/billion and bench/disk: 41.4 of 2:1:1 at 1e9, where 4 % of the pages were in memory already, and
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
    assert_int_equal(idxi_spared_bits(1 << 20, 32), 15);
    assert_int_equal(idxi_spared_bits((1 << 20) - 1, 32), 16);
    assert_int_equal(idxi_spared_bits(1 << 20, 16), 0);
    assert_int_equal(idxi_spared_bits(7, 16), 16);
    assert_int_equal(idxi_spared_bits(8, 16), 16);
    assert_int_equal(idxi_spared_bits(0, 64), 64);
    assert_int_equal(idxi_spared_bits(UINT64_MAX, 64), 4);
}

/* ---- Times by hand ---- */

/* A machine on which all takes no time. */
static struct idx_calibration free_machine(void) {
    struct idx_calibration machine = IDX_CALIBRATION_INIT;
    machine.probe = 1e-12;
    return machine;
}

static void check_time(const struct idx_calibration *machine, uint32_t block_size, const char *text, double many,
                       double single) {
    struct idx_plan_options options = options_of(1 << 20, 64, 3);
    options.block_size = block_size;
    options.calibration = machine;
    struct idx_plan plan = price(&options, text);
    if (!is_near(plan.nanoseconds, many, 1e-6) || !is_near(plan.single_nanoseconds, single, 1e-6))
        fail_msg("%s: %g and %g, not %g and %g", text, plan.nanoseconds, plan.single_nanoseconds, many, single);
}

static void test_times_of_work(void **state) {
    (void)state;
    static const char *const texts[] = {"4:1", "5:2", "2:1:1"};
    for (size_t i = 0; i < LENGTH(texts); i++) {
        struct idx_plan_options options = options_of(1 << 20, 64, 3);
        struct idx_plan plan = price(&options, texts[i]);
        struct idx_calibration machine = free_machine();
        machine.table = 100;
        check_time(&machine, 64, texts[i], 100 * (double)plan.tables, 100 * (double)plan.tables);
        machine = free_machine();
        machine.probe = 100;
        check_time(&machine, 64, texts[i], 100 * plan.probes, 100 * plan.probes);
        machine = free_machine();
        machine.block = 100;
        check_time(&machine, 64, texts[i], 100 * (plan.blocks - plan.probes), 100 * (plan.blocks - plan.probes));
        machine = free_machine();
        machine.candidate = 100;
        check_time(&machine, 64, texts[i], 100 * plan.candidates, 100 * plan.candidates);
        machine = free_machine();
        machine.byte = 100;
        check_time(&machine, 256, texts[i], 100 * 192 * plan.probes, 100 * 192 * plan.probes);
        machine = free_machine();
        machine.single = 100;
        machine.table = 1;
        check_time(&machine, 64, texts[i], (double)plan.tables, (double)plan.tables + 100);
    }
}

static double time_in(struct idx_plan_options *options, enum idx_residence residence, const char *text) {
    options->residence = residence;
    return price(options, text).nanoseconds;
}

/* Waits that grow by 1 with each doubling of the bytes. */
static void test_times_of_waits(void **state) {
    (void)state;
    struct idx_calibration machine = free_machine();
    for (size_t i = 0; i < IDX_CALIBRATION_SIZES; i++) machine.mapped_waits[i] = 2 * (double)i;
    for (uint64_t count = 1 << 20; count <= UINT64_C(1) << 37; count *= 8) {
        struct idx_plan_options options = options_of(count, 64, 3);
        options.block_size = 4096;
        options.calibration = &machine;
        struct idx_plan plan = price(&options, "5:2");
        double files = log2(plan.table_bytes) - 16, lines = log2(plan.resident_bytes) - 16;
        assert_near(time_in(&options, IDX_RESIDENCE_DIRECTORY, "5:2"), 10 * files, 0.01);
        assert_near(time_in(&options, IDX_RESIDENCE_DISK, "5:2"), 10 * files, 0.01);
        if (lines > 4) assert_near(time_in(&options, IDX_RESIDENCE_NONE, "5:2"), 10 * (files + lines), 0.03);
        assert_true(time_in(&options, IDX_RESIDENCE_ALL, "5:2") < 1e-9);
        assert_near(price(&options, "5:2").single_nanoseconds, price(&options, "5:2").nanoseconds, 1e-9);
    }
}

/* The last flips of a probe of 2^20 fingerprints lead to blocks of the same page, which is not waited for again. */
static void test_near_probes_wait_less(void **state) {
    (void)state;
    struct idx_calibration machine = free_machine();
    for (size_t i = 0; i < IDX_CALIBRATION_SIZES; i++) machine.mapped_waits[i] = 10;
    struct idx_plan_options options = options_of(1 << 20, 64, 3);
    options.calibration = &machine;
    /* 17 bits are flipped, for groups of 8; 64 blocks of about 11 are within 6 bits of that: 11 are far. */
    assert_near(price(&options, "2:1:1").nanoseconds, 2 * (1 + 11) * 10, 1e-6);
}

static void refuse_calibration(const struct idx_calibration *machine) {
    struct idx_plan_options options = options_of(1000, 64, 3);
    options.calibration = machine;
    assert_status(IDX_INVALID_ARGUMENT, idx_plan(&options, plans, LENGTH(plans), &plan_count, &failure));
}

static void test_calibrations_that_are_wrong(void **state) {
    (void)state;
    struct idx_calibration machine = free_machine();
    machine.probe = 0;
    refuse_calibration(&machine);
    machine.probe = NAN;
    refuse_calibration(&machine);
    machine = free_machine();
    machine.table = -1;
    refuse_calibration(&machine);
    machine = free_machine();
    machine.mapped_latencies[IDX_CALIBRATION_SIZES - 1] = INFINITY;
    refuse_calibration(&machine);
    machine = free_machine();
    machine.loaded_waits[3] = -0.5;
    refuse_calibration(&machine);
    struct idx_plan_options options = options_of(1000, 64, 3);
    options.residence = (enum idx_residence)4;
    assert_status(IDX_INVALID_ARGUMENT, idx_plan(&options, plans, LENGTH(plans), &plan_count, &failure));
}

/* `auto` stays what it is on machines where the fastest is another one. */
static void test_auto_on_other_machines(void **state) {
    (void)state;
    char chosen[sizeof plans->scheme];
    double fastest[2] = {0, 0};
    struct idx_plan_options options = options_of(10000000, 64, 3);
    make_plans(&options);
    strcpy(chosen, chosen_plan()->scheme);
    for (size_t i = 0; i < 2; i++) {
        struct idx_calibration machine = free_machine();
        machine.probe = i == 0 ? 1000 : 1; /* few tables with long groups are best, or many with short ones */
        machine.candidate = i == 0 ? 0.01 : 100;
        options.calibration = &machine;
        make_plans(&options);
        assert_string_equal(chosen_plan()->scheme, chosen);
        fastest[i] = (double)plans[plan_count - 1].tables;
        for (size_t j = 1; j < plan_count; j++) assert_true(plans[j].tables >= plans[j - 1].tables);
    }
    assert_true(fastest[0] < fastest[1]);
    options.calibration = NULL;
    options.residence = IDX_RESIDENCE_ALL;
    make_plans(&options);
    assert_string_equal(chosen_plan()->scheme, chosen);
}

static void test_plan_of_a_scheme(void **state) {
    (void)state;
    struct idx_plan_options options = options_of(UINT64_C(1) << 34, 64, 3);
    struct idx_plan plan;
    options.block_size = 128;
    assert_ok(idx_scheme_parse(&scheme, "20", 64, 3, 0, &failure));
    assert_ok(idx_plan_scheme(&options, &scheme, &plan, &failure));
    assert_string_equal(plan.scheme, "6:3");
    assert_int_equal(plan.tables, 20);
    assert_false(plan.chosen);
    options.k = 4;
    assert_status(IDX_WEAK_SCHEME, idx_plan_scheme(&options, &scheme, &plan, &failure));
    assert_string_equal(failure.sentence, "scheme '6:3' does not cover k = 4: some pairs at that distance would be "
                                          "missed; use more blocks, a larger radius, or auto");
    options.k = 3;
    options.bits = 63;
    assert_status(IDX_INVALID_ARGUMENT, idx_plan_scheme(&options, &scheme, &plan, &failure));
    options.bits = 64;
    options.count = UINT64_C(1) << 40;
    assert_status(IDX_LIMIT, idx_plan_scheme(&options, &scheme, &plan, &failure));
    idxi_scheme_init(&scheme, "masks", 64);
    for (size_t i = 0; i < IDX_MAX_TABLES; i++) scheme.tables[i] = (struct idx_table){UINT64_MAX, 3};
    scheme.table_count = IDX_MAX_TABLES;
    options.count = 1000;
    assert_ok(idx_plan_scheme(&options, &scheme, &plan, &failure));
    assert_string_equal(plan.scheme, ""); /* so many masks have no room */
}

/* ---- Costs of real indexes ---- */

/* Left-aligned, each once: of a few bits, *count becomes less. */
static uint64_t *sorted_uniform(size_t *wanted, unsigned bits) {
    size_t count = *wanted, kept = 0;
    uint64_t seed = count, *items = malloc(count * sizeof *items), *spare = malloc(count * sizeof *spare);
    assert_non_null(items);
    assert_non_null(spare);
    for (size_t i = 0; i < count; i++) items[i] = next_random(&seed) << (64 - bits);
    idxi_sort_pairs(items, NULL, count, false, spare, NULL);
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || items[i] != items[kept - 1]) items[kept++] = items[i];
    }
    *wanted = kept;
    free(spare);
    return items;
}

/* The bytes of the lists of a directory of these keys. */
static uint64_t count_list_bytes(const uint64_t *keys, size_t count) {
    struct idxf_directory_writer writer;
    uint8_t line[IDXF_LINE_BYTES];
    idxf_directory_begin(&writer, idxf_directory_lines(count));
    for (size_t i = 0; i < count; i++) {
        while (!idxf_directory_add(&writer, keys[i])) idxf_directory_take(&writer, line);
    }
    while (writer.line < writer.lines) idxf_directory_take(&writer, line);
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
    struct idxf_block_form form = idxi_survey_end(&survey, bits, block_size);
    idxf_encoder_init(&encoder, &form);
    for (size_t done = 0; done < count; header.blocks++) {
        done += idxf_block_encode(&encoder, items + done, count - done, block);
        keys[header.blocks] = items[done - 1];
    }
    header.list_bytes = count_list_bytes(keys, (size_t)header.blocks);
    free(keys);
    return idxf_table_layout(&header).file_size;
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
        resident +=
            (double)(table->allocated_bytes + idxi_table_load_bytes(table, IDX_RESIDENCE_DIRECTORY) + sizeof *table);
        assert_int_equal(table->spared_bits, idxi_spared_bits(table->header.fingerprints, table->prefix));
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

/* ---- Schemes of parts ---- */

static void test_what_parts_cover(void **state) {
    (void)state;
    for (unsigned blocks = 1; blocks <= 10; blocks++) {
        for (unsigned front = 1; front <= blocks; front++) {
            for (unsigned radius = 0; radius <= IDX_MAX_RADIUS; radius++) {
                char text[16];
                unsigned errors = idxi_parts_cover(blocks, front, radius);
                snprintf(text, sizeof text, "%u:%u:%u", blocks, front, radius);
                if (errors > IDX_MAX_K) continue;
                assert_ok(idx_scheme_parse(&scheme, text, 64, errors, 0, &failure));
                assert_false(idx_scheme_covers(&scheme, errors + 1));
            }
        }
    }
}

/* What parts_find gives, and what was found by trying all. */
struct finding {
    const struct idxi_times *times;
    unsigned bits, k;
    uint64_t live;
    double found[IDXI_MAX_PARTS_TABLES + 1], tried[IDXI_MAX_PARTS_TABLES + 1];
};

static void note_scheme(void *context, const struct idx_scheme *found) {
    struct finding *finding = context;
    double time = 0;
    assert_int_equal(found->bits, finding->bits);
    assert_true(idx_scheme_covers(found, finding->k));
    for (size_t i = 0; i < found->table_count; i++) {
        assert_true(found->tables[i].mask != 0 && (found->tables[i].mask & ~finding->live) == 0);
        time += finding->times->of[found->tables[i].radius][idx_distance(found->tables[i].mask, 0)];
    }
    assert_true(finding->found[found->table_count] == INFINITY);
    finding->found[found->table_count] = time;
}

/* Goes through all further parts of at least `width` bits, narrowest first. */
static void try_parts(struct finding *finding, unsigned covered, unsigned bits, unsigned width, size_t tables,
                      double time) {
    if (covered > finding->k && time < finding->tried[tables]) finding->tried[tables] = time;
    if (covered > finding->k) return;
    for (; width <= bits; width++) {
        for (unsigned blocks = 1; blocks <= width && blocks <= 4; blocks++) {
            for (unsigned front = 1; front <= blocks; front++) {
                for (unsigned radius = 0; radius <= finding->k && radius <= 2; radius++) {
                    char text[16];
                    struct idx_scheme part;
                    double more = 0;
                    snprintf(text, sizeof text, "%u:%u:%u", blocks, front, radius);
                    assert_ok(idx_scheme_parse(&part, text, width, 0, 0, &failure));
                    for (size_t i = 0; i < part.table_count; i++)
                        more += finding->times->of[radius][idx_distance(part.tables[i].mask, 0)];
                    try_parts(finding, covered + idxi_parts_cover(blocks, front, radius) + 1, bits - width, width,
                              tables + part.table_count, time + more);
                }
            }
        }
    }
}

/* With few bits there are few schemes of parts: whatever tables cost, the fastest of each number of them is found. */
static void test_parts_are_the_fastest(void **state) {
    (void)state;
    uint64_t seed = 3;
    for (unsigned trial = 0; trial < 6; trial++) {
        struct idxi_times times;
        struct finding finding = {.times = &times, .bits = 9, .k = trial % 3, .live = 0x1dd};
        for (unsigned radius = 0; radius <= IDX_MAX_RADIUS; radius++) {
            for (unsigned prefix = 0; prefix <= IDX_MAX_BITS; prefix++)
                times.of[radius][prefix] = radius == 3 ? 1e9 : (double)(1 + next_random(&seed) % 1000);
        }
        for (size_t i = 0; i < LENGTH(finding.found); i++) finding.found[i] = finding.tried[i] = INFINITY;
        try_parts(&finding, 0, 7, 1, 0, 0);
        assert_ok(idxi_parts_find(9, finding.live, finding.k, &times, note_scheme, &finding, &failure));
        double found = INFINITY, tried = INFINITY; /* with up to so many tables */
        for (size_t tables = 1; tables <= 4; tables++) {
            found = fmin(found, finding.found[tables]);
            tried = fmin(tried, finding.tried[tables]);
            if (!is_near(found, tried, 1e-9))
                fail_msg("k = %u, %zu tables: %g, not %g", finding.k, tables, found, tried);
        }
        assert_true(found < INFINITY);
    }
}

/* ---- Plans ---- */

/* Each is proved, costs what it says, and is worth its bytes; and no named scheme is better than those listed. */
static void check_plans(const struct idx_plan_options *options) {
    static const char *const texts[] = {
        "1:1",     "2:1",   "3:1",   "4:1",   "5:1",   "6:1",   "7:1",   "8:1",   "9:1",   "3:2",     "4:2",    "5:2",
        "6:2",     "6:3",   "7:3",   "8:2",   "8:3",   "9:2",   "1:1:1", "1:1:2", "1:1:3", "2:1:1",   "2:1:2",  "2:1:3",
        "4:1/4:1", "3:1:1", "3:1:2", "4:1:1", "4:1:2", "5:2:1", "10:3",  "17:1",  "7:2:1", "5:1/5:1", "3:1/3:1"};
    make_plans(options);
    for (size_t i = 0; i < plan_count; i++) {
        struct idx_plan plan = price(options, plans[i].scheme);
        plan.chosen = plans[i].chosen;
        assert_memory_equal(&plan, &plans[i], sizeof plan);
        assert_true(i == 0 || plans[i].tables > plans[i - 1].tables);
        assert_true(i == 0 || plans[i].nanoseconds <= 0.95 * plans[i - 1].nanoseconds);
    }
    for (size_t i = 0; i < LENGTH(texts); i++) {
        double least = INFINITY;
        if (idx_scheme_parse(&scheme, texts[i], options->bits, options->k, 0, NULL) != IDX_OK) continue;
        struct idx_plan plan = price(options, texts[i]);
        for (size_t j = 0; j < plan_count && plans[j].tables <= plan.tables; j++) least = plans[j].nanoseconds;
        if (plan.nanoseconds < 0.93 * least) fail_msg("%s is missing for k = %u", texts[i], options->k);
    }
}

static void test_plans(void **state) {
    (void)state;
    static const unsigned widths[] = {64, 40, 20};
    for (size_t i = 0; i < LENGTH(widths); i++) {
        for (unsigned k = 0; k <= IDX_MAX_K; k++) {
            for (uint64_t count = 1; count <= UINT64_C(100000000000); count *= is_sanitized() ? 100000 : 100) {
                struct idx_plan_options options = options_of(count, widths[i], k);
                check_plans(&options);
                assert_non_null(chosen_plan());
            }
        }
    }
}

/* Whatever the times come to, two halves of 3:2 are found for 1e7, which no B:C is as fast as. */
static void test_more_than_blocks(void **state) {
    (void)state;
    struct idx_plan_options options = options_of(10000000, 64, 3);
    make_plans(&options);
    const struct idx_plan *six = chosen_plan();
    assert_int_equal(six->tables, 6);
    assert_string_equal(six->scheme, "@fffffc0000000000,@ffe003ff00000000,@001fffff00000000,@00000000fffffc00,"
                                     "@00000000ffe003ff,@00000000001fffff");
    assert_true(six->nanoseconds < price(&options, "5:2").nanoseconds);
    assert_true(six->nanoseconds < price(&options, "4:1").nanoseconds);
}

static void test_few_bits(void **state) {
    (void)state;
    for (unsigned bits = 1; bits <= 18; bits++) {
        for (unsigned k = 0; k < bits && k <= IDX_MAX_K; k++) {
            struct idx_plan_options options = options_of(100000, bits, k);
            make_plans(&options);
            for (size_t i = 0; i < plan_count; i++)
                assert_ok(idx_scheme_parse(&scheme, plans[i].scheme, bits, k, 0, &failure));
        }
    }
}

static void test_options(void **state) {
    (void)state;
    struct idx_plan_options options = options_of(1000, 64, 17);
    assert_status(IDX_INVALID_ARGUMENT, idx_plan(&options, NULL, 0, &plan_count, &failure));
    options = options_of(1000, 0, 0);
    assert_status(IDX_INVALID_ARGUMENT, idx_plan(&options, NULL, 0, &plan_count, &failure));
    options = options_of(1000, 64, 3);
    static const uint32_t wrong[] = {0, 1, 32, 100, 8192};
    for (size_t i = 0; i < LENGTH(wrong); i++) {
        options.block_size = wrong[i];
        assert_status(IDX_INVALID_ARGUMENT, idx_plan(&options, NULL, 0, &plan_count, &failure));
    }
    options = options_of(UINT64_C(100000000000), 64, 3);
    options.block_size = 128;
    assert_ok(idx_plan(&options, NULL, 0, &plan_count, &failure));
    options.block_size = 64;
    assert_status(IDX_LIMIT, idx_plan(&options, NULL, 0, &plan_count, &failure));
    assert_string_equal(failure.sentence,
                        "100000000000 fingerprints need more blocks of 64 bytes than the 4294967295 that a table can "
                        "have: choose larger blocks, or several indexes");
    options = options_of(0, 1, 0);
    make_plans(&options);
    assert_int_equal(plans[0].tables, 1);
}

static void test_plans_keep_to_their_room(void **state) {
    (void)state;
    struct idx_plan_options options = options_of(1000000, 64, 3);
    struct idx_plan few[3];
    size_t all;
    assert_ok(idx_plan(&options, NULL, 0, &all, &failure));
    assert_true(all > 2);
    memset(few, 0, sizeof few);
    assert_ok(idx_plan(&options, few, 2, &plan_count, &failure));
    assert_int_equal(plan_count, all);
    assert_true(few[1].tables > 0);
    assert_int_equal(few[2].tables, 0);
    options.size = offsetof(struct idx_plan_options, block_size); /* of an older header: k counts, what follows not */
    options.k = 0;
    options.block_size = 1;
    make_plans(&options);
    assert_int_equal(plan_count, 1);
    assert_string_equal(plans[0].scheme, "1:1");
}

/* ---- auto ---- */

/* The fastest that fits, or else the smallest. */
static void check_choice(uint64_t count, unsigned most, double bytes) {
    struct idx_plan_options options = options_of(count, 64, 3);
    const struct idx_plan *expected = &plans[0];
    options.max_bytes_per_fingerprint = most;
    make_plans(&options);
    for (size_t i = 0; i < plan_count; i++) {
        if (plans[i].table_bytes + plans[i].resident_bytes <= bytes) expected = &plans[i];
    }
    assert_ptr_equal(chosen_plan(), expected);
}

static void test_auto_keeps_to_its_bytes(void **state) {
    (void)state;
    static const uint64_t counts[] = {100, 10000, 1000000, 100000000, 10000000000};
    for (size_t i = 0; i < LENGTH(counts); i++) {
        double count = (double)counts[i];
        check_choice(counts[i], 0, 64 * count + 1048576);
        for (unsigned most = 1; most <= 1000; most = most * 3 / 2 + 1) check_choice(counts[i], most, most * count);
    }
}

static void test_auto_is_what_is_chosen(void **state) {
    (void)state;
    for (uint64_t count = 1; count < UINT64_C(10000000000); count *= 10) {
        struct idx_plan_options options = options_of(count, 64, 5);
        make_plans(&options);
        assert_ok(idx_scheme_parse(&scheme, "auto", 64, 5, count, &failure));
        assert_string_equal(price(&options, chosen_plan()->scheme).scheme, chosen_plan()->scheme);
        struct idx_scheme again = scheme;
        assert_ok(idx_scheme_parse(&scheme, "auto", 64, 5, count, &failure));
        assert_memory_equal(&scheme, &again, sizeof scheme);
    }
}

static size_t tables_built(const char *path, const struct set *set, unsigned most, struct idx_scheme *built) {
    struct idx_build_options options = options_for(set->bits, 3, "auto");
    options.id_type = IDX_ID_NONE;
    options.max_bytes_per_fingerprint = most;
    build_index(path, &options, set->items, set->count);
    struct idx_index *index = open_index(path, IDX_RESIDENCE_NONE);
    *built = index->scheme;
    idx_close(index);
    remove_all(path);
    return built->table_count;
}

static void test_auto_when_building(void **state) {
    const char *path = path_in(*state, "i");
    struct set set = make_set(SHAPE_UNIFORM, 64, 100000, 1);
    struct idx_scheme built;
    assert_int_equal(tables_built(path, &set, 1, &built), 1);
    assert_int_equal(tables_built(path, &set, 7, &built), 1);
    assert_int_equal(tables_built(path, &set, 16, &built), 2);
    assert_string_equal(built.name, "2:1:1");
    assert_int_equal(tables_built(path, &set, 0, &built), 4);
    assert_string_equal(built.name, "4:1");
    free_set(&set);
}

/* Where half of the fingerprints share 16 bits, no table has these alone in front, as 4:1 would. */
static void test_auto_for_shared_bits(void **state) {
    const uint64_t shared = UINT64_C(0xffff) << 48;
    struct set set = make_set(SHAPE_UNIFORM, 64, 20000, 1);
    struct idx_scheme built;
    for (size_t i = 0; i < set.count; i += 2) set.items[i] = set.items[i] & ~shared;
    assert_in_range(tables_built(path_in(*state, "i"), &set, 0, &built), 1, 20);
    for (size_t i = 0; i < built.table_count; i++) assert_true((built.tables[i].mask & ~shared) != 0);
    free_set(&set);
}

/* ---- Skew ---- */

static double exact_group(const struct set *set, uint64_t mask) {
    double pairs = 0;
    for (size_t i = 0; i < set->distinct_count; i++) {
        for (size_t j = 0; j < set->distinct_count; j++)
            pairs += i != j && ((set->distinct[i] ^ set->distinct[j]) & mask) == 0;
    }
    return pairs / (double)set->distinct_count;
}

/* By parts of different sizes. */
static void take_sample(struct idxi_sample *sample, const uint64_t *fingerprints, size_t count) {
    assert_ok(idxi_sample_begin(sample, &failure));
    for (size_t done = 0, part = 1; done < count; part = part * 2 + 1) {
        size_t more = part < count - done ? part : count - done;
        idxi_sample_add(sample, fingerprints + done, more);
        done += more;
    }
    idxi_sample_end(sample, 64);
}

/* A small set is measured whole. */
static void test_groups_of_all(void **state) {
    (void)state;
    static const uint64_t masks[] = {0xff00000000000000, 0xffff, 0x8000000000000001, UINT64_MAX, 0xffffffff00000000};
    static const enum shape shapes[] = {SHAPE_UNIFORM, SHAPE_CLUSTERED, SHAPE_PREFIXED, SHAPE_SUFFIXED,
                                        SHAPE_ENDS,    SHAPE_ONE,       SHAPE_NONE,     SHAPE_DENSE_LOW};
    for (size_t i = 0; i < LENGTH(shapes); i++) {
        struct set set = make_set(shapes[i], 64, 700, 5);
        struct idxi_sample sample;
        take_sample(&sample, set.distinct, set.distinct_count);
        for (size_t j = 0; j < LENGTH(masks) && set.distinct_count > 0; j++)
            assert_near(idxi_sample_group(&sample, masks[j]), exact_group(&set, masks[j]), 1e-9);
        assert_true(shapes[i] != SHAPE_DENSE_LOW || sample.dead_bits == (UINT64_MAX << 10));
        assert_true(shapes[i] != SHAPE_UNIFORM || sample.dead_bits == 0);
        idxi_sample_free(&sample);
        free_set(&set);
    }
}

/* A large one by a sample: here half of the fingerprints share their first 12 bits. */
static void test_groups_of_some(void **state) {
    (void)state;
    size_t count = 200000;
    uint64_t *items = sorted_uniform(&count, 64), *spare = malloc(count * sizeof *spare);
    struct idxi_sample sample;
    assert_non_null(spare);
    for (size_t i = 0; i < count; i++) items[i] >>= (items[i] >> 30 & 1) * 12;
    idxi_sort_pairs(items, NULL, count, false, spare, NULL);
    take_sample(&sample, items, count);
    double half = (double)count / 2, others = half / 4096;
    assert_in_range(sample.count, 15000, 16384);
    assert_near(idxi_sample_group(&sample, 0xfff0000000000000), (half + others) / 2 + others, 0.03);
    assert_near(idxi_sample_group(&sample, 0xfffffff000000000), half / 65536 / 2, 0.2);
    assert_near(idxi_sample_group(&sample, 0x000000000000ffff), (double)count / 65536, 0.05);
    idxi_sample_free(&sample);
    free(items);
    free(spare);
}

static double five(void *context, uint64_t mask) {
    ++*(size_t *)context;
    assert_true(mask != 0);
    return 5;
}

/* Measured groups are what is counted with; the schemes are listed by them. */
static void test_plans_by_measured_groups(void **state) {
    (void)state;
    size_t calls = 0;
    struct idx_plan_options options = options_of(1000000, 64, 3);
    options.expected_group = five;
    options.context = &calls;
    make_plans(&options);
    assert_true(calls > 0);
    for (size_t i = 0; i < plan_count; i++) assert_near(plans[i].candidates, 5 * plans[i].probes, 1e-9);
    assert_int_equal(plans[plan_count - 1].tables, 4); /* five tables are no better where all groups are of one size */
}

/* Where many bits are dead, no mask has them. */
static void test_dead_bits(void **state) {
    (void)state;
    struct idx_plan_options options = options_of(100000, 64, 3);
    for (unsigned dead = 16; dead <= 40; dead += 8) {
        options.dead_bits = all_ones(dead);
        make_plans(&options);
        assert_ok(idx_scheme_parse(&scheme, chosen_plan()->scheme, 64, 3, 0, &failure));
        for (size_t i = 0; i < scheme.table_count; i++) assert_true((scheme.tables[i].mask & options.dead_bits) == 0);
    }
    options.dead_bits = UINT64_MAX;
    make_plans(&options);
    assert_non_null(chosen_plan());
}

/* Of 2^17 fingerprints that differ in 17 bits alone, look-ups search fewer blocks than with the scheme for uniform
 * ones. */
static void test_auto_of_dense_fingerprints(void **state) {
    const char *path = path_in(*state, "i");
    struct set set = make_set(SHAPE_DENSE_LOW, 64, scale(1 << 17), 1);
    struct idx_scheme built;
    double blocks[2];
    static const char *const texts[] = {"auto", "4:1"};
    tables_built(path, &set, 0, &built);
    for (size_t i = 0; i < built.table_count; i++) assert_true(built.tables[i].mask < UINT64_C(1) << 17);
    for (size_t i = 0; i < LENGTH(texts); i++) {
        struct idx_build_options options = options_for(64, 3, texts[i]);
        uint64_t seed = 1, sum = 0;
        build_index(path, &options, set.items, set.count);
        struct idx_index *index = open_index(path, IDX_RESIDENCE_DIRECTORY);
        for (size_t query = 0; query < 20; query++) {
            sum += search_blocks(index, next_random(&seed) % set.count, 3);
        }
        blocks[i] = (double)sum;
        idx_close(index);
        remove_all(path);
    }
    if (blocks[0] >= blocks[1]) fail_msg("auto searches %g blocks, 4:1 %g", blocks[0], blocks[1]);
    free_set(&set);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_probes_and_candidates),
        cmocka_unit_test(test_blocks_of_a_group),
        cmocka_unit_test(test_pages_of_a_query),
        cmocka_unit_test(test_spared_bits),
        cmocka_unit_test(test_times_of_work),
        cmocka_unit_test(test_times_of_waits),
        cmocka_unit_test(test_near_probes_wait_less),
        cmocka_unit_test(test_calibrations_that_are_wrong),
        cmocka_unit_test(test_auto_on_other_machines),
        cmocka_unit_test(test_plan_of_a_scheme),
        cmocka_unit_test(test_table_bytes),
        in_folder(test_bytes_of_an_index),
        in_folder(test_blocks_searched),
        cmocka_unit_test(test_what_parts_cover),
        cmocka_unit_test(test_parts_are_the_fastest),
        cmocka_unit_test(test_plans),
        cmocka_unit_test(test_more_than_blocks),
        cmocka_unit_test(test_few_bits),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_plans_keep_to_their_room),
        cmocka_unit_test(test_auto_keeps_to_its_bytes),
        cmocka_unit_test(test_auto_is_what_is_chosen),
        in_folder(test_auto_when_building),
        in_folder(test_auto_for_shared_bits),
        cmocka_unit_test(test_groups_of_all),
        cmocka_unit_test(test_groups_of_some),
        cmocka_unit_test(test_plans_by_measured_groups),
        cmocka_unit_test(test_dead_bits),
        in_folder(test_auto_of_dense_fingerprints),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
