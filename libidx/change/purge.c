/* purge.c: fills a combination: finds what compaction and merging leave out, and which pending documents they add. */
#include "libidx/change/purge.h"

#include <stdlib.h>
#include <string.h>

#include "libidx/streams/sort.h"
#include "libidx/view/documents.h"
#include "libidx/view/live.h"

/* ---- Entries ---- */

/* Makes sure that the arrays of entries have capacity for one more, with a value if with_values. Errors:
 * IDX_OUT_OF_MEMORY. */
static enum idx_status reserve_entry(struct idxi_entries *entries, bool with_values, struct idx_error *error) {
    if (entries->count < entries->capacity) return IDX_OK;
    size_t capacity = 2 * entries->capacity + 1;
    uint64_t *fingerprints = realloc(entries->fingerprints, capacity * sizeof *fingerprints);
    if (fingerprints == NULL) return idxi_fail_memory(error);
    entries->fingerprints = fingerprints;
    uint64_t *values = with_values ? realloc(entries->values, capacity * sizeof *values) : NULL;
    if (with_values && values == NULL) return idxi_fail_memory(error);
    entries->values = values;
    entries->capacity = capacity;
    return IDX_OK;
}

/* Appends a fingerprint with a value to entries that have values. Errors: IDX_OUT_OF_MEMORY. */
static enum idx_status append_entry(struct idxi_entries *entries, uint64_t fingerprint, uint64_t value,
                                    struct idx_error *error) {
    IDXI_TRY(reserve_entry(entries, true, error));
    entries->fingerprints[entries->count] = fingerprint;
    entries->values[entries->count++] = value;
    return IDX_OK;
}

/* Appends a fingerprint to entries without values. Errors: IDX_OUT_OF_MEMORY. */
static enum idx_status append_fingerprint(struct idxi_entries *entries, uint64_t fingerprint, struct idx_error *error) {
    IDXI_TRY(reserve_entry(entries, false, error));
    entries->fingerprints[entries->count++] = fingerprint;
    return IDX_OK;
}

/* Frees the arrays of entries. */
static void free_entries(struct idxi_entries *entries) {
    free(entries->fingerprints);
    free(entries->values);
}

/* Sorts entries by fingerprint, and then by value. Errors: IDX_OUT_OF_MEMORY. */
static enum idx_status sort_entries(struct idxi_entries *entries, struct idx_error *error) {
    if (entries->count == 0) return IDX_OK;
    uint64_t *spare = malloc(2 * entries->count * sizeof *spare);
    if (spare == NULL) return idxi_fail_memory(error);
    idxi_sort_pairs(entries->fingerprints, entries->values, entries->count, entries->values != NULL, spare,
                    entries->values == NULL ? NULL : spare + entries->count);
    free(spare);
    return IDX_OK;
}

/* Removes repeated entries. They must be sorted. */
static void drop_duplicates(struct idxi_entries *entries) {
    size_t kept = 0;
    for (size_t i = 0; i < entries->count; i++) {
        if (kept > 0 && entries->fingerprints[kept - 1] == entries->fingerprints[i] &&
            (entries->values == NULL || entries->values[kept - 1] == entries->values[i]))
            continue;
        entries->fingerprints[kept] = entries->fingerprints[i];
        if (entries->values != NULL) entries->values[kept] = entries->values[i];
        kept++;
    }
    entries->count = kept;
}

/* ---- Removals ---- */

/* Appends the fingerprint of a record to the entries `context`, if the record removes something. This is an
 * idxi_pending_record_visitor. */
static enum idx_status list_if_removal(void *context, uint64_t sequence, const struct idxf_record *record,
                                       struct idx_error *error) {
    (void)sequence;
    return record->operation == IDXF_ADD ? IDX_OK : append_fingerprint(context, record->fingerprint, error);
}

/* Appends to `list`, which must be empty, the fingerprints of which pending records, or segments from `first_segment`
 * on, remove any documents. They ascend, each once. Errors: IDX_OUT_OF_MEMORY. */
static enum idx_status list_fingerprints_with_removals(const struct idx_index *index, size_t first_segment,
                                                       struct idxi_entries *list, struct idx_error *error) {
    IDXI_TRY(idxi_pending_visit_records(&index->pending, list_if_removal, list, error));
    for (size_t i = first_segment; i < index->open_segments; i++) {
        const struct idxi_removed *removed = &index->segments[i]->removed;
        for (size_t j = 0; j < removed->count; j++)
            IDXI_TRY(append_fingerprint(list, idxi_get_removal(removed, j).fingerprint, error));
    }
    IDXI_TRY(sort_entries(list, error));
    drop_duplicates(list);
    return IDX_OK;
}

/* ---- What sources leave out ---- */

