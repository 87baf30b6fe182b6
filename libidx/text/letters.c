/* letters.c: folds a text run by run, and says what each folded character is to a word. */
#include "libidx/text/letters.h"

#include "libidx/text/forms.h"

#include <unicode/uchar.h>
#include <unicode/uscript.h>

/* ---- Letters ---- */

enum {
    FIRST_UNSPACED = 0x0e00, /* Thai is the first of these scripts */
    THAM_DIGIT_ONE = 0x19da, /* of New Tai Lue; from Unicode 16 on it has another line breaking class */
    FIRST_KANA = 0x3040,
    LAST_KANA = 0x30ff,
    FIRST_HANGUL = 0xac00,
    LAST_HANGUL = 0xd7a3,
};

/* Returns whether a character is of the scripts Han, Hiragana or Katakana, or one of the marks between kana, whose
 * script is Common, but whose Word_Break is Katakana. */
static bool is_han_or_kana(UChar32 c) {
    UErrorCode code = U_ZERO_ERROR;
    UScriptCode script = uscript_getScript(c, &code);
    return script == USCRIPT_HAN || script == USCRIPT_HIRAGANA || script == USCRIPT_KATAKANA ||
           u_getIntPropertyValue(c, UCHAR_WORD_BREAK) == U_WB_KATAKANA;
}

bool idxt_is_unspaced(UChar32 c) {
    /* Most characters of some texts are Hangul, so ICU is not asked about them. */
    if (c < FIRST_UNSPACED || (c >= FIRST_HANGUL && c <= LAST_HANGUL)) return false;
    return u_hasBinaryProperty(c, UCHAR_IDEOGRAPHIC) || (c >= FIRST_KANA && c <= LAST_KANA) ||
           u_getIntPropertyValue(c, UCHAR_LINE_BREAK) == U_LB_COMPLEX_CONTEXT || c == THAM_DIGIT_ONE ||
           is_han_or_kana(c);
}

enum idxt_letter idxt_classify_letter(UChar32 c) {
    if ((U_GET_GC_MASK(c) & (U_GC_L_MASK | U_GC_ND_MASK | U_GC_M_MASK)) == 0) return IDXT_LETTER_NONE;
    return idxt_is_unspaced(c) ? IDXT_LETTER_WHOLE : IDXT_LETTER_PART;
}

/* ---- Runs ---- */

_Atomic uint32_t idxt_character_cache[IDXT_CACHED_CHARACTERS];

/* Folds `count` UTF-16 units, at most IDXT_MAX_RUN_UNITS + 1, after unifying their forms (forms.h). Sets run->units to
 * the result, unit_count to its length, and next_unit to its beginning. If ICU fails, returns false and sets run->code.
 */
static bool fold_into_run(struct idxt_run *run, const UChar *units, size_t count) {
    if (run->normalizer == NULL) run->normalizer = unorm2_getNFKCCasefoldInstance(&run->code);
    if (U_FAILURE(run->code)) return false;
    UChar unified[(IDXT_MAX_RUN_UNITS + 2) * IDXT_UNIFIED_PER_UNIT];
    if (idxt_must_unify(units, count)) {
        count = idxt_unify_forms(units, count, unified, &run->code);
        units = unified;
    }
    run->next_unit = 0;
    run->unit_count = (size_t)unorm2_normalize(run->normalizer, units, (int32_t)count, run->units,
                                               (int32_t)(sizeof run->units / sizeof *run->units), &run->code);
    return U_SUCCESS(run->code);
}

uint32_t idxt_examine_character(struct idxt_run *run, UChar32 c) {
    UChar units[U16_MAX_LENGTH];
    size_t unit_count = 0;
    U16_APPEND_UNSAFE(units, unit_count, c);
    run->single_traits = 0;
    if (!fold_into_run(run, units, unit_count)) return 0;
    uint32_t traits = IDXT_EXAMINED;
    UChar32 folded;
    enum idxt_letter letter;
    if (c < 0x80 || (unorm2_hasBoundaryBefore(run->normalizer, c) && !idxt_continues_run(c))) traits |= IDXT_STARTS;
    /* Whether it folds to one character: there is a first one, and no unit after it. */
    if (idxt_run_next_folded(run, &letter, &folded) && run->next_unit == run->unit_count)
        traits |= IDXT_SINGLE | (uint32_t)folded | (uint32_t)letter << IDXT_KIND_SHIFT;
    if (c < IDXT_CACHED_CHARACTERS) atomic_store_explicit(&idxt_character_cache[c], traits, memory_order_relaxed);
    return traits;
}

bool idxt_run_read_and_fold(struct idxt_run *run, const uint8_t *bytes, size_t length, size_t next_byte, UChar32 c) {
    UChar units[IDXT_MAX_RUN_UNITS + 2]; /* The last character may have a unit after the limit. */
    size_t unit_count = 0;
    do {
        U16_APPEND_UNSAFE(units, unit_count, c);
        run->end = next_byte;
    } while (unit_count < IDXT_MAX_RUN_UNITS && idxt_run_read_character(run, bytes, length, &next_byte, &c));
    run->single_traits = 0;
    return U_SUCCESS(run->code) && fold_into_run(run, units, unit_count);
}
