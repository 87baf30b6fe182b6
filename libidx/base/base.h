/* base.h: what all of libidx rests on: errors, arguments, progress and threads, memory, files, locks, and hashes. */
#ifndef IDX_LIBIDX_BASE_H
#define IDX_LIBIDX_BASE_H

#include <fcntl.h>
#include <idx.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "format/bytes.h"
#include "format/checksum.h"
#include "format/fault.h"

/* ---- Errors ---- */

/* A function that fails ends in one of these, which fill the caller's error (may be NULL), and return the status. */

/* Fails with `status`. The sentence is `file: ` (unless `file` is NULL) and the formatted text. */
enum idx_status idxi_fail(struct idx_error *error, enum idx_status status, const char *file, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Fails after a system call; the status follows from the value of errno, `system_errno`. The sentence is
 * `file: can't <action>: <reason>`. */
enum idx_status idxi_fail_system(struct idx_error *error, int system_errno, const char *file, const char *action);

enum idx_status idxi_fail_memory(struct idx_error *error);

/* Fails because the bytes of a file at `offset` have a fault. The sentence tells to restore or rebuild the index. */
enum idx_status idxi_fail_fault(struct idx_error *error, enum idxf_fault fault, const char *file, uint64_t offset);

/* Fails because a file has a format version that is not supported. */
enum idx_status idxi_fail_version(struct idx_error *error, uint32_t version, const char *file);

/* Fails because the uuid of a file is not that of its segment. */
enum idx_status idxi_fail_foreign(struct idx_error *error, const char *file);

enum idx_status idxi_status_of_fault(enum idxf_fault fault);

/* Returns from the calling function when `call` fails. */
#define IDXI_TRY(call)                                                                                                 \
    do {                                                                                                               \
        enum idx_status idxi_status_ = (call);                                                                         \
        if (idxi_status_ != IDX_OK) return idxi_status_;                                                               \
    } while (0)

/* ---- Arguments ---- */

/* The errors of these checks are IDX_INVALID_ARGUMENT unless a check says otherwise. */

/* Copies the options of a caller, `given` (may be NULL), over `own`, which has all defaults. Both begin with their size
 * in bytes, a size_t. As many bytes are copied as both have, but `own` keeps its size. */
void idxi_copy_options(void *own, const void *given);

/* Checks that an ID has up to IDX_MAX_ID_BYTES. */
enum idx_status idxi_check_id(size_t length, struct idx_error *error);

/* Checks that a number of threads is from 1 to IDX_MAX_THREADS. */
enum idx_status idxi_check_threads(unsigned threads, struct idx_error *error);

/* Checks that a distance is one that some index can have, up to IDX_MAX_K. Fails with `status`. */
enum idx_status idxi_check_any_distance(unsigned distance, enum idx_status status, struct idx_error *error);

/* Checks that no fingerprint has more than `bits` bits, which are 1 to 64. */
enum idx_status idxi_check_fingerprints(const uint64_t *fingerprints, size_t count, unsigned bits,
                                        struct idx_error *error);

/* Checks that a size is a power of two from IDX_MIN_BLOCK_SIZE to IDX_MAX_BLOCK_SIZE. */
enum idx_status idxi_check_block_size(uint32_t size, struct idx_error *error);

/* ---- Progress ---- */

/* A long call reports its progress to a callback of its caller. */

struct idxi_progress {
    idx_progress_visitor visit; /* may be NULL */
    void *context;
    pthread_t caller; /* the thread that began the phase, which alone calls the callback */
    enum idx_phase phase;
    uint64_t total;            /* units of work of the phase */
    atomic_uint_fast64_t done; /* of these */
    atomic_bool cancelled;     /* the callback has said so */
    uint64_t told;             /* when the callback was last called, in nanoseconds */
};

/* Initialises a progress, before its first phase. */
void idxi_progress_init(struct idxi_progress *progress, idx_progress_visitor visit, void *context);

/* Begins a phase of `total` units of work. The calling thread becomes the one that calls the callback. Returns
 * IDX_CANCELLED where the callback has cancelled the call. */
enum idx_status idxi_progress_begin(struct idxi_progress *progress, enum idx_phase phase, uint64_t total,
                                    struct idx_error *error);

/* Adds `more` units to what is done. For any thread, about every millisecond. Returns IDX_CANCELLED if cancelled. */
enum idx_status idxi_progress_add(struct idxi_progress *progress, uint64_t more, struct idx_error *error);

/* ---- Threads ---- */

/* Runs the task with a number, on any thread. After a failure it has filled *error, which is never NULL. */
typedef enum idx_status (*idxi_task)(void *context, size_t number, struct idx_error *error);

/* Runs the tasks 0 to count - 1, each once, on up to `threads` threads, the calling one included. Each thread takes the
 * next task until there is none, or one has failed; then its error is returned. While the calling thread waits for the
 * others, it keeps reporting `progress` (may be NULL). */
enum idx_status idxi_parallel(size_t count, unsigned threads, idxi_task task, void *context,
                              struct idxi_progress *progress, struct idx_error *error);

/* ---- Memory limits ---- */

/* Checks the limit that the caller has set, or if it is 0, sets it to half of the free memory, or to
 * IDX_MIN_MEMORY_BYTES if that is more. Errors: IDX_INVALID_ARGUMENT. */
enum idx_status idxi_memory_choose_limit(uint64_t *bytes, struct idx_error *error);

/* Returns the share of `memory`, in bytes, that each thread that writes a table may use for keys of blocks. */
size_t idxi_memory_of_keys(uint64_t memory, unsigned threads);

/* Returns the share of `memory`, in bytes, for all threads' arrays of entries: what keys and files' buffers leave. */
uint64_t idxi_memory_of_arrays(uint64_t memory, unsigned threads);

/* Returns whether so many fingerprints fit into `memory` while each thread sorts all of them for a table. */
bool idxi_memory_holds_tables(uint64_t memory, uint64_t fingerprints, unsigned threads);

/* ---- Arrays ---- */

/* Makes an array of `count` numbers, all 0, which the caller gives to idxi_array_release. Memory is taken page by page,
 * as numbers are written. Returns NULL if there is no room in the address space. */
uint64_t *idxi_array_reserve(size_t count);

/* Hints that `count` numbers from here on, which may be in the middle of an array, are all written next. Their memory
 * is then allocated at once, if the system can do that, not page by page. */
void idxi_array_populate(uint64_t *array, size_t count);

/* Returns the memory to the system and keeps the array; its numbers are 0 again. Accepts NULL. */
void idxi_array_clear(uint64_t *array, size_t count);

/* Frees the array; `count` as when it was made. Accepts NULL. */
void idxi_array_release(uint64_t *array, size_t count);

/* Returns `array`, of *capacity elements of `size` bytes, with room for `needed` elements. Where it has to grow, it
 * moves, its room at least doubles, and *capacity is set. Returns NULL when memory runs out, and then leaves the array
 * as it is. Accepts NULL, with a capacity of 0; the caller frees the array. */
void *idxi_array_grow(void *array, size_t *capacity, size_t needed, size_t size);

/* Gives an array room for `needed` elements, or returns from the calling function when memory runs out. */
#define IDXI_GROW(array, capacity, needed, error)                                                                      \
    do {                                                                                                               \
        void *idxi_grown_ = idxi_array_grow((array), &(capacity), (needed), sizeof *(array));                          \
        if (idxi_grown_ == NULL) return idxi_fail_memory(error);                                                       \
        (array) = idxi_grown_;                                                                                         \
    } while (0)

/* ---- Arenas ---- */

/* The bytes that a processor fetches from memory together. */
#define IDXI_CACHE_LINE 64

/* An arena gives out memory piece by piece, and frees it as a whole. Zeroed, it is empty. */
struct idxi_arena {
    struct idxi_chunk *newest;
    char *at, *end;
    size_t next_size;
};

/* Returns `size` bytes aligned to a power of two up to IDXI_CACHE_LINE, or NULL when memory runs out. */
void *idxi_arena_take(struct idxi_arena *arena, size_t size, size_t alignment);

void idxi_arena_free(struct idxi_arena *arena);

/* ---- Files and folders ---- */

/* The errors of these calls name the path that they were given. */

/* The flags to open a file of an index for reading. Without O_NONBLOCK, a pipe in its place would make callers wait. */
#define IDXI_OPEN_FILE (O_RDONLY | O_CLOEXEC | O_NONBLOCK)

/* Returns `folder/name`, which the caller frees, or NULL when memory runs out. */
char *idxi_join_path(const char *folder, const char *name);

/* Reads `size` bytes at `offset` of the open file `fd`. Fails with IDX_WRONG_SIZE where the file has fewer. */
enum idx_status idxi_read_at(int fd, void *bytes, size_t size, uint64_t offset, const char *path,
                             struct idx_error *error);

/* Writes `size` bytes at `offset` of the open file `fd`. */
enum idx_status idxi_write_at(int fd, const void *bytes, size_t size, uint64_t offset, const char *path,
                              struct idx_error *error);

/* Opens `name`, a file or a folder of an index, in `folder`, and sets *file to its descriptor, which is below 0 after
 * an error. `flags` are those of openat; `path` is for messages. Fails with IDX_MISSING_FILE if it does not exist. */
enum idx_status idxi_open_part(int *file, int folder, const char *name, int flags, const char *path,
                               struct idx_error *error);

/* Sets *size to the bytes of an open file. Fails with IDX_BAD_CONTENT where it is not a regular file. */
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
enum idx_status idxi_make_temporary_file(int *file, int folder, const char *path, struct idx_error *error);

/* Whether a path leads to the open file or folder `file`. `folder` and `flags` are those of fstatat. */
bool idxi_path_leads_to(int folder, const char *path, int flags, int file);

/* Syncs the entries of an open folder to disk. */
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
    uint64_t written;      /* bytes handed to the file */
    uint64_t written_back; /* of these, bytes whose write-back to disk was started */
    uint64_t *checksums;   /* of the pages written, as the file has them */
    size_t checksum_count, checksum_capacity;
};

