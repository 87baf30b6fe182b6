/* notation.c: reads and writes numbers, sizes and fingerprints in text. */
#include "tools/shared/wording.h"

#include <idx.h>
#include <idx_planning.h>
#include <idx_simhash.h>
#include <stdio.h>
#include <string.h>

/* ---- Number ---- */

#define DIGITS "0123456789"

/* Multiplies *number by a factor. Returns false if the product does not fit into 64 bits; then *number is
 * unspecified. */
static bool multiply(uint64_t *number, uint64_t factor) { return !__builtin_mul_overflow(*number, factor, number); }

bool number_parse_digits(const char *text, size_t length, uint64_t *number) {
    enum { DIGITS_THAT_FIT = 19 }; /* Any number of so many digits is below 2^64. */
    uint64_t parsed = 0;
    if (length == 0) return false;
    for (size_t i = 0; i < length; i++) {
        unsigned digit = (unsigned)(unsigned char)text[i] - '0';
        if (digit > 9) return false;
        if (i < DIGITS_THAT_FIT)
            parsed = 10 * parsed + digit;
        else if (!multiply(&parsed, 10) || __builtin_add_overflow(parsed, (uint64_t)digit, &parsed))
            return false;
    }
    *number = parsed;
    return true;
}

/* Multiplies *product by base^exponent. Returns false if the result does not fit into 64 bits; then *product is
 * unspecified. After the special cases the base is at least 2, so that a large exponent ends the loop early. */
static bool multiply_by_power(uint64_t *product, uint64_t base, uint64_t exponent) {
    if (*product == 0 || base == 1 || exponent == 0) return true;
    if (base == 0) {
        *product = 0;
        return true;
    }
    for (; exponent > 0; exponent--)
        if (!multiply(product, base)) return false;
    return true;
}

/* Parses a decimal number, and moves *text behind it. The number is *unscaled / 10^*places: 1.50 gives 15 and
 * 1, since trailing zeros do not count. Returns false if a digit is missing before or behind the point, or if *unscaled
 * would be 2^64 or more; then all three are unspecified. */
static bool parse_decimal(const char **text, uint64_t *unscaled, uint64_t *places) {
    size_t whole_digit_count = strspn(*text, DIGITS);
    uint64_t fraction;
    *places = 0;
    if (!number_parse_digits(*text, whole_digit_count, unscaled)) return false;
    *text += whole_digit_count;
    if (**text != '.') return true;
    const char *decimals = *text + 1;
    size_t length = strspn(decimals, DIGITS);
    if (length == 0) return false;
    *text = decimals + length;
    while (length > 0 && decimals[length - 1] == '0') length--;
    *places = length;
    return length == 0 ||
           (number_parse_digits(decimals, length, &fraction) && multiply_by_power(unscaled, 10, length) &&
            !__builtin_add_overflow(*unscaled, fraction, unscaled));
}

/* Sets *number to *number * 1024^exponent / 10^places. Returns false if that is not whole, or does not fit into
 * 64 bits; then *number is unspecified. `exponent` is at most 4, so that 128 bits hold the product. */
static bool scale_by_1024(uint64_t *number, unsigned exponent, uint64_t places) {
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)*number << 10 * exponent;
    for (; places > 0 && product % 10 == 0; places--) product /= 10;
    *number = (uint64_t)product;
    return places == 0 && product <= UINT64_MAX;
}

bool number_parse(const char *text, uint64_t *number) {
    static const char suffixes[] = "KMGT";
    uint64_t exponent, unscaled, places, scaled;
    if (!parse_decimal(&text, &unscaled, &places)) return false;
    if (*text == 'e') {
        scaled = unscaled;
        if (!number_parse_digits(text + 1, strlen(text + 1), &exponent) || exponent < places) return false;
        if (!multiply_by_power(&scaled, 10, exponent - places)) return false;
    } else if (*text == '^') {
        scaled = 1;
        if (places > 0 || !number_parse_digits(text + 1, strlen(text + 1), &exponent)) return false;
        if (!multiply_by_power(&scaled, unscaled, exponent)) return false;
    } else {
        const char *suffix = *text == '\0' ? NULL : strchr(suffixes, *text); /* strchr would find the NUL. */
        scaled = unscaled;
        if (*text != '\0' && (suffix == NULL || text[1] != '\0')) return false;
        if (!scale_by_1024(&scaled, suffix == NULL ? 0 : (unsigned)(suffix - suffixes) + 1, places)) return false;
    }
    *number = scaled;
    return true;
}

