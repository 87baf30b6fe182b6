/* measure.h: measures systems: passes over the queries, medians, rows; and checks their answers. */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include "bench/system.h"

/* Queries that every system answers, all alike. */
#define SHARED_QUERIES 1000

struct measurement {
    const struct data *data;
    size_t requested; /* the column n */
    unsigned passes;
    double seconds; /* a pass takes */
    int core;       /* that single-threaded passes run on */
    struct answers shared;
};

/* Answers the shared queries by a system that is believed, for all others to be compared with. */
void set_expected(struct measurement *measurement, const struct system *system);

void print_header(void);

/* Checks the system's answers in a mode, measures it and prints a row. Ends the program with status 1 when they are
 * wrong. `threads` is for MODE_THREADS, which runs on all cores. */
void measure(const struct measurement *measurement, const struct system *system, enum mode mode, unsigned threads);

/* The same for the shared queries alone, answered once, as the first thing that the system does. */
void measure_cold(const struct measurement *measurement, const struct system *system);

#endif
