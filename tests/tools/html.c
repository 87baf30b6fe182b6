/* html.c: tests of the text, title and description of HTML documents, and of the character set that they name. */
#include "tools/formats/html.h"
#include "tests/testing.h"
#include "tests/tools/exactly.h"

#include <stdio.h>
#include <stdlib.h>

static void assert_output(const struct output *output, const char *expected) {
    if (output->length != strlen(expected) ||
        (output->length > 0 && memcmp(output->bytes, expected, output->length) != 0))
        fail_msg("'%.*s', not '%s'", (int)output->length, output->length > 0 ? output->bytes : "", expected);
}

static void check_bytes(bool main_text, const char *bytes, size_t length, const char *text, const char *title,
                        const char *description) {
    struct html html = HTML_INIT;
    struct bad bad = {0};
    char *copy = copy_exactly(bytes, length);
    /* Twice, since what an earlier document left is replaced. */
    for (int i = 0; i < 2; i++) {
        assert_true(html_parse(&html, (struct span){copy, length}, main_text, &bad));
        assert_int_equal(bad.kind, BAD_NONE);
        assert_output(&html.text, text);
        assert_output(&html.title, title);
        assert_output(&html.description, description);
    }
    html_free(&html);
    free(copy);
}

static void check(const char *document, const char *text) {
    check_bytes(false, document, strlen(document), text, "", "");
}

static void check_main(const char *document, const char *text) {
    check_bytes(true, document, strlen(document), text, "", "");
}

/* ---- Text ---- */

static void test_elements_in_a_line_and_others(void **state) {
    (void)state;
    check("", "");
    check("plain", "plain\n");
    check("<p>one</p><p>two</p>", "one\ntwo\n");
    check("<p>cor<b>n</b>er <i>sh</i>op<sup>2</sup>", "corner shop2\n");
    check("one<br>two<br/>three<hr>four", "one\ntwo\nthree\nfour\n");
    check("<ul><li>one<li>two</ul>three", "one\ntwo\nthree\n");
    check("<table><tr><td>one<td>two<tr><td>three</table>", "one\ntwo\nthree\n");
    check("<x-new>one</x-new>two", "one\ntwo\n");
    check("<P>ONE</P><DIV>two</DIV>", "ONE\ntwo\n");
    check("super<wbr>man", "superman\n");
    check("a <!-- not this --> b", "a  b\n");
}

static void test_what_is_never_text(void **state) {
    (void)state;
    check("one<script>if (a < b) '</p>'</script>two", "one\ntwo\n");
    check("<style>p { color: red }</style>one", "one\n");
    check("<noscript><p>no</p></noscript>one<template><b>no</b></template>", "one\n");
    check("<svg><text>no<svg>no</svg>no</text></svg>one", "one\n");
    check("<iframe>no</iframe>one", "one\n");
    check("<SCRIPT>no</SCRIPT>one", "one\n");
    check("one<script>no end", "one\n");
    check("<img alt='no' title='no'>one", "one\n");
}

static void test_entities(void **state) {
    (void)state;
    check("caf&eacute; &amp; &lt;cr&ecirc;pes&gt;", "caf\xc3\xa9 & <cr\xc3\xaapes>\n");
    check("&#20013;&#x4e2d;&#128512;", "\xe4\xb8\xad\xe4\xb8\xad\xf0\x9f\x98\x80\n");
    check("a&nbsp;b", "a\xc2\xa0"
                      "b\n");
    check("a & b &unknown; c", "a & b &unknown; c\n");
    check("\xe4\xb8\xad", "\xe4\xb8\xad\n");
}

static void test_nul_bytes_are_blanks(void **state) {
    (void)state;
    check_bytes(false, LITERAL("<p>one\0two</p>three\0"), "one two\nthree \n", "", "");
}

/* ---- Title and description ---- */

static void test_titles(void **state) {
    (void)state;
    const char *document = "<html><head><title>One &amp; two</title></head><body><p>text<title>No</title>";
    check_bytes(false, document, strlen(document), "text\n", "One & two", "");
    document = "<title>One</title><svg><title>No</title></svg>text";
    check_bytes(false, document, strlen(document), "text\n", "One", "");
    document = "<p>text</p><title></title><title>No</title>";
    check_bytes(false, document, strlen(document), "text\n", "", "");
}

