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
    bool drops_representative; /* The representative that is taken is dropped as well. */
    const char *measure;       /* What JSON calls the share that documents have in common. */
    uint32_t set_size;  /* How many shingles the document that is taken has, if its share of these is shown; else 0. */
    const char *noun;   /* What the summary calls documents; NULL: documents or fingerprints, as the index has them. */
    const char *remark; /* What the first line of the summary ends with. */
    uint64_t kept_apart, dropped_apart; /* Documents that are not in the index, but count in the summary. */
    uint64_t dropped_representatives;
    uint64_t cap;         /* A warning is about chains with more documents than this. */
    struct output output; /* The caller closes it. */
    struct progress progress;

    struct idx_properties properties;   /* Those of the index; listing_print_clusters sets them. */
    struct idx_cluster_summary summary; /* listing_print_clusters completes it. */

    /* These are private. */
    bool failed;                     /* A complaint was made while documents were visited. */
    const struct idx_kept_set *kept; /* What the document that is taken has in common; NULL: that is not known. */
    struct idx_cluster_size size;    /* The size of the cluster whose documents are being visited. */
    struct idx_cluster_size chained; /* The largest of those that the warning is about; all zero: none. */
    uint64_t chains;                 /* How many clusters the warning is about. */
    struct idx_cluster_size widest;  /* The cluster with the most documents far from its representative. */
    struct rows rows;                /* Those of JSON. */
    bool in_object;                  /* A JSON object is open. */
    uint64_t cluster, representing;  /* The cluster of this object, and the number of its representative. */
};

#define LISTING_INIT                                                                                                   \
    {                                                                                                                  \
        .options = IDX_CLUSTER_OPTIONS_INIT, .measure = "resemblance", .remark = "", .cap = DEFAULT_CAP,               \
        .output = OUTPUT_STANDARD                                                                                      \
    }

/* Begins to list clusters that the caller finds by resemblance: sets the properties, by which documents have text
 * IDs. */
void listing_begin(struct listing *listing);

/* Prints what is asked for of the next document. `kept` is what it has in common with its representative. Returns
 * false, after a complaint, if the ID can't be kept, and also if output failed. */
bool listing_take_member(struct listing *listing, const struct idx_cluster_member *member,
                         const struct idx_kept_set *kept);

/* Ends the list, and prints the summary, which the caller has set, if progress is shown or `verbose` is set. */
void listing_end(struct listing *listing);

/* Finds the clusters and prints what is asked for. If progress is shown, or `verbose` is set, prints a summary as well.
 * Returns false also if a signal was noted. */
bool listing_print_clusters(struct listing *listing, const struct idx_index *index);

#endif
