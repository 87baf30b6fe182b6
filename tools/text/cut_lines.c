/* cut_lines.c: documents that are a file, a line, or several lines. */
#include "tools/text/cut.h"

#include <string.h>

bool cut_whole(struct documents *documents, enum document_format format) {
    struct source *source = &documents->source;
    struct raw_document raw = cut_begin(documents, format);
    const char *bytes;
    size_t held;
    raw.unit = UNIT_FILE;
    while (raw.bad.kind == BAD_NONE && (held = source_peek(source, 1, &bytes)) > 0) {
        cut_append(&raw, bytes, held);
        source_skip(source, held);
    }
    if (!source->broken && !source->unreadable) return cut_give(documents, &raw, NULL, 0);
    raw_document_free(&raw);
    return cut_give_end(documents);
}

/* ---- A document a line, or several ---- */

/* Reads a line into the document, without its \n. False at the end of the source. */
static bool read_line(struct source *source, struct raw_document *raw) {
    const char *bytes, *newline;
    size_t held;
    bool any = false;
    while ((held = source_peek(source, 1, &bytes)) > 0) {
        newline = memchr(bytes, '\n', held);
        cut_append(raw, bytes, newline != NULL ? (size_t)(newline - bytes) : held);
        source_skip(source, newline != NULL ? (size_t)(newline - bytes) + 1 : held);
        if (newline != NULL) return true;
        any = true;
    }
    return any && !source->broken && !source->unreadable;
}

static void skip_mark(struct source *source) {
    const char *bytes;
    if (source_peek(source, 3, &bytes) >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0) source_skip(source, 3);
}

static bool is_blank(const struct output *line) {
    for (size_t i = 0; i < line->length; i++) {
        if (strchr(" \t\r", line->bytes[i]) == NULL || line->bytes[i] == '\0') return false;
    }
    return true;
}

bool cut_lines(struct documents *documents, enum document_format format) {
    skip_mark(&documents->source);
    for (uint64_t line = 1;; line++) {
        struct raw_document raw = cut_begin(documents, format);
        if (!read_line(&documents->source, &raw)) {
            raw_document_free(&raw);
            return cut_give_end(documents);
        }
        if (raw.bad.kind == BAD_NONE && is_blank(&raw.bytes))
            raw_document_free(&raw);
        else if (!cut_give(documents, &raw, "", line))
            return false;
    }
}

static size_t id_length(const struct output *line) {
    const char *tab = line->length > 0 ? memchr(line->bytes, '\t', line->length) : NULL;
    return tab == NULL ? line->length : (size_t)(tab - line->bytes);
}

static bool same_id(const struct output *lines, const struct output *line) {
    size_t length = id_length(line);
    return lines->length > 0 && id_length(lines) == length && memcmp(lines->bytes, line->bytes, length) == 0;
}

bool cut_features(struct documents *documents) {
    struct source *source = &documents->source;
    struct raw_document lines = cut_begin(documents, FORMAT_FEATURES), line = cut_begin(documents, FORMAT_FEATURES);
    uint64_t number = 0, first = 1, begins;
    bool on = true;
    skip_mark(source);
    while (on && (begins = source->offset, read_line(source, &line))) {
        number++;
        if (line.bad.kind != BAD_NONE || !same_id(&lines.bytes, &line.bytes)) {
            lines.ends = begins;
            if (lines.bytes.length > 0 || lines.bad.kind != BAD_NONE) on = cut_give(documents, &lines, "", first);
            lines = cut_begin(documents, FORMAT_FEATURES);
            lines.begins = begins;
            first = number;
        }
        if (line.bad.kind != BAD_NONE) lines.bad = line.bad;
        cut_append(&lines, line.bytes.bytes, line.bytes.length);
        cut_append(&lines, "\n", 1);
        line.bytes.length = 0;
        line.bad.kind = BAD_NONE;
    }
    bool whole = !source->broken && !source->unreadable;
    if (on && whole && (lines.bytes.length > 0 || lines.bad.kind != BAD_NONE))
        on = cut_give(documents, &lines, "", first);
    else
        raw_document_free(&lines);
    raw_document_free(&line);
    return on && cut_give_end(documents);
}
