/* totals.h: whether a stream of fingerprints is whole. `idx fingerprint` and `idx dump` state a recipe before the
 * fingerprints and end with a line `#total`, a tab, how many lines of fingerprints there are, a tab, how many documents
 * were left out, a tab and the command's exit status. It counts wherever it stands, because sorting moves it. Streams
 * that were concatenated have several such lines, whose numbers add up. */
#ifndef IDX_TOOLS_TOTALS_H
#define IDX_TOOLS_TOTALS_H

#include "tools/input/tsv.h"

/* What a stream says of itself, and what it has. */
struct totals {
    uint64_t recipes; /* lines that state one: without any the stream needs no total */
    uint64_t lines;   /* of fingerprints; its reader counts them */
    uint64_t totals;  /* lines with a total */
    uint64_t stated;  /* the sum of their lines of fingerprints */
    bool failed;      /* one of them states a failure */
    bool broken;      /* one of them can't be read */
};

/* Takes a line that is TSV_TOTAL. */
void totals_take(struct totals *totals, const struct tsv_record *record);

/* At the end of a stream: whether it is whole, or states no recipe. False with a problem that names --partial. */
bool totals_check(const struct totals *totals, struct problem *problem);

#endif
