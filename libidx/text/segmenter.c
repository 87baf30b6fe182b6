/* segmenter.c: from UTF-8 to normalised words, over ICU: UTF-16, NFKC_Casefold, word segmentation. */
#include "libidx/text/segmenter.h"

#include "libidx/text/buffer.h"

#include <unicode/ustring.h>
#include <unicode/utf16.h>
#include <unicode/utf8.h>

#include <stdlib.h>
#include <string.h>

enum {
    REPLACEMENT_CHARACTER = 0xFFFD,
    MOST_UNITS_PER_UNIT = 18, /* what normalisation makes of one: U+FDFA */
    PART_UNITS = 1024,        /* any size gives the same */
    LONGEST_RUN = 256,        /* belongs to the recipe */
};

/* A piece ends behind a line feed, or at the end of the text. No step looks across a line feed: it normalises to itself
 * and joins with nothing, and words always break on both sides of it (Unicode Standard Annex 29, rules WB3a and WB3b).
 * Nor is it part of any ill-formed sequence. */
size_t idxt_piece_length(const char *utf8, size_t length) {
    if (length <= IDXT_PIECE_BYTES) return length;
    const char *line_feed = memchr(utf8 + IDXT_PIECE_BYTES, '\n', length - IDXT_PIECE_BYTES);
    return line_feed == NULL ? length : (size_t)(line_feed - utf8) + 1;
}

UErrorCode idxt_segmenter_open(struct idxt_segmenter *segmenter) {
    UErrorCode code = U_ZERO_ERROR;
    segmenter->normalizer = unorm2_getNFKCCasefoldInstance(&code);
    /* "" is the root locale; NULL would be the user's. */
    segmenter->iterator = ubrk_open(UBRK_WORD, "", NULL, 0, &code);
    return U_FAILURE(code) ? code : U_ZERO_ERROR;
}

/* Grows *units to at least `needed`. */
static bool grow_units(UChar **units, size_t *capacity, size_t needed) {
    UChar *grown = idxt_buffer_grow(*units, capacity, needed, sizeof **units);
    if (grown == NULL) return false;
    *units = grown;
    return true;
}

static int32_t capacity_for_icu(size_t capacity) { return capacity < INT32_MAX ? (int32_t)capacity : INT32_MAX; }

/* Where the part of the text ends that is normalised next: at a character with which nothing before it can combine.
 * Runs without one are cut before the first character that begins LONGEST_RUN units or more after the run, because ICU
 * takes time quadratic in them: 27 s for 400 KB of accents. People write none that long. */
static size_t part_length(const UNormalizer2 *normalizer, const UChar *units, size_t length) {
    size_t run = 0;
    for (size_t i = 0; i < length;) {
        size_t start = i;
        UChar32 c;
        U16_NEXT_UNSAFE(units, i, c);
        if (c < 0x80 || unorm2_hasBoundaryBefore(normalizer, c)) {
            if (start >= PART_UNITS) return start;
            run = start;
        } else if (start - run >= LONGEST_RUN) {
            return start;
        }
    }
    return length;
}

/* Normalises source into units. In parts, because they can be given all the room that they could need, while ICU spends
 * time without end on a result that nears 2^31 units. */
static UErrorCode normalize(struct idxt_segmenter *segmenter) {
    UErrorCode code = U_ZERO_ERROR;
    const UChar *source = segmenter->source;
    size_t rest = segmenter->source_length, written = 0;
    do {
        size_t part = part_length(segmenter->normalizer, source, rest);
        size_t room = part * MOST_UNITS_PER_UNIT;
        if (!grow_units(&segmenter->units, &segmenter->unit_capacity, written + room)) return U_MEMORY_ALLOCATION_ERROR;
        written += (size_t)unorm2_normalize(segmenter->normalizer, source, (int32_t)part, segmenter->units + written,
                                            (int32_t)room, &code);
        if (U_FAILURE(code)) return code;
        if (written > INT32_MAX) return U_INDEX_OUTOFBOUNDS_ERROR;
        source += part;
        rest -= part;
    } while (rest > 0);
    segmenter->unit_length = written;
    return U_ZERO_ERROR;
}

/* Releases of ICU disagree on two characters: in 72 `@` joins the letters around it, from 77 on `:` does. Made spaces,
 * they separate words in every release, as they do by themselves in 73 to 76. Without this, 845 of 1,400 documents of a
 * Debian system (most files named copyright hold an e-mail address) get other words from ICU 72 than from 74. */
static void separate(UChar *units, size_t length) {
    for (size_t i = 0; i < length; i++) {
        if (units[i] == u':' || units[i] == u'@') units[i] = u' ';
    }
}

UErrorCode idxt_segmenter_convert(struct idxt_segmenter *segmenter, const char *utf8, size_t length) {
    /* No sequence of bytes, ill-formed ones included, becomes more units than it has bytes. */
    if (!grow_units(&segmenter->source, &segmenter->source_capacity, length)) return U_MEMORY_ALLOCATION_ERROR;
    UErrorCode code = U_ZERO_ERROR;
    int32_t source_length = 0;
    u_strFromUTF8WithSub(segmenter->source, capacity_for_icu(segmenter->source_capacity), &source_length, utf8,
                         (int32_t)length, REPLACEMENT_CHARACTER, NULL, &code);
    segmenter->source_length = (size_t)source_length;
    return U_FAILURE(code) ? code : U_ZERO_ERROR;
}

UErrorCode idxt_segmenter_normalize(struct idxt_segmenter *segmenter, const char *utf8, size_t length) {
    UErrorCode code = idxt_segmenter_convert(segmenter, utf8, length);
    if (U_SUCCESS(code)) code = normalize(segmenter);
    if (U_FAILURE(code)) return code;
    separate(segmenter->units, segmenter->unit_length);
    return U_ZERO_ERROR;
}

UErrorCode idxt_segmenter_set(struct idxt_segmenter *segmenter, const char *utf8, size_t length) {
    UErrorCode code = idxt_segmenter_normalize(segmenter, utf8, length);
    if (U_FAILURE(code)) return code;
    ubrk_setText(segmenter->iterator, segmenter->units, (int32_t)segmenter->unit_length, &code);
    return U_FAILURE(code) ? code : U_ZERO_ERROR;
}

bool idxt_segmenter_next(struct idxt_segmenter *segmenter, struct idxt_span *word) {
    int32_t start = ubrk_current(segmenter->iterator), end;
    while ((end = ubrk_next(segmenter->iterator)) != UBRK_DONE) {
        if (ubrk_getRuleStatus(segmenter->iterator) >= UBRK_WORD_NONE_LIMIT) {
            *word = (struct idxt_span){segmenter->units + start, (size_t)(end - start)};
            return true;
        }
        start = end;
    }
    return false;
}

size_t idxt_span_utf8(struct idxt_span word, char *utf8) {
    size_t size = 0;
    for (size_t i = 0; i < word.length;) {
        UChar32 c;
        /* Units made from UTF-8 have no lone surrogates. */
        U16_NEXT_UNSAFE(word.units, i, c);
        U8_APPEND_UNSAFE((uint8_t *)utf8, size, c);
    }
    return size;
}

void idxt_segmenter_close(struct idxt_segmenter *segmenter) {
    if (segmenter->iterator != NULL) ubrk_close(segmenter->iterator);
    free(segmenter->source);
    free(segmenter->units);
    *segmenter = (struct idxt_segmenter){0};
}
