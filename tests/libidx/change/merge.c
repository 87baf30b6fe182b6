/* merge.c: merging indexes gives what building them at once would have given, however the documents were spread over
 * indexes and segments; what does not match, or is damaged, is told, and nothing is published then. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/libidx/damaged.h"
#include "tests/libidx/forge.h"
#include "tests/libidx/same.h"
#include "tests/libidx/sets.h"
#include "tests/libidx/support.h"

#define MAX_INPUTS 6
#define MAX_SEGMENTS 3

/* ---- Documents ---- */

struct document {
    uint64_t fingerprint, id;
    unsigned input, segment; /* which it goes to */
    size_t place;            /* in the order in which they were made */
};

struct documents {
    struct document *items; /* in the order of inputs, of segments, and in which they are added */
    size_t count;
};

static int compare_places(const void *a, const void *b) {
    const struct document *x = a, *y = b;
    if (x->input != y->input) return x->input < y->input ? -1 : 1;
    if (x->segment != y->segment) return x->segment < y->segment ? -1 : 1;
    return x->place < y->place ? -1 : 1;
}

/* Some fingerprints, and some with their IDs, in several places. A segment or an input in three has none. */
static struct documents make_documents(unsigned bits, size_t count, unsigned inputs, uint64_t seed) {
    struct documents documents = {calloc(count + 1, sizeof(struct document)), count};
    unsigned empty_input = (unsigned)(next_random(&seed) % (3 * inputs));
    unsigned empty_segment = (unsigned)(next_random(&seed) % (3 * MAX_SEGMENTS));
    assert_non_null(documents.items);
    for (size_t i = 0; i < count; i++) {
        uint64_t random = next_random(&seed);
        struct document *document = &documents.items[i];
        *document = (struct document){next_random(&seed) & all_ones(bits), random % 50, 0, 0, i};
        if (i > 0 && random % 5 == 0) *document = documents.items[random / 5 % i];
        document->place = i;
        if (i > 0 && random % 5 == 1) document->fingerprint = documents.items[random / 5 % i].fingerprint;
        if (random % 50 == 2) document->fingerprint = 0;
        do document->input = (unsigned)(next_random(&seed) % inputs);
        while (inputs > 1 && document->input == empty_input);
        do document->segment = (unsigned)(next_random(&seed) % MAX_SEGMENTS);
        while (document->segment == empty_segment);
    }
    qsort(documents.items, count, sizeof(struct document), compare_places);
    return documents;
}

static void add_document(struct idx_builder *builder, enum idx_id_type id_type, const struct document *document) {
    char id[32];
    if (id_type == IDX_ID_TEXT)
        assert_ok(idx_builder_add(builder,
                                  &(struct idx_item){.fingerprint = document->fingerprint,
                                                     .id = id,
                                                     .id_length = write_id(id, (size_t)document->id)},
                                  &failure));
    else
        assert_ok(idx_builder_add(
            builder, &(struct idx_item){.fingerprint = document->fingerprint, .number = document->id}, &failure));
}

/* ---- Indexes ---- */

/* Builds an index of the documents [begin, end). */
static struct idx_build_summary build_part(const char *path, const struct idx_build_options *options,
                                           const struct documents *documents, size_t begin, size_t end) {
    struct idx_builder *builder;
    struct idx_build_summary summary;
    assert_ok(idx_builder_open(&builder, path, options, &failure));
    for (size_t i = begin; i < end; i++) add_document(builder, options->id_type, &documents->items[i]);
    assert_ok(idx_builder_finish(builder, &summary, &failure));
    idx_builder_close(builder);
    return summary;
}

