/* notation.h: how fingerprints are written in text: reading and writing them, without I/O. */
#ifndef IDX_TOOLS_NOTATION_H
#define IDX_TOOLS_NOTATION_H

#include "tools/shared/message.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum notation {
    NOTATION_HEX,    /* exactly as many hex digits as the bits take, after an optional 0x */
    NOTATION_DEC,    /* unsigned decimal */
    NOTATION_SIGNED, /* two's complement of the fingerprint's bits, in decimal */
};

/* Their names, in the order of the enum. */
extern const char *const notation_names[];

/* The longest fingerprint that notation_print writes. */
enum { NOTATION_MAX_LENGTH = 20 };

/* Reads a fingerprint of `bits` bits that takes up all of `text`. */
bool notation_parse(enum notation notation, unsigned bits, const char *text, size_t length, uint64_t *fingerprint,
                    struct problem *problem);

/* Writes a fingerprint into at least NOTATION_MAX_LENGTH bytes, without a terminating NUL, and returns its length. */
size_t notation_print(enum notation notation, unsigned bits, uint64_t fingerprint, char *text);

/* Writes a number in decimal into at least as many, without a terminating NUL, and returns its length. */
size_t notation_print_decimal(uint64_t number, char *text);

#endif
