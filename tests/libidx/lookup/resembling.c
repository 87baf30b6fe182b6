/* resembling.c: tests of look-ups by resemblance, and of adding what resembles nothing, beside a plain program that
 * compares all with all. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/libidx/support.h"
#include "tests/random.h"

enum { SETS = 600, MOST = 40, QUERIES = 200, SKETCH = 8 };

/* Sets of families: each has most members of its family, and some of its own. */
struct world {
    uint64_t members[SETS][MOST];
    struct idx_set sets[SETS];
    char ids[SETS][16];
};

static uint64_t state = 5;

static uint64_t member(uint64_t family, uint64_t number) {
    uint64_t seed = family * 1000 + number + 1;
    return next_random(&seed);
}

static int by_value(const void *first, const void *second) {
    const uint64_t *a = first, *b = second;
    return (*a > *b) - (*a < *b);
}

static void draw_set(struct world *world, size_t at) {
    uint64_t family = next_random(&state) % 40, own = next_random(&state) % 100;
    size_t size = next_random(&state) % 12 == 0 ? next_random(&state) % 4 : 1 + next_random(&state) % MOST, count = 0;
    uint64_t *set = world->members[at];
    for (size_t i = 0; i < size; i++)
        set[i] = next_random(&state) % 100 < own ? next_random(&state) : member(family, i % 30);
    qsort(set, size, sizeof *set, by_value);
    for (size_t i = 0; i < size; i++)
        if (i == 0 || set[i] != set[i - 1]) set[count++] = set[i];
    world->sets[at] = (struct idx_set){set, count};
    snprintf(world->ids[at], sizeof world->ids[at], "d%zu", at);
}

PLAIN static void jaccard(const struct idx_set *a, const struct idx_set *b, uint64_t *shared, uint64_t *total) {
    *shared = 0;
    for (size_t i = 0, j = 0; i < a->count && j < b->count;) { /* both ascend */
        uint64_t x = a->hashes[i], y = b->hashes[j];
        *shared += x == y;
        i += x <= y;
        j += y <= x;
    }
    *total = a->count + b->count - *shared;
}

static bool resembles(const struct idx_set *a, const struct idx_set *b, uint64_t threshold) {
    uint64_t shared, total;
    jaccard(a, b, &shared, &total);
    return total > 0 && shared * 10000 >= threshold * total;
}

PLAIN static size_t count_values(const struct idx_set *a, size_t most_a, const struct idx_set *b, size_t most_b) {
    size_t found = 0;
    for (size_t i = 0; i < a->count && i < most_a; i++)
        for (size_t j = 0; j < b->count && j < most_b; j++) found += a->hashes[i] == b->hashes[j];
    return found;
}

static size_t place_of(enum idx_id_type id_type, const struct idx_document *document) {
    char id[16];
    if (id_type == IDX_ID_U64) return (size_t)document->number;
    snprintf(id, sizeof id, "%.*s", (int)document->id_length, (const char *)document->id);
    return (size_t)strtoul(id + 1, NULL, 10);
}

static struct idx_item item_of(const struct world *world, size_t at) {
    return (struct idx_item){.number = at, .id = world->ids[at], .id_length = strlen(world->ids[at])};
}

static void build_texts(const char *path, const struct world *world, size_t count, enum idx_id_type id_type) {
    struct idx_build_options options = IDX_BUILD_OPTIONS_INIT;
    struct idx_builder *builder;
    options.k = 0;
    options.id_type = id_type;
    options.sketch = SKETCH;
    assert_ok(idx_builder_open(&builder, path, &options, &failure));
    for (size_t i = 0; i < count; i++) {
        struct idx_item item = item_of(world, i);
        if (id_type != IDX_ID_TEXT) item = (struct idx_item){.number = i};
        assert_ok(idx_builder_add_text(builder, &item, &world->sets[i], &failure));
    }
    assert_ok(idx_builder_finish(builder, NULL, &failure));
    idx_builder_close(builder);
}

static struct world *draw_world(void) {
    struct world *world = calloc(1, sizeof *world);
    assert_non_null(world);
    for (size_t i = 0; i < SETS; i++) draw_set(world, i);
    return world;
}

static struct idx_resembling_options options_of(int64_t threshold) {
    struct idx_resembling_options options = IDX_RESEMBLING_OPTIONS_INIT;
    options.threshold = threshold;
    return options;
}

