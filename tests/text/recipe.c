/* recipe.c: tests of the grammar of recipes. */
#include "libidx/text/recipe.h"

#include <stdio.h>

#include "tests/text/testing.h"

/* Reads what is given, prints it, and reads and prints that again. */
static void test_canonical_forms(void **state) {
    (void)state;
    static const struct {
        const char *given, *canonical;
    } cases[] = {
        {"words:1;nfkc-cf;w=logtf;v1", "words:1;nfkc-cf;w=logtf;v1"},
        {"words:1;nfkc-cf;w=logtf;v1;icu=72", "words:1;nfkc-cf;w=logtf;v1"},
        {"words:1", "words:1;nfkc-cf;w=logtf;v2"},
        {"words:8,stop=en", "words:8,stop=en;nfkc-cf;w=logtf;v2"},
        {"words:3,stop=fr+de;stop=zh+en+de;v1", "words:3,stop=de+fr;nfkc-cf;stop=de+en+zh;w=logtf;v1"},
        {"words:2;v1;title=100;top=1000000;w=1;nfkc-cf", "words:2;nfkc-cf;w=1;top=1000000;title=100;v1"},
        {"words:2;title=0", "words:2;nfkc-cf;w=logtf;v2"},
        {"words:1;w=tf", "words:1;nfkc-cf;w=tf;v2"},
        {"words:1;w=tfidf", "words:1;nfkc-cf;w=tfidf;v2"},
        {"words:1;w=tfidf:0123456789abcdef", "words:1;nfkc-cf;w=tfidf:0123456789abcdef;v2"},
        {"words:1;w=idf:0000000000000000", "words:1;nfkc-cf;w=idf:0000000000000000;v2"},
        {"chars:32;top=1", "chars:32;nfkc-cf;w=logtf;top=1;v1"},
        {"segments:64;stop=ru", "segments:64;nfkc-cf;stop=ru;w=logtf;v2"},
        {"sentences:3", "sentences:3;nfkc-cf;v1"},
        {"description", "description;nfkc-cf;v1"},
        {"terms:1000", "terms:1000;nfkc-cf;w=logtf;order=weight;v2"},
        {"terms:10;order=sorted;title=3;stop=nl", "terms:10;nfkc-cf;stop=nl;w=logtf;title=3;order=sorted;v2"},
        {"idf:100", "idf:100;nfkc-cf;w=idf;v2"},
        {"words:1;stop=zh;cut=spaces", "words:1;nfkc-cf;cut=spaces;stop=zh;w=logtf;v2"},
        {"terms:5;cut=spaces", "terms:5;nfkc-cf;cut=spaces;w=logtf;order=weight;v2"},
        {"idf:5;cut=spaces", "idf:5;nfkc-cf;cut=spaces;w=idf;v2"},
        {"segments:5;cut=spaces", "segments:5;nfkc-cf;cut=spaces;w=logtf;v2"},
        {"words:1;hash=xxh3;ties=0", "words:1;nfkc-cf;w=logtf;v2"},
        {"words:1;man=1", "words:1;nfkc-cf;w=logtf;man=1;v2"},
        {"words:1;icu=72;man=2;ties=1", "words:1;nfkc-cf;w=logtf;ties=1;man=2;v2"},
        {"words:1;ties=1;hash=md5;title=2", "words:1;nfkc-cf;w=logtf;title=2;hash=md5;ties=1;v2"},
        {"chars:4;hash=fnv1;icu=72", "chars:4;nfkc-cf;w=logtf;hash=fnv1;v1"},
        {"segments:4;ties=1;hash=fnv1a", "segments:4;nfkc-cf;w=logtf;hash=fnv1a;ties=1;v2"},
        {"idf:70;w=idf:ffffffffffffffff;stop=pt", "idf:70;nfkc-cf;stop=pt;w=idf:ffffffffffffffff;v2"},
        {"words:1;v2;w=tf", "words:1;nfkc-cf;w=tf;v2"},
        {"words:1,stop=zh;cut=spaces", "words:1,stop=zh;nfkc-cf;cut=spaces;w=logtf;v2"},
        {"chars:4;v1", "chars:4;nfkc-cf;w=logtf;v1"},
        {"minhash:8", "minhash:8;words=5;v1"},
        {"minhash:64;v1;nfkc-cf;chars=16;man=2", "minhash:64;chars=16;man=2;v1"},
        {"minhash:1;words=1;icu=72", "minhash:1;words=1;v1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct idxt_recipe recipe;
        char printed[IDX_MAX_RECIPE_BYTES + 1];
        const char *given = cases[i].given;
        for (int round = 0; round < 2; round++) {
            assert_null(idxt_recipe_parse(&recipe, given));
            idxt_recipe_format(&recipe, printed);
            assert_string_equal(printed, cases[i].canonical);
            given = cases[i].canonical;
        }
    }
}

static void test_what_is_read(void **state) {
    (void)state;
    struct idxt_recipe recipe;
    assert_null(idxt_recipe_parse(&recipe, "words:3,stop=de;stop=en;w=tfidf:00000000000000ff;top=9;title=4"));
    assert_int_equal(recipe.method, IDXT_WORDS);
    assert_int_equal(recipe.number, 3);
    assert_int_equal(recipe.needed_stop, 1);
    assert_int_equal(recipe.dropped_stop, 2);
    assert_int_equal(recipe.weighing, IDXT_WEIGHT_TFIDF);
    assert_true(recipe.has_table);
    assert_true(recipe.table_hash == 255);
    assert_int_equal(recipe.max_features, 9);
    assert_int_equal(recipe.title_weight, 4);
    assert_false(recipe.sorted);
    assert_null(idxt_recipe_parse(&recipe, "terms:10;order=sorted"));
    assert_int_equal(recipe.method, IDXT_TERMS);
    assert_true(recipe.sorted);
    assert_false(recipe.has_table);
    assert_true(recipe.hash == IDX_HASH_XXH3 && !recipe.ties);
    assert_null(idxt_recipe_parse(&recipe, "words:1;hash=fnv1a;ties=1"));
    assert_true(recipe.hash == IDX_HASH_FNV1A && recipe.ties);
}

static void test_what_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *recipe, *why;
    } cases[] = {
        {"", "must begin with"},
        {";", "ends with a semicolon"},
        {"word:1", "must begin with"},
        {" words:1", "must begin with"},
        {"Words:1", "must begin with"},
        {"words", "number after its first colon"},
        {"words:", "number after its first colon"},
        {"words:0", "number after its first colon"},
        {"words:9", "number after its first colon"},
        {"words:01", "number after its first colon"},
        {"words:+1", "number after its first colon"},
        {"words:1 ", "number after its first colon"},
        {"words:4294967297", "number after its first colon"},
        {"chars:33", "number after its first colon"},
        {"segments:65", "number after its first colon"},
        {"sentences:65", "number after its first colon"},
        {"terms:1001", "number after its first colon"},
        {"idf:101", "number after its first colon"},
        {"description:1", "has no number"},
        {"description:", "has no number"},
        {"words:1,", "followed by a comma"},
        {"words:1,stop=", "followed by a comma"},
        {"words:1,stop=en,stop=de", "followed by a comma"},
        {"words:1,top=3", "followed by a comma"},
        {"chars:1,stop=en", "followed by a comma"},
        {"words:1;", "ends with a semicolon"},
        {"words:1;;v1", "is unknown"},
        {"words:1;v3", "is unknown"},
        {"words:1;v1;v2", "occurs twice"},
        {"chars:4;v2", "version 2 is one of words, segments, terms and idf alone"},
        {"sentences:3;v2", "version 2 is one of words, segments, terms and idf alone"},
        {"description;v2", "version 2 is one of words, segments, terms and idf alone"},
        {"words:1;stop=en+zh", "stop=zh needs whole words"},
        {"words:3,stop=zh;v2", "stop=zh needs whole words"},
        {"terms:3;stop=zh", "stop=zh needs whole words"},
        {"words:1;nfc", "is unknown"},
        {"words:1;icu=", "is unknown"},
        {"words:1;icu=0", "is unknown"},
        {"words:1;man=0", "unknown, or has a value"},
        {"words:1;man=3", "unknown, or has a value"},
        {"words:1;top=0", "unknown, or has a value"},
        {"words:1;top=1000001", "unknown, or has a value"},
        {"words:1;title=101", "unknown, or has a value"},
        {"terms:1;order=", "is unknown"},
        {"words:1;stop=xx", "languages of de, en, es, fr, it, nl, pt, ru and zh,"},
        {"words:1;stop=en+", "languages of de, en, es, fr, it, nl, pt, ru and zh,"},
        {"words:1;stop=+en", "languages of de, en, es, fr, it, nl, pt, ru and zh,"},
        {"words:1;stop=en,de", "languages of de, en, es, fr, it, nl, pt, ru and zh,"},
        {"words:1;w=", "the weights are"},
        {"words:1;w=2", "the weights are"},
        {"words:1;w=tf:0123456789abcdef", "can be followed by a colon"},
        {"words:1;w=tfidf:", "can be followed by a colon"},
        {"words:1;w=tfidf:0123456789abcde", "can be followed by a colon"},
        {"words:1;w=tfidf:0123456789abcdef0", "can be followed by a colon"},
        {"words:1;w=tfidf:0123456789ABCDEF", "can be followed by a colon"},
        {"words:1;w=tf;w=tf", "occurs twice"},
        {"words:1;top=1;top=1", "occurs twice"},
        {"words:1;stop=en;stop=de", "occurs twice"},
        {"words:1;order=weight", "can't be combined with its method"},
        {"chars:1;stop=en", "can't be combined with its method"},
        {"segments:1;top=1", "can't be combined with its method"},
        {"segments:1;title=1", "can't be combined with its method"},
        {"sentences:1;w=1", "can't be combined with its method"},
        {"description;stop=en", "can't be combined with its method"},
        {"terms:1;top=2", "can't be combined with its method"},
        {"idf:70;title=2", "can't be combined with its method"},
        {"words:1;cut=", "is unknown"},
        {"words:1;cut=space", "is unknown"},
        {"words:1;cut=spaces;cut=spaces", "occurs twice"},
        {"chars:4;cut=spaces", "can't be combined with its method"},
        {"description;cut=spaces", "can't be combined with its method"},
        {"words:1;hash=", "the hashes are"},
        {"words:1;hash=sha1", "the hashes are"},
        {"words:1;hash=MD5", "the hashes are"},
        {"words:1;hash=md5x", "the hashes are"},
        {"words:1;hash=md5;hash=md5", "occurs twice"},
        {"words:1;ties=1;ties=0", "occurs twice"},
        {"words:1;ties=2", "is unknown"},
        {"words:1;ties=", "is unknown"},
        {"terms:9;hash=md5", "can't be combined with its method"},
        {"idf:70;ties=1", "can't be combined with its method"},
        {"sentences:3;hash=md5", "can't be combined with its method"},
        {"description;ties=1", "can't be combined with its method"},
        {"idf:70;w=tf", "can only have the weight w=idf:HASH"},
        {"minhash:0", "number after its first colon"},
        {"minhash:65", "number after its first colon"},
        {"minhash:8;words=0", "1 to 16 words or characters"},
        {"minhash:8;chars=17", "1 to 16 words or characters"},
        {"minhash:8;chars=", "1 to 16 words or characters"},
        {"minhash:8;words=5;chars=9", "occurs twice"},
        {"minhash:8;w=1", "can't be combined with its method"},
        {"minhash:8;title=2", "can't be combined with its method"},
        {"words:1;words=5", "can't be combined with its method"},
        {"chars:4;chars=5", "can't be combined with its method"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct idxt_recipe recipe;
        const char *fault = idxt_recipe_parse(&recipe, cases[i].recipe);
        if (fault == NULL) fail_msg("'%s' is taken", cases[i].recipe);
        if (strstr(fault, cases[i].why) == NULL) fail_msg("'%s': %s", cases[i].recipe, fault);
    }
    char longest[IDX_MAX_RECIPE_BYTES + 2] = "words:1";
    struct idxt_recipe recipe;
    memset(longest + 7, ';', sizeof longest - 8);
    assert_string_equal(idxt_recipe_parse(&recipe, longest), "it is too long");
}

