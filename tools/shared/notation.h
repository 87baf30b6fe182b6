/* notation.h: reads and writes fingerprints in text, without I/O. */
#ifndef IDX_TOOLS_NOTATION_H
#define IDX_TOOLS_NOTATION_H

#include "tools/shared/message.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum notation {
    NOTATION_HEX,    /* An optional 0x is followed by as many hex digits as the bits take. */
    NOTATION_DEC,    /* It is unsigned decimal. */
    NOTATION_SIGNED, /* It is the two's complement of the fingerprint's bits, in decimal. */
};

/* The names are in the order of the enum. */
extern const char *const notation_names[];

/* notation_print writes at most so many bytes. */
enum { NOTATION_MAX_LENGTH = 20 };

/* Reads a fingerprint of `bits` bits that takes up all of `text`. */
bool notation_parse(enum notation notation, unsigned bits, const char *text, size_t length, uint64_t *fingerprint,
                    struct problem *problem);

/* Writes a fingerprint into at least NOTATION_MAX_LENGTH bytes, without a terminating NUL, and returns its length. */
size_t notation_print(enum notation notation, unsigned bits, uint64_t fingerprint, char *text);

/* Writes a number in decimal into at least NOTATION_MAX_LENGTH bytes, without a terminating NUL, and returns its
 * length. */
size_t notation_print_decimal(uint64_t number, char *text);

#endif
