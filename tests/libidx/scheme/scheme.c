/* scheme.c: tests of schemes: how they are written, what they cover, what they cost. */
#include <idx.h>
#include <idx_planning.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "libidx/scheme/scheme.h"
#include "tests/libidx/sets.h"
#include "tests/libidx/support.h"

#define ALL UINT64_MAX

static struct idx_scheme scheme;

static enum idx_status parse(const char *text, unsigned bits, unsigned k) {
    return idx_scheme_parse(&scheme, text, bits, k, 1000000, &failure);
}

static void check_masks(const uint64_t *masks, size_t count) {
    assert_int_equal(scheme.table_count, count);
    for (size_t i = 0; i < count; i++) {
        if (scheme.tables[i].mask != masks[i])
            fail_msg("%s: table %zu has mask %016llx", scheme.name, i, (unsigned long long)scheme.tables[i].mask);
        assert_int_equal(scheme.tables[i].radius, 0);
    }
}

/* ---- Writing ---- */

static void test_every_way_of_writing(void **state) {
    (void)state;
    static const struct {
        const char *text;
        unsigned bits, k;
        const char *name;
        size_t tables;
        unsigned radius;
    } cases[] = {
        {"4", 64, 3, "4:1", 4, 0},
        {"10", 64, 3, "5:2", 10, 0},
        {"16", 64, 3, "4:1/4:1", 16, 0},
        {"20", 64, 3, "6:3", 20, 0},
        {"1:1", 64, 0, "1:1", 1, 0},
        {"1:1", 1, 0, "1:1", 1, 0},
        {"8:2", 64, 6, "8:2", 28, 0},
        {"9:2", 64, 7, "9:2", 36, 0},
        {"2:1:1", 64, 3, "2:1:1", 2, 1},
        {"2:1:0", 64, 1, "2:1", 2, 0},
        {"2:1:3", 64, 7, "2:1:3", 2, 3},
        {"17:1", 64, 16, "17:1", 17, 0},
        {"64:1", 64, 16, "64:1", 64, 0},
        {"64:64", 64, 0, "64:64", 1, 0},
        {"64:63", 64, 1, "64:63", 64, 0},
        {"2:1/2:1", 64, 1, "2:1/2:1", 4, 0},
        {"5:1/3:2", 64, 1, "5:1/3:2", 15, 0},
        {"04:01", 64, 3, "4:1", 4, 0},
        {"@8000000000000000,@7fffffffffffffff", 64, 1, "masks", 2, 0},
        {"@FFFFFFFF00000000:1,@00000000ffffffff:1", 64, 3, "masks", 2, 1},
        {"@1f:3", 5, 3, "masks", 1, 3},
        {"@1", 1, 0, "masks", 1, 0},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        assert_ok(parse(cases[i].text, cases[i].bits, cases[i].k));
        assert_string_equal(scheme.name, cases[i].name);
        assert_int_equal(scheme.bits, cases[i].bits);
        assert_int_equal(scheme.table_count, cases[i].tables);
        for (size_t table = 0; table < scheme.table_count; table++)
            assert_int_equal(scheme.tables[table].radius, cases[i].radius);
    }
}

/* A scheme's name, but for masks, is a text of the same scheme. */
static void test_names_can_be_parsed(void **state) {
    (void)state;
    static const char *const texts[] = {"4", "10", "16", "20", "8:2", "2:1:1", "3:2/2:1"};
    for (size_t i = 0; i < LENGTH(texts); i++) {
        assert_ok(parse(texts[i], 61, 1));
        struct idx_scheme first = scheme;
        assert_ok(parse(first.name, 61, 1));
        assert_memory_equal(&first, &scheme, sizeof scheme);
    }
}

