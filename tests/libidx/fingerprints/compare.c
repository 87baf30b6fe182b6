/* compare.c: each way to compare fingerprints all with all, and to sort them by some bits, against plain loops. */
#include "libidx/fingerprints/compare.h"

#include <stdlib.h>
#include <string.h>

#include "tests/libidx/sets.h"
#include "tests/libidx/support.h"

#define MOST 300

/* Two fingerprints, in the order in which they were taken. */
struct two {
    uint64_t a, b;
};

struct taken {
    struct idxi_comparison comparison;
    struct two items[MOST * MOST];
    size_t count;
};

static struct taken expected, found;

static void take(void *context, uint64_t a, uint64_t b, unsigned distance) {
    struct taken *taken = context;
    assert_int_equal(distance, idx_distance(a, b));
    assert_true(taken->count < LENGTH(taken->items));
    taken->items[taken->count++] = (struct two){a, b};
}

/* Those in which pairs were found before: none, the first, or both, in turns. */
static const struct idxi_ball balls[] = {{UINT64_C(0xff00ff00ff00ff00), 1}, {UINT64_C(0x0f0f0f0f0f0f0f0f), 0}};

static bool are_near(uint64_t a, uint64_t b) {
    for (size_t i = 0; i < expected.comparison.before_count; i++) {
        if (idx_distance(a & balls[i].mask, b & balls[i].mask) <= balls[i].radius) return false;
    }
    return idx_distance(a, b) <= expected.comparison.distance;
}

static void expect(uint64_t a, uint64_t b) { take(&expected, a, b, idx_distance(a, b)); }

/* Takes the near ones of two buckets. */
static void take_large(struct idxi_comparison *comparison, const uint64_t *a, size_t a_count, const uint64_t *b,
                       size_t b_count) {
    assert_true(a_count * (b == NULL ? a_count : b_count) > comparison->max_comparisons);
    for (size_t i = 0; i < a_count; i++) {
        for (size_t j = b == NULL ? i + 1 : 0; j < (b == NULL ? a_count : b_count); j++) {
            uint64_t other = b == NULL ? a[j] : b[j];
            if (are_near(a[i], other)) take(&found, a[i], other, idx_distance(a[i], other));
        }
    }
}

static void begin(unsigned distance) {
    static size_t turn;
    expected.comparison = (struct idxi_comparison){distance, take, &expected, balls, turn++ % 3, take_large, 64};
    found.comparison = expected.comparison;
    found.comparison.context = &found;
    expected.count = found.count = 0;
}

static int compare_twos(const void *x, const void *y) {
    const struct two *a = x, *b = y;
    if (a->a != b->a) return a->a < b->a ? -1 : 1;
    return (a->b > b->b) - (a->b < b->b);
}

static void check_taken(const struct idxi_compare_way *way, const char *what, size_t count) {
    qsort(expected.items, expected.count, sizeof *expected.items, compare_twos);
    qsort(found.items, found.count, sizeof *found.items, compare_twos);
    if (found.count != expected.count || memcmp(found.items, expected.items, found.count * sizeof *found.items) != 0)
        fail_msg("%s, %s of %zu, distance %u: %zu are near, not the %zu there are", way->name, what, count,
                 expected.comparison.distance, found.count, expected.count);
}

/* ---- Fingerprints ---- */

/* Around `centre`, some far from it, so that some of them are near to each other; and some equal. */
static void make(uint64_t *fingerprints, size_t count, uint64_t centre, uint64_t *seed) {
    for (size_t i = 0; i < count; i++)
        fingerprints[i] = flip_bits(centre, 64, (unsigned)(next_random(seed) % (i % 5 == 0 ? 65 : 4)), seed);
}

/* As many as a vector has lanes, and one less and one more; some vectors. */
static size_t choose_count(uint64_t *seed) {
    static const size_t counts[] = {0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, MOST};
    return next_random(seed) % 2 == 0 ? counts[next_random(seed) % LENGTH(counts)] : next_random(seed) % 70;
}

/* Any mask of up to `most` bits. */
static uint64_t choose_mask(unsigned most, uint64_t *seed) {
    return flip_bits(0, 64, (unsigned)(next_random(seed) % (most + 1)), seed);
}

/* ---- Ways ---- */

static uint64_t sorted_by; /* a mask */

static int compare_masked(const void *x, const void *y) {
    uint64_t a = *(const uint64_t *)x & sorted_by, b = *(const uint64_t *)y & sorted_by;
    return (a > b) - (a < b);
}

