/* cluster_order.c: see cluster_order.h. Few documents are sorted in an array, since most clusters are small. */
#include "libidx/pairs/cluster_order.h"

#include <stdlib.h>
#include <string.h>

#include "libidx/pairs/id_ranks.h"
#include "libidx/view/documents.h"

/* How many documents an array has at most before the sorter is used. Where IDs decide, the array has all documents. */
#define MAX_IN_ARRAY 256

/* Returns whether some documents are in the sorter. */
static bool has_spilled(const struct idxi_cluster_order *order) { return order->added_count != order->count; }

/* ---- Adding ---- */

/* Copies the text ID of a document to order->ids, since the cursor overwrites it when it goes on, and notes its place
 * in `item`. */
static enum idx_status copy_id(struct idxi_cluster_order *order, struct idxi_ordered_document *item,
                               struct idx_error *error) {
    struct idx_document document;
    IDXI_TRY(idxi_documents_get(order->documents, item->value, &document, error));
    IDXI_GROW(order->ids, order->ids_capacity, order->ids_size + document.id_length, error);
    if (document.id_length > 0) memcpy(order->ids + order->ids_size, document.id, document.id_length);
    item->id_begin = order->ids_size;
    item->id_size = document.id_length;
    order->ids_size += document.id_length;
    return IDX_OK;
}

/* Moves the documents from the array to the sorter, which it opens the first time. IDs must not decide. */
static enum idx_status spill_array(struct idxi_cluster_order *order, struct idx_error *error) {
    if (!has_spilled(order)) IDXI_TRY(idxi_sorter_open(&order->sorter, order->sorting, error));
    for (size_t i = 0; i < order->count; i++)
        IDXI_TRY(idxi_sorter_add_or_spill(&order->sorter, order->items[i].value, order->items[i].fingerprint, error));
    order->count = 0;
    return IDX_OK;
}

enum idx_status idxi_cluster_order_add_document(struct idxi_cluster_order *order, uint64_t value, uint64_t fingerprint,
                                                struct idx_error *error) {
    if (order->documents == NULL && order->count == MAX_IN_ARRAY) IDXI_TRY(spill_array(order, error));
    IDXI_GROW(order->items, order->capacity, order->count + 1, error);
    struct idxi_ordered_document *item = &order->items[order->count];
    *item = (struct idxi_ordered_document){.value = value, .fingerprint = fingerprint};
    if (order->documents != NULL) IDXI_TRY(copy_id(order, item, error));
    order->count++;
    order->added_count++;
    return IDX_OK;
}

/* ---- Sorting ---- */

/* The comparison of qsort_r: by ID if `ids`, the bytes of all IDs, is not NULL; then by value, then by fingerprint. */
static int compare_documents(const void *first, const void *second, void *ids) {
    const struct idxi_ordered_document *a = first, *b = second;
    const uint8_t *bytes = ids;
    int order =
        bytes == NULL ? 0 : idxi_compare_id_bytes(bytes + a->id_begin, a->id_size, bytes + b->id_begin, b->id_size);
    if (order != 0) return order;
    if (a->value != b->value) return a->value < b->value ? -1 : 1;
    return (a->fingerprint > b->fingerprint) - (a->fingerprint < b->fingerprint);
}

enum idx_status idxi_cluster_order_sort(struct idxi_cluster_order *order, struct idx_error *error) {
    struct idxi_stream *stream;
    order->next_item = 0;
    if (!has_spilled(order)) {
        if (order->count > 1) qsort_r(order->items, order->count, sizeof *order->items, compare_documents, order->ids);
        return IDX_OK;
    }
    IDXI_TRY(spill_array(order, error));
    if (order->reading == NULL) order->reading = malloc(sizeof *order->reading);
    if (order->reading == NULL) return idxi_fail_memory(error);
    IDXI_TRY(idxi_sorter_open_stream(&order->sorter, &stream, error));
    idxi_reading_init(order->reading, stream, order->sorting->progress);
    return IDX_OK;
}

/* ---- Reading ---- */

/* Makes the order empty, for documents of another cluster. Keeps the memory of the arrays, but closes the sorter. */
static void remove_all_documents(struct idxi_cluster_order *order) {
    if (has_spilled(order)) idxi_sorter_close(&order->sorter);
    order->sorter = (struct idxi_sorter){0};
    order->added_count = order->count = order->next_item = order->ids_size = 0;
}

enum idx_status idxi_cluster_order_read_next(struct idxi_cluster_order *order, uint64_t *value, uint64_t *fingerprint,
                                             bool *found, struct idx_error *error) {
    size_t place = order->next_item;
    if (has_spilled(order))
        IDXI_TRY(idxi_reading_next(order->reading, &place, found, error));
    else
        *found = order->next_item++ < order->count;
    if (!*found) {
        remove_all_documents(order);
        return IDX_OK;
    }
    /* The sorter has values as keys, where streams of the library have fingerprints. */
    *value = has_spilled(order) ? order->reading->fingerprints[place] : order->items[place].value;
    *fingerprint = has_spilled(order) ? order->reading->values[place] : order->items[place].fingerprint;
    return IDX_OK;
}

void idxi_cluster_order_free(struct idxi_cluster_order *order) {
    idxi_sorter_close(&order->sorter);
    free(order->reading);
    free(order->items);
    free(order->ids);
}