static void test_masks_of_64_bits(void **state) {
    (void)state;
    static const uint64_t four[] = {0xffff000000000000, 0x0000ffff00000000, 0x00000000ffff0000, 0x000000000000ffff};
    static const uint64_t ten[] = {0xffffffc000000000, 0xfff8003ffe000000, 0xfff8000001fff000, 0xfff8000000000fff,
                                   0x0007fffffe000000, 0x0007ffc001fff000, 0x0007ffc000000fff, 0x0000003ffffff000,
                                   0x0000003ffe000fff, 0x0000000001ffffff};
    static const uint64_t sixteen[] = {0xfffffff000000000, 0xffff000fff000000, 0xffff000000fff000, 0xffff000000000fff,
                                       0xfff0ffff00000000, 0x000fffffff000000, 0x0000ffff00fff000, 0x0000ffff00000fff,
                                       0xfff00000ffff0000, 0x000fff00ffff0000, 0x000000fffffff000, 0x00000000ffff0fff,
                                       0xfff000000000ffff, 0x000fff000000ffff, 0x000000fff000ffff, 0x000000000fffffff};
    static const uint64_t b[] = {0xffe0000000000000, 0x001ffc0000000000, 0x000003ff80000000,
                                 0x000000007ff00000, 0x00000000000ffc00, 0x00000000000003ff};
    uint64_t twenty[20];
    size_t count = 0;
    for (unsigned i = 0; i < 6; i++) {
        for (unsigned j = i + 1; j < 6; j++) {
            for (unsigned l = j + 1; l < 6; l++) twenty[count++] = b[i] | b[j] | b[l];
        }
    }
    assert_ok(parse("4", 64, 3));
    check_masks(four, LENGTH(four));
    assert_ok(parse("10", 64, 3));
    check_masks(ten, LENGTH(ten));
    assert_ok(parse("16", 64, 3));
    check_masks(sixteen, LENGTH(sixteen));
    assert_ok(parse("20", 64, 3));
    check_masks(twenty, LENGTH(twenty));
}

/* 13 bits in 4 blocks are 4, 3, 3 and 3; the 9 that the first leaves are 3, 2, 2 and 2. */
static void test_masks_of_13_bits(void **state) {
    (void)state;
    static const uint64_t four[] = {0x1e00, 0x01c0, 0x0038, 0x0007};
    static const uint64_t sixteen[] = {0x1fc0, 0x1e30, 0x1e0c, 0x1e03, 0x1dc0, 0x03f0, 0x01cc, 0x01c3,
                                       0x1c38, 0x03b8, 0x007c, 0x003b, 0x1c07, 0x0387, 0x0067, 0x001f};
    static const uint64_t masks[] = {0x1fff, 0x0001};
    assert_ok(parse("4", 13, 3));
    check_masks(four, LENGTH(four));
    assert_ok(parse("3:2", 13, 1));
    check_masks((const uint64_t[]){0x1ff0, 0x1f0f, 0x00ff}, 3);
    assert_ok(parse("@1fff,@0001", 13, 0));
    check_masks(masks, LENGTH(masks));
    assert_ok(parse("16", 13, 3));
    check_masks(sixteen, LENGTH(sixteen));
}

/* ---- Refusals ---- */

static void test_what_is_no_scheme(void **state) {
    (void)state;
    static const char *const texts[] = {
        "",
        " ",
        "5",
        "40",
        "Auto",
        "auto ",
        " auto",
        "4:",
        ":1",
        "4:1:",
        "4:1:4",
        "4:0",
        "0:0",
        "0:1",
        "3:4",
        "65:1",
        "100:1",
        "4:1 ",
        " 4:1",
        "+4:1",
        "4:-1",
        "4:1:+1",
        "4;1",
        "4:1,",
        "4:1/",
        "4:1/4",
        "4:1/4:",
        "4:1/4:1:1",
        "4:1/4:5",
        "4:1/49:1",
        "4:1/0:0",
        "4:4/1:1",
        "4:1/4:1/2:1",
        "12:5",
        "16:3",
        "17:1/17:1",
        "@",
        "@0",
        "@ff",
        "@0000000000000000",
        "@ffffffffffffffff:",
        "@ffffffffffffffff:4",
        "@ffffffffffffffff,",
        ",@ffffffffffffffff",
        "@fffffffffffffffff",
        "@0xffffffffffffffff",
        "@fffffffffffffffg",
        "@ffffffffffffffff:1:1",
        "@ffffffffffffffff 4:1",
        "ffffffffffffffff",
    };
    for (size_t i = 0; i < LENGTH(texts); i++) {
        if (parse(texts[i], 64, 1) != IDX_BAD_SCHEME) fail_msg("'%s' is no scheme", texts[i]);
        assert_int_equal(failure.status, IDX_BAD_SCHEME);
    }
    assert_status(IDX_BAD_SCHEME, parse("4", 3, 0));
    assert_status(IDX_BAD_SCHEME, parse("@3f", 5, 0));
    assert_status(IDX_BAD_SCHEME, parse("@20", 5, 0));
    assert_status(IDX_INVALID_ARGUMENT, idx_scheme_parse(&scheme, NULL, 64, 3, 0, &failure));
}

