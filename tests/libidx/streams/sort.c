/* sort.c: tests of the sorts, against qsort as a model, on data of many shapes, at the counts where the way of sorting
 * changes. */
#include "libidx/streams/sort.h"

#include "libidx/building/tables.h"
#include "tests/libidx/support.h"
#include "tests/random.h"

#include <stdlib.h>
#include <string.h>

#define MAX_COUNT (1 << 18)
#define LARGE 10000 /* counts above take their time, and are tested in fewer ways */

static uint64_t random_state;

static uint64_t draw(void) { return next_random(&random_state); }

/* ---- Shapes of data ---- */

static uint64_t uniform(size_t i) { return (void)i, draw(); }
static uint64_t equal(size_t i) { return (void)i, UINT64_C(0x123456789abcdef0); }
static uint64_t few(size_t i) { return (void)i, draw() % 7 * UINT64_C(0x9e3779b97f4a7c15); }
static uint64_t two_ends(size_t i) { return (void)i, draw() % 2 == 0 ? 0 : UINT64_MAX; }
static uint64_t prefix(size_t i) { return (void)i, draw() >> 20 | UINT64_C(0xabcde) << 44; }
static uint64_t all_lengths(size_t i) { return (void)i, draw() >> draw() % 64; }
static uint64_t dead_bits(size_t i) { return (void)i, draw() & UINT64_C(0xdb6db6db6db6db6d); }
static uint64_t ascending(size_t i) { return i * 3; }
static uint64_t descending(size_t i) { return ~(uint64_t)i; }

/* Many around one value, and some that are not. */
static uint64_t skewed(size_t i) { return i % 20 == 0 ? draw() : UINT64_C(0xfedcba9876543210) + draw() % 100; }

static uint64_t clustered(size_t i) {
    static uint64_t centre;
    if (i % 1000 == 0) centre = draw();
    uint64_t flips = UINT64_C(1) << draw() % 64;
    return centre ^ (flips | UINT64_C(1) << draw() % 64);
}

static uint64_t (*const shapes[])(size_t i) = {uniform,   equal,     few,        two_ends, prefix,   all_lengths,
                                               dead_bits, ascending, descending, skewed,   clustered};

static const size_t counts[] = {
    0, 1, 2, 3, 15, 16, 17, 18, 33, 100, 255, 256, 257, 500, 4095, 4096, 4097, 9999, MAX_COUNT - 1, MAX_COUNT};

/* ---- Arrays ---- */

/* Each aligned to a cache line, with room for one element more. */
static struct arrays { uint64_t *fingerprints, *values, *spare, *spare_values; } arrays;

static uint64_t *new_array(void) {
    uint64_t *array = aligned_alloc(64, (MAX_COUNT + 63) / 64 * 64 * sizeof *array + 64);
    assert_non_null(array);
    return array;
}

static int make_arrays(void **state) {
    (void)state;
    arrays = (struct arrays){new_array(), new_array(), new_array(), new_array()};
    return 0;
}

static int free_arrays(void **state) {
    (void)state;
    free(arrays.fingerprints);
    free(arrays.values);
    free(arrays.spare);
    free(arrays.spare_values);
    return 0;
}

/* ---- Pairs ---- */

struct item {
    uint64_t key, value;
    size_t place;
};

static int compare(uint64_t a, uint64_t b) { return (a > b) - (a < b); }

static int compare_stably(const void *a, const void *b) {
    const struct item *x = a, *y = b;
    int order = compare(x->key, y->key);
    return order != 0 ? order : compare(x->place, y->place);
}

static int compare_by_value(const void *a, const void *b) {
    const struct item *x = a, *y = b;
    int order = compare(x->key, y->key);
    return order != 0 ? order : compare(x->value, y->value);
}

enum way { KEYS_ALONE, EVEN_KEYS, STABLE, BY_VALUE };

static void sort_plainly(struct item *items, size_t count, enum way way) {
    for (size_t i = 0; i < count; i++) items[i].place = i;
    qsort(items, count, sizeof *items, way == BY_VALUE ? compare_by_value : compare_stably);
}

