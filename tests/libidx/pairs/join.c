/* join.c: all pairs of an index, and of two, compared with those that comparing all with all finds. */
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libidx/base/base.h"
#include "tests/libidx/forge.h"
#include "tests/libidx/pair_list.h"
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
    "@00000000ffffffff:1,@ffffffff00000000:1", /* the first table's order is not that of fingerprints */
};

static const enum idx_residence residences[] = {IDX_RESIDENCE_DIRECTORY, IDX_RESIDENCE_NONE, IDX_RESIDENCE_ALL,
                                                IDX_RESIDENCE_DISK, IDX_RESIDENCE_UNPACKED};

/* ---- Calls ---- */

struct call {
    const char *name; /* for messages */
    unsigned distance, threads;
    uint64_t memory; /* of arrays; 0: as it is */
};

/* What a call has for its arrays stands for what its memory leaves for them, so that few fingerprints can take many
 * ranges, and parts be more than there is room for. */
static uint64_t array_bytes;
uint64_t __real_idxi_memory_of_arrays(uint64_t memory, unsigned threads);
uint64_t __wrap_idxi_memory_of_arrays(uint64_t memory, unsigned threads);
uint64_t __wrap_idxi_memory_of_arrays(uint64_t memory, unsigned threads) {
    return array_bytes > 0 ? array_bytes : __real_idxi_memory_of_arrays(memory, threads);
}

/* Which way is taken where there are two. */
static bool prefers_tables;
double __wrap_idxi_estimate_arrays_time(unsigned distance, unsigned bits, uint64_t a, uint64_t b);
double __wrap_idxi_estimate_arrays_time(unsigned distance, unsigned bits, uint64_t a, uint64_t b) {
    (void)distance, (void)bits, (void)a, (void)b;
    return prefers_tables ? HUGE_VAL : 0;
}

static struct idx_join_options options_of(const struct call *call) {
    struct idx_join_options options = IDX_JOIN_OPTIONS_INIT;
    options.distance = call->distance;
    options.threads = call->threads;
    options.memory_bytes = call->memory > 0 ? IDX_MIN_MEMORY_BYTES : 0;
    return options;
}

/* How many of the pairs are within a distance, those brought to the front. */
static size_t keep_near(struct idx_pair *kept, const struct pair_list *list, unsigned distance) {
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++) {
        kept[count] = list->pairs[i];
        count += list->pairs[i].distance <= distance;
    }
    return count;
}

static void check_list(const struct call *call, struct pair_list *found, const struct pair_list *all) {
    struct idx_pair *expected = malloc((all->count + 1) * sizeof *expected);
    assert_non_null(expected);
    size_t count = keep_near(expected, all, call->distance);
    size_t same = 0, least = found->count < count ? found->count : count;
    if (found->count > 0) qsort(found->pairs, found->count, sizeof *found->pairs, compare_pairs);
    while (same < least && compare_pairs(&found->pairs[same], &expected[same]) == 0 &&
           found->pairs[same].distance == expected[same].distance)
        same++;
    if (same < count || same < found->count) {
        const struct idx_pair *pair = same < count ? &expected[same] : &found->pairs[same];
        fail_msg(
            "%s, distance %u, %u threads, %llu bytes: %zu pairs where there are %zu; number %zu is %016llx %016llx",
            call->name, call->distance, call->threads, (unsigned long long)call->memory, found->count, count, same,
            (unsigned long long)pair->a, (unsigned long long)pair->b);
    }
    free(expected);
}

static void check_call(const struct idx_index *a, const struct idx_index *b, const struct call *call,
                       const struct pair_list *expected) {
    struct idx_join_options options = options_of(call);
    struct pair_list found = {.most = SIZE_MAX};
    array_bytes = call->memory;
    prefers_tables = !prefers_tables;
    if (b == NULL)
        assert_ok(idx_pairs(a, &options, take_pairs, &found, &failure));
    else
        assert_ok(idx_join(a, b, &options, take_pairs, &found, &failure));
    array_bytes = 0;
    check_list(call, &found, expected);
    free(found.pairs);
}

/* Bytes that make ranges as small as can be; and some that make them so for one thread, of which fewer parts than a
 * table has can be spread at a time. */
#define FEW_BYTES 1
#define SOME_BYTES ((uint64_t)16 << 10)

