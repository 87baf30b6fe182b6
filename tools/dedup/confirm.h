/* confirm.h: clusters that the texts confirm: a document joins the cluster of a representative within distance k of it
 * only if their texts resemble each other. Documents that have near-duplicates by their fingerprints are read once
 * more; their features go to a temporary file. */
#ifndef IDX_TOOLS_CONFIRM_H
#define IDX_TOOLS_CONFIRM_H

#include "tools/dedup/intake.h"
#include "tools/dedup/journal.h"
#include "tools/dedup/known.h"
#include "tools/dedup/sets.h"
#include "tools/shared/output.h"
#include "tools/text/pipeline.h"

#include <idx.h>

enum similarity { SIMILARITY_JACCARD, SIMILARITY_COSINE };
extern const char *const similarity_names[];

/* The record of a document of a cluster by fingerprints in the file of members; its ID follows the record. */
struct confirm_member {
    uint64_t cluster, fingerprint, number;
    uint64_t in_index; /* the document's number in the index that is clustered */
    size_t id_length;
    bool is_representative;
};

struct confirm {
    /* These are set by the caller. */
    const char *threshold; /* the value of the option as it was given; NULL if nothing is confirmed */
    const char *option;    /* the name of that option, for messages */
    int similarity;
    const struct pipeline_rules *rules; /* the rules by which documents are read */
    struct journal *journal;            /* lists the `compared` documents in the index; NULL if they were not texts */
    const struct texts *inputs;         /* without a journal: where texts are found by the documents' IDs */
    uint64_t compared;
    const struct preference *preference; /* if not NULL, the index has its documents in its order */
    struct known known;                  /* with a journal: which documents another index has */

    /* These are used by confirm.c and regroup.c alone. */
    int64_t least;                      /* the threshold, in units of 1/IDX_DECIMAL_WEIGHT_ONE */
    struct temporary members;           /* the members of the clusters by fingerprints, in the order of these */
    uint64_t *paired;                   /* with a journal: a bit for each document that has near-duplicates */
    struct by_id by_id;                 /* without a journal: the documents that have near-duplicates */
    uint64_t last_cluster, last_number; /* those of the member before; see by_id_hash for numbers */
    struct sets sets;
    bool failed;
};

#define CONFIRM_NONE                                                                                                   \
    { .option = "--confirm", .members = TEMPORARY_CLOSED, .sets = SETS_CLOSED, .known = KNOWN_NONE }

/* Checks the options of confirmation. Returns false after a complaint. */
bool confirm_check(struct confirm *confirm);

/* Makes the temporary files. Returns false after a complaint. */
bool confirm_open(struct confirm *confirm, const struct scratch *scratch, const char *folder);

/* Finds the clusters that the texts confirm: a cluster_finder, whose context is a struct confirm. */
enum idx_status confirm_clusters(void *context, const struct idx_index *index,
                                 const struct idx_cluster_options *options, idx_cluster_visitor visit,
                                 void *visit_context, struct idx_cluster_summary *summary, struct idx_error *error);

void confirm_close(struct confirm *confirm);

/* ---- From clusters by fingerprints to clusters that the texts confirm: regroup.c ---- */

struct idx_text_leaders;

/* Visits the confirmed clusters, in the order of those that they were part of, and completes the summary, whose
 * documents are set. *missing: how many documents of clusters by fingerprints have no text. Returns false after a
 * complaint. */
bool regroup_all(struct confirm *confirm, const struct idx_cluster_options *options, idx_cluster_visitor visit,
                 void *context, struct idx_cluster_summary *summary, uint64_t *missing);

/* Offers a set to leaders as that of `number`, and sets *leader to the number of its leader. Returns false after a
 * complaint.
 */
bool regroup_offer(struct idx_text_leaders *leaders, uint64_t number, struct sets *sets, const struct set *set,
                   uint64_t *leader);

#endif
