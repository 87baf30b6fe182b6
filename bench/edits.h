/* edits.h: edited copies of a document, by a seed. */
#ifndef BENCH_EDITS_H
#define BENCH_EDITS_H

#include "bench/texts.h"

#include <stdbool.h>

enum edit {
    REPLACE, /* words, at random places, by words of documents of the same language */
    DELETE,  /* words, at random places */
    INSERT,  /* words of documents of the same language, at random places */
    MOVE,    /* a passage of whole sentences, to the end of another sentence */
    BANNER,  /* a line in front, of a date and words in a row of another document of the same language */
    EDITS
};

extern const char *const edit_names[EDITS];

/* Makes copy->bytes and copy->length from texts[original], with `words` words edited. False when the document has no
 * such edit: MOVE of less than 10 words, or without sentences to move; or when no other one is in its language. The
 * caller frees copy->bytes. */
bool make_copy(const struct text *texts, size_t count, size_t original, enum edit edit, size_t words, uint64_t *random,
               struct text *copy);

#endif
