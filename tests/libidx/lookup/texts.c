/* texts.c: tests of indexes with sets beside a plain list of texts: they are built, grow, shrink, are compacted,
 * merged, opened again and verified, and after each step they answer and list what the plain program does. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/libidx/support.h"
#include "tests/random.h"

enum { TEXTS = 4000, MOST = 40, IDS = 300, SKETCH = 8, THRESHOLD = 7000, BATCH = 24 };

struct text {
    uint64_t number; /* its ID, also as text */
    char id[16];
    uint64_t members[MOST];
    struct idx_set set;
    bool live, seen;
};

/* The plain list, in the order of additions. */
struct world {
    struct text *texts;
    size_t count;
    enum idx_id_type id_type;
};

static uint64_t state;

static uint64_t draw(uint64_t below) { return next_random(&state) % below; }

/* A set of a family, with members of its own; sometimes equal to another one, of few members, or of none. */
static void draw_set(struct text *text) {
    uint64_t family = draw(30), own = draw(3) == 0 ? 0 : draw(60);
    size_t size = draw(12) == 0 ? draw(SKETCH + 3) : 1 + draw(MOST), count = 0;
    for (size_t i = 0; i < size; i++) {
        uint64_t seed = family * 1000 + i + 1;
        text->members[i] = draw(100) < own ? next_random(&state) : next_random(&seed);
    }
    qsort(text->members, size, sizeof *text->members, compare_numbers);
    for (size_t i = 0; i < size; i++)
        if (i == 0 || text->members[i] != text->members[i - 1]) text->members[count++] = text->members[i];
    text->set = (struct idx_set){text->members, count};
}

static struct text *draw_text(struct world *world) {
    struct text *text = &world->texts[world->count++];
    assert_true(world->count <= TEXTS);
    text->number = draw(IDS);
    snprintf(text->id, sizeof text->id, "d%u", (unsigned)text->number);
    draw_set(text);
    text->live = text->set.count > 0;
    return text;
}

static struct idx_item item_of(const struct world *world, const struct text *text) {
    struct idx_item item = {.number = text->number};
    if (world->id_type == IDX_ID_TEXT) item = (struct idx_item){.id = text->id, .id_length = strlen(text->id)};
    return item;
}

static uint64_t count_shared(const struct idx_set *a, size_t most_a, const struct idx_set *b, size_t most_b) {
    uint64_t shared = 0;
    for (size_t i = 0; i < a->count && i < most_a; i++)
        for (size_t j = 0; j < b->count && j < most_b; j++) shared += a->hashes[i] == b->hashes[j];
    return shared;
}

/* ---- Answers ---- */

/* How much a text resembles a query, as a fraction; 0 of 1 if it shares none of its values. */
struct answer {
    uint64_t number, shared, total;
};

static int compare_answers(const void *first, const void *second) {
    const struct answer *a = first, *b = second;
    uint64_t one = a->shared * b->total, other = b->shared * a->total;
    if (a->number != b->number) return a->number < b->number ? -1 : 1;
    return (one < other) - (one > other);
}

static bool is_candidate(const struct world *world, const struct text *text, const struct idx_set *query,
                         unsigned values) {
    if (!text->live) return false;
    if (count_shared(query, values, &text->set, SKETCH) > 0) return true;
    for (size_t i = 0; i < world->count && world->id_type == IDX_ID_U64; i++) /* texts of one integer ID go together */
        if (world->texts[i].live && world->texts[i].number == text->number &&
            count_shared(query, values, &world->texts[i].set, SKETCH) > 0)
            return true;
    return false;
}

/* What a look-up should list, by ID; of an integer ID the greatest alone. */
static size_t expect(const struct world *world, const struct idx_set *query, uint64_t threshold,
                     struct answer *answers) {
    unsigned values = idx_sketch_values((int64_t)threshold) < SKETCH ? idx_sketch_values((int64_t)threshold) : SKETCH;
    size_t count = 0, kept = 0;
    for (size_t i = 0; i < world->count; i++) {
        const struct text *text = &world->texts[i];
        if (!is_candidate(world, text, query, values)) continue;
        uint64_t shared = count_shared(query, MOST, &text->set, MOST), total = query->count + text->set.count - shared;
        if (shared * 10000 >= threshold * total) answers[count++] = (struct answer){text->number, shared, total};
    }
    qsort(answers, count, sizeof *answers, compare_answers);
    for (size_t i = 0; i < count; i++)
        if (world->id_type == IDX_ID_TEXT || i == 0 || answers[i].number != answers[i - 1].number)
            answers[kept++] = answers[i];
    return kept;
}