/* With all that a recipe can have, room is left for ICU's version. */
static void test_the_longest_fits(void **state) {
    (void)state;
    struct idxt_recipe recipe;
    char printed[IDX_MAX_RECIPE_BYTES + 1];
    assert_null(idxt_recipe_parse(&recipe, "words:8,stop=de+en+es+fr+it+nl+pt+ru+zh;stop=de+en+es+fr+it+nl+pt+ru+zh;"
                                           "w=tfidf:0123456789abcdef;top=1000000;title=100;v1"));
    idxt_recipe_format(&recipe, printed);
    assert_true(strlen(printed) + strlen(";icu=9999999") <= IDX_MAX_RECIPE_BYTES);
    assert_string_equal(printed + strlen(printed) - 25, ";top=1000000;title=100;v1");
}

/* Every recipe cut short anywhere, and with each byte another, is taken or refused, and what is taken prints. */
static void test_hostile_strings(void **state) {
    (void)state;
    static const char whole[] = "words:3,stop=en+de;nfkc-cf;stop=fr;w=tfidf:0123456789abcdef;top=10;title=5;v1;icu=72";
    for (size_t i = 0; i < sizeof whole - 1; i++) {
        for (int byte = 0; byte < 256; byte++) {
            char copy[sizeof whole], printed[IDX_MAX_RECIPE_BYTES + 1];
            struct idxt_recipe recipe, again;
            memcpy(copy, whole, sizeof whole);
            copy[i] = (char)byte;
            if (idxt_recipe_parse(&recipe, copy) != NULL) continue;
            idxt_recipe_format(&recipe, printed);
            assert_null(idxt_recipe_parse(&again, printed));
            assert_memory_equal(&recipe, &again, sizeof recipe);
        }
    }
}

