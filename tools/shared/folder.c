/* folder.c: walks through folders, decides by patterns which files of them are read, and compares paths. */
#include "tools/shared/folder.h"
#include "tools/shared/array.h"
#include "tools/shared/links.h"
#include "tools/shared/scratch.h"
#include "tools/shared/temporary.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Globs ---- */

bool globs_append(struct globs *globs, const char *pattern, bool includes) {
    struct glob *grown = realloc(globs->values, (globs->count + 1) * sizeof *grown);
    if (grown == NULL) return false;
    globs->values = grown;
    globs->values[globs->count++] = (struct glob){pattern, includes};
    return true;
}

/* Returns whether a file or folder is read, by its path relative to the root of the walk. The last pattern that matches
 * decides. Where none matches, a folder is read, and so is a file unless the first pattern is one of --include. */
static bool globs_admit(const struct globs *globs, const char *relative_path, bool is_folder) {
    for (size_t i = globs->count; i > 0; i--)
        if (fnmatch(globs->values[i - 1].pattern, relative_path, 0) == 0) return globs->values[i - 1].includes;
    return is_folder || globs->count == 0 || !globs->values[0].includes;
}

void globs_free(struct globs *globs) {
    free(globs->values);
    *globs = (struct globs){NULL, 0};
}

/* ---- Folder ---- */

/* Returns whether an entry is a real one of the folder: neither . nor .. itself. This is a filter of scandir. */
static int is_real_entry(const struct dirent *entry) {
    return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

/* Orders entries by the bytes of their names, for scandir. */
static int compare_entries_by_name(const struct dirent **a, const struct dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name);
}

char *folder_join(const char *folder, const char *name) {
    size_t length = strlen(folder);
    const char *slash = length > 0 && folder[length - 1] == '/' ? "" : "/";
    char *path;
    return asprintf(&path, "%s%s%s", folder, slash, name) < 0 ? NULL : path;
}

/* Complains of errno at a path, and sets `failed`, unless the walk is quiet. If errno says that memory ran out, only
 * sets `no_memory`. Returns whether the walk goes on: not if memory ran out. */
static bool complain_of_errno(const char *path, struct folder_walk *walk) {
    walk->no_memory = errno == ENOMEM;
    if (walk->quiet || walk->no_memory) return !walk->no_memory;
    walk->failed = true;
    complain("%s: %s", path, strerror(errno));
    return true;
}

/* Notes that the scratch folder at a path is left out, for the message at the end. Returns whether the walk goes on. */
static bool note_left_out_scratch(struct folder_walk *walk, const char *path) {
    char *paths;
    if (asprintf(&paths, "%s%s%s", walk->scratch_count > 0 ? walk->scratch_paths : "",
                 walk->scratch_count > 0 ? ", " : "", path) < 0)
        return complain_of_errno(path, walk);
    free(walk->scratch_paths);
    walk->scratch_paths = paths;
    walk->scratch_count++;
    return true;
}

/* Returns whether the patterns of the walk let the file or folder at a path be read. The path begins with the root of
 * the walk. */
static bool walk_admits(const struct folder_walk *walk, const char *path, bool is_folder) {
    const char *relative_path = path + strlen(walk->root);
    while (*relative_path == '/') relative_path++;
    return walk->globs == NULL || globs_admit(walk->globs, relative_path, is_folder);
}

/* A folder in which the walk is. */
struct entered_folder {
    char *path;
    struct dirent **entries;
    int entry_count, next_entry; /* `next_entry` is the index of the entry that is examined next. */
};

/* Makes the folder at `path` the innermost one, so that the walk looks at its entries next. Frees `path` with the
 * folder; NULL means that memory ran out. Returns whether the walk goes on. */
static bool enter_folder(struct folder_walk *walk, char *path) {
    struct entered_folder folder = {.path = path};
    if (path == NULL || !array_grow(&walk->folders, &walk->capacity, walk->depth, sizeof folder)) {
        free(path);
        errno = ENOMEM;
        return complain_of_errno(walk->root, walk);
    }
    folder.entry_count = scandir(path, &folder.entries, is_real_entry, compare_entries_by_name);
    bool goes_on = folder.entry_count >= 0 || complain_of_errno(path, walk);
    if (folder.entry_count < 0) folder.entry_count = 0;
    if (folder.entry_count > 0 && scratch_is_at(path)) {
        folder.next_entry = folder.entry_count; /* Look at no entry of it. */
        goes_on = note_left_out_scratch(walk, path);
    }
    walk->folders[walk->depth++] = folder;
    return goes_on;
}

/* Removes the innermost folder from the walk, and frees it, so that the walk goes on in the folder around it. There
 * must be one. */
static void leave_folder(struct folder_walk *walk) {
    struct entered_folder *innermost = &walk->folders[--walk->depth];
    for (int i = 0; i < innermost->entry_count; i++) free(innermost->entries[i]);
    free(innermost->entries);
    free(innermost->path);
}

/* Examines the entry at walk->path: sets *is_read to true if it is a file to be read, or enters it if it is a folder
 * that is to be read. *is_read must be false before. Returns whether the walk goes on. A command marks its scratch
 * folder before it writes into it, and takes the mark away last; so a folder that is marked neither before nor after
 * its entries are listed has no files of such a command. */
