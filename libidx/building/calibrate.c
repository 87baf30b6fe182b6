/* calibrate.c: measures what look-ups take on this machine: their work by small indexes that stay in the caches, their
 * waits by reading memory. */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#include "libidx/base/base.h"

#include <idx_planning.h>

/* ---- Waits ---- */

/* Lines at random places are read: many at a time, prefetched in groups as look-ups do that, and one after the other,
 * each place depending on the line before. */

#define LINE_BYTES 64
#define HUGE_BYTES ((size_t)2 << 20)
#define GROUP_LINES 64

/* The bytes of size i of struct idx_calibration. */
#define SIZE_BYTES(i) ((size_t)IDX_CALIBRATION_LEAST << 2 * (i))

/* Memory is taken by writing to its pages, four times as much each time, until that took so long in all, or one part in
 * FREE_SHARE of the free memory is in use. */
#define MAX_TOUCHING_SECONDS 1.2
#define MAX_BYTES ((size_t)4 << 30)
#define FREE_SHARE 4

/* Sizes are measured in turns, and of each the lowest tenth counts: others that use the machine disturb most. Each turn
 * begins with lines that don't count, so that the caches, also those of the page tables, have what they would have.
 * Where others leave little of the processor, there are fewer turns. */
#define TURNS 40
#define MIN_TURNS 3
#define MAX_WAIT_SECONDS 1.9 /* by the clock, for each size of pages, with taking the memory */
#define SAMPLES_PER_TURN 4
#define SAMPLES (TURNS * SAMPLES_PER_TURN)
#define IGNORED_LINES 16384
#define GATHERED_LINES 8192
#define CHASED_LINES 512

