/* cut.c: cuts inputs into documents that are a file, a line, several lines, or a record of a WARC file. */
#include "tools/documents/cut.h"
#include "tools/formats/warc.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns a document without bytes, which begins at the source's offset, and whose unit is UNIT_LINES until the caller
 * changes it. */
static struct raw_document make_empty_document(const struct documents *documents, enum document_format format) {
    return (struct raw_document){.format = format,
                                 .bytes = OUTPUT_BUFFER,
                                 .most = documents->most,
                                 .file = documents->found.opened_files - 1,
                                 .unit = UNIT_LINES,
                                 .begins = documents->source.offset,
                                 .date = documents->date};
}

/* Completes a document. Sets its place, which messages show: the path of its file, and unless `label` is NULL, a colon,
 * `label` and `number`. Sets where it ends, unless the caller did. A bad document loses its bytes, and without memory
 * for its place, it is bad. Returns true always, so that a caller can return this. */
static bool complete_document(const struct documents *documents, struct raw_document *raw, const char *label,
                              uint64_t number) {
    int length = label == NULL ? asprintf(&raw->place, "%s", documents->path)
                               : asprintf(&raw->place, "%s:%s%" PRIu64, documents->path, label, number);
    if (length < 0) {
        raw->place = NULL;
        bad_set_memory(&raw->bad);
    }
    if (raw->ends == 0) raw->ends = documents->source.offset;
    raw->input_bytes = documents->bytes_before + documents->source.bytes_read - documents->source_bytes_before;
    if (raw->bad.kind != BAD_NONE) {
        free(raw->bytes.bytes);
        raw->bytes = (struct output)OUTPUT_BUFFER;
    }
    return true;
}

bool cut_set_bad_file(const struct documents *documents, struct raw_document *raw, enum bad_kind kind,
                      const char *sentence) {
    *raw = make_empty_document(documents, FORMAT_PLAIN);
    raw->unit = UNIT_FILE;
    bad_set(&raw->bad, kind, "%s", sentence);
    return complete_document(documents, raw, NULL, 0);
}

bool cut_set_unreadable_file(const struct documents *documents, struct raw_document *raw) {
    const struct source *source = &documents->source;
    enum bad_kind kind = source->error == ENOMEM ? BAD_MEMORY : BAD_FILE;
    return cut_set_bad_file(documents, raw, kind, source->problem.sentence);
}

/* Makes one document of the whole file, after which nothing is left to cut. Returns false if the source failed. */
static bool cut_whole_file(struct documents *documents, struct raw_document *raw) {
    struct source *source = &documents->source;
    const char *bytes;
    size_t peeked;
    raw->unit = UNIT_FILE;
    documents->cut_state.format = FORMAT_AUTO; /* The file is one document, so nothing is left to cut. */
    while (raw->bad.kind == BAD_NONE && (peeked = source_peek(source, 1, &bytes)) > 0) {
        raw_document_append(raw, bytes, peeked);
        source_skip(source, peeked);
    }
    return !source_failed(source) && complete_document(documents, raw, NULL, 0);
}

/* ---- A document a line, or several ---- */

/* Appends the source's next line to a document, without its \n, which the last line may lack. Returns false, perhaps
 * after appending a part of a line, at the end of the source or if that ends too soon. */
static bool append_next_line(struct source *source, struct raw_document *raw) {
    const char *bytes, *newline;
    size_t peeked;
    bool has_bytes = false;
    while ((peeked = source_peek(source, 1, &bytes)) > 0) {
        newline = memchr(bytes, '\n', peeked);
        raw_document_append(raw, bytes, newline != NULL ? (size_t)(newline - bytes) : peeked);
        source_skip(source, newline != NULL ? (size_t)(newline - bytes) + 1 : peeked);
        if (newline != NULL) return true;
        has_bytes = true;
    }
    return has_bytes && !source_failed(source);
}

/* Skips the byte order mark of UTF-8, if the source begins with one. */
static void skip_byte_order_mark(struct source *source) {
    const char *bytes;
    if (source_peek(source, 3, &bytes) >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0) source_skip(source, 3);
}