static void test_refusals_say_what_to_do(void **state) {
    (void)state;
    assert_status(IDX_BAD_SCHEME, parse("4:5", 64, 3));
    assert_string_equal(failure.sentence,
                        "scheme '4:5' is not valid for fingerprints of 64 bits: use auto, 4, 10, 16, 20, B:C, B:C:R, "
                        "B:C/b:c or masks @hex[:R],…, with at most 256 tables and a radius of at most 3");
    assert_status(IDX_WEAK_SCHEME, parse("4", 64, 4));
    assert_string_equal(failure.sentence, "scheme '4' does not cover k = 4: some pairs at that distance would be "
                                          "missed; use more blocks, a larger radius, or auto");
    assert_status(IDX_INVALID_ARGUMENT, parse("4", 0, 0));
    assert_string_equal(failure.sentence, "0 bits per fingerprint: the number must be 1 to 64");
    assert_status(IDX_INVALID_ARGUMENT, parse("4", 65, 0));
    assert_status(IDX_INVALID_ARGUMENT, parse("auto", 64, 17));
    assert_string_equal(failure.sentence,
                        "k = 17 with fingerprints of 64 bits: k must be 0 to 16, and less than the number of bits");
    assert_status(IDX_INVALID_ARGUMENT, parse("auto", 8, 8));
    assert_status(IDX_INVALID_ARGUMENT, parse("auto", 1, 1));
    assert_int_equal(idx_scheme_parse(&scheme, "4", 64, 4, 0, NULL), IDX_WEAK_SCHEME);
}

static void test_up_to_256_tables(void **state) {
    (void)state;
    char text[257 * 18 + 1];
    size_t used = 0;
    for (unsigned table = 1; table <= 257; table++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%s@%016x", table > 1 ? "," : "", table);
        if (table == 256) assert_ok(parse(text, 64, 0));
    }
    assert_status(IDX_BAD_SCHEME, parse(text, 64, 0));
}

/* ---- Covering ---- */

static void test_what_schemes_cover(void **state) {
    (void)state;
    static const struct {
        const char *text;
        unsigned k; /* the largest that it covers */
    } cases[] = {
        {"4", 3},
        {"10", 3},
        {"16", 3},
        {"20", 3},
        {"8:2", 6},
        {"2:1:1", 3},
        {"2:1:2", 5},
        {"2:1:3", 7},
        {"3:1:1", 5},
        {"4:1:1", 7},
        {"4:1:2", 11},
        {"4:1:3", 15},
        {"1:1:3", 3},
        {"9:2", 7},
        {"17:1", 16},
        {"3:2:1", 2},
        {"5:2:1", 4},
        {"4:2:1", 3},
        {"4:1/3:1", 2},
        {"2:1/4:1", 1},
        {"5:1/4:1", 3},
        {"@ffffffff00000000:2,@00000000ffffffff", 3},
        {"@ffffffff00000000:3,@00000000ffffffff:1", 5},
        {"@ffff000000000000,@0000ffffffffffff:2", 3},
        {"@8000000000000000", 0},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        for (unsigned k = 0; k <= IDX_MAX_K; k++) {
            enum idx_status expected = k <= cases[i].k ? IDX_OK : IDX_WEAK_SCHEME;
            if (parse(cases[i].text, 64, k) != expected) fail_msg("%s and k = %u", cases[i].text, k);
        }
    }
}

