/* decimal.c: tests of reading weights. */
#include <idx_simhash.h>

#include <stdlib.h>

#include "tests/testing.h"

/* From a buffer of its exact size, so that reading past it is seen. */
static bool parse(const char *text, int64_t *weight) {
    size_t length = strlen(text);
    char *copy = malloc(length + (length == 0));
    assert_non_null(copy);
    memcpy(copy, text, length);
    bool ok = idx_weight_parse(copy, length, weight);
    free(copy);
    return ok;
}

static void test_weights(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t weight;
    } cases[] = {
        {"0", 0},
        {"1", 10000},
        {"3.5", 35000},
        {"0.0001", 1},
        {"0.1", 1000},
        {"-1.25", -12500},
        {"-0", 0},
        {"007.0100", 70100},
        {"999999.9999", INT64_C(9999999999)},
        {"1000000", INT64_C(10000000000)},
        {"-1000000.0000", INT64_C(-10000000000)},
        {"0.7300142700289363", 7300},
        {"0.00005", 1},
        {"0.00004999999999999999999999999999", 0},
        {"-0.12345", -1235},
        {"-0.12344999", -1234},
        {"0.99995", 10000},
        {"1000000.00004", INT64_C(10000000000)},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t weight = 7;
        if (!parse(cases[i].text, &weight)) fail_msg("'%s'", cases[i].text);
        assert_true(weight == cases[i].weight);
    }
    static const char *const bad[] = {
        "",    "-",   ".",    ".5",       "1.",       "1.00001.",      "1000000.0001", "1000001",
        "+1",  " 1",  "1 ",   "1e3",      "1,5",      "--1",           "0x1",          "nan",
        "1.-", "1..", "-1.a", "10000000", "00000001", "1000000.00005", "1.00001e",     "1.0000:1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int64_t weight = 7;
        if (parse(bad[i], &weight)) fail_msg("'%s'", bad[i]);
        assert_true(weight == 7);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_weights)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
