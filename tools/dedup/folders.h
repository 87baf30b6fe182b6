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

/* Creates a file in an open tree under the name of the input at `path`, and the folders that it needs. The name is the
 * path without what leads out of the tree: a leading slash, and everything up to the last `..`. So ../a/b.txt becomes
 * a/b.txt. Returns the file's descriptor, which the caller closes; or -1, after a complaint, if that fails or the file
 * exists already. */
int tree_create_file(const struct tree *tree, const char *path);

/* Copies the record of each document in the journal from its input into one of two trees, if that tree is asked for:
 * trees[0] is for what is kept, trees[1] for what is dropped. `dropped` has a bit for each document that was compared,
 * which is set if the document is dropped as a whole. Unless `divided` is NULL, a document that loses some parts goes
 * into both trees, each with its own parts alone; `rules` say which field of JSON is its text. Returns false after a
 * complaint, or if a signal was noted. In kept.c. */
bool folders_copy_records(struct journal *journal, const struct tree *const trees[2], const uint64_t *dropped,
                          const struct divided *divided, const struct extract_rules *rules);

struct folders {
    struct tree kept, dropped; /* Their paths are NULL if they are not asked for. */
    struct output table;       /* dropped.tsv, beside the documents to drop; without --dropped it has no descriptor. */
};

/* Returns whether --write or --dropped names a folder. */
bool folders_are_asked_for(const struct folders *folders);

/* Checks that the places of both folders and the report, as far as they are asked for, are not the same, nor within
 * each other, since each of them appears as a whole. `report` is the path of the report, or NULL. Returns false after a
 * complaint. */
bool folders_check_places(const struct folders *folders, const char *report);

/* Removes the scratch folders that killed commands left beside the places of both folders and the report, since these
 * may be among the inputs. Returns false after a complaint if memory ran out. */
bool folders_remove_leftovers(const struct folders *folders, const char *report);

/* Checks, before all the work, that both folders can be made where they are asked for, and that all inputs have names
 * of their own in them. Returns false after a complaint. */
bool folders_check_creatable(const struct folders *folders, const struct strings *paths);

/* Makes both folders, as far as they are asked for, beside their places, and the table. Returns false after a
 * complaint; the caller calls folders_close even then. */
bool folders_open(struct folders *folders);

/* Writes a line of the table, if there is one, for a dropped document: its ID and that of its representative, which
 * `member` has, and their resemblance by `kept`. Unless `set_size`, the number of the document's shingles, is 0, a
 * further column is the share of these that both have. folders_write finds an error of output. */
void folders_write_table_line(struct folders *folders, const struct idx_cluster_member *member,
                              const struct idx_kept_set *kept, uint32_t set_size);

/* Writes the table and the records into the folders, and waits until they are on the disk. `dropped` and `rules` are as
 * folders_copy_records takes them. Returns false after a complaint, or if a signal was noted. */
bool folders_write(struct folders *folders, struct intake *intake, const uint64_t *dropped,
                   const struct extract_rules *rules);

/* Moves both folders to their places, once they are written. Returns false after a complaint; the first one may be in
 * its place then. */
bool folders_publish(struct folders *folders);

/* Removes what was not published, and frees the rest. Accepts folders that were not opened. */
void folders_close(struct folders *folders);

#endif
