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
    IDXT_MOST_UNITS_PER_UNIT = 18, /* what normalisation makes of one UTF-16 unit: U+FDFA */
    IDXT_LONGEST_RUN = 256,        /* units after which a run is cut: part of every recipe, and never changes */
};

/* A text in which each run of white space is one space, without space at the start and at the end. It starts as {0},
 * and keeps its buffer from text to text. A user that has read `units` may set `length` to 0. */
struct idxt_collapsed {
    UChar *units;
    size_t length;
    size_t capacity;
    bool begun; /* whether anything but white space was added */
    bool space; /* whether white space was added after that; it becomes a space once anything else follows */
};

/* Returns whether a UTF-16 unit has the property White_Space of Unicode. */
bool idxt_is_space(UChar unit);

/* Empties a collapsed text, whose first part is added next. */
void idxt_collapsed_begin(struct idxt_collapsed *collapsed);

/* Appends the text's next part. Returns false if memory runs out. */
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
    uint64_t *maps; /* maps of the text: edges, blanks, foreigns (see idxt_ascii_map), map_size numbers each */
    size_t map_capacity;
    size_t map_size;
    uint64_t edges; /* edges in block number `block` that are still to come */
    size_t block;

    struct idxt_stretch *stretches; /* in the order of the text */
    size_t stretch_capacity;
    size_t stretch_count;
    size_t next_stretch; /* the number of the first one that has not been passed */
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

/* A word of the text, valid until the next idxt_segmenter_set_text. */
struct idxt_span {
    const UChar *units;
    size_t length;     /* UTF-16 units */
    const char *ascii; /* the word, if it is ASCII, and then there are no `units`; else NULL */
    unsigned halvings; /* how often its weight is halved: 1 for a character of a run, 2 for a pair, 0 for others */
};

/* About how many bytes go through ICU at a time, so that its buffers stay small, and in the processor's cache. */
#define IDXT_PIECE_BYTES ((size_t)1 << 15)

/* Returns how many bytes the first piece of a text has, which is cut for the sake of IDXT_PIECE_BYTES. The words of the
 * pieces are exactly the words of the text. */
size_t idxt_find_piece_length(const char *utf8, size_t length);

/* Opens a segmenter whose `cut` is set. Errors, here and below, are those of ICU: U_MEMORY_ALLOCATION_ERROR if memory
 * runs out, and U_INDEX_OUTOFBOUNDS_ERROR if normalisation makes a text longer than INT32_MAX units. */
UErrorCode idxt_segmenter_open(struct idxt_segmenter *segmenter);

/* Converts a text of at most INT32_MAX bytes to UTF-16, in `source`. */
UErrorCode idxt_segmenter_convert(struct idxt_segmenter *segmenter, const char *utf8, size_t length);

/* Converts a text as idxt_segmenter_convert does, and normalises it, in `units`. */
UErrorCode idxt_segmenter_normalize(struct idxt_segmenter *segmenter, const char *utf8, size_t length);

/* Converts and normalises words that something else than a segmenter cut, in `units`: here `:` and `@` stay as they
 * are, while in texts they become spaces. */
UErrorCode idxt_segmenter_normalize_words(struct idxt_segmenter *segmenter, const char *utf8, size_t length);

/* Gives the segmenter a text of at most INT32_MAX bytes, in place of the text before, whose words idxt_segmenter_next
 * then returns. The text must stay valid until then. U_UNSUPPORTED_ERROR: it needs a dictionary that is missing. */
UErrorCode idxt_segmenter_set_text(struct idxt_segmenter *segmenter, const char *utf8, size_t length);

/* Sets *word to the next word. Returns false after the last one. */
bool idxt_segmenter_next(struct idxt_segmenter *segmenter, struct idxt_span *word);

/* UTF-8 bytes that a UTF-16 unit takes at most. */
#define IDXT_UTF8_PER_UNIT 3

/* Writes a word in UTF-8 to `utf8`, which has room for IDXT_UTF8_PER_UNIT bytes for each of its units. Returns how many
 * bytes it wrote. */
size_t idxt_span_write_utf8(struct idxt_span word, char *utf8);

/* Returns where the first character of a script that is written without spaces is, or `length` if there is none. */
size_t idxt_find_unspaced(const UChar *units, size_t length);

/* Closes the iterator and frees the buffers. */
void idxt_segmenter_close(struct idxt_segmenter *segmenter);

#endif
