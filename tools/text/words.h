/* words.h: the words of a text, as texts are compared: runs of letters, digits and accents, whatever their case; in
 * scripts that put no spaces between words, each character is one. They don't depend on dictionaries, as those of
 * recipes do. */
#ifndef IDX_TOOLS_WORDS_H
#define IDX_TOOLS_WORDS_H

#include "tools/text/charset.h"

#include <stdint.h>

/* What a character is to words. */
enum letter {
    LETTER_NONE,  /* it ends a word, and belongs to none */
    LETTER_PART,  /* of a word */
    LETTER_WHOLE, /* a word by itself */
};

enum letter words_letter(int32_t character);

/* Finds the next word of a text in UTF-8 from *at on, and moves *at behind it. The hash is that of the word in lower
 * case. False: there is none. */
bool words_next(struct span text, size_t *at, struct span *word, uint64_t *hash);

#endif
