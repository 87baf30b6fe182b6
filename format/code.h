/* code.h: the position code (SPEC.md, chapter 5). The position of a difference's leading 1 determines its class, and a
 * length-limited canonical Huffman code identifies the class. */
#ifndef IDX_FORMAT_CODE_H
#define IDX_FORMAT_CODE_H

#include <stddef.h>
#include <stdint.h>

#include "format/fault.h"
#include "format/limits.h"

/* A code has at most one class for each value of the longest codes. */
#define IDXF_CLASSES (1u << IDXF_MAX_CODE_LENGTH)

/* A code, as in a table's header. Class 0 has the differences below 2^near_bits, class c those with near_bits + c - 1
 * bits after their leading 1, and the last class may have any. */
struct idxf_code {
    uint8_t near_bits;
    uint8_t lengths[IDXF_CLASSES]; /* 0 after the last class */
};

/* of[n] is the number of differences that have n bits, 1 to 64. of[0] is 0. */
struct idxf_difference_counts {
    uint64_t of[IDXF_MAX_BITS + 1];
};

/* Adds the differences of consecutive fingerprints to *counts, first that of `previous` and the first one. All are
 * left-aligned, have `bits` bits, and ascend. */
void idxf_count_differences(struct idxf_difference_counts *counts, uint64_t previous, const uint64_t *fingerprints,
                            size_t count, unsigned bits);

/* Sets *code to the code in which the counted differences, of fingerprints of `bits` bits, take the fewest bits.
 * Differences of all other lengths that may have a code can also be encoded. */
void idxf_code_choose(struct idxf_code *code, const struct idxf_difference_counts *counts, unsigned bits);

/* How many bits differences take: their codes, and their tails. */
struct idxf_code_cost {
    uint64_t codes, tails;
};

/* Returns how many bits the counted differences, of fingerprints of `bits` bits, take in a valid code. Differences that
 * have no code are left out. */
struct idxf_code_cost idxf_code_compute_cost(const struct idxf_code *code, const struct idxf_difference_counts *counts,
                                             unsigned bits);

/* Returns IDXF_OK if this is a valid code for fingerprints of `bits` bits, else IDXF_FAULT_CODE. A valid code has two
 * classes or more, no class but the last one for differences above idxf_get_max_tail_bits(bits) bits, and lengths
 * that make a complete prefix code. */
enum idxf_fault idxf_code_check(const struct idxf_code *code, unsigned bits);

/* How the differences of a class are written. */
struct idxf_class {
    uint8_t code;   /* as in the bit stream: its first bit is bit 0 */
    uint8_t length; /* bits of it */
    uint8_t tail;   /* bits of the tail */
    uint8_t leads;  /* 1 where the difference has a leading 1 above its tail */
};

/* Sets `classes` to the classes of a valid code for fingerprints of `bits` bits, class 0 first. Returns their
 * number. */
unsigned idxf_code_list_classes(const struct idxf_code *code, unsigned bits, struct idxf_class classes[IDXF_CLASSES]);

/* Returns the number, from 0, of the class that differences of `length` bits have, in a code of `class_count` (2 or
 * more) classes whose class 0 has the differences of up to `near_bits` bits. */
static inline unsigned idxf_get_class_number(unsigned length, unsigned near_bits, unsigned class_count) {
    unsigned number = length <= near_bits ? 0 : length - near_bits, last = class_count - 1;
    return number < last ? number : last;
}

/* Returns the most bits that a tail has if fingerprints have `bits` bits. Differences of more bits than that have no
 * code. */
static inline unsigned idxf_get_max_tail_bits(unsigned bits) {
    return bits < IDXF_MAX_TAIL_BITS ? bits : IDXF_MAX_TAIL_BITS;
}

#endif
