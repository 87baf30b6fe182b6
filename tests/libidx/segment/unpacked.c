/* unpacked.c: tests of indexes that are opened with IDX_RESIDENCE_UNPACKED, beside other residences and a scan.
 * lookup/exactness.c has all makes of an index. */
#include <stdlib.h>
#include <string.h>

#include "libidx/segment/unpacked.h"
#include "libidx/segment/unpacked_tables.h"
#include "libidx/view/index.h"
#include "tests/libidx/forge.h"
#include "tests/libidx/sets.h"
#include "tests/libidx/support.h"

#include <idx_planning.h>

/* ---- Layouts ---- */

static void check_halves(const struct idxi_layout *layout, uint64_t count, unsigned bits) {
    static const int probed[] = {1, 2, 4, 6};
    int radii[IDXI_MAX_PARTS];
    assert_int_equal(layout->count, 6);
    for (unsigned i = 0; i < 6; i++) {
        const struct idxi_part *part = &layout->parts[i];
        assert_int_equal(part->radius, 0);
        assert_true(part->low_bits > 0 && part->low_bits < part->bits);
        assert_true(part->shift + part->bits - part->low_bits <= bits);
        assert_true(part->low_shift + part->low_bits <= bits);
    }
    for (unsigned less = 0; less <= 3; less++) {
        int sum = 0;
        assert_true(idxi_layout_choose_radii(layout, count, less, radii) > 0);
        for (unsigned i = 0; i < 6; i++) sum += radii[i] + 1;
        assert_int_equal(sum, probed[less]);
    }
}

static void check_layout(const struct idxi_layout *layout, uint64_t count, unsigned bits, unsigned distance) {
    uint64_t used = 0;
    int sum = 0, radii[IDXI_MAX_PARTS];
    if (layout->of_halves) {
        check_halves(layout, count, bits);
        return;
    }
    assert_in_range(layout->count, 1, IDXI_MAX_PARTS);
    for (unsigned i = 0; i < layout->count; i++) {
        const struct idxi_part *part = &layout->parts[i];
        assert_true(part->shift + part->bits <= bits);
        for (unsigned bit = part->shift; bit < part->shift + part->bits; bit++) {
            assert_int_equal(used >> bit & 1, 0);
            used |= UINT64_C(1) << bit;
        }
        sum += (int)part->radius + 1;
    }
    assert_int_equal(sum, distance + 1);
    for (unsigned less = 0; less <= distance; less++) {
        assert_true(idxi_layout_choose_radii(layout, count, less, radii) > 0);
        sum = 0;
        for (unsigned i = 0; i < layout->count; i++) {
            assert_true(radii[i] >= -1 && radii[i] <= (int)layout->parts[i].radius);
            sum += radii[i] + 1;
        }
        assert_int_equal(sum, less + 1);
    }
}

/* By the pigeonhole principle: whatever the number of fingerprints, bits and errors. */
static void test_layouts(void **state) {
    static const uint64_t counts[] = {1, 100, 10000, 10000000, 4000000000};
    (void)state;
    for (size_t i = 0; i < LENGTH(counts); i++) {
        for (unsigned bits = 1; bits <= 64; bits += bits < 4 ? 1 : 12) {
            for (unsigned distance = 0; distance <= IDX_MAX_K && distance < bits; distance += 4) {
                struct idxi_layout small = idxi_layout_choose(counts[i], bits, distance, 0);
                struct idxi_layout large = idxi_layout_choose(counts[i], bits, distance, UINT64_MAX);
                struct idxi_layout between = idxi_layout_choose(counts[i], bits, distance, small.bytes * 3);
                check_layout(&small, counts[i], bits, distance);
                check_layout(&large, counts[i], bits, distance);
                check_layout(&between, counts[i], bits, distance);
                assert_true(between.bytes <= small.bytes * 3);
                assert_true(large.nanoseconds <= between.nanoseconds && between.nanoseconds <= small.nanoseconds);
            }
        }
    }
}

/* All patterns of up to three errors, at every distance up to 3: a part that is probed has at most its radius of them.
 */
