/* balls.c: the search by buckets in memory, on each kind of instructions, compared with comparing all with all. */
#include "libidx/fingerprints/balls.h"

#include <stdlib.h>
#include <string.h>

#include "tests/libidx/sets.h"
#include "tests/libidx/support.h"

#define MOST 1000

/* A found pair, the lower fingerprint first where both are of one side. */
struct two {
    uint64_t a, b;
};

struct list {
    struct two *items;
    size_t count, room;
    bool within;
    size_t calls; /* of the function that may end the search */
    bool ends;
};

static void add(void *context, uint64_t a, uint64_t b, unsigned distance) {
    struct list *list = context;
    assert_int_equal(distance, idx_distance(a, b));
    if (list->count == list->room) {
        list->room = list->room * 2 + 64;
        list->items = realloc(list->items, list->room * sizeof *list->items);
        assert_non_null(list->items);
    }
    bool exchange = list->within && b < a;
    list->items[list->count++] = (struct two){exchange ? b : a, exchange ? a : b};
}

static bool go_on(void *context) {
    struct list *list = context;
    list->calls++;
    return !list->ends;
}

static int compare_twos(const void *x, const void *y) {
    const struct two *a = x, *b = y;
    if (a->a != b->a) return a->a < b->a ? -1 : 1;
    return (a->b > b->b) - (a->b < b->b);
}

struct sides {
    uint64_t a[MOST], b[MOST];
    size_t a_count, b_count;
};

static struct sides sides;

/* The pairs that the ball does not have. */
static struct list expect(unsigned distance, bool within, const struct idxi_ball *except) {
    struct list list = {.within = within};
    for (size_t i = 0; i < sides.a_count; i++) {
        for (size_t j = within ? i + 1 : 0; j < (within ? sides.a_count : sides.b_count); j++) {
            uint64_t other = within ? sides.a[j] : sides.b[j];
            if (idx_distance(sides.a[i], other) > distance) continue;
            if (except != NULL && idx_distance(sides.a[i] & except->mask, other & except->mask) <= except->radius)
                continue;
            add(&list, sides.a[i], other, idx_distance(sides.a[i], other));
        }
    }
    return list;
}

static void check(const struct idxi_compare_way *way, unsigned distance, bool within, uint64_t memory, uint64_t large,
                  const struct idxi_ball *except) {
    static struct idxi_balls balls;
    struct list expected = expect(distance, within, except), found = {.within = within};
    idxi_balls_init(&balls, distance);
    balls.way = way;
    balls.comparison.visit = add;
    balls.goes_on = go_on;
    balls.comparison.context = &found;
    balls.memory = memory;
    if (large > 0) balls.comparison.max_comparisons = large;
    if (except != NULL) idxi_balls_add_searched(&balls, *except);
    idxi_balls_search_alone(&balls, sides.a, sides.a_count, within ? NULL : sides.b, sides.b_count);
    assert_int_equal(balls.comparison.before_count, except != NULL);
    assert_int_equal(balls.memory, memory);
    if (found.count > 0) qsort(found.items, found.count, sizeof *found.items, compare_twos);
    if (expected.count > 0) qsort(expected.items, expected.count, sizeof *expected.items, compare_twos);
    if (found.count != expected.count ||
        (found.count > 0 && memcmp(found.items, expected.items, found.count * sizeof *found.items) != 0))
        fail_msg("%s, %zu and %zu, distance %u, memory %llu, large %llu: %zu pairs were found, not the %zu there are",
                 way->name, sides.a_count, within ? 0 : sides.b_count, distance, (unsigned long long)memory,
                 (unsigned long long)large, found.count, expected.count);
    free(found.items);
    free(expected.items);
}

/* Distinct fingerprints, as an index has them: uniform ones; copies with some bits flipped; or all within a few bits
 * of one. */
enum kind { UNIFORM, COPIES, NEAR, COUNTING, KINDS };

