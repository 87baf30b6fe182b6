/* id_ranks.h: the order of text IDs. */
#ifndef IDX_LIBIDX_ID_RANKS_H
#define IDX_LIBIDX_ID_RANKS_H

#include "libidx/view/index.h"

/* The rank of each document's ID among all IDs, by their bytes, from 0. `of` is indexed by document number, counted on
 * over the segments and then the pending records. Of equal IDs, the one with the lower number ranks first. */
struct idxi_id_ranks {
    uint64_t *of;
    uint64_t count;
};

/* Compares two IDs by their bytes: below 0, 0 or above 0, as memcmp. An ID comes before those that begin with it. */
int idxi_compare_id_bytes(const void *a, size_t a_length, const void *b, size_t b_length);

/* Sets *ranks to the ranks of all IDs of an index with IDX_ID_TEXT. Sorts the IDs in at most `max_memory` bytes; only
 * the ranks stay, 8 bytes for each document. Call idxi_id_ranks_free even if this fails. Errors: IDX_OUT_OF_MEMORY,
 * also if `max_memory` is too little; and those of damaged files. */
enum idx_status idxi_id_ranks_make(struct idxi_id_ranks *ranks, const struct idx_index *index, uint64_t max_memory,
                                   struct idx_error *error);

/* Frees the array of ranks. */
void idxi_id_ranks_free(struct idxi_id_ranks *ranks);

#endif
