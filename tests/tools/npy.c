/* npy.c: tests of reading the header of NumPy's array files. */
#include "tools/input/npy.h"

#include <stdlib.h>

#include "tests/testing.h"

static struct npy_array read_header(const char *text) {
    struct npy_array array = {0, false};
    struct problem problem = {""};
    if (!npy_read_header(text, strlen(text), &array, &problem)) fail_msg("refused: %s: %s", text, problem.sentence);
    return array;
}

static void refuse(const char *text, const char *sentence) {
    size_t length = strlen(text);
    char *bytes = malloc(length > 0 ? length : 1); /* without the terminating NUL */
    struct npy_array array;
    struct problem problem = {""};
    assert_non_null(bytes);
    memcpy(bytes, text, length);
    if (npy_read_header(bytes, length, &array, &problem)) fail_msg("accepted: %s", text);
    assert_string_equal(problem.sentence, sentence);
    free(bytes);
}

static void test_headers(void **state) {
    (void)state;
    struct npy_array array = read_header("{'descr': '<u8', 'fortran_order': False, 'shape': (3,), }       \n");
    assert_int_equal(array.rows, 3);
    assert_false(array.big_endian);
    array = read_header("{\"shape\":(0,),\"descr\":\">u8\",\"fortran_order\":True}");
    assert_int_equal(array.rows, 0);
    assert_true(array.big_endian);
    array = read_header(" { 'shape' : ( 17179869184 , ) , 'fortran_order' : False , 'descr' : '<u8' } ");
    assert_true(array.rows == UINT64_C(17179869184));
}

static void test_other_arrays(void **state) {
    (void)state;
    refuse("{'descr': '<i8', 'fortran_order': False, 'shape': (3,), }",
           "the elements are '<i8', but only uint64 ('<u8') is supported (for int64, use array.view('uint64'))");
    refuse("{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }",
           "the elements are '|u1', but only uint64 ('<u8') is supported (for int64, use array.view('uint64'))");
    refuse("{'descr': [('a', '<u8')], 'fortran_order': False, 'shape': (3,), }",
           "the elements are records, but only arrays of uint64 are supported");
    refuse("{'descr': '<u8', 'fortran_order': False, 'shape': (3, 4), }",
           "the array is not one-dimensional (array.ravel() makes it so)");
    refuse("{'descr': '<u8', 'fortran_order': False, 'shape': (), }",
           "the array is not one-dimensional (array.ravel() makes it so)");
    refuse("{'descr': '<u8', 'fortran_order': False, 'shape': (99999999999999999999,), }",
           "the array is not one-dimensional (array.ravel() makes it so)");
}

static void test_broken_headers(void **state) {
    static const char *const broken[] = {
        "",
        "{",
        "{}",
        "{'descr': '<u8', 'shape': (3,)}",
        "{'descr': '<u8', 'descr': '<u8', 'fortran_order': False, 'shape': (3,)}",
        "{'descr': '<u8', 'fortran_order': 0, 'shape': (3,)}",
        "{'descr': '<u8', 'fortran_order': False, 'shape': (3,), 'more': 1}",
        "{'descr': '<u8', 'fortran_order': False, 'shape': (3,)",
        "{'descr': '<u8', 'fortran_order': False, 'shape': (3,)} x",
        "{'descr': '<u8' 'fortran_order': False, 'shape': (3,)}",
        "{'descr",
    };
    (void)state;
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++)
        refuse(broken[i], "the header of this .npy file is not in NumPy's format");
}

static void test_prefix(void **state) {
    struct npy_prefix prefix;
    struct problem problem;
    (void)state;
    assert_true(npy_read_prefix("\x93NUMPY\1\0\x76\0{'", 12, &prefix, &problem));
    assert_int_equal(prefix.header_offset, 10);
    assert_int_equal(prefix.header_length, 0x76);
    assert_true(npy_read_prefix("\x93NUMPY\2\0\x34\x12\0\0", 12, &prefix, &problem));
    assert_int_equal(prefix.header_offset, 12);
    assert_int_equal(prefix.header_length, 0x1234);
    assert_true(npy_read_prefix("\x93NUMPY\3\0\0\0\1\0", 12, &prefix, &problem));
    assert_int_equal(prefix.header_length, NPY_MAX_HEADER_BYTES);

    assert_false(npy_read_prefix("\x93NUMPY\3\0\1\0\1\0", 12, &prefix, &problem));
    assert_string_equal(problem.sentence, "the header has 65537 bytes, but no array of numbers needs more than 65536");
    assert_false(npy_read_prefix("\x93NUMPY\4\0\0\0\0\0", 12, &prefix, &problem));
    assert_string_equal(problem.sentence, "version 4 of the .npy format is not supported, only versions 1 to 3");
    assert_false(npy_read_prefix("\x93NUMPY\1\0\x76\0{", 11, &prefix, &problem));
    assert_false(npy_read_prefix("PK\3\4........", 12, &prefix, &problem));
    assert_string_equal(problem.sentence, "this is not a .npy file: it does not begin with NumPy's signature");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_headers),
        cmocka_unit_test(test_other_arrays),
        cmocka_unit_test(test_broken_headers),
        cmocka_unit_test(test_prefix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