/* Builds an input, of `segments` segments at least as far as it has documents, and the others behind. */
static const char *build_input(const char *folder, const struct idx_build_options *options,
                               const struct documents *documents, unsigned input, unsigned segments) {
    const char *path = path_in(folder, "in%u", input), *parts[MAX_SEGMENTS];
    size_t begin = 0, end;
    while (begin < documents->count && documents->items[begin].input < input) begin++;
    for (unsigned i = 0; i < segments; i++, begin = end) {
        for (end = begin; end < documents->count; end++) {
            const struct document *document = &documents->items[end];
            if (document->input != input || (document->segment > i && i + 1 < segments)) break;
        }
        parts[i] = segments == 1 ? path : path_in(folder, "part%u", i);
        build_part(parts[i], options, documents, begin, end);
    }
    if (segments > 1) join_indexes(path, parts, segments);
    return path;
}

static struct idx_build_summary merge(const char *path, const char *const *inputs, size_t count, unsigned threads) {
    struct idx_merge_options options = IDX_MERGE_OPTIONS_INIT;
    struct idx_build_summary summary;
    options.threads = threads;
    assert_ok(idx_merge(path, inputs, count, &options, &summary, &failure));
    return summary;
}

/* ---- Merging is building at once ---- */

/* An order of making, for each trial another. */
static struct idx_build_options choose_options(size_t trial, enum idx_id_type id_type) {
    static const struct {
        unsigned bits, k;
        const char *scheme;
    } makes[] = {{64, 3, "4"}, {64, 1, "2:1"}, {33, 2, "3:1"}, {16, 1, "@aaaa,@5555"}, {64, 3, "2:1:1"}, {8, 0, "1:1"}};
    size_t make = trial % LENGTH(makes);
    struct idx_build_options options = options_for(makes[make].bits, makes[make].k, makes[make].scheme);
    options.block_size = trial % 4 == 3 ? 256 : 64;
    options.recipe = trial % 3 == 0 ? "words" : NULL;
    options.id_type = id_type;
    options.by_id = id_type != IDX_ID_NONE && trial / 5 % 2 == 0;
    return options;
}

/* Without IDs, inputs do not know how often a fingerprint was added to them, so a merge counts each one once. */
static void compare_summaries(const struct idx_build_summary *built, const struct idx_build_summary *merged,
                              enum idx_id_type id_type) {
    assert_int_equal(merged->documents, id_type == IDX_ID_NONE ? built->fingerprints : built->documents);
    assert_int_equal(merged->fingerprints, built->fingerprints);
    if (strcmp(built->scheme, "masks") != 0) /* a merge chooses the code by another order; see same.c */
        assert_int_equal(merged->table_bytes, built->table_bytes);
    assert_int_equal(merged->documents_bytes, built->documents_bytes);
    assert_int_equal(merged->by_id_bytes, built->by_id_bytes);
    assert_string_equal(merged->scheme, built->scheme);
    assert_int_equal(merged->tables, built->tables);
    assert_int_equal(merged->leftovers, 0);
}

static void compare_trial(const char *folder, size_t trial, enum idx_id_type id_type) {
    static const size_t counts[] = {3000, 0, 1, 10, 500, 8000};
    unsigned inputs = 1 + (unsigned)trial % MAX_INPUTS;
    struct idx_build_options options = choose_options(trial, id_type);
    struct documents documents = make_documents(options.bits, counts[trial / 2 % LENGTH(counts)], inputs, trial);
    const char *whole = path_in(folder, "whole"), *merged = path_in(folder, "merged"), *paths[MAX_INPUTS];
    for (unsigned i = 0; i < inputs; i++)
        paths[i] = build_input(folder, &options, &documents, i, 1 + (unsigned)(trial / 3 + i) % MAX_SEGMENTS);
    struct idx_build_summary built = build_part(whole, &options, &documents, 0, documents.count);
    struct idx_build_summary made = merge(merged, paths, inputs, trial % 2 == 0 ? 1 : 4);
    compare_summaries(&built, &made, id_type);
    assert_int_equal(made.temporary_bytes, 0);
    assert_same_index(whole, merged);
    assert_int_equal(count_entries(folder), (int)inputs + 2);
    for (unsigned i = 0; i < inputs; i++) {
        assert_ok(idx_verify(paths[i], NULL, NULL, &failure));
        remove_all(paths[i]);
    }
    remove_all(whole);
    remove_all(merged);
    free(documents.items);
}