/* Creates the file `name` in `folder`, and goes to `offset`, a multiple of the page size. Messages use `path`, which
 * must outlive the writer. To be closed also after an error. */
enum idx_status idxi_page_writer_open(struct idxi_page_writer *writer, int folder, const char *name, uint64_t offset,
                                      const char *path, struct idx_error *error);

enum idx_status idxi_page_writer_write(struct idxi_page_writer *writer, const void *bytes, size_t size,
                                       struct idx_error *error);

/* Fills the last page up with zeros. */
enum idx_status idxi_page_writer_pad(struct idxi_page_writer *writer, struct idx_error *error);

/* Appends the checksums of all pages so far, the last of which must be full. */
enum idx_status idxi_page_writer_write_checksums(struct idxi_page_writer *writer, struct idx_error *error);

/* Writes what is buffered, and `header` at the start of the file, and syncs the file. */
enum idx_status idxi_page_writer_finish(struct idxi_page_writer *writer, const void *header, size_t header_size,
                                        struct idx_error *error);

/* Closes the file and frees all memory, whether the file was finished or not. */
void idxi_page_writer_close(struct idxi_page_writer *writer);

/* ---- Locks ---- */

/* One process can write to an index at a time, and one can compact it (SPEC.md, chapter 10). Each holds the lock of a
 * file in the folder of the index, by flock; the text of the file says which process that is. */

