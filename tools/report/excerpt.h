/* excerpt.h: two texts side by side, with the words that differ marked, and long runs of equal words left out. */
#ifndef IDX_TOOLS_EXCERPT_H
#define IDX_TOOLS_EXCERPT_H

#include "tools/report/findings.h"
#include "tools/shared/output.h"

struct excerpt {
    struct side {
        const struct shown *shown;
        struct piece {
            const char *bytes;
            size_t length;
        } * pieces; /* its words */
        uint64_t *hashes;
        bool *differs;
        size_t count, differing;
    } sides[2];
    double resemblance; /* as excerpt_compare has it */
};

/* How much two texts resemble each other, as far as they are kept: idx_text_resemblance. False where memory ran out. */
bool excerpt_compare(const struct shown two[2], double *resemblance);

/* Cuts the texts of two documents into words, and finds those that differ, and how much the texts resemble. To be freed
 * whatever comes. False after a complaint. */
bool excerpt_make(struct excerpt *excerpt, const struct shown two[2]);

/* Writes one of the two as the content of an element. */
void excerpt_put(struct output *output, const struct excerpt *excerpt, size_t which);

void excerpt_free(struct excerpt *excerpt);

#endif
