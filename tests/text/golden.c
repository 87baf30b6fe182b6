/* golden.c: texts and their fingerprints by the default recipe. The values were made by golden.py, which shares no code
 * with idx, nor ICU. */
#include <idx_text.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <unicode/uversion.h>

#include <cmocka.h>

struct golden {
    uint64_t fingerprint;
    uint64_t features;
    const char *text;
};

static void assert_golden(const struct golden *cases, size_t count) {
    struct idx_text *text;
    assert_int_equal(idx_text_open(&text, NULL, NULL), IDX_OK);
    for (size_t i = 0; i < count; i++) {
        uint64_t fingerprint, features;
        size_t length = strlen(cases[i].text);
        assert_int_equal(idx_text_fingerprint(text, cases[i].text, length, 64, &fingerprint, &features, NULL), IDX_OK);
        if (fingerprint != cases[i].fingerprint || features != cases[i].features) {
            fail_msg("%016llx with %llu features: %.60s", (unsigned long long)fingerprint, (unsigned long long)features,
                     cases[i].text);
        }
    }
    idx_text_close(text);
}

static void test_ascii(void **state) {
    (void)state;
    static const struct golden cases[] = {
        {0, 0, ""},
        {0, 0, " \t\r\n .,;!?()-- "},
        {UINT64_C(0xe6c632b61e964e1f), 1, "a"},
        {UINT64_C(0xe6c632b61e964e1f), 1, "A a A"},
        {UINT64_C(0x8212868318d29267), 8, "The quick brown fox jumps over the lazy dog."},
        {UINT64_C(0x8212868318d29267), 8, "the lazy dog\njumps over\nthe quick brown fox"},
        {UINT64_C(0xc246c2495dd1893f), 14,
         "To be, or not to be, that is the question: whether 'tis nobler in the mind to suffer"},
        {UINT64_C(0xa2ee946d81e98db2), 18,
         "Don't stop: pi is 3.14159 (22/7), a million is 1,000,000; foo_bar e-mail U.S.A. someone@example.com x:y"},
    };
    assert_golden(cases, sizeof cases / sizeof *cases);
}

/* word0 once, word1 twice, ... word99 a hundred times: the weights of all counts to 100 take part. */
static void test_weights(void **state) {
    (void)state;
    static char repeated[50000];
    size_t length = 0;
    for (int i = 0; i < 100; i++) {
        for (int j = 0; j <= i; j++) length += (size_t)sprintf(repeated + length, "word%d ", i);
    }
    const struct golden cases[] = {{UINT64_C(0x4370b806eda2339d), 100, repeated}};
    assert_golden(cases, 1);
}

static void test_normalization(void **state) {
    (void)state;
    static const struct golden cases[] = {
        {UINT64_C(0x65449e0346dbf114), 13,
         "In Straßburg steht das höchste Fachwerkhaus; in Köln steht der höchste Dom. STRASSBURG und KÖLN liegen am "
         "Rhein."},
        {UINT64_C(0xc51300aa71221271), 8, "ﬁne Ａ①２ ½ Ⅻ Å e\u0301 soft\u00adware Ünïcödé"},
    };
    assert_golden(cases, sizeof cases / sizeof *cases);
}

/* 'a' and 400 accents, which two parts are made of. */
static void test_long_runs(void **state) {
    (void)state;
    static char accents[1 + 200 * 4 + 1] = "a";
    for (int i = 0; i < 200; i++) strcat(accents, "\u0301\u0316");
    const struct golden cases[] = {{UINT64_C(0x74c703106b9aa9ce), 1, accents}};
    assert_golden(cases, 1);
}

/* Words of scripts without spaces come from ICU's dictionaries, which move from release to release. */
static void test_dictionaries(void **state) {
    (void)state;
    UVersionInfo version;
    u_getVersion(version);
    if (version[0] < 72 || version[0] > 78) {
        print_message("skipped: these values hold for ICU 72 to 78, and this is ICU %d\n", version[0]);
        skip();
    }
    static const struct golden cases[] = {
        {UINT64_C(0x79cf678688839834), 16, "敏捷的棕色狐狸跳过了懒狗。近似重复的网页会浪费索引的空间。"},
        {UINT64_C(0x041b5b5dc3e8b989), 16, "東京都に住んでいます。カタカナとひらがなと漢字を使います。"},
        {UINT64_C(0x72859740182b802c), 17, "ภาษาไทยไม่มีช่องว่างระหว่างคำ เอกสารที่คล้ายกันมีลายนิ้วมือใกล้กัน"},
    };
    assert_golden(cases, sizeof cases / sizeof *cases);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ascii),     cmocka_unit_test(test_weights),      cmocka_unit_test(test_normalization),
        cmocka_unit_test(test_long_runs), cmocka_unit_test(test_dictionaries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
