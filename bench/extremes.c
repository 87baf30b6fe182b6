/* extremes.c: the two extremes that the paper starts from (section 3): all patterns of up to k flips probed in one
 * sorted table, and the table of all neighbours of all fingerprints, sorted. */
#include "bench/systems.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Patterns ---- */

/* Probes that wait for memory together. */
#define PATTERNS_TOGETHER 64

struct patterns {
    const struct data *data;
    unsigned directory_bits;
    uint32_t *directory; /* of the top bits: the first fingerprint that has them, or more */
    uint64_t *flips;
    size_t flip_count;
};

/* The flips of up to `most` of the bits below `below`, added to `flip`; counts them when `flips` is NULL. */
static size_t list_flips(uint64_t *flips, size_t count, unsigned below, unsigned most, uint64_t flip) {
    if (flips != NULL) flips[count] = flip;
    count++;
    if (most == 0) return count;
    for (unsigned bit = 0; bit < below; bit++)
        count = list_flips(flips, count, bit, most - 1, flip | UINT64_C(1) << bit);
    return count;
}

static uint64_t *all_flips(unsigned k, size_t *count) {
    *count = list_flips(NULL, 0, 64, k, 0);
    uint64_t *flips = malloc(*count * sizeof *flips);
    if (flips == NULL) die("out of memory");
    list_flips(flips, 0, 64, k, 0);
    return flips;
}

static void probe_patterns(const struct patterns *patterns, const uint64_t *flips, size_t flip_count, uint64_t query,
                           size_t number, struct answers *answers) {
    const uint64_t *fingerprints = patterns->data->fingerprints;
    const uint32_t *bounds[PATTERNS_TOGETHER];
    for (size_t i = 0; i < flip_count; i++) {
        bounds[i] = &patterns->directory[(query ^ flips[i]) >> (64 - patterns->directory_bits)];
        __builtin_prefetch(bounds[i]);
    }
    for (size_t i = 0; i < flip_count; i++) __builtin_prefetch(&fingerprints[bounds[i][0]]);
    for (size_t i = 0; i < flip_count; i++) {
        uint64_t wanted = query ^ flips[i];
        for (uint32_t j = bounds[i][0]; j < bounds[i][1]; j++) {
            if (fingerprints[j] == wanted) add_match(answers, number, wanted);
        }
    }
}

static void answer_patterns(const struct system *system, enum mode mode, const uint64_t *queries, size_t count,
                            struct answers *answers) {
    const struct patterns *patterns = system->state;
    (void)mode;
    for (size_t query = 0; query < count; query++) {
        for (size_t begin = 0; begin < patterns->flip_count; begin += PATTERNS_TOGETHER) {
            size_t left = patterns->flip_count - begin;
            probe_patterns(patterns, patterns->flips + begin, left < PATTERNS_TOGETHER ? left : PATTERNS_TOGETHER,
                           queries[query], query, answers);
        }
    }
}

static size_t patterns_directory_bytes(const struct patterns *patterns) {
    return (((size_t)1 << patterns->directory_bits) + 1) * sizeof *patterns->directory;
}

static void free_patterns(struct system *system) {
    struct patterns *patterns = system->state;
    huge_free(patterns->directory, patterns_directory_bytes(patterns));
    free(patterns->flips);
    free(patterns);
}

bool patterns_build(struct system *system, const struct data *data) {
    struct patterns *patterns = calloc(1, sizeof *patterns);
    if (patterns == NULL) die("out of memory");
    patterns->data = data;
    patterns->flips = all_flips(data->k, &patterns->flip_count);
    patterns->directory_bits = 1;
    while ((size_t)1 << patterns->directory_bits < data->count) patterns->directory_bits++;
    patterns->directory = huge_new(patterns_directory_bytes(patterns));
    size_t next = 0;
    for (size_t cell = 0; cell <= (size_t)1 << patterns->directory_bits; cell++) {
        while (next < data->count && data->fingerprints[next] >> (64 - patterns->directory_bits) < cell) next++;
        patterns->directory[cell] = (uint32_t)next;
    }
    *system = (struct system){.name = "patterns",
                              .table_bytes = (double)data->count * 8 + (double)patterns_directory_bytes(patterns),
                              .state = patterns,
                              .answer = answer_patterns,
                              .free = free_patterns};
    snprintf(system->scheme, sizeof system->scheme, "%zu probes", patterns->flip_count);
    return true;
}

