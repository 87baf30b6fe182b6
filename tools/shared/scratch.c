/* scratch.c: makes folders for what commands need while they run, and removes those that killed commands left. */
#include "tools/shared/scratch.h"
#include "tools/shared/folder.h"
#include "tools/shared/temporary.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX "idx-scratch-"
#define TEMPLATE PREFIX "XXXXXX"
#define MARKER "made-by-idx"
#define OPEN_FOLDER (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

enum { MARKER_BYTES = 128 };

/* Removes all entries of an open folder, with what is in them, except for the entry `kept_name`, unless that is NULL.
 * What can't be removed stays, without a complaint. `folder` stays open. */
static void remove_entries(int folder, const char *kept_name) {
    int descriptor = openat(folder, ".", OPEN_FOLDER); /* closedir closes this descriptor. */
    DIR *entries = descriptor < 0 ? NULL : fdopendir(descriptor);
    if (entries == NULL && descriptor >= 0) close(descriptor);
    for (struct dirent *entry; entries != NULL && (entry = readdir(entries)) != NULL;) {
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || (kept_name != NULL && strcmp(name, kept_name) == 0))
            continue;
        if (unlinkat(folder, name, 0) == 0) continue;
        int subfolder = openat(folder, name, OPEN_FOLDER);
        if (subfolder < 0) continue;
        remove_entries(subfolder, NULL);
        close(subfolder);
        unlinkat(folder, name, AT_REMOVEDIR);
    }
    if (entries != NULL) closedir(entries);
}

/* Removes everything in an open scratch folder, the marker last: so what a killed removal leaves can be recognized. */
static void remove_entries_and_marker(int folder) {
    remove_entries(folder, MARKER);
    unlinkat(folder, MARKER, 0);
}

/* ---- The marker ---- */

/* Writes to `text` what the marker of a folder must have, and returns its length. It names the folder by `name` and by
 * the inode in `folder`, which tell a copy of the folder or a renamed one from the original. */
static size_t write_marker_text(char text[MARKER_BYTES], const char *name, const struct stat *folder) {
    return (size_t)snprintf(text, MARKER_BYTES, "idx made %s, inode %ju, and may remove it\n", name,
                            (uintmax_t)folder->st_ino);
}

/* Writes the marker of an open folder, whose name is `name`. Returns false and sets errno if that fails; then there is
 * no marker. */
static bool write_marker(int folder, const char *name) {
    char text[MARKER_BYTES];
    struct stat status;
    if (fstat(folder, &status) != 0) return false;
    size_t length = write_marker_text(text, name, &status);
    int file = openat(folder, MARKER, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0) return false;
    errno = ENOSPC; /* The error of a short write, which sets none. */
    bool is_written = write(file, text, length) == (ssize_t)length;
    int error = errno;
    is_written = close(file) == 0 && is_written;
    if (!is_written) unlinkat(folder, MARKER, 0);
    errno = error;
    return is_written;
}

/* Returns whether an open folder belongs to this user, and is closed to everybody else. Sets *status to what fstat says
 * of it. */
static bool is_private_folder(int folder, struct stat *status) {
    return fstat(folder, status) == 0 && status->st_uid == geteuid() && (status->st_mode & 077) == 0;
}