/* A visit of the documents of one fingerprint in one segment, which is a source of the combination. */
struct visit {
    const struct idx_index *index;
    uint64_t fingerprint;
    size_t first_live; /* the first segment from which it was not removed with all its documents */
    size_t segment;
    struct idxi_source *source;
    /* For a map from IDs, the hashes of the IDs of documents that stay, and of those that go; no values. */
    struct idxi_entries staying, leaving;
    bool is_held, has_staying; /* whether the segment has documents, and some that stay */
};

/* Notes whether a document stays. If it was removed, lists it in what its source leaves out. With a map from IDs, lists
 * the hash of its ID in visit->staying or visit->leaving. This is an idxi_document_visitor. */
static enum idx_status visit_document(void *context, uint64_t value, const uint8_t *id, size_t id_size,
                                      struct idx_error *error) {
    struct visit *visit = context;
    const struct idxf_manifest *manifest = visit->index->manifest;
    bool removed = visit->segment < visit->first_live ||
                   idxi_is_document_removed(visit->index, visit->segment, visit->fingerprint, id, id_size);
    visit->is_held = true;
    visit->has_staying |= !removed;
    if (manifest->by_id)
        IDXI_TRY(append_fingerprint(removed ? &visit->leaving : &visit->staying, idxi_hash_id(id, id_size), error));
    if (!removed) return IDX_OK;
    if (manifest->id_type == IDXF_ID_TEXT) IDXI_TRY(append_fingerprint(&visit->source->left_out_numbers, value, error));
    return append_entry(&visit->source->left_out_documents, visit->fingerprint, value, error);
}

/* Lists the entries of visit->fingerprint in the map from IDs that the source leaves out: those with hashes that only
 * leaving documents have. An entry may be that of several documents, some of which stay. Empties both lists of hashes.
 * Errors: IDX_OUT_OF_MEMORY. */
static enum idx_status leave_out_hashes(struct visit *visit, struct idx_error *error) {
    size_t next_staying = 0;
    IDXI_TRY(sort_entries(&visit->staying, error));
    IDXI_TRY(sort_entries(&visit->leaving, error));
    drop_duplicates(&visit->leaving);
    for (size_t i = 0; i < visit->leaving.count; i++) {
        uint64_t hash = visit->leaving.fingerprints[i];
        while (next_staying < visit->staying.count && visit->staying.fingerprints[next_staying] < hash) next_staying++;
        if (next_staying < visit->staying.count && visit->staying.fingerprints[next_staying] == hash) continue;
        IDXI_TRY(append_entry(&visit->source->left_out_hashes, hash, visit->fingerprint, error));
    }
    visit->staying.count = visit->leaving.count = 0;
    return IDX_OK;
}

/* Finds what visit->source leaves out of the documents of visit->fingerprint. Sets visit->is_held to true if the source
 * has documents of it, and visit->has_staying to true if some of these stay; both must be false before. `documents` is
 * a cursor of the view, and is moved. */
static enum idx_status leave_out_documents_of_source(struct visit *visit, struct idx_documents *documents,
                                                     struct idx_error *error) {
    if (visit->index->manifest->id_type != IDXF_ID_NONE) {
        IDXI_TRY(idxi_documents_visit(documents, visit->segment, visit->fingerprint, visit_document, visit, error));
        return leave_out_hashes(visit, error);
    }
    IDXI_TRY(idxi_segment_contains(visit->index, visit->segment, visit->fingerprint, &visit->is_held, error));
    visit->has_staying = visit->segment >= visit->first_live;
    return IDX_OK;
}

/* Finds what `sources`, a view's segments from `first_segment` on, leave out of the documents of visit->fingerprint. A
 * source in which no document stays leaves out the fingerprint from its tables as well. Errors: as idxi_documents_visit
 * and idxi_segment_contains; IDX_OUT_OF_MEMORY. */
static enum idx_status leave_out_fingerprint(struct visit *visit, struct idx_documents *documents, size_t first_segment,
                                             struct idxi_source *sources, struct idx_error *error) {
    visit->first_live = idxi_get_first_live_segment(visit->index, visit->fingerprint);
    for (visit->segment = first_segment; visit->segment < visit->index->open_segments; visit->segment++) {
        visit->source = &sources[visit->segment - first_segment];
        visit->is_held = visit->has_staying = false;
        IDXI_TRY(leave_out_documents_of_source(visit, documents, error));
        if (visit->is_held && !visit->has_staying)
            IDXI_TRY(append_fingerprint(&visit->source->left_out_fingerprints, visit->fingerprint, error));
    }
    return IDX_OK;
}

/* Finds what the sources, a view's segments from `first_segment` on, leave out of the documents of all fingerprints of
 * `list`. `documents` is a cursor of the view. Now and then adds 0 to the progress, to check for cancelling. */
