/* faults.h: calls to the system that fail on purpose. The linker puts these in place of the C library's functions that
 * libidx calls (see CMakeLists.txt); LMDB, a library of its own, keeps the real ones. */
#ifndef IDX_TESTS_LIBIDX_FAULTS_H
#define IDX_TESTS_LIBIDX_FAULTS_H

#include <stdbool.h>
#include <stddef.h>

enum fault_kind {
    FAULT_ALLOCATION, /* malloc, calloc, realloc, aligned_alloc, strdup, strndup */
    FAULT_OPEN,       /* open, openat */
    FAULT_MKDIR,
    FAULT_READ,   /* pread */
    FAULT_WRITE,  /* pwrite */
    FAULT_SYNC,   /* fsync, fdatasync */
    FAULT_MAP,    /* mmap */
    FAULT_RANDOM, /* getentropy */
    FAULT_RENAME, /* renameat2, by syscall, and rename */
    FAULT_THREAD, /* pthread_create */
    FAULT_NONE,   /* calls that never fail: stat, fstat */
    FAULT_COUNT
};

/* From now on, the calls of a kind fail with that errno: `times` of them, after the next `after`. */
void arm(enum fault_kind kind, size_t after, size_t times, int fault_errno);

/* From now on, `act` is called once, before the call of a kind that comes after the next `after`. */
void arm_to_act(enum fault_kind kind, size_t after, void (*act)(void *context), void *context);

/* How many calls to the system of all these kinds there were since the program began. */
size_t calls_to_the_system(void);

/* No more failures, and nothing to act before. Returns how many failures there were. */
size_t disarm(void);

#endif
