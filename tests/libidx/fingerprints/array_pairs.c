/* array_pairs.c: the pairs of arrays, on several threads and in any memory, compared with those that comparing all with
 * all finds. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "libidx/base/base.h"
#include "libidx/fingerprints/array_pairs.h"
#include "tests/libidx/pair_list.h"
#include "tests/libidx/support.h"

#define MOST 40000

/* ---- Calls ---- */

/* What a call has for arrays: `array_bytes`, or what the library allows where that is 0. */
static uint64_t array_bytes;
uint64_t __real_idxi_memory_of_arrays(uint64_t memory, unsigned threads);
uint64_t __wrap_idxi_memory_of_arrays(uint64_t memory, unsigned threads);
uint64_t __wrap_idxi_memory_of_arrays(uint64_t memory, unsigned threads) {
    return array_bytes > 0 ? array_bytes : __real_idxi_memory_of_arrays(memory, threads);
}

/* With which instructions a call compares: those of this way, or the fastest where it is NULL. */
static const struct idxi_compare_way *way;
const struct idxi_compare_way *__real_idxi_get_widest_compare_way(void);
const struct idxi_compare_way *__wrap_idxi_get_widest_compare_way(void);
const struct idxi_compare_way *__wrap_idxi_get_widest_compare_way(void) {
    return way != NULL ? way : __real_idxi_get_widest_compare_way();
}

/* What a call reserves for arrays, now and at most; one thread reserves and releases them. */
static uint64_t reserved, most_reserved;
uint64_t *__real_idxi_array_reserve(size_t count);
uint64_t *__wrap_idxi_array_reserve(size_t count);
uint64_t *__wrap_idxi_array_reserve(size_t count) {
    reserved += count * sizeof(uint64_t);
    if (reserved > most_reserved) most_reserved = reserved;
    return __real_idxi_array_reserve(count);
}

void __real_idxi_array_release(uint64_t *array, size_t count);
void __wrap_idxi_array_release(uint64_t *array, size_t count);
void __wrap_idxi_array_release(uint64_t *array, size_t count) {
    if (array != NULL) reserved -= count * sizeof(uint64_t);
    __real_idxi_array_release(array, count);
}

/* Finds the pairs between two sets, as joins of indexes do. */
static enum idx_status join(const struct set *a, const struct set *b, const struct idx_join_options *options,
                            struct pair_list *list) {
    struct idxi_progress progress;
    struct idxi_array_pairs pairs = {.distance = options->distance,
                                     .threads = options->threads,
                                     .memory = array_bytes > 0 ? array_bytes : (uint64_t)1 << 30,
                                     .visit = take_pairs,
                                     .visit_context = list,
                                     .progress = &progress,
                                     .work = a->distinct_count};
    idxi_progress_init(&progress, options->progress, options->context);
    return idxi_find_array_pairs(&pairs, a->distinct, a->distinct_count, b->distinct, b->distinct_count, &failure);
}

/* Finds the pairs within a set, or between two. */
static enum idx_status call(const struct set *a, const struct set *b, const struct idx_join_options *options,
                            struct pair_list *list) {
    return b == NULL ? idx_array_pairs(a->items, a->count, options, take_pairs, list, &failure)
                     : join(a, b, options, list);
}

static void check(const char *name, const struct set *a, const struct set *b, unsigned distance, unsigned threads,
                  uint64_t bytes) {
    struct pair_list expected = compare_all(a, b, distance), found = {.most = SIZE_MAX};
    struct idx_join_options options = IDX_JOIN_OPTIONS_INIT;
    options.distance = distance;
    options.threads = threads;
    array_bytes = bytes;
    assert_ok(call(a, b, &options, &found));
    array_bytes = 0;
    if (found.count > 0) qsort(found.pairs, found.count, sizeof *found.pairs, compare_pairs);
    bool same = found.count == expected.count;
    for (size_t i = 0; same && i < found.count; i++) same = compare_pairs(&found.pairs[i], &expected.pairs[i]) == 0;
    if (!same)
        fail_msg(
            "%s of %u bits, %zu and %zu, distance %u, %u threads, %llu bytes: other pairs (%zu) than there are (%zu)",
            name, a->bits, a->count, b == NULL ? 0 : b->count, distance, threads, (unsigned long long)bytes,
            found.count, expected.count);
    free(found.pairs);
    free(expected.pairs);
}

