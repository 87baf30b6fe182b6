/* needles.c: which needles a set contains, compared with a plain program that compares it with each of them. */
#include <stdlib.h>
#include <string.h>

#include "libidx/base/base.h"
#include "tests/libidx/support.h"
#include "tests/random.h"

enum { MOST = 60 }; /* members of a set */

struct set {
    uint64_t hashes[2 * MOST]; /* in any order, and some repeated */
    size_t count;
};

/* How needles, and the sets that are asked about, are made. */
struct make {
    const char *name;
    size_t needles, sets;
    size_t members;
    uint64_t range;   /* members are drawn from so many hashes */
    unsigned frame;   /* needles begin with so many members that all have */
    unsigned copies;  /* of a hundred needles, so many are an earlier one with some members replaced */
    unsigned shift;   /* the hashes, once they are mixed, differ in `range` values of the bits from this one on */
    uint64_t pattern; /* and are this in all other bits */
};

static const struct make makes[] = {
    {"random", 300, 300, 40, 2000, 0, 0, 0, 0},
    {"of few hashes", 200, 300, 12, 30, 0, 20, 0, 0},
    {"clustered", 300, 300, 40, 20000, 0, 90, 0, 0},
    {"with a frame", 300, 200, 40, UINT64_C(1) << 40, 25, 10, 0, 0},
    {"all frame", 100, 100, 20, 1000, 20, 0, 0, 0},
    {"of one member", 100, 100, 1, 20, 0, 0, 0, 0},
    {"one", 1, 50, 20, 100, 0, 0, 0, 0},
    {"none", 0, 20, 20, 100, 0, 0, 0, 0},
    {"without members", 20, 20, 0, 10, 0, 0, 0, 0},
    {"alike in the low bits", 200, 200, 30, 600, 0, 30, 54, 12345},
    {"alike in the leading bits", 200, 200, 30, 600, 0, 30, 6, UINT64_C(0xabcd) << 48},
    {"alike in all but the lowest bits", 200, 200, 30, 60, 0, 30, 0, UINT64_C(0x1234567) << 8},
    {"of bits in the middle", 200, 200, 30, 600, 0, 30, 30, ~UINT64_C(0) << 40 | 63},
};

/* Returns the hash that becomes this one when it is mixed (idxi_mix). */
static uint64_t unmix(uint64_t mixed) {
    mixed = (mixed ^ mixed >> 31 ^ mixed >> 62) * UINT64_C(0x319642b2d24d8ec3);
    mixed = (mixed ^ mixed >> 27 ^ mixed >> 54) * UINT64_C(0x96de1b173f119089);
    return (mixed ^ mixed >> 30 ^ mixed >> 60) - UINT64_C(0x9e3779b97f4a7c15);
}

static uint64_t draw(const struct make *make, uint64_t *seed) {
    const uint64_t number = next_random(seed) % make->range;
    if (make->pattern == 0) return number % 2 == 0 ? number / 2 : ~number;
    return unmix(make->pattern ^ number << make->shift);
}

static struct set make_set(const struct make *make, const struct set *earlier, uint64_t *seed) {
    struct set set = {.count = make->members == 0 ? 0 : 1 + next_random(seed) % make->members};
    for (size_t i = 0; i < set.count; i++) set.hashes[i] = draw(make, seed);
    for (size_t i = 0; i < make->frame && i < set.count; i++) set.hashes[i] = unmix(i);
    if (earlier != NULL) {
        set = *earlier;
        for (size_t i = next_random(seed) % (set.count + 1); i > 0; i--)
            set.hashes[next_random(seed) % set.count] = draw(make, seed);
    }
    return set;
}

/* Makes a set that has much of a needle, or of several, some of it twice, and other members. */
static struct set make_query(const struct make *make, const struct set *needles, uint64_t *seed) {
    struct set set = make_set(make, NULL, seed);
    for (unsigned pieces = (unsigned)next_random(seed) % 4; pieces > 0 && make->needles > 0; pieces--) {
        const struct set *needle = &needles[next_random(seed) % make->needles];
        const unsigned percent = (unsigned)next_random(seed) % 120;
        for (size_t i = 0; i < needle->count && set.count < 2 * MOST; i++)
            if (next_random(seed) % 100 < percent) set.hashes[set.count++] = needle->hashes[i];
    }
    return set;
}

/* Returns how many different hashes a set has, and sets *shared to how many of these another one has. */
static uint32_t count_plainly(const struct set *set, const struct set *other, uint32_t *shared) {
    uint32_t size = 0;
    *shared = 0;
    for (size_t i = 0; i < set->count; i++) {
        bool is_new = true, found = false;
        for (size_t j = 0; j < i; j++) is_new = is_new && set->hashes[j] != set->hashes[i];
        for (size_t j = 0; j < other->count; j++) found = found || other->hashes[j] == set->hashes[i];
        size += is_new;
        *shared += is_new && found;
    }
    return size;
}

