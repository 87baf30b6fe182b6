/* huffman.c: tests of code lengths, against other ways to the optimum, of codes, and of the check of lengths. */
#include "format/huffman.h"

#include "tests/format/testing.h"

enum { LIMIT = IDXF_MAX_CODE_LENGTH, UNITS = 1 << LIMIT };

static uint64_t cost(const uint64_t counts[IDXF_SYMBOLS], const uint8_t lengths[IDXF_SYMBOLS]) {
    uint64_t bits = 0;
    for (unsigned i = 0; i < IDXF_SYMBOLS; i++) bits += counts[i] * lengths[i];
    return bits;
}

/* The sum of 2^-length, in units of 2^-11. */
static unsigned kraft_sum(const uint8_t lengths[IDXF_SYMBOLS]) {
    unsigned sum = 0;
    for (unsigned i = 0; i < IDXF_SYMBOLS; i++) {
        if (lengths[i] != 0) sum += UNITS >> lengths[i];
    }
    return sum;
}

/* Counts above 0, descending; returns their number. */
static unsigned sort_counts(const uint64_t counts[IDXF_SYMBOLS], uint64_t sorted[IDXF_SYMBOLS]) {
    unsigned made = 0;
    for (unsigned i = 0; i < IDXF_SYMBOLS; i++) {
        if (counts[i] == 0) continue;
        unsigned at = made++;
        for (; at > 0 && sorted[at - 1] < counts[i]; at--) sorted[at] = sorted[at - 1];
        sorted[at] = counts[i];
    }
    return made;
}

/* The least size with no limit (Huffman 1952): the two least weights become one until one is left. */
static uint64_t unlimited_cost(const uint64_t counts[IDXF_SYMBOLS]) {
    uint64_t weights[IDXF_SYMBOLS], total = 0;
    unsigned count = sort_counts(counts, weights);
    while (count > 1) {
        uint64_t sum = weights[count - 1] + weights[count - 2];
        unsigned at = count-- - 2;
        for (; at > 0 && weights[at - 1] < sum; at--) weights[at] = weights[at - 1];
        weights[at] = sum;
        total += sum;
    }
    return total;
}

/* The least size under the limit, by trying, for each number of the most frequent symbols and each sum of 2^-length
 * that they may use up, each length. */
static uint64_t limited_cost(const uint64_t counts[IDXF_SYMBOLS]) {
    static uint64_t best[IDXF_SYMBOLS + 1][UNITS + 1];
    uint64_t sorted[IDXF_SYMBOLS], least = UINT64_MAX;
    unsigned count = sort_counts(counts, sorted);
    for (unsigned i = 0; i <= count; i++) {
        for (unsigned used = 0; used <= UNITS; used++) best[i][used] = UINT64_MAX;
    }
    best[0][0] = 0;
    for (unsigned length = 1; length <= LIMIT; length++) {
        unsigned units = UNITS >> length;
        for (unsigned i = 0; i < count; i++) {
            for (unsigned used = 0; used + units <= UNITS; used++) {
                if (best[i][used] == UINT64_MAX) continue;
                uint64_t with = best[i][used] + sorted[i] * length;
                if (with < best[i + 1][used + units]) best[i + 1][used + units] = with;
            }
        }
    }
    for (unsigned used = 0; used <= UNITS; used++) {
        if (best[count][used] < least) least = best[count][used];
    }
    return least;
}

/* ---- Package-merge, as SPEC.md names it ---- */

struct package {
    uint64_t weight;
    uint8_t taken[IDXF_SYMBOLS]; /* how often each symbol is in it */
};

static void insert_by_weight(struct package *list, unsigned *count, const struct package *package) {
    unsigned at = (*count)++;
    for (; at > 0 && list[at - 1].weight > package->weight; at--) list[at] = list[at - 1];
    list[at] = *package;
}

/* Symbols by count, then by position; in front of packages of the same weight. */
static unsigned list_symbols(const uint64_t counts[IDXF_SYMBOLS], struct package *list) {
    unsigned count = 0;
    for (unsigned i = 0; i < IDXF_SYMBOLS; i++) {
        struct package symbol = {counts[i], {0}};
        symbol.taken[i] = 1;
        if (counts[i] > 0) insert_by_weight(list, &count, &symbol);
    }
    return count;
}

