/* writer_unlike.c: adds the texts whose sets resemble none that an index has. */
#include <stdlib.h>

#include "libidx/base/base.h"
#include "libidx/change/writer.h"
#include "libidx/lookup/resembling.h"
#include "libidx/view/texts.h"

/* A value of the sketch of a document that this call adds. Values with the same slot are linked, the newest first. */
struct added_value {
    uint64_t value;
    size_t document; /* its place in the call */
    size_t next;     /* the place plus 1 of the next value of the same slot; 0: there is none */
};

/* The documents of one call: which of them are added, and what the others resemble. */
struct batch {
    const struct idx_item *items;
    const struct idx_set *sets;
    size_t count;
    struct idx_resembling_options options;
    size_t max_looked_up; /* how many values of a set are looked up, at most */
    size_t sketch;        /* how many of the smallest members of a set make its sketch, by which it is found */
    bool has_text_ids;    /* whether the index has text IDs */
    struct idx_resembling_lists indexed; /* what the index has that resembles each of them */
    struct idxi_resembling_lists result; /* that, and what was added before each of them */
    struct added_value *added_values;    /* found by `slots`, which hold places in this array plus 1 */
    size_t added_value_count, *slots, slot_mask;
    size_t *last_compared; /* of each document, the last one that it was compared with, counted from 1 */
};

/* Allocates the arrays, large enough for the sketches of all documents; none has 0 bytes, for which malloc may return
 * NULL. The caller frees them, even after an error. Errors: IDX_OUT_OF_MEMORY. */
static enum idx_status allocate_batch_arrays(struct batch *batch, struct idx_error *error) {
    size_t value_count = batch->count * batch->sketch, slot_count = 1;
    while (slot_count < value_count) slot_count *= 2;
    batch->slot_mask = slot_count - 1;
    batch->slots = calloc(slot_count, sizeof *batch->slots);
    batch->added_values = malloc(value_count * sizeof *batch->added_values + 1);
    batch->last_compared = calloc(batch->count + 1, sizeof *batch->last_compared);
    bool has_memory = batch->slots != NULL && batch->added_values != NULL && batch->last_compared != NULL;
    return has_memory ? IDX_OK : idxi_fail_memory(error);
}

/* Returns the slot that the hash of a value chooses. It holds the place plus 1 of the newest added value of this slot,
 * or 0 if there is none. */
static size_t *find_slot(const struct batch *batch, uint64_t value) {
    return &batch->slots[idxi_hash_fingerprint(value) & batch->slot_mask];
}

/* Adds the values of a document's sketch to batch->added_values, so that later documents that share one find it. */
static void add_sketch_values(struct batch *batch, size_t document) {
    const struct idx_set *set = &batch->sets[document];
    for (size_t i = 0; i < set->count && i < batch->sketch; i++) {
        size_t *slot = find_slot(batch, set->hashes[i]);
        batch->added_values[batch->added_value_count++] =
            (struct added_value){.value = set->hashes[i], .document = document, .next = *slot};
        *slot = batch->added_value_count;
    }
}

/* Adds document `added`, which this call adds to the index, to the list of `document` if they resemble each other. Both
 * are places in batch->items. Does nothing if the two were compared before. Errors: IDX_OUT_OF_MEMORY. */
static enum idx_status compare_with_added(struct batch *batch, size_t document, size_t added, struct idx_error *error) {
    const struct idx_set *set = &batch->sets[document], *added_set = &batch->sets[added];
    const struct idx_item *item = &batch->items[added];
    const struct idx_document document_id = {item->number, item->id_length == 0 ? "" : item->id,
                                             batch->has_text_ids ? item->id_length : 0};
    uint32_t shared, total;
    if (batch->last_compared[added] == document + 1) return IDX_OK;
    batch->last_compared[added] = document + 1;
    idxi_compare_sets(set->hashes, set->count, added_set->hashes, added_set->count, batch->options.threshold, &shared,
                      &total);
    return idxi_reaches_threshold(shared, total, batch->options.threshold)
               ? idxi_resembling_add_document(&batch->result, &document_id, shared, total, error)
               : IDX_OK;
}

/* Completes the list of what a document resembles, in the index and among the documents added before it. If the list is
 * empty, the document will be added, so later ones are compared with it. Call it for each document in turn. Errors:
 * IDX_OUT_OF_MEMORY. */
