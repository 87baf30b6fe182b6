/* resembling.c: the texts whose sets resemble given ones, from an index with sets: the texts that share a value with a
 * set are candidates, and their own sets decide. */
#include "libidx/lookup/resembling.h"

#include <stdlib.h>
#include <string.h>

#include "libidx/lookup/documents_many.h"
#include "libidx/view/documents.h"
#include "libidx/view/texts.h"

/* ---- Options ---- */

/* The greatest probability that a set which reaches the threshold is missed, because it shares none of the values that
 * are looked up. */
#define MAX_MISSED 1e-5

unsigned idx_sketch_values(int64_t threshold) {
    /* The probabilities that two sets at the threshold do not share one value, and none of value_count values. */
    double miss_chance = 1 - (double)threshold / (double)IDX_THRESHOLD_ONE, missed_chance = 1;
    unsigned value_count = 0;
    for (; missed_chance > MAX_MISSED && value_count <= IDX_MAX_SKETCH; value_count++) missed_chance *= miss_chance;
    return value_count;
}

unsigned idxi_count_values_to_look_up(const struct idx_index *index, int64_t threshold) {
    unsigned enough_values = idx_sketch_values(threshold), sketch = index->manifest->sketch;
    return enough_values < sketch ? enough_values : sketch;
}

enum idx_status idxi_resembling_copy_options(struct idx_resembling_options *copy,
                                             const struct idx_resembling_options *options, struct idx_error *error) {
    *copy = (struct idx_resembling_options)IDX_RESEMBLING_OPTIONS_INIT;
    IDXI_TRY(idxi_copy_options(copy, options, error));
    if (copy->threshold < 1 || copy->threshold > IDX_THRESHOLD_ONE)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL, "a resemblance of %lld is not from 1 to %lld",
                         (long long)copy->threshold, (long long)IDX_THRESHOLD_ONE);
    if (copy->max_candidates == 0)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL, "max_candidates = 0 would find no candidates");
    return idxi_check_threads(copy->threads, error);
}

/* ---- Comparing ---- */

/* How many steps are made between two checks of whether the sets can still reach the threshold. */
enum { STEPS_AT_ONCE = 64 };

void idxi_compare_sets(const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count, int64_t threshold,
                       uint32_t *shared, uint32_t *total) {
    const uint64_t one = IDX_THRESHOLD_ONE, wanted = (uint64_t)threshold;
    /* shared / (a_count + b_count - shared) >= wanted / one, solved for `shared` and rounded up */
    const size_t needed = (size_t)((wanted * (a_count + b_count) + one + wanted - 1) / (one + wanted));
    size_t i = 0, j = 0, in_both = 0;
    while (i < a_count && j < b_count && a_count - i + in_both >= needed && b_count - j + in_both >= needed) {
        for (unsigned step = 0; step < STEPS_AT_ONCE && i < a_count && j < b_count; step++) {
            uint64_t x = a[i], y = b[j];
            in_both += x == y;
            i += x <= y;
            j += y <= x;
        }
    }
    *shared = (uint32_t)in_both;
    *total = (uint32_t)(a_count + b_count - in_both);
}

/* ---- Lists ---- */

enum idx_status idxi_resembling_add_document(struct idxi_resembling_lists *result, const struct idx_document *document,
                                             uint32_t shared, uint32_t total, struct idx_error *error) {
    size_t length = document->id == NULL ? 0 : document->id_length;
    IDXI_GROW(result->lists.documents, result->document_capacity, result->document_count + 1, error);
    IDXI_GROW(result->lists.ids, result->id_capacity, result->id_bytes + length + 1, error);
    if (length > 0) memcpy(result->lists.ids + result->id_bytes, document->id, length);
    result->lists.documents[result->document_count++] =
        (struct idx_resembling_document){document->number, result->id_bytes, length, shared, total};
    result->id_bytes += length;
    return IDX_OK;
}

enum idx_status idxi_resembling_begin_lists(struct idxi_resembling_lists *result, struct idx_error *error) {
    IDXI_GROW(result->lists.offsets, result->query_capacity, 1, error);
    result->lists.offsets[0] = 0;
    return IDX_OK;
}

/* Compares documents for qsort_r: the one with the greater resemblance comes first. Of equal ones, the order is that of
 * the text IDs, which begin at `ids` plus document->id, or of the integer IDs. */
