/* npy.c: reads the header of NumPy's .npy files: a magic string, a version, a length, and a dictionary in Python's
 * syntax with the keys descr, fortran_order and shape, in any order. */
#include "tools/input/npy.h"

#include <string.h>

/* What was not read yet of the header, or a string in it. */
struct range {
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

/* Skips spaces, tabs and newlines. */
static void skip_spaces(struct range *unread) {
    while (unread->at < unread->end && strchr(" \t\n", *unread->at) != NULL && *unread->at != '\0') unread->at++;
}

/* Skips spaces, and this character if it is next. Returns whether it is. */
static bool skip_character(struct range *unread, char character) {
    skip_spaces(unread);
    if (unread->at == unread->end || *unread->at != character) return false;
    unread->at++;
    return true;
}

/* Reads a string in quotes behind spaces, and sets *string to what is between them. Returns false if there is none. */
static bool read_string(struct range *unread, struct range *string) {
    skip_spaces(unread);
    if (unread->at == unread->end || (*unread->at != '\'' && *unread->at != '"')) return false;
    char quote = *unread->at++;
    const char *close = memchr(unread->at, quote, (size_t)(unread->end - unread->at));
    if (close == NULL) return false;
    *string = (struct range){unread->at, close};
    unread->at = close + 1;
    return true;
}

/* Returns whether a string of the header is this text. */
static bool is_equal(const struct range *string, const char *text) {
    size_t length = (size_t)(string->end - string->at);
    return length == strlen(text) && memcmp(string->at, text, length) == 0;
}

/* Skips spaces, and this word if it is next. Returns whether it is. */
static bool skip_word(struct range *unread, const char *word) {
    skip_spaces(unread);
    size_t length = strlen(word);
    bool is_next = (size_t)(unread->end - unread->at) >= length && memcmp(unread->at, word, length) == 0;
    if (is_next) unread->at += length;
    return is_next;
}

/* Reads digits behind spaces, and sets *number to what these say. Returns false if there are no digits, or if the
 * number is 2^64 or more. */
static bool read_number(struct range *unread, uint64_t *number) {
    skip_spaces(unread);
    const char *digits = unread->at;
    while (unread->at < unread->end && *unread->at >= '0' && *unread->at <= '9') unread->at++;
    return number_parse_digits(digits, (size_t)(unread->at - digits), number);
}

/* Reads the type of the elements, as NumPy writes it: < or > is the order of the bytes, and u8 an unsigned number of 8
 * bytes. Sets *problem and returns false for another one. */
static bool read_element_type(struct range *unread, struct npy_array *array, struct problem *problem) {
    struct range type;
    if (!read_string(unread, &type))
        return problem_set(problem, "the elements are records, but only arrays of uint64 are supported");
    array->big_endian = is_equal(&type, ">u8");
    if (array->big_endian || is_equal(&type, "<u8")) return true;
    return problem_set(
        problem, "the elements are '%.*s', but only uint64 ('<u8') is supported (for int64, use array.view('uint64'))",
        (int)(type.end - type.at > 16 ? 16 : type.end - type.at), type.at);
}

/* Reads the tuple of the array's lengths, such as (10,), into array->rows. Sets *problem and returns false unless there
 * is one length. */
static bool read_shape(struct range *unread, struct npy_array *array, struct problem *problem) {
    bool ok = skip_character(unread, '(') && read_number(unread, &array->rows) && skip_character(unread, ',') &&
              skip_character(unread, ')');
    return ok || problem_set(problem, "the array is not one-dimensional (array.ravel() makes it so)");
}

/* Sets *problem to what is wrong with a header that is not written as Python does. Returns false always. */
static bool explain_syntax_error(struct problem *problem) {
    return problem_set(problem, "the header of this .npy file is not in NumPy's format");
}

enum { KEY_DESCR, KEY_FORTRAN_ORDER, KEY_SHAPE, KEYS };

/* Reads the value of a key, and notes in *seen_keys, which has a bit for each key, that there was this one. The order
 * of the elements does not matter if there is one dimension. Sets *problem and returns false if the key or its value is
 * wrong. */
static bool read_value_of_key(struct range *unread, const struct range *key, unsigned *seen_keys,
                              struct npy_array *array, struct problem *problem) {
    static const char *const keys[] = {
        [KEY_DESCR] = "descr", [KEY_FORTRAN_ORDER] = "fortran_order", [KEY_SHAPE] = "shape"};
    size_t key_number = 0;
    while (key_number < KEYS && !is_equal(key, keys[key_number])) key_number++;
    if (key_number == KEYS || (*seen_keys & 1U << key_number) != 0) return explain_syntax_error(problem);
    *seen_keys |= 1U << key_number;
    if (key_number == KEY_DESCR) return read_element_type(unread, array, problem);
    if (key_number == KEY_SHAPE) return read_shape(unread, array, problem);
    return skip_word(unread, "True") || skip_word(unread, "False") || explain_syntax_error(problem);
}

bool npy_read_header(const char *header, size_t length, struct npy_array *array, struct problem *problem) {
    struct range unread = {header, header + length}, key;
    unsigned seen_keys = 0;
    if (!skip_character(&unread, '{')) return explain_syntax_error(problem);
    while (!skip_character(&unread, '}')) {
        if (!read_string(&unread, &key) || !skip_character(&unread, ':')) return explain_syntax_error(problem);
        if (!read_value_of_key(&unread, &key, &seen_keys, array, problem)) return false;
        if (!skip_character(&unread, ',') && (unread.at == unread.end || *unread.at != '}'))
            return explain_syntax_error(problem);
    }
    skip_spaces(&unread);
    return (seen_keys == (1U << KEYS) - 1 && unread.at == unread.end) || explain_syntax_error(problem);
}
