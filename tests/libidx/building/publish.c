/* publish.c: tests of temporary folders: which of them are killed builds' and removed, and builds of one path at a
 * time.
 */

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libidx/building/publish.h"
#include "tests/libidx/support.h"

/* What a build that was killed early leaves in its folder. */
static void fill(const char *path) {
    assert_int_equal(mkdir(path_in(path, "000001"), 0777), 0);
    write_file(path_in(path, "000001/table-00.tbl"), "x", 1);
    write_file(path_in(path, "manifest"), "idx", 3);
}

static void make_tree(const char *path) {
    assert_int_equal(mkdir(path, 0777), 0);
    fill(path);
}

static struct idxi_publication open_publication(const char *path, bool replace) {
    struct idxi_publication publication;
    assert_ok(idxi_publication_open(&publication, path, replace, &failure));
    return publication;
}

/* Opens and closes a publication; returns how many leftovers it found. */
static size_t clean(const char *path) {
    struct idxi_publication publication = open_publication(path, false);
    size_t leftovers = publication.leftovers;
    idxi_publication_close(&publication);
    return leftovers;
}

static void expect_there(const char *path, bool expected) {
    struct stat status;
    if ((lstat(path, &status) == 0) != expected) fail_msg("%s: %s", path, expected ? "gone" : "still there");
}

static void test_leftovers_are_removed(void **state) {
    const char *path = path_in(*state, "i");
    assert_int_equal(clean(path), 0);
    make_tree(path_in(*state, ".i.tmp-00000000"));
    make_tree(path_in(*state, ".i.tmp-fedcba98"));
    assert_int_equal(mkdir(path_in(*state, ".i.tmp-12345678"), 0777), 0);
    assert_int_equal(clean(path), 3);
    assert_int_equal(count_entries(*state), 0);
}

static void test_nothing_else_is_removed(void **state) {
    static const char *const folders[] = {
        "i.tmp-00000000",   ".i.tmp-0000000",   ".i.tmp-000000000", ".i.tmp-0000000A", ".i.tmp-0000000g",
        ".ii.tmp-00000000", ".x.i.tmp-0000000", ".tmp-00000000",    "elsewhere",       ".i.tmp-00000000.tmp-00000000",
    };
    for (size_t i = 0; i < LENGTH(folders); i++) make_tree(path_in(*state, "%s", folders[i]));
    assert_int_equal(symlink("elsewhere", path_in(*state, ".i.tmp-11111111")), 0);
    write_file(path_in(*state, ".i.tmp-22222222"), "x", 1);
    assert_int_equal(clean(path_in(*state, "i")), 0);
    assert_int_equal(count_entries(*state), LENGTH(folders) + 2);
    for (size_t i = 0; i < LENGTH(folders); i++) assert_int_equal(count_entries(path_in(*state, "%s", folders[i])), 2);
}

/* Of a user, under a name as builds give, with all that it holds. */
static void test_folders_of_users_stay(void **state) {
    static const char *const files[] = {
        "notes.txt",          "000001/photo.jpg", "000001/000002/docs.mdb", "2024/docs.mdb",
        "docs.mdb",           "manifest.txt",     "000001/manifest",        ".hidden",
        "000001/table-0.tbl", "table-00.tbl",     "000001/table-00.tbl.bak"};
    for (size_t i = 0; i < LENGTH(files); i++) {
        char *path = strdup(path_in(*state, ".i.tmp-%08zx/%s", i, files[i]));
        for (char *slash = path + strlen(*state) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
            *slash = '\0';
            if (strstr(path, ".tmp-") != NULL) mkdir(path, 0777);
            *slash = '/';
        }
        write_file(path, "x", 1);
        free(path);
    }
    make_tree(path_in(*state, ".i.tmp-a0000000"));
    write_file(path_in(*state, ".i.tmp-a0000000/manifest"), "list of goods", 13);
    make_tree(path_in(*state, ".i.tmp-a0000001"));
    assert_int_equal(symlink("nowhere", path_in(*state, ".i.tmp-a0000001/pending.log")), 0);
    make_tree(path_in(*state, ".i.tmp-a0000002"));
    assert_int_equal(mkfifo(path_in(*state, ".i.tmp-a0000002/000001/docs.mdb"), 0600), 0);
    assert_int_equal(clean(path_in(*state, "i")), 0);
    assert_int_equal(count_entries(*state), LENGTH(files) + 3);
    for (size_t i = 0; i < LENGTH(files); i++) expect_there(path_in(*state, ".i.tmp-%08zx/%s", i, files[i]), true);
    assert_int_equal(count_entries(path_in(*state, ".i.tmp-a0000002/000001")), 2);
}

