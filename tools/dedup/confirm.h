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

/* A document of a cluster by fingerprints, as it is kept; its ID follows. */
struct confirm_member {
    uint64_t cluster, fingerprint, number;
    uint64_t in_index; /* its number there */
    size_t id_length;
    bool is_representative;
};

struct confirm {
    /* Set by the caller. */
    const char *threshold; /* as it was given; NULL: nothing is confirmed */
    const char *option;    /* by which it was given */
    int similarity;
    const struct pipeline_rules *rules; /* by which the documents were read, or are */
    struct journal *journal;            /* of the documents in the index, of which `compared` are there; or NULL: */
    const struct texts *inputs;         /* where the texts are, to be found by the IDs of the documents */
    uint64_t compared;
    const struct preference *preference; /* in whose order the index has its documents; or NULL */
    struct known known;                  /* with a journal: what another index has */

    /* Within. */
    int64_t least;                      /* the threshold, in units of 1/IDX_DECIMAL_WEIGHT_ONE */
    struct temporary members;           /* of the clusters by fingerprints, in their order */
    uint64_t *paired;                   /* with a journal: a bit for each document that has near-duplicates */
    struct by_id by_id;                 /* without: these documents */
    uint64_t last_cluster, last_number; /* a document's number, or the hash of its ID */
    struct sets sets;
    bool failed;
};

#define CONFIRM_NONE                                                                                                   \
    { .option = "--confirm", .members = TEMPORARY_CLOSED, .sets = SETS_CLOSED, .known = KNOWN_NONE }

/* Whether the options are right. False after a complaint. */
bool confirm_check(struct confirm *confirm);

/* Makes its temporary files. False after a complaint. */
bool confirm_open(struct confirm *confirm, const struct scratch *scratch, const char *folder);

/* A cluster_finder, whose context is a struct confirm. */
enum idx_status confirm_clusters(void *context, const struct idx_index *index,
                                 const struct idx_cluster_options *options, idx_cluster_visitor visit,
                                 void *visit_context, struct idx_cluster_summary *summary, struct idx_error *error);

void confirm_close(struct confirm *confirm);

/* ---- From clusters by fingerprints to clusters that the texts confirm: regroup.c ---- */

struct idx_text_leaders;

/* Visits the confirmed clusters, in the order of those that they were part of, and completes the summary, whose
 * documents are set. *missing: how many documents of clusters by fingerprints have no text. False after a complaint. */
bool regroup_all(struct confirm *confirm, const struct idx_cluster_options *options, idx_cluster_visitor visit,
                 void *context, struct idx_cluster_summary *summary, uint64_t *missing);

/* Offers a set to leaders as that of `number`, and sets *leader to the number of its leader. False after a complaint.
 */
bool regroup_offer(struct idx_text_leaders *leaders, uint64_t number, struct sets *sets, const struct set *set,
                   uint64_t *leader);

#endif