/* Lists the needles that a set contains in the order in which they must be found; returns how many these are. */
static size_t find_plainly(const struct make *make, const struct set *needles, const struct set *set,
                           const struct idx_needles_options *options, struct idx_needle_match *matches) {
    size_t count = 0;
    for (size_t i = 0; i < make->needles; i++) {
        struct idx_needle_match match = {.needle = i};
        match.size = count_plainly(&needles[i], set, &match.shared);
        if (match.size == 0 || match.size < options->contained_size) continue;
        if ((uint64_t)match.shared * 10000 < (uint64_t)options->contained * match.size) continue;
        size_t at = count++;
        for (; at > 0; at--) {
            const struct idx_needle_match *before = &matches[at - 1];
            if ((uint64_t)match.shared * before->size <= (uint64_t)before->shared * match.size) break;
            matches[at] = *before;
        }
        matches[at] = match;
    }
    return count;
}

static struct idx_sets *add_all(const struct set *needles, size_t count, unsigned trial) {
    struct idx_sets_options options = IDX_SETS_OPTIONS_INIT;
    struct idx_sets *sets;
    options.memory_bytes = trial % 2 == 0 ? 0 : IDX_MIN_MEMORY_BYTES;
    assert_ok(idx_sets_open(&sets, &options, &failure));
    for (size_t i = 0; i < count; i++) assert_ok(idx_sets_add(sets, needles[i].hashes, needles[i].count, &failure));
    return sets;
}

/* Compares what two finders, used in turns, find of all sets. Returns how many needles are found in all. */
static size_t check_sets(const struct make *make, const struct set *needles, const struct idx_needles_options *options,
                         const struct idx_needles *made, uint64_t *seed) {
    struct idx_needle_match *expected = calloc(make->needles + 1, sizeof *expected);
    struct idx_needle_finder *finders[2];
    size_t all = 0;
    for (int i = 0; i < 2; i++) assert_ok(idx_needle_finder_open(&finders[i], made, &failure));
    for (size_t i = 0; i < make->sets; i++) {
        const struct set set = make_query(make, needles, seed);
        const size_t wanted = find_plainly(make, needles, &set, options, expected);
        const struct idx_needle_match *found;
        size_t count;
        assert_ok(
            idx_needles_find(finders[i % 2], set.count > 0 ? set.hashes : NULL, set.count, &found, &count, &failure));
        if (count != wanted) fail_msg("%s: set %zu contains %zu needles, not %zu", make->name, i, wanted, count);
        for (size_t j = 0; j < count; j++) {
            const struct idx_needle_match *a = &found[j], *b = &expected[j];
            if (a->needle != b->needle || a->shared != b->shared || a->size != b->size)
                fail_msg("%s: set %zu contains %u of %u of needle %llu, not %u of %u of needle %llu", make->name, i,
                         b->shared, b->size, (unsigned long long)b->needle, a->shared, a->size,
                         (unsigned long long)a->needle);
        }
        all += count;
    }
    for (int i = 0; i < 2; i++) idx_needle_finder_close(finders[i]);
    free(expected);
    return all;
}

/* All kinds of needles, shares and sizes; from memory, and from a file. */
static void test_needles(void **state) {
    static const int64_t shares[] = {1, 1000, 3333, 5000, 5001, 8000, 9999, 10000};
    size_t found = 0;
    (void)state;
    for (unsigned trial = 0; trial < LENGTH(makes) * LENGTH(shares); trial += is_sanitized() ? 5 : 1) {
        const struct make *make = &makes[trial % LENGTH(makes)];
        struct idx_needles_options options = {sizeof options, shares[trial / LENGTH(makes)], trial % 3 * 5};
        struct set *needles = calloc(make->needles + 1, sizeof *needles);
        struct idx_needles *made;
        uint64_t seed = trial + 1, left_out, expected_out = 0;
        for (size_t i = 0; i < make->needles; i++) {
            const bool is_copy = i > 0 && next_random(&seed) % 100 < make->copies;
            uint32_t shared;
            needles[i] = make_set(make, is_copy ? &needles[next_random(&seed) % i] : NULL, &seed);
            const uint32_t size = count_plainly(&needles[i], &needles[i], &shared);
            expected_out += size == 0 || size < options.contained_size;
        }
        struct idx_sets *sets = add_all(needles, make->needles, trial);
        assert_ok(idx_needles_open(&made, sets, &options, &left_out, &failure));
        assert_int_equal(left_out, expected_out);
        assert_ok(idx_sets_add(sets, &seed, 1, &failure)); /* What is added later is no needle. */
        idx_sets_close(sets);
        found += check_sets(make, needles, &options, made, &seed);
        idx_needles_close(made);
        free(needles);
    }
    assert_true(found > 1000);
}

