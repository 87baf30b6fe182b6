/* refresh.c: newer views of an index: whether its path has another version by now, and what is pending since. */
#include "libidx/view/refresh.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libidx/base/base.h"
#include "libidx/log/pending.h"
#include "libidx/segment/manifest_file.h"

#define MAX_REFRESH_ATTEMPTS 10 /* attempts to read the log, which may be replaced at the same time */

/* Returns whether a file with this status is the manifest that was seen last, unchanged. If so, sets *log to what that
 * manifest says of the log. A newer manifest that was renamed to the path has another inode, since the one that was
 * seen is still open. One that was rewritten in place, which SPEC.md forbids, may look the same. */
static bool is_seen_manifest(const struct idx_index *index, const struct stat *status, struct idxf_manifest_log *log) {
    struct idxi_origin *origin = index->origin;
    pthread_mutex_lock(&origin->mutex);
    const struct stat *seen = &origin->seen;
    bool same = origin->manifest_file >= 0 && status->st_dev == seen->st_dev && status->st_ino == seen->st_ino &&
                status->st_size == seen->st_size && status->st_mtim.tv_sec == seen->st_mtim.tv_sec &&
                status->st_mtim.tv_nsec == seen->st_mtim.tv_nsec;
    if (same) *log = origin->log;
    pthread_mutex_unlock(&origin->mutex);
    return same;
}

/* Notes the descriptor `file` of a manifest, with its entry of the log, as the manifest seen last. The index owns the
 * descriptor from now on. If another thread has seen a newer manifest by now, this one is not the file at the path, so
 * the next check reads the newer one again. */
static void note_seen_manifest(const struct idx_index *index, int file, const struct idxf_manifest_log *log) {
    struct idxi_origin *origin = index->origin;
    pthread_mutex_lock(&origin->mutex);
    int former_file = origin->manifest_file;
    origin->manifest_file = file;
    origin->log = *log;
    if (fstat(file, &origin->seen) != 0) origin->seen = (struct stat){0};
    pthread_mutex_unlock(&origin->mutex);
    if (former_file >= 0) close(former_file);
}

/* Forgets the manifest that was seen last, so that the next check reads the one at the path. */
static void forget_seen_manifest(const struct idx_index *index) {
    struct idxi_origin *origin = index->origin;
    pthread_mutex_lock(&origin->mutex);
    int former_file = origin->manifest_file;
    origin->manifest_file = -1;
    pthread_mutex_unlock(&origin->mutex);
    if (former_file >= 0) close(former_file);
}

bool idxi_index_has_log(const struct idx_index *index) {
    struct idxi_origin *origin = index->origin;
    pthread_mutex_lock(&origin->mutex);
    bool has_log = origin->log.exists;
    pthread_mutex_unlock(&origin->mutex);
    return has_log;
}

/* Sets *change and *log as idxi_find_change does, by comparing the manifest in `folder` (a descriptor) with the open
 * one: they differ in nothing but the log if they have the same checksum once their entries of the log are equal. A
 * manifest that is damaged or missing counts as IDXI_REPLACED. */
static enum idx_status compare_manifests(const struct idx_index *index, int folder, enum idxi_change *change,
                                         struct idxf_manifest_log *log, struct idx_error *error) {
    int file;
    char *text = malloc(IDXF_MAX_MANIFEST_BYTES);
    struct idxf_manifest *manifest = malloc(sizeof *manifest);
    enum idx_status status = text == NULL || manifest == NULL
                                 ? idxi_fail_memory(error)
                                 : idxi_manifest_load(manifest, folder, index->path, &file, error);
    *change = IDXI_REPLACED;
    if (status == IDX_OK) {
        *log = manifest->log;
        manifest->log = index->manifest->log;
        idxf_manifest_write(manifest, text); /* This sets manifest->checksum; `text` itself is not used. */
        if (manifest->checksum == index->manifest->checksum) {
            *change = IDXI_NEW_LOG;
            note_seen_manifest(index, file, log);
        } else {
            close(file);
        }
    }
    free(text);
    free(manifest);
    /* The statuses from IDX_MISSING_FILE on, and below IDX_OUT_OF_MEMORY, are those of damaged files. */
    bool is_replaced = status == IDX_NOT_AN_INDEX || status == IDX_NEW_VERSION ||
                       (status >= IDX_MISSING_FILE && status < IDX_OUT_OF_MEMORY);
    return is_replaced ? IDX_OK : status;
}

