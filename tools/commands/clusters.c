/* clusters.c: `idx clusters`: prints the clusters of near-duplicates among fingerprints, or what to keep or to drop.
 * The fingerprints are those of an index, or of inputs, of which it makes an index for the time of the command. This
 * index is removed as soon as it is open, so that nothing is left however the command ends after that. The texts of an
 * index are compared by their sets. */
#include "tools/dedup/id_hashes.h"
#include "tools/dedup/indexed.h"
#include "tools/input/index_making.h"
#include "tools/report/report.h"
#include "tools/resemblance/shingling.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/* The distance of near-duplicates in inputs, unless -k says another. */
enum { DEFAULT_DISTANCE = 3 };

struct clusters {
    struct listing listing;
    struct report report;
    struct strings operands;
    struct indexed texts;
    bool reads_index; /* The only operand is an index; otherwise, inputs are read. */
    bool progress_forced;

    /* These are for inputs alone. */
    struct input input;
    int format, notation;
    struct idx_build_options build_options;
    struct scratch scratch;
    struct input_order order;
    struct id_hashes ids;
};

/* ---- The index of inputs ---- */

/* From this distance on, the library finds pairs faster in memory than by any tables, whatever the number of documents.
 */
enum { MIN_TABLELESS_K = 8 };

/* Sets build_options.scheme to a scheme of k / 2 + 1 tables with radius 1, and writes its text to `scheme`, which must
 * stay valid until the builder is open. These tables are few enough to be built and read once, and their prefixes are
 * long enough to leave few candidates. From MIN_TABLELESS_K on, sets build_options.k to 0, so that a single table holds
 * the fingerprints; but a report needs the tables of any k, since it looks up single fingerprints. */
static void choose_scheme_and_k(struct clusters *clusters, char scheme[16]) {
    unsigned *k = &clusters->build_options.k;
    if (*k >= MIN_TABLELESS_K && *k <= IDX_MAX_K && *k < clusters->build_options.bits && clusters->report.path == NULL)
        *k = 0;
    snprintf(scheme, 16, "%u:1:1", *k / 2 + 1);
    clusters->build_options.scheme = scheme;
}

/* Sets the distance, unless -k is given, to the least of the default, bits - 1 and the maximum of the recipe. */
static void choose_distance(struct clusters *clusters) {
    const char *recipe = clusters->build_options.recipe;
    const unsigned bits = clusters->build_options.bits, max_k = recipe == NULL ? IDX_MAX_K : recipe_read(recipe).max_k;
    unsigned *distance = &clusters->listing.options.distance;
    if (*distance != UINT_MAX) return;
    *distance = DEFAULT_DISTANCE < bits ? DEFAULT_DISTANCE : bits - 1;
    if (*distance > max_k) *distance = max_k;
}

/* Returns whether a recipe makes several fingerprints of a document, so that several lines have its ID. A recipe of
 * NULL is not known, and counts as one fingerprint per document. */
static bool recipe_repeats_ids(const char *recipe) {
    const enum idx_recipe_method method = recipe == NULL ? IDX_RECIPE_OTHER : recipe_read(recipe).method;
    return method == IDX_RECIPE_SEGMENTS || method == IDX_RECIPE_MINHASH;
}

/* Adds all documents of the inputs to the builder. If each document should have another text ID, also adds the IDs to
 * clusters->ids, which finds repeated ones. Returns false after a complaint or a signal. */
static bool add_input_documents(struct clusters *clusters, struct idx_builder *builder) {
    const enum idx_id_type id_type = clusters->build_options.id_type;
    const bool checks_ids = id_type == IDX_ID_TEXT && !recipe_repeats_ids(clusters->build_options.recipe);
    const struct tsv_record *records;
    enum input_status status;
    size_t count;
    while ((status = input_read_records(&clusters->input, &records, &count)) == INPUT_DOCUMENTS) {
        for (size_t i = 0; i < count; i++) {
            if (!add_record_to_builder(builder, id_type, &records[i])) return false;
            if (checks_ids && !id_hashes_add(&clusters->ids, records[i].id, records[i].id_length)) return false;
        }
    }
    if (status == INPUT_END) input_report_skipped_lines(&clusters->input);
    return status == INPUT_END;
}

/* Builds the index of the inputs at `path`, which must not exist, and sets the distance if -k is not given. Returns
 * false after a complaint or a signal. */
