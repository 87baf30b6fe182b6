/* answerer.c: looks queries up and writes the answers as `idx lookup` prints them, or as records for agree.c. */
#include "tools/answers/answers.h"
#include "tools/resemblance/files.h"
#include "tools/shared/json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void answerer_init(struct answerer *answerer, const struct question *question) {
    memset(answerer, 0, sizeof *answerer);
    answerer->question = question;
    answerer->front = (struct output)OUTPUT_KEPT;
    if (question->texts != NULL) text_reader_open(&answerer->reader, NULL, NULL, IDX_MAX_BITS, question->extract);
}

void answerer_close_documents(struct answerer *answerer) {
    idx_documents_close(answerer->documents);
    answerer->documents = NULL;
}

void answerer_free(struct answerer *answerer) {
    answerer_close_documents(answerer);
    free(answerer->front.bytes);
    if (answerer->question->texts != NULL) text_reader_close(&answerer->reader);
}

/* ---- Columns ---- */

static void put_query(const struct question *question, const struct query *query, struct output *output) {
    if (query->id != NULL)
        output_id(output, query->id, query->id_length);
    else
        output_fingerprint(output, question->notation, question->properties.bits, query->fingerprint);
}

/* Writes the columns before the document. */
static void put_front(const struct question *question, const struct query *query, const struct idx_match *match,
                      struct output *front) {
    front->length = 0;
    put_query(question, query, front);
    output_byte(front, '\t');
    output_fingerprint(front, question->notation, question->properties.bits, match->fingerprint);
    output_byte(front, '\t');
    output_decimal(front, match->distance);
    output_byte(front, '\t');
}

/* Writes how much the text of a query resembles that of a document, or `unknown` if the document's can't be read. */
static void put_resemblance(struct answerer *answerer, const struct query *query, const struct idx_document *document,
                            const char *unknown, struct output *output) {
    const struct resembling resembling = {answerer->question->texts,
                                          (const uint64_t *)(const void *)query->shingles.bytes,
                                          query->shingles.length / sizeof(uint64_t)};
    double resemblance =
        resembling_compare(&answerer->reader, &resembling, (struct span){document->id, document->id_length});
    if (resemblance == RESEMBLANCE_NO_MEMORY)
        output->error = ENOMEM;
    else if (resemblance == RESEMBLANCE_UNKNOWN)
        output_text(output, unknown);
    else
        output_format(output, "%.4f", resemblance_round(resemblance));
}

/* Writes the line of a document, whose first columns are `front`. */
static void put_document_line(struct answerer *answerer, const struct query *query, const struct idx_document *document,
                              struct output *output) {
    output_bytes(output, answerer->front.bytes, answerer->front.length);
    if (answerer->question->texts != NULL) {
        put_resemblance(answerer, query, document, "-", output);
        output_byte(output, '\t');
    }
    put_document_id(output, document);
    output_byte(output, '\n');
}

/* ---- JSON ---- */

/* Begins a JSON object with the key of the query. The caller ends the object. */
static void begin_json_query(const struct question *question, const struct query *query, struct output *output) {
    output_text(output, "{\"query\":");
    if (query->id != NULL)
        json_put_bytes(output, query->id, query->id_length);
    else
        put_json_fingerprint(output, question->notation, question->properties.bits, query->fingerprint);
}

/* Begins a JSON object with the keys of a match but its documents. The caller ends the object. */
static void begin_json_match(const struct question *question, const struct query *query, const struct idx_match *match,
                             struct output *output) {
    begin_json_query(question, query, output);
    output_text(output, ",\"fingerprint\":");
    put_json_fingerprint(output, question->notation, question->properties.bits, match->fingerprint);
    output_text(output, ",\"distance\":");
    output_decimal(output, match->distance);
}

/* ---- Matches ---- */

/* Moves the cursor, opened at the first call, to the documents of a fingerprint. Sets `error` if it returns false. */
static bool find_documents(struct answerer *answerer, uint64_t fingerprint) {
    if (answerer->documents == NULL &&
        idx_documents_open(answerer->question->index, &answerer->documents, &answerer->error) != IDX_OK)
        return false;
    return idx_documents_find(answerer->documents, fingerprint, NULL, &answerer->error) == IDX_OK;
}