/* Every distance, any number of threads, all kinds of instructions; enough memory, and so little that sides are cut. */
static void test_shapes(void **state) {
    const struct idxi_compare_way *ways[IDXI_MAX_COMPARE_WAYS];
    size_t way_count = idxi_list_compare_ways(ways);
    static const unsigned bits[] = {1, 20, 63, 64}, threads[] = {1, 2, 7};
    static const enum shape shapes[] = {SHAPE_UNIFORM,   SHAPE_CLUSTERED, SHAPE_PREFIXED, SHAPE_SKEWED,
                                        SHAPE_DENSE_LOW, SHAPE_DEAD,      SHAPE_NONE};
    size_t turn = 0;
    (void)state;
    for (size_t i = 0; i < LENGTH(bits) * LENGTH(shapes); i++) {
        enum shape shape = shapes[i / LENGTH(bits)];
        struct set set = make_set(shape, bits[i % LENGTH(bits)], scale(600), i);
        struct set half = set_of(set.items, set.count / 2, set.bits);
        for (unsigned distance = 0; distance <= IDX_MAX_K && (distance == 0 || distance < set.bits); distance++) {
            unsigned some = threads[turn++ % LENGTH(threads)];
            way = ways[turn / LENGTH(threads) % way_count];
            check(shape_names[shape], &set, NULL, distance, some, 0);
            check(shape_names[shape], &set, &half, distance, some, 1);
            check(shape_names[shape], &half, &set, distance, some, 0);
        }
        free_set(&set);
        free_set(&half);
    }
    way = NULL;
}

/* More than are compared without being cut, whatever the memory. */
static void test_little_memory(void **state) {
    struct set set = make_set(SHAPE_CLUSTERED, 64, MOST, 1);
    struct set few = set_of(set.items, 100, 64);
    (void)state;
    for (unsigned threads = 1; threads <= 3; threads++) {
        check("clustered", &set, &few, 6, threads, 1);
        check("clustered", &few, &set, 6, threads, 1);
    }
    if (!is_sanitized()) check("clustered", &set, NULL, 6, 2, (uint64_t)1 << 17);
    free_set(&set);
    free_set(&few);
}

/* The distance is too large for these to be cut, and both sides are more than are compared at a time. */
static void test_uncut(void **state) {
    struct set set = make_set(SHAPE_UNIFORM, 48, 17000, 1), other = make_set(SHAPE_UNIFORM, 48, 1100, 2);
    (void)state;
    for (unsigned threads = 1; threads <= 3; threads += 2) check("uniform", &other, &set, IDX_MAX_K, threads, 0);
    free_set(&set);
    free_set(&other);
}

/* What is sorted at a time takes no more than is allowed, and the pairs are the same. */
static void test_memory_is_kept(void **state) {
    struct set set = make_set(SHAPE_UNIFORM, 64, 100000, 1);
    struct pair_list whole = {.most = SIZE_MAX}, cut = {.most = SIZE_MAX};
    struct idxi_progress progress;
    struct idxi_array_pairs pairs = {
        .distance = 10, .memory = UINT64_MAX, .visit = take_pairs, .progress = &progress, .within = true};
    (void)state;
    idxi_progress_init(&progress, NULL, NULL);
    for (pairs.threads = 1; pairs.threads <= 2; pairs.threads++) {
        pairs.memory = UINT64_MAX;
        pairs.visit_context = &whole;
        whole.count = cut.count = most_reserved = 0;
        assert_ok(idxi_find_array_pairs(&pairs, set.distinct, set.distinct_count, NULL, 0, &failure));
        assert_true(most_reserved >= set.distinct_count * sizeof *set.distinct);
        pairs.memory = most_reserved / 2;
        pairs.visit_context = &cut;
        most_reserved = 0;
        assert_ok(idxi_find_array_pairs(&pairs, set.distinct, set.distinct_count, NULL, 0, &failure));
        assert_true(most_reserved > 0 && most_reserved <= pairs.memory);
        assert_int_equal(reserved, 0);
        assert_true(whole.count > 0);
        assert_int_equal(cut.count, whole.count);
        qsort(whole.pairs, whole.count, sizeof *whole.pairs, compare_pairs);
        qsort(cut.pairs, cut.count, sizeof *cut.pairs, compare_pairs);
        for (size_t i = 0; i < cut.count; i++) assert_int_equal(compare_pairs(&cut.pairs[i], &whole.pairs[i]), 0);
    }
    free(whole.pairs);
    free(cut.pairs);
    free_set(&set);
}

