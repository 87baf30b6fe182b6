/* folder.h: the files in a folder and in those below. */
#ifndef IDX_TOOLS_FOLDER_H
#define IDX_TOOLS_FOLDER_H

#include <stdbool.h>

/* Called for each regular file; returns false to stop. */
typedef bool (*folder_visitor)(void *context, const char *path);

/* Visits the regular files at and below the folder `path`, the entries of each folder in the order of their bytes.
 * Symbolic links aren't followed. What can't be read is complained about, sets *failed, and is passed over. Returns
 * false when `visit` did, or memory ran out. */
bool folder_walk(const char *path, folder_visitor visit, void *context, bool *failed);

#endif
