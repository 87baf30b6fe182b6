/* dictionaries.c: tests of what a fingerprinter does where one of ICU's dictionaries is missing. Each is taken
 * out of the data of this process, by another name, in a process of its own. */
#include "tests/text/icu_data.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <unicode/uversion.h>

#include "tests/text/testing.h"

enum { WELL, NOT_HIDDEN, NOT_OPENED, NOT_REFUSED, OTHER_SENTENCE, OTHER_FINGERPRINT };

/* Words of Chinese, Japanese, Thai, Lao, Khmer and Burmese. */
static const char sample[] = "我们今天 ありがとう日本 ภาษาไทย ພາສາລາວ មនុស្សទាំងអស់ မြန်မာစာ";

static int fingerprint(const char *recipe, const char *bytes, uint64_t *made, struct idx_error *error) {
    struct idx_text_options options = IDX_TEXT_OPTIONS_INIT;
    struct idx_text *text;
    options.recipe = recipe;
    if (idx_text_open(&text, &options, error) != IDX_OK) return NOT_OPENED;
    enum idx_status status = idx_text_fingerprint(text, bytes, strlen(bytes), 64, made, NULL, error);
    idx_text_close(text);
    return status == IDX_OK ? WELL : status == IDX_UNSUPPORTED ? NOT_REFUSED : NOT_OPENED;
}

/* By version 1, texts of these scripts are refused where one dictionary is missing, and others are not; by version 2,
 * and by other recipes, none is. */
static int check_without(const char *file) {
    static const char *const whole[] = {"words:1", "words:3", "segments:1", "chars:4", "words:1;cut=spaces;v1"};
    enum { WHOLE = sizeof whole / sizeof *whole };
    uint64_t expected[WHOLE], made;
    struct idx_error error;
    char sentence[300];
    for (size_t i = 0; i < WHOLE; i++) {
        if (fingerprint(whole[i], sample, &expected[i], &error) != WELL) return NOT_OPENED;
    }
    if (!icu_data_hide(file)) return NOT_HIDDEN;
    for (size_t i = 0; i < WHOLE; i++) {
        if (fingerprint(whole[i], sample, &made, &error) != WELL) return NOT_OPENED;
        if (made != expected[i]) return OTHER_FINGERPRINT;
    }
    if (fingerprint("words:1;v1", "naïve words, 한국어", &made, &error) != WELL) return NOT_OPENED;
    if (fingerprint("words:1;v1", sample, &made, &error) != NOT_REFUSED) return NOT_REFUSED;
    snprintf(sentence, sizeof sentence,
             "ICU %s lacks dictionaries here, by which recipes with v1 cut texts of scripts without spaces: take a "
             "recipe with v2, or an idx whose ICU has them: the Debian packages idx and python3-libidx, or libidx of "
             "conda-forge",
             U_ICU_VERSION);
    return strcmp(error.sentence, sentence) == 0 ? WELL : OTHER_SENTENCE;
}

static void test_missing_dictionaries(void **state) {
    (void)state;
    if (!icu_data_is_linked()) skip();
    for (size_t i = 0; i < ICU_DICTIONARIES; i++) {
        int status;
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) _exit(check_without(icu_dictionaries[i]));
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        if (WEXITSTATUS(status) != WELL) fail_msg("%s: %d", icu_dictionaries[i], WEXITSTATUS(status));
    }
}

static void test_all_dictionaries(void **state) {
    (void)state;
    uint64_t made;
    struct idx_error error;
    assert_int_equal(fingerprint("words:1;v1", sample, &made, &error), WELL);
}

int main(void) {
    /* In this order: what is open already stays open. */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_missing_dictionaries),
        cmocka_unit_test(test_all_dictionaries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
