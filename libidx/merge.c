/* merge.c: makes one index of several, table by table and map by map, by merging what is in order already. */
#include <stdlib.h>
#include <string.h>

#include "libidx/error.h"
#include "libidx/live.h"
#include "libidx/memory.h"
#include "libidx/merging.h"
#include "libidx/output.h"
#include "libidx/recipe.h"
#include "libidx/table_stream.h"

/* A segment of an index that is merged. */
struct input {
    struct idx_index *index;
    const struct idxi_segment *segment;
    struct idxi_map *map, *by_id; /* the latter: NULL where there is no map from IDs */
    uint64_t offset;              /* added to its document numbers */
};

struct merge {
    struct idx_merge_options options;
    struct idx_index **indexes;
    size_t index_count;
    struct input *inputs;
    size_t input_count;
    struct idxi_progress progress;
    struct idxi_output output;
    struct idxi_table_form form;
    uint64_t documents_bytes;
    uint64_t document_fingerprints; /* of the document map */
    struct idxi_by_id_made by_id;
    struct idxi_table_made *tables;
};

/* ---- Opening ---- */

/* What a sentence says that two indexes differ in; NULL where they match. */
static const char *find_difference(const struct idxf_manifest *a, const struct idxf_manifest *b) {
    if (a->bits != b->bits) return "bits";
    if (a->k != b->k) return "k";
    if (a->id_type != b->id_type) return "ID type";
    if (a->by_id != b->by_id) return "maps from IDs (by-id)";
    if (!idx_recipe_matches(a->recipe, b->recipe, NULL)) return "recipe";
    if (a->table_count != b->table_count) return "scheme";
    for (size_t i = 0; i < a->table_count; i++) {
        if (a->tables[i].mask != b->tables[i].mask || a->tables[i].radius != b->tables[i].radius) return "scheme";
    }
    return NULL;
}

static enum idx_status check_match(const struct merge *merge, const struct idx_index *index, struct idx_error *error) {
    const struct idx_index *first = merge->indexes[0];
    const char *difference = find_difference(first->manifest, index->manifest);
    if (difference != NULL)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, index->path,
                         "can't be merged with %s, since they differ in their %s: build one of them anew", first->path,
                         difference);
    for (size_t i = 0; i < merge->index_count; i++) {
        if (memcmp(merge->indexes[i]->manifest->uuid, index->manifest->uuid, IDXF_UUID_BYTES) == 0)
            return idxi_fail(error, IDX_INVALID_ARGUMENT, index->path, "is the same index as %s: give each index once",
                             merge->indexes[i]->path);
    }
    return IDX_OK;
}

static enum idx_status open_indexes(struct merge *merge, const char *const *paths, size_t count,
                                    struct idx_error *error) {
    struct idx_open_options options = IDX_OPEN_OPTIONS_INIT;
    options.residence = IDX_RESIDENCE_NONE;
    merge->indexes = calloc(count + 1, sizeof(struct idx_index *));
    if (merge->indexes == NULL) return idxi_fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        struct idx_index *index;
        IDXI_TRY(idx_open(&index, paths[i], &options, error));
        enum idx_status status = idxi_check_compact(index, error);
        if (status == IDX_OK && i > 0) status = check_match(merge, index, error);
        merge->indexes[merge->index_count++] = index;
        merge->input_count += index->open_segments;
        if (status != IDX_OK) return status;
    }
    return IDX_OK;
}

static enum idx_status list_inputs(struct merge *merge, struct idx_error *error) {
    bool numbered = merge->indexes[0]->manifest->id_type == IDXF_ID_TEXT;
    uint64_t documents = 0;
    size_t made = 0;
    merge->inputs = calloc(merge->input_count + 1, sizeof *merge->inputs);
    if (merge->inputs == NULL) return idxi_fail_memory(error);
    for (size_t i = 0; i < merge->index_count; i++) {
        struct idx_index *index = merge->indexes[i];
        for (size_t j = 0; j < index->open_segments; j++) {
            struct idxi_segment *segment = index->segments[j];
            struct idxi_map *by_id = index->manifest->by_id ? &segment->by_id : NULL;
            merge->inputs[made++] = (struct input){index, segment, &segment->map, by_id, numbered ? documents : 0};
            IDXI_TRY(idxi_map_prepare(&segment->map, error));
            if (by_id != NULL) IDXI_TRY(idxi_map_prepare(by_id, error));
            documents += segment->entry.documents;
        }
    }
    return IDX_OK;
}

