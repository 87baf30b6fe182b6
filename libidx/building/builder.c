/* builder.c: collects documents, sorts them, and builds an index from them. */
#include "libidx/building/builder.h"

#include <idx_planning.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format/directory.h"
#include "libidx/base/base.h"
#include "libidx/building/set_sorter.h"
#include "libidx/building/tables.h"
#include "libidx/scheme/plan.h"
#include "libidx/scheme/sample.h"
#include "libidx/scheme/scheme.h"
#include "libidx/streams/sorter.h"

struct idx_builder {
    struct idx_build_options options;
    char recipe[IDX_MAX_RECIPE_BYTES + 1];
    char *scheme_text, *temporary_folder; /* copies of what the options point to */
    struct idxi_progress progress;
    struct idxi_output output;
    struct idxi_sorter sorter, id_sorter; /* the latter sorts hashes of IDs with fingerprints, for a map from IDs */
    struct idxi_set_sorter sets;          /* with integer IDs */
    uint64_t text_count;
    struct idxi_distinct distinct;
    struct idxi_sample sample;
    struct idxi_survey survey;
    struct idx_scheme scheme;
    uint64_t added; /* documents */
    bool ended;     /* it has failed or finished, and can only be closed */
};

/* ---- Opening ---- */

enum idx_status idxi_recipe_check(const char *recipe, unsigned k, struct idx_error *error) {
    struct idx_recipe_properties properties;
    size_t length = strlen(recipe);
    bool valid = length <= IDX_MAX_RECIPE_BYTES;
    for (size_t i = 0; i < length && valid; i++) valid = (unsigned char)recipe[i] >= 32 && recipe[i] != 127;
    if (!valid)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL,
                         "a recipe can have up to %d bytes, without control characters", IDX_MAX_RECIPE_BYTES);
    idx_recipe_read(recipe, &properties);
    if (k > properties.max_k)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL,
                         "fingerprints of the recipe '%s' are hashes, which are equal or unrelated, so an index of "
                         "them has k = 0, not %u",
                         recipe, k);
    return IDX_OK;
}

/* Checks the options of an index with sets; options->sketch must not be 0. Errors: IDX_INVALID_ARGUMENT. */
static enum idx_status check_sketch_options(const struct idx_build_options *options, struct idx_error *error) {
    struct idx_recipe_properties recipe;
    idx_recipe_read(options->recipe == NULL ? "" : options->recipe, &recipe);
    if (options->sketch > IDX_MAX_SKETCH)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL, "a sketch has 1 to %d values, not %u", IDX_MAX_SKETCH,
                         options->sketch);
    if (options->threshold < 1 || options->threshold > IDX_THRESHOLD_ONE)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL, "a threshold is 1 to %d, not %" PRId64,
                         (int)IDX_THRESHOLD_ONE, options->threshold);
    if (options->bits != IDX_MAX_BITS || options->k != 0 || options->id_type == IDX_ID_NONE || options->by_id)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL,
                         "an index with sets has fingerprints of 64 bits, k = 0, document IDs, and no map from IDs, "
                         "which it does not need");
    if (recipe.method != IDX_RECIPE_MINHASH || recipe.fingerprints == options->sketch) return IDX_OK;
    return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL, "the recipe '%s' has sketches of %u values, not %u",
                     options->recipe, recipe.fingerprints, options->sketch);
}

enum idx_status idxi_build_options_check(const struct idx_build_options *options, struct idx_error *error) {
    struct idx_scheme scheme;
    bool is_auto = options->scheme != NULL && strcmp(options->scheme, IDXI_AUTO) == 0;
    IDXI_TRY(idxi_check_bits_and_k(options->bits, options->k, error));
    if (!is_auto) IDXI_TRY(idx_scheme_parse(&scheme, options->scheme, options->bits, options->k, 0, error));
    IDXI_TRY(idxi_check_block_size(options->block_size, error));
    if ((unsigned)options->id_type >= IDXF_ID_TYPE_COUNT)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL, "there is no ID type %d", (int)options->id_type);
    if (options->by_id && options->id_type == IDX_ID_NONE)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL,
                         "a map from IDs needs documents with IDs: omit by-id, or choose another ID type");
    if (options->sketch > 0) IDXI_TRY(check_sketch_options(options, error));
    IDXI_TRY(idxi_check_threads(options->threads, error));
    return options->recipe == NULL ? IDX_OK : idxi_recipe_check(options->recipe, options->k, error);
}