static void test_halves(void **state) {
    struct idxi_layout layout = idxi_layout_choose(10000000, 64, 3, UINT64_MAX);
    (void)state;
    assert_true(layout.of_halves);
    for (unsigned distance = 0; distance <= 3; distance++) {
        int radii[IDXI_MAX_PARTS];
        idxi_layout_choose_radii(&layout, 10000000, distance, radii);
        for (unsigned pattern = 0; pattern < 64 * 64 * 64; pattern++) {
            uint64_t errors = UINT64_C(1) << pattern % 64;
            if (distance >= 2) errors |= UINT64_C(1) << pattern / 64 % 64;
            if (distance == 3) errors |= UINT64_C(1) << pattern / 4096;
            bool found = false;
            for (unsigned i = 0; i < layout.count; i++)
                found |=
                    __builtin_popcountll(idxi_get_part_value(&layout.parts[i], distance > 0 ? errors : 0)) <= radii[i];
            assert_true(found);
        }
    }
}

/* ---- Ways ---- */

#define ASKED 20

/* The matches of several queries, in room for as many as there are fingerprints of each. */
struct found {
    const struct set *set;
    uint64_t queries[ASKED];
    struct idx_match *matches[ASKED];
    size_t counts[ASKED];
};

static bool find(void *context, size_t query, uint64_t fingerprint) {
    struct found *found = context;
    assert_true(query < ASKED && found->counts[query] < found->set->distinct_count);
    found->matches[query][found->counts[query]++] =
        (struct idx_match){fingerprint, (unsigned)__builtin_popcountll(fingerprint ^ found->queries[query])};
    return true;
}

static void compare_found(struct found *found, size_t query, const struct idx_match *expected, size_t count) {
    struct idx_match *matches = found->matches[query];
    assert_int_equal(found->counts[query], count);
    sort_matches(matches, count);
    for (size_t i = 0; i < count; i++) assert_true(matches[i].fingerprint == expected[i].fingerprint);
}

static void compare_ways(const struct set *set, const struct idxi_unpacked *unpacked, unsigned distance) {
    const struct idxi_bucket_way *ways[IDXI_MAX_BUCKET_WAYS];
    size_t way_count = idxi_list_bucket_ways(ways), counts[ASKED];
    uint64_t seed = distance;
    struct idx_match *matches = malloc(2 * ASKED * set->count * sizeof *matches), *expected[ASKED];
    struct found found = {.set = set};
    assert_non_null(matches);
    for (size_t i = 0; i < ASKED; i++) {
        expected[i] = matches + 2 * i * set->count;
        found.matches[i] = expected[i] + set->count;
        found.queries[i] = make_query(set, distance + 2, &seed);
        counts[i] = scan(set, found.queries[i], distance, expected[i]);
    }
    for (size_t way = 0; way < way_count; way++) {
        for (size_t begin = 0, end = 1; begin < ASKED; begin = end, end = ASKED) {
            memset(found.counts, 0, sizeof found.counts);
            idxi_unpacked_search(unpacked, ways[way], distance, found.queries, begin, end, find, &found);
            for (size_t i = begin; i < end; i++) compare_found(&found, i, expected[i], counts[i]);
        }
    }
    free(matches);
}

/* Every implementation and every shape, at small and large k, and all smaller distances. */
static void test_ways(void **state) {
    static const struct {
        unsigned bits, k;
        size_t count;
    } cases[] = {{64, 3, 3000}, {64, 0, 500}, {64, 16, 2000}, {64, 10, 1}, {17, 16, 700}, {2, 1, 9}, {33, 6, 2000}};
    for (size_t i = 0; i < LENGTH(cases) * SHAPE_COUNT; i++) {
        unsigned bits = cases[i % LENGTH(cases)].bits, k = cases[i % LENGTH(cases)].k;
        const char *path = path_in(*state, "%zu.idx", i);
        struct set set = make_set((enum shape)(i / LENGTH(cases)), bits, scale(cases[i % LENGTH(cases)].count), i);
        struct idx_build_options options = options_for(bits, k, "auto");
        build_index(path, &options, set.items, set.count);
        struct idx_index *index = open_index(path, IDX_RESIDENCE_UNPACKED);
        assert_true(set.count == 0 || index->segments[0]->unpacked != NULL);
        for (unsigned distance = 0; distance <= k && set.count > 0; distance++)
            compare_ways(&set, index->segments[0]->unpacked, distance);
        idx_close(index);
        remove_all(path);
        free_set(&set);
    }
}

