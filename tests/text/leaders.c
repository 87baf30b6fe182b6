/* leaders.c: tests of representatives, beside a plain program that compares each set with all of them. Its sets are so
 * small that all of their members are looked at: none is overlooked. */
#include <idx_text.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/random.h"

enum { SETS = 3000, MOST = 8, KINDS = 40 };

static struct idx_text_leaders *create(int64_t threshold) {
    struct idx_text_leaders *leaders;
    struct idx_error error;
    if (idx_text_leaders_make(&leaders, threshold, &error) != IDX_OK) fail_msg("%s", error.sentence);
    return leaders;
}

struct members {
    uint64_t hashes[MOST];
    struct idx_feature features[MOST];
    size_t count;
    uint64_t leader; /* as it should be */
};

static int64_t weight_of(uint64_t hash) { return (int64_t)(1 + hash % 5) * IDX_WEIGHT_ONE; }

/* Members are few and alike, so that many sets are. */
static void draw(struct members *set, uint64_t *random) {
    uint64_t hash = 0;
    set->count = 0;
    for (uint64_t left = next_random(random) % (MOST + 1); left > 0; left--) {
        hash += 1 + next_random(random) % (KINDS / MOST);
        set->hashes[set->count] = hash << 40;
        set->features[set->count++] = (struct idx_feature){hash << 40, weight_of(hash)};
    }
}

static bool are_alike(const struct members *a, const struct members *b, int64_t threshold, bool weighted) {
    uint64_t shared = 0, one = IDX_DECIMAL_WEIGHT_ONE;
    double sum = 0, norms[2] = {0, 0}, least = (double)threshold / (double)one;
    for (size_t i = 0; i < a->count; i++) {
        double weight = (double)a->features[i].weight;
        norms[0] += weight * weight;
        for (size_t j = 0; j < b->count; j++) {
            if (a->hashes[i] != b->hashes[j]) continue;
            shared++;
            sum += weight * (double)b->features[j].weight;
        }
    }
    for (size_t j = 0; j < b->count; j++) norms[1] += (double)b->features[j].weight * (double)b->features[j].weight;
    if (shared == a->count && shared == b->count) return true;
    if (weighted) return shared > 0 && sum * sum >= least * least * norms[0] * norms[1];
    return shared > 0 && shared * one >= (uint64_t)threshold * (a->count + b->count - shared);
}

static struct members sets[SETS];

static enum idx_status offer(struct idx_text_leaders *leaders, size_t i, bool weighted, uint64_t *leader) {
    const struct members *set = &sets[i];
    uint64_t number = 1000 + i;
    return weighted ? idx_text_leaders_join_features(leaders, number, set->features, set->count, leader, NULL)
                    : idx_text_leaders_join(leaders, number, set->hashes, set->count, leader, NULL);
}

static void check(int64_t threshold, bool weighted, uint64_t *random) {
    struct idx_text_leaders *leaders = create(threshold);
    size_t found[SETS], count, joined = 0;
    for (int round = 0; round < 4; round++) {
        size_t least = SETS >> 3 * round;
        count = 0;
        for (size_t i = 0; i < least; i++) {
            draw(&sets[i], random);
            if (round % 2 == 0 || weighted) continue;
            assert_int_equal(idx_text_leaders_expect(leaders, sets[i].hashes, sets[i].count, NULL), IDX_OK);
        }
        for (size_t i = 0; i < least; i++) {
            uint64_t leader = 0;
            sets[i].leader = i;
            for (size_t j = 0; j < count && sets[i].leader == i; j++)
                if (are_alike(&sets[found[j]], &sets[i], threshold, weighted)) sets[i].leader = found[j];
            if (sets[i].leader == i) found[count++] = i;
            joined += sets[i].leader != i;
            assert_int_equal(offer(leaders, i, weighted, &leader), IDX_OK);
            assert_int_equal(leader, 1000 + sets[i].leader);
        }
        idx_text_leaders_clear(leaders);
    }
    assert_true(joined > 10 && count > 1);
    idx_text_leaders_free(leaders);
}

static void test_sets(void **state) {
    (void)state;
    static const int64_t thresholds[] = {1, 1000, 3333, 3334, 5000, 6667, 8000, 9999, 10000};
    uint64_t random = 1;
    for (size_t i = 0; i < sizeof thresholds / sizeof *thresholds; i++) {
        check(thresholds[i], false, &random);
        check(thresholds[i], true, &random);
    }
}

