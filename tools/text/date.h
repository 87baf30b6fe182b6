/* date.h: points in time, in microseconds since 1970 in UTC, and the notations of them in records. */
#ifndef IDX_TOOLS_DATE_H
#define IDX_TOOLS_DATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Not known; before all others. */
#define DATE_NONE INT64_MIN

/* Reads a date as RFC 3339 and ISO 8601 (extended format) write it: 2026-11-22, or with a time behind T or a blank:
 * 12:34 or 12:34:56.789, and then Z, +01:00, +0100, +01, or nothing, which is UTC. Returns false where it is none. */
bool date_parse(const char *text, size_t length, int64_t *date);

/* From seconds since 1970. Returns false where they are beyond what a date can be. */
bool date_of_seconds(double seconds, int64_t *date);

#endif
