/* publish.h: how an index comes to stand under its path: whole or not at all. */
#ifndef IDX_LIBIDX_PUBLISH_H
#define IDX_LIBIDX_PUBLISH_H

#include <idx.h>

struct idxi_publication {
    char *path;   /* where the index will stand, without slashes at its end */
    char *parent; /* the folder that holds it */
    char *temporary;
    bool replace;
};

/* Checks that the index may stand at `path`, and makes a temporary folder beside it. */
enum idx_status idxi_publication_open(struct idxi_publication *publication, const char *path, bool replace,
                                      struct idx_error *error);

/* Renames the temporary folder, whose content is synced, to the path; exchanges it with the index that stands there and
 * removes that one, where it may be replaced. */
enum idx_status idxi_publish(struct idxi_publication *publication, struct idx_error *error);

/* Removes what was not published, and frees. */
void idxi_publication_close(struct idxi_publication *publication);

#endif
