/* merge.c: makes one index from several, table by table and map by map, by merging what is already sorted
 * (combine.c). */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "libidx/base/base.h"
#include "libidx/change/purge.h"
#include "libidx/fingerprints/recipe.h"

struct merge {
    struct idx_merge_options options;
    struct idx_index **indexes;
    size_t index_count;
    struct idxi_combination combination; /* of all documents of the indexes */
    struct idxi_progress progress;
    struct idxi_output output;
    int locks[2]; /* those of the input that is to be replaced; -1: none */
};

/* ---- Opening ---- */

/* Returns the name, for messages, of the first property in which two indexes differ, so that they can't be merged; NULL
 * if there is none. */
static const char *get_difference_name(const struct idxf_manifest *a, const struct idxf_manifest *b) {
    if (a->k != b->k) return "k";
    if (a->id_type != b->id_type) return "ID type";
    if (a->by_id != b->by_id) return "maps from IDs (by-id)";
    if (a->sketch != b->sketch) return a->sketch == 0 || b->sketch == 0 ? "sets" : "sketch";
    if (a->resemblance != b->resemblance) return "resemblance";
    if (a->table_count != b->table_count) return "scheme";
    for (size_t i = 0; i < a->table_count; i++)
        if (a->tables[i].mask != b->tables[i].mask || a->tables[i].radius != b->tables[i].radius) return "scheme";
    return NULL;
}

/* Checks that `index`, which was opened last, can be merged with the first one, and is none of those opened before it.
 * Errors: IDX_INVALID_ARGUMENT. */
static enum idx_status check_mergeable(const struct merge *merge, const struct idx_index *index,
                                       struct idx_error *error) {
    const struct idx_index *first_index = merge->indexes[0];
    IDXI_TRY(idxi_check_comparable(index, first_index, "merged", error));
    const char *difference = get_difference_name(first_index->manifest, index->manifest);
    if (difference != NULL)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, index->path,
                         "can't be merged with %s, because they differ in their %s: rebuild one of them",
                         first_index->path, difference);
    for (size_t i = 0; i + 1 < merge->index_count; i++)
        if (memcmp(merge->indexes[i]->manifest->uuid, index->manifest->uuid, IDXF_UUID_BYTES) == 0)
            return idxi_fail(error, IDX_INVALID_ARGUMENT, index->path, "is the same index as %s: give each index once",
                             merge->indexes[i]->path);
    return IDX_OK;
}

/* Releases both locks, as far as they are held. */
static void release_locks(struct merge *merge) {
    for (size_t i = 0; i < 2; i++) {
        idxi_lock_close(merge->locks[i]);
        merge->locks[i] = -1;
    }
}

/* If `path`, where the result goes, leads to the input *index, locks that input against writers and compactions, whose
 * work would be lost, and refreshes the view: *index may become another one. Repeats this until nothing newer is found,
 * since another index may take the path at the same time. Errors: IDX_BUSY, IDX_OUT_OF_MEMORY, and as idx_refresh. */
static enum idx_status lock_replaced_input(struct merge *merge, const char *path, struct idx_index **index,
                                           struct idx_error *error) {
    static const char *const names[] = {IDXI_LOCK_NAME, IDXI_COMPACT_LOCK_NAME};
    struct idx_index *newer = *index;
    while (newer != NULL && idxi_path_leads_to(AT_FDCWD, path, 0, (*index)->folder)) {
        release_locks(merge);
        for (size_t i = 0; i < 2; i++) {
            enum idx_status status =
                idxi_lock(&merge->locks[i], IDXI_LOCK_SHARE, names[i], (*index)->folder, path, error);
            if (idxi_lock_forbids(status)) return status;
        }
        IDXI_TRY(idx_refresh(*index, &newer, error));
        if (newer == NULL) continue;
        idx_close(*index);
        *index = newer;
    }
    return IDX_OK;
}

/* Opens the indexes at the `count` `paths` as merge->indexes. They must be different, and have equal properties
 * (check_mergeable). If the result is to replace an index, locks the input that is at `path`. The caller closes them,
 * even after an error. Errors: as idx_open, lock_replaced_input and check_mergeable. */
static enum idx_status open_indexes(struct merge *merge, const char *path, const char *const *paths, size_t count,
                                    struct idx_error *error) {
    struct idx_open_options options = IDX_OPEN_OPTIONS_INIT;
    options.residence = IDX_RESIDENCE_NONE;
    merge->indexes = calloc(count + 1, sizeof(struct idx_index *));
    if (merge->indexes == NULL) return idxi_fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        struct idx_index **index = &merge->indexes[i];
        IDXI_TRY(idx_open(index, paths[i], &options, error));
        merge->index_count = i + 1;
        if (merge->options.replace) IDXI_TRY(lock_replaced_input(merge, path, index, error));
        if (i > 0) IDXI_TRY(check_mergeable(merge, *index, error));
    }
    return IDX_OK;
}

/* ---- The whole ---- */

/* Publishes the new index, with the scheme and the properties of the first input, no log, and record numbers from 0.
 * Its recipe names a version of ICU only if all inputs have the same recipe. Errors: IDX_CANCELLED, IDX_OUT_OF_MEMORY;
 * as idxi_output_publish. */