/* Sets *change and *log as idxi_find_change does: compares the folder at the path with the open one, and if they are
 * the same, their manifests. */
static enum idx_status compare_folders(const struct idx_index *index, enum idxi_change *change,
                                       struct idxf_manifest_log *log, struct idx_error *error) {
    struct stat ours, theirs;
    int folder = open(index->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0 && (errno == ENOENT || errno == ENOTDIR)) {
        *change = IDXI_REPLACED;
        return IDX_OK;
    }
    if (folder < 0) return idxi_fail_system(error, errno, index->path, "open");
    enum idx_status status = IDX_OK;
    if (fstat(folder, &theirs) != 0 || fstat(index->folder, &ours) != 0)
        status = idxi_fail_system(error, errno, index->path, "stat");
    else if (ours.st_dev != theirs.st_dev || ours.st_ino != theirs.st_ino)
        *change = IDXI_REPLACED;
    else if (index->manifest == NULL)
        *change = IDXI_SAME; /* Opening it failed before there was a manifest that could differ. */
    else
        status = compare_manifests(index, folder, change, log, error);
    close(folder);
    return status;
}

enum idx_status idxi_find_change(const struct idx_index *index, enum idxi_change *change, struct idxf_manifest_log *log,
                                 struct idx_error *error) {
    struct stat status_now;
    *change = IDXI_SAME;
    if (stat(index->manifest_path, &status_now) == 0 && is_seen_manifest(index, &status_now, log)) return IDX_OK;
    return compare_folders(index, change, log, error);
}

enum idx_status idx_replaced(const struct idx_index *index, bool *replaced, struct idx_error *error) {
    enum idxi_change change;
    struct idxf_manifest_log log;
    IDXI_TRY(idxi_find_change(index, &change, &log, error));
    *replaced = change == IDXI_REPLACED;
    return IDX_OK;
}

/* Sets *newer to a view that also has the new records of the log that `log`, a manifest's entry, names; to NULL if
 * there are none, or after an error. Errors: as idxi_index_read_log; IDX_OUT_OF_MEMORY, after which *newer is as
 * before. */
static enum idx_status make_newer_view(const struct idx_index *index, const struct idxf_manifest_log *log,
                                       struct idx_index **newer, struct idx_error *error) {
    struct idx_index *view = malloc(sizeof *view);
    if (view == NULL) return idxi_fail_memory(error);
    *view = *index;
    enum idx_status status = idxi_index_read_log(view, log, error);
    if (status != IDX_OK || view->pending.last == index->pending.last) {
        if (status == IDX_OK) idxi_pending_release(view->pending.records);
        free(view);
        *newer = NULL;
        return status;
    }
    atomic_fetch_add(&index->origin->holders, 1);
    *newer = view;
    return IDX_OK;
}

enum idx_status idx_refresh(const struct idx_index *index, struct idx_index **newer, struct idx_error *error) {
    enum idxi_change change = IDXI_REPLACED; /* A spoilt view is opened anew in any case. */
    struct idxf_manifest_log log;
    if (!index->spoilt) IDXI_TRY(idxi_find_change(index, &change, &log, error));
    for (int attempt = 1; change != IDXI_REPLACED; attempt++) {
        enum idx_status status = make_newer_view(index, &log, newer, error);
        if (status == IDX_OK || attempt == MAX_REFRESH_ATTEMPTS) return status;
        forget_seen_manifest(index); /* Another log may have taken the place of the one that it names. */
        if (idxi_find_change(index, &change, &log, NULL) != IDX_OK) return status;
    }
    struct idx_open_options options = index->options;
    if (index->unpacks) options.residence = IDX_RESIDENCE_UNPACKED;
    return idxi_index_open(newer, index->path, &options, index, error);
}