#define IDXI_LOCK_NAME "writer.lock"
#define IDXI_COMPACT_LOCK_NAME "compact.lock"
#define IDXI_MANIFEST_LOCK_NAME "manifest.lock" /* Either holds it while it changes the manifest. */

/* How to lock. A process that shares a lock keeps others from taking it, but not from sharing it. */
enum idxi_locking {
    IDXI_LOCK_TAKE,   /* takes the lock, after waiting for processes that share it for a moment */
    IDXI_LOCK_SHARE,  /* shares it; others that want to take it fail at once with IDX_BUSY */
    IDXI_LOCK_MOMENT, /* shares it for a moment, for which others that want to take it wait */
    IDXI_LOCK_WAIT,   /* takes a lock that is only ever held for a moment, and waits for it */
};

/* Locks an index, whose folder is given by a descriptor and its path, by the lock with a name. Sets *lock to a
 * descriptor for idxi_lock_close. The lock goes with the process, however that ends. Errors: IDX_BUSY (the sentence
 * names the process that has it), IDX_NO_ACCESS, IDX_DISK_FULL, IDX_IO_ERROR, IDX_OUT_OF_MEMORY. */
enum idx_status idxi_lock(int *lock, enum idxi_locking how, const char *name, int folder, const char *folder_path,
                          struct idx_error *error);

/* Releases a lock. A descriptor below 0 is accepted, and does nothing. */
void idxi_lock_close(int lock);

/* ---- Hashes ---- */

/* These hashes spread fingerprints and IDs evenly, however skewed they are. idx_shard uses this one. */
static inline uint64_t idxi_hash(uint64_t fingerprint) {
    uint8_t bytes[8];
    idxf_store64(bytes, fingerprint);
    return idxf_checksum(bytes, sizeof bytes);
}

/* The hash of an ID is its key in a map from IDs (SPEC.md, chapter 9). */
static inline uint64_t idxi_id_hash(const void *id, size_t length) { return idxf_checksum(id, length); }
static inline uint64_t idxi_id_hash_u64(uint64_t id) { return idxi_hash(id); }

/* ---- Combinations ---- */

/* Returns in how many ways r of n things can be chosen, 0 where r is more than n. */
static inline double idxi_choose(unsigned n, unsigned r) {
    double product = 1;
    for (unsigned i = 0; i < r; i++) product = product * (n - i) / (i + 1);
    return r > n ? 0 : product;
}

/* Returns in how many ways at most `radius` of some bits can be flipped. */
static inline double idxi_count_patterns(unsigned bits, unsigned radius) {
    double sum = 0;
    for (unsigned i = 0; i <= radius && i <= bits; i++) sum += idxi_choose(bits, i);
    return sum;
}

#endif