/* Sets builder->options to the caller's over the defaults, and checks them. Copies the strings that they point to,
 * since the caller may free them; idx_builder_close frees the copies. */
static enum idx_status copy_and_check_options(struct idx_builder *builder,
                                              const struct idx_build_options *caller_options, struct idx_error *error) {
    const struct idx_build_options *options = &builder->options;
    builder->options = (struct idx_build_options)IDX_BUILD_OPTIONS_INIT;
    IDXI_TRY(idxi_copy_options(&builder->options, caller_options, error));
    IDXI_TRY(idxi_build_options_check(options, error));
    builder->scheme_text = strdup(options->scheme);
    if (builder->scheme_text == NULL) return idxi_fail_memory(error);
    if (options->recipe != NULL) strcpy(builder->recipe, options->recipe);
    if (options->temporary_folder == NULL) return IDX_OK;
    builder->temporary_folder = strdup(options->temporary_folder);
    return builder->temporary_folder == NULL ? idxi_fail_memory(error) : IDX_OK;
}

/* Opens the sorters, which share the memory for arrays. With a map from IDs, its sorter and that of the documents have
 * half of it each. With sets by integer IDs, the sorter of their keys has an eighth, and that of the documents the
 * rest. */
static enum idx_status open_sorters(struct idx_builder *builder, struct idx_error *error) {
    const struct idx_build_options *options = &builder->options;
    uint64_t memory_bytes = idxi_memory_of_arrays(options->memory_bytes, options->threads);
    struct idxi_sorter_options sorting = {
        .with_values = options->id_type != IDX_ID_NONE,
        .once = true,
        .threads = options->threads,
        .memory = options->by_id ? memory_bytes / 2 : memory_bytes,
        .folder = builder->output.temporary_folder,
        .path = builder->output.temporary_path,
        .progress = &builder->progress,
    };
    if (options->sketch > 0 && options->id_type == IDX_ID_U64) {
        struct idxi_sorter_options key_options = sorting;
        key_options.memory = memory_bytes / 8;
        sorting.memory -= key_options.memory;
        IDXI_TRY(idxi_set_sorter_open(&builder->sets, &key_options, error));
    }
    IDXI_TRY(idxi_sorter_open(&builder->sorter, &sorting, error));
    return options->by_id ? idxi_sorter_open(&builder->id_sorter, &sorting, error) : IDX_OK;
}

/* Does the work of idx_builder_open: opens the output and the sorters, and begins the phase of adding. After an error,
 * idx_builder_close frees what was opened. */
static enum idx_status open_builder(struct idx_builder *builder, const char *path,
                                    const struct idx_build_options *options, struct idx_error *error) {
    IDXI_TRY(copy_and_check_options(builder, options, error));
    IDXI_TRY(idxi_memory_choose_limit(&builder->options.memory_bytes, error));
    IDXI_TRY(idxi_output_open(&builder->output, path, builder->options.replace, builder->temporary_folder,
                              builder->options.id_type, error));
    if (builder->options.sketch > 0)
        IDXI_TRY(idxi_sets_writer_open(&builder->output.sets, builder->output.segment_folder,
                                       builder->output.segment_path, error));
    IDXI_TRY(open_sorters(builder, error));
    idxi_progress_init(&builder->progress, builder->options.progress, builder->options.context);
    return idxi_progress_begin(&builder->progress, IDX_PHASE_ADDING, 0, error);
}

enum idx_status idx_builder_open(struct idx_builder **result, const char *path, const struct idx_build_options *options,
                                 struct idx_error *error) {
    struct idx_build_options defaults = IDX_BUILD_OPTIONS_INIT;
    struct idx_builder *builder = calloc(1, sizeof *builder);
    if (builder == NULL) return idxi_fail_memory(error);
    builder->output.segment_folder = builder->output.temporary_folder = -1;
    enum idx_status status = open_builder(builder, path, options == NULL ? &defaults : options, error);
    if (status == IDX_OK)
        *result = builder;
    else
        idx_builder_close(builder);
    return status;
}

/* ---- Adding ---- */

/* Fails with IDX_INVALID_ARGUMENT if the builder has finished or failed, so that it can only be closed. */
static enum idx_status check_not_ended(const struct idx_builder *builder, struct idx_error *error) {
    return builder->ended ? idxi_fail(error, IDX_INVALID_ARGUMENT, NULL,
                                      "this builder has finished or failed: it can only be closed")
                          : IDX_OK;
}

