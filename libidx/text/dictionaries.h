/* dictionaries.h: whether ICU has the dictionaries by which it cuts languages that write no spaces between words. */
#ifndef IDX_TEXT_DICTIONARIES_H
#define IDX_TEXT_DICTIONARIES_H

#include <unicode/ubrk.h>

/* Cuts words of each such language by an iterator over words, whose text is another one then. Returns the name of the
 * first language of which ICU's data lacks the dictionary; NULL where none is missing, or *code says why it can't tell.
 */
const char *idxt_missing_dictionary(UBreakIterator *iterator, UErrorCode *code);

#endif
