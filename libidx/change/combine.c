/* combine.c: writes one segment from several segments and from entries in memory. */
#include "libidx/change/combine.h"

#include <stdlib.h>

#include "format/permute.h"
#include "libidx/segment/table_reader.h"
#include "libidx/streams/kway_merge.h"
#include "libidx/streams/sort.h"
#include "libidx/view/live.h"

/* The job of carrying out a combination. */
struct combine_job {
    struct idxi_combination *combination;
    const struct idxf_manifest *manifest;
    struct idxi_table_form form;
    struct idxi_table_result *tables;
    uint64_t distinct_count; /* how many distinct fingerprints the document map has */
    uint64_t value_count;    /* of the sketches of all sets */
};

/* ---- Streams without the entries that are left out ---- */

/* The stream of the entries of the stream `whole` that are not left out. */
struct filtered_stream {
    struct idxi_stream stream;
    struct idxi_stream *whole;
    const struct idxi_entries *left_out; /* ascending; without values, all entries of a fingerprint are left out */
    size_t next;                         /* the place in `left_out` of the next entry that `whole` may have */
    const struct idxi_source *numbering; /* the source whose new document numbers the values become; NULL: they stay */
};

/* Returns whether the entry of a fingerprint and *value is left out; `value` is NULL for a fingerprint without a value.
 * The entries of successive calls must ascend, since each call goes on in the list where the last one ended. */
static bool is_left_out(struct filtered_stream *filter, uint64_t fingerprint, const uint64_t *value) {
    const struct idxi_entries *left_out = filter->left_out;
    for (; filter->next < left_out->count && left_out->fingerprints[filter->next] <= fingerprint; filter->next++) {
        if (left_out->fingerprints[filter->next] < fingerprint) continue;
        if (value == NULL) return true;
        if (left_out->values[filter->next] >= *value) return left_out->values[filter->next] == *value;
    }
    return false;
}

/* Returns how many documents with numbers below `number` a source leaves out. */
static size_t count_left_out(const struct idxi_source *source, uint64_t number) {
    return idxi_count_below(source->left_out_numbers.fingerprints, source->left_out_numbers.count, number);
}

/* Returns the number in the new segment of the document that has this number in the source. It must not be left out. */
static uint64_t renumber(const struct idxi_source *source, uint64_t number) {
    return source->offset + number - count_left_out(source, number);
}

/* Reads the next entries that are not left out, at most `capacity`, and sets *count to how many; 0 only at the end.
 * `values` may be NULL for entries without values. This is the `read` of the stream. */
static enum idx_status read_filtered(struct idxi_stream *stream, uint64_t *fingerprints, uint64_t *values,
                                     size_t capacity, size_t *count, struct idx_error *error) {
    struct filtered_stream *filter = (struct filtered_stream *)stream;
    size_t read_count;
    if (filter->next == filter->left_out->count && filter->numbering == NULL)
        return filter->whole->read(filter->whole, fingerprints, values, capacity, count, error);
    *count = 0;
    do {
        IDXI_TRY(filter->whole->read(filter->whole, fingerprints, values, capacity, &read_count, error));
        for (size_t i = 0; i < read_count; i++) {
            if (is_left_out(filter, fingerprints[i], values == NULL ? NULL : &values[i])) continue;
            fingerprints[*count] = fingerprints[i];
            if (values != NULL)
                values[*count] = filter->numbering == NULL ? values[i] : renumber(filter->numbering, values[i]);
            ++*count;
        }
    } while (read_count > 0 && *count == 0);
    return IDX_OK;
}

/* Makes *filter the stream of the entries of `whole` that are not left out. `left_out` and `numbering` are as in
 * the struct. All three must outlive the stream. */
static void init_filtered_stream(struct filtered_stream *filter, struct idxi_stream *whole,
                                 const struct idxi_entries *left_out, const struct idxi_source *numbering) {
    *filter = (struct filtered_stream){
        .stream.read = read_filtered, .whole = whole, .left_out = left_out, .numbering = numbering};
}

/* ---- Documents ---- */

