/* journal.c: writes down what a program does to the files below a folder: a library to be loaded before all others
 * (LD_PRELOAD), for the test `crash`, which plays it back. JOURNAL_ROOT is the folder, JOURNAL the file to append to.
 * An event is a line, and behind that of a write its bytes:
 *   create INODE PATH, mkdir INODE PATH, rename FROM TO, exchange FROM TO, unlink PATH, write INODE OFFSET SIZE,
 *   truncate INODE SIZE, sync INODE
 * Each is noted once it has happened. Paths are without spaces and line ends. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* The function of the C library that one of these stands in for. */
#define REAL(name) (__extension__(__typeof__(&name)) dlsym(RTLD_NEXT, #name))

#pragma GCC visibility push(default)

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* Appends an event, with bytes or without. */
static void note(const void *bytes, size_t size, const char *format, ...) {
    static int journal = -1;
    char line[2 * PATH_MAX + 100];
    va_list arguments;
    int saved = errno;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    pthread_mutex_lock(&mutex);
    if (journal < 0)
        journal = (int)syscall(SYS_openat, AT_FDCWD, getenv("JOURNAL"), O_WRONLY | O_APPEND | O_CLOEXEC, 0);
    struct iovec parts[] = {{line, (size_t)length}, {(void *)(size_t)bytes, size}};
    if (REAL(writev)(journal, parts, 2) != (ssize_t)((size_t)length + size)) abort();
    pthread_mutex_unlock(&mutex);
    errno = saved;
}

/* The whole path of `name` in a folder; false where it is not below the root. */
static int find_path(int folder, const char *name, char path[2 * PATH_MAX]) {
    char link[64], begin[PATH_MAX] = "";
    const char *root = getenv("JOURNAL_ROOT");
    if (root == NULL) return 0;
    if (name[0] != '/') {
        snprintf(link, sizeof link, folder == AT_FDCWD ? "/proc/self/cwd" : "/proc/self/fd/%d", folder);
        ssize_t size = readlink(link, begin, sizeof begin - 1);
        if (size < 0) return 0;
        begin[size] = '\0';
    }
    snprintf(path, 2 * PATH_MAX, "%s%s%s", begin, name[0] == '/' ? "" : "/", name);
    return strncmp(path, root, strlen(root)) == 0;
}

static unsigned long inode_of(int file) {
    struct stat status;
    return fstat(file, &status) == 0 ? (unsigned long)status.st_ino : 0;
}

static int open_and_note(int folder, const char *name, int flags, mode_t mode) {
    char path[2 * PATH_MAX];
    int saved = errno;
    int is_new = (flags & O_CREAT) && find_path(folder, name, path) && faccessat(folder, name, F_OK, 0) != 0;
    errno = saved;
    int file = (int)syscall(SYS_openat, folder, name, flags, mode);
    if (file >= 0 && is_new) note(NULL, 0, "create %lu %s\n", inode_of(file), path);
    if (file >= 0 && !is_new && (flags & O_TRUNC)) note(NULL, 0, "truncate %lu 0\n", inode_of(file));
    return file;
}

#define OPEN(name, folder_parameter, folder)                                                                           \
    int name(folder_parameter const char *path, int flags, ...) {                                                      \
        va_list arguments;                                                                                             \
        va_start(arguments, flags);                                                                                    \
        mode_t mode = flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(arguments, mode_t) : 0;             \
        va_end(arguments);                                                                                             \
        return open_and_note(folder, path, flags, mode);                                                               \
    }
#define NOTHING
#define FOLDER int folder,
OPEN(open, NOTHING, AT_FDCWD)
OPEN(open64, NOTHING, AT_FDCWD)
OPEN(openat, FOLDER, folder)
OPEN(openat64, FOLDER, folder)

static void note_write(int file, const void *bytes, ssize_t size, off_t offset) {
    if (size <= 0) return;
    unsigned long inode = inode_of(file);
    note(bytes, (size_t)size, "write %lu %lld %zd\n", inode, (long long)offset, size);
    if (fcntl(file, F_GETFL) & O_DSYNC) note(NULL, 0, "sync %lu\n", inode);
}

ssize_t pwrite(int file, const void *bytes, size_t size, off_t offset) {
    ssize_t result = REAL(pwrite)(file, bytes, size, offset);
    note_write(file, bytes, result, offset);
    return result;
}

