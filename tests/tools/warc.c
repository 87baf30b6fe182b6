/* warc.c: tests of the heads of WARC records and HTTP responses, and of joining chunks. */
#include "tools/formats/warc.h"
#include "tests/testing.h"
#include "tests/tools/exactly.h"

#include <stdio.h>
#include <stdlib.h>

static void assert_span(struct span span, const char *text) {
    assert_int_equal(span.length, strlen(text));
    if (span.length > 0) assert_memory_equal(span.bytes, text, span.length);
}

/* ---- Where a head ends ---- */

static void check_end(const char *bytes, size_t length, size_t expected) {
    char *copy = copy_exactly(bytes, length);
    /* At once, and as bytes come. */
    struct warc_search search = {0}, slow = {0};
    bool found = warc_find_head_end(&search, copy, length), found_slowly = false;
    for (size_t held = 0; held <= length && !found_slowly; held++) found_slowly = warc_find_head_end(&slow, copy, held);
    assert_int_equal(search.head_length, expected);
    assert_int_equal(slow.head_length, expected);
    assert_int_equal(found, expected > 0);
    assert_int_equal(found_slowly, found);
    free(copy);
}

static void test_end_of_a_head(void **state) {
    (void)state;
    check_end(LITERAL("a: b\r\n\r\nbody"), 8);
    check_end(LITERAL("a: b\n\nbody"), 6);
    check_end(LITERAL("a: b\r\n\n"), 7);
    check_end(LITERAL("a: b\n\r\n\r\n"), 7);
    check_end(LITERAL("\r\na: b\r\n\r\n"), 2);
    check_end(LITERAL("\n"), 1);
    check_end(LITERAL(""), 0);
    check_end(LITERAL("a: b"), 0);
    check_end(LITERAL("a: b\r\n"), 0);
    check_end(LITERAL("a: b\r\n\r"), 0);
    check_end(LITERAL("a: b\r\n \r\n"), 0);
    check_end(LITERAL("a: b\r\n\r\r\n"), 0);
    check_end(LITERAL("\0\n\0\n\n"), 5);
}

static void test_a_record_within_a_head(void **state) {
    (void)state;
    static const char bytes[] = "WARC/1.0\r\nWARC/1.0\r\na: b\r\n\r\n";
    for (size_t length = 0; length < sizeof bytes - 1; length++) {
        struct warc_search search = {0};
        assert_int_equal(warc_find_head_end(&search, bytes, length), length >= 15);
        assert_int_equal(search.head_length, 0);
        if (length >= 15) assert_int_equal(search.line_begin, 10);
    }
}

/* ---- Heads of records ---- */

struct record {
    char *head;
    struct warc_head parsed;
    struct bad bad;
    bool ok;
};

static struct record parse(const char *head) {
    struct record record = {.head = copy_exactly(head, strlen(head))};
    record.ok = warc_parse_head(record.head, strlen(head), &record.parsed, &record.bad);
    return record;
}

static void check_record(const char *head, enum warc_type type, uint64_t length, const char *id, enum media media,
                         const char *charset) {
    struct record record = parse(head);
    assert_true(record.ok);
    assert_int_equal(record.bad.kind, BAD_NONE);
    assert_int_equal(record.parsed.type, type);
    assert_true(record.parsed.length == length);
    assert_span(record.parsed.id, id);
    assert_int_equal(record.parsed.type_of_block.media, media);
    assert_string_equal(record.parsed.type_of_block.charset, charset);
    free(record.head);
}

static void refuse_record(const char *head, const char *sentence) {
    struct record record = parse(head);
    assert_false(record.ok);
    assert_int_equal(record.bad.kind, BAD_WARC);
    assert_string_equal(record.bad.problem.sentence, sentence);
    free(record.head);
}

#define TYPED(type) "WARC/1.0\r\nWARC-Type: " type "\r\nContent-Length: 7\r\n"