static size_t make(uint64_t *side, size_t count, unsigned bits, enum kind kind, uint64_t *seed) {
    uint64_t low = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1, centre = next_random(seed) & low;
    for (size_t i = 0; i < count; i++) {
        uint64_t flips = next_random(seed) & next_random(seed) & next_random(seed) & next_random(seed);
        if (kind == UNIFORM) side[i] = next_random(seed) & low;
        if (kind == COPIES) side[i] = i % 4 == 0 ? next_random(seed) & low : (side[i - i % 4] ^ flips) & low;
        if (kind == NEAR) side[i] = (centre ^ flips) & low;
        if (kind == COUNTING) side[i] = i & low;
    }
    qsort(side, count, sizeof *side, compare_numbers);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (i == 0 || side[i] != side[i - 1]) side[kept++] = side[i];
    for (size_t i = 1; i < kept; i++) { /* in no order */
        size_t other = next_random(seed) % (i + 1);
        uint64_t number = side[i];
        side[i] = side[other];
        side[other] = number;
    }
    return kept;
}

static void test_balls(void **state) {
    static const unsigned bits[] = {64, 63, 20, 1};
    static const size_t counts[] = {MOST, 700, 33, 2, 1, 0};
    const struct idxi_compare_way *ways[IDXI_MAX_COMPARE_WAYS];
    size_t way_count = idxi_list_compare_ways(ways);
    uint64_t seed = 1;
    (void)state;
    for (size_t i = 0; i < LENGTH(bits); i++) {
        for (unsigned distance = 0; distance <= 16 && (distance == 0 || distance < bits[i]); distance++) {
            size_t count = counts[(i + distance) % LENGTH(counts)], other = counts[(i + distance * 5) % LENGTH(counts)];
            enum kind kind = (enum kind)((i + distance / 2) % KINDS);
            sides.a_count = make(sides.a, count, bits[i], kind, &seed);
            sides.b_count = make(sides.b, other, bits[i], (enum kind)(next_random(&seed) % KINDS), &seed);
            struct idxi_ball ball = {next_random(&seed), 20};
            for (size_t way = 0; way < way_count; way++) {
                uint64_t memory = distance % 5 == 4 ? 5000 : 1 << 26;
                check(ways[way], distance, distance % 2 == 0, memory, 0, NULL);
                check(ways[way], distance, distance % 2 == 1, memory, 100, distance % 3 == 0 ? &ball : NULL);
            }
        }
    }
}

/* Uniform fingerprints are cut, and not compared all with all. */
static void test_cut(void **state) {
    static uint64_t uniform[100000];
    struct idxi_cut cut;
    uint64_t seed = 2;
    (void)state;
    for (size_t i = 0; i < LENGTH(uniform); i++) uniform[i] = next_random(&seed);
    for (unsigned distance = 0; distance <= 12; distance++) {
        unsigned sum = 0;
        uint64_t all = 0;
        idxi_cut_choose(&cut, idxi_get_widest_compare_way(), distance, uniform, LENGTH(uniform), NULL, 0);
        assert_true(cut.count > 0);
        for (size_t i = 0; i < cut.count; i++) {
            assert_int_equal(idx_distance(cut.balls[i].mask, 0), cut.width);
            assert_int_equal(cut.balls[i].mask & all, 0);
            all |= cut.balls[i].mask;
            sum += cut.balls[i].radius + 1;
        }
        assert_int_equal(sum, distance + 1);
    }
}

static void test_end(void **state) {
    static struct idxi_balls balls;
    struct list found = {.ends = true};
    uint64_t seed = 3;
    (void)state;
    sides.a_count = make(sides.a, MOST, 64, COPIES, &seed);
    idxi_balls_init(&balls, 10);
    balls.comparison.visit = add;
    balls.goes_on = go_on;
    balls.comparison.context = &found;
    balls.memory = 1 << 26;
    idxi_balls_search_alone(&balls, sides.a, sides.a_count, NULL, 0);
    assert_int_equal(found.count, 0);
    assert_true(found.calls > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_balls), cmocka_unit_test(test_cut),
                                       cmocka_unit_test(test_end)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