/* Sorts `items`, and compares with those that are sorted; with `offset` 1 no array begins at a cache line. */
static void check_pairs(const struct item *items, const struct item *sorted, size_t count, enum way way,
                        size_t offset) {
    uint64_t *fingerprints = arrays.fingerprints + offset, *values = arrays.values + offset;
    uint64_t *spare = arrays.spare + offset, *spare_values = arrays.spare_values + offset;
    for (size_t i = 0; i < count; i++) {
        fingerprints[i] = items[i].key;
        values[i] = items[i].value;
    }
    if (way == KEYS_ALONE)
        idxi_sort_pairs(fingerprints, NULL, count, offset == 1, spare, NULL);
    else if (way == EVEN_KEYS)
        idxi_sort_even_keys(fingerprints, count, spare);
    else
        idxi_sort_pairs(fingerprints, values, count, way == BY_VALUE, spare, spare_values);
    for (size_t i = 0; i < count; i++) {
        if (fingerprints[i] != sorted[i].key || (way >= STABLE && values[i] != sorted[i].value))
            fail_msg("way %d, %zu pairs: the one at %zu is wrong", (int)way, count, i);
    }
}

static struct item *new_items(size_t count) {
    struct item *items = calloc(count + 1, sizeof *items);
    assert_non_null(items);
    return items;
}

/* Checks all ways. */
static void check_items(const struct item *items, size_t count, bool moved) {
    struct item *sorted = new_items(count);
    for (int way = KEYS_ALONE; way <= BY_VALUE; way++) {
        if (way == KEYS_ALONE || way == BY_VALUE) { /* those between are the same */
            if (count > 0) memcpy(sorted, items, count * sizeof *items);
            sort_plainly(sorted, count, (enum way)way);
        }
        check_pairs(items, sorted, count, (enum way)way, 0);
        if (moved) check_pairs(items, sorted, count, (enum way)way, 1);
    }
    free(sorted);
}

static void test_pairs(void **state) {
    (void)state;
    for (size_t i = 0; i < LENGTH(shapes) * LENGTH(counts); i++) {
        size_t shape = i % LENGTH(shapes), count = counts[i / LENGTH(shapes)];
        struct item *items = new_items(count);
        random_state = count + shape + 1;
        for (size_t j = 0; j < count; j++) items[j] = (struct item){shapes[shape](j), draw() >> count % 50, j};
        check_items(items, count, count < LARGE);
        free(items);
    }
}

/* Numbers below 2^f, and values that are of every shape where fingerprints are equal. */
static void test_pairs_of_all_widths(void **state) {
    (void)state;
    for (unsigned bits = 1; bits <= 64; bits++) {
        size_t count = 3000 + 97 * bits;
        struct item *items = new_items(count);
        random_state = bits;
        for (size_t i = 0; i < count; i++)
            items[i] = (struct item){draw() >> (64 - bits), shapes[bits % LENGTH(shapes)](i), i};
        check_items(items, count, false);
        free(items);
    }
}

/* The largest that gather cache lines: with one array that is not aligned, and the other way round. */
static void test_arrays_that_are_not_aligned(void **state) {
    struct item *items = new_items(MAX_COUNT), *sorted = new_items(MAX_COUNT);
    struct arrays aligned = arrays;
    (void)state;
    for (int which = 0; which < 2; which++) {
        random_state = 5;
        for (size_t i = 0; i < MAX_COUNT; i++) items[i] = (struct item){draw(), i, i};
        arrays.spare = aligned.spare + (which == 0);
        arrays.spare_values = aligned.spare_values + (which == 1);
        memcpy(sorted, items, MAX_COUNT * sizeof *items);
        sort_plainly(sorted, MAX_COUNT, STABLE);
        check_pairs(items, sorted, MAX_COUNT, STABLE, 0);
        arrays = aligned;
    }
    free(items);
    free(sorted);
}

/* ---- Tables ---- */

/* Of f bits, `prefix` of them in the mask: the highest, the lowest, or spread. */
static uint64_t make_mask(unsigned bits, unsigned prefix_bits, unsigned kind) {
    uint64_t mask = 0;
    if (prefix_bits == 0) return 0;
    if (kind < 2) return (UINT64_MAX >> (64 - prefix_bits)) << (kind == 0 ? bits - prefix_bits : 0);
    if (kind == 2) mask = UINT64_C(1) << (bits - 1);
    while ((unsigned)__builtin_popcountll(mask) < prefix_bits) mask |= UINT64_C(1) << draw() % bits;
    return mask;
}

