/* npy.c: reads the header of NumPy's .npy files: a magic string, a version, a length, and a dictionary in Python's
 * syntax with the keys descr, fortran_order and shape, in any order. */
#include "tools/input/npy.h"

#include <string.h>

/* Bytes of the header from `begin` up to, but not including, `end`: those that are still to be read, or a string. */
struct range {
    const char *begin, *end;
};

bool npy_read_prefix(const void *bytes, size_t length, struct npy_prefix *prefix, struct problem *problem) {
    const unsigned char *byte = bytes;
    if (length < NPY_PREFIX_BYTES || memcmp(byte, "\x93NUMPY", 6) != 0)
        return problem_set(problem, "this is not a .npy file: it does not begin with NumPy's signature");
    unsigned version = byte[6]; /* The minor version, byte[7], changes nothing. The length follows, little-endian. */
    if (version < 1 || version > 3)
        return problem_set(problem, "version %u of the .npy format is not supported, only versions 1 to 3", version);
    prefix->header_offset = version == 1 ? 10 : 12;
    prefix->header_length = byte[8] | (size_t)byte[9] << 8;
    if (version > 1) prefix->header_length |= (size_t)byte[10] << 16 | (size_t)byte[11] << 24;
    if (prefix->header_length > NPY_MAX_HEADER_BYTES)
        return problem_set(problem, "the header has %zu bytes, but no array of numbers needs more than %d",
                           prefix->header_length, NPY_MAX_HEADER_BYTES);
    return true;
}

/* Skips spaces, tabs and newlines. strchr also finds the NUL that ends its string, which is no white space. */
static void skip_white_space(struct range *rest) {
    while (rest->begin < rest->end && strchr(" \t\n", *rest->begin) != NULL && *rest->begin != '\0') rest->begin++;
}

/* Skips white space, and then `character` if it is next. Returns whether it was. */
static bool skip_character(struct range *rest, char character) {
    skip_white_space(rest);
    if (rest->begin == rest->end || *rest->begin != character) return false;
    rest->begin++;
    return true;
}

/* Skips white space, reads a string in single or double quotes, and sets *string to what is between them; backslashes
 * are not special. Returns false if there is no such string. */
static bool read_quoted_string(struct range *rest, struct range *string) {
    skip_white_space(rest);
    if (rest->begin == rest->end || (*rest->begin != '\'' && *rest->begin != '"')) return false;
    char quote = *rest->begin++;
    const char *close = memchr(rest->begin, quote, (size_t)(rest->end - rest->begin));
    if (close == NULL) return false;
    *string = (struct range){rest->begin, close};
    rest->begin = close + 1;
    return true;
}

/* Returns whether a string of the header has the same bytes as `text`, which ends in NUL. */
static bool equals_text(const struct range *string, const char *text) {
    size_t length = (size_t)(string->end - string->begin);
    return length == strlen(text) && memcmp(string->begin, text, length) == 0;
}

/* Skips white space, and then `word` if it is next. Returns whether it was. */
static bool skip_word(struct range *rest, const char *word) {
    skip_white_space(rest);
    size_t length = strlen(word);
    bool is_next = (size_t)(rest->end - rest->begin) >= length && memcmp(rest->begin, word, length) == 0;
    if (is_next) rest->begin += length;
    return is_next;
}

/* Skips white space, and reads a decimal number. Returns false if there are no digits, or if the number is 2^64 or
 * more. */
static bool read_number(struct range *rest, uint64_t *number) {
    skip_white_space(rest);
    const char *digits = rest->begin;
    while (rest->begin < rest->end && *rest->begin >= '0' && *rest->begin <= '9') rest->begin++;
    return number_parse_digits(digits, (size_t)(rest->begin - digits), number);
}

/* Reads the type of the elements, as NumPy writes it: '<u8' or '>u8', unsigned numbers of 8 bytes in little- or
 * big-endian order. Sets array->big_endian. Sets *problem and returns false for any other type. */
static bool read_element_type(struct range *rest, struct npy_array *array, struct problem *problem) {
    struct range type;
    if (!read_quoted_string(rest, &type))
        return problem_set(problem, "the elements are records, but only arrays of uint64 are supported");
    array->big_endian = equals_text(&type, ">u8");
    if (array->big_endian || equals_text(&type, "<u8")) return true;
    int shown_length = type.end - type.begin > 16 ? 16 : (int)(type.end - type.begin);
    return problem_set(
        problem, "the elements are '%.*s', but only uint64 ('<u8') is supported (for int64, use array.view('uint64'))",
        shown_length, type.begin);
}

/* Reads the tuple of the array's lengths, such as (10,), into array->rows. Sets *problem and returns false unless there
 * is one length. */
static bool read_shape(struct range *rest, struct npy_array *array, struct problem *problem) {
    bool ok = skip_character(rest, '(') && read_number(rest, &array->rows) && skip_character(rest, ',') &&
              skip_character(rest, ')');
    return ok || problem_set(problem, "the array is not one-dimensional (array.ravel() makes it so)");
}

/* Sets *problem: the header is not the dictionary that NumPy writes. Returns false always. */
static bool set_syntax_problem(struct problem *problem) {
    return problem_set(problem, "the header of this .npy file is not in NumPy's format");
}

/* The keys of the dictionary, and how many they are. */
enum { KEY_DESCR, KEY_FORTRAN_ORDER, KEY_SHAPE, KEY_COUNT };

/* Reads the value of `key` into *array, and sets the key's bit in *seen_keys. fortran_order may be either value, since
 * the order of elements means nothing in one dimension. Sets *problem and returns false if the key is unknown or comes
 * twice, or if its value is wrong. */
static bool read_value_of_key(struct range *rest, const struct range *key, unsigned *seen_keys, struct npy_array *array,
                              struct problem *problem) {
    static const char *const keys[] = {
        [KEY_DESCR] = "descr", [KEY_FORTRAN_ORDER] = "fortran_order", [KEY_SHAPE] = "shape"};
    size_t key_number = 0;
    while (key_number < KEY_COUNT && !equals_text(key, keys[key_number])) key_number++;
    if (key_number == KEY_COUNT || (*seen_keys & 1U << key_number) != 0) return set_syntax_problem(problem);
    *seen_keys |= 1U << key_number;
    if (key_number == KEY_DESCR) return read_element_type(rest, array, problem);
    if (key_number == KEY_SHAPE) return read_shape(rest, array, problem);
    return skip_word(rest, "True") || skip_word(rest, "False") || set_syntax_problem(problem);
}

bool npy_read_header(const char *header, size_t length, struct npy_array *array, struct problem *problem) {
    struct range rest = {header, header + length}, key;
    unsigned seen_keys = 0;
    if (!skip_character(&rest, '{')) return set_syntax_problem(problem);
    while (!skip_character(&rest, '}')) {
        if (!read_quoted_string(&rest, &key) || !skip_character(&rest, ':')) return set_syntax_problem(problem);
        if (!read_value_of_key(&rest, &key, &seen_keys, array, problem)) return false;
        if (!skip_character(&rest, ',') && (rest.begin == rest.end || *rest.begin != '}'))
            return set_syntax_problem(problem);
    }
    skip_white_space(&rest);
    return (seen_keys == (1U << KEY_COUNT) - 1 && rest.begin == rest.end) || set_syntax_problem(problem);
}
