/* directory.h: the directory of SPEC.md, chapter 7, once more, in other arithmetic, to compare directory.c with. */
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

/* Where x falls: its line, and the part of that. */
static inline uint64_t model_line_of(uint64_t x, uint64_t lines, uint64_t *part) { return multiply(x, lines, part); }

/* The cell of a line of cells. */
static inline unsigned model_cell(uint64_t part) {
    uint64_t ignored;
    return (unsigned)multiply(part, 448, &ignored);
}

/* The least bits in which parts that ascend all differ; 0 where there are fewer than two. */
static inline unsigned model_list_bits(const uint64_t *parts, size_t count) {
    unsigned bits = 0;
    for (size_t i = 1; i < count; i++) {
        while (bits < 64 && (bits == 0 || parts[i] >> (64 - bits) == parts[i - 1] >> (64 - bits))) bits++;
    }
    return bits;
}

static inline void model_put(uint8_t *bytes, uint64_t value, unsigned size) {
    for (unsigned i = 0; i < size; i++) bytes[i] = (uint8_t)(value >> 8 * i);
}

/* Makes a line of keys with these parts of it, `first` keys being before; and, from the byte `place` of the lists, its
 * list, whose bytes are 0 before. Returns the bytes of that. */
static inline size_t model_line(uint8_t bytes[64], uint64_t first, const uint64_t *parts, size_t count, uint8_t *lists,
                                uint64_t place) {
    bool is_listed = false;
    memset(bytes, 0, 64);
    model_put(bytes, first, 4);
    for (size_t i = 0; i < count; i++) {
        unsigned cell = model_cell(parts[i]);
        uint8_t *byte = bytes + 8 + cell / 8, bit = (uint8_t)(1u << cell % 8);
        is_listed |= (*byte & bit) != 0;
        *byte |= bit;
    }
    if (!is_listed) return 0;
    unsigned bits = model_list_bits(parts, count);
    memset(bytes + 8, 0, 56);
    model_put(bytes + 4, count, 4);
    model_put(bytes + 8, place, 8);
    bytes[16] = (uint8_t)bits;
    for (size_t i = 0; i < count * bits; i++) {
        uint64_t bit = parts[i / bits] >> (64 - bits + i % bits) & 1;
        lists[place + i / 8] |= (uint8_t)(bit << i % 8);
    }
    return (count * bits + 7) / 8;
}

/* The directory of these keys: its lines, then its lists, *size bytes, for the caller to free. */
static inline uint8_t *model_directory(const uint64_t *keys, size_t count, size_t *size) {
    uint64_t lines = (count + 55) / 56, *parts = malloc((count + 1) * sizeof *parts);
    uint8_t *bytes = calloc(1, lines * 64 + count * 8 + 1);
    size_t i = 0, list_bytes = 0;
    assert_non_null(parts);
    assert_non_null(bytes);
    for (uint64_t line = 0; line < lines; line++) {
        size_t first = i;
        while (i < count && model_line_of(keys[i], lines, parts + i) == line) i++;
        list_bytes += model_line(bytes + line * 64, first, parts + first, i - first, bytes + lines * 64, list_bytes);
    }
    assert_int_equal(i, count);
    free(parts);
    *size = lines * 64 + list_bytes;
    return bytes;
}

#endif
