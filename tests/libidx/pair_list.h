/* pair_list.h: the pairs that a call finds, and those that comparing all with all finds. */
#ifndef IDX_TESTS_LIBIDX_PAIR_LIST_H
#define IDX_TESTS_LIBIDX_PAIR_LIST_H

#include "tests/libidx/sets.h"

struct pair_list {
    struct idx_pair *pairs;
    size_t count, room;
    size_t most;  /* pairs after which the visitor stops */
    size_t calls; /* after that */
};

/* An idx_pairs_visitor of a list. */
bool take_pairs(void *list, const struct idx_pair *pairs, size_t count);

/* For qsort: by `a`, then `b`. */
int compare_pairs(const void *x, const void *y);

/* The pairs of ascending fingerprints of a set, in order; or, where `b` is not NULL, those of the one with the other.
 */
struct pair_list compare_all(const struct set *a, const struct set *b, unsigned distance);

#endif
