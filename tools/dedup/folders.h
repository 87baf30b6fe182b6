/* folders.h: the folders of `idx dedup --write` and `--dropped`, with the records of documents to keep and to drop. The
 * latter also has a table that names the near-duplicate of each. */
#ifndef IDX_TOOLS_DEDUP_FOLDERS_H
#define IDX_TOOLS_DEDUP_FOLDERS_H

#include "tools/dedup/intake.h"

/* A folder that appears as a whole or not at all: it is made in a scratch folder beside its place, and renamed in the
 * end. Files in it have the names of inputs. */
struct tree {
    const char *path;   /* Where it is published; NULL: it isn't asked for. */
    const char *option; /* The option that gave the path, for messages. */

    /* These are used by folders.c alone. */
    struct scratch scratch;
    int descriptor; /* Of the folder in the scratch folder. */
};

/* Makes a file under the name of an input, and the folders that it needs. The name is the input's path without what
 * leads out of the tree: a leading slash, and everything up to the last `..`. Returns the file's descriptor, which the
 * caller closes, or -1 if it fails; then also if the file exists already. */
int tree_create_file(const struct tree *tree, const char *input);

/* Goes through the journal once more, and copies each record into one of two trees: trees[0] is for what is kept,
 * trees[1] for what is dropped. `dropped` has a bit for each document that was compared: it is dropped as a whole.
 * Unless `divided` is NULL, the parts of other documents that are dropped are cut out, and each tree gets the record
 * with its own parts alone; their texts are found by the rules. Returns false also if a signal was noted. In kept.c. */
bool kept_copy_records(struct journal *journal, const struct tree *const trees[2], const uint64_t *dropped,
                       const struct divided *divided, const struct extract_rules *rules);

struct folders {
    struct tree kept, dropped; /* Their paths are NULL if they are not asked for. */
    struct output table;       /* dropped.tsv, beside the documents to drop; without --dropped it has no descriptor. */
};

/* Returns whether --write or --dropped names a folder. */
bool folders_are_asked_for(const struct folders *folders);

/* Checks that both folders and the report have places of their own, since each of them appears as a whole. The path of
 * the report is NULL if there is none. */
bool folders_check_places(const struct folders *folders, const char *report);

/* Removes what killed commands left beside the folders and the report, since those places may be among the inputs.
 * Returns false after a complaint if memory ran out. */
bool folders_clean_places(const struct folders *folders, const char *report);

/* Checks, before all the work, that the folders can be made of these inputs. Returns false after a complaint. */
bool folders_check(const struct folders *folders, const struct strings *paths);

/* Makes both folders, as far as they are asked for, beside their places, and the table. Returns false after a
 * complaint. */
bool folders_open(struct folders *folders);

/* Writes a line of the table, if there is one, for a dropped document of a cluster: its ID, that of its representative,
 * and their resemblance. Unless `set_size` is 0, the line also says what share of so many shingles both have. */
void folders_put_table_line(struct folders *folders, const struct idx_cluster_member *member,
                            const struct idx_kept_set *kept, uint32_t set_size);

/* Writes the records into the folders, and waits until they are on the disk; `dropped` has a bit for each document that
 * was compared. Documents are read by the rules. Returns false also if a signal was noted. */
bool folders_write(struct folders *folders, struct intake *intake, const uint64_t *dropped,
                   const struct extract_rules *rules);

/* Moves both folders to their places, once they are written. Returns false after a complaint. */
bool folders_publish(struct folders *folders);

/* Removes what was not published, and frees the rest. Accepts folders that were not opened. */
void folders_close(struct folders *folders);

#endif
