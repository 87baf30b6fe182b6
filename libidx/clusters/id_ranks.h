/* id_ranks.h: the order of text IDs. */
#ifndef IDX_LIBIDX_ID_RANKS_H
#define IDX_LIBIDX_ID_RANKS_H

#include "libidx/view/index.h"

/* By document number, counted on over the segments and the pending records: the place of its ID among all, by their
 * bytes; where IDs are the same, that with the lower number comes first. */
struct idxi_id_ranks {
    uint64_t *of;
    uint64_t count;
};

/* Compares two IDs by their bytes: below 0, 0 or above, as memcmp; one that the other begins with comes first. */
int idxi_id_compare(const void *a, size_t a_length, const void *b, size_t b_length);

/* For an index of IDX_ID_TEXT. All IDs are in memory meanwhile: IDX_OUT_OF_MEMORY where they take more than `memory`
 * bytes. To be closed also after an error. */
enum idx_status idxi_id_ranks_open(struct idxi_id_ranks *ranks, const struct idx_index *index, uint64_t memory,
                                   struct idx_error *error);

void idxi_id_ranks_close(struct idxi_id_ranks *ranks);

#endif
