/* known.h: which documents of a dedup another index has, found once all are there: those within the distance of one of
 * its documents, whose text resembles theirs if there are texts. These are found by the IDs of its documents. */
#ifndef IDX_TOOLS_KNOWN_H
#define IDX_TOOLS_KNOWN_H

#include "tools/dedup/intake.h"
#include "tools/dedup/sets.h"

struct known {
    /* Set by the caller. */
    bool is_asked_for;     /* else documents are looked up as they come */
    struct texts texts;    /* files and folders with the texts of the other index; none: texts don't decide it */
    struct intake *intake; /* takes what is known */
    unsigned distance;     /* within which texts are compared */
    int64_t threshold;     /* from which on two sets resemble each other, in units of 1/IDX_DECIMAL_WEIGHT_ONE */
    uint64_t *wanted;      /* gets a bit for each document that is near to one of the other index */
    const struct idx_cluster_options *options; /* its threads, memory and temporary folder count here, too */

    uint64_t *bits; /* of the documents that are known, once that is decided; to be freed by known_close */

    /* Within. */
    struct temporary near;           /* struct near_pair, in the order of the documents' fingerprints */
    struct idx_documents *documents; /* of the index of the dedup */
    uint64_t *queries;               /* fingerprints to be looked up together */
    size_t query_count, most_queries;
    uint64_t *others; /* fingerprints of the other index that are near to some; in the end ascending, each once */
    size_t other_count, other_capacity;
    struct by_id by_id;
    struct sets sets; /* of documents of the other index */
    bool failed;      /* after a complaint, in a visitor */
};

#define KNOWN_NONE                                                                                                     \
    { .near = TEMPORARY_CLOSED, .sets = SETS_CLOSED }

/* Makes its temporary files. False after a complaint. */
bool known_open(struct known *known, const struct scratch *scratch, const char *folder);

/* Finds the documents of the index of the dedup that are near to some of the other index, and sets their bits in
 * `wanted`. False after a complaint, or where a signal was noted. */
bool known_find(struct known *known, const struct idx_index *index);

/* Decides it by the sets of these documents, once they are mapped: reads the texts of the other index by the rules and
 * the recipe, hands what is known to the intake, and sets `bits`. False likewise. */
bool known_decide(struct known *known, struct sets *sets, const struct pipeline_rules *rules, const char *recipe);

void known_close(struct known *known);

#endif
