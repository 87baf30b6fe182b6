/* documents_many.c: the documents of many fingerprints. Fingerprints are looked up in ascending order, as document maps
 * store them, which gives the values of their documents. For text IDs these values, document numbers, are then looked
 * up in ascending order as well, and each ID is copied to its place in the caller's order. */
#include "libidx/lookup/documents_many.h"

#include <stdlib.h>
#include <string.h>

#include "libidx/base/base.h"
#include "libidx/streams/sort.h"
#include "libidx/view/documents.h"
#include "libidx/view/index.h"

enum {
    ITEMS_PER_TASK = 4096,   /* fingerprints, or documents */
    MIN_COUNTED_BYTES = 4096 /* A task counts bytes of lists so many at a time, since threads contend for the count. */
};

/* What one task has found, in its order: values of documents (numbers, or integer IDs), or the bytes of text IDs. */
struct task_result {
    union {
        uint64_t *values;
        uint8_t *bytes;
    };
    size_t count, capacity; /* of values, or bytes */
};

/* A call that lists the documents of many fingerprints. */
struct lister {
    const struct idx_index *index;
    struct idx_document_lists_options options;
    bool values_only;                /* no text IDs are read */
    size_t count;                    /* how many fingerprints were asked for */
    uint64_t *fingerprints, *places; /* ascending, and their places in the caller's array */
    uint64_t *values, *slots;        /* values of documents, ascending, and where in the lists their IDs belong */
    uint64_t listed_count;           /* how many documents are listed */
    struct task_result *task_results;
    size_t task_count;
    atomic_uint_fast64_t bytes; /* bytes that the lists take so far */
    struct idx_document_lists lists;
    struct idxi_progress progress;
};

/* ---- Room ---- */

/* Frees the results of all tasks; lister->task_count is 0 afterwards. */
static void free_task_results(struct lister *lister) {
    for (size_t i = 0; i < lister->task_count; i++) free(lister->task_results[i].bytes);
    free(lister->task_results);
    lister->task_results = NULL;
    lister->task_count = 0;
}

/* Sets lister->task_count to how many tasks `item_count` fingerprints or documents need, and makes an empty result for
 * each, in place of the former results. Errors: IDX_OUT_OF_MEMORY. */
static enum idx_status make_task_results(struct lister *lister, uint64_t item_count, struct idx_error *error) {
    size_t count = item_count / ITEMS_PER_TASK + (item_count % ITEMS_PER_TASK > 0);
    free_task_results(lister);
    lister->task_results = calloc(count + 1, sizeof *lister->task_results);
    if (lister->task_results == NULL) return idxi_fail_memory(error);
    lister->task_count = count;
    return IDX_OK;
}

/* Sets *begin and *end to the bounds of the items of a task, from *begin to before *end, of `item_count` in all. */
static void get_task_bounds(size_t task, size_t item_count, size_t *begin, size_t *end) {
    *begin = task * ITEMS_PER_TASK;
    *end = item_count - *begin < ITEMS_PER_TASK ? item_count : *begin + ITEMS_PER_TASK;
}

/* Makes sure that a result has capacity for `added` more items: values, of `width` 8 bytes each, or bytes of
 * text IDs, of `width` 1. Errors: IDX_OUT_OF_MEMORY. */
static enum idx_status reserve_items(struct task_result *result, size_t added, size_t width, struct idx_error *error) {
    if (result->capacity - result->count >= added) return IDX_OK;
    uint8_t *grown = idxi_array_grow(result->bytes, &result->capacity, result->count + added, width);
    if (grown == NULL) return idxi_fail_memory(error);
    result->bytes = grown;
    return IDX_OK;
}

/* Adds `added_bytes` to the number of bytes that the lists take. Any thread may call it. Fails with IDX_LIMIT if the
 * sum is more than options.max_bytes. */
static enum idx_status count_list_bytes(struct lister *lister, uint64_t added_bytes, struct idx_error *error) {
    uint64_t bytes = atomic_fetch_add(&lister->bytes, added_bytes) + added_bytes;
    if (bytes <= lister->options.max_bytes) return IDX_OK;
    return idxi_fail(error, IDX_LIMIT, lister->index->path,
                     "the documents of %zu fingerprints take more than the %llu bytes allowed: ask for fewer "
                     "fingerprints at a time, or fewer documents of each",
                     lister->count, (unsigned long long)lister->options.max_bytes);
}