static bool examine_entry(struct folder_walk *walk, bool *is_read) {
    struct stat status;
    enum link_kind kind = LINK_READ;
    const char *path = walk->path;
    if (lstat(path, &status) != 0) return complain_of_errno(path, walk);
    if (!walk_admits(walk, path, S_ISDIR(status.st_mode))) return true;
    if (S_ISDIR(status.st_mode))
        return scratch_is_at(path) ? note_left_out_scratch(walk, path) : enter_folder(walk, strdup(path));
    if (!S_ISREG(status.st_mode)) {
        if (walk->links == NULL) return true;
        if (!links_classify(walk->links, path, &status, &kind)) return complain_of_errno(path, walk);
    }
    *is_read = kind == LINK_READ;
    return true;
}

const char *folder_walk_next(struct folder_walk *walk) {
    bool found = false;
    bool goes_on = walk->folders != NULL || enter_folder(walk, strdup(walk->root));
    while (goes_on && !found && walk->depth > 0) {
        struct entered_folder *innermost = &walk->folders[walk->depth - 1];
        if (innermost->next_entry == innermost->entry_count) {
            leave_folder(walk);
            continue;
        }
        free(walk->path);
        walk->path = folder_join(innermost->path, innermost->entries[innermost->next_entry++]->d_name);
        goes_on = walk->path != NULL ? examine_entry(walk, &found) : complain_of_errno(innermost->path, walk);
    }
    return found ? walk->path : NULL;
}

void folder_walk_end(struct folder_walk *walk) {
    if (walk->scratch_count > 0 && !walk->quiet)
        complain("left out %zu folder%s of temporary files that idx made: %s", walk->scratch_count,
                 walk->scratch_count == 1 ? "" : "s", walk->scratch_paths);
    while (walk->depth > 0) leave_folder(walk);
    free(walk->folders);
    free(walk->path);
    free(walk->scratch_paths);
    *walk = (struct folder_walk){.root = NULL};
}

bool folder_is_at(const char *path) {
    struct stat status;
    return strcmp(path, "-") != 0 && stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

char *folder_find_parent(const char *path) {
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/') length--; /* Slashes behind the name, */
    while (length > 0 && path[length - 1] != '/') length--; /* the name, */
    while (length > 1 && path[length - 1] == '/') length--; /* and slashes before it are cut off. */
    return length > 0 ? strndup(path, length) : strdup(".");
}

bool folder_sync_parent(const char *path) {
    char *parent = folder_find_parent(path);
    int descriptor = parent != NULL ? open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    /* EINVAL: the file system can't sync folders. EACCES: the folder can't be read. Neither is a failure. */
    bool synced = descriptor >= 0 ? fsync(descriptor) == 0 || errno == EINVAL : errno == EACCES;
    int error = errno;
    if (descriptor >= 0) close(descriptor);
    free(parent);
    errno = error;
    return synced;
}

/* Complains of the errno `error` at a path, and names the option that chooses another place. Returns false always. */
static bool complain_of_place(const char *path, int error, const char *option) {
    return complain("%s: %s; choose another place with %s", path, strerror(error), option);
}

/* Returns whether the path leads to a folder in which files can be made. If not, complains, and names the option that
 * chooses the folder. */
static bool check_folder_is_writable(const char *folder, const char *option) {
    struct stat status;
    if (stat(folder, &status) != 0) return complain_of_place(folder, errno, option);
    if (!S_ISDIR(status.st_mode)) return complain_of_place(folder, ENOTDIR, option);
    return access(folder, W_OK | X_OK) == 0 || complain_of_place(folder, errno, option);
}

bool folder_check_can_create(const char *path, const char *option) {
    char *parent = folder_find_parent(path);
    struct stat status;
    if (parent == NULL) return complain("out of memory");
    bool ok = check_folder_is_writable(parent, option);
    if (ok && lstat(path, &status) != 0 && errno != ENOENT) ok = complain_of_place(path, errno, option);
    free(parent);
    return ok;
}

/* Returns whether two paths lead to the same file or folder; false if either leads to nothing. */
static bool are_same_place(const char *a, const char *b) {
    struct stat status_a, status_b;
    return stat(a, &status_a) == 0 && stat(b, &status_b) == 0 && status_a.st_dev == status_b.st_dev &&
           status_a.st_ino == status_b.st_ino;
}

/* Returns where the last name in a path begins, and sets *length to its length in bytes. The name ends before any
 * slashes at the end of the path, and is empty if there is nothing else. */
static const char *find_last_name(const char *path, size_t *length) {
    size_t name_end = strlen(path);
    while (name_end > 0 && path[name_end - 1] == '/') name_end--;
    size_t name_begin = name_end;
    while (name_begin > 0 && path[name_begin - 1] != '/') name_begin--;
    *length = name_end - name_begin;
    return path + name_begin;
}

/* Returns whether the last names in two paths are equal. */
static bool have_same_last_name(const char *a, const char *b) {
    size_t a_length, b_length;
    const char *a_name = find_last_name(a, &a_length), *b_name = find_last_name(b, &b_length);
    return a_length == b_length && memcmp(a_name, b_name, a_length) == 0;
}

bool folder_paths_overlap(const char *a, const char *b) {
    char *parent_a = folder_find_parent(a), *parent_b = folder_find_parent(b);
    bool overlap = are_same_place(a, b);
    if (!overlap && parent_a != NULL && parent_b != NULL)
        overlap = are_same_place(a, parent_b) || are_same_place(parent_a, b) ||
                  (are_same_place(parent_a, parent_b) && have_same_last_name(a, b)); /* Both may not exist yet. */
    free(parent_a);
    free(parent_b);
    return overlap;
}
