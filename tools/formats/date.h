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

/* Sets *date to the time that many seconds after the beginning of 1970. Returns false, and leaves *date as it is, if
 * they are NaN, or too many for 64 bits of microseconds. */
bool date_convert_seconds(double seconds, int64_t *date);

/* Returns a number that takes the place of a date for a score: it is larger for a larger score, and never DATE_NONE. */
int64_t date_convert_score(double score);

#endif
