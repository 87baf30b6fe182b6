/* lookup_many.c: look-ups of an array of queries, on threads: the columns of their matches, or how many there are. */
#include "libidx/python/lookup.h"

#include <stdlib.h>

/* Copies the matches of all queries to the columns of a block. False when out of memory. */
static bool copy_matches(const struct idx_match_lists *lists, size_t count, struct block *block) {
    struct column *fingerprints = &block->columns[MATCHES_FINGERPRINTS];
    struct column *distances = &block->columns[MATCHES_DISTANCES];
    size_t total = (size_t)lists->offsets[count];
    if (!column_make(fingerprints, total) || !column_make(distances, total)) return false;
    for (size_t i = 0; i < total; i++) {
        ((uint64_t *)fingerprints->items)[i] = lists->matches[i].fingerprint;
        ((uint8_t *)distances->items)[i] = (uint8_t)lists->matches[i].distance;
    }
    return true;
}

/* Moves an array of the lists to the first column of a block, without a copy: *numbers is NULL afterwards. */
static void move_to_column(struct block *block, int64_t **numbers, size_t count) {
    block->columns[0].items = *numbers;
    block->columns[0].count = count;
    *numbers = NULL;
}

/* Makes the only column of a block: whether each query has matches. False when out of memory. */
static bool make_truths(const struct idx_match_lists *lists, size_t count, struct block *block) {
    if (!column_make(block->columns, count)) return false;
    for (size_t i = 0; i < count; i++) ((uint8_t *)block->columns[0].items)[i] = lists->counts[i] > 0;
    return true;
}

struct block *lists_to_block(struct idx_match_lists *lists, size_t count, enum answer answer) {
    static const char *const kinds[] = {MATCHES_KINDS, "q", "?"};
    struct block *block = block_new(kinds[answer]);
    bool ok = block != NULL;
    if (ok && answer == ANSWER_TRUTHS) ok = make_truths(lists, count, block);
    if (ok && answer == ANSWER_COUNTS) move_to_column(block, &lists->counts, count);
    if (ok && answer == ANSWER_MATCHES) ok = copy_matches(lists, count, block);
    if (ok && answer == ANSWER_MATCHES) move_to_column(block, &lists->offsets, count + 1);
    idx_match_lists_close(lists);
    if (ok) return block;
    block_release(block);
    return NULL;
}

PyObject *look_up_array(const struct view *view, PyObject *queries, unsigned distance, size_t limit, unsigned threads,
                        enum answer answer) {
    struct idx_match_lists_options options = IDX_MATCH_LISTS_OPTIONS_INIT;
    struct watch watch = {Py_None, false};
    struct idx_match_lists lists;
    struct idx_error error;
    struct block *block = NULL;
    struct array array;
    if (!array_take(queries, "queries", &array)) return NULL;
    options.distance = distance;
    options.threads = threads;
    options.max_matches = answer == ANSWER_MATCHES ? limit : 0;
    options.progress = watch_visit;
    options.context = &watch;
    PyThreadState *thread = PyEval_SaveThread();
    enum idx_status status = idx_list_matches(view->index, array.items, array.count, &options, &lists, &error);
    if (status == IDX_OK) block = lists_to_block(&lists, array.count, answer);
    PyEval_RestoreThread(thread);
    array_release(&array);
    if (!check_call(status, &error, &watch)) {
        block_release(block);
        return NULL;
    }
    if (block == NULL) return raise_status(IDX_OUT_OF_MEMORY, "out of memory");
    return answer == ANSWER_MATCHES ? result_new(RESULT_MATCHES, block) : result_array(block);
}
