/* defaults.c: each call that takes options takes NULL for them, and then does what it does with those that their _INIT
 * macro makes. */
#include <string.h>

#include "tests/libidx/support.h"

#include <idx_planning.h>

/* Two pairs of these are within IDX_DEFAULT_K bits: they differ in 2 and in 3 bits. */
static const uint64_t fingerprints[] = {0x00, 0x03, 0x1c, 0xff00};

static const uint64_t hashes[] = {1, 2, 3, 4, 5};
static const struct idx_set set = {hashes, LENGTH(hashes)};

static bool count_pairs(void *context, const struct idx_pair *pairs, size_t count) {
    (void)pairs;
    *(size_t *)context += count;
    return true;
}

static bool count_set_pair(void *context, const struct idx_set_pair *pair) {
    (void)pair;
    ++*(size_t *)context;
    return true;
}

static bool count_matches(void *context, size_t query, const struct idx_match *matches, size_t count) {
    (void)query, (void)matches;
    *(size_t *)context += count;
    return true;
}

static bool count_members(void *context, const struct idx_cluster_member *member) {
    (void)member;
    ++*(size_t *)context;
    return true;
}

/* Calls `call` with `options` as NULL, and as what the macro makes; both have to add `expected` to `count`. */
#define both(type, init, expected, ...)                                                                                \
    do {                                                                                                               \
        type made = init;                                                                                              \
        for (const type *options = NULL;; options = &made) {                                                           \
            size_t count = 0;                                                                                          \
            __VA_ARGS__;                                                                                               \
            assert_int_equal(count, expected);                                                                         \
            if (options != NULL) break;                                                                                \
        }                                                                                                              \
    } while (0)

static const char *build(const char *folder) {
    const char *path = path_in(folder, "i");
    build_index(path, NULL, fingerprints, LENGTH(fingerprints));
    return path;
}

static const char *build_with_sets(const char *folder) {
    const char *path = path_in(folder, "texts");
    struct idx_build_options options = IDX_BUILD_OPTIONS_INIT;
    struct idx_builder *builder;
    options.k = 0;
    options.sketch = 8;
    assert_ok(idx_builder_open(&builder, path, &options, &failure));
    assert_ok(idx_builder_add_text(builder, &(struct idx_item){.id = "a", .id_length = 1}, &set, &failure));
    assert_ok(idx_builder_finish(builder, NULL, &failure));
    idx_builder_close(builder);
    return path;
}

static void test_looking_up(void **state) {
    const char *path = build(*state);
    struct idx_index *index;
    both(struct idx_open_options, IDX_OPEN_OPTIONS_INIT, 0, {
        assert_ok(idx_open(&index, path, options, &failure));
        idx_close(index);
    });
    assert_ok(idx_open(&index, path, NULL, &failure));
    both(struct idx_lookup_options, IDX_LOOKUP_OPTIONS_INIT, 3,
         assert_ok(idx_lookup_many(index, fingerprints, 1, options, NULL, 0, &count, &failure)));
    both(struct idx_match_lists_options, IDX_MATCH_LISTS_OPTIONS_INIT, 3, {
        struct idx_match_lists lists;
        assert_ok(idx_list_matches(index, fingerprints, 1, options, &lists, &failure));
        count = (size_t)lists.counts[0];
        idx_match_lists_close(&lists);
    });
    both(struct idx_batch_options, IDX_BATCH_OPTIONS_INIT, 3,
         assert_ok(idx_batch(index, fingerprints, 1, options, count_matches, &count, &failure)));
    both(struct idx_document_lists_options, IDX_DOCUMENT_LISTS_OPTIONS_INIT, 1, {
        struct idx_document_lists lists;
        assert_ok(idx_list_documents(index, fingerprints, 1, options, &lists, &failure));
        count = (size_t)lists.counts[0];
        idx_document_lists_close(&lists);
    });
    both(struct idx_batch_options, IDX_BATCH_OPTIONS_INIT, 3, {
        struct idx_stream *stream;
        assert_ok(idx_stream_open(&stream, fingerprints, 1, 64, options, &failure));
        assert_ok(idx_stream_add(stream, fingerprints, LENGTH(fingerprints), &failure));
        assert_ok(idx_stream_finish(stream, count_matches, &count, &failure));
        idx_stream_close(stream);
    });
    idx_close(index);
}