static void test_features(void **state) {
    (void)state;
    static const struct {
        const char *recipe, *features;
    } cases[] = {
        {"words:1", "words:1;nfkc-cf;w=tf;v2"},
        {"words:3,stop=en;stop=de;w=tfidf:0123456789abcdef;top=3;title=4", "words:3,stop=en;nfkc-cf;stop=de;w=tf;v2"},
        {"chars:5;top=3", "chars:5;nfkc-cf;w=tf;v1"},
        {"segments:9;stop=en", "words:1;nfkc-cf;stop=en;w=tf;v2"},
        {"terms:9;stop=en", "words:1;nfkc-cf;stop=en;w=tf;v2"},
        {"idf:70", "words:1;nfkc-cf;w=tf;v2"},
        {"idf:70;v1", "words:1;nfkc-cf;w=tf;v1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct idxt_recipe recipe;
        char printed[IDX_MAX_RECIPE_BYTES + 1];
        assert_null(idxt_recipe_parse(&recipe, cases[i].recipe));
        recipe = idxt_recipe_of_features(&recipe);
        idxt_recipe_format(&recipe, printed);
        assert_string_equal(printed, cases[i].features);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_canonical_forms), cmocka_unit_test(test_what_is_read),
        cmocka_unit_test(test_what_is_refused), cmocka_unit_test(test_the_longest_fits),
        cmocka_unit_test(test_hostile_strings), cmocka_unit_test(test_features),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
