/* answers.c: writes matches and their documents as JSON. */
#include "tools/serve/answers.h"

#include "tools/resemblance/texts.h"
#include "tools/serve/service.h"
#include "tools/shared/library.h"

#include <limits.h>
#include <stdlib.h>

unsigned answers_find_max_distance(const struct service *service, const struct idx_properties *properties) {
    unsigned unpacked_distance = service->options->distance;
    return unpacked_distance != UINT_MAX && unpacked_distance > properties->k ? unpacked_distance : properties->k;
}

bool answers_set_distance(struct answers *answers) {
    struct request *request = answers->request;
    unsigned k = answers->properties->k, max_distance = k;
    if (answers->view != NULL) max_distance = answers_find_max_distance(request->service, answers->properties);
    answers->distance = request->distance == UINT_MAX ? k : request->distance;
    if (answers->distance <= max_distance) return true;
    return request_fail(request, MHD_HTTP_BAD_REQUEST, "k is %u, but the index %s for distances up to %u",
                        answers->distance, max_distance > k ? "is unpacked" : "was built", max_distance);
}

bool answers_begin(struct answers *answers, struct request *request) {
    struct view *view = views_acquire(&request->service->views);
    *answers = (struct answers){.request = request,
                                .rows = {.output = &request->answer, .json = true},
                                .view = view,
                                .index = view->index,
                                .properties = &view->properties};
    return answers_set_distance(answers);
}

bool answers_require_map_from_ids(struct request *request, const struct idx_properties *properties) {
    return properties->by_id || request_fail(request, MHD_HTTP_CONFLICT,
                                             "the index has no map from IDs to fingerprints; build it with --by-id");
}

void answers_end(struct answers *answers) {
    struct service *service = answers->request->service;
    idx_documents_close(answers->cursor);
    if (answers->view != NULL) views_release(&service->views, answers->view);
    atomic_fetch_add_explicit(&service->metrics.queries, answers->queries, memory_order_relaxed);
    atomic_fetch_add_explicit(&service->metrics.matches, answers->matches, memory_order_relaxed);
}

/* ---- Documents ---- */

/* Writes "documents":[…] with up to max_documents documents of a fingerprint, and "more":true if there are more. Opens
 * the cursor, unless it is open. Returns false where the request failed. */
static bool write_documents(struct answers *answers, uint64_t fingerprint) {
    struct rows *rows = &answers->rows;
    size_t max_documents = answers->request->max_documents;
    struct idx_document document;
    struct idx_error error;
    bool found = false;
    if ((answers->cursor == NULL && idx_documents_open(&answers->cursor, answers->index, &error) != IDX_OK) ||
        idx_documents_find(answers->cursor, fingerprint, NULL, &error) != IDX_OK)
        return request_fail_by_error(answers->request, &error);
    row_begin_array(rows, "documents");
    /* One more is read than is written, to find whether there are more. */
    for (size_t i = 0; i <= max_documents; i++) {
        if (idx_documents_next(answers->cursor, &document, &found, &error) != IDX_OK)
            return request_fail_by_error(answers->request, &error);
        if (!found || i == max_documents) break;
        row_write_document_id(rows, NULL, &document);
        /* Here, only the length is looked at: answers_write_matches checks the other limits after each match. */
        if (rows->output->length > MAX_ANSWER_BYTES && !request_check_limits(answers->request)) return false;
    }
    row_end_array(rows);
    if (found) row_write_word(rows, "more", "true");
    return true;
}

/* ---- Matches ---- */

/* Without documents, a request's limits are checked once in so many matches. */
enum { CHECK_INTERVAL_MATCHES = 1024 };

