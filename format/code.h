/* code.h: the position code (SPEC.md, chapter 6): differences fall into classes by the position of their leading 1, and
 * a length-limited canonical Huffman code names the class. */
#ifndef IDX_FORMAT_CODE_H
#define IDX_FORMAT_CODE_H

#include <stddef.h>
#include <stdint.h>

#include "format/fault.h"
#include "format/limits.h"

/* Room for the classes of a code: one for each value of its longest codes. */
#define IDXF_CLASSES (1u << IDXF_MAX_CODE_LENGTH)

/* A code, as a table's header has it. Class 0 has the differences below 2^near_bits, class c those with
 * near_bits + c - 1 bits behind their leading 1, the last class any. */
struct idxf_code {
    uint8_t near_bits;
    uint8_t lengths[IDXF_CLASSES]; /* 0 behind the last class */
};

/* Differences by the number of their bits, 1 to 64; of [0] there are none. */
struct idxf_difference_counts {
    uint64_t of[IDXF_MAX_BITS + 1];
};

/* Counts the differences between ascending, left-aligned fingerprints of `bits` bits, of `previous` and the first of
 * them, too. */
void idxf_count_differences(struct idxf_difference_counts *counts, uint64_t previous, const uint64_t *fingerprints,
                            size_t count, unsigned bits);

/* The code with which differences like these, of fingerprints of `bits` bits, take the fewest bits. It encodes all
 * others, too. */
void idxf_code_choose(struct idxf_code *code, const struct idxf_difference_counts *counts, unsigned bits);

/* The bits that differences take in a valid code, those of differences that have no code left out. */
struct idxf_code_cost {
    uint64_t codes, tails;
};
struct idxf_code_cost idxf_code_cost(const struct idxf_code *code, const struct idxf_difference_counts *counts,
                                     unsigned bits);

/* IDXF_FAULT_CODE unless it is a code for fingerprints of `bits` bits. */
enum idxf_fault idxf_code_check(const struct idxf_code *code, unsigned bits);

/* How a class is written. */
struct idxf_class {
    uint8_t code;   /* as it stands in the bit stream: its first bit is bit 0 */
    uint8_t length; /* bits of it */
    uint8_t tail;   /* bits of the tail */
    uint8_t leads;  /* 1 where the difference has a leading 1 above its tail */
};

/* Lists the classes of a valid code, and returns their number. */
unsigned idxf_code_classes(const struct idxf_code *code, unsigned bits, struct idxf_class classes[IDXF_CLASSES]);

/* The bits of the longest tail. */
static inline unsigned idxf_longest_tail(unsigned bits) {
    return bits < IDXF_MAX_TAIL_BITS ? bits : IDXF_MAX_TAIL_BITS;
}

#endif