static int compare_by_resemblance(const void *first, const void *second, void *ids) {
    const struct idx_resembling_document *a = first, *b = second;
    uint64_t a_rank = (uint64_t)a->shared * b->total, b_rank = (uint64_t)b->shared * a->total;
    if (a_rank != b_rank) return a_rank > b_rank ? -1 : 1;
    size_t common_length = a->id_length < b->id_length ? a->id_length : b->id_length;
    int order = memcmp((const uint8_t *)ids + a->id, (const uint8_t *)ids + b->id, common_length);
    if (order != 0) return order;
    if (a->id_length != b->id_length) return a->id_length < b->id_length ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

enum idx_status idxi_resembling_end_list(struct idxi_resembling_lists *result, uint64_t limit,
                                         struct idx_error *error) {
    IDXI_GROW(result->lists.offsets, result->query_capacity, result->query_count + 2, error);
    size_t begin = (size_t)result->lists.offsets[result->query_count], count = result->document_count - begin;
    struct idx_resembling_document *documents = result->lists.documents + begin;
    if (count > 1) qsort_r(documents, count, sizeof *documents, compare_by_resemblance, result->lists.ids);
    if (count > limit) result->document_count = begin + (size_t)limit;
    result->lists.offsets[++result->query_count] = (int64_t)result->document_count;
    return IDX_OK;
}

void idx_resembling_lists_close(struct idx_resembling_lists *lists) {
    if (lists == NULL) return;
    free(lists->offsets);
    free(lists->documents);
    free(lists->ids);
    *lists = (struct idx_resembling_lists){0};
}

/* ---- Candidates ---- */

/* A call of idx_list_resembling. */
struct lookup {
    const struct idx_index *index;
    struct idx_resembling_options options;
    const struct idx_set *sets;
    size_t max_values;               /* how many members of each set are looked up, at most */
    struct idx_document_lists found; /* the documents that have these members, for the queries being answered */
    uint64_t *fingerprints;
    size_t fingerprint_capacity;
    struct idx_documents *documents;
    struct idxi_native_members native; /* a set of the index */
    struct idxi_resembling_lists result;
};

/* A query, and how much a document resembles it. Several texts may have one integer ID: then that of the text that
 * resembles the query the most. */
struct comparison {
    struct lookup *lookup;
    const struct idx_set *query;
    uint32_t shared, total; /* 0 of 0: nothing was compared */
};

/* Compares a set of the index with the query, and sets comparison->shared and total, unless an earlier set resembles
 * the query more. This is an idxi_set_visitor. */
static enum idx_status compare_with_set(void *context, size_t segment, const struct idxf_set *set,
                                        struct idx_error *error) {
    struct comparison *comparison = context;
    struct idxi_native_members *native = &comparison->lookup->native;
    const struct idx_set *query = comparison->query;
    size_t count = (size_t)set->count;
    uint32_t shared, total;
    (void)segment;
    IDXI_TRY(idxi_members_to_native(native, set->members, count, error));
    idxi_compare_sets(query->hashes, query->count, native->hashes, count, comparison->lookup->options.threshold,
                      &shared, &total);
    /* shared / total < comparison->shared / comparison->total, without a division */
    if ((uint64_t)shared * comparison->total < (uint64_t)comparison->shared * total && comparison->total > 0)
        return IDX_OK;
    comparison->shared = shared;
    comparison->total = total;
    return IDX_OK;
}

/* Compares a query with the text of a document value, or with all texts of an integer ID, and adds the document to the
 * query's list if it reaches the threshold. Errors: as idxi_find_set, idxi_visit_sets_of_integer_id, idxi_documents_get
 * and idxi_resembling_add_document. */
static enum idx_status compare_with_value(struct lookup *lookup, const struct idx_set *query, uint64_t value,
                                          struct idx_error *error) {
    const struct idx_index *index = lookup->index;
    struct comparison comparison = {.lookup = lookup, .query = query};
    struct idx_document document = {.number = value};
    bool is_text = index->manifest->id_type == IDXF_ID_TEXT;
    struct idxf_set set;
    if (is_text) {
        IDXI_TRY(idxi_find_set(index, value, &set, error));
        IDXI_TRY(compare_with_set(&comparison, 0, &set, error));
    } else {
        IDXI_TRY(idxi_visit_sets_of_integer_id(index, value, compare_with_set, &comparison, error));
    }
    if (!idxi_reaches_threshold(comparison.shared, comparison.total, lookup->options.threshold)) return IDX_OK;
    if (is_text) IDXI_TRY(idxi_documents_get(lookup->documents, value, &document, error));
    return idxi_resembling_add_document(&lookup->result, &document, comparison.shared, comparison.total, error);
}

/* Compares two values of documents, for qsort: the smaller one comes first. */
static int compare_values(const void *first, const void *second) {
    const uint64_t *a = first, *b = second;
    return (*a > *b) - (*a < *b);
}

/* Makes the list of a query. Its candidates are in the lists of lookup->found from number `begin` to before `end`, one
 * list for each member that was looked up; sorts them in place. Compares the query with each candidate once. Adds the
 * number of candidates that were not listed to lists.unread. Errors: as compare_with_value. */
static enum idx_status answer_query(struct lookup *lookup, const struct idx_set *query, size_t begin, size_t end,
                                    struct idx_error *error) {
    const struct idx_document_lists *found = &lookup->found;
    uint64_t *values = found->numbers + found->offsets[begin];
    size_t count = (size_t)(found->offsets[end] - found->offsets[begin]);
    bool is_text = lookup->index->manifest->id_type == IDXF_ID_TEXT;
    for (size_t i = 0; i < count && is_text; i++) values[i] = idxi_find_text_value(lookup->index, values[i]);
    if (count > 1) qsort(values, count, sizeof *values, compare_values);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || values[i] != values[i - 1]) IDXI_TRY(compare_with_value(lookup, query, values[i], error));
    /* Candidates that were not listed, because they were more than options.max_candidates. */
    for (size_t i = begin; i < end; i++)
        lookup->result.lists.unread += (uint64_t)(found->counts[i] - (found->offsets[i + 1] - found->offsets[i]));
    return idxi_resembling_end_list(&lookup->result, lookup->options.limit, error);
}

