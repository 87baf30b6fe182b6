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

/* Adds a match of the query with that number. Each match is added once. */
static inline void add_match(struct answers *answers, size_t query, uint64_t fingerprint) {
    uint64_t mixed = fingerprint * UINT64_C(0x9e3779b97f4a7c15) + query * UINT64_C(0xc2b2ae3d27d4eb4f);
    mixed = (mixed ^ mixed >> 32) * UINT64_C(0xd6e8feb86659fd93);
    mixed = (mixed ^ mixed >> 32) * UINT64_C(0xd6e8feb86659fd93);
    answers->matches++;
    answers->hash += mixed ^ mixed >> 32;
}

/* Sorts fingerprints in memory of huge_new, which has room for `room` and then belongs to `data`, and keeps equal ones
 * once. There are no queries yet. */
void set_fingerprints(struct data *data, uint64_t *fingerprints, size_t count, size_t room);

/* How many of 100 queries are near to a fingerprint: 0 to 100; half of them, unless an option says otherwise. */
extern unsigned near_percent;

/* Makes fingerprints: nine tenths are random, a tenth are copies of earlier ones with 1 to k + 3 bits flipped, and
 * equal ones count once. Queries are random, or near: fingerprints with 0 to k + 2 bits flipped. */
void make_data(struct data *data, size_t count, size_t query_count, unsigned k);

/* Reads a file of fingerprints, 8 bytes each, little-endian, and keeps equal ones once. Queries are fingerprints
 * with 8 to 20 bits flipped, which look real and have hardly a neighbour, or near: with 0 to k. */
void read_data(struct data *data, const char *path, size_t query_count, unsigned k);

/* Reads the data if a path is given, and otherwise makes them; one of `count` and `path` must be given. */
void get_data(struct data *data, const char *path, size_t count, size_t query_count, unsigned k);

void free_data(struct data *data);

/* Sorts by `bits` bits from `low_bit` on, and keeps the order of values that are equal there. Returns the sorted
 * values, which are in `values` or in `spare`; both have room for `count`. */
uint64_t *sort_by_bits(uint64_t *values, uint64_t *spare, size_t count, unsigned low_bit, unsigned bits);

#endif
