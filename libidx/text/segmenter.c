/* segmenter.c: turns UTF-8 into normalised words, with ICU (UTF-16, NFKC_Casefold, word segmentation), or for the
 * stretches of a text that are ASCII, without it, by ascii.c. A text may be cut before white space (ASCII white space:
 * space and U+0009 to U+000D), because no step looks across such a cut. White space has a normalisation boundary before
 * it, and is no part of an ill-formed sequence. There is always a word boundary before it, unless white space precedes
 * it (Unicode Standard Annex 29, rules WB3, WB3a, WB3b, WB3d, WB999), and then no word is near. Nothing changes for the
 * text after the cut either: it begins with the white space itself, so a combining mark after the white space stays
 * with it. Therefore stretches that aren't ASCII give the same words alone as they do together in one text, and ICU's
 * cost per text is paid only once. */
#include "libidx/text/segmenter.h"

#include "libidx/text/ascii.h"
#include "libidx/text/base.h"
#include "libidx/text/forms.h"
#include "libidx/text/letters.h"

#include <unicode/ustring.h>
#include <unicode/utf16.h>
#include <unicode/utf8.h>

#include <stdlib.h>
#include <string.h>

/* ---- White space ---- */

bool idxt_is_space(UChar unit) {
    if (unit <= 0x20) return unit == 0x20 || (unit >= 0x9 && unit <= 0xD);
    if (unit < 0x1680) return unit == 0x85 || unit == 0xA0;
    return unit == 0x1680 || (unit >= 0x2000 && unit <= 0x200A) || unit == 0x2028 || unit == 0x2029 || unit == 0x202F ||
           unit == 0x205F || unit == 0x3000;
}

void idxt_collapsed_begin(struct idxt_collapsed *collapsed) {
    collapsed->length = 0;
    collapsed->has_text = collapsed->space_pending = false;
}

bool idxt_collapsed_add(struct idxt_collapsed *collapsed, const UChar *units, size_t length) {
    UChar *grown =
        idxt_buffer_grow(collapsed->units, &collapsed->capacity, collapsed->length + length + 1, sizeof *grown);
    if (grown == NULL) return false;
    collapsed->units = grown;
    for (size_t i = 0; i < length; i++) {
        if (idxt_is_space(units[i])) {
            collapsed->space_pending = collapsed->has_text;
            continue;
        }
        if (collapsed->space_pending) grown[collapsed->length++] = u' ';
        grown[collapsed->length++] = units[i];
        collapsed->has_text = true;
        collapsed->space_pending = false;
    }
    return true;
}

void idxt_collapsed_free(struct idxt_collapsed *collapsed) {
    free(collapsed->units);
    *collapsed = (struct idxt_collapsed){0};
}

/* ---- Dictionaries ---- */

/* ICU does not fail if its data has no dictionaries: it then cuts Chinese and Japanese into characters, and takes a run
 * of Thai, Lao, Khmer or Burmese as one word. */

/* For Chinese, Japanese, Thai, Lao, Khmer and Burmese a sample of two words or more. The first word ends at `end`, and
 * not before, in every release of ICU. */
static const struct {
    const UChar *text;
    int32_t end;
} samples[] = {
    {u"\u6211\u4eec\u4eca\u5929", 2},
    {u"\u3042\u308a\u304c\u3068\u3046\u65e5\u672c", 5},
    {u"\u0e20\u0e32\u0e29\u0e32\u0e44\u0e17\u0e22", 4},
    {u"\u0e9e\u0eb2\u0eaa\u0eb2\u0ea5\u0eb2\u0ea7", 4},
    {u"\u1798\u1793\u17bb\u179f\u17d2\u179f\u1791\u17b6\u17c6\u1784\u17a2\u179f\u17cb", 6},
    {u"\u1019\u103c\u1014\u103a\u1019\u102c\u1005\u102c", 6},
};

/* Returns whether ICU has all dictionaries, by cutting the samples with `iterator`, which loses the text that it had.
 * If ICU fails otherwise, returns false and sets *code. */
