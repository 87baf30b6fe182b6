/* files.h: walks through folders, and makes temporary folders and files without names. */
#ifndef IDX_TOOLS_SHARED_FILES_H
#define IDX_TOOLS_SHARED_FILES_H

#include "tools/shared/output.h"

/* ---- Decides by patterns of the shell which files of a folder are read ---- */

struct glob {
    const char *pattern;
    bool includes;
};

/* The patterns of --include and --exclude, in the order in which they were given. If all is zero, everything is
 * read. */
struct globs {
    struct glob *values;
    size_t count;
};

/* Appends a pattern. Returns false if memory ran out. */
bool globs_append(struct globs *globs, const char *pattern, bool includes);

void globs_free(struct globs *globs);

/* ---- A folder for what a command needs while it runs ---- */

/* A scratch folder is locked (flock) while its command lives, and has a marker in it that says who made it. So a folder
 * that is marked but not locked was left by a killed command, and the next command removes it. It also removes an empty
 * folder of such a name that this user alone can read. Any other folder stays. */

struct scratch {
    char *path; /* NULL: there is no folder. */
    int lock;   /* The descriptor of the folder, which holds the lock. */
};

/* Returns the folder for temporary files: `folder`, or if that is NULL, $TMPDIR or /tmp. */
const char *scratch_parent(const char *folder);

/* Removes what killed commands of this user left in `parent`, and says so. */
void scratch_clean(const char *parent);

/* Cleans `parent`, and makes a folder there that this user alone can read. Returns false after a complaint, which names
 * the option that chooses the place. */
bool scratch_open(struct scratch *scratch, const char *parent, const char *option);

/* Returns whether the path has the name and the marker of a scratch folder, whoever made it and wherever it is now.
 * Such a folder is never read as an input, since it has only copies of other files. */
bool scratch_is(const char *path);

/* Returns a path in the folder, which the caller frees, or NULL if memory ran out. */
char *scratch_path(const struct scratch *scratch, const char *name);

/* Removes the folder with everything in it. Open files stay readable. Nothing happens if it was removed before or never
 * opened. */
void scratch_remove(struct scratch *scratch);

/* ---- Visits the files in a folder and in those below, and finds the folder that a path is in ---- */

/* A function that gets the path of each regular file, and returns false to stop. */
typedef bool (*folder_visitor)(void *context, const char *path);

/* Visits the regular files at and below the folder `path`, the entries of each folder in the order of their bytes.
 * Symbolic links aren't followed. What `globs` doesn't admit is left out, and so is all that such a folder has; NULL
 * admits everything. Scratch folders of any user are left out, and a message names them. What can't be read is skipped
 * after a complaint, and sets *failed. Returns false if `visit` did, or memory ran out. */
bool folder_walk(const char *path, const struct globs *globs, folder_visitor visit, void *context, bool *failed);

/* Does the same without messages, for a look at the files before they are walked through. */
void folder_search(const char *path, const struct globs *globs, folder_visitor visit, void *context);

/* Returns whether the path of an input leads to a folder, and is not -, which is standard input. */
bool folder_is_at(const char *path);

/* Returns the folder that a path is in, which the caller frees, or NULL if memory ran out. */
char *folder_parent(const char *path);

/* Checks whether the path can be made in its folder. Returns false after a complaint, which names the option. */
bool folder_check_parent(const char *path, const char *option);

/* Returns whether two paths lead to the same place, or one directly into the other. Neither need exist. */
bool folder_is_shared(const char *a, const char *b);

/* ---- A file without a name, in a scratch folder ---- */

/* Such a file is written to its end, and then mapped into memory. What was read there stays valid until the file is
 * closed. */

struct temporary {
    struct output output; /* The file is written through this. */
    const char *folder;   /* Its folder, for messages. */

    /* temporary.c alone uses these. */
    const char *mapped; /* The file's bytes; NULL: not mapped. */
    size_t size;        /* Bytes that are mapped. */
    size_t touched;     /* How many of them may be in memory. */
    bool failed;        /* A complaint was made. */
};

#define TEMPORARY_CLOSED                                                                                               \
    { .output = OUTPUT_KEPT }

/* Makes the file in the scratch folder, which may be removed afterwards. The string `folder`, which messages name, must
 * stay valid until the file is closed. */
bool temporary_open(struct temporary *temporary, const struct scratch *scratch, const char *folder);

/* Writes what is still buffered. Returns false after a complaint, also if an earlier write failed. */
bool temporary_flush(struct temporary *temporary);

/* Writes what is still buffered, and maps all that was written. */
bool temporary_map(struct temporary *temporary);

/* Returns the next `length` bytes of the mapped file, and moves *offset, at which they begin, behind them. Returns NULL
 * if fewer are left, as at the end. */
const char *temporary_take(struct temporary *temporary, uint64_t *offset, size_t length);

/* Appends all that was written to an output. */
bool temporary_copy(struct temporary *temporary, struct output *to);

/* Closes the file, which disappears. */
void temporary_close(struct temporary *temporary);

#endif
