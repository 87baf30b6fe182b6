/* lookups.c: finds what is near to fingerprints, or to the documents of an ID. */
#include "tools/serve/lookups.h"

#include "tools/serve/answers.h"
#include "tools/serve/lines.h"
#include "tools/shared/library.h"

#include <stdlib.h>
#include <string.h>

/* ---- Many in columns ---- */

/* Reads a number from 8 bytes, the least significant one first. */
static uint64_t read_u64(const unsigned char *bytes) {
    uint64_t number = 0;
    for (unsigned i = 0; i < 8; i++) number |= (uint64_t)bytes[i] << (8 * i);
    return number;
}

/* Writes a number as 8 bytes, the least significant one first. Returns where the next number goes. */
static unsigned char *write_u64(unsigned char *bytes, uint64_t number) {
    for (unsigned i = 0; i < 8; i++) bytes[i] = (unsigned char)(number >> (8 * i));
    return bytes + 8;
}

/* The bytes of a match in the columns: a fingerprint and a distance. */
enum { MATCH_BYTES = 9 };

/* Writes the columns that lookups.h describes: offsets, fingerprints, distances. If memory runs out, writes nothing,
 * and request_finish_answer finds the error of the output. */
static void write_columns(struct request *request, const struct idx_match_lists *lists, size_t query_count) {
    size_t match_count = (size_t)lists->offsets[query_count],
           byte_count = (query_count + 1) * 8 + match_count * MATCH_BYTES;
    unsigned char *next_byte = (unsigned char *)output_reserve(&request->answer, byte_count);
    if (next_byte == NULL) return;
    for (size_t i = 0; i <= query_count; i++) next_byte = write_u64(next_byte, (uint64_t)lists->offsets[i]);
    for (size_t i = 0; i < match_count; i++) next_byte = write_u64(next_byte, lists->matches[i].fingerprint);
    for (size_t i = 0; i < match_count; i++) *next_byte++ = (unsigned char)lists->matches[i].distance;
    request->answer.length += byte_count;
}

/* Checks the limits of the request, which is the context. Returns false, which cancels the call of the library, once
 * the request has failed. This is an idx_progress_visitor. */
static bool check_limits_on_progress(void *context, const struct idx_progress *progress) {
    (void)progress;
    return request_check_limits(context);
}

/* Looks the queries up, writes the columns of the answer, and counts the queries and their matches; or fails the
 * request, with status 422 if the answer is too long. */
static void answer_in_columns(struct answers *answers, const uint64_t *queries, size_t query_count) {
    struct idx_match_lists_options options = IDX_MATCH_LISTS_OPTIONS_INIT;
    struct request *request = answers->request;
    struct idx_match_lists lists;
    struct idx_error error;
    options.distance = answers->distance;
    options.max_matches = request->limit;
    /* The lists have counts, offsets, and at most as many matches as an answer has room for. */
    options.max_bytes = (2 * query_count + 1) * 8 + MAX_ANSWER_BYTES / MATCH_BYTES * sizeof(struct idx_match);
    options.progress = check_limits_on_progress;
    options.context = request;
    enum idx_status status = idx_list_matches(answers->index, queries, query_count, &options, &lists, &error);
    if (status == IDX_LIMIT)
        request_fail(request, MHD_HTTP_UNPROCESSABLE_CONTENT,
                     "the answer has more than %zu bytes; ask for fewer fingerprints at once, or set limit",
                     MAX_ANSWER_BYTES);
    else if (status != IDX_OK && request->status == 0) /* Otherwise check_limits_on_progress has failed it. */
        request_fail_by_error(request, &error);
    if (status != IDX_OK) return;
    write_columns(request, &lists, query_count);
    answers->queries += query_count;
    for (size_t i = 0; i < query_count; i++) answers->matches += (uint64_t)lists.counts[i];
    idx_match_lists_close(&lists);
}

/* Looks up the fingerprints in the body, 8 bytes each, little-endian, and writes the columns of the answer, unless the
 * request fails. A body whose length is no multiple of 8 fails it. */
static void answer_raw_body(struct answers *answers) {
    struct request *request = answers->request;
    const unsigned char *bytes = (const unsigned char *)request->body.bytes;
    size_t length = request->body.length;
    if (length % 8 != 0) {
        request_fail(request, MHD_HTTP_BAD_REQUEST,
                     "the body has %zu bytes, which is no multiple of the 8 of a fingerprint", length);
        return;
    }
    uint64_t *queries = malloc(length + 1); /* Never 0 bytes, for which it may return NULL. */
    for (size_t i = 0; i < length / 8 && queries != NULL; i++) queries[i] = read_u64(bytes + 8 * i);
    if (queries == NULL)
        request_fail(request, MHD_HTTP_SERVICE_UNAVAILABLE, "out of memory for the answer");
    else
        answer_in_columns(answers, queries, length / 8);
    free(queries);
}

/* The most matches, and documents of each that are asked for, with which a look-up is answered without a job. */
enum { QUICK_MATCHES = 16, QUICK_DOCUMENTS = 100 };

/* ---- One ---- */

/* Parses the fingerprint behind the route's path, /lookup/, and sets *query to it. Returns false where the request
 * failed, because there is no fingerprint of the index's bits. */