/* At each distance that the tables support, and at `most`, for which `expected` is. */
static void check_index(const struct idx_index *a, const struct idx_index *b, const struct pair_list *expected,
                        struct call *call, unsigned k, unsigned most) {
    static const unsigned threads[] = {1, 2, 7};
    static const uint64_t memories[] = {FEW_BYTES, 0, SOME_BYTES};
    static size_t turn;
    for (unsigned distance = 0; distance <= most; distance = distance < k ? distance + 1 : most, turn++) {
        call->distance = distance;
        call->threads = threads[turn % LENGTH(threads)];
        call->memory = memories[turn / LENGTH(threads) % LENGTH(memories)];
        check_call(a, b, call, expected);
        if (distance >= k && call->memory == 0) {
            call->memory = SOME_BYTES * call->threads;
            check_call(a, b, call, expected);
        }
        if (distance == most) break;
    }
}

static void run(const char *folder, struct trial *trial, const struct pair_list *expected, unsigned most) {
    static size_t turn;
    char name[256];
    struct call call = {.name = name};
    trial->residence = residences[turn / 2 % LENGTH(residences)];
    trial->block_size = (uint32_t)64 << turn * 5 / 3 % 7;
    trial->segments = turn % 3 == 2 ? 2 + turn % 4 : 1;
    turn++;
    snprintf(name, sizeof name, "%s of %u bits, scheme %s, k = %u, %zu segments", trial->name, trial->set->bits,
             trial->scheme, trial->k, trial->segments);
    struct idx_index *index = open_trial(folder, trial, IDX_ID_NONE);
    check_index(index, NULL, expected, &call, trial->k, most);
    idx_close(index);
    remove_all(path_in(folder, "trial.idx"));
}

/* The distance up to which the schemes are tried: more than largest_k's largest. */
#define FARTHEST 11

/* One of seven, or all others: few in place of small sets, which take one range. */
enum share { SEVENTH, OTHERS };

static void run_schemes(const char *folder, struct trial *trial, const struct pair_list *expected,
                        const char *const *texts, size_t count, enum share share) {
    static size_t turns[2];
    for (size_t text = 0; text < count; text++) {
        if ((turns[share]++ % 7 == 0) != (share == SEVENTH)) continue;
        int k = largest_k(texts[text], trial->set->bits);
        trial->scheme = texts[text];
        trial->k = (unsigned)k;
        if (k >= 0) run(folder, trial, expected, FARTHEST);
    }
}

static void check_shapes(const char *folder, enum share share) {
    static const unsigned bits[] = {1, 5, 17, 33, 64};
    for (size_t i = 0; i < SHAPE_COUNT * LENGTH(bits); i++) {
        enum shape shape = (enum shape)(i % SHAPE_COUNT);
        struct set set = make_set(shape, bits[i / SHAPE_COUNT], 250, i);
        struct trial trial = {shape_names[shape], .set = &set};
        struct pair_list expected = compare_all(&set, NULL, FARTHEST);
        run_schemes(folder, &trial, &expected, schemes, LENGTH(schemes), share);
        if (set.bits == 64) run_schemes(folder, &trial, &expected, masks_of_64, LENGTH(masks_of_64), share);
        free(expected.pairs);
        free_set(&set);
    }
}

static void test_shapes(void **state) { check_shapes(*state, SEVENTH); }
static void test_more_shapes(void **state) { check_shapes(*state, OTHERS); }

/* Groups that are cut into parts, and ranges of which several are needed. */
static void test_larger_sets(void **state) {
    static const enum shape shapes[] = {SHAPE_CLUSTERED, SHAPE_PREFIXED, SHAPE_SKEWED, SHAPE_DEAD, SHAPE_DENSE_TOP};
    for (size_t i = 0; i < LENGTH(shapes); i++) {
        struct set set = make_set(shapes[i], 64, scale(4000), i);
        struct trial trial = {shape_names[shapes[i]], .set = &set};
        struct pair_list expected = compare_all(&set, NULL, 5);
        for (size_t text = 0; text < 4; text++) {
            trial.scheme = ((const char *[]){"2:1:1", "10", masks_of_64[0], masks_of_64[4]})[text];
            trial.k = 3;
            run(*state, &trial, &expected, 5);
        }
        free(expected.pairs);
        free_set(&set);
    }
}