/* Checks the list of a query: the texts that the plain program finds, in order. Returns how many resemble it and share
 * no value with it. */
static size_t assert_list(const struct world *world, const struct idx_resembling_lists *lists, size_t query,
                          enum idx_id_type id_type, int64_t threshold) {
    const struct idx_set *set = &world->sets[query];
    size_t values = idx_sketch_values(threshold), expected = 0, missed = 0;
    uint64_t last_shared = 1, last_total = 1;
    for (size_t i = 0; i < SETS; i++) {
        bool proposed = count_values(set, values < SKETCH ? values : SKETCH, &world->sets[i], SKETCH) > 0;
        bool near = resembles(set, &world->sets[i], (uint64_t)threshold);
        expected += near && proposed;
        missed += near && !proposed;
    }
    assert_int_equal(lists->offsets[query + 1] - lists->offsets[query], expected);
    for (int64_t i = lists->offsets[query]; i < lists->offsets[query + 1]; i++) {
        const struct idx_resembling_document *found = &lists->documents[i];
        const struct idx_document document = {found->number, lists->ids + found->id, found->id_length};
        uint64_t shared, total;
        jaccard(set, &world->sets[place_of(id_type, &document)], &shared, &total);
        assert_true(found->shared == shared && found->total == total);
        assert_true(shared * last_total <= last_shared * total);
        assert_true(resembles(set, &world->sets[place_of(id_type, &document)], (uint64_t)threshold));
        last_shared = shared;
        last_total = total;
    }
    return missed;
}

/* All texts that share one of the values that are read and resemble the query are listed, with their exact resemblance;
 * for thresholds that the sketches have enough values for, none that resembles it is missed. */
static void test_exact(void **state_) {
    struct world *world = draw_world();
    for (int id_type = IDX_ID_TEXT; id_type <= IDX_ID_U64; id_type++) {
        const char *path = path_in(*state_, "%d.idx", id_type);
        build_texts(path, world, SETS, (enum idx_id_type)id_type);
        struct idx_index *index = open_index(path, IDX_RESIDENCE_DIRECTORY);
        for (int64_t threshold = 1000; threshold <= 10000; threshold += 1500) {
            struct idx_resembling_options options = options_of(threshold);
            struct idx_resembling_lists lists;
            size_t missed = 0;
            options.threads = threshold % 2000 == 0 ? 2 : 1;
            assert_ok(idx_list_resembling(index, world->sets, SETS, &options, &lists, &failure));
            for (size_t i = 0; i < SETS; i++)
                missed += assert_list(world, &lists, i, (enum idx_id_type)id_type, threshold);
            if (threshold >= 8000) assert_int_equal(missed, 0);
            assert_int_equal(lists.unread, 0);
            idx_resembling_lists_close(&lists);
        }
        idx_close(index);
    }
    free(world);
}

/* A limit cuts lists; max_candidates bounds what is looked at, and what is not is counted. */
static void test_limits(void **state_) {
    struct world *world = draw_world();
    const char *path = path_in(*state_, "x.idx");
    build_texts(path, world, SETS, IDX_ID_U64);
    struct idx_index *index = open_index(path, IDX_RESIDENCE_DIRECTORY);
    struct idx_resembling_options options = options_of(3000);
    struct idx_resembling_lists all, some;
    assert_ok(idx_list_resembling(index, world->sets, SETS, &options, &all, &failure));
    options.limit = 2;
    assert_ok(idx_list_resembling(index, world->sets, SETS, &options, &some, &failure));
    for (size_t i = 0; i < SETS; i++) {
        int64_t count = all.offsets[i + 1] - all.offsets[i], kept = some.offsets[i + 1] - some.offsets[i];
        assert_int_equal(kept, count < 2 ? count : 2);
        for (int64_t j = 0; j < kept; j++)
            assert_true(all.documents[all.offsets[i] + j].number == some.documents[some.offsets[i] + j].number);
    }
    idx_resembling_lists_close(&some);
    options.limit = UINT64_MAX;
    options.max_candidates = 1;
    assert_ok(idx_list_resembling(index, world->sets, SETS, &options, &some, &failure));
    uint64_t unread = 0;
    for (size_t i = 0; i < SETS; i++) {
        for (size_t j = 0; j < world->sets[i].count && j < SKETCH; j++) {
            const struct idx_set value = {world->sets[i].hashes + j, 1};
            for (size_t k = 0; k < SETS; k++) unread += count_values(&value, 1, &world->sets[k], SKETCH);
            unread--;
        }
    }
    assert_int_equal(some.unread, unread);
    idx_resembling_lists_close(&some);
    idx_resembling_lists_close(&all);
    idx_close(index);
    free(world);
}