static void test_types_of_records(void **state) {
    (void)state;
    check_record(TYPED("conversion") "\r\n", WARC_DOCUMENT, 7, "", MEDIA_OTHER, "");
    check_record(TYPED("resource") "Content-Type: text/html\r\n\r\n", WARC_DOCUMENT, 7, "", MEDIA_HTML, "");
    check_record(TYPED("response") "Content-Type: application/http; msgtype=response\r\n\r\n", WARC_RESPONSE, 7, "",
                 MEDIA_HTTP, "");
    /* Responses of other protocols, and those that don't say. */
    check_record(TYPED("response") "Content-Type: text/dns\r\n\r\n", WARC_OTHER, 7, "", MEDIA_OTHER, "");
    check_record(TYPED("response") "\r\n", WARC_OTHER, 7, "", MEDIA_OTHER, "");
    static const char *const others[] = {"warcinfo",     "request",     "metadata", "revisit",
                                         "continuation", "conversions", ""};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        char head[200];
        snprintf(head, sizeof head, "WARC/1.1\r\nContent-Length: 0\r\nWARC-Type: %s\r\n\r\n", others[i]);
        check_record(head, WARC_OTHER, 0, "", MEDIA_OTHER, "");
    }
}

static void test_headers_in_any_form(void **state) {
    (void)state;
    check_record("WARC/0.17\nwarc-type:CONVERSION\ncontent-LENGTH:\t 7 \nWARC-TARGET-URI:http://a/\n\n", WARC_DOCUMENT,
                 7, "http://a/", MEDIA_OTHER, "");
    /* What is no header is passed over: a line without a colon, a continued one, an empty name, one cut short. */
    check_record(TYPED("resource") "nothing\r\n  continued\r\n: x\r\nWARC-Target-URI: http://a/ b\r\n:\r\nWARC-Tar",
                 WARC_DOCUMENT, 7, "http://a/ b", MEDIA_OTHER, "");
}

static void test_ids(void **state) {
    (void)state;
    const char *record_id = TYPED("resource") "WARC-Record-ID: <urn:uuid:1>\r\n\r\n";
    check_record(record_id, WARC_DOCUMENT, 7, "urn:uuid:1", MEDIA_OTHER, "");
    const char *both = TYPED("resource") "WARC-Target-URI: http://a/?b:c\r\nWARC-Record-ID: <urn:uuid:1>\r\n\r\n";
    check_record(both, WARC_DOCUMENT, 7, "http://a/?b:c", MEDIA_OTHER, "");
    const char *empty = TYPED("resource") "WARC-Record-ID: <urn:uuid:1>\r\nWARC-Target-URI: <>\r\n\r\n";
    check_record(empty, WARC_DOCUMENT, 7, "urn:uuid:1", MEDIA_OTHER, "");
    check_record(TYPED("resource") "WARC-Target-URI: <http://a/>\r\n\r\n", WARC_DOCUMENT, 7, "http://a/", MEDIA_OTHER,
                 "");
    check_record(TYPED("resource") "WARC-Target-URI: <\r\n\r\n", WARC_DOCUMENT, 7, "<", MEDIA_OTHER, "");
    check_record(TYPED("resource") "WARC-Target-URI: <a\r\n\r\n", WARC_DOCUMENT, 7, "<a", MEDIA_OTHER, "");
}

static void test_media_types(void **state) {
    (void)state;
    static const struct {
        const char *value;
        enum media media;
        const char *charset;
    } types[] = {
        {"text/html", MEDIA_HTML, ""},
        {"application/xhtml+xml", MEDIA_HTML, ""},
        {"text/plain", MEDIA_TEXT, ""},
        {"text/css", MEDIA_OTHER, ""},
        {"text/htm", MEDIA_OTHER, ""},
        {"text/html5", MEDIA_OTHER, ""},
        {"", MEDIA_OTHER, ""},
        {"TEXT/HTML ; Charset=Big5", MEDIA_HTML, "Big5"},
        {"text/html;charset=\"utf-8\"", MEDIA_HTML, "utf-8"},
        {"text/html;charset='utf-8'", MEDIA_HTML, "utf-8"},
        {"text/html;charset=\"", MEDIA_HTML, ""},
        {"text/html;charset=", MEDIA_HTML, ""},
        {"text/html;charset", MEDIA_HTML, ""},
        {"text/html;charsets=a", MEDIA_HTML, ""},
        {"text/plain; format=flowed; charset = gb2312 ; x", MEDIA_TEXT, "gb2312"},
        {"text/plain;;charset=a;", MEDIA_TEXT, "a"},
        /* Longer than any name: 63 bytes of it. */
        {"text/plain;charset=123456789012345678901234567890123456789012345678901234567890123456789", MEDIA_TEXT,
         "123456789012345678901234567890123456789012345678901234567890123"},
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        char head[300];
        snprintf(head, sizeof head, TYPED("resource") "Content-Type: %s\r\n\r\n", types[i].value);
        check_record(head, WARC_DOCUMENT, 7, "", types[i].media, types[i].charset);
    }
}