/* Distances at which the pairs are found in memory, where that suffices. */
static void test_large_distances(void **state) {
    static const enum shape shapes[] = {SHAPE_CLUSTERED, SHAPE_PREFIXED, SHAPE_DEAD, SHAPE_DENSE_TOP};
    for (size_t i = 0; i < LENGTH(shapes); i++) {
        struct set set = make_set(shapes[i], 64, scale(1000), i);
        struct trial trial = {shape_names[shapes[i]], .set = &set, .scheme = "17:1", .k = 16};
        struct pair_list expected = compare_all(&set, NULL, trial.k);
        for (size_t turn = 0; turn < 3; turn++) run(*state, &trial, &expected, trial.k);
        free(expected.pairs);
        free_set(&set);
    }
}

/* More fingerprints than are read at a time where memory is short. The parts are in the order of the first table, which
 * is not that of the fingerprints. */
static void test_parts(void **state) {
    enum { MANY = 14000, DISTANCE = 6 };
    struct set many = make_set(SHAPE_CLUSTERED, 64, MANY, 1), few = make_set(SHAPE_CLUSTERED, 64, MANY / 2, 1);
    struct trial trial = {"parts", .set = &many, .scheme = masks_of_64[4], .k = 3, .block_size = 64, .segments = 1};
    struct call call = {.name = "parts", .distance = DISTANCE, .threads = 2, .memory = FEW_BYTES};
    struct pair_list within = compare_all(&many, NULL, DISTANCE), between = compare_all(&many, &few, DISTANCE);
    assert_true(many.distinct_count > 2 * 4096 && within.count > 0 && between.count > 0);
    struct idx_index *a = open_trial(*state, &trial, IDX_ID_NONE);
    check_call(a, NULL, &call, &within);
    struct idx_build_options options = options_for(64, 3, "5:2");
    options.id_type = IDX_ID_U64;
    build_index(path_in(*state, "other.idx"), &options, few.items, few.count);
    struct idx_index *b = open_index(path_in(*state, "other.idx"), IDX_RESIDENCE_NONE);
    check_call(a, b, &call, &between);
    struct idx_join_options joining = options_of(&call);
    struct pair_list found = {.most = 1};
    array_bytes = call.memory;
    joining.threads = 1;
    assert_ok(idx_pairs(a, &joining, take_pairs, &found, &failure));
    array_bytes = 0;
    assert_int_equal(found.calls, 0); /* after it stopped the search */
    free(found.pairs);
    idx_close(a);
    idx_close(b);
    remove_all(path_in(*state, "trial.idx"));
    remove_all(path_in(*state, "other.idx"));
    free(within.pairs);
    free(between.pairs);
    free_set(&many);
    free_set(&few);
}

static bool note_total(void *context, const struct idx_progress *progress) {
    uint64_t *total = context;
    if (progress->phase == IDX_PHASE_COMPARING) *total = progress->total;
    return true;
}

/* Of short memory, too, the faster way is taken: in parts, arrays may be. In memory, each fingerprint is gone through
 * once, by tables once in each. */
static void test_way_in_short_memory(void **state) {
    struct set set = make_set(SHAPE_CLUSTERED, 64, 9000, 2);
    struct trial trial = {"way", .set = &set, .scheme = "5:2", .k = 3, .block_size = 64, .segments = 1};
    struct idx_index *index = open_trial(*state, &trial, IDX_ID_NONE);
    struct pair_list expected = compare_all(&set, NULL, 3);
    for (unsigned turn = 0; turn < 2; turn++) {
        struct call call = {.name = "way", .distance = 3, .threads = 1, .memory = FEW_BYTES};
        struct idx_join_options options = options_of(&call);
        struct pair_list found = {.most = SIZE_MAX};
        uint64_t total = 0;
        options.progress = note_total;
        options.context = &total;
        prefers_tables = turn == 0;
        array_bytes = call.memory;
        assert_ok(idx_pairs(index, &options, take_pairs, &found, &failure));
        array_bytes = 0;
        check_list(&call, &found, &expected);
        assert_int_equal(total, set.distinct_count * (prefers_tables ? 10 : 1));
        free(found.pairs);
    }
    free(expected.pairs);
    free_set(&set);
    idx_close(index);
    remove_all(path_in(*state, "trial.idx"));
}

/* ---- Groups of any size ---- */

struct sum {
    uint64_t count, hash;
    pthread_mutex_t *busy; /* held by one call at a time */
};

static uint64_t mix(uint64_t a, uint64_t b) {
    uint64_t mixed = (a ^ b * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xbf58476d1ce4e5b9);
    return (mixed ^ mixed >> 31) * UINT64_C(0x94d049bb133111eb);
}

