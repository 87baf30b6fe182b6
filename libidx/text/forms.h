/* forms.h: what is done to a text before NFKC case folding, by which alone some forms of one word would be two: Arabic
 * tatweel, which only stretches a word, Malayalam chillus, and marks before and behind a Greek iota below. Texts that
 * are compared have it, and the words of recipes of version 2. */
#ifndef IDX_LIBIDX_TEXT_FORMS_H
#define IDX_LIBIDX_TEXT_FORMS_H

#include <stdbool.h>
#include <stddef.h>
#include <unicode/utypes.h>

/* The most units that one unit becomes, as U+1F82 does. */
enum { IDXT_MOST_UNITS_UNIFIED = 4 };

/* Returns whether a character is U+0640, or folds to it and a mark. */
static inline bool idxt_begins_with_tatweel(UChar32 c) {
    return c == 0x640 || (c >= 0xfcf2 && c <= 0xfcf4) || c == 0xfe71 || (c >= 0xfe77 && c <= 0xfe7f && c % 2 == 1);
}

/* Returns whether a character begins no run, although NFKC case folding has a boundary before it: tatweel, since what
 * follows it combines with what is before it, and U+0345, which marks behind it are put before. */
static inline bool idxt_goes_on(UChar32 c) { return c == 0x345 || idxt_begins_with_tatweel(c); }

/* Returns whether idxt_unify_forms must be called for these units. */
bool idxt_has_forms(const UChar *units, size_t count);

/* The most units that idxt_unify_forms takes at a time. */
enum { IDXT_MOST_UNIFIED = 2048 };

/* Writes up to IDXT_MOST_UNIFIED units without U+0640, with each chillu as its letter and virama (the joiner behind
 * them is ignorable), and decomposed canonically (NFD): that puts U+0345, which folds to a letter, behind the marks of
 * its letter. `unified` has room for IDXT_MOST_UNITS_UNIFIED times as many. Returns how many it wrote. */
size_t idxt_unify_forms(const UChar *units, size_t count, UChar *unified, UErrorCode *code);

#endif
