/* segmenter.h: from UTF-8 to normalised words, over ICU. */
#ifndef IDX_TEXT_SEGMENTER_H
#define IDX_TEXT_SEGMENTER_H

#include <stdbool.h>
#include <stddef.h>

#include <unicode/ubrk.h>
#include <unicode/unorm2.h>

/* Starts as {0}. Buffers are kept from text to text. */
struct idxt_segmenter {
    const UNormalizer2 *normalizer; /* ICU's own, shared and never freed */
    UBreakIterator *iterator;
    UChar *source; /* the text in UTF-16 */
    size_t source_capacity;
    size_t source_length;
    UChar *units; /* the same, normalised; the iterator points into it */
    size_t unit_capacity;
    size_t unit_length;
};

/* A word of the text, valid until the next idxt_segmenter_set. */
struct idxt_span {
    const UChar *units;
    size_t length; /* UTF-16 units */
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

/* The same, to be cut into words. */
UErrorCode idxt_segmenter_set(struct idxt_segmenter *segmenter, const char *utf8, size_t length);

/* The next word, or false after the last one. */
bool idxt_segmenter_next(struct idxt_segmenter *segmenter, struct idxt_span *word);

/* Writes a word in UTF-8, at most IDXT_UTF8_PER_UNIT bytes a unit. Returns how many bytes it has. */
#define IDXT_UTF8_PER_UNIT 3
size_t idxt_span_utf8(struct idxt_span word, char *utf8);

void idxt_segmenter_close(struct idxt_segmenter *segmenter);

#endif
