/* id_ranks.c: gathers the IDs of all documents in memory and sorts them. */
#include "libidx/pairs/id_ranks.h"

#include <stdlib.h>
#include <string.h>

#include "libidx/base/base.h"

/* The ID of a document. */
struct id {
    uint64_t begin; /* offset in list->bytes; the ID ends where the next one in order of numbers begins */
    uint64_t number;
};

/* The IDs of all documents, as far as they were read. */
struct id_list {
    uint64_t max_bytes;    /* bytes of memory that the caller allows */
    uint64_t max_id_bytes; /* how many of them are for the bytes of IDs */
    char *bytes;           /* all IDs, one after the other */
    size_t byte_count, byte_capacity;
    struct id *ids; /* one for each document, and one spare */
    uint64_t count;
};

/* Returns IDX_OUT_OF_MEMORY, because the IDs do not fit into the memory that the caller allows. */
static enum idx_status fail_too_many_id_bytes(const struct id_list *list, struct idx_error *error) {
    return idxi_fail(error, IDX_OUT_OF_MEMORY, NULL,
                     "the IDs of all documents do not fit into %llu bytes of memory, but must be sorted there to find "
                     "the smallest: allow more memory, or choose representatives in another way",
                     (unsigned long long)list->max_bytes);
}

/* Grows list->bytes for one more ID of `length` bytes. Fails with IDX_OUT_OF_MEMORY if all IDs together would take more
 * than list->max_id_bytes. */
static enum idx_status reserve_id_bytes(struct id_list *list, size_t length, struct idx_error *error) {
    size_t capacity = list->byte_capacity * 2 + length + 4096;
    if (capacity > list->max_id_bytes) capacity = (size_t)list->max_id_bytes;
    if (capacity < list->byte_count + length) return fail_too_many_id_bytes(list, error);
    char *grown = realloc(list->bytes, capacity);
    if (grown == NULL) return idxi_fail_memory(error);
    list->bytes = grown;
    list->byte_capacity = capacity;
    return IDX_OK;
}

/* An idxi_id_visitor: appends an ID. Takes the number of the document from list->count, since `number` begins at 0 in
 * each segment. */
static enum idx_status append_id(void *context, uint64_t number, const void *id, size_t length,
                                 struct idx_error *error) {
    struct id_list *list = context;
    (void)number;
    if (list->byte_capacity - list->byte_count < length) IDXI_TRY(reserve_id_bytes(list, length, error));
    if (length > 0) memcpy(list->bytes + list->byte_count, id, length);
    list->byte_count += length;
    list->ids[list->count] = (struct id){list->byte_count - length, list->count};
    list->count++;
    return IDX_OK;
}

/* Gathers the IDs of all segments' documents, then those of pending records: this is the order of document numbers. */
static enum idx_status gather_ids(struct id_list *list, const struct idx_index *index, struct idx_error *error) {
    for (size_t i = 0; i < index->manifest->segment_count; i++) {
        struct idxi_map *map = &index->segments[i]->map;
        IDXI_TRY(idxi_map_prepare(map, error));
        IDXI_TRY(idxi_map_visit_ids(map, append_id, list, error));
    }
    for (uint64_t i = 0; i < idxi_pending_count_records(&index->pending); i++) {
        const uint8_t *id;
        size_t length;
        idxi_pending_get_id(&index->pending, (uint32_t)i, &id, &length);
        IDXI_TRY(append_id(list, list->count, id, length, error));
    }
    return IDX_OK;
}

int idxi_compare_id_bytes(const void *a, size_t a_length, const void *b, size_t b_length) {
    size_t common = a_length < b_length ? a_length : b_length;
    int order = common == 0 ? 0 : memcmp(a, b, common);
    return order != 0 ? order : (a_length > b_length) - (a_length < b_length);
}

/* What comparing two IDs needs. Once IDs are moved by sorting, the next one's `begin` is no longer an ID's end, so
 * `ends` has that, by document number. */
struct order {
    const struct id_list *list;
    const uint64_t *ends;
};

/* The comparison of qsort_r: by the bytes of the IDs, and of equal IDs by document number. */
static int compare_ids(const void *a, const void *b, void *context) {
    const struct order *order = context;
    const struct id *x = a, *y = b;
    const char *bytes = order->list->bytes;
    int difference = idxi_compare_id_bytes(bytes + x->begin, (size_t)(order->ends[x->number] - x->begin),
                                           bytes + y->begin, (size_t)(order->ends[y->number] - y->begin));
    return difference != 0 ? difference : (x->number > y->number) - (x->number < y->number);
}

/* Sorts the IDs and sets their ranks. Before that, it uses ranks->of for the ends of the IDs. */
static void set_ranks(struct id_list *list, struct idxi_id_ranks *ranks) {
    struct order order = {list, ranks->of};
    for (uint64_t i = 0; i < list->count; i++)
        ranks->of[i] = i + 1 < list->count ? list->ids[i + 1].begin : list->byte_count;
    qsort_r(list->ids, (size_t)list->count, sizeof *list->ids, compare_ids, &order);
    for (uint64_t i = 0; i < list->count; i++) ranks->of[list->ids[i].number] = i;
}

/* The first loop checks, before anything is read, that memory has room for what each ID takes beside its bytes. */
enum idx_status idxi_id_ranks_make(struct idxi_id_ranks *ranks, const struct idx_index *index, uint64_t max_memory,
                                   struct idx_error *error) {
    struct id_list list = {.max_bytes = max_memory};
    uint64_t documents = 0, per_id = 2 * sizeof *list.ids + sizeof *ranks->of; /* qsort_r may copy all of `ids` */
    *ranks = (struct idxi_id_ranks){NULL, 0};
    for (size_t i = 0; i <= index->manifest->segment_count; i++) {
        bool is_segment = i < index->manifest->segment_count;
        uint64_t added =
            is_segment ? index->manifest->segments[i].documents : idxi_pending_count_records(&index->pending);
        if (added > max_memory / per_id - documents) return fail_too_many_id_bytes(&list, error);
        documents += added;
    }
    list.max_id_bytes = max_memory - documents * per_id;
    list.ids = malloc(((size_t)documents + 1) * sizeof *list.ids);
    ranks->of = malloc(((size_t)documents + 1) * sizeof *ranks->of);
    ranks->count = documents;
    enum idx_status status = list.ids == NULL || ranks->of == NULL ? idxi_fail_memory(error) : IDX_OK;
    if (status == IDX_OK) status = gather_ids(&list, index, error);
    if (status == IDX_OK) set_ranks(&list, ranks);
    free(list.bytes);
    free(list.ids);
    return status;
}

void idxi_id_ranks_free(struct idxi_id_ranks *ranks) { free(ranks->of); }