/* The job of copying the IDs of a source. */
struct id_copy_job {
    struct combine_job *job;
    const struct idxi_source *source;
    size_t left_out_count; /* documents that were left out so far */
};

/* Copies the ID of document `number` of a source under its new number, unless the document is left out. Numbers ascend
 * from call to call. Now and then adds 0 to the progress, to check for cancelling. This is an idxi_id_visitor. */
static enum idx_status copy_id(void *context, uint64_t number, const void *id, size_t length, struct idx_error *error) {
    struct id_copy_job *copy = context;
    const struct idxi_source *source = copy->source;
    struct idxi_combination *combination = copy->job->combination;
    if (number % IDXI_STREAM_ENTRIES == 0) IDXI_TRY(idxi_progress_add(combination->progress, 0, error));
    if (copy->left_out_count < source->left_out_numbers.count &&
        source->left_out_numbers.fingerprints[copy->left_out_count] == number) {
        copy->left_out_count++;
        return IDX_OK;
    }
    return idxi_map_writer_add_id(&combination->output->map, source->offset + number - copy->left_out_count, id, length,
                                  error);
}

/* Copies the IDs of documents in memory, from added_ids[*next] on, whose numbers are below `end`. Moves *next behind
 * them. Errors: as idxi_map_writer_add_id. */
static enum idx_status copy_added_ids(const struct idxi_combination *combination, uint64_t end, size_t *next,
                                      struct idx_error *error) {
    for (; *next < combination->added_id_count && combination->added_ids[*next].number < end; ++*next) {
        const struct idxi_text_id *id = &combination->added_ids[*next];
        IDXI_TRY(idxi_map_writer_add_id(&combination->output->map, id->number, id->bytes, id->size, error));
    }
    return IDX_OK;
}

/* Copies the text IDs of all documents, by ascending new number. Documents in memory have numbers between those of the
 * sources, or behind them. Errors: as idxi_map_visit_ids and idxi_map_writer_add_id; IDX_CANCELLED. */
static enum idx_status copy_all_ids(struct combine_job *job, struct idx_error *error) {
    const struct idxi_combination *combination = job->combination;
    size_t next = 0;
    for (size_t i = 0; i < combination->source_count; i++) {
        const struct idxi_source *source = &combination->sources[i];
        struct id_copy_job copy = {job, source, 0};
        IDXI_TRY(copy_added_ids(combination, source->offset, &next, error));
        IDXI_TRY(idxi_map_visit_ids(&source->segment->map, copy_id, &copy, error));
    }
    return copy_added_ids(combination, UINT64_MAX, &next, error);
}

/* Writes the entries of a stream to the document map. Adds the number of documents to the new segment's, and counts
 * their distinct fingerprints in job->distinct_count. Errors: those of the stream; as idxi_map_writer_add_documents;
 * IDX_CANCELLED. */
static enum idx_status write_documents(struct combine_job *job, struct idxi_stream *stream, struct idx_error *error) {
    struct idxi_combination *combination = job->combination;
    uint64_t fingerprints[IDXI_STREAM_ENTRIES], values[IDXI_STREAM_ENTRIES], former = 0;
    size_t count;
    for (;;) {
        IDXI_TRY(stream->read(stream, fingerprints, values, IDXI_STREAM_ENTRIES, &count, error));
        if (count == 0) return IDX_OK;
        IDXI_TRY(idxi_map_writer_add_documents(&combination->output->map, fingerprints, values, count, error));
        IDXI_TRY(idxi_progress_add(combination->progress, count, error));
        for (size_t i = 0; i < count; i++) { /* The very first fingerprint may equal the initial `former`. */
            job->distinct_count += fingerprints[i] != former || job->distinct_count == 0;
            former = fingerprints[i];
        }
        combination->output->segment.documents += count;
    }
}

/* The streams that are merged into a map: those of the sources, and then that of the entries in memory. */
struct map_inputs {
    struct idxi_map_stream *maps;
    struct filtered_stream *filters;
    struct idxi_array_stream added;
    struct idxi_stream **streams;
    size_t count;
};