/* ---- From fingerprints to values ---- */

/* The search of one task for the documents of its fingerprints, one fingerprint after the other. */
struct value_search {
    struct lister *lister;
    struct task_result *result;
    struct idx_documents *cursor;
    uint64_t fingerprint;
    uint64_t visited_count; /* how many of its documents were found so far, listed or not */
};

/* Counts a document in search->visited_count, and appends its value to the task's result, unless options.max_documents
 * of the fingerprint are listed already. Errors: IDX_OUT_OF_MEMORY. */
static enum idx_status append_value(struct value_search *search, uint64_t value, struct idx_error *error) {
    if (search->visited_count++ >= search->lister->options.max_documents) return IDX_OK;
    IDXI_TRY(reserve_items(search->result, 1, sizeof value, error));
    search->result->values[search->result->count++] = value;
    return IDX_OK;
}

/* Appends the values of the documents of search->fingerprint to the task's result, up to options.max_documents. Sets
 * *document_count to how many documents there are. For text IDs without removals, the document maps know that number.
 * Otherwise all documents are visited to count them. Errors: as idxi_documents_seek, idxi_check_no_segment_holds and
 * idxi_documents_next_value. */
static enum idx_status find_values_of_fingerprint(struct value_search *search, uint64_t *document_count,
                                                  struct idx_error *error) {
    const struct lister *lister = search->lister;
    uint64_t max_count, value;
    bool found = true;
    search->visited_count = 0;
    IDXI_TRY(idxi_documents_seek(search->cursor, search->fingerprint, &max_count, error));
    if (max_count == 0 && !lister->values_only && lister->index->manifest->id_type != IDXF_ID_NONE)
        IDXI_TRY(idxi_check_no_segment_holds(search->cursor, error));
    bool is_exact = lister->index->manifest->id_type == IDXF_ID_TEXT && !idxi_documents_skip_removed(search->cursor);
    uint64_t max_visited =
        is_exact && max_count > lister->options.max_documents ? lister->options.max_documents : UINT64_MAX;
    while (max_count > 0 && search->visited_count < max_visited) {
        IDXI_TRY(idxi_documents_next_value(search->cursor, &value, &found, error));
        if (!found) break;
        IDXI_TRY(append_value(search, value, error));
    }
    *document_count = is_exact ? max_count : search->visited_count;
    return IDX_OK;
}

/* Appends the last `listed_count` values of a result once more, for a fingerprint equal to the one before. Errors:
 * IDX_OUT_OF_MEMORY. */
static enum idx_status repeat_values(struct task_result *result, size_t listed_count, struct idx_error *error) {
    IDXI_TRY(reserve_items(result, listed_count, sizeof *result->values, error));
    if (listed_count > 0)
        memcpy(result->values + result->count, result->values + result->count - listed_count,
               listed_count * sizeof *result->values);
    result->count += listed_count;
    return IDX_OK;
}

/* Finds the values of the fingerprints from number `begin` to before `end` of lister->fingerprints, those of a task.
 * For a fingerprint with place p in the caller's array, sets lists.counts[p] to how many documents it has, and
 * lists.offsets[p + 1] to how many of these are listed. Errors: IDX_LIMIT, IDX_CANCELLED; as
 * find_values_of_fingerprint. */
static enum idx_status find_values_of_range(struct value_search *search, size_t begin, size_t end,
                                            struct idx_error *error) {
    struct lister *lister = search->lister;
    uint64_t document_count = 0, uncounted_bytes = 0;
    size_t listed_count = 0;
    for (size_t i = begin; i < end; i++) {
        size_t first_value = search->result->count, place = (size_t)lister->places[i];
        if (i > begin && lister->fingerprints[i] == search->fingerprint) {
            IDXI_TRY(repeat_values(search->result, listed_count, error));
        } else {
            search->fingerprint = lister->fingerprints[i];
            IDXI_TRY(find_values_of_fingerprint(search, &document_count, error));
            listed_count = search->result->count - first_value;
        }
        lister->lists.counts[place] = (int64_t)document_count;
        lister->lists.offsets[place + 1] = (int64_t)listed_count;
        uncounted_bytes += listed_count * sizeof(uint64_t); /* counted MIN_COUNTED_BYTES at a time, and at the end */
        if (uncounted_bytes < MIN_COUNTED_BYTES && i + 1 < end) continue;
        IDXI_TRY(count_list_bytes(lister, uncounted_bytes, error));
        uncounted_bytes = 0;
    }
    return idxi_progress_add(&lister->progress, end - begin, error);
}

