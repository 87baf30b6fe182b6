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

static void skip_spaces(struct range *rest) {
    while (rest->at < rest->end && strchr(" \t\n", *rest->at) != NULL && *rest->at != '\0') rest->at++;
}

/* Returns whether this character is next after spaces, and skips it if so. */
static bool take_character(struct range *rest, char character) {
    skip_spaces(rest);
    if (rest->at == rest->end || *rest->at != character) return false;
    rest->at++;
    return true;
}

/* Skips a string in quotes, and sets *string to what is between them. Returns false if there is none. */
static bool take_string(struct range *rest, struct range *string) {
    skip_spaces(rest);
    if (rest->at == rest->end || (*rest->at != '\'' && *rest->at != '"')) return false;
    char quote = *rest->at++;
    const char *close = memchr(rest->at, quote, (size_t)(rest->end - rest->at));
    if (close == NULL) return false;
    *string = (struct range){rest->at, close};
    rest->at = close + 1;
    return true;
}

/* Returns whether a string is this text. */
static bool equals(const struct range *string, const char *text) {
    size_t length = (size_t)(string->end - string->at);
    return length == strlen(text) && memcmp(string->at, text, length) == 0;
}

/* Returns whether this word is next after spaces, and skips it if so. */
static bool take_word(struct range *rest, const char *word) {
    skip_spaces(rest);
    size_t length = strlen(word);
    bool taken = (size_t)(rest->end - rest->at) >= length && memcmp(rest->at, word, length) == 0;
    if (taken) rest->at += length;
    return taken;
}

/* Skips spaces and digits. Returns false if there are no digits, or if their number needs more than 64 bits. */
static bool take_number(struct range *rest, uint64_t *number) {
    skip_spaces(rest);
    const char *start = rest->at;
    while (rest->at < rest->end && *rest->at >= '0' && *rest->at <= '9') rest->at++;
    return number_parse_digits(start, (size_t)(rest->at - start), number);
}

/* Reads the type of the elements, as NumPy writes it: < or > is the order of the bytes, and u8 an unsigned number of 8
 * bytes. Sets *problem and returns false for another one. */
static bool read_descr(struct range *rest, struct npy_array *array, struct problem *problem) {
    struct range type;
    if (!take_string(rest, &type))
        return problem_set(problem, "the elements are records, but only arrays of uint64 are supported");
    array->big_endian = equals(&type, ">u8");
    if (array->big_endian || equals(&type, "<u8")) return true;
    return problem_set(
        problem, "the elements are '%.*s', but only uint64 ('<u8') is supported (for int64, use array.view('uint64'))",
        (int)(type.end - type.at > 16 ? 16 : type.end - type.at), type.at);
}

/* Reads the tuple of the array's lengths, such as (10,). Sets *problem and returns false unless there is one length. */
static bool read_shape(struct range *rest, struct npy_array *array, struct problem *problem) {
    bool ok = take_character(rest, '(') && take_number(rest, &array->rows) && take_character(rest, ',') &&
              take_character(rest, ')');
    return ok || problem_set(problem, "the array is not one-dimensional (array.ravel() makes it so)");
}

/* Sets *problem for a header that is not written as Python does. Returns false always. */
static bool set_syntax_error(struct problem *problem) {
    return problem_set(problem, "the header of this .npy file is not in NumPy's format");
}

enum { KEY_DESCR, KEY_FORTRAN_ORDER, KEY_SHAPE, KEYS };

/* Reads the value of a key, and notes in *seen, which has a bit for each key, that there was this one. The order of the
 * elements does not matter if there is one dimension. */
static bool read_value(struct range *rest, const struct range *key, unsigned *seen, struct npy_array *array,
                       struct problem *problem) {
    static const char *const keys[] = {
        [KEY_DESCR] = "descr", [KEY_FORTRAN_ORDER] = "fortran_order", [KEY_SHAPE] = "shape"};
    size_t number = 0;
    while (number < KEYS && !equals(key, keys[number])) number++;
    if (number == KEYS || (*seen & 1U << number) != 0) return set_syntax_error(problem);
    *seen |= 1U << number;
    if (number == KEY_DESCR) return read_descr(rest, array, problem);
    if (number == KEY_SHAPE) return read_shape(rest, array, problem);
    return take_word(rest, "True") || take_word(rest, "False") || set_syntax_error(problem);
}

bool npy_read_header(const char *text, size_t length, struct npy_array *array, struct problem *problem) {
    struct range rest = {text, text + length}, key;
    unsigned seen = 0;
    if (!take_character(&rest, '{')) return set_syntax_error(problem);
    while (!take_character(&rest, '}')) {
        if (!take_string(&rest, &key) || !take_character(&rest, ':')) return set_syntax_error(problem);
        if (!read_value(&rest, &key, &seen, array, problem)) return false;
        if (!take_character(&rest, ',') && (rest.at == rest.end || *rest.at != '}')) return set_syntax_error(problem);
    }
    skip_spaces(&rest);
    return (seen == (1U << KEYS) - 1 && rest.at == rest.end) || set_syntax_error(problem);
}
