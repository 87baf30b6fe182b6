/* publish.c: temporary folders, those that killed builds left, and publishing by rename or exchange. */
#include "libidx/building/publish.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/checksum.h"
#include "libidx/base/base.h"
#include "libidx/segment/manifest_file.h"

/* ---- Leftovers ---- */

/* One call tries to remove at most so many folders. */
#define MAX_REMOVAL_ATTEMPTS 100

#define OPEN_FOLDER (O_RDONLY | O_DIRECTORY | O_CLOEXEC)

/* A temporary folder's name ends in so many random hexadecimal digits. */
#define LEFTOVER_DIGITS 8

/* Sets `digits` to LEFTOVER_DIGITS random hexadecimal digits and a final 0. If the system has no random bytes, makes
 * them from the process ID and the number of the attempt. */
static void draw_random_digits(char digits[LEFTOVER_DIGITS + 1], int attempt) {
    uint32_t random;
    if (getentropy(&random, sizeof random) != 0) random = (uint32_t)getpid() + (uint32_t)attempt;
    snprintf(digits, LEFTOVER_DIGITS + 1, "%08x", (unsigned)random);
}

/* ---- What a folder holds ---- */

/* Returns whether an entry of an open folder is of the expected kind. `status` is that of lstat. */
typedef bool (*entry_check)(int folder, const char *name, const struct stat *status);

