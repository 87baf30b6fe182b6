/* gather.h: goes through an index for what a report says. */
#ifndef IDX_TOOLS_GATHER_H
#define IDX_TOOLS_GATHER_H

#include "tools/report/findings.h"

/* Fills all but the tallies and the texts. Clusters are found as the options say; the sample is a file in the folder
 * while it is used. False after a complaint, or where a signal was noted. */
bool gather(struct findings *findings, const struct idx_index *index, const struct idx_cluster_options *options,
            const char *folder);

/* Offers a pair to be shown at its distance; one that was offered before counts once. */
void gather_offer(struct at_distance *at, uint64_t a, uint64_t b);

#endif
