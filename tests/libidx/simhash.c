/* simhash.c: tests of Hamming distance and the SimHash accumulator. */
#include <idx.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

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

static uint64_t next_random(uint64_t *state) {
    *state += UINT64_C(0x9E3779B97F4A7C15); /* splitmix64 */
    uint64_t z = *state;
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
