/* fail.c: a library to preload into the command: it counts the calls that change files, and lets one of them fail, or
 * kills the process there. Standing in for the C library's functions, it sees LMDB's calls too. Its environment:
 *
 *   IDX_FAIL_LOG   a file, to which each call is added as a line `NAME PATH`, `NAME FROM TO` for renames
 *   IDX_FAIL_AT    the call that fails, counted from 1; it ends the log as `fail NAME PATH`. Without it none does
 *   IDX_FAIL_HOW   a number of errno; or `kill`; or `full`: that call, if it writes, writes half of its bytes, and from
 *                  then on what needs room fails with ENOSPC; or `short`: the first alone; or `read`: calls that read
 * at an offset count, and no others, and fail with EINTR
 *
 * Opening counts where it is for writing. Removing is noted, but neither counted nor failed. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define PUBLIC __attribute__((visibility("default")))

enum what { NEEDS_ROOM, WRITES, READS, OTHER };

static long (*call)(long number, ...);
static long at, how_errno;
static bool kills, fills, full, cuts, reads;
static int log_file = -1;
static long count;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void set_up(void) {
    const char *at_text = getenv("IDX_FAIL_AT"), *how = getenv("IDX_FAIL_HOW"), *path = getenv("IDX_FAIL_LOG");
    *(void **)&call = dlsym(RTLD_NEXT, "syscall");
    if (at_text != NULL) at = atol(at_text);
    kills = how != NULL && strcmp(how, "kill") == 0;
    fills = how != NULL && strcmp(how, "full") == 0;
    cuts = how != NULL && strcmp(how, "short") == 0;
    reads = how != NULL && strcmp(how, "read") == 0;
    how_errno = fills ? ENOSPC : reads ? EINTR : how != NULL ? atol(how) : EIO;
    if (path != NULL) log_file = (int)call(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
}

static void note(bool fails, const char *name, const char *path) {
    char line[8400];
    int length = snprintf(line, sizeof line, "%s%s %s\n", fails ? "fail " : "", name, path);
    if (log_file >= 0) call(SYS_write, log_file, line, (size_t)length);
}

/* Counts a call; -1 with errno where it is to fail, 1 where it is to be cut short. */
static int take(enum what what, const char *name, const char *path) {
    if (reads != (what == READS)) return 0;
    pthread_mutex_lock(&mutex);
    bool now = ++count == at;
    bool fails = now || (full && what != OTHER);
    note(now, name, path);
    if (now && kills) raise(SIGKILL);
    if (now && fills) full = true;
    pthread_mutex_unlock(&mutex);
    if (!fails) return 0;
    if (now && (fills || cuts) && what == WRITES) return 1;
    if (cuts) return 0;
    errno = (int)how_errno;
    return -1;
}

/* The path of a descriptor; NULL where it is neither a file nor a folder. */
static const char *path_of(int fd, char path[4096]) {
    char link[64];
    struct stat status;
    if (fstat(fd, &status) != 0 || !(S_ISREG(status.st_mode) || S_ISDIR(status.st_mode))) return NULL;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, 4095);
    path[length < 0 ? 0 : length] = '\0';
    return path;
}

static int take_fd(enum what what, const char *name, int fd) {
    char buffer[4096];
    const char *path = path_of(fd, buffer);
    return path == NULL ? 0 : take(what, name, path);
}

/* ---- Writing ---- */

static ssize_t write_at(const char *name, int fd, const void *bytes, size_t size, off_t offset) {
    int taken = take_fd(WRITES, name, fd);
    if (taken < 0) return -1;
    if (taken > 0) size /= 2;
    return offset < 0 ? call(SYS_write, fd, bytes, size) : call(SYS_pwrite64, fd, bytes, size, offset);
}

static ssize_t write_all_at(const char *name, int fd, const struct iovec *parts, int parts_count, off_t offset) {
    int taken = take_fd(WRITES, name, fd);
    if (taken < 0) return -1;
    struct iovec half = {parts[0].iov_base, parts[0].iov_len / 2};
    if (taken > 0) parts = &half, parts_count = 1;
    return offset < 0 ? call(SYS_writev, fd, parts, parts_count)
                      : call(SYS_pwritev, fd, parts, parts_count, offset, 0L);
}

PUBLIC ssize_t write(int fd, const void *bytes, size_t size) { return write_at("write", fd, bytes, size, -1); }
PUBLIC ssize_t pwrite(int fd, const void *bytes, size_t size, off_t offset) {
    return write_at("pwrite", fd, bytes, size, offset);
}
PUBLIC ssize_t pwrite64(int fd, const void *bytes, size_t size, off_t offset) {
    return write_at("pwrite", fd, bytes, size, offset);
}
PUBLIC ssize_t writev(int fd, const struct iovec *parts, int parts_count) {
    return write_all_at("writev", fd, parts, parts_count, -1);
}
PUBLIC ssize_t pwritev(int fd, const struct iovec *parts, int parts_count, off_t offset) {
    return write_all_at("pwritev", fd, parts, parts_count, offset);
}
PUBLIC ssize_t pwritev64(int fd, const struct iovec *parts, int parts_count, off_t offset) {
    return write_all_at("pwritev", fd, parts, parts_count, offset);
}

/* ---- Reading ---- */