/* ---- While an index changes ---- */

#define QUERIES 300
#define K 6
#define ROOM 64

static void compare_views(const struct idx_index *a, const struct idx_index *b, const struct set *set) {
    static uint64_t queries[QUERIES];
    static struct idx_match of_a[QUERIES * ROOM], of_b[QUERIES * ROOM];
    size_t a_counts[QUERIES], b_counts[QUERIES];
    uint64_t seed = 7;
    for (size_t i = 0; i < QUERIES; i++) queries[i] = make_query(set, K + 1, &seed);
    assert_ok(look_up_many(a, queries, QUERIES, K, 1, of_a, ROOM, a_counts, &failure));
    assert_ok(look_up_many(b, queries, QUERIES, K, 2, of_b, ROOM, b_counts, &failure));
    for (size_t i = 0; i < QUERIES; i++) {
        struct idx_match single[ROOM];
        size_t count;
        assert_int_equal(a_counts[i], b_counts[i]);
        assert_ok(idx_lookup(b, queries[i], K, single, ROOM, &count, &failure));
        assert_int_equal(a_counts[i], count);
        for (size_t j = 0; j < count && j < ROOM; j++) {
            assert_true(of_a[i * ROOM + j].fingerprint == of_b[i * ROOM + j].fingerprint);
            assert_true(of_a[i * ROOM + j].fingerprint == single[j].fingerprint);
            assert_int_equal(of_a[i * ROOM + j].distance, single[j].distance);
        }
    }
}

static void compare_with_mapped(const char *path, const struct idx_index *index, const struct set *set) {
    struct idx_index *mapped = open_index(path, IDX_RESIDENCE_NONE);
    compare_views(mapped, index, set);
    idx_close(mapped);
}

static struct idx_index *refresh(struct idx_index *index) {
    struct idx_index *newer;
    assert_ok(idx_refresh(index, &newer, &failure));
    assert_non_null(newer);
    idx_close(index);
    return newer;
}

static void add(struct idx_writer *writer, const uint64_t *fingerprints, size_t count) {
    for (size_t i = 0; i < count; i++) {
        struct idx_item item = {.fingerprint = fingerprints[i]};
        assert_ok(idx_writer_add(writer, &item, 1, &failure));
    }
}

/* Pending, removed, compacted, added again and replaced: a segment that stays is not unpacked again. */
static void test_changes(void **state) {
    const char *path = path_in(*state, "i");
    struct set set = make_set(SHAPE_CLUSTERED, 64, 4000, 1);
    struct idx_build_options options = options_for(64, K, "auto");
    struct idx_writer_options writing = IDX_WRITER_OPTIONS_INIT;
    struct idx_compact_options compacting = IDX_COMPACT_OPTIONS_INIT;
    struct idx_writer *writer;
    options.id_type = IDX_ID_NONE;
    writing.compact_records = writing.compact_segments = 0;
    writing.residence = IDX_RESIDENCE_UNPACKED;
    build_index(path, &options, set.items, 3000);
    struct idx_index *index = open_index(path, IDX_RESIDENCE_UNPACKED);
    compare_with_mapped(path, index, &set);
    assert_ok(idx_writer_open(&writer, path, &writing, &failure));
    add(writer, set.items + 3000, 500);
    compare_views(index = refresh(index), idx_writer_view(writer), &set);
    compare_with_mapped(path, index, &set);
    assert_ok(remove_by_fingerprint(writer, set.items + 100, 400, NULL, &failure));
    compare_with_mapped(path, index = refresh(index), &set);
    idx_writer_close(writer);
    assert_ok(idx_compact(path, &compacting, NULL, &failure));
    const struct idxi_unpacked *before = index->segments[0]->unpacked;
    compare_with_mapped(path, index = refresh(index), &set);
    if (index->open_segments > 1) assert_ptr_equal(index->segments[0]->unpacked, before);
    for (size_t i = 0; i < index->open_segments; i++) assert_non_null(index->segments[i]->unpacked);
    assert_ok(idx_writer_open(&writer, path, &writing, &failure));
    add(writer, set.items, 600); /* some of them removed before */
    idx_writer_close(writer);
    compare_with_mapped(path, index = refresh(index), &set);
    build_index(path_in(*state, "other"), &options, set.items + 2000, 2000);
    remove_all(path);
    copy_folder(path_in(*state, "other"), path);
    compare_with_mapped(path, index = refresh(index), &set);
    idx_close(index);
    free_set(&set);
}

