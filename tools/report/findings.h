/* findings.h: what a report says about the documents of an index. */
#ifndef IDX_TOOLS_FINDINGS_H
#define IDX_TOOLS_FINDINGS_H

#include <idx.h>

enum {
    FINDINGS_DISTANCES = IDX_MAX_K + 1, /* Distances begin at 0. */
    FINDINGS_PAIRS = 32,                /* So many pairs of each distance are compared by their texts. */
    FINDINGS_PAIRS_SHOWN = 4,           /* The first of these pairs are shown. */
    FINDINGS_CHAINS = 3,                /* So many chains are followed. */
    FINDINGS_STEPS = 24,                /* So many steps of a chain are shown. */
    FINDINGS_ID = 600,                  /* So many bytes of an ID are kept. */
    FINDINGS_DOCUMENTS = 2 * (FINDINGS_DISTANCES * FINDINGS_PAIRS + FINDINGS_CHAINS),
};

/* A document is shown, or compared with the one beside it. */
struct shown {
    uint64_t fingerprint;
    bool is_compared;         /* It is only compared, so that its text is freed afterwards. */
    double resemblance;       /* The first document of two has their resemblance; below 0 means unknown. */
    uint64_t number;          /* The text is found again by this number of the document. */
    char id[FINDINGS_ID + 1]; /* A NUL byte is behind its end. */
    size_t id_length;
    bool id_is_cut;
    char *text; /* The findings own it; a NUL byte is behind its end. NULL: there is none. */
    size_t text_length;
    uint64_t text_bytes; /* The whole text has so many bytes, of which the first are kept. */
};

/* The documents of two fingerprints are to be compared. */
struct shown_pair {
    uint64_t key; /* The pairs with the smallest keys are compared, and the first of these are shown. */
    uint64_t a, b;
    const struct shown *documents; /* They are two, or NULL as long as they are unknown. */
};

/* This was found at one distance. */
struct at_distance {
    /* They are pairs of fingerprints. At distance 0 they are documents whose fingerprint an earlier one has. Beyond
     * k they are pairs with a sampled fingerprint, and pairs of two sampled ones count twice. */
    uint64_t pairs;
    struct shown_pair shown[FINDINGS_PAIRS];
    size_t shown_count;
    struct idx_cluster_summary clusters; /* These are the clusters at this distance, up to k. */
    uint64_t nearest; /* So many sampled fingerprints have their nearest other one at this distance. */
};

/* A chain has these fingerprints. */
struct step {
    uint64_t fingerprint;
    unsigned distance; /* It is the distance to the representative. */
    struct shown document;
};

/* A chain of near-duplicates leads from the representative of a cluster to the document that is farthest from it. */
struct chain {
    struct chain_ends {
        struct idx_cluster_size size; /* It is the size of the cluster. */
        uint64_t farthest;            /* It is the farthest from the representative; of several, the first. */
        unsigned distance;            /* It is the distance of these two. */
    } ends;
    size_t length;     /* The chain has so many documents, both ends included; 0 if it was not followed to its end. */
    size_t step_count; /* So many steps are kept: the first half, and the last. */
    struct step steps[FINDINGS_STEPS];
    const struct shown *shown; /* They are the documents of both ends. */
};

/* So many documents, and bytes, had the same fate. */
struct tally {
    uint64_t documents, bytes;
};

struct findings {
    struct idx_properties properties;
    unsigned k, farthest; /* Distances up to k are exact. Beyond k, up to `farthest`, they are known of the sample. */
    uint64_t fingerprints;
    uint64_t ones[IDX_MAX_BITS]; /* So many fingerprints have this bit. */
    uint64_t sampled;            /* So many fingerprints are in the sample. */
    struct at_distance at[FINDINGS_DISTANCES];

    /* These are the clusters as they were asked for. */
    struct idx_cluster_summary clusters;
    /* They count the documents by distance to their representatives, which are left out. */
    uint64_t distances[IDX_MAX_BITS + 1];
    struct chain chains[FINDINGS_CHAINS];
    size_t chain_count;
    struct chain_ends current; /* It belongs to the cluster that is visited. */

    /* These count what became of the inputs. */
    /* `known` are those that --against found, and `few` have too few features. */
    struct tally kept, dropped, known, few;
    bool has_bytes, has_texts;

    struct shown *shown; /* The findings own all documents that are shown with their texts. */
    size_t shown_count;
};

#endif