static bool has_dictionaries(UBreakIterator *iterator, UErrorCode *code) {
    bool has_all = true;
    for (size_t i = 0; i < sizeof samples / sizeof *samples && has_all && U_SUCCESS(*code); i++) {
        ubrk_setText(iterator, samples[i].text, -1, code);
        has_all = U_SUCCESS(*code) && ubrk_first(iterator) == 0 && ubrk_next(iterator) == samples[i].end;
    }
    return has_all;
}

/* ---- From UTF-8 to words ---- */

enum {
    REPLACEMENT_CHARACTER = 0xFFFD,
    CHUNK_UNITS = 1024, /* least units of a chunk that is normalised at once; any number gives the same result */
};

/* A piece ends after a line feed, or at the end of the text. No step looks across a line feed: it normalises to itself
 * and joins with nothing, words always break on both sides of it (Unicode Standard Annex 29, rules WB3a and WB3b), and
 * it is no part of an ill-formed sequence. */
size_t idxt_find_piece_length(const char *utf8, size_t length) {
    if (length <= IDXT_PIECE_BYTES) return length;
    const char *line_feed = memchr(utf8 + IDXT_PIECE_BYTES, '\n', length - IDXT_PIECE_BYTES);
    return line_feed == NULL ? length : (size_t)(line_feed - utf8) + 1;
}

UErrorCode idxt_segmenter_open(struct idxt_segmenter *segmenter) {
    UErrorCode code = U_ZERO_ERROR;
    segmenter->normalizer = unorm2_getNFKCCasefoldInstance(&code);
    /* "" is the root locale; NULL would be the user's. */
    segmenter->iterator = ubrk_open(UBRK_WORD, "", NULL, 0, &code);
    if (U_SUCCESS(code) && segmenter->cut.by_dictionary)
        segmenter->lacks_dictionary = !has_dictionaries(segmenter->iterator, &code);
    return U_FAILURE(code) ? code : U_ZERO_ERROR;
}

/* Makes the capacity of the buffer *units at least `needed` UTF-16 units; it may move. Returns false if memory runs
 * out. */
static bool grow_units(UChar **units, size_t *capacity, size_t needed) {
    UChar *grown = idxt_buffer_grow(*units, capacity, needed, sizeof **units);
    if (grown == NULL) return false;
    *units = grown;
    return true;
}

/* Returns the index of the last unit in (begin, end] that begins a run: a character with a normalisation boundary
 * before it. Returns `begin` if there is none. units[end] must be valid. */
static size_t find_last_boundary(const struct idxt_segmenter *segmenter, const UChar *units, size_t begin, size_t end) {
    for (size_t i = end; i > begin; i--) {
        if (U16_IS_TRAIL(units[i])) continue;
        UChar32 c;
        U16_GET_UNSAFE(units, i, c);
        if (segmenter->cut.unifies_forms && idxt_continues_run(c)) continue;
        if (c < 0x80 || unorm2_hasBoundaryBefore(segmenter->normalizer, c)) return i;
    }
    return begin;
}

/* Returns how many units of a text are normalised next, as one chunk. A chunk ends where a run does, and has
 * CHUNK_UNITS or more unless it is the last one, or ends where a long run is cut. A run is cut before the first
 * character that begins IDXT_MAX_RUN_UNITS units or more after the run's beginning, because ICU takes time quadratic in
 * runs: 27 s for 400 KB of accents. People write no such runs, so each step looks IDXT_MAX_RUN_UNITS units ahead, and
 * from there back. */
static size_t find_chunk_length(const struct idxt_segmenter *segmenter, const UChar *units, size_t length) {
    size_t run_begin = 0;
    while (length - run_begin > IDXT_MAX_RUN_UNITS) {
        size_t limit = run_begin + IDXT_MAX_RUN_UNITS;
        if (U16_IS_TRAIL(units[limit])) limit++; /* the first character that begins there or later */
        if (limit == length) break;
        size_t boundary = find_last_boundary(segmenter, units, run_begin, limit);
        if (boundary == run_begin) return limit;
        run_begin = boundary;
        if (run_begin >= CHUNK_UNITS) return run_begin;
    }
    return length;
}

