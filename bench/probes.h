/* probes.h: uncompressed tables in memory, cut into cells by their top bits, and probed in stages: what the systems
 * over sorted tables and over hash buckets share. A cell holds fingerprints, or in their place numbers of
 * fingerprints. */
#ifndef BENCH_PROBES_H
#define BENCH_PROBES_H

#include "bench/processor.h"
#include "bench/system.h"

#define MAX_PROBE_TABLES 256

/* A table to be made: as a table of idx has them. */
struct probe_table_plan {
    uint64_t mask;
    unsigned radius;
    unsigned cell_bits; /* at most those of the mask */
};

/* At least 1. */
static inline unsigned log2_floor(size_t count) {
    unsigned bits = 1;
    while (bits < 31 && count >> (bits + 1) != 0) bits++;
    return bits;
}

struct probes;

double probes_bytes(size_t count, const struct probe_table_plan *plans, size_t table_count, bool by_number);

struct probes *probes_new(const struct data *data, const struct probe_table_plan *plans, size_t table_count,
                          bool by_number, enum instructions instructions);

/* `staged`: several queries are under way at once. */
void probes_answer(const struct probes *probes, bool staged, const uint64_t *queries, size_t count,
                   struct answers *answers);

void probes_free(struct probes *probes);

#endif
