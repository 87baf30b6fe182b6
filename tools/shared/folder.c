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
    struct glob *values = realloc(globs->values, (globs->count + 1) * sizeof *values);
    if (values == NULL) return false;
    globs->values = values;
    globs->values[globs->count++] = (struct glob){pattern, includes};
    return true;
}

/* Returns whether a file or folder is read, by its path below the folder that was given. The last pattern that matches
 * decides. A folder that none matches is read, and so is a file unless the first pattern is one of --include. */
static bool globs_admit(const struct globs *globs, const char *path, bool is_folder) {
    for (size_t i = globs->count; i > 0; i--)
        if (fnmatch(globs->values[i - 1].pattern, path, 0) == 0) return globs->values[i - 1].includes;
    return is_folder || globs->count == 0 || !globs->values[0].includes;
}

void globs_free(struct globs *globs) {
    free(globs->values);
    *globs = (struct globs){NULL, 0};
}

/* ---- Folder ---- */

/* Returns whether an entry is another one than . and .. themselves. This is a filter of scandir. */
static int is_no_dot_entry(const struct dirent *entry) {
    return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

/* Orders entries by the bytes of their names, for scandir. */
static int compare_names(const struct dirent **a, const struct dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name);
}

char *folder_join(const char *folder, const char *name) {
    size_t length = strlen(folder);
    const char *slash = length > 0 && folder[length - 1] == '/' ? "" : "/";
    char *path;
    return asprintf(&path, "%s%s%s", folder, slash, name) < 0 ? NULL : path;
}

/* Complains of errno, unless the walk is quiet. Returns whether the walk goes on: not if memory ran out. */
static bool complain_of_errno(const char *path, struct folder_walk *walk) {
    walk->no_memory = errno == ENOMEM;
    if (walk->quiet || walk->no_memory) return !walk->no_memory;
    walk->failed = true;
    complain("%s: %s", path, strerror(errno));
    return true;
}

/* Notes that a scratch folder is left out, for the message at the end. Returns whether the walk goes on. */
static bool leave_out_scratch(struct folder_walk *walk, const char *path) {
    char *names;
    if (asprintf(&names, "%s%s%s", walk->left_out > 0 ? walk->names : "", walk->left_out > 0 ? ", " : "", path) < 0)
        return complain_of_errno(path, walk);
    free(walk->names);
    walk->names = names;
    walk->left_out++;
    return true;
}

/* Returns whether the patterns of the walk let an entry be read, by its path below the root. */
static bool admits(const struct folder_walk *walk, const char *path, bool is_folder) {
    const char *below = path + strlen(walk->root);
    while (*below == '/') below++;
    return walk->globs == NULL || globs_admit(walk->globs, below, is_folder);
}

/* A folder whose entries are looked at. */
struct folder_level {
    char *path;
    struct dirent **entries;
    int count, next;
};

/* Lists the entries of a folder, whose path the walk takes over, so that they come next. Returns whether the walk goes
 * on. */
static bool enter_folder(struct folder_walk *walk, char *path) {
    struct folder_level level = {.path = path};
    if (path == NULL || !array_grow(&walk->levels, &walk->capacity, walk->depth, sizeof level)) {
        free(path);
        errno = ENOMEM;
        return complain_of_errno(walk->root, walk);
    }
    level.count = scandir(path, &level.entries, is_no_dot_entry, compare_names);
    bool ok = level.count >= 0 || complain_of_errno(path, walk);
    if (level.count < 0) level.count = 0;
    if (level.count > 0 && scratch_is_at(path)) {
        level.next = level.count;
        ok = leave_out_scratch(walk, path);
    }
    walk->levels[walk->depth++] = level;
    return ok;
}

/* Forgets the innermost folder, once all of its entries were looked at or the walk ends. */
static void leave_folder(struct folder_walk *walk) {
    struct folder_level *level = &walk->levels[--walk->depth];
    for (int i = 0; i < level->count; i++) free(level->entries[i]);
    free(level->entries);
    free(level->path);
}

/* Looks at the entry at walk->path: sets *found if it is a file that is read, or enters it if it is a folder. Returns
 * whether the walk goes on. A command marks its scratch folder before it writes into it, and takes the mark away last;
 * so a folder that is marked neither before nor after its entries are listed has no files of such a command. */