/* Finds the values of a task's fingerprints, with a cursor of its own. This is an idxi_plain_task. */
static enum idx_status find_values_of_task(void *context, size_t task, struct idx_error *error) {
    struct lister *lister = context;
    struct value_search search = {.lister = lister, .result = &lister->task_results[task]};
    size_t begin, end;
    get_task_bounds(task, lister->count, &begin, &end);
    IDXI_TRY(idx_documents_open(&search.cursor, lister->index, error));
    enum idx_status status = find_values_of_range(&search, begin, end, error);
    idx_documents_close(search.cursor);
    return status;
}

/* Turns the lengths of `count` items into offsets. Before the call, offsets[i + 1] is the length of item i; afterwards
 * it is the item's end, and offsets[i] its begin. Returns the sum of the lengths. */
static uint64_t turn_lengths_into_offsets(int64_t *offsets, size_t count) {
    offsets[0] = 0;
    for (size_t i = 0; i < count; i++) offsets[i + 1] += offsets[i];
    return (uint64_t)offsets[count];
}

/* Copies the values of all tasks to lists.numbers, in the caller's order. If that is NULL, because text IDs are to be
 * listed, copies the values to lister->values instead, and to lister->slots where in the lists their IDs belong. */
static void copy_values_to_lists(struct lister *lister) {
    bool has_numbers = lister->lists.numbers != NULL;
    size_t next = 0;
    for (size_t task = 0; task < lister->task_count; task++) {
        const uint64_t *value = lister->task_results[task].values;
        size_t begin, end;
        get_task_bounds(task, lister->count, &begin, &end);
        for (size_t i = begin; i < end; i++) {
            const int64_t *offset = &lister->lists.offsets[lister->places[i]];
            for (int64_t slot = offset[0]; slot < offset[1]; slot++, value++) {
                if (has_numbers) {
                    lister->lists.numbers[slot] = *value;
                } else {
                    lister->values[next] = *value;
                    lister->slots[next++] = (uint64_t)slot;
                }
            }
        }
    }
}

/* ---- From values to text IDs ---- */

/* Appends the text IDs of the documents from number `begin` to before `end` of lister->values to a task's result. For
 * each with slot s in the lists, sets lists.id_offsets[s + 1] to the length of its ID. The ID of a document that is
 * listed several times is read once. Errors: IDX_LIMIT, IDX_CANCELLED; as idxi_documents_get. */
static enum idx_status read_ids_of_range(struct lister *lister, struct idx_documents *cursor,
                                         struct task_result *result, size_t begin, size_t end,
                                         struct idx_error *error) {
    struct idx_document document;
    uint64_t uncounted_bytes = 0;
    size_t length = 0;
    for (size_t i = begin; i < end; i++) {
        bool is_repeated = i > begin && lister->values[i] == lister->values[i - 1];
        if (!is_repeated) {
            IDXI_TRY(idxi_documents_get(cursor, lister->values[i], &document, error));
            length = document.id_length;
        }
        IDXI_TRY(reserve_items(result, length, 1, error));
        const uint8_t *id = is_repeated ? result->bytes + result->count - length : document.id;
        if (length > 0) memcpy(result->bytes + result->count, id, length);
        result->count += length;
        lister->lists.id_offsets[lister->slots[i] + 1] = (int64_t)length;
        uncounted_bytes += length;
        if (uncounted_bytes < MIN_COUNTED_BYTES && i + 1 < end) continue;
        IDXI_TRY(count_list_bytes(lister, uncounted_bytes, error));
        uncounted_bytes = 0;
    }
    return idxi_progress_add(&lister->progress, end - begin, error);
}

