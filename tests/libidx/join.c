/* join.c: all pairs of an index, and of two, compared with those that comparing all with all finds. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/libidx/support.h"
#include "tests/libidx/trial.h"

/* Schemes for k = 3, and some that cover more; and lists of masks of radius 2 and 3. */
static const char *const schemes[] = {
    "4", "10", "16", "20", "5:2", "2:1:1", "8:2", "2:1:3", "4:1:1", "8:1", "3:1:2", "4:2:1", "4:1/4:1",
};
static const char *const masks_of_64[] = {
    "@ffffffff00000000:2,@00000000ffffffff:3",
    "@ffffff0000ff0000:1,@00ffffff000000ff:1,@0000ff00ff00ff00,@5555555555555555:1,@aaaaaaaaaaaaaaaa:1",
    "@8000000000000001:1,@7ffffffffffffffe:1",
    "@ffffffffffffffff:2",
};

static const enum idx_residence residences[] = {IDX_RESIDENCE_DIRECTORY, IDX_RESIDENCE_NONE, IDX_RESIDENCE_ALL,
                                                IDX_RESIDENCE_DISK};

/* ---- Pairs, expected and found ---- */

struct list {
    struct idx_pair *pairs;
    size_t count, room;
    size_t most;  /* pairs after which the visitor stops */
    size_t calls; /* after that */
};

static void add(struct list *list, const struct idx_pair *pairs, size_t count) {
    if (list->count + count > list->room) {
        list->room = (list->count + count) * 2;
        list->pairs = realloc(list->pairs, list->room * sizeof *list->pairs);
        assert_non_null(list->pairs);
    }
    memcpy(list->pairs + list->count, pairs, count * sizeof *pairs);
    list->count += count;
}

static bool take_pairs(void *context, const struct idx_pair *pairs, size_t count) {
    struct list *list = context;
    assert_true(count > 0);
    if (list->count >= list->most) list->calls++;
    add(list, pairs, count);
    return list->count < list->most;
}

/* By `a`, then `b`. */
static int compare_pairs(const void *x, const void *y) {
    const struct idx_pair *a = x, *b = y;
    if (a->a != b->a) return a->a < b->a ? -1 : 1;
    return (a->b > b->b) - (a->b < b->b);
}

/* The pairs of ascending fingerprints, in order; of two sets those of the one with the other. */
static struct list compare_all(const struct set *a, const struct set *b, unsigned distance) {
    struct list list = {0};
    for (size_t i = 0; i < a->distinct_count; i++) {
        for (size_t j = b == NULL ? i + 1 : 0; j < (b == NULL ? a : b)->distinct_count; j++) {
            struct idx_pair pair = {a->distinct[i], (b == NULL ? a : b)->distinct[j], 0};
            pair.distance = idx_distance(pair.a, pair.b);
            if (pair.distance <= distance) add(&list, &pair, 1);
        }
    }
    return list;
}

/* ---- Calls ---- */

struct call {
    const char *name; /* for messages */
    unsigned distance, threads;
    uint64_t memory;
};

static struct idx_join_options options_of(const struct call *call) {
    struct idx_join_options options = IDX_JOIN_OPTIONS_INIT;
    options.distance = call->distance;
    options.threads = call->threads;
    options.memory_bytes = call->memory;
    return options;
}

static void check_list(const struct call *call, struct list *found, const struct list *expected) {
    size_t same = 0, least = found->count < expected->count ? found->count : expected->count;
    if (found->count > 0) qsort(found->pairs, found->count, sizeof *found->pairs, compare_pairs);
    while (same < least && compare_pairs(&found->pairs[same], &expected->pairs[same]) == 0 &&
           found->pairs[same].distance == expected->pairs[same].distance)
        same++;
    if (same == expected->count && same == found->count) return;
    const struct idx_pair *pair = same < expected->count ? &expected->pairs[same] : &found->pairs[same];
    fail_msg("%s, distance %u, %u threads, %llu bytes: %zu pairs where there are %zu; number %zu is %016llx %016llx",
             call->name, call->distance, call->threads, (unsigned long long)call->memory, found->count, expected->count,
             same, (unsigned long long)pair->a, (unsigned long long)pair->b);
}