static bool covers_by_force(unsigned k) {
    for (uint64_t errors = 0; errors < UINT64_C(1) << scheme.bits; errors++) {
        bool through = idx_distance(errors, 0) > k;
        for (size_t i = 0; i < scheme.table_count && !through; i++)
            through = idx_distance(errors & scheme.tables[i].mask, 0) <= scheme.tables[i].radius;
        if (!through) return false;
    }
    return true;
}

static void test_the_proof_against_all_patterns(void **state) {
    (void)state;
    uint64_t seed = 1;
    size_t covered = 0, trials = scale(20000);
    for (size_t trial = 0; trial < trials; trial++) {
        unsigned bits = 1 + (unsigned)(next_random(&seed) % 12), k = (unsigned)(next_random(&seed) % 5) % bits;
        scheme = (struct idx_scheme){.bits = bits, .table_count = 1 + next_random(&seed) % 12};
        for (size_t i = 0; i < scheme.table_count; i++) {
            uint64_t mask = next_random(&seed) & all_ones(bits);
            if (next_random(&seed) % 2 == 0) mask &= next_random(&seed);
            scheme.tables[i].mask = mask != 0 ? mask : 1;
            scheme.tables[i].radius = next_random(&seed) % 4 == 0 ? (unsigned)(next_random(&seed) % 4) : 0;
        }
        bool expected = covers_by_force(k);
        if (idxi_scheme_covers(&scheme, k) != expected) fail_msg("trial %zu, %u bits, k = %u", trial, bits, k);
        covered += expected;
    }
    assert_in_range(covered, trials / 10, trials * 9 / 10);
}

/* Every way of writing blocks, for few bits. */
static void test_blocks_against_all_patterns(void **state) {
    (void)state;
    for (unsigned bits = 2; bits <= 10; bits++) {
        for (unsigned blocks = 1; blocks <= bits; blocks++) {
            for (unsigned front = 1; front <= blocks; front++) {
                char text[16];
                unsigned radius = (bits + blocks + front) % 4;
                snprintf(text, sizeof text, "%u:%u:%u", blocks, front, radius);
                assert_ok(parse(text, bits, 0));
                for (unsigned k = 0; k < bits; k++) assert_true(idxi_scheme_covers(&scheme, k) == covers_by_force(k));
            }
        }
    }
}

/* Without tables nothing is covered; a scheme that can't be one covers nothing. */
static void test_the_proof_refuses_nonsense(void **state) {
    (void)state;
    scheme = (struct idx_scheme){.bits = 8};
    assert_false(idxi_scheme_covers(&scheme, 0));
    scheme = (struct idx_scheme){.bits = 0, .table_count = 1, .tables = {{1, 0}}};
    assert_false(idxi_scheme_covers(&scheme, 0));
    scheme.bits = 65;
    assert_false(idxi_scheme_covers(&scheme, 0));
    scheme.bits = 64;
    assert_true(idxi_scheme_covers(&scheme, 0));
    scheme.table_count = IDX_MAX_TABLES + 1;
    assert_false(idxi_scheme_covers(&scheme, 0));
}

/* A list of masks that covers 5 errors, by its last two tables: each further table makes a step of the proof dearer, so
 * the more there are, the fewer steps are taken. 944,000 are, of 256 tables; 8,300,000 are not. */
static void test_long_proofs_are_given_up(void **state) {
    uint64_t seed = 1;
    (void)state;
    scheme = (struct idx_scheme){.bits = 64, .table_count = IDX_MAX_TABLES};
    struct idx_table *last = &scheme.tables[IDX_MAX_TABLES - 2];
    for (size_t i = 0; i + 2 < IDX_MAX_TABLES; i++) scheme.tables[i].mask = next_random(&seed) | 1;
    last[0] = (struct idx_table){0xffffffff00000000, 2};
    last[1] = (struct idx_table){0x00000000ffffffff, 2};
    assert_true(idxi_scheme_covers(&scheme, 5));
    last[0].radius = 3;
    assert_false(idxi_scheme_covers(&scheme, 6));
}

