/* page_pairs.h: the sections of the page that show pairs, and chains of them. */
#ifndef IDX_TOOLS_PAGE_PAIRS_H
#define IDX_TOOLS_PAGE_PAIRS_H

#include "tools/report/findings.h"
#include "tools/shared/output.h"

/* Each appends its section. False after a complaint. */
bool page_put_pairs(struct output *output, const struct findings *findings);
bool page_put_chains(struct output *output, const struct findings *findings);

#endif
