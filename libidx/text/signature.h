/* signature.h: the bytes that represent a text in recipes that hash them: terms, sentences, description. */
#ifndef IDX_TEXT_SIGNATURE_H
#define IDX_TEXT_SIGNATURE_H

#include "libidx/text/features.h"

/* Starts as {0}. Buffers are kept from text to text. */
struct idxt_signature {
    char *bytes;
    size_t length;
    size_t capacity;
    UBreakIterator *sentences;
    struct idxt_folding sentence;
};

/* Makes the signature of the `count` first terms of features->ranked, in this order or in that of their bytes. False:
 * out of memory. */
bool idxt_sign_terms(struct idxt_signature *signature, struct idxt_features *features, size_t count, bool sorted);

/* Makes the signature of the `number` (1 to 64) longest sentences of a text that is folded but not normalised, which is
 * done to each of them. *count: how many sentences it has, in all. Errors: ICU's. */
UErrorCode idxt_sign_sentences(struct idxt_signature *signature, struct idxt_segmenter *segmenter,
                               const struct idxt_folding *text, size_t number, uint64_t *count);

/* Makes the signature of the first 512 bytes of a normalised and folded text. False: out of memory. */
#define IDXT_DESCRIPTION_BYTES 512
bool idxt_sign_description(struct idxt_signature *signature, const struct idxt_folding *text);

void idxt_signature_free(struct idxt_signature *signature);

#endif
