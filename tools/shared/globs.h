/* globs.h: decides by patterns of the shell which files of a folder are read. */
#ifndef IDX_TOOLS_GLOBS_H
#define IDX_TOOLS_GLOBS_H

#include <stdbool.h>
#include <stddef.h>

struct glob {
    const char *pattern;
    bool includes;
};

/* These are the patterns of --include and --exclude, in the order in which they were given. If all is zero, everything
 * is read. */
struct globs {
    struct glob *values;
    size_t count;
};

/* Appends a pattern. Returns false if memory ran out. */
bool globs_append(struct globs *globs, const char *pattern, bool includes);

/* Whether a file or folder is read, by its path below the folder that was given. The last pattern that matches says
 * so. A file that none matches is read unless the first pattern is one of --include; a folder is. */
bool globs_admit(const struct globs *globs, const char *path, bool is_folder);

void globs_free(struct globs *globs);

#endif
