/* number.c: the numbers that options take. */
#include "tools/shared/number.h"

#include <string.h>

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

/* value · base^exponent. */
static bool scale(uint64_t *value, uint64_t base, uint64_t exponent) {
    if (*value == 0 || base == 1) return true;
    if (base == 0 && exponent > 0) *value = exponent = 0;
    for (; exponent > 0; exponent--) {
        if (!multiply(value, base)) return false;
    }
    return true;
}

bool number_parse(const char *text, uint64_t *value) {
    static const char suffixes[] = "KMGT";
    size_t digits = strspn(text, "0123456789");
    const char *rest = text + digits;
    uint64_t exponent, sum;
    if (!number_parse_digits(text, digits, &sum)) return false;
    if (*rest == 'e' || *rest == '^') {
        uint64_t base = *rest == 'e' ? 10 : sum;
        if (!number_parse_digits(rest + 1, strlen(rest + 1), &exponent)) return false;
        if (*rest == '^') sum = 1;
        if (!scale(&sum, base, exponent)) return false;
    } else if (*rest != '\0') {
        const char *suffix = strchr(suffixes, *rest);
        if (suffix == NULL || rest[1] != '\0') return false;
        if (!scale(&sum, 1024, (uint64_t)(suffix - suffixes) + 1)) return false;
    }
    *value = sum;
    return true;
}
