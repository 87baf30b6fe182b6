/* date.h: dates and times, in microseconds since 1970 in UTC, as records write them. */
#ifndef IDX_TOOLS_FORMATS_DATE_H
#define IDX_TOOLS_FORMATS_DATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An unknown date, which is before all others. */
#define DATE_NONE INT64_MIN

/* Reads a date as RFC 3339 and ISO 8601 (extended format) write it: 2026-11-22, perhaps followed by T or a blank and a
 * time, such as 12:34 or 12:34:56.789, and by Z, +01:00, +0100 or +01 (else it is in UTC). Returns false for anything
 * else, and leaves *date as it is. */
bool date_parse(const char *text, size_t length, int64_t *date);

/* Converts seconds since 1970 to microseconds, rounded towards 0. Returns false, and leaves *date as it is, if
 * `seconds` is NaN, or so large or small that 64 bits may not hold the microseconds. */
bool date_convert_seconds(double seconds, int64_t *date);

/* Converts a score to a number that is used in place of a date: it is larger for a larger score, and never DATE_NONE. 0
 * and -0 become the same number. */
int64_t date_convert_score(double score);

#endif