static void test_refused_records(void **state) {
    (void)state;
    static const char no_record[] = "a WARC record must begin here, with WARC/1.0 or the like";
    static const char no_length[] = "the Content-Length of the WARC record is missing or not a number";
    refuse_record("", no_record);
    refuse_record("WARC", no_record);
    refuse_record("WAR\n/1.0\r\nWARC-Type: resource\r\n\r\n", no_record);
    refuse_record("warc/1.0\r\nWARC-Type: resource\r\nContent-Length: 1\r\n\r\n", no_record);
    refuse_record("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n", no_record);
    refuse_record("WARC/1.0\r\nWARC-Type: resource\r\n\r\n", no_length);
    static const char *const lengths[] = {"", "x", "-1", "+1", "1 2", "0x10", "1.5", "18446744073709551616"};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        char head[200];
        snprintf(head, sizeof head, "WARC/1.0\r\nWARC-Type: resource\r\nContent-Length: %s\r\n\r\n", lengths[i]);
        refuse_record(head, no_length);
    }
    check_record("WARC/1.0\r\nWARC-Type: resource\r\nContent-Length: 18446744073709551615\r\n\r\n", WARC_DOCUMENT,
                 UINT64_MAX, "", MEDIA_OTHER, "");
    refuse_record("WARC/1.0\r\nContent-Length: 1\r\n\r\n", "the WARC record has no WARC-Type");
}

/* ---- Heads of HTTP responses ---- */

static struct http_head check_response(const char *head, bool ok) {
    struct http_head parsed;
    struct bad bad = {0};
    char *copy = copy_exactly(head, strlen(head));
    assert_true(http_parse_head(copy, strlen(head), &parsed, &bad));
    assert_int_equal(bad.kind, BAD_NONE);
    assert_int_equal(parsed.succeeded, ok);
    free(copy);
    return parsed;
}

static void refuse_response(const char *head) {
    struct http_head parsed;
    struct bad bad = {0};
    char *copy = copy_exactly(head, strlen(head));
    assert_false(http_parse_head(copy, strlen(head), &parsed, &bad));
    assert_int_equal(bad.kind, BAD_HTTP);
    assert_string_equal(bad.problem.sentence, "the response doesn't begin with HTTP/1.1 and a status");
    free(copy);
}

static void test_statuses(void **state) {
    (void)state;
    check_response("HTTP/1.1 200 OK\r\n\r\n", true);
    check_response("HTTP/1.0 299\n\n", true);
    check_response("HTTP/2  204\r\n\r\n", true);
    check_response("HTTP/1.1 100 Continue\r\n\r\n", false);
    check_response("HTTP/1.1 301 Moved\r\n\r\n", false);
    check_response("HTTP/1.1 404 Not Found\r\n\r\n", false);
    check_response("HTTP/1.1 503 2xx\r\n\r\n", false);
    refuse_response("");
    refuse_response("HTTP/1.1\r\n\r\n");
    refuse_response("HTTP/1.1 20\r\n\r\n");
    refuse_response("ICY 200 OK\r\n\r\n");
    refuse_response("http/1.1 200 OK\r\n\r\n");
    refuse_response("<html>200 OK\r\n\r\n");
    refuse_response("GET / HTTP/1.1\r\n\r\n");
}

static void test_http_headers(void **state) {
    (void)state;
    struct http_head head = check_response("HTTP/1.1 200 OK\r\nServer: a\r\n\r\n", true);
    assert_int_equal(head.type.media, MEDIA_OTHER);
    assert_false(head.chunked);
    assert_string_equal(head.encoding, "");
    head = check_response("HTTP/1.1 200 OK\r\ncontent-type: text/html; charset=euc-kr\r\nCONTENT-ENCODING: gzip\r\n"
                          "Transfer-encoding:Chunked\r\n\r\n",
                          true);
    assert_int_equal(head.type.media, MEDIA_HTML);
    assert_string_equal(head.type.charset, "euc-kr");
    assert_true(head.chunked);
    assert_string_equal(head.encoding, "gzip");
    head = check_response("HTTP/1.1 200 OK\r\nContent-Encoding: Identity\r\nTransfer-Encoding: identity\r\n\r\n", true);
    assert_string_equal(head.encoding, "");
    assert_false(head.chunked);
    head = check_response("HTTP/1.1 200 OK\r\nContent-Encoding: 1234567890123456789\r\n\r\n", true);
    assert_string_equal(head.encoding, "123456789012345");
}

