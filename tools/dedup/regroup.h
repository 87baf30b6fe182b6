/* regroup.h: from clusters by fingerprints to clusters that the texts confirm, one after the other. */
#ifndef IDX_TOOLS_REGROUP_H
#define IDX_TOOLS_REGROUP_H

#include "tools/dedup/sets.h"
#include "tools/shared/output.h"

#include <idx.h>

struct idx_text_leaders;

/* A document of the cluster at hand. */
struct regroup_candidate {
    uint64_t in_index; /* its number there */
    uint64_t offset;   /* of its struct confirm_member */
    const struct set *set;
    uint32_t place, group; /* its own among them, and that of its representative */
};

struct regroup {
    struct temporary *members; /* struct confirm_member, cluster by cluster */
    struct sets *sets;
    int64_t threshold;     /* from which on two sets resemble each other, in units of 1/IDX_DECIMAL_WEIGHT_ONE */
    unsigned distance;     /* beyond which a document is far from its representative */
    uint64_t memory_bytes; /* that representatives may take; 0: no bound */
    bool alone;            /* also visit documents that are in no cluster */
    bool by_number;        /* take the documents of a cluster in the order of their numbers in the index */
    const uint64_t *known; /* a bit for each document that is left out, of known_count; or NULL */
    uint64_t known_count;
    idx_cluster_visitor visit;
    void *context;
    struct idx_cluster_summary *summary; /* its documents are set, and all else is here */

    /* Within. */
    struct regroup_candidate *candidates;
    size_t count, capacity;
    struct idx_text_leaders *leaders; /* by their places */
    struct output ids[2];             /* of a document, and of its representative */
    uint64_t clusters;
    uint64_t left_out; /* known documents that were met so far */
    uint64_t missing;  /* documents of clusters by fingerprints that have no text */
    bool stopped;
};

/* Visits the confirmed clusters, in the order of those that they were part of. False after a complaint. */
bool regroup_all(struct regroup *regroup);

#endif
