/* file.h: files and folders. In each function, `fd` or `folder` is an open descriptor, and `path` is the path for
 * messages. Unless another status is stated, a function fails as idxi_fail_system. */
#ifndef IDX_LIBIDX_FILE_H
#define IDX_LIBIDX_FILE_H

#include <fcntl.h>
#include <idx.h>
#include <sys/stat.h>

/* The flags to open a file of an index for reading. Without O_NONBLOCK, a pipe in its place would make callers wait. */
#define IDXI_OPEN_FILE (O_RDONLY | O_CLOEXEC | O_NONBLOCK)

/* Returns `folder/name`, which the caller frees, or NULL when memory runs out. */
char *idxi_join_path(const char *folder, const char *name);

/* Reads `size` bytes at `offset` of the open file `fd`. Fails with IDX_WRONG_SIZE if the file ends before them. After a
 * failure `bytes` may be partly set. */
enum idx_status idxi_read_at(int fd, void *bytes, size_t size, uint64_t offset, const char *path,
                             struct idx_error *error);

/* Writes `size` bytes at `offset` of the open file `fd`. After a failure some of them may be written. */
enum idx_status idxi_write_at(int fd, const void *bytes, size_t size, uint64_t offset, const char *path,
                              struct idx_error *error);

/* Opens `name`, a file or a folder of an index, in `folder`, and sets *file to its descriptor, which the caller closes;
 * after a failure it is negative. `flags` are those of openat. Fails with IDX_MISSING_FILE if there is no such file. */
enum idx_status idxi_open_index_file(int *file, int folder, const char *name, int flags, const char *path,
                                     struct idx_error *error);

/* Sets *size to the bytes of an open file. Fails with IDX_BAD_CONTENT if it is not a regular file. */
enum idx_status idxi_get_file_size(int fd, uint64_t *size, const char *path, struct idx_error *error);

/* Returns the folder for temporary files of calls that have neither an index nor an output: $TMPDIR, or /tmp. */
const char *idxi_get_system_temporary_folder(void);

/* Opens a folder for temporary files, and sets *folder to its descriptor, which the caller closes; after a failure it
 * is negative. The folder is the first that there is of these:
 * - *path, unless that is NULL;
 * - the folder of an index, unless its descriptor `index_folder` is negative; *path becomes `index_path`;
 * - idxi_get_system_temporary_folder(), which *path becomes. */
enum idx_status idxi_open_temporary_folder(int *folder, const char **path, int index_folder, const char *index_path,
                                           struct idx_error *error);

/* Creates a file without a name in `folder`, open for reading and writing: it is gone once it is closed, however the
 * process ends. Sets *file, which the caller closes; after a failure it is negative. */
enum idx_status idxi_make_temporary_file(int *file, int folder, const char *path, struct idx_error *error);

/* Whether `path`, relative to `folder`, leads to the open file or folder `file`. `flags` are those of fstatat. Returns
 * false also if either can't be examined. */
bool idxi_path_leads_to(int folder, const char *path, int flags, int file);

/* Syncs the entries of an open folder to disk. Succeeds without doing so where its file system can't. */
enum idx_status idxi_sync_folder(int folder, const char *path, struct idx_error *error);

/* Removes a file, or a folder with all that is in it, and ignores errors. `name` is its path from `folder`, a
 * descriptor or AT_FDCWD. Uses a descriptor for each level of folders, but allocates no memory. */
void idxi_remove_tree(int folder, const char *name);

/* Sets `uuid`, 16 bytes, to a random uuid (RFC 9562, version 4). */
enum idx_status idxi_make_uuid(uint8_t *uuid, struct idx_error *error);

/* ---- Writing a file page by page ---- */

/* Buffers writes to a new file, and notes the checksum of each page of IDXF_PAGE_SIZE bytes. */
struct idxi_page_writer {
    int fd;
    const char *path; /* for messages */
    uint8_t *buffer;
    size_t used;           /* bytes in the buffer */
    uint64_t written;      /* the offset in the file up to which it is written */
    uint64_t written_back; /* the offset up to which write-back to disk was started */
    uint64_t *checksums;   /* of the pages written, as the file has them */
    size_t checksum_count, checksum_capacity;
};

/* Creates the file `name`, which must not exist, in `folder`. Writing begins at `offset`, a multiple of the page size;
 * the bytes before it are for the header. `path` must outlive the writer. Also fails with IDX_OUT_OF_MEMORY. Call
 * idxi_page_writer_close even if this fails. */
enum idx_status idxi_page_writer_open(struct idxi_page_writer *writer, int folder, const char *name, uint64_t offset,
                                      const char *path, struct idx_error *error);

/* Appends `size` bytes. They may stay in the buffer until idxi_page_writer_finish. Also fails with IDX_OUT_OF_MEMORY.
 * After a failure of this or of a function below, the writer can only be closed. */
enum idx_status idxi_page_writer_write(struct idxi_page_writer *writer, const void *bytes, size_t size,
                                       struct idx_error *error);

/* Appends zeros up to the end of the page, if it is not full. */
enum idx_status idxi_page_writer_pad(struct idxi_page_writer *writer, struct idx_error *error);

/* Appends the checksums of all pages so far, the last of which must be full (idxi_page_writer_pad). Afterwards only
 * idxi_page_writer_finish may be called. */
enum idx_status idxi_page_writer_write_checksums(struct idxi_page_writer *writer, struct idx_error *error);

/* Writes what is buffered, and the `header_size` bytes of `header` at the start of the file, and syncs the file. */
enum idx_status idxi_page_writer_finish(struct idxi_page_writer *writer, const void *header, size_t header_size,
                                        struct idx_error *error);

/* Closes the file and frees all memory, at any time after idxi_page_writer_open. An unfinished file stays in its
 * folder. */
void idxi_page_writer_close(struct idxi_page_writer *writer);

#endif
