/* file.c: files and folders. */
#include "libidx/base/base.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>
#ifdef IDX_LINUX
#include <sys/syscall.h>
#endif

#include "format/limits.h"

#define BUFFER_BYTES ((size_t)256 * IDXF_PAGE_SIZE)

/* Once this many bytes are written but not on their way to disk, the system is asked to begin, so that the sync at the
 * end is short. */
#define WRITE_BACK_BYTES ((uint64_t)8 << 20)

char *idxi_join_path(const char *folder, const char *name) {
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path = malloc(size);
    if (path != NULL) snprintf(path, size, "%s/%s", folder, name);
    return path;
}

enum idx_status idxi_read_at(int fd, void *bytes, size_t size, uint64_t offset, const char *path,
                             struct idx_error *error) {
    size_t bytes_read = 0;
    while (bytes_read < size) {
        ssize_t step_bytes = pread(fd, (char *)bytes + bytes_read, size - bytes_read, (off_t)(offset + bytes_read));
        if (step_bytes < 0 && errno == EINTR) continue;
        if (step_bytes < 0) return idxi_fail_system(error, errno, path, "read");
        if (step_bytes == 0) return idxi_fail_file_size(error, offset + bytes_read, offset + size, path);
        bytes_read += (size_t)step_bytes;
    }
    return IDX_OK;
}

enum idx_status idxi_write_at(int fd, const void *bytes, size_t size, uint64_t offset, const char *path,
                              struct idx_error *error) {
    size_t written = 0;
    while (written < size) {
        ssize_t step_bytes = pwrite(fd, (const char *)bytes + written, size - written, (off_t)(offset + written));
        if (step_bytes < 0 && errno == EINTR) continue;
        if (step_bytes < 0) return idxi_fail_system(error, errno, path, "write");
        written += (size_t)step_bytes;
    }
    return IDX_OK;
}

enum idx_status idxi_open_index_file(int *file, int folder, const char *name, int flags, const char *path,
                                     struct idx_error *error) {
    *file = openat(folder, name, flags);
    if (*file >= 0) return IDX_OK;
    if (errno != ENOENT && errno != ENOTDIR) return idxi_fail_system(error, errno, path, "open");
    return idxi_fail(error, IDX_MISSING_FILE, path,
                     "is missing: the index is damaged; rebuild it, or restore it from a copy");
}

enum idx_status idxi_get_file_size(int fd, uint64_t *size, const char *path, struct idx_error *error) {
    struct stat status;
    if (fstat(fd, &status) != 0) return idxi_fail_system(error, errno, path, "stat");
    if (!S_ISREG(status.st_mode)) return idxi_fail(error, IDX_BAD_CONTENT, path, "is not a regular file");
    *size = (uint64_t)status.st_size;
    return IDX_OK;
}

const char *idxi_get_system_temporary_folder(void) {
    const char *folder = getenv("TMPDIR");
    return folder == NULL || *folder == '\0' ? "/tmp" : folder;
}

enum idx_status idxi_open_temporary_folder(int *folder, const char **path, int index_folder, const char *index_path,
                                           struct idx_error *error) {
    bool at_index = *path == NULL && index_folder >= 0;
    if (*path == NULL) *path = at_index ? index_path : idxi_get_system_temporary_folder();
    *folder = openat(at_index ? index_folder : AT_FDCWD, at_index ? "." : *path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return *folder >= 0 ? IDX_OK : idxi_fail_system(error, errno, *path, "open");
}

/* Creates a file with a random name and removes the name at once, for file systems that can't create one without a
 * name. Returns its descriptor, or -1 and sets errno. */
static int create_and_unlink_file(int folder) {
    uint64_t random;
    char name[32];
    if (getentropy(&random, sizeof random) != 0) return -1;
    snprintf(name, sizeof name, ".idx-%016llx", (unsigned long long)random);
    int file = openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file >= 0) unlinkat(folder, name, 0);
    return file;
}