/* Returns whether the folder `name` in `parent` (a descriptor) can be read and `check` is true of all its entries. */
static bool holds_only(int parent, const char *name, entry_check check) {
    struct stat status;
    int folder = openat(parent, name, OPEN_FOLDER | O_NOFOLLOW);
    DIR *entries = folder < 0 ? NULL : fdopendir(folder);
    bool all_pass = entries != NULL;
    while (all_pass) {
        errno = 0; /* so that what is left by readdir tells an error from the end */
        const struct dirent *entry = readdir(entries);
        if (entry == NULL) {
            all_pass = errno == 0;
            break;
        }
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        all_pass =
            fstatat(folder, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 && check(folder, entry->d_name, &status);
    }
    if (entries != NULL)
        closedir(entries);
    else if (folder >= 0)
        close(folder);
    return all_pass;
}

/* An entry_check: returns whether an entry of a segment's folder is a file with a name of the format. */
static bool is_segment_file(int folder, const char *name, const struct stat *status) {
    (void)folder;
    return S_ISREG(status->st_mode) && idxi_is_segment_file_name(name);
}

/* Returns whether a file can be read and begins like a manifest. It may be cut short, even empty, since its build may
 * have been killed. */
static bool begins_like_manifest(int folder, const char *name) {
    char bytes[sizeof IDXI_MANIFEST_BEGIN - 1];
    int file = openat(folder, name, IDXI_OPEN_FILE | O_NOFOLLOW);
    ssize_t bytes_read = file < 0 ? -1 : read(file, bytes, sizeof bytes);
    if (file >= 0) close(file);
    return bytes_read >= 0 && memcmp(bytes, IDXI_MANIFEST_BEGIN, (size_t)bytes_read) == 0;
}

/* An entry_check: returns whether an entry can be one of an index's folder: a file with a name of the format, or a
 * segment's folder with nothing but its files. */
static bool can_be_index_entry(int folder, const char *name, const struct stat *status) {
    if (S_ISDIR(status->st_mode)) return idxi_is_segment_name(name) && holds_only(folder, name, is_segment_file);
    if (!S_ISREG(status->st_mode) || !idxi_is_index_file_name(name)) return false;
    return strcmp(name, IDXI_MANIFEST_NAME) != 0 || begins_like_manifest(folder, name);
}

/* ---- Removing ---- */

/* Removes the folder `name` in `parent` if a killed build left it, and returns whether it is gone. A build keeps its
 * temporary folder locked as long as it runs, so a folder without a lock is a killed build's. The folder is first moved
 * to `moved_path`, whose last digits, at `digits`, are drawn anew with the number of the attempt. So a build can lose
 * its folder, but not half of it, even on a file system that several machines share, where locks may not reach. */
static bool remove_leftover(int parent, const char *name, const char *moved_path, char *digits, int attempt) {
    struct stat status;
    int folder = openat(parent, name, OPEN_FOLDER | O_NOFOLLOW);
    if (folder < 0) return false;
    draw_random_digits(digits, attempt);
    bool is_moved = flock(folder, LOCK_EX | LOCK_NB) == 0 && holds_only(folder, ".", can_be_index_entry) &&
                    renameat(parent, name, AT_FDCWD, moved_path) == 0;
    if (is_moved) idxi_remove_tree(AT_FDCWD, moved_path);
    close(folder);
    return is_moved && lstat(moved_path, &status) != 0 && errno == ENOENT;
}

/* Returns whether a name is `prefix` followed by exactly LEFTOVER_DIGITS lower-case hexadecimal digits. */
static bool is_leftover_name(const char *name, const char *prefix) {
    size_t length = strlen(prefix);
    return strncmp(name, prefix, length) == 0 && strlen(name) == length + LEFTOVER_DIGITS &&
           strspn(name + length, "0123456789abcdef") == LEFTOVER_DIGITS;
}

/* Removes leftovers of killed builds in a folder, and returns how many. `folder` is its descriptor (-1: nothing is
 * done), and `folder_path` its path. Leftovers are folders that are named `prefix` and digits, have no lock, and hold
 * nothing but files of an index. Those that can't be removed, such as another user's, stay. `moved_path` and `digits`
 * are scratch, as for remove_leftover. The folder is synced before the first removal: an index that a killed build had
 * replaced is needed until the new one's name is on disk. */
static size_t remove_leftovers(int folder, const char *folder_path, const char *prefix, const char *moved_path,
                               char *digits) {
    DIR *entries = folder < 0 ? NULL : opendir(folder_path);
    size_t removed = 0;
    int attempt = 0;
    while (entries != NULL && attempt < MAX_REMOVAL_ATTEMPTS) {
        const struct dirent *entry = readdir(entries);
        if (entry == NULL) break;
        if (!is_leftover_name(entry->d_name, prefix)) continue;
        if (attempt++ == 0 && idxi_sync_folder(folder, folder_path, NULL) != IDX_OK) break;
        removed += remove_leftover(folder, entry->d_name, moved_path, digits, attempt);
    }
    if (entries != NULL) closedir(entries);
    return removed;
}

/* ---- The path ---- */

#ifdef IDX_LINUX
#include <sys/syscall.h>
#endif

/* A step that fails because another build came first is tried so often. */
#define ATTEMPTS 100

enum rename_flag { FLAG_NOREPLACE = 1, FLAG_EXCHANGE = 2 };

/* Renames `from` to `to`, but fails if `to` exists (FLAG_NOREPLACE), or exchanges both (FLAG_EXCHANGE). Returns 0, or
 * -1 with errno set. */
static int rename_with_flag(const char *from, const char *to, enum rename_flag flag) {
#if defined(IDX_LINUX) && defined(SYS_renameat2)
    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, (unsigned)flag);
#else
    (void)from, (void)to, (void)flag;
    errno = ENOSYS;
    return -1;
#endif
}

/* Returns whether `system_errno` says that the kernel or the file system has no rename with this flag. */
static bool is_rename_unsupported(int system_errno) { return system_errno == ENOSYS || system_errno == EINVAL; }

/* Fails with IDX_NOT_AN_INDEX, because what is at the path is no index, and so will not be replaced. */
static enum idx_status fail_not_index(const char *path, struct idx_error *error) {
    return idxi_fail(error, IDX_NOT_AN_INDEX, path, "is not an idx index, so it will not be replaced");
}

/* Checks that the folder at `path` has an idx index, valid or not: its manifest begins like one. Otherwise fails with
 * IDX_NOT_AN_INDEX. */
static enum idx_status check_index(const char *path, struct idx_error *error) {
    char bytes[sizeof IDXI_MANIFEST_BEGIN - 1];
    char *manifest = idxi_join_path(path, IDXI_MANIFEST_NAME);
    if (manifest == NULL) return idxi_fail_memory(error);
    int file = open(manifest, IDXI_OPEN_FILE);
    enum idx_status status = IDX_OK;
    if (file < 0)
        status = errno == ENOENT ? fail_not_index(path, error) : idxi_fail_system(error, errno, manifest, "open");
    else if (read(file, bytes, sizeof bytes) != (ssize_t)sizeof bytes ||
             memcmp(bytes, IDXI_MANIFEST_BEGIN, sizeof bytes) != 0)
        status = fail_not_index(path, error);
    if (file >= 0) close(file);
    free(manifest);
    return status;
}