static void check_comparing(const struct idxi_compare_way *way, const uint64_t *a, size_t a_count, const uint64_t *b,
                            size_t b_count, unsigned distance) {
    begin(distance);
    for (size_t i = 0; i < a_count; i++) {
        for (size_t j = i + 1; j < a_count; j++)
            if (are_near(a[i], a[j])) expect(a[i], a[j]);
    }
    way->within(&found.comparison, a, a_count);
    check_taken(way, "within", a_count);
    begin(distance);
    for (size_t i = 0; i < a_count; i++) {
        for (size_t j = 0; j < b_count; j++)
            if (are_near(a[i], b[j])) expect(a[i], b[j]);
    }
    way->between(&found.comparison, a, a_count, b, b_count);
    check_taken(way, "between", a_count);
}

static void check_runs(const struct idxi_compare_way *way, uint64_t *a, size_t count, uint64_t mask,
                       unsigned distance) {
    sorted_by = mask;
    qsort(a, count, sizeof *a, compare_masked);
    begin(distance);
    for (size_t i = 0; i < count; i++) {
        for (size_t j = i + 1; j < count; j++)
            if (are_near(a[i], a[j]) && ((a[i] ^ a[j]) & mask) == 0) expect(a[i], a[j]);
    }
    way->runs(&found.comparison, a, count, mask);
    check_taken(way, "runs", count);
}

static void check_sort(const struct idxi_compare_way *way, const uint64_t *a, size_t count, uint64_t mask) {
    static uint32_t counts[IDXI_SORT_COUNTS];
    uint64_t sorted[MOST + 1], all[MOST];
    memset(counts, 0xff, sizeof counts);
    sorted[count] = 12345;
    idxi_sort_by_mask(way, a, count, mask, sorted, counts);
    assert_int_equal(sorted[count], 12345);
    for (size_t i = 1; i < count; i++) assert_true((sorted[i - 1] & mask) <= (sorted[i] & mask));
    sorted_by = UINT64_MAX;
    memcpy(all, a, count * sizeof *a);
    qsort(all, count, sizeof *all, compare_masked);
    qsort(sorted, count, sizeof *sorted, compare_masked);
    assert_memory_equal(sorted, all, count * sizeof *all);
}

/* Counts where the bucket of each value begins. */
static void fill_starts(uint32_t *starts, const uint64_t *sorted, size_t count, unsigned bits) {
    size_t at = 0;
    for (uint64_t value = 0; value <= UINT64_C(1) << bits; value++) {
        while (at < count && (sorted[at] & ((UINT64_C(1) << bits) - 1)) < value) at++;
        starts[value] = (uint32_t)at;
    }
}

/* Compares buckets by the lowest bits, half of the values at a time, with those that differ from them in the highest of
 * these bits if `high`, and in none or some of the others. */
static void check_buckets(const struct idxi_compare_way *way, uint64_t *a, size_t a_count, uint64_t *b, size_t b_count,
                          bool high, bool within, unsigned distance) {
    enum { BITS = 3, VALUES = 1 << BITS };
    static const uint16_t lows[] = {0, 3, 1};
    uint32_t a_starts[VALUES + 1], b_starts[VALUES + 1];
    uint64_t low = VALUES - 1, highest = high ? VALUES / 2 : 0;
    sorted_by = low;
    qsort(a, a_count, sizeof *a, compare_masked);
    qsort(b, b_count, sizeof *b, compare_masked);
    fill_starts(a_starts, a, a_count, BITS);
    fill_starts(b_starts, b, b_count, BITS);
    for (uint64_t first = 0; first < VALUES; first += VALUES / 2) {
        struct idxi_bucket_pairs pairs = {
            a,    within ? a : b, a_starts, within ? a_starts : b_starts, first, first + VALUES / 2, highest,
            lows, LENGTH(lows),   within};
        begin(distance);
        for (size_t i = 0; i < a_count; i++) {
            for (size_t j = 0; j < (within ? a_count : b_count); j++) {
                uint64_t x = a[i], y = pairs.b[j], flip = (x ^ y) & low;
                bool once = !within || (x & low) < (y & low) || (flip == 0 && i < j);
                bool listed = flip == highest || flip == (highest | 3) || flip == (highest | 1);
                if (listed && (x & low) >= first && (x & low) < first + VALUES / 2 && once && are_near(x, y))
                    expect(x, y);
            }
        }
        way->buckets(&found.comparison, &pairs);
        check_taken(way, "buckets", a_count);
    }
}

