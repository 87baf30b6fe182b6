/* clock.c: the time that passed, and that of processors. */
#include "tools/shared/clock.h"

#include <time.h>

/* Returns the time of a clock of clock_gettime(2), such as CLOCK_MONOTONIC, in nanoseconds. The clock must exist. */
static uint64_t read_clock_nanoseconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t read_nanoseconds(void) { return read_clock_nanoseconds(CLOCK_MONOTONIC); }

uint64_t read_processor_nanoseconds(void) { return read_clock_nanoseconds(CLOCK_PROCESS_CPUTIME_ID); }
