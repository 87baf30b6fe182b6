/* letters.h: reads the characters of texts that are compared (idx_text.h, Resemblance). Folds a text by NFKC case
 * folding, as recipes do, and says of each folded character whether it is part of a word. */
#ifndef IDX_LIBIDX_TEXT_LETTERS_H
#define IDX_LIBIDX_TEXT_LETTERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unicode/unorm2.h>
#include <unicode/utf16.h>
#include <unicode/utf8.h>

#include "libidx/text/segmenter.h"

enum idxt_letter {
    IDXT_LETTER_NONE,  /* ends a word, and belongs to none */
    IDXT_LETTER_PART,  /* is a part of a word, with the characters of this kind next to it */
    IDXT_LETTER_WHOLE, /* is a word by itself */
};

/* Returns whether a character is of a script that is written without spaces: an ideograph or kana, or Thai, Lao, Khmer,
 * Burmese, or the like. All characters that ICU cuts by a dictionary are. */
bool idxt_is_unspaced(UChar32 c);

/* Returns whether a folded character is part of a word, a word by itself, or neither. Letters, decimal digits and marks
 * belong to words; those of scripts without spaces are words by themselves. ICU's dictionaries, which cut the words of
 * recipes, don't matter here. */
enum idxt_letter idxt_classify_letter(UChar32 c);

/* ---- ASCII ---- */

/* Returns an ASCII letter in lower case, a digit unchanged, and 0 for other ASCII characters. */
static inline unsigned idxt_fold_ascii_letter(unsigned c) {
    unsigned lower = c | 0x20;
    if (lower >= 'a' && lower <= 'z') return lower;
    return c >= '0' && c <= '9' ? c : 0;
}

/* Returns the byte after the ASCII characters from byte `begin` on that fold each by itself, or `begin` if there are
 * none. The last one before a character that isn't ASCII is left out, since that may be an accent on it. Skips eight
 * bytes at a time while none has its high bit. */
static inline size_t idxt_find_ascii_end(const uint8_t *bytes, size_t length, size_t begin) {
    size_t end = begin;
    for (uint64_t eight; length - end >= sizeof eight; end += sizeof eight) {
        memcpy(&eight, bytes + end, sizeof eight);
        if ((eight & UINT64_C(0x8080808080808080)) != 0) break;
    }
    while (end < length && bytes[end] < 0x80) end++;
    return end == length || end == begin ? end : end - 1;
}

/* ---- Runs ---- */

/* A run is a character before which there is a normalisation boundary, and those after it before which there is none.
 * It folds by itself. One of IDXT_MAX_RUN_UNITS UTF-16 units or more is cut, as recipes cut it. */
struct idxt_run {
    const UNormalizer2 *normalizer; /* NULL until it is needed */
    UErrorCode code;                /* of ICU, if it fails */
    size_t begin, end;              /* bytes of the text */
    uint32_t single_traits;         /* the traits of its only character, if that folds to one character; else 0 */
    size_t next_unit, unit_count;   /* the index of the next of its folded units, and how many there are */
    UChar units[(IDXT_MAX_RUN_UNITS + 2) * IDXT_NORMALIZED_PER_UNIT];
};

/* Prepares a run for its first idxt_run_read, which sets the other members. Zeroing `units`, too, would take longer
 * than reading a short text does. */
static inline void idxt_run_init(struct idxt_run *run) {
    run->normalizer = NULL;
    run->code = U_ZERO_ERROR;
}

/* The traits of a character are a number: 0 if ICU was not asked yet. Otherwise the flag IDXT_EXAMINED is set, and
 * IDXT_STARTS if the character begins a run. If the character folds to a single one, IDXT_SINGLE is set, that one is in
 * the low bits (IDXT_FOLDED), and its enum idxt_letter above them (IDXT_KIND). */
enum { IDXT_KIND_SHIFT = 21 };
#define IDXT_FOLDED ((UINT32_C(1) << IDXT_KIND_SHIFT) - 1)
#define IDXT_KIND (UINT32_C(3) << IDXT_KIND_SHIFT)
#define IDXT_SINGLE (UINT32_C(1) << 23) /* folds to one character */
#define IDXT_STARTS (UINT32_C(1) << 24) /* begins a run */
#define IDXT_EXAMINED (UINT32_C(1) << 25)

