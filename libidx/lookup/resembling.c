/* resembling.c: the documents whose sets resemble given ones, from an index of sketches: the documents that share a
 * value with a set are candidates, and their own sets decide, or as an estimate their sketches. */
#include "libidx/lookup/resembling.h"

#include <stdlib.h>
#include <string.h>

#include "libidx/lookup/documents_many.h"
#include "libidx/view/documents.h"
#include "libidx/view/texts.h"

/* ---- Options ---- */

/* A set that resembles another one is missed with this probability at most: that they share none of so many values. */
#define MOST_MISSED 1e-5

unsigned idx_sketch_values(int64_t threshold) {
    double rest = 1 - (double)threshold / (double)IDX_DECIMAL_WEIGHT_ONE, missed = 1;
    unsigned values = 0;
    for (; missed > MOST_MISSED && values <= IDX_MAX_SKETCH; values++) missed *= rest;
    return values;
}

enum idx_status idxi_resembling_check(struct idx_resembling_options *own, const struct idx_resembling_options *options,
                                      struct idx_error *error) {
    *own = (struct idx_resembling_options)IDX_RESEMBLING_OPTIONS_INIT;
    idxi_copy_options(own, options);
    if (own->threshold < 1 || own->threshold > IDX_DECIMAL_WEIGHT_ONE)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL, "a resemblance of %lld is not from 1 to %lld",
                         (long long)own->threshold, (long long)IDX_DECIMAL_WEIGHT_ONE);
    if (own->sketch < 1 || own->sketch > IDX_MAX_SKETCH)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL, "a sketch has 1 to %d values, not %u", IDX_MAX_SKETCH,
                         own->sketch);
    if (own->max_candidates == 0)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL, "max_candidates = 0 would find no candidates");
    return idxi_check_threads(own->threads, error);
}

/* ---- Comparing ---- */

/* How many members are passed between two looks at whether the sets can still reach the threshold. */
enum { COMPARED_AT_ONCE = 64 };

void idxi_compare_sets(const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count, int64_t threshold,
                       uint32_t *shared, uint32_t *total) {
    const uint64_t one = IDX_DECIMAL_WEIGHT_ONE, least = (uint64_t)threshold;
    /* shared / (a_count + b_count - shared) >= least / one, solved for `shared` and rounded up */
    const size_t needed = (size_t)((least * (a_count + b_count) + one + least - 1) / (one + least));
    size_t i = 0, j = 0, both = 0;
    while (i < a_count && j < b_count && a_count - i + both >= needed && b_count - j + both >= needed) {
        for (unsigned k = 0; k < COMPARED_AT_ONCE && i < a_count && j < b_count; k++) {
            uint64_t x = a[i], y = b[j];
            both += x == y;
            i += x <= y;
            j += y <= x;
        }
    }
    *shared = (uint32_t)both;
    *total = (uint32_t)(a_count + b_count - both);
}

/* Broder's estimate: sets how many of the smallest `most` values of two sketches together, which are those of the union
 * of the sets, are in both, and how many there are. */
static void compare_sketches(const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count, size_t most,
                             uint32_t *shared, uint32_t *total) {
    size_t i = 0, j = 0;
    *shared = 0;
    *total = 0;
    for (; *total < most && (i < a_count || j < b_count); ++*total) {
        bool has_a = i < a_count && (j == b_count || a[i] <= b[j]);
        bool has_b = j < b_count && (i == a_count || b[j] <= a[i]);
        *shared += has_a && has_b;
        i += has_a;
        j += has_b;
    }
}

/* ---- Lists ---- */

enum idx_status idxi_resembling_add(struct idxi_resembling_lists *made, const struct idx_document *document,
                                    uint32_t shared, uint32_t total, struct idx_error *error) {
    size_t length = document->id == NULL ? 0 : document->id_length;
    IDXI_GROW(made->lists.documents, made->document_room, made->documents + 1, error);
    IDXI_GROW(made->lists.ids, made->id_room, made->ids + length + 1, error);
    if (length > 0) memcpy(made->lists.ids + made->ids, document->id, length);
    made->lists.documents[made->documents++] =
        (struct idx_resembling_document){document->number, made->ids, length, shared, total};
    made->ids += length;
    return IDX_OK;
}

