/* source.c: tests of reading inputs: gzip's members and their sums, from memory and from pipes. Members are made here
 * of stored blocks, with a checksum of their own. */
#include "tools/formats/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/testing.h"

#define LITERAL(text) (text), sizeof(text) - 1

struct bytes {
    char *at;
    size_t length;
};

static void add(struct bytes *bytes, const void *more, size_t length) {
    bytes->at = realloc(bytes->at, bytes->length + length + 1);
    assert_non_null(bytes->at);
    memcpy(bytes->at + bytes->length, more, length);
    bytes->length += length;
}

static void add_number(struct bytes *bytes, uint32_t number, unsigned size) {
    for (unsigned i = 0; i < size; i++) add(bytes, &(char){(char)(number >> 8 * i)}, 1);
}

/* RFC 1952, bit by bit. */
static uint32_t get_crc(const char *data, size_t length) {
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < length; i++) {
        crc ^= (unsigned char)data[i];
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0xedb88320) : 0);
    }
    return ~crc;
}

enum { HEADER_BYTES = 10, BLOCK_HEADER_BYTES = 5, TRAILER_BYTES = 8, MOST_STORED = 65535 };

static void add_member(struct bytes *bytes, const char *data, size_t length) {
    add(bytes, "\x1f\x8b\x08\0\0\0\0\0\0\x03", HEADER_BYTES);
    for (size_t at = 0;;) {
        size_t size = length - at < MOST_STORED ? length - at : MOST_STORED;
        bool last = at + size == length;
        add(bytes, &(char){last}, 1);
        add_number(bytes, (uint32_t)size, 2);
        add_number(bytes, ~(uint32_t)size, 2);
        add(bytes, data + at, size);
        at += size;
        if (last) break;
    }
    add_number(bytes, get_crc(data, length), 4);
    add_number(bytes, (uint32_t)length, 4);
}

static struct bytes take_all(struct source *source) {
    struct bytes taken = {NULL, 0};
    const char *bytes;
    size_t held;
    while ((held = source_peek(source, 1, &bytes)) > 0) {
        add(&taken, bytes, held);
        source_skip(source, held);
    }
    assert_int_equal(source->offset, taken.length);
    return taken;
}

/* `sentence` NULL: nothing is wrong. */
static void check_source(struct source *source, const char *expected, size_t length, const char *sentence) {
    struct bytes taken = take_all(source);
    assert_int_equal(taken.length, length);
    if (length > 0) assert_memory_equal(taken.at, expected, length);
    free(taken.at);
    assert_false(source->unreadable);
    assert_int_equal(source->broken, sentence != NULL);
    if (sentence != NULL) assert_string_equal(source->problem.sentence, sentence);
}

static void check(const struct bytes *input, const char *expected, size_t length, const char *sentence) {
    struct source source = {0};
    char *copy = malloc(input->length > 0 ? input->length : 1); /* exactly, so that a sanitizer sees a read beyond */
    assert_non_null(copy);
    if (input->length > 0) memcpy(copy, input->at, input->length);
    assert_true(source_open_memory(&source, copy, input->length));
    check_source(&source, expected, length, sentence);
    source_free(&source);
    free(copy);
}

static const char cut_short[] = "the compressed data is broken: truncated gzip input";
static const char wrong_sum[] = "the compressed data is broken: incorrect data check";
static const char wrong_length[] = "the compressed data is broken: incorrect length check";

static const char no_member[] = "the compressed data is broken: the data after a member is not gzip";

/* Neither compressible nor in a short cycle. */
static char *make_data(size_t length) {
    char *data = malloc(length > 0 ? length : 1);
    uint32_t state = 1;
    assert_non_null(data);
    for (size_t i = 0; i < length; i++) {
        state = state * 1664525 + 1013904223;
        data[i] = (char)(state >> 24);
    }
    return data;
}

