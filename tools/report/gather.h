/* gather.h: goes through an index for what a report says. gather.c is called first, and calls chains.c and sample.c. */
#ifndef IDX_TOOLS_GATHER_H
#define IDX_TOOLS_GATHER_H

#include "tools/report/findings.h"

/* Fills all but the tallies and the texts. Clusters are found as the options say; the sample is a file in the folder
 * while it is used. False after a complaint, or where a signal was noted. */
bool gather(struct findings *findings, const struct idx_index *index, const struct idx_cluster_options *options,
            const char *folder);

/* Offers a pair to be shown at its distance; one that was offered before counts once. */
void gather_offer(struct at_distance *at, uint64_t a, uint64_t b);

/* sample.c: what is beyond the distance of an index. A small index of some of its fingerprints is built for a larger
 * distance, and says how near to others these are. */

/* Mixes the bits of a value, so that equal values stay equal and different ones seem random. */
uint64_t sample_mix(uint64_t value);

/* Counts fingerprints and their bits, and the matches beyond k, by an index in the folder for temporary files. Returns
 * false after an error, and with status IDX_OK where a signal was noted or after a complaint. */
bool sample_far(struct findings *findings, const struct idx_index *index, const char *folder, unsigned threads,
                struct idx_error *error);

/* chains.c: the largest clusters that have documents far from the representative, and the near-duplicates that lead
 * from the representative to the farthest document. */

/* Takes the next document of the clusters, in their order, and NULL after the last one. */
void chains_note(struct findings *findings, const struct idx_cluster_member *member);

/* Finds the chains of the clusters that were noted. Returns false after an error or a complaint. */
bool chains_follow(struct findings *findings, const struct idx_index *index, struct idx_error *error);

#endif
