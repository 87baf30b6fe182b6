/* trial.h: one index of given make, compared with a linear scan in all that a look-up can be asked. */
#ifndef IDX_TESTS_LIBIDX_TRIAL_H
#define IDX_TESTS_LIBIDX_TRIAL_H

#include "tests/libidx/sets.h"

struct trial {
    const char *name; /* of the set, for messages */
    const struct set *set;
    const char *scheme;
    unsigned k;
    uint32_t block_size;
    enum idx_residence residence;
    size_t segments;       /* the set is spread over so many; a part of it is in each of them */
    size_t queries;        /* chosen at random, near the set */
    const uint64_t *asked; /* further ones */
    size_t asked_count;
};

/* Builds the index in `folder`, puts the queries to it, and removes it. */
void run_trial(const char *folder, const struct trial *trial);

/* Builds it as trial.idx in `folder`, with documents of the given kind, and opens it. */
struct idx_index *open_trial(const char *folder, const struct trial *trial, enum idx_id_type id_type);

/* The largest k up to 7 that a scheme covers; -1 where it is none for so many bits. */
int largest_k(const char *scheme, unsigned bits);

#endif
