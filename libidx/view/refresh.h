/* refresh.h: how the manifest at the path of an index differs from the one that was opened. */
#ifndef IDX_LIBIDX_REFRESH_H
#define IDX_LIBIDX_REFRESH_H

#include "libidx/view/index.h"

enum idxi_change {
    IDXI_SAME = 0,     /* It is the same one. */
    IDXI_NEW_LOG = 1,  /* It differs only in what it says of the log. */
    IDXI_REPLACED = 2, /* It is that of another version of the index, or there is none. */
};

/* Sets *change to how the manifest at the index's path differs from the open one. Unless that is IDXI_REPLACED, or
 * index->manifest is NULL because opening it failed, sets *log to what the manifest at the path says of the log. If the
 * file is the one that was seen last, this takes one system call. Errors: as idx_replaced. */
enum idx_status idxi_find_change(const struct idx_index *index, enum idxi_change *change, struct idxf_manifest_log *log,
                                 struct idx_error *error);

/* Returns whether the manifest that was seen last says that there is a log. Any thread may call it. */
bool idxi_index_has_log(const struct idx_index *index);

#endif
