/* documents.c: cuts inputs into documents. */
#include "tools/text/documents.h"

#include "tools/shared/folder.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

enum { SNIFFED_BYTES = 8192, AT_ONCE = 1 << 15 };

void raw_document_free(struct raw_document *raw) {
    free(raw->bytes.bytes);
    free(raw->place);
    free(raw->id);
    *raw = (struct raw_document){.bytes = OUTPUT_KEPT};
}

/* ---- Giving documents ---- */

/* The raw document that is being cut. */
static struct raw_document begin(enum document_format format) {
    return (struct raw_document){.format = format, .bytes = OUTPUT_KEPT};
}

/* `where` NULL: there is one document in the file. */
static bool give(struct documents *documents, struct raw_document *raw, const char *where, uint64_t number) {
    int length = where == NULL ? asprintf(&raw->place, "%s", documents->path)
                               : asprintf(&raw->place, "%s:%s%" PRIu64, documents->path, where, number);
    if (length < 0) {
        raw->place = NULL;
        bad_set(&raw->bad, BAD_FILE, "%s", strerror(ENOMEM));
    }
    if (raw->bad.kind != BAD_NONE) {
        free(raw->bytes.bytes);
        raw->bytes = (struct output)OUTPUT_KEPT;
    }
    return documents->take(documents->context, raw);
}

static bool give_bad(struct documents *documents, enum bad_kind kind, const char *sentence, const char *where,
                     uint64_t number) {
    struct raw_document raw = begin(FORMAT_PLAIN);
    bad_set(&raw.bad, kind, "%s", sentence);
    return give(documents, &raw, where, number);
}

/* Says what ended the source too soon, if anything did. */
static bool give_end(struct documents *documents) {
    const struct source *source = &documents->source;
    if (!source->broken && !source->unreadable) return true;
    enum bad_kind kind = source->broken ? BAD_COMPRESSION : BAD_FILE;
    return give_bad(documents, kind, source->problem.sentence, NULL, 0);
}

static void set_too_long(struct raw_document *raw) {
    raw->bytes.length = 0;
    bad_set(&raw->bad, BAD_LONG, "it has %zu bytes or more, which is too long", DOCUMENT_BYTES);
}

/* Adds bytes to a document. Of one that got too long they are dropped. */
static void append(struct raw_document *raw, const char *bytes, size_t length) {
    if (raw->bad.kind != BAD_NONE) return;
    if (length >= DOCUMENT_BYTES - raw->bytes.length) {
        set_too_long(raw);
        return;
    }
    output_bytes(&raw->bytes, bytes, length);
    if (raw->bytes.error != 0) bad_set(&raw->bad, BAD_LONG, "there is no memory for it");
}

/* ---- A document a file ---- */

static bool read_whole(struct documents *documents, enum document_format format) {
    struct source *source = &documents->source;
    struct raw_document raw = begin(format);
    const char *bytes;
    size_t held;
    while (raw.bad.kind == BAD_NONE && (held = source_peek(source, 1, &bytes)) > 0) {
        append(&raw, bytes, held);
        source_skip(source, held);
    }
    if (!source->broken && !source->unreadable) return give(documents, &raw, NULL, 0);
    raw_document_free(&raw);
    return give_end(documents);
}

/* ---- A document a line, or several ---- */

