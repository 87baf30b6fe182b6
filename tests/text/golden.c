/* golden.c: texts and their fingerprints by every method and weight, for ever. The values were made by golden.py, which
 * shares no code with idx, nor ICU. */
#include <stdio.h>

#include <unicode/uversion.h>

#include "tests/text/testing.h"

struct golden {
    uint64_t fingerprint;
    uint64_t features;
    const char *text;
};

static void assert_golden_by(const char *recipe, const struct golden *cases, size_t count) {
    struct idx_text_options options = IDX_TEXT_OPTIONS_INIT;
    struct idx_text *text;
    options.recipe = recipe;
    assert_int_equal(idx_text_open(&text, &options, NULL), IDX_OK);
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

/* By version 1 as well: of texts with spaces, the versions give the same. */
static void assert_golden(const struct golden *cases, size_t count) {
    assert_golden_by(IDX_TEXT_DEFAULT_RECIPE, cases, count);
    assert_golden_by("words:1;nfkc-cf;w=logtf;v1", cases, count);
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

/* By version 1, words of scripts without spaces come from ICU's dictionaries, which move from release to release. */
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
    assert_golden_by("words:1;v1", cases, sizeof cases / sizeof *cases);
}

struct golden_recipe {
    const char *recipe;
    uint64_t features;
    int64_t weight;
    size_t count;
    uint64_t fingerprints[5];
};

static void assert_recipe(const struct golden_recipe *golden, const struct idx_text_table *table,
                          const struct idx_text_field *fields, size_t field_count) {
    struct idx_text_options options = {sizeof options, golden->recipe, table};
    struct idx_text *text;
    struct idx_error error;
    uint64_t made[5];
    size_t count;
    struct idx_text_counts counts;
    if (idx_text_open(&text, &options, &error) != IDX_OK) fail_msg("%s", error.sentence);
    assert_int_equal(idx_text_fingerprints(text, fields, field_count, 64, made, 5, &count, &counts, NULL), IDX_OK);
    if (count != golden->count || counts.features != golden->features || counts.weight != golden->weight ||
        memcmp(made, golden->fingerprints, count * sizeof *made) != 0)
        fail_msg("%s: %zu, the first %016llx, with %llu features of weight %lld", golden->recipe, count,
                 (unsigned long long)made[0], (unsigned long long)counts.features, (long long)counts.weight);
    /* The recipe is in canonical form, but for ICU's version. */
    assert_memory_equal(idx_text_recipe(text), golden->recipe, strlen(golden->recipe));
    idx_text_close(text);
}

/* Makes a table by `version`, the recipe words:1 with v1 or v2. */
static struct idx_text_table *train(const char *version) {
    static const char *const corpus[] = {"The web page is a page of the web.", "A crawler and a search",
                                         "the quality of documents, and the crawler"};
    struct idx_text *text;
    struct idx_text_table *table;
    struct idx_text_options options = {sizeof options, version, NULL};
    assert_int_equal(idx_text_open(&text, &options, NULL), IDX_OK);
    assert_int_equal(idx_text_table_open(&table, text, NULL), IDX_OK);
    for (size_t i = 0; i < sizeof corpus / sizeof *corpus; i++) {
        struct idx_text_field field = {"body", corpus[i], strlen(corpus[i])};
        assert_int_equal(idx_text_table_add(table, text, &field, 1, NULL), IDX_OK);
    }
    idx_text_close(text);
    return table;
}

/* ASCII: the same for every version of ICU, and by both versions of the recipes. */
static void test_recipes(void **state) {
    (void)state;
    static const char title[] = "Near-Duplicate Web Documents";
    static const char body[] =
        "Near-duplicate web documents are abundant. Two such documents differ from each other in a very small portion\n"
        "that displays advertisements, for example.  Such differences are irrelevant for web search! So the quality of "
        "a web\ncrawler increases if it can assess whether a newly crawled web page is a near-duplicate of a "
        "previously "
        "crawled web page\nor not. In the course of developing a near-duplicate detection system, we make two research "
        "contributions. First, we\nshow that it works. Is that all?";
    static const struct golden_recipe cases[] = {
        {"words:2;nfkc-cf;w=logtf;v1", 77, 5412288, 1, {UINT64_C(0xd68430b54159b15a)}},
        {"words:3;nfkc-cf;w=logtf;v1", 80, 5373952, 1, {UINT64_C(0x09d06749950acb53)}},
        {"words:5;nfkc-cf;w=logtf;v1", 80, 5242880, 1, {UINT64_C(0x0c818261439ae1ad)}},
        {"words:8;nfkc-cf;w=logtf;v1", 77, 5046272, 1, {UINT64_C(0x288a15eeb6b9937b)}},
        {"words:3,stop=en;nfkc-cf;w=logtf;v1", 69, 4587520, 1, {UINT64_C(0x19d06749d50bca57)}},
        {"words:1;nfkc-cf;stop=de+en;w=logtf;v1", 34, 2850281, 1, {UINT64_C(0xb11d09b16f949918)}},
        {"words:1;nfkc-cf;w=1;v1", 55, 3604480, 1, {UINT64_C(0x134701a33f9589ea)}},
        {"words:1;nfkc-cf;w=tf;v1", 55, 5505024, 1, {UINT64_C(0xa24603e33f968d1e)}},
        {"words:1;nfkc-cf;w=tfidf:8fc6d523a48be97e;v1", 55, 8911616, 1, {UINT64_C(0x115605c33fd6991e)}},
        {"words:1;nfkc-cf;w=idf:8fc6d523a48be97e;v1", 55, 6400256, 1, {UINT64_C(0x114f05833f8d99e2)}},
        {"words:1;nfkc-cf;w=tf;top=10;v1", 55, 2031616, 1, {UINT64_C(0x22d68af03ff64f1f)}},
        {"words:1;nfkc-cf;w=logtf;title=5;v1", 55, 6438697, 1, {UINT64_C(0xa25409e13ff6191e)}},
        {"chars:1;nfkc-cf;w=logtf;v1", 30, 8189280, 1, {UINT64_C(0xf40126d455ec0b1f)}},
        {"chars:4;nfkc-cf;w=logtf;v1", 381, 31278226, 1, {UINT64_C(0x021465ca9586d0b2)}},
        {"chars:32;nfkc-cf;w=logtf;v1", 463, 30343168, 1, {UINT64_C(0x5a771f94520e1ebc)}},
        {"segments:4;nfkc-cf;w=logtf;v1",
         55,
         5477824,
         4,
         {UINT64_C(0x35452dab3fd6813e), UINT64_C(0x07d48ac33cb601dc), UINT64_C(0xc28e82f63f864d1e),
          UINT64_C(0x025e45813b1c9f53)}},
        {"sentences:3;nfkc-cf;v1", 7, 0, 1, {UINT64_C(0xf5521b73c48255b1)}},
        {"description;nfkc-cf;v1", 1, 0, 1, {UINT64_C(0x380d0f2564fbd418)}},
        {"terms:10;nfkc-cf;w=logtf;order=weight;v1", 55, 1654569, 1, {UINT64_C(0x2bbf00dbfd332367)}},
        {"terms:10;nfkc-cf;w=logtf;order=sorted;v1", 55, 1654569, 1, {UINT64_C(0x16ef57fc259be592)}},
        {"idf:70;nfkc-cf;w=idf:8fc6d523a48be97e;v1", 55, 5111808, 1, {UINT64_C(0xe6d2216055fab6ad)}},
        {"words:2;nfkc-cf;w=logtf;v2", 77, 5412288, 1, {UINT64_C(0xd68430b54159b15a)}},
        {"words:3;nfkc-cf;w=logtf;v2", 80, 5373952, 1, {UINT64_C(0x09d06749950acb53)}},
        {"words:5;nfkc-cf;w=logtf;v2", 80, 5242880, 1, {UINT64_C(0x0c818261439ae1ad)}},
        {"words:8;nfkc-cf;w=logtf;v2", 77, 5046272, 1, {UINT64_C(0x288a15eeb6b9937b)}},
        {"words:3,stop=en;nfkc-cf;w=logtf;v2", 69, 4587520, 1, {UINT64_C(0x19d06749d50bca57)}},
        {"words:1;nfkc-cf;stop=de+en;w=logtf;v2", 34, 2850281, 1, {UINT64_C(0xb11d09b16f949918)}},
        {"words:1;nfkc-cf;w=1;v2", 55, 3604480, 1, {UINT64_C(0x134701a33f9589ea)}},
        {"words:1;nfkc-cf;w=tf;v2", 55, 5505024, 1, {UINT64_C(0xa24603e33f968d1e)}},
        {"words:1;nfkc-cf;w=tfidf:56bfe29e255953fe;v2", 55, 8911616, 1, {UINT64_C(0x115605c33fd6991e)}},
        {"words:1;nfkc-cf;w=idf:56bfe29e255953fe;v2", 55, 6400256, 1, {UINT64_C(0x114f05833f8d99e2)}},
        {"words:1;nfkc-cf;w=tf;top=10;v2", 55, 2031616, 1, {UINT64_C(0x22d68af03ff64f1f)}},
        {"words:1;nfkc-cf;w=logtf;title=5;v2", 55, 6438697, 1, {UINT64_C(0xa25409e13ff6191e)}},
        {"segments:4;nfkc-cf;w=logtf;v2",
         55,
         5477824,
         4,
         {UINT64_C(0x35452dab3fd6813e), UINT64_C(0x07d48ac33cb601dc), UINT64_C(0xc28e82f63f864d1e),
          UINT64_C(0x025e45813b1c9f53)}},
        {"terms:10;nfkc-cf;w=logtf;order=weight;v2", 55, 1654569, 1, {UINT64_C(0x2bbf00dbfd332367)}},
        {"terms:10;nfkc-cf;w=logtf;order=sorted;v2", 55, 1654569, 1, {UINT64_C(0x16ef57fc259be592)}},
        {"idf:70;nfkc-cf;w=idf:56bfe29e255953fe;v2", 55, 5111808, 1, {UINT64_C(0xe6d2216055fab6ad)}},
    };
    const struct idx_text_field fields[] = {{"title", title, strlen(title)}, {"body", body, strlen(body)}};
    struct idx_text_table *tables[] = {train("words:1;v1"), train("words:1;v2")};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool is_second = strstr(cases[i].recipe, ";v2") != NULL;
        assert_recipe(&cases[i], tables[is_second], fields, 2);
    }
    idx_text_table_close(tables[0]);
    idx_text_table_close(tables[1]);
}

