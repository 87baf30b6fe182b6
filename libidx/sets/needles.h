/* needles.h: what needles.c needs of a collection of sets. */
#ifndef IDX_LIBIDX_NEEDLES_H
#define IDX_LIBIDX_NEEDLES_H

#include "libidx/sets/store.h"

/* Makes all sets of a collection readable until one is added, and sets *store to the store that holds them, which
 * belongs to the collection. Errors: those of files. */
enum idx_status idxi_sets_flush(struct idx_sets *sets, const struct idxi_set_store **store, struct idx_error *error);

#endif
