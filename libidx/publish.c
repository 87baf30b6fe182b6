/* publish.c: temporary folders, renaming and exchanging. */
#include "libidx/publish.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libidx/error.h"
#include "libidx/file.h"
#include "libidx/index.h"

#define TEMPORARY_ATTEMPTS 100

enum rename_flag { FLAG_NOREPLACE = 1, FLAG_EXCHANGE = 2 };

static int rename_with(const char *from, const char *to, enum rename_flag flag) {
#ifdef SYS_renameat2
    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, (unsigned)flag);
#else
    (void)from, (void)to, (void)flag;
    errno = ENOSYS;
    return -1;
#endif
}

static bool is_unsupported(int system_errno) { return system_errno == ENOSYS || system_errno == EINVAL; }

static enum idx_status fail_not_index(const char *path, struct idx_error *error) {
    return idxi_fail(error, IDX_NOT_AN_INDEX, path, "is no idx index, so it will not be replaced");
}

/* Whether an idx index stands at the path, sound or not: a folder whose manifest begins like one. */
static enum idx_status check_index(const char *path, struct idx_error *error) {
    static const char begin[] = "idx-index ";
    char bytes[sizeof begin - 1];
    char *manifest = idxi_path(path, IDXI_MANIFEST_NAME);
    if (manifest == NULL) return idxi_fail_memory(error);
    int file = open(manifest, IDXI_OPEN_FILE);
    enum idx_status status = IDX_OK;
    if (file < 0)
        status = errno == ENOENT ? fail_not_index(path, error) : idxi_fail_system(error, errno, manifest, "open");
    else if (read(file, bytes, sizeof bytes) != (ssize_t)sizeof bytes || memcmp(bytes, begin, sizeof bytes) != 0)
        status = fail_not_index(path, error);
    if (file >= 0) close(file);
    free(manifest);
    return status;
}

static enum idx_status check_target(const struct idxi_publication *publication, bool *exists, struct idx_error *error) {
    struct stat status;
    *exists = lstat(publication->path, &status) == 0;
    if (!*exists && errno != ENOENT) return idxi_fail_system(error, errno, publication->path, "stat");
    if (!*exists) return IDX_OK;
    if (!publication->replace)
        return idxi_fail(error, IDX_EXISTS, publication->path,
                         "exists already: choose another name, or ask for it to be replaced (--force)");
    return S_ISDIR(status.st_mode) ? check_index(publication->path, error) : fail_not_index(publication->path, error);
}

/* ---- Opening ---- */

/* Splits the path into the folder that holds it and its name; allocates all of publication's strings. */
static enum idx_status set_paths(struct idxi_publication *publication, const char *path, struct idx_error *error) {
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/') length--;
    publication->path = strndup(path, length);
    if (publication->path == NULL) return idxi_fail_memory(error);
    const char *slash = strrchr(publication->path, '/');
    const char *name = slash == NULL ? publication->path : slash + 1;
    if (name[0] == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, path, "is no name for an index: give the name of a new folder");
    if (slash == NULL)
        publication->parent = strdup(".");
    else
        publication->parent =
            slash == publication->path ? strdup("/") : strndup(publication->path, (size_t)(slash - publication->path));
    return publication->parent == NULL ? idxi_fail_memory(error) : IDX_OK;
}

static enum idx_status make_temporary(struct idxi_publication *publication, struct idx_error *error) {
    const char *name = strrchr(publication->path, '/');
    name = name == NULL ? publication->path : name + 1;
    size_t size = strlen(publication->parent) + strlen(name) + 32;
    char *temporary = malloc(size);
    if (temporary == NULL) return idxi_fail_memory(error);
    for (int attempt = 0; attempt < TEMPORARY_ATTEMPTS; attempt++) {
        uint32_t random;
        if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random)
            random = (uint32_t)getpid() + (uint32_t)attempt;
        snprintf(temporary, size, "%s/.%s.tmp-%08x", publication->parent, name, (unsigned)random);
        if (mkdir(temporary, 0777) == 0) {
            publication->temporary = temporary;
            return IDX_OK;
        }
        if (errno != EEXIST) break;
    }
    int system_errno = errno;
    free(temporary);
    if (system_errno == ENOENT && access(publication->parent, F_OK) != 0)
        return idxi_fail(error, IDX_NOT_FOUND, publication->path, "there is no folder %s to hold it: make that first",
                         publication->parent);
    return idxi_fail_system(error, system_errno, publication->path, "create");
}

enum idx_status idxi_publication_open(struct idxi_publication *publication, const char *path, bool replace,
                                      struct idx_error *error) {
    bool exists;
    *publication = (struct idxi_publication){.replace = replace};
    IDXI_TRY(set_paths(publication, path, error));
    IDXI_TRY(check_target(publication, &exists, error));
    return make_temporary(publication, error);
}

/* ---- Publishing ---- */

static enum idx_status move_to_path(struct idxi_publication *publication, struct idx_error *error) {
    int result = rename_with(publication->temporary, publication->path, FLAG_NOREPLACE);
    /* A plain rename replaces nothing but an empty folder. */
    if (result != 0 && is_unsupported(errno)) result = rename(publication->temporary, publication->path);
    if (result == 0) {
        free(publication->temporary);
        publication->temporary = NULL;
        return IDX_OK;
    }
    if (errno == EEXIST || errno == ENOTEMPTY || errno == ENOTDIR)
        return idxi_fail(error, IDX_EXISTS, publication->path,
                         "came to exist while the index was built: choose another name, or build again");
    return idxi_fail_system(error, errno, publication->path, "create");
}

static enum idx_status exchange_with_path(struct idxi_publication *publication, struct idx_error *error) {
    if (rename_with(publication->temporary, publication->path, FLAG_EXCHANGE) == 0) return IDX_OK;
    if (is_unsupported(errno))
        return idxi_fail(error, IDX_UNSUPPORTED, publication->path,
                         "can't be replaced, since its file system can't exchange folders: build under another name");
    return idxi_fail_system(error, errno, publication->path, "replace");
}

static enum idx_status sync_parent(const struct idxi_publication *publication, struct idx_error *error) {
    int folder = open(publication->parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return idxi_fail_system(error, errno, publication->parent, "open");
    enum idx_status status = idxi_sync_folder(folder, publication->parent, error);
    close(folder);
    return status;
}

enum idx_status idxi_publish(struct idxi_publication *publication, struct idx_error *error) {
    bool exists;
    IDXI_TRY(check_target(publication, &exists, error));
    IDXI_TRY(exists ? exchange_with_path(publication, error) : move_to_path(publication, error));
    return sync_parent(publication, error);
}

void idxi_publication_close(struct idxi_publication *publication) {
    if (publication->temporary != NULL) idxi_remove_tree(publication->temporary);
    free(publication->temporary);
    free(publication->parent);
    free(publication->path);
    *publication = (struct idxi_publication){0};
}
