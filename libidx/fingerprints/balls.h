/* balls.h: finds the pairs among fingerprints in memory that differ in few bits, or in many. */
#ifndef IDX_LIBIDX_BALLS_H
#define IDX_LIBIDX_BALLS_H

#include <idx.h>

#include "libidx/fingerprints/compare.h"

/* How often buckets are cut again within buckets. */
#define IDXI_MAX_BALL_DEPTH 4

/* Pairs that differ in at most `radius` of the bits of `mask`. */
struct idxi_ball {
    uint64_t mask;
    unsigned radius;
};

/* Those of a cut, at each depth; and others that the owner knows: one for each table and each error in its prefix. */
#define IDXI_MAX_BALLS_BEFORE ((IDX_MAX_K + 1) * (IDXI_MAX_BALL_DEPTH + 1) + IDX_MAX_TABLES + IDX_MAX_RADIUS + 1)

/* How the bits are cut: a pair within the distance lies in at least one of the balls. */
struct idxi_cut {
    size_t count;   /* 0: all are compared with all */
    unsigned width; /* bits of each mask */
    struct idxi_ball balls[IDX_MAX_K + 1];
};

/* What one thread needs to search. */
struct idxi_balls {
    struct idxi_comparison comparison; /* idxi_balls_init sets its functions. */
    const struct idxi_compare_way *way;
    void (*found)(void *context, uint64_t a, uint64_t b);
    bool (*goes_on)(void *context); /* It is called every few milliseconds; false ends the search early. */
    void *context;
    /* A pair that lies in one of these was found before. */
    struct idxi_ball before[IDXI_MAX_BALLS_BEFORE];
    size_t before_count;
    unsigned depth;
    uint64_t memory; /* bytes that sorting may take */
};

/* Fingerprints sorted by the bits of a ball's mask. The members of the bucket with value v, which is these bits moved
 * together, are those from starts[v] to starts[v + 1]. */
struct idxi_buckets {
    uint64_t *fingerprints;
    uint32_t *starts; /* There is room for 2 more than there are values. */
};

/* Two sides that were sorted. */
struct idxi_sorted {
    struct idxi_buckets a, b;
    bool within; /* Pairs of `a` alone are searched, and `b` is `a`. */
    unsigned width, radius;
};

/* Sorts one side into buckets. */
void idxi_buckets_fill(const struct idxi_compare_way *way, struct idxi_buckets *buckets, const uint64_t *from,
                       size_t count, uint64_t mask);

void idxi_balls_init(struct idxi_balls *balls, unsigned distance);

/* Chooses how to cut: fingerprints `a` against `b`, or, where `b` is NULL, `a` against itself. Fewer than 2^32 of
 * each. */
void idxi_cut_choose(struct idxi_cut *cut, const struct idxi_compare_way *way, unsigned distance, const uint64_t *a,
                     size_t a_count, const uint64_t *b, size_t b_count);

/* The nanoseconds that a search of so many uniform fingerprints of `bits` bits is expected to take on one thread; `b`
 * 0: of `a` against itself. */
double idxi_cut_expect(const struct idxi_compare_way *way, unsigned distance, unsigned bits, double a, double b);

/* The bytes that sorting so many fingerprints of one side takes. */
uint64_t idxi_buckets_bytes(size_t count, unsigned width);

/* The search of a ball is done in so many steps, in any order, by any number of threads. */
size_t idxi_sorted_steps(const struct idxi_sorted *sorted);
void idxi_sorted_search(struct idxi_balls *balls, const struct idxi_sorted *sorted, size_t step);

/* Finds all pairs within the distance between `a` and `b`, or, where `b` is NULL, within `a`, each once, except those
 * in balls->before. It takes memory for sorting; without that it compares all with all. */
void idxi_balls_match(struct idxi_balls *balls, const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count);

#endif
