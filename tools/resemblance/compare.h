/* compare.h: compares the texts in two files. */
#ifndef IDX_TOOLS_RESEMBLANCE_COMPARE_H
#define IDX_TOOLS_RESEMBLANCE_COMPARE_H

#include "tools/documents/reading.h"

/* Prints a line that compares the texts in the two files at `paths` to standard output, for `idx compare` and `idx
 * fingerprint --compare`. Of `rules`, it uses recipe, table, bits and extract. Sets *same to whether the texts'
 * fingerprints are the same, and if these are hashes, whether the hashed bytes are, too. Returns false after a
 * complaint, also if a recipe makes several fingerprints of a text; then *same is unspecified. */
bool compare_files(const struct reading_rules *rules, char *const paths[2], bool *same);

#endif