static bool add_up(void *context, const struct idx_pair *pairs, size_t count) {
    struct sum *sum = context;
    if (pthread_mutex_trylock(sum->busy) != 0) fail_msg("two calls of the visitor at a time");
    for (size_t i = 0; i < count; i++) sum->hash += mix(pairs[i].a, pairs[i].b);
    sum->count += count;
    pthread_mutex_unlock(sum->busy);
    return true;
}

/* A bit for each hash of the set's fingerprints, since most that are asked for are not there. */
#define FILTER_BITS 22
static uint64_t filter[((size_t)1 << FILTER_BITS) / 64];

static uint64_t hash(uint64_t fingerprint) { return mix(fingerprint, 0) >> (64 - FILTER_BITS); }

static void make_filter(const struct set *set) {
    memset(filter, 0, sizeof filter);
    for (size_t i = 0; i < set->distinct_count; i++)
        filter[hash(set->distinct[i]) / 64] |= UINT64_C(1) << hash(set->distinct[i]) % 64;
}

static bool contains(const struct set *set, uint64_t fingerprint) {
    if ((filter[hash(fingerprint) / 64] >> hash(fingerprint) % 64 & 1) == 0) return false;
    size_t low = 0, high = set->distinct_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (set->distinct[middle] < fingerprint)
            low = middle + 1;
        else
            high = middle;
    }
    return low < set->distinct_count && set->distinct[low] == fingerprint;
}

/* Adds up the pairs of `from` that are found by flipping up to `left` bits of `to`, from bit `bit` on. */
static void add_near(struct sum *sum, const struct set *set, uint64_t from, uint64_t to, unsigned bit, unsigned left) {
    if (from < to && contains(set, to)) {
        sum->hash += mix(from, to);
        sum->count++;
    }
    for (; left > 0 && bit < set->bits; bit++) add_near(sum, set, from, to ^ UINT64_C(1) << bit, bit + 1, left - 1);
}

static void check_sum(const char *folder, const char *name, const struct set *set, const char *scheme,
                      const struct sum *expected, unsigned distance) {
    /* With 5 MiB all are in memory, but buckets may have more than the arrays of a thread. */
    static const struct call calls[] = {{.threads = 1},
                                        {.threads = 2, .memory = (uint64_t)1 << 20},
                                        {.threads = 1, .memory = (uint64_t)5 << 20},
                                        {.threads = 3, .memory = (uint64_t)5 << 20}};
    pthread_mutex_t busy = PTHREAD_MUTEX_INITIALIZER;
    struct idx_build_options build = options_for(set->bits, 3, scheme);
    const char *path = path_in(folder, "group.idx");
    build.id_type = IDX_ID_NONE;
    build_index(path, &build, set->items, set->count);
    struct idx_index *index = open_index(path, IDX_RESIDENCE_NONE);
    for (size_t i = 0; i < LENGTH(calls); i++) {
        struct idx_join_options options = options_of(&calls[i]);
        struct sum found = {.busy = &busy};
        options.distance = distance;
        array_bytes = calls[i].memory;
        prefers_tables = !prefers_tables;
        assert_ok(idx_pairs(index, &options, add_up, &found, &failure));
        array_bytes = 0;
        if (found.count != expected->count || found.hash != expected->hash)
            fail_msg("%s, scheme %s, distance %u, %u threads: %llu pairs where there are %llu", name, scheme, distance,
                     calls[i].threads, (unsigned long long)found.count, (unsigned long long)expected->count);
    }
    idx_close(index);
    remove_all(path);
}

/* Moves the lowest bits apart, every third; with `dead` ones between them that are all the same. */
static uint64_t move_apart(uint64_t number) {
    uint64_t moved = UINT64_C(0x4924924924924924);
    for (unsigned bit = 0; bit < 21; bit++) moved ^= (number >> bit & 1) << (3 * bit);
    return moved;
}

static struct set make_apart(unsigned bits) {
    size_t count = (size_t)1 << bits;
    uint64_t *items = malloc(count * sizeof *items);
    assert_non_null(items);
    for (size_t i = 0; i < count; i++) items[i] = move_apart(i);
    struct set set = set_of(items, count, 64);
    free(items);
    return set;
}

