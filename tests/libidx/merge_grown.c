/* merge_grown.c: merging indexes that have pending and removed documents gives what a build of all documents that are
 * there gives: compared with plain lists of them. The inputs go on growing meanwhile; one that is replaced doesn't. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/libidx/same.h"
#include "tests/libidx/sets.h"
#include "tests/libidx/support.h"

#define MAX_INPUTS 4
#define ROOM 4000
#define BATCH 150
#define POOL 500 /* fingerprints */
#define IDS 60   /* that come up often */

static uint64_t seed;

static uint64_t below(uint64_t bound) { return next_random(&seed) % bound; }

/* What indexes are made of. */
struct make {
    unsigned bits, k;
    const char *scheme;
    enum idx_id_type id_type;
    bool by_id;
};

static const struct make makes[] = {
    {64, 3, "4", IDX_ID_TEXT, true},      {40, 2, "3:1", IDX_ID_U64, true},
    {33, 2, "2:1:1", IDX_ID_NONE, false}, {16, 1, "@aaaa,@5555", IDX_ID_TEXT, false},
    {64, 3, "4", IDX_ID_U64, false},      {20, 0, "auto", IDX_ID_TEXT, true},
};

static struct make make; /* of the indexes at hand */
static struct set pool;  /* their fingerprints */

/* ---- Documents ---- */

struct document {
    uint64_t fingerprint, id;
};

/* An index, and the documents that it has, in the order in which they were added. */
struct grown {
    const char *path;
    size_t count;
    struct document documents[ROOM];
};

static struct document choose_document(void) {
    uint64_t id = below(8) == 0 ? next_random(&seed) : below(IDS);
    return (struct document){pool.items[below(pool.count)], make.id_type == IDX_ID_NONE ? 0 : id};
}

#define LONGEST_ID 350

/* As text: nothing for 0; else a number, some with a long tail. */
static struct idx_item item_of(const struct document *document, char text[LONGEST_ID]) {
    size_t length = document->id == 0 ? 0 : write_id(text, (size_t)document->id);
    size_t tail = document->id > 0 && document->id % 13 == 0 ? 300 : 0;
    memset(text + length, 'x', tail);
    return (struct idx_item){document->fingerprint, document->id, text, length + tail};
}

static void list_add(struct grown *grown, const struct document *document) {
    for (size_t i = 0; i < grown->count && make.id_type != IDX_ID_TEXT; i++) {
        if (memcmp(&grown->documents[i], document, sizeof *document) == 0) return;
    }
    assert_true(grown->count < ROOM);
    grown->documents[grown->count++] = *document;
}

/* Removes what has the fingerprint and the ID; NULL: any. */
static void list_remove(struct grown *grown, const uint64_t *fingerprint, const uint64_t *id) {
    size_t kept = 0;
    for (size_t i = 0; i < grown->count; i++) {
        struct document document = grown->documents[i];
        bool goes = (fingerprint == NULL || document.fingerprint == *fingerprint) && (id == NULL || document.id == *id);
        if (!goes) grown->documents[kept++] = document;
    }
    grown->count = kept;
}

/* ---- Indexes ---- */

static struct idx_builder *begin_build(const char *path) {
    struct idx_build_options options = options_for(make.bits, make.k, make.scheme);
    struct idx_builder *builder;
    options.id_type = make.id_type;
    options.by_id = make.by_id;
    assert_ok(idx_builder_open(&builder, path, &options, &failure));
    return builder;
}

static void add_all(struct idx_builder *builder, const struct grown *grown) {
    for (size_t i = 0; i < grown->count; i++) {
        char text[LONGEST_ID];
        struct idx_item item = item_of(&grown->documents[i], text);
        if (make.id_type == IDX_ID_TEXT)
            assert_ok(idx_builder_add(builder, item.fingerprint, item.id, item.id_length, &failure));
        else
            assert_ok(idx_builder_add_u64(builder, item.fingerprint, item.number, &failure));
    }
}

static struct idx_build_summary end_build(struct idx_builder *builder) {
    struct idx_build_summary summary;
    assert_ok(idx_builder_finish(builder, &summary, &failure));
    idx_builder_free(builder);
    return summary;
}

/* One built of all documents of some, in their order. */
static struct idx_build_summary build_whole(const char *path, struct grown *const *inputs, size_t count) {
    struct idx_builder *builder = begin_build(path);
    for (size_t i = 0; i < count; i++) add_all(builder, inputs[i]);
    return end_build(builder);
}

static struct idx_writer *open_writer(const char *path) {
    struct idx_writer *writer;
    assert_ok(idx_writer_open(&writer, path, NULL, &failure));
    return writer;
}

static void compact(const char *path) {
    struct idx_compact_options options = IDX_COMPACT_OPTIONS_INIT;
    options.all = below(4) == 0;
    options.max_segments = 1 + (unsigned)below(6);
    assert_ok(idx_compact(path, &options, NULL, &failure));
}

/* ---- Growing ---- */

enum operation { ADD, REMOVE, REMOVE_FINGERPRINTS, REMOVE_IDS };

static enum operation choose_operation(void) {
    uint64_t kind = below(8);
    if (kind < 4) return ADD;
    if (kind < 6 && make.id_type != IDX_ID_NONE) return REMOVE;
    return kind == 6 && make.by_id ? REMOVE_IDS : REMOVE_FINGERPRINTS;
}

static void list_apply(struct grown *grown, enum operation operation, const struct document *document) {
    switch (operation) {
        case ADD: list_add(grown, document); break;
        case REMOVE: list_remove(grown, &document->fingerprint, &document->id); break;
        case REMOVE_FINGERPRINTS: list_remove(grown, &document->fingerprint, NULL); break;
        case REMOVE_IDS: list_remove(grown, NULL, &document->id); break;
    }
}

