/* clock.h: the time that benchmarks measure by, and medians. */
#ifndef BENCH_CLOCK_H
#define BENCH_CLOCK_H

#include <stdlib.h>
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

/* Sorts what was measured, ascending: the median is in the middle. */
static inline int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static inline void sort_doubles(double *values, size_t count) { qsort(values, count, sizeof *values, compare_doubles); }

#endif
