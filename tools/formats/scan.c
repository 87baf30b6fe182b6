/* scan.c: finds values in JSON by their strings and brackets, without reading what is in the others. So whatever a
 * parser could refuse or must count, such as NaN, huge numbers, lone surrogates or deep nesting, has no effect there,
 * and no memory is needed. */
#include "tools/formats/scan.h"

#include <string.h>

/* The bytes that were not scanned yet. The functions below move `next` behind what they skip or parse. */
struct unscanned {
    const char *next, *end;
};

/* Skips the white space of JSON. */
static void skip_blanks(struct unscanned *unscanned) {
    while (unscanned->next < unscanned->end && (*unscanned->next == ' ' || *unscanned->next == '\t' ||
                                                *unscanned->next == '\n' || *unscanned->next == '\r'))
        unscanned->next++;
}

/* Skips a byte if it is next, and returns whether it was. */
static bool skip_byte(struct unscanned *unscanned, char byte) {
    bool is_next = unscanned->next < unscanned->end && *unscanned->next == byte;
    unscanned->next += is_next;
    return is_next;
}

/* Skips the rest of a string, whose first quote was skipped. Returns false if it does not end. A quote behind an odd
 * number of backslashes is a part of the string. */
static bool skip_string(struct unscanned *unscanned) {
    const char *quote;
    while ((quote = memchr(unscanned->next, '"', (size_t)(unscanned->end - unscanned->next))) != NULL) {
        const char *backslash = quote;
        while (backslash > unscanned->next && backslash[-1] == '\\') backslash--;
        unscanned->next = quote + 1;
        if ((quote - backslash) % 2 == 0) return true;
    }
    unscanned->next = unscanned->end;
    return false;
}

/* Skips an object or array, whose bracket is next, by counting brackets of any kind outside strings. Returns false if
 * it does not end. */
static bool skip_brackets(struct unscanned *unscanned) {
    size_t depth = 0;
    while (unscanned->next < unscanned->end) {
        char byte = *unscanned->next++;
        if (byte == '"' && !skip_string(unscanned)) return false;
        depth += byte == '{' || byte == '[';
        depth -= byte == '}' || byte == ']';
        if (depth == 0) return true;
    }
    return false;
}

/* Returns whether a byte ends a value that is no string, object or array. */
static bool ends_bare_value(char byte) {
    switch (byte) {
        case ' ':
        case '\t':
        case '\n':
        case '\r':
        case '"':
        case ',':
        case ':':
        case '[':
        case ']':
        case '{':
        case '}': return true;
        default: return false;
    }
}

/* Skips a value, and sets *value to its bytes. A value that is no string, object or array is whatever bytes are there,
 * up to one that ends it. Returns false if the value is missing or does not end; then *value is what there is of it. */
static bool skip_value(struct unscanned *unscanned, struct span *value) {
    const char *value_begin = unscanned->next;
    bool ok;
    if (skip_byte(unscanned, '"')) {
        ok = skip_string(unscanned);
    } else if (value_begin < unscanned->end && (*value_begin == '{' || *value_begin == '[')) {
        ok = skip_brackets(unscanned);
    } else {
        while (unscanned->next < unscanned->end && !ends_bare_value(*unscanned->next)) unscanned->next++;
        ok = unscanned->next > value_begin;
    }
    *value = (struct span){value_begin, (size_t)(unscanned->next - value_begin)};
    return ok;
}

/* ---- Strings ---- */

/* Returns the number that the four bytes at `digits` are in hex, or -1 if they are no digits or go beyond `end`. */
static int32_t parse_four_hex_digits(const char *digits, const char *end) {
    int32_t number = 0;
    if (end - digits < 4) return -1;
    for (size_t i = 0; i < 4; i++) {
        char digit = digits[i];
        if (digit >= '0' && digit <= '9')
            number = number * 16 + (digit - '0');
        else if ((digit | 0x20) >= 'a' && (digit | 0x20) <= 'f')
            number = number * 16 + ((digit | 0x20) - 'a' + 10);
        else
            return -1;
    }
    return number;
}

/* Writes the character of this code point in UTF-8, and returns how many bytes that takes. */
static size_t write_utf8(int32_t code, char bytes[SCAN_ESCAPE_BYTES]) {
    if (code < 0x80) {
        bytes[0] = (char)code;
        return 1;
    }
    size_t length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const int leads[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = length - 1; i > 0; i--, code >>= 6) bytes[i] = (char)(0x80 | (code & 0x3f));
    bytes[0] = (char)(leads[length] | code);
    return length;
}