/* Opens the streams that are merged into the map of this kind: IDXI_MAP_DOCUMENTS, of document numbers or integer IDs
 * by fingerprint, or IDXI_MAP_BY_ID, of fingerprints by ID. The caller frees the arrays of *inputs, even after an
 * error. Errors: IDX_OUT_OF_MEMORY. */
static enum idx_status open_map_inputs(const struct combine_job *job, enum idxi_map_kind kind,
                                       struct map_inputs *inputs, struct idx_error *error) {
    const struct idxi_combination *combination = job->combination;
    bool by_id = kind == IDXI_MAP_BY_ID, has_numbers = job->manifest->id_type == IDXF_ID_TEXT && !by_id;
    const struct idxi_entries *added = by_id ? &combination->added_hashes : &combination->added;
    size_t count = combination->source_count;
    *inputs = (struct map_inputs){.maps = calloc(count + 1, sizeof(struct idxi_map_stream)),
                                  .filters = calloc(count + 1, sizeof(struct filtered_stream)),
                                  .streams = calloc(count + 1, sizeof(struct idxi_stream *))};
    if (inputs->maps == NULL || inputs->filters == NULL || inputs->streams == NULL) return idxi_fail_memory(error);
    for (; inputs->count < count; inputs->count++) {
        const struct idxi_source *source = &combination->sources[inputs->count];
        struct idxi_map_stream *map = &inputs->maps[inputs->count];
        struct filtered_stream *filter = &inputs->filters[inputs->count];
        idxi_map_stream_init(map, by_id ? &source->segment->by_id : &source->segment->map, 0);
        const struct idxi_entries *left_out = by_id ? &source->left_out_hashes : &source->left_out_documents;
        init_filtered_stream(filter, &map->stream, left_out, has_numbers ? source : NULL);
        inputs->streams[inputs->count] = &filter->stream;
    }
    idxi_array_stream_init(&inputs->added, added->fingerprints, added->values, added->count);
    if (added->count > 0 || count == 0) inputs->streams[inputs->count++] = &inputs->added.stream;
    return IDX_OK;
}

/* Merges the maps of one kind of all sources, and the entries in memory, into that map of the new segment. Errors: as
 * open_map_inputs and write_documents; for IDXI_MAP_BY_ID, as idxi_output_write_by_id_map. */
static enum idx_status combine_maps(struct combine_job *job, enum idxi_map_kind kind, struct idx_error *error) {
    struct idxi_combination *combination = job->combination;
    struct map_inputs inputs;
    struct idxi_kway_merge *merge = NULL;
    enum idx_status status = open_map_inputs(job, kind, &inputs, error);
    if (status == IDX_OK) status = idxi_kway_merge_open(&merge, inputs.streams, inputs.count, true, error);
    if (status == IDX_OK && kind == IDXI_MAP_BY_ID)
        status = idxi_output_write_by_id_map(combination->output, idxi_kway_merge_get_stream(merge),
                                             combination->progress, &combination->by_id, error);
    else if (status == IDX_OK)
        status = write_documents(job, idxi_kway_merge_get_stream(merge), error);
    idxi_kway_merge_close(merge);
    free(inputs.streams);
    free(inputs.filters);
    free(inputs.maps);
    return status;
}

/* ---- Tables ---- */

/* Sets *permuted to the fingerprints of entries, permuted and sorted as table number `table` has them. The caller frees
 * permuted->fingerprints, which has twice the size needed: sorting uses the other half. Errors: IDX_OUT_OF_MEMORY. */
static enum idx_status permute_entries(const struct combine_job *job, size_t table, const struct idxi_entries *entries,
                                       struct idxi_entries *permuted, struct idx_error *error) {
    struct idxf_permutation permutation;
    *permuted = (struct idxi_entries){.fingerprints = malloc((2 * entries->count + 1) * sizeof(uint64_t)),
                                      .count = entries->count};
    if (permuted->fingerprints == NULL) return idxi_fail_memory(error);
    idxf_permutation_init(&permutation, job->form.scheme->tables[table].mask, job->manifest->bits);
    for (size_t i = 0; i < entries->count; i++)
        permuted->fingerprints[i] = idxf_permute(&permutation, entries->fingerprints[i]);
    idxi_sort_pairs(permuted->fingerprints, NULL, entries->count, false, permuted->fingerprints + entries->count, NULL);
    return IDX_OK;
}

