/* cluster_listing.h: what `idx clusters` and `idx dedup` print of the clusters of an index, and say of them. */
#ifndef IDX_TOOLS_CLUSTER_LISTING_H
#define IDX_TOOLS_CLUSTER_LISTING_H

#include "tools/shared/command.h"
#include "tools/shared/output.h"
#include "tools/shared/progress.h"

#include <idx.h>

/* Finds clusters, as idx_clusters does. */
typedef enum idx_status (*cluster_finder)(void *context, const struct idx_index *index,
                                          const struct idx_cluster_options *options, idx_cluster_visitor visit,
                                          void *visit_context, struct idx_cluster_summary *summary,
                                          struct idx_error *error);

struct listing {
    struct idx_cluster_options options;
    int method, representative;
    const char *const *representatives; /* They are the values of --representative, and end with NULL. */
    bool keep, drop; /* The IDs to keep are printed, or those to drop; or if neither is set, the clusters. */
    bool json;       /* The clusters are printed as JSON, an object per cluster. */
    bool quiet;      /* None of these is printed. */
    bool verbose;    /* The summary also has what few need: sizes of clusters, and what it took. */
    void (*note)(void *context,
                 const struct idx_cluster_member *member); /* It is called for each document; or it is NULL. */
    void *context;                                         /* It is the context of `note`. */
    cluster_finder find; /* It is called in place of idx_clusters unless it is NULL, and returns IDX_CANCELLED after a
                            complaint. */
    void *find_context;
    uint64_t kept_apart, dropped_apart; /* So many documents are not in the index, but belong to the summary. */
    uint64_t cap;                       /* Clusters with more documents are warned of if they form chains. */
    struct output output;               /* The caller closes it. */
    struct progress progress;

    struct idx_properties properties;   /* They are the index's, once it is run. */
    struct idx_cluster_summary summary; /* It is complete once it was run. */

    /* These are private. */
    struct idx_cluster_size size;    /* It is the size of the cluster whose documents are visited. */
    struct idx_cluster_size chained; /* It is the largest one that is warned of; without documents, there is none. */
    uint64_t chains;                 /* So many clusters are warned of. */
    bool begun;                      /* An object of JSON has no end yet. */
    uint64_t cluster;                /* It is the cluster of this object. */
};

#define LISTING_INIT                                                                                                   \
    {                                                                                                                  \
        .options = IDX_CLUSTER_OPTIONS_INIT, .representatives = representative_names, .cap = 1000,                     \
        .output = OUTPUT_STANDARD                                                                                      \
    }

/* Fills the list with the rules of the options that both commands have, whose values they set. */
enum { LISTING_OPTIONS = 7 };
void listing_list(struct listing *listing, struct option_rule list[LISTING_OPTIONS]);

/* Writes a document's ID, or where no documents are kept its fingerprint, of an index with these properties. */
void listing_put_id(struct output *output, const struct idx_properties *properties, const struct idx_document *document,
                    uint64_t fingerprint);

/* Finds the clusters, prints what is asked for, and says what there is to say: where progress is shown, or `verbose`, a
 * summary.
 * Returns false after a complaint; or, where a signal was noted, without one. */
bool listing_run(struct listing *listing, const struct idx_index *index);

#endif