/* So many that buckets are asked for ahead, those of several queries together. */
static void test_large(void **state) {
    const char *path = path_in(*state, "i");
    struct set set = make_set(SHAPE_UNIFORM, 64, 300000, 3);
    struct idx_build_options options = options_for(64, K, "auto");
    build_index(path, &options, set.items, set.count);
    struct idx_index *index = open_index(path, IDX_RESIDENCE_UNPACKED);
    for (unsigned distance = 0; distance <= K; distance++) compare_ways(&set, index->segments[0]->unpacked, distance);
    compare_with_mapped(path, index, &set);
    idx_close(index);
    free_set(&set);
}

/* Layouts of halves, in a cache and larger, at all smaller distances. */
static void test_found_by_halves(void **state) {
    static const struct {
        enum shape shape;
        unsigned bits;
        size_t count;
    } cases[] = {{SHAPE_UNIFORM, 36, 30000}, {SHAPE_SKEWED, 36, 60000}, {SHAPE_UNIFORM, 40, 300000}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        const char *path = path_in(*state, "%zu.idx", i);
        struct set set = make_set(cases[i].shape, cases[i].bits, cases[i].count, i);
        struct idx_build_options options = options_for(cases[i].bits, 3, "auto");
        build_index(path, &options, set.items, set.count);
        struct idx_index *index = open_index(path, IDX_RESIDENCE_UNPACKED);
        assert_true(index->segments[0]->unpacked->layout.of_halves);
        for (unsigned distance = 0; distance <= 3; distance++)
            compare_ways(&set, index->segments[0]->unpacked, distance);
        idx_close(index);
        free_set(&set);
    }
}

/* ---- Distances beyond the k of the index ---- */

enum { MOST_LIVE = 4000 };

/* What is there, as a plain list. */
struct live {
    uint64_t items[MOST_LIVE];
    size_t count;
};

static void keep(struct live *live, uint64_t fingerprint) {
    for (size_t i = 0; i < live->count; i++)
        if (live->items[i] == fingerprint) return;
    live->items[live->count++] = fingerprint;
}

static size_t count_near(const struct live *live, uint64_t query, unsigned distance) {
    size_t count = 0;
    for (size_t i = 0; i < live->count; i++)
        count += (unsigned)__builtin_popcountll(live->items[i] ^ query) <= distance;
    return count;
}

struct counted {
    const uint64_t *queries;
    size_t counts[QUERIES];
};

/* An idx_batch_visitor. */
static bool count_matches(void *context, size_t query, const struct idx_match *matches, size_t count) {
    struct counted *counted = context;
    for (size_t i = 0; i < count; i++)
        assert_int_equal(matches[i].distance, __builtin_popcountll(matches[i].fingerprint ^ counted->queries[query]));
    counted->counts[query] += count;
    return true;
}

static void compare_with_scan(const struct idx_index *index, const struct live *live, const struct set *set,
                              unsigned distance) {
    static const enum idx_batch_method methods[] = {IDX_BATCH_AUTO, IDX_BATCH_PROBE, IDX_BATCH_STREAM};
    static uint64_t queries[QUERIES];
    static struct idx_match matches[MOST_LIVE], many[QUERIES];
    struct idx_batch_options options = IDX_BATCH_OPTIONS_INIT;
    size_t counts[QUERIES];
    uint64_t seed = distance + 1;
    bool exists;
    for (size_t i = 0; i < QUERIES; i++) queries[i] = make_query(set, distance + 1, &seed);
    assert_ok(look_up_many(index, queries, QUERIES, distance, 2, many, 1, counts, &failure));
    for (size_t i = 0; i < QUERIES; i++) {
        size_t expected = count_near(live, queries[i], distance), count;
        assert_int_equal(counts[i], expected);
        assert_ok(idx_lookup(index, queries[i], distance, matches, MOST_LIVE, &count, &failure));
        assert_int_equal(count, expected);
        for (size_t j = 0; j < count; j++) {
            struct live found = {.items = {matches[j].fingerprint}, .count = 1};
            assert_int_equal(count_near(live, found.items[0], 0), 1);
            assert_int_equal(__builtin_popcountll(found.items[0] ^ queries[i]), matches[j].distance);
            assert_true(j == 0 || matches[j - 1].fingerprint != matches[j].fingerprint);
        }
        assert_ok(idx_exists(index, queries[i], distance, &exists, &failure));
        assert_int_equal(exists, expected > 0);
    }
    options.distance = distance;
    for (size_t method = 0; method < LENGTH(methods); method++) {
        struct counted counted = {.queries = queries};
        options.method = methods[method];
        assert_ok(idx_batch(index, queries, QUERIES, &options, count_matches, &counted, &failure));
        assert_memory_equal(counted.counts, counts, sizeof counts);
    }
}