static void compare_trials(const char *folder, enum idx_id_type id_type) {
    for (size_t trial = 0; trial < (is_sanitized() ? 12 : 72); trial++) compare_trial(folder, trial, id_type);
}

static void test_text(void **state) { compare_trials(*state, IDX_ID_TEXT); }
static void test_u64(void **state) { compare_trials(*state, IDX_ID_U64); }
static void test_none(void **state) { compare_trials(*state, IDX_ID_NONE); }

/* The block size is the first index's. */
static void test_different_block_sizes(void **state) {
    struct idx_build_options small = options_for(64, 3, "4"), large = small;
    struct documents documents = make_documents(64, 2000, 2, 1);
    large.block_size = 1024;
    for (size_t i = 0; i < 2; i++) {
        const struct idx_build_options *first = i == 0 ? &small : &large, *second = i == 0 ? &large : &small;
        const char *paths[] = {build_input(*state, first, &documents, 0, 1),
                               build_input(*state, second, &documents, 1, 1)};
        build_part(path_in(*state, "whole"), first, &documents, 0, documents.count);
        merge(path_in(*state, "merged"), paths, 2, 2);
        assert_same_index(path_in(*state, "whole"), path_in(*state, "merged"));
        remove_all(*state);
        assert_int_equal(mkdir(*state, 0777), 0);
    }
    free(documents.items);
}

/* An index merged of merged ones, and one merged by itself. */
static void test_again(void **state) {
    struct idx_build_options options = options_for(64, 3, "4");
    struct documents documents = make_documents(64, 3000, 3, 7);
    const char *inputs[3], *halves[2], *merged = path_in(*state, "merged");
    for (unsigned i = 0; i < 3; i++) inputs[i] = build_input(*state, &options, &documents, i, 2);
    build_part(path_in(*state, "whole"), &options, &documents, 0, documents.count);
    halves[0] = path_in(*state, "left");
    halves[1] = path_in(*state, "right");
    merge(halves[0], inputs, 2, 1);
    merge(halves[1], inputs + 2, 1, 1);
    merge(merged, halves, 2, 1);
    assert_same_index(path_in(*state, "whole"), merged);
    free(documents.items);
}

/* ---- Where it goes ---- */

static void test_output(void **state) {
    struct idx_build_options options = options_for(64, 3, "4");
    struct idx_merge_options merging = IDX_MERGE_OPTIONS_INIT;
    struct documents documents = make_documents(64, 1000, 2, 3);
    const char *whole = path_in(*state, "whole"), *kept = path_in(*state, "kept");
    const char *inputs[] = {build_input(*state, &options, &documents, 0, 1),
                            build_input(*state, &options, &documents, 1, 2)};
    build_part(whole, &options, &documents, 0, documents.count);
    copy_folder(inputs[0], kept);
    write_file(path_in(*state, "file"), "x", 1);
    assert_status(IDX_EXISTS, idx_merge(inputs[0], inputs, 2, &merging, NULL, &failure));
    assert_same_index(inputs[0], kept);
    merging.replace = true;
    assert_status(IDX_NOT_AN_INDEX, idx_merge(path_in(*state, "file"), inputs, 2, &merging, NULL, &failure));
    assert_status(IDX_NOT_FOUND, idx_merge(path_in(*state, "no/index"), inputs, 2, &merging, NULL, &failure));
    assert_ok(idx_merge(inputs[0], inputs, 2, &merging, NULL, &failure)); /* over one of the inputs */
    assert_same_index(whole, inputs[0]);
    assert_int_equal(count_entries(*state), 5);
    free(documents.items);
}