static bool parse_query(struct answers *answers, uint64_t *query) {
    struct request *request = answers->request;
    struct problem problem;
    if (notation_parse_fingerprint(NOTATION_HEX, answers->properties->bits, request->path_rest,
                                   strlen(request->path_rest), query, &problem))
        return true;
    return request_fail(request, MHD_HTTP_BAD_REQUEST, "'%s': %s", request->path_rest, problem.sentence);
}

bool lookups_answer_one_quickly(struct request *request) {
    struct answers answers;
    struct idx_match matches[QUICK_MATCHES];
    struct idx_error error;
    uint64_t query;
    size_t match_count = 0;
    bool is_quick = true; /* An error is answered at once, too. */
    if (request->max_documents > QUICK_DOCUMENTS) return false;
    if (answers_begin(&answers, request) && parse_query(&answers, &query)) {
        if (idx_lookup(answers.index, query, answers.distance, matches, QUICK_MATCHES, &match_count, &error) != IDX_OK)
            request_fail_by_error(request, &error);
        /* match_count is that of all matches, even if `matches` has only the nearest QUICK_MATCHES of them. */
        is_quick = match_count <= QUICK_MATCHES || request->limit <= QUICK_MATCHES;
        if (request->status == 0 && is_quick) {
            row_begin(&answers.rows);
            if (answers_write_query_and_matches(&answers, query, matches, match_count)) row_end(&answers.rows);
        }
    }
    answers_end(&answers);
    if (is_quick) request_finish_answer(request, "application/json");
    return is_quick;
}

/* Looks a fingerprint up, and writes its answer, an object in a line of its own. Where the request fails, its error
 * replaces the answer. */
static void write_answer_row(struct answers *answers, uint64_t query) {
    row_begin(&answers->rows);
    if (answers_look_up_and_write_one(answers, query)) row_end(&answers->rows);
}

void lookups_answer_one(struct request *request) {
    struct answers answers;
    uint64_t query;
    if (answers_begin(&answers, request) && parse_query(&answers, &query)) write_answer_row(&answers, query);
    answers_end(&answers);
    request_finish_answer(request, "application/json");
}

/* ---- Many ---- */

/* The index of RAW among the body types of the route of /lookup, in router.c. */
enum { RAW_TYPE = 2 };

/* Parses a line, which is a fingerprint or an object with one, looks it up, and writes the answer's line. Returns
 * false, and sets *problem, if the line has no fingerprint. The context is the struct answers. This is a line_visitor.
 */
static bool parse_and_answer_line(void *context, json_t *line, struct problem *problem) {
    struct answers *answers = context;
    json_t *text = json_is_object(line) ? json_object_get(line, "fingerprint") : line;
    uint64_t query;
    if (!json_is_string(text))
        return problem_set(problem, "it is neither \"FINGERPRINT\" nor {\"fingerprint\":\"FINGERPRINT\"}");
    if (!notation_parse_fingerprint(NOTATION_HEX, answers->properties->bits, json_string_value(text),
                                    json_string_length(text), &query, problem))
        return false;
    write_answer_row(answers, query);
    return true;
}

void lookups_answer_many(struct request *request) {
    struct answers answers;
    bool is_raw = request->body_type == RAW_TYPE;
    if (answers_begin(&answers, request)) {
        if (is_raw)
            answer_raw_body(&answers);
        else
            lines_visit(request, parse_and_answer_line, &answers);
    }
    answers_end(&answers);
    request_finish_answer(request, is_raw ? "application/octet-stream" : "application/x-ndjson");
}

/* ---- By ID ---- */

/* Sets *fingerprints to the *fingerprint_count fingerprints, perhaps none, of the documents with the request's ID, or
 * fails the request. *fingerprints must be NULL before; the caller frees it in any case. */
static void find_fingerprints_of_request(struct answers *answers, uint64_t **fingerprints, size_t *fingerprint_count) {
    struct request *request = answers->request;
    struct document_id id = {.bytes = request->id, .length = request->id_length};
    struct idx_error error;
    if (answers->properties->id_type == IDX_ID_U64 && !number_parse_digits(id.bytes, id.length, &id.number))
        request_fail(request, MHD_HTTP_BAD_REQUEST, "the IDs of this index are decimal numbers below 2^64");
    else if (find_fingerprints_of_id(answers->index, &id, fingerprints, fingerprint_count, &error) != IDX_OK)
        request_fail_by_error(request, &error);
}

void lookups_answer_id(struct request *request) {
    struct answers answers;
    if (answers_begin(&answers, request)) {
        uint64_t *fingerprints = NULL;
        size_t fingerprint_count = 0;
        if (answers_require_map_from_ids(request, answers.properties))
            find_fingerprints_of_request(&answers, &fingerprints, &fingerprint_count);
        if (request->status == 0 && fingerprint_count == 0)
            request_fail(request, MHD_HTTP_NOT_FOUND, "the index has no document with this ID");
        if (request->status == 0) {
            row_begin(&answers.rows);
            row_write_id(&answers.rows, "id", request->id, request->id_length);
            answers_look_up_and_write_all(&answers, fingerprints, fingerprint_count);
        }
        free(fingerprints);
    }
    answers_end(&answers);
    request_finish_answer(request, "application/json");
}
