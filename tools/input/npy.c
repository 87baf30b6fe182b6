/* npy.c: reads the header of NumPy's .npy files: a magic string, a version, a length, and a dictionary in Python's
 * syntax with the keys descr, fortran_order and shape, in any order. */
#include "tools/input/npy.h"

#include <string.h>

struct cursor {
    const char *at, *end;
};

bool npy_read_prefix(const void *bytes, size_t length, struct npy_prefix *prefix, struct problem *problem) {
    const unsigned char *byte = bytes;
    if (length < NPY_PREFIX_BYTES || memcmp(byte, "\x93NUMPY", 6) != 0)
        return problem_set(problem, "this is not a .npy file: it does not begin with NumPy's signature");
    if (byte[6] < 1 || byte[6] > 3)
        return problem_set(problem, "version %u of the .npy format is not supported, only versions 1 to 3", byte[6]);
    prefix->header_offset = byte[6] == 1 ? 10 : 12;
    prefix->header_length = byte[8] | (size_t)byte[9] << 8;
    if (byte[6] > 1) prefix->header_length |= (size_t)byte[10] << 16 | (size_t)byte[11] << 24;
    if (prefix->header_length > NPY_MAX_HEADER_BYTES)
        return problem_set(problem, "the header has %zu bytes, but no array of numbers needs more than %d",
                           prefix->header_length, NPY_MAX_HEADER_BYTES);
    return true;
}

static void skip_spaces(struct cursor *cursor) {
    while (cursor->at < cursor->end && strchr(" \t\n", *cursor->at) != NULL && *cursor->at != '\0') cursor->at++;
}

/* Returns whether the next character after spaces is this one, and skips it if so. */
static bool take_character(struct cursor *cursor, char character) {
    skip_spaces(cursor);
    if (cursor->at == cursor->end || *cursor->at != character) return false;
    cursor->at++;
    return true;
}

/* Reads a string in single or double quotes, and sets `string` to its bounds. Returns false if there is none. */
static bool take_string(struct cursor *cursor, struct cursor *string) {
    skip_spaces(cursor);
    if (cursor->at == cursor->end || (*cursor->at != '\'' && *cursor->at != '"')) return false;
    char quote = *cursor->at++;
    const char *close = memchr(cursor->at, quote, (size_t)(cursor->end - cursor->at));
    if (close == NULL) return false;
    *string = (struct cursor){cursor->at, close};
    cursor->at = close + 1;
    return true;
}

static bool equals(const struct cursor *string, const char *text) {
    size_t length = (size_t)(string->end - string->at);
    return length == strlen(text) && memcmp(string->at, text, length) == 0;
}

static bool take_word(struct cursor *cursor, const char *word) {
    skip_spaces(cursor);
    size_t length = strlen(word);
    if ((size_t)(cursor->end - cursor->at) < length || memcmp(cursor->at, word, length) != 0) return false;
    cursor->at += length;
    return true;
}

static bool take_number(struct cursor *cursor, uint64_t *number) {
    skip_spaces(cursor);
    const char *start = cursor->at;
    while (cursor->at < cursor->end && *cursor->at >= '0' && *cursor->at <= '9') cursor->at++;
    return number_parse_digits(start, (size_t)(cursor->at - start), number);
}

static bool read_descr(struct cursor *cursor, struct npy_array *array, struct problem *problem) {
    struct cursor type;
    if (!take_string(cursor, &type))
        return problem_set(problem, "the elements are records, but only arrays of uint64 are supported");
    array->big_endian = equals(&type, ">u8");
    if (array->big_endian || equals(&type, "<u8")) return true;
    return problem_set(
        problem, "the elements are '%.*s', but only uint64 ('<u8') is supported (for int64, use array.view('uint64'))",
        (int)(type.end - type.at > 16 ? 16 : type.end - type.at), type.at);
}

static bool read_shape(struct cursor *cursor, struct npy_array *array, struct problem *problem) {
    bool one = take_character(cursor, '(') && take_number(cursor, &array->rows) && take_character(cursor, ',') &&
               take_character(cursor, ')');
    return one || problem_set(problem, "the array is not one-dimensional (array.ravel() makes it so)");
}

static bool syntax_error(struct problem *problem) {
    return problem_set(problem, "the header of this .npy file is not in NumPy's format");
}

static bool read_value(struct cursor *cursor, const struct cursor *key, unsigned *seen, struct npy_array *array,
                       struct problem *problem) {
    static const char *const keys[] = {"descr", "fortran_order", "shape"};
    size_t which = 0;
    while (which < 3 && !equals(key, keys[which])) which++;
    if (which == 3 || (*seen & 1U << which) != 0) return syntax_error(problem);
    *seen |= 1U << which;
    if (which == 0) return read_descr(cursor, array, problem);
    if (which == 2) return read_shape(cursor, array, problem);
    return take_word(cursor, "True") || take_word(cursor, "False") || syntax_error(problem);
}

bool npy_read_header(const char *text, size_t length, struct npy_array *array, struct problem *problem) {
    struct cursor cursor = {text, text + length}, key;
    unsigned seen = 0;
    if (!take_character(&cursor, '{')) return syntax_error(problem);
    while (!take_character(&cursor, '}')) {
        if (!take_string(&cursor, &key) || !take_character(&cursor, ':')) return syntax_error(problem);
        if (!read_value(&cursor, &key, &seen, array, problem)) return false;
        if (!take_character(&cursor, ',') && (cursor.at == cursor.end || *cursor.at != '}'))
            return syntax_error(problem);
    }
    skip_spaces(&cursor);
    return (seen == 7 && cursor.at == cursor.end) || syntax_error(problem);
}