static void check_call(const struct idx_index *a, const struct idx_index *b, const struct call *call,
                       const struct list *expected) {
    struct idx_join_options options = options_of(call);
    struct list found = {.most = SIZE_MAX};
    if (b == NULL)
        assert_ok(idx_pairs(a, &options, take_pairs, &found, &failure));
    else
        assert_ok(idx_join(a, b, &options, take_pairs, &found, &failure));
    check_list(call, &found, expected);
    free(found.pairs);
}

/* Memory that makes ranges as small as can be, with so many threads. */
#define FEW_BYTES IDX_MIN_MEMORY_BYTES
#define MANY_THREADS 100

static void check_index(const struct idx_index *a, const struct idx_index *b, const struct set *of_a,
                        const struct set *of_b, struct call *call, unsigned k) {
    static const unsigned threads[] = {1, 2, 7};
    for (unsigned distance = 0; distance <= k; distance++) {
        struct list expected = compare_all(of_a, of_b, distance);
        call->distance = distance;
        call->threads = threads[distance % LENGTH(threads)];
        call->memory = distance % 2 == 0 ? 0 : FEW_BYTES;
        check_call(a, b, call, &expected);
        call->threads = MANY_THREADS;
        call->memory = FEW_BYTES;
        check_call(a, b, call, &expected);
        free(expected.pairs);
    }
}

static void run(const char *folder, struct trial *trial) {
    static size_t turn;
    char name[256];
    struct call call = {.name = name};
    trial->codec = turn % 2 == 0 ? IDX_CODEC_DELTA : IDX_CODEC_XOR;
    trial->residence = residences[turn / 2 % LENGTH(residences)];
    trial->block_size = (uint32_t)64 << turn * 5 / 3 % 7;
    trial->segments = turn % 3 == 2 ? 2 + turn % 4 : 1;
    turn++;
    snprintf(name, sizeof name, "%s of %u bits, scheme %s, k = %u, %zu segments", trial->name, trial->set->bits,
             trial->scheme, trial->k, trial->segments);
    struct idx_index *index = open_trial(folder, trial, IDX_ID_NONE);
    check_index(index, NULL, trial->set, NULL, &call, trial->k);
    idx_close(index);
    remove_all(path_in(folder, "trial.idx"));
}

static void run_schemes(const char *folder, struct trial *trial, const char *const *texts, size_t count) {
    for (size_t text = 0; text < count; text++) {
        int k = largest_k(texts[text], trial->set->bits);
        trial->scheme = texts[text];
        trial->k = (unsigned)k;
        if (k >= 0) run(folder, trial);
    }
}

static void test_shapes(void **state) {
    static const unsigned bits[] = {1, 5, 17, 33, 64};
    for (size_t i = 0; i < SHAPE_COUNT * LENGTH(bits); i++) {
        enum shape shape = (enum shape)(i % SHAPE_COUNT);
        struct set set = make_set(shape, bits[i / SHAPE_COUNT], scale(500), i);
        struct trial trial = {shape_names[shape], .set = &set};
        run_schemes(*state, &trial, schemes, LENGTH(schemes));
        if (set.bits == 64) run_schemes(*state, &trial, masks_of_64, LENGTH(masks_of_64));
        free_set(&set);
    }
}

/* Groups that are cut into parts, and ranges of which several are needed. */
static void test_larger_sets(void **state) {
    static const enum shape shapes[] = {SHAPE_CLUSTERED, SHAPE_PREFIXED, SHAPE_SKEWED, SHAPE_DEAD, SHAPE_DENSE_TOP};
    for (size_t i = 0; i < LENGTH(shapes); i++) {
        struct set set = make_set(shapes[i], 64, scale(6000), i);
        struct trial trial = {shape_names[shapes[i]], .set = &set};
        for (size_t text = 0; text < 3; text++) {
            trial.scheme = ((const char *[]){"2:1:1", "10", masks_of_64[0]})[text];
            trial.k = 3;
            run(*state, &trial);
        }
        free_set(&set);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        in_folder(test_shapes),
        in_folder(test_larger_sets),
    };
    return cmocka_run_group_tests_name("join", tests, NULL, NULL);
}
