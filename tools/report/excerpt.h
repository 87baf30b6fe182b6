/* excerpt.h: shows two texts side by side, marks the words that differ, and leaves out long runs of equal words. */
#ifndef IDX_TOOLS_REPORT_EXCERPT_H
#define IDX_TOOLS_REPORT_EXCERPT_H

#include "tools/report/findings.h"

/* A word of a text, or several that come of one character. */
struct piece {
    const char *bytes;
    size_t length;
};

struct excerpt {
    struct side {
        const struct shown *shown;
        struct piece *pieces;
        uint64_t *hashes;        /* One for each piece, and so are the next ones. */
        bool *differs;           /* The piece has no equal in the other text. */
        size_t count, differing; /* How many pieces there are, and how many of them differ. */
        bool failed;             /* Memory ran out. */
    } sides[2];
};

/* Cuts two documents' texts into words, and finds which words differ. The caller frees the excerpt in any case. */
bool excerpt_make(struct excerpt *excerpt, const struct shown two[2]);

/* Writes the text of sides[which] as the content of an element. */
void excerpt_put(struct output *output, const struct excerpt *excerpt, size_t which);

void excerpt_free(struct excerpt *excerpt);

#endif
