/* date.c: reads dates and times as records write them. */
#include "tools/formats/date.h"

#include <math.h>
#include <string.h>
#include <time.h>

#define MICROSECONDS_PER_SECOND INT64_C(1000000)
/* Dates that are this many seconds before or after 1970, or more, may not fit into 64 bits of microseconds. */
#define MAX_SECONDS 9e12

/* A place in a date that is being parsed. The functions below move `next` behind what they parse. */
struct cursor {
    const char *next, *end;
};

/* Returns whether a digit is next. */
static bool is_digit_next(const struct cursor *cursor) {
    return cursor->next < cursor->end && *cursor->next >= '0' && *cursor->next <= '9';
}

/* Skips a byte if it is the next one, and returns whether it was. */
static bool skip_byte(struct cursor *cursor, char byte) {
    bool is_next = cursor->next < cursor->end && *cursor->next == byte;
    cursor->next += is_next;
    return is_next;
}

/* Parses a number of `digit_count` digits. Returns false if there are fewer, or if it is not from `min` to `max`; then
 * *number is unspecified. */
static bool parse_number(struct cursor *cursor, int digit_count, int64_t min, int64_t max, int64_t *number) {
    *number = 0;
    for (int i = 0; i < digit_count; i++) {
        if (!is_digit_next(cursor)) return false;
        *number = *number * 10 + (*cursor->next++ - '0');
    }
    return *number >= min && *number <= max;
}

/* Parses a day, such as 2026-11-22, and sets *seconds to its beginning in UTC, counted from 1970. Returns false if
 * there is no such day. */
static bool parse_day(struct cursor *cursor, int64_t *seconds) {
    int64_t year, month, day;
    if (!parse_number(cursor, 4, 0, 9999, &year) || !skip_byte(cursor, '-') ||
        !parse_number(cursor, 2, 1, 12, &month) || !skip_byte(cursor, '-') || !parse_number(cursor, 2, 1, 31, &day))
        return false;
    struct tm date = {.tm_year = (int)year - 1900, .tm_mon = (int)month - 1, .tm_mday = (int)day};
    *seconds = timegm(&date);
    return date.tm_mday == day; /* timegm makes 1 May of 31 April. */
}

/* Parses a fraction of a second, if there is one, and sets *microseconds to it, or else to 0. Digits after the sixth
 * are ignored. Returns false if no digit follows the point or comma. */
static bool parse_fraction(struct cursor *cursor, int64_t *microseconds) {
    int64_t digit_unit = MICROSECONDS_PER_SECOND / 10;
    *microseconds = 0;
    if (!skip_byte(cursor, '.') && !skip_byte(cursor, ',')) return true;
    if (!is_digit_next(cursor)) return false;
    for (; is_digit_next(cursor); digit_unit /= 10) *microseconds += (*cursor->next++ - '0') * digit_unit;
    return true;
}

/* Parses the offset from UTC, such as +01:00, if there is one, and subtracts it from *seconds. Returns false if
 * something else follows; further bytes behind the offset are left. */
static bool parse_utc_offset(struct cursor *cursor, int64_t *seconds) {
    int64_t hours, minutes = 0;
    if (skip_byte(cursor, 'Z') || skip_byte(cursor, 'z') || cursor->next == cursor->end) return true;
    bool is_behind_utc = skip_byte(cursor, '-');
    if (!is_behind_utc && !skip_byte(cursor, '+')) return false;
    if (!parse_number(cursor, 2, 0, 23, &hours)) return false;
    if ((skip_byte(cursor, ':') || is_digit_next(cursor)) && !parse_number(cursor, 2, 0, 59, &minutes)) return false;
    *seconds += (is_behind_utc ? 1 : -1) * (hours * 3600 + minutes * 60);
    return true;
}

/* Parses a time of day with its offset from UTC, if the text goes on. Adds it to *seconds, and sets *microseconds to
 * its fraction if it has seconds. A second of 60 is a leap second. Returns false if something else follows. */
static bool parse_time(struct cursor *cursor, int64_t *seconds, int64_t *microseconds) {
    int64_t hour, minute, second = 0;
    if (cursor->next == cursor->end) return true;
    if (!skip_byte(cursor, 'T') && !skip_byte(cursor, 't') && !skip_byte(cursor, ' ')) return false;
    if (!parse_number(cursor, 2, 0, 23, &hour) || !skip_byte(cursor, ':') || !parse_number(cursor, 2, 0, 59, &minute))
        return false;
    if (skip_byte(cursor, ':') && (!parse_number(cursor, 2, 0, 60, &second) || !parse_fraction(cursor, microseconds)))
        return false;
    *seconds += hour * 3600 + minute * 60 + second;
    return parse_utc_offset(cursor, seconds);
}

bool date_parse(const char *text, size_t length, int64_t *date) {
    struct cursor cursor = {text, text + length};
    int64_t seconds, microseconds = 0;
    if (!parse_day(&cursor, &seconds) || !parse_time(&cursor, &seconds, &microseconds) || cursor.next != cursor.end)
        return false;
    *date = seconds * MICROSECONDS_PER_SECOND + microseconds;
    return true;
}

bool date_convert_seconds(double seconds, int64_t *date) {
    if (isnan(seconds) || fabs(seconds) >= MAX_SECONDS) return false;
    *date = (int64_t)(seconds * (double)MICROSECONDS_PER_SECOND);
    return true;
}

/* As integers, the bits of IEEE 754 numbers are in the order of the numbers, or if these are negative, in the reverse
 * order, which the subtraction reverses. It makes 0 of the negative zero. */
int64_t date_convert_score(double score) {
    int64_t bits;
    memcpy(&bits, &score, sizeof bits);
    return bits >= 0 ? bits : INT64_MIN - bits;
}
