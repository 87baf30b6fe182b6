/* gather.h: goes through an index for what a report says. gather.c calls sample.c and chains.c. */
#ifndef IDX_TOOLS_GATHER_H
#define IDX_TOOLS_GATHER_H

#include "tools/report/findings.h"

/* Fills the findings except for tallies and texts. Clusters are found by the options. The sample is a file in the
 * folder while it is used. Returns false after a complaint, and where a signal was noted. */
bool gather(struct findings *findings, const struct idx_index *index, const struct idx_cluster_options *options,
            const char *folder);

/* Offers a pair to be shown at its distance. A pair that was offered before counts once. */
void gather_offer(struct at_distance *at, uint64_t a, uint64_t b);

/* sample.c looks beyond the distance of an index. It builds a small index of some of its fingerprints for a larger
 * distance, which says how near to others these are. */

/* Mixes the bits of a value, so that equal values stay equal and different ones seem random. */
uint64_t sample_mix(uint64_t value);

/* Counts fingerprints and their bits, and the matches beyond k, by an index in the folder for temporary files. Returns
 * false after an error, and with status IDX_OK where a signal was noted or after a complaint. */
bool sample_far(struct findings *findings, const struct idx_index *index, const char *folder, unsigned threads,
                struct idx_error *error);

/* chains.c finds the largest clusters that have documents far from the representative, and the near-duplicates that
 * lead from the representative to the farthest document. */

/* Takes the next document of the clusters, in their order, and NULL after the last one. */
void chains_note(struct findings *findings, const struct idx_cluster_member *member);

/* Finds the chains of the clusters that were noted. Returns false after an error or a complaint. */
bool chains_follow(struct findings *findings, const struct idx_index *index, struct idx_error *error);

#endif