/* ---- Precomputed ---- */

/* A neighbour's top bits choose its cell; its other bits, and below them the number of the fingerprint that it is a
 * neighbour of, make an entry. */
#define CELL_BITS 26
#define NUMBER_BITS CELL_BITS
#define NUMBER_MASK ((UINT64_C(1) << NUMBER_BITS) - 1)

struct precomputed {
    const struct data *data;
    uint32_t *cells; /* where each begins; one more at the end */
    uint64_t *entries;
    size_t entry_count;
};

#define CELLS_BYTES ((((size_t)1 << CELL_BITS) + 1) * sizeof(uint32_t))

static void answer_precomputed(const struct system *system, enum mode mode, const uint64_t *queries, size_t count,
                               struct answers *answers) {
    const struct precomputed *precomputed = system->state;
    (void)mode;
    for (size_t query = 0; query < count; query++) {
        const uint32_t *bounds = &precomputed->cells[queries[query] >> (64 - CELL_BITS)];
        uint64_t wanted = queries[query] << NUMBER_BITS;
        uint32_t low = bounds[0], end = bounds[1];
        for (uint32_t high = end; low < high;) {
            uint32_t middle = low + (high - low) / 2;
            if (precomputed->entries[middle] < wanted)
                low = middle + 1;
            else
                high = middle;
        }
        for (; low < end && (precomputed->entries[low] & ~NUMBER_MASK) == wanted; low++)
            add_match(answers, query, precomputed->data->fingerprints[precomputed->entries[low] & NUMBER_MASK]);
    }
}

static void free_precomputed(struct system *system) {
    struct precomputed *precomputed = system->state;
    huge_free(precomputed->cells, CELLS_BYTES);
    huge_free(precomputed->entries, precomputed->entry_count * sizeof *precomputed->entries);
    free(precomputed);
}

/* A counting sort into cells, then each cell. Cells' ends become their beginnings while they are filled from behind. */
static void fill_precomputed(struct precomputed *precomputed, const uint64_t *flips, size_t flip_count) {
    const struct data *data = precomputed->data;
    uint32_t *cells = precomputed->cells;
    size_t cell_count = (size_t)1 << CELL_BITS;
    for (size_t i = 0; i < data->count; i++) {
        for (size_t j = 0; j < flip_count; j++) cells[(data->fingerprints[i] ^ flips[j]) >> (64 - CELL_BITS)]++;
    }
    for (size_t cell = 1; cell <= cell_count; cell++) cells[cell] += cells[cell - 1];
    for (size_t i = 0; i < data->count; i++) {
        for (size_t j = 0; j < flip_count; j++) {
            uint64_t neighbour = data->fingerprints[i] ^ flips[j];
            precomputed->entries[--cells[neighbour >> (64 - CELL_BITS)]] = neighbour << NUMBER_BITS | i;
        }
    }
    for (size_t cell = 0; cell < cell_count; cell++)
        sort_numbers(precomputed->entries + cells[cell], cells[cell + 1] - cells[cell]);
}

bool precomputed_build(struct system *system, const struct data *data) {
    size_t flip_count;
    uint64_t *flips = all_flips(data->k, &flip_count);
    size_t entry_count = data->count * flip_count;
    double bytes = (double)entry_count * sizeof(uint64_t) + (double)CELLS_BYTES;
    if (entry_count > UINT32_MAX || !memory_suffices("precomputed", "-", bytes)) {
        free(flips);
        return false;
    }
    struct precomputed *precomputed = malloc(sizeof *precomputed);
    if (precomputed == NULL) die("out of memory");
    *precomputed = (struct precomputed){data, huge_new(CELLS_BYTES), huge_new(entry_count * 8), entry_count};
    fill_precomputed(precomputed, flips, flip_count);
    free(flips);
    *system = (struct system){.name = "precomputed",
                              .scheme = "-",
                              .table_bytes = bytes,
                              .state = precomputed,
                              .answer = answer_precomputed,
                              .free = free_precomputed};
    return true;
}
