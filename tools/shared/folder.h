/* folder.h: the files in a folder and in those below; the folder that a path is in. */
#ifndef IDX_TOOLS_FOLDER_H
#define IDX_TOOLS_FOLDER_H

#include "tools/shared/globs.h"

#include <stdbool.h>

/* Called for each regular file; returns false to stop. */
typedef bool (*folder_visitor)(void *context, const char *path);

/* Visits the regular files at and below the folder `path`, the entries of each folder in the order of their bytes.
 * Symbolic links aren't followed. What `globs` doesn't admit (NULL: all is) is left out, folders with all that is in
 * them. Folders of scratch.h are left out, whoever's they are, and a message names them. What can't be read is
 * complained about, sets *failed, and is passed over. Returns false when `visit` did, or memory ran out. */
bool folder_walk(const char *path, const struct globs *globs, folder_visitor visit, void *context, bool *failed);

/* The same, but nothing is said: for a look at the files before they are walked. */
void folder_search(const char *path, const struct globs *globs, folder_visitor visit, void *context);

/* The folder that a path is in, which the caller frees; NULL: out of memory. */
char *folder_parent(const char *path);

/* Whether the path can be made in its folder. False after a complaint, which names the option that has the path. */
bool folder_check_parent(const char *path, const char *option);

/* Whether two paths lead to the same place, or one into the other, where neither has anything in it yet. */
bool folder_is_shared(const char *a, const char *b);

#endif
