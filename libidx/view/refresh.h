/* refresh.h: how the manifest at the path of an index differs from the one that was opened. */
#ifndef IDX_LIBIDX_REFRESH_H
#define IDX_LIBIDX_REFRESH_H

#include "libidx/view/index.h"

enum idxi_change {
    IDXI_SAME = 0,     /* It is the same one. */
    IDXI_NEW_LOG = 1,  /* It differs only in what it says of the log. */
    IDXI_REPLACED = 2, /* It is that of another version of the index, or there is none. */
};

/* Sets *change to how the manifest differs, and, unless it is IDXI_REPLACED, *log to what that manifest says of the
 * log. Makes one call to the system where it is the same. Errors: as idx_replaced. */
enum idx_status idxi_find_change(const struct idx_index *index, enum idxi_change *change, struct idxf_manifest_log *log,
                                 struct idx_error *error);

/* Returns whether there is a log, as the manifest says that was seen last. */
bool idxi_index_has_log(const struct idx_index *index);

#endif
