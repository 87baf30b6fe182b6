/* merge_grown.c: merging indexes that have pending and removed documents gives what a build of all documents that are
 * there gives: compared with plain lists of them. The inputs go on growing meanwhile; one that is replaced doesn't. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/libidx/damaged.h"
#include "tests/libidx/model.h"
#include "tests/libidx/same.h"
#include "tests/libidx/sets.h"
#include "tests/libidx/support.h"

#define MAX_INPUTS 4
#define BATCH 150
#define POOL 500 /* fingerprints */
#define IDS 60   /* that come up often */

static uint64_t seed;

static uint64_t below(uint64_t bound) { return next_random(&seed) % bound; }

static const struct make makes[] = {
    {64, 3, "4", IDX_ID_TEXT, true},      {40, 2, "3:1", IDX_ID_U64, true},
    {33, 2, "2:1:1", IDX_ID_NONE, false}, {16, 1, "@aaaa,@5555", IDX_ID_TEXT, false},
    {64, 3, "4", IDX_ID_U64, false},      {20, 0, "auto", IDX_ID_TEXT, true},
};

static struct make make; /* of the indexes at hand */
static struct set pool;  /* their fingerprints */

/* ---- Documents ---- */

/* An index, and the documents that it has. */
struct grown {
    const char *path;
    struct model model;
};

static struct document choose_document(void) {
    uint64_t id = below(8) == 0 ? next_random(&seed) : below(IDS);
    return (struct document){pool.items[below(pool.count)], make.id_type == IDX_ID_NONE ? 0 : id};
}

/* ---- Indexes ---- */

static struct idx_build_summary end_build(struct idx_builder *builder) {
    struct idx_build_summary summary;
    assert_ok(idx_builder_finish(builder, &summary, &failure));
    idx_builder_close(builder);
    return summary;
}

/* One built of all documents of some, in their order. */
static struct idx_build_summary build_whole(const char *path, struct grown *const *inputs, size_t count) {
    struct idx_builder *builder = model_begin_build(path, &make);
    for (size_t i = 0; i < count; i++) model_give(&inputs[i]->model, &make, builder);
    return end_build(builder);
}

static void compact(const char *path) {
    struct idx_compact_options options = IDX_COMPACT_OPTIONS_INIT;
    options.all = below(4) == 0;
    options.max_segments = 1 + (unsigned)below(6);
    options.growth = (unsigned)below(4);
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
        case ADD: model_add(&grown->model, &make, document); break;
        case REMOVE: model_remove(&grown->model, &document->fingerprint, &document->id); break;
        case REMOVE_FINGERPRINTS: model_remove(&grown->model, &document->fingerprint, NULL); break;
        case REMOVE_IDS: model_remove(&grown->model, NULL, &document->id); break;
    }
}

static void apply(struct idx_writer *writer, enum operation operation, const struct idx_item *items,
                  const uint64_t *fingerprints, size_t count) {
    struct idx_removal removal;
    switch (operation) {
        case ADD: assert_ok(idx_writer_add(writer, items, count, &failure)); break;
        case REMOVE:
            assert_ok(idx_writer_remove(writer, IDX_REMOVE_DOCUMENTS, items, count, &removal, &failure));
            break;
        case REMOVE_FINGERPRINTS:
            assert_ok(remove_by_fingerprint(writer, fingerprints, count, &removal, &failure));
            break;
        case REMOVE_IDS: assert_ok(idx_writer_remove(writer, IDX_REMOVE_IDS, items, count, &removal, &failure)); break;
    }
}