/* Checks that the ID of an item is of the builder's type, and not too long. */
static enum idx_status check_item_id(const struct idx_builder *builder, const struct idx_item *item,
                                     struct idx_error *error) {
    bool is_text = builder->options.id_type == IDX_ID_TEXT;
    if (!idxi_item_fits_id_type(item, builder->options.id_type))
        return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL,
                         is_text ? "this builder needs text IDs" : "this builder does not accept text IDs");
    return is_text ? idxi_check_id_length(item->id_length, error) : IDX_OK;
}

/* Checks whether a document can be added. Changes nothing, so after this error the builder can still be used. */
static enum idx_status check_addition(const struct idx_builder *builder, const struct idx_item *item,
                                      struct idx_error *error) {
    IDXI_TRY(check_not_ended(builder, error));
    if (builder->options.sketch > 0)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL, "this builder needs texts with their sets");
    IDXI_TRY(idxi_check_fingerprints(&item->fingerprint, 1, builder->options.bits, error));
    return check_item_id(builder, item, error);
}

/* Sorts what a sorter holds and writes it to disk, in the phase IDX_PHASE_SORTING. Then returns to IDX_PHASE_ADDING,
 * with all documents so far as progress. */
static enum idx_status spill_sorter(struct idx_builder *builder, struct idxi_sorter *sorter, struct idx_error *error) {
    IDXI_TRY(idxi_progress_begin(&builder->progress, IDX_PHASE_SORTING, sorter->count, error));
    IDXI_TRY(idxi_sorter_spill(sorter, error));
    IDXI_TRY(idxi_progress_begin(&builder->progress, IDX_PHASE_ADDING, 0, error));
    return idxi_progress_add(&builder->progress, builder->added, error);
}

/* So many documents are added between two calls of begin_adding_step. */
#define STEP_DOCUMENTS 4096

/* Counts the documents of the last step as progress, and makes room in the sorters for those of the next one. Fails in
 * a forked process. Checking that takes too long for each document, and is needless: what a forked process adds within
 * a step stays in its own memory. */
static enum idx_status begin_adding_step(struct idx_builder *builder, struct idx_error *error) {
    IDXI_TRY(idxi_map_writer_check_process(&builder->output.map, error));
    IDXI_TRY(idxi_progress_add(&builder->progress, builder->added > 0 ? STEP_DOCUMENTS : 0, error));
    if (idxi_sorter_get_free_entries(&builder->sorter) < STEP_DOCUMENTS)
        IDXI_TRY(spill_sorter(builder, &builder->sorter, error));
    if (builder->options.by_id && idxi_sorter_get_free_entries(&builder->id_sorter) < STEP_DOCUMENTS)
        IDXI_TRY(spill_sorter(builder, &builder->id_sorter, error));
    return IDX_OK;
}

/* Adds a document to the sorters. `value` is its number or its integer ID. `hash`, that of its ID, is used only for a
 * map from IDs. */
static enum idx_status add_to_sorters(struct idx_builder *builder, uint64_t fingerprint, uint64_t value, uint64_t hash,
                                      struct idx_error *error) {
    if (builder->added % STEP_DOCUMENTS == 0) IDXI_TRY(begin_adding_step(builder, error));
    idxi_sorter_add(&builder->sorter, fingerprint, value);
    if (builder->options.by_id) idxi_sorter_add(&builder->id_sorter, hash, fingerprint);
    builder->added++;
    return IDX_OK;
}

/* Adds the document of an item with a text ID. Its value is its number, that of the documents added before. */
static enum idx_status add_item_with_text_id(struct idx_builder *builder, const struct idx_item *item,
                                             struct idx_error *error) {
    uint64_t hash = builder->options.by_id ? idxi_hash_id(item->id, item->id_length) : 0;
    IDXI_TRY(idxi_map_writer_add_id(&builder->output.map, builder->added, item->id, item->id_length, error));
    return add_to_sorters(builder, item->fingerprint, builder->added, hash, error);
}

enum idx_status idx_builder_add(struct idx_builder *builder, const struct idx_item *item, struct idx_error *error) {
    enum idx_status status;
    IDXI_TRY(check_addition(builder, item, error));
    if (builder->options.id_type == IDX_ID_TEXT) {
        status = add_item_with_text_id(builder, item, error);
    } else {
        uint64_t hash = builder->options.by_id ? idxi_hash_u64_id(item->number) : 0;
        status = add_to_sorters(builder, item->fingerprint, item->number, hash, error);
    }
    builder->ended = status != IDX_OK;
    return status;
}

