/* lookups.c: finds what is near to fingerprints, or to the documents of an ID. */
#include "tools/serve/request.h"
#include "tools/serve/service.h"

#include <stdlib.h>
#include <string.h>

/* ---- Many in columns ---- */

/* How many queries are looked up together, and the matches of each for which there is room then. */
enum { TOGETHER = 256, MATCHES = 16 };

struct columns {
    struct answers *answers;
    struct output fingerprints, distances;
    uint64_t offset;
    struct idx_match matches[TOGETHER * MATCHES];
};

static uint64_t read_u64(const unsigned char *bytes) {
    uint64_t number = 0;
    for (unsigned i = 0; i < 8; i++) number |= (uint64_t)bytes[i] << (8 * i);
    return number;
}

static void write_u64(unsigned char *bytes, uint64_t number) {
    for (unsigned i = 0; i < 8; i++) bytes[i] = (unsigned char)(number >> (8 * i));
}

static void put_u64(struct output *output, uint64_t number) {
    unsigned char bytes[8];
    write_u64(bytes, number);
    output_bytes(output, bytes, sizeof bytes);
}

/* Appends the matches of one query to the columns. Fails the request if memory ran out. */
static void append_matches(struct columns *columns, const struct idx_match *matches, size_t count) {
    unsigned char *fingerprints = (unsigned char *)output_reserve(&columns->fingerprints, count * 8 + 1);
    unsigned char *distances = (unsigned char *)output_reserve(&columns->distances, count + 1);
    if (fingerprints == NULL || distances == NULL) {
        request_fail(columns->answers->request, MHD_HTTP_SERVICE_UNAVAILABLE, "out of memory for the answer");
        return;
    }
    for (size_t i = 0; i < count; i++) {
        write_u64(fingerprints + 8 * i, matches[i].fingerprint);
        distances[i] = (unsigned char)matches[i].distance;
    }
    columns->fingerprints.length += count * 8;
    columns->distances.length += count;
    columns->offset += count;
}

/* Looks up a query again, because it has more matches than there was room for, and appends all that are wanted. */
static void append_more_matches(struct columns *columns, uint64_t query) {
    struct answers *answers = columns->answers;
    struct request *request = answers->request;
    struct found_matches matches = {NULL, 0};
    struct idx_error error;
    size_t count;
    if (find_matches(answers->index, query, answers->distance, request->limit, &matches, &count, &error) != IDX_OK)
        request_fail_by(request, &error);
    else
        append_matches(columns, matches.list, count < request->limit ? count : request->limit);
    free(matches.list);
}

/* Returns whether the answer may grow, and fails the request if the matches that were found do not fit. */
static bool answer_fits(struct columns *columns) {
    struct request *request = columns->answers->request;
    size_t made = columns->fingerprints.length + columns->distances.length;
    if (made > MOST_ANSWER_BYTES)
        request_fail(request, MHD_HTTP_UNPROCESSABLE_CONTENT,
                     "the answer has more than %zu bytes; ask for fewer fingerprints at once, or set limit",
                     MOST_ANSWER_BYTES);
    return request_goes_on(request);
}

/* Looks up at most TOGETHER queries, and appends their matches and the offsets behind them. Fails the request after an
 * error. */
static void answer_together(struct columns *columns, const unsigned char *bytes, size_t count) {
    struct answers *answers = columns->answers;
    size_t counts[TOGETHER], limit = answers->request->limit;
    uint64_t queries[TOGETHER];
    struct idx_lookup_options options = IDX_LOOKUP_OPTIONS_INIT;
    struct idx_error error;
    options.distance = answers->distance;
    for (size_t i = 0; i < count; i++) queries[i] = read_u64(bytes + 8 * i);
    if (idx_lookup_many(answers->index, queries, count, &options, columns->matches, MATCHES, counts, &error) !=
        IDX_OK) {
        request_fail_by(answers->request, &error);
        return;
    }
    for (size_t i = 0; i < count && answer_fits(columns); i++) {
        size_t wanted = counts[i] < limit ? counts[i] : limit;
        if (wanted <= MATCHES)
            append_matches(columns, columns->matches + i * MATCHES, wanted);
        else
            append_more_matches(columns, queries[i]);
        put_u64(&answers->request->answer, columns->offset);
        answers->matches += counts[i];
    }
    answers->queries += count;
}

/* Answers a body of fingerprints with the columns that service.h describes: offsets, fingerprints, distances. */
static void answer_columns(struct answers *answers) {
    struct columns columns;
    struct request *request = answers->request;
    const unsigned char *bytes = (const unsigned char *)request->body.bytes;
    size_t length = request->body.length;
    columns.answers = answers;
    columns.fingerprints = columns.distances = (struct output)OUTPUT_KEPT;
    columns.offset = 0;
    if (length % 8 != 0)
        request_fail(request, MHD_HTTP_BAD_REQUEST,
                     "the body has %zu bytes, which is no multiple of the 8 of a fingerprint", length);
    else
        put_u64(&request->answer, 0);
    for (size_t done = 0; done < length && request_goes_on(request); done += 8 * TOGETHER)
        answer_together(&columns, bytes + done, (length - done < 8 * TOGETHER ? length - done : 8 * TOGETHER) / 8);
    if (request->status == 0) {
        output_bytes(&request->answer, columns.fingerprints.bytes, columns.fingerprints.length);
        output_bytes(&request->answer, columns.distances.bytes, columns.distances.length);
    }
    free(columns.fingerprints.bytes);
    free(columns.distances.bytes);
}

/* The most matches, and documents of each that are asked for, with which a look-up is answered without a job. */
enum { QUICK_MATCHES = 16, QUICK_DOCUMENTS = 100 };

/* ---- One ---- */

static bool read_path(struct answers *answers, uint64_t *query) {
    struct request *request = answers->request;
    struct problem problem;
    if (answers_read_fingerprint(answers, request->rest, strlen(request->rest), query, &problem)) return true;
    return request_fail(request, MHD_HTTP_BAD_REQUEST, "'%s': %s", request->rest, problem.sentence);
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

/* Answers a line, which is a fingerprint or an object that has one. */
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
            answer_columns(&answers);
        else
            lines_read(request, answer_line, &answers);
    }
    answers_end(&answers);
    request_end(request, raw ? "application/octet-stream" : "application/x-ndjson");
}

/* ---- By ID ---- */

/* Finds the fingerprints of the request's ID, which the caller frees. Nothing is found where the request failed. */
static void find_id(struct answers *answers, uint64_t **found, size_t *count) {
    struct request *request = answers->request;
    struct document_id id = {request->id, request->id_length, 0};
    struct idx_error error;
    if (answers->properties->id_type == IDX_ID_U64 && !number_parse_digits(id.bytes, id.length, &id.number))
        request_fail(request, MHD_HTTP_BAD_REQUEST, "the IDs of this index are decimal numbers below 2^64");
    else if (find_document(answers->index, &id, found, count, &error) != IDX_OK)
        request_fail_by(request, &error);
}

static void answer_fingerprints(struct answers *answers, const uint64_t *fingerprints, size_t count) {
    struct request *request = answers->request;
    output_text(&request->answer, "{\"id\":");
    json_put_bytes(&request->answer, request->id, request->id_length);
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
        if (answers_by_id(request, answers.properties)) find_id(&answers, &found, &count);
        if (request->status == 0 && count == 0)
            request_fail(request, MHD_HTTP_NOT_FOUND, "the index has no document with this ID");
        if (request->status == 0) answer_fingerprints(&answers, found, count);
        free(found);
    }
    answers_end(&answers);
    request_end(request, "application/json");
}
