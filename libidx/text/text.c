/* text.c: from a text to its fingerprint by a recipe: the public functions of libidxtext. */
#include <idx_text.h>

#include "libidx/text/segmenter.h"
#include "libidx/text/weight.h"
#include "libidx/text/words.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ICU counts in int32_t, and a buffer of UTF-16 takes two bytes a byte. */
#define TEXT_LIMIT ((size_t)1 << 30)

struct idx_text {
    struct idxt_segmenter segmenter;
    struct idxt_words words;
};

__attribute__((format(printf, 3, 4))) static enum idx_status fail(struct idx_error *error, enum idx_status status,
                                                                  const char *format, ...) {
    if (error == NULL) return status;
    memset(error, 0, sizeof *error);
    error->status = status;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->sentence, sizeof error->sentence, format, arguments);
    va_end(arguments);
    return status;
}

static enum idx_status out_of_memory(struct idx_error *error) {
    return fail(error, IDX_OUT_OF_MEMORY, "out of memory while fingerprinting a text");
}

static enum idx_status fail_icu(struct idx_error *error, UErrorCode code) {
    if (code == U_MEMORY_ALLOCATION_ERROR) return out_of_memory(error);
    if (code == U_INDEX_OUTOFBOUNDS_ERROR) return fail(error, IDX_LIMIT, "a text grows too long by normalisation");
    return fail(error, IDX_UNSUPPORTED, "ICU %s can't segment text here: %s", U_ICU_VERSION, u_errorName(code));
}

enum idx_status idx_text_open(struct idx_text **text, const char *recipe, struct idx_error *error) {
    if (text == NULL) return fail(error, IDX_INVALID_ARGUMENT, "idx_text_open needs somewhere to put its result");
    if (recipe != NULL && strcmp(recipe, IDX_TEXT_DEFAULT_RECIPE) != 0) {
        return fail(error, IDX_BAD_RECIPE, "recipe '%.*s' is not known; known is '%s'", IDX_MAX_RECIPE_BYTES, recipe,
                    IDX_TEXT_DEFAULT_RECIPE);
    }
    struct idx_text *opened = calloc(1, sizeof *opened);
    if (opened == NULL) return out_of_memory(error);
    UErrorCode code = idxt_segmenter_open(&opened->segmenter);
    if (U_FAILURE(code)) {
        idx_text_close(opened);
        return fail_icu(error, code);
    }
    *text = opened;
    return IDX_OK;
}

static enum idx_status count_piece(struct idx_text *text, const char *utf8, size_t length, struct idx_error *error) {
    UErrorCode code = idxt_segmenter_set(&text->segmenter, utf8, length);
    if (U_FAILURE(code)) return fail_icu(error, code);
    struct idxt_span word;
    while (idxt_segmenter_next(&text->segmenter, &word)) {
        char *bytes = idxt_words_reserve(&text->words, word.length * IDXT_UTF8_PER_UNIT);
        if (bytes == NULL) return out_of_memory(error);
        if (!idxt_words_count(&text->words, idxt_span_utf8(word, bytes))) return out_of_memory(error);
    }
    return IDX_OK;
}

static enum idx_status count_words(struct idx_text *text, const char *utf8, size_t length, struct idx_error *error) {
    if (!idxt_words_begin(&text->words)) return out_of_memory(error);
    while (length > 0) {
        size_t piece = idxt_piece_length(utf8, length);
        enum idx_status status = count_piece(text, utf8, piece, error);
        if (status != IDX_OK) return status;
        utf8 += piece;
        length -= piece;
    }
    return IDX_OK;
}

enum idx_status idx_text_fingerprint(struct idx_text *text, const void *utf8, size_t length, unsigned bits,
                                     uint64_t *fingerprint, uint64_t *features, struct idx_error *error) {
    if (text == NULL || fingerprint == NULL || (utf8 == NULL && length > 0)) {
        return fail(error, IDX_INVALID_ARGUMENT, "idx_text_fingerprint needs a text and somewhere to put its result");
    }
    if (bits < 1 || bits > IDX_MAX_BITS) {
        return fail(error, IDX_INVALID_ARGUMENT, "a fingerprint has 1 to %d bits, not %u", IDX_MAX_BITS, bits);
    }
    if (length >= TEXT_LIMIT) {
        return fail(error, IDX_LIMIT, "a text of %zu bytes is too long: texts must be below %zu bytes", length,
                    TEXT_LIMIT);
    }
    enum idx_status status = count_words(text, utf8, length, error);
    if (status != IDX_OK) return status;

    struct idx_simhash simhash;
    idx_simhash_init(&simhash);
    for (size_t i = 0; i < text->words.count; i++) {
        const struct idxt_word *word = &text->words.words[i];
        idx_simhash_add_hash(&simhash, word->hash, idxt_weight(word->count));
    }
    *fingerprint = idx_simhash_finish(&simhash, bits);
    if (features != NULL) *features = text->words.count;
    return IDX_OK;
}

void idx_text_close(struct idx_text *text) {
    if (text == NULL) return;
    idxt_segmenter_close(&text->segmenter);
    idxt_words_free(&text->words);
    free(text);
}