/* Returns the time of a clock in seconds. */
static double get_time(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Returns the seconds of processor time that this thread has taken. */
static double get_processor_time(void) { return get_time(CLOCK_THREAD_CPUTIME_ID); }

/* Returns the time in seconds of a clock that never jumps. Only differences of two such times mean something. */
static double get_clock_time(void) { return get_time(CLOCK_MONOTONIC); }

/* Anonymous memory, whose pages are touched step by step, and random numbers. */
struct measured_memory {
    uint8_t *bytes;           /* They begin where a huge page does. */
    size_t reserved, touched; /* bytes: of addresses, and from the beginning on, those with memory behind them */
    double begin_time;        /* by the clock */
    uint64_t random;          /* state of the generator */
};

/* Draws one of `lines` lines, below 2^32, at random and returns its offset in bytes. *random is the state of Knuth's
 * generator of MMIX, which takes hardly any time. */
static inline size_t draw_line_offset(uint64_t *random, size_t lines) {
    *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (size_t)((*random >> 32) * lines >> 32) * LINE_BYTES;
}

/* Reads `count` lines, a multiple of GROUP_LINES, at random among the first `lines` of the memory, prefetched in
 * groups. Returns the seconds per line. */
static double time_gathering(struct measured_memory *memory, size_t lines, size_t count) {
    const uint8_t *bytes = memory->bytes;
    uint64_t random = memory->random, sum = 0;
    double begin = get_processor_time();
    for (size_t i = 0; i < count; i += GROUP_LINES) {
        size_t offsets[GROUP_LINES];
        for (size_t j = 0; j < GROUP_LINES; j++) {
            offsets[j] = draw_line_offset(&random, lines);
            __builtin_prefetch(bytes + offsets[j], 0, 2);
        }
        for (size_t j = 0; j < GROUP_LINES; j++) sum += bytes[offsets[j]];
    }
    memory->random = random + sum; /* so that the compiler does not leave out the reads */
    return (get_processor_time() - begin) / (double)count;
}

/* Reads CHASED_LINES lines at random among the first `lines` of the memory; the place of each depends on the one
 * before. Returns the seconds per line. */
static double time_chasing(struct measured_memory *memory, size_t lines) {
    const uint8_t *bytes = memory->bytes;
    uint64_t random = memory->random;
    double begin = get_processor_time();
    for (size_t i = 0; i < CHASED_LINES; i++) random += bytes[draw_line_offset(&random, lines)];
    memory->random = random;
    return (get_processor_time() - begin) / CHASED_LINES;
}

/* Writes to each page of the first `bytes` bytes, so that the system gives them memory. Returns false if that takes
 * more than MAX_TOUCHING_SECONDS since memory->begin_time. For the first HUGE_BYTES it never does, because larger sizes
 * are extrapolated from theirs. */
static bool touch_memory(struct measured_memory *memory, size_t bytes) {
    for (; memory->touched < bytes; memory->touched += 4096) {
        bool checks_clock = memory->touched > 0 && memory->touched % HUGE_BYTES == 0;
        if (checks_clock && get_clock_time() > memory->begin_time + MAX_TOUCHING_SECONDS) return false;
        memory->bytes[memory->touched] = 1;
    }
    return true;
}

/* Extrapolates waits[i] from i = sizes (2 or more) on: each is greater than the one before by as much as the last
 * of the first `measured`, which are set. */
static void extrapolate_waits(double *waits, size_t measured) {
    for (size_t i = measured; i < IDX_CALIBRATION_SIZES; i++)
        waits[i] = waits[i - 1] + fmax(waits[measured - 1] - waits[measured - 2], 0);
}

/* Compares two doubles, for qsort. */
static int compare_seconds(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Seconds per line, of a single line first, which is what the loops themselves take, and then of each size. */
struct samples {
    size_t count;
    double gathered[IDX_CALIBRATION_SIZES + 1][SAMPLES], chased[IDX_CALIBRATION_SIZES + 1][SAMPLES];
};

/* Sets waits[i], in nanoseconds, to the time of a line of size i beyond that of a single line, for the first
 * `measured` sizes, and extrapolates the others. `samples` has `count` samples of a single line and of each of these
 * sizes; it sorts them. */
static void set_waits(double samples[][SAMPLES], size_t count, size_t measured, double *waits) {
    for (size_t i = 0; i <= measured; i++) qsort(samples[i], count, sizeof **samples, compare_seconds);
    for (size_t i = 0; i < measured; i++) waits[i] = fmax(samples[i + 1][count / 10] - samples[0][count / 10], 0) * 1e9;
    extrapolate_waits(waits, measured);
}

/* Sets waits[i] and latencies[i] of each size i, in nanoseconds per line. Measures the sizes that memory can be taken
 * for within its time, and extrapolates the others. `samples` is scratch. */
static void measure_sizes(struct measured_memory *memory, struct samples *samples, double *waits, double *latencies) {
    size_t measured = 0;
    samples->count = 0;
    while (measured < IDX_CALIBRATION_SIZES && SIZE_BYTES(measured) <= memory->reserved &&
           touch_memory(memory, SIZE_BYTES(measured)))
        measured++;
    for (size_t turn = 0; turn < TURNS; turn++) {
        if (turn >= MIN_TURNS && get_clock_time() > memory->begin_time + MAX_WAIT_SECONDS) break;
        for (size_t i = 0; i <= measured; i++) {
            size_t lines = i == 0 ? 1 : SIZE_BYTES(i - 1) / LINE_BYTES;
            time_gathering(memory, lines, IGNORED_LINES);
            for (size_t sample = samples->count; sample < samples->count + SAMPLES_PER_TURN; sample++) {
                samples->gathered[i][sample] = time_gathering(memory, lines, GATHERED_LINES);
                samples->chased[i][sample] = time_chasing(memory, lines);
            }
        }
        samples->count += SAMPLES_PER_TURN;
    }
    set_waits(samples->gathered, samples->count, measured, waits);
    set_waits(samples->chased, samples->count, measured, latencies);
}

/* Returns how many bytes of memory may be taken: at most one part in FREE_SHARE of the free memory and at most
 * MAX_BYTES, but at least 16 MiB, which every machine has. */
static size_t find_usable_bytes(void) {
    uint64_t half_of_free = 0;
    struct idx_error error;
    size_t usable_bytes = SIZE_BYTES(4);
    /* sets 0 to half of the free memory */
    if (idxi_memory_choose_limit(&half_of_free, &error) != IDX_OK) return usable_bytes;
    while (usable_bytes < MAX_BYTES && usable_bytes * 2 <= half_of_free * 2 / FREE_SHARE) usable_bytes *= 2;
    return usable_bytes;
}

enum pages { SMALL_PAGES, HUGE_PAGES };

/* Sets waits and latencies as measure_sizes does, with memory in small or in huge pages, as far as the system
 * heeds that advice. `samples` is scratch. Errors: IDX_OUT_OF_MEMORY. */
static enum idx_status measure_pages(enum pages pages, struct samples *samples, double *waits, double *latencies,
                                     struct idx_error *error) {
    struct measured_memory memory = {.reserved = find_usable_bytes(), .begin_time = get_clock_time(), .random = 1};
    size_t bytes = memory.reserved + HUGE_BYTES;
    void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED) return idxi_fail_memory(error);
    memory.bytes = (uint8_t *)(((uintptr_t)map + HUGE_BYTES - 1) / HUGE_BYTES * HUGE_BYTES);
#ifdef MADV_HUGEPAGE
    madvise(memory.bytes, memory.reserved, pages == HUGE_PAGES ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
#endif
    memory.bytes[0] = 1;
    measure_sizes(&memory, samples, waits, latencies);
    munmap(map, bytes);
    return IDX_OK;
}

/* Sets the four arrays of waits and latencies of *result, which takes at most about four seconds by the clock. Sizes
 * beyond the memory that can be taken in about a second are extrapolated. Errors: IDX_OUT_OF_MEMORY. */
static enum idx_status measure_waits(struct idx_calibration *result, struct idx_error *error) {
    struct samples *samples = malloc(sizeof *samples);
    if (samples == NULL) return idxi_fail_memory(error);
    /* Small pages first: a virtual machine's memory is slow at first use, and zeroing huge pages is slow already. */
    enum idx_status status = measure_pages(SMALL_PAGES, samples, result->mapped_waits, result->mapped_latencies, error);
    if (status == IDX_OK)
        status = measure_pages(HUGE_PAGES, samples, result->loaded_waits, result->loaded_latencies, error);
    free(samples);
    return status;
}

/* ---- Work ---- */

/* The fingerprints of each index: few enough for ten tables to stay in a second cache. */
#define FINGERPRINTS 8192
#define QUERIES 4096

/* Each index is measured up to so often, in turns, and the shortest time counts. Where other processes leave little of
 * the processor, MAX_SECONDS by the clock are enough. */
#define ROUNDS 160
#define MIN_ROUNDS (QUERIES / BATCH)
#define MAX_SECONDS 0.8
#define BATCH 512  /* queries asked together */
#define SINGLES 64 /* queries asked alone, one after the other */

/* The unknown times, in nanoseconds: of a table, a probe, a byte of a block and so on. As many small indexes are
 * measured, whose queries do these in different mixtures. */
enum { TABLE, PROBE, BYTE, BLOCK, CANDIDATE, UNKNOWNS };

/* What each small index is built with. */
static const struct shape {
    const char *scheme;
    unsigned k;
    uint32_t block_size;
} shapes[UNKNOWNS] = {
    {"5:2", 3, 64},
    {"1:1:2", 2, 64},                               /* 56 probes of one table */
    {"@f000000000000000,@0f00000000000000", 1, 64}, /* 512 candidates a probe */
    {"5:2", 3, 512},
    {"@f000000000000000,@0f00000000000000", 1, 512},
};

/* An index that stays in the caches, and the shortest times measured so far. */
struct small_index {
    const struct shape *shape;
    struct idx_index *index;
    uint64_t queries[QUERIES];
    double together, alone; /* nanoseconds per query, of many looked up by one call, and of one by one call */
};

/* What measure_work measures: the small indexes, and scratch for the results of look-ups. */
struct work {
    struct small_index indexes[UNKNOWNS];
    struct idx_match matches[BATCH];
    size_t counts[BATCH];
};

/* ---- Small indexes ---- */

/* Returns fingerprint `i` of each index: they are evenly spread, and the same in every run. */
static uint64_t make_fingerprint(uint64_t i) { return idxi_hash_fingerprint(i); }

/* Sets small->queries: half of them are a fingerprint of the index with 0 to k + 2 bits flipped, the others are random.
 * small->shape must be set. */
static void make_queries(struct small_index *small) {
    for (uint64_t i = 0; i < QUERIES; i++) {
        uint64_t random = idxi_hash_fingerprint(FINGERPRINTS + i);
        small->queries[i] = random;
        if (i % 2 == 0) continue;
        small->queries[i] = make_fingerprint(random % FINGERPRINTS);
        for (uint64_t flips = i / 2 % (small->shape->k + 3); flips > 0; flips--)
            small->queries[i] ^= UINT64_C(1) << (random >> 8 * flips) % 64;
    }
}

/* Adds the FINGERPRINTS fingerprints of every small index to a builder, and finishes it. */
static enum idx_status add_fingerprints_and_finish(struct idx_builder *builder, struct idx_error *error) {
    for (uint64_t i = 0; i < FINGERPRINTS; i++)
        IDXI_TRY(idx_builder_add(builder, &(struct idx_item){.fingerprint = make_fingerprint(i)}, error));
    return idx_builder_finish(builder, NULL, error);
}

/* Builds an index at `path`, opens it, and removes its files, which an open index does not need any more. The caller
 * closes small->index unless it is NULL. */
static enum idx_status build_and_open_index(struct small_index *small, const struct shape *shape, const char *path,
                                            struct idx_error *error) {
    struct idx_build_options options = IDX_BUILD_OPTIONS_INIT;
    struct idx_open_options opening = IDX_OPEN_OPTIONS_INIT;
    struct idx_builder *builder;
    small->shape = shape;
    make_queries(small);
    options.scheme = shape->scheme;
    options.k = shape->k;
    options.block_size = shape->block_size;
    options.id_type = IDX_ID_NONE;
    options.memory_bytes = (uint64_t)64 << 20;
    opening.residence = IDX_RESIDENCE_ALL;
    IDXI_TRY(idx_builder_open(&builder, path, &options, error));
    enum idx_status status = add_fingerprints_and_finish(builder, error);
    idx_builder_close(builder);
    if (status == IDX_OK) status = idx_open(&small->index, path, &opening, error);
    idxi_remove_tree(AT_FDCWD, path);
    return status;
}

/* ---- Look-ups ---- */

/* Looks up BATCH queries of an index together, and SINGLES of them alone. Each round takes other queries. Lowers
 * small->together and small->alone to the times of this round if these are shorter. */
static enum idx_status time_look_ups(struct work *work, struct small_index *small, unsigned round,
                                     struct idx_error *error) {
    const uint64_t *queries = small->queries + round * BATCH % QUERIES;
    struct idx_lookup_options options = IDX_LOOKUP_OPTIONS_INIT;
    options.distance = small->shape->k;
    double begin = get_processor_time();
    IDXI_TRY(idx_lookup_many(small->index, queries, BATCH, &options, work->matches, 1, work->counts, error));
    double middle = get_processor_time();
    for (size_t i = 0; i < SINGLES; i++)
        IDXI_TRY(idx_lookup(small->index, queries[i], options.distance, work->matches, 1, work->counts, error));
    small->together = fmin(small->together, (middle - begin) / BATCH * 1e9);
    small->alone = fmin(small->alone, (get_processor_time() - middle) / SINGLES * 1e9);
    return IDX_OK;
}

/* Times look-ups of all indexes, ROUNDS times or as long as MAX_SECONDS allow. The indexes take turns, so that what
 * disturbs for a while does not hit one index alone. */
static enum idx_status time_all_look_ups(struct work *work, struct idx_error *error) {
    for (size_t i = 0; i < UNKNOWNS; i++) work->indexes[i].together = work->indexes[i].alone = INFINITY;
    double end_time = get_clock_time() + MAX_SECONDS;
    for (unsigned round = 0; round < ROUNDS && (round < MIN_ROUNDS || get_clock_time() < end_time); round++) {
        for (size_t i = 0; i < UNKNOWNS; i++) IDXI_TRY(time_look_ups(work, &work->indexes[i], round, error));
    }
    return IDX_OK;
}

/* ---- Solving ---- */

/* Sets an equation: equation[i] is how often a query of the index takes unknown time i, and equation[UNKNOWNS] how many
 * nanoseconds the query takes. The bytes of the smallest block belong to the time of a probe, further ones to BYTE. */
static enum idx_status set_equation(const struct small_index *small, double equation[UNKNOWNS + 1],
                                    struct idx_error *error) {
    struct idx_plan_options options = IDX_PLAN_OPTIONS_INIT;
    struct idx_properties properties;
    struct idx_plan plan;
    options.count = FINGERPRINTS;
    options.k = small->shape->k;
    options.block_size = small->shape->block_size;
    idx_get_properties(small->index, &properties);
    IDXI_TRY(idx_plan_scheme(&options, properties.scheme, &plan, error));
    equation[TABLE] = (double)plan.tables;
    equation[PROBE] = plan.probes;
    equation[BYTE] = plan.probes * (options.block_size - IDX_MIN_BLOCK_SIZE);
    equation[BLOCK] = plan.blocks - plan.probes;
    equation[CANDIDATE] = plan.candidates;
    equation[UNKNOWNS] = small->together;
    return IDX_OK;
}

/* Sets solution[i] to unknown time i, or to 0 if that is below 0. The equations must be independent; Gauss and Jordan's
 * method overwrites them. */
static void solve_equations(double equations[UNKNOWNS][UNKNOWNS + 1], double solution[UNKNOWNS]) {
    for (size_t column = 0; column < UNKNOWNS; column++) {
        size_t pivot = column;
        for (size_t row = column; row < UNKNOWNS; row++) {
            if (fabs(equations[row][column]) > fabs(equations[pivot][column])) pivot = row;
        }
        for (size_t i = 0; i <= UNKNOWNS; i++) {
            double swapped = equations[column][i];
            equations[column][i] = equations[pivot][i];
            equations[pivot][i] = swapped;
        }
        for (size_t row = 0; row < UNKNOWNS; row++) {
            double factor = row == column ? 0 : equations[row][column] / equations[column][column];
            for (size_t i = 0; i <= UNKNOWNS; i++) equations[row][i] -= factor * equations[column][i];
        }
    }
    for (size_t i = 0; i < UNKNOWNS; i++) solution[i] = fmax(equations[i][UNKNOWNS] / equations[i][i], 0);
}

/* Measures look-ups of all indexes, and sets the times of table, probe, byte, block, candidate and single of
 * *calibration, in nanoseconds, to those that explain what was measured. */
static enum idx_status measure_work(struct work *work, struct idx_calibration *calibration, struct idx_error *error) {
    double equations[UNKNOWNS][UNKNOWNS + 1], solution[UNKNOWNS];
    IDXI_TRY(time_all_look_ups(work, error));
    for (size_t i = 0; i < UNKNOWNS; i++) IDXI_TRY(set_equation(&work->indexes[i], equations[i], error));
    solve_equations(equations, solution);
    calibration->table = solution[TABLE];
    calibration->probe = solution[PROBE];
    calibration->byte = solution[BYTE];
    calibration->block = solution[BLOCK];
    calibration->candidate = solution[CANDIDATE];
    calibration->single = fmax(work->indexes[0].alone - work->indexes[0].together, 0);
    return IDX_OK;
}

/* ---- The call ---- */

/* Builds and opens all indexes, one after the other at the same path in `folder`: each is removed from there once it is
 * open. The caller closes those that are not NULL, also after an error. */
static enum idx_status build_and_open_all_indexes(struct work *work, const char *folder, struct idx_error *error) {
    char path[4096];
    uint8_t uuid[16];
    IDXI_TRY(idxi_make_uuid(uuid, error)); /* six of these bytes are enough for a unique name */
    int length = snprintf(path, sizeof path, "%s/idx-calibrate-%02x%02x%02x%02x%02x%02x", folder, uuid[0], uuid[1],
                          uuid[2], uuid[3], uuid[4], uuid[5]);
    if (length < 0 || (size_t)length >= sizeof path)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, folder, "is too long a path for a temporary folder");
    for (size_t i = 0; i < UNKNOWNS; i++) IDXI_TRY(build_and_open_index(&work->indexes[i], &shapes[i], path, error));
    return IDX_OK;
}

enum idx_status idx_calibrate(struct idx_calibration *calibration, const char *temporary_folder,
                              struct idx_error *error) {
    struct idx_calibration measured = IDX_CALIBRATION_INIT;
    struct work *work = calloc(1, sizeof *work);
    if (work == NULL) return idxi_fail_memory(error);
    enum idx_status status = build_and_open_all_indexes(
        work, temporary_folder == NULL ? idxi_get_system_temporary_folder() : temporary_folder, error);
    if (status == IDX_OK) status = measure_work(work, &measured, error);
    for (size_t i = 0; i < UNKNOWNS; i++) {
        if (work->indexes[i].index != NULL) idx_close(work->indexes[i].index);
    }
    free(work);
    if (status == IDX_OK) status = measure_waits(&measured, error);
    if (status == IDX_OK) status = idxi_copy_options(calibration, &measured, error);
    return status;
}
