/* writer_remove.c: removes documents, by fingerprint and ID, by fingerprint, or by ID. */
#include <stdlib.h>
#include <string.h>

#include "libidx/base/base.h"
#include "libidx/change/writer.h"
#include "libidx/streams/sort.h"
#include "libidx/view/documents.h"
#include "libidx/view/live.h"
#include "libidx/view/texts.h"

/* Sets *count to how many documents of a fingerprint have the ID of `item`, or if that is NULL, how many there are in
 * all. Sets *has_others to whether the fingerprint has documents that are not counted. Removed documents do not count.
 * Moves the cursor `documents`. Errors: as idxi_documents_seek, idx_documents_next and idxi_check_no_segment_holds.
 */
static enum idx_status count_documents(const struct idx_writer *writer, struct idx_documents *documents,
                                       uint64_t fingerprint, const struct idx_item *item, uint64_t *count,
                                       bool *has_others, struct idx_error *error) {
    struct idx_document document;
    uint64_t max_count;
    bool found;
    *count = 0;
    *has_others = false;
    IDXI_TRY(idxi_documents_seek(documents, fingerprint, &max_count, error));
    if (max_count == 0) return idxi_check_no_segment_holds(documents, error);
    for (;;) {
        IDXI_TRY(idx_documents_next(documents, &document, &found, error));
        if (!found) return IDX_OK;
        bool matches = item == NULL || idxi_document_has_id(writer->index, &document, item);
        *count += matches;
        *has_others |= !matches;
    }
}

/* Adds a record to the batch that removes the documents with the fingerprint and the ID of an item. If the fingerprint
 * has no others, the record removes the whole fingerprint. Adds the number of documents to removal->documents, or 1 to
 * removal->missing if there are none. Errors: as count_documents and idxi_writer_add_record. */
static enum idx_status remove_document(struct idx_writer *writer, struct idx_documents *documents,
                                       const struct idx_item *item, struct idx_removal *removal,
                                       struct idx_error *error) {
    uint64_t count;
    bool has_others;
    IDXI_TRY(count_documents(writer, documents, item->fingerprint, item, &count, &has_others, error));
    removal->documents += count;
    removal->missing += count == 0;
    if (count == 0) return IDX_OK;
    return idxi_writer_add_record(writer, has_others ? IDXF_REMOVE_DOCUMENT : IDXF_REMOVE_FINGERPRINT, item, error);
}

/* Adds a record to the batch that removes the fingerprint of an item with all of its documents. Adds their number to
 * removal->documents, or 1 to removal->missing if the index does not have the fingerprint. With IDX_ID_NONE the
 * fingerprint counts as one document. Errors: as remove_document. */
static enum idx_status remove_fingerprint(struct idx_writer *writer, struct idx_documents *documents,
                                          const struct idx_item *item, struct idx_removal *removal,
                                          struct idx_error *error) {
    const struct idx_index *index = writer->index;
    uint64_t count;
    bool has_others, found = idxi_pending_has_document(&index->pending, item->fingerprint);
    if (index->manifest->id_type == IDXF_ID_NONE) {
        if (!found) IDXI_TRY(idxi_is_held_before(index, index->open_segments, item->fingerprint, &found, error));
        count = found;
    } else {
        IDXI_TRY(count_documents(writer, documents, item->fingerprint, NULL, &count, &has_others, error));
    }
    removal->documents += count;
    removal->missing += count == 0;
    return count == 0 ? IDX_OK : idxi_writer_add_record(writer, IDXF_REMOVE_FINGERPRINT, item, error);
}

/* Adds records to the batch that remove all documents with the ID of an item, whatever their fingerprints. Adds their
 * number to removal->documents, or 1 to removal->missing if there are none. item->fingerprint is not used. Errors: as
 * idx_find_id and remove_document. */
static enum idx_status remove_documents_of_id(struct idx_writer *writer, struct idx_documents *documents,
                                              const struct idx_item *item, struct idx_removal *removal,
                                              struct idx_error *error) {
    size_t count;
    IDXI_TRY(idx_find_id(writer->index, item, NULL, 0, &count, error)); /* This only counts them. */
    removal->missing += count == 0;
    if (count == 0) return IDX_OK;
    uint64_t *fingerprints = malloc(count * sizeof *fingerprints);
    if (fingerprints == NULL) return idxi_fail_memory(error);
    enum idx_status status = idx_find_id(writer->index, item, fingerprints, count, &count, error);
    for (size_t i = 0; i < count && status == IDX_OK; i++) {
        struct idx_item document = *item;
        document.fingerprint = fingerprints[i];
        status = remove_document(writer, documents, &document, removal, error);
    }
    free(fingerprints);
    return status;
}

