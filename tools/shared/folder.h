/* folder.h: visits the files in a folder and in those below, and finds the folder that a path is in. */
#ifndef IDX_TOOLS_FOLDER_H
#define IDX_TOOLS_FOLDER_H

#include "tools/shared/globs.h"

#include <stdbool.h>

/* It is called for each regular file, and returns false to stop. */
typedef bool (*folder_visitor)(void *context, const char *path);

/* Visits the regular files at and below the folder `path`, the entries of each folder in the order of their bytes.
 * Symbolic links aren't followed. What `globs` doesn't admit (NULL: all is) is left out, folders with all that is in
 * them. Folders of scratch.h are left out, whoever's they are, and a message names them. What can't be read is
 * complained about, sets *failed, and is passed over. Returns false when `visit` did, or memory ran out. */
bool folder_walk(const char *path, const struct globs *globs, folder_visitor visit, void *context, bool *failed);

/* Does the same without messages, for a look at the files before they are walked through. */
void folder_search(const char *path, const struct globs *globs, folder_visitor visit, void *context);

/* Returns the folder that a path is in, which the caller frees, or NULL if memory ran out. */
char *folder_parent(const char *path);

/* Checks whether the path can be made in its folder. Returns false after a complaint, which names the option. */
bool folder_check_parent(const char *path, const char *option);

/* Returns whether two paths lead to the same place, or one into the other, if neither contains anything yet. */
bool folder_is_shared(const char *a, const char *b);

#endif