_Static_assert(CHUNK_UNITS + IDXT_MAX_RUN_UNITS + 1 <= IDXT_MAX_UNITS_TO_UNIFY, "a chunk is unified at once");

/* Normalises a chunk of `count` units, at most CHUNK_UNITS + IDXT_MAX_RUN_UNITS + 1, into `folded`, which has room for
 * `capacity` units. Returns how many units it wrote. If ICU fails, sets *code to a failure, and the result is
 * unspecified. */
static size_t fold_chunk(const struct idxt_segmenter *segmenter, const UChar *units, size_t count, UChar *folded,
                         size_t capacity, UErrorCode *code) {
    UChar unified[(CHUNK_UNITS + IDXT_MAX_RUN_UNITS + 1) * IDXT_UNIFIED_PER_UNIT];
    if (segmenter->cut.unifies_forms && idxt_must_unify(units, count)) {
        count = idxt_unify_forms(units, count, unified, code);
        units = unified;
    }
    return (size_t)unorm2_normalize(segmenter->normalizer, units, (int32_t)count, folded, (int32_t)capacity, code);
}

/* Normalises segmenter->source, chunk by chunk, and appends it to segmenter->units. Each chunk gets the largest
 * capacity that it could need, since ICU takes endless time to find out that a result has nearly 2^31 units. */
static UErrorCode append_normalized(struct idxt_segmenter *segmenter) {
    UErrorCode code = U_ZERO_ERROR;
    const UChar *source = segmenter->source;
    size_t left_length = segmenter->source_length, count = segmenter->unit_length;
    do {
        size_t chunk_length = find_chunk_length(segmenter, source, left_length);
        size_t needed = chunk_length * IDXT_NORMALIZED_PER_UNIT;
        if (!grow_units(&segmenter->units, &segmenter->unit_capacity, count + needed)) return U_MEMORY_ALLOCATION_ERROR;
        count += fold_chunk(segmenter, source, chunk_length, segmenter->units + count, needed, &code);
        if (U_FAILURE(code)) return code;
        if (count > INT32_MAX) return U_INDEX_OUTOFBOUNDS_ERROR;
        source += chunk_length;
        left_length -= chunk_length;
    } while (left_length > 0);
    segmenter->unit_length = count;
    return U_ZERO_ERROR;
}

/* Replaces `:` and `@` by spaces. Releases of ICU disagree on these: in 72 `@` joins the letters around it, from 77 on
 * `:` does. As spaces they separate words in every release, as the marks themselves do in 73 to 76. Otherwise 845 of
 * 1,400 documents of a Debian system (most files named copyright hold an e-mail address) would get other words from ICU
 * 72 than from 74. */
static void replace_marks_by_spaces(UChar *units, size_t length) {
    for (size_t i = 0; i < length; i++) {
        if (units[i] == u':' || units[i] == u'@') units[i] = u' ';
    }
}

UErrorCode idxt_segmenter_convert_to_utf16(struct idxt_segmenter *segmenter, const char *utf8, size_t length) {
    /* No sequence of bytes, ill-formed ones included, becomes more units than it has bytes. */
    if (!grow_units(&segmenter->source, &segmenter->source_capacity, length)) return U_MEMORY_ALLOCATION_ERROR;
    UErrorCode code = U_ZERO_ERROR;
    int32_t source_length = 0;
    int32_t max_length = segmenter->source_capacity < INT32_MAX ? (int32_t)segmenter->source_capacity : INT32_MAX;
    u_strFromUTF8WithSub(segmenter->source, max_length, &source_length, utf8, (int32_t)length, REPLACEMENT_CHARACTER,
                         NULL, &code);
    segmenter->source_length = (size_t)source_length;
    return U_FAILURE(code) ? code : U_ZERO_ERROR;
}

UErrorCode idxt_segmenter_normalize_keeping_marks(struct idxt_segmenter *segmenter, const char *utf8, size_t length) {
    segmenter->unit_length = 0;
    UErrorCode code = idxt_segmenter_convert_to_utf16(segmenter, utf8, length);
    return U_FAILURE(code) ? code : append_normalized(segmenter);
}