/* ---- Ends ---- */

static void test_visitor_stops(void **state) {
    struct set set = make_set(SHAPE_DENSE_LOW, 64, 4096, 1);
    struct idx_join_options options = IDX_JOIN_OPTIONS_INIT;
    (void)state;
    options.distance = 3;
    for (options.threads = 1; options.threads <= 7; options.threads += 3) {
        struct pair_list list = {.most = 1};
        assert_ok(call(&set, NULL, &options, &list));
        assert_true(list.count >= 1);
        assert_int_equal(list.calls, 0);
        free(list.pairs);
    }
    free_set(&set);
}

static bool cancel(void *context, const struct idx_progress *progress) {
    assert_int_equal(progress->phase, IDX_PHASE_COMPARING);
    return --*(int *)context > 0;
}

static bool note_progress(void *context, const struct idx_progress *progress) {
    assert_true(progress->done <= progress->total);
    *(struct idx_progress *)context = *progress;
    return true;
}

static void test_progress(void **state) {
    struct set set = make_set(SHAPE_CLUSTERED, 64, 20000, 1);
    struct pair_list list = {.most = SIZE_MAX};
    struct idx_join_options options = IDX_JOIN_OPTIONS_INIT;
    struct idx_progress last = {0};
    int calls = 1;
    (void)state;
    options.distance = 8;
    options.progress = cancel;
    options.context = &calls;
    assert_status(IDX_CANCELLED, call(&set, NULL, &options, &list));
    options.progress = note_progress;
    options.context = &last;
    assert_ok(call(&set, NULL, &options, &list));
    assert_int_equal(last.total, set.distinct_count);
    free(list.pairs);
    free_set(&set);
}

static void test_bad_options(void **state) {
    static const uint64_t items[] = {1, 2};
    struct pair_list list = {.most = SIZE_MAX};
    struct idx_join_options options = IDX_JOIN_OPTIONS_INIT;
    (void)state;
    options.distance = IDX_MAX_K + 1;
    assert_status(IDX_INVALID_ARGUMENT, idx_array_pairs(items, 2, &options, take_pairs, &list, &failure));
    options.distance = 2;
    options.threads = 0;
    assert_status(IDX_INVALID_ARGUMENT, idx_array_pairs(items, 2, &options, take_pairs, &list, &failure));
    options.threads = 1;
    options.memory_bytes = IDX_MIN_MEMORY_BYTES - 1;
    assert_status(IDX_INVALID_ARGUMENT, idx_array_pairs(items, 2, &options, take_pairs, &list, &failure));
    options.memory_bytes = 0;
    assert_status(IDX_LIMIT, idx_array_pairs(items, UINT32_MAX, &options, take_pairs, &list, &failure));
    assert_int_equal(list.count, 0);
    assert_ok(idx_array_pairs(NULL, 0, &options, take_pairs, &list, &failure));
    assert_int_equal(list.count, 0);
    assert_ok(idx_array_pairs(items, 2, &options, take_pairs, &list, &failure));
    assert_int_equal(list.count, 1);
    free(list.pairs);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),         cmocka_unit_test(test_little_memory), cmocka_unit_test(test_uncut),
        cmocka_unit_test(test_visitor_stops),  cmocka_unit_test(test_progress),      cmocka_unit_test(test_bad_options),
        cmocka_unit_test(test_memory_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