/* A ball, all values of some bits, together and apart; and all of a table with one prefix. */
static void test_groups(void **state) {
    static const char *const group_schemes[] = {"4", "5:2", "2:1:1"};
    bool small = scale(100) < 100;
    struct set ball = make_ball(UINT64_C(0x9abcde), small ? 24 : 64, 3);
    struct set dense = make_set(SHAPE_DENSE_LOW, 64, (size_t)1 << (small ? 9 : 13), 1);
    struct set apart = make_apart(small ? 9 : 13);
    struct set prefixed = make_set(SHAPE_PREFIXED, 64, scale(20000), 1);
    const struct set *sets[] = {&ball, &dense, &apart, &prefixed};
    static const char *const names[] = {"ball", "dense", "apart", "prefixed"};
    for (size_t i = 0; i < LENGTH(sets); i++) {
        unsigned distance = small ? 3 : 2;
        struct sum expected = {0};
        make_filter(sets[i]);
        for (size_t j = 0; j < sets[i]->distinct_count; j++)
            add_near(&expected, sets[i], sets[i]->distinct[j], sets[i]->distinct[j], 0, distance);
        for (size_t scheme = 0; scheme < LENGTH(group_schemes); scheme++)
            check_sum(*state, names[i], sets[i], group_schemes[scheme], &expected, distance);
    }
    free_set(&ball);
    free_set(&dense);
    free_set(&apart);
    free_set(&prefixed);
}

/* ---- Two indexes ---- */

static void check_join(const struct idx_index *a, const struct idx_index *b, const struct set *of_a,
                       const struct set *of_b, struct call *call, unsigned k) {
    struct pair_list expected = compare_all(of_a, of_b, k + 3);
    check_index(a, b, &expected, call, k, k + 3);
    free(expected.pairs);
}

static void test_joins(void **state) {
    static const enum shape shapes[] = {SHAPE_UNIFORM, SHAPE_CLUSTERED, SHAPE_PREFIXED, SHAPE_DENSE_LOW, SHAPE_NONE};
    static const char *const join_schemes[] = {"10", "2:1:1", "3:1:2", "9:1"};
    static const unsigned ks[] = {3, 3, 3, 8};
    for (size_t i = 0; i < LENGTH(shapes) * LENGTH(join_schemes); i++) {
        struct set set = make_set(shapes[i % LENGTH(shapes)], 24, scale(500), i), other = {0};
        struct trial trial = {"joined", .set = &set, .scheme = join_schemes[i / LENGTH(shapes)],
                              .k = ks[i / LENGTH(shapes)]};
        struct call call = {.name = trial.scheme};
        trial.block_size = 64;
        trial.segments = 1 + i % 3;
        struct idx_index *index = open_trial(*state, &trial, IDX_ID_NONE);
        other = set_of(set.items, set.count / 2, 24);
        uint64_t seed = i;
        for (size_t j = 0; j < other.count; j++) other.items[j] = make_query(&set, 3, &seed);
        struct set mixed = set_of(other.items, other.count, 24);
        struct idx_build_options options = options_for(24, trial.k, trial.scheme);
        options.id_type = IDX_ID_U64;
        build_index(path_in(*state, "other.idx"), &options, mixed.items, mixed.count);
        struct idx_index *second = open_index(path_in(*state, "other.idx"), IDX_RESIDENCE_ALL);
        check_join(index, second, &set, &mixed, &call, trial.k);
        check_join(second, index, &mixed, &set, &call, trial.k);
        check_join(index, index, &set, &set, &call, trial.k);
        idx_close(index);
        idx_close(second);
        remove_all(path_in(*state, "trial.idx"));
        remove_all(path_in(*state, "other.idx"));
        free_set(&set);
        free_set(&other);
        free_set(&mixed);
    }
}

/* Few fingerprints in one index, and in the other more in a part than an array holds; and the other way round. */
static void test_few_with_many(void **state) {
    static const char *const uneven_schemes[] = {"2:1:1", "3:1:2"};
    static const enum shape shapes[] = {SHAPE_DENSE_LOW, SHAPE_PREFIXED};
    for (size_t i = 0; i < LENGTH(shapes) * LENGTH(uneven_schemes); i++) {
        struct set many = make_set(shapes[i % 2], 24, scale(4000), i), few = set_of(many.items, 40, 24);
        struct idx_build_options options = options_for(24, 3, uneven_schemes[i / 2]);
        struct call call = {.name = uneven_schemes[i / 2], .distance = 3, .memory = (uint64_t)256 << 10};
        build_index(path_in(*state, "many.idx"), &options, many.items, many.count);
        build_index(path_in(*state, "few.idx"), &options, few.items, few.count);
        struct idx_index *a = open_index(path_in(*state, "many.idx"), IDX_RESIDENCE_NONE);
        struct idx_index *b = open_index(path_in(*state, "few.idx"), IDX_RESIDENCE_NONE);
        struct pair_list expected = compare_all(&many, &few, 3), exchanged = compare_all(&few, &many, 3);
        for (call.threads = 1; call.threads <= 7; call.threads += 3) {
            check_call(a, b, &call, &expected);
            check_call(b, a, &call, &exchanged);
        }
        free(expected.pairs);
        free(exchanged.pairs);
        idx_close(a);
        idx_close(b);
        remove_all(path_in(*state, "many.idx"));
        remove_all(path_in(*state, "few.idx"));
        free_set(&many);
        free_set(&few);
    }
}

