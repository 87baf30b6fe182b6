/* words.c: see words.h. */
#include "tools/text/words.h"

#include <unicode/uchar.h>
#include <unicode/utf8.h>

/* Whether a letter is a word by itself: an ideograph or kana, or Thai, Lao, Khmer or Burmese. */
static bool is_whole(UChar32 c) {
    return u_hasBinaryProperty(c, UCHAR_IDEOGRAPHIC) || (c >= 0x3040 && c <= 0x30ff) || (c >= 0xff66 && c <= 0xff9f) ||
           u_getIntPropertyValue(c, UCHAR_LINE_BREAK) == U_LB_COMPLEX_CONTEXT;
}

enum letter words_letter(int32_t c) {
    if (!u_isalnum(c) && (U_GET_GC_MASK(c) & U_GC_M_MASK) == 0) return LETTER_NONE;
    return is_whole(c) ? LETTER_WHOLE : LETTER_PART;
}

bool words_next(struct span text, size_t *at, struct span *word, uint64_t *hash) {
    const uint8_t *bytes = (const uint8_t *)text.bytes;
    size_t begin = *at, end = *at, next = *at;
    enum letter letter = LETTER_NONE;
    *hash = 0;
    while (next < text.length && letter != LETTER_WHOLE) {
        UChar32 c;
        size_t before = next;
        U8_NEXT_OR_FFFD(bytes, next, text.length, c);
        letter = words_letter(c);
        if (begin == end && letter != LETTER_NONE) begin = end = before;
        if (begin != end && letter != LETTER_PART) break;
        if (letter == LETTER_NONE) continue;
        *hash = (*hash + 1) * UINT64_C(0x100000001b3) ^ (uint64_t)u_foldCase(c, U_FOLD_CASE_DEFAULT);
        *hash ^= *hash >> 29;
        end = next;
    }
    *word = (struct span){text.bytes + begin, end - begin};
    *at = end > begin ? end : text.length;
    return end > begin;
}