/* Returns whether a line has nothing but blanks, tabs and a carriage return. */
static bool is_blank_line(const struct output *line) {
    struct span rest = {line->bytes, line->length};
    span_skip(&rest, " \t\r");
    return rest.length == 0;
}

/* Makes *raw, which make_empty_document made, a document of the next line that is not blank. Returns false at the end,
 * or if the source failed. */
static bool cut_line(struct documents *documents, struct raw_document *raw) {
    while (append_next_line(&documents->source, raw)) {
        documents->cut_state.line_count++;
        if (raw->bad.kind != BAD_NONE || !is_blank_line(&raw->bytes))
            return complete_document(documents, raw, "", documents->cut_state.line_count);
        raw->bytes.length = 0;
        raw->begins = documents->source.offset;
    }
    return false;
}

/* Returns the ID of one or more lines of features: what precedes the first tab, or the whole line without one. Lines
 * that were too long have kept only their ID. */
static struct span find_id_of_lines(const struct raw_document *lines) {
    if (lines->id != NULL) return (struct span){lines->id, lines->id_length};
    struct span rest = {lines->bytes.bytes, lines->bytes.length};
    return span_cut(&rest, '\t');
}

/* Returns whether a line has the ID of the lines before it, and so is of the same document. A line without an ID, which
 * is bad, makes a document by itself. */
static bool has_same_id(const struct raw_document *lines, const struct raw_document *line) {
    struct span id = find_id_of_lines(lines), next_id = find_id_of_lines(line);
    return id.length > 0 && id.length == next_id.length && memcmp(id.bytes, next_id.bytes, id.length) == 0;
}

/* Moves a line to the end of a document of several lines. If the line is bad, the document becomes bad, and gets the
 * line's ID. The line is empty then, and keeps its memory for the next one. */
static void move_line_to_document(struct raw_document *lines, struct raw_document *line) {
    if (lines->bad.kind == BAD_NONE && line->bad.kind != BAD_NONE) {
        lines->bad = line->bad;
        lines->id = line->id;
        lines->id_length = line->id_length;
        line->id = NULL;
    }
    raw_document_append(lines, line->bytes.bytes, line->bytes.length);
    raw_document_append(lines, "\n", 1);
    free(line->id);
    line->id = NULL;
    line->bytes.length = 0;
    line->bad.kind = BAD_NONE;
}

/* Returns whether a document of several lines has a line already, good or bad. */
static bool has_lines_already(const struct raw_document *lines) {
    return lines->bytes.length > 0 || lines->bad.kind != BAD_NONE;
}

/* Makes *raw, which make_empty_document made, a document of the next lines of features that have the same ID. To see
 * where they end, reads one line ahead, and keeps it in `cut_state` for the next call. Returns false at the end, or if
 * the source failed. */
static bool cut_feature_lines(struct documents *documents, struct raw_document *raw) {
    struct cut_state *state = &documents->cut_state;
    struct source *source = &documents->source;
    uint64_t first_line = state->line_count, line_begins = state->line_begins;
    bool is_read_ahead = state->has_line;
    state->has_line = false;
    for (;; is_read_ahead = false) {
        if (!is_read_ahead) {
            line_begins = source->offset;
            if (!append_next_line(source, &state->line)) break;
            state->line_count++;
        }
        if (has_lines_already(raw) && !has_same_id(raw, &state->line)) {
            state->has_line = true;
            state->line_begins = raw->ends = line_begins;
            return complete_document(documents, raw, "", first_line);
        }
        if (!has_lines_already(raw)) {
            raw->begins = line_begins;
            first_line = state->line_count;
        }
        move_line_to_document(raw, &state->line);
    }
    return !source_failed(source) && has_lines_already(raw) && complete_document(documents, raw, "", first_line);
}

/* ---- Records of WARC ---- */

/* How many bytes are searched at a time for the next record. */
enum { BYTES_SEARCHED_AT_ONCE = 1 << 15 };

