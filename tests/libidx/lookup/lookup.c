/* lookup.c: tests of what idx.h says of look-ups: orders, capacities, stops, refusals; and laws that hold whatever the
 * data: a mask XORed into all fingerprints and queries, or their bits permuted, changes nothing but names. */
#include <string.h>

#include "tests/libidx/sets.h"
#include "tests/libidx/support.h"
#include "tests/libidx/trial.h"

#define ROOM 4000

static struct idx_index *build_and_open(const char *path, const struct set *set, const char *scheme, unsigned k) {
    struct idx_build_options options = options_for(set->bits, k, scheme);
    options.id_type = IDX_ID_NONE;
    build_index(path, &options, set->items, set->count);
    return open_index(path, IDX_RESIDENCE_DIRECTORY);
}

static size_t look_up(const struct idx_index *index, uint64_t query, unsigned distance, struct idx_match *matches) {
    size_t count;
    assert_ok(idx_lookup(index, query, distance, matches, ROOM, &count, &failure));
    assert_in_range(count, 0, ROOM);
    return count;
}

/* ---- Worked out by hand ---- */

static void test_by_hand(void **state) {
    static const uint64_t items[] = {0x27, 0x2a, 0x2b, 0x27, 0x00, 0xff};
    static const struct idx_match near_27[] = {{0x27, 0}, {0x2b, 2}, {0x2a, 3}};
    struct set set = set_of(items, LENGTH(items), 8);
    struct idx_index *index = build_and_open(path_in(*state, "i"), &set, "4", 3);
    struct idx_match matches[ROOM];
    assert_int_equal(look_up(index, 0x27, 3, matches), 3);
    for (size_t i = 0; i < LENGTH(near_27); i++) {
        assert_int_equal(matches[i].fingerprint, near_27[i].fingerprint);
        assert_int_equal(matches[i].distance, near_27[i].distance);
    }
    assert_int_equal(look_up(index, 0x27, 2, matches), 2);
    assert_int_equal(look_up(index, 0x27, 1, matches), 1);
    assert_int_equal(look_up(index, 0x07, 0, matches), 0);
    assert_int_equal(look_up(index, 0x07, 1, matches), 1);
    assert_int_equal(look_up(index, 0x0f, 3, matches), 3); /* 27, 2b and 2a are 2, 2 and 3 away */
    assert_int_equal(matches[0].fingerprint, 0x27);
    assert_int_equal(matches[1].fingerprint, 0x2b);
    assert_int_equal(matches[2].fingerprint, 0x2a);
    idx_close(index);
    free_set(&set);
}

/* ---- Refusals ---- */

static bool never(void *context, const struct idx_match *match) {
    (void)context;
    (void)match;
    fail_msg("visited");
    return true;
}

static void test_distance_above_k(void **state) {
    struct set set = make_set(SHAPE_UNIFORM, 64, 100, 1);
    struct idx_index *index = build_and_open(path_in(*state, "i"), &set, "20", 2);
    size_t count = 77;
    bool exists = true;
    assert_status(IDX_BAD_DISTANCE, idx_lookup(index, 0, 3, NULL, 0, &count, &failure));
    assert_non_null(strstr(failure.sentence, "/i: supports distances up to 2, not 3: "));
    assert_status(IDX_BAD_DISTANCE, idx_lookup(index, 0, UINT32_MAX, NULL, 0, &count, &failure));
    assert_non_null(
        strstr(failure.sentence, "not 4294967295, which is too large for any index: use a smaller distance"));
    assert_int_equal(count, 77);
    assert_status(IDX_BAD_DISTANCE, idx_exists(index, set.items[0], 3, &exists, &failure));
    assert_true(exists);
    assert_status(IDX_BAD_DISTANCE, idx_visit_matches(index, set.items[0], 64, never, NULL, &failure));
    assert_int_equal(idx_lookup(index, 0, 3, NULL, 0, &count, NULL), IDX_BAD_DISTANCE);
    idx_close(index);
    free_set(&set);
}