static void test_arguments(void **state) {
    struct idx_merge_options options = IDX_MERGE_OPTIONS_INIT;
    const char *output = path_in(*state, "merged"), *inputs[] = {path_in(*state, "in"), path_in(*state, "missing")};
    build_index(inputs[0], NULL, (const uint64_t[]){1, 2, 3}, 3);
    assert_status(IDX_INVALID_ARGUMENT, idx_merge(output, inputs, 0, NULL, NULL, &failure));
    assert_string_equal(failure.sentence, "there is no index to merge");
    assert_status(IDX_NOT_FOUND, idx_merge(output, inputs, 2, NULL, NULL, &failure));
    assert_string_equal(failure.file, inputs[1]);
    for (unsigned threads = 0; threads <= IDX_MAX_THREADS + 1; threads += IDX_MAX_THREADS + 1) {
        options.threads = threads;
        assert_status(IDX_INVALID_ARGUMENT, idx_merge(output, inputs, 1, &options, NULL, &failure));
    }
    options.threads = 1;
    options.memory_bytes = 1;
    assert_status(IDX_INVALID_ARGUMENT, idx_merge(output, inputs, 1, &options, NULL, &failure));
    assert_int_equal(count_entries(*state), 1);
    assert_ok(idx_merge(output, inputs, 1, NULL, NULL, &failure));
    assert_same_index(inputs[0], output);
}

/* ---- What does not match ---- */

static void assert_mismatch(const char *folder, const struct idx_build_options *a, const struct idx_build_options *b,
                            const char *difference) {
    const char *inputs[] = {path_in(folder, "a"), path_in(folder, "b")};
    char expected[512];
    build_index(inputs[0], a, (const uint64_t[]){1, 2, 3}, 3);
    build_index(inputs[1], b, (const uint64_t[]){4, 5, 6}, 3);
    for (size_t i = 0; i < 2; i++) {
        snprintf(expected, sizeof expected, "%s: can't be merged with %s, because they differ in their %s", inputs[1],
                 inputs[0], difference);
        assert_status(IDX_INVALID_ARGUMENT, idx_merge(path_in(folder, "out"), inputs, 2, NULL, NULL, &failure));
        assert_memory_equal(failure.sentence, expected, strlen(expected));
        assert_string_equal(failure.file, inputs[1]);
        const char *swapped = inputs[0];
        inputs[0] = inputs[1];
        inputs[1] = swapped;
    }
    assert_int_equal(count_entries(folder), 2);
    remove_all(inputs[0]);
    remove_all(inputs[1]);
}

static void test_mismatches(void **state) {
    struct idx_build_options a = options_for(64, 3, "5:2"), b;
    a.recipe = "words";
    b = a;
    b.bits = 63;
    assert_mismatch(*state, &a, &b, "bits");
    b = a;
    b.k = 2;
    assert_mismatch(*state, &a, &b, "k");
    b = a;
    b.id_type = IDX_ID_NONE;
    assert_mismatch(*state, &a, &b, "ID type");
    b = a;
    b.by_id = true;
    assert_mismatch(*state, &a, &b, "maps from IDs (by-id)");
    b = a;
    b.recipe = "letters";
    assert_mismatch(*state, &a, &b, "recipe");
    b.recipe = NULL;
    assert_mismatch(*state, &a, &b, "recipe");
    b = a;
    b.scheme = "4:1"; /* other tables, fewer */
    assert_mismatch(*state, &a, &b, "scheme");
    a.scheme = "2:1:1"; /* as many tables, the same masks, another radius */
    b.scheme = "2:1:2";
    assert_mismatch(*state, &a, &b, "scheme");
    a.k = b.k = 1;
    a.scheme = "@ffffffff00000000,@00000000ffffffff";
    b.scheme = "@00000000ffffffff,@ffffffff00000000"; /* in another order */
    assert_mismatch(*state, &a, &b, "scheme");
    b.scheme = "@ffffffff00000000,@00000000ffffffff,@0000ffffffff0000"; /* one more */
    assert_mismatch(*state, &a, &b, "scheme");
}

