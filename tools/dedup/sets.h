/* sets.h: the features of documents, in a temporary file, and how much those of two documents resemble each other. */
#ifndef IDX_TOOLS_SETS_H
#define IDX_TOOLS_SETS_H

#include "tools/shared/temporary.h"

#include <idx.h>

/* The features of a document, by ascending hash. */
struct set {
    uint64_t number; /* the document's, or what else it is known by */
    uint64_t offset; /* in the file */
    uint64_t count;
    uint64_t hash; /* of them all: equal sets have equal ones */
    double norm;   /* the sum of the squares of the weights */
};

struct sets {
    bool weighted;      /* the file has struct idx_feature, else uint64_t */
    uint64_t threshold; /* from which on two sets resemble each other, in units of 1/IDX_DECIMAL_WEIGHT_ONE */

    struct temporary file;
    struct set *sets; /* by number */
    size_t count, capacity;
    const char *mapped; /* the file; NULL: it is not, or empty */
    size_t size;
};

#define SETS_CLOSED                                                                                                    \
    { .file = TEMPORARY_CLOSED }

/* Adds the features of a document; of several with its number, the first counts. False after a complaint. */
bool sets_add(struct sets *sets, uint64_t number, const char *features, size_t length);

/* Ends adding. False after a complaint. */
bool sets_map(struct sets *sets);

/* The set of a document; NULL: it has none. */
const struct set *sets_find(const struct sets *sets, uint64_t number);

/* The hash of its feature number `i`, ascending. */
uint64_t sets_hash(const struct sets *sets, const struct set *set, uint64_t i);

bool sets_are_equal(const struct sets *sets, const struct set *a, const struct set *b);

/* Whether the Jaccard coefficient of the sets, or the cosine of weighted ones, reaches the threshold. Empty sets
 * resemble each other, and no others. */
bool sets_are_alike(const struct sets *sets, const struct set *a, const struct set *b);

void sets_close(struct sets *sets);

#endif
