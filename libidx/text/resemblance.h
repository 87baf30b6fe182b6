/* resemblance.h: what the resemblance of texts is computed from: letters of words, and sets of hashes. */
#ifndef IDX_LIBIDX_TEXT_RESEMBLANCE_H
#define IDX_LIBIDX_TEXT_RESEMBLANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unicode/uchar.h>

/* ---- What a character is to the words by which texts are compared (idx_text.h, Resemblance) ---- */

/* This depends on properties of characters alone, and not on the dictionaries by which the words of recipes are cut. */

enum idxt_letter {
    IDXT_LETTER_NONE,  /* ends a word, and belongs to none */
    IDXT_LETTER_PART,  /* is a part of a word */
    IDXT_LETTER_WHOLE, /* is a word by itself */
};

/* Returns an ASCII character in lower case, or 0 if it belongs to no word. */
static inline unsigned idxt_ascii_letter(unsigned c) {
    unsigned lower = c | 0x20;
    if (lower >= 'a' && lower <= 'z') return lower;
    return c >= '0' && c <= '9' ? c : 0;
}

/* Returns whether a letter is a word by itself: an ideograph or kana, or Thai, Lao, Khmer, Burmese, or the like. */
static inline bool idxt_is_whole(UChar32 c) {
    if (c < 0x0e00) return false; /* Thai is the first of these scripts */
    return u_hasBinaryProperty(c, UCHAR_IDEOGRAPHIC) || (c >= 0x3040 && c <= 0x30ff) || (c >= 0xff66 && c <= 0xff9f) ||
           u_getIntPropertyValue(c, UCHAR_LINE_BREAK) == U_LB_COMPLEX_CONTEXT;
}

static inline enum idxt_letter idxt_letter(UChar32 c) {
    if ((U_GET_GC_MASK(c) & (U_GC_L_MASK | U_GC_ND_MASK | U_GC_M_MASK)) == 0) return IDXT_LETTER_NONE;
    return idxt_is_whole(c) ? IDXT_LETTER_WHOLE : IDXT_LETTER_PART;
}

static inline uint64_t idxt_fold(UChar32 c) { return (uint64_t)u_foldCase(c, U_FOLD_CASE_DEFAULT); }

/* ---- Sets of 64-bit hashes, each as an ascending array without repetitions ---- */

/* Makes a set of `count` hashes in any order, in place. Returns how many are left. */
size_t idxt_make_set(uint64_t *hashes, size_t count);

/* Returns whether an array is a set. */
bool idxt_is_set(const uint64_t *hashes, size_t count);

/* Returns how many hashes two sets share. */
size_t idxt_count_shared(const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count);

/* Returns whether two sets share at least `needed` hashes, as soon as that is certain. */
bool idxt_share(const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count, uint64_t needed);

#endif