enum idx_status idxi_resembling_begin(struct idxi_resembling_lists *made, struct idx_error *error) {
    IDXI_GROW(made->lists.offsets, made->query_room, 1, error);
    made->lists.offsets[0] = 0;
    return IDX_OK;
}

/* Compares documents for qsort_r: the greatest resemblance first, then by ID, which is in `ids`. */
static int by_resemblance(const void *first, const void *second, void *ids) {
    const struct idx_resembling_document *a = first, *b = second;
    uint64_t one = (uint64_t)a->shared * b->total, other = (uint64_t)b->shared * a->total;
    if (one != other) return one > other ? -1 : 1;
    size_t least = a->id_length < b->id_length ? a->id_length : b->id_length;
    int order = memcmp((const uint8_t *)ids + a->id, (const uint8_t *)ids + b->id, least);
    if (order != 0) return order;
    if (a->id_length != b->id_length) return a->id_length < b->id_length ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

enum idx_status idxi_resembling_end(struct idxi_resembling_lists *made, uint64_t limit, struct idx_error *error) {
    IDXI_GROW(made->lists.offsets, made->query_room, made->queries + 2, error);
    size_t begin = (size_t)made->lists.offsets[made->queries], count = made->documents - begin;
    struct idx_resembling_document *documents = made->lists.documents + begin;
    if (count > 1) qsort_r(documents, count, sizeof *documents, by_resemblance, made->lists.ids);
    if (count > limit) made->documents = begin + (size_t)limit;
    made->lists.offsets[++made->queries] = (int64_t)made->documents;
    return IDX_OK;
}

void idx_resembling_free(struct idx_resembling_lists *lists) {
    if (lists == NULL) return;
    free(lists->offsets);
    free(lists->documents);
    free(lists->ids);
    *lists = (struct idx_resembling_lists){0};
}

/* ---- Candidates ---- */

/* A document that has a value of a query. Once for each such value. */
struct candidate {
    uint64_t key; /* its number, or a hash of its ID */
    const void *id;
    size_t id_length;
};

/* Compares candidates for qsort, so that those of one document are equal. */
static int by_document(const void *first, const void *second) {
    const struct candidate *a = first, *b = second;
    if (a->key != b->key) return a->key < b->key ? -1 : 1;
    if (a->id_length != b->id_length) return a->id_length < b->id_length ? -1 : 1;
    return a->id_length == 0 ? 0 : memcmp(a->id, b->id, a->id_length);
}

struct finding {
    const struct idx_index *index;
    struct idx_resembling_options options;
    const struct idx_set *sets;
    size_t values;                   /* how many of each set are looked up, at most */
    struct idx_document_lists found; /* the documents that have these values, of the queries at hand */
    struct candidate *candidates;
    size_t candidate_room;
    uint64_t *fingerprints;
    size_t fingerprint_room;
    uint64_t *sketch; /* of a document */
    size_t sketch_room;
    bool has_sets; /* the sets of the index decide */
    struct idx_documents *documents;
    struct idxi_native_members native; /* a set of the index */
    struct idxi_resembling_lists made;
};

/* Gathers the documents that have one of the values `begin` to before `end`, and sorts them. Those of the values that
 * were not read, because of the limit on candidates, are counted. */
static enum idx_status gather_candidates(struct finding *finding, size_t begin, size_t end, size_t *count,
                                         struct idx_error *error) {
    const struct idx_document_lists *found = &finding->found;
    size_t first = (size_t)found->offsets[begin];
    *count = (size_t)found->offsets[end] - first;
    IDXI_GROW(finding->candidates, finding->candidate_room, *count + 1, error);
    for (size_t i = 0; i < *count; i++) {
        struct candidate *candidate = &finding->candidates[i];
        if (found->numbers != NULL) {
            *candidate = (struct candidate){found->numbers[first + i], NULL, 0};
            continue;
        }
        const uint8_t *id = found->ids + found->id_offsets[first + i];
        size_t length = (size_t)(found->id_offsets[first + i + 1] - found->id_offsets[first + i]);
        *candidate = (struct candidate){idxf_checksum(id, length), id, length};
    }
    if (*count > 1) qsort(finding->candidates, *count, sizeof *finding->candidates, by_document);
    for (size_t i = begin; i < end; i++)
        finding->made.lists.unread += (uint64_t)(found->counts[i] - (found->offsets[i + 1] - found->offsets[i]));
    return IDX_OK;
}

/* Estimates how many members a set and that of a document share, from the document's sketch, which the index has as the
 * document's fingerprints. */
static enum idx_status estimate_resemblance(struct finding *finding, const struct idx_set *set,
                                            const struct idx_document *document, uint32_t *shared, uint32_t *total,
                                            struct idx_error *error) {
    const struct idx_index *index = finding->index;
    size_t most = finding->options.sketch, count = 0;
    do {
        IDXI_GROW(finding->sketch, finding->sketch_room, count > most ? count : most, error);
        IDXI_TRY(document->id != NULL
                     ? idx_find_id(index, document->id, document->id_length, finding->sketch, finding->sketch_room,
                                   &count, error)
                     : idx_find_id_u64(index, document->number, finding->sketch, finding->sketch_room, &count, error));
    } while (count > finding->sketch_room);
    compare_sketches(set->hashes, set->count < most ? set->count : most, finding->sketch, count < most ? count : most,
                     most, shared, total);
    return IDX_OK;
}

/* Compares a query with a document, and lists it if it reaches the threshold. A document without a set counts as
 * unknown. */
static enum idx_status list_if_resembling(struct finding *finding, const struct idx_set *set,
                                          const struct idx_document *document, struct idx_error *error) {
    const struct idx_resembling_options *options = &finding->options;
    struct idx_set other = {NULL, 0};
    uint32_t shared = 0, total = 0;
    if (options->source == NULL) {
        IDXI_TRY(estimate_resemblance(finding, set, document, &shared, &total, error));
    } else {
        IDXI_TRY(options->source(options->context, document, &other, error));
        finding->made.lists.unknown += other.hashes == NULL;
        if (other.hashes != NULL)
            idxi_compare_sets(set->hashes, set->count, other.hashes, other.count, options->threshold, &shared, &total);
    }
    return idxi_resembles(shared, total, options->threshold)
               ? idxi_resembling_add(&finding->made, document, shared, total, error)
               : IDX_OK;
}

/* Answers a query whose values are `begin` to before `end`: compares it with each document that has enough of them. */
static enum idx_status answer_query(struct finding *finding, const struct idx_set *set, size_t begin, size_t end,
                                    struct idx_error *error) {
    size_t count, next;
    IDXI_TRY(gather_candidates(finding, begin, end, &count, error));
    for (size_t i = 0; i < count; i = next) {
        const struct candidate *candidate = &finding->candidates[i];
        for (next = i + 1; next < count && by_document(candidate, &finding->candidates[next]) == 0;) next++;
        if (next - i < finding->options.least_values && next - i < end - begin) continue;
        bool is_text = finding->found.numbers == NULL;
        const struct idx_document document = {is_text ? 0 : candidate->key, is_text ? candidate->id : NULL,
                                              candidate->id_length};
        IDXI_TRY(list_if_resembling(finding, set, &document, error));
    }
    return idxi_resembling_end(&finding->made, finding->options.limit, error);
}

/* ---- Sets of the index ---- */

/* A query, and how much a document resembles it: the text of its ID that does so most. */
struct comparing {
    struct finding *finding;
    const struct idx_set *query;
    uint32_t shared, total; /* 0 of 0: nothing was compared */
};

/* Compares a set of the index with the query. This is an idxi_set_visitor. */
static enum idx_status compare_with_set(void *context, size_t segment, const struct idxf_set *set,
                                        struct idx_error *error) {
    struct comparing *comparing = context;
    struct idxi_native_members *native = &comparing->finding->native;
    const struct idx_set *query = comparing->query;
    size_t count = (size_t)set->count;
    uint32_t shared, total;
    (void)segment;
    IDXI_TRY(idxi_members_copy(native, set->members, count, error));
    idxi_compare_sets(query->hashes, query->count, native->hashes, count, comparing->finding->options.threshold,
                      &shared, &total);
    if ((uint64_t)shared * comparing->total < (uint64_t)comparing->shared * total && comparing->total > 0)
        return IDX_OK;
    comparing->shared = shared;
    comparing->total = total;
    return IDX_OK;
}

/* Compares a query with the text of a value, or with the texts of an integer ID, and lists it if it reaches the
 * threshold. */
static enum idx_status compare_with_value(struct finding *finding, const struct idx_set *query, uint64_t value,
                                          struct idx_error *error) {
    const struct idx_index *index = finding->index;
    struct comparing comparing = {.finding = finding, .query = query};
    struct idx_document document = {value, NULL, 0};
    bool is_text = index->manifest->id_type == IDXF_ID_TEXT;
    struct idxf_set set;
    if (is_text) {
        IDXI_TRY(idxi_find_set(index, value, &set, error));
        IDXI_TRY(compare_with_set(&comparing, 0, &set, error));
    } else {
        IDXI_TRY(idxi_visit_sets_of_integer(index, value, compare_with_set, &comparing, error));
    }
    if (!idxi_resembles(comparing.shared, comparing.total, finding->options.threshold)) return IDX_OK;
    if (is_text) IDXI_TRY(idxi_documents_get(finding->documents, value, &document, error));
    return idxi_resembling_add(&finding->made, &document, comparing.shared, comparing.total, error);
}

static int compare_numbers(const void *first, const void *second) {
    const uint64_t *a = first, *b = second;
    return (*a > *b) - (*a < *b);
}

/* Answers a query whose values are `begin` to before `end`, by the sets of the index. */
static enum idx_status answer_by_index(struct finding *finding, const struct idx_set *query, size_t begin, size_t end,
                                       struct idx_error *error) {
    const struct idx_document_lists *found = &finding->found;
    uint64_t *values = found->numbers + found->offsets[begin];
    size_t count = (size_t)(found->offsets[end] - found->offsets[begin]);
    bool is_text = finding->index->manifest->id_type == IDXF_ID_TEXT;
    for (size_t i = 0; i < count && is_text; i++) values[i] = idxi_text_value(finding->index, values[i]);
    if (count > 1) qsort(values, count, sizeof *values, compare_numbers);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || values[i] != values[i - 1]) IDXI_TRY(compare_with_value(finding, query, values[i], error));
    for (size_t i = begin; i < end; i++)
        finding->made.lists.unread += (uint64_t)(found->counts[i] - (found->offsets[i + 1] - found->offsets[i]));
    return idxi_resembling_end(&finding->made, finding->options.limit, error);
}

