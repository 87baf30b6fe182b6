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

/* Returns the folder that a path is in, which the caller frees, or NULL if memory ran out. */
char *folder_parent(const char *path);

/* Checks whether the path can be made in its folder. Returns false after a complaint, which names the option. */
bool folder_check_parent(const char *path, const char *option);

/* Returns whether two paths lead to the same place, or one into the other, if neither contains anything yet. */
bool folder_is_shared(const char *a, const char *b);

/* ---- A file without a name, in a scratch folder ---- */

/* It is written to its end, and then read from its beginning, as often as necessary. */

struct temporary {
    struct output output; /* The file is written through it. */
    const char *folder;   /* Messages name it. */

    /* These are for reading. */
    char *bytes;
    size_t start, end; /* They bound the bytes in `bytes` that were read and not yet returned. */
    uint64_t at;       /* The file is read on from this offset. */
    char *window;      /* temporary_read_at read these bytes last. */
    uint64_t window_begin;
    size_t window_count;
    bool failed; /* A complaint was made. */
};

#define TEMPORARY_CLOSED                                                                                               \
    { .output = OUTPUT_KEPT }

/* Makes the file in the folder, which has to stay only for that; but `folder`, its parent, has to stay for messages.
 * False after a complaint. */
bool temporary_open(struct temporary *temporary, const struct scratch *scratch, const char *folder);

/* Writes what is still buffered. False after a complaint, also about what could not be written before. */
bool temporary_flush(struct temporary *temporary);

/* Goes back to the beginning for reading. */
void temporary_rewind(struct temporary *temporary);

/* Reads the next `length` bytes. False at the end, and after a complaint: `failed` tells which. */
bool temporary_read(struct temporary *temporary, void *to, size_t length);

/* Passes over the next `length` bytes. False after a complaint. */
bool temporary_skip(struct temporary *temporary, uint64_t length);

/* Reads `length` bytes from `offset` on, without moving. False after a complaint. */
bool temporary_read_at(struct temporary *temporary, void *to, size_t length, uint64_t offset);

/* Appends what is left to be read to an output. False after a complaint. */
bool temporary_copy(struct temporary *temporary, struct output *to);

/* Closes the file, which disappears. */
void temporary_close(struct temporary *temporary);

#endif
