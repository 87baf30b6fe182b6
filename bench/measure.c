/* measure.c: measures systems: passes over the queries, medians, rows; and checks their answers. */
#include "bench/measure.h"

#include "bench/clock.h"
#include "bench/memory.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define MAX_PASSES 101
/* A system that takes so long for the shared queries is measured by them alone. */
#define SLOW_SECONDS 15

void set_expected(struct measurement *measurement, const struct system *system) {
    measurement->shared = (struct answers){0};
    system->answer(system, MODE_STAGED, measurement->data->queries, SHARED_QUERIES, &measurement->shared);
}

/* ---- Rows ---- */

void print_header(void) {
    puts("system\tn\tk\tscheme\tblock_size\tmode\tqueries_per_second\tns_per_query\ttable_bytes_per_fp\t"
         "resident_bytes_per_fp\tmatches");
}

static void print_row(const struct measurement *measurement, const struct system *system, const char *mode,
                      double seconds_per_query) {
    double count = (double)measurement->data->count;
    printf("%s\t%zu\t%u\t%s\t%u\t%s\t%.0f\t%.1f\t%.2f\t%.2f\t%llu\n", system->name, measurement->requested,
           measurement->data->k, system->scheme, system->block_size, mode, 1 / seconds_per_query,
           seconds_per_query * 1e9, system->table_bytes / count, system->resident_bytes / count,
           (unsigned long long)measurement->shared.matches);
    fflush(stdout);
}

/* ---- Passes ---- */

/* Answers the next queries; each pass has queries of its own as long as there are any, so that none finds in a cache
 * what the last one left there. */
static double time_pass(const struct data *data, const struct system *system, enum mode mode, size_t count,
                        size_t *next) {
    struct answers answers = {0};
    if (*next + count > data->query_count) *next = 0;
    double begin = now();
    system->answer(system, mode, data->queries + *next, count, &answers);
    double seconds = now() - begin;
    *next += count;
    return seconds;
}

static double time_shared(const struct measurement *measurement, const struct system *system, enum mode mode,
                          const char *mode_name) {
    struct answers answers = {0};
    double begin = now();
    system->answer(system, mode, measurement->data->queries, SHARED_QUERIES, &answers);
    double seconds = now() - begin;
    if (answers.matches == measurement->shared.matches && answers.hash == measurement->shared.hash) return seconds;
    fprintf(stderr,
            "lookup: %s %s (%u bytes a block, %s) answers wrongly: %llu matches for the first %d queries, hash "
            "%016llx, where the scan finds %llu, hash %016llx\n",
            system->name, system->scheme, system->block_size, mode_name, (unsigned long long)answers.matches,
            SHARED_QUERIES, (unsigned long long)answers.hash, (unsigned long long)measurement->shared.matches,
            (unsigned long long)measurement->shared.hash);
    exit(1);
}

static size_t queries_a_pass(const struct measurement *measurement, double rate) {
    double wanted = rate * measurement->seconds;
    if (wanted < SHARED_QUERIES) return SHARED_QUERIES;
    return wanted < (double)measurement->data->query_count ? (size_t)wanted : measurement->data->query_count;
}

static double median_pass(const struct measurement *measurement, const struct system *system, enum mode mode) {
    const struct data *data = measurement->data;
    double seconds[MAX_PASSES];
    size_t next = SHARED_QUERIES;
    size_t count = SHARED_QUERIES;
    /* These warm up, too; few queries right after another system say little. */
    for (int i = 0; i < 3; i++)
        count = queries_a_pass(measurement, (double)count / time_pass(data, system, mode, count, &next));
    for (unsigned pass = 0; pass < measurement->passes; pass++)
        seconds[pass] = time_pass(data, system, mode, count, &next);
    sort_doubles(seconds, measurement->passes);
    return seconds[measurement->passes / 2] / (double)count;
}

/* ---- Measuring ---- */

static void pin(int core, cpu_set_t *before) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    sched_getaffinity(0, sizeof *before, before);
    sched_setaffinity(0, sizeof one, &one);
}

void measure(const struct measurement *measurement, const struct system *system, enum mode mode, unsigned threads) {
    char threads_name[32];
    cpu_set_t before;
    snprintf(threads_name, sizeof threads_name, "threads=%u", threads);
    const char *mode_name = mode == MODE_SINGLE ? "single" : mode == MODE_STAGED ? "staged" : threads_name;
    if (mode != MODE_THREADS) pin(measurement->core, &before);
    double seconds = time_shared(measurement, system, mode, mode_name);
    seconds = seconds > SLOW_SECONDS ? seconds / SHARED_QUERIES : median_pass(measurement, system, mode);
    if (mode != MODE_THREADS) sched_setaffinity(0, sizeof before, &before);
    print_row(measurement, system, mode_name, seconds);
}

void measure_cold(const struct measurement *measurement, const struct system *system) {
    cpu_set_t before;
    pin(measurement->core, &before);
    double seconds = time_shared(measurement, system, MODE_SINGLE, "cold");
    sched_setaffinity(0, sizeof before, &before);
    print_row(measurement, system, "cold", seconds / SHARED_QUERIES);
}
