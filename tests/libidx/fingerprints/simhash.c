/* simhash.c: tests of Hamming distance and the SimHash accumulator. */
#include "libidx/fingerprints/simhash.h"
#include "tests/random.h"
#include "tests/testing.h"

static void test_distance(void **state) {
    (void)state;
    assert_int_equal(idx_distance(0x27, 0x2A), 3); /* 100111 and 101010 */
    assert_int_equal(idx_distance(851459198, 847263864), 4);
    assert_int_equal(idx_distance(851459198, 984968088), 16);
    assert_int_equal(idx_distance(847263864, 984968088), 12);
    assert_int_equal(idx_distance(0, 0), 0);
    assert_int_equal(idx_distance(UINT64_MAX, UINT64_MAX), 0);
    assert_int_equal(idx_distance(0, UINT64_MAX), 64);
    for (unsigned i = 0; i < 64; i++) assert_int_equal(idx_distance(0, UINT64_C(1) << i), 1);
}

/* The worked example of six bits, most significant first: [13, 108, -22, -5, -32, 55] is 110001. */
static void test_signs_make_the_fingerprint(void **state) {
    (void)state;
    static const int64_t sums[] = {13, 108, -22, -5, -32, 55};
    struct idx_simhash simhash;
    idx_simhash_init(&simhash);
    for (unsigned i = 0; i < 6; i++) simhash.sums[5 - i] = sums[i];
    assert_int_equal(idx_simhash_finish(&simhash, 6), 0x31);
    assert_int_equal(idx_simhash_finish(&simhash, 64), 0x31);
    assert_int_equal(idx_simhash_finish(&simhash, 4), 0x1);
}

static void test_a_tie_is_zero(void **state) {
    (void)state;
    struct idx_simhash simhash;
    idx_simhash_init(&simhash);
    assert_int_equal(idx_simhash_finish(&simhash, 64), 0);
    idx_simhash_add_hash(&simhash, UINT64_C(0xF0F0F0F0F0F0F0F0), 7);
    idx_simhash_add_hash(&simhash, UINT64_C(0x0F0F0F0F0F0F0F0F), 7);
    assert_int_equal(idx_simhash_finish(&simhash, 64), 0);
}

/* A feature alone is its own fingerprint, whatever its positive weight; a negative weight turns every bit. */
static void test_one_feature(void **state) {
    (void)state;
    static const int64_t weights[] = {1, IDX_WEIGHT_ONE, INT64_MAX};
    const uint64_t hash = UINT64_C(0x8123456789ABCDE1);
    for (size_t i = 0; i < sizeof weights / sizeof *weights; i++) {
        struct idx_simhash simhash;
        idx_simhash_init(&simhash);
        idx_simhash_add_hash(&simhash, hash, weights[i]);
        assert_true(idx_simhash_finish(&simhash, 64) == hash);
        for (unsigned bits = 1; bits < 64; bits++) {
            assert_true(idx_simhash_finish(&simhash, bits) == (hash & ((UINT64_C(1) << bits) - 1)));
        }
        idx_simhash_init(&simhash);
        idx_simhash_add_hash(&simhash, hash, -weights[i]);
        assert_true(idx_simhash_finish(&simhash, 64) == ~hash);
    }
}

static void test_other_numbers_of_bits_count_as_64(void **state) {
    (void)state;
    struct idx_simhash simhash;
    idx_simhash_init(&simhash);
    idx_simhash_add_hash(&simhash, UINT64_MAX, 1);
    assert_true(idx_simhash_finish(&simhash, 0) == UINT64_MAX);
    assert_true(idx_simhash_finish(&simhash, 65) == UINT64_MAX);
    assert_true(idx_simhash_finish(&simhash, UINT32_MAX) == UINT64_MAX);
}

/* Against the definition, written bit by bit. */
static void test_sums_follow_the_definition(void **state) {
    (void)state;
    uint64_t random = 1;
    struct idx_simhash simhash;
    int64_t expected[64] = {0};
    idx_simhash_init(&simhash);
    for (int round = 0; round < 10000; round++) {
        uint64_t hash = next_random(&random);
        int64_t weight = (int64_t)(next_random(&random) % 4000001) - 2000000;
        idx_simhash_add_hash(&simhash, hash, weight);
        for (int i = 0; i < 64; i++) expected[i] += (hash >> i & 1) == 1 ? weight : -weight;
    }
    for (int i = 0; i < 64; i++) assert_true(simhash.sums[i] == expected[i]);
    uint64_t fingerprint = idx_simhash_finish(&simhash, 64);
    for (int i = 0; i < 64; i++) assert_int_equal(fingerprint >> i & 1, expected[i] > 0);
}