static void test_indexes_that_differ(void **state) {
    static const char *const differences[] = {"bits: rebuild one", "recipe, 'other' here and 'not known' there"};
    struct idx_build_options options = options_for(24, 3, "4");
    build_index(path_in(*state, "x.idx"), &options, NULL, 0);
    struct idx_index *index = open_index(path_in(*state, "x.idx"), IDX_RESIDENCE_NONE);
    for (size_t i = 0; i < LENGTH(differences); i++) {
        struct idx_build_options others[] = {options_for(25, 3, "4"), options_for(24, 3, "4")};
        const char *path = path_in(*state, "%zu.idx", i);
        others[1].recipe = "other";
        build_index(path, &others[i], NULL, 0);
        struct idx_index *other = open_index(path, IDX_RESIDENCE_NONE);
        struct pair_list list = {.most = SIZE_MAX};
        assert_status(IDX_INVALID_ARGUMENT, idx_join(index, other, NULL, take_pairs, &list, &failure));
        assert_non_null(strstr(failure.sentence, "can't be joined with "));
        assert_non_null(strstr(failure.sentence, differences[i]));
        idx_close(other);
    }
    idx_close(index);
}

/* Indexes whose tables differ, and whose k does. */
static void test_other_tables(void **state) {
    static const struct {
        unsigned k;
        const char *scheme;
    } others[] = {{3, "10"}, {3, "2:1:1"}, {2, "5:3"}, {8, "9:1"}};
    struct set set = make_set(SHAPE_CLUSTERED, 24, scale(400), 1), other = make_set(SHAPE_CLUSTERED, 24, scale(500), 2);
    for (size_t i = 0; i < set.count / 4; i++) other.items[i * 2] = set.items[i * 3];
    struct set mixed = set_of(other.items, other.count, 24);
    struct idx_build_options options = options_for(24, 3, "4");
    build_index(path_in(*state, "x.idx"), &options, set.items, set.count);
    struct idx_index *index = open_index(path_in(*state, "x.idx"), IDX_RESIDENCE_NONE);
    for (size_t i = 0; i < LENGTH(others); i++) {
        struct call call = {.name = others[i].scheme};
        struct idx_build_options unlike = options_for(24, others[i].k, others[i].scheme);
        build_index(path_in(*state, "y.idx"), &unlike, mixed.items, mixed.count);
        struct idx_index *second = open_index(path_in(*state, "y.idx"), IDX_RESIDENCE_ALL);
        check_join(index, second, &set, &mixed, &call, 3);
        check_join(second, index, &mixed, &set, &call, others[i].k);
        idx_close(second);
        remove_all(path_in(*state, "y.idx"));
    }
    idx_close(index);
    free_set(&set);
    free_set(&other);
    free_set(&mixed);
}

/* ---- Ends ---- */

static struct idx_index *build_dense(const char *folder, const char *scheme) {
    struct set set = make_set(SHAPE_DENSE_LOW, 64, 4096, 1);
    struct idx_build_options options = options_for(64, 3, scheme);
    const char *path = path_in(folder, "dense-%zu.idx", strlen(scheme));
    options.id_type = IDX_ID_NONE;
    build_index(path, &options, set.items, set.count);
    free_set(&set);
    return open_index(path, IDX_RESIDENCE_NONE);
}

static void test_visitor_stops(void **state) {
    static const unsigned threads[] = {1, 2, 7};
    struct idx_index *index = build_dense(*state, "2:1:1");
    for (size_t i = 0; i < LENGTH(threads); i++) {
        struct idx_join_options options = IDX_JOIN_OPTIONS_INIT;
        struct pair_list list = {.most = 1};
        options.threads = threads[i];
        assert_ok(idx_pairs(index, &options, take_pairs, &list, &failure));
        assert_true(list.count >= 1);
        assert_int_equal(list.calls, 0);
        free(list.pairs);
    }
    idx_close(index);
}