static bool look_at_entry(struct folder_walk *walk, bool *found) {
    struct stat status;
    enum link_kind kind = LINK_READ;
    const char *path = walk->path;
    if (lstat(path, &status) != 0) return complain_of_errno(path, walk);
    if (!admits(walk, path, S_ISDIR(status.st_mode))) return true;
    if (S_ISDIR(status.st_mode))
        return scratch_is_at(path) ? leave_out_scratch(walk, path) : enter_folder(walk, strdup(path));
    if (!S_ISREG(status.st_mode)) {
        if (walk->links == NULL) return true;
        if (!links_look(walk->links, path, &status, &kind)) return complain_of_errno(path, walk);
    }
    *found = kind == LINK_READ;
    return true;
}

const char *folder_walk_next(struct folder_walk *walk) {
    bool found = false;
    bool ok = walk->levels != NULL || enter_folder(walk, strdup(walk->root));
    while (ok && !found && walk->depth > 0) {
        struct folder_level *level = &walk->levels[walk->depth - 1];
        if (level->next == level->count) {
            leave_folder(walk);
            continue;
        }
        free(walk->path);
        walk->path = folder_join(level->path, level->entries[level->next++]->d_name);
        ok = walk->path != NULL ? look_at_entry(walk, &found) : complain_of_errno(level->path, walk);
    }
    return found ? walk->path : NULL;
}

void folder_walk_end(struct folder_walk *walk) {
    if (walk->left_out > 0 && !walk->quiet)
        complain("left out %zu folder%s of temporary files that idx made: %s", walk->left_out,
                 walk->left_out == 1 ? "" : "s", walk->names);
    while (walk->depth > 0) leave_folder(walk);
    free(walk->levels);
    free(walk->path);
    free(walk->names);
    *walk = (struct folder_walk){.root = NULL};
}

bool folder_is_at(const char *path) {
    struct stat status;
    return strcmp(path, "-") != 0 && stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

char *folder_parent(const char *path) {
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/') length--; /* Slashes behind the name, */
    while (length > 0 && path[length - 1] != '/') length--; /* the name, */
    while (length > 1 && path[length - 1] == '/') length--; /* and slashes before it are cut off. */
    return length > 0 ? strndup(path, length) : strdup(".");
}

bool folder_sync_parent(const char *path) {
    char *parent = folder_parent(path);
    int folder = parent != NULL ? open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    bool synced = folder >= 0 ? fsync(folder) == 0 || errno == EINVAL : errno == EACCES;
    int error = errno;
    if (folder >= 0) close(folder);
    free(parent);
    errno = error;
    return synced;
}

/* Complains that nothing can be made at a path, and names the option that chooses the place. */
static bool refuse_place(const char *path, int error, const char *option) {
    return complain("%s: %s; choose another place with %s", path, strerror(error), option);
}

/* Returns whether `parent` is a folder in which something can be made. A complaint names the option. */
static bool check_parent(const char *parent, const char *option) {
    struct stat status;
    if (stat(parent, &status) != 0) return refuse_place(parent, errno, option);
    if (!S_ISDIR(status.st_mode)) return refuse_place(parent, ENOTDIR, option);
    return access(parent, W_OK | X_OK) == 0 || refuse_place(parent, errno, option);
}

bool folder_check_parent(const char *path, const char *option) {
    char *parent = folder_parent(path);
    struct stat status;
    if (parent == NULL) return complain("out of memory");
    bool ok = check_parent(parent, option);
    if (ok && lstat(path, &status) != 0 && errno != ENOENT) ok = refuse_place(path, errno, option);
    free(parent);
    return ok;
}

/* Returns whether two paths lead to one file or folder, which exists. */
static bool is_same_place(const char *a, const char *b) {
    struct stat one, other;
    return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

/* Returns where the last name in a path begins, and sets *length to its length, without slashes behind it. */
static const char *last_name(const char *path, size_t *length) {
    size_t end = strlen(path);
    while (end > 0 && path[end - 1] == '/') end--;
    size_t begin = end;
    while (begin > 0 && path[begin - 1] != '/') begin--;
    *length = end - begin;
    return path + begin;
}

static bool have_same_name(const char *a, const char *b) {
    size_t a_length, b_length;
    const char *a_name = last_name(a, &a_length), *b_name = last_name(b, &b_length);
    return a_length == b_length && memcmp(a_name, b_name, a_length) == 0;
}

bool folder_paths_overlap(const char *a, const char *b) {
    char *above_a = folder_parent(a), *above_b = folder_parent(b);
    bool overlap = is_same_place(a, b);
    if (!overlap && above_a != NULL && above_b != NULL)
        overlap = is_same_place(a, above_b) || is_same_place(above_a, b) ||
                  (is_same_place(above_a, above_b) && have_same_name(a, b)); /* Both may not exist yet. */
    free(above_a);
    free(above_b);
    return overlap;
}