/* ---- The whole ---- */

/* How many queries are answered together, and how many bytes the lists of their candidates may take. The lists of a
 * single query may take any number. */
enum { MAX_QUERIES = 256 };
#define MAX_FOUND_BYTES ((uint64_t)1 << 26)

/* Returns how many members of query number `query` are looked up: the smallest lookup->max_values, or all of a set
 * that has fewer. */
static size_t count_members_to_look_up(const struct lookup *lookup, size_t query) {
    return lookup->sets[query].count < lookup->max_values ? lookup->sets[query].count : lookup->max_values;
}

/* Looks up the members of the queries from number `begin` to before `end`, count_members_to_look_up of each, and sets
 * lookup->found to the documents that have them. The caller frees it. Errors: IDX_LIMIT (there are several queries, and
 * the documents take more than MAX_FOUND_BYTES); as idxi_list_document_values. */
static enum idx_status find_candidates(struct lookup *lookup, size_t begin, size_t end, struct idx_error *error) {
    struct idx_document_lists_options options = IDX_DOCUMENT_LISTS_OPTIONS_INIT;
    size_t count = 0;
    IDXI_GROW(lookup->fingerprints, lookup->fingerprint_capacity, (end - begin) * lookup->max_values + 1, error);
    for (size_t i = begin; i < end; i++) {
        size_t value_count = count_members_to_look_up(lookup, i);
        if (value_count > 0)
            memcpy(lookup->fingerprints + count, lookup->sets[i].hashes, value_count * sizeof(uint64_t));
        count += value_count;
    }
    options.threads = lookup->options.threads;
    options.max_documents = lookup->options.max_candidates;
    if (end - begin > 1) options.max_bytes = MAX_FOUND_BYTES;
    return idxi_list_document_values(lookup->index, lookup->fingerprints, count, &options, &lookup->found, error);
}

/* Answers the queries from number `begin` to before `end` in turn. If their candidates take too much memory, answers
 * each half of them by itself. Errors: as find_candidates, but no IDX_LIMIT, and as answer_query. */
static enum idx_status answer_query_range(struct lookup *lookup, size_t begin, size_t end, struct idx_error *error) {
    enum idx_status status = find_candidates(lookup, begin, end, error);
    if (status == IDX_LIMIT && end - begin > 1) {
        size_t middle = begin + (end - begin) / 2;
        IDXI_TRY(answer_query_range(lookup, begin, middle, error));
        return answer_query_range(lookup, middle, end, error);
    }
    if (status != IDX_OK) return status;
    for (size_t i = begin, first_value = 0; i < end && status == IDX_OK; i++) {
        size_t value_count = count_members_to_look_up(lookup, i);
        status = answer_query(lookup, &lookup->sets[i], first_value, first_value + value_count, error);
        first_value += value_count;
    }
    idx_document_lists_close(&lookup->found);
    return status;
}

enum idx_status idx_list_resembling(const struct idx_index *index, const struct idx_set *sets, size_t count,
                                    const struct idx_resembling_options *options, struct idx_resembling_lists *lists,
                                    struct idx_error *error) {
    struct lookup lookup = {.index = index, .sets = sets};
    IDXI_TRY(idxi_resembling_copy_options(&lookup.options, options, error));
    IDXI_TRY(idxi_check_has_sets(index, error));
    lookup.max_values = idxi_count_values_to_look_up(index, lookup.options.threshold);
    enum idx_status status = idxi_resembling_begin_lists(&lookup.result, error);
    if (status == IDX_OK) status = idx_documents_open(&lookup.documents, index, error);
    for (size_t begin = 0, end; begin < count && status == IDX_OK; begin = end) {
        end = count - begin < MAX_QUERIES ? count : begin + MAX_QUERIES;
        status = answer_query_range(&lookup, begin, end, error);
    }
    free(lookup.fingerprints);
    free(lookup.native.hashes);
    idx_documents_close(lookup.documents);
    if (status == IDX_OK)
        *lists = lookup.result.lists;
    else
        idx_resembling_lists_close(&lookup.result.lists);
    return status;
}