static bool build_index_of_inputs(struct clusters *clusters, const char *path) {
    struct idx_builder *builder = NULL;
    struct idx_error error;
    char scheme[16];
    const enum input_status status = input_find_recipe(&clusters->input);
    if (status != INPUT_DOCUMENTS && status != INPUT_END) return false;
    clusters->build_options.recipe = clusters->input.recipe;
    choose_distance(clusters);
    clusters->build_options.k = clusters->listing.options.distance;
    choose_scheme_and_k(clusters, scheme);
    bool built = succeeded(idx_builder_open(&builder, path, &clusters->build_options, &error), &error) &&
                 add_input_documents(clusters, builder) && succeeded(idx_builder_finish(builder, NULL, &error), &error);
    idx_builder_close(builder);
    return built;
}

/* Builds the index of the inputs in a scratch folder, opens it as *index, and removes it: what is open stays readable.
 * Returns false after a complaint or a signal; the caller closes *index in any case. */
static bool build_and_open_index_of_inputs(struct clusters *clusters, struct idx_index **index) {
    struct listing *listing = &clusters->listing;
    const bool keeps_first = listing->representative == IDX_REPRESENTATIVE_FIRST;
    const char *folder = scratch_choose_parent(listing->options.temporary_folder);
    listing->options.temporary_folder = folder;
    clusters->build_options.threads = listing->options.threads;
    clusters->build_options.memory_bytes = listing->options.memory_bytes;
    if (!scratch_open(&clusters->scratch, folder, "--tmpdir")) return false;
    char *path = scratch_join(&clusters->scratch, "index");
    bool ok = (path != NULL || complain("out of memory")) && build_index_of_inputs(clusters, path);
    /* Documents to keep are found in the order of the inputs if the first ones are kept. */
    if (ok && (listing->drop || (listing->keep && !keeps_first))) {
        ok = temporary_open(&clusters->order.lines, &clusters->scratch, folder);
        listing->order = &clusters->order;
    }
    ok = ok && open_index_unloaded(index, path);
    scratch_remove(&clusters->scratch);
    free(path);
    if (ok) id_hashes_report_repeated(&clusters->ids, "");
    return ok;
}

/* ---- The whole ---- */

/* Adds a document of a cluster to the report. This is `note` of struct listing, whose context is a struct report. */
static void note_member(void *context, const struct idx_cluster_member *member) { report_add_member(context, member); }

/* If there is --report, has the listing pass each document to the report, and print clusters only if an option says
 * how. Complains and returns false if the report can't be written at its path. */
static bool prepare_report(struct clusters *clusters) {
    struct listing *listing = &clusters->listing;
    if (clusters->report.path == NULL) return true;
    clusters->report.listing = listing;
    listing->note = note_member;
    listing->context = &clusters->report;
    listing->quiet = !listing->keep && !listing->drop && !listing->json;
    return report_check(&clusters->report);
}

/* Prints the clusters of the fingerprints of an index, and writes the report if there is --report. Returns false after
 * a complaint, a failure of the output or a signal. */
static bool list_clusters_of_fingerprints(struct clusters *clusters, const struct idx_index *index) {
    if (clusters->reads_index && !arguments_fit_input("an index of fingerprints")) return false;
    return listing_print_clusters(&clusters->listing, index) &&
           (clusters->report.path == NULL || (report_gather_by_distance(&clusters->report, index) &&
                                              report_write(&clusters->report) && report_publish(&clusters->report)));
}

/* Writes and publishes the report of the texts of an index, whose properties these are, from clusters->texts, where
 * they were compared. Returns false after a complaint or a signal. */
static bool write_report_of_texts(struct clusters *clusters, const struct idx_properties *properties) {
    struct report *report = &clusters->report;
    report->origin.representative = representative_names[clusters->listing.representative];
    shingling_read_recipe(properties->recipe, &report->origin.shingling);
    report->origin.ignore_common = clusters->texts.ignore_common;
    return report_gather_by_resemblance(report, &clusters->texts.resemble) && report_write(report) &&
           report_publish(report);
}

/* Prints the clusters of the texts of an index, and writes the report if there is --report. Returns false after a
 * complaint, a failure of the output or a signal. */
