/* balls.h: finds the pairs of fingerprints in memory that differ in at most some bits, whether few or many. */
#ifndef IDX_LIBIDX_BALLS_H
#define IDX_LIBIDX_BALLS_H

#include <idx.h>

#include "libidx/base/base.h"
#include "libidx/fingerprints/compare.h"

/* Large buckets are cut again, into buckets of their own, at most so many times one within the other. */
#define IDXI_MAX_BALL_DEPTH 4

/* The maximum number of balls that were searched before: those of a cut at each depth, and others that the owner adds,
 * one for each table and each error in its prefix. */
#define IDXI_MAX_BALLS_BEFORE ((IDX_MAX_K + 1) * (IDXI_MAX_BALL_DEPTH + 1) + IDX_MAX_TABLES + IDX_MAX_RADIUS + 1)

/* How the bits are cut: a pair within the distance lies in at least one of the balls. */
struct idxi_cut {
    size_t count;   /* 0 if all are compared with all */
    unsigned width; /* bits of each mask */
    struct idxi_ball balls[IDX_MAX_K + 1];
};

/* The state of one thread of a search. After idxi_balls_init, its owner sets goes_on, comparison.visit and
 * comparison.context, and for idxi_balls_search_alone also memory. It must not be moved, since it points into itself.
 */
struct idxi_balls {
    struct idxi_comparison comparison; /* the first member */
    const struct idxi_compare_way *way;
    bool (*goes_on)(void *context);                 /* called every few milliseconds; false ends the search early */
    struct idxi_ball before[IDXI_MAX_BALLS_BEFORE]; /* what comparison.before points to */
    unsigned depth;                                 /* how many cuts are around this one, up to IDXI_MAX_BALL_DEPTH */
    uint64_t memory;                                /* bytes that sorting may take */
};

/* Zeroes the state of a thread, and sets its distance and the fastest way of comparing. */
void idxi_balls_init(struct idxi_balls *balls, unsigned distance);

/* Adds a ball to those in which all pairs were found: from now on these pairs are left out. At most
 * IDXI_MAX_BALLS_BEFORE fit. */
static inline void idxi_balls_add_searched(struct idxi_balls *balls, struct idxi_ball ball) {
    balls->before[balls->comparison.before_count++] = ball;
}

/* Sets *cut to the fastest way to cut the bits to compare `a` with `b`, or if `b` is NULL, `a` with itself, by the
 * instructions of `way`. Each has fewer than 2^32 fingerprints. There are no balls if comparing all with all is about
 * as fast, or no pair can be within the distance. */
void idxi_cut_choose(struct idxi_cut *cut, const struct idxi_compare_way *way, unsigned distance, const uint64_t *a,
                     size_t a_count, const uint64_t *b, size_t b_count);

/* Sets *cut to distance + 1 balls of radius 0, with up to `width` of the bits in which the `count` fingerprints vary in
 * each. There are no balls if they vary in fewer than distance + 1 bits. */
void idxi_cut_evenly(struct idxi_cut *cut, unsigned width, unsigned distance, const uint64_t *fingerprints,
                     size_t count);

/* Returns the nanoseconds that a search between `a` and `b` uniform fingerprints of `bits` bits is expected to take on
 * one thread with the best cut. If `b` is 0, it is a search within the `a` fingerprints. */
double idxi_get_cut_time(const struct idxi_compare_way *way, unsigned distance, unsigned bits, double a, double b);

/* Finds all pairs within the distance between `a` and `b`, or if `b` is NULL, within `a`, each once. `team` has the
 * state of each of `threads` threads, and pairs go to the visitor of the thread that finds them, unless they lie in a
 * ball of its `before`. The search takes about `memory` bytes. If these do not suffice, the sides are cut, and each
 * part is searched with each. The whole call adds `work` to the progress. It ends early, with IDX_OK, once goes_on of
 * the first thread returns false. Errors: IDX_OUT_OF_MEMORY, IDX_CANCELLED. */
enum idx_status idxi_balls_search(struct idxi_balls *const *team, unsigned threads, uint64_t memory,
                                  struct idxi_progress *progress, uint64_t work, const uint64_t *a, size_t a_count,
                                  const uint64_t *b, size_t b_count, struct idx_error *error);

/* Finds the same pairs as idxi_balls_search, on the calling thread alone, within balls->memory, and without progress.
 * It never fails: where memory runs out, it compares all with all. */
void idxi_balls_search_alone(struct idxi_balls *balls, const uint64_t *a, size_t a_count, const uint64_t *b,
                             size_t b_count);

#endif
