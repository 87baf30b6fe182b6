/* manifest_file.c: the names of the files of an index; reads, writes and changes its manifest. */
#include "libidx/segment/manifest_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libidx/base/base.h"
#include "libidx/segment/document_map.h"
#include "libidx/segment/removed.h"
#include "libidx/segment/sets_reader.h"

/* ---- Names ---- */

#define DIGITS 6 /* of a segment's number in its folder's name */

void idxi_format_segment_name(uint32_t number, char name[IDXI_NAME_BYTES]) {
    snprintf(name, IDXI_NAME_BYTES, "%06u", (unsigned)number);
}

void idxi_format_table_name(size_t number, char name[IDXI_NAME_BYTES]) {
    snprintf(name, IDXI_NAME_BYTES, "table-%02zu.tbl", number);
}

/* Returns whether a name is one of `count` names. */
static bool is_listed_name(const char *name, const char *const *names, size_t count) {
    size_t i = 0;
    while (i < count && strcmp(name, names[i]) != 0) i++;
    return i < count;
}

/* Returns how many decimal digits a text begins with. */
static size_t count_digits(const char *text) { return strspn(text, "0123456789"); }

bool idxi_is_segment_name(const char *name) { return count_digits(name) == DIGITS && name[DIGITS] == '\0'; }

bool idxi_is_segment_file_name(const char *name) {
    const char *const names[] = {idxi_get_map_name(IDXI_MAP_DOCUMENTS),
                                 idxi_get_sums_name(IDXI_MAP_DOCUMENTS),
                                 idxi_get_map_name(IDXI_MAP_BY_ID),
                                 idxi_get_sums_name(IDXI_MAP_BY_ID),
                                 IDXI_REMOVED_NAME,
                                 IDXI_SETS_NAME};
    /* a name that does not begin with "table-" counts as one without digits */
    size_t prefix = strlen("table-"), digits = strncmp(name, "table-", prefix) == 0 ? count_digits(name + prefix) : 0;
    return (digits >= 2 && strcmp(name + prefix + digits, ".tbl") == 0) ||
           is_listed_name(name, names, sizeof names / sizeof *names);
}

bool idxi_is_index_file_name(const char *name) {
    static const char *const names[] = {IDXI_MANIFEST_NAME,     IDXI_NEW_MANIFEST_NAME, IDXI_LOG_NAME,
                                        IDXI_NEW_LOG_NAME,      IDXI_LOCK_NAME,         IDXI_COMPACT_LOCK_NAME,
                                        IDXI_MANIFEST_LOCK_NAME};
    return is_listed_name(name, names, sizeof names / sizeof *names);
}

/* ---- Reading ---- */

/* Reads the text of the manifest into `text`, and sets *size to its bytes: at most IDXF_MAX_MANIFEST_BYTES + 1, enough
 * to find a longer one invalid. */
static enum idx_status read_text(int file, const char *path, char *text, size_t *size, struct idx_error *error) {
    uint64_t file_size;
    IDXI_TRY(idxi_get_file_size(file, &file_size, path, error));
    *size = file_size < IDXF_MAX_MANIFEST_BYTES + 1 ? (size_t)file_size : IDXF_MAX_MANIFEST_BYTES + 1;
    return idxi_read_at(file, text, *size, 0, path, error);
}

/* Fails because of a fault in line `line` of the manifest, from 1; 0 stands for the whole. `version` is used only for
 * IDXF_FAULT_VERSION, and `need`, the name of the unknown addition, only for IDXF_FAULT_NEEDS. */
static enum idx_status fail_manifest_fault(enum idxf_fault fault, unsigned line, uint32_t version, const char *need,
                                           const char *path, struct idx_error *error) {
    if (fault == IDXF_FAULT_MAGIC)
        return idxi_fail(error, IDX_NOT_AN_INDEX, path, "is not the manifest of an idx index");
    if (fault == IDXF_FAULT_VERSION) return idxi_fail_version(error, version, path);
    if (fault == IDXF_FAULT_NEEDS)
        return idxi_fail(error, IDX_NEW_VERSION, path,
                         "the index needs '%s', which this version of idx does not have: use a later one", need);
    if (line == 0) return idxi_fail_fault(error, fault, path, 0);
    return idxi_fail(error, idxi_get_fault_status(fault), path,
                     "line %u: %s: the file is damaged; rebuild the index, or restore it from a copy", line,
                     idxf_get_fault_predicate(fault));
}