/* Sets of which some share most members, and most none: they join the same ones whether they were expected or not. */
static void test_expected_sets(void **state) {
    (void)state;
    enum { EACH = 16, EXPECTED = 20000 };
    static uint64_t hashes[EXPECTED][EACH];
    struct idx_text_leaders *expecting = create(5000), *plain = create(5000);
    uint64_t random = 1, leader, wanted, joined = 0;
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < EXPECTED; i++) {
            uint64_t last = 0, other = next_random(&random);
            bool is_copy = i > 0 && other % 4 == 0;
            for (size_t j = 0; j < EACH; j++) {
                uint64_t kept = is_copy ? hashes[other / 4 % i][j] : 0;
                bool turns = next_random(&random) % 6 == 0;
                last = !turns && kept > last ? kept : last + 1 + next_random(&random) % (UINT64_MAX / EACH - 1);
                hashes[i][j] = last;
            }
            assert_int_equal(idx_text_leaders_expect(expecting, hashes[i], EACH, NULL), IDX_OK);
        }
        for (size_t i = 0; i < EXPECTED; i++) {
            assert_int_equal(idx_text_leaders_join(plain, i, hashes[i], EACH, &wanted, NULL), IDX_OK);
            assert_int_equal(idx_text_leaders_join(expecting, i, hashes[i], EACH, &leader, NULL), IDX_OK);
            assert_int_equal(leader, wanted);
            joined += leader != i;
        }
        assert_int_equal(idx_text_leaders_expect(expecting, hashes[0], EACH, NULL), IDX_INVALID_ARGUMENT);
        idx_text_leaders_clear(expecting);
        idx_text_leaders_clear(plain);
    }
    assert_true(joined > EXPECTED / 8);
    idx_text_leaders_free(expecting);
    idx_text_leaders_free(plain);
}

/* Thousands of sets that share one member: one that is equal to the last of them finds it, or what it joined. */
static void test_equal_sets_among_many(void **state) {
    (void)state;
    enum { MANY = 5000 };
    static uint64_t hashes[MANY][2];
    struct idx_text_leaders *leaders = create(10000);
    uint64_t leader;
    for (uint64_t i = 0; i < MANY; i++) {
        hashes[i][0] = 1;
        hashes[i][1] = 100 + i;
        assert_int_equal(idx_text_leaders_join(leaders, i, hashes[i], 2, &leader, NULL), IDX_OK);
        assert_int_equal(leader, i);
    }
    for (uint64_t i = 0; i < MANY; i++) {
        uint64_t copied[2] = {1, 100 + i};
        assert_int_equal(idx_text_leaders_join(leaders, MANY + i, copied, 2, &leader, NULL), IDX_OK);
        assert_int_equal(leader, i);
    }
    idx_text_leaders_free(leaders);
}

/* A set that joins need not stay. */
static void test_only_representatives_stay(void **state) {
    (void)state;
    static const uint64_t first[] = {1, 2, 3, 4};
    struct idx_text_leaders *leaders = create(5000);
    uint64_t passing[] = {2, 3, 4, 5}, leader;
    assert_int_equal(idx_text_leaders_join(leaders, 7, first, 4, &leader, NULL), IDX_OK);
    assert_int_equal(leader, 7);
    for (int round = 0; round < 3; round++) {
        uint64_t *own = malloc(sizeof passing);
        assert_non_null(own);
        memcpy(own, passing, sizeof passing);
        assert_int_equal(idx_text_leaders_join(leaders, 8, own, 4, &leader, NULL), IDX_OK);
        assert_int_equal(leader, 7);
        free(own);
    }
    idx_text_leaders_free(leaders);
}