/* The streams that are merged into a table: those of the sources, and then that of the fingerprints in memory. */
struct table_inputs {
    struct idxi_table_stream *tables;
    struct idxi_entries *left_out; /* what each source leaves out, permuted */
    struct filtered_stream *filters;
    struct idxi_entries added_fingerprints;
    struct idxi_array_stream added;
    struct idxi_stream **streams;
    size_t count;
};

/* Opens the streams that are merged into table `number`. The caller calls close_table_inputs, even after an error.
 * Errors: IDX_OUT_OF_MEMORY. */
static enum idx_status open_table_inputs(const struct combine_job *job, size_t number, struct table_inputs *inputs,
                                         struct idx_error *error) {
    const struct idxi_combination *combination = job->combination;
    size_t count = combination->source_count;
    *inputs = (struct table_inputs){.tables = calloc(count + 1, sizeof(struct idxi_table_stream)),
                                    .left_out = calloc(count + 1, sizeof(struct idxi_entries)),
                                    .filters = calloc(count + 1, sizeof(struct filtered_stream)),
                                    .streams = calloc(count + 1, sizeof(struct idxi_stream *))};
    if (inputs->tables == NULL || inputs->left_out == NULL || inputs->filters == NULL || inputs->streams == NULL)
        return idxi_fail_memory(error);
    IDXI_TRY(permute_entries(job, number, &combination->added, &inputs->added_fingerprints, error));
    for (; inputs->count < count; inputs->count++) {
        const struct idxi_source *source = &combination->sources[inputs->count];
        struct idxi_table_stream *table = &inputs->tables[inputs->count];
        struct filtered_stream *filter = &inputs->filters[inputs->count];
        IDXI_TRY(permute_entries(job, number, &source->left_out_fingerprints, &inputs->left_out[inputs->count], error));
        idxi_table_stream_init(table, &source->segment->tables[number]);
        init_filtered_stream(filter, &table->stream, &inputs->left_out[inputs->count], NULL);
        inputs->streams[inputs->count] = &filter->stream;
    }
    idxi_array_stream_init(&inputs->added, inputs->added_fingerprints.fingerprints, NULL,
                           inputs->added_fingerprints.count);
    if (inputs->added.count > 0 || count == 0) inputs->streams[inputs->count++] = &inputs->added.stream;
    return IDX_OK;
}

/* Frees inputs that open_table_inputs opened, maybe only in part. `source_count` is the number of all sources. */
static void close_table_inputs(struct table_inputs *inputs, size_t source_count) {
    for (size_t i = 0; i < source_count && inputs->left_out != NULL; i++) free(inputs->left_out[i].fingerprints);
    free(inputs->added_fingerprints.fingerprints);
    free(inputs->streams);
    free(inputs->filters);
    free(inputs->left_out);
    free(inputs->tables);
}

#define MIN_SURVEYED ((uint64_t)1 << 20) /* fingerprints of the first table by which the code of all is chosen */

/* Adds the first fingerprints of a stream to a survey: MIN_SURVEYED or a few more, or all if there are fewer. Errors:
 * those of the stream. */
static enum idx_status survey_stream(const struct combine_job *job, struct idxi_stream *fingerprints,
                                     struct idxi_survey *survey, struct idx_error *error) {
    uint64_t chunk[IDXI_STREAM_ENTRIES];
    for (size_t count = 1; count > 0 && survey->fingerprints < MIN_SURVEYED;) {
        IDXI_TRY(fingerprints->read(fingerprints, chunk, NULL, IDXI_STREAM_ENTRIES, &count, error));
        idxi_survey_add(survey, chunk, count, job->manifest->bits);
    }
    return IDX_OK;
}

/* Returns an estimate of how many fingerprints the merged table will have. Of the fingerprints that were read from the
 * inputs so far, `surveyed_count` came through; the others were repeated or left out. Expects the same share of all. */