static enum idx_status check_options(const struct idx_merge_options *options, size_t count, struct idx_error *error) {
    if (count == 0) return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL, "there is no index to merge");
    if (options->threads < 1 || options->threads > IDX_MAX_THREADS)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL, "%u threads: it must be 1 to %d", options->threads,
                         IDX_MAX_THREADS);
    return IDX_OK;
}

/* ---- Documents ---- */

struct numbering {
    struct idxi_map_writer *writer;
    struct idxi_progress *progress;
    uint64_t offset;
};

static enum idx_status add_id(void *context, uint64_t number, const void *id, size_t length, struct idx_error *error) {
    struct numbering *numbering = context;
    if (number % IDXI_STREAM_ENTRIES == 0) IDXI_TRY(idxi_progress_add(numbering->progress, 0, error));
    return idxi_map_writer_add_id(numbering->writer, numbering->offset + number, id, length, error);
}

static enum idx_status copy_ids(struct merge *merge, struct idx_error *error) {
    for (size_t i = 0; i < merge->input_count; i++) {
        struct numbering numbering = {&merge->output.map, &merge->progress, merge->inputs[i].offset};
        IDXI_TRY(idxi_map_visit_ids(merge->inputs[i].map, add_id, &numbering, error));
    }
    return IDX_OK;
}

static enum idx_status write_documents(struct merge *merge, struct idxi_stream *stream, struct idx_error *error) {
    uint64_t fingerprints[IDXI_STREAM_ENTRIES], values[IDXI_STREAM_ENTRIES], last = 0;
    size_t count;
    for (;;) {
        IDXI_TRY(stream->read(stream, fingerprints, values, IDXI_STREAM_ENTRIES, &count, error));
        if (count == 0) return IDX_OK;
        IDXI_TRY(idxi_map_writer_add(&merge->output.map, fingerprints, values, count, error));
        IDXI_TRY(idxi_progress_add(&merge->progress, count, error));
        for (size_t i = 0; i < count; i++) {
            merge->document_fingerprints += fingerprints[i] != last || merge->document_fingerprints == 0;
            last = fingerprints[i];
        }
        merge->output.segment.documents += count;
    }
}

static enum idx_status write_by_id(struct merge *merge, struct idxi_stream *stream, struct idx_error *error) {
    return idxi_output_write_by_id(&merge->output, stream, &merge->progress, &merge->by_id, error);
}

/* Merges the maps of all inputs of one kind. */
static enum idx_status merge_maps(struct merge *merge, enum idxi_map_kind kind, struct idx_error *error) {
    bool by_id = kind == IDXI_MAP_BY_ID;
    size_t count = merge->input_count;
    struct idxi_map_stream *streams = calloc(count, sizeof *streams);
    struct idxi_stream **inputs = calloc(count, sizeof *inputs);
    struct idxi_merging *merging = NULL;
    enum idx_status status = streams == NULL || inputs == NULL ? idxi_fail_memory(error) : IDX_OK;
    for (size_t i = 0; i < count && status == IDX_OK; i++) {
        const struct input *input = &merge->inputs[i];
        idxi_map_stream_init(&streams[i], by_id ? input->by_id : input->map, by_id ? 0 : input->offset);
        inputs[i] = &streams[i].stream;
    }
    if (status == IDX_OK) status = idxi_merging_open(&merging, inputs, count, true, error);
    if (status == IDX_OK) status = (by_id ? write_by_id : write_documents)(merge, idxi_merging_stream(merging), error);
    idxi_merging_close(merging);
    free(inputs);
    free(streams);
    return status;
}

/* ---- Tables ---- */