UErrorCode idxt_segmenter_normalize(struct idxt_segmenter *segmenter, const char *utf8, size_t length) {
    UErrorCode code = idxt_segmenter_normalize_keeping_marks(segmenter, utf8, length);
    if (U_SUCCESS(code)) replace_marks_by_spaces(segmenter->units, segmenter->unit_length);
    return code;
}

/* Converts and normalises a stretch of the text, appends it to segmenter->units, and sets stretch->unit_end. */
static UErrorCode normalize_stretch(struct idxt_segmenter *segmenter, const char *utf8, struct idxt_stretch *stretch) {
    UErrorCode code = idxt_segmenter_convert_to_utf16(segmenter, utf8 + stretch->begin, stretch->end - stretch->begin);
    if (U_SUCCESS(code)) code = append_normalized(segmenter);
    stretch->unit_end = segmenter->unit_length;
    return code;
}

/* Returns the number of the first set bit from bit `from` on in a map of `size` numbers of 64 bits, or `result_if_none`
 * if there is none. */
static size_t find_first_bit(const uint64_t *map, size_t size, size_t from, size_t result_if_none) {
    size_t index = from / 64;
    if (index >= size) return result_if_none;
    uint64_t bits = map[index] & (UINT64_MAX << from % 64);
    while (bits == 0) {
        if (++index == size) return result_if_none;
        bits = map[index];
    }
    return 64 * index + (size_t)__builtin_ctzll(bits);
}

/* Returns the number of the last set bit of a map before bit `before`, which is in the map, or 0 if there is none. */
static size_t find_last_bit_before(const uint64_t *map, size_t before) {
    size_t index = before / 64;
    uint64_t bits = map[index] & ~(UINT64_MAX << before % 64);
    while (bits == 0) {
        if (index-- == 0) return 0;
        bits = map[index];
    }
    return 64 * index + 63 - (size_t)__builtin_clzll(bits);
}

/* Finds the next stretch from byte `begin` on, which is the beginning of the text or at white space. A stretch begins
 * at the last white space before a byte that isn't ASCII, and ends at the next white space after that byte. If another
 * such byte follows before further white space, the stretch goes on. Sets its `begin` and `end`. Returns false if there
 * is no stretch. */
static bool find_next_stretch(const struct idxt_segmenter *segmenter, size_t length, size_t begin,
                              struct idxt_stretch *stretch) {
    const size_t map_size = segmenter->map_size;
    const uint64_t *blanks = segmenter->maps + map_size, *non_ascii = blanks + map_size;
    size_t next_non_ascii = find_first_bit(non_ascii, map_size, begin, length);
    if (next_non_ascii == length) return false;
    stretch->begin = find_last_bit_before(blanks, next_non_ascii);
    do {
        stretch->end = find_first_bit(blanks, map_size, next_non_ascii, length);
        next_non_ascii = find_first_bit(non_ascii, map_size, stretch->end, length);
        /* The stretch goes on if the white space at its end is the last one before the next such byte. */
    } while (next_non_ascii < length && find_last_bit_before(blanks, next_non_ascii) == stretch->end);
    return true;
}

/* Finds all stretches of the text, appends them, normalised, to segmenter->units, and lists them in
 * segmenter->stretches. */
static UErrorCode normalize_stretches(struct idxt_segmenter *segmenter, const char *utf8, size_t length) {
    struct idxt_stretch stretch = {0};
    while (find_next_stretch(segmenter, length, stretch.end, &stretch)) {
        UErrorCode code = normalize_stretch(segmenter, utf8, &stretch);
        if (U_FAILURE(code)) return code;
        struct idxt_stretch *grown = idxt_buffer_grow(segmenter->stretches, &segmenter->stretch_capacity,
                                                      segmenter->stretch_count + 1, sizeof *grown);
        if (grown == NULL) return U_MEMORY_ALLOCATION_ERROR;
        segmenter->stretches = grown;
        grown[segmenter->stretch_count++] = stretch;
    }
    return U_ZERO_ERROR;
}

