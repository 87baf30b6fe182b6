/* folding.h: text in which each run of white space is one space, and there is none at the start and at the end. */
#ifndef IDX_TEXT_FOLDING_H
#define IDX_TEXT_FOLDING_H

#include <stdbool.h>
#include <stddef.h>

#include <unicode/utypes.h>

/* Starts as {0}. The buffer is kept from text to text. A user that has read `units` may set `length` to 0. */
struct idxt_folding {
    UChar *units;
    size_t length;
    size_t capacity;
    bool begun; /* something other than space has come */
    bool space; /* and space behind it */
};

/* Unicode's White_Space. */
bool idxt_is_space(UChar unit);

void idxt_folding_begin(struct idxt_folding *folding);

/* Appends the text's next part. False: out of memory. */
bool idxt_folding_add(struct idxt_folding *folding, const UChar *units, size_t length);

void idxt_folding_free(struct idxt_folding *folding);

#endif
