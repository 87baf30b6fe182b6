/* escape.c: escapes IDs, and makes text printable. */
#include "tools/shared/wording.h"

#include <stdio.h>
#include <string.h>

/* ---- Escaped IDs ---- */

static bool is_control(unsigned char byte) { return byte < 0x20 || byte == 0x7f; }

/* Returns whether any of the 8 bytes of a word is below 0x20, or is 0x7f, which makes it 0 in `differs`. A subtraction
 * sets the highest bit of a byte that is too small; bytes that had this bit before don't count. */
static bool has_control(uint64_t bytes) {
    const uint64_t ones = UINT64_C(0x0101010101010101), highs = ones << 7;
    uint64_t differs = bytes ^ ones * 0x7f;
    return (((bytes - ones * 0x20) & ~bytes) | ((differs - ones) & ~differs)) & highs;
}

bool escape_is_needed(const char *id, size_t length) {
    uint64_t bytes;
    if (length == 0) return true;
    for (; length >= sizeof bytes; id += sizeof bytes, length -= sizeof bytes) {
        memcpy(&bytes, id, sizeof bytes);
        if (has_control(bytes)) return true;
    }
    for (; length > 0; id++, length--) {
        if (is_control((unsigned char)*id)) return true;
    }
    return false;
}

/* The letters behind a backslash, and the bytes that they stand for. */
static const char escape_letters[] = "tn\\", bytes_meant[] = "\t\n\\";
enum { ESCAPE_LETTERS = sizeof escape_letters - 1 };

static const char digits[] = "0123456789abcdef";

size_t escape_byte(char byte, char text[ESCAPE_MOST]) {
    const char *found = memchr(bytes_meant, byte, ESCAPE_LETTERS);
    if (found != NULL) {
        text[0] = '\\';
        text[1] = escape_letters[found - bytes_meant];
        return 2;
    }
    text[0] = byte;
    if (!is_control((unsigned char)byte)) return 1;
    unsigned char value = (unsigned char)byte;
    memcpy(text, (char[]){'\\', 'x', digits[value / 16], digits[value % 16]}, 4);
    return 4;
}

size_t escape_read(const char *at, const char *end, char *byte) {
    const char *found = end - at < 2 ? NULL : memchr(escape_letters, at[1], ESCAPE_LETTERS);
    if (found != NULL) {
        *byte = bytes_meant[found - escape_letters];
        return 2;
    }
    if (end - at < 4 || at[1] != 'x') return 0;
    const char *high = memchr(digits, at[2], 16), *low = memchr(digits, at[3], 16);
    if (high == NULL || low == NULL) return 0;
    *byte = (char)((high - digits) * 16 + (low - digits));
    return 4;
}

size_t escape_undo(char *id, size_t length) {
    size_t left = 0;
    const char *end = id + length;
    for (const char *at = id; at < end;) {
        char byte = *at;
        size_t read = byte == '\\' ? escape_read(at, end, &byte) : 1;
        at += read == 0 ? 1 : read;
        id[left++] = byte;
    }
    return left;
}

/* ---- Printable text ---- */

/* Sets the character that begins at `at`, where `left` bytes are left, and its length in bytes. Returns false if the
 * bytes are not UTF-8; *length is any number then. */
static bool decode_utf8(const unsigned char *at, size_t left, uint32_t *character, size_t *length) {
    static const uint32_t least_of_length[] = {0, 0, 0x80, 0x800, 0x10000}; /* Those below must be shorter. */
    *length = *at < 0x80 ? 1 : *at < 0xc0 ? 0 : *at < 0xe0 ? 2 : *at < 0xf0 ? 3 : *at < 0xf8 ? 4 : 0;
    if (*length == 0 || *length > left) return false;
    *character = *length == 1 ? *at : *at & (0x7fU >> *length);
    for (size_t i = 1; i < *length; i++) {
        if ((at[i] & 0xc0) != 0x80) return false;
        *character = *character << 6 | (at[i] & 0x3fU);
    }
    bool surrogate = *character >= 0xd800 && *character < 0xe000;
    return *character >= least_of_length[*length] && *character < 0x110000 && !surrogate;
}

/* Returns whether a character is a control character, ends a line or a paragraph, or changes the reading direction. */
static bool is_unprintable(uint32_t character) {
    if (character < 0x20 || (character >= 0x7f && character < 0xa0)) return true;
    return character == 0x61c || character == 0x200e || character == 0x200f ||
           (character >= 0x2028 && character <= 0x202e) || (character >= 0x2066 && character <= 0x2069);
}

/* Returns whether eight bytes are ASCII: none has its highest bit set. */
static bool are_ascii(const unsigned char bytes[8]) {
    uint64_t eight;
    memcpy(&eight, bytes, sizeof eight);
    return (eight & UINT64_C(0x8080808080808080)) == 0;
}

bool printable_is_utf8(const void *bytes, size_t length) {
    uint32_t character;
    size_t step;
    for (const unsigned char *at = bytes; length > 0; at += step, length -= step) {
        step = 8;
        if (length >= step && are_ascii(at)) continue;
        if (!decode_utf8(at, length, &character, &step)) return false;
    }
    return true;
}

size_t printable_cut(const char *text, size_t length, size_t most) {
    size_t fewer = 0;
    if (length <= most) return length;
    while (fewer < 3 && fewer < most && ((unsigned char)text[most - fewer] & 0xc0) == 0x80) fewer++;
    return most - fewer;
}

size_t printable_piece(const char *text, char piece[PRINTABLE_PIECE]) {
    uint32_t character;
    size_t length;
    bool ok = decode_utf8((const unsigned char *)text, SIZE_MAX, &character, &length); /* A NUL ends the text. */
    if (ok && !is_unprintable(character)) {
        memcpy(piece, text, length);
        piece[length] = '\0';
        return length;
    }
    if (!ok) length = 1; /* Each bad byte is a piece. */
    for (size_t i = 0; i < length; i++)
        snprintf(piece + 4 * i, PRINTABLE_PIECE - 4 * i, "\\x%02x", (unsigned)(unsigned char)text[i]);
    return length;
}
