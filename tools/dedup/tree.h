/* tree.h: a folder that is made as a whole or not at all: in a scratch folder beside its place, where it is renamed to
 * in the end. Files in it have the names of inputs. */
#ifndef IDX_TOOLS_TREE_H
#define IDX_TOOLS_TREE_H

#include "tools/shared/arguments.h"
#include "tools/shared/scratch.h"

struct tree {
    const char *path;   /* where it will be; NULL: it isn't asked for */
    const char *option; /* that names the path */

    /* Within. */
    struct scratch scratch;
    int folder; /* descriptor; set by tree_open */
};

/* Whether it can be made: nothing may be at its path but an empty folder. False after a complaint. */
bool tree_check(const struct tree *tree);

/* Whether all files of these inputs have names of their own in a tree. False after a complaint. */
bool tree_check_inputs(const struct texts *paths);

/* Begins it. False after a complaint. */
bool tree_open(struct tree *tree);

/* Makes a file under the name of an input, in folders as need be: the input's path without what leads out of the tree,
 * a leading slash and all up to the last `..`. Returns its descriptor; -1 after a complaint. */
int tree_create(const struct tree *tree, const char *input);

/* Waits until all of it is on the disk. False after a complaint. */
bool tree_sync(const struct tree *tree);

/* Publishes it. False after a complaint. */
bool tree_publish(struct tree *tree);

/* Removes what was not published. Accepts one that was not opened. */
void tree_close(struct tree *tree);

#endif