/* Adds a text to the sets, and a document for each value of its sketch. The sketch is the first options.sketch members
 * of the set, or all if there are fewer: the smallest hashes, since members ascend. */
static enum idx_status add_text(struct idx_builder *builder, const struct idx_item *item, const struct idx_set *set,
                                struct idx_error *error) {
    bool is_text = builder->options.id_type == IDX_ID_TEXT;
    struct idxf_set stored = {.key = is_text ? builder->text_count : item->number, .count = set->count};
    IDXI_TRY(idxi_members_to_little_endian(&builder->sets.scratch, set->hashes, set->count, &stored.members, error));
    if (is_text) {
        IDXI_TRY(idxi_map_writer_add_id(&builder->output.map, builder->text_count, item->id, item->id_length, error));
        IDXI_TRY(idxi_sets_writer_add(&builder->output.sets, &stored, error));
    } else {
        IDXI_TRY(idxi_set_sorter_add(&builder->sets, &stored, error));
    }
    builder->text_count++;
    for (size_t i = 0; i < set->count && i < builder->options.sketch; i++)
        IDXI_TRY(add_to_sorters(builder, set->hashes[i], stored.key, 0, error));
    return IDX_OK;
}

enum idx_status idx_builder_add_text(struct idx_builder *builder, const struct idx_item *item,
                                     const struct idx_set *set, struct idx_error *error) {
    IDXI_TRY(check_not_ended(builder, error));
    if (builder->options.sketch == 0)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL, "this builder makes an index without sets");
    IDXI_TRY(idxi_check_set(set, error));
    IDXI_TRY(check_item_id(builder, item, error));
    if (set->count == 0) return IDX_OK;
    enum idx_status status = add_text(builder, item, set, error);
    builder->ended = status != IDX_OK;
    return status;
}

/* ---- Finishing ---- */

/* Writes `count` sorted documents to the document map, unless they have no IDs and `values` is NULL. Adds those of
 * their fingerprints that no earlier call had, each once, to the sample, the survey and builder->distinct, from which
 * tables are written; it overwrites `fingerprints` with them. *last_fingerprint is the last one of the call before (any
 * number for the first call), and becomes that of this call. */
static enum idx_status store_documents(struct idx_builder *builder, uint64_t *fingerprints, const uint64_t *values,
                                       size_t count, uint64_t *last_fingerprint, struct idx_error *error) {
    struct idxi_output *output = &builder->output;
    size_t distinct_count = 0;
    if (values != NULL) {
        IDXI_TRY(idxi_map_writer_add_documents(&output->map, fingerprints, values, count, error));
        output->segment.documents += count;
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t fingerprint = fingerprints[i];
        bool is_repeated = fingerprint == *last_fingerprint && (i > 0 || builder->distinct.count > 0);
        fingerprints[distinct_count] = *last_fingerprint = fingerprint;
        distinct_count += !is_repeated;
    }
    idxi_sample_add(&builder->sample, fingerprints, distinct_count);
    idxi_survey_add(&builder->survey, fingerprints, distinct_count, IDX_MAX_BITS);
    IDXI_TRY(idxi_distinct_add(&builder->distinct, fingerprints, distinct_count, error));
    return idxi_progress_add(&builder->progress, count, error);
}

/* Reads the whole stream of sorted documents, stores them by store_documents, and completes builder->distinct. */
static enum idx_status store_sorted(struct idx_builder *builder, struct idxi_stream *sorted, struct idx_error *error) {
    uint64_t fingerprints[IDXI_STREAM_ENTRIES], values[IDXI_STREAM_ENTRIES], last_fingerprint = 0;
    uint64_t *values_or_null = builder->options.id_type == IDX_ID_NONE ? NULL : values;
    size_t count;
    IDXI_TRY(idxi_progress_begin(&builder->progress, IDX_PHASE_MERGING, builder->added, error));
    for (;;) {
        IDXI_TRY(sorted->read(sorted, fingerprints, values_or_null, IDXI_STREAM_ENTRIES, &count, error));
        if (count == 0) return idxi_distinct_end(&builder->distinct, error);
        IDXI_TRY(store_documents(builder, fingerprints, values_or_null, count, &last_fingerprint, error));
    }
}

/* Writes the map from IDs, if the options want one, and frees its sorter. This comes before the documents, so that they
 * have all the memory. Sets summary->by_id_bytes, and adds to summary->temporary_bytes. */
