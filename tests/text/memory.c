/* memory.c: tests that memory that runs out is reported, wherever it does, and leaves all usable. Linked so that
 * libidxtext allocates by the functions below (-Wl,--wrap), which fail on purpose; ICU does not. */
#include <stdbool.h>
#include <stdlib.h>

#include "tests/text/testing.h"

void *__real_calloc(size_t count, size_t size);
void *__real_malloc(size_t size);
void *__real_realloc(void *memory, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_realloc(void *memory, size_t size);

static unsigned long calls_until_failure; /* 0: none fails */

static int fails_now(void) { return calls_until_failure > 0 && --calls_until_failure == 0; }

void *__wrap_calloc(size_t count, size_t size) { return fails_now() ? NULL : __real_calloc(count, size); }

void *__wrap_malloc(size_t size) { return fails_now() ? NULL : __real_malloc(size); }

void *__wrap_realloc(void *memory, size_t size) { return fails_now() ? NULL : __real_realloc(memory, size); }

static void test_opening(void **state) {
    (void)state;
    struct idx_text *text;
    struct idx_error error;
    calls_until_failure = 1;
    assert_int_equal(idx_text_open(&text, NULL, &error), IDX_OUT_OF_MEMORY);
    assert_int_equal(error.status, IDX_OUT_OF_MEMORY);
    assert_true(strlen(error.sentence) > 0);
}

/* Distinct words enough to make every buffer grow, on one line and on many. */
static size_t write_text(char *text, size_t words) {
    size_t length = 0;
    for (size_t i = 0; i < words; i++) {
        for (size_t rest = i + 1; rest > 0; rest /= 10) text[length++] = (char)('a' + rest % 10);
        text[length++] = i > words / 2 ? '\n' : ' ';
    }
    return length;
}

/* One and the same struct fingerprints the text until no allocation fails; each time the first one succeeds, for some
 * progress, and the second fails. So every growth fails in its turn, and what it left is used. */
static void test_fingerprinting(void **state) {
    (void)state;
    enum { WORDS = 20000 };
    static char bytes[WORDS * 6];
    size_t length = write_text(bytes, WORDS);
    uint64_t expected, fingerprint, features;
    struct idx_error error;
    struct idx_text *text;
    assert_int_equal(idx_text_open(&text, NULL, NULL), IDX_OK);
    assert_int_equal(idx_text_fingerprint(text, bytes, length, 64, &expected, NULL, NULL), IDX_OK);
    idx_text_close(text);

    unsigned long failures = 0;
    assert_int_equal(idx_text_open(&text, NULL, NULL), IDX_OK);
    for (;;) {
        calls_until_failure = 2;
        enum idx_status status = idx_text_fingerprint(text, bytes, length, 64, &fingerprint, &features, &error);
        int failed = calls_until_failure == 0;
        calls_until_failure = 0;
        assert_int_equal(status, failed ? IDX_OUT_OF_MEMORY : IDX_OK);
        if (!failed) break;
        assert_int_equal(error.status, IDX_OUT_OF_MEMORY);
        failures++;
    }
    assert_true(failures > 10);
    assert_true(fingerprint == expected);
    assert_true(features == WORDS);
    idx_text_close(text);
}

/* Every method, with all that its recipe can have, is opened, given a document and closed until no allocation fails:
 * the first failure comes one call later each time. */
static void test_every_method(void **state) {
    (void)state;
    static const char *const recipes[] = {
        "words:3,stop=en;stop=de;w=tf;top=5;title=2",
        "chars:4;top=7",
        "segments:5;stop=en",
        "sentences:2",
        "terms:10;order=sorted;title=3;w=tfidf;stop=en",
        "idf:70;w=idf;stop=en",
        "description",
        "minhash:5;chars=2",
    };
    static const char title[] = "A title of the document",
                      body[] = "The first one. A second sentence. And more of them.";
    const struct idx_text_field fields[] = {{"title", title, strlen(title)}, {"body", body, strlen(body)}};
    struct idx_text_options options = IDX_TEXT_OPTIONS_INIT;
    struct idx_text *text;
    struct idx_text_table *table;
    options.recipe = "words:1;stop=en";
    assert_int_equal(idx_text_open(&text, &options, NULL), IDX_OK);
    assert_int_equal(idx_text_table_open(&table, text, NULL), IDX_OK);
    assert_int_equal(idx_text_table_add(table, text, fields, 2, NULL), IDX_OK);
    idx_text_close(text);
    options.table = table;
    for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++) {
        options.recipe = recipes[i];
        bool failed = true;
        for (unsigned long calls = 1; failed; calls++) {
            uint64_t fingerprints[5];
            size_t count;
            struct idx_error error;
            calls_until_failure = calls;
            enum idx_status status = idx_text_open(&text, &options, &error);
            if (status == IDX_OK) {
                status = idx_text_fingerprints(text, fields, 2, 64, fingerprints, 5, &count, NULL, &error);
                idx_text_close(text);
            }
            failed = calls_until_failure == 0;
            calls_until_failure = 0;
            assert_true(failed ? status == IDX_OUT_OF_MEMORY : status == IDX_OK);
            assert_true(!failed || error.status == status);
        }
    }
    idx_text_table_close(table);
}

/* A table that grows: each failure leaves it one that can be freed. */
static void test_training(void **state) {
    (void)state;
    enum { WORDS = 3000 };
    static char bytes[WORDS * 6];
    size_t length = write_text(bytes, WORDS);
    const struct idx_text_field field = {"body", bytes, length};
    struct idx_text *text;
    assert_int_equal(idx_text_open(&text, NULL, NULL), IDX_OK);
    bool failed = true;
    for (unsigned long calls = 1; failed; calls++) {
        struct idx_text_table *table = NULL;
        struct idx_error error;
        calls_until_failure = calls;
        enum idx_status status = idx_text_table_open(&table, text, &error);
        if (status == IDX_OK) status = idx_text_table_add(table, text, &field, 1, &error);
        failed = calls_until_failure == 0;
        calls_until_failure = 0;
        assert_int_equal(status, failed ? IDX_OUT_OF_MEMORY : IDX_OK);
        idx_text_table_close(table);
    }
    idx_text_close(text);
}

static void test_resemblance(void **state) {
    (void)state;
    for (unsigned long calls = 1; calls <= 3; calls++) {
        struct idx_error error;
        double resemblance = 0;
        calls_until_failure = calls;
        enum idx_status status = idx_text_resemblance("one", 3, "One", 3, NULL, &resemblance, &error);
        assert_int_equal(status, calls < 3 ? IDX_OUT_OF_MEMORY : IDX_OK);
        assert_true(resemblance == (calls < 3 ? 0 : 1));
    }
    calls_until_failure = 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_opening),  cmocka_unit_test(test_fingerprinting), cmocka_unit_test(test_every_method),
        cmocka_unit_test(test_training), cmocka_unit_test(test_resemblance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