static void test_what_is_not_compressed(void **state) {
    (void)state;
    static const size_t lengths[] = {0, 1, 2, 3, 4, 100, (1 << 18) - 1, 1 << 18, (1 << 18) + 1, 1000000};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct bytes input = {make_data(lengths[i]), lengths[i]};
        check(&input, input.at, input.length, NULL);
        free(input.at);
    }
    check(&(struct bytes){(char[]){'\x1f', '\x8b'}, 2}, LITERAL("\x1f\x8b"), NULL);
    check(&(struct bytes){(char[]){'\x1f', '\x8b', 7, 0}, 4}, LITERAL("\x1f\x8b\x07\0"), NULL);
}

/* Also of as many bytes as are decompressed at once. */
static void test_members(void **state) {
    (void)state;
    static const size_t lengths[] = {0, 1, 65535, 65536, (1 << 18) - 1, 1 << 18, (1 << 18) + 1, 1 << 20};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct bytes input = {NULL, 0}, expected = {NULL, 0};
        char *data = make_data(lengths[i]);
        for (int members = 1; members <= 3; members++) {
            add_member(&input, data, lengths[i]);
            add(&expected, data, lengths[i]);
            check(&input, expected.at, expected.length, NULL);
        }
        free(data);
        free(input.at);
        free(expected.at);
    }
}

static void test_padding_is_ignored(void **state) {
    (void)state;
    static const char padding[600] = {0};
    struct bytes input = {NULL, 0};
    add_member(&input, "hello", 5);
    add(&input, padding, sizeof padding);
    check(&input, "hello", 5, NULL);
    add_member(&input, ", world", 7);
    check(&input, "hello, world", 12, NULL);
    add(&input, padding, sizeof padding);
    add(&input, LITERAL("something else"));
    check(&input, "hello, world", 12, no_member);
    /* As browsers take it. */
    struct source source = {.passes_over_rest = true};
    assert_true(source_open_memory(&source, input.at, input.length));
    check_source(&source, "hello, world", 12, NULL);
    source_free(&source);
    free(input.at);
}

/* Each bit of the header of a member behind another: what it holds is given, or said to be lost. */
static void test_damage_of_a_later_header(void **state) {
    (void)state;
    struct bytes input = {NULL, 0};
    add_member(&input, "hello", 5);
    size_t first = input.length;
    add_member(&input, ", world", 7);
    for (size_t bit = 8 * first; bit < 8 * (first + HEADER_BYTES); bit++) {
        input.at[bit / 8] ^= (char)(1 << bit % 8);
        struct source source = {0};
        assert_true(source_open_memory(&source, input.at, input.length));
        struct bytes taken = take_all(&source);
        assert_true(source.broken || (taken.length == 12 && memcmp(taken.at, "hello, world", 12) == 0));
        if (bit < 8 * (first + 3)) assert_true(source.broken);
        free(taken.at);
        source_free(&source);
        input.at[bit / 8] ^= (char)(1 << bit % 8);
    }
    free(input.at);
}

/* What stands before the end is given, whatever comes then. */
static void test_cut_short_anywhere(void **state) {
    (void)state;
    struct bytes input = {NULL, 0};
    add_member(&input, "hello", 5);
    size_t first = input.length;
    add_member(&input, ", world", 7);
    for (size_t length = 3; length < input.length; length++) {
        size_t within = length < first ? length : length - first, before = HEADER_BYTES + BLOCK_HEADER_BYTES;
        size_t most = length < first ? 5 : 7, given = within < before ? 0 : within - before;
        if (given > most) given = most;
        if (length >= first) given += 5;
        check(&(struct bytes){input.at, length}, "hello, world", given, length == first ? NULL : cut_short);
    }
    free(input.at);
}

