/* clusters.c: `idx clusters`: the clusters of near-duplicates in an index, and which documents to keep or to drop. */
#include "tools/answers/listing.h"
#include "tools/shared/arguments.h"
#include "tools/shared/command.h"
#include "tools/shared/interrupt.h"
#include "tools/shared/message.h"

#include <string.h>

static const char help[] =
    "Usage: idx clusters [OPTION…] INDEX\n"
    "Print the clusters of near-duplicates among the documents of INDEX: all that are connected by pairs within\n"
    "distance. Documents without near-duplicates are in none.\n"
    "\n"
    "  -k N                   distance of near-duplicates, up to what the index was built for (default: that)\n"
    "  --keep                 print the IDs to keep instead: one of each cluster, its representative, and all that\n"
    "                         are in none\n"
    "  --drop                 print the IDs to drop instead: all others\n"
    "  --method METHOD        components (default), or star: each representative with what is within distance of it,\n"
    "                         which doesn't chain\n"
    "  --representative HOW   which document represents a cluster: first (default), most-documents (one of the\n"
    "                         fingerprint that has most) or smallest-id\n"
    "  --cap N                warn of clusters of more than N documents that chain (default 1000)\n"
    "  --threads N            threads (default: the processors, up to 16)\n"
    "  --memory SIZE          memory to use, besides 4 bytes a fingerprint (default: half of what is free)\n"
    "  --tmpdir FOLDER        where temporary files stand (default: beside INDEX)\n"
    "  --progress             say how far it is, and a summary, even where standard error is no terminal\n"
    "\n"
    "Output, cluster after cluster, a line a document:\n"
    "  document ID, tab, cluster (a number from 0), tab, ID of its representative, tab, their distance\n"
    "In an index with --id-type none a fingerprint stands for its document. The representative's fingerprint comes "
    "first\n"
    "in its cluster, and clusters come in the order of their representatives. The output depends on neither threads "
    "nor\n"
    "memory. Of --keep and --drop, each document is in one.\n"
    "\n"
    "Examples:\n"
    "  idx clusters docs.idx -k 2 | cut -f 2 | uniq -c | sort -rn | head\n"
    "  idx clusters docs.idx --drop | xargs -d '\\n' rm --\n"
    "\n"
    "Exit status: 0 all was printed; 2 error.\n";

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
