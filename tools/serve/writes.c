/* writes.c: adds and removes documents. Each request is one call of the writer, which takes effect as a whole or not at
 * all. When the request is answered, the change is on disk, and look-ups see it. */
#include "tools/serve/writes.h"

#include "tools/serve/answers.h"
#include "tools/serve/lines.h"
#include "tools/serve/service.h"
#include "tools/serve/views.h"
#include "tools/shared/library.h"

#include <stdlib.h>

/* Opens the writer. Returns the library's status, and sets *error without a complaint if that fails. */
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

/* Fails the request, and complains of errors that are not the client's. Closes the writer after an I/O error, since a
 * writer whose sync failed can only be closed. */
static void fail_by_writer_error(struct request *request, const struct idx_error *error) {
    struct writes *writes = &request->service->writes;
    if (error->status >= IDX_NOT_FOUND) complain("%s", error->sentence);
    request_fail_by_error(request, error);
    if (error->status == IDX_IO_ERROR) writes_close(writes);
}

/* Returns the writer, which is opened again if it was closed, or NULL where the request failed. */
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

/* The most bytes of a line without matches. */
enum { MOST_LINE_BYTES = 48 };

/* Writes the line of a document without its matches: whether it was added, and if not, how many matches it has. */
static void put_short_line(struct rows *rows, bool added, size_t match_count) {
    row_begin(rows);
    row_put_word(rows, "added", added ? "true" : "false");
    if (!added) row_put_number(rows, "count", match_count);
    row_end(rows);
}

/* Reserves memory for `bytes` more bytes of the answer. Returns false if the answer may not grow by them, or memory ran
 * out. */
static bool reserve_if_allowed(struct request *request, size_t bytes) {
    size_t held = atomic_load(&request->service->held_bytes) + request->answer.length;
    return request_check_limits(request) && held <= MOST_HELD_BYTES && output_reserve(&request->answer, bytes) != NULL;
}

/* Writes the line of a document with its matches. Returns false, after part of the line, if their documents can't be
 * read, or if the answer may not grow by them and `room` bytes more, which are reserved. */
static bool put_line_of_matches(struct answers *answers, const struct idx_match *matches, size_t count, size_t room) {
    struct request *request = answers->request;
    row_begin(&answers->rows);
    row_put_word(&answers->rows, "added", "false");
    if (!answers_put_matches(answers, matches, count)) return false;
    row_end(&answers->rows);
    return reserve_if_allowed(request, room);
}

/* Writes a line for each document. The request is committed, so the answer must not fail: room for all lines without
 * matches is reserved beforehand, and where matches can't be written, this line and those behind it are without. */
static void put_document_lines(struct answers *answers, const struct idx_match_lists *lists, size_t document_count) {
    struct output *output = &answers->request->answer;
    bool with_matches = true;
    for (size_t i = 0; i < document_count; i++) {
        size_t count = (size_t)lists->counts[i], begin = output->length, room = (document_count - i) * MOST_LINE_BYTES;
        if (count > 0 && with_matches) {
            with_matches = put_line_of_matches(answers, lists->matches + lists->offsets[i], count, room);
            if (with_matches) continue;
            output->length = begin; /* The part of a line is taken back. */
            output->error = 0;
        }
        put_short_line(&answers->rows, count == 0, count);
    }
}

/* Reserves memory for one line without matches for each document. Returns false where the request failed. */
static bool reserve_short_lines(struct request *request, size_t document_count) {
    return output_reserve(&request->answer, (document_count + 1) * MOST_LINE_BYTES) != NULL ||
           request_fail(request, MHD_HTTP_SERVICE_UNAVAILABLE, "out of memory for the answer");
}

/* Adds the documents that have no near-duplicate, all in one call, answers, and has look-ups see the change. */
static void add_documents(struct answers *answers, struct idx_writer *writer, const struct items *items) {
    struct idx_match_lists_options options = IDX_MATCH_LISTS_OPTIONS_INIT;
    struct request *request = answers->request;
    struct service *service = request->service;
    struct idx_match_lists lists;
    struct idx_error error;
    options.distance = answers->distance;
    options.max_matches = request->limit;
    if (idx_writer_check_and_add(writer, items->list, items->count, &options, &lists, &error) != IDX_OK) {
        fail_by_writer_error(request, &error);
        return;
    }
    request->committed = true;
    for (size_t i = 0; i < items->count; i++) atomic_fetch_add(&service->metrics.added, lists.counts[i] == 0);
    answers->index = idx_writer_view(writer);
    put_document_lines(answers, &lists, items->count);
    idx_match_lists_close(&lists);
    views_refresh(&service->views);
}

/* Writes a line for each text, in the room that is reserved for lines without texts that resemble it, and beyond that
 * as put_document_lines does. */
static void put_text_lines(struct answers *answers, const struct idx_resembling_lists *lists,
                           const struct items *items) {
    struct request *request = answers->request;
    struct output *output = &request->answer;
    bool with_texts = true;
    for (size_t i = 0; i < items->count; i++) {
        size_t text_count = (size_t)(lists->offsets[i + 1] - lists->offsets[i]), line_begin = output->length;
        if ((text_count > 0 || items->sets[i].count == 0) && with_texts) {
            row_begin(&answers->rows);
            row_put_word(&answers->rows, "added", "false");
            row_put_number(&answers->rows, "count", text_count);
            answers_put_resembling(answers, lists, i);
            row_end(&answers->rows);
            with_texts = reserve_if_allowed(request, (items->count - i) * MOST_LINE_BYTES);
            if (with_texts) continue;
            output->length = line_begin;
            output->error = 0;
        }
        put_short_line(&answers->rows, text_count == 0 && items->sets[i].count > 0, text_count);
    }
}

/* Adds the texts that resemble none, all in one call, answers, and has look-ups see the change. */
static void add_texts(struct answers *answers, struct idx_writer *writer, const struct items *items,
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
    put_text_lines(answers, &lists, items);
    idx_resembling_lists_close(&lists);
    views_refresh(&request->service->views);
}

/* Begins an answer from the writer's index, and sets *properties to those of the index. Returns false where the request
 * failed, as it has if `writer` is NULL. */
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
    if (items.takes_texts) ok = answers_begin_resembling(&answers, &items.shingling, &options);
    ok = ok && items_read(&items, request) && reserve_short_lines(request, items.count);
    if (ok && items.takes_texts)
        add_texts(&answers, writer, &items, &options);
    else if (ok)
        add_documents(&answers, writer, &items);
    answers_end(&answers);
    items_free(&items);
    request_finish_answer(request, "application/x-ndjson");
}

/* ---- Removing ---- */

/* Removes the documents that the lines name by fingerprint, ID or both, answers, and has look-ups see the change. */
static void remove_items(struct request *request, struct idx_writer *writer, const struct items *items) {
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
        remove_items(request, writer, &items);
    items_free(&items);
    request_finish_answer(request, "application/json");
}