/* Sets *exists to whether anything is at publication->path. Fails if it may not be replaced: with IDX_EXISTS unless
 * publication->replace, and with IDX_NOT_AN_INDEX unless it is an index. */
static enum idx_status check_target(const struct idxi_publication *publication, bool *exists, struct idx_error *error) {
    struct stat status;
    *exists = lstat(publication->path, &status) == 0;
    if (!*exists) return errno == ENOENT ? IDX_OK : idxi_fail_system(error, errno, publication->path, "stat");
    if (!publication->replace)
        return idxi_fail(error, IDX_EXISTS, publication->path,
                         "already exists: choose another name, or ask for it to be replaced");
    return S_ISDIR(status.st_mode) ? check_index(publication->path, error) : fail_not_index(publication->path, error);
}

/* ---- Opening ---- */

/* Sets publication->path to the path without slashes at its end, and publication->parent to that of the folder that
 * holds it. Fails with IDX_INVALID_ARGUMENT if its last part is no name, such as `..`. */
static enum idx_status set_paths(struct idxi_publication *publication, const char *path, struct idx_error *error) {
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/') length--;
    publication->path = strndup(path, length);
    if (publication->path == NULL) return idxi_fail_memory(error);
    const char *slash = strrchr(publication->path, '/');
    const char *name = slash == NULL ? publication->path : slash + 1;
    if (name[0] == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, path,
                         "is not a name for an index: give the name of a new folder");
    /* "." holds a mere name, and "/" one behind a single slash */
    const char *parent = slash == NULL ? "." : publication->path;
    size_t parent_length = slash == NULL || slash == publication->path ? 1 : (size_t)(slash - publication->path);
    publication->parent = strndup(parent, parent_length);
    return publication->parent == NULL ? idxi_fail_memory(error) : IDX_OK;
}

/* Opens publication->parent as publication->parent_fd. If this process may not read it, succeeds with -1, since it may
 * still write to it: then leftovers stay, and sync_parent syncs the file system. Fails with IDX_NOT_FOUND if there is
 * no such folder. */
static enum idx_status open_parent(struct idxi_publication *publication, struct idx_error *error) {
    publication->parent_fd = open(publication->parent, OPEN_FOLDER);
    if (publication->parent_fd >= 0 || errno == EACCES) return IDX_OK;
    if (errno == ENOENT)
        return idxi_fail(error, IDX_NOT_FOUND, publication->path,
                         "there is no folder %s to contain it: create that folder first", publication->parent);
    return idxi_fail_system(error, errno, publication->parent, "open");
}

/* Sets `prefix` to the beginning of the names of temporary folders for an index at `path`: `.NAME.tmp-`, or for a long
 * NAME `.CUT-HASH.tmp-`, where CUT is its beginning and HASH that of all of it. LEFTOVER_DIGITS more fit into a file
 * name. */
static void write_temporary_prefix(const char *path, char prefix[NAME_MAX + 1]) {
    const char *slash = strrchr(path, '/'), *name = slash == NULL ? path : slash + 1;
    size_t length = strlen(name), kept = NAME_MAX - strlen(".-0123456789abcdef.tmp-") - LEFTOVER_DIGITS;
    if (length + strlen("..tmp-") + LEFTOVER_DIGITS <= NAME_MAX) {
        snprintf(prefix, NAME_MAX + 1, ".%s.tmp-", name);
        return;
    }
    while (kept > 0 && ((unsigned char)name[kept] & 0xc0) == 0x80) kept--; /* cuts no UTF-8 character in two */
    snprintf(prefix, NAME_MAX + 1, ".%.*s-%016llx.tmp-", (int)kept, name,
             (unsigned long long)idxf_checksum(name, length));
}

/* ---- The temporary folder ---- */

/* Opens and locks the temporary folder that was just made at `temporary`, and sets publication->lock. Sets *is_ours to
 * false, and the lock to -1, if another process has taken the folder for a leftover before. */