/* ---- The whole ---- */

/* How many queries are answered together, and the bytes that the documents of their values may take. One query may take
 * any number. */
enum { QUERIES_TOGETHER = 256 };
#define MOST_BYTES ((uint64_t)1 << 26)

/* Returns how many values of a query are looked up: finding->values, or all of a smaller set. */
static size_t values_of(const struct finding *finding, size_t query) {
    return finding->sets[query].count < finding->values ? finding->sets[query].count : finding->values;
}

/* Sets finding->found to the documents that have values of the queries `begin` to before `end`. Returns IDX_LIMIT if
 * these take more than MOST_BYTES, unless there is one query alone. */
static enum idx_status find_documents(struct finding *finding, size_t begin, size_t end, struct idx_error *error) {
    struct idx_document_lists_options options = IDX_DOCUMENT_LISTS_OPTIONS_INIT;
    size_t count = 0;
    IDXI_GROW(finding->fingerprints, finding->fingerprint_room, (end - begin) * finding->values + 1, error);
    for (size_t i = begin; i < end; i++) {
        size_t values = values_of(finding, i);
        if (values > 0) memcpy(finding->fingerprints + count, finding->sets[i].hashes, values * sizeof(uint64_t));
        count += values;
    }
    options.threads = finding->options.threads;
    options.max_documents = finding->options.max_candidates;
    if (end - begin > 1) options.max_bytes = MOST_BYTES;
    return (finding->has_sets ? idxi_value_lists_make : idx_document_lists_make)(
        finding->index, finding->fingerprints, count, &options, &finding->found, error);
}

