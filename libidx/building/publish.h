/* publish.h: publishes an index at its path completely or not at all. It is written in a folder `.NAME.tmp-XXXXXXXX`
 * beside its path. The folder is locked (flock) as long as its builder lives. If nobody holds the lock, a killed build
 * left the folder, and the next build of the same path removes it. */
#ifndef IDX_LIBIDX_PUBLISH_H
#define IDX_LIBIDX_PUBLISH_H

#include <idx.h>
#include <sys/types.h>

/* An index that is to be published. Only one thread at a time may use it. Zeroed, it has nothing to close. */
struct idxi_publication {
    char *path;       /* the path of the index, without slashes at its end */
    char *parent;     /* the path of the folder that holds it */
    char *temporary;  /* the path of the temporary folder; NULL if there is nothing to remove */
    int parent_fd;    /* its descriptor; -1: it may not be read */
    int lock;         /* descriptor of the new index's folder, which holds the lock */
    pid_t process;    /* the process that opened it; one that is forked from it removes nothing */
    bool replace;     /* whether an index at `path` may be replaced */
    size_t leftovers; /* folders of killed builds that were removed */
};

/* Checks that an index may be published at `path`, where there may be an index only with `replace`. Removes what killed
 * builds of the same path left, and makes and locks the temporary folder, publication->temporary. Call
 * idxi_publication_close even if this fails. Errors: IDX_INVALID_ARGUMENT (no name), IDX_EXISTS, IDX_NOT_AN_INDEX (at
 * the path, with `replace`), IDX_NOT_FOUND (the folder that holds it), IDX_OUT_OF_MEMORY, IDX_IO_ERROR, IDX_DISK_FULL,
 * IDX_NO_ACCESS. */
enum idx_status idxi_publication_open(struct idxi_publication *publication, const char *path, bool replace,
                                      struct idx_error *error);

/* Renames the temporary folder to the path, or exchanges it with the index there, if that may be replaced. Then syncs
 * the folder that holds it. The caller has synced what is in the temporary folder. If only the last sync fails, the new
 * index is at the path, and the old one stays beside it until the next build removes it. Errors: as for
 * idxi_publication_open, IDX_BUSY (the old index has a writer or is being compacted), IDX_UNSUPPORTED (the file system
 * can't exchange). */
enum idx_status idxi_publish(struct idxi_publication *publication, struct idx_error *error);

/* Removes the temporary folder with its content: the new index if it was not published, otherwise the one that it has
 * replaced. A process that was forked from the one that opened it removes nothing. Frees all memory, and zeroes
 * *publication. */
void idxi_publication_close(struct idxi_publication *publication);

#endif
