/* purge.c: finds what compaction and merging leave out, and which pending documents they add. */
#include "libidx/change/purge.h"

#include <stdlib.h>
#include <string.h>

#include "libidx/streams/sort.h"
#include "libidx/view/documents.h"
#include "libidx/view/live.h"

/* ---- Entries ---- */

/* Makes room for one more entry. */
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

static enum idx_status add_entry(struct idxi_entries *entries, uint64_t fingerprint, uint64_t value,
                                 struct idx_error *error) {
    IDXI_TRY(reserve_entry(entries, true, error));
    entries->fingerprints[entries->count] = fingerprint;
    entries->values[entries->count++] = value;
    return IDX_OK;
}

/* Adds an entry to those without values. */
static enum idx_status add_fingerprint(struct idxi_entries *entries, uint64_t fingerprint, struct idx_error *error) {
    IDXI_TRY(reserve_entry(entries, false, error));
    entries->fingerprints[entries->count++] = fingerprint;
    return IDX_OK;
}

static void free_entries(struct idxi_entries *entries) {
    free(entries->fingerprints);
    free(entries->values);
}

/* Sorts entries by fingerprint, and then by value. */
static enum idx_status sort_entries(struct idxi_entries *entries, struct idx_error *error) {
    if (entries->count == 0) return IDX_OK;
    uint64_t *spare = malloc(2 * entries->count * sizeof *spare);
    if (spare == NULL) return idxi_fail_memory(error);
    idxi_sort_pairs(entries->fingerprints, entries->values, entries->count, entries->values != NULL, spare,
                    entries->values == NULL ? NULL : spare + entries->count);
    free(spare);
    return IDX_OK;
}

/* Keeps each entry once. They are sorted. */
static void drop_duplicates(struct idxi_entries *entries) {
    size_t left = 0;
    for (size_t i = 0; i < entries->count; i++) {
        if (left > 0 && entries->fingerprints[left - 1] == entries->fingerprints[i] &&
            (entries->values == NULL || entries->values[left - 1] == entries->values[i]))
            continue;
        entries->fingerprints[left] = entries->fingerprints[i];
        if (entries->values != NULL) entries->values[left] = entries->values[i];
        left++;
    }
    entries->count = left;
}

/* ---- Removals ---- */

/* Lists the fingerprint of a record that removes something. Called by idxi_pending_visit_records. */
static enum idx_status list_if_removal(void *context, uint64_t sequence, const struct idxf_record *record,
                                       struct idx_error *error) {
    (void)sequence;
    return record->operation == IDXF_ADD ? IDX_OK : add_fingerprint(context, record->fingerprint, error);
}

/* Lists fingerprints from which records, or segments from `first` on, remove anything: ascending, each once. */
static enum idx_status list_removed(const struct idx_index *index, size_t first, struct idxi_entries *list,
                                    struct idx_error *error) {
    IDXI_TRY(idxi_pending_visit_records(&index->pending, list_if_removal, list, error));
    for (size_t i = first; i < index->open_segments; i++) {
        const struct idxi_removed *removed = &index->segments[i]->removed;
        for (size_t j = 0; j < removed->count; j++)
            IDXI_TRY(add_fingerprint(list, idxi_removed_at(removed, j).fingerprint, error));
    }
    IDXI_TRY(sort_entries(list, error));
    drop_duplicates(list);
    return IDX_OK;
}

/* ---- What sources leave out ---- */

/* A visit of the documents of one fingerprint in one segment. */
struct visit {
    const struct idx_index *index;
    uint64_t fingerprint;
    size_t first_live; /* the first segment from which it was not removed with all its documents */
    size_t segment;
    struct idxi_source *source;
    /* For a map from IDs, the hashes of the IDs of documents that stay, and of those that go; no values. */
    struct idxi_entries staying, leaving;
    bool any, any_stays; /* whether the segment has any documents, and any that stay */
};