/* Consumes `length` bytes of the source, and appends them to `raw` unless it is NULL. Returns false if the source ends
 * before. */
static bool consume_bytes(struct source *source, uint64_t length, struct raw_document *raw) {
    const char *bytes;
    while (length > 0) {
        size_t peeked = source_peek(source, 1, &bytes);
        if (peeked == 0) return false;
        if (peeked > length) peeked = (size_t)length;
        if (raw != NULL) raw_document_append(raw, bytes, peeked);
        source_skip(source, peeked);
        length -= peeked;
    }
    return true;
}

/* Returns the length of the head of WARC or HTTP that the source's next bytes begin with, and sets *bytes to them.
 * Returns 0 if the head does not end within `max_length` bytes, or within WARC_MOST_HEAD. Consumes nothing. */
static size_t peek_head(struct source *source, uint64_t max_length, const char **bytes) {
    struct warc_search search = {0};
    size_t wanted = 1;
    if (max_length > WARC_MOST_HEAD) max_length = WARC_MOST_HEAD;
    for (;;) {
        size_t peeked = source_peek(source, wanted, bytes);
        bool found = warc_find_head_end(&search, *bytes, peeked < max_length ? peeked : (size_t)max_length);
        if (found || peeked < wanted || peeked >= max_length) return search.head_length;
        wanted = peeked + 1;
    }
}

/* Skips to the next line that begins a record, behind the current one, or to the end of the source. At least one byte
 * must be left. */
static void skip_to_record(struct source *source) {
    static const char mark[] = "\nWARC/";
    enum { MARK_LENGTH = sizeof mark - 1 };
    const char *bytes;
    size_t peeked;
    while ((peeked = source_peek(source, BYTES_SEARCHED_AT_ONCE, &bytes)) > 0) {
        const char *found = memmem(bytes + 1, peeked - 1, mark, MARK_LENGTH);
        if (found != NULL) {
            source_skip(source, (size_t)(found + 1 - bytes));
            return;
        }
        /* The mark may begin in the last bytes. */
        source_skip(source, peeked > MARK_LENGTH ? peeked - MARK_LENGTH : peeked);
    }
}

/* Skips the line ends between two records of WARC. */
static void skip_line_ends(struct source *source) {
    const char *bytes;
    while (source_peek(source, 1, &bytes) > 0 && (*bytes == '\r' || *bytes == '\n')) source_skip(source, 1);
}

/* Consumes the head of an HTTP response, which is within the record's block. Sets head->length to the length of the
 * body behind it, head->type_of_block to the body's type, and in `raw` how the body is encoded. Returns whether the
 * status says that the body may be a document. If the head can't be read, returns false, and `raw` becomes bad. */
static bool consume_response_head(struct source *source, struct warc_head *head, struct raw_document *raw) {
    const char *bytes;
    struct http_head http;
    size_t head_length = peek_head(source, head->length, &bytes);
    if (head_length == 0)
        return bad_set(&raw->bad, BAD_HTTP, "the head of the HTTP response does not end within %d bytes",
                       WARC_MOST_HEAD);
    if (!http_parse_head(bytes, head_length, &http, &raw->bad)) return false;
    source_skip(source, head_length);
    head->length -= head_length;
    head->type_of_block = http.type;
    raw->chunked = http.chunked;
    strcpy(raw->encoding, http.encoding);
    return http.succeeded;
}

/* Sets the document's format and character set by the type of its WARC block. FORMAT_AUTO: it is no document. */
static void set_format_and_charset(struct raw_document *raw, const struct media_type *type) {
    raw->format = FORMAT_AUTO;
    if (type->media == MEDIA_TEXT) raw->format = FORMAT_PLAIN;
    if (type->media == MEDIA_HTML) raw->format = FORMAT_HTML;
    strcpy(raw->charset, type->charset);
}

/* Consumes a record's block, and appends it to `raw` if it is a document. Returns whether `raw` has a document, or what
 * is wrong with the record. If the source failed, this is not the record's fault, and cut_set_unreadable_file reports
 * it. */
