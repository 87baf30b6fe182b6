/* reserved.c: what structs that the library fills keep for later releases is at their end, and is 0 after each call. */
#include <string.h>

#include "tests/libidx/support.h"

#include <idx_planning.h>

static const uint64_t fingerprints[] = {1, 2, 3, 1000};

#define assert_last(type) assert_int_equal(offsetof(type, reserved) + sizeof((type *)NULL)->reserved, sizeof(type))

/* Fills a struct by a call that uses it as `name`, and sees whether what was there stays. */
#define with_filled(type, name, call)                                                                                  \
    do {                                                                                                               \
        type name;                                                                                                     \
        assert_last(type);                                                                                             \
        memset(&name, 0xff, sizeof name);                                                                              \
        call;                                                                                                          \
        for (size_t i = 0; i < sizeof name.reserved; i++) assert_int_equal(((const char *)name.reserved)[i], 0);       \
    } while (0)

static bool ignore_member(void *context, const struct idx_cluster_member *member) {
    (void)context, (void)member;
    return true;
}

static void test_plans(void **state) {
    struct idx_plan_options options = IDX_PLAN_OPTIONS_INIT;
    size_t count;
    (void)state;
    options.count = 1000;
    with_filled(struct idx_scheme, scheme, assert_ok(idx_scheme_parse(&scheme, "4", 64, 3, 0, &failure)));
    with_filled(struct idx_scheme, scheme, assert_ok(idx_scheme_parse(&scheme, "auto", 64, 3, 1000, &failure)));
    with_filled(struct idx_plan, plan, {
        struct idx_scheme scheme;
        assert_ok(idx_scheme_parse(&scheme, "@f000000000000000", 64, 0, 0, &failure));
        options.k = 0;
        assert_ok(idx_plan_scheme(&options, &scheme, &plan, &failure));
        options.k = 3;
    });
    with_filled(struct idx_plan, plan, assert_ok(idx_plan(&options, &plan, 1, &count, &failure)));
    with_filled(struct idx_build_estimate, estimate, assert_ok(idx_estimate_build(NULL, 1000, &estimate, &failure)));
}

static void test_indexes(void **state) {
    const char *path = path_in(*state, "i"), *other = path_in(*state, "other");
    with_filled(struct idx_build_summary, summary, {
        struct idx_builder *builder;
        assert_ok(idx_builder_open(&builder, path, NULL, &failure));
        for (size_t i = 0; i < LENGTH(fingerprints); i++)
            assert_ok(idx_builder_add(
                builder, &(struct idx_item){.fingerprint = fingerprints[i], .id = "a", .id_length = 1}, &failure));
        assert_ok(idx_builder_finish(builder, &summary, &failure));
        idx_builder_close(builder);
    });
    with_filled(struct idx_build_summary, summary, assert_ok(idx_merge(other, &path, 1, NULL, &summary, &failure)));
    struct idx_index *index = open_index(path, IDX_RESIDENCE_DIRECTORY);
    with_filled(struct idx_properties, properties, idx_get_properties(index, &properties));
    with_filled(struct idx_table_properties, properties,
                assert_ok(idx_get_table_properties(index, 0, 0, &properties, &failure)));
    with_filled(struct idx_match_lists, lists, {
        assert_ok(idx_list_matches(index, fingerprints, LENGTH(fingerprints), NULL, &lists, &failure));
        idx_match_lists_close(&lists);
    });
    with_filled(struct idx_document_lists, lists, {
        assert_ok(idx_list_documents(index, fingerprints, LENGTH(fingerprints), NULL, &lists, &failure));
        idx_document_lists_close(&lists);
    });
    with_filled(struct idx_cluster_summary, summary,
                assert_ok(idx_clusters(index, NULL, ignore_member, NULL, &summary, &failure)));
    idx_close(index);
}

static void test_changes(void **state) {
    const char *path = path_in(*state, "i");
    struct idx_item item = {.fingerprint = 1, .id = "b", .id_length = 1};
    struct idx_writer *writer;
    build_index(path, NULL, fingerprints, LENGTH(fingerprints));
    assert_ok(idx_writer_open(&writer, path, NULL, &failure));
    assert_ok(idx_writer_add(writer, &item, 1, &failure));
    with_filled(struct idx_removal, removal,
                assert_ok(idx_writer_remove(writer, IDX_REMOVE_DOCUMENTS, &item, 1, &removal, &failure)));
    with_filled(struct idx_removal, removal,
                assert_ok(remove_by_fingerprint(writer, fingerprints, 1, &removal, &failure)));
    idx_writer_close(writer);
    with_filled(struct idx_compact_summary, summary, assert_ok(idx_compact(path, NULL, &summary, &failure)));
    /* The second one finds nothing to do. */
    with_filled(struct idx_compact_summary, summary, assert_ok(idx_compact(path, NULL, &summary, &failure)));
}

static void test_errors(void **state) {
    const char *path = path_in(*state, "none");
    struct idx_index *index;
    with_filled(struct idx_error, error, assert_int_equal(idx_open(&index, path, NULL, &error), IDX_NOT_FOUND));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plans),
        in_folder(test_indexes),
        in_folder(test_changes),
        in_folder(test_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