/* If a document goes, notes that the source leaves it out. For a map from IDs, notes the hash of its ID in any case. */
static enum idx_status visit_document(void *context, uint64_t value, const uint8_t *id, size_t id_size,
                                      struct idx_error *error) {
    struct visit *visit = context;
    const struct idxf_manifest *manifest = visit->index->manifest;
    bool removed = visit->segment < visit->first_live ||
                   idxi_is_document_removed(visit->index, visit->segment, visit->fingerprint, id, id_size);
    visit->any = true;
    visit->any_stays |= !removed;
    if (manifest->by_id)
        IDXI_TRY(add_fingerprint(removed ? &visit->leaving : &visit->staying, idxi_id_hash(id, id_size), error));
    if (!removed) return IDX_OK;
    if (manifest->id_type == IDXF_ID_TEXT) IDXI_TRY(add_fingerprint(&visit->source->numbers, value, error));
    return add_entry(&visit->source->documents, visit->fingerprint, value, error);
}

/* Drops from the map from IDs the hashes that only leaving documents have. Empties both lists of hashes. */
static enum idx_status drop_hashes(struct visit *visit, struct idx_error *error) {
    size_t at = 0;
    IDXI_TRY(sort_entries(&visit->staying, error));
    IDXI_TRY(sort_entries(&visit->leaving, error));
    drop_duplicates(&visit->leaving);
    for (size_t i = 0; i < visit->leaving.count; i++) {
        uint64_t hash = visit->leaving.fingerprints[i];
        while (at < visit->staying.count && visit->staying.fingerprints[at] < hash) at++;
        if (at < visit->staying.count && visit->staying.fingerprints[at] == hash) continue;
        IDXI_TRY(add_entry(&visit->source->hashes, hash, visit->fingerprint, error));
    }
    visit->staying.count = visit->leaving.count = 0;
    return IDX_OK;
}

/* Notes what one source leaves out of the documents of the fingerprint, and whether it has any, and any that stay. */
static enum idx_status purge_segment(struct visit *visit, struct idx_documents *documents, struct idx_error *error) {
    if (visit->index->manifest->id_type != IDXF_ID_NONE) {
        IDXI_TRY(idxi_documents_visit(documents, visit->segment, visit->fingerprint, visit_document, visit, error));
        return drop_hashes(visit, error);
    }
    IDXI_TRY(idxi_segment_contains(visit->index, visit->segment, visit->fingerprint, &visit->any, error));
    visit->any_stays = visit->segment >= visit->first_live;
    return IDX_OK;
}

/* Notes what the sources, a view's segments from `first` on, leave out of a fingerprint's documents. */
static enum idx_status purge_fingerprint(struct visit *visit, struct idx_documents *documents, size_t first,
                                         struct idxi_source *sources, struct idx_error *error) {
    visit->first_live = idxi_get_first_live(visit->index, visit->fingerprint);
    for (visit->segment = first; visit->segment < visit->index->open_segments; visit->segment++) {
        visit->source = &sources[visit->segment - first];
        visit->any = visit->any_stays = false;
        IDXI_TRY(purge_segment(visit, documents, error));
        if (visit->any && !visit->any_stays) IDXI_TRY(add_fingerprint(&visit->source->gone, visit->fingerprint, error));
    }
    return IDX_OK;
}

/* Notes what the sources leave out of the documents of all listed fingerprints. */
static enum idx_status purge_listed(const struct idx_index *index, size_t first, struct idx_documents *documents,
                                    const struct idxi_entries *list, struct idxi_source *sources,
                                    struct idxi_progress *progress, struct idx_error *error) {
    struct visit visit = {.index = index};
    enum idx_status status = IDX_OK;
    for (size_t i = 0; i < list->count && status == IDX_OK; i++) {
        if (i % IDXI_STREAM_ENTRIES == 0) status = idxi_progress_add(progress, 0, error);
        visit.fingerprint = list->fingerprints[i];
        if (status == IDX_OK) status = purge_fingerprint(&visit, documents, first, sources, error);
    }
    free_entries(&visit.staying);
    free_entries(&visit.leaving);
    return status;
}

