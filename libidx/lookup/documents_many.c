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
    ITEMS_OF_TASK = 4096,   /* how many fingerprints, or documents, a task has */
    COUNTED_TOGETHER = 4096 /* bytes of lists after which a task counts them, since threads contend for the count */
};

/* What one task has found, in its order: values of documents (numbers, or integer IDs), or the bytes of text IDs. */
struct share {
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
    uint64_t listed;                 /* how many documents are listed */
    struct share *shares;
    size_t share_count;
    atomic_uint_fast64_t bytes; /* bytes that the lists take so far */
    struct idx_document_lists lists;
    struct idxi_progress progress;
};

/* ---- Room ---- */

/* Frees all shares; there are none afterwards. */
static void free_shares(struct lister *lister) {
    for (size_t i = 0; i < lister->share_count; i++) free(lister->shares[i].bytes);
    free(lister->shares);
    lister->shares = NULL;
    lister->share_count = 0;
}

/* Makes empty shares, one for each task of `items` fingerprints or documents, in place of the former shares. */
static enum idx_status make_shares(struct lister *lister, uint64_t items, struct idx_error *error) {
    size_t count = items / ITEMS_OF_TASK + (items % ITEMS_OF_TASK > 0);
    free_shares(lister);
    lister->shares = calloc(count + 1, sizeof *lister->shares);
    if (lister->shares == NULL) return idxi_fail_memory(error);
    lister->share_count = count;
    return IDX_OK;
}

/* Sets which of `items` items a task has: those from *begin to before *end. */
static void get_task_bounds(size_t task, size_t items, size_t *begin, size_t *end) {
    *begin = task * ITEMS_OF_TASK;
    *end = items - *begin < ITEMS_OF_TASK ? items : *begin + ITEMS_OF_TASK;
}

/* Makes room for `added` values, or bytes, of `width` bytes each, after those of a share. */
static enum idx_status reserve_items(struct share *share, size_t added, size_t width, struct idx_error *error) {
    if (share->capacity - share->count >= added) return IDX_OK;
    uint8_t *grown = idxi_array_grow(share->bytes, &share->capacity, share->count + added, width);
    if (grown == NULL) return idxi_fail_memory(error);
    share->bytes = grown;
    return IDX_OK;
}

/* Adds to the bytes that the lists take. Fails with IDX_LIMIT if these are more than the caller allows. */
static enum idx_status count_bytes(struct lister *lister, uint64_t added, struct idx_error *error) {
    uint64_t bytes = atomic_fetch_add(&lister->bytes, added) + added;
    if (bytes <= lister->options.max_bytes) return IDX_OK;
    return idxi_fail(error, IDX_LIMIT, lister->index->path,
                     "the documents of %zu fingerprints take more than the %llu bytes allowed: ask for fewer "
                     "fingerprints at a time, or fewer documents of each",
                     lister->count, (unsigned long long)lister->options.max_bytes);
}

/* ---- From fingerprints to values ---- */

/* The search of one task for the documents of its fingerprints, one fingerprint after the other. */
struct finding {
    struct lister *lister;
    struct share *share;
    struct idx_documents *cursor;
    uint64_t fingerprint;
    uint64_t visited; /* how many of its documents were found so far, listed or not */
};

/* Appends the value of a document to the share, unless options.max_documents are listed already. Counts it in any
 * case. */
static enum idx_status append_value(struct finding *finding, uint64_t value, struct idx_error *error) {
    if (finding->visited++ >= finding->lister->options.max_documents) return IDX_OK;
    IDXI_TRY(reserve_items(finding->share, 1, sizeof value, error));
    finding->share->values[finding->share->count++] = value;
    return IDX_OK;
}

/* Appends the values of a fingerprint's documents to the share, as many as allowed. Sets *total to how many documents
 * there are. The map gives that number only for text IDs without removals; otherwise all are visited to count them. */
static enum idx_status find_values_of_fingerprint(struct finding *finding, uint64_t *total, struct idx_error *error) {
    const struct lister *lister = finding->lister;
    uint64_t at_most, value;
    bool found = true;
    finding->visited = 0;
    IDXI_TRY(idxi_documents_seek(finding->cursor, finding->fingerprint, &at_most, error));
    if (at_most == 0 && !lister->values_only && lister->index->manifest->id_type != IDXF_ID_NONE)
        IDXI_TRY(idxi_documents_check_none(finding->cursor, error));
    bool exact = lister->index->manifest->id_type == IDXF_ID_TEXT && !idxi_documents_are_filtered(finding->cursor);
    uint64_t wanted = exact && at_most > lister->options.max_documents ? lister->options.max_documents : UINT64_MAX;
    while (at_most > 0 && finding->visited < wanted) {
        IDXI_TRY(idxi_documents_next_value(finding->cursor, &value, &found, error));
        if (!found) break;
        IDXI_TRY(append_value(finding, value, error));
    }
    *total = exact ? at_most : finding->visited;
    return IDX_OK;
}