/* Reads a line into the document, without its \n. False at the end of the source. */
static bool read_line(struct source *source, struct raw_document *raw) {
    const char *bytes, *newline;
    size_t held;
    bool any = false;
    while ((held = source_peek(source, 1, &bytes)) > 0) {
        newline = memchr(bytes, '\n', held);
        append(raw, bytes, newline != NULL ? (size_t)(newline - bytes) : held);
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

static bool read_lines(struct documents *documents, enum document_format format) {
    skip_mark(&documents->source);
    for (uint64_t line = 1;; line++) {
        struct raw_document raw = begin(format);
        if (!read_line(&documents->source, &raw)) {
            raw_document_free(&raw);
            return give_end(documents);
        }
        if (raw.bad.kind == BAD_NONE && is_blank(&raw.bytes))
            raw_document_free(&raw);
        else if (!give(documents, &raw, "", line))
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

/* Lines of features, as long as their ID stays the same. */
static bool read_features(struct documents *documents) {
    struct source *source = &documents->source;
    struct raw_document lines = begin(FORMAT_FEATURES), line = begin(FORMAT_FEATURES);
    uint64_t number = 0, first = 1;
    bool on = true;
    skip_mark(source);
    while (on && read_line(source, &line)) {
        number++;
        if (line.bad.kind != BAD_NONE || !same_id(&lines.bytes, &line.bytes)) {
            if (lines.bytes.length > 0 || lines.bad.kind != BAD_NONE) on = give(documents, &lines, "", first);
            lines = begin(FORMAT_FEATURES);
            first = number;
        }
        if (line.bad.kind != BAD_NONE) lines.bad = line.bad;
        append(&lines, line.bytes.bytes, line.bytes.length);
        append(&lines, "\n", 1);
        line.bytes.length = 0;
        line.bad.kind = BAD_NONE;
    }
    bool whole = !source->broken && !source->unreadable;
    if (on && whole && (lines.bytes.length > 0 || lines.bad.kind != BAD_NONE))
        on = give(documents, &lines, "", first);
    else
        raw_document_free(&lines);
    raw_document_free(&line);
    return on && give_end(documents);
}

/* ---- WARC ---- */

/* Consumes `length` bytes, into the document unless it is NULL. False where the source ends before. */
static bool take_bytes(struct source *source, uint64_t length, struct raw_document *raw) {
    const char *bytes;
    while (length > 0) {
        size_t held = source_peek(source, 1, &bytes);
        if (held == 0) return false;
        if (held > length) held = (size_t)length;
        if (raw != NULL) append(raw, bytes, held);
        source_skip(source, held);
        length -= held;
    }
    return true;
}

/* Peeks until the end of a head is at hand. Returns its length; 0 where none is found among WARC_MOST_HEAD bytes. */
static size_t peek_head(struct source *source, uint64_t most, const char **bytes) {
    size_t want = 1;
    if (most > WARC_MOST_HEAD) most = WARC_MOST_HEAD;
    for (;;) {
        size_t held = source_peek(source, want, bytes);
        size_t head = warc_find_head(*bytes, held < most ? held : (size_t)most);
        if (head > 0 || held < want || held >= most) return head;
        want = held + 1;
    }
}

/* Goes to the next line that begins a record, after something that was none. */
static void find_record(struct source *source) {
    const char *bytes;
    size_t held;
    while ((held = source_peek(source, AT_ONCE, &bytes)) > 0) {
        const char *mark = memmem(bytes + 1, held - 1, "\nWARC/", 6);
        if (mark != NULL) {
            source_skip(source, (size_t)(mark + 1 - bytes));
            return;
        }
        source_skip(source, held > 6 ? held - 6 : held);
    }
}

static void skip_line_ends(struct source *source) {
    const char *bytes;
    while (source_peek(source, 1, &bytes) > 0 && (*bytes == '\r' || *bytes == '\n')) source_skip(source, 1);
}

/* Consumes the head of an HTTP response, and sets what it says of its body; FORMAT_AUTO where that is no document. */
static bool begin_response(struct source *source, struct warc_head *head, struct raw_document *raw) {
    const char *bytes;
    struct http_head http;
    size_t length = peek_head(source, head->length, &bytes);
    raw->format = FORMAT_AUTO;
    if (length == 0)
        return bad_set(&raw->bad, BAD_HTTP, "the HTTP response has no head that ends within %d bytes", WARC_MOST_HEAD);
    if (!http_parse_head(bytes, length, &http, &raw->bad)) return false;
    source_skip(source, length);
    head->length -= length;
    if (http.good) head->type_of_block = http.type;
    raw->chunked = http.chunked;
    strcpy(raw->encoding, http.encoding);
    return http.good;
}

static void set_media(struct raw_document *raw, const struct media_type *type) {
    static const enum document_format formats[] = {[MEDIA_OTHER] = FORMAT_AUTO,
                                                   [MEDIA_TEXT] = FORMAT_PLAIN,
                                                   [MEDIA_HTML] = FORMAT_HTML,
                                                   [MEDIA_HTTP] = FORMAT_AUTO};
    raw->format = formats[type->media];
    strcpy(raw->charset, type->charset);
}

/* Reads the block of a record: into the document, where it is one. False where there is nothing to give. */
static bool read_block(struct documents *documents, struct warc_head *head, struct raw_document *raw) {
    struct source *source = &documents->source;
    raw->format = FORMAT_AUTO;
    if (head->type == WARC_DOCUMENT || (head->type == WARC_RESPONSE && begin_response(source, head, raw)))
        set_media(raw, &head->type_of_block);
    bool document = raw->format != FORMAT_AUTO;
    if (!take_bytes(source, head->length, document ? raw : NULL)) {
        if (!source->broken && !source->unreadable)
            bad_set(&raw->bad, BAD_WARC, "the file ends within this WARC record");
        else
            return raw->bad.kind != BAD_NONE;
    }
    return document || raw->bad.kind != BAD_NONE;
}

static bool read_record(struct documents *documents) {
    struct source *source = &documents->source;
    struct raw_document raw = begin(FORMAT_AUTO);
    struct warc_head head;
    const char *bytes;
    uint64_t offset = source->offset;
    size_t length = peek_head(source, UINT64_MAX, &bytes);
    if (length == 0 && (source->broken || source->unreadable)) {
        find_record(source); /* there is none: what is left is the beginning of a head */
        return true;
    }
    if (length == 0)
        bad_set(&raw.bad, BAD_WARC, "no WARC record with a head that ends within %d bytes is here", WARC_MOST_HEAD);
    if (length == 0 || !warc_parse_head(bytes, length, &head, &raw.bad)) {
        find_record(source);
        return give(documents, &raw, "byte ", offset);
    }
    if (head.id.length > 0) raw.id = strndup(head.id.bytes, head.id.length);
    source_skip(source, length);
    if (read_block(documents, &head, &raw)) return give(documents, &raw, "byte ", offset);
    raw_document_free(&raw);
    return true;
}

static bool read_warc(struct documents *documents) {
    const char *bytes;
    for (;;) {
        skip_line_ends(&documents->source);
        if (source_peek(&documents->source, 1, &bytes) == 0) return give_end(documents);
        if (!read_record(documents)) return false;
    }
}

/* ---- Formats ---- */

static bool ends_in(const char *name, size_t length, const char *ending) {
    size_t size = strlen(ending);
    return length > size && strncasecmp(name + length - size, ending, size) == 0;
}

static enum document_format format_of_name(const char *path) {
    static const char *const compressed[] = {".gz", ".zst", ".xz", ".bz2"};
    static const struct {
        const char *ending;
        enum document_format format;
    } names[] = {
        {".jsonl", FORMAT_JSONL}, {".ndjson", FORMAT_JSONL}, {".tsv", FORMAT_TSV},  {".warc", FORMAT_WARC},
        {".wet", FORMAT_WARC},    {".html", FORMAT_HTML},    {".htm", FORMAT_HTML}, {".xhtml", FORMAT_HTML},
    };
    size_t length = strlen(path);
    for (size_t i = 0; i < sizeof compressed / sizeof *compressed; i++) {
        if (!ends_in(path, length, compressed[i])) continue;
        length -= strlen(compressed[i]);
        break;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (ends_in(path, length, names[i].ending)) return names[i].format;
    }
    return FORMAT_AUTO;
}

static bool begins(const char *bytes, size_t length, const char *with) {
    return length >= strlen(with) && strncasecmp(bytes, with, strlen(with)) == 0;
}

static enum document_format format_of_content(const char *bytes, size_t length) {
    if (begins(bytes, length, "WARC/")) return FORMAT_WARC;
    if (begins(bytes, length, "{\"")) return FORMAT_JSONL;
    if (begins(bytes, length, "\xef\xbb\xbf")) bytes += 3, length -= 3;
    while (length > 0 && isspace((unsigned char)*bytes)) bytes++, length--;
    return begins(bytes, length, "<!doctype html") || begins(bytes, length, "<html") ? FORMAT_HTML : FORMAT_PLAIN;
}

static bool is_binary(const char *bytes, size_t length) {
    struct span text = {bytes, length < SNIFFED_BYTES ? length : SNIFFED_BYTES};
    char charset[CHARSET_NAME_SIZE] = "";
    charset_by_mark(&text, charset);
    return charset[0] == '\0' && text.length > 0 && memchr(text.bytes, '\0', text.length) != NULL;
}

/* `in_folder`: met in a folder, not named. */
static bool read_opened(struct documents *documents, enum document_format format, bool in_folder) {
    const char *bytes = "";
    size_t held = 0;
    if (format == FORMAT_AUTO || in_folder) held = source_peek(&documents->source, SNIFFED_BYTES, &bytes);
    if (format == FORMAT_AUTO) format = format_of_content(bytes, held);
    if (in_folder && (format == FORMAT_PLAIN || format == FORMAT_HTML) && is_binary(bytes, held)) {
        documents->binary++;
        return true;
    }
    switch (format) {
        case FORMAT_JSONL:
        case FORMAT_TSV: return read_lines(documents, format);
        case FORMAT_FEATURES: return read_features(documents);
        case FORMAT_WARC: return read_warc(documents);
        default: return read_whole(documents, format);
    }
}

static bool read_file(struct documents *documents, const char *path, enum document_format format, bool in_folder) {
    documents->path = path;
    if (strpbrk(path, "\t\n") != NULL)
        return give_bad(documents, BAD_FILE, "its path has a tab or a newline, which an ID can't have; rename it", NULL,
                        0);
    if (!source_open(&documents->source, path))
        return give_bad(documents, BAD_FILE, documents->source.problem.sentence, NULL, 0);
    if (format == FORMAT_AUTO) format = format_of_name(path);
    bool on = read_opened(documents, format, in_folder);
    source_close(&documents->source);
    return on;
}

static bool visit(void *context, const char *path) {
    struct documents *documents = context;
    return read_file(documents, path, documents->format, true);
}

bool documents_read(struct documents *documents, const struct texts *paths) {
    static char dash[] = "-", *standard_input[] = {dash};
    char **path = paths->count == 0 ? standard_input : paths->values;
    size_t count = paths->count == 0 ? 1 : paths->count;
    struct stat status;
    for (size_t i = 0; i < count; i++) {
        bool folder = strcmp(path[i], "-") != 0 && stat(path[i], &status) == 0 && S_ISDIR(status.st_mode);
        bool on = folder ? folder_walk(path[i], visit, documents, &documents->failed)
                         : read_file(documents, path[i], documents->format, false);
        if (!on) return false;
    }
    return true;
}

bool documents_read_one(struct documents *documents, const char *path) {
    enum document_format format = format_of_name(path);
    documents->path = path;
    if (!source_open(&documents->source, path))
        return give_bad(documents, BAD_FILE, documents->source.problem.sentence, NULL, 0);
    if (format == FORMAT_AUTO) {
        const char *bytes;
        format = format_of_content(bytes, source_peek(&documents->source, SNIFFED_BYTES, &bytes));
    }
    bool on = read_whole(documents, format == FORMAT_HTML ? FORMAT_HTML : FORMAT_PLAIN);
    source_close(&documents->source);
    return on;
}

void documents_free(struct documents *documents) { source_free(&documents->source); }