/* ---- Chunks ---- */

static void check_joined(const char *body, size_t size, const char *expected, bool is_cut) {
    struct bad bad = {0};
    size_t length = size;
    bool cut = false;
    char *copy = copy_exactly(body, size);
    assert_true(http_join_chunks(copy, &length, &cut, &bad));
    assert_int_equal(bad.kind, BAD_NONE);
    assert_int_equal(cut, is_cut);
    assert_span((struct span){copy, length}, expected);
    free(copy);
}

static void check_chunks(const char *body, size_t size, const char *expected) {
    check_joined(body, size, expected, false);
}

static void refuse_chunks(const char *body, size_t size) {
    struct bad bad = {0};
    size_t length = size;
    char *copy = copy_exactly(body, size);
    bool cut = false;
    assert_false(http_join_chunks(copy, &length, &cut, &bad));
    assert_false(cut);
    assert_int_equal(bad.kind, BAD_HTTP);
    assert_string_equal(bad.problem.sentence, "a chunk of the HTTP response is broken");
    free(copy);
}

static void test_chunks(void **state) {
    (void)state;
    check_chunks(LITERAL("5\r\nhello\r\n0\r\n\r\n"), "hello");
    check_chunks(LITERAL("5\r\nhello\r\n007\r\n, world\r\n0\r\n\r\n"), "hello, world");
    check_chunks(LITERAL("5\nhello\n1\n!\n0\n"), "hello!");
    check_chunks(LITERAL("A\r\n0123456789\r\nb;x=\"y\"\r\nabcdefghijk\r\n0;z\r\nTrailer: t\r\n\r\n"),
                 "0123456789abcdefghijk");
    check_chunks(LITERAL("5  \r\n1\r\n2\n\r\n0\r\n\r\n"), "1\r\n2\n");
    check_chunks(LITERAL("0\r\n\r\n"), "");
    check_chunks(LITERAL("0\r\n\r\n5\r\nhello\r\n"), "");
}

/* Bodies that archives have joined, under heads that say chunked. */
static void test_what_is_no_chunk_is_left_alone(void **state) {
    (void)state;
    static const char *const bodies[] = {"",        "<p>x</p>\n", "5",     "hello\n",      "\r\n5\r\nhello",
                                         "-1\r\nx", "5x\r\n",     "g\r\n", "0x5\r\nhello", "123456789\r\nx"};
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) check_chunks(bodies[i], strlen(bodies[i]), bodies[i]);
}

static void test_broken_chunks(void **state) {
    (void)state;
    refuse_chunks(LITERAL("4\r\nhello\r\n0\r\n\r\n"));
    refuse_chunks(LITERAL("5\r\nhello\r\n000000000\r\n\r\n"));
    refuse_chunks(LITERAL("5\r\nhello\r\n\r\n"));
}

/* Wherever a body ends before its last chunk begins, what there is of it is joined. */
static void test_cut_chunks(void **state) {
    (void)state;
    static const char body[] = "5\r\nhello\r\n7\r\n, world\r\n0\r\n\r\n", joined[] = "hello, world";
    for (size_t size = 3; size < sizeof body - 1; size++) {
        size_t first = size < 8 ? size - 3 : 5, second = size < 13 ? 0 : size < 20 ? size - 13 : 7;
        char expected[sizeof joined] = "";
        memcpy(expected, joined, first + second);
        check_joined(body, size, expected, size < 25);
    }
    check_joined(LITERAL("ffffffff\r\nx"), "x", true);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_end_of_a_head),
        cmocka_unit_test(test_a_record_within_a_head),
        cmocka_unit_test(test_types_of_records),
        cmocka_unit_test(test_headers_in_any_form),
        cmocka_unit_test(test_ids),
        cmocka_unit_test(test_media_types),
        cmocka_unit_test(test_refused_records),
        cmocka_unit_test(test_statuses),
        cmocka_unit_test(test_http_headers),
        cmocka_unit_test(test_chunks),
        cmocka_unit_test(test_what_is_no_chunk_is_left_alone),
        cmocka_unit_test(test_broken_chunks),
        cmocka_unit_test(test_cut_chunks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