static void test_descriptions(void **state) {
    (void)state;
    const char *document = "<meta name=Description content='a &lt; b'><meta name=description content=second>text";
    check_bytes(false, document, strlen(document), "text\n", "", "a < b");
    document = "<meta name=description content=''><meta name=description content=second>text";
    check_bytes(false, document, strlen(document), "text\n", "", "second");
    check("<meta name=keywords content=a><meta property=description content=b><meta name=description>text", "text\n");
    check("<meta name content=a><meta content=b>text", "text\n");
}

/* ---- The main text ---- */

static void test_main_text(void **state) {
    (void)state;
    check_main("<header>a</header><nav>b</nav><p>text</p><aside>c</aside><form>d</form><footer>e</footer>", "text\n");
    check("<header>a</header><nav>b</nav><p>text</p>", "a\nb\ntext\n");
    check_main("<nav>a<nav>b</nav>c</nav>text", "text\n");
    /* Runs of which more than half the bytes, blanks apart, are in links. */
    check_main("<p><a href=a>link</a>text</p>", "linktext\n");
    check_main("<p><a href=a>links</a>text</p>", "");
    check_main("<p><a href=a>l i n k</a> text</p>", "l i n k text\n");
    check_main("<p>text</p><ul><li><a>one</a><li><a>two</a></ul><p>more", "text\nmore\n");
    check_main("<p><a>one<br>two</a>text</p>", "twotext\n");
    check("<p><a href=a>links</a>text</p>", "linkstext\n");
}

/* The text of main elements, or else of article elements, is the main text, if there is one. */
static void test_main_and_article(void **state) {
    (void)state;
    check_main("<p>a<main>text<p>more</main>b", "text\nmore\n");
    check_main("a<article>text</article>b<article>more</article>c", "text\nmore\n");
    check_main("a<article>b</article><main>text<article>more</article>too</main>c", "text\nmore\ntoo\n");
    check_main("<article>text<article>more</article>too</article>a", "text\nmore\ntoo\n");
    check_main("a<main><nav>b</nav><header>c</header>text<ul><li><a>d</a></ul></main>", "text\n");
    check_main("<main>a</main>b<MAIN>c</MAIN>d", "a\nc\n");
    check_main("a<main>text", "text\n");
    check_main("<article>text</main>more</article>a</article>b", "textmore\n");
    /* One without a text is none. */
    check_main("a<main> \n</main><article>text</article>", "text\n");
    check_main("text<main><p></main><article><nav>a</nav></article>", "text\n");
    check_main("text<main><a>a</a></main>", "text\n");
    check("a<main>b</main><article>c</article>", "a\nb\nc\n");
}

/* ---- Depth ---- */

static void check_depth(size_t depth, bool ok) {
    struct html html = HTML_INIT;
    struct bad bad = {0};
    char *document = malloc(3 * depth + 1);
    assert_non_null(document);
    for (size_t i = 0; i < depth; i++) memcpy(document + 3 * i, "<b>", 3);
    document[3 * depth] = 'x';
    assert_int_equal(html_parse(&html, (struct span){document, 3 * depth + 1}, false, &bad), ok);
    assert_int_equal(bad.kind, ok ? BAD_NONE : BAD_HTML);
    if (ok)
        assert_output(&html.text, "x\n");
    else
        assert_string_equal(bad.problem.sentence, "its elements are nested too deep: 2000 levels");
    free(document);
    html_free(&html);
}

/* Of elements that are closed there may be any number. */
static void check_many(size_t count) {
    char *document = malloc(3 + 8 * count);
    assert_non_null(document);
    memcpy(document, "<p>", 3);
    for (size_t i = 0; i < count; i++) memcpy(document + 3 + 8 * i, "<b>a</b>", 8);
    struct html html = HTML_INIT;
    struct bad bad = {0};
    assert_true(html_parse(&html, (struct span){document, 3 + 8 * count}, false, &bad));
    assert_int_equal(html.text.length, count + 1);
    assert_int_equal(bad.kind, BAD_NONE);
    html_free(&html);
    free(document);
}

static void test_depth(void **state) {
    (void)state;
    check_many(3 * HTML_MOST_DEPTH);
    check_depth(HTML_MOST_DEPTH, true);
    check_depth(HTML_MOST_DEPTH + 1, false);
    check_depth(50 * HTML_MOST_DEPTH, false);
}

/* ---- Character sets ---- */

