/* publish.h: publishes an index at its path completely or not at all. It is written in a folder `.NAME.tmp-XXXXXXXX`
 * beside its path. The folder is locked (flock) as long as its builder lives. If nobody holds the lock, a killed build
 * left the folder, and the next build of the same path removes it. */
#ifndef IDX_LIBIDX_PUBLISH_H
#define IDX_LIBIDX_PUBLISH_H

#include <idx.h>
#include <sys/types.h>

/* An index that is to be published. One thread uses it at a time. Zeroed, it has nothing to close. */
struct idxi_publication {
    char *path;      /* the path of the index, without slashes at its end */
    char *parent;    /* the folder that holds it */
    char *temporary; /* the path of the temporary folder; NULL if there is nothing to remove */
    int folder;      /* descriptor of `parent`; -1: it may not be read */
    int lock;        /* descriptor of the new index's folder, which holds the lock */
    pid_t process;   /* the process that opened it; one that is forked from it removes nothing */
    bool replace;
    size_t leftovers; /* folders of killed builds that were removed */
};

/* Checks that the index may be published at `path`, removes leftovers of killed builds of it, and makes a temporary
 * folder. With `replace`, an index at the path may be replaced. Call idxi_publication_close even if this fails. */
enum idx_status idxi_publication_open(struct idxi_publication *publication, const char *path, bool replace,
                                      struct idx_error *error);

/* Renames the temporary folder, whose content is synced, to the path, or exchanges it with an existing index that may
 * be replaced. Then syncs the folder that holds it. If only that fails, the new index is at the path, and the old one
 * stays beside it until the next build removes it. */
enum idx_status idxi_publish(struct idxi_publication *publication, struct idx_error *error);

/* Removes the temporary folder, with what was not published or was replaced, and frees all memory. */
void idxi_publication_close(struct idxi_publication *publication);

#endif