/* Makes segmenter->folded and the three maps of the text, which idxt_ascii_map explains. Returns false if memory runs
 * out. */
static bool map_text(struct idxt_segmenter *segmenter, const char *utf8, size_t length) {
    const size_t map_size = idxt_ascii_map_size(length);
    char *folded = idxt_buffer_grow(segmenter->folded, &segmenter->folded_capacity, 64 * map_size, 1);
    if (folded == NULL) return false;
    segmenter->folded = folded;
    uint64_t *maps = idxt_buffer_grow(segmenter->maps, &segmenter->map_capacity, 3 * map_size, sizeof *maps);
    if (maps == NULL) return false;
    segmenter->maps = maps;
    segmenter->map_size = map_size;
    idxt_ascii_map(utf8, length, folded, maps, maps + map_size, maps + 2 * map_size);
    return true;
}

/* ---- Scripts without spaces ---- */

/* ICU's rules break words before and after every character of these scripts, just as at a space: it joins them by
 * dictionaries alone. So where it shall not ask these, it gets spaces in place of the characters. A run, below, is a
 * sequence of letters and digits of these scripts, with their marks. */

/* Returns whether releases of ICU differ in how they cut at a character. Most such characters come before Arabic
 * numbers, and are part of a word up to release 73, a number or letter from 74 on. As spaces they separate words in
 * every release. */
static bool differs_among_releases(UChar32 c) {
    if (c < 0x600 || c > 0x110cd) return false;
    return c <= 0x605 || c == 0x6dd || c == 0x70f || c == 0x890 || c == 0x891 || c == 0x8e2 || c == 0x110bd ||
           c == 0x110cd;
}

/* Replaces characters by spaces, so that ICU cuts words at them:
 *
 * - in segmenter->units: characters that releases of ICU cut differently, and those of scripts without spaces that are
 *   in no run, such as punctuation
 * - in segmenter->spaced, a copy of the units: these, and the characters of runs
 *
 * If there are no such characters, makes no copy, and leaves *text; otherwise sets *text to the copy. Returns false if
 * memory runs out. */
static bool replace_runs_by_spaces(struct idxt_segmenter *segmenter, const UChar **text) {
    const size_t length = segmenter->unit_length;
    UChar *units = segmenter->units, *spaced = NULL;
    for (size_t next_char = 0, char_begin = 0; next_char < length; char_begin = next_char) {
        UChar32 c;
        U16_NEXT_UNSAFE(units, next_char, c);
        bool is_unspaced = idxt_is_unspaced(c);
        if (!is_unspaced && !differs_among_releases(c)) continue;
        if (spaced == NULL) {
            if (!grow_units(&segmenter->spaced, &segmenter->spaced_capacity, length)) return false;
            *text = spaced = segmenter->spaced;
            memcpy(spaced, units, length * sizeof *units);
        }
        bool is_run = is_unspaced && idxt_classify_letter(c) == IDXT_LETTER_WHOLE;
        for (size_t i = char_begin; i < next_char; i++) {
            spaced[i] = u' ';
            if (!is_run) units[i] = u' ';
        }
    }
    return true;
}

size_t idxt_find_unspaced(const UChar *units, size_t length) {
    for (size_t next_char = 0, char_begin = 0; next_char < length; char_begin = next_char) {
        UChar32 c;
        U16_NEXT_UNSAFE(units, next_char, c);
        if (idxt_is_unspaced(c)) return char_begin;
    }
    return length;
}

/* Returns whether unit number `unit` is in a run: only there `spaced`, which must have been made, differs from `units`.
 * The number may be unit_length. */
static bool is_in_run(const struct idxt_segmenter *segmenter, size_t unit) {
    return unit < segmenter->unit_length && segmenter->units[unit] != segmenter->spaced[unit];
}

/* Sets segmenter->gram to the first gram of the next run at or after unit `begin`: its first character if
 * cut.with_singles, or else its first pair. The only gram of a run of one character is that one. If there is no run,
 * sets gram.begin to SIZE_MAX. */