/* Past its range a sum wraps around; under the sanitizers this shows that nothing is undefined. */
static void test_sums_wrap_around(void **state) {
    (void)state;
    struct idx_simhash simhash;
    idx_simhash_init(&simhash);
    idx_simhash_add_hash(&simhash, 1, INT64_MAX);
    idx_simhash_add_hash(&simhash, 1, INT64_MAX);
    assert_true(simhash.sums[0] == -2);
    assert_true(simhash.sums[1] == 2);
    idx_simhash_init(&simhash);
    idx_simhash_add_hash(&simhash, 1, INT64_MIN);
    assert_true(simhash.sums[0] == INT64_MIN);
    assert_true(simhash.sums[63] == INT64_MIN);
}

/* Hashes made by Python: xxhash.xxh3_64_hexdigest. The lengths take the different ways through XXH3. */
static void test_features_are_hashed_by_xxh3(void **state) {
    (void)state;
    uint8_t bytes[256], many[5000];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)i;     /* bytes(range(256)) */
    for (size_t i = 0; i < sizeof many; i++) many[i] = (uint8_t)(i * 7); /* bytes(i * 7 % 256 for i in range(5000)) */
    const struct {
        const void *feature;
        size_t length;
        uint64_t hash;
    } cases[] = {
        {NULL, 0, UINT64_C(0x2d06800538d394c2)},
        {"", 0, UINT64_C(0x2d06800538d394c2)},
        {"a", 1, UINT64_C(0xe6c632b61e964e1f)},
        {"abc", 3, UINT64_C(0x78af5f94892f3950)},
        {"fingerprint", 11, UINT64_C(0x8f175ec9a00a34af)},
        {bytes, sizeof bytes, UINT64_C(0x9408a4433b952d71)},
        {many, sizeof many, UINT64_C(0x6abe8be5abcb2760)},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct idx_simhash simhash;
        idx_simhash_init(&simhash);
        idx_simhash_add(&simhash, cases[i].feature, cases[i].length, 3);
        assert_true(idx_simhash_finish(&simhash, 64) == cases[i].hash);
    }
}

/* Every way against the plain loop, for every number of features up to some, on sums that aren't 0. Weights: small
 * ones, those of real documents, and the extremes, with which sums wrap around. */
static void test_wide_instructions_add_alike(void **state) {
    (void)state;
    static const int64_t extremes[] = {INT64_MIN, INT64_MIN + 1, -1, 0, 1, INT64_MAX - 1, INT64_MAX, INT64_C(1) << 32};
    idxi_simhash_way *ways[IDXI_SIMHASH_WAYS];
    size_t way_count = idxi_list_simhash_ways(ways);
    uint64_t random = 2;
    struct idx_simhash start, sums[IDXI_SIMHASH_WAYS];
    struct idx_feature features[300];
    for (size_t round = 0; round < 900; round++) {
        for (size_t i = 0; i < 300; i++) {
            uint64_t r = next_random(&random);
            features[i].hash = round % 5 == 0 ? UINT64_C(1) << r % 64 : next_random(&random);
            if (round % 3 == 0) features[i].weight = 1;
            if (round % 3 == 1) features[i].weight = (int64_t)(r % 2000000) - 1000;
            if (round % 3 == 2) features[i].weight = extremes[r % 8];
        }
        for (int i = 0; i < 64; i++) start.sums[i] = (int64_t)next_random(&random);
        for (size_t way = 0; way < way_count; way++) {
            sums[way] = start;
            ways[way](&sums[way], features, round / 3);
            assert_memory_equal(&sums[way], &sums[0], sizeof *sums);
        }
        idx_simhash_add_features(&start, features, round / 3);
        assert_memory_equal(&start, &sums[0], sizeof start);
    }
    idx_simhash_add_features(&start, NULL, 0);
    assert_memory_equal(&start, &sums[0], sizeof start);
}

static void test_ties(void **state) {
    (void)state;
    struct idx_simhash simhash;
    idx_simhash_init(&simhash);
    assert_true(idx_simhash_ties(&simhash, 64) == UINT64_MAX);
    assert_true(idx_simhash_ties(&simhash, 5) == 0x1F);
    idx_simhash_add_hash(&simhash, UINT64_C(0xF0F0F0F0F0F0F0F0), 7);
    assert_true(idx_simhash_ties(&simhash, 64) == 0);
    idx_simhash_add_hash(&simhash, UINT64_C(0xFFFF00000000FFFF), 7);
    assert_true(idx_simhash_ties(&simhash, 64) == UINT64_C(0x0F0FF0F0F0F00F0F));
    assert_true(idx_simhash_ties(&simhash, 0) == UINT64_C(0x0F0FF0F0F0F00F0F));
    assert_true(idx_simhash_finish(&simhash, 64) == UINT64_C(0xF0F000000000F0F0));
}

/* ---- A widely copied Python program's fingerprints, by its own hash of strings, of 32, 64 and 128 bits ---- */

struct wide {
    uint64_t high, low;
};

