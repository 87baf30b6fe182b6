/* document_groups.c: merges the document maps of all segments with the pending documents. For an index without document
 * IDs, it sorts the fingerprints of each segment's first table instead. */
#include "libidx/pairs/document_groups.h"

#include <stdlib.h>

#include "libidx/segment/table_reader.h"
#include "libidx/view/live.h"

/* ---- From document maps ---- */

/* Opens groups->merge over the live documents of all segments and the pending ones. Document numbers continue from
 * segment to segment: `first_number` is the first one of the next segment. */
static enum idx_status open_merge_of_maps(struct idxi_document_groups *groups, const struct idx_index *index,
                                          struct idx_error *error) {
    size_t count = index->manifest->segment_count;
    uint64_t first_number = 0;
    struct idxi_stream **inputs = malloc((count + 1) * sizeof *inputs);
    groups->maps = calloc(count + 1, sizeof *groups->maps);
    enum idx_status status = inputs == NULL || groups->maps == NULL ? idxi_fail_memory(error) : IDX_OK;
    for (; groups->map_count < count && status == IDX_OK; groups->map_count++) {
        struct idxi_map *map = &index->segments[groups->map_count]->map;
        status = idxi_map_prepare(map, error);
        idxi_live_documents_init(&groups->maps[groups->map_count], index, groups->map_count, first_number);
        inputs[groups->map_count] = &groups->maps[groups->map_count].stream;
        first_number += map->segment.documents;
    }
    if (status == IDX_OK) status = idxi_pending_entries_open(&groups->pending, index, first_number, error);
    if (status == IDX_OK) {
        inputs[count] = &groups->pending.array.stream;
        status = idxi_kway_merge_open(&groups->merge, inputs, count + 1, true, error);
    }
    free(inputs);
    return status;
}

/* ---- From tables ---- */

/* Adds a fingerprint of an index without IDs to the sorter, unless it was removed. It stands for its documents as well,
 * so the sorter gets it as key and as value. */
static enum idx_status add_if_live(struct idxi_sorter *sorter, const struct idx_index *index, uint64_t fingerprint,
                                   struct idx_error *error) {
    bool live;
    IDXI_TRY(idxi_is_fingerprint_live(index, fingerprint, &live, error));
    return live ? idxi_sorter_add_or_spill(sorter, fingerprint, fingerprint, error) : IDX_OK;
}

/* Adds the fingerprints of a table that were not removed to the sorter. */
static enum idx_status add_live_fingerprints(struct idxi_sorter *sorter, const struct idx_index *index,
                                             const struct idxi_table *table, struct idx_error *error) {
    struct idxi_table_stream stream;
    uint64_t fingerprints[IDXI_STREAM_ENTRIES];
    size_t count;
    idxi_table_stream_init(&stream, table);
    do {
        IDXI_TRY(stream.stream.read(&stream.stream, fingerprints, NULL, IDXI_STREAM_ENTRIES, &count, error));
        for (size_t i = 0; i < count; i++)
            IDXI_TRY(add_if_live(sorter, index, idxf_unpermute(&table->permutation, fingerprints[i]), error));
        IDXI_TRY(idxi_progress_add(sorter->options.progress, 0, error)); /* fails if cancelled */
    } while (count > 0);
    return IDX_OK;
}

/* Sorts all live and pending fingerprints. Sets *stream to the sorter's stream, which has each once. */
static enum idx_status sort_fingerprints(struct idxi_document_groups *groups, const struct idx_index *index,
                                         const struct idxi_sorter_options *options, struct idxi_stream **stream,
                                         struct idx_error *error) {
    IDXI_TRY(idxi_sorter_open(&groups->sorter, options, error));
    for (size_t i = 0; i < index->manifest->segment_count; i++)
        IDXI_TRY(add_live_fingerprints(&groups->sorter, index, &index->segments[i]->tables[0], error));
    IDXI_TRY(idxi_pending_entries_open(&groups->pending, index, 0, error));
    for (size_t i = 0; i < groups->pending.count; i++)
        IDXI_TRY(idxi_sorter_add_or_spill(&groups->sorter, groups->pending.fingerprints[i], groups->pending.values[i],
                                          error));
    return idxi_sorter_open_stream(&groups->sorter, stream, error);
}

/* ---- Both ---- */

enum idx_status idxi_document_groups_open(struct idxi_document_groups *groups, const struct idx_index *index,
                                          const struct idxi_sorter_options *options, const struct idxi_id_ranks *ranks,
                                          struct idx_error *error) {
    struct idxi_stream *stream;
    groups->maps = NULL;
    groups->map_count = 0;
    groups->pending = (struct idxi_pending_entries){0};
    groups->sorter = (struct idxi_sorter){0};
    groups->merge = NULL;
    groups->ranks = ranks == NULL ? (struct idxi_id_ranks){NULL, 0} : *ranks;
    if (index->manifest->id_type == IDXF_ID_NONE) {
        IDXI_TRY(sort_fingerprints(groups, index, options, &stream, error));
    } else {
        IDXI_TRY(open_merge_of_maps(groups, index, error));
        stream = idxi_kway_merge_get_stream(groups->merge);
    }
    idxi_reading_init(&groups->reading, stream, options->progress);
    return IDX_OK;
}

enum idx_status idxi_document_groups_read_next(struct idxi_document_groups *groups, struct idxi_document_group *group,
                                               bool *found, struct idx_error *error) {
    struct idxi_reading *reading = &groups->reading;
    bool has_more;
    size_t place;
    IDXI_TRY(idxi_reading_peek(reading, &place, found, error));
    if (!*found) return IDX_OK;
    *group = (struct idxi_document_group){.fingerprint = reading->fingerprints[place], .first_document = UINT64_MAX};
    do {
        uint64_t value = reading->values[place];
        if (groups->ranks.of != NULL && value >= groups->ranks.count) /* a damaged map has a number beyond the last */
            return idxi_fail_fault(error, IDXF_FAULT_COUNT, groups->maps[0].map.map->path, 0);
        if (groups->ranks.of != NULL) value = groups->ranks.of[value];
        if (value < group->first_document) group->first_document = value;
        group->count++;
        reading->next++;
        IDXI_TRY(idxi_reading_peek(reading, &place, &has_more, error));
    } while (has_more && reading->fingerprints[place] == group->fingerprint);
    return IDX_OK;
}

void idxi_document_groups_close(struct idxi_document_groups *groups) {
    idxi_kway_merge_close(groups->merge);
    idxi_sorter_close(&groups->sorter);
    idxi_pending_entries_close(&groups->pending);
    for (size_t i = 0; i < groups->map_count; i++) idxi_live_documents_close(&groups->maps[i]);
    free(groups->maps);
}