static void test_distances(void **state) {
    static const struct {
        unsigned bits, k, distance;
    } cases[] = {{64, 2, 3}, {64, 2, 9}, {64, 3, 16}, {33, 1, 7}, {17, 0, 4}, {64, 0, 12}};
    static struct live live;
    for (size_t i = 0; i < LENGTH(cases) * SHAPE_COUNT; i++) {
        unsigned bits = cases[i % LENGTH(cases)].bits, farthest = cases[i % LENGTH(cases)].distance;
        const char *path = path_in(*state, "%zu.idx", i);
        struct set set = make_set((enum shape)(i / LENGTH(cases)), bits, scale(1000), i);
        struct idx_build_options options = options_for(bits, cases[i % LENGTH(cases)].k, "auto");
        struct idx_open_options opening = IDX_OPEN_OPTIONS_INIT;
        struct idx_writer_options writing = IDX_WRITER_OPTIONS_INIT;
        struct idx_writer *writer;
        struct idx_index *index;
        size_t built = set.count - set.count / 4, removed = set.count / 8;
        options.id_type = IDX_ID_NONE;
        opening.residence = IDX_RESIDENCE_UNPACKED;
        opening.distance = farthest;
        writing.compact_records = writing.compact_segments = 0;
        build_index(path, &options, set.items, built);
        assert_ok(idx_open(&index, path, &opening, &failure));
        assert_ok(idx_writer_open(&writer, path, &writing, &failure));
        add(writer, set.items + built, set.count - built);
        if (removed > 0) assert_ok(remove_by_fingerprint(writer, set.items, removed, NULL, &failure));
        idx_writer_close(writer);
        live.count = 0;
        for (size_t j = 0; j < set.count; j++) {
            bool gone = false;
            for (size_t l = 0; l < removed && !gone; l++) gone = set.items[l] == set.items[j];
            if (!gone) keep(&live, set.items[j]);
        }
        if (set.count > built) index = refresh(index);
        for (unsigned distance = 0; distance <= farthest; distance += 1 + distance % 3)
            compare_with_scan(index, &live, &set, distance);
        compare_with_scan(index, &live, &set, farthest);
        idx_close(index);
        remove_all(path);
        free_set(&set);
    }
}

/* ---- Options ---- */

static bool cancel(void *context, const struct idx_progress *progress) {
    ++*(int *)context;
    assert_int_equal(progress->phase, IDX_PHASE_TABLES);
    return *(int *)context < 2;
}

