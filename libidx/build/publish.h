/* publish.h: how an index comes to stand under its path: whole or not at all. It is written in a folder
 * `.NAME.tmp-XXXXXXXX` beside that, locked (flock) as long as its builder lives: one that nobody has locked was left by
 * a build that was killed, and the next build of the same path removes it. */
#ifndef IDX_LIBIDX_PUBLISH_H
#define IDX_LIBIDX_PUBLISH_H

#include <idx.h>

/* One thread at a time. All zeros: nothing to close. */
struct idxi_publication {
    char *path;      /* where the index will stand, without slashes at its end */
    char *parent;    /* the folder that holds it */
    char *temporary; /* beside it; NULL when there is nothing to remove */
    int folder;      /* descriptor of `parent`; -1: it may not be read */
    int lock;        /* descriptor of the new index's folder, which holds the lock */
    bool replace;
    size_t leftovers; /* folders of killed builds that were removed */
};

/* Checks that the index may stand at `path`, removes what killed builds of it left, and makes a temporary folder.
 * Whatever it returns, idxi_publication_close frees. */
enum idx_status idxi_publication_open(struct idxi_publication *publication, const char *path, bool replace,
                                      struct idx_error *error);

/* Renames the temporary folder, whose content is synced, to the path, or exchanges it with the index that stands there
 * and may be replaced; then syncs the folder that holds it. When that alone fails, the new index stands at the path,
 * and the old one stays beside it for the next build to remove. */
enum idx_status idxi_publish(struct idxi_publication *publication, struct idx_error *error);

/* Removes what was not published, or was replaced, and frees. */
void idxi_publication_close(struct idxi_publication *publication);

#endif
