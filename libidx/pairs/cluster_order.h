/* cluster_order.h: puts a cluster's documents, added by fingerprint, into the order in which they are preferred. */
#ifndef IDX_LIBIDX_CLUSTER_ORDER_H
#define IDX_LIBIDX_CLUSTER_ORDER_H

#include "libidx/streams/reading.h"
#include "libidx/streams/sorter.h"

/* A document that is put into order. */
struct idxi_ordered_document {
    uint64_t value, fingerprint; /* value: what document maps have for it (documents.h) */
    size_t id_begin, id_size;    /* the place of its ID in order->ids, and its bytes, if IDs decide */
};

/* Documents that are put into order. The caller zeroes it, sets `sorting`, and if IDs decide, also `documents`. */
struct idxi_cluster_order {
    const struct idxi_sorter_options *sorting; /* how many documents are sorted */
    struct idx_documents *documents;           /* a cursor if text IDs decide, which are in memory; else NULL */
    struct idxi_ordered_document *items;       /* an array of documents; idxi_cluster_order_sort sorts it */
    size_t count, capacity, next_item;
    uint8_t *ids; /* their IDs, one after the other, if IDs decide */
    size_t ids_size, ids_capacity;
    struct idxi_sorter sorter;    /* has the documents, by value, once they are many */
    struct idxi_reading *reading; /* of the sorter's stream */
    uint64_t added_count;         /* documents added; more than `count` once some are in the sorter */
};

/* Adds a document: its value in document maps, and its fingerprint. If IDs decide, reads its ID with order->documents.
 * Must not be called between sorting and the end of reading. Errors: IDX_OUT_OF_MEMORY, IDX_CANCELLED, those of
 * idxi_documents_get, and those of writing temporary files. */
enum idx_status idxi_cluster_order_add_document(struct idxi_cluster_order *order, uint64_t value, uint64_t fingerprint,
                                                struct idx_error *error);

/* Sorts all added documents by ID if IDs decide, then by value, then by fingerprint, and makes them readable from the
 * first one on. Errors: IDX_OUT_OF_MEMORY, IDX_CANCELLED, and those of temporary files. */
enum idx_status idxi_cluster_order_sort(struct idxi_cluster_order *order, struct idx_error *error);

/* Sets *value and *fingerprint to those of the next document; idxi_cluster_order_sort must have been called. *found is
 * false after the last one: then *value and *fingerprint are unchanged, the order is empty, and others may be added.
 * Errors: IDX_OUT_OF_MEMORY, IDX_CANCELLED, and those of temporary files. */
enum idx_status idxi_cluster_order_read_next(struct idxi_cluster_order *order, uint64_t *value, uint64_t *fingerprint,
                                             bool *found, struct idx_error *error);

/* Frees what the order has allocated, which may be nothing, and closes its temporary files. */
void idxi_cluster_order_free(struct idxi_cluster_order *order);

#endif