static enum idx_status publish_index(struct merge *merge, struct idx_error *error) {
    struct idxf_manifest *manifest = calloc(1, sizeof *manifest);
    if (manifest == NULL) return idxi_fail_memory(error);
    *manifest = *merge->indexes[0]->manifest;
    manifest->sequence = 0;
    manifest->log = (struct idxf_manifest_log){.exists = false};
    for (size_t i = 1; i < merge->index_count; i++)
        if (strcmp(manifest->recipe, merge->indexes[i]->manifest->recipe) != 0)
            manifest->recipe[idxi_count_recipe_identity_bytes(manifest->recipe)] = '\0';
    enum idx_status status = idxi_progress_begin(&merge->progress, IDX_PHASE_PUBLISHING, 0, error);
    if (status == IDX_OK) status = idxi_output_publish(&merge->output, &merge->indexes[0]->scheme, manifest, error);
    free(manifest);
    return status;
}

/* Returns whether the recipes of any two inputs name different versions of ICU. A recipe that names none differs from
 * no other. */
static bool mixes_icu_versions(const struct merge *merge) {
    for (size_t i = 1; i < merge->index_count; i++) {
        for (size_t j = 0; j < i; j++) {
            bool same_icu = true;
            idx_recipe_matches(merge->indexes[i]->manifest->recipe, merge->indexes[j]->manifest->recipe, &same_icu);
            if (!same_icu) return true;
        }
    }
    return false;
}

/* Sets *summary to what was published. Without IDs, each fingerprint counts as a document. */
static void set_summary(const struct merge *merge, struct idx_build_summary *summary) {
    const struct idxf_manifest_segment *segment = &merge->output.segment;
    bool has_ids = merge->indexes[0]->manifest->id_type != IDXF_ID_NONE;
    *summary = (struct idx_build_summary){.documents = has_ids ? segment->documents : segment->fingerprints,
                                          .fingerprints = segment->fingerprints,
                                          .table_bytes = merge->combination.table_bytes,
                                          .documents_bytes = merge->combination.documents_bytes,
                                          .by_id_bytes = merge->combination.by_id.bytes,
                                          .tables = merge->indexes[0]->scheme.table_count,
                                          .leftovers = merge->output.publication.leftovers,
                                          .mixed_icu = mixes_icu_versions(merge)};
    strcpy(summary->scheme, merge->indexes[0]->scheme.name);
}

/* Merges the `count` indexes at `paths` into a new one at `path`: the work of idx_merge, but for setting the summary.
 * The caller frees what this has opened, even after an error. Errors: as idx_merge. */
static enum idx_status run_merge(struct merge *merge, const char *path, const char *const *paths, size_t count,
                                 struct idx_error *error) {
    struct idxi_combination *combination = &merge->combination;
    if (count == 0) return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL, "there is no index to merge");
    IDXI_TRY(idxi_check_threads(merge->options.threads, error));
    IDXI_TRY(idxi_memory_choose_limit(&merge->options.memory_bytes, error));
    IDXI_TRY(open_indexes(merge, path, paths, count, error));
    idxi_progress_init(&merge->progress, merge->options.progress, merge->options.context);
    *combination = (struct idxi_combination){.model = merge->indexes[0],
                                             .memory_bytes = merge->options.memory_bytes,
                                             .threads = merge->options.threads,
                                             .progress = &merge->progress,
                                             .output = &merge->output};
    IDXI_TRY(idxi_fill_combination(merge->indexes, merge->index_count, 0, combination, error));
    IDXI_TRY(idxi_output_open(&merge->output, path, merge->options.replace, NULL,
                              (enum idx_id_type)merge->indexes[0]->manifest->id_type, error));
    IDXI_TRY(idxi_combine_segments(combination, error));
    return publish_index(merge, error);
}

/* Closes and frees all that a merge has opened, and the merge. The locks are held until the output is closed. */
static void free_merge(struct merge *merge) {
    idxi_output_close(&merge->output);
    release_locks(merge);
    while (merge->index_count > 0) idx_close(merge->indexes[--merge->index_count]);
    free(merge->indexes);
    idxi_free_combination_arrays(&merge->combination);
    free(merge);
}

enum idx_status idx_merge(const char *path, const char *const *inputs, size_t count,
                          const struct idx_merge_options *options, struct idx_build_summary *summary,
                          struct idx_error *error) {
    struct merge *merge = calloc(1, sizeof *merge);
    if (merge == NULL) return idxi_fail_memory(error);
    merge->options = (struct idx_merge_options)IDX_MERGE_OPTIONS_INIT;
    enum idx_status status = idxi_copy_options(&merge->options, options, error);
    merge->output.segment_folder = merge->output.temporary_folder = merge->locks[0] = merge->locks[1] = -1;
    if (status == IDX_OK) status = run_merge(merge, path, inputs, count, error);
    if (status == IDX_OK && summary != NULL) set_summary(merge, summary);
    free_merge(merge);
    return status;
}
