/* forms.h: what is done to a text before NFKC case folding, which alone would leave some forms of one word different:
 * with and without Arabic tatweel, which only stretches a word; Malayalam chillus; and marks before or behind a Greek
 * iota below. It is done to texts that are compared, and by recipes of version 2. */
#ifndef IDX_LIBIDX_TEXT_FORMS_H
#define IDX_LIBIDX_TEXT_FORMS_H

#include <stdbool.h>
#include <stddef.h>
#include <unicode/utypes.h>

/* The most UTF-16 units that idxt_unify_forms makes of one unit: of U+1F82, for example. */
enum { IDXT_UNIFIED_PER_UNIT = 4 };

/* Returns whether a character is U+0640, or folds to it and a mark. */
static inline bool idxt_begins_with_tatweel(UChar32 c) {
    return c == 0x640 || (c >= 0xfcf2 && c <= 0xfcf4) || c == 0xfe71 || (c >= 0xfe77 && c <= 0xfe7f && c % 2 == 1);
}

/* Returns whether a character belongs to the run before it, although NFKC case folding has a boundary there. Tatweel
 * does, since it is dropped, so that what follows it combines with what is before it. U+0345 does, since marks after it
 * are moved before it. */
static inline bool idxt_continues_run(UChar32 c) { return c == 0x345 || idxt_begins_with_tatweel(c); }

/* Returns whether any of `count` UTF-16 units is one that idxt_unify_forms may change. */
bool idxt_must_unify(const UChar *units, size_t count);

/* The most units that one call of idxt_unify_forms accepts. */
enum { IDXT_MAX_UNITS_TO_UNIFY = 2048 };

/* Writes `count` UTF-16 units to `unified`, with the three changes below. `count` is at most IDXT_MAX_UNITS_TO_UNIFY,
 * and `unified` has room for `count` * IDXT_UNIFIED_PER_UNIT units.
 *
 * - Tatweel is left out.
 * - Each chillu becomes its letter and virama. (Elsewhere a joiner follows these two, but folding drops that.)
 * - The text is decomposed canonically (NFD). This moves U+0345, which folds to a letter, after the marks of its
 *   letter.
 *
 * Returns how many units it wrote. *code must be set before. If it is a failure already, or ICU fails, *code is a
 * failure afterwards, and the result is unspecified. */
size_t idxt_unify_forms(const UChar *units, size_t count, UChar *unified, UErrorCode *code);

#endif