/* Versions of ICU may differ; the result names one only where all inputs name it. */
static void test_versions_of_icu(void **state) {
    struct idx_build_summary summary;
    static const char *const recipes[][3] = {
        {"words;icu=72", "words;icu=72", "words;icu=72"},
        {"words;icu=72", "words;icu=74", "words"},
        {"words;icu=72", "words", "words"},
        {"words", "words;icu=72", "words"},
    };
    const char *inputs[] = {path_in(*state, "a"), path_in(*state, "b")}, *output = path_in(*state, "out");
    for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++) {
        for (size_t j = 0; j < 2; j++) {
            struct idx_build_options options = IDX_BUILD_OPTIONS_INIT;
            options.recipe = recipes[i][j];
            build_index(inputs[j], &options, (const uint64_t[]){j, j + 2}, 2);
        }
        assert_ok(idx_merge(output, inputs, 2, NULL, &summary, &failure));
        assert_int_equal(summary.mixed_icu, i == 1);
        struct idx_index *index;
        struct idx_properties properties;
        assert_ok(idx_open(&index, output, NULL, &failure));
        idx_get_properties(index, &properties);
        assert_string_equal(properties.recipe, recipes[i][2]);
        idx_close(index);
        for (size_t j = 0; j < 2; j++) remove_all(inputs[j]);
        remove_all(output);
    }
}

static void test_same_index(void **state) {
    const char *in = path_in(*state, "in"), *copy = path_in(*state, "copy"), *other = path_in(*state, "other");
    const char *inputs[] = {in, other, in};
    build_index(in, NULL, (const uint64_t[]){1, 2, 3}, 3);
    build_index(other, NULL, (const uint64_t[]){1, 2, 3}, 3);
    copy_folder(in, copy);
    for (size_t i = 0; i < 2; i++) {
        assert_status(IDX_INVALID_ARGUMENT, idx_merge(path_in(*state, "out"), inputs, 3, NULL, NULL, &failure));
        assert_non_null(strstr(failure.sentence, "is the same index as"));
        assert_string_equal(failure.file, inputs[2]);
        inputs[2] = copy;
    }
    assert_int_equal(count_entries(*state), 3);
}

/* ---- Damage ---- */

/* Of the bytes from `begin` to `end` that were flipped, all must be found. */
static void damage_file(const char *folder, const char *const *inputs, const char *name, size_t begin, size_t end) {
    const char *path = path_in(inputs[1], "%s", name);
    size_t size, found = 0;
    uint8_t *bytes = read_file(path, &size);
    if (end > size) end = size;
    for (size_t at = 0; at < size; at += is_sanitized() ? 397 : 61) {
        enum idx_status verified;
        bool fails = merge_finds_damage(folder, inputs, path, bytes, size, at, &verified);
        if (verified == IDX_OK) fail_msg("%s: byte %zu is not checked", path, at);
        found += fails;
        if (at >= begin && at < end && !fails) fail_msg("%s: byte %zu is not checked", path, at);
    }
    assert_true(found > 0);
    write_file(path, bytes, size);
    free(bytes);
}

static void test_damage(void **state) {
    struct idx_build_options options = options_for(64, 1, "2:1");
    struct documents documents = make_documents(64, 1500, 2, 11);
    const char *inputs[2];
    struct idx_table_properties tables[2];
    for (unsigned i = 0; i < 2; i++) inputs[i] = build_input(*state, &options, &documents, i, 1);
    build_part(path_in(*state, "whole"), &options, &documents, 0, documents.count);
    struct idx_index *index = open_index(inputs[1], IDX_RESIDENCE_NONE);
    for (size_t i = 0; i < 2; i++) assert_ok(idx_get_table_properties(index, 0, i, &tables[i], &failure));
    idx_close(index);
    damage_file(*state, inputs, "manifest", 0, SIZE_MAX);
    damage_file(*state, inputs, "000001/docs.mdb", 0, 0); /* LMDB leaves pages unused */
    damage_file(*state, inputs, "000001/docs.sum", 0, 24);
    for (int i = 0; i < 2; i++) { /* header and blocks */
        char name[32];
        snprintf(name, sizeof name, "000001/table-%02d.tbl", i);
        damage_file(*state, inputs, name, 0, 4096 + tables[i].blocks * tables[i].block_size);
    }
    assert_ok(idx_merge(path_in(*state, "out"), inputs, 2, NULL, NULL, &failure));
    assert_same_index(path_in(*state, "whole"), path_in(*state, "out"));
    free(documents.items);
}