static enum idx_status merge_table(struct merge *merge, size_t number, struct idx_error *error) {
    size_t count = merge->input_count;
    struct idxi_table_stream *streams = calloc(count, sizeof *streams);
    struct idxi_stream **inputs = calloc(count, sizeof *inputs);
    struct idxi_merging *merging = NULL;
    enum idx_status status = streams == NULL || inputs == NULL ? idxi_fail_memory(error) : IDX_OK;
    for (size_t i = 0; i < count && status == IDX_OK; i++) {
        idxi_table_stream_init(&streams[i], &merge->inputs[i].segment->tables[number]);
        inputs[i] = &streams[i].stream;
    }
    if (status == IDX_OK) status = idxi_merging_open(&merging, inputs, count, false, error);
    if (status == IDX_OK)
        status = idxi_output_write_table(&merge->output, &merge->form, number, idxi_merging_stream(merging),
                                         &merge->tables[number], error);
    idxi_merging_close(merging);
    free(inputs);
    free(streams);
    return status;
}

/* ---- The whole ---- */

static bool has_by_id(const struct merge *merge) { return merge->indexes[0]->manifest->by_id; }

/* Task 0 is the documents', the next one the map from IDs, where there is any, the others are the tables'. */
static enum idx_status run_task(void *context, size_t number, struct idx_error *error) {
    struct merge *merge = context;
    enum idxf_id_type id_type = merge->indexes[0]->manifest->id_type;
    size_t maps = has_by_id(merge) ? 2 : 1;
    if (number >= maps) return merge_table(merge, number - maps, error);
    if (number > 0) return merge_maps(merge, IDXI_MAP_BY_ID, error);
    if (id_type == IDXF_ID_TEXT) IDXI_TRY(copy_ids(merge, error));
    return id_type == IDXF_ID_NONE ? IDX_OK : merge_maps(merge, IDXI_MAP_DOCUMENTS, error);
}

static uint64_t count_work(const struct merge *merge) {
    uint64_t total = 0;
    for (size_t i = 0; i < merge->input_count; i++) {
        const struct idxf_manifest_segment *entry = &merge->inputs[i].segment->entry;
        total += entry->documents + entry->fingerprints * merge->form.scheme->table_count;
        if (has_by_id(merge)) total += merge->inputs[i].by_id->segment.documents;
    }
    return total;
}

/* Merging may show that what is in bounds for each input is wrong. */
static enum idx_status check_by_id(const struct merge *merge, struct idx_error *error) {
    uint64_t entries = merge->by_id.entries, documents = merge->output.segment.documents;
    bool all_differ = merge->indexes[0]->manifest->id_type == IDXF_ID_U64;
    if (entries >= merge->document_fingerprints && entries <= documents && (!all_differ || entries == documents))
        return IDX_OK;
    return idxi_fail(error, IDX_BAD_CONTENT, NULL,
                     "the document maps and the maps from IDs of an index to be merged don't hold the same documents: "
                     "find it by idx verify");
}

static enum idx_status check_counts(const struct merge *merge, struct idx_error *error) {
    uint64_t fingerprints = merge->tables[0].fingerprints;
    bool agree = merge->indexes[0]->manifest->id_type == IDXF_ID_NONE || merge->document_fingerprints == fingerprints;
    for (size_t i = 1; i < merge->form.scheme->table_count; i++)
        agree = agree && merge->tables[i].fingerprints == fingerprints;
    if (!agree)
        return idxi_fail(error, IDX_BAD_CONTENT, NULL,
                         "the tables and the document maps of an index to be merged don't hold the same "
                         "fingerprints: find it by idx verify");
    return has_by_id(merge) ? check_by_id(merge, error) : IDX_OK;
}

static enum idx_status write_all(struct merge *merge, struct idx_error *error) {
    const struct idxf_table_header *header = &merge->inputs[0].segment->tables[0].header;
    struct idx_scheme *scheme = &merge->indexes[0]->scheme;
    uint64_t memory = merge->options.memory_bytes;
    unsigned threads = merge->options.threads;
    merge->form = (struct idxi_table_form){scheme, (enum idx_codec)header->codec, header->block_size,
                                           idxi_memory_of_keys(memory, threads), &merge->progress};
    merge->tables = calloc(scheme->table_count, sizeof *merge->tables);
    if (merge->tables == NULL) return idxi_fail_memory(error);
    idxi_progress_init(&merge->progress, merge->options.progress, merge->options.context);
    IDXI_TRY(idxi_progress_begin(&merge->progress, IDX_PHASE_MERGING, count_work(merge), error));
    IDXI_TRY(idxi_parallel(scheme->table_count + (has_by_id(merge) ? 2 : 1), threads, run_task, merge, &merge->progress,
                           error));
    IDXI_TRY(check_counts(merge, error));
    merge->output.segment.fingerprints = merge->tables[0].fingerprints;
    return idxi_output_finish_map(&merge->output, &merge->documents_bytes, error);
}

