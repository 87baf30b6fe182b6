/* data.h: the data that all systems are built from, deterministic; and the sort that makes it. */
#ifndef BENCH_DATA_H
#define BENCH_DATA_H

#include "bench/system.h"

/* Fingerprints: nine tenths random, a tenth copies of earlier ones with 1 to k + 3 bits flipped; equal ones are kept
 * once. Queries: half random, half a fingerprint with 0 to k + 2 bits flipped. */
void make_data(struct data *data, size_t count, size_t query_count, unsigned k);

void free_data(struct data *data, size_t count);

/* Sorts by `bits` bits from `low_bit` on, and keeps the order of those that are equal there. Returns where the sorted
 * values stand: in `values` or in `spare`, which holds as many. */
uint64_t *sort_by_bits(uint64_t *values, uint64_t *spare, size_t count, unsigned low_bit, unsigned bits);

#endif