static void package_merge(const uint64_t counts[IDXF_SYMBOLS], uint8_t lengths[IDXF_SYMBOLS]) {
    static struct package lists[2][2 * IDXF_SYMBOLS];
    unsigned count = list_symbols(counts, lists[0]), symbols = count;
    for (unsigned level = 1; level < LIMIT; level++) {
        const struct package *from = lists[(level - 1) % 2];
        struct package *to = lists[level % 2];
        unsigned made = list_symbols(counts, to);
        for (unsigned i = 0; i + 1 < count; i += 2) {
            struct package both = from[i];
            both.weight += from[i + 1].weight;
            for (unsigned s = 0; s < IDXF_SYMBOLS; s++) both.taken[s] = (uint8_t)(both.taken[s] + from[i + 1].taken[s]);
            insert_by_weight(to, &made, &both);
        }
        count = made;
    }
    memset(lengths, 0, IDXF_SYMBOLS);
    for (unsigned i = 0; i < 2 * symbols - 2; i++) {
        for (unsigned s = 0; s < IDXF_SYMBOLS; s++)
            lengths[s] = (uint8_t)(lengths[s] + lists[(LIMIT - 1) % 2][i].taken[s]);
    }
}

/* ---- Lengths ---- */

/* Checks lengths for two symbols or more against all of the above; returns whether the limit was at work. */
static bool check_lengths(const uint64_t counts[IDXF_SYMBOLS]) {
    uint8_t lengths[IDXF_SYMBOLS], expected[IDXF_SYMBOLS];
    idxf_code_lengths(counts, lengths);
    for (unsigned i = 0; i < IDXF_SYMBOLS; i++) assert_int_equal(lengths[i] == 0, counts[i] == 0);
    assert_int_equal(kraft_sum(lengths), UNITS);
    assert_fault(idxf_code_check(lengths, IDXF_SYMBOLS), IDXF_OK);
    assert_int_equal(cost(counts, lengths), limited_cost(counts));
    package_merge(counts, expected);
    assert_memory_equal(lengths, expected, IDXF_SYMBOLS);
    return cost(counts, lengths) > unlimited_cost(counts);
}

static void test_random_counts(void **state) {
    (void)state;
    uint64_t random = 1;
    for (int round = 0; round < 120; round++) {
        uint64_t counts[IDXF_SYMBOLS] = {0};
        unsigned symbols = 2 + (unsigned)(next_random(&random) % 63);
        unsigned widest = (unsigned)(next_random(&random) % 8); /* few different counts, so that many are equal */
        for (unsigned i = 0; i < symbols; i++) {
            uint64_t any = next_random(&random);
            counts[any % IDXF_SYMBOLS] = 1 + (any >> 32 & ((1u << widest) - 1));
        }
        counts[0] = counts[63] = 1;
        assert_false(check_lengths(counts)); /* with counts that differ so little, Huffman's codes are short */
    }
}

/* Counts over many powers of two, as fingerprints have them: the limit of 11 is at work in some. */
static void test_skewed_counts(void **state) {
    (void)state;
    uint64_t random = 2;
    unsigned limited = 0;
    for (int round = 0; round < 60; round++) {
        uint64_t counts[IDXF_SYMBOLS] = {0};
        unsigned symbols = 2 + (unsigned)(next_random(&random) % 63);
        for (unsigned i = 0; i < symbols; i++) counts[i] = 1 + (next_random_of_any_size(&random) >> 24);
        limited += check_lengths(counts);
    }
    assert_in_range(limited, 10, 59);
}

/* With Fibonacci's numbers each symbol is as deep as it can be: 12 of them reach length 11, more are limited. */
static void test_fibonacci_counts(void **state) {
    (void)state;
    uint64_t counts[IDXF_SYMBOLS] = {0};
    uint64_t before = 0, last = 1;
    uint8_t lengths[IDXF_SYMBOLS];
    for (unsigned symbols = 1; symbols <= IDXF_SYMBOLS; symbols++) {
        counts[symbols - 1] = last;
        last += before;
        before = last - before;
        if (symbols < 2) continue;
        bool limited = check_lengths(counts);
        assert_int_equal(limited, symbols > LIMIT + 1);
        idxf_code_lengths(counts, lengths);
        assert_int_equal(lengths[0], symbols <= LIMIT ? symbols - 1 : LIMIT);
    }
}

