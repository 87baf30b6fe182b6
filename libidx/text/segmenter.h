/* segmenter.h: from UTF-8 to normalised words, with ICU, or without it where a text is ASCII. */
#ifndef IDX_TEXT_SEGMENTER_H
#define IDX_TEXT_SEGMENTER_H

#include <unicode/ubrk.h>
#include <unicode/unorm2.h>
#include <unicode/utypes.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A text in which each run of white space is one space, without space at the start and at the end. It starts as {0},
 * and keeps its buffer from text to text. A user that has read `units` may set `length` to 0. */
struct idxt_folding {
    UChar *units;
    size_t length;
    size_t capacity;
    bool begun; /* whether something other than white space was added */
    bool space; /* whether white space was added behind that */
};

/* Whether a UTF-16 unit has Unicode's property White_Space. */
bool idxt_is_space(UChar unit);

void idxt_folding_begin(struct idxt_folding *folding);

/* Appends the text's next part. Returns false if memory runs out. */
bool idxt_folding_add(struct idxt_folding *folding, const UChar *units, size_t length);

void idxt_folding_free(struct idxt_folding *folding);

/* A part of the text that goes through ICU, since it isn't all ASCII. */
struct idxt_stretch {
    size_t begin, end; /* bytes of the text */
    size_t unit_end;   /* where it ends in idxt_segmenter.units */
};

/* Starts as {0}. Buffers are kept from text to text. */
struct idxt_segmenter {
    const UNormalizer2 *normalizer; /* ICU's own, shared and never freed */
    UBreakIterator *iterator;

    char *folded; /* the text, lower-cased as ASCII */
    size_t folded_capacity;
    uint64_t *maps; /* of the text: edges, blanks, foreigns (ascii.h), map_size each */
    size_t map_capacity;
    size_t map_size;
    uint64_t edges; /* of the words in block number `block` that are still to come */
    size_t block;

    struct idxt_stretch *stretches; /* in order */
    size_t stretch_capacity;
    size_t stretch_count;
    size_t stretch; /* the number of the first that has not been passed */
    UChar *source;  /* the text, or a stretch of it, in UTF-16 */
    size_t source_capacity;
    size_t source_length;
    UChar *units; /* the text, or all stretches, normalised; the iterator points into it */
    size_t unit_capacity;
    size_t unit_length;
    size_t begin, end; /* the next word in `units`; SIZE_MAX when there is none */
};

/* A word of the text, valid until the next idxt_segmenter_set. */
struct idxt_span {
    const UChar *units;
    size_t length;     /* UTF-16 units */
    const char *ascii; /* NULL, or the word, and then there are no `units` */
};

/* A text goes through ICU in pieces of about this size, so that its buffers stay in the processor's cache and don't
 * grow with the text. */
#define IDXT_PIECE_BYTES ((size_t)1 << 15)

/* How many bytes of a text its first piece has. Words of the pieces are words of the text, and the other way round. */
size_t idxt_piece_length(const char *utf8, size_t length);

/* Errors of these: ICU's. Memory that is out is U_MEMORY_ALLOCATION_ERROR, a text that normalisation makes longer
 * than INT32_MAX units U_INDEX_OUTOFBOUNDS_ERROR. */
UErrorCode idxt_segmenter_open(struct idxt_segmenter *segmenter);

/* Takes a text of at most INT32_MAX bytes, and leaves it in `source`. */
UErrorCode idxt_segmenter_convert(struct idxt_segmenter *segmenter, const char *utf8, size_t length);

/* The same, and normalised in `units`. */
UErrorCode idxt_segmenter_normalize(struct idxt_segmenter *segmenter, const char *utf8, size_t length);

/* The same for words that something else cut: `:` and `@` stay. */
UErrorCode idxt_segmenter_normalize_words(struct idxt_segmenter *segmenter, const char *utf8, size_t length);

/* Takes such a text to be cut into words. */
UErrorCode idxt_segmenter_set(struct idxt_segmenter *segmenter, const char *utf8, size_t length);

/* The next word, or false after the last one. */
bool idxt_segmenter_next(struct idxt_segmenter *segmenter, struct idxt_span *word);

/* Writes a word in UTF-8, at most IDXT_UTF8_PER_UNIT bytes a unit. Returns how many bytes it has. */
#define IDXT_UTF8_PER_UNIT 3
size_t idxt_span_utf8(struct idxt_span word, char *utf8);

void idxt_segmenter_close(struct idxt_segmenter *segmenter);

/* Cuts words of each such language by an iterator over words, whose text is another one then. Returns the name of the
 * first language of which ICU's data lacks the dictionary; NULL where none is missing, or *code says why it can't tell.
 */
const char *idxt_missing_dictionary(UBreakIterator *iterator, UErrorCode *code);

#endif