/* Adds records to the batch that remove the documents with the fingerprint of an item, with its ID, or with both.
 * Counts the documents in *removal, or the item as missing. */
typedef enum idx_status (*item_remover)(struct idx_writer *writer, struct idx_documents *documents,
                                        const struct idx_item *item, struct idx_removal *removal,
                                        struct idx_error *error);

/* Calls remove_one for each of `count` items, which were checked, as one batch. Sets *removal, unless `removal` is
 * NULL, to the sums over all items, only if all calls succeed. Errors: as idxi_writer_begin_batch, idx_documents_open,
 * remove_one and idxi_writer_end_batch. */
static enum idx_status remove_items(struct idx_writer *writer, item_remover remove_one, const struct idx_item *items,
                                    size_t count, struct idx_removal *removal, struct idx_error *error) {
    struct idx_removal total = {0};
    struct idx_documents *documents;
    IDXI_TRY(idxi_writer_begin_batch(writer, count, error));
    IDXI_TRY(idx_documents_open(&documents, writer->index, error));
    enum idx_status status = IDX_OK;
    for (size_t i = 0; i < count && status == IDX_OK; i++)
        status = remove_one(writer, documents, &items[i], &total, error);
    idx_documents_close(documents);
    IDXI_TRY(idxi_writer_end_batch(writer, status, error));
    if (removal != NULL) *removal = total;
    return IDX_OK;
}

/* Removes the documents with both the fingerprints and the IDs of the items. Errors: as idx_writer_remove. */
static enum idx_status remove_documents(struct idx_writer *writer, const struct idx_item *items, size_t count,
                                        struct idx_removal *removal, struct idx_error *error) {
    if (writer->index->manifest->id_type == IDXF_ID_NONE)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, writer->index->path,
                         "has no documents, only fingerprints: remove fingerprints instead");
    IDXI_TRY(idxi_writer_check_items(writer, items, count, error));
    return remove_items(writer, remove_document, items, count, removal, error);
}

/* Removes the fingerprints of the items, with all their documents; the IDs of the items are not used. Errors: as
 * idx_writer_remove. */
static enum idx_status remove_fingerprints(struct idx_writer *writer, const struct idx_item *items, size_t count,
                                           struct idx_removal *removal, struct idx_error *error) {
    IDXI_TRY(idxi_writer_check_without_sets(writer, error));
    for (size_t i = 0; i < count; i++) IDXI_TRY(idxi_check_queries(writer->index, &items[i].fingerprint, 1, error));
    return remove_items(writer, remove_fingerprint, items, count, removal, error);
}

/* ---- Texts ---- */

/* A text of a segment whose ID is that of an item. */
struct found_text {
    size_t item, segment;
    uint64_t number;
};

/* The removal of texts by their IDs. */
struct text_removal {
    struct idx_writer *writer;
    const struct idx_item *items;
    size_t count;
    uint64_t *hashes, *places; /* the hashes of the items' IDs, ascending, and the places of these items in `items` */
    size_t segment;            /* the one whose IDs are visited */
    struct found_text *found;  /* by item */
    size_t found_count, found_capacity;
    uint64_t *values; /* of the sketches of an item's texts */
    size_t value_count, value_capacity, text_count;
};

/* Appends document `number` of segment removal->segment, a text, to removal->found once for each item that has its ID.
 * This is an idxi_id_visitor. */
static enum idx_status append_found_texts(void *context, uint64_t number, const void *id, size_t length,
                                          struct idx_error *error) {
    struct text_removal *removal = context;
    uint64_t hash = idxi_hash_id(id, length);
    size_t place = idxi_count_below(removal->hashes, removal->count, hash);
    for (; place < removal->count && removal->hashes[place] == hash; place++) {
        const struct idx_item *item = &removal->items[removal->places[place]];
        if (item->id_length != length || (length > 0 && memcmp(item->id, id, length) != 0)) continue;
        IDXI_GROW(removal->found, removal->found_capacity, removal->found_count + 1, error);
        removal->found[removal->found_count++] =
            (struct found_text){(size_t)removal->places[place], removal->segment, number};
    }
    return IDX_OK;
}

