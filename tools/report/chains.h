/* chains.h: the largest clusters that hold documents far from the representative, and how near-duplicates lead from the
 * one to the farthest. */
#ifndef IDX_TOOLS_CHAINS_H
#define IDX_TOOLS_CHAINS_H

#include "tools/report/findings.h"

/* Takes the next document of the clusters, in their order; and in the end NULL. */
void chains_note(struct findings *findings, const struct idx_cluster_member *member);

/* Follows the chains. False after an error or a complaint. */
bool chains_follow(struct findings *findings, const struct idx_index *index, struct idx_error *error);

#endif
