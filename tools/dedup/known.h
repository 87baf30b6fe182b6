/* known.h: which documents of a dedup another index has, found once all are there: those within the distance of one of
 * its documents, whose text resembles theirs if there are texts. These are found by the IDs of its documents. */
#ifndef IDX_TOOLS_KNOWN_H
#define IDX_TOOLS_KNOWN_H

#include "tools/dedup/intake.h"
#include "tools/dedup/sets.h"

struct known {
    /* These are set by the caller. */
    bool is_asked_for;     /* otherwise documents are looked up as they come (intake.h) */
    struct texts texts;    /* files and folders with the other index's texts; without any, fingerprints decide */
    struct intake *intake; /* gets the documents that are known */
    unsigned distance;     /* the largest distance of documents whose texts are compared */
    int64_t threshold;     /* from which on two sets resemble each other, in units of 1/IDX_DECIMAL_WEIGHT_ONE */
    uint64_t *wanted;      /* gets a bit for each document that is near to one of the other index */
    const struct idx_cluster_options *options; /* its threads, memory and temporary folder are used here, too */

    uint64_t *bits; /* a bit for each document that is known, once that is decided; freed by known_close */

    /* These are used by known.c alone. */
    struct temporary near;           /* struct near_pair, in the order of the documents' fingerprints */
    struct idx_documents *documents; /* a cursor over those of the index of the dedup */
    uint64_t *queries;               /* fingerprints of the dedup that are looked up together */
    size_t query_count, most_queries;
    uint64_t *others; /* fingerprints of the other index that are near to some; in the end ascending, each once */
    size_t other_count, other_capacity;
    struct by_id by_id;
    struct sets sets; /* the features of documents of the other index */
    bool failed;      /* whether a visitor complained */
};

#define KNOWN_NONE                                                                                                     \
    { .near = TEMPORARY_CLOSED, .sets = SETS_CLOSED }

/* Makes the temporary files. Returns false after a complaint. */
bool known_open(struct known *known, const struct scratch *scratch, const char *folder);

/* Finds the documents of the index of the dedup that are near to some of the other index, and sets their bits in
 * `wanted`. Returns false after a complaint, or where a signal was noted. */
bool known_find(struct known *known, const struct idx_index *index);

/* Decides it by the sets of these documents, once they are mapped: reads the texts of the other index by the rules and
 * the recipe, hands what is known to the intake, and sets `bits`. False likewise. */
bool known_decide(struct known *known, struct sets *sets, const struct pipeline_rules *rules, const char *recipe);

void known_close(struct known *known);

#endif
