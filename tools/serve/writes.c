/* writes.c: adds and removes documents. Each request is one call of the writer, which takes effect as a whole or not at
 * all. When the request is answered, the change is on disk, and look-ups see it. */
#include "tools/serve/writes.h"

#include "tools/serve/answers.h"
#include "tools/serve/lines.h"
#include "tools/serve/service.h"
#include "tools/shared/library.h"

#include <stdlib.h>

/* Opens the writer of the index at the options' path. Returns the library's status, and sets *error without a complaint
 * if that fails. */
static enum idx_status open_writer(struct writes *writes, struct idx_error *error) {
    struct idx_writer_options options = IDX_WRITER_OPTIONS_INIT;
    options.threads = writes->options->threads;
    return idx_writer_open(&writes->writer, writes->options->path, &options, error);
}

bool writes_open(struct writes *writes, const struct serve_options *options) {
    struct idx_error error;
    *writes = (struct writes){.options = options};
    return !options->writable || succeeded(open_writer(writes, &error), &error);
}

void writes_close(struct writes *writes) {
    idx_writer_close(writes->writer);
    writes->writer = NULL;
}

/* Fails the request by an error of the writer. Complains as well if the error is not the client's. Closes the writer
 * after an I/O error, since a writer whose sync failed can only be closed. */
static void fail_by_writer_error(struct request *request, const struct idx_error *error) {
    struct writes *writes = &request->service->writes;
    if (error->status >= IDX_NOT_FOUND) complain("%s", error->sentence);
    request_fail_by_error(request, error);
    if (error->status == IDX_IO_ERROR) writes_close(writes);
}

/* Returns the writer, after opening it again if an I/O error closed it, or NULL where the request failed. */
static struct idx_writer *ensure_writer(struct request *request) {
    struct writes *writes = &request->service->writes;
    struct idx_error error;
    if (writes->writer == NULL && open_writer(writes, &error) != IDX_OK) {
        request_fail(request, MHD_HTTP_SERVICE_UNAVAILABLE, "%s", error.sentence);
        return NULL;
    }
    return writes->writer;
}

/* ---- Adding ---- */

/* The most bytes of a line without matches: {"added":false,"count":…}. */
enum { MAX_SHORT_LINE_BYTES = 48 };

/* Writes the line of a document without its matches: {"added":true}, or {"added":false,"count":match_count}. */
static void write_short_line(struct rows *rows, bool added, size_t match_count) {
    row_begin(rows);
    row_write_word(rows, "added", added ? "true" : "false");
    if (!added) row_write_number(rows, "count", match_count);
    row_end(rows);
}

/* Reserves memory for `bytes` more bytes of the answer. Returns false if the answer is beyond a limit of
 * request_check_limits, if all requests hold more than MAX_HELD_BYTES, or if memory ran out. A committed request does
 * not fail by that. */
static bool reserve_answer_bytes(struct request *request, size_t bytes) {
    size_t held = atomic_load(&request->service->held_bytes) + request->answer.length;
    return request_check_limits(request) && held <= MAX_HELD_BYTES && output_reserve(&request->answer, bytes) != NULL;
}

/* Writes the line of a document that was not added, with its `match_count` matches, and reserves `bytes_of_later_lines`
 * bytes for the lines behind it. Returns false, after all or a part of the line, if the documents of the matches can't
 * be read, or if reserve_answer_bytes returns false. */
static bool write_line_of_matches(struct answers *answers, const struct idx_match *matches, size_t match_count,
                                  size_t bytes_of_later_lines) {
    row_begin(&answers->rows);
    row_write_word(&answers->rows, "added", "false");
    if (!answers_write_matches(answers, matches, match_count)) return false;
    row_end(&answers->rows);
    return reserve_answer_bytes(answers->request, bytes_of_later_lines);
}

/* Writes a line for each document: whether it was added, and if not, its matches. The request is committed, so the
 * answer must not fail. Therefore the caller has reserved memory for all lines without matches; and where the matches
 * of a line can't be written, this line and those behind it are written without matches. */