/* A share has the digits of a weight, and both units are the same. */
_Static_assert(IDX_THRESHOLD_ONE == IDX_DECIMAL_WEIGHT_ONE, "shares are read as weights are");

bool share_parse(const char *text, size_t length, int64_t *share) { return idx_weight_parse(text, length, share); }

/* ---- Size ---- */

void size_format(char text[SIZE_TEXT_BYTES], double bytes) {
    static const char units[] = "BKMGTPE";
    size_t unit = 0;
    for (; bytes >= 1024 && unit + 1 < strlen(units); unit++) bytes /= 1024;
    bool is_whole = unit == 0 || bytes >= 99.95; /* With a decimal, it would have four digits once it is rounded. */
    snprintf(text, SIZE_TEXT_BYTES, is_whole ? "%.0f %c%s" : "%.1f %c%s", bytes, units[unit], unit == 0 ? "" : "iB");
}

struct density compute_density(double bytes, uint64_t fingerprint_count, unsigned bits) {
    struct density density = {.limit = idx_information_limit(fingerprint_count, bits)};
    if (fingerprint_count == 0) return density;
    density.bits = 8 * bytes / (double)fingerprint_count;
    if (density.limit > 0) density.ratio = density.bits / density.limit;
    return density;
}

/* ---- Notation ---- */

const char *const notation_names[] = {"hex", "dec", "signed", NULL};

/* Returns with how many hex digits, leading zeros included, a fingerprint of `bits` bits is written: bits / 4, rounded
 * up. */
static unsigned count_hex_digits(unsigned bits) { return (bits + 3) / 4; }

/* The value of each hex digit, plus 16; 0 for all other characters. A table, since processors mispredict branches on
 * whether the next character is a digit or a letter. */
static const unsigned char hex_values[256] = {
    ['0'] = 16, ['1'] = 17, ['2'] = 18, ['3'] = 19, ['4'] = 20, ['5'] = 21, ['6'] = 22, ['7'] = 23,
    ['8'] = 24, ['9'] = 25, ['a'] = 26, ['b'] = 27, ['c'] = 28, ['d'] = 29, ['e'] = 30, ['f'] = 31,
    ['A'] = 26, ['B'] = 27, ['C'] = 28, ['D'] = 29, ['E'] = 30, ['F'] = 31,
};

/* Reads hex digits up to the first other character or the end. Returns how many there are, and sets *number to their
 * value, of which only the last 64 bits are kept. */
static size_t read_hex_digits(const char *text, size_t length, uint64_t *number) {
    size_t digit_count = 0;
    *number = 0;
    for (; digit_count < length; digit_count++) {
        unsigned digit = hex_values[(unsigned char)text[digit_count]];
        if (digit == 0) break;
        *number = *number << 4 | (digit & 15);
    }
    return digit_count;
}

/* Returns whether a text is one or more decimal digits, perhaps behind a minus sign, and nothing else. */
static bool is_decimal_integer(const char *text, size_t length) {
    size_t i = length > 0 && text[0] == '-' ? 1 : 0;
    if (i == length) return false;
    while (i < length && text[i] >= '0' && text[i] <= '9') i++;
    return i == length;
}

/* Sets *problem: `character`, in a fingerprint of `bits` bits, is no hex digit. Returns false always. */
static bool explain_wrong_digit(char character, unsigned bits, struct problem *problem) {
    unsigned byte = (unsigned char)character;
    if (byte > 0x20 && byte < 0x7f)
        return problem_set(problem, "'%c' is not a hex digit; a fingerprint of %u bits has %u of them", character, bits,
                           count_hex_digits(bits));
    return problem_set(problem, "byte 0x%02x is not a hex digit; a fingerprint of %u bits has %u of them", byte, bits,
                       count_hex_digits(bits));
}

/* Sets *problem: the number has more than the `bits` bits of a fingerprint. Returns false always. */
static bool explain_too_large(unsigned bits, struct problem *problem) {
    return problem_set(problem, "the fingerprint is not below 2^%u: it has more than %u bits", bits, bits);
}

/* Parses a fingerprint of `bits` bits in hex, perhaps behind 0x. Sets *problem and returns false if it is none; then
 * *fingerprint stays as it is. If the text may be a decimal number, *problem also names the options that read it. */
