/* compare.h: `idx compare` and `idx fingerprint --compare`: whether two texts agree by a recipe, and how nearly. */
#ifndef IDX_TOOLS_COMPARE_H
#define IDX_TOOLS_COMPARE_H

#include "tools/text/pipeline.h"

/* Prints a line that says how the texts in two files compare, by the recipe, table, bits and extraction that `rules`
 * name. *same: whether their fingerprints are equal, and what these are the hashes of, if hashes they are. False after
 * a complaint. */
bool compare_files(const struct pipeline_rules *rules, char *const paths[2], bool *same);

#endif