static enum idx_status complete_list(struct batch *batch, size_t document, struct idx_error *error) {
    const struct idx_resembling_lists *indexed = &batch->indexed;
    const struct idx_set *set = &batch->sets[document];
    for (int64_t i = indexed->offsets[document]; i < indexed->offsets[document + 1]; i++) {
        const struct idx_resembling_document *found = &indexed->documents[i];
        const struct idx_document document_id = {found->number, indexed->ids + found->id, found->id_length};
        IDXI_TRY(idxi_resembling_add_document(&batch->result, &document_id, found->shared, found->total, error));
    }
    for (size_t i = 0; i < set->count && i < batch->max_looked_up; i++) {
        for (size_t link = *find_slot(batch, set->hashes[i]); link > 0; link = batch->added_values[link - 1].next)
            if (batch->added_values[link - 1].value == set->hashes[i])
                IDXI_TRY(compare_with_added(batch, document, batch->added_values[link - 1].document, error));
    }
    size_t list_begin = (size_t)batch->result.lists.offsets[batch->result.query_count];
    bool is_unlike = batch->result.document_count == list_begin; /* before the list is cut to the limit */
    IDXI_TRY(idxi_resembling_end_list(&batch->result, batch->options.limit, error));
    if (is_unlike) add_sketch_values(batch, document);
    return IDX_OK;
}

/* Adds the texts whose lists are empty to the index, as one batch. An empty text is not added. Errors: as
 * idxi_writer_begin_batch, idxi_writer_add_text_record and idxi_writer_end_batch. */
static enum idx_status add_unlike_texts(const struct batch *batch, struct idx_writer *writer, struct idx_error *error) {
    const int64_t *offsets = batch->result.lists.offsets;
    enum idx_status status = IDX_OK;
    IDXI_TRY(idxi_writer_begin_batch(writer, batch->count, error));
    for (size_t i = 0; i < batch->count && status == IDX_OK; i++)
        if (offsets[i] == offsets[i + 1] && batch->sets[i].count > 0)
            status = idxi_writer_add_text_record(writer, &batch->items[i], &batch->sets[i], error);
    return idxi_writer_end_batch(writer, status, error);
}

/* Does the work of idx_writer_add_unlike for a batch whose options are set: completes batch->result, and adds the texts
 * that resemble none. The caller frees the arrays and lists of the batch, even after an error. */
static enum idx_status look_up_and_add(struct batch *batch, struct idx_writer *writer, struct idx_error *error) {
    IDXI_TRY(allocate_batch_arrays(batch, error));
    IDXI_TRY(idx_list_resembling(idx_writer_view(writer), batch->sets, batch->count, &batch->options, &batch->indexed,
                                 error));
    batch->result.lists.unread = batch->indexed.unread;
    IDXI_TRY(idxi_resembling_begin_lists(&batch->result, error));
    for (size_t i = 0; i < batch->count; i++) IDXI_TRY(complete_list(batch, i, error));
    return add_unlike_texts(batch, writer, error);
}

enum idx_status idx_writer_add_unlike(struct idx_writer *writer, const struct idx_item *items,
                                      const struct idx_set *sets, size_t count,
                                      const struct idx_resembling_options *options, struct idx_resembling_lists *lists,
                                      struct idx_error *error) {
    struct batch batch = {.items = items, .sets = sets, .count = count};
    IDXI_TRY(idxi_resembling_copy_options(&batch.options, options, error));
    IDXI_TRY(idxi_check_has_sets(writer->index, error));
    if (batch.options.limit == 0)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL, "limit = 0 does not say which documents were added");
    batch.has_text_ids = writer->index->manifest->id_type == IDXF_ID_TEXT;
    batch.sketch = writer->index->manifest->sketch;
    batch.max_looked_up = idxi_count_values_to_look_up(writer->index, batch.options.threshold);
    IDXI_TRY(idxi_writer_check_ids(writer, items, count, error));
    for (size_t i = 0; i < count; i++) IDXI_TRY(idxi_check_set(&sets[i], error));
    IDXI_TRY(idxi_writer_begin_batch(writer, 0, error)); /* Brings the view up to date for the look-ups. */
    enum idx_status status = look_up_and_add(&batch, writer, error);
    idx_resembling_lists_close(&batch.indexed);
    free(batch.added_values);
    free(batch.slots);
    free(batch.last_compared);
    if (status == IDX_OK)
        *lists = batch.result.lists;
    else
        idx_resembling_lists_close(&batch.result.lists);
    return status;
}
