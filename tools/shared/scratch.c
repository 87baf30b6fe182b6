/* scratch.c: see scratch.h. */
#include "tools/shared/scratch.h"

#include "tools/shared/message.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX "idx-dedup-"
#define TEMPLATE PREFIX "XXXXXX"
#define OPEN_FOLDER (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

/* How often what another process took for a leftover is made again. */
#define ATTEMPTS 100

enum { MOST_OPEN = 16 };

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place) {
    (void)status, (void)kind, (void)place;
    (void)!remove(path);
    return 0;
}

static void remove_tree(const char *path) { nftw(path, remove_entry, MOST_OPEN, FTW_DEPTH | FTW_PHYS); }

static char *join(const char *folder, const char *name) {
    char *path;
    return asprintf(&path, "%s/%s", folder, name) < 0 ? NULL : path;
}

/* Whether the path leads to the open folder, and that is this user's. */
static bool leads_to(const char *path, int folder) {
    struct stat there, ours;
    return lstat(path, &there) == 0 && fstat(folder, &ours) == 0 && there.st_dev == ours.st_dev &&
           there.st_ino == ours.st_ino && ours.st_uid == geteuid();
}

static bool remove_leftover(const char *path) {
    int folder = open(path, OPEN_FOLDER);
    if (folder < 0) return false;
    bool is_left = flock(folder, LOCK_EX | LOCK_NB) == 0 && leads_to(path, folder);
    if (is_left) remove_tree(path);
    close(folder);
    return is_left;
}

/* Returns how many. */
static size_t remove_leftovers(const char *parent) {
    size_t count = 0;
    DIR *entries = opendir(parent);
    if (entries == NULL) return 0;
    for (struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        const char *name = entry->d_name;
        if (strncmp(name, PREFIX, strlen(PREFIX)) != 0 || strlen(name) != strlen(TEMPLATE)) continue;
        char *path = join(parent, name);
        count += path != NULL && remove_leftover(path);
        free(path);
    }
    closedir(entries);
    return count;
}

/* Locks the folder that was just made; false where another process took it for a leftover before. Where folders can't
 * be locked, nobody does. */
static bool lock(struct scratch *scratch) {
    scratch->lock = open(scratch->path, OPEN_FOLDER);
    if (scratch->lock < 0) return false;
    bool locked = flock(scratch->lock, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
    if (locked && leads_to(scratch->path, scratch->lock)) return true;
    close(scratch->lock);
    return false;
}

static bool make(struct scratch *scratch, const char *parent) {
    for (int i = 0; i < ATTEMPTS; i++) {
        scratch->path = join(parent, TEMPLATE);
        if (scratch->path == NULL) errno = ENOMEM;
        bool made = scratch->path != NULL && mkdtemp(scratch->path) != NULL;
        int error = errno;
        if (made && lock(scratch)) return true;
        if (made) rmdir(scratch->path);
        free(scratch->path);
        scratch->path = NULL;
        errno = made ? EBUSY : error;
        if (!made) return false;
    }
    return false;
}

bool scratch_open(struct scratch *scratch, const char *parent) {
    size_t leftovers = remove_leftovers(parent);
    if (leftovers == 1) complain("removed a folder that a killed command had left in %s", parent);
    if (leftovers > 1) complain("removed %zu folders that killed commands had left in %s", leftovers, parent);
    if (make(scratch, parent)) return true;
    complain("%s: can't make a temporary folder: %s; give another one with --tmpdir", parent, strerror(errno));
    return false;
}

char *scratch_path(const struct scratch *scratch, const char *name) { return join(scratch->path, name); }

void scratch_remove(struct scratch *scratch) {
    if (scratch->path == NULL) return;
    remove_tree(scratch->path);
    close(scratch->lock);
    free(scratch->path);
    scratch->path = NULL;
}