/* Carries out an operation on some documents, those that are there or any. */
static void change(struct idx_writer *writer, struct grown *grown, enum operation operation, size_t count) {
    struct idx_item items[BATCH];
    uint64_t fingerprints[BATCH];
    char texts[BATCH][LONGEST_ID];
    for (size_t i = 0; i < count; i++) {
        struct document document = choose_document();
        if (operation != ADD && grown->model.count > 0 && below(4) > 0)
            document = grown->model.documents[below(grown->model.count)];
        items[i] = item_of(&document, texts[i]);
        fingerprints[i] = document.fingerprint;
        list_apply(grown, operation, &document);
    }
    leave_out_ids(writer, items, count);
    apply(writer, operation, items, fingerprints, count);
}

static void remove_everything(struct idx_writer *writer, struct grown *grown) {
    struct idx_removal removal;
    assert_ok(remove_by_fingerprint(writer, pool.items, pool.count, &removal, &failure));
    grown->model.count = 0;
}

static void grow(struct grown *grown) {
    struct idx_writer *writer = open_simple_writer(grown->path);
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
        model_add(&grown->model, &make, &document);
    }
    struct idx_builder *builder = model_begin_build(path, &make);
    model_give(&grown->model, &make, builder);
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
    assert_int_equal(made.documents, make.id_type == IDX_ID_NONE ? built.fingerprints : built.documents);
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

static void run_trials(const char *folder, size_t begin, size_t end) {
    static const enum shape shapes[] = {SHAPE_UNIFORM, SHAPE_CLUSTERED, SHAPE_DENSE_LOW, SHAPE_ENDS};
    for (size_t trial = begin; trial < end; trial++) {
        seed = trial;
        choose_make(&makes[trial % LENGTH(makes)], shapes[trial / LENGTH(makes) % LENGTH(shapes)]);
        compare_trial(folder, 1 + (size_t)below(MAX_INPUTS));
        free_set(&pool);
    }
}

static void test_trials(void **state) { run_trials(*state, 0, 24); }
static void test_more_trials(void **state) { run_trials(*state, 24, 192); }

/* ---- Beside others ---- */

/* Who is at work while a merge goes on. */
struct others {
    struct grown *grown;
    bool busy; /* are they to be refused? */
    size_t calls;
};

static bool work(void *context, const struct idx_progress *progress) {
    struct others *others = context;
    struct idx_writer *writer;
    (void)progress;
    if (others->calls++ > 0) return true;
    if (others->busy) {
        assert_status(IDX_BUSY, idx_writer_open(&writer, others->grown->path, NULL, &failure));
        assert_status(IDX_BUSY, idx_compact(others->grown->path, NULL, NULL, &failure));
        return true;
    }
    struct idx_compact_options options = IDX_COMPACT_OPTIONS_INIT;
    options.all = true;
    writer = open_simple_writer(others->grown->path);
    change(writer, others->grown, ADD, BATCH);
    change(writer, others->grown, REMOVE_FINGERPRINTS, BATCH);
    assert_ok(idx_compact(others->grown->path, &options, NULL, &failure));
    change(writer, others->grown, ADD, BATCH);
    idx_writer_close(writer);
    return true;
}

/* A writer and a compaction of an input go on, and the merge has what was there when it began. */
static void test_beside_writers(void **state) {
    const char *whole = path_in(*state, "whole"), *merged = path_in(*state, "merged");
    for (seed = 1; seed <= 5; seed++) {
        choose_make(&makes[0], SHAPE_CLUSTERED);
        struct grown *grown = make_grown(path_in(*state, "in"));
        struct others others = {.grown = grown};
        struct idx_merge_options options = IDX_MERGE_OPTIONS_INIT;
        options.progress = work;
        options.context = &others;
        build_whole(whole, &grown, 1);
        assert_ok(idx_merge(merged, &grown->path, 1, &options, NULL, &failure));
        assert_true(others.calls > 0);
        assert_same_index(whole, merged);
        remove_all(whole);
        remove_all(merged);
        build_whole(whole, &grown, 1);
        merge(merged, &grown, 1);
        assert_same_index(whole, merged);
        remove_all(*state);
        assert_int_equal(mkdir(*state, 0777), 0);
        free_set(&pool);
        free(grown);
    }
}

