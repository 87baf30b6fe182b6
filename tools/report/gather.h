/* gather.h: goes through an index, or through sets that were compared, for what a report says. */
#ifndef IDX_TOOLS_REPORT_GATHER_H
#define IDX_TOOLS_REPORT_GATHER_H

#include "tools/report/findings.h"
#include "tools/resemblance/resemble.h"

/* Fills the findings except for tallies and texts; clusters are found by the options. The caller frees `shown`. Returns
 * false also if a signal was noted. */
bool gather_findings(struct findings *findings, const struct idx_index *index,
                     const struct idx_cluster_options *options);

/* Offers a pair to be shown at its level, which keeps the pairs with the smallest keys. A pair that was offered before
 * counts once. The caller sets the key to 0, or to the highest bit alone if the pair is to be shown only where there
 * are too few others; a hash of the pair is added below that bit. */
void gather_offer_pair(struct level *level, struct shown_pair pair);

/* Sets the number and the ID of a document; a long ID is cut to FINDINGS_ID_BYTES. */
void gather_set_id(struct shown *shown, uint64_t number, const char *id, size_t id_length);

/* levels.c does the same by resemblance. */

/* Fills the findings like gather_findings, for documents whose sets were compared. `memory` is how many bytes --memory
 * allows; 0: it was not given. */
bool levels_gather_findings(struct findings *findings, struct resemble *resemble, uint64_t memory);

/* sample.c looks beyond the distance of an index: it compares some of its fingerprints with all. */

/* Returns a hash of a value. Different values have different hashes. */
uint64_t sample_hash(uint64_t value);

/* Counts fingerprints and their bits, and the matches of the sample beyond k. Returns false after an error, and with
 * status IDX_OK where a signal was noted or after a complaint. */
bool sample_index(struct findings *findings, const struct idx_index *index, const struct idx_cluster_options *options,
                  struct idx_error *error);

/* Returns options of a batch up to a distance, which runs as clusters do by their options, but shows no progress. */
struct idx_batch_options sample_make_batch(const struct idx_cluster_options *options, unsigned distance,
                                           struct progress *unseen);

/* chains.c finds the largest clusters that have documents far from the representative, and the near-duplicates that
 * lead from the representative to the farthest document. */

/* Notes the next document of the clusters, which come in their order; `member` is NULL after the last one. */
void chains_add_member(struct findings *findings, const struct idx_cluster_member *member);

/* Finds the chains of the clusters that were noted. Returns false after an error or a complaint. */
bool chains_follow(struct findings *findings, const struct idx_index *index, const struct idx_cluster_options *options,
                   struct idx_error *error);

#endif
