/* huffman.h: the length-limited canonical Huffman code of a table's positions (SPEC.md, chapter 6). */
#ifndef IDX_FORMAT_HUFFMAN_H
#define IDX_FORMAT_HUFFMAN_H

#include <stdint.h>

#include "format/fault.h"
#include "format/limits.h"

/* A symbol is a position, 0 to 63. Length 0 means that the symbol has no code. */
#define IDXF_SYMBOLS 64

/* Makes the code lengths of least total size for these counts, none above IDXF_MAX_CODE_LENGTH; one symbol alone gets
 * length 1. */
void idxf_code_lengths(const uint64_t counts[IDXF_SYMBOLS], uint8_t lengths[IDXF_SYMBOLS]);

/* Checks that the lengths make a complete code, or one symbol of length 1, or nothing, all of it below `bits`. */
enum idxf_fault idxf_code_check(const uint8_t lengths[IDXF_SYMBOLS], unsigned bits);

/* The codes for valid lengths, each as it stands in the bit stream: its first bit is bit 0. */
void idxf_codes(const uint8_t lengths[IDXF_SYMBOLS], uint16_t codes[IDXF_SYMBOLS]);

#endif
