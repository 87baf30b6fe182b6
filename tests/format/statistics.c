/* statistics.c: tests of what a header says of its fingerprints, against a plain count of those that are not permuted.
 */
#include "format/table.h"

#include "tests/format/sets.h"

static unsigned count_ones(uint64_t x) {
    unsigned ones = 0;
    for (; x != 0; x &= x - 1) ones++;
    return ones;
}

/* Each fingerprint looks at all others. `set` is not permuted. */
static struct idxf_statistics count_plainly(const uint64_t *set, size_t count, uint64_t mask) {
    struct idxf_statistics statistics = {0, count == 0 ? 0 : UINT64_MAX, 0, 0};
    for (size_t i = 0; i < count; i++) {
        uint64_t group = 1;
        for (size_t j = 0; j < count; j++) group += j != i && ((set[i] ^ set[j]) & mask) == 0;
        for (size_t j = 0; j < i; j++) statistics.pairs += ((set[i] ^ set[j]) & mask) == 0;
        statistics.set_bits |= set[i];
        statistics.common_bits &= set[i];
        if (group > statistics.largest_group) statistics.largest_group = group;
    }
    return statistics;
}

static void compare(const struct idxf_statistics *a, const struct idxf_statistics *b) {
    assert_int_equal(a->set_bits, b->set_bits);
    assert_int_equal(a->common_bits, b->common_bits);
    assert_int_equal(a->largest_group, b->largest_group);
    assert_int_equal(a->pairs, b->pairs);
}

/* Counts a table's fingerprints, given `at_once` at a time, the last of them alone. */
static struct idxf_statistics count_table(const struct idxf_permutation *permutation, uint64_t mask,
                                          const uint64_t *permuted, size_t count, size_t at_once) {
    struct idxf_statistics_counter counter;
    memset(&counter, 0xFF, sizeof counter);
    idxf_statistics_begin(&counter, count_ones(mask));
    for (size_t done = 0; done < count;) {
        size_t next = count - done <= at_once ? (count - done + 1) / 2 : at_once;
        idxf_statistics_add(&counter, permuted + done, next);
        idxf_statistics_add(&counter, permuted, 0);
        done += next;
    }
    return idxf_statistics_end(&counter, permutation);
}

/* `set` is left-aligned, and not permuted; both are given back permuted. */
static void check_set(unsigned bits, uint64_t mask, uint64_t *set, size_t count) {
    static uint64_t permuted[MAX_SET];
    struct idxf_permutation permutation;
    idxf_permutation_init(&permutation, mask, bits);
    for (size_t i = 0; i < count; i++) {
        set[i] >>= 64 - bits;
        permuted[i] = idxf_permute(&permutation, set[i]);
    }
    qsort(permuted, count, sizeof *permuted, compare_fingerprints);
    struct idxf_statistics expected = count_plainly(set, count, mask);
    for (size_t at_once = 1; at_once < 200; at_once = at_once * 3 + 1) {
        struct idxf_statistics counted = count_table(&permutation, mask, permuted, count, at_once);
        compare(&counted, &expected);
    }
}

static uint64_t make_mask(unsigned bits, unsigned ones, uint64_t *random) {
    uint64_t mask = 0;
    while (count_ones(mask) < ones) mask |= UINT64_C(1) << next_random(random) % bits;
    return mask;
}

/* ---- Known sets ---- */

static void test_none(void **state) {
    (void)state;
    static const struct idxf_statistics nothing = {0, 0, 0, 0};
    static const uint64_t masks[] = {1, UINT64_C(0xFF00), UINT64_MAX};
    for (size_t i = 0; i < COUNT_OF(masks); i++) {
        struct idxf_permutation permutation;
        idxf_permutation_init(&permutation, masks[i], 64);
        struct idxf_statistics counted = count_table(&permutation, masks[i], NULL, 0, 1);
        compare(&counted, &nothing);
    }
}

static void test_one(void **state) {
    (void)state;
    static const uint64_t masks[] = {1, UINT64_C(0xFF00), UINT64_MAX}, x = UINT64_C(0x123456789ABCDEF0);
    static const struct idxf_statistics expected = {x, x, 1, 0};
    for (size_t i = 0; i < COUNT_OF(masks); i++) {
        struct idxf_permutation permutation;
        idxf_permutation_init(&permutation, masks[i], 64);
        uint64_t permuted = idxf_permute(&permutation, x);
        struct idxf_statistics counted = count_table(&permutation, masks[i], &permuted, 1, 1);
        compare(&counted, &expected);
    }
}

