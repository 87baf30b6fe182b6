/* date.h: dates and times, in microseconds since 1970 in UTC, as records write them. */
#ifndef IDX_TOOLS_TEXT_DATE_H
#define IDX_TOOLS_TEXT_DATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An unknown date, which is before all others. */
#define DATE_NONE INT64_MIN

/* Reads a date as RFC 3339 and ISO 8601 (extended format) write it: 2026-11-22, perhaps with a time behind T or a
 * blank, 12:34 or 12:34:56.789, and then Z, +01:00, +0100, +01, or nothing, which is UTC. Returns false if it is
 * none. */
bool date_parse(const char *text, size_t length, int64_t *date);

/* Makes a date of seconds since 1970. Returns false if they are beyond what a date can be. */
bool date_of_seconds(double seconds, int64_t *date);

/* Returns a number that is in the order of scores among those of other scores. It is never DATE_NONE. */
int64_t date_of_score(double score);

#endif