/* Answers the queries `begin` to before `end`, in halves if their documents take too much memory. */
static enum idx_status answer_range(struct finding *finding, size_t begin, size_t end, struct idx_error *error) {
    enum idx_status status = find_documents(finding, begin, end, error);
    if (status == IDX_LIMIT && end - begin > 1) {
        size_t middle = begin + (end - begin) / 2;
        IDXI_TRY(answer_range(finding, begin, middle, error));
        return answer_range(finding, middle, end, error);
    }
    if (status != IDX_OK) return status;
    for (size_t i = begin, at = 0; i < end && status == IDX_OK; i++) {
        size_t values = values_of(finding, i);
        status =
            (finding->has_sets ? answer_by_index : answer_query)(finding, &finding->sets[i], at, at + values, error);
        at += values;
    }
    idx_document_lists_free(&finding->found);
    return status;
}

static enum idx_status check_index(const struct idx_index *index, const struct idx_resembling_options *options,
                                   struct idx_error *error) {
    struct idx_properties properties;
    idx_get_properties(index, &properties);
    if (properties.k != 0 || properties.bits != IDX_MAX_BITS || properties.id_type == IDX_ID_NONE)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL,
                         "look-ups by resemblance need an index of sketches: 64 bits, k = 0, and document IDs");
    if (options->source == NULL && !properties.by_id && properties.sketch == 0)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL,
                         "without the sets of documents, look-ups by resemblance need an index with a map from IDs: "
                         "build it with by-id, or give the sets");
    return IDX_OK;
}

