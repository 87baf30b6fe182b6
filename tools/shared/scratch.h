/* scratch.h: a folder for what a command needs while it runs. It is locked (flock) as long as the command lives, and
 * has a marker in it that says who made it: a folder that is marked, and that nobody has locked, was left by a command
 * that was killed, and the next one removes it. So is an empty one of that name that this user alone can read. Any
 * other folder stays. */
#ifndef IDX_TOOLS_SCRATCH_H
#define IDX_TOOLS_SCRATCH_H

#include <stdbool.h>

struct scratch {
    char *path; /* NULL: there is no folder. */
    int lock;   /* It is the descriptor of the folder. */
};

/* Returns the folder for temporary files: `folder`, or if that is NULL, $TMPDIR or /tmp. */
const char *scratch_parent(const char *folder);

/* Removes what killed commands of this user left in `parent`, and says so. */
void scratch_clean(const char *parent);

/* Cleans `parent`, and makes a folder there that this user alone can read. Returns false after a complaint, which names
 * the option that chooses the place. */
bool scratch_open(struct scratch *scratch, const char *parent, const char *option);

/* Returns whether the path has the name and the marker of such a folder, whoever made it and wherever it is now. Its
 * contents are copies of what somebody has elsewhere. */
bool scratch_is(const char *path);

/* Returns a path in the folder, which the caller frees, or NULL if memory ran out. */
char *scratch_path(const struct scratch *scratch, const char *name);

/* Removes the folder with everything in it. Open files stay readable. Nothing happens if it was removed before or never
 * opened. */
void scratch_remove(struct scratch *scratch);

#endif