static void test_pairs(void **state) {
    struct idx_index *index = open_index(build(*state), IDX_RESIDENCE_NONE);
    both(struct idx_join_options, IDX_JOIN_OPTIONS_INIT, 2,
         assert_ok(idx_pairs(index, options, count_pairs, &count, &failure)));
    both(struct idx_join_options, IDX_JOIN_OPTIONS_INIT, 8,
         assert_ok(idx_join(index, index, options, count_pairs, &count, &failure)));
    both(struct idx_join_options, IDX_JOIN_OPTIONS_INIT, 2,
         assert_ok(idx_array_pairs(fingerprints, LENGTH(fingerprints), options, count_pairs, &count, &failure)));
    both(struct idx_cluster_options, IDX_CLUSTER_OPTIONS_INIT, 3,
         assert_ok(idx_clusters(index, options, count_members, &count, NULL, &failure)));
    idx_close(index);
}

static void test_changes(void **state) {
    const char *path = build(*state), *other = path_in(*state, "o"), *merged = path_in(*state, "m");
    both(struct idx_build_options, IDX_BUILD_OPTIONS_INIT, 0, {
        struct idx_build_estimate estimate;
        assert_ok(idx_estimate_build(options, 1000, &estimate, &failure));
        remove_all(other);
        build_index(other, options, NULL, 0);
    });
    both(struct idx_merge_options, IDX_MERGE_OPTIONS_INIT, 4, {
        struct idx_build_summary summary;
        remove_all(merged);
        assert_ok(idx_merge(merged, &path, 1, options, &summary, &failure));
        count = summary.documents;
    });
    both(struct idx_writer_options, IDX_WRITER_OPTIONS_INIT, 0, {
        struct idx_writer *writer;
        assert_ok(idx_writer_open(&writer, path, options, &failure));
        idx_writer_close(writer);
    });
    both(struct idx_match_lists_options, IDX_MATCH_LISTS_OPTIONS_INIT, 3, {
        const struct idx_item item = {.id = "a", .id_length = 1};
        struct idx_match_lists lists;
        struct idx_writer *writer;
        assert_ok(idx_writer_open(&writer, path, NULL, &failure));
        assert_ok(idx_writer_check_and_add(writer, &item, 1, options, &lists, &failure));
        count = (size_t)lists.counts[0];
        idx_match_lists_close(&lists);
        idx_writer_close(writer);
    });
    both(struct idx_compact_options, IDX_COMPACT_OPTIONS_INIT, 1, {
        struct idx_compact_summary summary;
        assert_ok(idx_compact(path, options, &summary, &failure));
        count = summary.segments;
    });
}

static void test_resemblance(void **state) {
    const char *path = build_with_sets(*state);
    struct idx_index *index = open_index(path, IDX_RESIDENCE_NONE);
    both(struct idx_resembling_options, IDX_RESEMBLING_OPTIONS_INIT, 2, {
        const struct idx_item item = {.id = "b", .id_length = 1};
        struct idx_resembling_lists lists;
        struct idx_writer *writer;
        assert_ok(idx_list_resembling(index, &set, 1, options, &lists, &failure));
        count = (size_t)lists.offsets[1];
        idx_resembling_lists_close(&lists);
        assert_ok(idx_writer_open(&writer, path, NULL, &failure));
        assert_ok(idx_writer_add_unlike(writer, &item, &set, 1, options, &lists, &failure));
        count += (size_t)lists.offsets[1];
        idx_resembling_lists_close(&lists);
        idx_writer_close(writer);
    });
    idx_close(index);
}

