/* descriptors.c: what needs file descriptors where there are few: verifying takes no more for more tables, and what
 * fails for want of one leaves nothing behind. */
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/libidx/support.h"

static const uint64_t fingerprints[] = {1, 2, 3, 1000};

static struct rlimit limit;

/* Leaves `count` descriptors to be opened. */
static void leave(unsigned count) {
    struct rlimit lower = limit;
    int next = open("/dev/null", O_RDONLY);
    assert_true(next >= 0);
    close(next);
    lower.rlim_cur = (rlim_t)next + count;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &lower), 0);
}

static void leave_all(void) { assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0); }

static void test_verifying_many_tables(void **state) {
    const char *parts[] = {path_in(*state, "a"), path_in(*state, "b"), path_in(*state, "c")};
    const char *path = path_in(*state, "i");
    struct idx_build_options options = options_for(64, 3, "20");
    for (size_t i = 0; i < LENGTH(parts); i++) build_index(parts[i], &options, fingerprints, LENGTH(fingerprints));
    join_indexes(path, parts, LENGTH(parts));
    leave(6);
    enum idx_status status = idx_verify(path, NULL, NULL, &failure);
    leave_all();
    assert_status(IDX_OK, status);
}

/* Returns how many descriptors a build took. */
static unsigned build_with_few(const char *folder, const char *path) {
    for (unsigned count = 0; count < 50; count++) {
        struct idx_builder *builder = NULL;
        leave(count);
        enum idx_status status = idx_builder_open(&builder, path, NULL, &failure);
        if (status == IDX_OK)
            status =
                idx_builder_add(builder, &(struct idx_item){.fingerprint = 1, .id = "a", .id_length = 1}, &failure);
        if (status == IDX_OK) status = idx_builder_finish(builder, NULL, &failure);
        idx_builder_close(builder);
        leave_all();
        if (status == IDX_OK) return count;
        assert_status(IDX_IO_ERROR, status);
        if (count_entries(folder) != 0) fail_msg("%u descriptors: something is left", count);
    }
    fail();
    return 0;
}

static void test_building(void **state) {
    const char *path = path_in(*state, "i");
    assert_in_range(build_with_few(*state, path), 5, 20);
    assert_ok(idx_verify(path, NULL, NULL, &failure));
}

/* A compaction that fails leaves the segments that there were. */
static void test_compacting(void **state) {
    const char *path = path_in(*state, "i");
    const struct idx_item item = {.fingerprint = 5, .id = "e", .id_length = 1};
    struct idx_writer *writer;
    enum idx_status status = IDX_IO_ERROR;
    build_index(path, NULL, fingerprints, LENGTH(fingerprints));
    assert_ok(idx_writer_open(&writer, path, NULL, &failure));
    assert_ok(idx_writer_add(writer, &item, 1, &failure));
    idx_writer_close(writer);
    int entries = count_entries(path) + 1; /* with compact.lock */
    for (unsigned count = 0; count < 50 && status != IDX_OK; count++) {
        leave(count);
        status = idx_compact(path, NULL, NULL, &failure);
        leave_all();
        if (status != IDX_OK) assert_in_range(count_entries(path), entries - 1, entries);
    }
    assert_status(IDX_OK, status);
    assert_ok(idx_verify(path, NULL, NULL, &failure));
}

static int note_limit(void **state) {
    (void)state;
    return getrlimit(RLIMIT_NOFILE, &limit);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        in_folder(test_verifying_many_tables),
        in_folder(test_building),
        in_folder(test_compacting),
    };
    return cmocka_run_group_tests(tests, note_limit, NULL);
}