static bool cancel(void *context, const struct idx_progress *progress) {
    assert_int_equal(progress->phase, IDX_PHASE_COMPARING);
    return --*(int *)context > 0;
}

static void test_cancelled(void **state) {
    struct idx_index *index = build_dense(*state, "4");
    struct idx_join_options options = IDX_JOIN_OPTIONS_INIT;
    struct pair_list list = {.most = SIZE_MAX};
    int calls = 1;
    options.progress = cancel;
    options.context = &calls;
    assert_status(IDX_CANCELLED, idx_pairs(index, &options, take_pairs, &list, &failure));
    assert_string_equal(failure.sentence, "cancelled: the results are incomplete");
    assert_int_equal(list.count, 0);
    idx_close(index);
}

static bool note_progress(void *context, const struct idx_progress *progress) {
    struct idx_progress *last = context;
    assert_true(progress->done <= progress->total);
    *last = *progress;
    return true;
}

static void test_bad_options(void **state) {
    struct idx_index *index = build_dense(*state, "4");
    struct idx_join_options options = IDX_JOIN_OPTIONS_INIT;
    struct pair_list list = {.most = SIZE_MAX};
    struct idx_progress last = {0};
    options.distance = IDX_MAX_K + 1;
    assert_status(IDX_BAD_DISTANCE, idx_pairs(index, &options, take_pairs, &list, &failure));
    options.distance = UINT_MAX;
    options.threads = 0;
    assert_status(IDX_INVALID_ARGUMENT, idx_pairs(index, &options, take_pairs, &list, &failure));
    options.threads = IDX_MAX_THREADS + 1;
    assert_status(IDX_INVALID_ARGUMENT, idx_pairs(index, &options, take_pairs, &list, &failure));
    options.threads = 1;
    options.memory_bytes = IDX_MIN_MEMORY_BYTES - 1;
    assert_status(IDX_INVALID_ARGUMENT, idx_pairs(index, &options, take_pairs, &list, &failure));
    options.memory_bytes = 0;
    options.progress = note_progress;
    options.context = &last;
    prefers_tables = true;
    assert_int_equal(list.count, 0);
    assert_ok(idx_pairs(index, &options, take_pairs, &list, &failure));
    assert_int_equal(last.total, 4 * 4096);
    free(list.pairs);
    idx_close(index);
}

/* ---- Damage ---- */

/* A byte of the blocks of one table is turned: each byte is met by whichever pass comes to it, and nothing is read
 * unchecked. */
static void test_damage(void **state) {
    static const char *const damaged_schemes[] = {"4", "2:1:1"};
    prefers_tables = true;
    for (size_t i = 0; i < LENGTH(damaged_schemes) * 2; i++) {
        idx_close(build_dense(*state, damaged_schemes[i / 2]));
        const char *path = path_in(*state, "dense-%zu.idx", strlen(damaged_schemes[i / 2]));
        const char *file = path_in(path, "000001/table-%02d.tbl", i % 2 == 0 ? 0 : 1);
        size_t size;
        uint8_t *bytes = read_file(file, &size);
        bytes[4096 + 700] ^= 1;
        write_file(file, bytes, size);
        free(bytes);
        struct idx_index *index = open_index(path, IDX_RESIDENCE_NONE);
        for (unsigned threads = 1; threads <= 7; threads += 3) {
            struct idx_join_options options = IDX_JOIN_OPTIONS_INIT;
            struct pair_list list = {.most = SIZE_MAX};
            options.threads = threads;
            assert_status(IDX_BAD_CHECKSUM, idx_pairs(index, &options, take_pairs, &list, &failure));
            assert_string_equal(failure.file, file);
            assert_int_equal(failure.offset, 4096);
            assert_status(IDX_BAD_CHECKSUM, idx_join(index, index, &options, take_pairs, &list, &failure));
            free(list.pairs);
        }
        idx_close(index);
        remove_all(path);
    }
}

/* Damage whose checksums agree, told as a stream of the table tells it (table_stream.c): in its order, in how many
 * there are, and in blocks. */
struct forgery {
    uint64_t number;
    struct forged_block block;
    const char *sentence;
    uint64_t byte; /* where it is told to be */
};