static void write_document_lines(struct answers *answers, const struct idx_match_lists *lists, size_t document_count) {
    struct output *output = &answers->request->answer;
    bool with_matches = true;
    for (size_t i = 0; i < document_count; i++) {
        size_t match_count = (size_t)lists->counts[i], line_begin = output->length;
        size_t short_lines_bytes = (document_count - i) * MAX_SHORT_LINE_BYTES; /* For this line and those behind it. */
        if (match_count > 0 && with_matches) {
            const struct idx_match *matches = lists->matches + lists->offsets[i];
            with_matches = write_line_of_matches(answers, matches, match_count, short_lines_bytes);
            if (with_matches) continue;
            output->length = line_begin; /* Remove the part of the line. */
            output->error = 0;
        }
        write_short_line(&answers->rows, match_count == 0, match_count);
    }
}

/* Reserves memory for a line without matches for each document. Returns false where the request failed, because memory
 * ran out. */
static bool reserve_short_lines(struct request *request, size_t document_count) {
    /* One more, since reserving 0 bytes would return NULL. */
    return output_reserve(&request->answer, (document_count + 1) * MAX_SHORT_LINE_BYTES) != NULL ||
           request_fail(request, MHD_HTTP_SERVICE_UNAVAILABLE, "out of memory for the answer");
}

/* Adds the documents that have no near-duplicate, all in one call of the writer, writes the answer, and refreshes the
 * view so that look-ups see the change. Fails the request if the writer fails. */
static void add_documents_and_answer(struct answers *answers, struct idx_writer *writer, const struct items *items) {
    struct idx_match_lists_options options = IDX_MATCH_LISTS_OPTIONS_INIT;
    struct request *request = answers->request;
    struct idx_match_lists lists;
    struct idx_error error;
    options.distance = answers->distance;
    options.max_matches = request->limit;
    if (idx_writer_check_and_add(writer, items->list, items->count, &options, &lists, &error) != IDX_OK) {
        fail_by_writer_error(request, &error);
        return;
    }
    request->committed = true;
    for (size_t i = 0; i < items->count; i++) atomic_fetch_add(&request->service->metrics.added, lists.counts[i] == 0);
    answers->index = idx_writer_view(writer);
    write_document_lines(answers, &lists, items->count);
    idx_match_lists_close(&lists);
    views_refresh(&request->service->views);
}

/* Writes a line for each text: whether it was added, and if not, the stored texts that resemble it. As in
 * write_document_lines, the caller has reserved memory for all lines without such texts; and where they can't be
 * written, this line and those behind it are written without them. */
static void write_text_lines(struct answers *answers, const struct idx_resembling_lists *lists,
                             const struct items *items) {
    struct output *output = &answers->request->answer;
    bool with_texts = true;
    for (size_t i = 0; i < items->count; i++) {
        size_t text_count = (size_t)(lists->offsets[i + 1] - lists->offsets[i]), line_begin = output->length;
        /* A text without shingles is not added, although none resembles it. */
        if ((text_count > 0 || items->sets[i].count == 0) && with_texts) {
            row_begin(&answers->rows);
            row_write_word(&answers->rows, "added", "false");
            row_write_number(&answers->rows, "count", text_count);
            answers_write_resembling(answers, lists, i);
            row_end(&answers->rows);
            with_texts = reserve_answer_bytes(answers->request, (items->count - i) * MAX_SHORT_LINE_BYTES);
            if (with_texts) continue;
            output->length = line_begin;
            output->error = 0;
        }
        write_short_line(&answers->rows, text_count == 0 && items->sets[i].count > 0, text_count);
    }
}

/* Adds the texts that resemble no other one, all in one call of the writer, writes the answer, and refreshes the view
 * so that look-ups see the change. Fails the request if the writer fails. */
