/* estimate.c: tests of what a build is said to take, against what builds took: the index, the temporary files at their
 * largest, and both together. The clock is made to run so fast that the build tells of itself at every step; then its
 * files are measured. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "tests/libidx/sets.h"
#include "tests/libidx/support.h"

/* ---- The clock ---- */

static long ticks;

int __wrap_clock_gettime(clockid_t clock, struct timespec *time);
int __real_clock_gettime(clockid_t clock, struct timespec *time);

int __wrap_clock_gettime(clockid_t clock, struct timespec *time) {
    if (clock != CLOCK_MONOTONIC) return __real_clock_gettime(clock, time);
    *time = (struct timespec){++ticks, 0};
    return 0;
}

/* ---- Measuring ---- */

/* What a build took at its largest, so far. */
struct taken {
    const char *folder; /* the index and its temporary folder are made in */
    uint64_t temporary_bytes, all_bytes;
};

/* Bytes on disk of the files without name that this process has open. */
static uint64_t measure_nameless(void) {
    DIR *folder = opendir("/proc/self/fd");
    uint64_t bytes = 0;
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        struct stat status;
        bool counts = fstat(atoi(entry->d_name), &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink == 0;
        if (counts) bytes += (uint64_t)status.st_blocks * 512;
    }
    closedir(folder);
    return bytes;
}

/* Bytes on disk of all files in a folder and below. */
static uint64_t measure_folder(const char *path) {
    char inner[512];
    uint64_t bytes = 0;
    DIR *folder = opendir(path);
    if (folder == NULL) return 0;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        struct stat status;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        assert_true((size_t)snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name) < sizeof inner);
        if (lstat(inner, &status) == 0 && S_ISREG(status.st_mode)) bytes += (uint64_t)status.st_blocks * 512;
        if (S_ISDIR(status.st_mode)) bytes += measure_folder(inner);
    }
    closedir(folder);
    return bytes;
}

static bool measure(void *context, const struct idx_progress *progress) {
    struct taken *taken = context;
    uint64_t temporary = measure_nameless(), all = temporary + measure_folder(taken->folder);
    (void)progress;
    if (temporary > taken->temporary_bytes) taken->temporary_bytes = temporary;
    if (all > taken->all_bytes) taken->all_bytes = all;
    return true;
}

/* ---- Builds ---- */

#define ID_BYTES 8 /* of a text ID: noise, that nothing can be saved of */

enum { SKETCH = 8 };

static void add_text(struct idx_builder *builder, uint64_t id, uint64_t *seed) {
    uint64_t members[SKETCH];
    struct idx_item item = {.id = &id, .id_length = ID_BYTES};
    struct idx_set set = {members, SKETCH};
    for (size_t i = 0; i < SKETCH; i++) members[i] = next_random(seed);
    qsort(members, SKETCH, sizeof *members, compare_numbers);
    assert_ok(idx_builder_add_text(builder, &item, &set, &failure));
}

static struct idx_build_summary build(const char *path, const struct idx_build_options *options, size_t count) {
    struct idx_builder *builder;
    struct idx_build_summary summary;
    uint64_t seed = 1;
    assert_ok(idx_builder_open(&builder, path, options, &failure));
    for (size_t i = 0; i < count; i++) {
        uint64_t fingerprint = next_random(&seed) & all_ones(options->bits), id = next_random(&seed);
        if (options->sketch > 0)
            add_text(builder, id, &seed);
        else if (options->id_type == IDX_ID_TEXT)
            assert_ok(idx_builder_add(
                builder, &(struct idx_item){.fingerprint = fingerprint, .id = &id, .id_length = ID_BYTES}, &failure));
        else
            assert_ok(idx_builder_add(builder, &(struct idx_item){.fingerprint = fingerprint, .number = id}, &failure));
    }
    assert_ok(idx_builder_finish(builder, &summary, &failure));
    idx_builder_close(builder);
    return summary;
}

static void assert_near(const char *what, double found, double estimated, double least, double most) {
    if (estimated < found * least || estimated > found * most)
        fail_msg("%s: %g estimated, %g found", what, estimated, found);
}

static void compare(const char *folder, const struct idx_build_options *given, size_t count) {
    struct idx_build_options options = *given;
    struct taken taken = {.folder = folder};
    struct idx_build_estimate estimate;
    const char *path = path_in(folder, "index");
    options.progress = measure;
    options.context = &taken;
    assert_ok(idx_estimate_build(&options, count, &estimate, &failure));
    struct idx_build_summary made = build(path, &options, count);
    uint64_t ids = options.id_type == IDX_ID_TEXT ? count * ID_BYTES : 0, not_counted = ids + made.sets_bytes;
    uint64_t index =
        made.table_bytes + made.by_id_bytes + (options.id_type == IDX_ID_NONE ? 0 : made.documents_bytes - ids);
    assert_int_equal(estimate.memory_bytes, options.memory_bytes);
    assert_near("index", (double)index, (double)estimate.index_bytes, 0.9, 1.1);
    if (made.temporary_bytes == 0)
        assert_int_equal(estimate.temporary_bytes, 0);
    else
        assert_near("temporary", (double)taken.temporary_bytes, (double)estimate.temporary_bytes, 1, 2);
    assert_near("peak", (double)(taken.all_bytes - not_counted), (double)estimate.peak_bytes, 1, 2);
    remove_all(path);
}