static enum idx_status write_by_id_map(struct idx_builder *builder, struct idx_build_summary *summary,
                                       struct idx_error *error) {
    struct idxi_by_id_result result;
    struct idxi_stream *stream;
    if (!builder->options.by_id) return IDX_OK;
    IDXI_TRY(idxi_progress_begin(&builder->progress, IDX_PHASE_SORTING, builder->id_sorter.count, error));
    IDXI_TRY(idxi_sorter_open_stream(&builder->id_sorter, &stream, error));
    IDXI_TRY(idxi_progress_begin(&builder->progress, IDX_PHASE_MERGING, builder->added, error));
    IDXI_TRY(idxi_output_write_by_id_map(&builder->output, stream, &builder->progress, &result, error));
    summary->by_id_bytes = result.bytes;
    summary->temporary_bytes += idxi_sorter_count_written_bytes(&builder->id_sorter);
    idxi_sorter_close(&builder->id_sorter);
    return IDX_OK;
}

/* Sorts the documents, completes the document map, and frees the sorter. Keeps the distinct fingerprints for the
 * tables: in memory if all threads can sort a copy of them beside that, else on disk. Sets summary->documents_bytes,
 * and adds to summary->temporary_bytes. */
static enum idx_status write_documents(struct idx_builder *builder, struct idx_build_summary *summary,
                                       struct idx_error *error) {
    struct idxi_output *output = &builder->output;
    struct idxi_stream *stream;
    bool on_disk = !idxi_memory_holds_tables(builder->options.memory_bytes, builder->added, builder->options.threads);
    IDXI_TRY(idxi_progress_begin(&builder->progress, IDX_PHASE_SORTING, builder->sorter.count, error));
    IDXI_TRY(idxi_sorter_open_stream(&builder->sorter, &stream, error));
    IDXI_TRY(idxi_distinct_begin(&builder->distinct, on_disk ? 0 : builder->added, output->temporary_folder,
                                 output->temporary_path, error));
    IDXI_TRY(idxi_sample_begin(&builder->sample, error));
    IDXI_TRY(store_sorted(builder, stream, error));
    summary->temporary_bytes += idxi_sorter_count_written_bytes(&builder->sorter) + builder->distinct.file.written;
    idxi_sorter_close(&builder->sorter);
    output->segment.fingerprints = builder->distinct.count;
    return idxi_output_finish_map(output, &summary->documents_bytes, error);
}

/* Completes the file of sets, if the index has sets. Sets summary->sets_bytes and summary->texts, and adds to
 * summary->temporary_bytes. */
static enum idx_status write_sets(struct idx_builder *builder, struct idx_build_summary *summary,
                                  struct idx_error *error) {
    struct idxi_output *output = &builder->output;
    if (builder->options.sketch == 0) return IDX_OK;
    if (builder->options.id_type == IDX_ID_U64)
        IDXI_TRY(idxi_set_sorter_write(&builder->sets, &output->sets, &builder->progress, error));
    IDXI_TRY(idxi_sets_writer_finish(&output->sets, output->segment.uuid, &summary->sets_bytes, error));
    summary->temporary_bytes += idxi_set_sorter_count_written_bytes(&builder->sets);
    summary->texts = builder->text_count;
    idxi_set_sorter_close(&builder->sets);
    return IDX_OK;
}

/* Sets builder->scheme to that of the options, or for `auto` to the one that suits the number of distinct fingerprints,
 * spread as the sample shows. */
static enum idx_status choose_or_parse_scheme(struct idx_builder *builder, struct idx_error *error) {
    struct idx_plan_options options = IDX_PLAN_OPTIONS_INIT;
    if (strcmp(builder->scheme_text, IDXI_AUTO) != 0)
        return idx_scheme_parse(&builder->scheme, builder->scheme_text, builder->options.bits, builder->options.k,
                                builder->distinct.count, error);
    options.count = builder->distinct.count;
    options.bits = builder->options.bits;
    options.k = builder->options.k;
    options.block_size = builder->options.block_size;
    options.max_bytes_per_fingerprint = builder->options.max_bytes_per_fingerprint;
    idxi_sample_end(&builder->sample, options.bits);
    options.dead_bits = builder->sample.dead_bits;
    options.expected_group = idxi_sample_estimate_group_size;
    options.context = &builder->sample;
    return idxi_plan_auto(&options, &builder->scheme, error);
}

/* Writes all tables, in the memory that the distinct fingerprints leave. Sets summary->table_bytes, and adds to
 * summary->temporary_bytes. */
