/* cluster_listing.h: prints the clusters of an index, or which documents to keep or to drop, and a summary, for `idx
 * clusters` and `idx dedup`. */
#ifndef IDX_TOOLS_CLUSTER_LISTING_H
#define IDX_TOOLS_CLUSTER_LISTING_H

#include "tools/answers/input_order.h"
#include "tools/shared/command.h"
#include "tools/shared/output.h"
#include "tools/shared/progress.h"

/* The cluster of a document that joins one that --against names; it is printed as -. */
#define CLUSTER_KNOWN UINT64_MAX

/* The default of --cap. */
enum { DEFAULT_CAP = 1000 };

struct listing {
    struct idx_cluster_options options;
    int method, representative;
    bool keep, drop; /* The IDs to keep are printed, or those to drop; or if neither is set, the clusters. */
    bool json;       /* The clusters are printed as JSON, an object per cluster. */
    bool quiet;      /* Nothing of this is printed. */
    bool verbose;    /* The summary also has the sizes of clusters, and time and memory. */
    void (*note)(void *context, const struct idx_cluster_member *member); /* Called for each document, unless NULL. */
    void *context;                                                        /* The context of `note`. */
    struct input_order *order; /* IDs to keep or to drop are printed in the order in which documents came; NULL: in that
                                  of the clusters. */
    uint64_t (*find_place)(void *context, uint64_t number); /* Returns the place of a document in that order, from its
                                                               number in the index; has the context of `note`. */
    uint32_t set_size;  /* What the document that is taken has in common is also shown as a share of so many of its own
                           shingles; 0: it is not. */
    const char *noun;   /* What the summary calls documents; NULL: by that name. */
    const char *remark; /* What the summary says in the end. */
    uint64_t kept_apart, dropped_apart; /* Documents that are not in the index, but count in the summary. */
    uint64_t cap;                       /* A warning is about chains with more documents than this. */
    struct output output;               /* The caller closes it. */
    struct progress progress;

    struct idx_properties properties;   /* Those of the index; listing_run sets them. */
    struct idx_cluster_summary summary; /* listing_run completes it. */

    /* These are private. */
    bool failed;                     /* A complaint was made while documents were visited. */
    const struct idx_kept_set *kept; /* What the document that is taken has in common; NULL: that is not known. */
    struct idx_cluster_size size;    /* The size of the cluster whose documents are being visited. */
    struct idx_cluster_size chained; /* The largest one that the warning is about; all zero: none. */
    uint64_t chains;                 /* How many clusters the warning is about. */
    struct idx_cluster_size widest;  /* The cluster with the most documents far from its representative. */
    bool begun;                      /* A JSON object is open. */
    uint64_t cluster;                /* The cluster of this object. */
};

#define LISTING_INIT                                                                                                   \
    { .options = IDX_CLUSTER_OPTIONS_INIT, .remark = "", .cap = DEFAULT_CAP, .output = OUTPUT_STANDARD }

/* Writes a document's ID, or its fingerprint if the index with these properties keeps no documents. */
void listing_put_id(struct output *output, const struct idx_properties *properties, const struct idx_document *document,
                    uint64_t fingerprint);

/* Lists clusters that are found by resemblance, in three steps. The first one sets the properties: documents have text
 * IDs. The second one takes a document and what it has in common with its representative; it returns false if output
 * failed. The last one prints the summary, which the caller has set, like listing_run. */
void listing_begin(struct listing *listing);
bool listing_take(struct listing *listing, const struct idx_cluster_member *member, const struct idx_kept_set *kept);
void listing_end(struct listing *listing);

/* Writes a share, rounded down to four digits; how much two documents resemble each other is that of `shared` in
 * `total`. */
void listing_put_share(struct output *output, uint64_t shared, uint64_t total);

/* Finds the clusters and prints what is asked for. If progress is shown, or `verbose` is set, prints a summary as well.
 * Returns false also if a signal was noted. */
bool listing_run(struct listing *listing, const struct idx_index *index);

#endif
