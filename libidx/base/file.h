/* file.h: files and folders. Errors name the path that a call was given. */
#ifndef IDX_LIBIDX_FILE_H
#define IDX_LIBIDX_FILE_H

#include <fcntl.h>
#include <idx.h>
#include <sys/stat.h>

/* The flags to open a file of an index for reading. Without O_NONBLOCK, a pipe in its place would make callers wait. */
#define IDXI_OPEN_FILE (O_RDONLY | O_CLOEXEC | O_NONBLOCK)

/* Returns `folder/name`, which the caller frees, or NULL when memory runs out. */
char *idxi_join_path(const char *folder, const char *name);

/* Reads `size` bytes at `offset` of the open file `fd`. Fails with IDX_WRONG_SIZE where the file has fewer. */
enum idx_status idxi_read_at(int fd, void *bytes, size_t size, uint64_t offset, const char *path,
                             struct idx_error *error);

/* Writes `size` bytes at `offset` of the open file `fd`. After a failure some of them may be written. */
enum idx_status idxi_write_at(int fd, const void *bytes, size_t size, uint64_t offset, const char *path,
                              struct idx_error *error);

/* Opens `name`, a file or a folder of an index, in `folder`, and sets *file to its descriptor, which is below 0 after
 * an error. `flags` are those of openat; `path` is for messages. Fails with IDX_MISSING_FILE if it does not exist. */
enum idx_status idxi_open_part(int *file, int folder, const char *name, int flags, const char *path,
                               struct idx_error *error);

/* Sets *size to the size in bytes of an open file. Fails with IDX_BAD_CONTENT where it is not a regular file. */
enum idx_status idxi_get_file_size(int fd, uint64_t *size, const char *path, struct idx_error *error);

/* Returns the folder for temporary files of calls that have neither an index nor an output: $TMPDIR, or /tmp. */
const char *idxi_get_system_folder(void);

/* Opens the folder for temporary files, which the caller closes: *path; or if that is NULL, the folder of the index
 * that is open as `index_folder`; or if that is negative, idxi_get_system_folder(). Where *path is NULL, sets it to the
 * path that was opened, or `index_path` for the index. */
enum idx_status idxi_open_temporary_folder(int *folder, const char **path, int index_folder, const char *index_path,
                                           struct idx_error *error);

/* Opens a new file in `folder`, for reading and writing, that has no name: it is gone once it is closed, however the
 * process ends. `path` is the folder's, for messages. Sets *file, which the caller closes. */
enum idx_status idxi_make_temporary_file(int *file, int folder, const char *path, struct idx_error *error);

/* Whether a path leads to the open file or folder `file`. `folder` and `flags` are those of fstatat. False also if
 * either can't be examined. */
bool idxi_path_leads_to(int folder, const char *path, int flags, int file);

/* Syncs the entries of an open folder to disk, if its file system can do that. */
enum idx_status idxi_sync_folder(int folder, const char *path, struct idx_error *error);

/* Removes a folder and what is in it, as far as that is possible. `name` is its path from `folder`, a descriptor or
 * AT_FDCWD. It uses a descriptor for each level of folders, but allocates no memory. */
void idxi_remove_tree(int folder, const char *name);

/* Sets `uuid`, 16 bytes, to a uuid that is drawn at random (RFC 9562, version 4). */
enum idx_status idxi_make_uuid(uint8_t *uuid, struct idx_error *error);

/* ---- Writing a file page by page ---- */

/* Buffers writes to a new file, and notes the checksum of each page of IDXF_PAGE_SIZE bytes. */
struct idxi_page_writer {
    int fd;
    const char *path; /* for messages */
    uint8_t *buffer;
    size_t used;
    uint64_t written;      /* the offset in the file up to which it is written */
    uint64_t written_back; /* the offset up to which write-back to disk was started */
    uint64_t *checksums;   /* of the pages written, as the file has them */
    size_t checksum_count, checksum_capacity;
};

/* Creates the file `name`, which must not exist, in `folder`, and begins to write at `offset`, a multiple of the page
 * size. Messages use `path`, which must outlive the writer. Call idxi_page_writer_close even if this fails. */
enum idx_status idxi_page_writer_open(struct idxi_page_writer *writer, int folder, const char *name, uint64_t offset,
                                      const char *path, struct idx_error *error);

/* Appends `size` bytes, which may stay in the buffer until idxi_page_writer_finish. */
enum idx_status idxi_page_writer_write(struct idxi_page_writer *writer, const void *bytes, size_t size,
                                       struct idx_error *error);

/* Fills the last page up with zeros. */
enum idx_status idxi_page_writer_pad(struct idxi_page_writer *writer, struct idx_error *error);

/* Appends the checksums of all pages so far, the last of which must be full (idxi_page_writer_pad). Nothing but the
 * header can be written behind them. */
enum idx_status idxi_page_writer_write_checksums(struct idxi_page_writer *writer, struct idx_error *error);

/* Writes what is buffered, and `header` at the start of the file, and syncs the file. */
enum idx_status idxi_page_writer_finish(struct idxi_page_writer *writer, const void *header, size_t header_size,
                                        struct idx_error *error);

/* Closes the file and frees all memory, whether the file was finished or not. */
void idxi_page_writer_close(struct idxi_page_writer *writer);

#endif