static void test_wrong_arguments(void **state) {
    (void)state;
    static const uint64_t down[] = {2, 1}, twice[] = {1, 1}, up[] = {1, 2};
    static const struct idx_feature weighted_down[] = {{2, 1}, {1, 1}}, weighted[] = {{1, 1}, {2, 1}};
    struct idx_text_leaders *leaders = NULL;
    struct idx_error error;
    uint64_t leader = 9;
    assert_int_equal(idx_text_leaders_make(NULL, 5000, &error), IDX_INVALID_ARGUMENT);
    assert_int_equal(idx_text_leaders_make(&leaders, 0, &error), IDX_INVALID_ARGUMENT);
    assert_int_equal(idx_text_leaders_make(&leaders, -1, &error), IDX_INVALID_ARGUMENT);
    assert_int_equal(idx_text_leaders_make(&leaders, 10001, &error), IDX_INVALID_ARGUMENT);
    assert_null(leaders);
    leaders = create(5000);
    assert_int_equal(idx_text_leaders_join(NULL, 0, up, 2, &leader, &error), IDX_INVALID_ARGUMENT);
    assert_int_equal(idx_text_leaders_join(leaders, 0, NULL, 2, &leader, &error), IDX_INVALID_ARGUMENT);
    assert_int_equal(idx_text_leaders_join(leaders, 0, up, 2, NULL, &error), IDX_INVALID_ARGUMENT);
    assert_int_equal(idx_text_leaders_join(leaders, 0, down, 2, &leader, &error), IDX_INVALID_ARGUMENT);
    assert_int_equal(idx_text_leaders_join(leaders, 0, twice, 2, &leader, &error), IDX_INVALID_ARGUMENT);
    assert_int_equal(idx_text_leaders_join_features(leaders, 0, weighted_down, 2, &leader, &error),
                     IDX_INVALID_ARGUMENT);
    assert_int_equal(idx_text_leaders_expect(NULL, up, 2, &error), IDX_INVALID_ARGUMENT);
    assert_int_equal(idx_text_leaders_expect(leaders, NULL, 2, &error), IDX_INVALID_ARGUMENT);
    assert_int_equal(idx_text_leaders_expect(leaders, down, 2, &error), IDX_INVALID_ARGUMENT);
    assert_int_equal(error.status, IDX_INVALID_ARGUMENT);
    assert_int_equal(leader, 9);
    assert_int_equal(idx_text_leaders_join(leaders, 3, up, 2, &leader, &error), IDX_OK);
    assert_int_equal(leader, 3);
    assert_int_equal(idx_text_leaders_join_features(leaders, 4, weighted, 2, &leader, &error), IDX_INVALID_ARGUMENT);
    assert_int_equal(idx_text_leaders_join(leaders, 5, NULL, 0, &leader, &error), IDX_OK);
    assert_int_equal(leader, 5);
    assert_int_equal(idx_text_leaders_join(leaders, 6, NULL, 0, &leader, &error), IDX_OK);
    assert_int_equal(leader, 5);
    idx_text_leaders_clear(leaders);
    assert_int_equal(idx_text_leaders_join_features(leaders, 4, weighted, 2, &leader, &error), IDX_OK);
    assert_int_equal(leader, 4);
    idx_text_leaders_free(leaders);
    idx_text_leaders_free(NULL);
}

/* With a bound, sets go to other representatives in further rounds, and in the end to the same ones. */
static void test_bound(void **state) {
    (void)state;
    uint64_t random = 9;
    for (size_t i = 0; i < SETS; i++) draw(&sets[i], &random);
    for (int weighted = 0; weighted <= 1; weighted++) {
        struct idx_text_leaders *leaders = create(5000);
        uint64_t expected[SETS], found[SETS], leader;
        size_t rounds = 0, left = SETS;
        for (size_t i = 0; i < SETS; i++) assert_int_equal(offer(leaders, i, weighted != 0, &expected[i]), IDX_OK);
        memset(found, 0xff, sizeof found);
        idx_text_leaders_limit(leaders, 1024);
        for (; left > 0; rounds++) {
            idx_text_leaders_clear(leaders);
            left = 0;
            for (size_t i = 0; i < SETS; i++) {
                if (found[i] != UINT64_MAX) continue;
                assert_int_equal(offer(leaders, i, weighted != 0, &leader), IDX_OK);
                found[i] = leader == IDX_TEXT_NO_LEADER ? UINT64_MAX : leader;
                left += found[i] == UINT64_MAX;
            }
        }
        assert_true(rounds > 2);
        assert_memory_equal(found, expected, sizeof found);
        idx_text_leaders_free(leaders);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sets),
        cmocka_unit_test(test_expected_sets),
        cmocka_unit_test(test_equal_sets_among_many),
        cmocka_unit_test(test_bound),
        cmocka_unit_test(test_only_representatives_stay),
        cmocka_unit_test(test_wrong_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
