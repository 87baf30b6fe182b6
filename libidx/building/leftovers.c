/* leftovers.c: see leftovers.h. */
#include "libidx/building/leftovers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libidx/base/file.h"
#include "libidx/segment/names.h"

/* The most folders that one call tries to remove. */
#define MOST 100

#define OPEN_FOLDER (O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)

void idxi_leftover_digits(char digits[IDXI_LEFTOVER_DIGITS + 1], int attempt) {
    uint32_t random;
    if (getentropy(&random, sizeof random) != 0) random = (uint32_t)getpid() + (uint32_t)attempt;
    snprintf(digits, IDXI_LEFTOVER_DIGITS + 1, "%08x", (unsigned)random);
}

/* ---- What a folder holds ---- */

/* Called for each entry of an open folder. */
typedef bool (*entry_check)(int folder, const char *name, const struct stat *status);

/* Whether all entries of a folder pass a check. */
static bool check_entries(int parent, const char *name, entry_check check) {
    struct stat status;
    int folder = openat(parent, name, OPEN_FOLDER);
    DIR *entries = folder < 0 ? NULL : fdopendir(folder);
    bool passes = entries != NULL;
    for (struct dirent *entry; passes && (entry = readdir(entries)) != NULL;) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        passes =
            fstatat(folder, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 && check(folder, entry->d_name, &status);
    }
    if (entries != NULL)
        closedir(entries);
    else if (folder >= 0)
        close(folder);
    return passes;
}

static bool is_of_segment(int folder, const char *name, const struct stat *status) {
    (void)folder;
    return S_ISREG(status->st_mode) && idxi_is_segment_file_name(name);
}

/* A manifest may be cut short, since its build was killed. */
static bool is_manifest(int folder, const char *name) {
    char bytes[sizeof IDXI_MANIFEST_BEGIN - 1];
    int file = openat(folder, name, IDXI_OPEN_FILE | O_NOFOLLOW);
    ssize_t got = file < 0 ? -1 : read(file, bytes, sizeof bytes);
    if (file >= 0) close(file);
    return got >= 0 && memcmp(bytes, IDXI_MANIFEST_BEGIN, (size_t)got) == 0;
}

static bool is_of_index(int folder, const char *name, const struct stat *status) {
    if (S_ISDIR(status->st_mode)) return idxi_is_segment_name(name) && check_entries(folder, name, is_of_segment);
    if (!S_ISREG(status->st_mode) || !idxi_is_index_file_name(name)) return false;
    return strcmp(name, IDXI_MANIFEST_NAME) != 0 || is_manifest(folder, name);
}

/* ---- Removing ---- */

/* A build keeps its temporary folder locked as long as it runs, so one that nobody has locked is a killed build's. It
 * is moved to another name first: so a build can lose its folder, but not half of it, even where locks don't reach, on
 * a file system that several machines share. */
static bool remove_leftover(int parent, const char *name, const char *path, char *digits, int attempt) {
    struct stat status;
    int folder = openat(parent, name, OPEN_FOLDER);
    if (folder < 0) return false;
    idxi_leftover_digits(digits, attempt);
    bool taken = flock(folder, LOCK_EX | LOCK_NB) == 0 && check_entries(folder, ".", is_of_index) &&
                 renameat(parent, name, AT_FDCWD, path) == 0;
    if (taken) idxi_remove_tree(AT_FDCWD, path);
    close(folder);
    return taken && lstat(path, &status) != 0 && errno == ENOENT;
}

static bool is_leftover_name(const char *name, const char *prefix) {
    size_t length = strlen(prefix);
    return strncmp(name, prefix, length) == 0 && strlen(name) == length + IDXI_LEFTOVER_DIGITS &&
           strspn(name + length, "0123456789abcdef") == IDXI_LEFTOVER_DIGITS;
}

/* What can't be removed, such as another user's, stays. First the folder is synced: the index that a killed build had
 * replaced is needed until the new one's name is on disk. */
size_t idxi_leftovers_remove(int folder, const char *folder_path, const char *prefix, const char *path, char *digits) {
    DIR *entries = folder < 0 ? NULL : opendir(folder_path);
    size_t removed = 0;
    int attempt = 0;
    for (struct dirent *entry; entries != NULL && attempt < MOST && (entry = readdir(entries)) != NULL;) {
        if (!is_leftover_name(entry->d_name, prefix)) continue;
        if (attempt++ == 0 && idxi_sync_folder(folder, folder_path, NULL) != IDX_OK) break;
        removed += remove_leftover(folder, entry->d_name, path, digits, attempt);
    }
    if (entries != NULL) closedir(entries);
    return removed;
}
