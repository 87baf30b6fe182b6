/* printable.c: see printable.h. */
#include "tools/shared/printable.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* The character that begins here and its length; false if it is not UTF-8. */
static bool decode(const unsigned char *at, size_t left, uint32_t *character, size_t *length) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    *length = *at < 0x80 ? 1 : *at < 0xc0 ? 0 : *at < 0xe0 ? 2 : *at < 0xf0 ? 3 : *at < 0xf8 ? 4 : 0;
    if (*length == 0 || *length > left) return false;
    *character = *length == 1 ? *at : *at & (0x7fU >> *length);
    for (size_t i = 1; i < *length; i++) {
        if ((at[i] & 0xc0) != 0x80) return false;
        *character = *character << 6 | (at[i] & 0x3fU);
    }
    bool surrogate = *character >= 0xd800 && *character < 0xe000;
    return *character >= least[*length] && *character < 0x110000 && !surrogate;
}

/* Also the two that end lines and paragraphs, and those by which a text is read in another order than it stands. */
static bool is_control(uint32_t character) {
    if (character < 0x20 || (character >= 0x7f && character < 0xa0)) return true;
    return character == 0x61c || character == 0x200e || character == 0x200f ||
           (character >= 0x2028 && character <= 0x202e) || (character >= 0x2066 && character <= 0x2069);
}

bool printable_is_utf8(const void *bytes, size_t length) {
    uint32_t character;
    size_t step;
    for (const unsigned char *at = bytes; length > 0; at += step, length -= step) {
        if (!decode(at, length, &character, &step)) return false;
    }
    return true;
}

size_t printable_piece(const char *text, char piece[PRINTABLE_PIECE]) {
    uint32_t character;
    size_t length;
    bool well = decode((const unsigned char *)text, SIZE_MAX, &character, &length);
    if (well && !is_control(character)) {
        memcpy(piece, text, length);
        piece[length] = '\0';
        return length;
    }
    if (!well) length = 1;
    for (size_t i = 0; i < length; i++)
        snprintf(piece + 4 * i, PRINTABLE_PIECE - 4 * i, "\\x%02x", (unsigned)(unsigned char)text[i]);
    return length;
}