/* As few resident bytes as its memory has room for; an error that says how much it takes; and a call cancelled. */
static void test_options(void **state) {
    const char *path = path_in(*state, "i");
    struct set set = make_set(SHAPE_UNIFORM, 64, 200000, 1);
    struct idx_build_options options = options_for(64, 3, "4");
    struct idx_open_options opening = IDX_OPEN_OPTIONS_INIT;
    struct idx_index *index;
    struct idx_properties free_choice, bounded;
    int calls = 0;
    build_index(path, &options, set.items, set.count);
    opening.residence = IDX_RESIDENCE_UNPACKED;
    opening.threads = 2;
    assert_ok(idx_open(&index, path, &opening, &failure));
    idx_get_properties(index, &free_choice);
    idx_close(index);
    opening.memory_bytes = 5 << 20;
    assert_ok(idx_open(&index, path, &opening, &failure));
    idx_get_properties(index, &bounded);
    idx_close(index);
    assert_true(bounded.resident_bytes < free_choice.resident_bytes);
    opening.memory_bytes = 2 << 20;
    assert_status(IDX_OUT_OF_MEMORY, idx_open(&index, path, &opening, &failure));
    assert_non_null(strstr(failure.sentence, "takes at least 4 MiB, and 2 MiB are allowed"));
    assert_non_null(strstr(failure.sentence, "if it is only mapped it takes none: choose another residence"));
    opening.memory_bytes = 1;
    assert_status(IDX_INVALID_ARGUMENT, idx_open(&index, path, &opening, &failure));
    opening.memory_bytes = 0;
    opening.threads = 0;
    assert_status(IDX_INVALID_ARGUMENT, idx_open(&index, path, &opening, &failure));
    opening.threads = 1;
    opening.distance = IDX_MAX_K + 1;
    assert_status(IDX_INVALID_ARGUMENT, idx_open(&index, path, &opening, &failure));
    opening.distance = 5;
    opening.residence = IDX_RESIDENCE_NONE;
    assert_status(IDX_INVALID_ARGUMENT, idx_open(&index, path, &opening, &failure));
    assert_non_null(strstr(failure.sentence, "a distance is for unpacked tables"));
    opening.residence = IDX_RESIDENCE_UNPACKED;
    assert_ok(idx_open(&index, path, &opening, &failure));
    struct idx_match match;
    size_t count;
    assert_status(IDX_BAD_DISTANCE, idx_lookup(index, 1, 6, &match, 1, &count, &failure));
    assert_non_null(strstr(failure.sentence, "was unpacked for distances up to 5, not 6"));
    struct idx_batch_options sweeping = IDX_BATCH_OPTIONS_INIT;
    sweeping.method = IDX_BATCH_SWEEP;
    sweeping.distance = 5;
    assert_status(IDX_BAD_DISTANCE, idx_batch(index, set.items, 1, &sweeping, count_matches, NULL, &failure));
    idx_close(index);
    opening.distance = UINT_MAX;
    opening.context = &calls;
    opening.progress = cancel;
    calls = 1;
    assert_status(IDX_CANCELLED, idx_open(&index, path, &opening, &failure));
    free_set(&set);
}

/* Where memory does not suffice for another version of the index, refreshing fails, and nothing of it stays open. */
static void test_memory(void **state) {
    const char *path = path_in(*state, "i"), *other = path_in(*state, "other");
    struct set set = make_set(SHAPE_UNIFORM, 64, 200000, 1);
    struct idx_build_options options = options_for(64, 3, "2:1:1");
    struct idx_open_options opening = IDX_OPEN_OPTIONS_INIT;
    struct idx_index *index, *newer = NULL;
    struct idx_match match;
    size_t count;
    int before = count_entries("/proc/self/fd");
    opening.residence = IDX_RESIDENCE_UNPACKED;
    opening.memory_bytes = IDX_MIN_MEMORY_BYTES;
    build_index(other, &options, set.items, set.count);
    assert_status(IDX_OUT_OF_MEMORY, idx_open(&index, other, &opening, &failure));
    assert_non_null(strstr(failure.sentence, " MiB, and 1 MiB are allowed"));
    assert_int_equal(count_entries("/proc/self/fd"), before);
    build_index(path, &options, set.items, 1000);
    assert_ok(idx_open(&index, path, &opening, &failure));
    int opened = count_entries("/proc/self/fd");
    remove_all(path);
    copy_folder(other, path);
    for (int i = 0; i < 3; i++) {
        assert_status(IDX_OUT_OF_MEMORY, idx_refresh(index, &newer, &failure));
        assert_non_null(strstr(failure.sentence, "table-00.tbl: unpacking it takes at least "));
        assert_non_null(strstr(failure.sentence, "if it is only mapped it takes none: choose another residence"));
        assert_null(newer);
        assert_int_equal(count_entries("/proc/self/fd"), opened);
    }
    assert_ok(idx_lookup(index, set.items[0], 0, &match, 1, &count, &failure));
    assert_true(count == 1 && match.fingerprint == set.items[0]);
    idx_close(index);
    assert_int_equal(count_entries("/proc/self/fd"), before);
    free_set(&set);
}

/* ---- Plans ---- */

static struct idx_unpacked_plan make_plan(uint64_t count, unsigned distance) {
    struct idx_unpacked_plan plan;
    assert_ok(idx_plan_unpacked(count, 64, distance, &plan, &failure));
    return plan;
}

