/* scan.c: finds values in JSON by their strings and brackets, without reading what is in the others. So whatever a
 * parser could refuse or must count, such as NaN, huge numbers, lone surrogates or deep nesting, has no effect there,
 * and no memory is needed. */
#include "tools/formats/scan.h"

#include <string.h>

/* A place in JSON that is being scanned. The functions below move `next` behind what they skip or parse. */
struct cursor {
    const char *next, *end;
};

/* Skips the white space of JSON. */
static void skip_blanks(struct cursor *cursor) {
    while (cursor->next < cursor->end &&
           (*cursor->next == ' ' || *cursor->next == '\t' || *cursor->next == '\n' || *cursor->next == '\r'))
        cursor->next++;
}

/* Skips a byte if it is next, and returns whether it was. */
static bool skip_byte(struct cursor *cursor, char byte) {
    bool is_next = cursor->next < cursor->end && *cursor->next == byte;
    cursor->next += is_next;
    return is_next;
}

/* Skips the rest of a string, whose first quote was skipped. Returns false if it does not end. A quote behind an odd
 * number of backslashes is a part of the string. */
static bool skip_string(struct cursor *cursor) {
    const char *quote;
    while ((quote = memchr(cursor->next, '"', (size_t)(cursor->end - cursor->next))) != NULL) {
        const char *backslash = quote;
        while (backslash > cursor->next && backslash[-1] == '\\') backslash--;
        cursor->next = quote + 1;
        if ((quote - backslash) % 2 == 0) return true;
    }
    cursor->next = cursor->end;
    return false;
}

/* Skips an object or array, whose bracket is next, by counting brackets of any kind outside strings. Returns false if
 * it does not end. */
