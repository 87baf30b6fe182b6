/* lock.c: the locks of the folder of an index, by flock. */
#include "libidx/base/base.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#ifndef HOST_NAME_MAX
#define HOST_NAME_MAX 255
#endif

/* The most bytes of a process ID, a space, the name of a host, a line end and a NUL. */
#define HOLDER_BYTES (HOST_NAME_MAX + 32)

/* How many milliseconds a call waits for processes that share the lock for a moment, mostly a few to some hundred. It
 * waits less long if the file names a process, which proves little, since that process may have been killed. */
enum { MAX_WAIT_MS = 10000, MAX_WAIT_WHERE_NAMED_MS = 20 };

/* Writes this process's ID and host into the lock's file. Errors are ignored: the lock holds without that, too. */
static void write_holder_text(int lock) {
    char holder[HOLDER_BYTES], host[HOST_NAME_MAX + 1];
    if (gethostname(host, sizeof host) != 0) host[0] = '\0';
    host[HOST_NAME_MAX] = '\0';
    int size = snprintf(holder, sizeof holder, "%ld %s\n", (long)getpid(), host);
    if (ftruncate(lock, 0) == 0) (void)idxi_write_at(lock, holder, (size_t)size, 0, IDXI_LOCK_NAME, NULL);
}

/* Fails with IDX_BUSY. The sentence says which process on which host has the lock, if the file reads as
 * write_holder_text writes it: digits, a space, a host's name, a line end. Anybody may have written something else. */
static enum idx_status fail_busy(int lock, const char *name, const char *folder_path, struct idx_error *error) {
    char holder[HOLDER_BYTES];
    const char *activity = strcmp(name, IDXI_LOCK_NAME) == 0 ? "written to" : "compacted";
    ssize_t size = pread(lock, holder, sizeof holder - 1, 0);
    holder[size < 0 ? 0 : size] = '\0';
    size_t digit_count = strspn(holder, "0123456789"), host_end = digit_count + 1; /* behind the space */
    if (digit_count > 0 && digit_count < 20 && holder[digit_count] == ' ')
        host_end += strspn(holder + host_end, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz.-_");
    if (host_end < digit_count + 2 || holder[host_end] != '\n')
        return idxi_fail(error, IDX_BUSY, folder_path, "is being %s already: wait until that ends", activity);
    bool is_ours = strtol(holder, NULL, 10) == (long)getpid();
    return idxi_fail(error, IDX_BUSY, folder_path, "is being %s by process %.*s on host %.*s: %s", activity,
                     (int)digit_count, holder, (int)(host_end - digit_count - 1), holder + digit_count + 1,
                     is_ours ? "that is this one, which has to close its writer first" : "wait until it ends");
}

/* Returns whether the lock is free or shared, so that waiting may be short. Locks it for that and unlocks it. */
static bool is_shared_or_free(int file) {
    if (flock(file, LOCK_SH | LOCK_NB) != 0) return false;
    flock(file, LOCK_UN);
    return true;
}

/* Returns whether the file has the text that write_holder_text writes. A process that shares the lock for a moment
 * writes none. */
static bool has_holder_text(int file) {
    struct stat status;
    return fstat(file, &status) == 0 && status.st_size > 0;
}

/* Locks the file by LOCK_EX or LOCK_SH, as `flock_operation` says. Tries again each millisecond while others may share
 * the lock only for a moment. Returns 0 or an errno: EWOULDBLOCK if others hold the lock for longer. */
static int lock_with_retries(int file, int flock_operation) {
    static const struct timespec millisecond = {0, 1000000};
    for (int waited_ms = 0; flock(file, flock_operation | LOCK_NB) != 0; waited_ms++) {
        if (errno != EWOULDBLOCK) return errno;
        if (waited_ms == MAX_WAIT_MS || !is_shared_or_free(file)) return EWOULDBLOCK;
        if (waited_ms >= MAX_WAIT_WHERE_NAMED_MS && has_holder_text(file)) return EWOULDBLOCK;
        nanosleep(&millisecond, NULL);
    }
    return 0;
}

/* Returns whether a file is regular and has one name: a file that a link leads to must not be written. */
static bool is_lock_file(int file) {
    struct stat status;
    return fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink <= 1;
}

/* Locks the file by LOCK_EX, however long that takes. Returns 0 or an errno. */
static int lock_without_time_limit(int file) {
    while (flock(file, LOCK_EX) != 0) {
        if (errno != EINTR) return errno;
    }
    return 0;
}

/* Locks an open file as `how` says. Returns 0 or an errno: EWOULDBLOCK if others hold the lock, ELOOP if the file is
 * not a lock file of its own, but what a link leads to. */
static int check_and_lock_file(int file, enum idxi_locking how) {
    if (!is_lock_file(file)) return ELOOP;
    if (how == IDXI_LOCK_WAIT) return lock_without_time_limit(file);
    return lock_with_retries(file, how == IDXI_LOCK_TAKE ? LOCK_EX : LOCK_SH);
}

enum idx_status idxi_lock(int *lock, enum idxi_locking how, const char *name, int folder, const char *folder_path,
                          struct idx_error *error) {
    enum idx_status status = IDX_OK;
    char *path = idxi_join_path(folder_path, name);
    if (path == NULL) return idxi_fail_memory(error);
    int file = openat(folder, name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    int lock_errno = file < 0 ? errno : check_and_lock_file(file, how);
    if (lock_errno == ELOOP)
        status = idxi_fail(error, IDX_NO_ACCESS, path,
                           "is a link to another file, where an index has a lock file: remove it");
    else if (file >= 0 && lock_errno == EWOULDBLOCK)
        status = fail_busy(file, name, folder_path, error);
    else if (lock_errno != 0)
        status = idxi_fail_system(error, lock_errno, path, file < 0 ? "open" : "lock");
    free(path);
    if (status != IDX_OK && file >= 0) close(file);
    if (status != IDX_OK) return status;
    *lock = file;
    if (how == IDXI_LOCK_TAKE || how == IDXI_LOCK_SHARE) write_holder_text(file);
    /* The file may still name a process that was killed. If it stays, others wait for less long. */
    if (how == IDXI_LOCK_MOMENT && ftruncate(file, 0) != 0) errno = 0;
    return IDX_OK;
}

void idxi_lock_close(int lock) {
    if (lock < 0) return;
    if (ftruncate(lock, 0) != 0) errno = 0; /* no failure: the file then names a process that no longer has it */
    flock(lock, LOCK_UN);                   /* also for processes that were forked since, and have the descriptor */
    close(lock);
}