/* An input that is replaced has neither writer nor compaction meanwhile, and all that they did before. */
static void test_in_place(void **state) {
    const char *whole = path_in(*state, "whole");
    struct idx_merge_options options = IDX_MERGE_OPTIONS_INIT;
    seed = 7;
    choose_make(&makes[0], SHAPE_UNIFORM);
    struct grown *inputs[] = {make_grown(path_in(*state, "in0")), make_grown(path_in(*state, "in1"))};
    const char *paths[] = {inputs[0]->path, inputs[1]->path};
    struct others others = {.grown = inputs[1], .busy = true};
    options.progress = work;
    options.context = &others;
    options.replace = true;
    for (size_t i = 0; i < 2; i++) {
        struct idx_writer *writer = open_simple_writer(paths[i]);
        assert_status(IDX_BUSY, idx_merge(paths[i], paths, 2, &options, NULL, &failure));
        assert_string_equal(failure.file, paths[i]);
        assert_int_equal(others.calls, 0);
        idx_writer_close(writer);
    }
    build_whole(whole, inputs, 2);
    assert_ok(idx_merge(paths[1], paths, 2, &options, NULL, &failure));
    assert_true(others.calls > 0);
    assert_same_index(whole, paths[1]);
    idx_writer_close(open_simple_writer(paths[1]));
    assert_ok(idx_compact(paths[1], NULL, NULL, &failure));
    assert_int_equal(count_entries(*state), 3);
    for (size_t i = 0; i < 2; i++) free(inputs[i]);
    free_set(&pool);
}

static void (*before_flock)(struct grown *grown); /* the next one */
static struct grown *locked;

int __real_flock(int file, int operation);
int __wrap_flock(int file, int operation);
int __wrap_flock(int file, int operation) {
    void (*before)(struct grown *) = before_flock;
    before_flock = NULL;
    if (before != NULL) before(locked);
    return __real_flock(file, operation);
}

static void write_some(struct grown *grown) {
    struct idx_writer *writer = open_simple_writer(grown->path);
    change(writer, grown, ADD, BATCH);
    change(writer, grown, REMOVE_FINGERPRINTS, BATCH);
    idx_writer_close(writer);
}

static void compact_all(struct grown *grown) {
    struct idx_compact_options options = IDX_COMPACT_OPTIONS_INIT;
    write_some(grown);
    options.all = true;
    assert_ok(idx_compact(grown->path, &options, NULL, &failure));
}

/* Another index, with a few documents, comes to stand at its path. */
static void replace(struct grown *grown) {
    const char *other = path_in(grown->path, "../other");
    struct idx_merge_options options = IDX_MERGE_OPTIONS_INIT;
    options.replace = true;
    grown->model.count = 3;
    build_whole(other, &grown, 1);
    assert_ok(idx_merge(grown->path, &other, 1, &options, NULL, &failure));
    remove_all(other);
}

/* What happens between the opening of an input that is replaced, and its locking, is not lost. */
static void test_in_place_late(void **state) {
    static void (*const happens[])(struct grown *) = {write_some, compact_all, replace};
    const char *whole = path_in(*state, "whole");
    struct idx_merge_options options = IDX_MERGE_OPTIONS_INIT;
    options.replace = true;
    seed = 9;
    choose_make(&makes[0], SHAPE_UNIFORM);
    struct grown *grown = make_grown(path_in(*state, "in"));
    write_some(grown);
    for (size_t i = 0; i < LENGTH(happens); i++) {
        struct others others = {.grown = grown, .busy = true};
        options.progress = work;
        options.context = &others;
        locked = grown;
        before_flock = happens[i];
        assert_ok(idx_merge(grown->path, &grown->path, 1, &options, NULL, &failure));
        assert_null(before_flock);
        assert_true(others.calls > 0);
        build_whole(whole, &grown, 1);
        assert_same_index(whole, grown->path);
        remove_all(whole);
    }
    free_set(&pool);
    free(grown);
}