/* Writes a document as an element of an array. */
static void put_json_document(struct answerer *answerer, const struct query *query, const struct idx_document *document,
                              struct output *output) {
    if (answerer->question->texts == NULL) {
        put_json_id(output, document);
        return;
    }
    output_text(output, "{\"id\":");
    put_json_id(output, document);
    output_text(output, ",\"resemblance\":");
    put_resemblance(answerer, query, document, "null", output);
    output_byte(output, '}');
}

/* Writes the documents of the fingerprint at which the cursor is. Sets `error` if it returns false. */
static bool put_documents(struct answerer *answerer, const struct query *query, struct output *output) {
    const struct question *question = answerer->question;
    struct idx_document document;
    bool found = true;
    for (uint64_t i = 0; i < question->max_documents && output->error == 0; i++) {
        if (idx_documents_next(answerer->documents, &document, &found, &answerer->error) != IDX_OK) return false;
        if (!found) break;
        if (question->agree > 0) {
            agree_put_document(&document, output);
        } else if (question->json) {
            if (i > 0) output_byte(output, ',');
            put_json_document(answerer, query, &document, output);
        } else {
            put_document_line(answerer, query, &document, output);
        }
    }
    return true;
}

/* Writes a match in the form that is asked for. Sets `error` and returns false if the library fails. */
static bool put_match(struct answerer *answerer, const struct query *query, const struct idx_match *match,
                      struct output *output) {
    const struct question *question = answerer->question;
    const struct output *front = &answerer->front;
    bool has_documents = question->properties.id_type != IDX_ID_NONE;
    if (has_documents && !find_documents(answerer, match->fingerprint)) return false;
    if (question->agree > 0) return put_documents(answerer, query, output);
    if (question->json) {
        begin_json_match(question, query, match, output);
        output_text(output, has_documents ? ",\"documents\":[" : "}\n");
        if (!has_documents) return true;
        bool ok = put_documents(answerer, query, output);
        output_text(output, "]}\n");
        return ok;
    }
    put_front(question, query, match, &answerer->front);
    if (front->error != 0) output->error = front->error;
    if (has_documents) return put_documents(answerer, query, output);
    output_bytes(output, front->bytes, front->length);
    output_byte(output, '\n');
    return true;
}

/* ---- Queries ---- */

/* Writes the line of a query that has a match, of which nothing else is asked. */
static void put_query_alone(const struct answerer *answerer, const struct query *query, struct output *output) {
    const struct question *question = answerer->question;
    if (question->json)
        begin_json_query(question, query, output);
    else
        put_query(question, query, output);
    output_text(output, question->json ? "}\n" : "\n");
}

bool answerer_print(struct answerer *answerer, const struct query *query, const struct idx_match *matches, size_t count,
                    struct output *output) {
    uint64_t limit = answerer->question->limit;
    if (count > 0) answerer->found = true;
    if (answerer->question->exists && count > 0) put_query_alone(answerer, query, output);
    if (answerer->question->exists) return true;
    if (answerer->question->agree > 0) agree_put_query(answerer->question, query, output);
    for (size_t i = 0; i < count && i < limit && output->error == 0; i++) {
        if (!put_match(answerer, query, &matches[i], output)) return false;
    }
    return true;
}

bool answerer_answer(struct answerer *answerer, const struct query *queries, size_t count, struct output *output) {
    const struct question *question = answerer->question;
    uint64_t fingerprints[ANSWER_QUERIES] = {0};
    struct idx_match_lists_options options = IDX_MATCH_LISTS_OPTIONS_INIT;
    struct idx_match_lists lists;
    options.distance = question->distance;
    options.max_matches = question->exists ? 0 : question->limit;
    for (size_t i = 0; i < count; i++) fingerprints[i] = queries[i].fingerprint;
    bool ok = idx_list_matches(question->index, fingerprints, count, &options, &lists, &answerer->error) == IDX_OK;
    if (!ok && count == 1) return false;
    for (size_t i = 0; i < count && output->error == 0; i++) {
        /* If queries fail together, they are looked up one by one, so that those before the bad one are answered. */
        bool answered = ok ? answerer_print(answerer, &queries[i], lists.matches + lists.offsets[i],
                                            (size_t)lists.counts[i], output)
                           : answerer_answer(answerer, &queries[i], 1, output);
        if (answered) continue;
        if (ok) idx_match_lists_close(&lists);
        return false;
    }
    if (ok) idx_match_lists_close(&lists);
    return true;
}
