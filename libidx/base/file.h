/* file.h: files and folders: reading, writing with page checksums, syncing, replacing. Errors name the path. */
#ifndef IDX_LIBIDX_FILE_H
#define IDX_LIBIDX_FILE_H

#include <idx.h>
#include <sys/stat.h>

/* Flags to open files of an index for reading. A pipe in place of a file must not make the caller wait. */
#define IDXI_OPEN_FILE (O_RDONLY | O_CLOEXEC | O_NONBLOCK)

/* `folder/name`, allocated. NULL when out of memory. */
char *idxi_path(const char *folder, const char *name);

/* Reads `size` bytes at `offset`. IDX_WRONG_SIZE: the file has fewer. */
enum idx_status idxi_read_at(int fd, void *bytes, size_t size, uint64_t offset, const char *path,
                             struct idx_error *error);

enum idx_status idxi_write_at(int fd, const void *bytes, size_t size, uint64_t offset, const char *path,
                              struct idx_error *error);

enum idx_status idxi_file_size(int fd, uint64_t *size, const char *path, struct idx_error *error);

/* Returns the folder for temporary files of calls that have neither an index nor an output: $TMPDIR, or /tmp. */
const char *idxi_system_folder(void);

/* Opens the folder for temporary files, which the caller closes: *path; or if that is NULL, the folder of the index
 * that is open as `index`; or if that is negative, idxi_system_folder(). Sets *path to a name for messages:
 * `index_path` for the index. */
enum idx_status idxi_open_temporary_folder(int *folder, const char **path, int index, const char *index_path,
                                           struct idx_error *error);

/* Opens a new file in `folder`, for reading and writing, that has no name: it is gone once it is closed, however the
 * process ends. `path` is the folder's, for messages. Sets *file, which the caller closes. */
enum idx_status idxi_temporary_file(int *file, int folder, const char *path, struct idx_error *error);

/* Whether two are the same file, or folder. */
bool idxi_is_same_file(const struct stat *a, const struct stat *b);

/* Whether a path, from a folder on as for fstatat, leads to an open file or folder. */
bool idxi_leads_to(int folder, const char *path, int flags, int file);

/* Syncs the folder's entries to disk. */
enum idx_status idxi_sync_folder(int folder, const char *path, struct idx_error *error);

/* Removes a folder, by its name within another (a descriptor, or AT_FDCWD), and what is in it, as far as possible;
 * takes a descriptor for each level of folders, and no memory. */
void idxi_remove_tree(int folder, const char *name);

/* A uuid of 16 bytes drawn at random (RFC 9562, version 4). */
enum idx_status idxi_make_uuid(uint8_t *uuid, struct idx_error *error);

/* ---- Writing a file page by page ---- */

/* Buffers writes to a new file, and notes the checksum of each IDXF_PAGE_SIZE bytes. */
struct idxi_page_writer {
    int fd;
    const char *path; /* for messages */
    uint8_t *buffer;
    size_t used;
    uint64_t written;      /* bytes handed to the file */
    uint64_t written_back; /* of these, bytes whose write-back to disk was started */
    uint64_t *checksums;
    size_t checksum_count, checksum_capacity;
};

/* Creates `name` in `folder` and goes to `offset`, a multiple of the page size. `path` is kept, for messages. */
enum idx_status idxi_page_writer_open(struct idxi_page_writer *writer, int folder, const char *name, uint64_t offset,
                                      const char *path, struct idx_error *error);

enum idx_status idxi_page_writer_write(struct idxi_page_writer *writer, const void *bytes, size_t size,
                                       struct idx_error *error);

/* Fills the last page with zeros. */
enum idx_status idxi_page_writer_pad(struct idxi_page_writer *writer, struct idx_error *error);

/* After padding: appends the checksums of all pages so far. */
enum idx_status idxi_page_writer_write_checksums(struct idxi_page_writer *writer, struct idx_error *error);

/* Writes `header` at the file's start, and syncs. */
enum idx_status idxi_page_writer_finish(struct idxi_page_writer *writer, const void *header, size_t header_size,
                                        struct idx_error *error);

/* Closes and frees, finished or not. */
void idxi_page_writer_close(struct idxi_page_writer *writer);

#endif