static void apply(struct idx_writer *writer, enum operation operation, const struct idx_item *items,
                  const uint64_t *fingerprints, size_t count) {
    struct idx_removal removal;
    switch (operation) {
        case ADD: assert_ok(idx_writer_add(writer, items, count, &failure)); break;
        case REMOVE: assert_ok(idx_writer_remove(writer, items, count, &removal, &failure)); break;
        case REMOVE_FINGERPRINTS:
            assert_ok(idx_writer_remove_fingerprints(writer, fingerprints, count, &removal, &failure));
            break;
        case REMOVE_IDS: assert_ok(idx_writer_remove_ids(writer, items, count, &removal, &failure)); break;
    }
}

/* Carries out an operation on some documents, those that are there or any. */
static void change(struct idx_writer *writer, struct grown *grown, enum operation operation, size_t count) {
    struct idx_item items[BATCH];
    uint64_t fingerprints[BATCH];
    char texts[BATCH][LONGEST_ID];
    for (size_t i = 0; i < count; i++) {
        struct document document = choose_document();
        if (operation != ADD && grown->count > 0 && below(4) > 0) document = grown->documents[below(grown->count)];
        items[i] = item_of(&document, texts[i]);
        fingerprints[i] = document.fingerprint;
        list_apply(grown, operation, &document);
    }
    apply(writer, operation, items, fingerprints, count);
}

static void remove_everything(struct idx_writer *writer, struct grown *grown) {
    struct idx_removal removal;
    assert_ok(idx_writer_remove_fingerprints(writer, pool.items, pool.count, &removal, &failure));
    grown->count = 0;
}

static void grow(struct grown *grown) {
    struct idx_writer *writer = open_writer(grown->path);
    for (size_t rounds = below(16); rounds > 0; rounds--) {
        enum operation operation = choose_operation();
        change(writer, grown, operation, 1 + (size_t)below(operation == REMOVE_IDS || below(2) == 0 ? 5 : BATCH));
        if (below(3) == 0) compact(grown->path);
        if (below(20) == 0) remove_everything(writer, grown);
    }
    idx_writer_close(writer);
}

/* Builds an index of some documents, or none, and grows it. */
static struct grown *make_grown(const char *path) {
    struct grown *grown = calloc(1, sizeof *grown);
    assert_non_null(grown);
    grown->path = path;
    for (size_t count = below(3) == 0 ? 0 : below(1000); count > 0; count--) {
        struct document document = choose_document();
        list_add(grown, &document);
    }
    struct idx_builder *builder = begin_build(path);
    add_all(builder, grown);
    end_build(builder);
    grow(grown);
    return grown;
}

static void choose_make(const struct make *chosen, enum shape shape) {
    make = *chosen;
    pool = make_set(shape, make.bits, POOL, next_random(&seed));
}

/* ---- Merging is building at once ---- */

static struct idx_build_summary merge(const char *path, struct grown *const *inputs, size_t count) {
    struct idx_merge_options options = IDX_MERGE_OPTIONS_INIT;
    struct idx_build_summary summary;
    const char *paths[MAX_INPUTS];
    options.threads = 1 + (unsigned)below(3);
    for (size_t i = 0; i < count; i++) paths[i] = inputs[i]->path;
    assert_ok(idx_merge(path, paths, count, &options, &summary, &failure));
    return summary;
}

/* Whether an index is as if built: behind no record, and without removals. */
static void assert_fresh(const char *path) {
    struct idxf_manifest *manifest = malloc(sizeof *manifest);
    assert_non_null(manifest);
    read_manifest(path, manifest);
    assert_int_equal(manifest->sequence, 0);
    assert_int_equal(manifest->segment_count, 1);
    assert_int_equal(manifest->segments[0].removed, 0);
    free(manifest);
    assert_int_equal(count_entries(path), 2);
}

static void compare_trial(const char *folder, size_t inputs) {
    struct grown *grown[MAX_INPUTS];
    const char *whole = path_in(folder, "whole"), *merged = path_in(folder, "merged");
    for (size_t i = 0; i < inputs; i++) grown[i] = make_grown(path_in(folder, "in%zu", i));
    struct idx_build_summary built = build_whole(whole, grown, inputs), made = merge(merged, grown, inputs);
    assert_int_equal(made.documents, built.documents);
    assert_int_equal(made.fingerprints, built.fingerprints);
    assert_int_equal(made.documents_bytes, built.documents_bytes);
    assert_int_equal(made.by_id_bytes, built.by_id_bytes);
    assert_same_index(whole, merged);
    assert_fresh(merged);
    for (size_t i = 0; i < inputs; i++) {
        assert_ok(idx_verify(grown[i]->path, NULL, NULL, &failure));
        remove_all(grown[i]->path);
        free(grown[i]);
    }
    remove_all(whole);
    remove_all(merged);
}

static void test_trials(void **state) {
    static const enum shape shapes[] = {SHAPE_UNIFORM, SHAPE_CLUSTERED, SHAPE_DENSE_LOW, SHAPE_ENDS};
    for (size_t trial = 0; trial < (is_sanitized() ? 24 : 192); trial++) {
        seed = trial;
        choose_make(&makes[trial % LENGTH(makes)], shapes[trial / LENGTH(makes) % LENGTH(shapes)]);
        compare_trial(*state, 1 + (size_t)below(MAX_INPUTS));
        free_set(&pool);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        in_folder(test_trials),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
