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

struct source {
    const struct world *world;
    enum idx_id_type id_type;
    size_t forgotten; /* of each so many sets one is not known; 0: all are */
};

static enum idx_status give_set(void *context, const struct idx_document *document, struct idx_set *set,
                                struct idx_error *error) {
    const struct source *source = context;
    size_t place = place_of(source->id_type, document);
    (void)error;
    if (source->forgotten == 0 || place % source->forgotten > 0) *set = source->world->sets[place];
    return IDX_OK;
}

static enum idx_status fail_source(void *context, const struct idx_document *document, struct idx_set *set,
                                   struct idx_error *error) {
    (void)context, (void)document, (void)set;
    *error = (struct idx_error){.status = IDX_NO_ACCESS, .sentence = "not mine"};
    return IDX_NO_ACCESS;
}

static void build_sketches(const char *path, const struct world *world, size_t begin, size_t end,
                           enum idx_id_type id_type, bool by_id) {
    struct idx_build_options options = IDX_BUILD_OPTIONS_INIT;
    struct idx_builder *builder;
    options.k = 0;
    options.id_type = id_type;
    options.by_id = by_id;
    assert_ok(idx_builder_open(&builder, path, &options, &failure));
    for (size_t i = begin; i < end; i++) {
        for (size_t j = 0; j < world->sets[i].count && j < SKETCH; j++) {
            uint64_t value = world->sets[i].hashes[j];
            if (id_type == IDX_ID_TEXT)
                assert_ok(idx_builder_add(builder, value, world->ids[i], strlen(world->ids[i]), &failure));
            else
                assert_ok(idx_builder_add_u64(builder, value, i, &failure));
        }
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

static struct idx_resembling_options options_of(struct source *source, int64_t threshold) {
    struct idx_resembling_options options = IDX_RESEMBLING_OPTIONS_INIT;
    options.threshold = threshold;
    options.sketch = SKETCH;
    options.source = give_set;
    options.context = source;
    return options;
}

/* Checks the list of a query: the documents from `begin` to before `end` that the plain program finds, in order. */
static size_t assert_list(const struct world *world, const struct idx_resembling_lists *lists, size_t query,
                          const struct idx_set *set, size_t end, const struct idx_resembling_options *options,
                          const struct source *source) {
    size_t values = idx_sketch_values(options->threshold), expected = 0, missed = 0;
    uint64_t last_shared = 1, last_total = 1;
    for (size_t i = 0; i < end; i++) {
        size_t common = count_values(set, values < SKETCH ? values : SKETCH, &world->sets[i], SKETCH);
        size_t read = set->count < values ? set->count : values < SKETCH ? values : SKETCH;
        bool near = resembles(set, &world->sets[i], (uint64_t)options->threshold);
        bool known = source->forgotten == 0 || i % source->forgotten > 0;
        bool proposed = common > 0 && (common >= options->least_values || common >= read);
        expected += near && proposed && known;
        missed += near && !proposed;
    }
    assert_int_equal(lists->offsets[query + 1] - lists->offsets[query], expected);
    for (int64_t i = lists->offsets[query]; i < lists->offsets[query + 1]; i++) {
        const struct idx_resembling_document *found = &lists->documents[i];
        const struct idx_document document = {found->number, lists->ids + found->id, found->id_length};
        uint64_t shared, total;
        jaccard(set, &world->sets[place_of(source->id_type, &document)], &shared, &total);
        assert_true(found->shared == shared && found->total == total);
        assert_true(shared * last_total <= last_shared * total);
        assert_true(resembles(set, &world->sets[place_of(source->id_type, &document)], (uint64_t)options->threshold));
        last_shared = shared;
        last_total = total;
    }
    return missed;
}

/* All documents that share one of the values that are read and resemble the query are listed, with their exact
 * resemblance; for thresholds that the sketches have enough values for, none that resembles it is missed. */
static void test_exact(void **state_) {
    struct world *world = draw_world();
    for (int id_type = IDX_ID_TEXT; id_type <= IDX_ID_U64; id_type++) {
        const char *path = path_in(*state_, "%d.idx", id_type);
        build_sketches(path, world, 0, SETS, (enum idx_id_type)id_type, false);
        struct idx_index *index = open_index(path, IDX_RESIDENCE_DIRECTORY);
        for (int64_t threshold = 1000; threshold <= 10000; threshold += 1500) {
            struct source source = {world, (enum idx_id_type)id_type, threshold == 4000 ? 3 : 0};
            struct idx_resembling_options options = options_of(&source, threshold);
            struct idx_resembling_lists lists;
            size_t missed = 0;
            options.threads = threshold % 2000 == 0 ? 2 : 1;
            options.least_values = threshold == 7000 ? 2 : 1;
            assert_ok(idx_resembling_make(index, world->sets, SETS, &options, &lists, &failure));
            for (size_t i = 0; i < SETS; i++)
                missed += assert_list(world, &lists, i, &world->sets[i], SETS, &options, &source);
            if (threshold >= 8000) assert_int_equal(missed, 0);
            assert_true(lists.unknown > 0 || source.forgotten == 0);
            assert_int_equal(lists.unread, 0);
            idx_resembling_free(&lists);
        }
        idx_close(index);
    }
    free(world);
}

/* A limit cuts lists; max_candidates bounds what is looked at, and what is not is counted. */
static void test_limits(void **state_) {
    struct world *world = draw_world();
    const char *path = path_in(*state_, "x.idx");
    build_sketches(path, world, 0, SETS, IDX_ID_U64, false);
    struct idx_index *index = open_index(path, IDX_RESIDENCE_DIRECTORY);
    struct source source = {world, IDX_ID_U64, 0};
    struct idx_resembling_options options = options_of(&source, 3000);
    struct idx_resembling_lists all, some;
    assert_ok(idx_resembling_make(index, world->sets, SETS, &options, &all, &failure));
    options.limit = 2;
    assert_ok(idx_resembling_make(index, world->sets, SETS, &options, &some, &failure));
    for (size_t i = 0; i < SETS; i++) {
        int64_t count = all.offsets[i + 1] - all.offsets[i], kept = some.offsets[i + 1] - some.offsets[i];
        assert_int_equal(kept, count < 2 ? count : 2);
        for (int64_t j = 0; j < kept; j++)
            assert_true(all.documents[all.offsets[i] + j].number == some.documents[some.offsets[i] + j].number);
    }
    idx_resembling_free(&some);
    options.limit = UINT64_MAX;
    options.max_candidates = 1;
    assert_ok(idx_resembling_make(index, world->sets, SETS, &options, &some, &failure));
    uint64_t unread = 0;
    for (size_t i = 0; i < SETS; i++) {
        for (size_t j = 0; j < world->sets[i].count && j < SKETCH; j++) {
            const struct idx_set value = {world->sets[i].hashes + j, 1};
            for (size_t k = 0; k < SETS; k++) unread += count_values(&value, 1, &world->sets[k], SKETCH);
            unread--;
        }
    }
    assert_int_equal(some.unread, unread);
    idx_resembling_free(&some);
    idx_resembling_free(&all);
    idx_close(index);
    free(world);
}

/* Without sets, sketches estimate: exactly where they are whole, and by their smallest values otherwise. */
static void test_estimates(void **state_) {
    struct world *world = draw_world();
    const char *path = path_in(*state_, "x.idx");
    build_sketches(path, world, 0, SETS, IDX_ID_TEXT, true);
    struct idx_index *index = open_index(path, IDX_RESIDENCE_DIRECTORY);
    struct idx_resembling_options options = options_of(NULL, 5000);
    struct idx_resembling_lists lists;
    size_t whole = 0;
    options.source = NULL;
    assert_ok(idx_resembling_make(index, world->sets, SETS, &options, &lists, &failure));
    for (size_t i = 0; i < SETS; i++) {
        for (int64_t at = lists.offsets[i]; at < lists.offsets[i + 1]; at++) {
            const struct idx_resembling_document *found = &lists.documents[at];
            const struct idx_document document = {0, lists.ids + found->id, found->id_length};
            const struct idx_set *other = &world->sets[place_of(IDX_ID_TEXT, &document)];
            uint64_t shared, total;
            jaccard(&world->sets[i], other, &shared, &total);
            assert_true(found->total <= SKETCH);
            if (total > SKETCH) continue;
            whole++;
            assert_true(found->shared == shared && found->total == total);
        }
    }
    assert_true(whole > 20);
    idx_resembling_free(&lists);
    idx_close(index);
    free(world);
}

static void test_refused(void **state_) {
    struct world *world = draw_world();
    const char *path = path_in(*state_, "x.idx"), *far = path_in(*state_, "far.idx");
    static const uint64_t fingerprints[] = {1};
    struct source source = {world, IDX_ID_TEXT, 0};
    struct idx_resembling_options options;
    struct idx_resembling_lists lists;
    build_sketches(path, world, 0, SETS, IDX_ID_TEXT, false);
    build_index(far, NULL, fingerprints, 1);
    struct idx_index *index = open_index(path, IDX_RESIDENCE_NONE), *other = open_index(far, IDX_RESIDENCE_NONE);
#define TRY(change)                                                                                                    \
    (options = options_of(&source, 8000), change,                                                                      \
     idx_resembling_make(index, world->sets, 5, &options, &lists, &failure))
    assert_status(IDX_INVALID_ARGUMENT, TRY(options.threshold = 0));
    assert_status(IDX_INVALID_ARGUMENT, TRY(options.threshold = 10001));
    assert_status(IDX_INVALID_ARGUMENT, TRY(options.sketch = 0));
    assert_status(IDX_INVALID_ARGUMENT, TRY(options.sketch = IDX_MAX_SKETCH + 1));
    assert_status(IDX_INVALID_ARGUMENT, TRY(options.threads = 0));
    assert_status(IDX_INVALID_ARGUMENT, TRY(options.source = NULL));
    assert_status(IDX_INVALID_ARGUMENT, TRY(options.max_candidates = 0));
    lists.unread = 12345;
    assert_status(IDX_NO_ACCESS, TRY(options.source = fail_source));
    assert_string_equal(failure.sentence, "not mine");
    assert_int_equal(lists.unread, 12345); /* after an error, they are as they were */
    options = options_of(&source, 8000);
    assert_status(IDX_INVALID_ARGUMENT, idx_resembling_make(other, world->sets, 5, &options, &lists, &failure));
    assert_ok(idx_resembling_make(index, NULL, 0, &options, &lists, &failure));
    assert_int_equal(lists.offsets[0], 0);
    idx_resembling_free(&lists);
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
 * this call or in earlier ones, also after the index and the file of sets were opened anew. */
static void test_add(void **state_) {
    struct world *world = draw_world();
    const char *path = path_in(*state_, "x.idx"), *file = path_in(*state_, "sets");
    struct idx_kept_sets_options keeping = IDX_KEPT_SETS_OPTIONS_INIT;
    bool added[SETS] = {false};
    keeping.writes = true;
    build_sketches(path, world, 0, 0, IDX_ID_TEXT, false);
    for (size_t at = 0, call = 0, step; at < SETS; at += step, call++) {
        struct idx_kept_sets *kept;
        struct idx_item items[64];
        struct idx_resembling_lists lists;
        struct idx_resembling_options options = options_of(NULL, call % 2 == 0 ? 8000 : 9000);
        step = 1 + call * 7 % 64;
        if (step > SETS - at) step = SETS - at;
        assert_ok(idx_kept_sets_open(&kept, file, &keeping, &failure));
        struct idx_writer *writer = open_simple_writer(path);
        for (size_t i = 0; i < step; i++)
            items[i] = (struct idx_item){.id = world->ids[at + i], .id_length = strlen(world->ids[at + i])};
        options.source = idx_kept_sets_find;
        options.context = kept;
        assert_ok(idx_writer_add_unlike(writer, kept, items, world->sets + at, step, &options, &lists, &failure));
        assert_int_equal(lists.unknown, 0);
        for (size_t i = at; i < at + step; i++) {
            size_t expected = 0;
            for (size_t j = 0; j < i; j++)
                expected +=
                    added[j] && resembles(&world->sets[i], &world->sets[j], (uint64_t)options.threshold) &&
                    count_values(&world->sets[i], idx_sketch_values(options.threshold), &world->sets[j], SKETCH);
            assert_int_equal(lists.offsets[i - at + 1] - lists.offsets[i - at], expected);
            added[i] = expected == 0;
        }
        idx_resembling_free(&lists);
        idx_writer_close(writer);
        idx_kept_sets_close(kept);
    }
    assert_ok(idx_verify(path, NULL, NULL, &failure));
    free(world);
}

/* Where one document can't be added, the sets of those before it are not kept either, not even by a later call. */
static void test_add_nothing(void **state_) {
    static const uint64_t hashes[3][SKETCH] = {{1, 2, 3}, {11, 12, 13, 14, 15, 16, 17, 18}, {21, 22, 23}};
    static const struct idx_item items[] = {
        {.id = "a", .id_length = 1}, {.id = "b", .id_length = 1}, {.id = "c", .id_length = 1}};
    /* Of a set that resembles none only the sketch is read, so the second one can be said to be too large. */
    const struct idx_set sets[] = {{hashes[0], 3}, {hashes[1], (size_t)IDX_MAX_SET_MEMBERS + 1}, {hashes[2], 3}};
    const char *path = path_in(*state_, "x.idx");
    struct idx_kept_sets_options keeping = IDX_KEPT_SETS_OPTIONS_INIT;
    struct idx_resembling_options options = options_of(NULL, 8000);
    struct idx_resembling_lists lists;
    struct idx_kept_sets *kept;
    const struct idx_build_options building = options_for(64, 0, "auto");
    build_index(path, &building, NULL, 0);
    keeping.writes = true;
    assert_ok(idx_kept_sets_open(&kept, path_in(*state_, "sets"), &keeping, &failure));
    struct idx_writer *writer = open_simple_writer(path);
    options.source = idx_kept_sets_find;
    options.context = kept;
    assert_status(IDX_LIMIT, idx_writer_add_unlike(writer, kept, items, sets, 2, &options, &lists, &failure));
    assert_ok(idx_writer_add_unlike(writer, kept, items + 2, sets + 2, 1, &options, &lists, &failure));
    idx_resembling_free(&lists);
    for (size_t i = 0; i < LENGTH(items); i++) {
        const struct idx_document document = {0, items[i].id, items[i].id_length};
        struct idx_set found = {NULL, 0};
        assert_ok(idx_kept_sets_find(kept, &document, &found, &failure));
        assert_int_equal(found.count, i == 2 ? 3 : 0);
    }
    idx_writer_close(writer);
    idx_kept_sets_close(kept);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        in_folder(test_exact),         in_folder(test_limits), in_folder(test_estimates),   in_folder(test_refused),
        cmocka_unit_test(test_values), in_folder(test_add),    in_folder(test_add_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