static uint64_t number_of(const struct world *world, const struct idx_resembling_lists *lists,
                          const struct idx_resembling_document *document) {
    char id[16];
    if (world->id_type == IDX_ID_U64) return document->number;
    assert_in_range(document->id_length, 2, sizeof id - 1);
    snprintf(id, sizeof id, "%.*s", (int)document->id_length, (const char *)lists->ids + document->id);
    return strtoull(id + 1, NULL, 10);
}

static void check_lists(const struct world *world, const struct idx_resembling_lists *lists, size_t at,
                        const struct idx_set *query, uint64_t threshold) {
    struct answer *wanted = calloc(TEXTS, sizeof *wanted), *found = calloc(TEXTS, sizeof *found);
    size_t count = expect(world, query, threshold, wanted), listed = 0;
    for (int64_t i = lists->offsets[at]; i < lists->offsets[at + 1]; i++) {
        const struct idx_resembling_document *document = &lists->documents[i];
        found[listed++] = (struct answer){number_of(world, lists, document), document->shared, document->total};
    }
    qsort(found, listed, sizeof *found, compare_answers);
    assert_int_equal(listed, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(found[i].number, wanted[i].number);
        assert_true(found[i].shared * wanted[i].total == wanted[i].shared * found[i].total);
    }
    free(wanted);
    free(found);
}

static void check_look_ups(const struct world *world, const struct idx_index *index) {
    struct idx_resembling_options options = IDX_RESEMBLING_OPTIONS_INIT;
    struct idx_resembling_lists lists;
    struct text queries[6];
    struct idx_set sets[6];
    for (size_t i = 0; i < 6; i++) {
        draw_set(&queries[i]);
        sets[i] = i % 2 == 0 && world->count > 0 ? world->texts[draw(world->count)].set : queries[i].set;
    }
    options.threshold = (int64_t[]){10000, 8000, 5000, 1}[draw(4)];
    assert_ok(idx_list_resembling(index, sets, 6, &options, &lists, &failure));
    for (size_t i = 0; i < 6; i++) check_lists(world, &lists, i, &sets[i], (uint64_t)options.threshold);
    idx_resembling_lists_close(&lists);
}

/* Marks a text that was not seen yet as seen. */
static bool see_text(void *context, const struct idx_document *document, const struct idx_set *set) {
    struct world *world = context;
    for (size_t i = 0; i < world->count; i++) {
        struct text *text = &world->texts[i];
        bool same = world->id_type == IDX_ID_U64 ? document->number == text->number
                                                 : document->id_length == strlen(text->id) &&
                                                       memcmp(document->id, text->id, document->id_length) == 0;
        if (!same || text->seen || !text->live || text->set.count != set->count ||
            memcmp(text->members, set->hashes, set->count * sizeof *set->hashes) != 0)
            continue;
        text->seen = true;
        return true;
    }
    fail_msg("a text that is not there was visited");
    return false;
}

static void check_visit(struct world *world, const struct idx_index *index) {
    for (size_t i = 0; i < world->count; i++) world->texts[i].seen = false;
    assert_ok(idx_visit_sets(index, see_text, world, &failure));
    for (size_t i = 0; i < world->count; i++) assert_int_equal(world->texts[i].seen, world->texts[i].live);
}

static void check_all(struct world *world, const struct idx_index *index) {
    struct idx_properties properties;
    idx_get_properties(index, &properties);
    assert_int_equal(properties.threshold, THRESHOLD);
    check_look_ups(world, index);
    check_visit(world, index);
}

/* ---- Changes ---- */

static void build(struct world *world, const char *path, size_t count) {
    struct idx_build_options options = IDX_BUILD_OPTIONS_INIT;
    struct idx_build_summary summary;
    struct idx_builder *builder;
    size_t texts = 0;
    options.k = 0;
    options.sketch = SKETCH;
    options.threshold = THRESHOLD;
    options.id_type = world->id_type;
    assert_ok(idx_builder_open(&builder, path, &options, &failure));
    for (size_t i = 0; i < count; i++) {
        struct text *text = draw_text(world);
        struct idx_item item = item_of(world, text);
        assert_ok(idx_builder_add_text(builder, &item, &text->set, &failure));
        texts += text->live;
    }
    assert_ok(idx_builder_finish(builder, &summary, &failure));
    assert_int_equal(summary.texts, texts);
    idx_builder_close(builder);
}

static void add_texts(struct world *world, struct idx_writer *writer, size_t count) {
    struct idx_item items[BATCH];
    struct idx_set sets[BATCH];
    for (size_t i = 0; i < count; i++) {
        struct text *text = draw_text(world);
        items[i] = item_of(world, text);
        sets[i] = text->set;
    }
    assert_ok(idx_writer_add_texts(writer, items, sets, count, &failure));
}