static uint64_t estimate_fingerprints(const struct combine_job *job, const struct table_inputs *inputs,
                                      uint64_t surveyed_count) {
    const struct idxi_combination *combination = job->combination;
    double total_count = (double)inputs->added.count, read_count = (double)inputs->added.given;
    for (size_t i = 0; i < combination->source_count; i++) {
        total_count += (double)combination->sources[i].segment->entry.fingerprints;
        read_count += (double)inputs->tables[i].given;
    }
    return read_count > 0 ? (uint64_t)((double)surveyed_count * total_count / read_count) : 0;
}

/* Sets job->form.blocks, the form of the blocks of all tables, from a survey of the first fingerprints of table 0. It
 * is unspecified after an error. Errors: IDX_OUT_OF_MEMORY; those of reading the tables. */
static enum idx_status choose_block_form(struct combine_job *job, struct idx_error *error) {
    struct table_inputs inputs;
    struct idxi_kway_merge *merge = NULL;
    struct idxi_survey survey = {0};
    enum idx_status status = open_table_inputs(job, 0, &inputs, error);
    if (status == IDX_OK) status = idxi_kway_merge_open(&merge, inputs.streams, inputs.count, false, error);
    if (status == IDX_OK) status = survey_stream(job, idxi_kway_merge_get_stream(merge), &survey, error);
    if (status == IDX_OK) survey.fingerprints = estimate_fingerprints(job, &inputs, survey.fingerprints);
    idxi_kway_merge_close(merge);
    close_table_inputs(&inputs, job->combination->source_count);
    uint32_t block_size = job->combination->model->segments[0]->tables[0].header.block_size;
    job->form.blocks = idxi_survey_choose_form(&survey, job->manifest->bits, block_size);
    return status;
}

/* Merges table `number` of all sources, and the fingerprints in memory, into that table of the new segment. Sets
 * job->tables[number] to what was written. Errors: as open_table_inputs and idxi_output_write_table. */
static enum idx_status combine_table(struct combine_job *job, size_t number, struct idx_error *error) {
    struct table_inputs inputs;
    struct idxi_kway_merge *merge = NULL;
    enum idx_status status = open_table_inputs(job, number, &inputs, error);
    if (status == IDX_OK) status = idxi_kway_merge_open(&merge, inputs.streams, inputs.count, false, error);
    if (status == IDX_OK)
        status = idxi_output_write_table(job->combination->output, &job->form, number,
                                         idxi_kway_merge_get_stream(merge), &job->tables[number], error);
    idxi_kway_merge_close(merge);
    close_table_inputs(&inputs, job->combination->source_count);
    return status;
}

/* ---- Sets ---- */

/* A source, at the next of its sets that stay. */
struct set_input {
    const struct idxi_source *source;
    struct idxi_sets_cursor cursor;
    struct idxf_set set; /* the next set, under its new key, if `found` */
    bool found;
};

/* Returns whether the text of a set of a source stays. If so, sets set->key to its key in the new segment: with text
 * IDs, the text's new number; an integer ID stays the key. Otherwise leaves *set as it is. */
static bool renumber_staying_set(const struct idxi_source *source, struct idxf_set *set) {
    size_t skipped = count_left_out(source, set->key);
    if (!source->segment->sets.has_numbers) return idxi_is_set_live(source->index, source->segment_number, set);
    if (skipped < source->left_out_numbers.count && source->left_out_numbers.fingerprints[skipped] == set->key)
        return false;
    set->key += source->offset - skipped;
    return true;
}

/* Goes on to the next set of a source that stays: sets input->set, under its new key, or input->found to false if there
 * is none. Errors: as idxi_sets_cursor_next. */
static enum idx_status go_to_next_set(struct set_input *input, struct idx_error *error) {
    do {
        IDXI_TRY(idxi_sets_cursor_next(&input->cursor, &input->set, &input->found, error));
    } while (input->found && !renumber_staying_set(input->source, &input->set));
    return IDX_OK;
}

/* Removes the set with the least key from the sources and the sets in memory: sets *set to it, and *found to whether
 * there was one. Of sets with equal keys, that of the first source comes first, and that in memory last. *added_count
 * is how many sets in memory were removed so far, and becomes one more if this one was in memory. Errors: as
 * idxi_sets_cursor_next.
 */
