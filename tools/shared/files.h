/* files.h: folders, those for what a command needs while it runs, and files without names. */
#ifndef IDX_TOOLS_SHARED_FILES_H
#define IDX_TOOLS_SHARED_FILES_H

#include "tools/shared/output.h"

#include <stdbool.h>
#include <stddef.h>

/* ---- Decides by patterns of the shell which files of a folder are read ---- */

struct glob {
    const char *pattern;
    bool includes;
};

/* These are the patterns of --include and --exclude, in the order in which they were given. If all is zero, everything
 * is read. */
struct globs {
    struct glob *values;
    size_t count;
};

/* Appends a pattern. Returns false if memory ran out. */
bool globs_append(struct globs *globs, const char *pattern, bool includes);

void globs_free(struct globs *globs);

/* ---- A folder for what a command needs while it runs ---- */

/* It is locked (flock) as long as the command lives, and has a marker in it that says who made it: a folder that is
 * marked, and that nobody has locked, was left by a command that was killed, and the next one removes it. So is an
 * empty one of that name that this user alone can read. Any other folder stays. */

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

/* ---- Visits the files in a folder and in those below, and finds the folder that a path is in ---- */

/* It is called for each regular file, and returns false to stop. */
typedef bool (*folder_visitor)(void *context, const char *path);

/* Visits the regular files at and below the folder `path`, the entries of each folder in the order of their bytes.
 * Symbolic links aren't followed. What `globs` doesn't admit (NULL: all is) is left out, folders with all that is in
 * them. Scratch folders are left out, whoever's they are, and a message names them. What can't be read is
 * complained about, sets *failed, and is passed over. Returns false when `visit` did, or memory ran out. */
bool folder_walk(const char *path, const struct globs *globs, folder_visitor visit, void *context, bool *failed);

/* Does the same without messages, for a look at the files before they are walked through. */
void folder_search(const char *path, const struct globs *globs, folder_visitor visit, void *context);

/* Returns whether the path of an input leads to a folder, and is not -, which is standard input. */
bool folder_is_at(const char *path);

/* Returns the folder that a path is in, which the caller frees, or NULL if memory ran out. */
char *folder_parent(const char *path);

/* Checks whether the path can be made in its folder. Returns false after a complaint, which names the option. */
bool folder_check_parent(const char *path, const char *option);

/* Returns whether two paths lead to the same place, or one into the other, if neither contains anything yet. */
bool folder_is_shared(const char *a, const char *b);

/* ---- A file without a name, in a scratch folder ---- */

/* It is written to its end, and then mapped into memory, where what was read stays valid until the file is closed. */

struct temporary {
    struct output output; /* The file is written through it. */
    const char *folder;   /* Messages name it. */

    /* temporary.c alone uses these. */
    const char *mapped; /* The file's bytes; NULL: it is empty, or not mapped yet. */
    size_t size;        /* So many bytes are mapped. */
    size_t touched;     /* So many of them may be in memory. */
    bool failed;        /* A complaint was made. */
};

#define TEMPORARY_CLOSED                                                                                               \
    { .output = OUTPUT_KEPT }

/* Makes the file in the scratch folder, which has to stay only for that; but `folder`, the one that it is in, has to
 * stay for messages. Returns false after a complaint. */
bool temporary_open(struct temporary *temporary, const struct scratch *scratch, const char *folder);

/* Writes what is still buffered. Returns false after a complaint, also about what could not be written before. */
bool temporary_flush(struct temporary *temporary);

/* Writes what is still buffered, and maps all that was written. Returns false after a complaint. */
bool temporary_map(struct temporary *temporary);

/* Returns `length` bytes of the mapped file from *offset on, of which it has as many, and moves *offset behind them.
 * Returns NULL at the end of the file. */
const char *temporary_take(struct temporary *temporary, uint64_t *offset, size_t length);

/* Appends all that was written to an output. Returns false after a complaint. */
bool temporary_copy(struct temporary *temporary, struct output *to);

/* Closes the file, which disappears. */
void temporary_close(struct temporary *temporary);

#endif
