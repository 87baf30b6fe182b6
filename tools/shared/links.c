/* links.c: chooses which symbolic links in folders are read, by the device and inode of what they lead to. */
#include "tools/shared/links.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

/* A file, whatever its name. */
struct identity {
    dev_t device;
    ino_t inode;
};

/* Orders two struct identity by device and then by inode, for tsearch. */
static int compare_identities(const void *a, const void *b) {
    const struct identity *file_a = a, *file_b = b;
    if (file_a->device != file_b->device) return file_a->device < file_b->device ? -1 : 1;
    return (file_a->inode > file_b->inode) - (file_a->inode < file_b->inode);
}

/* Adds a file, by its device and inode in `status`, to those that are known. Sets *is_new to whether it was not known
 * before. Returns false, with errno set, if memory ran out. */
static bool add_known_file(struct links *links, const struct stat *status, bool *is_new) {
    struct identity *identity = malloc(sizeof *identity);
    if (identity == NULL) return false;
    *identity = (struct identity){status->st_dev, status->st_ino};
    void *found = tsearch(identity, &links->file_tree, compare_identities);
    *is_new = found != NULL && *(struct identity **)found == identity;
    if (!*is_new) free(identity);
    if (found == NULL) errno = ENOMEM;
    return found != NULL;
}

/* Adds the file at a path to those that are known, if it is a regular one; anything else is no error. Returns false,
 * with errno set, if memory ran out. */
static bool add_regular_file(struct links *links, const char *path) {
    struct stat status;
    bool is_new;
    return stat(path, &status) != 0 || !S_ISREG(status.st_mode) || add_known_file(links, &status, &is_new);
}

/* Adds to the known files those at and below the folder at a path that the patterns admit. Skips what can't be read,
 * without a complaint. Returns false, with errno set, if memory ran out. */
static bool add_folder_files(struct links *links, const char *path) {
    struct folder_walk walk = {.root = path, .globs = links->globs, .quiet = true};
    const char *file_path;
    bool ok = true;
    while (ok && (file_path = folder_walk_next(&walk)) != NULL) ok = add_regular_file(links, file_path);
    ok = ok && !walk.no_memory;
    folder_walk_end(&walk);
    if (!ok) errno = ENOMEM;
    return ok;
}

/* Adds all regular files of the inputs to those that are known, once. Returns false, with errno set, if memory ran
 * out. */
static bool add_files_of_inputs(struct links *links) {
    bool ok = true;
    links->filled = true;
    for (size_t i = 0; i < links->path_count && ok; i++) {
        const char *path = links->paths[i];
        ok = folder_is_at(path) ? add_folder_files(links, path) : add_regular_file(links, path);
    }
    return ok;
}

/* Sets *kind by what the link at a path leads to. If that is a regular file, it becomes known. Returns false, with
 * errno set, if it can't be examined or memory ran out. */
static bool follow_link(struct links *links, const char *path, enum link_kind *kind) {
    struct stat target;
    bool is_new = false;
    *kind = LINK_TO_NOTHING;
    if (stat(path, &target) != 0) return errno == ENOENT || errno == ELOOP || errno == ENOTDIR;
    if (S_ISREG(target.st_mode)) {
        if ((!links->filled && !add_files_of_inputs(links)) || !add_known_file(links, &target, &is_new)) return false;
        *kind = is_new ? LINK_READ : LINK_TO_KNOWN;
    } else {
        *kind = S_ISDIR(target.st_mode) ? LINK_TO_FOLDER : LINK_IRREGULAR;
    }
    return true;
}

bool links_classify(struct links *links, const char *path, const struct stat *status, enum link_kind *kind) {
    *kind = LINK_IRREGULAR;
    if (S_ISLNK(status->st_mode) && !follow_link(links, path, kind)) return false;
    links->left_out[*kind]++;
    return true;
}

const char *links_get_kind_name(enum link_kind kind) {
    static const char *const names[LINK_KINDS] = {[LINK_READ] = "link to a file",
                                                  [LINK_TO_KNOWN] = "link to a file that is read as well",
                                                  [LINK_TO_FOLDER] = "link to a folder",
                                                  [LINK_TO_NOTHING] = "link to nothing",
                                                  [LINK_IRREGULAR] = "no regular file"};
    return names[kind];
}

void links_free(struct links *links) {
    tdestroy(links->file_tree, free);
    links->file_tree = NULL;
}