/* Files that are missing, and cut. */
static void test_missing_files(void **state) {
    static const char *const names[] = {"000001/docs.mdb", "000001/docs.sum", "000001/table-03.tbl"};
    const char *inputs[] = {path_in(*state, "a"), path_in(*state, "b")}, *output = path_in(*state, "out");
    struct idx_build_options options = options_for(64, 3, "4");
    build_index(inputs[0], &options, (const uint64_t[]){1, 2, 3}, 3);
    build_index(inputs[1], &options, (const uint64_t[]){4, 5, 6}, 3);
    for (size_t i = 0; i < LENGTH(names); i++) {
        const char *path = path_in(inputs[1], "%s", names[i]);
        size_t size;
        uint8_t *bytes = read_file(path, &size);
        assert_int_equal(unlink(path), 0);
        assert_status(IDX_MISSING_FILE, idx_merge(output, inputs, 2, NULL, NULL, &failure));
        assert_string_equal(failure.file, path);
        write_file(path, bytes, size - 1);
        assert_status(IDX_WRONG_SIZE, idx_merge(output, inputs, 2, NULL, NULL, &failure));
        write_file(path, bytes, size);
        free(bytes);
    }
    assert_int_equal(count_entries(*state), 2);
    assert_ok(idx_merge(output, inputs, 2, NULL, NULL, &failure));
}

/* Tables of another index, made to belong: every checksum is right, but the document map holds other fingerprints. */
static void test_forged_tables(void **state) {
    const char *inputs[] = {path_in(*state, "a"), path_in(*state, "b")}, *other = path_in(*state, "other");
    struct idx_build_options options = options_for(64, 3, "4");
    uint8_t uuid[16];
    build_index(inputs[0], &options, (const uint64_t[]){1, 2, 3}, 3);
    build_index(inputs[1], &options, (const uint64_t[]){4, 5, 6}, 3);
    build_index(other, &options, (const uint64_t[]){1, 2, 3}, 3);
    read_segment_uuid(path_in(inputs[1], "000001/table-00.tbl"), uuid);
    for (int i = 0; i < 4; i++) {
        const char *from = path_in(other, "000001/table-%02d.tbl", i);
        assert_int_equal(rename(from, path_in(inputs[1], "000001/table-%02d.tbl", i)), 0);
        forge_table(path_in(inputs[1], "000001/table-%02d.tbl", i), 16, uuid, sizeof uuid);
    }
    remove_all(other);
    assert_status(IDX_BAD_CONTENT, idx_verify(inputs[1], NULL, NULL, &failure));
    assert_status(IDX_BAD_CONTENT, idx_merge(path_in(*state, "out"), inputs, 2, NULL, NULL, &failure));
    assert_non_null(strstr(failure.sentence, "find it with idx verify"));
    assert_int_equal(count_entries(*state), 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        in_folder(test_text),
        in_folder(test_u64),
        in_folder(test_none),
        in_folder(test_different_block_sizes),
        in_folder(test_again),
        in_folder(test_output),
        in_folder(test_arguments),
        in_folder(test_mismatches),
        in_folder(test_versions_of_icu),
        in_folder(test_same_index),
        in_folder(test_damage),
        in_folder(test_missing_files),
        in_folder(test_forged_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