static void check_charset(const char *document, const char *expected) {
    char name[CHARSET_NAME_SIZE] = "old", *copy = copy_exactly(document, strlen(document));
    html_find_charset((struct span){copy, strlen(document)}, name);
    assert_string_equal(name, expected);
    free(copy);
}

static void test_character_sets(void **state) {
    (void)state;
    check_charset("<meta charset=big5>", "big5");
    check_charset("<META CharSet = \"Shift_JIS\" >", "Shift_JIS");
    check_charset("<meta charset='gb2312'/>", "gb2312");
    check_charset("<meta charset=euc-kr/>", "euc-kr");
    check_charset("<meta http-equiv=Content-Type content=\"text/html; charset=koi8-r\">", "koi8-r");
    check_charset("<meta http-equiv=Content-Type content='text/html;charset=koi8-r;x'>", "koi8-r");
    check_charset("<meta charset=''><meta charset=l1>", "l1");
    check_charset("", "");
    check_charset("<p>text", "");
    check_charset("<meta charset", "");
    check_charset("<meta charset=", "");
    check_charset("<meta charset=\"", "");
    check_charset("<meta charset=\"l1", "l1");
    /* What could be read as far as here is none of these. */
    check_charset("<meta charset=utf-16>", "utf-8");
    check_charset("<meta charset=UTF-16LE>", "utf-8");
    check_charset("<meta charset=utf-32>", "utf-8");
    /* Names that nobody knows, or longer ones than any, are passed over. */
    check_charset("<meta charset=klingon>", "");
    check_charset("<meta charset=klingon><meta charset=,><meta charset=koi8-r>", "koi8-r");
    char longest[100] = "<meta charset=";
    memset(longest + 14, 'n', 64);
    strcpy(longest + 78, "><meta charset=l1>");
    check_charset(longest, "l1");
}

/* Within the first 1,024 bytes alone. */
static void test_where_character_sets_are_sought(void **state) {
    (void)state;
    char document[1100];
    for (size_t at = 1000; at < 1030; at++) {
        memset(document, ' ', sizeof document);
        memcpy(document + at, "charset=big5>", 13);
        char name[CHARSET_NAME_SIZE];
        html_find_charset((struct span){document, sizeof document}, name);
        assert_string_equal(name, at + 12 <= 1024 ? "big5" : "");
    }
}

/* An element with so many attributes, each of its own name, between two others. */
static void check_attributes(int count) {
    struct html html = HTML_INIT;
    struct bad bad = {0};
    size_t length = 0, size = 64 + 10 * (size_t)count;
    char *document = malloc(size);
    assert_non_null(document);
    length += (size_t)snprintf(document, size, "<p>a<a");
    for (int i = 0; i < count; i++) length += (size_t)snprintf(document + length, size - length, " b%d", i);
    length += (size_t)snprintf(document + length, size - length, ">b</a><p>c");
    assert_int_equal(html_parse(&html, (struct span){document, length}, false, &bad), count <= HTML_MOST_ATTRIBUTES);
    if (count <= HTML_MOST_ATTRIBUTES) {
        assert_output(&html.text, "ab\nc\n");
    } else {
        assert_int_equal(bad.kind, BAD_HTML);
        assert_string_equal(bad.problem.sentence, "an element has more than 1000 attributes");
    }
    html_free(&html);
    free(document);
}

static void test_attributes_are_bounded(void **state) {
    (void)state;
    check_attributes(HTML_MOST_ATTRIBUTES - 1);
    check_attributes(HTML_MOST_ATTRIBUTES);
    check_attributes(HTML_MOST_ATTRIBUTES + 1);
    check_attributes(2 * HTML_MOST_ATTRIBUTES);
    check_attributes(500 * HTML_MOST_ATTRIBUTES);
}

int main(void) {
    html_prepare_parser();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_elements_in_a_line_and_others),
        cmocka_unit_test(test_what_is_never_text),
        cmocka_unit_test(test_entities),
        cmocka_unit_test(test_nul_bytes_are_blanks),
        cmocka_unit_test(test_titles),
        cmocka_unit_test(test_descriptions),
        cmocka_unit_test(test_main_text),
        cmocka_unit_test(test_main_and_article),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_character_sets),
        cmocka_unit_test(test_where_character_sets_are_sought),
        cmocka_unit_test(test_attributes_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
