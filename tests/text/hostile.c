/* hostile.c: random bytes and pieces of characters given to every method, for the sanitizers; and that one
 * fingerprinter gives what a new one does, whatever it met before. */
#include <stdlib.h>

#include "tests/random.h"
#include "tests/text/testing.h"

static const char *const recipes[] = {
    "words:1",
    "words:3,stop=en;title=3;top=2",
    "chars:1;title=100",
    "chars:32;top=3",
    "segments:64;w=tf",
    "sentences:1",
    "sentences:64",
    "description",
    "terms:3;order=sorted;title=1",
    "words:1;hash=md5;ties=1;title=2",
    "chars:3;hash=fnv1a;top=5",
    "words:2;cut=spaces;stop=en",
    "segments:9;cut=spaces;hash=fnv1",
    "minhash:64;chars=2",
    "minhash:3",
};

static const char *const atoms[] = {
    "a",          "The",    " ",      "\n",       ". ",           "\r\n",   "\xC2\x85", "\u2028", "\u00A0",
    "\u3000",     "\u0301", "\u200D", "\u00AD",   "\u4E2D",       "\u30AB", "\u0E01",   "\uFDFA", "\U0001F1E9",
    "\U00010428", "\xFF",   "\xE2",   "\xF0\x9F", "\xED\xA0\x80", "? ",     "\u3002",   "@",      ":",
};

static uint64_t random_state = 3;

static size_t below(size_t limit) { return (size_t)(next_random(&random_state) % limit); }

/* A text in a buffer of its exact size, so that reading past it is seen. */
static char *random_text(size_t most, size_t *length) {
    size_t wanted = below(most);
    char *text = malloc(wanted + 1);
    assert_non_null(text);
    bool bytes = below(4) == 0;
    for (*length = 0; *length < wanted;) {
        const char *atom = atoms[below(sizeof atoms / sizeof *atoms)];
        size_t size = strlen(atom);
        if (bytes || *length + size > wanted) {
            text[(*length)++] = (char)below(256);
        } else {
            memcpy(text + *length, atom, size);
            *length += size;
        }
    }
    text = realloc(text, *length + (*length == 0));
    assert_non_null(text);
    return text;
}

static void assert_same(const char *recipe, struct idx_text *used) {
    struct idx_text_options options = IDX_TEXT_OPTIONS_INIT;
    struct idx_text *fresh;
    struct idx_text_field fields[3] = {{.name = "title"}, {.name = "body"}, {.name = "description"}};
    uint64_t a[IDX_TEXT_MAX_FINGERPRINTS], b[IDX_TEXT_MAX_FINGERPRINTS];
    size_t a_count, b_count, field_count = below(4);
    char *texts[3];
    for (size_t i = 0; i < 3; i++) fields[i].utf8 = texts[i] = random_text(i == 1 ? 2000 : 100, &fields[i].length);
    options.recipe = recipe;
    assert_int_equal(idx_text_open(&fresh, &options, NULL), IDX_OK);
    assert_int_equal(
        idx_text_fingerprints(used, fields, field_count, 64, a, IDX_TEXT_MAX_FINGERPRINTS, &a_count, NULL, NULL),
        IDX_OK);
    assert_int_equal(
        idx_text_fingerprints(fresh, fields, field_count, 64, b, IDX_TEXT_MAX_FINGERPRINTS, &b_count, NULL, NULL),
        IDX_OK);
    assert_int_equal(a_count, b_count);
    assert_memory_equal(a, b, a_count * sizeof *a);
    idx_text_close(fresh);
    for (size_t i = 0; i < 3; i++) free(texts[i]);
}

static void test_every_method(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++) {
        struct idx_text_options options = IDX_TEXT_OPTIONS_INIT;
        struct idx_text *text;
        options.recipe = recipes[i];
        assert_int_equal(idx_text_open(&text, &options, NULL), IDX_OK);
        for (int round = 0; round < 150; round++) assert_same(recipes[i], text);
        idx_text_close(text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_method)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