static void test_known_lengths(void **state) {
    (void)state;
    static const struct {
        uint64_t counts[8];
        uint8_t lengths[8];
    } cases[] = {
        {{0}, {0}},
        {{0, 0, 0, 1}, {0, 0, 0, 1}},
        {{0, 0, 0, 1u << 31}, {0, 0, 0, 1}},
        {{1, 0, 0, 1000000}, {1, 0, 0, 1}},
        {{1, 0, 0, 0, 0, 0, 1, 2}, {2, 0, 0, 0, 0, 0, 2, 1}}, /* SPEC.md's example, delta */
        {{1, 0, 0, 0, 0, 1, 1, 1}, {2, 0, 0, 0, 0, 2, 2, 2}}, /* and xor */
        {{1, 1, 2, 3, 5, 8, 13, 21}, {7, 7, 6, 5, 4, 3, 2, 1}},
        {{1, 2, 4, 8, 16, 32, 64, 128}, {7, 7, 6, 5, 4, 3, 2, 1}},
        {{5, 5, 5, 5, 5, 5, 5, 5}, {3, 3, 3, 3, 3, 3, 3, 3}},
        {{1, 1, 1}, {2, 2, 1}}, /* among equals the first ones get longer */
        {{1, 1, 2}, {2, 2, 1}},
        {{1, 1, 1, 2}, {2, 2, 2, 2}}, /* equal in size to 3, 3, 2, 1: a symbol goes in front of a package */
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        uint64_t counts[IDXF_SYMBOLS] = {0};
        uint8_t lengths[IDXF_SYMBOLS], expected[IDXF_SYMBOLS] = {0};
        memcpy(counts, cases[i].counts, sizeof cases[i].counts);
        memcpy(expected, cases[i].lengths, sizeof cases[i].lengths);
        memset(lengths, 0xFF, sizeof lengths);
        idxf_code_lengths(counts, lengths);
        assert_memory_equal(lengths, expected, IDXF_SYMBOLS);
        assert_fault(idxf_code_check(lengths, 8), IDXF_OK);
    }
}

static void test_all_64_equal(void **state) {
    (void)state;
    uint64_t counts[IDXF_SYMBOLS];
    uint8_t lengths[IDXF_SYMBOLS];
    for (unsigned i = 0; i < IDXF_SYMBOLS; i++) counts[i] = 1000000007;
    idxf_code_lengths(counts, lengths);
    for (unsigned i = 0; i < IDXF_SYMBOLS; i++) assert_int_equal(lengths[i], 6);
}

/* ---- Codes ---- */

/* RFC 1951, 3.2.2: lengths 3, 3, 3, 3, 3, 2, 4, 4 give 010, 011, 100, 101, 110, 00, 1110, 1111. */
static void test_codes_of_rfc_1951(void **state) {
    (void)state;
    static const uint8_t lengths[IDXF_SYMBOLS] = {3, 3, 3, 3, 3, 2, 4, 4};
    static const uint16_t expected[8] = {2, 6, 1, 5, 3, 0, 7, 15}; /* the first bit is bit 0 */
    uint16_t codes[IDXF_SYMBOLS];
    idxf_codes(lengths, codes);
    assert_memory_equal(codes, expected, sizeof expected);
}

static void test_one_code_is_the_bit_0(void **state) {
    (void)state;
    for (unsigned i = 0; i < IDXF_SYMBOLS; i++) {
        uint8_t lengths[IDXF_SYMBOLS] = {0};
        uint16_t codes[IDXF_SYMBOLS];
        memset(codes, 0xFF, sizeof codes);
        lengths[i] = 1;
        idxf_codes(lengths, codes);
        assert_int_equal(codes[i], 0);
    }
}

/* In the order of length, then symbol, each code read first bit first is the next number of its length: so none begins
 * another, and the last is all 1. */
static void test_codes_are_canonical(void **state) {
    (void)state;
    uint64_t random = 3;
    for (int round = 0; round < 1000; round++) {
        uint64_t counts[IDXF_SYMBOLS] = {0};
        uint8_t lengths[IDXF_SYMBOLS];
        uint16_t codes[IDXF_SYMBOLS];
        unsigned symbols = 2 + (unsigned)(next_random(&random) % 63), next = 0;
        for (unsigned i = 0; i < symbols; i++) counts[i] = 1 + (next_random_of_any_size(&random) >> 24);
        idxf_code_lengths(counts, lengths);
        idxf_codes(lengths, codes);
        for (unsigned length = 1; length <= LIMIT; length++) {
            next *= 2;
            for (unsigned i = 0; i < symbols; i++) {
                unsigned code = 0;
                if (lengths[i] != length) continue;
                for (unsigned bit = 0; bit < length; bit++) code = code * 2 + (codes[i] >> bit & 1u);
                assert_int_equal(codes[i] >> length, 0);
                assert_int_equal(code, next++);
            }
        }
        assert_int_equal(next, UNITS);
    }
}

