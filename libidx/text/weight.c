/* weight.c: 1 + log2 of a count in fixed point, computed with integers alone, so that it is the same on every
 * machine. */
#include "libidx/text/weight.h"

#include <idx.h>

/* floor(value * value / 2^64), from the halves of value, for compilers without a 128-bit integer. */
static uint64_t square_high(uint64_t value) {
    uint64_t high = value >> 32, low = value & UINT32_MAX;
    uint64_t cross = high * low;
    uint64_t middle = (low * low >> 32) + 2 * (cross & UINT32_MAX);
    return high * high + 2 * (cross >> 32) + (middle >> 32);
}

/* The integer part of the logarithm is the number of bits less one. The fraction's bits come by squaring: with
 * 1 <= x < 2, log2(x^2) = 2 log2(x), so its next bit is 1 when x^2 >= 2, and then x^2 / 2 goes on.
 *
 * x has 63 fraction bits and is rounded down, by less than 2^-62 a step; a step doubles the error that it is given. So
 * after 16 steps x is less than 2^-45 too small, and only a count whose 65536th power lies that close above a power of
 * two could get a wrong bit. None below 2^32 does: with x rounded up instead, every one of them gets the same bits.
 * For powers of two x is 1 all the way, which is exact. */
static int64_t compute(uint64_t count) {
    unsigned exponent = 63 - (unsigned)__builtin_clzll(count | 1);
    uint64_t x = count << (63 - exponent);
    uint64_t logarithm = exponent;
    for (int bit = 0; bit < 16; bit++) {
        x = square_high(x);
        uint64_t carry = x >> 63;
        x <<= 1 - carry;
        logarithm = logarithm << 1 | carry;
    }
    return IDX_WEIGHT_ONE + (int64_t)logarithm;
}

/* Of counts below 64, which most words of a text have: made by Python's integers, see the tests. */
static const int32_t table[64] = {
    0,      65536,  131072, 169408, 196608, 217705, 234944, 249518, 262144, 273280, 283241, 292253, 300480,
    308048, 315054, 321577, 327680, 333411, 338816, 343928, 348777, 353390, 357789, 361992, 366016, 369875,
    373584, 377152, 380590, 383908, 387113, 390214, 393216, 396125, 398947, 401688, 404352, 406942, 409464,
    411920, 414313, 416648, 418926, 421151, 423325, 425450, 427528, 429561, 431552, 433501, 435411, 437284,
    439120, 440920, 442688, 444423, 446126, 447800, 449444, 451060, 452649, 454212, 455750, 457263};

int64_t idxt_weight(uint64_t count) { return count < sizeof table / sizeof *table ? table[count] : compute(count); }