/* Returns whether an open folder has a marker that proves that idx made the folder under this name, for this user. */
static bool has_valid_marker(int folder, const char *name) {
    char expected[MARKER_BYTES], text[MARKER_BYTES];
    struct stat status, marker;
    if (!is_private_folder(folder, &status)) return false;
    int file = openat(folder, MARKER, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (file < 0) return false;
    bool is_own_file = fstat(file, &marker) == 0 && S_ISREG(marker.st_mode) && marker.st_uid == status.st_uid;
    ssize_t length = is_own_file ? read(file, text, sizeof text) : -1;
    close(file);
    return length == (ssize_t)write_marker_text(expected, name, &status) && memcmp(text, expected, (size_t)length) == 0;
}

/* ---- Leftovers ---- */

/* Returns whether a name has the form of TEMPLATE: its prefix, and six more characters. */
static bool has_scratch_name(const char *name) {
    return strncmp(name, PREFIX, strlen(PREFIX)) == 0 && strlen(name) == strlen(TEMPLATE);
}

bool scratch_is_at(const char *path) {
    const char *slash = strrchr(path, '/');
    struct stat status;
    if (!has_scratch_name(slash == NULL ? path : slash + 1)) return false;
    char *marker = folder_join(path, MARKER);
    bool has_marker = marker != NULL && lstat(marker, &status) == 0 && S_ISREG(status.st_mode);
    free(marker);
    return has_marker;
}

/* Removes the marker of an open folder if it is empty: its command was killed before it wrote the text. Does nothing if
 * there is no such marker. */
static void remove_empty_marker(int folder) {
    struct stat marker;
    if (fstatat(folder, MARKER, &marker, AT_SYMLINK_NOFOLLOW) != 0) return;
    if (S_ISREG(marker.st_mode) && marker.st_size == 0) unlinkat(folder, MARKER, 0);
}

/* Removes the folder `name` of the open folder `parent` if a killed command left it, and returns whether it did. A
 * folder without a marker is removed only if it is empty: its command was killed just after it made it. */
static bool remove_leftover(int parent, const char *name) {
    struct stat status;
    int folder = openat(parent, name, OPEN_FOLDER);
    if (folder < 0) return false;
    bool removable = flock(folder, LOCK_EX | LOCK_NB) == 0 && is_private_folder(folder, &status);
    if (removable && has_valid_marker(folder, name))
        remove_entries_and_marker(folder);
    else if (removable)
        remove_empty_marker(folder);
    bool removed = removable && unlinkat(parent, name, AT_REMOVEDIR) == 0;
    close(folder);
    return removed;
}

/* Removes the folders that killed commands left in the folder at the path `parent`. Returns how many were removed. */
static size_t remove_all_leftovers(const char *parent) {
    size_t removed_count = 0;
    DIR *entries = opendir(parent);
    if (entries == NULL) return 0;
    for (struct dirent *entry; (entry = readdir(entries)) != NULL;)
        if (has_scratch_name(entry->d_name)) removed_count += remove_leftover(dirfd(entries), entry->d_name);
    closedir(entries);
    return removed_count;
}

/* ---- The folder ---- */

/* Opens the new folder at scratch->path, locks it, and then marks it. Returns false, with errno set and the folder
 * closed, if it can't be opened or marked. The lock may wait for a process that checks whether this is a leftover.
 * Where folders can't be locked, no process removes any. */
static bool lock_and_mark_folder(struct scratch *scratch) {
    struct stat status;
    scratch->lock = open(scratch->path, OPEN_FOLDER);
    if (scratch->lock < 0) return false;
    while (flock(scratch->lock, LOCK_EX) != 0 && errno == EINTR) continue;
    errno = EEXIST; /* By now, the name may be that of another user's folder. */
    bool marked = fstat(scratch->lock, &status) == 0 && status.st_uid == geteuid() &&
                  write_marker(scratch->lock, strrchr(scratch->path, '/') + 1);
    int error = errno;
    if (!marked) close(scratch->lock);
    errno = error;
    return marked;
}

/* How often a new folder is made again because another process took it for a leftover and removed it. */
#define MAX_TRIES 100

/* Makes, locks and marks a folder. If that fails, returns false and sets errno, and sets *try_again if another process
 * took the new folder for a leftover and removed it. */
static bool try_to_make_folder(struct scratch *scratch, const char *parent, bool *try_again) {
    scratch->path = folder_join(parent, TEMPLATE);
    if (scratch->path == NULL) errno = ENOMEM;
    bool is_made = scratch->path != NULL && mkdtemp(scratch->path) != NULL;
    if (is_made && lock_and_mark_folder(scratch)) return true;
    int error = errno;
    *try_again = is_made && error == ENOENT;
    if (is_made) rmdir(scratch->path);
    free(scratch->path);
    scratch->path = NULL;
    errno = error;
    return false;
}

/* Makes a scratch folder in the folder at the path `parent`, in up to MAX_TRIES tries. Returns false, without a
 * complaint, and sets errno if that fails; then scratch->path is NULL. */
static bool make_scratch_folder(struct scratch *scratch, const char *parent) {
    bool try_again = true;
    for (int i = 0; i < MAX_TRIES && try_again; i++) {
        try_again = false;
        if (try_to_make_folder(scratch, parent, &try_again)) return true;
    }
    return false;
}

const char *scratch_choose_parent(const char *folder) {
    if (folder == NULL) folder = getenv("TMPDIR");
    return folder == NULL || *folder == '\0' ? "/tmp" : folder;
}

void scratch_remove_leftovers(const char *parent) {
    size_t leftovers = remove_all_leftovers(parent);
    if (leftovers == 1) complain("removed a folder that a killed command had left in %s", parent);
    if (leftovers > 1) complain("removed %zu folders that killed commands had left in %s", leftovers, parent);
}

bool scratch_open(struct scratch *scratch, const char *parent, const char *option) {
    scratch_remove_leftovers(parent);
    if (make_scratch_folder(scratch, parent)) return true;
    return complain("%s: can't create a temporary folder: %s; choose another place with %s", parent, strerror(errno),
                    option);
}

char *scratch_join(const struct scratch *scratch, const char *name) { return folder_join(scratch->path, name); }

void scratch_remove(struct scratch *scratch) {
    if (scratch->path == NULL) return;
    remove_entries_and_marker(scratch->lock);
    rmdir(scratch->path);
    close(scratch->lock);
    free(scratch->path);
    scratch->path = NULL;
}