enum idx_status idxi_make_temporary_file(int *file, int folder, const char *path, struct idx_error *error) {
    *file = -1;
    errno = EOPNOTSUPP; /* for systems without O_TMPFILE; a kernel that does not know it sets EISDIR */
#ifdef IDX_LINUX
    *file = openat(folder, ".", O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
#endif
    if (*file < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) *file = create_and_unlink_file(folder);
    if (*file >= 0) return IDX_OK;
    enum idx_status status = idxi_fail_system(error, errno, path, "create a temporary file in");
    if (status == IDX_NO_ACCESS && error != NULL) {
        size_t length = strlen(error->sentence);
        snprintf(error->sentence + length, sizeof error->sentence - length,
                 "; choose another folder for temporary files");
    }
    return status;
}

bool idxi_path_leads_to(int folder, const char *path, int flags, int file) {
    struct stat path_status, file_status;
    return fstatat(folder, path, &path_status, flags) == 0 && fstat(file, &file_status) == 0 &&
           path_status.st_dev == file_status.st_dev && path_status.st_ino == file_status.st_ino;
}

enum idx_status idxi_sync_folder(int folder, const char *path, struct idx_error *error) {
    /* Some file systems can't sync folders, and say so with EINVAL. */
    if (fsync(folder) != 0 && errno != EINVAL) return idxi_fail_system(error, errno, path, "sync");
    return IDX_OK;
}

/* Removes an entry of a folder with all that is in it, except `.` and `..`. */
static void remove_entry(int folder, const char *name) {
    if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0) idxi_remove_tree(folder, name);
}

#ifdef IDX_LINUX
/* The most bytes of a folder's entries that are read at a time; the longest entry fits. */
#define ENTRIES_BYTES 4096

/* Removes what is in a folder, and closes its descriptor. Entries are read into the stack, not by opendir, which
 * allocates: the folder may have to go because memory has run out. The system is called directly, since the C library
 * has a function for that only from glibc 2.30 on. */
static void remove_entries(int folder) {
    _Alignas(struct dirent64) char entries[ENTRIES_BYTES];
    for (long size; (size = syscall(SYS_getdents64, folder, entries, sizeof entries)) > 0;) {
        for (long offset = 0; offset < size;) {
            const struct dirent64 *entry = (const void *)(entries + offset);
            offset += entry->d_reclen;
            remove_entry(folder, entry->d_name);
        }
    }
    close(folder);
}
#else
/* Removes what is in a folder, and closes its descriptor, by fdopendir, where the system has no getdents64. */
static void remove_entries(int folder) {
    DIR *entries = fdopendir(folder);
    for (struct dirent *entry; entries != NULL && (entry = readdir(entries)) != NULL;)
        remove_entry(folder, entry->d_name);
    if (entries != NULL)
        closedir(entries);
    else
        close(folder);
}
#endif

void idxi_remove_tree(int folder, const char *name) {
    if (unlinkat(folder, name, 0) == 0) return; /* It was no folder. */
    int inner_folder = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (inner_folder >= 0) remove_entries(inner_folder);
    unlinkat(folder, name, AT_REMOVEDIR);
}

enum idx_status idxi_make_uuid(uint8_t *uuid, struct idx_error *error) {
    if (getentropy(uuid, 16) != 0) return idxi_fail_system(error, errno, NULL, "get random bytes");
    uuid[6] = (uint8_t)((uuid[6] & 0x0f) | 0x40); /* the version */
    uuid[8] = (uint8_t)((uuid[8] & 0x3f) | 0x80); /* the variant */
    return IDX_OK;
}

/* ---- Writing a file page by page ---- */

enum idx_status idxi_page_writer_open(struct idxi_page_writer *writer, int folder, const char *name, uint64_t offset,
                                      const char *path, struct idx_error *error) {
    *writer = (struct idxi_page_writer){.fd = -1, .path = path, .written = offset, .written_back = offset};
    writer->buffer = malloc(BUFFER_BYTES);
    if (writer->buffer == NULL) return idxi_fail_memory(error);
    writer->fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return writer->fd >= 0 ? IDX_OK : idxi_fail_system(error, errno, path, "create");
}

