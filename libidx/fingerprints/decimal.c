/* decimal.c: parses the weights that users write for features. */
#include <idx.h>

enum { FRACTION_DIGITS = 4, MOST_WHOLE = 1000000 };

/* Reads digits from text[*at] on, up to `most` of them. Returns their number. */
static size_t read_digits(const char *text, size_t length, size_t *at, size_t most, int64_t *value) {
    size_t start = *at;
    for (; *at < length && *at - start < most && text[*at] >= '0' && text[*at] <= '9'; ++*at) {
        *value = *value * 10 + (text[*at] - '0');
    }
    return *at - start;
}

bool idx_weight_parse(const char *text, size_t length, int64_t *weight) {
    int64_t value = 0;
    size_t at = length > 0 && text[0] == '-', fraction = 0;
    bool negative = at == 1;
    if (read_digits(text, length, &at, 7, &value) == 0) return false;
    bool up = false;
    if (at < length) {
        if (text[at++] != '.') return false;
        fraction = read_digits(text, length, &at, FRACTION_DIGITS, &value);
        up = at < length && text[at] >= '5';
        while (at < length && text[at] >= '0' && text[at] <= '9') at++;
        if (fraction == 0 || at < length) return false;
    }
    for (; fraction < FRACTION_DIGITS; fraction++) value *= 10;
    value += up;
    if (value > (int64_t)MOST_WHOLE * IDX_DECIMAL_WEIGHT_ONE) return false;
    *weight = negative ? -value : value;
    return true;
}
