/* date.c: reads dates and times as records write them. */
#include "tools/formats/date.h"

#include <math.h>
#include <string.h>
#include <time.h>

#define MICROSECONDS_PER_SECOND INT64_C(1000000)
/* Dates of at least so many seconds before or after 1970 may not fit into 64 bits of microseconds. */
#define MOST_SECONDS 9e12

/* What was not read yet of a date. */
struct unread {
    const char *next, *end;
};

/* Returns whether a digit is next. */
static bool is_digit_next(const struct unread *unread) {
    return unread->next < unread->end && *unread->next >= '0' && *unread->next <= '9';
}

/* Takes a byte if it is the next one, and returns whether it was. */
static bool take_byte(struct unread *unread, char byte) {
    bool is_next = unread->next < unread->end && *unread->next == byte;
    unread->next += is_next;
    return is_next;
}

/* Takes a number of so many digits. Returns false if there are fewer digits, or if it is not from `min` to `max`. */
static bool take_number(struct unread *unread, int digits, int64_t min, int64_t max, int64_t *number) {
    *number = 0;
    for (int i = 0; i < digits; i++) {
        if (!is_digit_next(unread)) return false;
        *number = *number * 10 + (*unread->next++ - '0');
    }
    return *number >= min && *number <= max;
}

/* Takes a day, such as 2026-11-22, and sets *seconds to its beginning, counted from 1970. Returns false if there is no
 * such day. */
static bool take_day(struct unread *unread, int64_t *seconds) {
    int64_t year, month, day;
    if (!take_number(unread, 4, 0, 9999, &year) || !take_byte(unread, '-') || !take_number(unread, 2, 1, 12, &month) ||
        !take_byte(unread, '-') || !take_number(unread, 2, 1, 31, &day))
        return false;
    struct tm date = {.tm_year = (int)year - 1900, .tm_mon = (int)month - 1, .tm_mday = (int)day};
    *seconds = timegm(&date);
    return date.tm_mday == day; /* timegm makes 1 May of 31 April. */
}

/* Takes a fraction of a second, if there is one, and sets *microseconds to it. Digits after the sixth are ignored.
 * Returns false if no digit follows the point or comma. */
static bool take_fraction(struct unread *unread, int64_t *microseconds) {
    int64_t unit = MICROSECONDS_PER_SECOND / 10;
    *microseconds = 0;
    if (!take_byte(unread, '.') && !take_byte(unread, ',')) return true;
    if (!is_digit_next(unread)) return false;
    for (; is_digit_next(unread); unit /= 10) *microseconds += (*unread->next++ - '0') * unit;
    return true;
}

/* Takes the offset from UTC, if there is one, and subtracts it from *seconds. Returns false if something else
 * follows. */
static bool take_zone(struct unread *unread, int64_t *seconds) {
    int64_t hours, minutes = 0;
    if (take_byte(unread, 'Z') || take_byte(unread, 'z') || unread->next == unread->end) return true;
    bool is_behind_utc = take_byte(unread, '-');
    if (!is_behind_utc && !take_byte(unread, '+')) return false;
    if (!take_number(unread, 2, 0, 23, &hours)) return false;
    if ((take_byte(unread, ':') || is_digit_next(unread)) && !take_number(unread, 2, 0, 59, &minutes)) return false;
    *seconds += (is_behind_utc ? 1 : -1) * (hours * 3600 + minutes * 60);
    return true;
}

/* Takes a time of day with its offset from UTC, if the text has one, adds it to *seconds, and sets *microseconds to its
 * fraction. A second of 60 is a leap second. Returns false if something else follows. */
static bool take_time(struct unread *unread, int64_t *seconds, int64_t *microseconds) {
    int64_t hour, minute, second = 0;
    if (unread->next == unread->end) return true;
    if (!take_byte(unread, 'T') && !take_byte(unread, 't') && !take_byte(unread, ' ')) return false;
    if (!take_number(unread, 2, 0, 23, &hour) || !take_byte(unread, ':') || !take_number(unread, 2, 0, 59, &minute))
        return false;
    if (take_byte(unread, ':') && (!take_number(unread, 2, 0, 60, &second) || !take_fraction(unread, microseconds)))
        return false;
    *seconds += hour * 3600 + minute * 60 + second;
    return take_zone(unread, seconds);
}

bool date_parse(const char *text, size_t length, int64_t *date) {
    struct unread unread = {text, text + length};
    int64_t seconds, microseconds = 0;
    if (!take_day(&unread, &seconds) || !take_time(&unread, &seconds, &microseconds) || unread.next != unread.end)
        return false;
    *date = seconds * MICROSECONDS_PER_SECOND + microseconds;
    return true;
}

bool date_convert_seconds(double seconds, int64_t *date) {
    if (isnan(seconds) || fabs(seconds) >= MOST_SECONDS) return false;
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
