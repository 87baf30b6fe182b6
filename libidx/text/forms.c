/* forms.c: makes one form of those that NFKC case folding keeps apart. */
#include "libidx/text/forms.h"

#include <unicode/unorm2.h>

enum {
    TATWEEL = 0x640,
    IOTA_BELOW = 0x345,
    FIRST_WITH_IOTA = 0x1f80, /* Of the letters from here to the last one, most decompose to U+0345 among others. */
    LAST_WITH_IOTA = 0x1ffc,
    VIRAMA = 0xd4d,
};

/* Returns the letter of a chillu, without its virama, or 0 if the unit is no chillu. Chillus are in two blocks: U+0D54
 * to U+0D56 and U+0D7A to U+0D7F. */
static UChar get_chillu_letter(UChar unit) {
    static const UChar from_d54[] = {0xd2e, 0xd2f, 0xd34}, from_d7a[] = {0xd23, 0xd28, 0xd30, 0xd32, 0xd33, 0xd15};
    if (unit >= 0xd54 && unit <= 0xd56) return from_d54[unit - 0xd54];
    if (unit >= 0xd7a && unit <= 0xd7f) return from_d7a[unit - 0xd7a];
    return 0;
}

/* Writes to `marks` the marks that a unit folds to besides tatweel; idxt_begins_with_tatweel is true of the unit.
 * Returns how many it wrote: 0, 1 or 2. The code points of these units are in the order of their marks. */
static size_t write_marks_without_tatweel(UChar unit, UChar *marks) {
    enum { FATHATAN = 0x64b, FATHA = 0x64e, DAMMA = 0x64f, SHADDA = 0x651 };
    if (unit == TATWEEL) return 0;
    if (unit >= 0xfe77) { /* fatha, damma, kasra, shadda, sukun */
        *marks = (UChar)(FATHA + (unit - 0xfe77) / 2);
        return 1;
    }
    if (unit == 0xfe71) {
        *marks = FATHATAN;
        return 1;
    }
    marks[0] = (UChar)(FATHA + (unit - 0xfcf2)); /* fatha, damma, kasra */
    marks[1] = SHADDA;
    return 2;
}

/* Returns whether idxt_unify_forms may change a unit. */
static bool may_unify(UChar unit) {
    return unit == IOTA_BELOW || (unit >= FIRST_WITH_IOTA && unit <= LAST_WITH_IOTA) ||
           idxt_begins_with_tatweel(unit) || get_chillu_letter(unit) != 0;
}

/* The high byte of a unit rules most units out, so that hardly any text takes longer for this. */
bool idxt_must_unify(const UChar *units, size_t count) {
    static const bool may_change_with_high_byte[256] = {
        [0x03] = true, [0x06] = true, [0x0d] = true, [0x1f] = true, [0xfc] = true, [0xfe] = true};
    for (size_t i = 0; i < count; i++) {
        if (may_change_with_high_byte[units[i] >> 8] && may_unify(units[i])) return true;
    }
    return false;
}

size_t idxt_unify_forms(const UChar *units, size_t count, UChar *unified, UErrorCode *code) {
    UChar replaced[2 * IDXT_MAX_UNITS_TO_UNIFY];
    size_t replaced_count = 0;
    const UNormalizer2 *decomposer = unorm2_getNFDInstance(code);
    for (size_t i = 0; i < count; i++) { /* Each unit becomes at most two in `replaced`. */
        UChar letter = get_chillu_letter(units[i]);
        if (idxt_begins_with_tatweel(units[i])) {
            replaced_count += write_marks_without_tatweel(units[i], replaced + replaced_count);
            continue;
        }
        replaced[replaced_count++] = letter != 0 ? letter : units[i];
        if (letter != 0) replaced[replaced_count++] = VIRAMA;
    }
    if (U_FAILURE(*code)) return 0;
    return (size_t)unorm2_normalize(decomposer, replaced, (int32_t)replaced_count, unified,
                                    (int32_t)(IDXT_UNIFIED_PER_UNIT * count), code);
}
