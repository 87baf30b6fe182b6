/* regroup.h: from clusters by fingerprints to clusters that the texts confirm, one after the other. */
#ifndef IDX_TOOLS_REGROUP_H
#define IDX_TOOLS_REGROUP_H

#include "tools/dedup/leaders.h"

#include <idx.h>

/* A document of the cluster at hand. */
struct regroup_candidate {
    uint64_t fingerprint, number, in_index;
    uint64_t offset; /* of its struct confirm_member */
    const struct set *set;
    size_t place, group; /* its own among them, and that of its representative */
};

struct regroup {
    struct temporary *members; /* struct confirm_member, cluster by cluster */
    const struct sets *sets;
    unsigned distance; /* beyond which a document is far from its representative */
    bool alone;        /* also visit documents that are in no cluster */
    bool by_number;    /* take the documents of a cluster in the order of their numbers in the index */
    idx_cluster_visitor visit;
    void *context;
    struct idx_cluster_summary *summary; /* its documents are set, and all else is here */

    /* Within. */
    struct regroup_candidate *candidates;
    size_t count, capacity;
    struct leaders leaders;
    size_t *slots; /* a hash table of candidates by their sets: 0, or a place and 1 */
    size_t slot_count;
    struct output ids[2]; /* of a document, and of its representative */
    uint64_t clusters;
    uint64_t missing; /* documents of clusters by fingerprints that have no text */
    bool stopped;
};

/* Visits the confirmed clusters, in the order of those that they were part of. False after a complaint. */
bool regroup_all(struct regroup *regroup);

#endif