static enum idx_status pop_least_set(const struct idxi_combination *combination, struct set_input *inputs,
                                     size_t *added_count, struct idxf_set *set, bool *found, struct idx_error *error) {
    struct set_input *least = NULL;
    for (size_t i = 0; i < combination->source_count; i++)
        if (inputs[i].found && (least == NULL || inputs[i].set.key < least->set.key)) least = &inputs[i];
    bool is_added = *added_count < combination->added_set_count &&
                    (least == NULL || combination->added_sets[*added_count].key < least->set.key);
    *found = least != NULL || is_added;
    if (is_added)
        *set = combination->added_sets[(*added_count)++];
    else if (least != NULL)
        *set = least->set;
    return is_added || least == NULL ? IDX_OK : go_to_next_set(least, error);
}

/* Writes the sets that stay and those in memory, by ascending key. Adds the number of values in their sketches to
 * job->value_count. `inputs` is zeroed scratch memory, with one element per source. Errors: as idxi_sets_cursor_next
 * and those of the sets writer; IDX_CANCELLED. */
static enum idx_status write_sets(struct combine_job *job, struct set_input *inputs, struct idx_error *error) {
    struct idxi_combination *combination = job->combination;
    struct idxi_output *output = combination->output;
    size_t added_count = 0;
    struct idxf_set set;
    IDXI_TRY(idxi_sets_writer_open(&output->sets, output->segment_folder, output->segment_path, error));
    for (size_t i = 0; i < combination->source_count; i++) {
        inputs[i].source = &combination->sources[i];
        idxi_sets_cursor_begin(&inputs[i].cursor, &combination->sources[i].segment->sets);
        IDXI_TRY(go_to_next_set(&inputs[i], error));
    }
    for (bool found = true;;) {
        IDXI_TRY(pop_least_set(combination, inputs, &added_count, &set, &found, error));
        if (!found) break;
        IDXI_TRY(idxi_sets_writer_add(&output->sets, &set, error));
        IDXI_TRY(idxi_progress_add(combination->progress, 1, error));
        job->value_count += set.count < job->manifest->sketch ? set.count : job->manifest->sketch;
    }
    return idxi_sets_writer_finish(&output->sets, output->segment.uuid, &combination->sets_bytes, error);
}

/* Does what write_sets does. Allocates and frees the inputs for that. */
static enum idx_status combine_sets(struct combine_job *job, struct idx_error *error) {
    struct set_input *inputs = calloc(job->combination->source_count + 1, sizeof *inputs);
    enum idx_status status = inputs == NULL ? idxi_fail_memory(error) : write_sets(job, inputs, error);
    free(inputs);
    return status;
}

/* ---- The whole ---- */

/* Returns how many maps the new segment has; without document IDs, the only one is empty. */
static size_t count_maps(const struct combine_job *job) { return job->manifest->by_id ? 2 : 1; }

/* Writes file `number` of the new segment: first the document map, then the map from IDs, if there is one, then the
 * tables, and last the sets, if there are any. This is an idxi_plain_task. */
static enum idx_status write_file(void *context, size_t number, struct idx_error *error) {
    struct combine_job *job = context;
    enum idxf_id_type id_type = job->manifest->id_type;
    size_t map_count = count_maps(job);
    if (number == map_count + job->form.scheme->table_count) return combine_sets(job, error);
    if (number >= map_count) return combine_table(job, number - map_count, error);
    if (number > 0) return combine_maps(job, IDXI_MAP_BY_ID, error);
    if (id_type == IDXF_ID_TEXT) IDXI_TRY(copy_all_ids(job, error));
    return id_type == IDXF_ID_NONE ? IDX_OK : combine_maps(job, IDXI_MAP_DOCUMENTS, error);
}

/* Returns how many units of progress the work is: one for each document in each map, for each fingerprint in each
 * table, and for each set. */