static enum idx_status lock_temporary_folder(struct idxi_publication *publication, const char *temporary, bool *is_ours,
                                             struct idx_error *error) {
    *is_ours = false;
    publication->lock = open(temporary, OPEN_FOLDER | O_NOFOLLOW);
    if (publication->lock < 0) return errno == ENOENT ? IDX_OK : idxi_fail_system(error, errno, temporary, "open");
    /* Other errors mean that folders can't be locked here, so that no process takes any for a leftover. */
    bool is_locked = flock(publication->lock, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
    *is_ours = is_locked && idxi_path_leads_to(AT_FDCWD, temporary, AT_SYMLINK_NOFOLLOW, publication->lock);
    if (*is_ours) return IDX_OK;
    close(publication->lock);
    publication->lock = -1;
    return IDX_OK;
}

/* Makes and locks a folder at the path `temporary`, and sets publication->lock. Draws the last digits of the path, at
 * `digits`, until nothing else has the name, but fails with IDX_IO_ERROR after ATTEMPTS attempts. */
static enum idx_status make_temporary_folder(struct idxi_publication *publication, const char *temporary, char *digits,
                                             struct idx_error *error) {
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        bool is_ours = false;
        draw_random_digits(digits, attempt);
        bool is_made = mkdir(temporary, 0777) == 0;
        if (!is_made && errno != EEXIST) return idxi_fail_system(error, errno, publication->path, "create");
        enum idx_status status = is_made ? lock_temporary_folder(publication, temporary, &is_ours, error) : IDX_OK;
        if (is_made && !is_ours) rmdir(temporary);
        if (status != IDX_OK || is_ours) return status;
    }
    return idxi_fail(error, IDX_IO_ERROR, publication->path,
                     "can't be built: other processes keep taking the temporary folders beside it");
}

/* Removes leftovers of killed builds of this path, and then makes the temporary folder. Sets publication->leftovers,
 * temporary and lock. Both steps draw digits to the end of the same string. */
static enum idx_status clean_and_make_temporary(struct idxi_publication *publication, struct idx_error *error) {
    char prefix[NAME_MAX + 1];
    write_temporary_prefix(publication->path, prefix);
    size_t size = strlen(publication->parent) + strlen("/") + strlen(prefix) + LEFTOVER_DIGITS + 1;
    char *temporary = malloc(size);
    if (temporary == NULL) return idxi_fail_memory(error);
    char *digits = temporary + size - LEFTOVER_DIGITS - 1;
    /* zeros stand for the digits to be drawn */
    snprintf(temporary, size, "%s/%s%0*d", publication->parent, prefix, LEFTOVER_DIGITS, 0);
    publication->leftovers = remove_leftovers(publication->parent_fd, publication->parent, prefix, temporary, digits);
    enum idx_status status = make_temporary_folder(publication, temporary, digits, error);
    if (status == IDX_OK)
        publication->temporary = temporary;
    else
        free(temporary);
    return status;
}

enum idx_status idxi_publication_open(struct idxi_publication *publication, const char *path, bool replace,
                                      struct idx_error *error) {
    bool exists;
    *publication = (struct idxi_publication){.parent_fd = -1, .lock = -1, .process = getpid(), .replace = replace};
    IDXI_TRY(set_paths(publication, path, error));
    IDXI_TRY(check_target(publication, &exists, error));
    IDXI_TRY(open_parent(publication, error));
    return clean_and_make_temporary(publication, error);
}

/* ---- Publishing ---- */

/* Renames the temporary folder to the path, and sets publication->temporary to NULL. Fails with IDX_EXISTS if anything
 * is at the path. */
static enum idx_status move_to_path(struct idxi_publication *publication, struct idx_error *error) {
    int result = rename_with_flag(publication->temporary, publication->path, FLAG_NOREPLACE);
    /* A plain rename replaces nothing but an empty folder. */
    if (result != 0 && is_rename_unsupported(errno)) result = rename(publication->temporary, publication->path);
    if (result == 0) {
        free(publication->temporary);
        publication->temporary = NULL;
        return IDX_OK;
    }
    if (errno == EEXIST || errno == ENOTEMPTY || errno == ENOTDIR)
        return idxi_fail(error, IDX_EXISTS, publication->path,
                         "was created while the index was built: choose another name, or build again");
    return idxi_fail_system(error, errno, publication->path, "create");
}

