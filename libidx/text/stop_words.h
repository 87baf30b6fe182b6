/* stop_words.h: the most common words of some languages, which say little about the subject of a text. */
#ifndef IDX_LIBIDX_TEXT_STOP_WORDS_H
#define IDX_LIBIDX_TEXT_STOP_WORDS_H

#include "libidx/text/words.h"

/* Returns the bit that stands for the language with a code, such as "en", of `length` bytes, or 0 if there is no list
 * for that language. */
uint32_t idxt_stop_language_bit(const char *code, size_t length);

/* Returns the code of two letters of the language whose bit idxt_stop_language_bit has returned. Static text. */
const char *idxt_stop_language_code(uint32_t language);

/* Makes `words`, which is {0} or a set already, the set of the stop words of all `languages`, a sum of their bits.
 * Returns false if memory runs out. */
bool idxt_fill_stop_words(struct idxt_words *words, uint32_t languages);

#endif
