/* parts.c: divides texts as they are written, so that cutting something out leaves every other byte as it was. */
#include "tools/formats/parts.h"

#include <string.h>

/* The length of an escape such as \u000a. */
enum { UNICODE_ESCAPE = 6 };

/* Returns the length of the escape of JSON that bytes begin with: UNICODE_ESCAPE, or 2, or less if it is cut off. Sets
 * *character to what it stands for if that is a blank or a line end, or else to any other one. */
static size_t read_escape(struct span bytes, uint32_t *character) {
    static const char letters[] = "bfnrt", meanings[] = "\b\f\n\r\t", digits[] = "0123456789abcdef";
    const char *letter = bytes.length > 1 && bytes.bytes[1] != '\0' ? strchr(letters, bytes.bytes[1]) : NULL;
    *character = letter != NULL ? (uint32_t)meanings[letter - letters] : 0;
    if (bytes.length < UNICODE_ESCAPE || bytes.bytes[1] != 'u') return bytes.length < 2 ? bytes.length : 2;
    for (size_t i = 2; i < UNICODE_ESCAPE; i++) {
        const char *digit = memchr(digits, bytes.bytes[i] >= 'A' ? bytes.bytes[i] | 0x20 : bytes.bytes[i], 16);
        *character = digit == NULL ? UINT32_MAX >> 4 : (*character << 4 | (uint32_t)(digit - digits)) & UINT32_MAX >> 4;
    }
    return UNICODE_ESCAPE;
}

/* Returns the length of the line that `rest` begins with, which is escaped, with its line end. */
static size_t find_escaped_line_end(struct span rest) {
    size_t at = 0;
    const char *backslash;
    while ((backslash = memchr(rest.bytes + at, '\\', rest.length - at)) != NULL) {
        uint32_t character;
        at = (size_t)(backslash - rest.bytes);
        at += read_escape((struct span){backslash, rest.length - at}, &character);
        if (character == '\n') return at;
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

/* Returns whether a character has the property White_Space of Unicode. */
static bool is_white(uint32_t c) {
    if (c < 0x80) return c == ' ' || (c >= '\t' && c <= '\r');
    return c == 0x85 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 ||
           c == 0x202f || c == 0x205f || c == 0x3000;
}

/* Returns the length of the character that bytes begin with if that is ASCII or white space, and sets *character to it;
 * or else 1, with *character set to what is neither white space nor a mark. */
static size_t read_character(struct span bytes, uint32_t *character) {
    const unsigned char *byte = (const unsigned char *)bytes.bytes;
    *character = *byte;
    if (*byte < 0x80) return 1;
    *character = UINT32_MAX;
    if (bytes.length >= 2 && *byte == 0xc2 && (byte[1] & 0xc0) == 0x80) {
        *character = byte[1]; /* U+0080 to U+00BF */
        return 2;
    }
    if (bytes.length < 3 || (*byte & 0xf0) != 0xe0 || (byte[1] & 0xc0) != 0x80 || (byte[2] & 0xc0) != 0x80) return 1;
    uint32_t found = (*byte & 0xfU) << 12 | (byte[1] & 0x3fU) << 6 | (byte[2] & 0x3fU);
    if (found < 0x800) return 1; /* An overlong sequence is no character. */
    *character = found;
    return 3;
}

/* Returns how many bytes at the beginning of a line are blanks and marks of quotation, `>`. */
static size_t find_end_of_marks(struct span line, bool escaped) {
    size_t at = 0, length;
    for (; at < line.length; at += length) {
        const struct span rest = {line.bytes + at, line.length - at};
        uint32_t character;
        length = escaped && *rest.bytes == '\\' ? read_escape(rest, &character) : read_character(rest, &character);
        if (character != '>' && !is_white(character)) break;
    }
    return at;
}

/* Returns whether a line has nothing but blanks and marks of quotation. */
static bool is_blank(struct span line, bool escaped) { return find_end_of_marks(line, escaped) == line.length; }

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

bool parts_unquote(struct span *part, struct output *kept) {
    struct parts lines = {*part, PARTS_LINE, false};
    struct span line;
    if (memchr(part->bytes, '>', part->length) == NULL) return true;
    kept->length = 0;
    while (parts_next(&lines, &line)) {
        size_t marks = find_end_of_marks(line, false);
        if (memchr(line.bytes, '>', marks) == NULL) marks = 0;
        output_bytes(kept, line.bytes + marks, line.length - marks);
        if (marks == line.length) output_byte(kept, '\n');
    }
    *part = (struct span){kept->bytes != NULL ? kept->bytes : "", kept->length};
    return kept->error == 0;
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
