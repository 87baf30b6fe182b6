/* lookups.c: what is near to fingerprints, or to the documents of an ID. */
#include "tools/serve/lookups.h"

#include "tools/serve/answers.h"
#include "tools/serve/columns.h"
#include "tools/serve/lines.h"
#include "tools/serve/service.h"
#include "tools/shared/number.h"

#include <stdlib.h>
#include <string.h>

/* What is answered at once: matches of one fingerprint, and documents of a match. */
enum { QUICK_MATCHES = 16, QUICK_DOCUMENTS = 100 };

/* ---- One ---- */

static bool read_path(struct answers *answers, uint64_t *query) {
    struct request *request = answers->request;
    struct problem problem;
    if (answers_read_fingerprint(answers, request->rest, strlen(request->rest), query, &problem)) return true;
    request_fail(request, MHD_HTTP_BAD_REQUEST, "'%s': %s", request->rest, problem.sentence);
    return false;
}

bool lookups_answer_one_quickly(struct request *request) {
    struct answers answers;
    struct idx_match matches[QUICK_MATCHES];
    struct idx_error error;
    uint64_t query;
    size_t count = 0;
    bool few = request->max_documents <= QUICK_DOCUMENTS;
    if (!few) return false;
    if (answers_begin(&answers, request) && read_path(&answers, &query)) {
        if (idx_lookup(answers.index, query, answers.distance, matches, QUICK_MATCHES, &count, &error) != IDX_OK)
            request_fail_by(request, &error);
        few = count <= QUICK_MATCHES || request->limit <= QUICK_MATCHES;
        if (request->status == 0 && few) {
            output_byte(&request->answer, '{');
            if (answers_put(&answers, query, matches, count)) output_text(&request->answer, "}\n");
        }
    }
    answers_end(&answers);
    if (few) request_end(request, "application/json");
    return few;
}

void lookups_answer_one(struct request *request) {
    struct answers answers;
    uint64_t query;
    if (answers_begin(&answers, request) && read_path(&answers, &query) && answers_put_query(&answers, query))
        output_byte(&request->answer, '\n');
    answers_end(&answers);
    request_end(request, "application/json");
}

/* ---- Many ---- */

/* A line is a fingerprint, or an object that has one. */
static bool answer_line(void *context, json_t *line, struct problem *problem) {
    struct answers *answers = context;
    json_t *text = json_is_object(line) ? json_object_get(line, "fingerprint") : line;
    uint64_t query;
    if (!json_is_string(text))
        return problem_set(problem, "it is neither \"FINGERPRINT\" nor {\"fingerprint\":\"FINGERPRINT\"}");
    if (!answers_read_fingerprint(answers, json_string_value(text), json_string_length(text), &query, problem))
        return false;
    if (answers_put_query(answers, query)) output_byte(&answers->request->answer, '\n');
    return true;
}

void lookups_answer_many(struct request *request) {
    struct answers answers;
    bool raw = request->type == 2;
    if (answers_begin(&answers, request)) {
        if (raw)
            columns_answer(&answers);
        else
            lines_read(request, answer_line, &answers);
    }
    answers_end(&answers);
    request_end(request, raw ? "application/octet-stream" : "application/x-ndjson");
}

/* ---- By ID ---- */

/* The fingerprints of the ID, which the caller frees; NULL where there are none, or the request failed. */
static uint64_t *find_id(struct answers *answers, size_t *count) {
    struct request *request = answers->request;
    bool numbers = answers->properties->id_type == IDX_ID_U64;
    struct idx_error error;
    uint64_t number = 0, *found = NULL;
    size_t capacity = 8;
    if (numbers && !number_parse_digits(request->id, request->id_length, &number)) {
        request_fail(request, MHD_HTTP_BAD_REQUEST, "the IDs of this index are decimal numbers below 2^64");
        return NULL;
    }
    for (;;) {
        enum idx_status status = IDX_OUT_OF_MEMORY;
        found = malloc(capacity * sizeof *found);
        error = (struct idx_error){.status = status, .sentence = "out of memory"};
        if (found != NULL && numbers)
            status = idx_find_id_u64(answers->index, number, found, capacity, count, &error);
        else if (found != NULL)
            status = idx_find_id(answers->index, request->id, request->id_length, found, capacity, count, &error);
        if (status != IDX_OK) request_fail_by(request, &error);
        if (status != IDX_OK || *count <= capacity) break;
        capacity = *count;
        free(found);
    }
    return found;
}

static void answer_fingerprints(struct answers *answers, const uint64_t *fingerprints, size_t count) {
    struct request *request = answers->request;
    output_text(&request->answer, "{\"id\":");
    answers_put_bytes(&request->answer, request->id, request->id_length);
    output_text(&request->answer, ",\"answers\":[");
    for (size_t i = 0; i < count; i++) {
        if (i > 0) output_byte(&request->answer, ',');
        if (!answers_put_query(answers, fingerprints[i]) || !request_goes_on(request)) return;
    }
    output_text(&request->answer, "]}\n");
}

void lookups_answer_id(struct request *request) {
    struct answers answers;
    if (answers_begin(&answers, request)) {
        uint64_t *found = NULL;
        size_t count = 0;
        if (!answers.properties->by_id)
            request_fail(request, MHD_HTTP_CONFLICT,
                         "the index has no map from IDs to fingerprints; build it with --by-id");
        else
            found = find_id(&answers, &count);
        if (request->status == 0 && count == 0)
            request_fail(request, MHD_HTTP_NOT_FOUND, "the index has no document with this ID");
        if (request->status == 0) answer_fingerprints(&answers, found, count);
        free(found);
    }
    answers_end(&answers);
    request_end(request, "application/json");
}