/* ---- The check ---- */

static void test_check_of_lengths(void **state) {
    (void)state;
    static const struct {
        uint8_t lengths[16];
        unsigned bits;
        enum idxf_fault fault;
    } cases[] = {
        {{0}, 1, IDXF_OK},
        {{0}, 64, IDXF_OK},
        {{1}, 1, IDXF_OK},
        {{0, 1}, 2, IDXF_OK},
        {{2}, 1, IDXF_FAULT_CODE}, /* one symbol alone, not of length 1 */
        {{0, 2}, 2, IDXF_FAULT_CODE},
        {{11}, 64, IDXF_FAULT_CODE},
        {{0, 1}, 1, IDXF_FAULT_CODE}, /* beyond f */
        {{1, 1}, 2, IDXF_OK},
        {{1, 1}, 1, IDXF_FAULT_CODE},
        {{1, 2}, 2, IDXF_FAULT_CODE},    /* incomplete */
        {{2, 2, 2}, 3, IDXF_FAULT_CODE}, /* incomplete */
        {{2, 2, 1}, 3, IDXF_OK},
        {{2, 2, 1}, 2, IDXF_FAULT_CODE},
        {{1, 1, 11}, 3, IDXF_FAULT_CODE}, /* too many by the smallest code */
        {{1, 1, 1}, 3, IDXF_FAULT_CODE},
        {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 11}, 12, IDXF_OK},
        {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, 12, IDXF_FAULT_CODE},         /* incomplete by the smallest code */
        {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 12}, 13, IDXF_FAULT_CODE}, /* complete, but too long */
        {{1, 1, 12}, 3, IDXF_FAULT_CODE},
        {{1, 1, 12, 12}, 4, IDXF_FAULT_CODE},
        {{1, 1, 255}, 3, IDXF_FAULT_CODE},
        {{255}, 1, IDXF_FAULT_CODE},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        uint8_t lengths[IDXF_SYMBOLS] = {0};
        memcpy(lengths, cases[i].lengths, sizeof cases[i].lengths);
        assert_fault(idxf_code_check(lengths, cases[i].bits), cases[i].fault);
    }
}

/* A code for position f - 1 is the last that fingerprints of f bits may have. */
static void test_check_knows_f(void **state) {
    (void)state;
    for (unsigned f = 1; f <= 64; f++) {
        for (unsigned i = 0; i < IDXF_SYMBOLS; i++) {
            uint8_t lengths[IDXF_SYMBOLS] = {0};
            lengths[i] = 1;
            assert_fault(idxf_code_check(lengths, f), i < f ? IDXF_OK : IDXF_FAULT_CODE);
            lengths[0] = 1; /* with another one, complete */
            assert_fault(idxf_code_check(lengths, f), i < f ? IDXF_OK : IDXF_FAULT_CODE);
        }
    }
}

/* One length of a complete code changed to any other makes it none. */
static void test_check_sees_any_one_length_changed(void **state) {
    (void)state;
    static const uint8_t complete[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 11};
    for (unsigned i = 0; i < COUNT_OF(complete); i++) {
        for (unsigned length = 0; length < 256; length++) {
            uint8_t lengths[IDXF_SYMBOLS] = {0};
            memcpy(lengths, complete, sizeof complete);
            lengths[i] = (uint8_t)length;
            assert_fault(idxf_code_check(lengths, 64), length == complete[i] ? IDXF_OK : IDXF_FAULT_CODE);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_counts),
        cmocka_unit_test(test_skewed_counts),
        cmocka_unit_test(test_fibonacci_counts),
        cmocka_unit_test(test_known_lengths),
        cmocka_unit_test(test_all_64_equal),
        cmocka_unit_test(test_codes_of_rfc_1951),
        cmocka_unit_test(test_one_code_is_the_bit_0),
        cmocka_unit_test(test_codes_are_canonical),
        cmocka_unit_test(test_check_of_lengths),
        cmocka_unit_test(test_check_knows_f),
        cmocka_unit_test(test_check_sees_any_one_length_changed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
