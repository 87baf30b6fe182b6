/* truth.h: how much documents resemble each other, exactly: the Jaccard coefficient of their sets of word 5-shingles.
 */
#ifndef BENCH_TRUTH_H
#define BENCH_TRUTH_H

#include "bench/texts.h"

/* Pairs below this resemblance are called unrelated, and not kept. */
#define LEAST_RESEMBLANCE 0.05

/* A shingle that so many documents have is boilerplate: a licence's, a menu's. Editions and formats of one document are
 * fewer. */
#define BOILERPLATE_TEXTS 20

struct pair {
    uint32_t a, b; /* numbers of texts, a < b */
    double resemblance;
    double resemblance_of_own; /* of the sets without boilerplate */
};

/* All pairs at or above LEAST_RESEMBLANCE, by b and then a, from an index of all shingles. The caller frees *pairs. */
size_t find_pairs(const struct text *texts, size_t count, struct pair **pairs);

/* 0 for pairs that were not kept; 1 for a text and itself. */
double get_resemblance(const struct pair *pairs, size_t count, uint32_t a, uint32_t b);

#endif
