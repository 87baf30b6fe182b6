/* clock.h: the time that benchmarks measure by. */
#ifndef BENCH_CLOCK_H
#define BENCH_CLOCK_H

#include <time.h>

/* Seconds of a clock, from some moment on. */
static inline double read_clock(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static inline double now(void) { return read_clock(CLOCK_MONOTONIC); }

/* Of the processor, user and system, by all threads. */
static inline double cpu_now(void) { return read_clock(CLOCK_PROCESS_CPUTIME_ID); }

#endif