/* Finds what the sources, which are the segments of a view from `first` on, leave out. */
static enum idx_status purge_sources(const struct idx_index *index, size_t first, struct idxi_source *sources,
                                     struct idxi_progress *progress, struct idx_error *error) {
    struct idxi_entries list = {0};
    struct idx_documents *documents = NULL;
    enum idx_status status = list_removed(index, first, &list, error);
    if (status == IDX_OK && list.count > 0) status = idxi_progress_begin(progress, IDX_PHASE_MERGING, 0, error);
    if (status == IDX_OK) status = idx_documents_open(&documents, index, error);
    if (status == IDX_OK) status = purge_listed(index, first, documents, &list, sources, progress, error);
    idx_documents_close(documents);
    free_entries(&list);
    return status;
}

/* Adds a view's segments from `first` on to the sources. Their documents that stay are numbered from *next_number on,
 * which becomes the number behind them. */
static enum idx_status add_sources(const struct idx_index *index, size_t first, struct idxi_combination *combination,
                                   uint64_t *next_number, struct idx_error *error) {
    struct idxi_source *sources = &combination->sources[combination->source_count];
    size_t count = index->open_segments - first;
    for (size_t i = 0; i < count; i++) {
        struct idxi_segment *segment = index->segments[first + i];
        sources[i].segment = segment;
        sources[i].index = index;
        sources[i].place = first + i;
        IDXI_TRY(idxi_map_prepare(&segment->map, error));
        if (index->manifest->by_id) IDXI_TRY(idxi_map_prepare(&segment->by_id, error));
    }
    combination->source_count += count;
    IDXI_TRY(purge_sources(index, first, sources, combination->progress, error));
    for (size_t i = 0; i < count; i++) {
        IDXI_TRY(sort_entries(&sources[i].hashes, error));
        IDXI_TRY(sort_entries(&sources[i].numbers, error));
        drop_duplicates(&sources[i].numbers);
        sources[i].offset = *next_number;
        *next_number += sources[i].segment->map.numbers - sources[i].numbers.count;
    }
    return IDX_OK;
}

/* ---- Pending documents ---- */

/* Appends the set of a text in memory, under its key. */
static enum idx_status add_set(struct idxi_combination *combination, uint64_t key, const uint8_t *members, size_t count,
                               struct idx_error *error) {
    IDXI_GROW(combination->added_sets, combination->added_set_room, combination->added_set_count + 1, error);
    combination->added_sets[combination->added_set_count++] = (struct idxf_set){key, count, members};
    return IDX_OK;
}

/* Adds the pending sets of a view with integer IDs. */
static enum idx_status add_integer_sets(const struct idx_index *index, struct idxi_combination *combination,
                                        struct idx_error *error) {
    struct idxi_pending_text text;
    if (index->manifest->sketch == 0 || index->manifest->id_type != IDXF_ID_U64) return IDX_OK;
    for (uint32_t at = 0; idxi_pending_find_text_from(&index->pending, at, &text); at = text.number + 1)
        IDXI_TRY(add_set(combination, idxf_load64(text.id), text.members, text.count, error));
    return IDX_OK;
}

static int compare_sets(const void *first, const void *second) {
    const struct idxf_set *a = first, *b = second;
    return (a->key > b->key) - (a->key < b->key);
}

/* Gives the next document with a text ID a number and adds its ID; and its set, if the index has sets. There, entries
 * of one text, which have the same `id`, come one after the other, and have one number. */
