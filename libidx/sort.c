/* sort.c: least-significant-digit radix sorts. A digit in which all elements agree costs no pass. */
#include "libidx/sort.h"

#include <string.h>

#include "format/bytes.h"

#define PAIR_DIGIT_BITS 8
#define MAX_TABLE_DIGIT_BITS 9

/* Turns counts into starts. False when all elements share one digit. */
static bool make_starts(size_t *counts, size_t digits, size_t total) {
    size_t start = 0;
    for (size_t digit = 0; digit < digits; digit++) {
        size_t count = counts[digit];
        if (count == total) return false;
        counts[digit] = start;
        start += count;
    }
    return true;
}

struct pairs {
    uint64_t *keys;
    uint64_t *values;
};

/* One pass by the digit at `shift` of the keys (of the values with `by_value`). True when `to` holds the result. */
static bool pair_pass(struct pairs from, struct pairs to, size_t count, unsigned shift, bool by_value) {
    size_t starts[1 << PAIR_DIGIT_BITS] = {0};
    const uint64_t *digits = by_value ? from.values : from.keys;
    for (size_t i = 0; i < count; i++) starts[digits[i] >> shift & 255]++;
    if (!make_starts(starts, 1 << PAIR_DIGIT_BITS, count)) return false;
    for (size_t i = 0; i < count; i++) {
        size_t at = starts[digits[i] >> shift & 255]++;
        to.keys[at] = from.keys[i];
        if (from.values != NULL) to.values[at] = from.values[i];
    }
    return true;
}

void idxi_sort_pairs(uint64_t *fingerprints, uint64_t *values, size_t count, bool by_value, uint64_t *spare,
                     uint64_t *spare_values) {
    struct pairs from = {fingerprints, values}, to = {spare, spare_values};
    for (int part = by_value ? 0 : 1; part < 2; part++) {
        for (unsigned shift = 0; shift < 64; shift += PAIR_DIGIT_BITS) {
            if (!pair_pass(from, to, count, shift, part == 0)) continue;
            struct pairs result = to;
            to = from;
            from = result;
        }
    }
    if (from.keys == fingerprints || count == 0) return;
    memcpy(fingerprints, from.keys, count * sizeof *fingerprints);
    if (values != NULL) memcpy(values, from.values, count * sizeof *values);
}

void idxi_sort_prefixes(uint64_t *fingerprints, size_t count, unsigned prefix, uint64_t *spare) {
    unsigned passes = (prefix + MAX_TABLE_DIGIT_BITS - 1) / MAX_TABLE_DIGIT_BITS;
    unsigned width = (prefix + passes - 1) / passes;
    uint64_t *from = fingerprints, *to = spare;
    for (unsigned done = 0; done < prefix; done += width) {
        unsigned bits = prefix - done < width ? prefix - done : width;
        unsigned shift = 64 - prefix + done;
        uint64_t mask = (UINT64_C(1) << bits) - 1;
        size_t starts[1 << MAX_TABLE_DIGIT_BITS] = {0};
        for (size_t i = 0; i < count; i++) starts[from[i] >> shift & mask]++;
        if (!make_starts(starts, (size_t)1 << bits, count)) continue;
        for (size_t i = 0; i < count; i++) to[starts[from[i] >> shift & mask]++] = from[i];
        uint64_t *result = to;
        to = from;
        from = result;
    }
    if (from != fingerprints) memcpy(fingerprints, from, count * sizeof *fingerprints);
}

bool idxi_mask_leads(uint64_t mask, unsigned bits) {
    uint64_t others = ~mask & idxf_low_bits(bits);
    return (others & (others + 1)) == 0;
}
