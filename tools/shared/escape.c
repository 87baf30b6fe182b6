/* escape.c: escapes IDs, and makes text printable. */
#include "tools/shared/wording.h"

#include <stdio.h>
#include <string.h>

/* ---- Escaped IDs ---- */

/* Returns whether a byte is a control character of ASCII: 0 to 31, or 127 (DEL). */
static bool is_ascii_control(unsigned char byte) { return byte < 0x20 || byte == 0x7f; }

/* Returns whether any of the 8 bytes of a word is below 0x20 or is 0x7f (DEL). Subtracting 0x20 from a byte below 0x20
 * sets its highest bit; bytes that had this bit before are masked out. The XOR makes a DEL 0, and subtracting 1 then
 * does the same. */
static bool has_control_byte(uint64_t word) {
    const uint64_t ones = UINT64_C(0x0101010101010101), highs = ones << 7;
    uint64_t zero_if_del = word ^ ones * 0x7f;
    return (((word - ones * 0x20) & ~word) | ((zero_if_del - ones) & ~zero_if_del)) & highs;
}

bool escape_is_needed(const char *id, size_t length) {
    uint64_t word;
    if (length == 0) return true;
    for (; length >= sizeof word; id += sizeof word, length -= sizeof word) {
        memcpy(&word, id, sizeof word);
        if (has_control_byte(word)) return true;
    }
    for (; length > 0; id++, length--)
        if (is_ascii_control((unsigned char)*id)) return true;
    return false;
}

/* The letters behind a backslash, and the bytes that they stand for. */
static const char escape_letters[] = "tn\\", decoded_bytes[] = "\t\n\\";
enum { ESCAPE_LETTERS = sizeof escape_letters - 1 };

static const char digits[] = "0123456789abcdef";

size_t escape_byte(char byte, char text[ESCAPE_MAX_BYTES]) {
    const char *found = memchr(decoded_bytes, byte, ESCAPE_LETTERS);
    if (found != NULL) {
        text[0] = '\\';
        text[1] = escape_letters[found - decoded_bytes];
        return 2;
    }
    text[0] = byte;
    if (!is_ascii_control((unsigned char)byte)) return 1;
    unsigned char code = (unsigned char)byte;
    memcpy(text, (char[]){'\\', 'x', digits[code / 16], digits[code % 16]}, 4);
    return 4;
}

size_t escape_decode_sequence(const char *sequence, const char *text_end, char *byte) {
    const char *letter = text_end - sequence < 2 ? NULL : memchr(escape_letters, sequence[1], ESCAPE_LETTERS);
    if (letter != NULL) {
        *byte = decoded_bytes[letter - escape_letters];
        return 2;
    }
    if (text_end - sequence < 4 || sequence[1] != 'x') return 0;
    const char *high = memchr(digits, sequence[2], 16), *low = memchr(digits, sequence[3], 16);
    if (high == NULL || low == NULL) return 0;
    *byte = (char)((high - digits) * 16 + (low - digits));
    return 4;
}

size_t escape_decode_id(char *id, size_t length) {
    size_t decoded_length = 0;
    const char *id_end = id + length;
    for (const char *source = id; source < id_end;) {
        char byte = *source;
        size_t sequence_length = byte == '\\' ? escape_decode_sequence(source, id_end, &byte) : 1;
        source += sequence_length == 0 ? 1 : sequence_length;
        id[decoded_length++] = byte;
    }
    return decoded_length;
}

/* ---- Printable text ---- */

/* Decodes the first character of `bytes`, a text in UTF-8 of which up to `available`, at least one, bytes are read.
 * Sets *character to its code point, and *length to how many bytes it has. Returns false if the bytes are not UTF-8;
 * then both are unspecified. */
static bool decode_utf8(const unsigned char *bytes, size_t available, uint32_t *character, size_t *length) {
    /* The bytes of a character by the high hex digit of its first byte; 0: no character begins so. */
    static const unsigned char length_of_high_digit[16] = {1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 2, 2, 3, 4};
    /* The smallest code point that needs so many bytes: smaller ones must have fewer. */
    static const uint32_t min_of_length[] = {0, 0, 0x80, 0x800, 0x10000};
    *length = *bytes < 0xf8 ? length_of_high_digit[*bytes >> 4] : 0;
    if (*length == 0 || *length > available) return false;
    *character = *length == 1 ? *bytes : *bytes & (0x7fU >> *length);
    for (size_t i = 1; i < *length; i++) {
        if ((bytes[i] & 0xc0) != 0x80) return false;
        *character = *character << 6 | (bytes[i] & 0x3fU);
    }
    bool surrogate = *character >= 0xd800 && *character < 0xe000;
    return *character >= min_of_length[*length] && *character < 0x110000 && !surrogate;
}

/* Returns whether a code point is a control character, ends a line or a paragraph, or changes the reading direction. */
static bool is_unprintable(uint32_t character) {
    if (character < 0x20 || (character >= 0x7f && character < 0xa0)) return true;
    return character == 0x61c || character == 0x200e || character == 0x200f ||
           (character >= 0x2028 && character <= 0x202e) || (character >= 0x2066 && character <= 0x2069);
}

/* Returns whether eight bytes are ASCII: none has its highest bit set. */
static bool are_eight_bytes_ascii(const unsigned char bytes[8]) {
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return (word & UINT64_C(0x8080808080808080)) == 0;
}

bool bytes_are_utf8(const void *bytes, size_t length) {
    uint32_t character;
    size_t step;
    for (const unsigned char *next = bytes; length > 0; next += step, length -= step) {
        step = 8;
        if (length >= step && are_eight_bytes_ascii(next)) continue;
        if (!decode_utf8(next, length, &character, &step)) return false;
    }
    return true;
}

size_t printable_find_cut(const char *text, size_t length, size_t limit) {
    size_t fewer = 0;
    if (length <= limit) return length;
    /* A byte that begins with the bits 10 continues a character, so the cut must not be before it. */
    while (fewer < 3 && fewer < limit && ((unsigned char)text[limit - fewer] & 0xc0) == 0x80) fewer++;
    return limit - fewer;
}

size_t printable_write_piece(const char *text, char piece[PRINTABLE_PIECE_BYTES]) {
    uint32_t character;
    size_t length;
    /* SIZE_MAX, since decoding stops at the NUL that ends the text: it continues no character. */
    bool is_utf8 = decode_utf8((const unsigned char *)text, SIZE_MAX, &character, &length);
    if (is_utf8 && !is_unprintable(character)) {
        memcpy(piece, text, length);
        piece[length] = '\0';
        return length;
    }
    if (!is_utf8) length = 1; /* Each bad byte is a piece. */
    for (size_t i = 0; i < length; i++)
        snprintf(piece + 4 * i, PRINTABLE_PIECE_BYTES - 4 * i, "\\x%02x", (unsigned)(unsigned char)text[i]);
    return length;
}
