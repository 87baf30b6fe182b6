/* folder.h: visits the files in and below a folder, by patterns of the shell, and finds the folder of a path. */
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

/* Appends a pattern, which must stay valid. Returns false, without a complaint, if memory ran out. */
bool globs_append(struct globs *globs, const char *pattern, bool includes);

void globs_free(struct globs *globs);

/* A function that gets the path of each regular file, and returns false to stop. */
typedef bool (*folder_visitor)(void *context, const char *path);

struct links;

/* Visits the regular files at and below the folder `path`, the entries of each folder in the order of their bytes, and
 * the links that `links` chooses, which counts what else there is; NULL: none. What `globs` doesn't admit is left out,
 * and so is all that such a folder has; NULL admits everything. Scratch folders of any user are left out, and a message
 * names them. What can't be read is skipped after a complaint, and sets *failed. Returns false if `visit` did, or
 * memory ran out. */
bool folder_walk(const char *path, const struct globs *globs, struct links *links, folder_visitor visit, void *context,
                 bool *failed);

/* Does the same without messages, for a look at the files before they are walked through. */
bool folder_walk_quietly(const char *path, const struct globs *globs, struct links *links, folder_visitor visit,
                         void *context);

/* Returns whether the path of an input leads to a folder, and is not -, which is standard input. */
bool folder_is_at(const char *path);

/* Returns the folder that a path is in, which the caller frees, or NULL, without a complaint, if memory ran out. */
char *folder_parent(const char *path);

/* Has the disk keep what was renamed to the path. Returns false and sets errno, without a complaint, if that fails. A
 * folder that can't be read, or is of a file system that doesn't sync folders, is left as it is. */
bool folder_sync_parent(const char *path);

/* Returns whether something can be made at the path, in its folder. A complaint names the option of the path. */
bool folder_check_parent(const char *path, const char *option);

/* Returns whether two paths lead to the same place, or one directly into the other. Neither need exist. */
bool folder_paths_overlap(const char *a, const char *b);

#endif
