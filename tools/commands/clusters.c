/* clusters.c: `idx clusters`: the clusters of near-duplicates in an index, and which documents to keep or to drop. */
#include "tools/answers/cluster_listing.h"
#include "tools/shared/arguments.h"
#include "tools/shared/command.h"
#include "tools/shared/interrupt.h"
#include "tools/shared/message.h"

#include <string.h>

static const char help[] =
    "Usage: idx clusters [OPTION…] INDEX\n"
    "Print the clusters of near-duplicates among the documents of INDEX. Documents that are connected by pairs within\n"
    "distance K are in one cluster. Documents without near-duplicates are in none, and are not printed.\n"
    "\n"
    "  -k N                   distance of near-duplicates (default and maximum: the k of INDEX)\n"
    "  --keep                 print the IDs to keep instead: the representative of each cluster, and all documents\n"
    "                         that are in no cluster\n"
    "  --drop                 print the IDs to drop instead: all others\n"
    "  --method METHOD        components (default), or star: a representative and all fingerprints within distance of\n"
    "                         it, which does not form chains\n"
    "  --representative HOW   which document represents a cluster: first (default), most-documents (one of the\n"
    "                         fingerprint with the most documents) or smallest-id\n"
    "  --cap N                warn of clusters of more than N documents that form chains (default 1000)\n"
    "  --threads N            number of threads (default: the number of processors, up to 16)\n"
    "  --memory SIZE          memory to use, besides 4 bytes per fingerprint (default: half of the free memory)\n"
    "  --tmpdir FOLDER        folder for temporary files (default: beside INDEX)\n"
    "  --progress             show progress and a summary even if standard error is not a terminal\n"
    "\n"
    "Output, cluster by cluster, one line per document:\n"
    "  document ID, tab, cluster (a number from 0), tab, ID of its representative, tab, distance of the two\n"
    "Clusters are in the order of their representatives, and the fingerprint of the representative comes first in its\n"
    "cluster. In an index with --id-type none, fingerprints are printed in place of documents. The output is the same\n"
    "for any number of threads and any amount of memory. Each document is printed by either --keep or --drop.\n"
    "IDs with control characters are escaped as by idx lookup.\n"
    "\n"
    "Examples:\n"
    "  idx clusters docs.idx -k 2 | cut -f 2 | uniq -c | sort -rn | head\n"
    "  idx clusters docs.idx --drop | xargs -d '\\n' rm --\n"
    "\n"
    "Exit status: 0 everything was printed; 2 error.\n";

static bool run(struct listing *listing, const char *path) {
    struct idx_open_options options = IDX_OPEN_OPTIONS_INIT;
    struct idx_index *index;
    struct idx_error error;
    options.residence = IDX_RESIDENCE_NONE;
    if (idx_open(&index, path, &options, &error) != IDX_OK) {
        complain("%s", error.sentence);
        return false;
    }
    bool whole = listing_run(listing, index);
    idx_close(index);
    return whole;
}

int command_clusters(int argc, char **argv) {
    struct listing listing = LISTING_INIT;
    struct option_rule options[LISTING_OPTIONS + 4];
    struct texts operands;
    bool progress_forced = false;
    int status;
    const struct option_rule own[] = {
        {.name = "keep", .kind = OPTION_FLAG, .value = &listing.keep},
        {.name = "drop", .kind = OPTION_FLAG, .value = &listing.drop},
        {.name = "threads",
         .kind = OPTION_NUMBER,
         .value = &listing.options.threads,
         .least = 1,
         .most = IDX_MAX_THREADS},
        {.name = "progress", .kind = OPTION_FLAG, .value = &progress_forced},
    };
    const struct grammar grammar = {help, options, sizeof options / sizeof *options, "INDEX", 1, 1};
    listing.options.threads = arguments_threads();
    listing_list(&listing, options);
    memcpy(options + LISTING_OPTIONS, own, sizeof own);
    if (!arguments_read(&grammar, argc, argv, &operands, &status)) return status;
    if (listing.keep && listing.drop) {
        complain_of_usage("give --keep or --drop, not both");
        return ENDS_BADLY;
    }
    progress_start(&listing.progress, progress_forced);
    interrupt_catch();
    bool whole = run(&listing, operands.values[0]);
    bool written = output_close(&listing.output);
    interrupt_obey();
    return whole && written ? ENDS_WELL : ENDS_BADLY;
}