static void test_fingerprints_of_too_many_bits(void **state) {
    struct set set = make_set(SHAPE_UNIFORM, 31, 100, 1);
    struct idx_index *index = build_and_open(path_in(*state, "i"), &set, "4", 3);
    const uint64_t wide[] = {UINT64_C(1) << 31, UINT64_C(1) << 63, UINT64_MAX};
    size_t count = 77;
    bool exists = true;
    for (size_t i = 0; i < LENGTH(wide); i++) {
        assert_status(IDX_INVALID_ARGUMENT, idx_lookup(index, wide[i], 3, NULL, 0, &count, &failure));
        assert_status(IDX_INVALID_ARGUMENT, idx_exists(index, wide[i], 0, &exists, &failure));
        assert_status(IDX_INVALID_ARGUMENT, idx_visit_matches(index, wide[i], 0, never, NULL, &failure));
    }
    assert_string_equal(failure.sentence, "fingerprint ffffffffffffffff has more than 31 bits");
    assert_int_equal(count, 77);
    idx_close(index);
    free_set(&set);
}

/* ---- Visiting ---- */

struct visits {
    size_t most, made;
    struct idx_match matches[ROOM];
};

static bool note_visit(void *context, const struct idx_match *match) {
    struct visits *visits = context;
    assert_in_range(visits->made, 0, ROOM - 1);
    visits->matches[visits->made++] = *match;
    return visits->made < visits->most;
}

/* A visitor that returns false is not called again, whichever table, block or segment the match was in. */
static void test_visitors_stop(void **state) {
    static struct visits visits;
    struct set set = make_set(SHAPE_CLUSTERED, 64, 600, 1);
    struct trial trial = {"clustered", .set = &set, .scheme = "10", .k = 3, .segments = 3, .block_size = 128};
    struct idx_index *index = open_trial(*state, &trial, IDX_ID_NONE);
    struct idx_match all[ROOM];
    for (size_t query = 0; query < set.count; query += 50) {
        size_t count = look_up(index, set.items[query], 3, all);
        for (visits.most = 1; visits.most <= count; visits.most++) {
            visits.made = 0;
            assert_ok(idx_visit_matches(index, set.items[query], 3, note_visit, &visits, &failure));
            assert_int_equal(visits.made, visits.most);
        }
    }
    for (visits.most = 1; visits.most <= set.distinct_count; visits.most += 37) {
        visits.made = 0;
        assert_ok(idx_visit_all(index, note_visit, &visits, &failure));
        assert_int_equal(visits.made, visits.most);
    }
    idx_close(index);
    free_set(&set);
}

/* A fingerprint's bits with those of the mask in front: one bit after the other. */
static uint64_t bring_to_front(uint64_t fingerprint, uint64_t mask, unsigned bits) {
    uint64_t permuted = 0;
    for (int part = 0; part < 2; part++) {
        for (unsigned i = bits; i-- > 0;) {
            if ((mask >> i & 1) != (part == 0)) continue;
            permuted = permuted << 1 | (fingerprint >> i & 1);
        }
    }
    return permuted;
}

static void test_all_in_the_order_of_the_first_table(void **state) {
    static struct visits visits;
    struct set set = make_set(SHAPE_CLUSTERED, 37, 1000, 1);
    struct idx_index *index = build_and_open(path_in(*state, "i"), &set, "@00ffff0000:1,@1f0000ffff:2", 3);
    visits = (struct visits){.most = SIZE_MAX};
    assert_ok(idx_visit_all(index, note_visit, &visits, &failure));
    assert_int_equal(visits.made, set.distinct_count);
    for (size_t i = 1; i < visits.made; i++) {
        assert_true(bring_to_front(visits.matches[i - 1].fingerprint, 0x00ffff0000, 37) <
                    bring_to_front(visits.matches[i].fingerprint, 0x00ffff0000, 37));
    }
    idx_close(index);
    free_set(&set);
}

/* ---- Segments ---- */