/* Reads and checks the manifest in an open file, which stays open. `path` is for messages. */
static enum idx_status read_manifest(struct idxf_manifest *manifest, int file, const char *path,
                                     struct idx_error *error) {
    size_t size;
    unsigned line;
    uint32_t version;
    char *text = malloc(IDXF_MAX_MANIFEST_BYTES + 1);
    if (text == NULL) return idxi_fail_memory(error);
    enum idx_status status = read_text(file, path, text, &size, error);
    if (status == IDX_OK) {
        enum idxf_fault fault = idxf_manifest_read(manifest, text, size, &line, &version);
        if (fault != IDXF_OK) status = fail_manifest_fault(fault, line, version, manifest->need, path, error);
    }
    /* idxf_manifest_write sets manifest->checksum, by which versions of an index are told apart. Lines of unknown
     * additions, which the next manifest will not have, must make no difference: so it is computed without them. */
    if (status == IDX_OK) idxf_manifest_write(manifest, text);
    free(text);
    return status;
}

enum idx_status idxi_manifest_load(struct idxf_manifest *manifest, int folder, const char *folder_path, int *file,
                                   struct idx_error *error) {
    char *path = idxi_join_path(folder_path, IDXI_MANIFEST_NAME);
    if (path == NULL) return idxi_fail_memory(error);
    enum idx_status status;
    int manifest_file = openat(folder, IDXI_MANIFEST_NAME, IDXI_OPEN_FILE);
    if (manifest_file >= 0)
        status = read_manifest(manifest, manifest_file, path, error);
    else if (errno == ENOENT)
        status = idxi_fail(error, IDX_NOT_AN_INDEX, folder_path, "has no manifest, so it is not an idx index");
    else
        status = idxi_fail_system(error, errno, path, "open");
    if (manifest_file >= 0 && (status != IDX_OK || file == NULL))
        close(manifest_file);
    else if (status == IDX_OK)
        *file = manifest_file;
    free(path);
    return status;
}

/* ---- Writing ---- */

/* Writes a manifest to the new file `name` of the folder, syncs it, and then syncs the folder. Sets
 * manifest->checksum. */
static enum idx_status write_manifest(int folder, const char *name, const char *folder_path,
                                      struct idxf_manifest *manifest, struct idx_error *error) {
    struct idxi_page_writer writer;
    char *text = malloc(IDXF_MAX_MANIFEST_BYTES);
    if (text == NULL) return idxi_fail_memory(error);
    size_t size = idxf_manifest_write(manifest, text);
    enum idx_status status = idxi_page_writer_open(&writer, folder, name, 0, folder_path, error);
    if (status == IDX_OK) status = idxi_page_writer_finish(&writer, text, size, error);
    idxi_page_writer_close(&writer);
    free(text);
    return status == IDX_OK ? idxi_sync_folder(folder, folder_path, error) : status;
}

enum idx_status idxi_manifest_create(int folder, const char *folder_path, struct idxf_manifest *manifest,
                                     struct idx_error *error) {
    return write_manifest(folder, IDXI_MANIFEST_NAME, folder_path, manifest, error);
}

/* Does the work of idxi_manifest_switch for a caller that holds the lock of the manifest. *manifest is scratch. */
static enum idx_status replace_manifest(struct idxf_manifest *manifest, int folder, const char *folder_path,
                                        idxi_manifest_change *change, void *context, bool *switched,
                                        struct idx_error *error) {
    IDXI_TRY(idxi_manifest_load(manifest, folder, folder_path, NULL, error));
    change(context, manifest);
    /* A process that was killed in this function may have left its new manifest. */
    if (unlinkat(folder, IDXI_NEW_MANIFEST_NAME, 0) != 0 && errno != ENOENT)
        return idxi_fail_system(error, errno, folder_path, "remove its " IDXI_NEW_MANIFEST_NAME);
    enum idx_status status = write_manifest(folder, IDXI_NEW_MANIFEST_NAME, folder_path, manifest, error);
    if (status == IDX_OK && renameat(folder, IDXI_NEW_MANIFEST_NAME, folder, IDXI_MANIFEST_NAME) != 0)
        status = idxi_fail_system(error, errno, folder_path, "replace its manifest");
    *switched = status == IDX_OK;
    if (status == IDX_OK) return idxi_sync_folder(folder, folder_path, error);
    unlinkat(folder, IDXI_NEW_MANIFEST_NAME, 0);
    return status;
}

enum idx_status idxi_manifest_switch(int folder, const char *folder_path, idxi_manifest_change *change, void *context,
                                     bool *switched, struct idx_error *error) {
    int lock;
    *switched = false;
    struct idxf_manifest *manifest = malloc(sizeof *manifest);
    if (manifest == NULL) return idxi_fail_memory(error);
    enum idx_status status = idxi_lock(&lock, IDXI_LOCK_WAIT, IDXI_MANIFEST_LOCK_NAME, folder, folder_path, error);
    if (status == IDX_OK) {
        status = replace_manifest(manifest, folder, folder_path, change, context, switched, error);
        idxi_lock_close(lock);
    }
    free(manifest);
    return status;
}
