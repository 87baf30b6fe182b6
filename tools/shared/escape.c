/* escape.c: see escape.h. */
#include "tools/shared/escape.h"

#include <stdint.h>
#include <string.h>

static bool is_control(unsigned char byte) { return byte < 0x20 || byte == 0x7f; }

/* Of 8 bytes at a time: whether one is below 0x20, or is 0x7f. */
static bool has_control(uint64_t bytes) {
    const uint64_t ones = UINT64_C(0x0101010101010101), highs = ones << 7;
    uint64_t differs = bytes ^ ones * 0x7f;
    return (((bytes - ones * 0x20) & ~bytes) | ((differs - ones) & ~differs)) & highs;
}

bool escape_is_needed(const char *id, size_t length) {
    uint64_t bytes;
    for (; length >= sizeof bytes; id += sizeof bytes, length -= sizeof bytes) {
        memcpy(&bytes, id, sizeof bytes);
        if (has_control(bytes)) return true;
    }
    for (; length > 0; id++, length--) {
        if (is_control((unsigned char)*id)) return true;
    }
    return false;
}

static const char letters[] = "tn\\", bytes_of[] = "\t\n\\";
enum { LETTERS = sizeof letters - 1 };

static const char digits[] = "0123456789abcdef";

size_t escape_byte(char byte, char text[ESCAPE_MOST]) {
    const char *found = memchr(bytes_of, byte, LETTERS);
    if (found != NULL) {
        text[0] = '\\';
        text[1] = letters[found - bytes_of];
        return 2;
    }
    text[0] = byte;
    if (!is_control((unsigned char)byte)) return 1;
    unsigned char value = (unsigned char)byte;
    memcpy(text, (char[]){'\\', 'x', digits[value / 16], digits[value % 16]}, 4);
    return 4;
}

size_t escape_read(const char *at, const char *end, char *byte) {
    const char *found = end - at < 2 ? NULL : memchr(letters, at[1], LETTERS);
    if (found != NULL) {
        *byte = bytes_of[found - letters];
        return 2;
    }
    if (end - at < 4 || at[1] != 'x') return 0;
    const char *high = memchr(digits, at[2], 16), *low = memchr(digits, at[3], 16);
    if (high == NULL || low == NULL) return 0;
    *byte = (char)((high - digits) * 16 + (low - digits));
    return 4;
}

size_t escape_undo(char *id, size_t length) {
    size_t kept = 0;
    const char *end = id + length;
    for (const char *at = id; at < end;) {
        char byte = *at;
        size_t read = byte == '\\' ? escape_read(at, end, &byte) : 1;
        at += read == 0 ? 1 : read;
        id[kept++] = byte;
    }
    return kept;
}
