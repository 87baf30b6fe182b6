/* forked.c: a process that is forked while a writer or a builder is open frees its copies, and the other goes on; one
 * that is forked while the manifest is changed keeps nothing. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libidx/base/lock.h"
#include "libidx/segment/manifest_file.h"
#include "tests/libidx/support.h"

static const uint64_t fingerprints[] = {1, 2, 3, 4};
static const struct idx_item item = {.fingerprint = 5, .id = "e", .id_length = 1};

/* What a forked process does with what it inherited; returns 0 where all was as it should be. */
typedef int (*inheritance)(void *inherited);

static void fork_and_expect(inheritance use, void *inherited) {
    int status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) _exit(use(inherited));
    assert_true(waitpid(child, &status, 0) == child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* ---- A writer ---- */

static int use_writer(void *inherited) {
    struct idx_writer *writer = inherited;
    if (idx_writer_add(writer, &item, 1, &failure) != IDX_INVALID_ARGUMENT) return 1;
    if (idx_writer_wait(writer, &failure) != IDX_INVALID_ARGUMENT) return 2;
    idx_writer_close(writer);
    return 0;
}

static void expect_busy(const char *path) {
    struct idx_writer *other;
    char holder[32];
    assert_status(IDX_BUSY, idx_writer_open(&other, path, NULL, &failure));
    snprintf(holder, sizeof holder, "by process %ld on", (long)getpid());
    assert_non_null(strstr(failure.sentence, holder));
}

static void test_writer(void **state) {
    const char *path = path_in(*state, "i");
    struct idx_writer *writer;
    build_index(path, NULL, fingerprints, LENGTH(fingerprints));
    assert_ok(idx_writer_open(&writer, path, NULL, &failure));
    fork_and_expect(use_writer, writer);
    expect_busy(path);
    assert_ok(idx_writer_add(writer, &item, 1, &failure));
    idx_writer_close(writer);
    assert_ok(idx_writer_open(&writer, path, NULL, &failure));
    idx_writer_close(writer);
}

/* ---- A writer that compacts ---- */

struct gate {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool reached, open;
};

/* Holds the compaction up until the gate is open. */
static bool wait_at(void *context, const struct idx_progress *progress) {
    struct gate *gate = context;
    (void)progress;
    pthread_mutex_lock(&gate->mutex);
    gate->reached = true;
    pthread_cond_broadcast(&gate->changed);
    while (!gate->open) pthread_cond_wait(&gate->changed, &gate->mutex);
    pthread_mutex_unlock(&gate->mutex);
    return true;
}

static void await_gate(struct gate *gate) {
    pthread_mutex_lock(&gate->mutex);
    while (!gate->reached) pthread_cond_wait(&gate->changed, &gate->mutex);
    pthread_mutex_unlock(&gate->mutex);
}

static void open_gate(struct gate *gate) {
    pthread_mutex_lock(&gate->mutex);
    gate->open = true;
    pthread_cond_broadcast(&gate->changed);
    pthread_mutex_unlock(&gate->mutex);
}

static void test_compacting_writer(void **state) {
    struct gate gate = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, false};
    const char *path = path_in(*state, "i");
    struct idx_writer_options options = IDX_WRITER_OPTIONS_INIT;
    struct idx_writer *writer;
    options.compact_records = 1;
    options.progress = wait_at;
    options.context = &gate;
    build_index(path, NULL, fingerprints, LENGTH(fingerprints));
    assert_ok(idx_writer_open(&writer, path, &options, &failure));
    for (unsigned i = 0; i < 2; i++) assert_ok(idx_writer_add(writer, &item, 1, &failure));
    await_gate(&gate);
    fork_and_expect(use_writer, writer);
    assert_status(IDX_BUSY, idx_compact(path, NULL, NULL, &failure));
    expect_busy(path);
    open_gate(&gate);
    assert_ok(idx_writer_wait(writer, &failure));
    idx_writer_close(writer);
    assert_ok(idx_verify(path, NULL, NULL, &failure));
}

/* ---- A builder ---- */

/* Whether additions end with IDX_INVALID_ARGUMENT, `most` of them at the latest. */
static bool is_refused(struct idx_builder *builder, size_t most, const void *id, size_t length) {
    enum idx_status status = IDX_OK;
    for (size_t i = 0; i < most && status == IDX_OK; i++)
        status =
            idx_builder_add(builder, &(struct idx_item){.fingerprint = 3, .id = id, .id_length = length}, &failure);
    idx_builder_close(builder);
    return status == IDX_INVALID_ARGUMENT;
}

static int add_many(void *inherited) { return is_refused(inherited, 5000, "c", 1) ? 0 : 1; }

/* More than one transaction of the document map. */
static int add_large(void *inherited) {
    static char id[1 << 20];
    return is_refused(inherited, 40, id, sizeof id) ? 0 : 1;
}

static int use_builder(void *inherited) {
    struct idx_builder *builder = inherited;
    if (idx_builder_finish(builder, NULL, &failure) != IDX_INVALID_ARGUMENT) return 1;
    idx_builder_close(builder);
    return 0;
}

static void test_builder(void **state) {
    const char *path = path_in(*state, "i");
    struct idx_builder *builder;
    assert_ok(idx_builder_open(&builder, path, NULL, &failure));
    assert_ok(idx_builder_add(builder, &(struct idx_item){.fingerprint = 1, .id = "a", .id_length = 1}, &failure));
    fork_and_expect(use_builder, builder);
    fork_and_expect(add_many, builder);
    fork_and_expect(add_large, builder);
    assert_ok(idx_builder_add(builder, &(struct idx_item){.fingerprint = 2, .id = "b", .id_length = 1}, &failure));
    assert_ok(idx_builder_finish(builder, NULL, &failure));
    idx_builder_close(builder);
    assert_ok(idx_verify(path, NULL, NULL, &failure));
}

/* ---- A change of the manifest ---- */

struct lasting_child {
    int go_on[2]; /* a pipe: the child lasts until its other end is closed */
    pid_t process;
};

static void fork_meanwhile(void *context, struct idxf_manifest *manifest) {
    struct lasting_child *child = context;
    char byte;
    (void)manifest;
    child->process = fork();
    if (child->process != 0) return;
    close(child->go_on[1]);
    _exit((int)read(child->go_on[0], &byte, 1));
}

/* A process that is forked while the manifest is changed does not keep its lock, which others wait for. */
static void test_manifest(void **state) {
    const char *path = path_in(*state, "i");
    struct lasting_child child;
    bool switched;
    build_index(path, NULL, fingerprints, LENGTH(fingerprints));
    assert_int_equal(pipe(child.go_on), 0);
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_ok(idxi_manifest_switch(folder, path, fork_meanwhile, &child, &switched, &failure));
    int lock = openat(folder, IDXI_MANIFEST_LOCK_NAME, O_RDWR | O_CLOEXEC);
    int locked = flock(lock, LOCK_EX | LOCK_NB);
    close(child.go_on[0]);
    close(child.go_on[1]);
    assert_true(waitpid(child.process, NULL, 0) == child.process);
    assert_int_equal(locked, 0);
    close(lock);
    close(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        in_folder(test_writer),
        in_folder(test_compacting_writer),
        in_folder(test_builder),
        in_folder(test_manifest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