bool answers_write_matches(struct answers *answers, const struct idx_match *matches, size_t match_count) {
    struct request *request = answers->request;
    struct rows *rows = &answers->rows;
    bool with_documents = answers->properties->id_type != IDX_ID_NONE && request->max_documents > 0;
    row_write_number(rows, "count", match_count);
    row_begin_array(rows, "matches");
    for (size_t i = 0; i < match_count && i < request->limit; i++) {
        row_begin_object(rows, NULL);
        row_write_fingerprint(rows, "fingerprint", NOTATION_HEX, answers->properties->bits, matches[i].fingerprint);
        row_write_number(rows, "distance", matches[i].distance);
        if (with_documents && !write_documents(answers, matches[i].fingerprint)) return false;
        row_end_object(rows);
        if ((with_documents || (i + 1) % CHECK_INTERVAL_MATCHES == 0) && !request_check_limits(request)) return false;
    }
    row_end_array(rows);
    answers->queries++;
    answers->matches += match_count;
    return true;
}

bool answers_write_query_and_matches(struct answers *answers, uint64_t query, const struct idx_match *matches,
                                     size_t match_count) {
    row_write_fingerprint(&answers->rows, "query", NOTATION_HEX, answers->properties->bits, query);
    return answers_write_matches(answers, matches, match_count);
}

bool answers_look_up_and_write_one(struct answers *answers, uint64_t query) {
    struct idx_match_lists_options options = IDX_MATCH_LISTS_OPTIONS_INIT;
    struct request *request = answers->request;
    struct idx_match_lists lists;
    struct idx_error error;
    options.distance = answers->distance;
    options.max_matches = request->limit;
    if (idx_list_matches(answers->index, &query, 1, &options, &lists, &error) != IDX_OK)
        return request_fail_by_error(request, &error);
    bool ok = answers_write_query_and_matches(answers, query, lists.matches, (size_t)lists.counts[0]);
    idx_match_lists_close(&lists);
    return ok;
}

void answers_look_up_and_write_all(struct answers *answers, const uint64_t *queries, size_t query_count) {
    row_begin_array(&answers->rows, "answers");
    for (size_t i = 0; i < query_count; i++) {
        row_begin_object(&answers->rows, NULL);
        if (!answers_look_up_and_write_one(answers, queries[i]) || !request_check_limits(answers->request)) return;
        row_end_object(&answers->rows);
    }
    row_end_array(&answers->rows);
    row_end(&answers->rows);
}

/* ---- By resemblance ---- */

bool answers_set_resembling_options(struct answers *answers, struct idx_text_shingle_options *shingling,
                                    struct idx_resembling_options *options) {
    const struct request *request = answers->request;
    char reason[RESEMBLING_REASON];
    if (!resembling_read_recipe(answers->properties, "the index", shingling, reason))
        return request_fail(answers->request, MHD_HTTP_CONFLICT, "%s", reason);
    *options = (struct idx_resembling_options)IDX_RESEMBLING_OPTIONS_INIT;
    options->threshold = request->resemble > 0 ? request->resemble : answers->properties->threshold;
    options->limit = request->limit;
    return true;
}

void answers_write_resembling(struct answers *answers, const struct idx_resembling_lists *lists, size_t text_number) {
    struct rows *rows = &answers->rows;
    const int64_t documents_begin = lists->offsets[text_number], documents_end = lists->offsets[text_number + 1];
    row_begin_array(rows, "resembling");
    for (int64_t i = documents_begin; i < documents_end; i++) {
        row_begin_object(rows, NULL);
        row_write_resembling(rows, lists, &lists->documents[i], answers->properties->id_type);
        row_end_object(rows);
    }
    row_end_array(rows);
    answers->queries++;
    answers->matches += (uint64_t)(documents_end - documents_begin);
}

void answers_look_up_and_write_resembling(struct answers *answers, const struct idx_set *set,
                                          const struct idx_resembling_options *options) {
    struct idx_resembling_lists lists;
    struct idx_error error;
    if (idx_list_resembling(answers->index, set, 1, options, &lists, &error) != IDX_OK) {
        request_fail_by_error(answers->request, &error);
        return;
    }
    row_begin(&answers->rows);
    row_write_number(&answers->rows, "features", set->count);
    row_begin_value(&answers->rows, "missed");
    output_format(&answers->request->answer, "%.2g",
                  resembling_find_miss_probability(answers->properties->sketch, options->threshold));
    answers_write_resembling(answers, &lists, 0);
    row_end(&answers->rows);
    idx_resembling_lists_close(&lists);
}