/* Reads the text IDs of a task, with a cursor of its own. This is an idxi_plain_task. */
static enum idx_status read_ids_of_task(void *context, size_t task, struct idx_error *error) {
    struct lister *lister = context;
    struct idx_documents *cursor;
    size_t begin, end;
    get_task_bounds(task, (size_t)lister->listed_count, &begin, &end);
    IDXI_TRY(idx_documents_open(&cursor, lister->index, error));
    enum idx_status status = read_ids_of_range(lister, cursor, &lister->task_results[task], begin, end, error);
    idx_documents_close(cursor);
    return status;
}

/* Copies the text IDs of a task to their places in the lists. Adds 0 to the progress, to check for cancelling. This is
 * an idxi_plain_task. */
static enum idx_status copy_ids_of_task(void *context, size_t task, struct idx_error *error) {
    struct lister *lister = context;
    const struct task_result *result = &lister->task_results[task];
    size_t begin, end, result_offset = 0;
    get_task_bounds(task, (size_t)lister->listed_count, &begin, &end);
    for (size_t i = begin; i < end; i++) {
        const int64_t *offset = &lister->lists.id_offsets[lister->slots[i]];
        size_t length = (size_t)(offset[1] - offset[0]);
        if (length > 0) memcpy(lister->lists.ids + offset[0], result->bytes + result_offset, length);
        result_offset += length;
    }
    return idxi_progress_add(&lister->progress, 0, error);
}

/* Sets lists.ids and lists.id_offsets: reads text IDs in the order of document numbers, and copies each to its place.
 * Errors: IDX_LIMIT, IDX_CANCELLED, IDX_OUT_OF_MEMORY; as idx_documents_open and idxi_documents_get. */
static enum idx_status list_text_ids(struct lister *lister, struct idx_error *error) {
    size_t count = (size_t)lister->listed_count;
    lister->values = malloc((count + 1) * sizeof *lister->values);
    lister->slots = malloc((count + 1) * sizeof *lister->slots);
    lister->lists.id_offsets = malloc((count + 1) * sizeof *lister->lists.id_offsets);
    if (lister->values == NULL || lister->slots == NULL || lister->lists.id_offsets == NULL)
        return idxi_fail_memory(error);
    copy_values_to_lists(lister);
    IDXI_TRY(count_list_bytes(lister, sizeof *lister->lists.id_offsets, error));
    IDXI_TRY(make_task_results(lister, lister->listed_count, error));
    /* Sort the document numbers, so that IDs are read in the order of the file. */
    uint64_t *spare = malloc((2 * count + 1) * sizeof *spare);
    if (spare == NULL) return idxi_fail_memory(error);
    idxi_sort_pairs(lister->values, lister->slots, count, false, spare, spare + count);
    free(spare);
    IDXI_TRY(idxi_progress_begin(&lister->progress, IDX_PHASE_DOCUMENTS, count, error));
    unsigned threads = lister->options.threads;
    IDXI_TRY(idxi_run_parallel(lister->task_count, threads, read_ids_of_task, lister, &lister->progress, error));
    uint64_t bytes = turn_lengths_into_offsets(lister->lists.id_offsets, count);
    lister->lists.ids = malloc(bytes + 1);
    if (lister->lists.ids == NULL) return idxi_fail_memory(error);
    return idxi_run_parallel(lister->task_count, threads, copy_ids_of_task, lister, &lister->progress, error);
}

/* ---- The whole ---- */

/* Sets lister->fingerprints to a sorted copy of the caller's, and lister->places to their places there. Errors:
 * IDX_OUT_OF_MEMORY. */
static enum idx_status sort_fingerprints(struct lister *lister, const uint64_t *fingerprints, struct idx_error *error) {
    size_t count = lister->count;
    lister->fingerprints = malloc((count + 1) * sizeof *lister->fingerprints);
    lister->places = malloc((count + 1) * sizeof *lister->places);
    uint64_t *spare = malloc((2 * count + 1) * sizeof *spare);
    bool has_memory = lister->fingerprints != NULL && lister->places != NULL && spare != NULL;
    for (size_t i = 0; i < count && has_memory; i++) {
        lister->fingerprints[i] = fingerprints[i];
        lister->places[i] = i;
    }
    if (has_memory) idxi_sort_pairs(lister->fingerprints, lister->places, count, false, spare, spare + count);
    free(spare);
    return has_memory ? IDX_OK : idxi_fail_memory(error);
}