/* The plain program decides one text after the other. */
static void add_unlike(struct world *world, struct idx_writer *writer, size_t count) {
    struct idx_resembling_options options = IDX_RESEMBLING_OPTIONS_INIT;
    struct idx_resembling_lists lists;
    struct idx_item items[BATCH];
    struct idx_set sets[BATCH];
    struct answer *answers = calloc(TEXTS, sizeof *answers);
    size_t first = world->count;
    for (size_t i = 0; i < count; i++) {
        struct text *text = draw_text(world);
        items[i] = item_of(world, text);
        sets[i] = text->set;
        text->live = false;
    }
    assert_ok(idx_writer_add_unlike(writer, items, sets, count, &options, &lists, &failure));
    for (size_t i = 0; i < count; i++) {
        bool unlike = expect(world, &sets[i], (uint64_t)options.threshold, answers) == 0;
        assert_int_equal(lists.offsets[i] == lists.offsets[i + 1], unlike);
        world->texts[first + i].live = unlike && sets[i].count > 0;
    }
    idx_resembling_lists_close(&lists);
    free(answers);
}

static void remove_ids(struct world *world, struct idx_writer *writer, size_t count) {
    struct idx_item items[BATCH];
    char ids[BATCH][16];
    struct idx_removal removal;
    uint64_t removed = 0, missing = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t number = draw(IDS + 5);
        size_t before = (size_t)removed;
        items[i] = (struct idx_item){.number = number};
        snprintf(ids[i], sizeof ids[i], "d%u", (unsigned)number);
        if (world->id_type == IDX_ID_TEXT) items[i] = (struct idx_item){.id = ids[i], .id_length = strlen(ids[i])};
        for (size_t j = 0; j < world->count; j++) {
            struct text *text = &world->texts[j];
            removed += text->live && text->number == number;
            text->live &= text->number != number;
        }
        missing += removed == before;
    }
    assert_ok(idx_writer_remove(writer, IDX_REMOVE_IDS, items, count, &removal, &failure));
    assert_int_equal(removal.documents, removed);
    assert_int_equal(removal.missing, missing);
}

static void compact(const char *path) {
    struct idx_compact_options options = IDX_COMPACT_OPTIONS_INIT;
    options.all = draw(4) == 0;
    options.max_segments = 1 + (unsigned)draw(6);
    options.growth = draw(2) == 0 ? 0 : 3;
    assert_ok(idx_compact(path, &options, NULL, &failure));
}

static void change(struct world *world, struct idx_writer *writer, const char *path) {
    size_t count = 1 + draw(BATCH);
    switch (draw(6)) {
        case 0:
        case 1: add_texts(world, writer, count); break;
        case 2:
        case 3: add_unlike(world, writer, count); break;
        case 4: remove_ids(world, writer, count); break;
        default: compact(path);
    }
}

static void check_grown(const char *folder, enum idx_id_type id_type, uint64_t seed) {
    struct world world = {calloc(TEXTS, sizeof *world.texts), 0, id_type};
    struct idx_index *index, *newer;
    char path[256], merged[300];
    state = seed;
    snprintf(path, sizeof path, "%s/%d-%llu.idx", folder, (int)id_type, (unsigned long long)seed);
    build(&world, path, draw(3) == 0 ? 0 : draw(200));
    struct idx_writer *writer = open_simple_writer(path);
    assert_ok(idx_open(&index, path, NULL, &failure));
    for (size_t round = 0; round < 60; round++) {
        change(&world, writer, path);
        check_all(&world, idx_writer_view(writer));
        if (draw(4) == 0) {
            assert_ok(idx_refresh(index, &newer, &failure));
            if (newer != NULL) idx_close(index);
            if (newer != NULL) index = newer;
            check_all(&world, index);
        }
        if (draw(12) == 0) {
            idx_writer_close(writer);
            assert_ok(idx_verify(path, NULL, NULL, &failure));
            writer = open_simple_writer(path);
        }
    }
    idx_writer_close(writer);
    idx_close(index);
    snprintf(merged, sizeof merged, "%s-merged", path);
    const char *input = path;
    assert_ok(idx_merge(merged, &input, 1, NULL, NULL, &failure));
    assert_ok(idx_verify(merged, NULL, NULL, &failure));
    index = open_index(merged, IDX_RESIDENCE_DISK);
    check_all(&world, index);
    idx_close(index);
    free(world.texts);
}

static void test_of_text_ids(void **folder) {
    for (uint64_t seed = 1; seed <= scale(4); seed++) check_grown(*folder, IDX_ID_TEXT, seed);
}

static void test_of_integer_ids(void **folder) {
    for (uint64_t seed = 1; seed <= scale(4); seed++) check_grown(*folder, IDX_ID_U64, seed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_of_text_ids, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_of_integer_ids, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
