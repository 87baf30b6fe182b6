/* testing.h: what the tests of texts share: cmocka, and fingerprinters by recipe. */
#ifndef IDX_TESTS_TEXT_TESTING_H
#define IDX_TESTS_TEXT_TESTING_H

#include <idx_text.h>

#include "tests/testing.h"

/* Opens a recipe with a table, or NULL if it needs none. */
static inline struct idx_text *open_with(const char *recipe, const struct idx_text_table *table) {
    struct idx_text_options options = {sizeof options, recipe, table};
    struct idx_text *text;
    struct idx_error error;
    if (idx_text_open(&text, &options, &error) != IDX_OK) fail_msg("%s", error.sentence);
    return text;
}

static inline struct idx_text *open_by(const char *recipe) { return open_with(recipe, NULL); }

#endif