/* Groups of 3, 1 and 4 by the two bits of the mask: 3 + 0 + 6 pairs. The prefix stands in the low bits, so that the
 * table's order is not that of the fingerprints. */
static void test_known_groups(void **state) {
    (void)state;
    static const uint64_t set[] = {0x14, 0x24, 0x84, 0x1D, 0x16, 0x26, 0x86, 0xC6};
    static const struct idxf_statistics expected = {0xFF, 0x04, 4, 9};
    struct idxf_permutation permutation;
    uint64_t permuted[COUNT_OF(set)];
    idxf_permutation_init(&permutation, 0x03, 8);
    for (size_t i = 0; i < COUNT_OF(set); i++) permuted[i] = idxf_permute(&permutation, set[i]);
    struct idxf_statistics counted = count_table(&permutation, 0x03, permuted, COUNT_OF(set), 3);
    compare(&counted, &expected);
}

/* A prefix of all bits: no two share it. One of 64 bits too, beside which no bit is left. */
static void test_prefix_of_all_bits(void **state) {
    (void)state;
    uint64_t set[200];
    for (unsigned bits = 8; bits <= 64; bits += 8) {
        for (size_t i = 0; i < COUNT_OF(set); i++) set[i] = i << (64 - bits);
        check_set(bits, idxf_low_bits(bits), set, COUNT_OF(set));
        struct idxf_statistics statistics = count_plainly(set, COUNT_OF(set), idxf_low_bits(bits));
        assert_int_equal(statistics.largest_group, 1);
        assert_int_equal(statistics.pairs, 0);
    }
}

/* ---- Any sets ---- */

static void test_any_set(void **state) {
    (void)state;
    static uint64_t set[MAX_SET];
    uint64_t random = 1;
    for (unsigned round = 0; round < 60 * SHAPES; round++) {
        unsigned bits = 1 + (unsigned)(next_random(&random) % 64);
        unsigned prefix = 1 + (unsigned)(next_random(&random) % (round % 2 || bits < 12 ? bits : 12));
        size_t count = make_set((enum shape)(round % SHAPES), bits, 300, &random, set);
        check_set(bits, make_mask(bits, prefix, &random), set, count);
    }
}

/* ---- More pairs than can be counted ---- */

/* The next fingerprint makes `group` pairs with those of its group. */
static void check_saturation(uint64_t pairs, uint64_t group, uint64_t expected) {
    struct idxf_statistics_counter counter;
    struct idxf_permutation permutation;
    static const uint64_t next[] = {5, 6};
    idxf_permutation_init(&permutation, 1, 64);
    idxf_statistics_begin(&counter, 1);
    counter.statistics.pairs = pairs;
    counter.group_size = group;
    counter.previous = 4;
    idxf_statistics_add(&counter, next, 1);
    assert_int_equal(idxf_statistics_end(&counter, &permutation).pairs, expected);
    assert_int_equal(idxf_statistics_end(&counter, &permutation).largest_group, group + 1);
    if (expected < UINT64_MAX) return;
    idxf_statistics_add(&counter, next + 1, 1); /* and stays there */
    assert_int_equal(idxf_statistics_end(&counter, &permutation).pairs, UINT64_MAX);
}

static void test_most_pairs(void **state) {
    (void)state;
    check_saturation(0, 3, 3);
    check_saturation(UINT64_MAX - 4, 3, UINT64_MAX - 1);
    check_saturation(UINT64_MAX - 3, 3, UINT64_MAX);
    check_saturation(UINT64_MAX - 2, 3, UINT64_MAX);
    check_saturation(UINT64_MAX, 3, UINT64_MAX);
    check_saturation(UINT64_MAX, UINT64_C(1) << 62, UINT64_MAX);
    check_saturation(UINT64_C(1) << 63, UINT64_C(1) << 63, UINT64_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_none),         cmocka_unit_test(test_one),
        cmocka_unit_test(test_known_groups), cmocka_unit_test(test_prefix_of_all_bits),
        cmocka_unit_test(test_any_set),      cmocka_unit_test(test_most_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