static bool consume_block(struct documents *documents, struct warc_head *head, struct raw_document *raw) {
    struct source *source = &documents->source;
    if (head->type == WARC_DOCUMENT || (head->type == WARC_RESPONSE && consume_response_head(source, head, raw)))
        set_format_and_charset(raw, &head->type_of_block);
    bool is_document = raw->format != FORMAT_AUTO;
    if (!consume_bytes(source, head->length, is_document ? raw : NULL)) {
        if (source_failed(source)) return raw->bad.kind != BAD_NONE;
        raw->unit = UNIT_BROKEN_RECORD;
        bad_set(&raw->bad, BAD_WARC, "the file ends within this WARC record");
    }
    return is_document || raw->bad.kind != BAD_NONE;
}

/* Consumes a record, and sets *raw to its document, or to what is wrong with it; with takes_other_records, to a
 * document of FORMAT_AUTO if it has neither. Otherwise returns false, as it does if the source fails within a record
 * that was good so far. */
static bool cut_record(struct documents *documents, struct raw_document *raw) {
    struct source *source = &documents->source;
    struct warc_head head;
    const char *bytes;
    uint64_t record_offset = source->offset;
    size_t head_length = peek_head(source, UINT64_MAX, &bytes);
    raw->unit = UNIT_RECORD;
    if (head_length == 0 && source_failed(source)) {
        skip_to_record(source); /* Consumes what is left, which is the beginning of a head. */
        return false;
    }
    bool ok = head_length > 0 ? warc_parse_head(bytes, head_length, &head, &raw->bad)
                              : bad_set(&raw->bad, BAD_WARC,
                                        "there is no WARC record here whose head ends within %d bytes", WARC_MOST_HEAD);
    if (!ok) {
        raw->unit = UNIT_BROKEN_RECORD;
        skip_to_record(source);
        return complete_document(documents, raw, "byte ", record_offset);
    }
    if (head.id.length > 0) raw_document_keep_id(raw, head.id);
    source_skip(source, head_length);
    bool has_document = consume_block(documents, &head, raw);
    return (has_document || (documents->takes_other_records && !source_failed(source))) &&
           complete_document(documents, raw, "byte ", record_offset);
}

/* Makes *raw, which make_empty_document made, a document of the next record that has one, or sets it to what is wrong
 * with a record. Returns false at the end, or if the source failed. */
static bool cut_warc_document(struct documents *documents, struct raw_document *raw) {
    const char *bytes;
    for (;;) {
        skip_line_ends(&documents->source);
        if (source_peek(&documents->source, 1, &bytes) == 0) return false;
        raw_document_free(raw);
        *raw = make_empty_document(documents, FORMAT_AUTO);
        if (cut_record(documents, raw)) return true;
    }
}

/* ---- All formats ---- */

void cut_begin_source(struct documents *documents, enum document_format format) {
    bool has_lines = format == FORMAT_JSONL || format == FORMAT_TSV || format == FORMAT_FEATURES;
    documents->cut_state = (struct cut_state){.format = format, .line = make_empty_document(documents, format)};
    if (has_lines) skip_byte_order_mark(&documents->source);
}

bool cut_next_document(struct documents *documents, struct raw_document *raw) {
    const enum document_format format = documents->cut_state.format;
    if (format == FORMAT_AUTO) return false;
    *raw = make_empty_document(documents, format == FORMAT_WARC ? FORMAT_AUTO : format);
    bool found;
    switch (format) {
        case FORMAT_JSONL:
        case FORMAT_TSV: found = cut_line(documents, raw); break;
        case FORMAT_FEATURES: found = cut_feature_lines(documents, raw); break;
        case FORMAT_WARC: found = cut_warc_document(documents, raw); break;
        default: found = cut_whole_file(documents, raw);
    }
    if (!found) raw_document_free(raw);
    return found;
}

void cut_free_line_ahead(struct documents *documents) { raw_document_free(&documents->cut_state.line); }
