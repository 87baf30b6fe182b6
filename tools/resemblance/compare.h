/* compare.h: compares the texts in two files. */
#ifndef IDX_TOOLS_RESEMBLANCE_COMPARE_H
#define IDX_TOOLS_RESEMBLANCE_COMPARE_H

#include "tools/documents/reading.h"

/* Prints a line that compares the texts in two files, by the recipe, table, bits and extraction of `rules`, for `idx
 * compare` and `idx fingerprint --compare`. Sets *same to whether their fingerprints are the same, and if these are
 * hashes, what was hashed as well. Returns false after a complaint; then *same may not be set. */
bool compare_files(const struct reading_rules *rules, char *const paths[2], bool *same);

#endif
