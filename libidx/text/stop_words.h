/* stop_words.h: the most common words of some languages, which say little about the subject of a text. */
#ifndef IDX_TEXT_STOP_WORDS_H
#define IDX_TEXT_STOP_WORDS_H

#include "libidx/text/words.h"

/* The bit that stands for a language, by its code of two letters; 0 when it is not known. */
uint32_t idxt_stop_language(const char *code, size_t length);

/* The code of a language that is known, by its bit. */
const char *idxt_stop_language_name(uint32_t language);

/* Makes the set of the stop words of `languages`. Returns false if memory runs out. */
bool idxt_stop_words(struct idxt_words *words, uint32_t languages);

#endif
