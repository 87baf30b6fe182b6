/* dictionaries.c: tests that opening a fingerprinter finds out which of ICU's dictionaries are missing. Each is taken
 * out of the data of this process, by another name, in a process of its own. */
#include <idx_text.h>

#include <dlfcn.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <unicode/uversion.h>

#include <cmocka.h>

/* The data that is linked with this program; NULL where ICU reads it from a file. */
static char *find_data(size_t *size) {
    char name[32];
    Dl_info info;
    void *symbol = NULL;
    snprintf(name, sizeof name, "icudt%d_dat", U_ICU_VERSION_MAJOR_NUM);
    char *data = dlsym(RTLD_DEFAULT, name);
    if (data == NULL || dladdr1(data, &info, &symbol, RTLD_DL_SYMENT) == 0 || symbol == NULL) return NULL;
    *size = ((const ElfW(Sym) *)symbol)->st_size;
    return data;
}

/* Gives a file of the data another name. */
static bool hide(char *data, size_t size, const char *name) {
    char *at = memmem(data, size, name, strlen(name) + 1);
    if (at == NULL) return false;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *begin = (char *)((uintptr_t)at & ~(uintptr_t)(page - 1));
    if (mprotect(begin, (size_t)(at - begin) + strlen(name), PROT_READ | PROT_WRITE) != 0) return false;
    at[strlen(name) - 1]++;
    return true;
}

enum { WELL, NOT_HIDDEN, NOT_REFUSED, OTHER_SENTENCE, NOT_OPENED };

static int open_without(char *data, size_t size, const char *file, const char *language) {
    struct idx_text *text = NULL;
    struct idx_text_options options = IDX_TEXT_OPTIONS_INIT;
    struct idx_error error;
    char expected[300];
    if (!hide(data, size, file)) return NOT_HIDDEN;
    if (idx_text_open(&text, NULL, &error) != IDX_UNSUPPORTED) return NOT_REFUSED;
    snprintf(expected, sizeof expected,
             "ICU %s lacks its dictionary of %s here, so that such texts would get other "
             "fingerprints than elsewhere: use ICU with all of its data",
             U_ICU_VERSION, language);
    if (strcmp(error.sentence, expected) != 0) return OTHER_SENTENCE;
    options.recipe = "chars:4;nfkc-cf;w=logtf;v1"; /* which has no words */
    if (idx_text_open(&text, &options, &error) != IDX_OK) return NOT_OPENED;
    idx_text_close(text);
    return WELL;
}

static void test_missing_dictionaries(void **state) {
    (void)state;
    static const struct {
        const char *file, *language;
    } dictionaries[] = {
        {"brkitr/cjdict.dict", "Chinese"},  {"brkitr/thaidict.dict", "Thai"},       {"brkitr/laodict.dict", "Lao"},
        {"brkitr/khmerdict.dict", "Khmer"}, {"brkitr/burmesedict.dict", "Burmese"},
    };
    size_t size = 0;
    char *data = find_data(&size);
    if (data == NULL) skip();
    for (size_t i = 0; i < sizeof dictionaries / sizeof *dictionaries; i++) {
        int status;
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) _exit(open_without(data, size, dictionaries[i].file, dictionaries[i].language));
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        if (WEXITSTATUS(status) != WELL) fail_msg("%s: %d", dictionaries[i].file, WEXITSTATUS(status));
    }
}

static void test_all_dictionaries(void **state) {
    (void)state;
    struct idx_text *text = NULL;
    assert_int_equal(idx_text_open(&text, NULL, NULL), IDX_OK);
    idx_text_close(text);
}

int main(void) {
    /* In this order: what is open already stays open. */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_missing_dictionaries),
        cmocka_unit_test(test_all_dictionaries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
