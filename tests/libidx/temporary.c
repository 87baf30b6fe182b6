/* temporary.c: where temporary files go that nobody chose a folder for: into the index, or where a new one is to be;
 * without an index, into the system's folder for them. */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libidx/base/base.h"
#include "tests/libidx/sets.h"
#include "tests/libidx/support.h"

#include <idx_planning.h>

/* How many files of this process are open that have no name any more and are in `folder`. */
static unsigned count_nameless(const char *folder) {
    static const char deleted[] = " (deleted)";
    char place[PATH_MAX], link[PATH_MAX], target[PATH_MAX];
    unsigned count = 0;
    assert_non_null(realpath(folder, place));
    DIR *descriptors = opendir("/proc/self/fd");
    assert_non_null(descriptors);
    for (struct dirent *entry; (entry = readdir(descriptors)) != NULL;) {
        snprintf(link, sizeof link, "/proc/self/fd/%s", entry->d_name);
        ssize_t length = readlink(link, target, sizeof target - 1);
        if (length < 0) continue;
        target[length] = '\0';
        char *end = strrchr(target, '/');
        if (end == NULL || strstr(end, deleted) == NULL) continue;
        *end = '\0';
        count += strcmp(target, place) == 0;
    }
    closedir(descriptors);
    return count;
}

struct watching {
    const char *folder;
    unsigned most; /* the most nameless files that were seen in it */
};

static void watch(struct watching *watching) {
    unsigned count = count_nameless(watching->folder);
    if (count > watching->most) watching->most = count;
}

static bool watch_matches(void *context, size_t query, const struct idx_match *matches, size_t count) {
    (void)query, (void)matches, (void)count;
    watch(context);
    return false;
}

static bool ignore_member(void *context, const struct idx_cluster_member *member) {
    (void)context, (void)member;
    return true;
}

static bool watch_progress(void *context, const struct idx_progress *progress) {
    (void)progress;
    watch(context);
    return true;
}

/* A ball has so many matches that they go through files if memory is at its least. */
static struct set ball;
static const char *path;

static int make_ball_index(void **state) {
    int failed = make_folder(state);
    struct idx_build_options options = options_for(64, 3, "4");
    options.id_type = IDX_ID_NONE;
    ball = make_ball(UINT64_C(0x123456789abcdef0), 64, 2);
    path = path_in(*state, "i");
    build_index(path, &options, ball.items, ball.count);
    unsetenv("TMPDIR");
    return failed;
}

static int free_ball_index(void **state) {
    unsetenv("TMPDIR");
    free_set(&ball);
    return remove_folder(state);
}

static void test_an_index_has_them(void **state) {
    struct idx_batch_options batch = IDX_BATCH_OPTIONS_INIT;
    struct watching at_index = {.folder = path}, elsewhere = {.folder = *state};
    struct idx_index *index = open_index(path, IDX_RESIDENCE_DIRECTORY);
    setenv("TMPDIR", path_in(*state, "missing"), 1);
    batch.memory_bytes = IDX_MIN_MEMORY_BYTES;
    assert_ok(idx_batch(index, ball.items, 500, &batch, watch_matches, &at_index, &failure));
    assert_true(at_index.most > 0);
    batch.temporary_folder = *state;
    assert_ok(idx_batch(index, ball.items, 500, &batch, watch_matches, &elsewhere, &failure));
    assert_true(elsewhere.most > 0);
    idx_close(index);
}

/* All numbers below a power of two are one cluster, with far more pairs than there is memory for. */
static void test_an_index_has_those_of_clusters(void **state) {
    struct idx_build_options building = options_for(64, 3, "4");
    struct idx_cluster_options options = IDX_CLUSTER_OPTIONS_INIT;
    const char *numbers = path_in(*state, "numbers"), *folders[] = {numbers, *state};
    static uint64_t items[1 << 16];
    for (size_t i = 0; i < LENGTH(items); i++) items[i] = i;
    building.id_type = IDX_ID_NONE;
    build_index(numbers, &building, items, LENGTH(items));
    struct idx_index *index = open_index(numbers, IDX_RESIDENCE_DIRECTORY);
    setenv("TMPDIR", path_in(*state, "missing"), 1);
    options.distance = 1;
    options.memory_bytes = IDX_MIN_MEMORY_BYTES;
    options.progress = watch_progress;
    for (size_t i = 0; i < LENGTH(folders); i++) {
        struct watching watching = {.folder = folders[i]};
        struct idx_cluster_summary summary;
        options.temporary_folder = i == 0 ? NULL : folders[i];
        options.context = &watching;
        assert_ok(idx_clusters(index, &options, ignore_member, NULL, &summary, &failure));
        assert_int_equal(summary.clusters, 1);
        assert_true(watching.most > 0);
    }
    idx_close(index);
}