/* Two tables of 2,000 neighbours: the first has 1,023 in its first block and the others in its second, at byte 8192. */
static void build_neighbours(const char *path) {
    static uint64_t neighbours[2000];
    struct idx_build_options options = options_for(64, 3, "2:1:1");
    for (size_t i = 0; i < LENGTH(neighbours); i++) neighbours[i] = i;
    options.block_size = 4096;
    options.id_type = IDX_ID_NONE;
    build_index(path, &options, neighbours, LENGTH(neighbours));
}

static void expect_fault(enum idx_status status, const char *file, const struct forgery *forgery) {
    assert_status(IDX_BAD_CONTENT, status);
    assert_string_equal(failure.file, file);
    if (strstr(failure.sentence, forgery->sentence) == NULL)
        fail_msg("%s, not %s", failure.sentence, forgery->sentence);
    assert_int_equal(failure.offset, forgery->byte);
}

static void check_forged(const char *path, const struct idx_index *sound, const char *file,
                         const struct forgery *forgery) {
    static const unsigned threads[] = {1, 2, 7};
    struct idx_index *index = open_index(path, IDX_RESIDENCE_NONE);
    for (size_t i = 0; i < LENGTH(threads); i++) {
        struct idx_join_options options = IDX_JOIN_OPTIONS_INIT;
        struct pair_list list = {.most = SIZE_MAX};
        options.threads = threads[i];
        expect_fault(idx_pairs(index, &options, take_pairs, &list, &failure), file, forgery);
        expect_fault(idx_join(index, sound, &options, take_pairs, &list, &failure), file, forgery);
        /* Of the other index there may be parts that are not read, so these are not counted. */
        if (forgery->byte > 0)
            expect_fault(idx_join(sound, index, &options, take_pairs, &list, &failure), file, forgery);
        free(list.pairs);
    }
    idx_close(index);
}

static uint64_t ones[1100];
static const uint64_t beyond[] = {1, 3000};

/* The first block has 0 to 1022, the second 1023 to 1999. */
static const struct forgery forgeries[] = {
    {1, {976, false, 1, {{ones, 976, 0, 0}}}, "don't ascend (byte 8192)", 8192},  /* again from 0 */
    {0, {1022, false, 1, {{beyond, 2, 0, 0}}}, "don't ascend (byte 4096)", 4096}, /* wraps around */
    {1, {1999, false, 2, {{ones, 9, 0, 0}, {ones, 9, 10, -100}}}, "doesn't fit into its block", 8192},
    {1, {1999, false, 2, {{ones, 9, 0, 0}, {ones, 9, 2000, 0}}}, "don't ascend (byte 8192)", 8192},
    {1, {9000, false, 1, {{ones, 1023, 0, 0}}}, "count", 8192}, /* too many for a block */
    {1, {1999, true, 1, {{ones, 975, 0, 0}}}, "count", 0},      /* too few for the header */
    /* Disorder, and behind it in the block another fault, which comes first. */
    {1, {1999, false, 2, {{beyond, 2, 0, 0}, {ones, 9, 10, -100}}}, "doesn't fit into its block", 8192},
};

static void test_forged(void **state) {
    const char *path = path_in(*state, "forged.idx"), *file = path_in(path, "000001/table-00.tbl");
    size_t size;
    prefers_tables = true;
    for (size_t i = 0; i < LENGTH(ones); i++) ones[i] = 1;
    build_neighbours(path);
    build_neighbours(path_in(*state, "sound.idx"));
    struct idx_index *sound = open_index(path_in(*state, "sound.idx"), IDX_RESIDENCE_NONE);
    uint8_t *bytes = read_file(file, &size);
    for (size_t i = 0; i < LENGTH(forgeries); i++) {
        size_t offset = 4096 + (size_t)forgeries[i].number * 4096;
        forge_block(file, forgeries[i].number, &forgeries[i].block);
        check_forged(path, sound, file, &forgeries[i]);
        forge_table(file, offset, bytes + offset, 4096);
    }
    free(bytes);
    idx_close(sound);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        in_folder(test_shapes),
        in_folder(test_more_shapes),
        in_folder(test_larger_sets),
        in_folder(test_large_distances),
        in_folder(test_parts),
        in_folder(test_groups),
        in_folder(test_joins),
        in_folder(test_few_with_many),
        in_folder(test_indexes_that_differ),
        in_folder(test_other_tables),
        in_folder(test_visitor_stops),
        in_folder(test_cancelled),
        in_folder(test_bad_options),
        in_folder(test_damage),
        in_folder(test_forged),
        in_folder(test_way_in_short_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
