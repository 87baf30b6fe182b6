/* large.c: a million fingerprints and 10,000 queries, answered identically to a linear scan by each of the usual
 * schemes. The scan is made once for all of them. Scaled down under sanitizers (see support.h). */
#include <stdlib.h>
#include <string.h>

#include "tests/libidx/sets.h"
#include "tests/libidx/support.h"

#define K 3
/* Queries compared with each fingerprint while it is at hand. */
#define TILE 256

static size_t item_count, query_count;
static uint64_t *items, *queries;

/* All matches there are: those of query i are from starts[i] to starts[i + 1], nearest first. */
static struct idx_match *matches;
static size_t *starts;

static void *allocate(size_t count, size_t size) {
    void *memory = calloc(count, size);
    assert_non_null(memory);
    return memory;
}

/* A tenth are copies with up to three bits turned, a hundredth lie close together; half of the queries have a
 * neighbour. */
static void make_data(void) {
    uint64_t seed = 42;
    item_count = scale(1000000);
    query_count = scale(10000);
    items = allocate(item_count, sizeof *items);
    queries = allocate(query_count, sizeof *queries);
    for (size_t i = 0; i < item_count; i++) {
        uint64_t random = next_random(&seed);
        items[i] = next_random(&seed);
        if (i > 0 && random % 10 == 0) items[i] = flip_bits(items[random / 64 % i], 64, random >> 60 & 3, &seed);
        if (random % 100 == 1) items[i] = UINT64_C(0x123456789abc0000) | (items[i] & 0xffff);
    }
    for (size_t i = 0; i < query_count; i++) {
        queries[i] = next_random(&seed);
        if (i % 2 == 0) queries[i] = flip_bits(items[queries[i] % item_count], 64, i / 2 % 5, &seed);
    }
}

/* ---- The scan ---- */

struct hit {
    size_t query;
    struct idx_match match;
};

struct hits {
    struct hit *items;
    size_t count, capacity;
};

static void add_hit(struct hits *hits, size_t query, uint64_t fingerprint, unsigned distance) {
    if (hits->count == hits->capacity) {
        hits->capacity = hits->capacity * 2 + 1024;
        hits->items = realloc(hits->items, hits->capacity * sizeof *hits->items);
        assert_non_null(hits->items);
    }
    hits->items[hits->count++] = (struct hit){query, {fingerprint, distance}};
}

static inline __attribute__((always_inline)) void scan_tiles(struct hits *hits) {
    for (size_t tile = 0; tile < query_count; tile += TILE) {
        size_t end = tile + TILE < query_count ? tile + TILE : query_count;
        for (size_t i = 0; i < item_count; i++) {
            for (size_t query = tile; query < end; query++) {
                unsigned distance = (unsigned)__builtin_popcountll(items[i] ^ queries[query]);
                if (distance <= K) add_hit(hits, query, items[i], distance);
            }
        }
    }
}

#ifdef __x86_64__
__attribute__((target("popcnt"))) static void scan_with_popcnt(struct hits *hits) { scan_tiles(hits); }

static void scan_all(struct hits *hits) {
    __builtin_cpu_init();
    if (__builtin_cpu_supports("popcnt"))
        scan_with_popcnt(hits);
    else
        scan_tiles(hits);
}
#else
static void scan_all(struct hits *hits) { scan_tiles(hits); }
#endif

static int compare_hits(const void *a, const void *b) {
    const struct hit *x = a, *y = b;
    if (x->query != y->query) return x->query < y->query ? -1 : 1;
    if (x->match.distance != y->match.distance) return x->match.distance < y->match.distance ? -1 : 1;
    return (x->match.fingerprint > y->match.fingerprint) - (x->match.fingerprint < y->match.fingerprint);
}