/* Compares found texts by the number of their item, for qsort. */
static int compare_by_item(const void *first, const void *second) {
    const struct found_text *a = first, *b = second;
    return (a->item > b->item) - (a->item < b->item);
}

/* Lists in removal->found, by ascending item, the documents of segments that have the text IDs of the items. Reads all
 * IDs of all segments once. The caller frees removal->hashes and removal->found, even after an error. */
static enum idx_status find_texts_in_segments(struct text_removal *removal, struct idx_error *error) {
    const struct idx_index *index = removal->writer->index;
    uint64_t *spare = malloc((4 * removal->count + 1) * sizeof *spare);
    if (spare == NULL) return idxi_fail_memory(error);
    removal->hashes = spare; /* One piece of memory: the hashes, the places, and what sorting them needs. */
    removal->places = spare + removal->count;
    for (size_t i = 0; i < removal->count; i++) {
        removal->hashes[i] = idxi_hash_id(removal->items[i].id, removal->items[i].id_length);
        removal->places[i] = i;
    }
    idxi_sort_pairs(removal->hashes, removal->places, removal->count, false, spare + 2 * removal->count,
                    spare + 3 * removal->count);
    for (; removal->segment < index->open_segments; removal->segment++) {
        struct idxi_map *map = &index->segments[removal->segment]->map;
        IDXI_TRY(idxi_map_prepare(map, error));
        IDXI_TRY(idxi_map_visit_ids(map, append_found_texts, removal, error));
    }
    if (removal->found_count > 1) qsort(removal->found, removal->found_count, sizeof *removal->found, compare_by_item);
    return IDX_OK;
}

/* Appends the values of a text's sketch, which are the first members of its set, to removal->values, and counts the
 * text in removal->text_count. This is an idxi_set_visitor. */
static enum idx_status list_sketch_values(void *context, size_t segment, const struct idxf_set *set,
                                          struct idx_error *error) {
    struct text_removal *removal = context;
    unsigned sketch = removal->writer->index->manifest->sketch;
    (void)segment;
    removal->text_count++;
    for (size_t i = 0; i < set->count && i < sketch; i++) {
        IDXI_GROW(removal->values, removal->value_capacity, removal->value_count + 1, error);
        removal->values[removal->value_count++] = idxf_load64(set->members + 8 * i);
    }
    return IDX_OK;
}

/* Appends to removal->values the sketch values of all texts with the text ID of item `i` that were not removed, in
 * segments and pending. Those in segments are removal->found[*next] and the elements after it, as long as they are of
 * this item; moves *next behind them. Errors: as idxi_find_numbered_set; IDX_OUT_OF_MEMORY. */
static enum idx_status list_values_of_item(struct text_removal *removal, size_t i, size_t *next,
                                           struct idx_error *error) {
    const struct idx_index *index = removal->writer->index;
    const struct idx_item *item = &removal->items[i];
    struct idxi_pending_cursor cursor;
    struct idxi_pending_text text;
    struct idxf_set set;
    for (; *next < removal->found_count && removal->found[*next].item == i; ++*next) {
        size_t segment = removal->found[*next].segment;
        IDXI_TRY(idxi_find_numbered_set(&index->segments[segment]->sets, removal->found[*next].number, &set, error));
        if (idxi_is_document_live(index, segment, idxf_load64(set.members), item->id, item->id_length))
            IDXI_TRY(list_sketch_values(removal, segment, &set, error));
    }
    idxi_pending_seek_id(&index->pending, item->id_length == 0 ? "" : item->id, item->id_length, &cursor);
    while (idxi_pending_next_text(&cursor, &text)) {
        set = (struct idxf_set){0, text.count, text.members};
        IDXI_TRY(list_sketch_values(removal, index->open_segments, &set, error));
    }
    return IDX_OK;
}

/* Adds records to the batch that remove the documents with the ID of an item whose fingerprint is one of
 * removal->values. Sorts the values, so that each is removed once. `documents` is a cursor of the writer's view. */
