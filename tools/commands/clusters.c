/* clusters.c: `idx clusters`: prints the clusters of near-duplicates in an index, or which documents to keep or to
 * drop. */
#include "tools/answers/cluster_listing.h"
#include "tools/dedup/dedup.h"
#include "tools/report/report.h"
#include "tools/text/text.h"

#include <stdlib.h>
#include <string.h>

struct clusters {
    struct listing listing;
    struct confirm confirm;
    struct report report;
    struct pipeline_rules rules; /* How texts are read. */
    int format;
    const char *path;
    struct texts inputs;
    bool progress;
};

/* Checks that the index has text IDs if texts are to confirm clusters, since texts are found by them. */
static bool check_index(const struct clusters *clusters, const struct idx_index *index) {
    struct idx_properties properties;
    idx_get_properties(index, &properties);
    if (clusters->confirm.threshold == NULL || properties.id_type == IDX_ID_TEXT) return true;
    return complain("%s has no text IDs, so --confirm can't find the texts of its documents", clusters->path);
}

/* If texts are to confirm the clusters, makes the temporary files for that. Returns false after a complaint. */
static bool open_confirm(struct clusters *clusters, const struct idx_index *index, struct scratch *scratch) {
    struct confirm *confirm = &clusters->confirm;
    struct idx_properties properties;
    const char *folder = scratch_parent(clusters->listing.options.temporary_folder);
    if (confirm->threshold == NULL) return true;
    idx_get_properties(index, &properties);
    clusters->rules.recipe = *properties.recipe == '\0' ? NULL : properties.recipe;
    extract_settle(&clusters->rules.extract);
    confirm->rules = &clusters->rules;
    confirm->inputs = &clusters->inputs;
    clusters->listing.find = confirm_clusters;
    clusters->listing.find_context = confirm;
    bool opened = scratch_open(scratch, folder, "--tmpdir") && confirm_open(confirm, scratch, folder);
    scratch_remove(scratch);
    return opened;
}

/* Notes each document of a cluster for the report, as `note` of struct listing. */
static void note_member(void *context, const struct idx_cluster_member *member) { report_note(context, member); }

static bool prepare_report(struct clusters *clusters) {
    struct listing *listing = &clusters->listing;
    if (clusters->report.path == NULL) return true;
    clusters->report.origin.threshold = clusters->confirm.threshold;
    clusters->report.origin.option = clusters->confirm.option;
    clusters->report.listing = listing;
    listing->note = note_member;
    listing->context = &clusters->report;
    listing->quiet = !listing->keep && !listing->drop && !listing->json;
    return report_check(&clusters->report);
}

/* Prints the clusters, and writes the report if one is asked for. Returns false after a complaint or a signal. */
static bool list_clusters(struct clusters *clusters) {
    struct scratch scratch = {0};
    struct idx_index *index;
    if (!open_unloaded(&index, clusters->path)) return false;
    bool whole =
        check_index(clusters, index) && open_confirm(clusters, index, &scratch) &&
        listing_run(&clusters->listing, index) &&
        (clusters->report.path == NULL || (report_gather(&clusters->report, index) && report_write(&clusters->report) &&
                                           report_publish(&clusters->report)));
    report_close(&clusters->report);
    confirm_close(&clusters->confirm);
    idx_close(index);
    return whole;
}

/* Refuses options for texts if texts are not read. Returns false after a complaint. */
static bool check_texts(struct clusters *clusters) {
    const struct extract_rules *extract = &clusters->rules.extract;
    const char *vain = clusters->format != FORMAT_AUTO   ? "--format"
                       : extract->json.texts.count > 0   ? "--text-field"
                       : extract->json.id != NULL        ? "--id-field"
                       : clusters->rules.globs.count > 0 ? "--include or --exclude"
                       : extract->main_text              ? "--main-text"
                       : extract->max_text != 0          ? "--max-text"
                       : clusters->inputs.count > 0      ? "FILE"
                                                         : NULL;
    if (!confirm_check(&clusters->confirm)) return false;
    if (clusters->confirm.threshold != NULL || vain == NULL) return true;
    return complain_of_usage("%s needs --confirm", vain);
}