static void test_refused(void **state_) {
    struct world *world = draw_world();
    const char *path = path_in(*state_, "x.idx"), *far = path_in(*state_, "far.idx");
    static const uint64_t fingerprints[] = {1};
    struct idx_resembling_options options;
    struct idx_resembling_lists lists;
    build_texts(path, world, SETS, IDX_ID_TEXT);
    build_index(far, NULL, fingerprints, 1);
    struct idx_index *index = open_index(path, IDX_RESIDENCE_NONE), *other = open_index(far, IDX_RESIDENCE_NONE);
    struct idx_writer *writer = open_simple_writer(path), *other_writer = open_simple_writer(far);
    struct idx_item item = item_of(world, 0);
#define TRY(change)                                                                                                    \
    (options = options_of(8000), change, idx_list_resembling(index, world->sets, 5, &options, &lists, &failure))
    lists.unread = 12345;
    assert_status(IDX_INVALID_ARGUMENT, TRY(options.threshold = 0));
    assert_status(IDX_INVALID_ARGUMENT, TRY(options.threshold = 10001));
    assert_status(IDX_INVALID_ARGUMENT, TRY(options.threads = 0));
    assert_status(IDX_INVALID_ARGUMENT, TRY(options.max_candidates = 0));
    options = options_of(8000);
    assert_status(IDX_INVALID_ARGUMENT, idx_list_resembling(other, world->sets, 5, &options, &lists, &failure));
    assert_string_equal(failure.sentence + strlen(far), ": has no sets: build it of texts");
    assert_status(IDX_INVALID_ARGUMENT,
                  idx_writer_add_unlike(other_writer, &item, world->sets, 1, &options, &lists, &failure));
    assert_string_equal(failure.sentence + strlen(far), ": has no sets: build it of texts");
    options.limit = 0;
    assert_status(IDX_INVALID_ARGUMENT,
                  idx_writer_add_unlike(writer, &item, world->sets, 1, &options, &lists, &failure));
    assert_int_equal(lists.unread, 12345); /* after an error, they are as they were */
    options = options_of(8000);
    assert_ok(idx_list_resembling(index, NULL, 0, &options, &lists, &failure));
    assert_int_equal(lists.offsets[0], 0);
    idx_resembling_lists_close(&lists);
    idx_writer_close(writer);
    idx_writer_close(other_writer);
    idx_close(index);
    idx_close(other);
    free(world);
}

static void test_values(void **state_) {
    (void)state_;
    static const struct {
        int64_t threshold;
        unsigned values;
    } cases[] = {{10000, 1}, {9000, 5}, {8000, 8}, {7000, 10}, {6000, 13}, {5000, 17}, {1700, 62}, {1600, 65}, {1, 65}};
    for (size_t i = 0; i < LENGTH(cases); i++) assert_int_equal(idx_sketch_values(cases[i].threshold), cases[i].values);
}

/* ---- Adding ---- */

/* Adds the sets in calls of several sizes, and checks each answer with the plain program: what was added before, in
 * this call or in earlier ones, also after the index was opened anew. */
/* Of texts that lack more and more of the smallest members of a query, those are found that have one of the values that
 * are read of it, and no others. */
