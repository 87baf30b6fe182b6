/* answerer.c: looks queries up and writes the answers as `idx lookup` prints them, or as records for agree.c. */
#include "tools/answers/answers.h"
#include "tools/resemblance/files.h"
#include "tools/shared/rows.h"

#include <errno.h>
#include <string.h>

void answerer_init(struct answerer *answerer, const struct question *question) {
    memset(answerer, 0, sizeof *answerer);
    answerer->question = question;
    if (question->texts != NULL) text_reader_open(&answerer->reader, NULL, NULL, IDX_MAX_BITS, question->extract);
}

void answerer_close_documents(struct answerer *answerer) {
    idx_documents_close(answerer->documents);
    answerer->documents = NULL;
}

void answerer_free(struct answerer *answerer) {
    answerer_close_documents(answerer);
    if (answerer->question->texts != NULL) text_reader_close(&answerer->reader);
}

/* ---- Rows ---- */

/* Returns rows that are written to the output in the form that is asked for: columns or JSON. */
static struct rows make_rows(const struct question *question, struct output *output) {
    return (struct rows){.output = output, .json = question->json};
}

/* Writes a fingerprint in the notation that is asked for. */
static void put_fingerprint(struct rows *rows, const struct question *question, const char *name,
                            uint64_t fingerprint) {
    row_put_fingerprint(rows, name, question->notation, question->properties.bits, fingerprint);
}

/* Begins a row with the query: its ID, or else its fingerprint. */
static void begin_query_row(struct rows *rows, const struct question *question, const struct query *query) {
    row_begin(rows);
    if (query->id != NULL)
        row_put_id(rows, "query", query->id, query->id_length);
    else
        put_fingerprint(rows, question, "query", query->fingerprint);
}

/* Begins a row with the query, the fingerprint of a match, and its distance. */
static void begin_match_row(struct rows *rows, const struct question *question, const struct query *query,
                            const struct idx_match *match) {
    begin_query_row(rows, question, query);
    put_fingerprint(rows, question, "fingerprint", match->fingerprint);
    row_put_number(rows, "distance", match->distance);
}

/* Writes how much the text of a query resembles that of a document, or that this is not known. The output fails if
 * memory ran out. */
static void put_resemblance(struct rows *rows, struct answerer *answerer, const struct query *query,
                            const struct idx_document *document) {
    const struct resembling resembling = {answerer->question->texts,
                                          (const uint64_t *)(const void *)query->shingles.bytes,
                                          query->shingles.length / sizeof(uint64_t)};
    double resemblance =
        resembling_compare(&answerer->reader, &resembling, (struct span){document->id, document->id_length});
    row_begin_value(rows, "resemblance");
    if (resemblance == RESEMBLANCE_NO_MEMORY)
        rows->output->error = ENOMEM;
    else if (resemblance == RESEMBLANCE_UNKNOWN)
        output_text(rows->output, rows->json ? "null" : "-");
    else
        output_format(rows->output, "%.4f", resemblance_round_down(resemblance));
}

/* ---- Matches ---- */

/* Moves the cursor, opened at the first call, to the documents of a fingerprint. Sets `error` and returns false if the
 * library fails. */
static bool seek_documents(struct answerer *answerer, uint64_t fingerprint) {
    if (answerer->documents == NULL &&
        idx_documents_open(&answerer->documents, answerer->question->index, &answerer->error) != IDX_OK)
        return false;
    return idx_documents_find(answerer->documents, fingerprint, NULL, &answerer->error) == IDX_OK;
}

/* Writes a document as an element of an array, with its resemblance to the query if that is asked for. */
static void put_document_element(struct rows *rows, struct answerer *answerer, const struct query *query,
                                 const struct idx_document *document) {
    if (answerer->question->texts == NULL) {
        row_put_document(rows, NULL, document);
        return;
    }
    row_begin_object(rows, NULL);
    row_put_document(rows, "id", document);
    put_resemblance(rows, answerer, query, document);
    row_end_object(rows);
}

/* Writes the row of a match and one of its documents. */
static void put_document_row(struct rows *rows, struct answerer *answerer, const struct query *query,
                             const struct idx_match *match, const struct idx_document *document) {
    begin_match_row(rows, answerer->question, query, match);
    if (answerer->question->texts != NULL) put_resemblance(rows, answerer, query, document);
    row_put_document(rows, NULL, document);
    row_end(rows);
}

/* Writes the documents of a match, at whose fingerprint the cursor is: as rows, elements of an array or records. Sets
 * `error` if it returns false. */
static bool put_documents(struct rows *rows, struct answerer *answerer, const struct query *query,
                          const struct idx_match *match) {
    const struct question *question = answerer->question;
    struct idx_document document;
    bool found = true;
    for (uint64_t i = 0; i < question->max_documents && rows->output->error == 0; i++) {
        if (idx_documents_next(answerer->documents, &document, &found, &answerer->error) != IDX_OK) return false;
        if (!found) break;
        if (question->agree > 0)
            agree_put_document(&document, rows->output);
        else if (question->json)
            put_document_element(rows, answerer, query, &document);
        else
            put_document_row(rows, answerer, query, match, &document);
    }
    return true;
}

/* Writes a match in the form that is asked for. Sets `error` and returns false if the library fails. */
static bool put_match(struct answerer *answerer, const struct query *query, const struct idx_match *match,
                      struct output *output) {
    const struct question *question = answerer->question;
    const bool has_documents = question->properties.id_type != IDX_ID_NONE;
    struct rows rows = make_rows(question, output);
    if (has_documents && !seek_documents(answerer, match->fingerprint)) return false;
    if (has_documents && (question->agree > 0 || !question->json)) return put_documents(&rows, answerer, query, match);
    begin_match_row(&rows, question, query, match);
    bool ok = true;
    if (has_documents) {
        row_begin_array(&rows, "documents");
        ok = put_documents(&rows, answerer, query, match);
        row_end_array(&rows);
    } else if (!question->json) {
        row_put_word(&rows, NULL, ""); /* The column of the document is empty. */
    }
    row_end(&rows);
    return ok;
}

/* ---- Queries ---- */

bool answerer_print_matches(struct answerer *answerer, const struct query *query, const struct idx_match *matches,
                            size_t count, struct output *output) {
    uint64_t limit = answerer->question->limit;
    if (count > 0) answerer->found = true;
    if (answerer->question->exists && count > 0) {
        struct rows rows = make_rows(answerer->question, output);
        begin_query_row(&rows, answerer->question, query);
        row_end(&rows);
    }
    if (answerer->question->exists) return true;
    if (answerer->question->agree > 0) agree_put_query(answerer->question, query, output);
    for (size_t i = 0; i < count && i < limit && output->error == 0; i++) {
        if (!put_match(answerer, query, &matches[i], output)) return false;
    }
    return true;
}

bool answerer_answer_queries(struct answerer *answerer, const struct query *queries, size_t count,
                             struct output *output) {
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
        bool is_answered = ok ? answerer_print_matches(answerer, &queries[i], lists.matches + lists.offsets[i],
                                                       (size_t)lists.counts[i], output)
                              : answerer_answer_queries(answerer, &queries[i], 1, output);
        if (is_answered) continue;
        if (ok) idx_match_lists_close(&lists);
        return false;
    }
    if (ok) idx_match_lists_close(&lists);
    return true;
}