static int make_reference(void **state) {
    struct hits hits = {0};
    (void)state;
    make_data();
    scan_all(&hits);
    qsort(hits.items, hits.count, sizeof *hits.items, compare_hits);
    matches = allocate(hits.count + 1, sizeof *matches);
    starts = allocate(query_count + 1, sizeof *starts);
    size_t kept = 0, query = 0;
    for (size_t i = 0; i < hits.count; i++) {
        if (i > 0 && compare_hits(&hits.items[i - 1], &hits.items[i]) == 0) continue;
        while (query < hits.items[i].query) starts[++query] = kept;
        matches[kept++] = hits.items[i].match;
    }
    while (query < query_count) starts[++query] = kept;
    free(hits.items);
    return kept > query_count / 4 ? 0 : -1;
}

static int free_reference(void **state) {
    (void)state;
    free(items);
    free(queries);
    free(matches);
    free(starts);
    return 0;
}

/* ---- The index ---- */

static void compare_query(const struct idx_index *index, size_t query, unsigned distance) {
    static struct idx_match found[100000];
    const struct idx_match *expected = matches + starts[query];
    size_t count, expected_count = 0;
    while (expected_count < starts[query + 1] - starts[query] && expected[expected_count].distance <= distance)
        expected_count++;
    assert_ok(idx_lookup(index, queries[query], distance, found, LENGTH(found), &count, &failure));
    assert_int_equal(count, expected_count);
    for (size_t i = 0; i < count; i++) {
        if (found[i].fingerprint != expected[i].fingerprint || found[i].distance != expected[i].distance)
            fail_msg("query %zu differs from the scan in match %zu at distance %u", query, i, distance);
    }
}

#define BATCH_ROOM 20

/* All queries at once. */
static void compare_batch(const struct idx_index *index) {
    struct idx_match *found = allocate(query_count * BATCH_ROOM, sizeof *found);
    size_t *counts = allocate(query_count, sizeof *counts);
    assert_ok(look_up_many(index, queries, query_count, K, 2, found, BATCH_ROOM, counts, &failure));
    for (size_t query = 0; query < query_count; query++) {
        const struct idx_match *expected = matches + starts[query], *first = found + query * BATCH_ROOM;
        assert_int_equal(counts[query], starts[query + 1] - starts[query]);
        for (size_t i = 0; i < counts[query] && i < BATCH_ROOM; i++) {
            if (first[i].fingerprint != expected[i].fingerprint || first[i].distance != expected[i].distance)
                fail_msg("query %zu of a batch differs from the scan in match %zu", query, i);
        }
    }
    free(found);
    free(counts);
}

static void compare_index(const char *folder, const char *scheme) {
    static const enum idx_residence residences[] = {
        IDX_RESIDENCE_DIRECTORY, IDX_RESIDENCE_NONE, IDX_RESIDENCE_ALL, IDX_RESIDENCE_DISK,
        IDX_RESIDENCE_UNPACKED}; /* the first two answer single queries too */
    struct idx_build_options options = options_for(64, K, scheme);
    const char *path = path_in(folder, "%s.idx", scheme);
    options.id_type = IDX_ID_NONE;
    options.threads = 2;
    build_index(path, &options, items, item_count);
    for (size_t i = 0; i < LENGTH(residences); i++) {
        struct idx_index *index = open_index(path, residences[i]);
        for (size_t query = 0; query < query_count && i < 2; query++) {
            compare_query(index, query, K);
            compare_query(index, query, query % K);
        }
        compare_batch(index);
        idx_close(index);
    }
    remove_all(path);
}

static void test_auto(void **state) { compare_index(*state, "auto"); }
static void test_4(void **state) { compare_index(*state, "4"); }
static void test_10(void **state) { compare_index(*state, "10"); }
static void test_16(void **state) { compare_index(*state, "16"); }
static void test_20(void **state) { compare_index(*state, "20"); }
static void test_2_1_1(void **state) { compare_index(*state, "2:1:1"); }

int main(void) {
    const struct CMUnitTest tests[] = {
        in_folder(test_auto), in_folder(test_4),  in_folder(test_10),
        in_folder(test_16),   in_folder(test_20), in_folder(test_2_1_1),
    };
    return cmocka_run_group_tests(tests, make_reference, free_reference);
}
