/* group.c: tests of groups of documents: what is encoded comes back, as many entries as fit and no more, and hostile
 * bytes are never read beyond. Rules one by one: see the conformance vectors. */
#include "format/group.h"

#include "format/bytes.h"
#include "tests/format/blocks.h"

#define ENTRIES 5000

static uint64_t fingerprints[ENTRIES], values[ENTRIES];

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
    return (size_t)(19 + (best + 7) / 8 + (count * count_bits_of(most - least) + 7) / 8);
}

/* SPEC.md, chapter 8: the count and the smallest of the best widths, the values' width, base, first fingerprint. */
static void check_header(const uint8_t *bytes, size_t first, size_t count) {
    uint64_t least = UINT64_MAX, most = 0, last = fingerprints[first + count - 1] - fingerprints[first];
    uint64_t best = UINT64_MAX;
    unsigned best_width = 0;
    for (size_t i = first; i < first + count; i++) {
        if (values[i] < least) least = values[i];
        if (values[i] > most) most = values[i];
    }
    for (unsigned width = 0; width <= 56; width++) {
        uint64_t bits = (count - 1) * (width + 1) + (last >> width);
        if (bits < best && last >> width < 100000) {
            best = bits;
            best_width = width;
        }
    }
    assert_int_equal(bytes[0] + 256 * bytes[1], count + 1024 * best_width);
    assert_int_equal(bytes[2], count_bits_of(most - least));
    assert_int_equal(idxf_load64(bytes + 3), least);
    assert_int_equal(idxf_load64(bytes + 11), fingerprints[first]);
}

