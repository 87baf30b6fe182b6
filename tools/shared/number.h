/* number.h: reads the numbers that options take. */
#ifndef IDX_TOOLS_NUMBER_H
#define IDX_TOOLS_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads digits alone, of a number below 2^64. */
bool number_parse_digits(const char *text, size_t length, uint64_t *value);

/* Digits, perhaps with a decimal point and more digits; then nothing, or K, M, G or T (powers of 1024), or eN (times
 * 10^N), or after digits alone ^N (to the power of N). The number that this makes must be whole and below 2^64. */
bool number_parse(const char *text, uint64_t *value);

#endif