/* By the bits of the mask alone, which qsort gets from the permuted form; places tell whether it is stable. */
static void check_table(uint64_t *fingerprints, size_t count, uint64_t mask, unsigned bits) {
    struct idxf_permutation permutation;
    struct item *items = new_items(count);
    unsigned prefix_bits = (unsigned)__builtin_popcountll(mask);
    idxi_sort_pairs(fingerprints, NULL, count, false, arrays.spare, NULL);
    idxf_permutation_init(&permutation, mask, bits);
    for (size_t i = 0; i < count; i++) {
        uint64_t permuted = idxf_permute(&permutation, fingerprints[i]);
        items[i] = (struct item){prefix_bits == 0 ? 0 : permuted >> (64 - prefix_bits), permuted, i};
    }
    qsort(items, count, sizeof *items, compare_stably);
    for (size_t i = 0; i < count; i++) fingerprints[i] = idxf_permute(&permutation, fingerprints[i]);
    idxi_sort_prefixes(fingerprints, count, prefix_bits, arrays.spare);
    for (size_t i = 0; i < count; i++) {
        if (fingerprints[i] != items[i].value)
            fail_msg("mask %016llx of %u bits, %zu fingerprints: the one at %zu is wrong", (unsigned long long)mask,
                     bits, count, i);
    }
    free(items);
}

static void test_tables(void **state) {
    static const unsigned prefixes[] = {1, 8, 12, 13, 16, 18, 26, 33, 34, 40, 63, 64};
    (void)state;
    for (size_t i = 0; i < LENGTH(shapes) * LENGTH(counts); i++) {
        size_t shape = i % LENGTH(shapes), count = counts[i / LENGTH(shapes)];
        for (unsigned kind = 0; kind < 4; kind++) {
            if (count > LARGE && shape % 4 != kind) continue;
            random_state = i * 4 + kind + 1;
            for (size_t j = 0; j < count; j++) arrays.fingerprints[j] = shapes[shape](j);
            unsigned prefix_bits = prefixes[draw() % LENGTH(prefixes)];
            check_table(arrays.fingerprints, count, make_mask(64, prefix_bits, kind), 64);
        }
    }
}

static void test_tables_of_all_widths(void **state) {
    (void)state;
    for (unsigned bits = 1; bits <= 64; bits++) {
        for (unsigned kind = 0; kind < 4; kind++) {
            size_t count = 5000 + bits;
            random_state = bits * 4 + kind;
            for (size_t i = 0; i < count; i++) arrays.fingerprints[i] = draw() >> (64 - bits);
            uint64_t prefix_bits = draw() % (bits + 1);
            check_table(arrays.fingerprints, count, make_mask(bits, (unsigned)prefix_bits, kind), bits);
        }
    }
}

static void test_masks_that_lead(void **state) {
    (void)state;
    for (unsigned bits = 1; bits <= 8; bits++) {
        for (uint64_t mask = 0; mask < UINT64_C(1) << bits; mask++) {
            bool leads = false;
            for (unsigned low = 0; low <= bits; low++) leads |= mask == (UINT64_C(1) << bits) - (UINT64_C(1) << low);
            if (idxi_is_leading_mask(mask, bits) != leads) fail_msg("%llx of %u bits", (unsigned long long)mask, bits);
        }
    }
    assert_true(idxi_is_leading_mask(0, 64));
    assert_true(idxi_is_leading_mask(UINT64_C(1) << 63, 64));
    assert_true(idxi_is_leading_mask(UINT64_MAX, 64));
    assert_false(idxi_is_leading_mask(UINT64_C(1), 64));
    assert_false(idxi_is_leading_mask(UINT64_C(5) << 61, 64));
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_pairs_of_all_widths),
        cmocka_unit_test(test_arrays_that_are_not_aligned),
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_tables_of_all_widths),
        cmocka_unit_test(test_masks_that_lead),
    };
    return cmocka_run_group_tests(tests, make_arrays, free_arrays);
}
