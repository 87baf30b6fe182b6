/* real.c: see real.h. */
#include "tests/libidx/real.h"

#include <idx_simhash.h>

#include <ctype.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "tests/libidx/support.h"

#define ROOM 100000

static const char *const patterns[] = {"SPEC.md", "format/*.[ch]", "libidx/*.[ch]", "libidx/include/*.h",
                                       "tools/*.[ch]"};

static const char *next_line(const char *at) {
    const char *end = strchr(at, '\n');
    return end == NULL ? at + strlen(at) : end + 1;
}

/* Each word once for each time that it comes. */
static uint64_t fingerprint_page(const char *at, size_t lines) {
    struct idx_simhash simhash;
    idx_simhash_init(&simhash);
    const char *end = at;
    for (size_t i = 0; i < lines; i++) end = next_line(end);
    while (at < end) {
        const char *word = at;
        while (at < end && (isalnum((unsigned char)*at) || *at == '_')) at++;
        if (at > word) idx_simhash_add(&simhash, word, (size_t)(at - word), IDX_WEIGHT_ONE);
        if (at < end) at++;
    }
    return idx_simhash_finish(&simhash, 64);
}

static size_t add_pages(const char *path, size_t lines, size_t step, uint64_t *items, size_t count) {
    size_t size;
    char *text = (char *)read_file(path, &size);
    for (const char *at = text; *at != '\0' && count < ROOM;) {
        items[count++] = fingerprint_page(at, lines);
        for (size_t i = 0; i < step; i++) at = next_line(at);
    }
    free(text);
    return count;
}

struct set make_real_set(size_t lines, size_t step) {
    uint64_t *items = malloc(ROOM * sizeof *items);
    size_t count = 0;
    assert_non_null(items);
    for (size_t i = 0; i < LENGTH(patterns); i++) {
        glob_t found;
        if (glob(path_in(IDX_SOURCE_DIR, "%s", patterns[i]), 0, NULL, &found) != 0) continue;
        for (size_t file = 0; file < found.gl_pathc; file++)
            count = add_pages(found.gl_pathv[file], lines, step, items, count);
        globfree(&found);
    }
    struct set set = set_of(items, count, 64);
    free(items);
    return set;
}