static bool skip_brackets(struct cursor *cursor) {
    size_t depth = 0;
    while (cursor->next < cursor->end) {
        char byte = *cursor->next++;
        if (byte == '"' && !skip_string(cursor)) return false;
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
static bool skip_value(struct cursor *cursor, struct span *value) {
    const char *value_begin = cursor->next;
    bool is_complete;
    if (skip_byte(cursor, '"')) {
        is_complete = skip_string(cursor);
    } else if (value_begin < cursor->end && (*value_begin == '{' || *value_begin == '[')) {
        is_complete = skip_brackets(cursor);
    } else {
        while (cursor->next < cursor->end && !ends_bare_value(*cursor->next)) cursor->next++;
        is_complete = cursor->next > value_begin;
    }
    *value = (struct span){value_begin, (size_t)(cursor->next - value_begin)};
    return is_complete;
}

/* ---- Strings ---- */

/* Parses the four hex digits at `digits`, such as 20aC. Returns -1 if fewer than four bytes precede `end`, or if one of
 * them is no hex digit. */
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
static size_t write_utf8(int32_t code_point, char bytes[SCAN_ESCAPE_BYTES]) {
    if (code_point < 0x80) {
        bytes[0] = (char)code_point;
        return 1;
    }
    size_t length = code_point < 0x800 ? 2 : code_point < 0x10000 ? 3 : 4;
    static const int leads[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = length - 1; i > 0; i--, code_point >>= 6) bytes[i] = (char)(0x80 | (code_point & 0x3f));
    bytes[0] = (char)(leads[length] | code_point);
    return length;
}

/* Decodes an escape whose \u was skipped, or two escapes that are a surrogate pair. Writes the character in UTF-8 to
 * `bytes`, and returns how many bytes it takes; 0 if four hex digits are not next. A surrogate alone becomes U+FFFD. */
static size_t decode_unicode_escape(struct cursor *cursor, char bytes[SCAN_ESCAPE_BYTES]) {
    int32_t code_point = parse_four_hex_digits(cursor->next, cursor->end), low_surrogate = -1;
    if (code_point < 0) return 0;
    cursor->next += 4;
    if (code_point < 0xd800 || code_point > 0xdfff) return write_utf8(code_point, bytes);
    if (code_point < 0xdc00 && cursor->end - cursor->next >= 6 && cursor->next[0] == '\\' && cursor->next[1] == 'u')
        low_surrogate = parse_four_hex_digits(cursor->next + 2, cursor->end);
    if (low_surrogate < 0xdc00 || low_surrogate > 0xdfff) return write_utf8(0xfffd, bytes);
    cursor->next += 6;
    return write_utf8(0x10000 + ((code_point - 0xd800) << 10) + (low_surrogate - 0xdc00), bytes);
}

/* Decodes an escape, whose backslash is next. Writes its character in UTF-8 to `bytes`, and returns how many bytes it
 * takes; 0 if JSON has no such escape. */
static size_t decode_escape(struct cursor *cursor, char bytes[SCAN_ESCAPE_BYTES]) {
    static const char escape_names[] = "\"\\/bfnrt", characters[] = "\"\\/\b\f\n\r\t";
    if (cursor->end - cursor->next < 2) return 0;
    char name = cursor->next[1];
    cursor->next += 2;
    if (name == 'u') return decode_unicode_escape(cursor, bytes);
    const char *found = memchr(escape_names, name, sizeof escape_names - 1);
    if (found == NULL) return 0;
    bytes[0] = characters[found - escape_names];
    return 1;
}

bool scan_string(struct span value, struct output *buffer, struct span *string, struct bad *bad) {
    struct cursor cursor = {value.bytes + 1, value.bytes + value.length - 1};
    const char *backslash = memchr(cursor.next, '\\', value.length - 2);
    if (backslash == NULL) {
        *string = (struct span){cursor.next, value.length - 2};
        return true;
    }
    buffer->length = 0;
    char *bytes = output_reserve(buffer, value.length), *out = bytes;
    if (bytes == NULL) return bad_set_memory(bad);
    /* The buffer is large enough, since no escape is shorter than its character. */
    for (; backslash != NULL; backslash = memchr(cursor.next, '\\', (size_t)(cursor.end - cursor.next))) {
        out = mempcpy(out, cursor.next, (size_t)(backslash - cursor.next));
        cursor.next = backslash;
        while (cursor.next < cursor.end && *cursor.next == '\\') {
            size_t length = decode_escape(&cursor, out);
            if (length == 0) return bad_set(bad, BAD_JSON, "it is not JSON: a string has an escape that is none");
            out += length;
        }
    }
    out = mempcpy(out, cursor.next, (size_t)(cursor.end - cursor.next));
    *string = (struct span){bytes, (size_t)(out - bytes)};
    return true;
}

/* ---- Objects and arrays ---- */

/* Returns whether a key, as it is written between its quotes, is this name once its escapes are decoded. No key equals
 * a name whose bytes are NULL. */
static bool key_equals_name(struct span key, struct span name) {
    struct cursor cursor = {key.bytes, key.bytes + key.length};
    char character[SCAN_ESCAPE_BYTES];
    if (name.bytes == NULL || key.length < name.length) return false;
    if (memchr(key.bytes, '\\', key.length) == NULL)
        return key.length == name.length && memcmp(key.bytes, name.bytes, name.length) == 0;
    while (cursor.next < cursor.end) {
        size_t length = 1;
        if (*cursor.next == '\\')
            length = decode_escape(&cursor, character);
        else
            *character = *cursor.next++;
        if (length == 0 || length > name.length || memcmp(character, name.bytes, length) != 0) return false;
        name.bytes += length;
        name.length -= length;
    }
    return name.length == 0;
}

/* Skips a member of an object. If its key is the name of some of `members`, sets their values, even if the value is cut
 * off. Returns what is wrong, as a clause for a message, or NULL. */
static const char *parse_member(struct cursor *cursor, struct scan_member *members, size_t member_count) {
    struct span key, value;
    if (!skip_byte(cursor, '"')) return "a name in quotes is missing";
    key.bytes = cursor->next;
    if (!skip_string(cursor)) return "a string does not end";
    key.length = (size_t)(cursor->next - key.bytes) - 1;
    skip_blanks(cursor);
    if (!skip_byte(cursor, ':')) return "a colon is missing";
    skip_blanks(cursor);
    bool is_complete = skip_value(cursor, &value);
    for (size_t i = 0; i < member_count; i++) {
        if (key_equals_name(key, members[i].name)) members[i].value = value;
    }
    return is_complete ? NULL : "a value is missing";
}

/* Skips an object, whose opening brace was skipped, and sets the values of the members. Returns what is wrong, as a
 * clause for a message, or NULL. */
static const char *parse_rest_of_object(struct cursor *cursor, struct scan_member *members, size_t member_count) {
    const char *problem = NULL;
    skip_blanks(cursor);
    if (skip_byte(cursor, '}')) return NULL;
    do {
        skip_blanks(cursor);
        problem = parse_member(cursor, members, member_count);
        skip_blanks(cursor);
    } while (problem == NULL && skip_byte(cursor, ','));
    if (problem != NULL || skip_byte(cursor, '}')) return problem;
    return "a comma or a closing brace is missing";
}

bool scan_members(struct span object, struct scan_member *members, size_t member_count, struct bad *bad) {
    struct cursor cursor = {object.bytes, object.bytes + object.length};
    skip_blanks(&cursor);
    if (!skip_byte(&cursor, '{')) return bad_set(bad, BAD_JSON, "it is not a JSON object");
    const char *problem = parse_rest_of_object(&cursor, members, member_count);
    skip_blanks(&cursor);
    if (problem == NULL && cursor.next == cursor.end) return true;
    if (cursor.next == cursor.end) return bad_set(bad, BAD_JSON, "it is not JSON: the object does not end");
    return bad_set(bad, BAD_JSON, "it is not JSON: %s at byte %zu of the object",
                   problem != NULL ? problem : "something else follows", (size_t)(cursor.next - object.bytes) + 1);
}

enum scan_end scan_object(struct span *bytes, struct scan_member *members, size_t member_count) {
    struct cursor cursor = {bytes->bytes, bytes->bytes + bytes->length};
    skip_blanks(&cursor);
    bool has_brace = skip_byte(&cursor, '{');
    const char *problem = has_brace ? parse_rest_of_object(&cursor, members, member_count) : NULL;
    if (!has_brace || (problem != NULL && cursor.next < cursor.end)) return SCAN_NONE;
    *bytes = (struct span){cursor.next, (size_t)(cursor.end - cursor.next)};
    return problem == NULL ? SCAN_WHOLE : SCAN_CUT;
}

bool scan_next_element(struct span *rest, struct span *value) {
    struct cursor cursor = {rest->bytes, rest->bytes + rest->length};
    skip_blanks(&cursor);
    if (!skip_value(&cursor, value)) return false;
    skip_blanks(&cursor);
    if (!skip_byte(&cursor, ',')) cursor.next = cursor.end;
    *rest = (struct span){cursor.next, (size_t)(cursor.end - cursor.next)};
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
static bool skip_digits(struct cursor *cursor) {
    const char *first_digit = cursor->next;
    while (cursor->next < cursor->end && *cursor->next >= '0' && *cursor->next <= '9') cursor->next++;
    return cursor->next > first_digit;
}

bool scan_is_number(struct span value) {
    struct cursor cursor = {value.bytes, value.bytes + value.length};
    skip_byte(&cursor, '-');
    if (!skip_byte(&cursor, '0') && !skip_digits(&cursor)) return false;
    if (skip_byte(&cursor, '.') && !skip_digits(&cursor)) return false;
    if (skip_byte(&cursor, 'e') || skip_byte(&cursor, 'E')) {
        if (!skip_byte(&cursor, '-')) skip_byte(&cursor, '+');
        if (!skip_digits(&cursor)) return false;
    }
    return cursor.next == cursor.end;
}
