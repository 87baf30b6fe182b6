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

/* What one task found, one after the other: values of documents (numbers, or integer IDs), or the bytes of text IDs. */
struct share {
    union {
        uint64_t *values;
        uint8_t *bytes;
    };
    size_t count, capacity; /* of values, or bytes */
};

/* A call that lists the documents of many fingerprints. */
struct many {
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

static void free_shares(struct many *many) {
    for (size_t i = 0; i < many->share_count; i++) free(many->shares[i].bytes);
    free(many->shares);
    many->shares = NULL;
    many->share_count = 0;
}

/* Makes empty shares for the tasks of so many items, in place of the shares before. */
static enum idx_status make_shares(struct many *many, uint64_t items, struct idx_error *error) {
    size_t count = items / ITEMS_OF_TASK + (items % ITEMS_OF_TASK > 0);
    free_shares(many);
    many->shares = calloc(count + 1, sizeof *many->shares);
    if (many->shares == NULL) return idxi_fail_memory(error);
    many->share_count = count;
    return IDX_OK;
}

/* Sets which of `items` a task has: from `begin` to before `end`. */
static void get_bounds(size_t task, size_t items, size_t *begin, size_t *end) {
    *begin = task * ITEMS_OF_TASK;
    *end = items - *begin < ITEMS_OF_TASK ? items : *begin + ITEMS_OF_TASK;
}

/* Makes room for `more` items of `width` bytes after those of a share. */
static enum idx_status reserve_items(struct share *share, size_t more, size_t width, struct idx_error *error) {
    if (share->capacity - share->count >= more) return IDX_OK;
    uint8_t *grown = idxi_array_grow(share->bytes, &share->capacity, share->count + more, width);
    if (grown == NULL) return idxi_fail_memory(error);
    share->bytes = grown;
    return IDX_OK;
}

/* Adds to the bytes that the lists take. Fails if these are more than the caller allows. */
static enum idx_status count_bytes(struct many *many, uint64_t more, struct idx_error *error) {
    uint64_t bytes = atomic_fetch_add(&many->bytes, more) + more;
    if (bytes <= many->options.max_bytes) return IDX_OK;
    return idxi_fail(error, IDX_LIMIT, many->index->path,
                     "the documents of %zu fingerprints take more than the %llu bytes allowed: ask for fewer "
                     "fingerprints at a time, or fewer documents of each",
                     many->count, (unsigned long long)many->options.max_bytes);
}

/* ---- From fingerprints to values ---- */

/* The search of one task for the documents of its fingerprints, one fingerprint after the other. */
struct finding {
    struct many *many;
    struct share *share;
    struct idx_documents *cursor;
    uint64_t fingerprint;
    uint64_t visited; /* how many of its documents were found so far, listed or not */
};

/* Appends the value of a document to the share, unless options.max_documents are listed already. Counts it in any
 * case. */
static enum idx_status append_value(struct finding *finding, uint64_t value, struct idx_error *error) {
    if (finding->visited++ >= finding->many->options.max_documents) return IDX_OK;
    IDXI_TRY(reserve_items(finding->share, 1, sizeof value, error));
    finding->share->values[finding->share->count++] = value;
    return IDX_OK;
}

/* Finds the values of a fingerprint's documents, of which as many as allowed are listed. Sets *total to how many
 * documents there are. The map tells that number only for text IDs without removals; otherwise all are visited to count
 * them. */
static enum idx_status find_values_of_one(struct finding *finding, uint64_t *total, struct idx_error *error) {
    const struct many *many = finding->many;
    uint64_t most, value;
    bool found = true;
    finding->visited = 0;
    IDXI_TRY(idxi_documents_seek(finding->cursor, finding->fingerprint, &most, error));
    if (most == 0 && !many->values_only && many->index->manifest->id_type != IDXF_ID_NONE)
        IDXI_TRY(idxi_documents_check_none(finding->cursor, error));
    bool exact = many->index->manifest->id_type == IDXF_ID_TEXT && !idxi_documents_are_filtered(finding->cursor);
    uint64_t wanted = exact && most > many->options.max_documents ? many->options.max_documents : UINT64_MAX;
    while (most > 0 && finding->visited < wanted) {
        IDXI_TRY(idxi_documents_next_value(finding->cursor, &value, &found, error));
        if (!found) break;
        IDXI_TRY(append_value(finding, value, error));
    }
    *total = exact ? most : finding->visited;
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

/* Finds the values of a task's fingerprints. Sets how many documents each has, and in `offsets` how many are listed. */
static enum idx_status find_values_of_some(struct finding *finding, size_t begin, size_t end, struct idx_error *error) {
    struct many *many = finding->many;
    uint64_t total = 0, bytes = 0;
    size_t listed = 0;
    for (size_t i = begin; i < end; i++) {
        size_t before = finding->share->count, place = (size_t)many->places[i];
        if (i > begin && many->fingerprints[i] == finding->fingerprint) {
            IDXI_TRY(repeat_values(finding->share, listed, error));
        } else {
            finding->fingerprint = many->fingerprints[i];
            IDXI_TRY(find_values_of_one(finding, &total, error));
            listed = finding->share->count - before;
        }
        many->lists.counts[place] = (int64_t)total;
        many->lists.offsets[place + 1] = (int64_t)listed;
        bytes += listed * sizeof(uint64_t);
        if (bytes < COUNTED_TOGETHER && i + 1 < end) continue;
        IDXI_TRY(count_bytes(many, bytes, error));
        bytes = 0;
    }
    return idxi_progress_add(&many->progress, end - begin, error);
}

/* Finds the values of a task's fingerprints. This is an idxi_task. */
static enum idx_status find_values(void *context, size_t task, struct idx_error *error) {
    struct many *many = context;
    struct finding finding = {many, &many->shares[task], NULL, 0, 0};
    size_t begin, end;
    get_bounds(task, many->count, &begin, &end);
    IDXI_TRY(idx_documents_open(&finding.cursor, many->index, error));
    enum idx_status status = find_values_of_some(&finding, begin, end, error);
    idx_documents_close(finding.cursor);
    return status;
}

/* Turns lengths into offsets: offsets[i + 1] is the length of item i before, and its end afterwards. Returns their sum.
 */
static uint64_t sum_up(int64_t *offsets, size_t count) {
    offsets[0] = 0;
    for (size_t i = 0; i < count; i++) offsets[i + 1] += offsets[i];
    return (uint64_t)offsets[count];
}

/* Puts integer IDs in the caller's order. For text IDs, lists the document numbers with the places of their IDs. */
static void place_values(struct many *many) {
    bool integers = many->lists.numbers != NULL;
    size_t at = 0;
    for (size_t task = 0; task < many->share_count; task++) {
        const uint64_t *value = many->shares[task].values;
        size_t begin, end;
        get_bounds(task, many->count, &begin, &end);
        for (size_t i = begin; i < end; i++) {
            const int64_t *offset = &many->lists.offsets[many->places[i]];
            for (int64_t slot = offset[0]; slot < offset[1]; slot++, value++) {
                if (integers) {
                    many->lists.numbers[slot] = *value;
                } else {
                    many->values[at] = *value;
                    many->slots[at++] = (uint64_t)slot;
                }
            }
        }
    }
}

/* ---- From values to text IDs ---- */

/* Reads the text IDs of the values `begin` to before `end` into a share, and sets their lengths. A document that is
 * listed several times is read once. */
static enum idx_status read_texts_of_some(struct many *many, struct idx_documents *cursor, struct share *share,
                                          size_t begin, size_t end, struct idx_error *error) {
    struct idx_document document;
    uint64_t bytes = 0;
    size_t length = 0;
    for (size_t i = begin; i < end; i++) {
        const uint8_t *id;
        bool repeated = i > begin && many->values[i] == many->values[i - 1];
        if (!repeated) {
            IDXI_TRY(idxi_documents_get(cursor, many->values[i], &document, error));
            length = document.id_length;
        }
        IDXI_TRY(reserve_items(share, length, 1, error));
        id = repeated ? share->bytes + share->count - length : document.id;
        if (length > 0) memcpy(share->bytes + share->count, id, length);
        share->count += length;
        many->lists.id_offsets[many->slots[i] + 1] = (int64_t)length;
        bytes += length;
        if (bytes < COUNTED_TOGETHER && i + 1 < end) continue;
        IDXI_TRY(count_bytes(many, bytes, error));
        bytes = 0;
    }
    return idxi_progress_add(&many->progress, end - begin, error);
}

/* Reads the text IDs of a task. This is an idxi_task. */
static enum idx_status read_texts(void *context, size_t task, struct idx_error *error) {
    struct many *many = context;
    struct idx_documents *cursor;
    size_t begin, end;
    get_bounds(task, (size_t)many->listed, &begin, &end);
    IDXI_TRY(idx_documents_open(&cursor, many->index, error));
    enum idx_status status = read_texts_of_some(many, cursor, &many->shares[task], begin, end, error);
    idx_documents_close(cursor);
    return status;
}

/* Copies the text IDs of a task to their places in the lists. This is an idxi_task. */
static enum idx_status place_texts(void *context, size_t task, struct idx_error *error) {
    struct many *many = context;
    const struct share *share = &many->shares[task];
    size_t begin, end, at = 0;
    get_bounds(task, (size_t)many->listed, &begin, &end);
    for (size_t i = begin; i < end; i++) {
        const int64_t *offset = &many->lists.id_offsets[many->slots[i]];
        size_t length = (size_t)(offset[1] - offset[0]);
        if (length > 0) memcpy(many->lists.ids + offset[0], share->bytes + at, length);
        at += length;
    }
    return idxi_progress_add(&many->progress, 0, error);
}

/* Sorts the document numbers, so that IDs are read in the order of the file. */
static enum idx_status sort_values(struct many *many, struct idx_error *error) {
    size_t count = (size_t)many->listed;
    uint64_t *spare = malloc((2 * count + 1) * sizeof *spare);
    if (spare == NULL) return idxi_fail_memory(error);
    idxi_sort_pairs(many->values, many->slots, count, false, spare, spare + count);
    free(spare);
    return IDX_OK;
}

/* Lists text IDs: reads them in the order of document numbers, and copies each to its place. */
static enum idx_status list_texts(struct many *many, struct idx_error *error) {
    size_t count = (size_t)many->listed;
    many->values = malloc((count + 1) * sizeof *many->values);
    many->slots = malloc((count + 1) * sizeof *many->slots);
    many->lists.id_offsets = malloc((count + 1) * sizeof *many->lists.id_offsets);
    if (many->values == NULL || many->slots == NULL || many->lists.id_offsets == NULL) return idxi_fail_memory(error);
    place_values(many);
    IDXI_TRY(count_bytes(many, sizeof *many->lists.id_offsets, error));
    IDXI_TRY(make_shares(many, many->listed, error));
    IDXI_TRY(sort_values(many, error));
    IDXI_TRY(idxi_progress_begin(&many->progress, IDX_PHASE_DOCUMENTS, count, error));
    unsigned threads = many->options.threads;
    IDXI_TRY(idxi_parallel(many->share_count, threads, read_texts, many, &many->progress, error));
    uint64_t bytes = sum_up(many->lists.id_offsets, count);
    many->lists.ids = malloc(bytes + 1);
    if (many->lists.ids == NULL) return idxi_fail_memory(error);
    return idxi_parallel(many->share_count, threads, place_texts, many, &many->progress, error);
}

/* Lists integer IDs, or with values_only, the values of documents. */
static enum idx_status list_integers(struct many *many, struct idx_error *error) {
    many->lists.numbers = malloc((many->listed + 1) * sizeof *many->lists.numbers);
    if (many->lists.numbers == NULL) return idxi_fail_memory(error);
    place_values(many);
    return IDX_OK;
}

/* ---- The whole ---- */

/* Makes the sorted copy of the fingerprints, with their places in the caller's array. */
static enum idx_status sort_fingerprints(struct many *many, const uint64_t *fingerprints, struct idx_error *error) {
    size_t count = many->count;
    many->fingerprints = malloc((count + 1) * sizeof *many->fingerprints);
    many->places = malloc((count + 1) * sizeof *many->places);
    uint64_t *spare = malloc((2 * count + 1) * sizeof *spare);
    bool ok = many->fingerprints != NULL && many->places != NULL && spare != NULL;
    for (size_t i = 0; i < count && ok; i++) {
        many->fingerprints[i] = fingerprints[i];
        many->places[i] = i;
    }
    if (ok) idxi_sort_pairs(many->fingerprints, many->places, count, false, spare, spare + count);
    free(spare);
    return ok ? IDX_OK : idxi_fail_memory(error);
}

/* Fills many->lists. What it allocates is freed by make_lists, also after an error. */
static enum idx_status list_documents(struct many *many, const uint64_t *fingerprints, struct idx_error *error) {
    size_t count = many->count;
    many->lists.offsets = malloc((count + 1) * sizeof *many->lists.offsets);
    many->lists.counts = malloc((count + 1) * sizeof *many->lists.counts);
    if (many->lists.offsets == NULL || many->lists.counts == NULL) return idxi_fail_memory(error);
    IDXI_TRY(idxi_progress_begin(&many->progress, IDX_PHASE_DOCUMENTS, count, error));
    IDXI_TRY(sort_fingerprints(many, fingerprints, error));
    IDXI_TRY(make_shares(many, count, error));
    IDXI_TRY(count_bytes(many, (2 * (uint64_t)count + 1) * sizeof(int64_t), error));
    IDXI_TRY(idxi_parallel(many->share_count, many->options.threads, find_values, many, &many->progress, error));
    many->listed = sum_up(many->lists.offsets, count);
    if (many->index->manifest->id_type == IDXF_ID_TEXT && !many->values_only) return list_texts(many, error);
    return many->index->manifest->id_type == IDXF_ID_NONE ? IDX_OK : list_integers(many, error);
}

/* Lists the documents of fingerprints, or with `values_only` their values. After an error, *lists stays as it was. */
static enum idx_status make_lists(const struct idx_index *index, const uint64_t *fingerprints, size_t count,
                                  bool values_only, const struct idx_document_lists_options *options,
                                  struct idx_document_lists *lists, struct idx_error *error) {
    struct many many = {
        .index = index, .options = IDX_DOCUMENT_LISTS_OPTIONS_INIT, .values_only = values_only, .count = count};
    IDXI_TRY(idxi_copy_options(&many.options, options, error));
    IDXI_TRY(idxi_check_threads(many.options.threads, error));
    IDXI_TRY(idxi_check_queries(index, fingerprints, count, error));
    idxi_progress_init(&many.progress, many.options.progress, many.options.context);
    enum idx_status status = list_documents(&many, fingerprints, error);
    free_shares(&many);
    free(many.fingerprints);
    free(many.places);
    free(many.values);
    free(many.slots);
    if (status == IDX_OK) {
        *lists = many.lists;
    } else {
        idx_document_lists_close(&many.lists);
    }
    return status;
}

enum idx_status idx_list_documents(const struct idx_index *index, const uint64_t *fingerprints, size_t count,
                                   const struct idx_document_lists_options *options, struct idx_document_lists *lists,
                                   struct idx_error *error) {
    return make_lists(index, fingerprints, count, false, options, lists, error);
}

enum idx_status idxi_value_lists_make(const struct idx_index *index, const uint64_t *fingerprints, size_t count,
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
