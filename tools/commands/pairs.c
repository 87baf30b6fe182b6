/* pairs.c: `idx pairs`: prints all near pairs of an index, and the documents that share a fingerprint; or those of its
 * texts that resemble each other. */
#include "tools/dedup/indexed.h"

/* ---- Documents that share a fingerprint ---- */

/* Sets *is_shared to whether a fingerprint has several documents, and if so, moves the cursor before the first of them.
 * Sets `error` and returns false if the library fails. */
static bool seek_shared_documents(struct near *near, uint64_t fingerprint, bool *is_shared) {
    struct idx_documents *documents = near->sides[0].documents;
    struct idx_document document;
    uint64_t count;
    if (idx_documents_find(documents, fingerprint, &count, &near->error) != IDX_OK) return false;
    *is_shared = count >= 2;
    if (!*is_shared || near->sides[0].properties.id_type != IDX_ID_U64) return true;
    /* `count` may count an integer ID twice, but the cursor finds it once: is there a second document? */
    for (int i = 0; i < 2; i++)
        if (idx_documents_next(documents, &document, is_shared, &near->error) != IDX_OK) return false;
    return idx_documents_find(documents, fingerprint, NULL, &near->error) == IDX_OK;
}

/* Prints the documents of a fingerprint in one line, if there are two or more. Sets `error` and returns false if the
 * library fails. */
static bool print_shared_documents(struct near *near, uint64_t fingerprint) {
    bool is_shared;
    if (!seek_shared_documents(near, fingerprint, &is_shared)) return false;
    if (!is_shared) return true;
    near_begin_row(near, fingerprint, fingerprint, 0);
    bool ok = near_add_documents_to_row(near, near->sides[0].documents, near->max_documents);
    row_end(&near->rows);
    return ok;
}

/* Prints the documents that share the fingerprint of `match`, if there are several. Returns false to stop: the library
 * failed (`failed`), the output failed, or a signal was noted. This is a visitor of idx_visit_all, whose context is a
 * struct near. */
static bool print_match_documents(void *context, const struct idx_match *match) {
    struct near *near = context;
    near->failed = !print_shared_documents(near, match->fingerprint);
    return !near->failed && near->output.error == 0 && !interrupt_is_noted();
}

/* ---- The whole ---- */

/* Opens the index, and prints with --documents the documents that share a fingerprint, and then all pairs.
 * Sets near->error and returns false if the library fails; returns false also after a complaint. This is `find` of
 * near_run_command. */
static bool print_shared_and_pairs(struct near *near) {
    if (!near_open_index(near, 0, near->operands.values[0])) return false;
    near->sides[1] = near->sides[0];
    if (near->sides[0].properties.sketch > 0) return indexed_write_pairs(near, 1);
    if (!arguments_fit_input("an index of fingerprints")) return false;
    const struct idx_index *index = near->sides[0].index;
    if (near->sides[0].documents != NULL && idx_visit_all(index, print_match_documents, near, &near->error) != IDX_OK)
        return false;
    if (near->failed || near->output.error != 0 || interrupt_is_noted()) return !near->failed;
    return idx_pairs(index, &near->options, near_print_pairs, near, &near->error) == IDX_OK && !near->failed;
}

/* Reads the command line. Returns false after --help, or after a mistake, of which it complains; then *status is the
 * status of the process. */
static bool read_pairs_arguments(int argc, char **argv, struct near *near, int *status) {
    struct indexed *texts = near->texts;
    const struct option_rule rules[] = {
#include "options/pairs.h" /* the rules made of pairs.txt; they set *near and *texts */
    };
    const struct grammar grammar = GRAMMAR(pairs, rules, "INDEX", 1, 1);
    return arguments_read(&grammar, argc, argv, &near->operands, status);
}

/* Runs `idx pairs`. Returns ENDS_WELL if a pair was printed, ENDS_WITHOUT if there is none, and ENDS_BADLY after an
 * error. */
int command_pairs(int argc, char **argv) {
    struct indexed texts = INDEXED_INIT;
    struct near near;
    int status;
    near_init(&near);
    near.texts = &texts;
    return read_pairs_arguments(argc, argv, &near, &status) ? near_run_command(&near, print_shared_and_pairs) : status;
}