static void test_each_value_is_read(void **state_) {
    enum { MEMBERS = 60, TEXTS = 7, READ = 5 };
    struct world *world = calloc(1, sizeof *world);
    struct idx_resembling_options options = options_of(9000);
    struct idx_resembling_lists lists;
    uint64_t members[MEMBERS];
    const char *path = path_in(*state_, "x.idx");
    assert_non_null(world);
    assert_int_equal(idx_sketch_values(options.threshold), READ);
    for (size_t i = 0; i < MEMBERS; i++) members[i] = i + 1;
    for (size_t i = 0; i < TEXTS; i++) {
        world->sets[i] = (struct idx_set){members + i, MEMBERS - i}; /* at least 54 of 60 */
        snprintf(world->ids[i], sizeof world->ids[i], "d%zu", i);
    }
    build_texts(path, world, TEXTS, IDX_ID_U64);
    struct idx_index *index = open_index(path, IDX_RESIDENCE_DIRECTORY);
    assert_ok(idx_list_resembling(index, &world->sets[0], 1, &options, &lists, &failure));
    assert_int_equal(lists.offsets[1], READ);
    for (size_t i = 0; i < READ; i++) {
        assert_int_equal(lists.documents[i].number, i);
        assert_int_equal(lists.documents[i].shared, MEMBERS - i);
    }
    idx_resembling_lists_close(&lists);
    idx_close(index);
    free(world);
}

static void test_add(void **state_) {
    struct world *world = draw_world();
    const char *path = path_in(*state_, "x.idx");
    bool added[SETS] = {false};
    build_texts(path, world, 0, IDX_ID_TEXT);
    for (size_t at = 0, call = 0, step; at < SETS; at += step, call++) {
        struct idx_item items[64];
        struct idx_resembling_lists lists;
        struct idx_resembling_options options = options_of(call % 2 == 0 ? 2000 : 8000);
        size_t values = idx_sketch_values(options.threshold);
        step = 1 + call * 7 % 64;
        if (step > SETS - at) step = SETS - at;
        struct idx_writer *writer = open_simple_writer(path);
        for (size_t i = 0; i < step; i++) items[i] = item_of(world, at + i);
        leave_out_ids(writer, items, step);
        assert_ok(idx_writer_add_unlike(writer, items, world->sets + at, step, &options, &lists, &failure));
        for (size_t i = at; i < at + step; i++) {
            size_t expected = 0;
            for (size_t j = 0; j < i; j++)
                expected += added[j] && resembles(&world->sets[i], &world->sets[j], (uint64_t)options.threshold) &&
                            count_values(&world->sets[i], values < SKETCH ? values : SKETCH, &world->sets[j], SKETCH);
            assert_int_equal(lists.offsets[i - at + 1] - lists.offsets[i - at], expected);
            added[i] = expected == 0;
        }
        idx_resembling_lists_close(&lists);
        idx_writer_close(writer);
    }
    assert_ok(idx_verify(path, NULL, NULL, &failure));
    free(world);
}

/* Where one text can't be added, none is. */
static void test_add_nothing(void **state_) {
    static const uint64_t hashes[3][SKETCH] = {{1, 2, 3}, {11, 12, 13, 14, 15, 16, 17, 18}, {21, 22, 23}};
    static const struct idx_item items[] = {
        {.id = "a", .id_length = 1}, {.id = "b", .id_length = 1}, {.id = "c", .id_length = 1}};
    const struct idx_set sets[] = {{hashes[0], 3}, {hashes[1], (size_t)IDX_MAX_MEMBERS + 1}, {hashes[2], 3}};
    const char *path = path_in(*state_, "x.idx");
    struct idx_resembling_options options = options_of(8000);
    struct idx_resembling_lists lists;
    struct world *world = draw_world();
    build_texts(path, world, 0, IDX_ID_TEXT);
    struct idx_writer *writer = open_simple_writer(path);
    assert_status(IDX_LIMIT, idx_writer_add_unlike(writer, items, sets, 2, &options, &lists, &failure));
    assert_ok(idx_writer_add_unlike(writer, items + 2, sets + 2, 1, &options, &lists, &failure));
    idx_resembling_lists_close(&lists);
    idx_writer_close(writer);
    struct idx_index *index = open_index(path, IDX_RESIDENCE_NONE);
    assert_ok(idx_list_resembling(index, (struct idx_set[]){sets[0], sets[2]}, 2, &options, &lists, &failure));
    assert_int_equal(lists.offsets[1], 0);
    assert_int_equal(lists.offsets[2], 1);
    idx_resembling_lists_close(&lists);
    idx_close(index);
    free(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        in_folder(test_exact),
        in_folder(test_limits),
        in_folder(test_refused),
        cmocka_unit_test(test_values),
        in_folder(test_each_value_is_read),
        in_folder(test_add),
        in_folder(test_add_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