/* Appends the last `listed` values once more, for a fingerprint equal to the one before. */
static enum idx_status repeat_values(struct share *share, size_t listed, struct idx_error *error) {
    IDXI_TRY(reserve_items(share, listed, sizeof *share->values, error));
    if (listed > 0)
        memcpy(share->values + share->count, share->values + share->count - listed, listed * sizeof *share->values);
    share->count += listed;
    return IDX_OK;
}

/* Finds the values of the fingerprints `begin` to before `end`, those of a task. Sets lists.counts to how many
 * documents each has, and lists.offsets to how many of them are listed. */
static enum idx_status find_values_of_range(struct finding *finding, size_t begin, size_t end,
                                            struct idx_error *error) {
    struct lister *lister = finding->lister;
    uint64_t total = 0, bytes = 0;
    size_t listed = 0;
    for (size_t i = begin; i < end; i++) {
        size_t first_value = finding->share->count, place = (size_t)lister->places[i];
        if (i > begin && lister->fingerprints[i] == finding->fingerprint) {
            IDXI_TRY(repeat_values(finding->share, listed, error));
        } else {
            finding->fingerprint = lister->fingerprints[i];
            IDXI_TRY(find_values_of_fingerprint(finding, &total, error));
            listed = finding->share->count - first_value;
        }
        lister->lists.counts[place] = (int64_t)total;
        lister->lists.offsets[place + 1] = (int64_t)listed;
        bytes += listed * sizeof(uint64_t);
        if (bytes < COUNTED_TOGETHER && i + 1 < end) continue;
        IDXI_TRY(count_bytes(lister, bytes, error));
        bytes = 0;
    }
    return idxi_progress_add(&lister->progress, end - begin, error);
}

/* Finds the values of a task's fingerprints, with a cursor of its own. This is an idxi_task. */
static enum idx_status find_values(void *context, size_t task, struct idx_error *error) {
    struct lister *lister = context;
    struct finding finding = {lister, &lister->shares[task], NULL, 0, 0};
    size_t begin, end;
    get_task_bounds(task, lister->count, &begin, &end);
    IDXI_TRY(idx_documents_open(&finding.cursor, lister->index, error));
    enum idx_status status = find_values_of_range(&finding, begin, end, error);
    idx_documents_close(finding.cursor);
    return status;
}

/* Turns lengths into offsets: offsets[i + 1] is the length of item i before the call, and its end afterwards. Returns
 * the sum of the lengths. */
static uint64_t turn_lengths_into_offsets(int64_t *offsets, size_t count) {
    offsets[0] = 0;
    for (size_t i = 0; i < count; i++) offsets[i + 1] += offsets[i];
    return (uint64_t)offsets[count];
}

/* Copies the values of all shares to lists.numbers, in the caller's order. For text IDs, which that does not have,
 * lists the values with the places of their IDs instead. */
