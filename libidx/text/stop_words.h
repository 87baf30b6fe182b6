/* stop_words.h: the most common words of some languages, which say little about the subject of a text. */
#ifndef IDX_LIBIDX_TEXT_STOP_WORDS_H
#define IDX_LIBIDX_TEXT_STOP_WORDS_H

#include "libidx/text/words.h"

/* Returns the bit that stands for a language with a code of two letters, or 0 if the language is not known. */
uint32_t idxt_stop_language_bit(const char *code, size_t length);

/* Returns the code of two letters of the language that a bit stands for, which must be known. */
const char *idxt_stop_language_code(uint32_t language);

/* Makes `words` the set of the stop words of `languages`, a sum of their bits. Returns false if memory runs out. */
bool idxt_fill_stop_words(struct idxt_words *words, uint32_t languages);

#endif
