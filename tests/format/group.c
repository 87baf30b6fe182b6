/* group.c: tests of groups of documents: what is encoded comes back, as many entries as fit and no more, and hostile
 * bytes are never read beyond. Rules one by one: see the conformance vectors. */
#include "format/group.h"

#include "format/bytes.h"
#include "tests/format/sets.h"
#include "tests/format/testing.h"

#define MOST 5000

static uint64_t fingerprints[MOST], values[MOST];

/* ---- A model ---- */

static unsigned count_bits_of(uint64_t number) {
    unsigned count = 0;
    for (; number != 0; number /= 2) count++;
    return count;
}

/* The bytes of a group, by trying all widths. */
static size_t model_size(size_t first, size_t count) {
    uint64_t least = UINT64_MAX, most = 0, last = fingerprints[first + count - 1] - fingerprints[first];
    uint64_t best = UINT64_MAX;
    for (size_t i = first; i < first + count; i++) {
        if (values[i] < least) least = values[i];
        if (values[i] > most) most = values[i];
    }
    for (unsigned width = 0; width <= 56; width++) {
        uint64_t high = last >> width, bits = (count - 1) * (width + 1);
        if (high < 100000 && bits + high < best) best = bits + high;
    }
    uint64_t block = 10 + (best + 7) / 8;
    return (size_t)(9 + (block < 64 ? 64 : block) + (count * count_bits_of(most - least) + 7) / 8);
}

/* Encodes all entries in groups of up to `max_bytes`; each has as many as fit, and they come back. */
static void check_entries(size_t count, size_t max_bytes) {
    uint64_t got[IDXF_MAX_GROUP], got_values[IDXF_MAX_GROUP];
    for (size_t first = 0, made; first < count; first += made) {
        struct idxf_group group;
        uint8_t *bytes = malloc(max_bytes);
        size_t size, left = count - first;
        assert_non_null(bytes);
        made = idxf_group_encode(fingerprints + first, values + first, left, max_bytes, bytes, &size);
        assert_in_range(made, 1, left < 1023 ? left : 1023);
        assert_int_equal(size, model_size(first, made));
        assert_in_range(size, 73, max_bytes);
        if (made < left && made < 1023) assert_true(model_size(first, made + 1) > max_bytes);
        uint8_t *copy = copy_exactly(bytes, size);
        free(bytes);
        assert_fault(idxf_group_open(&group, copy, size), IDXF_OK);
        assert_int_equal(group.count, made);
        assert_fault(idxf_group_fingerprints(&group, got), IDXF_OK);
        assert_memory_equal(got, fingerprints + first, made * sizeof *got);
        idxf_group_values(&group, 0, made, got_values);
        assert_memory_equal(got_values, values + first, made * sizeof *got);
        assert_fault(idxf_group_check(&group, got, got_values), IDXF_OK);
        idxf_group_values(&group, made - 1, 1, got_values);
        assert_int_equal(got_values[0], values[first + made - 1]);
        free(copy);
    }
}

static void check_all_sizes(size_t count) {
    static const size_t sizes[] = {128, 129, 500, 994, 2014, 4095, 4096};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) check_entries(count, sizes[i]);
}

/* ---- What comes back ---- */

static void make_uniform(unsigned bits, uint64_t seed) {
    for (size_t i = 0; i < MOST; i++) fingerprints[i] = next_random(&seed) >> (64 - bits);
    qsort(fingerprints, MOST, sizeof *fingerprints, compare_fingerprints);
}

/* Values of up to so many bits, ascending on each fingerprint: of equal ones, each is one above the one before. */
static void make_values(unsigned bits, uint64_t seed) {
    for (size_t i = 0; i < MOST; i++) {
        values[i] = next_random(&seed) & idxf_low_bits(bits);
        if (i > 0 && fingerprints[i] == fingerprints[i - 1] && values[i] <= values[i - 1])
            values[i] = values[i - 1] + 1;
    }
}

static void test_random(void **state) {
    (void)state;
    for (unsigned bits = 1; bits <= 64; bits++) {
        make_uniform(bits, bits);
        make_values(bits * 7 % 60, bits);
        check_all_sizes(bits < 16 ? MOST : 2000);
    }
}