/* Decodes an escape whose \u was skipped, or two escapes that are a surrogate pair. Writes the character in UTF-8 to
 * `bytes`, and returns its length; 0 if four hex digits are not next. A surrogate alone becomes U+FFFD. */
static size_t decode_unicode_escape(struct unscanned *unscanned, char bytes[SCAN_ESCAPE_BYTES]) {
    int32_t code = parse_four_hex_digits(unscanned->next, unscanned->end), low_surrogate = -1;
    if (code < 0) return 0;
    unscanned->next += 4;
    if (code < 0xd800 || code > 0xdfff) return write_utf8(code, bytes);
    if (code < 0xdc00 && unscanned->end - unscanned->next >= 6 && unscanned->next[0] == '\\' &&
        unscanned->next[1] == 'u')
        low_surrogate = parse_four_hex_digits(unscanned->next + 2, unscanned->end);
    if (low_surrogate < 0xdc00 || low_surrogate > 0xdfff) return write_utf8(0xfffd, bytes);
    unscanned->next += 6;
    return write_utf8(0x10000 + ((code - 0xd800) << 10) + (low_surrogate - 0xdc00), bytes);
}

/* Decodes an escape, whose backslash is next. Writes its character in UTF-8 to `bytes`, and returns the character's
 * length; 0 if JSON has no such escape. */
