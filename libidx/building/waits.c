/* waits.c: see waits.h. Lines at random places are read: many at a time, prefetched in groups as look-ups do that, and
 * one after the other, each place depending on the line before. */
#include "libidx/building/waits.h"

#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#include "libidx/base/error.h"
#include "libidx/base/memory.h"

#define LINE_BYTES 64
#define HUGE_BYTES ((size_t)2 << 20)
#define GROUP 64

/* The sizes of struct idx_calibration. */
#define GET_BYTES(i) ((size_t)IDX_CALIBRATION_LEAST << 2 * (i))

/* Memory is taken, four times as much each time, until that took so long in all, or a share of what is free is in use.
 */
#define MAX_TAKING_SECONDS 1.2
#define MAX_BYTES ((size_t)4 << 30)
#define FREE_SHARE 4

/* Sizes are measured in turns, and of each the lowest tenth counts: others that use the machine disturb most. Each turn
 * begins with lines that don't count, so that the caches, also those of the page tables, have what they would have.
 * Where others leave little of the processor, there are fewer turns. */
#define TURNS 40
#define LEAST_TURNS 3
#define MAX_SECONDS 1.9 /* by the clock, of small pages or of huge ones, with taking the memory */
#define SAMPLES_A_TURN 4
#define SAMPLES (TURNS * SAMPLES_A_TURN)
#define IGNORED 16384
#define GATHERED 8192
#define CHASED 512

static double get_time(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

double idxi_processor_time(void) { return get_time(CLOCK_THREAD_CPUTIME_ID); }

double idxi_clock_time(void) { return get_time(CLOCK_MONOTONIC); }

/* Anonymous memory that is taken bit by bit, and random numbers. */
struct arena {
    uint8_t *map, *bytes;
    size_t reserved, taken;
    double begin; /* by the clock */
    uint64_t random;
};

/* A line at random, by a generator that takes next to no time (Knuth's, of MMIX). */
static inline size_t place(uint64_t *random, size_t lines) {
    *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (size_t)((*random >> 32) * lines >> 32) * LINE_BYTES;
}

/* Seconds per line. */
static double gather(struct arena *arena, size_t lines, size_t count) {
    const uint8_t *bytes = arena->bytes;
    uint64_t random = arena->random, sum = 0;
    double begin = idxi_processor_time();
    for (size_t i = 0; i < count; i += GROUP) {
        size_t places[GROUP];
        for (size_t j = 0; j < GROUP; j++) {
            places[j] = place(&random, lines);
            __builtin_prefetch(bytes + places[j], 0, 2);
        }
        for (size_t j = 0; j < GROUP; j++) sum += bytes[places[j]];
    }
    arena->random = random + sum;
    return (idxi_processor_time() - begin) / (double)count;
}

static double chase(struct arena *arena, size_t lines) {
    const uint8_t *bytes = arena->bytes;
    uint64_t random = arena->random;
    double begin = idxi_processor_time();
    for (size_t i = 0; i < CHASED; i++) random += bytes[place(&random, lines)];
    arena->random = random;
    return (idxi_processor_time() - begin) / CHASED;
}

/* Takes memory up to `bytes`, unless that takes too long. The first sizes are taken however long that takes: others are
 * extrapolated from them. */
static bool take(struct arena *arena, size_t bytes) {
    for (; arena->taken < bytes; arena->taken += 4096) {
        bool is_asked = arena->taken > 0 && arena->taken % HUGE_BYTES == 0;
        if (is_asked && idxi_clock_time() > arena->begin + MAX_TAKING_SECONDS) return false;
        arena->bytes[arena->taken] = 1;
    }
    return true;
}

/* Each four times as much adds as much as the one before. */
static void extrapolate(double *waits, size_t known) {
    for (size_t i = known; i < IDX_CALIBRATION_SIZES; i++)
        waits[i] = waits[i - 1] + fmax(waits[known - 1] - waits[known - 2], 0);
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of each size, and of a single line, which is what the loops themselves take. */
struct samples {
    size_t count;
    double gathered[IDX_CALIBRATION_SIZES + 1][SAMPLES], chased[IDX_CALIBRATION_SIZES + 1][SAMPLES];
};

/* Beyond what a single line takes, in nanoseconds. */
static void settle(double samples[][SAMPLES], size_t count, size_t known, double *waits) {
    for (size_t i = 0; i <= known; i++) qsort(samples[i], count, sizeof **samples, compare);
    for (size_t i = 0; i < known; i++) waits[i] = fmax(samples[i + 1][count / 10] - samples[0][count / 10], 0) * 1e9;
    extrapolate(waits, known);
}

static void measure(struct arena *arena, struct samples *samples, double *waits, double *latencies) {
    size_t known = 0;
    samples->count = 0;
    while (known < IDX_CALIBRATION_SIZES && GET_BYTES(known) <= arena->reserved && take(arena, GET_BYTES(known)))
        known++;
    for (size_t turn = 0; turn < TURNS; turn++) {
        if (turn >= LEAST_TURNS && idxi_clock_time() > arena->begin + MAX_SECONDS) break;
        for (size_t i = 0; i <= known; i++) {
            size_t lines = i == 0 ? 1 : GET_BYTES(i - 1) / LINE_BYTES;
            gather(arena, lines, IGNORED);
            for (size_t sample = samples->count; sample < samples->count + SAMPLES_A_TURN; sample++) {
                samples->gathered[i][sample] = gather(arena, lines, GATHERED);
                samples->chased[i][sample] = chase(arena, lines);
            }
        }
        samples->count += SAMPLES_A_TURN;
    }
    settle(samples->gathered, samples->count, known, waits);
    settle(samples->chased, samples->count, known, latencies);
}

/* At least 16 MiB, which every machine has. */
static size_t find_room(void) {
    uint64_t free_half = 0;
    struct idx_error error;
    size_t room = GET_BYTES(4);
    if (idxi_memory_settle(&free_half, &error) != IDX_OK) return room;
    while (room < MAX_BYTES && room * 2 <= free_half * 2 / FREE_SHARE) room *= 2;
    return room;
}

static enum idx_status measure_pages(bool huge, struct samples *samples, double *waits, double *latencies,
                                     struct idx_error *error) {
    struct arena arena = {.reserved = find_room(), .begin = idxi_clock_time(), .random = 1};
    size_t bytes = arena.reserved + HUGE_BYTES;
    void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED) return idxi_fail_memory(error);
    arena.bytes = (uint8_t *)(((uintptr_t)map + HUGE_BYTES - 1) / HUGE_BYTES * HUGE_BYTES);
#ifdef MADV_HUGEPAGE
    madvise(arena.bytes, arena.reserved, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
#endif
    arena.bytes[0] = 1;
    measure(&arena, samples, waits, latencies);
    munmap(map, bytes);
    return IDX_OK;
}

enum idx_status idxi_measure_waits(struct idx_calibration *found, struct idx_error *error) {
    struct samples *samples = malloc(sizeof *samples);
    if (samples == NULL) return idxi_fail_memory(error);
    /* Small pages first: a virtual machine may take memory for the first time, and zeroing huge pages is slow enough.
     */
    enum idx_status status = measure_pages(false, samples, found->mapped_waits, found->mapped_latencies, error);
    if (status == IDX_OK) status = measure_pages(true, samples, found->loaded_waits, found->loaded_latencies, error);
    free(samples);
    return status;
}