/* The least memory does not hold these needles, which are then read from a file. */
static void test_needles_of_a_file(void **state) {
    const struct make make = {"many", 3000, 60, MOST, 100000, 0, 20, 0, 0};
    struct set *needles = calloc(make.needles, sizeof *needles);
    struct idx_needles *made;
    uint64_t seed = 5;
    (void)state;
    for (size_t i = 0; i < make.needles; i++)
        needles[i] = make_set(&make, i > 0 && i % 5 == 0 ? &needles[i / 2] : NULL, &seed);
    struct idx_sets *sets = add_all(needles, make.needles, 1);
    assert_ok(idx_needles_open(&made, sets, NULL, NULL, &failure));
    idx_sets_close(sets);
    assert_true(check_sets(&make, needles, &(struct idx_needles_options)IDX_NEEDLES_OPTIONS_INIT, made, &seed) > 20);
    idx_needles_close(made);
    free(needles);
}

/* Sets that have the frame of all needles, but none of them, are compared with none: this ends, though each of so many
 * sets would be compared with each of so many needles. */
static void test_frame(void **state) {
    enum { NEEDLES = 20000, SETS = 20000, FRAME = 30, OWN = 31 };
    uint64_t members[FRAME + OWN], next = 1000;
    struct idx_needles *needles;
    struct idx_needle_finder *finder;
    struct idx_sets *sets;
    const struct idx_needle_match *found;
    size_t count;
    (void)state;
    assert_ok(idx_sets_open(&sets, NULL, &failure));
    for (size_t i = 0; i < NEEDLES; i++) {
        for (size_t j = 0; j < FRAME + OWN; j++) members[j] = j < FRAME ? j : next++;
        assert_ok(idx_sets_add(sets, members, FRAME + OWN, &failure));
    }
    const struct idx_needles_options options = {sizeof options, 5000, 0};
    assert_ok(idx_needles_open(&needles, sets, &options, NULL, &failure));
    assert_ok(idx_needle_finder_open(&finder, needles, &failure));
    for (size_t i = 0; i < SETS; i++) {
        assert_ok(idx_needles_find(finder, members, FRAME, &found, &count, &failure));
        assert_int_equal(count, 0);
    }
    assert_ok(idx_needles_find(finder, members, FRAME + 1, &found, &count, &failure));
    assert_int_equal(count, 1);
    assert_int_equal(found->needle, NEEDLES - 1);
    idx_needle_finder_close(finder);
    idx_needles_close(needles);
    idx_sets_close(sets);
}

static void test_arguments(void **state) {
    struct idx_needles_options options = IDX_NEEDLES_OPTIONS_INIT;
    const struct idx_needle_match *found;
    struct idx_needle_finder *finder;
    struct idx_needles *needles;
    struct idx_sets *sets;
    uint64_t hash = 1;
    size_t count;
    (void)state;
    assert_ok(idx_sets_open(&sets, NULL, &failure));
    for (options.contained = -1; options.contained <= 10001; options.contained += options.contained == 0 ? 10001 : 1)
        assert_int_equal(idx_needles_open(&needles, sets, &options, NULL, &failure), IDX_INVALID_ARGUMENT);
    assert_string_equal(failure.sentence, "a share of a needle is from 1 to 10000 units of 1/10000, not 10001");
    assert_int_equal(idx_needles_open(NULL, sets, NULL, NULL, &failure), IDX_INVALID_ARGUMENT);
    assert_int_equal(idx_needles_open(&needles, NULL, NULL, NULL, &failure), IDX_INVALID_ARGUMENT);
    assert_ok(idx_needles_open(&needles, sets, NULL, NULL, &failure));
    assert_int_equal(idx_needle_finder_open(NULL, needles, &failure), IDX_INVALID_ARGUMENT);
    assert_int_equal(idx_needle_finder_open(&finder, NULL, &failure), IDX_INVALID_ARGUMENT);
    assert_ok(idx_needle_finder_open(&finder, needles, &failure));
    assert_int_equal(idx_needles_find(NULL, &hash, 1, &found, &count, &failure), IDX_INVALID_ARGUMENT);
    assert_int_equal(idx_needles_find(finder, NULL, 1, &found, &count, &failure), IDX_INVALID_ARGUMENT);
    assert_int_equal(idx_needles_find(finder, &hash, 1, NULL, &count, &failure), IDX_INVALID_ARGUMENT);
    assert_int_equal(idx_needles_find(finder, &hash, 1, &found, NULL, &failure), IDX_INVALID_ARGUMENT);
    assert_ok(idx_needles_find(finder, &hash, 1, &found, &count, &failure));
    assert_int_equal(count, 0);
    idx_needle_finder_close(finder);
    idx_needle_finder_close(NULL);
    idx_needles_close(needles);
    idx_needles_close(NULL);
    idx_sets_close(sets);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_needles), cmocka_unit_test(test_needles_of_a_file),
                                       cmocka_unit_test(test_frame), cmocka_unit_test(test_arguments)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