static void find_first_gram(struct idxt_segmenter *segmenter, size_t begin) {
    struct idxt_gram *gram = &segmenter->gram;
    gram->begin = SIZE_MAX;
    while (begin < segmenter->unit_length && !is_in_run(segmenter, begin)) begin++;
    if (begin == segmenter->unit_length) return;
    gram->begin = gram->end = begin;
    U16_FWD_1_UNSAFE(segmenter->units, gram->end);
    gram->second = gram->end;
    if (!segmenter->cut.with_singles && is_in_run(segmenter, gram->end)) U16_FWD_1_UNSAFE(segmenter->units, gram->end);
}

/* Sets segmenter->gram to the next gram. The grams of a run ABC are A, AB, B, BC, C if cut.with_singles, and else AB,
 * BC. After the last one of a run comes the first one of the next run. */
static void find_next_gram(struct idxt_segmenter *segmenter) {
    struct idxt_gram *gram = &segmenter->gram;
    const bool is_pair = gram->second < gram->end, becomes_single = is_pair && segmenter->cut.with_singles;
    if (!becomes_single && !is_in_run(segmenter, gram->end)) {
        find_first_gram(segmenter, gram->end);
        return;
    }
    if (is_pair) {
        gram->begin = gram->second;
        gram->second = gram->end;
    }
    if (!becomes_single) U16_FWD_1_UNSAFE(segmenter->units, gram->end);
}

/* Sets *text to the unit_length units that ICU is to cut, and segmenter->gram to the first gram, or to none if there
 * are no runs, or if ICU cuts them. Returns U_UNSUPPORTED_ERROR if ICU lacks the dictionary for that, and
 * U_MEMORY_ALLOCATION_ERROR if memory runs out. */
static UErrorCode prepare_text_for_icu(struct idxt_segmenter *segmenter, const UChar **text) {
    *text = segmenter->units;
    segmenter->gram.begin = SIZE_MAX;
    if (segmenter->cut.by_dictionary) {
        const size_t length = segmenter->unit_length;
        const bool cannot_cut = segmenter->lacks_dictionary && idxt_find_unspaced(*text, length) < length;
        return cannot_cut ? U_UNSUPPORTED_ERROR : U_ZERO_ERROR;
    }
    if (!replace_runs_by_spaces(segmenter, text)) return U_MEMORY_ALLOCATION_ERROR;
    if (*text == segmenter->spaced) find_first_gram(segmenter, 0); /* There are runs, which ICU does not cut. */
    return U_ZERO_ERROR;
}

/* ---- Words ---- */

/* Sets segmenter->word_begin and word_end to the next word that ICU cuts, or word_begin to SIZE_MAX if there is none.
 * Skips segments that are no words, such as spaces and punctuation. */
static void find_next_icu_word(struct idxt_segmenter *segmenter) {
    int32_t begin = ubrk_current(segmenter->iterator), end;
    while ((end = ubrk_next(segmenter->iterator)) != UBRK_DONE) {
        if (ubrk_getRuleStatus(segmenter->iterator) >= UBRK_WORD_NONE_LIMIT) break;
        begin = end;
    }
    segmenter->word_begin = end == UBRK_DONE ? SIZE_MAX : (size_t)begin;
    segmenter->word_end = (size_t)end;
}

UErrorCode idxt_segmenter_set_text(struct idxt_segmenter *segmenter, const char *utf8, size_t length) {
    segmenter->stretch_count = segmenter->next_stretch = 0;
    segmenter->unit_length = 0;
    if (!map_text(segmenter, utf8, length)) return U_MEMORY_ALLOCATION_ERROR;
    segmenter->block = 0;
    segmenter->edges = segmenter->maps[0];
    UErrorCode code = normalize_stretches(segmenter, utf8, length);
    if (U_FAILURE(code) || segmenter->stretch_count == 0) return code;
    replace_marks_by_spaces(segmenter->units, segmenter->unit_length);
    const UChar *text;
    code = prepare_text_for_icu(segmenter, &text);
    if (U_FAILURE(code)) return code;
    ubrk_setText(segmenter->iterator, text, (int32_t)segmenter->unit_length, &code);
    if (U_FAILURE(code)) return code;
    find_next_icu_word(segmenter);
    return U_ZERO_ERROR;
}

