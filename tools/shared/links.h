/* links.h: which symbolic links in folders are read, and what else of folders is left out. */
#ifndef IDX_TOOLS_SHARED_LINKS_H
#define IDX_TOOLS_SHARED_LINKS_H

#include "tools/shared/folder.h"

#include <stdint.h>
#include <sys/stat.h>

/* What an entry of a folder is that is neither a regular file nor a folder. */
enum link_kind {
    LINK_READ,       /* A link to a regular file, which is read. */
    LINK_TO_KNOWN,   /* A link to a file that is read as well, or was. */
    LINK_TO_FOLDER,  /* Such a link is not followed. */
    LINK_TO_NOTHING, /* What it leads to is not there, or it leads to itself. */
    LINK_IRREGULAR,  /* A FIFO, socket or device, or a link to one. */
    LINK_KINDS,
};

/* Chooses among the links of folders. A link to a regular file, within a folder or outside of it, is read unless that
 * file is read as well, or was: by its device and inode. The first link to a file that is not an input counts, in the
 * order in which folders are walked through. Needs about 64 bytes for each file of the inputs once there is a link. */
struct links {
    /* These are set by the caller, or else only files that links led to are known. */
    const char *const *paths; /* All inputs. */
    size_t path_count;
    const struct globs *globs; /* Which files of folders are read. */

    uint64_t left_out[LINK_KINDS]; /* How many entries of each kind were classified, those that are read included. */

    /* These are private. */
    bool filled;     /* The tree has the files of the inputs. */
    void *file_tree; /* The known files, by device and inode: a tree of tsearch(3). */
};

/* Sets *kind to the kind of the entry at `path`, and counts it in `left_out`. `status` is what lstat(2) says of the
 * entry, which is neither a regular file nor a folder. Returns false, with errno set, if what it leads to can't be
 * examined, or memory ran out. */
bool links_classify(struct links *links, const char *path, const struct stat *status, enum link_kind *kind);

/* Returns what messages call an entry of a kind, such as "link to a folder". The string is a constant. */
const char *links_get_kind_name(enum link_kind kind);

/* Frees the tree of files. `left_out` stays as it is. */
void links_free(struct links *links);

#endif