static size_t decode_escape(struct unscanned *unscanned, char bytes[SCAN_ESCAPE_BYTES]) {
    static const char names[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    if (unscanned->end - unscanned->next < 2) return 0;
    char name = unscanned->next[1];
    unscanned->next += 2;
    if (name == 'u') return decode_unicode_escape(unscanned, bytes);
    const char *found = memchr(names, name, sizeof names - 1);
    if (found == NULL) return 0;
    bytes[0] = meant[found - names];
    return 1;
}

bool scan_string(struct span value, struct output *buffer, struct span *string, struct bad *bad) {
    struct unscanned unscanned = {value.bytes + 1, value.bytes + value.length - 1};
    const char *backslash = memchr(unscanned.next, '\\', value.length - 2);
    if (backslash == NULL) {
        *string = (struct span){unscanned.next, value.length - 2};
        return true;
    }
    buffer->length = 0;
    char *bytes = output_reserve(buffer, value.length), *out = bytes;
    if (bytes == NULL) return bad_set_memory(bad);
    /* The buffer is large enough, since no escape is shorter than its character. */
    for (; backslash != NULL; backslash = memchr(unscanned.next, '\\', (size_t)(unscanned.end - unscanned.next))) {
        out = mempcpy(out, unscanned.next, (size_t)(backslash - unscanned.next));
        unscanned.next = backslash;
        while (unscanned.next < unscanned.end && *unscanned.next == '\\') {
            size_t length = decode_escape(&unscanned, out);
            if (length == 0) return bad_set(bad, BAD_JSON, "it is not JSON: a string has an escape that is none");
            out += length;
        }
    }
    out = mempcpy(out, unscanned.next, (size_t)(unscanned.end - unscanned.next));
    *string = (struct span){bytes, (size_t)(out - bytes)};
    return true;
}

/* ---- Objects and arrays ---- */

/* Returns whether a key, as it is written between its quotes, means this name. A name whose bytes are NULL is that of
 * no key. */
static bool key_equals_name(struct span key, struct span name) {
    struct unscanned unscanned = {key.bytes, key.bytes + key.length};
    char bytes[SCAN_ESCAPE_BYTES];
    if (name.bytes == NULL || key.length < name.length) return false;
    if (memchr(key.bytes, '\\', key.length) == NULL)
        return key.length == name.length && memcmp(key.bytes, name.bytes, name.length) == 0;
    while (unscanned.next < unscanned.end) {
        size_t length = 1;
        if (*unscanned.next == '\\')
            length = decode_escape(&unscanned, bytes);
        else
            *bytes = *unscanned.next++;
        if (length == 0 || length > name.length || memcmp(bytes, name.bytes, length) != 0) return false;
        name.bytes += length;
        name.length -= length;
    }
    return name.length == 0;
}

/* Skips a member of an object. If its name is that of one of `members`, sets the value there, even if the value is cut
 * off. Returns what is wrong, as a clause for a message, or NULL. */
static const char *parse_member(struct unscanned *unscanned, struct scan_member *members, size_t member_count) {
    struct span key, value;
    if (!skip_byte(unscanned, '"')) return "a name in quotes is missing";
    key.bytes = unscanned->next;
    if (!skip_string(unscanned)) return "a string does not end";
    key.length = (size_t)(unscanned->next - key.bytes) - 1;
    skip_blanks(unscanned);
    if (!skip_byte(unscanned, ':')) return "a colon is missing";
    skip_blanks(unscanned);
    bool ok = skip_value(unscanned, &value);
    for (size_t i = 0; i < member_count; i++) {
        if (key_equals_name(key, members[i].name)) members[i].value = value;
    }
    return ok ? NULL : "a value is missing";
}

/* Skips an object, whose opening brace was skipped, and sets the values of the members. Returns what is wrong, as a
 * clause for a message, or NULL. */
static const char *parse_rest_of_object(struct unscanned *unscanned, struct scan_member *members, size_t member_count) {
    const char *problem = NULL;
    skip_blanks(unscanned);
    if (skip_byte(unscanned, '}')) return NULL;
    do {
        skip_blanks(unscanned);
        problem = parse_member(unscanned, members, member_count);
        skip_blanks(unscanned);
    } while (problem == NULL && skip_byte(unscanned, ','));
    if (problem != NULL || skip_byte(unscanned, '}')) return problem;
    return "a comma or a closing brace is missing";
}

bool scan_members(struct span object, struct scan_member *members, size_t member_count, struct bad *bad) {
    struct unscanned unscanned = {object.bytes, object.bytes + object.length};
    skip_blanks(&unscanned);
    if (!skip_byte(&unscanned, '{')) return bad_set(bad, BAD_JSON, "it is not a JSON object");
    const char *problem = parse_rest_of_object(&unscanned, members, member_count);
    skip_blanks(&unscanned);
    if (problem == NULL && unscanned.next == unscanned.end) return true;
    if (unscanned.next == unscanned.end) return bad_set(bad, BAD_JSON, "it is not JSON: the object does not end");
    return bad_set(bad, BAD_JSON, "it is not JSON: %s at byte %zu of the object",
                   problem != NULL ? problem : "something else follows", (size_t)(unscanned.next - object.bytes) + 1);
}

enum scan_end scan_object(struct span *bytes, struct scan_member *members, size_t member_count) {
    struct unscanned unscanned = {bytes->bytes, bytes->bytes + bytes->length};
    skip_blanks(&unscanned);
    bool begins = skip_byte(&unscanned, '{');
    const char *problem = begins ? parse_rest_of_object(&unscanned, members, member_count) : NULL;
    if (!begins || (problem != NULL && unscanned.next < unscanned.end)) return SCAN_NONE;
    *bytes = (struct span){unscanned.next, (size_t)(unscanned.end - unscanned.next)};
    return problem == NULL ? SCAN_WHOLE : SCAN_CUT;
}

bool scan_next_element(struct span *rest, struct span *value) {
    struct unscanned unscanned = {rest->bytes, rest->bytes + rest->length};
    skip_blanks(&unscanned);
    if (!skip_value(&unscanned, value)) return false;
    skip_blanks(&unscanned);
    if (!skip_byte(&unscanned, ',')) unscanned.next = unscanned.end;
    *rest = (struct span){unscanned.next, (size_t)(unscanned.end - unscanned.next)};
    return true;
}

struct span scan_find_element(struct span array, uint64_t index) {
    struct span rest = {array.bytes + 1, array.length - 1}, value;
    while (scan_next_element(&rest, &value)) {
        if (index-- == 0) return value;
    }
    return (struct span){NULL, 0};
}

/* ---- Numbers ---- */

/* Skips digits, and returns whether there were any. */
static bool skip_digits(struct unscanned *unscanned) {
    const char *first_digit = unscanned->next;
    while (unscanned->next < unscanned->end && *unscanned->next >= '0' && *unscanned->next <= '9') unscanned->next++;
    return unscanned->next > first_digit;
}

bool scan_is_number(struct span value) {
    struct unscanned unscanned = {value.bytes, value.bytes + value.length};
    skip_byte(&unscanned, '-');
    if (!skip_byte(&unscanned, '0') && !skip_digits(&unscanned)) return false;
    if (skip_byte(&unscanned, '.') && !skip_digits(&unscanned)) return false;
    if (skip_byte(&unscanned, 'e') || skip_byte(&unscanned, 'E')) {
        if (!skip_byte(&unscanned, '-')) skip_byte(&unscanned, '+');
        if (!skip_digits(&unscanned)) return false;
    }
    return unscanned.next == unscanned.end;
}
