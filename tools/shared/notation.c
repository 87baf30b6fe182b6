/* notation.c: reads and writes fingerprints in text. */
#include "tools/shared/notation.h"

#include "tools/shared/number.h"

#include <string.h>

const char *const notation_names[] = {"hex", "dec", "signed", NULL};

static unsigned hex_digits(unsigned bits) { return (bits + 3) / 4; }

/* The value of each character that is a hex digit, plus 16; all others have 0. It is a table because no processor can
 * predict how digits and letters alternate. */
static const unsigned char hex_values[256] = {
    ['0'] = 16, ['1'] = 17, ['2'] = 18, ['3'] = 19, ['4'] = 20, ['5'] = 21, ['6'] = 22, ['7'] = 23,
    ['8'] = 24, ['9'] = 25, ['a'] = 26, ['b'] = 27, ['c'] = 28, ['d'] = 29, ['e'] = 30, ['f'] = 31,
    ['A'] = 26, ['B'] = 27, ['C'] = 28, ['D'] = 29, ['E'] = 30, ['F'] = 31,
};

/* Returns how many characters are hex digits before the first one that is not, and sets *value to theirs. */
static size_t read_hex(const char *text, size_t length, uint64_t *value) {
    size_t count = 0;
    *value = 0;
    for (; count < length; count++) {
        unsigned digit = hex_values[(unsigned char)text[count]];
        if (digit == 0) break;
        *value = *value << 4 | (digit & 15);
    }
    return count;
}

static bool is_decimal(const char *text, size_t length) {
    size_t i = length > 0 && text[0] == '-' ? 1 : 0;
    if (i == length) return false;
    while (i < length && text[i] >= '0' && text[i] <= '9') i++;
    return i == length;
}

static bool wrong_digit(char character, unsigned bits, struct problem *problem) {
    unsigned byte = (unsigned char)character;
    if (byte > 0x20 && byte < 0x7f)
        return problem_set(problem, "'%c' is not a hex digit; a fingerprint of %u bits has %u of them", character, bits,
                           hex_digits(bits));
    return problem_set(problem, "byte 0x%02x is not a hex digit; a fingerprint of %u bits has %u of them", byte, bits,
                       hex_digits(bits));
}

static bool too_large(unsigned bits, struct problem *problem) {
    return problem_set(problem, "the fingerprint is not below 2^%u: it has more than %u bits", bits, bits);
}

static bool parse_hex(unsigned bits, const char *text, size_t length, uint64_t *fingerprint, struct problem *problem) {
    const char *digits = text;
    size_t count = length;
    uint64_t value;
    if (length >= 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
        digits += 2;
        count -= 2;
    }
    if (count != hex_digits(bits) && is_decimal(text, length))
        return problem_set(problem,
                           "a fingerprint of %u bits has %u hex digits, but this one has %zu (--fingerprints dec or "
                           "signed reads decimal numbers)",
                           bits, hex_digits(bits), count);
    size_t read = read_hex(digits, count, &value);
    if (read < count) return wrong_digit(digits[read], bits, problem);
    if (count != hex_digits(bits))
        return problem_set(problem, "a fingerprint of %u bits has %u hex digits, but this one has %zu", bits,
                           hex_digits(bits), count);
    if (bits < 64 && value >> bits != 0) return too_large(bits, problem);
    *fingerprint = value;
    return true;
}

static bool parse_dec(unsigned bits, const char *text, size_t length, uint64_t *fingerprint, struct problem *problem) {
    uint64_t value;
    if (!is_decimal(text, length)) return problem_set(problem, "the fingerprint is not a decimal number");
    if (text[0] == '-')
        return problem_set(problem, "the fingerprint is negative (--fingerprints signed reads such numbers)");
    if (!number_parse_digits(text, length, &value) || (bits < 64 && value >> bits != 0))
        return too_large(bits, problem);
    *fingerprint = value;
    return true;
}

static bool parse_signed(unsigned bits, const char *text, size_t length, uint64_t *fingerprint,
                         struct problem *problem) {
    uint64_t size, half = UINT64_C(1) << (bits - 1);
    if (!is_decimal(text, length)) return problem_set(problem, "the fingerprint is not a decimal number");
    bool negative = text[0] == '-';
    bool fits = number_parse_digits(text + negative, length - negative, &size);
    if (!fits || (negative ? size > half : size >= half))
        return problem_set(problem, "a signed fingerprint of %u bits must be from -2^%u to 2^%u-1, but this one is not",
                           bits, bits - 1, bits - 1);
    *fingerprint = negative ? (0 - size) & (half | (half - 1)) : size;
    return true;
}

bool notation_parse(enum notation notation, unsigned bits, const char *text, size_t length, uint64_t *fingerprint,
                    struct problem *problem) {
    if (length == 0) return problem_set(problem, "the fingerprint is missing");
    if (text[length - 1] == '\r')
        return problem_set(problem, "the fingerprint ends in a carriage return; lines must end in \\n alone");
    switch (notation) {
        case NOTATION_DEC: return parse_dec(bits, text, length, fingerprint, problem);
        case NOTATION_SIGNED: return parse_signed(bits, text, length, fingerprint, problem);
        default: return parse_hex(bits, text, length, fingerprint, problem);
    }
}

static size_t print_hex(unsigned digits, uint64_t fingerprint, char *text) {
    for (unsigned i = digits; i-- > 0; fingerprint >>= 4) text[i] = "0123456789abcdef"[fingerprint & 15];
    return digits;
}

size_t notation_print_decimal(uint64_t number, char *text) {
    char digits[NOTATION_MAX_LENGTH];
    size_t start = sizeof digits;
    do {
        digits[--start] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    memcpy(text, digits + start, sizeof digits - start);
    return sizeof digits - start;
}

size_t notation_print(enum notation notation, unsigned bits, uint64_t fingerprint, char *text) {
    uint64_t half = UINT64_C(1) << (bits - 1);
    if (notation == NOTATION_HEX) return print_hex(hex_digits(bits), fingerprint, text);
    if (notation == NOTATION_DEC || fingerprint < half) return notation_print_decimal(fingerprint, text);
    text[0] = '-';
    return 1 + notation_print_decimal(half - (fingerprint - half), text + 1);
}