/* Encodes all entries in groups of up to `max_bytes`; each has as many as fit, and they come back. */
static void check_entries(size_t count, size_t max_bytes) {
    uint64_t got[IDXF_MAX_GROUP_ENTRIES], got_values[IDXF_MAX_GROUP_ENTRIES];
    for (size_t first = 0, made; first < count; first += made) {
        struct idxf_group group;
        uint8_t *bytes = malloc(max_bytes);
        size_t size, left = count - first;
        assert_non_null(bytes);
        made = idxf_group_encode(fingerprints + first, values + first, left, max_bytes, bytes, &size);
        assert_in_range(made, 1, left < 1023 ? left : 1023);
        assert_int_equal(size, model_size(first, made));
        assert_in_range(size, 19, max_bytes);
        check_header(bytes, first, made);
        if (made < left && made < 1023) assert_true(model_size(first, made + 1) > max_bytes);
        uint8_t *copy = copy_exactly(bytes, size);
        free(bytes);
        assert_fault(idxf_group_open(&group, copy, size), IDXF_OK);
        assert_int_equal(group.count, made);
        assert_fault(idxf_decode_fingerprints(&group, got), IDXF_OK);
        assert_memory_equal(got, fingerprints + first, made * sizeof *got);
        idxf_decode_values(&group, 0, made, got_values);
        assert_memory_equal(got_values, values + first, made * sizeof *got);
        assert_fault(idxf_group_check(&group, got, got_values), IDXF_OK);
        idxf_decode_values(&group, made - 1, 1, got_values);
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
    for (size_t i = 0; i < ENTRIES; i++) fingerprints[i] = next_random(&seed) >> (64 - bits);
    qsort(fingerprints, ENTRIES, sizeof *fingerprints, compare_fingerprints);
}

/* Values of up to so many bits, ascending on each fingerprint: of equal ones, each is one above the one before. */
static void make_values(unsigned bits, uint64_t seed) {
    for (size_t i = 0; i < ENTRIES; i++) {
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
        check_all_sizes(bits < 16 ? ENTRIES : 2000);
    }
}

static void test_one_fingerprint(void **state) {
    (void)state;
    static const uint64_t all[] = {0, 1, UINT64_C(1) << 63, UINT64_MAX};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        for (size_t at = 0; at < ENTRIES; at++) {
            fingerprints[at] = all[i];
            values[at] = at * (i * i * i * 1000 + 1);
        }
        check_all_sizes(ENTRIES);
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
    size_t made = idxf_group_encode(fingerprints, values, ENTRIES, sizeof with, with, &size);
    assert_int_equal(idxf_group_encode(fingerprints, NULL, ENTRIES, sizeof without, without, &other), made);
    assert_int_equal(size, other);
    assert_memory_equal(with, without, size);
}

/* ---- Hostile bytes ---- */

/* The fault that a reader reports, bit by bit; padding and order are for a verifier. */
static enum idxf_fault model_read(const uint8_t *bytes, size_t size, uint64_t *got, uint64_t *got_values) {
    if (size < 19 || size > 4096) return IDXF_FAULT_SIZE;
    size_t count = bytes[0] + bytes[1] % 4 * 256u, width = bytes[1] / 4, value_width = bytes[2], at = 19 * 8;
    size_t values_size = (count * value_width + 7) / 8;
    if (count == 0) return IDXF_FAULT_COUNT;
    if (width > 56 || value_width > 64 || values_size + 19 > size) return IDXF_FAULT_OVERRUN;
    size_t values_at = size - values_size, lows = (count - 1) * width;
    if ((count - 1) * (width + 1) > 8 * (values_at - 19)) return IDXF_FAULT_OVERRUN;
    got[0] = idxf_load64(bytes + 11);
    for (size_t i = 1; i < count; i++, at++) {
        while (at < 8 * values_at - lows && get_bit(bytes, at) == 0) at++;
        if (at >= 8 * values_at - lows) return IDXF_FAULT_OVERRUN;
        got[i] = got[0] + ((uint64_t)(at - 19 * 8 - (i - 1)) << width) +
                 get_number(bytes, 8 * values_at - i * width, (unsigned)width);
    }
    for (size_t i = 0; i < count; i++)
        got_values[i] =
            idxf_load64(bytes + 3) + get_number(bytes, values_at * 8 + i * value_width, (unsigned)value_width);
    return IDXF_OK;
}

/* Decodes what there is, from bytes beside which nothing may be read, as the model does. */
static void decode(const uint8_t *bytes, size_t size) {
    static uint64_t got[1023], got_values[1023], expected[1023], expected_values[1023];
    enum idxf_fault fault = model_read(bytes, size, expected, expected_values);
    for (unsigned is_last = 0; is_last < 2; is_last++) {
        struct idxf_group group;
        const uint8_t *placed = place_bytes(0, bytes, size, is_last);
        enum idxf_fault found = idxf_group_open(&group, placed, size);
        if (found == IDXF_OK) found = idxf_decode_fingerprints(&group, got);
        assert_fault(found, fault);
        if (fault != IDXF_OK) continue;
        assert_in_range(group.count, 1, 1023);
        assert_memory_equal(got, expected, group.count * sizeof *got);
        idxf_decode_values(&group, 0, group.count, got_values);
        assert_memory_equal(got_values, expected_values, group.count * sizeof *got);
        idxf_group_check(&group, got, got_values);
    }
}

static void test_noise(void **state) {
    (void)state;
    uint64_t seed = 3;
    uint8_t bytes[4200];
    for (size_t round = 0; round < 20000; round++) {
        size_t size = (size_t)(next_random(&seed) % (round % 10 == 0 ? sizeof bytes : 400));
        for (size_t i = 0; i < size; i++) bytes[i] = (uint8_t)next_random(&seed);
        if (size > 2 && round % 2 == 0) {
            bytes[1] = (uint8_t)(bytes[1] % 58 << 2);
            bytes[2] %= 66;
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
    idxf_group_encode(fingerprints, values, ENTRIES, sizeof bytes, bytes, &size);
    for (size_t i = 0; i < size; i++) {
        for (unsigned bit = 0; bit < 8; bit++) {
            bytes[i] ^= (uint8_t)(1u << bit);
            decode(bytes, size);
            bytes[i] ^= (uint8_t)(1u << bit);
        }
        decode(bytes, i);
    }
}

/* ---- Rules ---- */

/* Two entries, 5 and 9 above 100, with values 7 and 8: w = 2, b = 1. */
static const uint8_t pair[21] = {0x02, 0x08, 1, 7, 0, 0, 0, 0, 0, 0, 0, 105, [19] = 0x02, [20] = 0x02};

static void check_change(size_t at, uint8_t value, size_t size, enum idxf_fault fault) {
    uint8_t bytes[32] = {0};
    uint64_t got[1023] = {0}, got_values[1023];
    struct idxf_group group;
    memcpy(bytes, pair, sizeof pair);
    bytes[at] = value;
    uint8_t *copy = copy_exactly(bytes, size);
    enum idxf_fault found = idxf_group_open(&group, copy, size);
    if (found == IDXF_OK) found = idxf_decode_fingerprints(&group, got);
    if (found == IDXF_OK) {
        idxf_decode_values(&group, 0, group.count, got_values);
        found = idxf_group_check(&group, got, got_values);
    }
    assert_fault(found, fault);
    free(copy);
}

static void test_rules(void **state) {
    (void)state;
    check_change(19, 0x02, 21, IDXF_OK); /* 109: a high part of 1, a low part of 0 */
    check_change(19, 0x02, 20, IDXF_FAULT_OVERRUN);
    check_change(19, 0x02, 18, IDXF_FAULT_SIZE);
    check_change(0, 0, 21, IDXF_FAULT_COUNT);
    check_change(1, 57 * 4, 21, IDXF_FAULT_OVERRUN);
    check_change(1, 8 * 4, 21, IDXF_FAULT_OVERRUN);
    check_change(2, 65, 21, IDXF_FAULT_OVERRUN);
    check_change(2, 9, 21, IDXF_FAULT_OVERRUN);
    check_change(19, 0x00, 21, IDXF_FAULT_OVERRUN); /* no high part */
    check_change(19, 0x40, 21, IDXF_FAULT_OVERRUN); /* among the low parts */
    check_change(19, 0x01, 21, IDXF_OK);            /* 105 again, a greater value */
    check_change(19, 0x22, 21, IDXF_FAULT_PADDING);
    check_change(20, 0x06, 21, IDXF_FAULT_PADDING);
    check_change(20, 0x01, 21, IDXF_OK); /* values may descend where fingerprints ascend */
    check_change(18, 0xFF, 21, IDXF_OK);
}

/* A value of each width needs its bytes behind the header, and no fewer. */
static void test_room_of_a_value(void **state) {
    (void)state;
    for (uint8_t width = 0; width <= 64; width++) {
        uint8_t bytes[27] = {1, 0, width};
        struct idxf_group group;
        size_t needed = 19 + (width + 7u) / 8;
        for (size_t size = 19; size <= sizeof bytes; size++)
            assert_fault(idxf_group_open(&group, bytes, size), size < needed ? IDXF_FAULT_OVERRUN : IDXF_OK);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),          cmocka_unit_test(test_one_fingerprint),
        cmocka_unit_test(test_extremes),        cmocka_unit_test(test_values_of_every_width),
        cmocka_unit_test(test_without_values),  cmocka_unit_test(test_noise),
        cmocka_unit_test(test_flipped_and_cut), cmocka_unit_test(test_rules),
        cmocka_unit_test(test_room_of_a_value),
    };
    return cmocka_run_group_tests(tests, map_stretches, NULL);
}