static void check_auto(size_t step) {
    for (unsigned bits = 1; bits <= 64; bits += bits < 17 ? 1 : 15) {
        for (unsigned k = 0; k < bits && k <= IDX_MAX_K; k++) {
            for (size_t i = (bits + k) % step; i <= 65; i += step) {
                uint64_t count = i == 65 ? ALL : i == 64 ? 0 : UINT64_C(1) << i;
                assert_ok(idx_scheme_parse(&scheme, "auto", bits, k, count, &failure));
                assert_true(scheme.table_count >= 1);
                assert_true(idxi_scheme_covers(&scheme, k));
                assert_string_not_equal(scheme.name, "auto");
            }
        }
    }
}

static void test_auto_covers(void **state) {
    (void)state;
    check_auto(65);
}

static void test_auto_covers_more(void **state) {
    (void)state;
    check_auto(13);
}

/* ---- Figures ---- */

/* Fingerprints with the prefix of one probe, over the tables. */
static void check_groups(uint64_t count, unsigned k, const char *text, size_t tables, double least, double most) {
    double smallest = INFINITY, largest = 0;
    assert_ok(parse(text, 64, k));
    assert_int_equal(scheme.table_count, tables);
    for (size_t i = 0; i < tables; i++) {
        double group = ldexp((double)count, -(int)idx_distance(scheme.tables[i].mask, 0));
        smallest = fmin(smallest, group);
        largest = fmax(largest, group);
    }
    assert_true(smallest == least && largest == most);
}

/* The figures of WWW 2007, section 3, where the paper rounds them. */
static void test_groups_of_the_paper(void **state) {
    (void)state;
    const uint64_t count = UINT64_C(1) << 34;
    check_groups(count, 3, "4:1", 4, 262144, 262144);
    check_groups(count, 3, "4:1/4:1", 16, 64, 64);
    check_groups(count, 3, "5:2", 10, 256, 512);
    check_groups(count, 3, "6:3", 20, 2, 8);
    check_groups(UINT64_C(1) << 23, 6, "8:2", 28, 128, 128);
}

static void test_chance_matches(void **state) {
    (void)state;
    /* 1 + 64 + 2016 + 41664 = 43745 patterns of up to 3 errors in 64 bits. */
    assert_true(idx_chance_matches(UINT64_C(1) << 34, 64, 3) == ldexp(43745, 34 - 64));
    assert_true(idx_chance_matches(UINT64_C(1) << 63, 64, 0) == 0.5);
    assert_true(idx_chance_matches(0, 64, 3) == 0);
    assert_true(idx_chance_matches(16, 4, 4) == 16);
    assert_true(idx_chance_matches(8, 4, 1) == 2.5);
    assert_true(idx_chance_matches(2, 1, 0) == 1);
}

static void test_information_limit(void **state) {
    (void)state;
    assert_true(fabs(idx_information_limit(UINT64_C(1) << 20, 64) - 45.4427) < 1e-9);
    assert_true(fabs(idx_information_limit(1, 32) - 33.4427) < 1e-9);
    assert_true(idx_information_limit(0, 64) == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_way_of_writing),
        cmocka_unit_test(test_names_can_be_parsed),
        cmocka_unit_test(test_masks_of_64_bits),
        cmocka_unit_test(test_masks_of_13_bits),
        cmocka_unit_test(test_what_is_no_scheme),
        cmocka_unit_test(test_refusals_say_what_to_do),
        cmocka_unit_test(test_up_to_256_tables),
        cmocka_unit_test(test_what_schemes_cover),
        cmocka_unit_test(test_the_proof_against_all_patterns),
        cmocka_unit_test(test_blocks_against_all_patterns),
        cmocka_unit_test(test_the_proof_refuses_nonsense),
        cmocka_unit_test(test_long_proofs_are_given_up),
        cmocka_unit_test(test_auto_covers),
        cmocka_unit_test(test_auto_covers_more),
        cmocka_unit_test(test_groups_of_the_paper),
        cmocka_unit_test(test_chance_matches),
        cmocka_unit_test(test_information_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
