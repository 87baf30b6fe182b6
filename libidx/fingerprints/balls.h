/* balls.h: finds the pairs among fingerprints in memory that differ in few bits, or in many. */
#ifndef IDX_LIBIDX_BALLS_H
#define IDX_LIBIDX_BALLS_H

#include <idx.h>

#include "libidx/base/base.h"
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

void idxi_balls_init(struct idxi_balls *balls, unsigned distance);

/* Chooses how to cut: fingerprints `a` against `b`, or, where `b` is NULL, `a` against itself. Fewer than 2^32 of
 * each. */
void idxi_cut_choose(struct idxi_cut *cut, const struct idxi_compare_way *way, unsigned distance, const uint64_t *a,
                     size_t a_count, const uint64_t *b, size_t b_count);

/* Cuts into one ball without a radius for each error that there may be and one more, by up to `width` bits each, which
 * `fingerprints` vary in. Leaves no balls where they vary in fewer bits. */
void idxi_cut_evenly(struct idxi_cut *cut, unsigned width, unsigned distance, const uint64_t *fingerprints,
                     size_t count);

/* The nanoseconds that a search of so many uniform fingerprints of `bits` bits is expected to take on one thread; `b`
 * 0: of `a` against itself. */
double idxi_cut_expect(const struct idxi_compare_way *way, unsigned distance, unsigned bits, double a, double b);

/* Finds all pairs within the distance between `a` and `b`, or, where `b` is NULL, within `a`, each once, by a thread
 * for each of the team. Takes about `memory` bytes; where that is short, the sides are cut, and each part is searched
 * with each. Adds `amount` to the progress from its beginning to its end. Errors: IDX_OUT_OF_MEMORY, IDX_CANCELLED. */
enum idx_status idxi_balls_search(struct idxi_balls *const *team, unsigned threads, uint64_t memory,
                                  struct idxi_progress *progress, uint64_t amount, const uint64_t *a, size_t a_count,
                                  const uint64_t *b, size_t b_count, struct idx_error *error);

/* The same by the calling thread alone, in balls->memory, except for pairs in balls->before. */
void idxi_balls_match(struct idxi_balls *balls, const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count);

#endif