static void test_estimates(void **state) {
    static const struct {
        unsigned bits, k;
        const char *scheme;
        enum idx_id_type id_type;
        bool by_id;
        unsigned sketch;
    } makes[] = {
        {64, 3, "auto", IDX_ID_TEXT, false, 0}, {64, 3, "4", IDX_ID_U64, false, 0},
        {64, 3, "5:2", IDX_ID_NONE, false, 0},  {64, 3, "2:1:1", IDX_ID_TEXT, false, 0},
        {48, 2, "3:1", IDX_ID_U64, false, 0},   {64, 1, "2:1", IDX_ID_U64, true, 0},
        {48, 3, "4", IDX_ID_TEXT, true, 0},     {64, 0, "auto", IDX_ID_TEXT, false, SKETCH},
    };
    static const uint64_t memories[] = {(uint64_t)4 << 20, (uint64_t)16 << 20, (uint64_t)1 << 30};
    size_t trials = LENGTH(makes) * LENGTH(memories);
    for (size_t i = 0; i < (is_sanitized() ? 1 : 2) * trials; i++) {
        size_t make = i % LENGTH(makes), count = i < trials ? 100000 : 1000000;
        struct idx_build_options options = options_for(makes[make].bits, makes[make].k, makes[make].scheme);
        options.id_type = makes[make].id_type;
        options.by_id = makes[make].by_id;
        options.sketch = makes[make].sketch;
        if (options.sketch > 0) count /= SKETCH;
        options.memory_bytes = memories[i / LENGTH(makes) % LENGTH(memories)];
        options.threads = 1 + (unsigned)(i / LENGTH(makes) + make + 1) % 2;
        if (i < trials || options.memory_bytes < memories[2]) compare(*state, &options, count);
    }
}

/* ---- Options ---- */

static void test_options(void **state) {
    struct idx_build_options options = options_for(64, 3, "5");
    struct idx_build_estimate estimate;
    (void)state;
    assert_status(IDX_BAD_SCHEME, idx_estimate_build(&options, 1000, &estimate, &failure));
    options.scheme = "2";
    assert_status(IDX_BAD_SCHEME, idx_estimate_build(&options, 1000, &estimate, &failure));
    options.scheme = "2:1";
    assert_status(IDX_WEAK_SCHEME, idx_estimate_build(&options, 1000, &estimate, &failure));
    options = options_for(65, 3, "4");
    assert_status(IDX_INVALID_ARGUMENT, idx_estimate_build(&options, 1000, &estimate, &failure));
    options = options_for(64, 3, "4");
    options.threads = 0;
    assert_status(IDX_INVALID_ARGUMENT, idx_estimate_build(&options, 1000, &estimate, &failure));
    options.threads = 1;
    options.block_size = 65;
    assert_status(IDX_INVALID_ARGUMENT, idx_estimate_build(&options, 1000, &estimate, &failure));
    options.block_size = 64;
    options.memory_bytes = IDX_MIN_MEMORY_BYTES - 1;
    assert_status(IDX_INVALID_ARGUMENT, idx_estimate_build(&options, 1000, &estimate, &failure));
    assert_ok(idx_estimate_build(NULL, 1000, &estimate, &failure));
    assert_true(estimate.memory_bytes >= IDX_MIN_MEMORY_BYTES);
}

/* No documents, and more than there can be. */
static void test_ends(void **state) {
    struct idx_build_options options = options_for(64, 3, "4");
    struct idx_build_estimate none, most;
    (void)state;
    options.memory_bytes = IDX_MIN_MEMORY_BYTES;
    assert_ok(idx_estimate_build(&options, 0, &none, &failure));
    assert_int_equal(none.temporary_bytes, 0);
    assert_true(none.index_bytes > 0 && none.index_bytes < 1 << 16);
    assert_ok(idx_estimate_build(&options, UINT64_MAX, &most, &failure));
    assert_true(most.peak_bytes == UINT64_MAX && most.index_bytes > UINT64_C(1) << 60);
    options.scheme = "auto";
    assert_ok(idx_estimate_build(&options, UINT64_MAX, &most, &failure));
    assert_int_equal(most.peak_bytes, UINT64_MAX);
    options = options_for(1, 0, "auto"); /* more documents than fingerprints */
    assert_ok(idx_estimate_build(&options, 1000000, &most, &failure));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        in_folder(test_estimates),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
