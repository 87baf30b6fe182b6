/* number.c: reads the numbers that options take. */
#include "tools/shared/number.h"

#include <string.h>

#define DIGITS "0123456789"

static bool multiply(uint64_t *value, uint64_t factor) { return !__builtin_mul_overflow(*value, factor, value); }

bool number_parse_digits(const char *text, size_t length, uint64_t *value) {
    enum { SURE_TO_FIT = 19 };
    uint64_t sum = 0;
    if (length == 0) return false;
    for (size_t i = 0; i < length; i++) {
        unsigned digit = (unsigned)(unsigned char)text[i] - '0';
        if (digit > 9) return false;
        if (i < SURE_TO_FIT)
            sum = 10 * sum + digit;
        else if (!multiply(&sum, 10) || __builtin_add_overflow(sum, (uint64_t)digit, &sum))
            return false;
    }
    *value = sum;
    return true;
}

/* Multiplies *value by base^exponent. Returns false if that does not fit. */
static bool scale(uint64_t *value, uint64_t base, uint64_t exponent) {
    if (*value == 0 || base == 1) return true;
    if (base == 0 && exponent > 0) *value = exponent = 0;
    for (; exponent > 0; exponent--) {
        if (!multiply(value, base)) return false;
    }
    return true;
}

/* Reads a decimal number. Sets *digits to it without its point, and *places to how many digits follow the point,
 * trailing zeros apart. */
static bool parse_decimal(const char **text, uint64_t *digits, uint64_t *places) {
    size_t whole = strspn(*text, DIGITS), length = whole;
    uint64_t fraction;
    *places = 0;
    if (!number_parse_digits(*text, whole, digits)) return false;
    if ((*text)[whole] == '.') {
        const char *behind = *text + whole + 1;
        size_t kept = strspn(behind, DIGITS);
        length += 1 + kept;
        if (kept == 0) return false;
        while (kept > 0 && behind[kept - 1] == '0') kept--;
        *places = kept;
        if (kept > 0 && (!number_parse_digits(behind, kept, &fraction) || !scale(digits, 10, kept) ||
                         __builtin_add_overflow(*digits, fraction, digits)))
            return false;
    }
    *text += length;
    return true;
}

/* Sets *digits to digits · 1024^exponent / 10^places. Returns false if that is not whole or does not fit. */
static bool scale_binary(uint64_t *digits, unsigned exponent, uint64_t places) {
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)*digits << 10 * exponent;
    for (; places > 0 && product % 10 == 0; places--) product /= 10;
    *digits = (uint64_t)product;
    return places == 0 && product <= UINT64_MAX;
}

bool number_parse(const char *text, uint64_t *value) {
    static const char suffixes[] = "KMGT";
    uint64_t exponent, sum, places;
    if (!parse_decimal(&text, &sum, &places)) return false;
    if (*text == 'e') {
        if (!number_parse_digits(text + 1, strlen(text + 1), &exponent) || exponent < places) return false;
        if (!scale(&sum, 10, exponent - places)) return false;
    } else if (*text == '^') {
        uint64_t base = sum;
        sum = 1;
        if (places > 0 || !number_parse_digits(text + 1, strlen(text + 1), &exponent)) return false;
        if (!scale(&sum, base, exponent)) return false;
    } else {
        const char *suffix = *text == '\0' ? NULL : strchr(suffixes, *text);
        if (*text != '\0' && (suffix == NULL || text[1] != '\0')) return false;
        if (!scale_binary(&sum, suffix == NULL ? 0 : (unsigned)(suffix - suffixes) + 1, places)) return false;
    }
    *value = sum;
    return true;
}
