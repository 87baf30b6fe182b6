/* matching.h: finds the pairs among fingerprints in memory, by groups that share some bits, however large the groups
 * are. */
#ifndef IDX_LIBIDX_MATCHING_H
#define IDX_LIBIDX_MATCHING_H

#include <idx.h>

#include "libidx/fingerprints/compare.h"

/* Masks that may be in use at a time: those of the owner, up to one a table and some; and at most one for each error
 * that can be, a level, and each level of groups within groups has a bit less that varies. */
#define IDXI_MAX_MATCHING_MASKS (IDX_MAX_TABLES + IDX_MAX_BITS * (IDX_MAX_K + 1))

/* Finds the pairs that differ in at most comparison.distance bits, and in few bits of some that each call names; maybe
 * others within that distance; none twice in a call. One thread at a time. */
struct idxi_matching {
    struct idxi_comparison comparison; /* idxi_matching_init sets `visit` */
    const struct idxi_compare_way *way;
    uint64_t narrow; /* bits of which pairs differ in at most so many: */
    unsigned errors;
    /* What is found, its owner's to set. `goes_on` is called every millisecond or so; false ends the search early. */
    void (*found)(void *context, uint64_t a, uint64_t b);
    bool (*goes_on)(void *context);
    void *context;
    /* A pair was found before where it is the same in one of these. The owner puts the first ones here. */
    uint64_t before[IDXI_MAX_MATCHING_MASKS];
    size_t before_count;
    uint32_t counts[IDXI_SORT_COUNTS];
};

void idxi_matching_init(struct idxi_matching *matching, unsigned distance);

/* Fingerprints, and room for as many, twice. */
struct idxi_matched {
    const uint64_t *at;
    uint64_t *room, *more_room;
    size_t count;
};

/* Finds pairs of one of `a` and one of `b` with at most `errors` errors in the bits of `narrow`. `b` NULL: pairs within
 * `a`, each once. The fingerprints stay as they are. `ascending`: they ascend, and have the bits above the highest of
 * `narrow` in common, on each side. */
void idxi_match(struct idxi_matching *matching, const struct idxi_matched *a, const struct idxi_matched *b,
                uint64_t narrow, unsigned errors, bool ascending);

#endif
