/* index_lock.c: takes a lock of an open index, and finds out whether a lock is still that of an index. */
#include "libidx/change/index_lock.h"

#include <fcntl.h>

#include "libidx/base/base.h"
#include "libidx/view/index.h"

bool idxi_lock_belongs_to(int lock, const char *name, const struct idx_index *index) {
    return idxi_path_leads_to(index->folder, name, AT_SYMLINK_NOFOLLOW, lock);
}

/* Replaces *index by a newer view, if there is one, and closes the old view. Sets *refreshed to whether it did so.
 * Errors: as idx_refresh. */
static enum idx_status refresh_view(struct idx_index **index, bool *refreshed, struct idx_error *error) {
    struct idx_index *newer;
    IDXI_TRY(idx_refresh(*index, &newer, error));
    *refreshed = newer != NULL;
    if (newer == NULL) return IDX_OK;
    idx_close(*index);
    *index = newer;
    return IDX_OK;
}

enum idx_status idxi_lock_index(int *lock, const char *name, struct idx_index **index, struct idx_error *error) {
    for (;;) {
        bool refreshed;
        enum idx_status locked = idxi_lock(lock, IDXI_LOCK_TAKE, name, (*index)->folder, (*index)->path, error);
        if (locked != IDX_OK && locked != IDX_NOT_FOUND) return locked; /* IDX_NOT_FOUND: the folder was deleted */
        enum idx_status status = refresh_view(index, &refreshed, error);
        if (status == IDX_OK && locked == IDX_OK && idxi_lock_belongs_to(*lock, name, *index)) return IDX_OK;
        idxi_lock_close(*lock);
        *lock = -1;
        if (status != IDX_OK) return status;
        if (locked != IDX_OK && !refreshed) return locked;
    }
}