static void test_plans(void **state) {
    const char *path = path_in(*state, "i");
    struct set set = make_set(SHAPE_UNIFORM, 64, 30000, 1);
    struct idx_build_options options = options_for(64, 5, "4:1:1");
    struct idx_unpacked_plan plan = make_plan(set.distinct_count, 5);
    struct idx_properties unpacked, mapped;
    build_index(path, &options, set.items, set.count);
    struct idx_index *index = open_index(path, IDX_RESIDENCE_UNPACKED);
    idx_get_properties(index, &unpacked);
    idx_close(index);
    index = open_index(path, IDX_RESIDENCE_NONE);
    idx_get_properties(index, &mapped);
    idx_close(index);
    assert_in_range(unpacked.resident_bytes - mapped.resident_bytes, plan.bytes - 8192, plan.bytes + 8192);
    for (uint64_t count = 10; count <= 1000000000; count *= 10) {
        for (unsigned distance = 0; distance < IDX_MAX_K; distance++) {
            struct idx_unpacked_plan nearer = make_plan(count, distance), farther = make_plan(count, distance + 1);
            assert_true(nearer.nanoseconds <= farther.nanoseconds);
            assert_true(nearer.opening_seconds > 0 && nearer.opening_seconds < 1e-6 * (double)count);
            if (count >= 100000) assert_true(nearer.bytes <= (distance == 3 ? 57.0 : 40.0) * (double)count);
        }
    }
    assert_ok(idx_plan_unpacked(UINT32_MAX - 1, 64, 3, &plan, &failure));
    assert_status(IDX_LIMIT, idx_plan_unpacked(UINT32_MAX, 64, 3, &plan, &failure));
    assert_string_equal(failure.sentence,
                        "4294967295 fingerprints are more than the 2^32 - 2 of a segment that can be unpacked: choose "
                        "another residence, or several indexes");
    assert_status(IDX_INVALID_ARGUMENT, idx_plan_unpacked(1, 65, 3, &plan, &failure));
    assert_status(IDX_INVALID_ARGUMENT, idx_plan_unpacked(1, 3, 3, &plan, &failure));
    assert_status(IDX_INVALID_ARGUMENT, idx_plan_unpacked(1, 64, IDX_MAX_K + 1, &plan, &failure));
    assert_ok(idx_plan_unpacked(0, 64, 3, &plan, &failure));
    free_set(&set);
}

static void test_empty(void **state) {
    const char *path = path_in(*state, "i");
    struct idx_build_options options = options_for(64, 3, "4");
    struct idx_match match;
    size_t count;
    build_index(path, &options, NULL, 0);
    struct idx_index *index = open_index(path, IDX_RESIDENCE_UNPACKED);
    assert_ok(idx_lookup(index, 5, 3, &match, 1, &count, &failure));
    assert_int_equal(count, 0);
    idx_close(index);
}

/* Blocks that hold one fingerprint more, which would not be found. */
static void test_more_than_the_header_says(void **state) {
    static const uint64_t fingerprints[] = {5, 6, 7}, ones[] = {1, 1, 1};
    static const struct forged_block block = {8, false, 1, {{ones, LENGTH(ones), 0, 0}}};
    const char *path = path_in(*state, "i");
    struct idx_build_options options = options_for(64, 1, "@ffffffffffffffff:1");
    struct idx_open_options opening = IDX_OPEN_OPTIONS_INIT;
    struct idx_index *index;
    build_index(path, &options, fingerprints, LENGTH(fingerprints));
    forge_block(path_in(path, "000001/table-00.tbl"), 0, &block);
    opening.residence = IDX_RESIDENCE_UNPACKED;
    assert_status(IDX_BAD_CONTENT, idx_open(&index, path, &opening, &failure));
    assert_non_null(strstr(failure.sentence, "counts that don't agree (byte 0)"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layouts), cmocka_unit_test(test_halves), in_folder(test_ways),
        in_folder(test_changes),        in_folder(test_large),         in_folder(test_found_by_halves),
        in_folder(test_distances),      in_folder(test_options),       in_folder(test_memory),
        in_folder(test_plans),          in_folder(test_empty),         in_folder(test_more_than_the_header_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
