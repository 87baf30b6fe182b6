/* testing.h: what tests of recipes share. */
#ifndef IDX_TESTS_TEXT_TESTING_H
#define IDX_TESTS_TEXT_TESTING_H

#include <idx_text.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Opens a recipe that needs no table. */
static inline struct idx_text *open_by(const char *recipe) {
    struct idx_text_options options = IDX_TEXT_OPTIONS_INIT;
    struct idx_text *text;
    struct idx_error error;
    options.recipe = recipe;
    if (idx_text_open(&text, &options, &error) != IDX_OK) fail_msg("%s", error.sentence);
    return text;
}

#endif