/* Buckets by the bits of a mask that has up to 6, of `b`. */
static void check_meeting(const struct idxi_compare_way *way, const uint64_t *a, size_t a_count, uint64_t *b,
                          size_t b_count, uint64_t mask, unsigned distance) {
    uint32_t starts[(1 << 6) + 2] = {0}, folds[MOST + IDXI_FOLD_PADDING] = {0};
    uint64_t sorted[MOST];
    idxi_sort_by_mask(way, b, b_count, mask, sorted, starts + 1);
    for (size_t i = 0; i < b_count; i++) folds[i] = idxi_fold(sorted[i]);
    begin(distance);
    for (size_t i = 0; i < a_count; i++) {
        for (size_t j = 0; j < b_count; j++)
            if (are_near(a[i], b[j]) && ((a[i] ^ b[j]) & mask) == 0) expect(a[i], b[j]);
    }
    way->with_bucket(&found.comparison, a, a_count, &(struct idxi_folded_buckets){{sorted, starts}, mask, folds});
    check_taken(way, "with_bucket", a_count);
}

static void test_ways(void **state) {
    static const unsigned distances[] = {0, 1, 3, 7, 63, 64};
    const struct idxi_compare_way *ways[IDXI_MAX_COMPARE_WAYS];
    size_t way_count = idxi_list_compare_ways(ways);
    uint64_t a[MOST], b[MOST];
    (void)state;
    assert_in_range(way_count, 1, IDXI_MAX_COMPARE_WAYS);
    for (size_t way = 0; way < way_count; way++) {
        uint64_t seed = 1;
        print_message("%s\n", ways[way]->name);
        for (size_t i = 0; i < scale(300); i++) {
            uint64_t centre = next_random(&seed);
            size_t a_count = choose_count(&seed), b_count = choose_count(&seed);
            unsigned distance = distances[i % LENGTH(distances)];
            make(a, a_count, centre, &seed);
            make(b, b_count, centre, &seed);
            check_comparing(ways[way], a, a_count, b, b_count, distance);
            check_sort(ways[way], a, a_count, choose_mask(IDXI_SORTED_BITS, &seed));
            check_runs(ways[way], a, a_count, choose_mask(8, &seed), distance);
            check_runs(ways[way], a, a_count, choose_mask(64, &seed), distance);
            check_buckets(ways[way], a, a_count, b, b_count, true, i % 2 == 0, distance);
            check_buckets(ways[way], a, a_count, b, b_count, false, i % 2 == 0, distance);
            check_meeting(ways[way], a, a_count, b, b_count, choose_mask(6, &seed), distance);
        }
    }
}

/* A bucket that is compared with so many, of so many fingerprints, that they are more than are moved together at a
 * time. */
static void test_many_buckets(void **state) {
    enum { VALUES = 64, MEMBERS = 30, OTHERS = 20, OTHER = 5 };
    static uint64_t a[VALUES * MEMBERS], b[OTHERS];
    static uint16_t lows[VALUES];
    uint32_t a_starts[VALUES + 1], b_starts[VALUES + 1];
    const struct idxi_compare_way *ways[IDXI_MAX_COMPARE_WAYS];
    size_t way_count = idxi_list_compare_ways(ways);
    uint64_t seed = 3, low = VALUES - 1;
    (void)state;
    make(a, LENGTH(a), 0, &seed);
    make(b, LENGTH(b), 0, &seed);
    for (size_t i = 0; i < LENGTH(a); i++) a[i] = (a[i] & ~low) | i / MEMBERS;
    for (size_t i = 0; i < LENGTH(b); i++) b[i] = (b[i] & ~low) | OTHER;
    b[0] = a[OTHER * MEMBERS]; /* The first one that is moved is near, so that it is noticed if it comes twice. */
    fill_starts(a_starts, a, LENGTH(a), 6);
    fill_starts(b_starts, b, LENGTH(b), 6);
    for (size_t i = 0; i < VALUES; i++) lows[i] = (uint16_t)i;
    struct idxi_bucket_pairs pairs = {a, b, a_starts, b_starts, 0, VALUES, 0, lows, VALUES, false};
    for (size_t way = 0; way < way_count; way++) {
        begin(9);
        expected.comparison.max_comparisons = found.comparison.max_comparisons = 1000000;
        for (size_t i = 0; i < LENGTH(a); i++) {
            for (size_t j = 0; j < LENGTH(b); j++)
                if (are_near(a[i], b[j])) expect(a[i], b[j]);
        }
        assert_true(expected.count > 1000 && expected.count < LENGTH(a) * LENGTH(b));
        ways[way]->buckets(&found.comparison, &pairs);
        check_taken(ways[way], "many buckets", LENGTH(a));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ways), cmocka_unit_test(test_many_buckets)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
