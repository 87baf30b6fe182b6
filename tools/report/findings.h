/* findings.h: what a report says about the documents of an index. */
#ifndef IDX_TOOLS_REPORT_FINDINGS_H
#define IDX_TOOLS_REPORT_FINDINGS_H

#include "tools/answers/cluster_listing.h"
#include "tools/dedup/intake.h"

enum {
    FINDINGS_DISTANCES = IDX_MAX_K + 1, /* Distances begin at 0. */
    FINDINGS_THRESHOLDS = 12,           /* All tenths from 1 down to 0.1, the one that was asked for, and none. */
    FINDINGS_PAIRS = 4,                 /* Pairs of each level that are shown. */
    FINDINGS_CHAINS = 3,                /* Chains that are followed. */
    FINDINGS_STEPS = 24,                /* Steps of a chain that are shown. */
    FINDINGS_ID_BYTES = 600,            /* Bytes of an ID that are shown. */
    FINDINGS_DOCUMENTS = 2 * FINDINGS_DISTANCES * FINDINGS_PAIRS,
};

/* A document that is shown. */
struct shown_document {
    uint64_t fingerprint;
    double resemblance; /* Of the pair, if documents are compared by it. */
    double contained;   /* Of the pair: the share of the smaller one that both have; 0: not asked for. */
    uint64_t number;    /* Its number in the index, or in the order in which documents came. */
    char id[FINDINGS_ID_BYTES + sizeof "…"]; /* A long one is cut, and ends with an ellipsis. */
    size_t id_length;
    char *text; /* Belongs to the findings. NULL: there is none. */
    size_t text_length;
    uint64_t text_bytes; /* Length of the whole text; only the first text_length bytes of it are stored. */
};

/* Two fingerprints, or the numbers of two documents, that are to be shown. */
struct shown_pair {
    uint64_t key; /* A hash of the pair below the highest bit: those with the smallest keys are shown. */
    uint64_t a, b;
    double resemblance;                     /* If documents are compared by it. */
    double contained;                       /* The share of the smaller one that both have; 0: not asked for. */
    const struct shown_document *documents; /* Both documents; NULL as long as they are unknown. */
};

/* What was found at one distance, or from one threshold of resemblance up to the next higher one, or of texts that are
 * contained in others. */
struct level {
    /* Up to k, all pairs of fingerprints; at distance 0, documents whose fingerprint an earlier one has. Beyond k,
     * pairs with a sampled fingerprint, of which those of two sampled ones count twice. By resemblance, pairs of
     * different sets, and a pair for each document whose set an earlier one has. */
    uint64_t pair_count;
    struct shown_pair shown[FINDINGS_PAIRS];
    size_t shown_count;
    struct idx_cluster_summary clusters; /* The clusters at this distance; empty beyond k. */
    uint64_t nearest_count;              /* Sampled fingerprints whose nearest other one is at this distance. */

    /* By resemblance alone. */
    int64_t threshold;      /* In units of 1/IDX_THRESHOLD_ONE; 0: that of --contained without --resemble. */
    uint64_t dropped_count; /* Documents that are dropped with this threshold. */
    uint64_t largest;       /* Documents of the largest cluster. */
};

/* A fingerprint of a chain, and its first document. */
struct step {
    uint64_t fingerprint;
    unsigned distance; /* From the representative. */
    struct shown_document document;
};

/* A chain of near-duplicates leads from the representative of a cluster to the document that is farthest from it. */
struct chain {
    struct chain_ends {
        struct idx_cluster_size size; /* The size of the cluster. */
        uint64_t farthest;            /* The fingerprint farthest from the representative's; of several, the first. */
        unsigned distance;            /* The distance of these two. */
    } ends;
    size_t length;     /* Fingerprints of the chain, with both ends; 0: it was not followed to its end. */
    size_t step_count; /* Steps that are stored: of a long chain, the first and the last ones. */
    struct step steps[FINDINGS_STEPS];
};

/* How many documents had the same fate, and their bytes in the inputs. */
struct tally {
    uint64_t documents, bytes;
};

struct findings {
    struct idx_properties properties;
    unsigned k, farthest_distance; /* All pairs are known up to k; those of the sample, up to `farthest_distance`. */
    uint64_t fingerprint_count;
    uint64_t bit_counts[IDX_MAX_BITS]; /* How many fingerprints have each bit set. */
    uint64_t sampled_count;            /* Fingerprints, or documents, in the sample. */
    struct level levels[FINDINGS_DISTANCES];

    /* Documents that are compared by their resemblance have no fingerprints: `levels` is then by threshold, the highest
     * first. With `contained`, the level before these has all pairs that are contained, whatever their resemblance. */
    size_t threshold_count;  /* How many levels there are then; 0: documents were compared by distance. */
    size_t exact_count;      /* The pairs of so many levels, from the first on, are exact; of others, estimates. */
    size_t decided_count;    /* What so many levels, from the first on, drop is exact; what others drop, an estimate. */
    size_t asked_level;      /* The level of the threshold that was asked for. */
    int64_t contained;       /* As in struct resemble. */
    uint64_t contained_size; /* As in struct resemble. */

    /* The clusters that were asked for. */
    struct idx_cluster_summary clusters;
    /* How many documents that are no representatives have each distance to theirs; or each level of resemblance to it,
     * and behind the last level, a lower one. */
    uint64_t dropped_counts[IDX_MAX_BITS + 1];
    struct chain chains[FINDINGS_CHAINS];
    size_t chain_count;
    struct chain_ends current_ends; /* The ends in the cluster that is being visited. */

    /* Documents were read from inputs, which can be read again: their bytes are counted, and their texts shown. */
    bool has_inputs;

    /* What became of the inputs. `known` are the dropped ones that resemble a document of --against; `kept_uncompared`
     * are the kept ones that have too few shingles to be compared. */
    struct tally kept, dropped, known, kept_uncompared;

    struct shown_document *shown; /* All documents of pairs that are shown. */
    size_t shown_count;
};

/* Returns whether fingerprints were compared, by their distance, and not texts by their resemblance. */
static inline bool findings_are_by_distance(const struct findings *findings) { return findings->threshold_count == 0; }

/* Returns the index in `levels` of the highest threshold: 1 with `contained`, whose level comes first, and otherwise 0.
 * Only for documents that are compared by their resemblance. */
static inline size_t findings_find_first_level(const struct findings *findings) { return findings->contained > 0; }

#endif