static uint64_t count_work(const struct combine_job *job) {
    const struct idxi_combination *combination = job->combination;
    size_t table_count = job->form.scheme->table_count;
    uint64_t total = combination->added.count * (table_count + count_maps(job)) + combination->added_set_count;
    for (size_t i = 0; i < combination->source_count; i++) {
        const struct idxi_segment *segment = combination->sources[i].segment;
        total += segment->entry.documents + segment->entry.fingerprints * table_count;
        if (job->manifest->by_id) total += segment->by_id.segment.documents;
        total += segment->sets.header.sets;
    }
    return total;
}

/* Checks that the number of entries of the map from IDs is possible: at least that of distinct fingerprints and at most
 * that of documents, and with integer IDs, all of which differ, equal to the latter. The sum may be wrong even if the
 * numbers of all sources are possible. Errors: IDX_BAD_CONTENT. */
static enum idx_status check_by_id_count(const struct combine_job *job, struct idx_error *error) {
    const struct idxi_combination *combination = job->combination;
    uint64_t entries = combination->by_id.entries, documents = combination->output->segment.documents;
    bool all_differ = job->manifest->id_type == IDXF_ID_U64;
    if (entries >= job->distinct_count && entries <= documents && (!all_differ || entries == documents)) return IDX_OK;
    return idxi_fail(error, IDX_BAD_CONTENT, NULL,
                     "the document map and the map from IDs of a segment to combine contain different documents: "
                     "find it with idx verify");
}

/* Checks that all tables and the document map have the same number of fingerprints, that the sets have as many values
 * as the document map has entries (with integer IDs, which may repeat: at least as many), and what check_by_id_count
 * checks. Errors: IDX_BAD_CONTENT. */
static enum idx_status check_counts(const struct combine_job *job, struct idx_error *error) {
    uint64_t fingerprints = job->tables[0].fingerprints;
    bool agree = job->manifest->id_type == IDXF_ID_NONE || job->distinct_count == fingerprints;
    for (size_t i = 1; i < job->form.scheme->table_count; i++)
        agree = agree && job->tables[i].fingerprints == fingerprints;
    if (!agree)
        return idxi_fail(error, IDX_BAD_CONTENT, NULL,
                         "the tables and the document map of a segment to combine contain different fingerprints: "
                         "find it with idx verify");
    uint64_t documents = job->combination->output->segment.documents, values = job->value_count;
    if (job->manifest->sketch > 0 &&
        (job->manifest->id_type == IDXF_ID_TEXT ? documents != values : documents > values))
        return idxi_fail(error, IDX_BAD_CONTENT, NULL,
                         "the sets and the document map of a segment to combine are of different texts: find it with "
                         "idx verify");
    return job->manifest->by_id ? check_by_id_count(job, error) : IDX_OK;
}

/* Does the work of idxi_combine_segments: writes all files side by side, and then checks that they agree with each
 * other. */
static enum idx_status write_and_check_files(struct combine_job *job, struct idx_error *error) {
    struct idxi_combination *combination = job->combination;
    size_t task_count = job->form.scheme->table_count + count_maps(job) + (job->manifest->sketch > 0);
    IDXI_TRY(idxi_progress_begin(combination->progress, IDX_PHASE_MERGING, count_work(job), error));
    IDXI_TRY(choose_block_form(job, error));
    IDXI_TRY(idxi_run_parallel(task_count, combination->threads, write_file, job, combination->progress, error));
    IDXI_TRY(check_counts(job, error));
    combination->output->segment.fingerprints = job->tables[0].fingerprints;
    for (size_t i = 0; i < job->form.scheme->table_count; i++) combination->table_bytes += job->tables[i].bytes;
    return idxi_output_finish_map(combination->output, &combination->documents_bytes, error);
}

enum idx_status idxi_combine_segments(struct idxi_combination *combination, struct idx_error *error) {
    const struct idx_scheme *scheme = &combination->model->scheme;
    struct combine_job job = {
        .combination = combination,
        .manifest = combination->model->manifest,
        .form = {.scheme = scheme,
                 .key_memory = idxi_get_keys_memory(combination->memory_bytes, combination->threads),
                 .progress = combination->progress},
        .tables = calloc(scheme->table_count, sizeof *job.tables),
    };
    enum idx_status status = job.tables == NULL ? idxi_fail_memory(error) : write_and_check_files(&job, error);
    free(job.tables);
    return status;
}
