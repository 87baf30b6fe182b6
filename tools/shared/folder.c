/* folder.c: walks through folders, decides by patterns which files of them are read, and compares paths. */
#include "tools/shared/folder.h"
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

static int compare_names(const struct dirent **a, const struct dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* Returns a path that the caller frees, or NULL, without a complaint, if memory ran out. */
static char *join_path(const char *folder, const char *name) {
    size_t length = strlen(folder);
    const char *slash = length > 0 && folder[length - 1] == '/' ? "" : "/";
    char *path;
    return asprintf(&path, "%s%s%s", folder, slash, name) < 0 ? NULL : path;
}

/* A walk through a folder, and the scratch folders that it left out. */
struct walk {
    const char *root;
    const struct globs *globs; /* NULL: everything is read. */
    struct links *links;       /* NULL: only regular files are. */
    folder_visitor visit;
    void *context;
    bool *failed; /* NULL: no message is written. */
    size_t left_out;
    char *names; /* The names of these, separated by commas; NULL: there are none. */
};

/* Complains of errno, unless the walk is silent. Returns whether the walk goes on: not if memory ran out. */
static bool complain_of_errno(const char *path, const struct walk *walk) {
    bool ok = errno != ENOMEM;
    if (walk->failed == NULL) return ok;
    complain("%s: %s", path, strerror(errno));
    *walk->failed = true;
    return ok;
}

/* Notes that a scratch folder is left out, for the message at the end. Returns whether the walk goes on. */
static bool leave_out_scratch(struct walk *walk, const char *path) {
    char *names;
    if (asprintf(&names, "%s%s%s", walk->left_out > 0 ? walk->names : "", walk->left_out > 0 ? ", " : "", path) < 0)
        return complain_of_errno(path, walk);
    free(walk->names);
    walk->names = names;
    walk->left_out++;
    return true;
}

static bool admits(const struct walk *walk, const char *path, bool is_folder) {
    const char *below = path + strlen(walk->root);
    while (*below == '/') below++;
    return walk->globs == NULL || globs_admit(walk->globs, below, is_folder);
}

static bool walk_folder(struct walk *walk, const char *path);

/* Visits a file, or walks through a folder, unless it is left out. Returns whether the walk goes on. A command marks
 * its scratch folder before it writes into it, and takes the mark away last; so a folder that is marked neither before
 * nor after its entries are listed has no files of such a command. */
static bool visit_entry(struct walk *walk, const char *path) {
    struct stat status;
    enum link_kind kind = LINK_READ;
    if (lstat(path, &status) != 0) return complain_of_errno(path, walk);
    if (!admits(walk, path, S_ISDIR(status.st_mode))) return true;
    if (S_ISDIR(status.st_mode)) return scratch_is_at(path) ? leave_out_scratch(walk, path) : walk_folder(walk, path);
    if (!S_ISREG(status.st_mode)) {
        if (walk->links == NULL) return true;
        if (!links_look(walk->links, path, &status, &kind)) return complain_of_errno(path, walk);
    }
    return kind != LINK_READ || walk->visit(walk->context, path);
}

static bool visit_entry_of(struct walk *walk, const char *folder, const char *name) {
    char *path = join_path(folder, name);
    bool ok = path == NULL ? complain_of_errno(folder, walk) : visit_entry(walk, path);
    free(path);
    return ok;
}

/* Visits the entries of a folder in order. Returns false if the visitor stopped or memory ran out. */
static bool walk_folder(struct walk *walk, const char *path) {
    struct dirent **entries;
    int count = scandir(path, &entries, is_no_dot_entry, compare_names);
    if (count < 0) return complain_of_errno(path, walk);
    bool is_scratch = count > 0 && scratch_is_at(path), ok = !is_scratch || leave_out_scratch(walk, path);
    for (int i = 0; i < count; i++) {
        if (ok && !is_scratch) ok = visit_entry_of(walk, path, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    return ok;
}

bool folder_walk(const char *path, const struct globs *globs, struct links *links, folder_visitor visit, void *context,
                 bool *failed) {
    struct walk walk = {
        .root = path, .globs = globs, .links = links, .visit = visit, .context = context, .failed = failed};
    bool ok = walk_folder(&walk, path);
    if (walk.left_out > 0)
        complain("left out %zu folder%s of temporary files that idx made: %s", walk.left_out,
                 walk.left_out == 1 ? "" : "s", walk.names);
    free(walk.names);
    return ok;
}

bool folder_walk_quietly(const char *path, const struct globs *globs, struct links *links, folder_visitor visit,
                         void *context) {
    struct walk walk = {.root = path, .globs = globs, .links = links, .visit = visit, .context = context};
    bool ok = walk_folder(&walk, path);
    free(walk.names);
    return ok;
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