/* Sets lister->lists to the lists for the caller's `fingerprints`. make_lists frees what this allocates, even after an
 * error. Errors: as idx_list_documents. */
static enum idx_status list_documents(struct lister *lister, const uint64_t *fingerprints, struct idx_error *error) {
    size_t count = lister->count;
    lister->lists.offsets = malloc((count + 1) * sizeof *lister->lists.offsets);
    lister->lists.counts = malloc((count + 1) * sizeof *lister->lists.counts);
    if (lister->lists.offsets == NULL || lister->lists.counts == NULL) return idxi_fail_memory(error);
    IDXI_TRY(idxi_progress_begin(&lister->progress, IDX_PHASE_DOCUMENTS, count, error));
    IDXI_TRY(sort_fingerprints(lister, fingerprints, error));
    IDXI_TRY(make_task_results(lister, count, error));
    IDXI_TRY(count_list_bytes(lister, (2 * (uint64_t)count + 1) * sizeof(int64_t), error));
    IDXI_TRY(idxi_run_parallel(lister->task_count, lister->options.threads, find_values_of_task, lister,
                               &lister->progress, error));
    lister->listed_count = turn_lengths_into_offsets(lister->lists.offsets, count);
    if (lister->index->manifest->id_type == IDXF_ID_TEXT && !lister->values_only) return list_text_ids(lister, error);
    if (lister->index->manifest->id_type == IDXF_ID_NONE) return IDX_OK;
    lister->lists.numbers = malloc((lister->listed_count + 1) * sizeof *lister->lists.numbers);
    if (lister->lists.numbers == NULL) return idxi_fail_memory(error);
    copy_values_to_lists(lister);
    return IDX_OK;
}

/* Sets *lists to the documents of `count` fingerprints, or with `values_only` to their values. After an error, *lists
 * stays as it was. Errors: as idx_list_documents. */
static enum idx_status make_lists(const struct idx_index *index, const uint64_t *fingerprints, size_t count,
                                  bool values_only, const struct idx_document_lists_options *options,
                                  struct idx_document_lists *lists, struct idx_error *error) {
    struct lister lister = {
        .index = index, .options = IDX_DOCUMENT_LISTS_OPTIONS_INIT, .values_only = values_only, .count = count};
    IDXI_TRY(idxi_copy_options(&lister.options, options, error));
    IDXI_TRY(idxi_check_threads(lister.options.threads, error));
    IDXI_TRY(idxi_check_queries(index, fingerprints, count, error));
    idxi_progress_init(&lister.progress, lister.options.progress, lister.options.context);
    enum idx_status status = list_documents(&lister, fingerprints, error);
    free_task_results(&lister);
    free(lister.fingerprints);
    free(lister.places);
    free(lister.values);
    free(lister.slots);
    if (status == IDX_OK)
        *lists = lister.lists;
    else
        idx_document_lists_close(&lister.lists);
    return status;
}

enum idx_status idx_list_documents(const struct idx_index *index, const uint64_t *fingerprints, size_t count,
                                   const struct idx_document_lists_options *options, struct idx_document_lists *lists,
                                   struct idx_error *error) {
    return make_lists(index, fingerprints, count, false, options, lists, error);
}

enum idx_status idxi_list_document_values(const struct idx_index *index, const uint64_t *fingerprints, size_t count,
                                          const struct idx_document_lists_options *options,
                                          struct idx_document_lists *lists, struct idx_error *error) {
    return make_lists(index, fingerprints, count, true, options, lists, error);
}

void idx_document_lists_close(struct idx_document_lists *lists) {
    if (lists == NULL) return;
    free(lists->offsets);
    free(lists->counts);
    free(lists->numbers);
    free(lists->id_offsets);
    free(lists->ids);
    memset(lists, 0, sizeof *lists);
}
