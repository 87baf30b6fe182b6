/* data.h: the data that all systems are built from, deterministic, made or from a file; and the sort for that. */
#ifndef BENCH_DATA_H
#define BENCH_DATA_H

#include "bench/bench.h"

struct data {
    const uint64_t *fingerprints; /* distinct, ascending */
    size_t count, room;           /* fingerprints; how many the memory has room for */
    const uint64_t *queries;
    size_t query_count;
    unsigned k;
};

/* The answers to a number of queries: how many matches, and an order-independent hash of which. */
struct answers {
    uint64_t matches;
    uint64_t hash;
};

/* Each match of a query is to be added once; `query` is its number. */
static inline void add_match(struct answers *answers, size_t query, uint64_t fingerprint) {
    uint64_t mixed = fingerprint * UINT64_C(0x9e3779b97f4a7c15) + query * UINT64_C(0xc2b2ae3d27d4eb4f);
    mixed = (mixed ^ mixed >> 32) * UINT64_C(0xd6e8feb86659fd93);
    mixed = (mixed ^ mixed >> 32) * UINT64_C(0xd6e8feb86659fd93);
    answers->matches++;
    answers->hash += mixed ^ mixed >> 32;
}

/* Sorts fingerprints in memory of huge_new with room for `room`, keeps equal ones once, and takes that memory over.
 * There are no queries. */
void set_fingerprints(struct data *data, uint64_t *fingerprints, size_t count, size_t room);

/* Fingerprints: nine tenths random, a tenth copies of earlier ones with 1 to k + 3 bits flipped; equal ones are kept
 * once. Queries: half random, half a fingerprint with 0 to k + 2 bits flipped. */
void make_data(struct data *data, size_t count, size_t query_count, unsigned k);

/* As make_data, of a file that holds fingerprints, 8 bytes each, little-endian; equal ones are kept once. Queries: half
 * a fingerprint with 8 to 20 bits flipped, which looks real and has hardly a neighbour, half one with 0 to k bits
 * flipped. */
void read_data(struct data *data, const char *path, size_t query_count, unsigned k);

/* What make_data makes, or read_data where a path is given; one of `count` and `path` must be given. */
void get_data(struct data *data, const char *path, size_t count, size_t query_count, unsigned k);

void free_data(struct data *data);

/* Sorts by `bits` bits from `low_bit` on, and keeps the order of those that are equal there. Returns where the sorted
 * values stand: in `values` or in `spare`, which holds as many. */
uint64_t *sort_by_bits(uint64_t *values, uint64_t *spare, size_t count, unsigned low_bit, unsigned bits);

#endif