static void add_texts_and_answer(struct answers *answers, struct idx_writer *writer, const struct items *items,
                                 const struct idx_resembling_options *options) {
    struct request *request = answers->request;
    struct idx_resembling_lists lists;
    struct idx_error error;
    if (idx_writer_add_unlike(writer, items->list, items->sets, items->count, options, &lists, &error) != IDX_OK) {
        fail_by_writer_error(request, &error);
        return;
    }
    request->committed = true;
    for (size_t i = 0; i < items->count; i++)
        atomic_fetch_add(&request->service->metrics.added,
                         items->sets[i].count > 0 && lists.offsets[i] == lists.offsets[i + 1]);
    write_text_lines(answers, &lists, items);
    idx_resembling_lists_close(&lists);
    views_refresh(&request->service->views);
}

/* Begins an answer from the writer's index, and sets *properties, which must outlive the answer, to those of the index.
 * Returns false where the request failed: before, if `writer` is NULL, or because its k is too large. */
static bool begin_answer_from_writer(struct answers *answers, struct request *request, struct idx_writer *writer,
                                     struct idx_properties *properties) {
    if (writer == NULL) return false;
    idx_get_properties(idx_writer_view(writer), properties);
    *answers = (struct answers){.request = request,
                                .rows = {.output = &request->answer, .json = true},
                                .index = idx_writer_view(writer),
                                .properties = properties};
    return answers_set_distance(answers);
}

void writes_answer_add(struct request *request) {
    struct idx_properties properties;
    struct items items = {.properties = &properties};
    struct answers answers = {.request = request};
    struct idx_resembling_options options;
    struct idx_writer *writer = ensure_writer(request);
    bool ok = begin_answer_from_writer(&answers, request, writer, &properties);
    items.takes_texts = ok && (properties.sketch > 0 || request->resemble > 0);
    if (items.takes_texts) ok = answers_set_resembling_options(&answers, &items.shingling, &options);
    ok = ok && items_read(&items, request) && reserve_short_lines(request, items.count);
    if (ok && items.takes_texts)
        add_texts_and_answer(&answers, writer, &items, &options);
    else if (ok)
        add_documents_and_answer(&answers, writer, &items);
    answers_end(&answers);
    items_free(&items);
    request_finish_answer(request, "application/x-ndjson");
}

/* ---- Removing ---- */

/* Removes the documents that the items name by fingerprint, ID or both, writes the answer, and refreshes the view so
 * that look-ups see the change. Fails the request if the writer fails, or if IDs alone need a map that the index lacks.
 */
static void remove_items_and_answer(struct request *request, struct idx_writer *writer, const struct items *items) {
    struct idx_removal removal = {0};
    struct idx_error error;
    enum idx_removal_key key = IDX_REMOVE_DOCUMENTS;
    if (items->keys == ITEM_ID && items->properties->sketch == 0 &&
        !answers_require_map_from_ids(request, items->properties))
        return;
    if (items->keys == ITEM_FINGERPRINT)
        key = IDX_REMOVE_FINGERPRINTS;
    else if (items->keys == ITEM_ID)
        key = IDX_REMOVE_IDS;
    enum idx_status status = idx_writer_remove(writer, key, items->list, items->count, &removal, &error);
    if (status != IDX_OK) {
        fail_by_writer_error(request, &error);
        return;
    }
    request->committed = true;
    atomic_fetch_add(&request->service->metrics.removed, removal.documents);
    output_text(&request->answer, "{\"documents\":");
    output_decimal(&request->answer, removal.documents);
    output_text(&request->answer, ",\"missing\":");
    output_decimal(&request->answer, removal.missing);
    output_text(&request->answer, "}\n");
    views_refresh(&request->service->views);
}

void writes_answer_remove(struct request *request) {
    struct idx_properties properties;
    struct items items = {.properties = &properties, .may_lack_key = true};
    struct answers answers = {.request = request};
    struct idx_writer *writer = ensure_writer(request);
    request->distance = 0; /* Nothing is looked up, so that no distance is too large. */
    if (begin_answer_from_writer(&answers, request, writer, &properties) && items_read(&items, request))
        remove_items_and_answer(request, writer, &items);
    /* No answers_end: nothing was looked up, and the writer's index is no view to release. */
    items_free(&items);
    request_finish_answer(request, "application/json");
}
