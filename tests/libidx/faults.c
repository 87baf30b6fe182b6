/* faults.c: see faults.h. */
#include "tests/libidx/faults.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static struct {
    bool armed;
    enum fault_kind kind;
    size_t first, end; /* the calls that fail, counted from 0 */
    int fault_errno;
    void (*act)(void *context); /* NULL: they fail */
    void *context;
    atomic_size_t calls;
    atomic_size_t failures;
} plan;

void arm(enum fault_kind kind, size_t after, size_t times, int fault_errno) {
    plan.kind = kind;
    plan.first = after;
    plan.end = after + times;
    plan.fault_errno = fault_errno;
    plan.act = NULL;
    plan.calls = 0;
    plan.failures = 0;
    plan.armed = true;
}

void arm_to_act(enum fault_kind kind, size_t after, void (*act)(void *context), void *context) {
    arm(kind, after, 1, 0);
    plan.act = act;
    plan.context = context;
}

size_t disarm(void) {
    plan.armed = false;
    return plan.failures;
}

static atomic_size_t all_calls;

size_t calls_to_the_system(void) { return all_calls; }

static bool fails(enum fault_kind kind) {
    all_calls += kind != FAULT_ALLOCATION;
    if (!plan.armed || kind != plan.kind) return false;
    size_t call = atomic_fetch_add(&plan.calls, 1);
    if (call < plan.first || call >= plan.end) return false;
    if (plan.act != NULL) {
        plan.armed = false;
        plan.failures++;
        plan.act(plan.context);
        return false;
    }
    atomic_fetch_add(&plan.failures, 1);
    errno = plan.fault_errno;
    return true;
}

/* Declares the real function and begins the one in its place. */
#define REPLACE(type, name, parameters)                                                                                \
    type __real_##name parameters;                                                                                     \
    type __wrap_##name parameters;                                                                                     \
    type __wrap_##name parameters

REPLACE(void *, malloc, (size_t size)) { return fails(FAULT_ALLOCATION) ? NULL : __real_malloc(size); }

REPLACE(void *, calloc, (size_t count, size_t size)) {
    return fails(FAULT_ALLOCATION) ? NULL : __real_calloc(count, size);
}

REPLACE(void *, realloc, (void *memory, size_t size)) {
    return fails(FAULT_ALLOCATION) ? NULL : __real_realloc(memory, size);
}

REPLACE(void *, aligned_alloc, (size_t alignment, size_t size)) {
    return fails(FAULT_ALLOCATION) ? NULL : __real_aligned_alloc(alignment, size);
}

REPLACE(char *, strdup, (const char *text)) { return fails(FAULT_ALLOCATION) ? NULL : __real_strdup(text); }

REPLACE(char *, strndup, (const char *text, size_t size)) {
    return fails(FAULT_ALLOCATION) ? NULL : __real_strndup(text, size);
}

/* The mode, where there is one, is the only further argument. */
static mode_t take_mode(int flags, va_list arguments) {
    return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? (mode_t)va_arg(arguments, unsigned) : 0;
}

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = take_mode(flags, arguments);
    va_end(arguments);
    return fails(FAULT_OPEN) ? -1 : __real_open(path, flags, mode);
}

int __real_openat(int folder, const char *path, int flags, ...);
int __wrap_openat(int folder, const char *path, int flags, ...);
int __wrap_openat(int folder, const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = take_mode(flags, arguments);
    va_end(arguments);
    return fails(FAULT_OPEN) ? -1 : __real_openat(folder, path, flags, mode);
}

REPLACE(int, mkdir, (const char *path, mode_t mode)) { return fails(FAULT_MKDIR) ? -1 : __real_mkdir(path, mode); }

REPLACE(ssize_t, pread, (int file, void *bytes, size_t size, off_t offset)) {
    return fails(FAULT_READ) ? -1 : __real_pread(file, bytes, size, offset);
}

REPLACE(ssize_t, pwrite, (int file, const void *bytes, size_t size, off_t offset)) {
    return fails(FAULT_WRITE) ? -1 : __real_pwrite(file, bytes, size, offset);
}

REPLACE(int, fsync, (int file)) { return fails(FAULT_SYNC) ? -1 : __real_fsync(file); }

REPLACE(int, fdatasync, (int file)) { return fails(FAULT_SYNC) ? -1 : __real_fdatasync(file); }

REPLACE(int, stat, (const char *path, struct stat *status)) {
    fails(FAULT_NONE);
    return __real_stat(path, status);
}

REPLACE(int, fstat, (int file, struct stat *status)) {
    fails(FAULT_NONE);
    return __real_fstat(file, status);
}

REPLACE(void *, mmap, (void *address, size_t size, int protection, int flags, int file, off_t offset)) {
    return fails(FAULT_MAP) ? MAP_FAILED : __real_mmap(address, size, protection, flags, file, offset);
}

REPLACE(int, getentropy, (void *bytes, size_t size)) {
    return fails(FAULT_RANDOM) ? -1 : __real_getentropy(bytes, size);
}

REPLACE(int, rename, (const char *from, const char *to)) { return fails(FAULT_RENAME) ? -1 : __real_rename(from, to); }

REPLACE(int, renameat, (int from_folder, const char *from, int to_folder, const char *to)) {
    return fails(FAULT_RENAME) ? -1 : __real_renameat(from_folder, from, to_folder, to);
}

/* libidx calls renameat2 and getdents64 so, of which the first alone fails. No call takes more than five arguments. */
long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
long __wrap_syscall(long number, ...) {
    va_list arguments;
    va_start(arguments, number);
    long given[5];
    for (size_t i = 0; i < 5; i++) given[i] = va_arg(arguments, long);
    va_end(arguments);
    if (number == SYS_renameat2 && fails(FAULT_RENAME)) return -1;
    return __real_syscall(number, given[0], given[1], given[2], given[3], given[4]);
}

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *context);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *context);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *context) {
    return fails(FAULT_THREAD) ? EAGAIN : __real_pthread_create(thread, attributes, run, context);
}
