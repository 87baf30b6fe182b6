/* answerer.c: looks queries up and writes the answers as `idx lookup` prints them, or as records for agree.c. */
#include "tools/answers/answers.h"
#include "tools/resemblance/files.h"
#include "tools/shared/rows.h"

#include <errno.h>
#include <string.h>

void answerer_init(struct answerer *answerer, const struct question *question) {
    memset(answerer, 0, sizeof *answerer);
    answerer->question = question;
    /* Without a recipe, no fingerprinter is opened, so this can't fail. */
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

/* Writes a fingerprint in the notation that the question asks for. `name` is for JSON. */
static void write_fingerprint(struct rows *rows, const struct question *question, const char *name,
                              uint64_t fingerprint) {
    row_write_fingerprint(rows, name, question->notation, question->properties.bits, fingerprint);
}

/* Begins a row, and writes the query: its ID, or else its fingerprint. */
static void begin_query_row(struct rows *rows, const struct question *question, const struct query *query) {
    row_begin(rows);
    if (query->id != NULL)
        row_write_id(rows, "query", query->id, query->id_length);
    else
        write_fingerprint(rows, question, "query", query->fingerprint);
}

/* Begins a row, and writes the query, the fingerprint of a match, and its distance. */
static void begin_match_row(struct rows *rows, const struct question *question, const struct query *query,
                            const struct idx_match *match) {
    begin_query_row(rows, question, query);
    write_fingerprint(rows, question, "fingerprint", match->fingerprint);
    row_write_number(rows, "distance", match->distance);
}

/* Writes the resemblance of the text of a query and that of a document, rounded down to four decimal places; if it is
 * not known, null in JSON and - in columns. If memory runs out, the output's error is set. */
static void write_resemblance(struct rows *rows, struct answerer *answerer, const struct query *query,
                              const struct idx_document *document) {
    const struct resembling resembling = {.folder = answerer->question->texts,
                                          .hashes = (const uint64_t *)(const void *)query->shingles.bytes,
                                          .count = query->shingles.length / sizeof(uint64_t)};
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

/* Opens the cursor, if it is not open, and moves it before the first document of a fingerprint. Sets `error` and
 * returns false if the library fails. */
static bool seek_documents(struct answerer *answerer, uint64_t fingerprint) {
    if (answerer->documents == NULL &&
        idx_documents_open(&answerer->documents, answerer->question->index, &answerer->error) != IDX_OK)
        return false;
    return idx_documents_find(answerer->documents, fingerprint, NULL, &answerer->error) == IDX_OK;
}

/* Writes a document as an element of an array in JSON, with its resemblance to the query if the question has texts. */
static void write_document_element(struct rows *rows, struct answerer *answerer, const struct query *query,
                                   const struct idx_document *document) {
    if (answerer->question->texts == NULL) {
        row_write_document_id(rows, NULL, document);
        return;
    }
    row_begin_object(rows, NULL);
    row_write_document_id(rows, "id", document);
    write_resemblance(rows, answerer, query, document);
    row_end_object(rows);
}

/* Writes the row of a match and one of its documents, with its resemblance to the query if the question has texts. */
static void write_document_row(struct rows *rows, struct answerer *answerer, const struct query *query,
                               const struct idx_match *match, const struct idx_document *document) {
    begin_match_row(rows, answerer->question, query, match);
    if (answerer->question->texts != NULL) write_resemblance(rows, answerer, query, document);
    row_write_document_id(rows, NULL, document);
    row_end(rows);
}

/* Writes the documents of a match, up to max_documents: as records for agree.c, elements of an array, or rows. The
 * cursor must be before the first of them (seek_documents). Sets `error` and returns false if the library fails. */
static bool write_match_documents(struct rows *rows, struct answerer *answerer, const struct query *query,
                                  const struct idx_match *match) {
    const struct question *question = answerer->question;
    struct idx_document document;
    bool found = true;
    for (uint64_t i = 0; i < question->max_documents && rows->output->error == 0; i++) {
        if (idx_documents_next(answerer->documents, &document, &found, &answerer->error) != IDX_OK) return false;
        if (!found) break;
        if (question->agree > 0)
            agree_append_document(&document, rows->output);
        else if (question->json)
            write_document_element(rows, answerer, query, &document);
        else
            write_document_row(rows, answerer, query, match, &document);
    }
    return true;
}

/* Writes a match in the form that the question asks for: as records for agree.c, as one row with an array of documents
 * in JSON, or as a row for each document in columns. Sets `error` and returns false if the library fails. */
static bool write_match(struct answerer *answerer, const struct query *query, const struct idx_match *match,
                        struct output *output) {
    const struct question *question = answerer->question;
    const bool has_documents = question->properties.id_type != IDX_ID_NONE;
    struct rows rows = {.output = output, .json = question->json};
    if (has_documents && !seek_documents(answerer, match->fingerprint)) return false;
    if (has_documents && (question->agree > 0 || !question->json))
        return write_match_documents(&rows, answerer, query, match);
    begin_match_row(&rows, question, query, match);
    bool ok = true;
    if (has_documents) {
        row_begin_array(&rows, "documents");
        ok = write_match_documents(&rows, answerer, query, match);
        row_end_array(&rows);
    } else if (!question->json) {
        row_write_word(&rows, NULL, ""); /* The column of the document is empty. */
    }
    row_end(&rows);
    return ok;
}

/* ---- Queries ---- */

bool answerer_print_matches(struct answerer *answerer, const struct query *query, const struct idx_match *matches,
                            size_t count, struct output *output) {
    uint64_t limit = answerer->question->limit;
    if (count > 0) answerer->found = true;
    if (answerer->question->exists) {
        struct rows rows = {.output = output, .json = answerer->question->json};
        if (count == 0) return true;
        begin_query_row(&rows, answerer->question, query);
        row_end(&rows);
        return true;
    }
    if (answerer->question->agree > 0) agree_append_query(answerer->question, query, output);
    for (size_t i = 0; i < count && i < limit && output->error == 0; i++) {
        if (!write_match(answerer, query, &matches[i], output)) return false;
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
    bool listed = idx_list_matches(question->index, fingerprints, count, &options, &lists, &answerer->error) == IDX_OK;
    bool ok = listed || count > 1;
    for (size_t i = 0; i < count && ok && output->error == 0; i++) {
        /* If queries fail together, they are looked up one by one, so that those before the bad one are answered. */
        ok = listed ? answerer_print_matches(answerer, &queries[i], lists.matches + lists.offsets[i],
                                             (size_t)lists.counts[i], output)
                    : answerer_answer_queries(answerer, &queries[i], 1, output);
    }
    if (listed) idx_match_lists_close(&lists);
    return ok;
}