static enum idx_status leave_out_listed(const struct idx_index *index, size_t first_segment,
                                        struct idx_documents *documents, const struct idxi_entries *list,
                                        struct idxi_source *sources, struct idxi_progress *progress,
                                        struct idx_error *error) {
    struct visit visit = {.index = index};
    enum idx_status status = IDX_OK;
    for (size_t i = 0; i < list->count && status == IDX_OK; i++) {
        if (i % IDXI_STREAM_ENTRIES == 0) status = idxi_progress_add(progress, 0, error);
        visit.fingerprint = list->fingerprints[i];
        if (status == IDX_OK) status = leave_out_fingerprint(&visit, documents, first_segment, sources, error);
    }
    free_entries(&visit.staying);
    free_entries(&visit.leaving);
    return status;
}

/* Sets what `sources`, a view's segments from `first_segment` on, leave out because newer segments or pending records
 * removed it. Document maps must be ready (idxi_map_prepare). Errors: as leave_out_fingerprint; IDX_CANCELLED. */
static enum idx_status leave_out_removed_documents(const struct idx_index *index, size_t first_segment,
                                                   struct idxi_source *sources, struct idxi_progress *progress,
                                                   struct idx_error *error) {
    struct idxi_entries list = {0};
    struct idx_documents *documents = NULL;
    enum idx_status status = list_fingerprints_with_removals(index, first_segment, &list, error);
    if (status == IDX_OK && list.count > 0) status = idxi_progress_begin(progress, IDX_PHASE_MERGING, 0, error);
    if (status == IDX_OK) status = idx_documents_open(&documents, index, error);
    if (status == IDX_OK) status = leave_out_listed(index, first_segment, documents, &list, sources, progress, error);
    idx_documents_close(documents);
    free_entries(&list);
    return status;
}

/* Appends a view's segments from `first_segment` on to combination->sources, which must have capacity for them, with
 * what they leave out. Their documents that stay get the numbers from *next_number on. Adds the number of these to
 * *next_number. Errors: as idxi_map_prepare and leave_out_removed_documents. */
static enum idx_status append_sources(const struct idx_index *index, size_t first_segment,
                                      struct idxi_combination *combination, uint64_t *next_number,
                                      struct idx_error *error) {
    struct idxi_source *sources = &combination->sources[combination->source_count];
    size_t count = index->open_segments - first_segment;
    for (size_t i = 0; i < count; i++) {
        struct idxi_segment *segment = index->segments[first_segment + i];
        sources[i].segment = segment;
        sources[i].index = index;
        sources[i].segment_number = first_segment + i;
        IDXI_TRY(idxi_map_prepare(&segment->map, error));
        if (index->manifest->by_id) IDXI_TRY(idxi_map_prepare(&segment->by_id, error));
    }
    combination->source_count += count;
    IDXI_TRY(leave_out_removed_documents(index, first_segment, sources, combination->progress, error));
    for (size_t i = 0; i < count; i++) {
        IDXI_TRY(sort_entries(&sources[i].left_out_hashes, error));
        IDXI_TRY(sort_entries(&sources[i].left_out_numbers, error));
        drop_duplicates(&sources[i].left_out_numbers);
        sources[i].offset = *next_number;
        *next_number += sources[i].segment->map.numbers - sources[i].left_out_numbers.count;
    }
    return IDX_OK;
}

/* ---- Pending documents ---- */

/* Appends the set of a pending text, of `count` members, under `key` to those of the combination. The members are not
 * copied. Errors: IDX_OUT_OF_MEMORY. */
static enum idx_status append_set(struct idxi_combination *combination, uint64_t key, const uint8_t *members,
                                  size_t count, struct idx_error *error) {
    IDXI_GROW(combination->added_sets, combination->added_set_capacity, combination->added_set_count + 1, error);
    combination->added_sets[combination->added_set_count++] = (struct idxf_set){key, count, members};
    return IDX_OK;
}

/* Appends the sets of a view's pending texts to the combination, if its index has sets and integer IDs. With text IDs,
 * number_document does so. Errors: IDX_OUT_OF_MEMORY. */
static enum idx_status append_sets_of_integer_ids(const struct idx_index *index, struct idxi_combination *combination,
                                                  struct idx_error *error) {
    struct idxi_pending_text text;
    if (index->manifest->sketch == 0 || index->manifest->id_type != IDXF_ID_U64) return IDX_OK;
    for (uint32_t record = 0; idxi_pending_find_live_text(&index->pending, record, &text); record = text.number + 1)
        IDXI_TRY(append_set(combination, idxf_load64(text.id), text.members, text.count, error));
    return IDX_OK;
}

/* Compares sets by key, for qsort. */
static int compare_set_keys(const void *first, const void *second) {
    const struct idxf_set *a = first, *b = second;
    return (a->key > b->key) - (a->key < b->key);
}

