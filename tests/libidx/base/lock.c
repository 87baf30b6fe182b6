/* lock.c: the lock files of an index are never another file that somebody put there: nothing is written to that. */
#include "libidx/base/base.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/libidx/support.h"

static const uint64_t fingerprints[] = {1, 2};
static const char content[] = "not to be lost\n";

static void expect_whole(const char *victim) {
    size_t size;
    uint8_t *bytes = read_file(victim, &size);
    assert_int_equal(size, strlen(content));
    assert_memory_equal(bytes, content, size);
    free(bytes);
}

static void expect_refused(const char *path, const char *victim) {
    struct idx_writer *writer;
    assert_status(IDX_NO_ACCESS, idx_writer_open(&writer, path, NULL, &failure));
    assert_non_null(strstr(failure.sentence, "is a link to another file"));
    assert_status(IDX_NO_ACCESS, idx_compact(path, NULL, NULL, &failure));
    expect_whole(victim);
}

/* Makes something else of both locks. */
static void put_locks(const char *path, const char *victim, int (*put)(const char *victim, const char *lock)) {
    static const char *const names[] = {IDXI_LOCK_NAME, IDXI_COMPACT_LOCK_NAME};
    for (size_t i = 0; i < LENGTH(names); i++) {
        unlink(path_in(path, "%s", names[i]));
        assert_int_equal(put(victim, path_in(path, "%s", names[i])), 0);
    }
}

static int put_fifo(const char *victim, const char *lock) {
    (void)victim;
    return mkfifo(lock, 0666);
}

static void test_other_files(void **state) {
    const char *path = path_in(*state, "i"), *victim = path_in(*state, "victim");
    struct idx_build_options options = options_for(64, 3, "4");
    struct idx_builder *builder;
    options.replace = true;
    build_index(path, &options, fingerprints, LENGTH(fingerprints));
    write_file(victim, content, strlen(content));
    put_locks(path, victim, symlink);
    expect_refused(path, victim);
    put_locks(path, victim, put_fifo);
    expect_refused(path, victim);
    put_locks(path, victim, link);
    expect_refused(path, victim);
    assert_ok(idx_builder_open(&builder, path, &options, &failure)); /* there can be no writer, then */
    assert_ok(idx_builder_finish(builder, NULL, &failure));
    idx_builder_close(builder);
    expect_whole(victim);
}

int main(void) {
    const struct CMUnitTest tests[] = {in_folder(test_other_files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
