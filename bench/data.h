/* data.h: the data that all systems are built from, deterministic, made or from a file; and the sort for that. */
#ifndef BENCH_DATA_H
#define BENCH_DATA_H

#include "bench/system.h"

/* Fingerprints: nine tenths random, a tenth copies of earlier ones with 1 to k + 3 bits flipped; equal ones are kept
 * once. Queries: half random, half a fingerprint with 0 to k + 2 bits flipped. */
void make_data(struct data *data, size_t count, size_t query_count, unsigned k);

/* Fingerprints alone, no queries: `percent` of 100 are copies of earlier ones with 1 to 3 bits flipped, the others
 * random; equal ones are kept once. */
void make_copies(struct data *data, size_t count, unsigned percent);

/* As make_data, of a file that holds fingerprints, 8 bytes each, little-endian; equal ones are kept once. Queries: half
 * a fingerprint with 8 to 20 bits flipped, which looks real and has hardly a neighbour, half one with 0 to k bits
 * flipped. Returns how many fingerprints the file holds, equal ones included. */
size_t read_data(struct data *data, const char *path, size_t query_count, unsigned k);

/* `count` is what make_data or make_copies got, or what the others returned. */
void free_data(struct data *data, size_t count);

/* The distinct fingerprints of such a file alone, ascending, and no queries. */
size_t read_fingerprints(struct data *data, const char *path);

/* Sorts by `bits` bits from `low_bit` on, and keeps the order of those that are equal there. Returns where the sorted
 * values stand: in `values` or in `spare`, which holds as many. */
uint64_t *sort_by_bits(uint64_t *values, uint64_t *spare, size_t count, unsigned low_bit, unsigned bits);

#endif