static bool list_clusters_of_texts(struct clusters *clusters, const struct idx_index *index,
                                   const struct idx_properties *properties) {
    struct indexed *texts = &clusters->texts;
    const bool has_report = clusters->report.path != NULL;
    texts->listing = &clusters->listing;
    texts->folder = clusters->listing.options.temporary_folder;
    texts->resemble.keeps_sets_open = has_report;
    clusters->listing.note = NULL; /* It adds distances to the report, which has shares of shingles here. */
    bool ok = arguments_fit_input("texts") && indexed_list_texts(texts, index) &&
              (!has_report || write_report_of_texts(clusters, properties));
    resemble_close(&texts->resemble);
    return ok;
}

/* Opens the index, or makes one of the inputs, and prints its clusters. Frees what both needed. Returns false after a
 * complaint, a failure of the output or a signal. */
static bool find_and_list_clusters(struct clusters *clusters) {
    struct idx_index *index = NULL;
    struct idx_properties properties;
    bool ok = clusters->reads_index ? open_index_unloaded(&index, clusters->operands.values[0])
                                    : build_and_open_index_of_inputs(clusters, &index);
    if (ok) {
        idx_get_properties(index, &properties);
        ok = properties.sketch > 0 ? list_clusters_of_texts(clusters, index, &properties)
                                   : list_clusters_of_fingerprints(clusters, index);
    }
    report_close(&clusters->report);
    input_order_close(&clusters->order);
    id_hashes_free(&clusters->ids);
    input_free(&clusters->input);
    idx_close(index);
    return ok;
}

/* Sets `reads_index` if the only operand is a folder, which has to be an index, and does nothing else then. Otherwise
 * prepares the inputs: waits for the first bytes if their format is to be found out, and completes their rules. Only
 * TSV has IDs that are texts. Complains and returns false if options are not for these inputs, or if the format is not
 * clear. */
static bool find_index_or_prepare_inputs(struct clusters *clusters) {
    struct input *input = &clusters->input;
    const char *path = clusters->operands.count == 1 ? clusters->operands.values[0] : NULL;
    struct stat status;
    clusters->reads_index = path != NULL && stat(path, &status) == 0 && S_ISDIR(status.st_mode);
    if (clusters->reads_index) return true;
    input->paths = clusters->operands;
    input->format = (enum input_format)clusters->format;
    if (!input_wait_and_resolve_format(&input->paths, &input->format)) return false;
    if (input->format != INPUT_TSV) clusters->build_options.id_type = IDX_ID_U64;
    input->rules = (struct tsv_rules){clusters->build_options.bits, (enum notation)clusters->notation, TSV_ID_TEXT};
    return arguments_fit_input(input_format_names[input->format]);
}

/* Reads the command line. Returns false after --help, or after a mistake, of which it complains; then *status is the
 * status of the process. */
static bool read_clusters_arguments(int argc, char **argv, struct clusters *clusters, int *status) {
    struct listing *listing = &clusters->listing;
    struct indexed *texts = &clusters->texts;
    const struct option_rule rules[] = {
#include "options/clusters.h" /* the rules made of clusters.txt; they set *clusters, *listing and *texts */
    };
    const struct grammar grammar = GRAMMAR(clusters, rules, "INPUT", 0, SIZE_MAX);
    return arguments_read(&grammar, argc, argv, &clusters->operands, status) &&
           find_index_or_prepare_inputs(clusters) && prepare_report(clusters);
}

/* Runs `idx clusters`. Returns ENDS_WELL if everything was printed and written, or else ENDS_BADLY. */
int command_clusters(int argc, char **argv) {
    static struct clusters clusters; /* Too large for the stack. */
    int status;
    clusters = (struct clusters){.listing = LISTING_INIT,
                                 .report.origin.command = "idx clusters",
                                 .input = {.reader = READER_INIT},
                                 .texts = INDEXED_INIT,
                                 .build_options = IDX_BUILD_OPTIONS_INIT,
                                 .order = INPUT_ORDER_CLOSED};
    clusters.listing.options.threads = arguments_get_default_threads();
    clusters.build_options.progress = progress_visit;
    clusters.build_options.context = &clusters.listing.progress;
    if (!read_clusters_arguments(argc, argv, &clusters, &status)) return status;
    progress_start(&clusters.listing.progress, clusters.progress_forced);
    interrupt_catch();
    bool ok = find_and_list_clusters(&clusters);
    bool written = output_close(&clusters.listing.output);
    interrupt_end_process();
    return ok && written ? ENDS_WELL : ENDS_BADLY;
}