static void place_values(struct lister *lister) {
    bool integers = lister->lists.numbers != NULL;
    size_t next = 0;
    for (size_t task = 0; task < lister->share_count; task++) {
        const uint64_t *value = lister->shares[task].values;
        size_t begin, end;
        get_task_bounds(task, lister->count, &begin, &end);
        for (size_t i = begin; i < end; i++) {
            const int64_t *offset = &lister->lists.offsets[lister->places[i]];
            for (int64_t slot = offset[0]; slot < offset[1]; slot++, value++) {
                if (integers) {
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

/* Reads the text IDs of the values `begin` to before `end` into a share, and sets lists.id_offsets to their lengths.
 * The ID of a document that is listed several times is read once. */
static enum idx_status read_ids_of_range(struct lister *lister, struct idx_documents *cursor, struct share *share,
                                         size_t begin, size_t end, struct idx_error *error) {
    struct idx_document document;
    uint64_t bytes = 0;
    size_t length = 0;
    for (size_t i = begin; i < end; i++) {
        const uint8_t *id;
        bool repeated = i > begin && lister->values[i] == lister->values[i - 1];
        if (!repeated) {
            IDXI_TRY(idxi_documents_get(cursor, lister->values[i], &document, error));
            length = document.id_length;
        }
        IDXI_TRY(reserve_items(share, length, 1, error));
        id = repeated ? share->bytes + share->count - length : document.id;
        if (length > 0) memcpy(share->bytes + share->count, id, length);
        share->count += length;
        lister->lists.id_offsets[lister->slots[i] + 1] = (int64_t)length;
        bytes += length;
        if (bytes < COUNTED_TOGETHER && i + 1 < end) continue;
        IDXI_TRY(count_bytes(lister, bytes, error));
        bytes = 0;
    }
    return idxi_progress_add(&lister->progress, end - begin, error);
}

/* Reads the text IDs of a task, with a cursor of its own. This is an idxi_task. */
static enum idx_status read_ids(void *context, size_t task, struct idx_error *error) {
    struct lister *lister = context;
    struct idx_documents *cursor;
    size_t begin, end;
    get_task_bounds(task, (size_t)lister->listed, &begin, &end);
    IDXI_TRY(idx_documents_open(&cursor, lister->index, error));
    enum idx_status status = read_ids_of_range(lister, cursor, &lister->shares[task], begin, end, error);
    idx_documents_close(cursor);
    return status;
}

/* Copies the text IDs of a task to their places in the lists. This is an idxi_task. */
static enum idx_status place_ids(void *context, size_t task, struct idx_error *error) {
    struct lister *lister = context;
    const struct share *share = &lister->shares[task];
    size_t begin, end, share_offset = 0;
    get_task_bounds(task, (size_t)lister->listed, &begin, &end);
    for (size_t i = begin; i < end; i++) {
        const int64_t *offset = &lister->lists.id_offsets[lister->slots[i]];
        size_t length = (size_t)(offset[1] - offset[0]);
        if (length > 0) memcpy(lister->lists.ids + offset[0], share->bytes + share_offset, length);
        share_offset += length;
    }
    return idxi_progress_add(&lister->progress, 0, error);
}

/* Sorts the document numbers, so that IDs are read in the order of the file. */
static enum idx_status sort_values(struct lister *lister, struct idx_error *error) {
    size_t count = (size_t)lister->listed;
    uint64_t *spare = malloc((2 * count + 1) * sizeof *spare);
    if (spare == NULL) return idxi_fail_memory(error);
    idxi_sort_pairs(lister->values, lister->slots, count, false, spare, spare + count);
    free(spare);
    return IDX_OK;
}

/* Lists text IDs: reads them in the order of document numbers, and copies each to its place. */
static enum idx_status list_text_ids(struct lister *lister, struct idx_error *error) {
    size_t count = (size_t)lister->listed;
    lister->values = malloc((count + 1) * sizeof *lister->values);
    lister->slots = malloc((count + 1) * sizeof *lister->slots);
    lister->lists.id_offsets = malloc((count + 1) * sizeof *lister->lists.id_offsets);
    if (lister->values == NULL || lister->slots == NULL || lister->lists.id_offsets == NULL)
        return idxi_fail_memory(error);
    place_values(lister);
    IDXI_TRY(count_bytes(lister, sizeof *lister->lists.id_offsets, error));
    IDXI_TRY(make_shares(lister, lister->listed, error));
    IDXI_TRY(sort_values(lister, error));
    IDXI_TRY(idxi_progress_begin(&lister->progress, IDX_PHASE_DOCUMENTS, count, error));
    unsigned threads = lister->options.threads;
    IDXI_TRY(idxi_run_parallel(lister->share_count, threads, read_ids, lister, &lister->progress, error));
    uint64_t bytes = turn_lengths_into_offsets(lister->lists.id_offsets, count);
    lister->lists.ids = malloc(bytes + 1);
    if (lister->lists.ids == NULL) return idxi_fail_memory(error);
    return idxi_run_parallel(lister->share_count, threads, place_ids, lister, &lister->progress, error);
}

/* Lists integer IDs, or with values_only, the values of documents. */
static enum idx_status list_values(struct lister *lister, struct idx_error *error) {
    lister->lists.numbers = malloc((lister->listed + 1) * sizeof *lister->lists.numbers);
    if (lister->lists.numbers == NULL) return idxi_fail_memory(error);
    place_values(lister);
    return IDX_OK;
}

/* ---- The whole ---- */

/* Makes the sorted copy of the fingerprints, with their places in the caller's array. */
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

/* Fills lister->lists. What it allocates is freed by make_lists, also after an error. */
static enum idx_status list_documents(struct lister *lister, const uint64_t *fingerprints, struct idx_error *error) {
    size_t count = lister->count;
    lister->lists.offsets = malloc((count + 1) * sizeof *lister->lists.offsets);
    lister->lists.counts = malloc((count + 1) * sizeof *lister->lists.counts);
    if (lister->lists.offsets == NULL || lister->lists.counts == NULL) return idxi_fail_memory(error);
    IDXI_TRY(idxi_progress_begin(&lister->progress, IDX_PHASE_DOCUMENTS, count, error));
    IDXI_TRY(sort_fingerprints(lister, fingerprints, error));
    IDXI_TRY(make_shares(lister, count, error));
    IDXI_TRY(count_bytes(lister, (2 * (uint64_t)count + 1) * sizeof(int64_t), error));
    IDXI_TRY(
        idxi_run_parallel(lister->share_count, lister->options.threads, find_values, lister, &lister->progress, error));
    lister->listed = turn_lengths_into_offsets(lister->lists.offsets, count);
    if (lister->index->manifest->id_type == IDXF_ID_TEXT && !lister->values_only) return list_text_ids(lister, error);
    return lister->index->manifest->id_type == IDXF_ID_NONE ? IDX_OK : list_values(lister, error);
}

/* Sets *lists to the documents of fingerprints, or with `values_only` to their values. After an error, *lists stays as
 * it was. */
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
    free_shares(&lister);
    free(lister.fingerprints);
    free(lister.places);
    free(lister.values);
    free(lister.slots);
    if (status == IDX_OK) {
        *lists = lister.lists;
    } else {
        idx_document_lists_close(&lister.lists);
    }
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
