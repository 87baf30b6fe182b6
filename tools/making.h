/* making.h: what `idx build` and `idx merge` have in common: what they say of the index that they made. */
#ifndef IDX_TOOLS_MAKING_H
#define IDX_TOOLS_MAKING_H

#include "tools/progress.h"

/* Complains of what ended a build or a merge; but a signal that was noted needs no words. */
void making_failed(const struct idx_error *error);

/* Says of the index that stands at `path`: where progress is shown, how large it is and what it took; which folders
 * of killed builds were removed; what is odd about its fingerprints. */
void making_report(const char *path, const struct idx_build_summary *summary, const struct progress *progress);

#endif
