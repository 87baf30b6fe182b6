/* programs.c: tests of hash= and ties=, by which recipes make the fingerprints of other programs. The values are those
 * of the Python package simhash 2.1.2, where it can make them; the others are by a few lines of Python. */
#include <stdio.h>

#include "tests/text/testing.h"

static uint64_t fingerprint(const char *recipe, const char *body, unsigned bits) {
    struct idx_text *text = open_by(recipe);
    uint64_t made;
    assert_int_equal(idx_text_fingerprint(text, body, strlen(body), bits, &made, NULL, NULL), IDX_OK);
    idx_text_close(text);
    return made;
}

struct expected {
    const char *recipe, *body;
    uint64_t fingerprint;
};

static void assert_fingerprints(const struct expected *cases, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint64_t made = fingerprint(cases[i].recipe, cases[i].body, 64);
        if (made != cases[i].fingerprint)
            fail_msg("%s of '%s' is %016llx", cases[i].recipe, cases[i].body, (unsigned long long)made);
    }
}

/* Simhash(text), and Simhash(text.split()). */
static void test_the_python_package(void **state) {
    (void)state;
    static const char chars[] = "chars:4;w=tf;hash=md5", words[] = "words:1;w=tf;hash=md5";
    static const struct expected cases[] = {
        {chars, "howareyouiamfineblarblarblarblarblarthanks", UINT64_C(0x7521c1f341161c7a)},
        {chars, "近似重复的网页会浪费索引的空间", UINT64_C(0xd72c28a854ea6900)},
        {chars, "abc", UINT64_C(0xd6963f7d28e17f72)},
        {chars, "a", UINT64_C(0x31c399e269772661)},
        {chars, "aaaaaaaaaaaa", UINT64_C(0xd33f80c4663dc5e5)},
        {words, "this is a test string for testing also", UINT64_C(0x41c4808a0e2904e1)},
        {words, "the quick brown fox jumps over the lazy dog", UINT64_C(0x2d826d2221ca8b1f)},
        {words, "aaa bbb", UINT64_C(0x00cad12a04a8e008)},
        {words, "a a a b c d", UINT64_C(0x31c3996261730621)},
    };
    assert_fingerprints(cases, sizeof cases / sizeof *cases);
    assert_true(fingerprint(chars, "howareyouiamfineblarblarblarblarblarthanks", 32) == 0x41161c7a);
}

static void test_hashes_and_ties(void **state) {
    (void)state;
    static const char even[] = "this is a test string for testing also";
    static const char odd[] = "the quick brown fox jumps over the lazy dog";
    static const struct expected cases[] = {
        {"words:1;w=tf;hash=fnv1", even, UINT64_C(0x8c021f5e9e09352c)},
        {"words:1;w=tf;hash=fnv1;ties=1", even, UINT64_C(0x8c53ff7ebfff35af)},
        {"words:1;w=tf;hash=fnv1a", even, UINT64_C(0x80e2648fba497890)},
        {"words:1;w=tf;hash=fnv1a;ties=1", even, UINT64_C(0xece7fccfba4978d1)},
        {"words:1;w=tf;hash=md5;ties=1", even, UINT64_C(0xd5c7deea6e7b15e1)},
        {"words:1;w=tf;hash=fnv1", odd, UINT64_C(0xd8dcc6186b793c3e)},
        {"words:1;w=tf;hash=fnv1;ties=1", odd, UINT64_C(0xd8dcc6186b793c3e)},
        {"words:1;w=tf;hash=fnv1a;ties=1", odd, UINT64_C(0xcab7991c5475edee)},
        {"words:3;w=tf;hash=fnv1a", even, UINT64_C(0x4d1288e0282300a9)},
        {"words:3;w=tf;hash=fnv1a;ties=1", even, UINT64_C(0x6d1adae7bfef48af)},
        {"words:3;w=tf;hash=md5", even, UINT64_C(0x0a6208f7019ceae1)},
        {"words:3;w=tf;hash=md5;ties=1", even, UINT64_C(0x0af70affe99cfef7)},
        /* the heaviest features, of one that is */
        {"words:1;w=tf;hash=md5;top=1", "a b c a", UINT64_C(0x31c399e269772661)},
    };
    assert_fingerprints(cases, sizeof cases / sizeof *cases);
    assert_true(fingerprint("words:1;w=tf;hash=fnv1;ties=1", even, 16) == 0x35af);
}

static void test_without_features_there_are_no_ties(void **state) {
    (void)state;
    assert_true(fingerprint("words:1;ties=1", "", 64) == 0);
    assert_true(fingerprint("chars:4;ties=1;hash=md5", " \n", 64) == 0);
    assert_true(fingerprint("words:1;stop=en;ties=1", "the and of", 64) == 0);
}

static void test_segments_and_titles(void **state) {
    (void)state;
    static const char body[] = "this is a test string for testing also", title[] = "test near";
    const struct idx_text_field fields[] = {{"body", body, strlen(body)}, {"title", title, strlen(title)}};
    uint64_t made[IDX_TEXT_MAX_FINGERPRINTS];
    size_t count;
    struct idx_text *text = open_by("segments:2;w=tf;hash=fnv1a;ties=1");
    assert_int_equal(idx_text_fingerprints(text, fields, 2, 64, made, 2, &count, NULL, NULL), IDX_OK);
    assert_int_equal(count, 2);
    assert_true(made[0] == UINT64_C(0xade7fcefb75d69c5) && made[1] == UINT64_C(0xd4fa7e9bfaebf8da));
    idx_text_close(text);
    text = open_by("words:1;w=tf;title=2;hash=fnv1a;ties=1");
    assert_int_equal(idx_text_fingerprints(text, fields, 2, 64, made, 1, &count, NULL, NULL), IDX_OK);
    assert_true(made[0] == UINT64_C(0xede6e4efba6c2a85));
    idx_text_close(text);
}

/* A table goes by XXH3, and serves recipes of any hash. The words of both kinds weigh the same. */
static void test_tables_serve_all_hashes(void **state) {
    (void)state;
    struct idx_text *text = open_by("words:1");
    struct idx_text_options options = IDX_TEXT_OPTIONS_INIT;
    struct idx_text_table *table;
    struct idx_text_counts counts[2];
    static const struct idx_text_field body = {"body", "a b c c", 7};
    uint64_t made[2];
    size_t count;
    assert_int_equal(idx_text_table_open(&table, text, NULL), IDX_OK);
    assert_int_equal(idx_text_table_add(table, text, &body, 1, NULL), IDX_OK);
    assert_int_equal(idx_text_table_add(table, text, &(struct idx_text_field){"body", "a", 1}, 1, NULL), IDX_OK);
    idx_text_close(text);
    options.table = table;
    for (int i = 0; i < 2; i++) {
        options.recipe = i == 0 ? "words:1;w=tfidf" : "words:1;w=tfidf;hash=md5";
        assert_int_equal(idx_text_open(&text, &options, NULL), IDX_OK);
        assert_int_equal(idx_text_fingerprints(text, &body, 1, 64, &made[i], 1, &count, &counts[i], NULL), IDX_OK);
        idx_text_close(text);
    }
    assert_true(counts[0].weight == counts[1].weight && counts[0].weight > 0);
    assert_true(made[0] != made[1]);
    idx_text_table_close(table);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_python_package),
        cmocka_unit_test(test_hashes_and_ties),
        cmocka_unit_test(test_without_features_there_are_no_ties),
        cmocka_unit_test(test_segments_and_titles),
        cmocka_unit_test(test_tables_serve_all_hashes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
