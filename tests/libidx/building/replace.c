/* replace.c: processes that open and read an index in a loop, while another rebuilds it in place, of two sets of
 * documents in turn: each reader sees the whole of one or the whole of the other, and never an error. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/libidx/sets.h"
#include "tests/libidx/support.h"

#define COUNT 400
#define READERS 2

static const char *path;

/* Fingerprints that both sets have, and others; the IDs begin with the letter of the set, and so does the recipe. */
static uint64_t fingerprint_of(char letter, size_t i) {
    uint64_t seed = i * 2 + (i % 2 == 0 || letter == 'a' ? 0 : 1);
    return next_random(&seed);
}

static void build(char letter) {
    struct idx_build_options options = options_for(64, 3, letter == 'a' ? "2:1:1" : "4");
    struct idx_builder *builder;
    char recipe[2] = {letter, '\0'}, id[32];
    options.recipe = recipe;
    options.replace = true;
    options.block_size = 128;
    assert_ok(idx_builder_open(&builder, path, &options, &failure));
    for (size_t i = 0; i < COUNT; i++) {
        int length = snprintf(id, sizeof id, "%c%zu", letter, i);
        assert_ok(idx_builder_add(
            builder,
            &(struct idx_item){.fingerprint = fingerprint_of(letter, i), .id = id, .id_length = (size_t)length},
            &failure));
    }
    assert_ok(idx_builder_finish(builder, NULL, &failure));
    idx_builder_close(builder);
}

/* ---- Readers, which are processes of their own: no assertions ---- */

static bool complain(const char *what) {
    print_error("a reader: %s: %s\n", what, failure.sentence);
    return false;
}

/* One of the set is found with its document, one of the other set alone is not. */
static bool check_one(const struct idx_index *index, struct idx_documents *cursor, char letter, size_t i) {
    struct idx_document document;
    char expected[32];
    bool exists, found;
    uint64_t ours = fingerprint_of(letter, i), theirs = fingerprint_of(letter == 'a' ? 'b' : 'a', i), count;
    size_t length = (size_t)snprintf(expected, sizeof expected, "%c%zu", letter, i);
    if (idx_exists(index, ours, 3, &exists, &failure) != IDX_OK) return complain("looking up");
    if (!exists) return complain("a fingerprint is missing");
    if (idx_exists(index, theirs, 0, &exists, &failure) != IDX_OK) return complain("looking up");
    if (exists != (ours == theirs)) return complain("a fingerprint of another version");
    if (idx_documents_find(cursor, ours, &count, &failure) != IDX_OK || count != 1) return complain("documents");
    if (idx_documents_next(cursor, &document, &found, &failure) != IDX_OK || !found) return complain("a document");
    if (document.id_length != length || memcmp(document.id, expected, length) != 0) return complain("another document");
    return true;
}

static bool check_all(const struct idx_index *index, char letter) {
    struct idx_documents *cursor;
    bool right = true;
    if (idx_documents_open(&cursor, index, &failure) != IDX_OK) return complain("opening documents");
    for (size_t i = 0; i < COUNT && right; i++) right = check_one(index, cursor, letter, i);
    idx_documents_close(cursor);
    return right;
}

static char letter_of(const struct idx_index *index) {
    struct idx_properties properties;
    idx_get_properties(index, &properties);
    return properties.recipe[0];
}

/* Opens and reads until it is told to stop; keeps some open over many replacements. Exit status 0: all was right and
 * both sets came; 1: not. */
static int read_on(int go_on, enum idx_residence residence) {
    struct idx_open_options options = IDX_OPEN_OPTIONS_INIT;
    struct idx_index *old = NULL;
    size_t seen[2] = {0, 0}, rounds = 0;
    char byte;
    bool right = true;
    options.residence = residence;
    while (right && read(go_on, &byte, 1) < 0) { /* would block, while the pipe is open */
        struct idx_index *index;
        bool replaced;
        if (idx_open(&index, path, &options, &failure) != IDX_OK) return !complain("opening");
        right = check_all(index, letter_of(index));
        seen[letter_of(index) == 'a']++;
        right = right && (old == NULL || check_all(old, letter_of(old)));
        right = right && idx_replaced(index, &replaced, &failure) == IDX_OK;
        if (rounds++ % 20 == 0) {
            idx_close(old);
            old = index;
        } else {
            idx_close(index);
        }
    }
    idx_close(old);
    if (right && (seen[0] == 0 || seen[1] == 0)) right = complain("it saw one version alone");
    return right ? 0 : 1;
}

/* ---- The test ---- */

static pid_t start_reader(const int pipe_ends[2], enum idx_residence residence) {
    pid_t reader = fork();
    assert_true(reader >= 0);
    if (reader != 0) return reader;
    close(pipe_ends[1]);
    _exit(read_on(pipe_ends[0], residence));
}

static void test_readers_while_it_is_replaced(void **state) {
    pid_t readers[READERS];
    int pipe_ends[2];
    size_t builds = is_sanitized() ? 300 : 2000;
    path = path_in(*state, "i");
    build('a');
    assert_int_equal(pipe2(pipe_ends, O_NONBLOCK), 0);
    for (size_t i = 0; i < READERS; i++)
        readers[i] = start_reader(pipe_ends, i % 2 ? IDX_RESIDENCE_NONE : IDX_RESIDENCE_DIRECTORY);
    for (size_t i = 0; i < builds; i++) build(i % 2 == 0 ? 'b' : 'a');
    close(pipe_ends[1]);
    for (size_t i = 0; i < READERS; i++) {
        int status;
        assert_true(waitpid(readers[i], &status, 0) == readers[i]);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
    close(pipe_ends[0]);
    assert_int_equal(count_entries(*state), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        in_folder(test_readers_while_it_is_replaced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
