/* parts.c: divides texts as they are written, so that cutting something out leaves every other byte as it was. */
#include "tools/text/parts.h"

#include <string.h>

/* The length of an escape such as \u000a. */
enum { UNICODE_ESCAPE = 6 };

/* Returns the length of the escape of JSON that bytes begin with: UNICODE_ESCAPE, or 2, or less if it is cut off. Sets
 * *byte to the character that it stands for if that is below U+0010 or a space, or else to NUL. */
static size_t read_escape(struct span bytes, char *byte) {
    static const char letters[] = "bfnrt", meanings[] = "\b\f\n\r\t", digits[] = "0123456789abcdef";
    const char *letter = bytes.length > 1 && bytes.bytes[1] != '\0' ? strchr(letters, bytes.bytes[1]) : NULL;
    *byte = letter != NULL ? meanings[letter - letters] : '\0';
    if (bytes.length < UNICODE_ESCAPE || bytes.bytes[1] != 'u') return bytes.length < 2 ? bytes.length : 2;
    const char *low = bytes.bytes[5] != '\0' ? strchr(digits, bytes.bytes[5] | 0x20) : NULL;
    bool is_control = memcmp(bytes.bytes + 2, "000", 3) == 0, is_space = memcmp(bytes.bytes + 2, "0020", 4) == 0;
    if (is_control && low != NULL) *byte = (char)(low - digits);
    if (is_space) *byte = ' ';
    return UNICODE_ESCAPE;
}

/* Returns the length of the line that `rest` begins with, which is escaped, with its line end. */
static size_t find_escaped_line_end(struct span rest) {
    size_t at = 0;
    const char *backslash;
    while ((backslash = memchr(rest.bytes + at, '\\', rest.length - at)) != NULL) {
        char byte;
        at = (size_t)(backslash - rest.bytes);
        at += read_escape((struct span){backslash, rest.length - at}, &byte);
        if (byte == '\n') return at;
    }
    return rest.length;
}

static struct span take_line(struct parts *parts) {
    struct span *rest = &parts->rest, line = *rest;
    const char *newline;
    if (parts->escaped)
        line.length = find_escaped_line_end(line);
    else if ((newline = memchr(line.bytes, '\n', line.length)) != NULL)
        line.length = (size_t)(newline + 1 - line.bytes);
    rest->bytes += line.length;
    rest->length -= line.length;
    return line;
}

static bool is_white(char byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r'); }

static bool is_blank(struct span line, bool escaped) {
    for (size_t i = 0, length; i < line.length; i += length) {
        char byte = line.bytes[i];
        length = 1;
        if (escaped && byte == '\\') length = read_escape((struct span){line.bytes + i, line.length - i}, &byte);
        if (!is_white(byte)) return false;
    }
    return true;
}

/* Takes lines off until another paragraph would begin: blank ones, those with text, and the blank ones behind them. The
 * first line of the next paragraph is put back. */
static void take_paragraph(struct parts *parts) {
    bool has_text = false, has_ended = false;
    while (parts->rest.length > 0) {
        struct parts before = *parts;
        bool blank = is_blank(take_line(parts), parts->escaped);
        if (has_ended && !blank) {
            *parts = before;
            return;
        }
        has_ended = has_text && blank;
        has_text = has_text || !blank;
    }
}

bool parts_next(struct parts *parts, struct span *part) {
    *part = parts->rest;
    if (part->length == 0) return false;
    if (parts->by == PARTS_DOCUMENT)
        parts->rest = (struct span){part->bytes + part->length, 0};
    else if (parts->by == PARTS_LINE)
        take_line(parts);
    else
        take_paragraph(parts);
    part->length -= parts->rest.length;
    return true;
}

bool parts_find_text(const struct extract_rules *rules, enum document_format format, struct span document,
                     struct span *text, bool *escaped, struct bad *bad) {
    char charset[CHARSET_NAME_SIZE] = "";
    struct span id;
    *text = document;
    *escaped = format == FORMAT_JSONL;
    if (format == FORMAT_TSV) return extract_id(document, &id, text, bad);
    if (format != FORMAT_JSONL) {
        charset_take_mark(text, charset);
        return charset[0] == '\0' || strcasecmp(charset, "utf-8") == 0 ||
               bad_set(bad, BAD_WIDE, "only texts in UTF-8 are divided, and this one is in %s: convert it first",
                       charset);
    }
    if (!jsonl_find_text(&rules->json, document, text, bad)) return false;
    *text = (struct span){text->bytes + 1, text->length - 2};
    return true;
}
