/* scratch.h: a folder for what a command needs while it runs. A scratch folder is locked (flock) while its command
 * lives, and has a marker in it that says who made it. So a folder that is marked but not locked was left by a killed
 * command, and the next command removes it. It also removes an empty folder of such a name that this user alone can
 * read. Any other folder stays. */
#ifndef IDX_TOOLS_SHARED_SCRATCH_H
#define IDX_TOOLS_SHARED_SCRATCH_H

#include <stdbool.h>

struct scratch {
    char *path; /* NULL: there is no folder. */
    int lock;   /* The descriptor of the folder, which holds the lock. */
};

/* Returns the folder for temporary files: `folder`, or if that is NULL, $TMPDIR, or if that is not set, /tmp. An empty
 * path means /tmp as well. The result belongs to the caller's `folder`, or to the environment. */
const char *scratch_choose_parent(const char *folder);

/* Removes the scratch folders that killed commands of this user left in the folder at the path `parent`, and says in a
 * message how many these were. What can't be removed stays, without a complaint. */
void scratch_remove_leftovers(const char *parent);

/* Removes the leftovers in the folder at the path `parent`, and makes there a scratch folder that this user alone can
 * read. scratch_remove removes it. Complains and returns false if that fails; the complaint names `option`, which
 * chooses the place. Then scratch->path is NULL. */
bool scratch_open(struct scratch *scratch, const char *parent, const char *option);

/* Returns whether there is a scratch folder at the path: its name is that of one, and it has a marker, whoever made it
 * and wherever it was moved. Such a folder is never read as an input, since it has only copies of other files. */
bool scratch_is_at(const char *path);

/* Returns the path that a file of this name has in the scratch folder, and which the caller frees. Returns NULL,
 * without a complaint, if memory ran out. */
char *scratch_join(const struct scratch *scratch, const char *name);

/* Removes the folder with everything in it, and sets its path to NULL; does nothing if the path is NULL already. What
 * can't be removed stays, without a complaint. Open files stay readable. */
void scratch_remove(struct scratch *scratch);

#endif