/* The options that -h shows. */
static const char common[] = "-k --keep --drop --json --method --representative --report --confirm --threads --memory";

/* Reads the command line. Sets *status and returns false if the command ends after that. */
static bool read_arguments(int argc, char **argv, struct clusters *clusters, int *status) {
    struct listing *listing = &clusters->listing;
    struct extract_rules *extract = &clusters->rules.extract;
    struct texts operands;
    const struct option_rule own[] = {
        {.name = "keep", .kind = OPTION_FLAG, .value = &listing->keep},
        {.name = "drop", .kind = OPTION_FLAG, .value = &listing->drop},
        {.name = "json", .kind = OPTION_FLAG, .value = &listing->json},
        {.name = "report", .kind = OPTION_TEXT, .value = &clusters->report.path},
        {.name = "confirm", .kind = OPTION_TEXT, .value = &clusters->confirm.threshold},
        {.name = "similarity", OPTION_CHOICE, &clusters->confirm.similarity, .names = similarity_names},
        {.name = "format", .kind = OPTION_CHOICE, .value = &clusters->format, .names = text_format_names},
        {.name = "text-field", .kind = OPTION_TEXTS, .value = &extract->json.texts},
        {.name = "id-field", .kind = OPTION_TEXT, .value = &extract->json.id},
        {.name = "include", .kind = OPTION_INCLUDE, .value = &clusters->rules.globs},
        {.name = "exclude", .kind = OPTION_EXCLUDE, .value = &clusters->rules.globs},
        {.name = "main-text", .kind = OPTION_FLAG, .value = &extract->main_text},
        {.name = "max-text", OPTION_COUNT, &extract->max_text, .least = 1, .most = MOST_DOCUMENT_BYTES},
        {.name = "threads", OPTION_NUMBER, &listing->options.threads, .least = 1, .most = IDX_MAX_THREADS},
        {.name = "progress", .kind = OPTION_FLAG, .value = &clusters->progress},
    };
    struct option_rule options[LISTING_OPTIONS + sizeof own / sizeof *own];
    const struct grammar grammar = {&help_clusters, options, sizeof options / sizeof *options, "INDEX", 1,
                                    SIZE_MAX,       common};
    listing_list(listing, options);
    memcpy(options + LISTING_OPTIONS, own, sizeof own);
    if (!arguments_read(&grammar, argc, argv, &operands, status)) return false;
    clusters->path = operands.values[0];
    clusters->inputs = (struct texts){operands.values + 1, operands.count - 1};
    clusters->rules.format = (enum document_format)clusters->format;
    clusters->rules.threads = listing->options.threads;
    if (listing->keep + listing->drop + listing->json <= 1) return check_texts(clusters) && prepare_report(clusters);
    return complain_of_usage("give one of --keep, --drop and --json");
}

int command_clusters(int argc, char **argv) {
    static struct clusters clusters; /* Too large for the stack. */
    struct text_options texts;
    int status;
    clusters = (struct clusters){.listing = LISTING_INIT,
                                 .confirm = CONFIRM_NONE,
                                 .report.origin = {.command = "idx clusters", .of_index = true},
                                 .format = FORMAT_AUTO};
    text_options_init(&texts);
    clusters.rules = texts.rules;
    clusters.listing.options.threads = arguments_threads();
    if (!read_arguments(argc, argv, &clusters, &status)) return status;
    progress_start(&clusters.listing.progress, clusters.progress);
    interrupt_catch();
    bool whole = list_clusters(&clusters);
    globs_free(&clusters.rules.globs);
    texts_free(&clusters.rules.extract.json.texts);
    bool written = output_close(&clusters.listing.output);
    interrupt_obey();
    return whole && written ? ENDS_WELL : ENDS_BADLY;
}
