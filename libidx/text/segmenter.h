/* segmenter.h: turns UTF-8 into normalised words, with ICU, or without it where a text is ASCII. */
#ifndef IDX_LIBIDX_TEXT_SEGMENTER_H
#define IDX_LIBIDX_TEXT_SEGMENTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unicode/ubrk.h>
#include <unicode/unorm2.h>
#include <unicode/utypes.h>

enum {
    IDXT_NORMALIZED_PER_UNIT = 18, /* the most UTF-16 units that normalisation makes of one: of U+FDFA */
    IDXT_MAX_RUN_UNITS = 256,      /* units after which a run is cut: part of every recipe, and never changes */
};

/* A text in which each run of white space is one space, without space at the start and at the end. It starts as {0},
 * and keeps its buffer from text to text. A user that has read `units` may set `length` to 0. */
struct idxt_collapsed {
    UChar *units;
    size_t length;
    size_t capacity;
    bool has_text;      /* whether anything but white space was added */
    bool space_pending; /* whether white space was added after that; it becomes a space once anything else follows */
};

/* Returns whether a UTF-16 unit has the property White_Space of Unicode. */
bool idxt_is_space(UChar unit);

/* Makes a collapsed text empty. White space that is added next is at its start, and so dropped. */
void idxt_collapsed_begin(struct idxt_collapsed *collapsed);

/* Appends the next `length` UTF-16 units of the text, and collapses their white space, also where it goes on from the
 * part before. Returns false if memory runs out. */
bool idxt_collapsed_add(struct idxt_collapsed *collapsed, const UChar *units, size_t length);

/* Frees the buffer, and leaves the collapsed text as {0}. */
void idxt_collapsed_free(struct idxt_collapsed *collapsed);

/* A part of the text that goes through ICU, because it isn't all ASCII. */
struct idxt_stretch {
    size_t begin, end; /* bytes of the text */
    size_t unit_end;   /* its end in idxt_segmenter.units */
};

/* How texts are cut into words. */
struct idxt_cut {
    bool by_dictionary; /* runs of scripts without spaces are cut by ICU, and not into pairs of characters */
    bool unifies_forms; /* what forms.h describes is done first */
    bool with_singles;  /* the characters of a run are words as well as its pairs */
};

/* One or two characters of a run of a script without spaces, in idxt_segmenter.units. */
struct idxt_gram {
    size_t begin;  /* SIZE_MAX if there is none */
    size_t second; /* where the second character begins, or `end` */
    size_t end;
};

/* Cuts texts into words. It starts as {0}, and keeps its buffers from text to text. */
struct idxt_segmenter {
    const UNormalizer2 *normalizer; /* ICU's own, shared and never freed */
    UBreakIterator *iterator;
    struct idxt_cut cut;
    bool lacks_dictionary; /* with cut.by_dictionary: whether ICU lacks one */

    char *folded; /* the text, lower-cased as ASCII */
    size_t folded_capacity;
    uint64_t *maps; /* maps of the text: edges, blanks, non_ascii (see idxt_ascii_map), map_size numbers each */
    size_t map_capacity;
    size_t map_size;
    uint64_t edges; /* the edges of block `block` of the map that have not been read yet */
    size_t block;   /* a block is 64 bytes of the text: one number of each map */

    struct idxt_stretch *stretches; /* in the order of the text */
    size_t stretch_capacity;
    size_t stretch_count;
    size_t next_stretch; /* the index of the first one whose words have not all been read */
    UChar *source;       /* the text, or a stretch of it, in UTF-16 */
    size_t source_capacity;
    size_t source_length;
    UChar *units; /* the text, or all stretches, normalised; the iterator points into it */
    size_t unit_capacity;
    size_t unit_length;
    UChar *spaced; /* `units` with spaces in place of the runs, if there are any: then the iterator points here */
    size_t spaced_capacity;
    size_t word_begin, word_end; /* the next word that ICU cut; `word_begin` is SIZE_MAX if there is none */
    struct idxt_gram gram;       /* the next one, if runs of scripts without spaces are cut into characters and pairs */
};

/* A word of the text, or another part of it, valid until the segmenter gets another text. */
struct idxt_span {
    const UChar *units;
    size_t length;     /* UTF-16 units */
    const char *ascii; /* the word, if it is ASCII, and then there are no `units`; else NULL */
    unsigned halvings; /* how often its weight is halved: 1 for a character of a run, 2 for a pair, 0 for others */
};

/* About how many bytes go through ICU at a time, so that its buffers stay small, and in the processor's cache. */
#define IDXT_PIECE_BYTES ((size_t)1 << 15)

/* Returns the length in bytes of the first piece of a text: about IDXT_PIECE_BYTES, or all of a shorter text. Cut into
 * pieces so, a text has exactly the same words as in one. */
size_t idxt_find_piece_length(const char *utf8, size_t length);

/* Opens a segmenter whose `cut` is set. Errors, here and below, are those of ICU: U_MEMORY_ALLOCATION_ERROR if memory
 * runs out, and U_INDEX_OUTOFBOUNDS_ERROR if normalisation makes a text longer than INT32_MAX units. */
UErrorCode idxt_segmenter_open(struct idxt_segmenter *segmenter);

/* Sets segmenter->source to a text of at most INT32_MAX bytes in UTF-16; ill-formed sequences become U+FFFD. */
UErrorCode idxt_segmenter_convert_to_utf16(struct idxt_segmenter *segmenter, const char *utf8, size_t length);

/* Converts a text as idxt_segmenter_convert_to_utf16 does, and sets segmenter->units to it, normalised by NFKC_Casefold
 * (with cut.unifies_forms, as forms.h says), with spaces in place of `:` and `@`, as in all texts that are cut into
 * words. */
UErrorCode idxt_segmenter_normalize(struct idxt_segmenter *segmenter, const char *utf8, size_t length);

/* Does what idxt_segmenter_normalize does, but `:` and `@` stay. This is for words that another program cut. */
UErrorCode idxt_segmenter_normalize_keeping_marks(struct idxt_segmenter *segmenter, const char *utf8, size_t length);

/* Gives the segmenter a text of at most INT32_MAX bytes, in place of the one before. The text must stay valid while
 * idxt_segmenter_next_word returns its words. U_UNSUPPORTED_ERROR: it needs a dictionary that ICU lacks. */
UErrorCode idxt_segmenter_set_text(struct idxt_segmenter *segmenter, const char *utf8, size_t length);

/* Sets *word to the next word of the text of idxt_segmenter_set_text. Returns false after the last one. */
bool idxt_segmenter_next_word(struct idxt_segmenter *segmenter, struct idxt_span *word);

/* The most UTF-8 bytes that a UTF-16 unit becomes. */
#define IDXT_UTF8_PER_UNIT 3

/* Writes a word in UTF-8 to `utf8`, which has room for IDXT_UTF8_PER_UNIT bytes for each of its units. Returns how many
 * bytes it wrote. */
size_t idxt_span_write_utf8(struct idxt_span word, char *utf8);

/* Returns the index of the first unit that begins a character of a script written without spaces, or `length` if there
 * is none. */
size_t idxt_find_unspaced(const UChar *units, size_t length);

/* Closes the iterator and frees the buffers, even if idxt_segmenter_open has failed. Leaves the segmenter as {0}. */
void idxt_segmenter_close(struct idxt_segmenter *segmenter);

#endif