/* Chinese, Japanese, Thai, Arabic, Devanagari, combining marks, emoji. */
static const char scripts[] = "敏捷的棕色狐狸跳过了懒狗。近似重复的网页会浪费索引的空间。\n"
                              "東京都に住んでいます。カタカナとひらがなと漢字を使います。\n"
                              "ภาษาไทยไม่มีช่องว่างระหว่างคำ เอกสารที่คล้ายกันมีลายนิ้วมือใกล้กัน\n"
                              "الوثائق المتشابهة تقريبا كثيرة في الشبكة.\n"
                              "वेब पर लगभग समान दस्तावेज़ बहुत हैं।\n"
                              "Cafe\u0301 Å e\u0301te\u0301 q\u0323\u0307 🎉 👩\u200D👩\u200D👧 ok 🇩🇪!";

static void test_recipes_of_scripts(void **state) {
    (void)state;
    UVersionInfo version;
    u_getVersion(version);
    if (version[0] != 72) {
        print_message("skipped: these values hold for ICU 72, and this is ICU %d\n", version[0]);
        skip();
    }
    static const struct golden_recipe cases[] = {
        {"words:1;nfkc-cf;w=logtf;v1", 67, 4691392, 1, {UINT64_C(0x34875fd699ca982c)}},
        {"words:3;nfkc-cf;w=logtf;v1", 70, 4587520, 1, {UINT64_C(0x9472e88479b86120)}},
        {"words:1;nfkc-cf;stop=zh;w=tf;v1", 62, 4259840, 1, {UINT64_C(0x34a753cf9bca882c)}},
        {"chars:2;nfkc-cf;w=logtf;v1", 214, 15215488, 1, {UINT64_C(0x7a9e2d97569fc8b1)}},
        {"segments:5;nfkc-cf;w=logtf;v1",
         67,
         4718592,
         5,
         {UINT64_C(0x69cf6fa68c829834), UINT64_C(0x163f1a1d41ca9988), UINT64_C(0x109df3c3da39f92d),
          UINT64_C(0x76841b8438aa804c), UINT64_C(0xa10345db1052526c)}},
        {"terms:9;nfkc-cf;w=logtf;order=weight;v1", 67, 890304, 1, {UINT64_C(0x8fe7937e2c9fac19)}},
        {"description;nfkc-cf;v1", 1, 0, 1, {UINT64_C(0xc986e8d3a3dd887a)}},
    };
    const struct idx_text_field field = {"body", scripts, strlen(scripts)};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) assert_recipe(&cases[i], NULL, &field, 1);
}