static void test_one_fingerprint(void **state) {
    (void)state;
    static const uint64_t all[] = {0, 1, UINT64_C(1) << 63, UINT64_MAX};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        for (size_t at = 0; at < MOST; at++) {
            fingerprints[at] = all[i];
            values[at] = at * (i * i * i * 1000 + 1);
        }
        check_all_sizes(MOST);
    }
}

static void test_extremes(void **state) {
    (void)state;
    make_uniform(64, 5);
    make_values(64, 6);
    fingerprints[0] = 0;
    fingerprints[99] = fingerprints[98] = fingerprints[97] = UINT64_MAX;
    values[97] = 0;
    values[98] = 1;
    values[99] = UINT64_MAX;
    check_all_sizes(100);
    for (size_t count = 1; count <= 3; count++) {
        fingerprints[count - 1] = UINT64_MAX;
        values[count - 1] = UINT64_MAX;
        check_all_sizes(count);
        fingerprints[count - 1] = 0;
        values[count - 1] = count;
    }
}

static void test_values_of_every_width(void **state) {
    (void)state;
    make_uniform(64, 8);
    for (unsigned bits = 0; bits <= 64; bits++) {
        make_values(bits, bits);
        for (size_t count = 1; count < 40; count++) check_entries(count, 994);
        check_entries(500, 994);
    }
}

static void test_without_values(void **state) {
    (void)state;
    uint8_t with[994], without[994];
    size_t size, other;
    make_uniform(64, 9);
    memset(values, 0, sizeof values);
    size_t made = idxf_group_encode(fingerprints, values, MOST, sizeof with, with, &size);
    assert_int_equal(idxf_group_encode(fingerprints, NULL, MOST, sizeof without, without, &other), made);
    assert_int_equal(size, other);
    assert_memory_equal(with, without, size);
}

/* ---- Hostile bytes ---- */

/* Decodes what there is; what matters is that nothing outside is read. */
static void decode(const uint8_t *bytes, size_t size) {
    struct idxf_group group;
    uint64_t got[IDXF_MAX_GROUP], got_values[IDXF_MAX_GROUP];
    uint8_t *copy = copy_exactly(bytes, size);
    if (idxf_group_open(&group, copy, size) == IDXF_OK && idxf_group_fingerprints(&group, got) == IDXF_OK) {
        assert_in_range(group.count, 1, IDXF_MAX_GROUP);
        idxf_group_values(&group, 0, group.count, got_values);
        idxf_group_check(&group, got, got_values);
    }
    free(copy);
}

static void test_noise(void **state) {
    (void)state;
    uint64_t seed = 3;
    uint8_t bytes[4200];
    for (size_t round = 0; round < 20000; round++) {
        size_t size = (size_t)(next_random(&seed) % (round % 10 == 0 ? sizeof bytes : 400));
        for (size_t i = 0; i < size; i++) bytes[i] = (uint8_t)next_random(&seed);
        if (size > 11 && round % 2 == 0) {
            bytes[0] %= 66;
            bytes[10] = (uint8_t)(bytes[10] % 60 << 2);
        }
        decode(bytes, size);
    }
}

static void test_flipped_and_cut(void **state) {
    (void)state;
    uint8_t bytes[994];
    size_t size;
    make_uniform(64, 11);
    make_values(23, 12);
    idxf_group_encode(fingerprints, values, MOST, sizeof bytes, bytes, &size);
    for (size_t i = 0; i < size; i++) {
        for (unsigned bit = 0; bit < 8; bit++) {
            bytes[i] ^= (uint8_t)(1u << bit);
            decode(bytes, size);
            bytes[i] ^= (uint8_t)(1u << bit);
        }
        decode(bytes, i);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),          cmocka_unit_test(test_one_fingerprint),
        cmocka_unit_test(test_extremes),        cmocka_unit_test(test_values_of_every_width),
        cmocka_unit_test(test_without_values),  cmocka_unit_test(test_noise),
        cmocka_unit_test(test_flipped_and_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