/* Makes the block that has the next edge the current one, if it is not that already. Returns false if there is no
 * further edge. */
static inline bool go_to_block_of_edge(struct idxt_segmenter *segmenter) {
    while (segmenter->edges == 0) {
        if (segmenter->block + 1 >= segmenter->map_size) return false;
        segmenter->edges = segmenter->maps[++segmenter->block];
    }
    return true;
}

/* Returns the offset in the text, in bytes, of the next edge of the current block, which must have one. */
static inline size_t get_edge_offset(const struct idxt_segmenter *segmenter) {
    return 64 * segmenter->block + (size_t)__builtin_ctzll(segmenter->edges);
}

/* Removes the next edge of the current block: the lowest bit. */
static inline void remove_edge(struct idxt_segmenter *segmenter) { segmenter->edges &= segmenter->edges - 1; }

/* Sets *word to the next word of ASCII, which is between two edges, if it is before the next stretch. Returns false if
 * there is none. */
static inline bool read_ascii_word(struct idxt_segmenter *segmenter, struct idxt_span *word) {
    if (!go_to_block_of_edge(segmenter)) return false;
    size_t begin = get_edge_offset(segmenter);
    if (segmenter->next_stretch < segmenter->stretch_count &&
        begin >= segmenter->stretches[segmenter->next_stretch].begin)
        return false;
    remove_edge(segmenter);
    go_to_block_of_edge(segmenter); /* that of the edge where the word ends, which every word has */
    *word = (struct idxt_span){.ascii = segmenter->folded + begin, .length = get_edge_offset(segmenter) - begin};
    remove_edge(segmenter);
    return true;
}

/* Removes the next stretch, whose words have all been read, and all edges up to its end. A stretch ends at white space
 * or at the end of the text, so an edge right at its end is that of a word in the stretch, and is removed as well. */
static void skip_stretch(struct idxt_segmenter *segmenter) {
    size_t stretch_end = segmenter->stretches[segmenter->next_stretch++].end;
    uint64_t up_to_end = (UINT64_C(2) << stretch_end % 64) - 1; /* for bit 63, 0 - 1: all bits */
    segmenter->block = stretch_end / 64;
    segmenter->edges = segmenter->maps[segmenter->block] & ~up_to_end;
}

/* Sets *word to the next word that begins before unit `end`, the end of a stretch: the next one that ICU cut, or the
 * next gram if that comes first. Returns false if there is none. */
static bool read_stretch_word(struct idxt_segmenter *segmenter, size_t end, struct idxt_span *word) {
    const struct idxt_gram gram = segmenter->gram;
    const UChar *units = segmenter->units;
    if (gram.begin < segmenter->word_begin && gram.begin < end) {
        unsigned halvings = gram.second < gram.end ? 2 : 1;
        *word = (struct idxt_span){.units = units + gram.begin, .length = gram.end - gram.begin, .halvings = halvings};
        find_next_gram(segmenter);
        return true;
    }
    if (segmenter->word_begin >= end) return false;
    *word = (struct idxt_span){.units = units + segmenter->word_begin,
                               .length = segmenter->word_end - segmenter->word_begin};
    find_next_icu_word(segmenter);
    return true;
}

bool idxt_segmenter_next_word(struct idxt_segmenter *segmenter, struct idxt_span *word) {
    for (;;) {
        if (read_ascii_word(segmenter, word)) return true;
        if (segmenter->next_stretch == segmenter->stretch_count) return false;
        if (read_stretch_word(segmenter, segmenter->stretches[segmenter->next_stretch].unit_end, word)) return true;
        skip_stretch(segmenter);
    }
}

size_t idxt_span_write_utf8(struct idxt_span word, char *utf8) {
    if (word.ascii != NULL) {
        memcpy(utf8, word.ascii, word.length);
        return word.length;
    }
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
    free(segmenter->folded);
    free(segmenter->maps);
    free(segmenter->stretches);
    free(segmenter->source);
    free(segmenter->units);
    free(segmenter->spaced);
    *segmenter = (struct idxt_segmenter){0};
}