ssize_t pwrite64(int file, const void *bytes, size_t size, off64_t offset) {
    return pwrite(file, bytes, size, (off_t)offset);
}

static int is_regular(int file) {
    struct stat status;
    return fstat(file, &status) == 0 && S_ISREG(status.st_mode);
}

ssize_t write(int file, const void *bytes, size_t size) {
    off_t offset = is_regular(file) ? lseek(file, 0, SEEK_CUR) : -1;
    ssize_t result = REAL(write)(file, bytes, size);
    if (offset >= 0) note_write(file, bytes, result, offset);
    return result;
}

static ssize_t note_parts(int file, const struct iovec *parts, int count, ssize_t result, off_t offset) {
    ssize_t left = result;
    for (int i = 0; i < count && left > 0; i++) {
        ssize_t some = left < (ssize_t)parts[i].iov_len ? left : (ssize_t)parts[i].iov_len;
        note_write(file, parts[i].iov_base, some, offset);
        offset += some;
        left -= some;
    }
    return result;
}

ssize_t pwritev(int file, const struct iovec *parts, int count, off_t offset) {
    return note_parts(file, parts, count, REAL(pwritev)(file, parts, count, offset), offset);
}

ssize_t pwritev64(int file, const struct iovec *parts, int count, off64_t offset) {
    return pwritev(file, parts, count, (off_t)offset);
}

ssize_t writev(int file, const struct iovec *parts, int count) {
    off_t offset = is_regular(file) ? lseek(file, 0, SEEK_CUR) : -1;
    ssize_t result = REAL(writev)(file, parts, count);
    return offset < 0 ? result : note_parts(file, parts, count, result, offset);
}

static int note_truncation(int file, off_t size, int result) {
    if (result == 0) note(NULL, 0, "truncate %lu %lld\n", inode_of(file), (long long)size);
    return result;
}

int ftruncate(int file, off_t size) { return note_truncation(file, size, REAL(ftruncate)(file, size)); }
int ftruncate64(int file, off64_t size) { return ftruncate(file, (off_t)size); }

static int note_sync(int file, int result) {
    if (result == 0) note(NULL, 0, "sync %lu\n", inode_of(file));
    return result;
}

int fsync(int file) { return note_sync(file, REAL(fsync)(file)); }
int fdatasync(int file) { return note_sync(file, REAL(fdatasync)(file)); }

static int note_rename(const char *how, int from_folder, const char *from, int to_folder, const char *to, int result) {
    char before[2 * PATH_MAX], after[2 * PATH_MAX];
    int is_ours = find_path(from_folder, from, before) && find_path(to_folder, to, after);
    if (result == 0 && is_ours) note(NULL, 0, "%s %s %s\n", how, before, after);
    return result;
}

int renameat(int from_folder, const char *from, int to_folder, const char *to) {
    int result = REAL(renameat)(from_folder, from, to_folder, to);
    return note_rename("rename", from_folder, from, to_folder, to, result);
}

int rename(const char *from, const char *to) { return renameat(AT_FDCWD, from, AT_FDCWD, to); }

/* libidx calls renameat2 so. */
long syscall(long number, ...) {
    long values[6];
    va_list arguments;
    va_start(arguments, number);
    for (int i = 0; i < 6; i++) values[i] = va_arg(arguments, long);
    va_end(arguments);
    long result = REAL(syscall)(number, values[0], values[1], values[2], values[3], values[4], values[5]);
    if (number == SYS_renameat2)
        note_rename((int)values[4] & 2 ? "exchange" : "rename", (int)values[0], (const char *)values[1], (int)values[2],
                    (const char *)values[3], (int)result);
    return result;
}

int unlinkat(int folder, const char *name, int flags) {
    char path[2 * PATH_MAX];
    int is_ours = find_path(folder, name, path), result = REAL(unlinkat)(folder, name, flags);
    if (result == 0 && is_ours) note(NULL, 0, "unlink %s\n", path);
    return result;
}

int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }
int rmdir(const char *path) { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }

int mkdir(const char *name, mode_t mode) {
    char path[2 * PATH_MAX];
    struct stat status;
    int result = REAL(mkdir)(name, mode);
    if (result == 0 && find_path(AT_FDCWD, name, path) && stat(name, &status) == 0)
        note(NULL, 0, "mkdir %lu %s\n", (unsigned long)status.st_ino, path);
    return result;
}
