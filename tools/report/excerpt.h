/* excerpt.h: shows two texts side by side, marks the words that differ, and leaves out long runs of equal words. */
#ifndef IDX_TOOLS_REPORT_EXCERPT_H
#define IDX_TOOLS_REPORT_EXCERPT_H

#include "tools/report/findings.h"

struct piece {
    const char *bytes;
    size_t length;
};

struct excerpt {
    struct side {
        const struct shown *shown;
        struct piece *pieces; /* Its words. */
        uint64_t *hashes;
        bool *differs;
        size_t count, differing;
        bool failed; /* Memory ran out. */
    } sides[2];
};

/* Computes how much two texts resemble each other, as far as they are kept, by idx_text_resemblance. Returns false if
 * memory ran out. */
bool excerpt_compare(const struct shown two[2], double *resemblance);

/* Cuts the texts of two documents into words, and finds which words differ. The caller frees the excerpt in any case.
 */
bool excerpt_make(struct excerpt *excerpt, const struct shown two[2]);

/* Writes one of the two texts as the content of an element. */
void excerpt_put(struct output *output, const struct excerpt *excerpt, size_t which);

void excerpt_free(struct excerpt *excerpt);

#endif