/* Exchanges the temporary folder with that at the path by one system call, so that there is an index at the path at any
 * time. Fails with IDX_UNSUPPORTED if the file system can't exchange folders. */
static enum idx_status exchange_folders(struct idxi_publication *publication, struct idx_error *error) {
    if (rename_with_flag(publication->temporary, publication->path, FLAG_EXCHANGE) == 0) return IDX_OK;
    if (is_rename_unsupported(errno))
        return idxi_fail(error, IDX_UNSUPPORTED, publication->path,
                         "can't be replaced, because its file system can't exchange folders: build under another name");
    return idxi_fail_system(error, errno, publication->path, "replace");
}

/* Exchanges the new index with the one at the path. Fails with IDX_BUSY if that has a writer, because what the writer
 * acknowledges must not be lost, or if it is being compacted. Locks keep both from starting during the exchange. */
static enum idx_status exchange_unless_busy(struct idxi_publication *publication, struct idx_error *error) {
    static const char *const lock_names[] = {IDXI_LOCK_NAME, IDXI_COMPACT_LOCK_NAME};
    int locks[] = {-1, -1}, folder = open(publication->path, OPEN_FOLDER);
    enum idx_status status = IDX_OK;
    if (folder < 0) return idxi_fail_system(error, errno, publication->path, "open");
    for (size_t i = 0; i < 2 && !idxi_lock_forbids(status); i++)
        status = idxi_lock(&locks[i], IDXI_LOCK_MOMENT, lock_names[i], folder, publication->path, error);
    if (!idxi_lock_forbids(status)) status = exchange_folders(publication, error);
    for (size_t i = 0; i < 2; i++) idxi_lock_close(locks[i]);
    close(folder);
    return status;
}

/* Syncs the file system of an open file, or elsewhere than on Linux all file systems. Returns 0, or -1 and errno. */
static int sync_file_system(int file) {
#ifdef IDX_LINUX
    return syncfs(file);
#else
    (void)file;
    sync();
    return 0;
#endif
}

/* Syncs the folder that holds the path, or its whole file system where that folder may not be read. */
static enum idx_status sync_parent(const struct idxi_publication *publication, struct idx_error *error) {
    int result = publication->parent_fd >= 0 ? fsync(publication->parent_fd) : sync_file_system(publication->lock);
    if (result == 0 || errno == EINVAL) return IDX_OK; /* EINVAL: folders can't be synced there */
    return idxi_fail_system(error, errno, publication->path,
                            "sync the folder that contains it, where the new index is already published");
}

/* Moves the temporary folder to the path, or exchanges it with the index there. With publication->replace, tries up to
 * ATTEMPTS times again if another build publishes an index there at the same time, or somebody removes it. */
static enum idx_status move_or_exchange_folders(struct idxi_publication *publication, struct idx_error *error) {
    for (int attempt = 0;; attempt++) {
        bool exists;
        IDXI_TRY(check_target(publication, &exists, error));
        enum idx_status status = exists ? exchange_unless_busy(publication, error) : move_to_path(publication, error);
        bool has_changed = status == (exists ? IDX_NOT_FOUND : IDX_EXISTS);
        if (!has_changed || !publication->replace || attempt == ATTEMPTS) return status;
    }
}

enum idx_status idxi_publish(struct idxi_publication *publication, struct idx_error *error) {
    IDXI_TRY(move_or_exchange_folders(publication, error));
    enum idx_status status = sync_parent(publication, error);
    if (status == IDX_OK) return IDX_OK;
    /* The disk may still know the path as that of the old index: what is there now is not to be removed. */
    free(publication->temporary);
    publication->temporary = NULL;
    return status;
}

void idxi_publication_close(struct idxi_publication *publication) {
    if (publication->path == NULL) return; /* never opened */
    if (publication->lock >= 0) close(publication->lock);
    if (publication->parent_fd >= 0) close(publication->parent_fd);
    /* The descriptors are closed first: removing needs some, and there may be no others. */
    bool is_own = publication->process == getpid();
    if (publication->temporary != NULL && is_own) idxi_remove_tree(AT_FDCWD, publication->temporary);
    free(publication->temporary);
    free(publication->parent);
    free(publication->path);
    *publication = (struct idxi_publication){0};
}
