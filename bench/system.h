/* system.h: what the benchmark asks of a system that it measures: to be built from the data in one configuration, to
 * answer queries, to say its bytes, to be freed. Each system's file offers a function NAME_build for each of its kinds;
 * they return false when the system can't be had here, and say why on standard error. */
#ifndef BENCH_SYSTEM_H
#define BENCH_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct data {
    const uint64_t *fingerprints; /* distinct, ascending */
    size_t count;
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

enum mode {
    MODE_SINGLE,  /* a query is answered before the next is looked at */
    MODE_STAGED,  /* many queries are under way at once, on one thread */
    MODE_THREADS, /* as staged, on several threads */
};

struct system {
    const char *name;
    char scheme[64]; /* a scheme, or what the system has in its place; "-" where there is nothing to choose */
    uint32_t block_size;
    double table_bytes;    /* table files, or the peer's whole structure */
    double resident_bytes; /* what opening table files allocates */
    void *state;
    void (*answer)(const struct system *system, enum mode mode, const uint64_t *queries, size_t count,
                   struct answers *answers);
    void (*free)(struct system *system);
};

#ifdef __cplusplus
}
#endif

#endif