/* An index that was replaced, by a build that was killed before it removed it. */
static void test_a_replaced_index_is_removed(void **state) {
    const char *path = path_in(*state, ".i.tmp-00000000");
    struct idx_build_options options = IDX_BUILD_OPTIONS_INIT;
    struct idx_item item = {.fingerprint = 5, .id = "e", .id_length = 1};
    struct idx_writer *writer;
    options.by_id = true;
    build_index(path, &options, NULL, 0);
    assert_ok(idx_writer_open(&writer, path, NULL, &failure));
    assert_ok(idx_writer_add(writer, &item, 1, &failure));
    idx_writer_close(writer);
    assert_ok(idx_compact(path, NULL, NULL, &failure));
    assert_ok(idx_writer_open(&writer, path, NULL, &failure));
    assert_ok(remove_by_fingerprint(writer, &item.fingerprint, 1, NULL, &failure));
    idx_writer_close(writer);
    assert_int_equal(clean(path_in(*state, "i")), 1);
    assert_int_equal(count_entries(*state), 0);
}

static void test_locked_folders_stay(void **state) {
    const char *locked = path_in(*state, ".i.tmp-00000000");
    make_tree(locked);
    int folder = open(locked, O_RDONLY | O_DIRECTORY);
    assert_int_equal(flock(folder, LOCK_EX), 0);
    assert_int_equal(clean(path_in(*state, "i")), 0);
    assert_int_equal(count_entries(locked), 2);
    close(folder);
    assert_int_equal(clean(path_in(*state, "i")), 1);
    assert_int_equal(count_entries(*state), 0);
}

/* More than one look removes are not forgotten. */
static void test_many_leftovers(void **state) {
    size_t removed = 0;
    for (unsigned i = 0; i < 150; i++) make_tree(path_in(*state, ".i.tmp-%08x", i));
    while (count_entries(*state) > 0) {
        size_t more = clean(path_in(*state, "i"));
        assert_true(more > 0);
        removed += more;
    }
    assert_int_equal(removed, 150);
}

/* ---- Builds that are alive, and killed ones ---- */

static void test_a_living_build_keeps_its_folder(void **state) {
    const char *path = path_in(*state, "i");
    struct idxi_publication first = open_publication(path, false);
    write_file(path_in(first.temporary, "x"), "x", 1);
    struct idxi_publication second = open_publication(path, false);
    assert_int_equal(second.leftovers, 0);
    assert_int_equal(count_entries(first.temporary), 1);
    assert_int_equal(count_entries(*state), 2);
    assert_ok(idxi_publish(&first, &failure));
    assert_status(IDX_EXISTS, idxi_publish(&second, &failure));
    idxi_publication_close(&second);
    expect_there(path_in(path, "x"), true);
    assert_int_equal(count_entries(*state), 1);
    idxi_publication_close(&first);
    assert_int_equal(count_entries(path), 1);
}

/* Runs in a process that is killed with its publication open. */
static void open_and_die(const char *path) {
    pid_t child = fork();
    int status;
    assert_true(child >= 0);
    if (child == 0) {
        struct idxi_publication publication;
        if (idxi_publication_open(&publication, path, true, NULL) != IDX_OK) _exit(1);
        if (mkdir(path_in(publication.temporary, "000001"), 0777) != 0) _exit(1);
        raise(SIGKILL);
    }
    assert_true(waitpid(child, &status, 0) == child);
    assert_true(WIFSIGNALED(status));
}

static void test_a_killed_build_is_cleaned_up_after(void **state) {
    const char *path = path_in(*state, "i");
    build_index(path, NULL, NULL, 0);
    for (int i = 0; i < 3; i++) {
        open_and_die(path);
        assert_int_equal(count_entries(*state), 2);
    }
    struct idx_build_options options = IDX_BUILD_OPTIONS_INIT;
    options.replace = true;
    build_index(path, &options, NULL, 0);
    assert_int_equal(count_entries(*state), 1);
    assert_ok(idx_verify(path, NULL, NULL, &failure));
}

