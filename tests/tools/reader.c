/* reader.c: tests of reading by lines and by bytes, over pipes. */
#include "tools/input/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/testing.h"

/* A reader of a pipe; what is written to *end arrives in it. */
static struct reader open_pipe(int *end) {
    struct reader reader = READER_INIT;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    reader.name = "pipe";
    reader.descriptor = ends[0];
    *end = ends[1];
    return reader;
}

static void put(int end, const char *text) { assert_int_equal(write(end, text, strlen(text)), (ssize_t)strlen(text)); }

static void expect_line(struct reader *reader, bool wait, const char *expected) {
    const char *line;
    size_t length;
    assert_int_equal(reader_read_line(reader, wait, &line, &length), READER_OK);
    assert_int_equal(length, strlen(expected));
    assert_memory_equal(line, expected, length);
}

static void expect_status(struct reader *reader, bool wait, enum reader_status status) {
    const char *line;
    size_t length;
    assert_int_equal(reader_read_line(reader, wait, &line, &length), status);
}

static void test_lines_as_they_come(void **state) {
    int end;
    struct reader reader = open_pipe(&end);
    (void)state;
    expect_status(&reader, false, READER_PENDING);
    put(end, "one\n\ntw");
    expect_line(&reader, false, "one");
    expect_line(&reader, false, "");
    expect_status(&reader, false, READER_PENDING);
    put(end, "o\nthree");
    expect_line(&reader, true, "two");
    assert_int_equal(reader.line, 3);
    expect_status(&reader, false, READER_PENDING);
    close(end);
    expect_line(&reader, false, "three");
    expect_status(&reader, true, READER_END);
    expect_status(&reader, true, READER_END);
    assert_int_equal(reader.line, 4);
    reader_free(&reader);
}

static void expect_held_line(struct reader *reader, const char *expected) {
    const char *line;
    size_t length;
    assert_true(reader_next_buffered_line(reader, &line, &length));
    assert_int_equal(length, strlen(expected));
    assert_memory_equal(line, expected, length);
}

static void test_held_lines(void **state) {
    int end;
    struct reader reader = open_pipe(&end);
    const char *first, *line;
    size_t length;
    (void)state;
    assert_false(reader_next_buffered_line(&reader, &line, &length));
    put(end, "one\ntwo\n\nthr");
    assert_int_equal(reader_read_line(&reader, true, &first, &length), READER_OK);
    expect_held_line(&reader, "two");
    expect_held_line(&reader, "");
    assert_int_equal(reader.line, 3);
    put(end, "ee");
    close(end);
    assert_false(reader_next_buffered_line(&reader, &line, &length));
    assert_memory_equal(first, "one", 3);
    expect_line(&reader, true, "three");
    assert_int_equal(reader.line, 4);
    assert_false(reader_next_buffered_line(&reader, &line, &length));
    reader_free(&reader);
}

static FILE *new_file(struct reader *reader) {
    FILE *file = tmpfile();
    assert_non_null(file);
    *reader = (struct reader)READER_INIT;
    reader->name = "file";
    reader->descriptor = dup(fileno(file));
    assert_true(reader->descriptor >= 0);
    return file;
}

static void test_lines_longer_than_a_read(void **state) {
    enum { LENGTH = 1000003, LINES = 3 };
    struct reader reader;
    FILE *file = new_file(&reader);
    const char *line;
    size_t length;
    (void)state;
    for (int i = 0; i < LINES; i++) {
        for (int j = 0; j < LENGTH + i; j++) fputc('a' + i, file);
        fputc('\n', file);
    }
    rewind(file);
    for (int i = 0; i < LINES; i++) {
        assert_int_equal(reader_read_line(&reader, true, &line, &length), READER_OK);
        assert_int_equal(length, LENGTH + i);
        assert_true(line[0] == 'a' + i && line[length - 1] == 'a' + i);
    }
    expect_status(&reader, true, READER_END);
    reader_free(&reader);
    fclose(file);
}

static void test_lines_that_are_too_long(void **state) {
    enum { LONGEST = READER_MAX_LINE_BYTES };
    static const int lengths[] = {LONGEST, LONGEST + 1, 0, 2 * LONGEST, 1, LONGEST + 1};
    struct reader reader;
    FILE *file = new_file(&reader);
    const char *line;
    size_t length;
    (void)state;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        if (i > 0) fputc('\n', file);
        for (int j = 0; j < lengths[i]; j++) fputc('a' + (int)i, file);
    }
    rewind(file);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        bool is_long = lengths[i] > LONGEST;
        assert_int_equal(reader_read_any_line(&reader, true, &line, &length), is_long ? READER_TOO_LONG : READER_OK);
        if (!is_long) assert_int_equal(length, lengths[i]);
        assert_true(length == 0 || line[0] == 'a' + (int)i);
        assert_int_equal(reader.line, i + 1);
    }
    expect_status(&reader, true, READER_END);
    reader_free(&reader);
    fclose(file);
}

static void test_bytes(void **state) {
    int end;
    struct reader reader = open_pipe(&end);
    const char *bytes;
    size_t got;
    (void)state;
    put(end, "0123456789");
    close(end);
    assert_int_equal(reader_read_bytes(&reader, 4, &bytes, &got), READER_OK);
    assert_int_equal(got, 4);
    assert_memory_equal(bytes, "0123", 4);
    reader_unread_bytes(&reader, 2);
    assert_int_equal(reader_read_bytes(&reader, 4, &bytes, &got), READER_OK);
    assert_memory_equal(bytes, "2345", 4);
    assert_int_equal(reader_read_bytes(&reader, 100, &bytes, &got), READER_OK);
    assert_int_equal(got, 4);
    assert_memory_equal(bytes, "6789", 4);
    assert_int_equal(reader_read_bytes(&reader, 1, &bytes, &got), READER_END);
    assert_int_equal(got, 0);
    reader_free(&reader);
}

int main(void) {
    alarm(1800); /* a read that waits for ever is a failure */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines_as_they_come),
        cmocka_unit_test(test_held_lines),
        cmocka_unit_test(test_lines_longer_than_a_read),
        cmocka_unit_test(test_lines_that_are_too_long),
        cmocka_unit_test(test_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
