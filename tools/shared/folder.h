/* folder.h: walks through the files in and below a folder, by patterns of the shell, and finds the folder of a path. */
#ifndef IDX_TOOLS_SHARED_FOLDER_H
#define IDX_TOOLS_SHARED_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

struct glob {
    const char *pattern;
    bool includes;
};

/* The patterns of --include and --exclude, in the order of the command line. All zero: everything is read. */
struct globs {
    struct glob *values;
    size_t count;
};

/* Appends a pattern of fnmatch(3), which is not copied and must stay valid. `includes` says whether it is one of
 * --include, and not of --exclude. Returns false, without a complaint, if memory ran out. */
bool globs_append(struct globs *globs, const char *pattern, bool includes);

/* Frees the list and empties it, but not the patterns. */
void globs_free(struct globs *globs);

struct links;

/* A walk through the regular files at and below a folder, the entries of each folder in the order of their bytes. */
struct folder_walk {
    /* These are set by the caller, and nothing else. */
    const char *root; /* The path of the folder. */
    const struct globs
        *globs;          /* Files and whole folders that these don't admit are left out; NULL: all are admitted. */
    struct links *links; /* Chooses which links are read, and counts what else there is; NULL: none is read. */
    bool quiet;          /* There are no messages, as before the files are read. */

    /* Results. */
    bool failed;    /* Something could not be read, as a complaint said, and was skipped. */
    bool no_memory; /* Memory ran out, without a complaint, which ended the walk. */

    /* These are private. */
    struct entered_folder *folders; /* The folders in which the walk is, the innermost last; NULL: it has not begun. */
    size_t depth, capacity;
    char *path;           /* The path of the entry that was examined last. */
    size_t scratch_count; /* How many scratch folders were left out, */
    char *scratch_paths;  /* and their paths, separated by commas. */
};

/* Returns the path of the next file, which is valid until the next call. Returns NULL at the end, and if memory ran
 * out: see `no_memory`. What can't be read is skipped after a complaint: see `failed`. Scratch folders of any user are
 * left out. */
const char *folder_walk_next(struct folder_walk *walk);

/* Names in a message the scratch folders that were left out, unless the walk is quiet, and frees what the walk holds.
 * Clears the struct, so read `failed` and `no_memory` before. The walk need not have begun. */
void folder_walk_end(struct folder_walk *walk);

/* Returns whether the path of an input leads to a folder, by links or directly. Returns false if nothing is there or it
 * can't be examined, and for `-`, which is standard input. */
bool folder_is_at(const char *path);

/* Returns a new path, folder/name, without a second slash if the folder ends with one. The caller frees it. Returns
 * NULL, without a complaint, if memory ran out. */
char *folder_join(const char *folder, const char *name);

/* Returns the path of the folder that a path is in: a/b of a/b/c/, "." of c, and / of /c. The caller frees it. Returns
 * NULL, without a complaint, if memory ran out. */
char *folder_find_parent(const char *path);

/* Syncs the folder that a path is in, so that a rename to the path survives a crash of the machine. Returns false and
 * sets errno, without a complaint, if that fails. A folder that can't be read, or whose file system can't sync folders,
 * is no failure. */
bool folder_sync_parent(const char *path);

/* Returns whether something can be made at the path: its folder is writable, and what is at the path, if anything, can
 * be examined. If not, complains, and names the option that chooses the path. */
bool folder_check_can_create(const char *path, const char *option);

/* Returns whether two paths lead to the same place, or one directly into the other. Neither need exist: then paths with
 * equal last names in the same folder lead to the same place. */
bool folder_paths_overlap(const char *a, const char *b);

#endif
