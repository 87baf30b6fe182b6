/* directory.h: the directory of SPEC.md, chapter 5, once more, in other arithmetic, to compare directory.c with. */
#ifndef IDX_TESTS_FORMAT_DIRECTORY_H
#define IDX_TESTS_FORMAT_DIRECTORY_H

#include "format/directory.h"
#include "tests/format/testing.h"

/* a · b / 2^64, and the remainder, from products of 32 bits. */
static inline uint64_t multiply(uint64_t a, uint64_t b, uint64_t *rest) {
    uint64_t a_low = a & 0xFFFFFFFF, a_high = a >> 32, b_low = b & 0xFFFFFFFF, b_high = b >> 32;
    uint64_t low = a_low * b_low, middle = a_high * b_low + (low >> 32), other = a_low * b_high + (middle & 0xFFFFFFFF);
    *rest = other << 32 | (low & 0xFFFFFFFF);
    return a_high * b_high + (middle >> 32) + (other >> 32);
}

static inline struct idxf_cell model_cell(uint64_t x, uint64_t lines) {
    struct idxf_cell cell;
    uint64_t rest, ignored;
    cell.line = multiply(x, lines, &rest);
    cell.cell = (unsigned)multiply(rest, 448, &ignored);
    return cell;
}

/* Makes a line of the directory of all these keys. */
static inline void model_line(uint8_t bytes[64], uint64_t line, uint64_t lines, const uint64_t *keys, size_t count) {
    uint32_t first = 0, here = 0, words[2] = {0};
    bool is_crowded = false;
    memset(bytes, 0, 64);
    for (size_t i = 0; i < count; i++) {
        struct idxf_cell cell = model_cell(keys[i], lines);
        first += cell.line < line;
        if (cell.line != line) continue;
        uint8_t *byte = bytes + 8 + cell.cell / 8, bit = (uint8_t)(1u << cell.cell % 8);
        is_crowded |= (*byte & bit) != 0;
        *byte |= bit;
        here++;
    }
    words[0] = first;
    words[1] = is_crowded ? here : 0;
    for (unsigned i = 0; i < 8; i++) bytes[i] = (uint8_t)(words[i / 4] >> 8 * (i % 4));
}

#endif