/* Appends the checksums of all whole pages of the buffer to writer->checksums, little-endian, as the file has them. */
static enum idx_status append_page_checksums(struct idxi_page_writer *writer, struct idx_error *error) {
    size_t pages = writer->used / IDXF_PAGE_SIZE;
    IDXI_GROW(writer->checksums, writer->checksum_capacity, writer->checksum_count + pages, error);
    for (size_t page = 0; page < pages; page++)
        idxf_store64((uint8_t *)&writer->checksums[writer->checksum_count++],
                     idxf_checksum(writer->buffer + page * IDXF_PAGE_SIZE, IDXF_PAGE_SIZE));
    return IDX_OK;
}

/* Asks the system to begin writing to disk, once WRITE_BACK_BYTES were written since it was last asked. Errors are
 * ignored: the sync at the end reports them. */
static void start_write_back(struct idxi_page_writer *writer) {
    uint64_t waiting_bytes = writer->written - writer->written_back;
    if (waiting_bytes < WRITE_BACK_BYTES) return;
#ifdef IDX_LINUX
    sync_file_range(writer->fd, (off_t)writer->written_back, (off_t)waiting_bytes, SYNC_FILE_RANGE_WRITE);
#endif
    writer->written_back = writer->written;
}

/* Writes the buffer to the file, empties it, and appends the checksums of its whole pages to writer->checksums. */
static enum idx_status flush_buffer(struct idxi_page_writer *writer, struct idx_error *error) {
    IDXI_TRY(append_page_checksums(writer, error));
    IDXI_TRY(idxi_write_at(writer->fd, writer->buffer, writer->used, writer->written, writer->path, error));
    writer->written += writer->used;
    writer->used = 0;
    start_write_back(writer);
    return IDX_OK;
}

enum idx_status idxi_page_writer_write(struct idxi_page_writer *writer, const void *bytes, size_t size,
                                       struct idx_error *error) {
    const uint8_t *next_bytes = bytes;
    while (size > 0) {
        size_t free_bytes = BUFFER_BYTES - writer->used, step_bytes = size < free_bytes ? size : free_bytes;
        memcpy(writer->buffer + writer->used, next_bytes, step_bytes);
        writer->used += step_bytes;
        next_bytes += step_bytes;
        size -= step_bytes;
        if (writer->used == BUFFER_BYTES) IDXI_TRY(flush_buffer(writer, error));
    }
    return IDX_OK;
}

enum idx_status idxi_page_writer_pad(struct idxi_page_writer *writer, struct idx_error *error) {
    static const uint8_t zeros[IDXF_PAGE_SIZE];
    size_t used_of_page = writer->used % IDXF_PAGE_SIZE;
    return used_of_page == 0 ? IDX_OK : idxi_page_writer_write(writer, zeros, IDXF_PAGE_SIZE - used_of_page, error);
}

enum idx_status idxi_page_writer_write_checksums(struct idxi_page_writer *writer, struct idx_error *error) {
    IDXI_TRY(flush_buffer(writer, error));
    size_t size = writer->checksum_count * sizeof *writer->checksums;
    IDXI_TRY(idxi_write_at(writer->fd, writer->checksums, size, writer->written, writer->path, error));
    writer->written += size;
    return IDX_OK;
}

enum idx_status idxi_page_writer_finish(struct idxi_page_writer *writer, const void *header, size_t header_size,
                                        struct idx_error *error) {
    IDXI_TRY(flush_buffer(writer, error));
    IDXI_TRY(idxi_write_at(writer->fd, header, header_size, 0, writer->path, error));
    if (fsync(writer->fd) != 0) return idxi_fail_system(error, errno, writer->path, "sync");
    return IDX_OK;
}

void idxi_page_writer_close(struct idxi_page_writer *writer) {
    if (writer->fd >= 0) close(writer->fd);
    free(writer->buffer);
    free(writer->checksums);
    *writer = (struct idxi_page_writer){.fd = -1};
}