static enum idx_status number_document(const struct idxf_manifest *manifest, struct idxi_combination *combination,
                                       const uint8_t *id, size_t id_size, uint64_t *next_number, uint64_t *value,
                                       struct idx_error *error) {
    size_t count = combination->added_id_count;
    const uint8_t *members = NULL;
    if (manifest->sketch > 0 && count > 0 && combination->added_ids[count - 1].bytes == id) {
        *value = combination->added_ids[count - 1].number;
        return IDX_OK;
    }
    *value = (*next_number)++;
    combination->added_ids[combination->added_id_count++] = (struct idxi_text_id){id, id_size, *value};
    if (manifest->sketch == 0) return IDX_OK;
    struct idxf_record_rules rules = {.id_type = manifest->id_type, .sketch = manifest->sketch};
    members = idxf_text_members(&rules, id, id_size, &count);
    return add_set(combination, *value, members, count, error);
}

/* A visit of the pending documents of a view. */
struct addition_visit {
    const struct idxf_manifest *manifest;
    struct idxi_combination *combination;
    uint64_t *number; /* of the next document with a text ID */
};

/* Adds the document of a record, with the next number if it has a text ID. */
static enum idx_status add_document(void *context, uint64_t sequence, const struct idxf_record *record,
                                    struct idx_error *error) {
    struct addition_visit *visit = context;
    struct idxi_combination *combination = visit->combination;
    uint64_t value = 0;
    (void)sequence;
    if (visit->manifest->id_type == IDXF_ID_U64) value = idxf_load64(record->id);
    if (visit->manifest->id_type == IDXF_ID_TEXT)
        IDXI_TRY(
            number_document(visit->manifest, combination, record->id, record->id_size, visit->number, &value, error));
    if (visit->manifest->by_id)
        IDXI_TRY(add_entry(&combination->added_hashes, idxi_id_hash(record->id, record->id_size), record->fingerprint,
                           error));
    return add_entry(&combination->added, record->fingerprint, value, error);
}

/* Adds a view's pending documents. Those with text IDs are numbered from *next_number on, which becomes the number
 * behind them. */
static enum idx_status add_pending_documents(const struct idx_index *index, struct idxi_combination *combination,
                                             uint64_t *next_number, struct idx_error *error) {
    struct addition_visit visit = {index->manifest, combination, next_number};
    size_t most = combination->added_id_count + (size_t)idxi_pending_count(&index->pending) + 1;
    struct idxi_text_id *ids = realloc(combination->added_ids, most * sizeof *ids);
    if (ids == NULL) return idxi_fail_memory(error);
    combination->added_ids = ids;
    IDXI_TRY(add_integer_sets(index, combination, error));
    return idxi_pending_visit_documents(&index->pending, add_document, &visit, error);
}

/* ---- Views ---- */

enum idx_status idxi_purge_views(struct idx_index *const *views, size_t count, size_t first,
                                 struct idxi_combination *combination, struct idx_error *error) {
    size_t segments = 0;
    uint64_t next_number = 0;
    for (size_t i = 0; i < count; i++) segments += views[i]->open_segments - first;
    combination->sources = calloc(segments + 1, sizeof *combination->sources);
    if (combination->sources == NULL) return idxi_fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        IDXI_TRY(add_sources(views[i], first, combination, &next_number, error));
        IDXI_TRY(add_pending_documents(views[i], combination, &next_number, error));
    }
    IDXI_TRY(sort_entries(&combination->added, error));
    if (combination->added_set_count > 1)
        qsort(combination->added_sets, combination->added_set_count, sizeof *combination->added_sets, compare_sets);
    return sort_entries(&combination->added_hashes, error);
}

void idxi_purge_free(struct idxi_combination *combination) {
    for (size_t i = 0; i < combination->source_count; i++) {
        struct idxi_source *source = &combination->sources[i];
        free_entries(&source->documents);
        free_entries(&source->hashes);
        free_entries(&source->gone);
        free_entries(&source->numbers);
    }
    free(combination->sources);
    free_entries(&combination->added);
    free_entries(&combination->added_hashes);
    free(combination->added_ids);
    free(combination->added_sets);
}
