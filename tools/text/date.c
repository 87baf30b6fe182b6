/* date.c: reads dates and times as records write them. */
#include "tools/text/documents.h"

#include <math.h>
#include <time.h>

#define MICROSECONDS INT64_C(1000000)

/* This is left to be read. */
struct rest {
    const char *at, *end;
};

static bool is_digit(const struct rest *rest) { return rest->at < rest->end && *rest->at >= '0' && *rest->at <= '9'; }

static bool take_byte(struct rest *rest, char byte) {
    bool taken = rest->at < rest->end && *rest->at == byte;
    rest->at += taken;
    return taken;
}

/* Reads a number of so many digits, from `least` to `most`. */
static bool take_number(struct rest *rest, int digits, int64_t least, int64_t most, int64_t *number) {
    *number = 0;
    for (int i = 0; i < digits; i++) {
        if (!is_digit(rest)) return false;
        *number = *number * 10 + (*rest->at++ - '0');
    }
    return *number >= least && *number <= most;
}

/* Reads a day, and sets its beginning in seconds since 1970. */
static bool take_day(struct rest *rest, int64_t *seconds) {
    int64_t year, month, day;
    if (!take_number(rest, 4, 0, 9999, &year) || !take_byte(rest, '-') || !take_number(rest, 2, 1, 12, &month) ||
        !take_byte(rest, '-') || !take_number(rest, 2, 1, 31, &day))
        return false;
    struct tm date = {.tm_year = (int)year - 1900, .tm_mon = (int)month - 1, .tm_mday = (int)day};
    *seconds = timegm(&date);
    return date.tm_mday == day; /* It makes 1 May of 31 April. */
}

/* Reads the digits behind the point; those after the sixth are ignored. */
static bool take_fraction(struct rest *rest, int64_t *microseconds) {
    int64_t unit = MICROSECONDS / 10;
    *microseconds = 0;
    if (!take_byte(rest, '.') && !take_byte(rest, ',')) return true;
    if (!is_digit(rest)) return false;
    for (; is_digit(rest); unit /= 10) *microseconds += (*rest->at++ - '0') * unit;
    return true;
}

/* Reads the offset from UTC, and subtracts it. */
static bool take_zone(struct rest *rest, int64_t *seconds) {
    int64_t hours, minutes = 0;
    if (take_byte(rest, 'Z') || take_byte(rest, 'z') || rest->at == rest->end) return true;
    bool behind = take_byte(rest, '-');
    if (!behind && !take_byte(rest, '+')) return false;
    if (!take_number(rest, 2, 0, 23, &hours)) return false;
    if ((take_byte(rest, ':') || is_digit(rest)) && !take_number(rest, 2, 0, 59, &minutes)) return false;
    *seconds += (behind ? 1 : -1) * (hours * 3600 + minutes * 60);
    return true;
}

static bool take_time(struct rest *rest, int64_t *seconds, int64_t *microseconds) {
    int64_t hour, minute, second = 0;
    if (rest->at == rest->end) return true;
    if (!take_byte(rest, 'T') && !take_byte(rest, 't') && !take_byte(rest, ' ')) return false;
    if (!take_number(rest, 2, 0, 23, &hour) || !take_byte(rest, ':') || !take_number(rest, 2, 0, 59, &minute))
        return false;
    if (take_byte(rest, ':') && (!take_number(rest, 2, 0, 60, &second) || !take_fraction(rest, microseconds)))
        return false;
    *seconds += hour * 3600 + minute * 60 + second;
    return take_zone(rest, seconds);
}

bool date_parse(const char *text, size_t length, int64_t *date) {
    struct rest rest = {text, text + length};
    int64_t seconds, microseconds = 0;
    if (!take_day(&rest, &seconds) || !take_time(&rest, &seconds, &microseconds) || rest.at != rest.end) return false;
    *date = seconds * MICROSECONDS + microseconds;
    return true;
}

bool date_of_seconds(double seconds, int64_t *date) {
    if (!(fabs(seconds) < 9e12)) return false;
    *date = (int64_t)(seconds * (double)MICROSECONDS);
    return true;
}
