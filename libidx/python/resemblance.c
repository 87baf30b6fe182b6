/* resemblance.c: how much texts resemble each other: the functions shingles and resemblance. */
#include "libidx/python/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool parse_shingle_options(struct idx_text_shingle_options *options, long long width, const char *unit) {
    *options = (struct idx_text_shingle_options)IDX_TEXT_SHINGLE_OPTIONS_INIT;
    if (!check_range("width", width, 1, IDX_TEXT_MAX_SHINGLE_WIDTH)) return false;
    options->width = (unsigned)width;
    options->unit = strcmp(unit, "characters") == 0 ? IDX_TEXT_CHARACTERS : IDX_TEXT_WORDS;
    if (options->unit == IDX_TEXT_CHARACTERS || strcmp(unit, "words") == 0) return true;
    raise_status(IDX_INVALID_ARGUMENT, "unit = '%s': give 'words' or 'characters'", unit);
    return false;
}

/* The first capacity is that of a text of words of two letters and a space, which suffices for most texts. If it does
 * not, idx_text_shingles fails, but sets hashes->count to the number of all, so that the second call succeeds. */
enum idx_status make_shingle_hashes(struct hashes *hashes, const char *text, size_t length,
                                    const struct idx_text_shingle_options *options, struct call *call) {
    hashes->count = (options->unit == IDX_TEXT_WORDS ? length / 3 : length) + 1;
    size_t capacity = 0;
    enum idx_status status = IDX_OK;
    while (capacity < hashes->count) {
        capacity = hashes->count;
        if (capacity > hashes->capacity) {
            bool fits = capacity <= SIZE_MAX / sizeof *hashes->items;
            free(hashes->items);
            hashes->items = fits ? malloc(capacity * sizeof *hashes->items) : NULL;
            hashes->capacity = hashes->items == NULL ? 0 : capacity;
        }
        if (hashes->items == NULL) return call_fail_memory(call);
        status = idx_text_shingles(text, length, options, hashes->items, capacity, &hashes->count, &call->error);
    }
    return status;
}

/* Takes (text, width, unit). Returns the hashes of the text's shingles, uint64[n], ascending. */
PyObject *resemblance_shingles(PyObject *module, PyObject *arguments) {
    struct idx_text_shingle_options options;
    struct call call;
    struct hashes hashes = {NULL, 0, 0};
    struct strings texts;
    struct columns columns;
    PyObject *text;
    const char *unit;
    long long width;
    if (!PyArg_ParseTuple(arguments, "OLs", &text, &width, &unit) || !parse_shingle_options(&options, width, unit))
        return NULL;
    if (!parse_strings_and_release(PyTuple_Pack(1, text), "text", &texts)) return NULL;
    bool ok = call_begin_quiet(&call) &&
              call_end(&call, make_shingle_hashes(&hashes, texts.items[0], texts.lengths[0], &options, &call));
    strings_release(&texts);
    columns_begin(&columns, "Q");
    columns.list[0] =
        (struct column){.kind = 'Q', .items = hashes.items, .count = hashes.count, .capacity = hashes.capacity};
    return columns_end_as_array(&columns, ok);
}

/* Appends the hashes of the shingles of all texts to the first column, and sets in the second one how many each text
 * has. Called without the GIL. It ends early with IDX_OK if memory runs out for a column, for which columns_end fails,
 * or if a signal's handler raised, for which call_end fails. Errors: those of make_shingle_hashes. */
static enum idx_status append_shingle_sets(const struct strings *texts, const struct idx_text_shingle_options *options,
                                           struct columns *columns, struct call *call) {
    int64_t *counts = columns->list[1].items;
    struct hashes hashes = {NULL, 0, 0};
    enum idx_status status = IDX_OK;
    for (size_t i = 0; i < texts->count && status == IDX_OK && call_check_signals(call); i++) {
        status = make_shingle_hashes(&hashes, texts->items[i], texts->lengths[i], options, call);
        uint64_t *new_hashes = status == IDX_OK ? columns_add(columns, 0, hashes.count) : NULL;
        if (new_hashes == NULL) break;
        if (hashes.count > 0) memcpy(new_hashes, hashes.items, hashes.count * sizeof *hashes.items);
        counts[i] = (int64_t)hashes.count;
    }
    free(hashes.items);
    return status;
}

/* Takes (texts, width, unit). Returns the hashes of the shingles of all texts, uint64[m], one text after the other,
 * those of each ascending, and how many each text has, int64[n]. */
PyObject *resemblance_sets(PyObject *module, PyObject *arguments) {
    struct idx_text_shingle_options options;
    struct columns columns;
    struct call call;
    struct strings texts;
    PyObject *texts_arg;
    const char *unit;
    long long width;
    if (!PyArg_ParseTuple(arguments, "OLs", &texts_arg, &width, &unit) ||
        !parse_shingle_options(&options, width, unit) || !parse_strings(texts_arg, "texts", &texts))
        return NULL;
    columns_begin(&columns, "Qq");
    columns_add(&columns, 0, 0); /* so that it is an empty array, and not None */
    /* If columns_add fails, `ok` stays true, and columns_end raises MemoryError. */
    bool ok = columns_add(&columns, 1, texts.count) == NULL ||
              (call_begin_quiet(&call) && call_end(&call, append_shingle_sets(&texts, &options, &columns, &call)));
    strings_release(&texts);
    return columns_end(&columns, ok);
}

/* This is the idx_text_word_visitor that counts words in an int64_t, `context`. */
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
    if (!parse_strings(texts_arg, "texts", &texts)) return NULL;
    bool ok = columns_begin_sized(&columns, "q", texts.count) && call_begin_quiet(&call) &&
              call_end(&call, count_words(&texts, columns.list[0].items, &call));
    strings_release(&texts);
    return columns_end_as_array(&columns, ok);
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
    if (!PyArg_ParseTuple(arguments, "OOLs", &a, &b, &width, &unit) || !parse_shingle_options(&options, width, unit))
        return NULL;
    if (!parse_strings_and_release(PyTuple_Pack(2, a, b), "texts", &texts)) return NULL;
    bool ok = call_begin_quiet(&call) &&
              call_end(&call, idx_text_resemblance(texts.items[0], texts.lengths[0], texts.items[1], texts.lengths[1],
                                                   &options, &resemblance, &call.error));
    strings_release(&texts);
    return ok ? PyFloat_FromDouble(resemblance) : NULL;
}

int64_t convert_to_threshold(double resemblance) {
    bool fits = resemblance > 0 && resemblance <= 1;
    int64_t threshold = fits ? (int64_t)lround(resemblance * (double)IDX_THRESHOLD_ONE) : 0;
    if (threshold > 0) return threshold; /* resemblances below 0.00005 are rounded to 0, and so refused */
    PyObject *number = PyFloat_FromDouble(resemblance);
    if (number != NULL) raise_status(IDX_INVALID_ARGUMENT, "resemblance = %R: give one from 0.0001 to 1", number);
    Py_XDECREF(number);
    return 0;
}
