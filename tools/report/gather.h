/* gather.h: goes through an index, or through sets that were compared, for what a report says. */
#ifndef IDX_TOOLS_REPORT_GATHER_H
#define IDX_TOOLS_REPORT_GATHER_H

#include "tools/report/findings.h"
#include "tools/resemblance/resemble.h"

/* Fills the findings except for tallies and texts. They must have been all zero before chains_add_member noted the
 * members of the clusters. The options say up to which distance, and how clusters are found. The caller frees `shown`
 * in any case. Returns false after a complaint, or if a signal was noted. */
bool gather_findings(struct findings *findings, const struct idx_index *index,
                     const struct idx_cluster_options *options);

/* Offers a pair to be shown at a level, which keeps the FINDINGS_PAIRS pairs with the smallest keys. A pair that the
 * level has already is not added again. The caller sets the key to 0, or to the highest bit alone if other pairs are to
 * be preferred; this function sets the lower bits to a hash of the pair. */
void gather_offer_pair(struct level *level, struct shown_pair pair);

/* Sets the number and the ID of a document. An ID of more than FINDINGS_ID_BYTES bytes is cut, and ends with an
 * ellipsis. `id` may be NULL if `id_length` is 0. */
void gather_set_id(struct shown_document *shown, uint64_t number, const char *id, size_t id_length);

/* levels.c gathers findings where documents are compared by resemblance. */

/* Fills the findings like gather_findings, for documents whose sets were compared. `memory_bytes` is what --memory
 * allows; 0: it was not given. */
bool levels_gather_findings(struct findings *findings, struct resemble *resemble, uint64_t memory_bytes);

/* sample.c looks beyond the distance of an index: it compares some of its fingerprints with all. */

/* Returns a hash of a value. Different values have different hashes, and 0 has the hash 0. */
uint64_t sample_hash(uint64_t value);

/* Counts fingerprints and the bits that they have set, chooses `farthest_distance`, looks a sample up in the whole
 * index, and counts and offers its matches beyond k. If that fails, returns false, and sets *error; its status stays
 * IDX_OK after a complaint, or if a signal was noted. */
bool sample_index(struct findings *findings, const struct idx_index *index, const struct idx_cluster_options *options,
                  struct idx_error *error);

/* Returns options of a batch up to a distance, with the threads, memory and folder of `options`. `hidden_progress` is a
 * progress that is not shown: its visitor ends the batch after a signal. It must outlive the batch. */
struct idx_batch_options sample_get_batch_options(const struct idx_cluster_options *options, unsigned distance,
                                                  struct progress *hidden_progress);

/* chains.c finds the largest clusters that have documents far from the representative, and the near-duplicates that
 * lead from the representative to the farthest document. */

/* Notes the next document of the clusters. All documents of a cluster must come together. After the last one, call this
 * with NULL as `member`. */
void chains_add_member(struct findings *findings, const struct idx_cluster_member *member);

/* Finds the chains of the clusters that chains_add_member has chosen, and stores their lengths and steps. If that
 * fails, returns false, and sets *error; its status stays IDX_OK after a complaint, or if a signal was noted. */
bool chains_follow(struct findings *findings, const struct idx_index *index, const struct idx_cluster_options *options,
                   struct idx_error *error);

#endif