static enum idx_status publish(struct merge *merge, struct idx_error *error) {
    struct idxf_manifest *manifest = calloc(1, sizeof *manifest);
    if (manifest == NULL) return idxi_fail_memory(error);
    *manifest = *merge->indexes[0]->manifest;
    for (size_t i = 1; i < merge->index_count; i++) {
        if (strcmp(manifest->recipe, merge->indexes[i]->manifest->recipe) != 0)
            manifest->recipe[idxi_recipe_identity(manifest->recipe)] = '\0';
    }
    enum idx_status status = idxi_progress_begin(&merge->progress, IDX_PHASE_PUBLISHING, 0, error);
    if (status == IDX_OK) status = idxi_output_publish(&merge->output, merge->form.scheme, manifest, error);
    free(manifest);
    return status;
}

/* Whether the recipes of any two inputs name different versions of ICU; those that name none differ from no other. */
static bool mixes_icu(const struct merge *merge) {
    bool same = true;
    for (size_t i = 1; i < merge->index_count && same; i++) {
        for (size_t j = 0; j < i && same; j++)
            idx_recipe_matches(merge->indexes[i]->manifest->recipe, merge->indexes[j]->manifest->recipe, &same);
    }
    return !same;
}

static void summarise(const struct merge *merge, struct idx_build_summary *summary) {
    *summary = (struct idx_build_summary){.documents = merge->output.segment.documents,
                                          .fingerprints = merge->output.segment.fingerprints,
                                          .documents_bytes = merge->documents_bytes,
                                          .by_id_bytes = merge->by_id.bytes,
                                          .tables = merge->form.scheme->table_count,
                                          .leftovers = merge->output.publication.leftovers,
                                          .mixed_icu = mixes_icu(merge)};
    for (size_t i = 0; i < summary->tables; i++) summary->table_bytes += merge->tables[i].bytes;
    strcpy(summary->scheme, merge->form.scheme->name);
}

static enum idx_status run(struct merge *merge, const char *path, const char *const *paths, size_t count,
                           struct idx_error *error) {
    IDXI_TRY(check_options(&merge->options, count, error));
    IDXI_TRY(idxi_memory_settle(&merge->options.memory_bytes, error));
    IDXI_TRY(open_indexes(merge, paths, count, error));
    IDXI_TRY(list_inputs(merge, error));
    IDXI_TRY(idxi_output_open(&merge->output, path, merge->options.replace, NULL,
                              (enum idx_id_type)merge->indexes[0]->manifest->id_type, error));
    IDXI_TRY(write_all(merge, error));
    return publish(merge, error);
}

static void free_merge(struct merge *merge) {
    idxi_output_close(&merge->output);
    while (merge->index_count > 0) idx_close(merge->indexes[--merge->index_count]);
    free(merge->indexes);
    free(merge->inputs);
    free(merge->tables);
    free(merge);
}

enum idx_status idx_merge(const char *path, const char *const *inputs, size_t count,
                          const struct idx_merge_options *options, struct idx_build_summary *summary,
                          struct idx_error *error) {
    struct merge *merge = calloc(1, sizeof *merge);
    if (merge == NULL) return idxi_fail_memory(error);
    merge->options = (struct idx_merge_options)IDX_MERGE_OPTIONS_INIT;
    if (options != NULL)
        memcpy(&merge->options, options, options->size < sizeof *options ? options->size : sizeof *options);
    merge->output.segment_folder = merge->output.temporary_folder = -1;
    enum idx_status status = run(merge, path, inputs, count, error);
    if (status == IDX_OK && summary != NULL) summarise(merge, summary);
    free_merge(merge);
    return status;
}