/* value * 1000003, which is below 2^20, mod 2^128. */
static struct wide multiply(struct wide value) {
    const uint64_t factor = 1000003;
    uint64_t middle = (value.low >> 32) * factor + ((value.low & UINT32_MAX) * factor >> 32);
    return (struct wide){value.high * factor + (middle >> 32), value.low * factor};
}

/* x = ord(s[0]) << 7; x = ((x * 1000003) ^ ord(c)) mod 2^b for each c; x ^= len(s). The low bits of x depend on its low
 * bits alone, so b = 128 gives those for 32 and 64 too. */
static struct wide string_hash(const char *string, size_t length) {
    struct wide x = {0, (uint64_t)(unsigned char)string[0] << 7};
    for (size_t i = 0; i < length; i++) {
        x = multiply(x);
        x.low ^= (unsigned char)string[i];
    }
    x.low ^= length;
    return x;
}

/* Of the words of a text, split at blanks, each weighing 1 each time: one accumulator for each 64 bits. */
static void fingerprint_words(const char *text, unsigned bits, bool tie, struct wide *fingerprint) {
    struct idx_simhash low, high;
    idx_simhash_init(&low);
    idx_simhash_init(&high);
    for (size_t length; *text != '\0'; text += length + (text[length] == ' ')) {
        length = strcspn(text, " ");
        struct wide hash = string_hash(text, length);
        idx_simhash_add_hash(&low, hash.low, 1);
        idx_simhash_add_hash(&high, hash.high, 1);
    }
    unsigned low_bits = bits < 64 ? bits : 64;
    fingerprint->low = idx_simhash_finish(&low, low_bits) | (tie ? idx_simhash_ties(&low, low_bits) : 0);
    fingerprint->high = 0;
    if (bits > 64) fingerprint->high = idx_simhash_finish(&high, 64) | (tie ? idx_simhash_ties(&high, 64) : 0);
}

static const char *const python_texts[] = {
    "This is a test string for testing",
    "This is a test string for testing also",
    "This is a test string for testing als",
    "nai nai ge xiong cao",
};

static void test_fingerprints_of_a_python_program(void **state) {
    (void)state;
    static const struct {
        unsigned bits;
        struct wide fingerprints[4];
        unsigned distances[4];
    } cases[] = {
        {32, {{0, 0xe45cc488}, {0, 0xe55cc7a8}, {0, 0xe55ce488}, {0, 0xadbdb53a}}, {0, 4, 2, 15}},
        {64,
         {{0, UINT64_C(0x800d8e90e45cc488)},
          {0, UINT64_C(0xc00dbeb4e55cc7a8)},
          {0, UINT64_C(0x800dae90e55ce488)},
          {0, UINT64_C(0x492b1485adbdb53a)}},
         {0, 9, 3, 29}},
        {128,
         {{UINT64_C(0x20302202), UINT64_C(0x800d8e90e45cc488)},
          {UINT64_C(0x203c2282), UINT64_C(0xc00dbeb4e55cc7a8)},
          {UINT64_C(0x20302282), UINT64_C(0x800dae90e55ce488)},
          {UINT64_C(0x2ea), UINT64_C(0x492b1485adbdb53a)}},
         {0, 12, 4, 37}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct wide all[4];
        for (size_t j = 0; j < 4; j++) {
            fingerprint_words(python_texts[j], cases[i].bits, true, &all[j]);
            assert_true(all[j].low == cases[i].fingerprints[j].low);
            assert_true(all[j].high == cases[i].fingerprints[j].high);
            unsigned distance = idx_distance(all[0].low, all[j].low) + idx_distance(all[0].high, all[j].high);
            assert_int_equal(distance, cases[i].distances[j]);
        }
    }
}

static void test_the_same_with_ties_as_0(void **state) {
    (void)state;
    static const unsigned distances[] = {0, 9, 11, 37};
    struct wide first, other;
    fingerprint_words(python_texts[0], 128, false, &first);
    for (size_t j = 0; j < 4; j++) {
        fingerprint_words(python_texts[j], 128, false, &other);
        assert_int_equal(idx_distance(first.low, other.low) + idx_distance(first.high, other.high), distances[j]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_distance),
        cmocka_unit_test(test_signs_make_the_fingerprint),
        cmocka_unit_test(test_a_tie_is_zero),
        cmocka_unit_test(test_one_feature),
        cmocka_unit_test(test_other_numbers_of_bits_count_as_64),
        cmocka_unit_test(test_sums_follow_the_definition),
        cmocka_unit_test(test_sums_wrap_around),
        cmocka_unit_test(test_features_are_hashed_by_xxh3),
        cmocka_unit_test(test_wide_instructions_add_alike),
        cmocka_unit_test(test_ties),
        cmocka_unit_test(test_fingerprints_of_a_python_program),
        cmocka_unit_test(test_the_same_with_ties_as_0),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
