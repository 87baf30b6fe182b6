/* resemblance.c: how much texts resemble each other: the functions shingles and resemblance. */
#include "libidx/python/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool shingle_options_take(struct idx_text_shingle_options *options, long long width, const char *unit) {
    *options = (struct idx_text_shingle_options)IDX_TEXT_SHINGLE_OPTIONS_INIT;
    if (!check_range("width", width, 1, IDX_TEXT_MAX_SHINGLE_WIDTH)) return false;
    options->width = (unsigned)width;
    options->unit = strcmp(unit, "characters") == 0 ? IDX_TEXT_CHARACTERS : IDX_TEXT_WORDS;
    if (options->unit == IDX_TEXT_CHARACTERS || strcmp(unit, "words") == 0) return true;
    raise_status(IDX_INVALID_ARGUMENT, "unit = '%s': give 'words' or 'characters'", unit);
    return false;
}

/* The room for the hashes is guessed first, by words of two letters and a space, which suffices for most texts. If it
 * does not, idx_text_shingles says how many hashes there are, and is called again. */
enum idx_status hashes_make(struct hashes *hashes, const char *text, size_t length,
                            const struct idx_text_shingle_options *options, struct call *call) {
    hashes->count = (options->unit == IDX_TEXT_WORDS ? length / 3 : length) + 1;
    size_t room = 0;
    enum idx_status status = IDX_OK;
    while (room < hashes->count) {
        room = hashes->count;
        if (room > hashes->capacity) {
            free(hashes->items);
            hashes->items = room > SIZE_MAX / sizeof *hashes->items ? NULL : malloc(room * sizeof *hashes->items);
            hashes->capacity = hashes->items == NULL ? 0 : room;
        }
        if (hashes->items == NULL) return call_fail_memory(call);
        status = idx_text_shingles(text, length, options, hashes->items, room, &hashes->count, &call->error);
    }
    return status;
}

/* Takes (text, width, unit). Returns the shingles of the text, uint64[n], ascending. */
PyObject *resemblance_shingles(PyObject *module, PyObject *arguments) {
    struct idx_text_shingle_options options;
    struct call call;
    struct hashes hashes = {NULL, 0, 0};
    struct strings texts;
    struct columns columns;
    PyObject *text;
    const char *unit;
    long long width;
    if (!PyArg_ParseTuple(arguments, "OLs", &text, &width, &unit) || !shingle_options_take(&options, width, unit))
        return NULL;
    if (!strings_take_new(PyTuple_Pack(1, text), "text", &texts)) return NULL;
    bool ok = call_begin_plain(&call) &&
              call_end(&call, hashes_make(&hashes, texts.items[0], texts.lengths[0], &options, &call));
    strings_release(&texts);
    columns_begin(&columns, "Q");
    columns.list[0] = (struct column){'Q', hashes.items, hashes.count, hashes.capacity};
    return columns_end_first(&columns, ok);
}

/* Appends the sets of all texts to the first column, and sets how many hashes each has in the second one. Without the
 * GIL. If memory runs out, or a signal's handler raised, it may end early with IDX_OK: the columns or the call know. */
static enum idx_status append_sets(const struct strings *texts, const struct idx_text_shingle_options *options,
                                   struct columns *columns, struct call *call) {
    int64_t *counts = columns->list[1].items;
    struct hashes hashes = {NULL, 0, 0};
    enum idx_status status = IDX_OK;
    for (size_t i = 0; i < texts->count && status == IDX_OK && call_check_signals(call); i++) {
        status = hashes_make(&hashes, texts->items[i], texts->lengths[i], options, call);
        uint64_t *members = status == IDX_OK ? columns_add(columns, 0, hashes.count) : NULL;
        if (members == NULL) break;
        if (hashes.count > 0) memcpy(members, hashes.items, hashes.count * sizeof *hashes.items);
        counts[i] = (int64_t)hashes.count;
    }
    free(hashes.items);
    return status;
}

/* Takes (texts, width, unit). Returns the shingles of all texts, those of each ascending, uint64[m], and how many each
 * has, int64[n]. */
PyObject *resemblance_sets(PyObject *module, PyObject *arguments) {
    struct idx_text_shingle_options options;
    struct columns columns;
    struct call call;
    struct strings texts;
    PyObject *texts_arg;
    const char *unit;
    long long width;
    if (!PyArg_ParseTuple(arguments, "OLs", &texts_arg, &width, &unit) ||
        !shingle_options_take(&options, width, unit) || !strings_take(texts_arg, "texts", &texts))
        return NULL;
    columns_begin(&columns, "Qq");
    columns_add(&columns, 0, 0);
    bool ok = columns_add(&columns, 1, texts.count) == NULL ||
              (call_begin_plain(&call) && call_end(&call, append_sets(&texts, &options, &columns, &call)));
    strings_release(&texts);
    return columns_end(&columns, ok);
}

/* This is the idx_text_word_visitor that counts words. */
static bool count_word(void *context, const struct idx_text_word *word) {
    ++*(int64_t *)context;
    return true;
}

/* Sets word_counts[i] to how many words text i has. Called without the GIL. If a signal's handler raised, it ends early
 * with IDX_OK, and call_end fails. */
static enum idx_status count_words(const struct strings *texts, int64_t *word_counts, struct call *call) {
    enum idx_status status = IDX_OK;
    for (size_t i = 0; i < texts->count && status == IDX_OK && call_check_signals(call); i++) {
        word_counts[i] = 0;
        status = idx_text_visit_words(texts->items[i], texts->lengths[i], count_word, &word_counts[i], &call->error);
    }
    return status;
}

/* Takes (texts). Returns how many words each has, int64[n]. */
PyObject *resemblance_words(PyObject *module, PyObject *texts_arg) {
    struct call call;
    struct strings texts;
    struct columns columns;
    if (!strings_take(texts_arg, "texts", &texts)) return NULL;
    bool ok = columns_make(&columns, "q", texts.count) && call_begin_plain(&call) &&
              call_end(&call, count_words(&texts, columns.list[0].items, &call));
    strings_release(&texts);
    return columns_end_first(&columns, ok);
}

/* Takes (a, b, width, unit). Returns how much the texts a and b resemble each other, from 0 to 1. */
PyObject *resemblance_compute(PyObject *module, PyObject *arguments) {
    struct idx_text_shingle_options options;
    struct call call;
    struct strings texts;
    PyObject *a, *b;
    const char *unit;
    long long width;
    double resemblance = 0;
    if (!PyArg_ParseTuple(arguments, "OOLs", &a, &b, &width, &unit) || !shingle_options_take(&options, width, unit))
        return NULL;
    if (!strings_take_new(PyTuple_Pack(2, a, b), "texts", &texts)) return NULL;
    bool ok = call_begin_plain(&call) &&
              call_end(&call, idx_text_resemblance(texts.items[0], texts.lengths[0], texts.items[1], texts.lengths[1],
                                                   &options, &resemblance, &call.error));
    strings_release(&texts);
    return ok ? PyFloat_FromDouble(resemblance) : NULL;
}

int64_t convert_to_threshold(double resemblance) {
    bool fits = resemblance > 0 && resemblance <= 1;
    int64_t threshold = fits ? (int64_t)lround(resemblance * (double)IDX_THRESHOLD_ONE) : 0;
    if (threshold > 0) return threshold; /* the least ones are rounded to 0 */
    PyObject *number = PyFloat_FromDouble(resemblance);
    if (number != NULL) raise_status(IDX_INVALID_ARGUMENT, "resemblance = %R: give one from 0.0001 to 1", number);
    Py_XDECREF(number);
    return 0;
}