static enum idx_status remove_documents_with_values(struct text_removal *removal, struct idx_documents *documents,
                                                    const struct idx_item *item, struct idx_error *error) {
    struct idx_removal ignored_counts = {0};
    uint64_t *spare = malloc((removal->value_count + 1) * sizeof *spare);
    if (spare == NULL) return idxi_fail_memory(error);
    if (removal->value_count > 0) idxi_sort_pairs(removal->values, NULL, removal->value_count, false, spare, NULL);
    free(spare);
    for (size_t i = 0; i < removal->value_count; i++) {
        struct idx_item document = *item;
        document.fingerprint = removal->values[i];
        if (i > 0 && removal->values[i] == removal->values[i - 1]) continue;
        IDXI_TRY(remove_document(removal->writer, documents, &document, &ignored_counts, error));
    }
    return IDX_OK;
}

/* Adds records to the batch that remove the texts with the IDs of all items. Adds the number of texts to
 * total->documents, and to total->missing the number of items without a text. `documents` is a cursor of the writer's
 * view. */
static enum idx_status record_text_removals(struct text_removal *removal, struct idx_documents *documents,
                                            struct idx_removal *total, struct idx_error *error) {
    bool has_text_ids = removal->writer->index->manifest->id_type == IDXF_ID_TEXT;
    size_t next = 0;
    if (has_text_ids) IDXI_TRY(find_texts_in_segments(removal, error));
    for (size_t i = 0; i < removal->count; i++) {
        removal->value_count = removal->text_count = 0;
        IDXI_TRY(has_text_ids ? list_values_of_item(removal, i, &next, error)
                              : idxi_visit_sets_of_integer_id(removal->writer->index, removal->items[i].number,
                                                              list_sketch_values, removal, error));
        IDXI_TRY(remove_documents_with_values(removal, documents, &removal->items[i], error));
        total->documents += removal->text_count;
        total->missing += removal->text_count == 0;
    }
    return IDX_OK;
}

/* Removes all texts with the IDs of the items, which were checked, as one batch. Sets *result, unless `result` is NULL,
 * only if all succeed. */
static enum idx_status remove_texts(struct idx_writer *writer, const struct idx_item *items, size_t count,
                                    struct idx_removal *result, struct idx_error *error) {
    struct text_removal removal = {.writer = writer, .items = items, .count = count};
    struct idx_removal total = {0};
    struct idx_documents *documents;
    IDXI_TRY(idxi_writer_begin_batch(writer, count, error));
    IDXI_TRY(idx_documents_open(&documents, writer->index, error));
    enum idx_status status = record_text_removals(&removal, documents, &total, error);
    idx_documents_close(documents);
    free(removal.hashes);
    free(removal.found);
    free(removal.values);
    IDXI_TRY(idxi_writer_end_batch(writer, status, error));
    if (result != NULL) *result = total;
    return IDX_OK;
}

/* Removes all documents with the IDs of the items, or in an index with sets, all texts with them. Without sets, the
 * index must have maps from IDs. Errors: as idx_writer_remove. */
static enum idx_status remove_all_of_ids(struct idx_writer *writer, const struct idx_item *items, size_t count,
                                         struct idx_removal *removal, struct idx_error *error) {
    IDXI_TRY(idxi_writer_check_ids(writer, items, count, error));
    if (writer->index->manifest->sketch > 0) return remove_texts(writer, items, count, removal, error);
    if (!writer->index->manifest->by_id)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, writer->index->path,
                         "has no map from IDs: give fingerprints as well, or build it with such a map");
    return remove_items(writer, remove_documents_of_id, items, count, removal, error);
}

/* ---- The call ---- */

enum idx_status idx_writer_remove(struct idx_writer *writer, enum idx_removal_key key, const struct idx_item *items,
                                  size_t count, struct idx_removal *removal, struct idx_error *error) {
    switch (key) {
        case IDX_REMOVE_DOCUMENTS: return remove_documents(writer, items, count, removal, error);
        case IDX_REMOVE_FINGERPRINTS: return remove_fingerprints(writer, items, count, removal, error);
        case IDX_REMOVE_IDS: return remove_all_of_ids(writer, items, count, removal, error);
    }
    return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL, "%d is no key of removals", (int)key);
}
