/* clusters.c: `idx clusters`: prints the clusters of near-duplicates in an index, or what to keep or to drop. */
#include "tools/answers/cluster_listing.h"
#include "tools/report/report.h"

struct clusters {
    struct listing listing;
    struct report report;
    const char *path;
    bool progress;
};

/* Notes each document of a cluster for the report, as `note` of struct listing. */
static void note_member(void *context, const struct idx_cluster_member *member) { report_note(context, member); }

/* Has the clusters noted for the report, if one is asked for. Then they are printed only if an option says how. */
static bool prepare_report(struct clusters *clusters) {
    struct listing *listing = &clusters->listing;
    if (clusters->report.path == NULL) return true;
    clusters->report.listing = listing;
    listing->note = note_member;
    listing->context = &clusters->report;
    listing->quiet = !listing->keep && !listing->drop && !listing->json;
    return report_check(&clusters->report);
}

/* Prints the clusters, and writes the report if one is asked for. Returns false also if a signal was noted. */
static bool list_clusters(struct clusters *clusters) {
    struct idx_index *index;
    if (!open_index_unloaded(&index, clusters->path)) return false;
    bool ok = listing_run(&clusters->listing, index) &&
              (clusters->report.path == NULL || (report_gather(&clusters->report, index) &&
                                                 report_write(&clusters->report) && report_publish(&clusters->report)));
    report_close(&clusters->report);
    idx_close(index);
    return ok;
}

/* Reads the command line. Sets *status and returns false if the command ends after that. */
static bool read_arguments(int argc, char **argv, struct clusters *clusters, int *status) {
    struct listing *listing = &clusters->listing;
    struct strings operands;
    const struct option_rule rules[] = {
#include "options/clusters.h"
    };
    const struct grammar grammar = GRAMMAR(clusters, rules, "INDEX", 1, 1);
    if (!arguments_read(&grammar, argc, argv, &operands, status)) return false;
    clusters->path = operands.values[0];
    if (listing->keep + listing->drop + listing->json <= 1) return prepare_report(clusters);
    return complain_of_usage("give one of --keep, --drop and --json");
}

int command_clusters(int argc, char **argv) {
    static struct clusters clusters; /* Too large for the stack. */
    int status;
    clusters =
        (struct clusters){.listing = LISTING_INIT, .report.origin = {.command = "idx clusters", .of_index = true}};
    clusters.listing.options.threads = arguments_default_threads();
    if (!read_arguments(argc, argv, &clusters, &status)) return status;
    progress_start(&clusters.listing.progress, clusters.progress);
    interrupt_catch();
    bool ok = list_clusters(&clusters);
    bool written = output_close(&clusters.listing.output);
    interrupt_obey();
    return ok && written ? ENDS_WELL : ENDS_BADLY;
}
