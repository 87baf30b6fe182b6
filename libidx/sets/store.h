/* store.h: sets of hashes as they were added: in memory as long as they fit there, else in a temporary file without a
 * name. A set that equals an earlier one is stored once. */
#ifndef IDX_LIBIDX_SET_STORE_H
#define IDX_LIBIDX_SET_STORE_H

#include "libidx/sets/members.h"
#include "libidx/sets/slots.h"

struct idxi_stored_set {
    uint64_t offset; /* of its first member among all that are stored */
    uint32_t count;  /* of its members */
    uint32_t first;  /* the number of the first set that equals it, which may be its own */
};

struct idxi_set_store {
    struct idxi_stored_set *sets;
    size_t count, capacity;
    uint64_t member_count; /* members in all; those that are not in the file are in memory */

    uint64_t *hashes;                             /* the members in memory, mixed (idxi_mix) */
    size_t hash_count, hash_capacity, max_hashes; /* how many these are, and may be now, and at most */
    int file;                                     /* below 0: all members are in memory */
    uint64_t file_members, max_file_members;      /* members that the file has, and has had at most */
    int folder;                                   /* for the temporary file; below 0 until it is needed */
    const char *path;                             /* the folder's path, or NULL; the caller's */

    struct idxi_members members; /* those of the set that is being added, where it takes a table to compare them */
    struct idxi_slots slots;     /* by hashes of members, the numbers of the first ones of equal sets, plus 1 */
    bool table_freed;            /* the slots were freed, though there are sets */
};

/* Makes an empty store that holds up to `memory` bytes of members in memory. `folder_path`, which stays the caller's,
 * is the folder of its temporary file; NULL: idxi_get_system_temporary_folder(). */
void idxi_set_store_init(struct idxi_set_store *store, uint64_t memory, const char *folder_path);

/* Adds a set of `count` hashes; sets are numbered from 0. Repeated hashes count once. An error adds nothing. Errors:
 * IDX_LIMIT (too many members, or sets), IDX_OUT_OF_MEMORY, IDX_DISK_FULL, those of files. */
enum idx_status idxi_set_store_add(struct idxi_set_store *store, const uint64_t *hashes, size_t count,
                                   struct idx_error *error);

/* Opens store->folder, unless it is open, and sets store->path if it was NULL. Errors: those of files. */
enum idx_status idxi_set_store_open_folder(struct idxi_set_store *store, struct idx_error *error);

/* Fails with IDX_DISK_FULL if the disk of a temporary file had less than 16 MiB left after `bytes` more, so that other
 * programs can go on. */
enum idx_status idxi_set_store_check_disk(const struct idxi_set_store *store, int file, uint64_t bytes,
                                          struct idx_error *error);

/* Makes all sets readable until one is added: if there is a file, writes the last ones to it. Errors: those of files.
 */
enum idx_status idxi_set_store_flush(struct idxi_set_store *store, struct idx_error *error);

/* Frees the table that finds equal sets. If another set is added, it is made anew from all sets. idxi_set_store_flush
 * must have been called. */
void idxi_set_store_free_table(struct idxi_set_store *store);

/* Moves all sets from memory to the file, unless they are in the file already, and adds the bytes that this frees to
 * *memory. What readers of the store have returned must not be used afterwards. Errors: IDX_DISK_FULL, those of files.
 */
enum idx_status idxi_set_store_spill(struct idxi_set_store *store, uint64_t *memory, struct idx_error *error);

/* Sets copies[i], for each set i, to how many sets equal it, itself included; or to 0 if an earlier set equals it. */
void idxi_set_store_count_copies(const struct idxi_set_store *store, uint32_t *copies);

/* Returns whether to remove a member, given by its mixed hash. */
typedef bool (*idxi_hash_test)(const void *context, uint64_t hash);

/* Removes the members for which `is_removed` returns true from all sets, in place, and makes all sets readable. Sets
 * may become equal or empty. idxi_set_store_flush must have been called before. After an error the store can only be
 * closed. Errors: IDX_OUT_OF_MEMORY, those of files. */
enum idx_status idxi_set_store_filter(struct idxi_set_store *store, idxi_hash_test is_removed, const void *context,
                                      struct idx_error *error);

/* Frees the memory, and closes the file, which deletes it. */
void idxi_set_store_close(struct idxi_set_store *store);

/* Reads members. One thread at a time may use a reader; zeroed but for the store, it has read nothing. */
struct idxi_set_reader {
    const struct idxi_set_store *store;
    uint64_t *window;
    size_t capacity;
    uint64_t begin; /* of the window */
    size_t count;   /* members in the window */
};

/* Sets *hashes to `count` stored members from `offset` on, as mixed hashes, or to NULL if `count` is 0. They are valid
 * until the next call with this reader. Reading on where the last call ended is faster. Errors: IDX_OUT_OF_MEMORY,
 * those of files. */
enum idx_status idxi_set_read(struct idxi_set_reader *reader, uint64_t offset, size_t count, const uint64_t **hashes,
                              struct idx_error *error);

/* Returns `count` stored members from `offset` on if they are in memory already, or else NULL. What the last call of
 * idxi_set_read has set *hashes to stays valid. */
static inline const uint64_t *idxi_set_peek(const struct idxi_set_reader *reader, uint64_t offset, size_t count) {
    if (reader->store->file < 0) return reader->store->hashes + offset;
    const bool has = offset >= reader->begin && offset + count <= reader->begin + reader->count;
    return has ? reader->window + (offset - reader->begin) : NULL;
}

/* Frees the reader's window. */
void idxi_set_reader_close(struct idxi_set_reader *reader);

#endif