static bool stop(void *context, const struct idx_progress *progress) {
    (void)progress;
    return --*(size_t *)context > 0;
}

/* Cancelled anywhere, it leaves nothing. */
static void test_cancelled(void **state) {
    struct idx_merge_options options = IDX_MERGE_OPTIONS_INIT;
    enum idx_status status = IDX_CANCELLED;
    size_t calls = 0;
    seed = 3;
    choose_make(&makes[0], SHAPE_UNIFORM);
    struct grown *grown = make_grown(path_in(*state, "in"));
    struct idx_writer *writer = open_simple_writer(grown->path);
    change(writer, grown, ADD, BATCH);
    change(writer, grown, REMOVE, BATCH);
    idx_writer_close(writer);
    while (status != IDX_OK) {
        size_t left = ++calls;
        options.progress = stop;
        options.context = &left;
        status = idx_merge(path_in(*state, "merged"), &grown->path, 1, &options, NULL, &failure);
        if (status == IDX_OK) break;
        assert_status(IDX_CANCELLED, status);
        assert_int_equal(left, 0);
        assert_int_equal(count_entries(*state), 1);
    }
    assert_true(calls >= 4); /* after what was removed, what goes in, publishing */
    free_set(&pool);
    free(grown);
}

/* ---- Damage ---- */

/* Returns how many bytes of some all over the file were flipped and not found. */
static size_t damage_file(const char *folder, const char *const *inputs, const char *name) {
    const char *path = path_in(inputs[1], "%s", name);
    size_t size, found = 0, tried = 0;
    enum idx_status verified;
    uint8_t *bytes = read_file(path, &size);
    for (size_t at = 0; at < size; at += size / (is_sanitized() ? 20 : 120) + 1, tried++)
        found += merge_finds_damage(folder, inputs, path, bytes, size, at, &verified);
    assert_true(found > 0);
    write_file(path, bytes, size);
    free(bytes);
    return tried - found;
}

static void test_damage(void **state) {
    seed = 5;
    choose_make(&makes[0], SHAPE_UNIFORM);
    struct grown *inputs[] = {calloc(1, sizeof(struct grown)), calloc(1, sizeof(struct grown))};
    const char *paths[] = {path_in(*state, "in0"), path_in(*state, "in1")};
    struct idx_compact_options options = IDX_COMPACT_OPTIONS_INIT;
    options.growth = 1;
    for (size_t i = 0; i < 2; i++) {
        inputs[i]->path = paths[i];
        end_build(model_begin_build(paths[i], &make));
        struct idx_writer *writer = open_simple_writer(paths[i]);
        for (size_t j = 0; j < 4; j++) change(writer, inputs[i], ADD, BATCH);
        assert_ok(idx_compact(paths[i], &options, NULL, &failure)); /* 000002 */
        change(writer, inputs[i], REMOVE, BATCH);
        assert_ok(idx_compact(paths[i], &options, NULL, &failure)); /* 000003 */
        change(writer, inputs[i], ADD, BATCH);
        change(writer, inputs[i], REMOVE, BATCH);
        idx_writer_close(writer);
    }
    build_whole(path_in(*state, "whole"), inputs, 2);
    assert_int_equal(damage_file(*state, paths, "000003/removed"), 0);
    damage_file(*state, paths, "pending.log"); /* zeros between and behind what it holds */
    assert_ok(idx_merge(path_in(*state, "out"), paths, 2, NULL, NULL, &failure));
    assert_same_index(path_in(*state, "whole"), path_in(*state, "out"));
    for (size_t i = 0; i < 2; i++) free(inputs[i]);
    free_set(&pool);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        in_folder(test_trials),        in_folder(test_beside_writers), in_folder(test_in_place),
        in_folder(test_in_place_late), in_folder(test_cancelled),      in_folder(test_damage),
        in_folder(test_more_trials),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
