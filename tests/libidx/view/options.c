/* options.c: an option struct of a program that was built for an older header is read up to its size and no further.
 * What lies behind it here is a page that may not be read. */
#include <sys/mman.h>
#include <unistd.h>

#include <string.h>

#include "tests/libidx/support.h"

#include <idx_planning.h>

static const uint64_t fingerprints[] = {1, 2, 3, 1000};

/* The first `size` bytes of a struct, which say that they are all, before the page that may not be read. */
static void *cut(char *page, const void *options, size_t size) {
    char *place = page - size;
    memcpy(place, options, size);
    memcpy(place, &size, sizeof size);
    return place;
}

/* Calls with options cut at each field, which are all the defaults. */
#define with_each_size(page, type, defaults, name, call)                                                               \
    do {                                                                                                               \
        const type whole = defaults;                                                                                   \
        for (size_t size = sizeof(size_t); size <= sizeof whole; size += sizeof(size_t)) {                             \
            const type *name = cut(page, &whole, size);                                                                \
            call;                                                                                                      \
        }                                                                                                              \
    } while (0)

static char *make_page(void) {
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    char *pages = mmap(NULL, 2 * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(pages != MAP_FAILED);
    assert_int_equal(mprotect(pages + size, size, PROT_NONE), 0);
    return pages + size;
}

static bool ignore_pairs(void *context, const struct idx_pair *pairs, size_t count) {
    (void)context, (void)pairs, (void)count;
    return true;
}

static bool ignore_matches(void *context, size_t query, const struct idx_match *matches, size_t count) {
    (void)context, (void)query, (void)matches, (void)count;
    return true;
}

static bool ignore_member(void *context, const struct idx_cluster_member *member) {
    (void)context, (void)member;
    return true;
}

static void test_building(void **state) {
    char *page = make_page();
    const char *path = path_in(*state, "i"), *other = path_in(*state, "other");
    with_each_size(page, struct idx_plan_options, IDX_PLAN_OPTIONS_INIT, options, {
        size_t count;
        assert_ok(idx_plan(options, NULL, 0, &count, &failure));
    });
    with_each_size(page, struct idx_build_options, IDX_BUILD_OPTIONS_INIT, options, {
        struct idx_build_estimate estimate;
        struct idx_builder *builder;
        assert_ok(idx_estimate_build(options, 1000, &estimate, &failure));
        assert_ok(idx_builder_open(&builder, other, options, &failure));
        idx_builder_close(builder);
    });
    build_index(path, NULL, fingerprints, LENGTH(fingerprints));
    with_each_size(page, struct idx_merge_options, IDX_MERGE_OPTIONS_INIT, options, {
        assert_ok(idx_merge(other, &path, 1, options, NULL, &failure));
        remove_all(other);
    });
}

static void test_reading(void **state) {
    char *page = make_page();
    const char *path = path_in(*state, "i");
    build_index(path, NULL, fingerprints, LENGTH(fingerprints));
    struct idx_index *index = open_index(path, IDX_RESIDENCE_DIRECTORY);
    with_each_size(page, struct idx_open_options, IDX_OPEN_OPTIONS_INIT, options, {
        struct idx_index *again;
        assert_ok(idx_open(&again, path, options, &failure));
        idx_close(again);
    });
    with_each_size(page, struct idx_lookup_options, IDX_LOOKUP_OPTIONS_INIT, options, {
        size_t counts[LENGTH(fingerprints)];
        assert_ok(idx_lookup_many(index, fingerprints, LENGTH(fingerprints), options, NULL, 0, counts, &failure));
    });
    with_each_size(page, struct idx_match_lists_options, IDX_MATCH_LISTS_OPTIONS_INIT, options, {
        struct idx_match_lists lists;
        assert_ok(idx_list_matches(index, fingerprints, LENGTH(fingerprints), options, &lists, &failure));
        idx_match_lists_close(&lists);
    });
    with_each_size(page, struct idx_document_lists_options, IDX_DOCUMENT_LISTS_OPTIONS_INIT, options, {
        struct idx_document_lists lists;
        assert_ok(idx_list_documents(index, fingerprints, LENGTH(fingerprints), options, &lists, &failure));
        idx_document_lists_close(&lists);
    });
    with_each_size(page, struct idx_join_options, IDX_JOIN_OPTIONS_INIT, options,
                   { assert_ok(idx_pairs(index, options, ignore_pairs, NULL, &failure)); });
    with_each_size(page, struct idx_cluster_options, IDX_CLUSTER_OPTIONS_INIT, options,
                   { assert_ok(idx_clusters(index, options, ignore_member, NULL, NULL, &failure)); });
    with_each_size(page, struct idx_batch_options, IDX_BATCH_OPTIONS_INIT, options, {
        struct idx_stream *stream;
        assert_ok(idx_batch(index, fingerprints, LENGTH(fingerprints), options, ignore_matches, NULL, &failure));
        assert_ok(idx_stream_open(&stream, fingerprints, LENGTH(fingerprints), 64, options, &failure));
        idx_stream_close(stream);
    });
    idx_close(index);
}

static void test_changing(void **state) {
    char *page = make_page();
    const char *path = path_in(*state, "i");
    build_index(path, NULL, fingerprints, LENGTH(fingerprints));
    with_each_size(page, struct idx_writer_options, IDX_WRITER_OPTIONS_INIT, options, {
        struct idx_writer *writer;
        assert_ok(idx_writer_open(&writer, path, options, &failure));
        idx_writer_close(writer);
    });
    with_each_size(page, struct idx_compact_options, IDX_COMPACT_OPTIONS_INIT, options,
                   { assert_ok(idx_compact(path, options, NULL, &failure)); });
}

int main(void) {
    const struct CMUnitTest tests[] = {
        in_folder(test_building),
        in_folder(test_reading),
        in_folder(test_changing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