/* Gives the next pending document with a text ID its number: sets *value to *next_number, and adds 1 to that. Appends
 * the ID to combination->added_ids, which must have capacity for it, and the set, if the index has sets. With sets,
 * each text has one document per value of its sketch: these come one after the other, with the same address `id`, and
 * all get the number of the first. Errors: IDX_OUT_OF_MEMORY. */
static enum idx_status number_document(const struct idxf_manifest *manifest, struct idxi_combination *combination,
                                       const uint8_t *id, size_t id_size, uint64_t *next_number, uint64_t *value,
                                       struct idx_error *error) {
    size_t count = combination->added_id_count;
    if (manifest->sketch > 0 && count > 0 && combination->added_ids[count - 1].bytes == id) {
        *value = combination->added_ids[count - 1].number;
        return IDX_OK;
    }
    *value = (*next_number)++;
    combination->added_ids[combination->added_id_count++] =
        (struct idxi_text_id){.bytes = id, .size = id_size, .number = *value};
    if (manifest->sketch == 0) return IDX_OK;
    struct idxf_record_rules rules = {.id_type = manifest->id_type, .sketch = manifest->sketch};
    const uint8_t *members = idxf_get_text_members(&rules, id, id_size, &count);
    return append_set(combination, *value, members, count, error);
}

/* A visit of the pending documents of a view. */
struct addition_visit {
    const struct idxf_manifest *manifest;
    struct idxi_combination *combination;
    uint64_t *next_number; /* of the next document with a text ID */
};

/* Appends the document of a record to the combination, with the next number if it has a text ID. This is an
 * idxi_pending_record_visitor. */
static enum idx_status append_document(void *context, uint64_t sequence, const struct idxf_record *record,
                                       struct idx_error *error) {
    struct addition_visit *visit = context;
    struct idxi_combination *combination = visit->combination;
    uint64_t value = 0;
    (void)sequence;
    if (visit->manifest->id_type == IDXF_ID_U64) value = idxf_load64(record->id);
    if (visit->manifest->id_type == IDXF_ID_TEXT)
        IDXI_TRY(number_document(visit->manifest, combination, record->id, record->id_size, visit->next_number, &value,
                                 error));
    if (visit->manifest->by_id)
        IDXI_TRY(append_entry(&combination->added_hashes, idxi_hash_id(record->id, record->id_size),
                              record->fingerprint, error));
    return append_entry(&combination->added, record->fingerprint, value, error);
}

/* Appends a view's pending documents to the combination. Those with text IDs get the numbers from *next_number on. Adds
 * the number of these to *next_number. Errors: IDX_OUT_OF_MEMORY. */
static enum idx_status append_pending_documents(const struct idx_index *index, struct idxi_combination *combination,
                                                uint64_t *next_number, struct idx_error *error) {
    struct addition_visit visit = {index->manifest, combination, next_number};
    size_t capacity = combination->added_id_count + (size_t)idxi_pending_count_records(&index->pending) + 1;
    struct idxi_text_id *ids = realloc(combination->added_ids, capacity * sizeof *ids);
    if (ids == NULL) return idxi_fail_memory(error);
    combination->added_ids = ids;
    IDXI_TRY(append_sets_of_integer_ids(index, combination, error));
    return idxi_pending_visit_documents(&index->pending, append_document, &visit, error);
}

/* ---- Views ---- */

enum idx_status idxi_fill_combination(struct idx_index *const *views, size_t count, size_t first_segment,
                                      struct idxi_combination *combination, struct idx_error *error) {
    size_t segments = 0;
    uint64_t next_number = 0;
    for (size_t i = 0; i < count; i++) segments += views[i]->open_segments - first_segment;
    combination->sources = calloc(segments + 1, sizeof *combination->sources);
    if (combination->sources == NULL) return idxi_fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        IDXI_TRY(append_sources(views[i], first_segment, combination, &next_number, error));
        IDXI_TRY(append_pending_documents(views[i], combination, &next_number, error));
    }
    IDXI_TRY(sort_entries(&combination->added, error));
    if (combination->added_set_count > 1)
        qsort(combination->added_sets, combination->added_set_count, sizeof *combination->added_sets, compare_set_keys);
    return sort_entries(&combination->added_hashes, error);
}

void idxi_free_combination_arrays(struct idxi_combination *combination) {
    for (size_t i = 0; i < combination->source_count; i++) {
        struct idxi_source *source = &combination->sources[i];
        free_entries(&source->left_out_documents);
        free_entries(&source->left_out_hashes);
        free_entries(&source->left_out_fingerprints);
        free_entries(&source->left_out_numbers);
    }
    free(combination->sources);
    free_entries(&combination->added);
    free_entries(&combination->added_hashes);
    free(combination->added_ids);
    free(combination->added_sets);
}
