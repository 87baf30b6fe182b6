/* common.h: removes the hashes that many sets have from all sets. */
#ifndef IDX_LIBIDX_SET_COMMON_H
#define IDX_LIBIDX_SET_COMMON_H

#include "libidx/sets/store.h"

struct idxi_removal {
    struct idxi_set_store *store; /* all its sets are readable, before and afterwards (idxi_set_store_flush) */
    uint64_t max_sets; /* hashes that more sets than this have, equal ones included, are removed; at least 1 */
    uint64_t memory;   /* bytes for the counters and for the hashes that are counted exactly */
    unsigned threads;
    struct idxi_progress *progress;
};

/* Removes from all sets of removal->store the hashes that more than max_sets sets have, and sets *removed to how many
 * different hashes these are. After an error the store can only be closed. Errors: IDX_OUT_OF_MEMORY, IDX_CANCELLED,
 * and those of files. */
enum idx_status idxi_remove_common(const struct idxi_removal *removal, uint64_t *removed, struct idx_error *error);

#endif
