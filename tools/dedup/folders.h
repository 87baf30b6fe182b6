/* folders.h: `idx dedup --write` and `--dropped`: the folders that get the records of documents to keep, and of
 * documents to drop with a table of what these are like. */
#ifndef IDX_TOOLS_FOLDERS_H
#define IDX_TOOLS_FOLDERS_H

#include "tools/dedup/intake.h"
#include "tools/dedup/journal.h"
#include "tools/shared/arguments.h"
#include "tools/shared/scratch.h"

/* A folder that is made as a whole or not at all: in a scratch folder beside its place, from which it is renamed in the
 * end. Files in it have the names of inputs. */
struct tree {
    const char *path;   /* where it is published; NULL if it isn't asked for */
    const char *option; /* the option that gave the path, for messages */

    /* These are used by folders.c alone. */
    struct scratch scratch;
    int folder; /* the descriptor of the folder in the scratch folder */
};

/* Makes a file under the name of an input, in folders as need be: the input's path without what leads out of the tree,
 * a leading slash and all up to the last `..`. Returns its descriptor; -1 after a complaint. */
int tree_create(const struct tree *tree, const char *input);

/* Goes through the journal once more, and copies each record into a tree (kept.c). `trees` are that of what is kept and
 * that of what is dropped, whose paths are NULL where they are not asked for. `dropped` has a bit for each document
 * that was compared. Returns false after a complaint, or where a signal was noted. */
bool kept_write(struct journal *journal, const struct tree *const trees[2], const uint64_t *dropped);

struct folders {
    struct tree kept, dropped;               /* their paths are NULL where they are not asked for */
    const struct idx_properties *properties; /* those of the index that is clustered */

    struct output table; /* dropped.tsv, beside the documents to drop */
};

bool folders_are_asked_for(const struct folders *folders);

/* Checks that the folders can be made of these inputs. Returns false after a complaint. */
bool folders_check(const struct folders *folders, const struct texts *paths);

/* Begins the folders that are asked for. Returns false after a complaint. */
bool folders_open(struct folders *folders);

/* Writes a line of the table for a document of a cluster that is dropped. */
void folders_note(struct folders *folders, const struct idx_cluster_member *member);

/* Writes the folders, and waits until they are on the disk; `dropped` has a bit for each document that was compared.
 * False after a complaint, or where a signal was noted. */
bool folders_write(struct folders *folders, struct intake *intake, const uint64_t *dropped);

/* Publishes the folders that are asked for. Returns false after a complaint. */
bool folders_publish(struct folders *folders);

/* Removes what was not published, and frees the rest. Accepts folders that were not opened. */
void folders_close(struct folders *folders);

#endif