static enum idx_status write_tables(struct idx_builder *builder, struct idx_build_summary *summary,
                                    struct idx_error *error) {
    const struct idx_build_options *options = &builder->options;
    struct idxi_tables_result result;
    const struct idxi_distinct *distinct = &builder->distinct;
    uint64_t work_units = 2 * distinct->count * builder->scheme.table_count; /* each is read and written per table */
    uint64_t memory_bytes = options->memory_bytes, distinct_bytes = distinct->on_disk ? 0 : distinct->count * 8;
    struct idxi_table_form form = {.scheme = &builder->scheme,
                                   .blocks =
                                       idxi_survey_choose_form(&builder->survey, options->bits, options->block_size),
                                   .key_memory = idxi_get_keys_memory(memory_bytes, options->threads),
                                   .progress = &builder->progress};
    IDXI_TRY(idxi_progress_begin(&builder->progress, IDX_PHASE_TABLES, work_units, error));
    IDXI_TRY(idxi_tables_write(&builder->output, &form, distinct, options->threads,
                               idxi_memory_of_arrays(memory_bytes, options->threads) - distinct_bytes, &result, error));
    summary->table_bytes = result.bytes;
    summary->temporary_bytes += result.temporary_bytes;
    return IDX_OK;
}

/* Writes the manifest and publishes the index. This sets what of the manifest the options say; idxi_output_publish sets
 * the rest. */
static enum idx_status publish_index(struct idx_builder *builder, struct idx_error *error) {
    struct idxf_manifest *manifest = calloc(1, sizeof *manifest);
    if (manifest == NULL) return idxi_fail_memory(error);
    manifest->bits = (uint8_t)builder->options.bits;
    manifest->k = (uint8_t)builder->options.k;
    manifest->id_type = (enum idxf_id_type)builder->options.id_type;
    manifest->by_id = builder->options.by_id;
    manifest->sketch = (uint8_t)builder->options.sketch;
    manifest->resemblance = (uint16_t)builder->options.threshold;
    strcpy(manifest->recipe, builder->recipe);
    enum idx_status status = idxi_progress_begin(&builder->progress, IDX_PHASE_PUBLISHING, 0, error);
    if (status == IDX_OK) status = idxi_output_publish(&builder->output, &builder->scheme, manifest, error);
    free(manifest);
    return status;
}

/* Does the work of idx_builder_finish, for a summary that is zeroed. Documents are written before the scheme is chosen,
 * since that needs a sample of their fingerprints. */
static enum idx_status build_index(struct idx_builder *builder, struct idx_build_summary *summary,
                                   struct idx_error *error) {
    IDXI_TRY(check_not_ended(builder, error));
    IDXI_TRY(idxi_map_writer_check_process(&builder->output.map, error));
    IDXI_TRY(write_by_id_map(builder, summary, error));
    IDXI_TRY(write_sets(builder, summary, error));
    IDXI_TRY(write_documents(builder, summary, error));
    IDXI_TRY(choose_or_parse_scheme(builder, error));
    IDXI_TRY(write_tables(builder, summary, error));
    IDXI_TRY(publish_index(builder, error));
    /* Without IDs, the segment has no documents to count. */
    summary->documents = builder->options.id_type == IDX_ID_NONE ? builder->added : builder->output.segment.documents;
    summary->fingerprints = builder->output.segment.fingerprints;
    summary->tables = builder->scheme.table_count;
    summary->leftovers = builder->output.publication.leftovers;
    strcpy(summary->scheme, builder->scheme.name);
    return IDX_OK;
}

enum idx_status idx_builder_finish(struct idx_builder *builder, struct idx_build_summary *summary,
                                   struct idx_error *error) {
    struct idx_build_summary result = {0};
    enum idx_status status = build_index(builder, &result, error);
    builder->ended = true;
    if (status == IDX_OK && summary != NULL) *summary = result;
    return status;
}

void idx_builder_close(struct idx_builder *builder) {
    if (builder == NULL) return;
    idxi_sorter_close(&builder->sorter);
    idxi_sorter_close(&builder->id_sorter);
    idxi_set_sorter_close(&builder->sets);
    idxi_distinct_free(&builder->distinct);
    idxi_sample_free(&builder->sample);
    idxi_output_close(&builder->output);
    free(builder->scheme_text);
    free(builder->temporary_folder);
    free(builder);
}

/* ---- Shards ---- */

uint64_t idx_shard(uint64_t fingerprint, uint64_t shards) {
    return (uint64_t)((idxf_uint128)idxi_hash_fingerprint(fingerprint) * shards >> 64); /* equal intervals of hashes */
}
