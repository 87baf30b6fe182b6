/* pairs.h: the sections of the page that show pairs, and chains of them. */
#ifndef IDX_TOOLS_PAIRS_H
#define IDX_TOOLS_PAIRS_H

#include "tools/report/findings.h"
#include "tools/shared/output.h"

/* Each appends its section. False after a complaint. */
bool pairs_put(struct output *output, const struct findings *findings);
bool pairs_put_chains(struct output *output, const struct findings *findings);

#endif