/* By version 2, no dictionary is asked, and every release of ICU gives these. */
static void test_pairs(void **state) {
    (void)state;
    static const struct golden cases[] = {
        {UINT64_C(0x51ef7bb2ba938cb4), 50, "敏捷的棕色狐狸跳过了懒狗。近似重复的网页会浪费索引的空间。"},
        {UINT64_C(0xa25d5dac91faf689), 45, "東京都に住んでいます。カタカナとひらがなと漢字を使います。"},
        {UINT64_C(0x6c3af77c1d8e711a), 84, "ภาษาไทยไม่มีช่องว่างระหว่างคำ เอกสารที่คล้ายกันมีลายนิ้วมือใกล้กัน"},
    };
    assert_golden_by(IDX_TEXT_DEFAULT_RECIPE, cases, sizeof cases / sizeof *cases);
    static const struct golden_recipe recipes[] = {
        {"words:1;nfkc-cf;w=logtf;v2", 197, 6605588, 1, {UINT64_C(0x74af57fe1586b008)}},
        {"words:3;nfkc-cf;w=logtf;v2", 129, 8519680, 1, {UINT64_C(0x73b059c8dfbb96a6)}},
        {"words:1;nfkc-cf;w=tf;v2", 197, 6979584, 1, {UINT64_C(0x742bd7fe1d863008)}},
        {"segments:5;nfkc-cf;w=logtf;v2",
         197,
         6906016,
         5,
         {UINT64_C(0x51cf73b28a1388f6), UINT64_C(0x801d4d8c91ba5689), UINT64_C(0x643ad6e605ea319a),
          UINT64_C(0xfc0ad72d05863438), UINT64_C(0x348257fb1b4e324c)}},
        {"terms:9;nfkc-cf;w=logtf;order=weight;v2", 197, 860052, 1, {UINT64_C(0xfdb11e4bc06a9a16)}},
    };
    const struct idx_text_field field = {"body", scripts, strlen(scripts)};
    for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++) assert_recipe(&recipes[i], NULL, &field, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ascii),
        cmocka_unit_test(test_weights),
        cmocka_unit_test(test_normalization),
        cmocka_unit_test(test_long_runs),
        cmocka_unit_test(test_dictionaries),
        cmocka_unit_test(test_recipes),
        cmocka_unit_test(test_recipes_of_scripts),
        cmocka_unit_test(test_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
