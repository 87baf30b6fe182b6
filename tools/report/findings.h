/* findings.h: what a report says of the documents of an index. */
#ifndef IDX_TOOLS_FINDINGS_H
#define IDX_TOOLS_FINDINGS_H

#include <idx.h>

enum {
    FINDINGS_DISTANCES = IDX_MAX_K + 1, /* from 0 */
    FINDINGS_PAIRS = 32,                /* of each distance whose texts are compared */
    FINDINGS_PAIRS_SHOWN = 4,           /* the first of these */
    FINDINGS_CHAINS = 3,                /* followed */
    FINDINGS_STEPS = 24,                /* shown of a chain */
    FINDINGS_ID = 600,                  /* bytes kept of an ID */
    FINDINGS_DOCUMENTS = 2 * (FINDINGS_DISTANCES * FINDINGS_PAIRS + FINDINGS_CHAINS),
};

/* A document that is shown, or compared with the one beside it. */
struct shown {
    uint64_t fingerprint;
    bool is_compared;         /* alone: its text goes once the two were compared */
    double resemblance;       /* of the first of two to the other; below 0: not known */
    uint64_t number;          /* of the document, by which its text is found again */
    char id[FINDINGS_ID + 1]; /* a NUL behind its end */
    size_t id_length;
    bool id_is_cut;
    char *text; /* owned, with a NUL behind its end; NULL: none */
    size_t text_length;
    uint64_t text_bytes; /* of the whole text, of which this is the beginning */
};

/* A pair of fingerprints, of which the documents are to be compared. */
struct shown_pair {
    uint64_t key; /* the pairs of the smallest keys are compared, and the first of these shown */
    uint64_t a, b;
    const struct shown *documents; /* two; NULL: not yet known */
};

/* What was found at a distance. */
struct at_distance {
    uint64_t pairs; /* of fingerprints; at distance 0 documents whose fingerprint an earlier one has; beyond k those
                       with a sampled one, both of them counted */
    struct shown_pair shown[FINDINGS_PAIRS];
    size_t shown_count;
    struct idx_cluster_summary clusters; /* with this distance; up to k */
    uint64_t nearest;                    /* sampled fingerprints whose nearest other one is at this distance */
};

/* A fingerprint of a chain. */
struct step {
    uint64_t fingerprint;
    unsigned distance; /* to the representative */
    struct shown document;
};

/* From the representative of a cluster to the document that is farthest from it, by near-duplicates. */
struct chain {
    struct chain_ends {
        struct idx_cluster_size size; /* of the cluster */
        uint64_t farthest;            /* from the representative; of several, the first */
        unsigned distance;            /* of these two */
    } ends;
    size_t length;     /* in steps, both ends included; 0: it was not followed to its end */
    size_t step_count; /* that are kept: the first half, and the last */
    struct step steps[FINDINGS_STEPS];
    const struct shown *shown; /* both ends */
};

/* What became of documents, and of their bytes. */
struct tally {
    uint64_t documents, bytes;
};

struct findings {
    struct idx_properties properties;
    unsigned k, farthest; /* distances up to k are exact; beyond, up to this one, by the sample */
    uint64_t fingerprints;
    uint64_t ones[IDX_MAX_BITS]; /* fingerprints with this bit */
    uint64_t sampled;            /* fingerprints */
    struct at_distance at[FINDINGS_DISTANCES];

    /* The clusters as they are asked for. */
    struct idx_cluster_summary clusters;
    uint64_t distances[IDX_MAX_BITS + 1]; /* of documents to their representatives, these themselves left out */
    struct chain chains[FINDINGS_CHAINS];
    size_t chain_count;
    struct chain_ends current; /* of the cluster that is visited */

    /* Of inputs. */
    struct tally kept, dropped, known, few; /* known: by --against; few: too few features */
    bool has_bytes, has_texts;

    struct shown *shown; /* all that is shown with its text; owned */
    size_t shown_count;
};

#endif