/* What several segments hold is found once, in the first of them; a segment may be empty. */
static void test_segments_overlap(void **state) {
    static struct visits visits;
    static const uint64_t first[] = {1, 2, 3, 100}, second[] = {3, 4, 1, 200}, third[] = {200, 1, 0};
    const char *parts[] = {path_in(*state, "a"), path_in(*state, "b"), path_in(*state, "c"), path_in(*state, "d")};
    const char *path = path_in(*state, "whole");
    build_index(parts[0], NULL, first, LENGTH(first));
    build_index(parts[1], NULL, NULL, 0);
    build_index(parts[2], NULL, second, LENGTH(second));
    build_index(parts[3], NULL, third, LENGTH(third));
    join_indexes(path, parts, LENGTH(parts));
    struct idx_index *index = open_index(path, IDX_RESIDENCE_NONE);
    struct idx_match matches[ROOM];
    assert_int_equal(look_up(index, 1, 0, matches), 1);
    assert_int_equal(look_up(index, 0, 1, matches), 4); /* 0; 1, 2, 4 */
    assert_int_equal(look_up(index, 0, 3, matches), 7);
    assert_int_equal(look_up(index, 5, 0, matches), 0);
    visits = (struct visits){.most = SIZE_MAX};
    assert_ok(idx_visit_all(index, note_visit, &visits, &failure));
    static const uint64_t expected[] = {1, 2, 3, 100, 4, 200, 0};
    assert_int_equal(visits.made, LENGTH(expected));
    for (size_t i = 0; i < visits.made; i++) assert_int_equal(visits.matches[i].fingerprint, expected[i]);
    idx_close(index);
}

/* ---- Laws ---- */

/* Maps each of a set's fingerprints; `map` is one to one. */
typedef uint64_t (*map_bits)(uint64_t fingerprint);

static uint64_t turn_some(uint64_t fingerprint) { return fingerprint ^ UINT64_C(0x5a5a0f0f12345678); }

static uint64_t turn_all(uint64_t fingerprint) { return ~fingerprint; }

/* Bit i goes to 5 i + 3 modulo 64. */
static uint64_t permute_bits(uint64_t fingerprint) {
    uint64_t permuted = 0;
    for (unsigned i = 0; i < 64; i++) permuted |= (fingerprint >> i & 1) << (5 * i + 3) % 64;
    return permuted;
}

static uint64_t reverse_bits(uint64_t fingerprint) {
    uint64_t reversed = 0;
    for (unsigned i = 0; i < 64; i++) reversed |= (fingerprint >> i & 1) << (63 - i);
    return reversed;
}

static void compare_mapped(const struct set *set, const struct idx_index *index, const struct idx_index *mapped_index,
                           map_bits map) {
    struct idx_match matches[ROOM], mapped[ROOM];
    uint64_t seed = 5;
    for (size_t i = 0; i < 60; i++) {
        uint64_t query = make_query(set, 4, &seed);
        size_t count = look_up(index, query, 3, matches);
        assert_int_equal(look_up(mapped_index, map(query), 3, mapped), count);
        for (size_t match = 0; match < count; match++) matches[match].fingerprint = map(matches[match].fingerprint);
        sort_matches(matches, count);
        for (size_t match = 0; match < count; match++) {
            assert_int_equal(matches[match].fingerprint, mapped[match].fingerprint);
            assert_int_equal(matches[match].distance, mapped[match].distance);
        }
    }
}

static void test_laws(void **state) {
    static const map_bits maps[] = {turn_some, turn_all, permute_bits, reverse_bits};
    static const char *const schemes[] = {"4", "10", "2:1:1", "@ffffff0000000000:1,@000000ffffffffff:1"};
    struct set set = make_set(SHAPE_CLUSTERED, 64, 1000, 3);
    for (size_t i = 0; i < LENGTH(schemes); i++) {
        struct idx_index *index = build_and_open(path_in(*state, "%zu", i), &set, schemes[i], 3);
        for (size_t map = 0; map < LENGTH(maps); map++) {
            uint64_t items[1000];
            for (size_t item = 0; item < set.count; item++) items[item] = maps[map](set.items[item]);
            struct set mapped = set_of(items, set.count, 64);
            struct idx_index *mapped_index = build_and_open(path_in(*state, "%zu-%zu", i, map), &mapped, schemes[i], 3);
            compare_mapped(&set, index, mapped_index, maps[map]);
            idx_close(mapped_index);
            free_set(&mapped);
        }
        idx_close(index);
    }
    free_set(&set);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        in_folder(test_by_hand),
        in_folder(test_distance_above_k),
        in_folder(test_fingerprints_of_too_many_bits),
        in_folder(test_visitors_stop),
        in_folder(test_all_in_the_order_of_the_first_table),
        in_folder(test_segments_overlap),
        in_folder(test_laws),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