PUBLIC ssize_t pread(int fd, void *bytes, size_t size, off_t offset) {
    return take_fd(READS, "pread", fd) != 0 ? -1 : call(SYS_pread64, fd, bytes, size, offset);
}
PUBLIC ssize_t pread64(int fd, void *bytes, size_t size, off_t offset) { return pread(fd, bytes, size, offset); }

/* ---- Room and syncing ---- */

PUBLIC int ftruncate(int fd, off_t size) {
    return take_fd(NEEDS_ROOM, "ftruncate", fd) != 0 ? -1 : (int)call(SYS_ftruncate, fd, size);
}
PUBLIC int ftruncate64(int fd, off_t size) { return ftruncate(fd, size); }
/* Freeing the space of what was read may fail without consequences, and so it does not count. */
PUBLIC int fallocate(int fd, int mode, off_t offset, off_t size) {
    bool frees = (mode & FALLOC_FL_PUNCH_HOLE) != 0;
    return !frees && take_fd(NEEDS_ROOM, "fallocate", fd) != 0 ? -1 : (int)call(SYS_fallocate, fd, mode, offset, size);
}
PUBLIC int fallocate64(int fd, int mode, off_t offset, off_t size) { return fallocate(fd, mode, offset, size); }
PUBLIC int posix_fallocate(int fd, off_t offset, off_t size) { return fallocate(fd, 0, offset, size) == 0 ? 0 : errno; }
PUBLIC int posix_fallocate64(int fd, off_t offset, off_t size) { return posix_fallocate(fd, offset, size); }
PUBLIC int fsync(int fd) { return take_fd(OTHER, "sync", fd) != 0 ? -1 : (int)call(SYS_fsync, fd); }
PUBLIC int fdatasync(int fd) { return take_fd(OTHER, "sync", fd) != 0 ? -1 : (int)call(SYS_fdatasync, fd); }
PUBLIC int syncfs(int fd) { return take_fd(OTHER, "syncfs", fd) != 0 ? -1 : (int)call(SYS_syncfs, fd); }
PUBLIC int msync(void *address, size_t size, int flags) {
    return take(OTHER, "msync", "") != 0 ? -1 : (int)call(SYS_msync, address, size, flags);
}

/* ---- Names ---- */

/* The path of a name in a folder. */
static const char *join(int folder, const char *name, char path[8300]) {
    char buffer[4096];
    const char *before = folder == AT_FDCWD || name[0] == '/' ? NULL : path_of(folder, buffer);
    snprintf(path, 8300, "%s%s%.4000s", before == NULL ? "" : before, before == NULL ? "" : "/", name);
    return path;
}

static int open_at(int folder, const char *name, int flags, va_list arguments) {
    char path[8300];
    bool creates = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
    mode_t mode = creates ? va_arg(arguments, mode_t) : 0;
    bool counts = creates || (flags & O_ACCMODE) != O_RDONLY;
    if (counts && take(NEEDS_ROOM, "open", join(folder, name, path)) != 0) return -1;
    return (int)call(SYS_openat, folder, name, flags, mode);
}

#define OPEN_LIKE(function, folder, ...)                                                                               \
    PUBLIC int function(__VA_ARGS__, int flags, ...) {                                                                 \
        va_list arguments;                                                                                             \
        va_start(arguments, flags);                                                                                    \
        int file = open_at(folder, name, flags, arguments);                                                            \
        va_end(arguments);                                                                                             \
        return file;                                                                                                   \
    }
OPEN_LIKE(open, AT_FDCWD, const char *name)
OPEN_LIKE(open64, AT_FDCWD, const char *name)
OPEN_LIKE(openat, folder, int folder, const char *name)
OPEN_LIKE(openat64, folder, int folder, const char *name)

PUBLIC int mkdirat(int folder, const char *name, mode_t mode) {
    char path[8300];
    return take(NEEDS_ROOM, "mkdir", join(folder, name, path)) != 0 ? -1 : (int)call(SYS_mkdirat, folder, name, mode);
}
PUBLIC int mkdir(const char *name, mode_t mode) { return mkdirat(AT_FDCWD, name, mode); }

PUBLIC int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags) {
    char names[8300];
    snprintf(names, sizeof names, "%.4000s %.4000s", from, to);
    return take(OTHER, "rename", names) != 0 ? -1 : (int)call(SYS_renameat2, from_folder, from, to_folder, to, flags);
}
PUBLIC int renameat(int from_folder, const char *from, int to_folder, const char *to) {
    return renameat2(from_folder, from, to_folder, to, 0);
}
PUBLIC int rename(const char *from, const char *to) { return renameat2(AT_FDCWD, from, AT_FDCWD, to, 0); }

PUBLIC int unlinkat(int folder, const char *name, int flags) {
    pthread_mutex_lock(&mutex);
    note(false, "remove", name);
    pthread_mutex_unlock(&mutex);
    return (int)call(SYS_unlinkat, folder, name, flags);
}

PUBLIC long syscall(long number, ...) {
    va_list arguments;
    long values[6];
    va_start(arguments, number);
    for (int i = 0; i < 6; i++) values[i] = va_arg(arguments, long);
    va_end(arguments);
    if (number == SYS_renameat2)
        return renameat2((int)values[0], (const char *)values[1], (int)values[2], (const char *)values[3],
                         (unsigned)values[4]);
    return call(number, values[0], values[1], values[2], values[3], values[4], values[5]);
}
