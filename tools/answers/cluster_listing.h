/* cluster_listing.h: prints the clusters of an index, or which documents to keep or to drop, and a summary, for `idx
 * clusters` and `idx dedup`. */
#ifndef IDX_TOOLS_CLUSTER_LISTING_H
#define IDX_TOOLS_CLUSTER_LISTING_H

#include "tools/answers/input_order.h"
#include "tools/resemblance/resemble.h"
#include "tools/shared/command.h"
#include "tools/shared/output.h"
#include "tools/shared/progress.h"
#include "tools/shared/rows.h"

/* The default of --cap. */
enum { DEFAULT_CAP = 1000 };

struct listing {
    struct idx_cluster_options options;
    int method, representative;
    bool keep, drop; /* The IDs to keep are printed, or those to drop, or if neither is set, clusters; never both. */
    bool json;       /* The clusters are printed as JSON, an object per cluster. */
    bool quiet;      /* Nothing of this is printed. */
    bool verbose;    /* The summary also has the sizes of clusters, and time and memory. */
    void (*note)(void *context, const struct idx_cluster_member *member); /* Called for each document, unless NULL. */
    void *context;                                                        /* The context of `note`. */
    struct input_order *order; /* Sorts IDs to keep or to drop by the numbers of documents; NULL: unsorted. */
    bool drops_representative; /* The representative that is printed next is dropped as well. */
    const char *measure;       /* What JSON calls the share that documents have in common. */
    uint32_t set_size;         /* How many shingles the next document has, if the share of these is shown; else 0. */
    const char *noun;   /* What the summary calls documents; NULL: documents or fingerprints, as the index has them. */
    const char *remark; /* What the first line of the summary ends with. */
    uint64_t kept_apart, dropped_apart; /* Documents outside the index that the summary counts. */
    uint64_t dropped_representatives;   /* How many representatives are dropped as well. */
    uint64_t cap;                       /* Clusters of more documents than this may be warned of as chains. */
    struct output output;               /* The caller closes it. */
    struct progress progress;

    struct idx_properties properties;   /* Those of the index; listing_print_clusters sets them. */
    struct idx_cluster_summary summary; /* listing_print_clusters completes it. */

    /* These are private. */
    bool failed;                             /* A complaint was made while documents were visited. */
    const struct idx_kept_set *kept;         /* What the current document has in common; NULL: distances are shown. */
    struct idx_cluster_size current_cluster; /* The size so far of the cluster whose documents are being visited. */
    uint64_t chain_count; /* How many clusters may be chains: they are large, and have far documents. */
    struct idx_cluster_size largest_chain; /* The largest of these; all zero: none. */
    struct idx_cluster_size with_most_far; /* The cluster with the most documents far from its representative. */
    struct rows rows;                      /* Those of JSON. */
    bool in_object;                        /* A JSON object is open. */
    uint64_t object_cluster, object_representative; /* The cluster of this object, and its representative's number. */
};

#define LISTING_INIT                                                                                                   \
    {                                                                                                                  \
        .options = IDX_CLUSTER_OPTIONS_INIT, .measure = "resemblance", .remark = "", .cap = DEFAULT_CAP,               \
        .output = OUTPUT_STANDARD                                                                                      \
    }

/* Prepares the listing for clusters that the caller finds by resemblance: documents have text IDs. */
void listing_begin_with_text_ids(struct listing *listing);

/* Prints the next document of a cluster as the options say, or stores its ID if `order` is set, and calls `note`.
 * `kept` is what the document has in common with its representative. Returns false after a complaint if the ID can't be
 * stored, and without one if the output failed. */
bool listing_print_member(struct listing *listing, const struct idx_cluster_member *member,
                          const struct idx_kept_set *kept);

/* Ends the progress display, and the list of listing_print_member: its last object of JSON. If progress is shown or
 * `verbose` is set, writes the summary, which the caller has set, to standard error. The output is not flushed. */
void listing_end(struct listing *listing);

/* Finds the clusters of the fingerprints of an index, and prints their documents as the options say; a distance of ~0U
 * is replaced by the k of the index. Writes to standard error a warning of chains and, if progress is shown or
 * `verbose` is set, a summary. Returns false after a complaint, a failure of the output or a signal. */
bool listing_print_clusters(struct listing *listing, const struct idx_index *index);

#endif
