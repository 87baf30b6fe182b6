/* apart.c: see apart.h. */
#include "tests/libidx/apart.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/libidx/support.h"

static bool write_text(const char *path, const char *text) {
    int file = open(path, O_WRONLY | O_CLOEXEC);
    bool written = file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text);
    if (file >= 0) close(file);
    return written;
}

/* Mounts of its own, once in the process; who is not root becomes it, in a user name space. */
static bool go_apart(void) {
    static bool gone;
    char map[64];
    if (gone) return true;
    unsigned user = (unsigned)getuid(), group = (unsigned)getgid();
    if (unshare(user == 0 ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER) != 0) return false;
    if (user != 0) {
        write_text("/proc/self/setgroups", "deny");
        snprintf(map, sizeof map, "0 %u 1", user);
        if (!write_text("/proc/self/uid_map", map)) return false;
        snprintf(map, sizeof map, "0 %u 1", group);
        if (!write_text("/proc/self/gid_map", map)) return false;
    }
    gone = mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
    return gone;
}

void play_apart(scene play, const char *folder) {
    int status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) _exit(play(folder));
    assert_true(waitpid(child, &status, 0) == child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == CANNOT) {
        print_message("skipped: this system does not let the test mount, or drop rights\n");
        skip();
    }
    assert_int_equal(WEXITSTATUS(status), 0);
}

int report_unexpected(const char *condition, const char *file, int line) {
    print_error("%s:%d: not so: %s; the last error was: %s\n", file, line, condition, failure.sentence);
    return 1;
}

bool mount_read_only(const char *folder) {
    return go_apart() && mount(folder, folder, NULL, MS_BIND, NULL) == 0 &&
           mount(NULL, folder, NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL) == 0;
}

bool mount_small(const char *folder, unsigned bytes) {
    char options[32];
    snprintf(options, sizeof options, "size=%u", bytes);
    return go_apart() && mount("none", folder, "tmpfs", 0, options) == 0;
}

bool drop_rights(void) { return geteuid() != 0 || setuid(65534) == 0; }
