/* brief.h: the one screen that `idx COMMAND -h` prints, cut out of what --help prints, so that the two can't differ. */
#ifndef IDX_TOOLS_BRIEF_H
#define IDX_TOOLS_BRIEF_H

#include "tools/shared/output.h"

/* Writes the first paragraph of a help, the options that are named in `common` (with a space between two of them; NULL:
 * all options), and the first three lines of its examples. */
void brief_put(struct output *output, const char *help, const char *common, const char *command);

#endif