static bool parse_hex(unsigned bits, const char *text, size_t length, uint64_t *fingerprint, struct problem *problem) {
    const char *digits = text;
    size_t digit_count = length;
    uint64_t number;
    if (length >= 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
        digits += 2;
        digit_count -= 2;
    }
    if (digit_count != count_hex_digits(bits) && is_decimal_integer(text, length))
        return problem_set(problem,
                           "a fingerprint of %u bits has %u hex digits, but this one has %zu (--fingerprints dec or "
                           "signed reads decimal numbers)",
                           bits, count_hex_digits(bits), digit_count);
    size_t valid_digit_count = read_hex_digits(digits, digit_count, &number);
    if (valid_digit_count < digit_count) return explain_wrong_digit(digits[valid_digit_count], bits, problem);
    if (digit_count != count_hex_digits(bits))
        return problem_set(problem, "a fingerprint of %u bits has %u hex digits, but this one has %zu", bits,
                           count_hex_digits(bits), digit_count);
    if (bits < 64 && number >> bits != 0) return explain_too_large(bits, problem);
    *fingerprint = number;
    return true;
}

/* Parses a fingerprint of `bits` bits that is an unsigned decimal number. Sets *problem and returns false if it is
 * none; then *fingerprint stays as it is. */
static bool parse_unsigned(unsigned bits, const char *text, size_t length, uint64_t *fingerprint,
                           struct problem *problem) {
    uint64_t number;
    if (!is_decimal_integer(text, length)) return problem_set(problem, "the fingerprint is not a decimal number");
    if (text[0] == '-')
        return problem_set(problem, "the fingerprint is negative (--fingerprints signed reads such numbers)");
    if (!number_parse_digits(text, length, &number) || (bits < 64 && number >> bits != 0))
        return explain_too_large(bits, problem);
    *fingerprint = number;
    return true;
}

/* Parses a fingerprint that is a signed decimal number: its two's complement of `bits` bits is the fingerprint. Sets
 * *problem and returns false if it is none; then *fingerprint stays as it is. */
static bool parse_signed(unsigned bits, const char *text, size_t length, uint64_t *fingerprint,
                         struct problem *problem) {
    uint64_t magnitude, sign_bit = UINT64_C(1) << (bits - 1);
    if (!is_decimal_integer(text, length)) return problem_set(problem, "the fingerprint is not a decimal number");
    bool is_negative = text[0] == '-';
    bool fits = number_parse_digits(text + is_negative, length - is_negative, &magnitude);
    if (!fits || (is_negative ? magnitude > sign_bit : magnitude >= sign_bit))
        return problem_set(problem, "a signed fingerprint of %u bits must be from -2^%u to 2^%u-1, but this one is not",
                           bits, bits - 1, bits - 1);
    uint64_t all_bits = sign_bit | (sign_bit - 1); /* The lowest `bits` bits. */
    *fingerprint = is_negative ? (0 - magnitude) & all_bits : magnitude;
    return true;
}

bool notation_parse_fingerprint(enum notation notation, unsigned bits, const char *text, size_t length,
                                uint64_t *fingerprint, struct problem *problem) {
    if (length == 0) return problem_set(problem, "the fingerprint is missing");
    if (text[length - 1] == '\r')
        return problem_set(problem, "the fingerprint ends in a carriage return; lines must end in \\n alone");
    switch (notation) {
        case NOTATION_DEC: return parse_unsigned(bits, text, length, fingerprint, problem);
        case NOTATION_SIGNED: return parse_signed(bits, text, length, fingerprint, problem);
        default: return parse_hex(bits, text, length, fingerprint, problem);
    }
}

/* Writes a fingerprint to `text` with `digit_count` hex digits, leading zeros included, without a NUL. Returns
 * `digit_count`. */
static size_t format_hex(unsigned digit_count, uint64_t fingerprint, char *text) {
    for (unsigned i = digit_count; i-- > 0; fingerprint >>= 4) text[i] = "0123456789abcdef"[fingerprint & 15];
    return digit_count;
}

size_t notation_format_decimal(uint64_t number, char *text) {
    char digits[NOTATION_MAX_LENGTH];
    size_t first_digit = sizeof digits;
    do {
        digits[--first_digit] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    memcpy(text, digits + first_digit, sizeof digits - first_digit);
    return sizeof digits - first_digit;
}

size_t notation_format_fingerprint(enum notation notation, unsigned bits, uint64_t fingerprint, char *text) {
    uint64_t sign_bit = UINT64_C(1) << (bits - 1);
    if (notation == NOTATION_HEX) return format_hex(count_hex_digits(bits), fingerprint, text);
    if (notation == NOTATION_DEC || fingerprint < sign_bit) return notation_format_decimal(fingerprint, text);
    text[0] = '-';
    return 1 + notation_format_decimal(sign_bit - (fingerprint - sign_bit), text + 1);
}
