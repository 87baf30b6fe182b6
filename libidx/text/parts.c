/* parts.c: divides texts into paragraphs or lines, as they are written, so that cutting something out leaves every
 * other byte as it was. */
#include <string.h>

#include <idx_text.h>

/* A piece of a text, without a NUL byte. */
struct piece {
    const char *bytes;
    size_t length;
};

/* The length of an escape such as \u000a. */
enum { UNICODE_ESCAPE_BYTES = 6 };

/* Returns the length in bytes of the JSON escape that a piece begins with: UNICODE_ESCAPE_BYTES for \u and four bytes,
 * or else 2, or 1 if the text ends after the backslash. If the escape means white space, a line end or `>`, sets
 * *character to that; otherwise to some other character. */
static size_t read_escape(struct piece escape, uint32_t *character) {
    static const char letters[] = "bfnrt", meanings[] = "\b\f\n\r\t", digits[] = "0123456789abcdef";
    const char *letter = escape.length > 1 ? memchr(letters, escape.bytes[1], sizeof letters - 1) : NULL;
    *character = letter != NULL ? (uint32_t)meanings[letter - letters] : 0;
    if (escape.length < 2) return escape.length;
    if (escape.length < UNICODE_ESCAPE_BYTES || escape.bytes[1] != 'u') return 2;
    /* An invalid digit makes the number larger than any character, and further digits leave it so. */
    for (size_t i = 2; i < UNICODE_ESCAPE_BYTES; i++) {
        const char lower = escape.bytes[i] >= 'A' ? (char)(escape.bytes[i] | 0x20) : escape.bytes[i];
        const char *digit = memchr(digits, lower, 16);
        *character = digit == NULL ? UINT32_MAX >> 4 : (*character << 4 | (uint32_t)(digit - digits)) & UINT32_MAX >> 4;
    }
    return UNICODE_ESCAPE_BYTES;
}

/* Returns the length in bytes of the line that `rest`, part of a JSON string, begins with. It includes the line end, an
 * escape such as \n or \u000a. */
static size_t find_escaped_line_length(struct piece rest) {
    size_t position = 0;
    const char *backslash;
    while ((backslash = memchr(rest.bytes + position, '\\', rest.length - position)) != NULL) {
        uint32_t character;
        position = (size_t)(backslash - rest.bytes);
        position += read_escape((struct piece){backslash, rest.length - position}, &character);
        if (character == '\n') return position;
    }
    return rest.length;
}

/* Returns the first line of a text, which is not empty, with its line end, if it has one. `escaped` says whether the
 * text is part of a JSON string. */
static struct piece find_line(struct piece text, bool escaped) {
    const char *newline = escaped ? NULL : memchr(text.bytes, '\n', text.length);
    if (escaped) text.length = find_escaped_line_length(text);
    if (newline != NULL) text.length = (size_t)(newline + 1 - text.bytes);
    return text;
}

/* Returns whether a character has the property White_Space of Unicode. */
static bool is_white_space(uint32_t c) {
    if (c < 0x80) return c == ' ' || (c >= '\t' && c <= '\r');
    return c == 0x85 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 ||
           c == 0x202f || c == 0x205f || c == 0x3000;
}

/* Sets *character to the character that a piece, which is not empty, begins with, and returns its length in bytes. Only
 * characters of up to three bytes are decoded, since all white space is among these. For any other byte sets *character
 * to UINT32_MAX, and returns 1. */
static size_t read_character(struct piece rest, uint32_t *character) {
    const unsigned char *byte = (const unsigned char *)rest.bytes;
    *character = *byte;
    if (*byte < 0x80) return 1;
    *character = UINT32_MAX;
    if (rest.length >= 2 && *byte == 0xc2 && (byte[1] & 0xc0) == 0x80) {
        *character = byte[1]; /* U+0080 to U+00BF */
        return 2;
    }
    if (rest.length < 3 || (*byte & 0xf0) != 0xe0 || (byte[1] & 0xc0) != 0x80 || (byte[2] & 0xc0) != 0x80) return 1;
    uint32_t code_point = (*byte & 0xfU) << 12 | (byte[1] & 0x3fU) << 6 | (byte[2] & 0x3fU);
    if (code_point < 0x800) return 1; /* An overlong sequence is no character. */
    *character = code_point;
    return 3;
}

/* Returns how many bytes at the beginning of a line are white space or marks of quotation, `>`. The line end is white
 * space as well, so for a blank line these are all its bytes. `escaped` is as for find_line. */
static size_t find_marks_length(struct piece line, bool escaped) {
    size_t marks_length = 0, char_length;
    for (; marks_length < line.length; marks_length += char_length) {
        const struct piece rest = {line.bytes + marks_length, line.length - marks_length};
        uint32_t character;
        char_length = escaped && *rest.bytes == '\\' ? read_escape(rest, &character) : read_character(rest, &character);
        if (character != '>' && !is_white_space(character)) break;
    }
    return marks_length;
}

/* Returns the length in bytes of the first paragraph of a text: blank lines before it, its lines, and the blank lines
 * after them. `escaped` is as for find_line. */
static size_t find_paragraph_length(const char *text, size_t length, bool escaped) {
    bool has_text = false, has_ended = false;
    size_t end = 0;
    while (end < length) {
        const struct piece line = find_line((struct piece){text + end, length - end}, escaped);
        const bool blank = find_marks_length(line, escaped) == line.length;
        if (has_ended && !blank) return end;
        has_ended = has_text && blank;
        has_text = has_text || !blank;
        end += line.length;
    }
    return end;
}

size_t idx_text_find_part(const void *utf8, size_t length, enum idx_text_part part, bool escaped) {
    if (length == 0) return 0;
    return part == IDX_TEXT_LINE ? find_line((struct piece){utf8, length}, escaped).length
                                 : find_paragraph_length(utf8, length, escaped);
}

size_t idx_text_unquote(const void *part, size_t length, char *unquoted) {
    size_t unquoted_length = 0;
    struct piece line;
    for (size_t position = 0; position < length; position += line.length) {
        line = find_line((struct piece){(const char *)part + position, length - position}, false);
        size_t marks_length = find_marks_length(line, false);
        if (memchr(line.bytes, '>', marks_length) == NULL) marks_length = 0;
        memmove(unquoted + unquoted_length, line.bytes + marks_length, line.length - marks_length);
        unquoted_length += line.length - marks_length;
        if (marks_length == line.length) unquoted[unquoted_length++] = '\n';
    }
    return unquoted_length;
}