static void test_sets(void **state) {
    (void)state;
    both(struct idx_sets_options, IDX_SETS_OPTIONS_INIT, 0, {
        struct idx_sets *sets;
        assert_ok(idx_sets_open(&sets, options, &failure));
        idx_sets_close(sets);
    });
    struct idx_sets *sets;
    struct idx_kept_set kept[2];
    assert_ok(idx_sets_open(&sets, NULL, &failure));
    assert_ok(idx_sets_add(sets, hashes, LENGTH(hashes), &failure));
    assert_ok(idx_sets_add(sets, hashes, LENGTH(hashes) - 1, &failure));
    both(struct idx_keep_options, IDX_KEEP_OPTIONS_INIT, 0, {
        assert_ok(idx_sets_keep(sets, options, kept, NULL, &failure));
        count = (size_t)kept[1].kept;
    });
    both(struct idx_set_pair_options, IDX_SET_PAIR_OPTIONS_INIT, 1,
         assert_ok(idx_sets_visit_pairs(sets, options, count_set_pair, &count, NULL, &failure)));
    both(struct idx_needles_options, IDX_NEEDLES_OPTIONS_INIT, 2, {
        const struct idx_needle_match *matches;
        struct idx_needle_finder *finder;
        struct idx_needles *needles;
        assert_ok(idx_needles_open(&needles, sets, options, NULL, &failure));
        assert_ok(idx_needle_finder_open(&finder, needles, &failure));
        assert_ok(idx_needles_find(finder, hashes, LENGTH(hashes) - 1, &matches, &count, &failure));
        idx_needle_finder_close(finder);
        idx_needles_close(needles);
    });
    idx_sets_close(sets);
}

static void test_plans(void **state) {
    struct idx_scheme scheme;
    struct idx_plan plan;
    (void)state;
    assert_ok(idx_scheme_parse(&scheme, "4", 64, 3, 0, &failure));
    both(struct idx_plan_options, IDX_PLAN_OPTIONS_INIT, 4, {
        assert_ok(idx_plan_scheme(options, &scheme, &plan, &failure));
        count = plan.tables;
        size_t plans;
        assert_ok(idx_plan(options, NULL, 0, &plans, &failure));
        assert_true(plans > 0);
    });
}

/* Options that no macro has made are refused, so that what else is set in them is not passed over. */
static void test_without_size(void **state) {
    static const struct idx_open_options open;
    static const struct idx_match_lists_options lookup;
    static const struct idx_build_options build_options;
    static const struct idx_compact_options compact;
    static const struct idx_merge_options merge;
    static const struct idx_sets_options set_options;
    const char *path = build(*state), *other = path_in(*state, "other");
    struct idx_index *index = open_index(path, IDX_RESIDENCE_DIRECTORY), *second;
    struct idx_match_lists lists;
    struct idx_builder *builder;
    struct idx_sets *sets;
    assert_int_equal(idx_open(&second, path, &open, &failure), IDX_INVALID_ARGUMENT);
    assert_string_equal(failure.sentence, "options of size 0: initialise them with the macro that is called like their "
                                          "struct, and _INIT");
    assert_int_equal(idx_list_matches(index, fingerprints, 1, &lookup, &lists, &failure), IDX_INVALID_ARGUMENT);
    assert_int_equal(idx_builder_open(&builder, other, &build_options, &failure), IDX_INVALID_ARGUMENT);
    assert_int_equal(idx_compact(path, &compact, NULL, &failure), IDX_INVALID_ARGUMENT);
    assert_int_equal(idx_merge(other, &path, 1, &merge, NULL, &failure), IDX_INVALID_ARGUMENT);
    assert_int_equal(idx_sets_open(&sets, &set_options, &failure), IDX_INVALID_ARGUMENT);
    idx_close(index);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        in_folder(test_looking_up),   in_folder(test_pairs),       in_folder(test_changes),
        in_folder(test_resemblance),  cmocka_unit_test(test_sets), cmocka_unit_test(test_plans),
        in_folder(test_without_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