static void test_damage_of_each_bit(void **state) {
    (void)state;
    struct bytes input = {NULL, 0};
    add_member(&input, "hello", 5);
    add_member(&input, ", world", 7);
    size_t trailer = input.length - TRAILER_BYTES, data = trailer - 7;
    for (size_t bit = 8 * data; bit < 8 * input.length; bit++) {
        char expected[] = "hello, world";
        size_t at = bit / 8;
        input.at[at] ^= (char)(1 << bit % 8);
        if (at < trailer) expected[5 + at - data] ^= (char)(1 << bit % 8);
        check(&input, expected, 12, at < trailer + 4 ? wrong_sum : wrong_length);
        input.at[at] ^= (char)(1 << bit % 8);
    }
    check(&input, "hello, world", 12, NULL);
    /* Of a block's length, and in the first member: the second one isn't given. */
    input.at[HEADER_BYTES + 1] ^= 1;
    check(&input, "", 0, "the compressed data is broken: invalid stored block lengths");
    input.at[HEADER_BYTES + 1] ^= 1;
    input.at[HEADER_BYTES + BLOCK_HEADER_BYTES] = 'H';
    check(&input, "Hello", 5, wrong_sum);
    free(input.at);
}

/* ---- Pipes ---- */

struct writer {
    const struct bytes *bytes;
    size_t written;
    int end; /* -1: closed */
};

/* When the source would wait there is one byte more, or the end. */
static void write_a_byte(void *context) {
    struct writer *writer = context;
    if (writer->written < writer->bytes->length) {
        assert_int_equal(write(writer->end, writer->bytes->at + writer->written++, 1), 1);
    } else if (writer->end >= 0) {
        close(writer->end);
        writer->end = -1;
    }
}

static void check_pipe(const struct bytes *input, const char *expected, size_t length, const char *sentence) {
    int ends[2];
    char path[40];
    assert_int_equal(pipe(ends), 0);
    struct writer writer = {input, 0, ends[1]};
    struct source source = {.before_wait = write_a_byte, .context = &writer};
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    assert_true(source_open(&source, path));
    check_source(&source, expected, length, sentence);
    if (sentence == NULL) assert_int_equal(source.bytes_read, input->length);
    source_free(&source);
    close(ends[0]);
    if (writer.end >= 0) close(writer.end);
}

static void test_pipes(void **state) {
    (void)state;
    struct bytes input = {NULL, 0};
    check_pipe(&input, "", 0, NULL);
    add(&input, "hello", 5);
    check_pipe(&input, "hello", 5, NULL);
    input.length = 0;
    add_member(&input, "hello", 5);
    add_member(&input, "", 0);
    add_member(&input, ", world", 7);
    check_pipe(&input, "hello, world", 12, NULL);
    input.at[input.length - TRAILER_BYTES] ^= 1;
    check_pipe(&input, "hello, world", 12, wrong_sum);
    input.length--;
    input.at[input.length + 1 - TRAILER_BYTES] ^= 1;
    check_pipe(&input, "hello, world", 12, cut_short);
    free(input.at);
}

/* ---- One source after another ---- */

static void test_opened_again(void **state) {
    (void)state;
    struct source source = {0};
    struct bytes input = {NULL, 0};
    add_member(&input, "hello", 5);
    for (int i = 0; i < 2; i++) {
        assert_true(source_open_memory(&source, input.at, input.length));
        check_source(&source, "hello", 5, NULL);
        source_close(&source);
        assert_true(source_open_memory(&source, input.at, input.length - 1));
        check_source(&source, "hello", 5, cut_short);
        source_close(&source);
        assert_true(source_open_memory(&source, "plain", 5));
        check_source(&source, "plain", 5, NULL);
        source_close(&source);
    }
    assert_false(source_open(&source, "/nonexistent/file"));
    assert_string_equal(source.problem.sentence, "No such file or directory");
    source_free(&source);
    free(input.at);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_not_compressed), cmocka_unit_test(test_members),
        cmocka_unit_test(test_padding_is_ignored),     cmocka_unit_test(test_cut_short_anywhere),
        cmocka_unit_test(test_damage_of_each_bit),     cmocka_unit_test(test_pipes),
        cmocka_unit_test(test_opened_again),           cmocka_unit_test(test_damage_of_a_later_header),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
