/* confirm.c: finds the documents that fingerprints pair, and reads their texts again; regroup.c makes clusters of
 * them. */
#include "tools/dedup/dedup.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *const similarity_names[] = {"jaccard", "cosine", NULL};

bool resemblance_read(const char *option, const char *argument, int64_t *least) {
    /* A number that reading rounds is refused: with 0.79999, texts would be taken for less alike than they are. */
    if (idx_weight_parse(argument, strlen(argument), least) && *least > 0 && *least <= IDX_DECIMAL_WEIGHT_ONE &&
        strtod(argument, NULL) == (double)*least / (double)IDX_DECIMAL_WEIGHT_ONE)
        return true;
    return complain_of_usage("%s needs a number above 0 and up to 1, with up to 4 digits after the point, not '%s'",
                             option, argument);
}

bool confirm_check(struct confirm *confirm) {
    if (confirm->threshold == NULL && confirm->similarity != SIMILARITY_JACCARD)
        return complain_of_usage("--similarity needs --confirm");
    confirm->sets.weighted = confirm->similarity == SIMILARITY_COSINE;
    return confirm->threshold == NULL || resemblance_read(confirm->option, confirm->threshold, &confirm->least);
}

bool confirm_open(struct confirm *confirm, const struct scratch *scratch, const char *folder) {
    return temporary_open(&confirm->members, scratch, folder) && temporary_open(&confirm->sets.file, scratch, folder) &&
           (!confirm->known.is_asked_for || known_open(&confirm->known, scratch, folder));
}

/* ---- Documents that fingerprints pair ---- */

static bool want_text(struct confirm *confirm, uint64_t number) {
    if (confirm->journal == NULL) return by_id_want(&confirm->by_id, number);
    bit_set(confirm->paired, number);
    return true;
}

/* Keeps a member of a cluster by fingerprints, and wants its text if it is not alone. This is an
 * idx_cluster_visitor. */
static bool keep_member(void *context, const struct idx_cluster_member *member) {
    struct confirm *confirm = context;
    const struct idx_document *document = &member->document;
    uint64_t number = confirm->preference != NULL ? preference_number(confirm->preference, document->number)
                      : confirm->journal != NULL  ? document->number
                                                  : by_id_hash(document->id, document->id_length);
    struct confirm_member kept = {.cluster = member->cluster,
                                  .fingerprint = member->fingerprint,
                                  .number = number,
                                  .in_index = document->number,
                                  .id_length = document->id_length,
                                  .is_representative = member->is_representative};
    if (member->cluster == confirm->last_cluster &&
        !(want_text(confirm, confirm->last_number) && want_text(confirm, number)))
        confirm->failed = true;
    confirm->last_cluster = member->cluster;
    confirm->last_number = number;
    output_bytes(&confirm->members.output, &kept, sizeof kept);
    output_bytes(&confirm->members.output, document->id, document->id_length);
    return !confirm->failed && confirm->members.output.error == 0;
}

/* Adds what is listed of a document that is read again to the sets. */
static bool add_listed(void *context, uint64_t number, const char *listed, size_t length) {
    struct confirm *confirm = context;
    return sets_add(&confirm->sets, number, listed, length);
}

/* ---- Their texts ---- */

/* Returns the recipe by which weighted words are compared: that of the fingerprints if it has words or characters, and
 * the default recipe otherwise. */
static const char *get_weighted_recipe(const struct pipeline_rules *rules) {
    const char *recipe = rules->recipe == NULL ? "" : rules->recipe;
    bool fits = strncmp(recipe, "words:", 6) == 0 || strncmp(recipe, "chars:", 6) == 0;
    return fits && (rules->table != NULL || strstr(recipe, "idf") == NULL) ? recipe : text_default_recipe;
}

static const char *get_recipe(const struct confirm *confirm) {
    return confirm->sets.weighted ? get_weighted_recipe(confirm->rules) : text_default_recipe;
}

static bool read_again(struct confirm *confirm) {
    const enum listed listed = confirm->sets.weighted ? LISTED_WEIGHTED : LISTED_SHINGLES;
    struct again again = {.journal = confirm->journal,
                          .wanted = confirm->paired,
                          .compared = confirm->compared,
                          .take = add_listed,
                          .context = confirm};
    if (confirm->journal != NULL) return again_read(&again, confirm->rules, get_recipe(confirm), listed);
    return by_id_read(&confirm->by_id, confirm->rules, get_recipe(confirm), confirm->inputs, &confirm->sets);
}

/* Finds the documents that are near to some of the other index, so that their texts are read again as well. */
static bool find_known(struct confirm *confirm, const struct idx_index *index,
                       const struct idx_cluster_options *options) {
    struct known *known = &confirm->known;
    if (!known->is_asked_for) return true;
    known->distance = options->distance;
    known->threshold = confirm->least;
    known->wanted = confirm->paired;
    known->options = options;
    return known_find(known, index);
}

static bool decide_known(struct confirm *confirm) {
    return !confirm->known.is_asked_for ||
           known_decide(&confirm->known, &confirm->sets, confirm->rules, get_recipe(confirm));
}

/* ---- The whole ---- */

static enum idx_status cancel(struct idx_error *error) {
    *error = (struct idx_error){.status = IDX_CANCELLED};
    return IDX_CANCELLED;
}

enum idx_status confirm_clusters(void *context, const struct idx_index *index,
                                 const struct idx_cluster_options *options, idx_cluster_visitor visit,
                                 void *visit_context, struct idx_cluster_summary *summary, struct idx_error *error) {
    struct confirm *confirm = context;
    struct idx_cluster_options proposing = *options;
    proposing.method = IDX_CLUSTER_COMPONENTS;
    confirm->last_cluster = UINT64_MAX;
    if (confirm->journal != NULL && (confirm->paired = bits_make(confirm->compared)) == NULL) return cancel(error);
    enum idx_status status = idx_clusters(index, &proposing, keep_member, confirm, summary, error);
    if (status != IDX_OK) return status;
    if (confirm->failed || !temporary_map(&confirm->members) || !find_known(confirm, index, &proposing) ||
        !read_again(confirm) || !sets_map(&confirm->sets) || !decide_known(confirm))
        return cancel(error);
    uint64_t missing = 0;
    bool whole = regroup_all(confirm, options, visit, visit_context, summary, &missing);
    if (whole && confirm->journal == NULL && missing > 0)
        complain("documents with near fingerprints whose text is not among the inputs, so that they are in no cluster: "
                 "%" PRIu64 "; IDs there must be those of the index (see --id-field)",
                 missing);
    return whole ? IDX_OK : cancel(error);
}

void confirm_close(struct confirm *confirm) {
    temporary_close(&confirm->members);
    sets_close(&confirm->sets);
    known_close(&confirm->known);
    by_id_free(&confirm->by_id);
    free(confirm->paired);
}