enum idx_status idx_resembling_make(const struct idx_index *index, const struct idx_set *sets, size_t count,
                                    const struct idx_resembling_options *options, struct idx_resembling_lists *lists,
                                    struct idx_error *error) {
    struct finding finding = {.index = index, .sets = sets};
    IDXI_TRY(idxi_resembling_check(&finding.options, options, error));
    IDXI_TRY(check_index(index, &finding.options, error));
    finding.has_sets = index->manifest->sketch > 0 && finding.options.source == NULL;
    if (finding.has_sets) finding.options.sketch = index->manifest->sketch;
    unsigned enough = idx_sketch_values(finding.options.threshold);
    bool estimates = finding.options.source == NULL && !finding.has_sets;
    finding.values = estimates || enough > finding.options.sketch ? finding.options.sketch : enough;
    enum idx_status status = idxi_resembling_begin(&finding.made, error);
    if (status == IDX_OK && finding.has_sets) status = idx_documents_open(index, &finding.documents, error);
    for (size_t begin = 0, end; begin < count && status == IDX_OK; begin = end) {
        end = count - begin < QUERIES_TOGETHER ? count : begin + QUERIES_TOGETHER;
        status = answer_range(&finding, begin, end, error);
    }
    free(finding.candidates);
    free(finding.fingerprints);
    free(finding.sketch);
    free(finding.native.hashes);
    idx_documents_close(finding.documents);
    if (status == IDX_OK)
        *lists = finding.made.lists;
    else
        idx_resembling_free(&finding.made.lists);
    return status;
}