/* The traits of the characters of the first two planes. ICU is asked once in a process for each of them, since asking
 * takes ten times as long as all the rest. Relaxed stores suffice: threads that ask at the same time store the same. */
#define IDXT_CACHED_CHARACTERS 0x20000
extern _Atomic uint32_t idxt_character_cache[IDXT_CACHED_CHARACTERS];

/* Asks ICU about a character, and returns its traits. Stores them in idxt_character_cache, if the character is of the
 * first two planes. Overwrites run->units, next_unit, unit_count and single_traits. If ICU fails, returns 0 and sets
 * run->code. */
uint32_t idxt_examine_character(struct idxt_run *run, UChar32 c);

/* Returns the traits of a character: those in idxt_character_cache, or else those that idxt_examine_character finds. If
 * ICU fails, returns 0 and sets run->code. */
static inline uint32_t idxt_look_up_character(struct idxt_run *run, UChar32 c) {
    uint32_t traits = 0;
    if (c < IDXT_CACHED_CHARACTERS) traits = atomic_load_explicit(&idxt_character_cache[c], memory_order_relaxed);
    return traits != 0 ? traits : idxt_examine_character(run, c);
}

/* If the character at byte *next_byte belongs to the run before it, sets *c to that character, and *next_byte to the
 * byte after it, and returns true. Returns false, and leaves *next_byte, if another run begins there or the text ends.
 * An ASCII character always begins a run. If ICU fails, returns true with run->code set, which the caller checks. */
static inline bool idxt_run_read_character(struct idxt_run *run, const uint8_t *bytes, size_t length, size_t *next_byte,
                                           UChar32 *c) {
    size_t next = *next_byte;
    if (next == length || bytes[next] < 0x80) return false;
    U8_NEXT_OR_FFFD(bytes, next, length, *c);
    if ((idxt_look_up_character(run, *c) & IDXT_STARTS) != 0) return false;
    *next_byte = next;
    return true;
}

/* Reads the rest of a run, and folds the whole run into run->units. `c` is its first character, which the caller has
 * read, and `next_byte` the byte after that. This is for runs of several characters, or of one that does not fold to a
 * single one. Sets run->end. Returns false and sets run->code if ICU fails. */
bool idxt_run_read_and_fold(struct idxt_run *run, const uint8_t *bytes, size_t length, size_t next_byte, UChar32 c);

/* Reads the run that begins at byte `next_byte`, which is below `length`, and sets its `begin` and `end`. The text may
 * be ill-formed. Returns false and sets run->code if ICU fails. */
static inline bool idxt_run_read(struct idxt_run *run, const uint8_t *bytes, size_t length, size_t next_byte) {
    UChar32 c, following;
    run->begin = next_byte;
    U8_NEXT_OR_FFFD(bytes, next_byte, length, c);
    uint32_t traits = idxt_look_up_character(run, c);
    run->end = next_byte;
    /* If another character follows, `next_byte` moves past it, but run->end does not: all are read again from there. */
    if ((traits & IDXT_SINGLE) == 0 || idxt_run_read_character(run, bytes, length, &next_byte, &following))
        return idxt_run_read_and_fold(run, bytes, length, run->end, c);
    run->single_traits = traits;
    run->next_unit = run->unit_count = 0;
    return true;
}

/* Sets *folded to the next folded character of a run that was read, and *letter to its kind. Returns false after the
 * last one. A run may fold to no character at all. */
static inline bool idxt_run_next_folded(struct idxt_run *run, enum idxt_letter *letter, UChar32 *folded) {
    if (run->single_traits != 0) {
        *letter = (enum idxt_letter)((run->single_traits & IDXT_KIND) >> IDXT_KIND_SHIFT);
        *folded = (UChar32)(run->single_traits & IDXT_FOLDED);
        run->single_traits = 0;
        return true;
    }
    if (run->next_unit == run->unit_count) return false;
    U16_NEXT_UNSAFE(run->units, run->next_unit, *folded); /* Units made from UTF-8 have no lone surrogates. */
    *letter = idxt_classify_letter(*folded);
    return true;
}

#endif