static void test_a_moved_index_has_them(void **state) {
    struct idx_batch_options batch = IDX_BATCH_OPTIONS_INIT;
    struct watching watching = {.folder = path_in(*state, "moved")};
    struct idx_index *index = open_index(path, IDX_RESIDENCE_DIRECTORY);
    batch.memory_bytes = IDX_MIN_MEMORY_BYTES;
    assert_int_equal(rename(path, watching.folder), 0);
    assert_ok(idx_batch(index, ball.items, 500, &batch, watch_matches, &watching, &failure));
    assert_true(watching.most > 0);
    idx_close(index);
}

/* The folder that holds an output has what a build sorts. */
static void test_the_folder_of_an_output_has_them(void **state) {
    struct idx_build_options options = options_for(64, 3, "4");
    struct watching watching = {.folder = *state};
    struct idx_builder *builder;
    setenv("TMPDIR", path_in(*state, "missing"), 1);
    options.memory_bytes = IDX_MIN_MEMORY_BYTES;
    options.progress = watch_progress;
    options.context = &watching;
    options.id_type = IDX_ID_U64;
    assert_ok(idx_builder_open(&builder, path_in(*state, "new"), &options, &failure));
    for (uint64_t i = 0; i < 1000000; i++)
        assert_ok(idx_builder_add(builder, &(struct idx_item){.fingerprint = i, .number = i}, &failure));
    assert_ok(idx_builder_finish(builder, NULL, &failure));
    assert_true(watching.most > 0);
    idx_builder_close(builder);
}

/* Opens a stream, and returns how many files without names it has in `folder` when it visits. */
static unsigned stream_in(const char *folder) {
    struct idx_batch_options options = IDX_BATCH_OPTIONS_INIT;
    struct watching watching = {.folder = folder};
    struct idx_stream *stream;
    options.distance = 3;
    options.memory_bytes = IDX_MIN_MEMORY_BYTES;
    assert_ok(idx_stream_open(&stream, ball.items, 500, 64, &options, &failure));
    assert_ok(idx_stream_add(stream, ball.items, ball.count, &failure));
    assert_ok(idx_stream_finish(stream, watch_matches, &watching, &failure));
    idx_stream_close(stream);
    return watching.most;
}

static void test_the_system_has_them(void **state) {
    struct idx_calibration calibration = IDX_CALIBRATION_INIT;
    struct idx_batch_options options = IDX_BATCH_OPTIONS_INIT;
    struct idx_stream *stream;
    setenv("TMPDIR", *state, 1);
    assert_true(stream_in(*state) > 0);
    setenv("TMPDIR", "", 1);
    assert_true(stream_in("/tmp") > 0);
    unsetenv("TMPDIR");
    assert_true(stream_in("/tmp") > 0);
    assert_string_equal(idxi_get_system_temporary_folder(), "/tmp");
    options.distance = 3;
    setenv("TMPDIR", path_in(*state, "missing"), 1);
    assert_status(IDX_NOT_FOUND, idx_stream_open(&stream, ball.items, 500, 64, &options, &failure));
    assert_string_equal(failure.file, path_in(*state, "missing"));
    assert_status(IDX_NOT_FOUND, idx_calibrate(&calibration, NULL, &failure));
    assert_non_null(strstr(failure.sentence, "missing"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_an_index_has_them, make_ball_index, free_ball_index),
        cmocka_unit_test_setup_teardown(test_an_index_has_those_of_clusters, make_ball_index, free_ball_index),
        cmocka_unit_test_setup_teardown(test_a_moved_index_has_them, make_ball_index, free_ball_index),
        cmocka_unit_test_setup_teardown(test_the_folder_of_an_output_has_them, make_ball_index, free_ball_index),
        cmocka_unit_test_setup_teardown(test_the_system_has_them, make_ball_index, free_ball_index),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
