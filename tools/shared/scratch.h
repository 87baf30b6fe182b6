/* scratch.h: a folder for what a command needs while it runs. It is locked (flock) as long as the command lives, and
 * has a marker in it that says who made it: a folder that is marked, and that nobody has locked, was left by a command
 * that was killed, and the next one removes it. So is an empty one of that name that this user alone can read. Any
 * other folder stays. */
#ifndef IDX_TOOLS_SCRATCH_H
#define IDX_TOOLS_SCRATCH_H

#include <stdbool.h>

struct scratch {
    char *path; /* NULL: none */
    int lock;   /* descriptor of the folder */
};

/* Where temporary files go: `folder`, or where that is NULL, $TMPDIR or /tmp. */
const char *scratch_parent(const char *folder);

/* Removes what killed commands left in `parent`, of this user, and says so. */
void scratch_clean(const char *parent);

/* Cleans `parent`, and makes a folder there that this user alone can read.
 * False after a complaint, which names the option that chooses the place. */
bool scratch_open(struct scratch *scratch, const char *parent, const char *option);

/* Whether the path has the name and the marker of such a folder, whoever made it and wherever it is now. What is in it
 * is a copy of what somebody has elsewhere. */
bool scratch_is(const char *path);

/* A path in it, which the caller frees; NULL where there is no memory. */
char *scratch_path(const struct scratch *scratch, const char *name);

/* Removes it with all that is in it; open files stay readable. Once, or before it was opened: nothing. */
void scratch_remove(struct scratch *scratch);

#endif