/* What nobody can remove is no reason to fail, nor to go round and round. */
static void test_leftovers_that_can_not_be_removed(void **state) {
    const char *left = path_in(*state, ".i.tmp-00000000");
    pid_t child;
    int status;
    make_tree(left);
    if (geteuid() != 0) skip();
    assert_int_equal(chmod(*state, 0777), 0);
    if ((child = fork()) == 0) {
        struct idxi_publication publication;
        if (setgid(65534) != 0 || setuid(65534) != 0) _exit(2);
        bool right = idxi_publication_open(&publication, path_in(*state, "i"), false, NULL) == IDX_OK &&
                     publication.leftovers == 0 && idxi_publish(&publication, NULL) == IDX_OK;
        _exit(right ? 0 : 1);
    }
    assert_true(waitpid(child, &status, 0) == child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_int_equal(count_entries(*state), 2);
    assert_int_equal(clean(path_in(*state, "j")), 0);
    assert_int_equal(rmdir(path_in(*state, "i")), 0);
    assert_int_equal(clean(path_in(*state, "i")), 1);
}

/* A folder in which one may make folders, and not see which there are. */
static void test_a_folder_that_may_not_be_read(void **state) {
    pid_t child;
    int status;
    if (geteuid() != 0) skip();
    assert_int_equal(chmod(*state, 0733), 0);
    if ((child = fork()) == 0) {
        struct idxi_publication publication;
        if (setgid(65534) != 0 || setuid(65534) != 0) _exit(2);
        _exit(idxi_publication_open(&publication, path_in(*state, "i"), false, NULL) == IDX_OK &&
                      idxi_publish(&publication, NULL) == IDX_OK
                  ? 0
                  : 1);
    }
    assert_true(waitpid(child, &status, 0) == child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    expect_there(path_in(*state, "i"), true);
    assert_int_equal(count_entries(*state), 1);
}

/* ---- Between two calls ---- */

/* What another process does just before a call of ours: see CMakeLists.txt. */
static void (*before_flock)(int folder), (*before_unlinkat)(void);
static bool locks_reach = true;

int __real_flock(int folder, int operation);
int __wrap_flock(int folder, int operation);
int __wrap_flock(int folder, int operation) {
    void (*before)(int) = before_flock;
    before_flock = NULL;
    if (before != NULL) before(folder);
    return locks_reach ? __real_flock(folder, operation) : 0;
}

int __real_unlinkat(int folder, const char *name, int flags);
int __wrap_unlinkat(int folder, const char *name, int flags);
int __wrap_unlinkat(int folder, const char *name, int flags) {
    void (*before)(void) = before_unlinkat;
    before_unlinkat = NULL;
    if (before != NULL) before();
    return __real_unlinkat(folder, name, flags);
}

static void remove_opened(int folder) {
    char path[PATH_MAX] = "";
    assert_true(readlink(path_in("/proc/self/fd", "%d", folder), path, sizeof path - 1) > 0);
    remove_all(path);
}

static void replace_opened(int folder) {
    char path[PATH_MAX] = "";
    assert_true(readlink(path_in("/proc/self/fd", "%d", folder), path, sizeof path - 1) > 0);
    assert_int_equal(rename(path, path_in(path, "../aside")), 0);
    make_tree(path);
}

static int lock_held = -1;

static void lock_opened(int folder) {
    lock_held = open(path_in("/proc/self/fd", "%d", folder), O_RDONLY | O_DIRECTORY);
    assert_int_equal(__real_flock(lock_held, LOCK_EX | LOCK_NB), 0);
}

/* Our new folder, before it is locked: taken by another that looks for leftovers, and being removed or gone. */
static void test_another_takes_the_new_folder(void **state) {
    static void (*const others[])(int) = {remove_opened, replace_opened, lock_opened};
    const char *path = path_in(*state, "i");
    for (size_t i = 0; i < LENGTH(others); i++) {
        before_flock = others[i];
        struct idxi_publication publication = open_publication(path, false);
        assert_null(before_flock);
        assert_int_equal(count_entries(publication.temporary), 0);
        assert_int_equal(count_entries(*state), i == 1 ? 3 : 1);
        assert_ok(idxi_publish(&publication, &failure));
        idxi_publication_close(&publication);
        expect_there(path, true);
        assert_int_equal(rmdir(path), 0);
        assert_int_equal(clean(path), i == 1);
        remove_all(path_in(*state, "aside"));
    }
    close(lock_held);
}

static struct idxi_publication alive;
static enum idx_status publishes;
static void publish_alive(void) { publishes = idxi_publish(&alive, &failure); }

/* Another machine sees no lock, and takes a living build's folder for a leftover: the build fails, and publishes no
 * folder that is half removed. */
static void test_a_build_that_loses_its_folder(void **state) {
    const char *path = path_in(*state, "i");
    locks_reach = false;
    alive = open_publication(path, false);
    fill(alive.temporary);
    before_unlinkat = publish_alive;
    assert_int_equal(clean(path), 1);
    locks_reach = true;
    assert_null(before_unlinkat);
    assert_status(IDX_NOT_FOUND, publishes);
    idxi_publication_close(&alive);
    assert_int_equal(count_entries(*state), 0);
}

/* ---- Names ---- */

static void test_long_names(void **state) {
    char name[NAME_MAX + 1], others[NAME_MAX + 1];
    for (size_t length = 235; length <= NAME_MAX; length++) {
        memset(name, 'a', length);
        name[length] = '\0';
        memcpy(others, name, sizeof others);
        others[length - 1] = 'b';
        const char *path = path_in(*state, "%s", name);
        open_and_die(path);
        assert_int_equal(clean(path_in(*state, "%s", others)), 0);
        assert_int_equal(count_entries(*state), 1);
        struct idxi_publication publication = open_publication(path, false);
        assert_int_equal(publication.leftovers, 1);
        assert_ok(idxi_publish(&publication, &failure));
        idxi_publication_close(&publication);
        assert_int_equal(count_entries(*state), 1);
        assert_int_equal(rmdir(path), 0);
    }
}

/* Where a long name is cut, no character is. */
static void test_long_names_in_utf8(void **state) {
    for (int before = 0; before < 4; before++) {
        char name[NAME_MAX + 1] = "aaa";
        for (int i = 0; i < 60; i++) memcpy(name + before + 4 * i, "\360\237\214\262", 5);
        memset(name + before + 240, 'a', 10);
        struct idxi_publication publication = open_publication(path_in(*state, "%s", name), false);
        const char *temporary = strrchr(publication.temporary, '/') + 1, *hash = strrchr(temporary, '.') - 17;
        assert_int_equal(*hash, '-');
        assert_int_equal((hash - temporary - 1 - before) % 4, 0);
        assert_memory_equal(temporary + 1, name, (size_t)(hash - temporary - 1));
        idxi_publication_close(&publication);
    }
}

static void test_names_that_are_too_long(void **state) {
    char name[NAME_MAX + 2];
    struct idxi_publication publication;
    memset(name, 'a', NAME_MAX + 1);
    name[NAME_MAX + 1] = '\0';
    assert_status(IDX_IO_ERROR, idxi_publication_open(&publication, path_in(*state, "%s", name), false, &failure));
    idxi_publication_close(&publication);
    assert_int_equal(count_entries(*state), 0);
}

/* ---- At the same time ---- */

#define BUILDERS 4

/* Publishes a folder that holds a file of one letter in each of two places, again and again. Exit status 0: all went
 * well. */
static int publish_on(const char *path, char letter, size_t rounds) {
    for (size_t i = 0; i < rounds; i++) {
        struct idxi_publication publication;
        if (idxi_publication_open(&publication, path, true, &failure) != IDX_OK) break;
        for (int place = 0; place < 2; place++) {
            char *file, text[] = "idx-index ?\n";
            if (asprintf(&file, "%s/%s", publication.temporary, place == 0 ? "manifest" : "pending.log") < 0) return 2;
            text[10] = letter;
            FILE *stream = fopen(file, "w");
            if (stream == NULL || fputs(text, stream) < 0 || fclose(stream) != 0) return 3;
            free(file);
        }
        enum idx_status status = idxi_publish(&publication, &failure);
        idxi_publication_close(&publication);
        if (status != IDX_OK) break;
        failure.sentence[0] = '\0';
        if (i + 1 == rounds) return 0;
    }
    print_error("builder %c: %s\n", letter, failure.sentence);
    return 1;
}

/* Each finds the folders of others in every state: new and not locked yet, locked, exchanged, half removed. */
static void test_many_builds_at_a_time(void **state) {
    const char *path = path_in(*state, "i");
    pid_t builders[BUILDERS];
    size_t rounds = is_sanitized() ? 200 : 1000, size, other_size;
    for (int i = 0; i < BUILDERS; i++) {
        builders[i] = fork();
        assert_true(builders[i] >= 0);
        if (builders[i] == 0) _exit(publish_on(path, (char)('a' + i), rounds));
    }
    for (int i = 0; i < BUILDERS; i++) {
        int status;
        assert_true(waitpid(builders[i], &status, 0) == builders[i]);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
    assert_int_equal(count_entries(*state), 1);
    assert_int_equal(count_entries(path), 2);
    uint8_t *manifest = read_file(path_in(path, "manifest"), &size);
    uint8_t *other = read_file(path_in(path, "pending.log"), &other_size);
    assert_int_equal(size, 12);
    assert_string_equal((char *)manifest, (char *)other);
    free(manifest);
    free(other);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        in_folder(test_leftovers_are_removed),
        in_folder(test_nothing_else_is_removed),
        in_folder(test_folders_of_users_stay),
        in_folder(test_a_replaced_index_is_removed),
        in_folder(test_locked_folders_stay),
        in_folder(test_many_leftovers),
        in_folder(test_a_living_build_keeps_its_folder),
        in_folder(test_a_killed_build_is_cleaned_up_after),
        in_folder(test_leftovers_that_can_not_be_removed),
        in_folder(test_a_folder_that_may_not_be_read),
        in_folder(test_another_takes_the_new_folder),
        in_folder(test_a_build_that_loses_its_folder),
        in_folder(test_long_names),
        in_folder(test_long_names_in_utf8),
        in_folder(test_names_that_are_too_long),
        in_folder(test_many_builds_at_a_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
