/* store.c: adds sets, finds equal ones, and reads them again. */
#include "libidx/sets/store.h"

#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* How many hashes are written to the file together, once members don't fit in memory. */
#define WRITTEN_TOGETHER ((size_t)1 << 19)
/* How many hashes are read together where sets are read one after the other. */
#define READ_TOGETHER ((size_t)1 << 13)
#define MIB ((uint64_t)1 << 20)
/* The file leaves so many bytes of the disk free. */
#define DISK_MARGIN (16 * MIB)

void idxi_set_store_init(struct idxi_set_store *store, uint64_t memory, const char *folder_path) {
    size_t max_members = memory / sizeof(uint64_t);
    *store = (struct idxi_set_store){.max_hashes = max_members, .file = -1, .folder = -1, .path = folder_path};
}

/* ---- The file ---- */

enum idx_status idxi_set_store_open_folder(struct idxi_set_store *store, struct idx_error *error) {
    return store->folder >= 0 ? IDX_OK : idxi_open_temporary_folder(&store->folder, &store->path, -1, NULL, error);
}

enum idx_status idxi_set_store_check_disk(const struct idxi_set_store *store, int file, uint64_t bytes,
                                          struct idx_error *error) {
    struct statvfs disk;
    if (fstatvfs(file, &disk) != 0) return IDX_OK;
    uint64_t free_bytes = (uint64_t)disk.f_bavail * disk.f_frsize;
    if (free_bytes >= bytes + DISK_MARGIN) return IDX_OK;
    return idxi_fail(
        error, IDX_DISK_FULL, store->path,
        "the members of %zu set%s take %llu MiB in temporary files, which must leave %llu MiB of the disk free, "
        "and it has %llu MiB left: use a temporary folder on a larger disk, or more memory",
        store->count, store->count == 1 ? "" : "s",
        (unsigned long long)((store->file_members * 8 + bytes + MIB - 1) / MIB),
        (unsigned long long)(DISK_MARGIN / MIB), (unsigned long long)(free_bytes / MIB));
}

/* Moves the members in memory to the end of the file, which is made if there is none. Errors: IDX_DISK_FULL, those of
 * files. */
static enum idx_status move_members_to_file(struct idxi_set_store *store, struct idx_error *error) {
    size_t bytes = store->hash_count * sizeof *store->hashes;
    IDXI_TRY(idxi_set_store_open_folder(store, error));
    if (store->file < 0) IDXI_TRY(idxi_make_temporary_file(&store->file, store->folder, store->path, error));
    if (store->file_members + store->hash_count > store->max_file_members)
        IDXI_TRY(idxi_set_store_check_disk(store, store->file, bytes, error));
    IDXI_TRY(idxi_write_at(store->file, store->hashes, bytes, store->file_members * sizeof *store->hashes, store->path,
                           error));
    store->file_members += store->hash_count;
    store->hash_count = 0;
    if (store->max_file_members < store->file_members) store->max_file_members = store->file_members;
    return IDX_OK;
}

/* Resizes the array in memory to `capacity` members, at least as many as it has. Errors: IDX_OUT_OF_MEMORY. */
static enum idx_status resize_hashes(struct idxi_set_store *store, size_t capacity, struct idx_error *error) {
    uint64_t *hashes = idxi_map_resize(store->hashes, store->hash_capacity * sizeof *hashes, capacity * sizeof *hashes);
    if (hashes == NULL) return idxi_fail_memory(error);
    store->hashes = hashes;
    store->hash_capacity = capacity;
    return IDX_OK;
}

/* Makes room for `count` more members in memory. If these would be too many there, moves those that are there to
 * the file; once there is a file, memory is only a buffer for writing. */
static enum idx_status make_room_for_members(struct idxi_set_store *store, size_t count, struct idx_error *error) {
    size_t needed = store->hash_count + count, capacity = (size_t)idxi_min(2 * needed, store->max_hashes);
    if (needed <= store->hash_capacity) return IDX_OK;
    if (store->file < 0 && needed <= store->max_hashes) return resize_hashes(store, capacity, error);
    IDXI_TRY(move_members_to_file(store, error));
    capacity = store->max_hashes < WRITTEN_TOGETHER ? store->max_hashes : WRITTEN_TOGETHER;
    return resize_hashes(store, count > capacity ? count : capacity, error);
}

/* ---- Equal sets ---- */

/* Sets *equal to whether two sets of `count` different members each have the same members, in any order. Overwrites
 * store->members. Errors: IDX_OUT_OF_MEMORY. */
static enum idx_status have_same_members(struct idxi_set_store *store, const uint64_t *hashes, const uint64_t *others,
                                         size_t count, bool *equal, struct idx_error *error) {
    *equal = memcmp(hashes, others, count * sizeof *hashes) == 0;
    if (*equal) return IDX_OK;
    IDXI_TRY(idxi_members_reset(&store->members, count, error));
    for (size_t i = 0; i < count; i++) idxi_members_add(&store->members, hashes[i]);
    *equal = true;
    for (size_t i = 0; i < count && *equal; i++) *equal = idxi_members_has(&store->members, others[i]);
    return IDX_OK;
}

/* Sets *equal to whether a stored set equals the set that is being added, which has as many members. These are in
 * memory from store->hashes + store->hash_count on. */
static enum idx_status equals_added_set(struct idxi_set_store *store, const struct idxi_stored_set *set, bool *equal,
                                        struct idx_error *error) {
    struct idxi_set_reader reader = {.store = store};
    const uint64_t *added = store->hashes + store->hash_count,
                   *hashes = store->hashes + (set->offset - store->file_members);
    enum idx_status status = IDX_OK;
    *equal = false;
    if (set->offset < store->file_members) status = idxi_set_read(&reader, set->offset, set->count, &hashes, error);
    if (status == IDX_OK) status = have_same_members(store, added, hashes, set->count, equal, error);
    idxi_set_reader_close(&reader);
    return status;
}

/* Returns the tag by which sets are found that may be equal: a hash of the sum and the number of their members. It does
 * not depend on the order of the members. */
static uint32_t compute_equality_tag(uint64_t sum, uint32_t count) { return (uint32_t)(idxi_mix(sum + count) >> 32); }

void idxi_set_store_free_table(struct idxi_set_store *store) {
    idxi_slots_free(&store->slots);
    store->table_freed = store->count > 0;
}

/* Fills the slots, which were freed, with the sets that have members and equal no earlier one. After an error they are
 * freed again. Errors: IDX_OUT_OF_MEMORY, those of files. */
static enum idx_status rebuild_slots(struct idxi_set_store *store, struct idx_error *error) {
    struct idxi_set_reader reader = {.store = store};
    enum idx_status status = IDX_OK;
    for (uint32_t i = 0; i < store->count && status == IDX_OK; i++) {
        const struct idxi_stored_set *set = &store->sets[i];
        const uint64_t *hashes;
        uint64_t sum = 0;
        if (set->first != i || set->count == 0) continue;
        status = idxi_set_read(&reader, set->offset, set->count, &hashes, error);
        if (status == IDX_OK) status = idxi_slots_reserve(&store->slots, error);
        if (status != IDX_OK) break;
        for (size_t j = 0; j < set->count; j++) sum += hashes[j];
        idxi_slots_add(&store->slots, compute_equality_tag(sum, set->count), i + 1);
    }
    idxi_set_reader_close(&reader);
    store->table_freed = false;
    if (status != IDX_OK) idxi_set_store_free_table(store);
    return status;
}

/* If an earlier set equals *set, which is being added, sets *set to that one. Else adds *set to the slots, as the first
 * one of its equals. `sum` is the sum of its members. Errors: IDX_OUT_OF_MEMORY, those of files. */
static enum idx_status find_or_add_equal(struct idxi_set_store *store, struct idxi_stored_set *set, uint64_t sum,
                                         struct idx_error *error) {
    const uint32_t tag = compute_equality_tag(sum, set->count);
    if (store->table_freed) IDXI_TRY(rebuild_slots(store, error));
    IDXI_TRY(idxi_slots_reserve(&store->slots, error));
    const struct idxi_slot *slot = idxi_slots_find(&store->slots, tag);
    for (; slot->number != 0; slot = idxi_slots_next(&store->slots, slot)) {
        const struct idxi_stored_set *candidate = &store->sets[slot->number - 1];
        bool equal = false;
        if (candidate->count == set->count) IDXI_TRY(equals_added_set(store, candidate, &equal, error));
        if (equal) {
            *set = *candidate;
            return IDX_OK;
        }
    }
    idxi_slots_add(&store->slots, tag, set->first + 1);
    return IDX_OK;
}

/* ---- Adding ---- */

/* Makes room for one more set of up to `count` members. Errors: IDX_LIMIT (too many members, or too many sets),
 * IDX_OUT_OF_MEMORY, those of files. */
static enum idx_status make_room_for_set(struct idxi_set_store *store, size_t count, struct idx_error *error) {
    if (count > IDX_MAX_SET_MEMBERS)
        return idxi_fail(error, IDX_LIMIT, NULL, "a set has up to %llu members, not %zu",
                         (unsigned long long)IDX_MAX_SET_MEMBERS, count);
    if (store->count == UINT32_MAX)
        return idxi_fail(error, IDX_LIMIT, NULL, "there are %zu sets, and no more are possible", store->count);
    IDXI_GROW_MAP(store->sets, store->capacity, store->count + 1, error);
    return make_room_for_members(store, count, error);
}

/* Mixes `count` hashes into `mixed_hashes`, and sets *sum to the sum of the mixed ones. Returns whether the hashes
 * ascend strictly, as those of shingles do. Then none is repeated; else the caller must find repeated ones. */
static bool mix_if_ascending(uint64_t *mixed_hashes, const uint64_t *hashes, size_t count, uint64_t *sum) {
    uint64_t previous = 0, mixed_sum = 0;
    bool ascending = true;
    for (size_t i = 0; i < count; i++) {
        const uint64_t mixed = idxi_mix(hashes[i]);
        mixed_hashes[i] = mixed;
        mixed_sum += mixed;
        ascending = ascending & (hashes[i] > previous || i == 0);
        previous = hashes[i];
    }
    *sum = mixed_sum;
    return ascending;
}

/* Mixes hashes in any order into the memory from store->hashes + store->hash_count on, each different one once. Sets
 * *distinct_count to how many there are, and *sum to the sum of the mixed ones. Errors: IDX_OUT_OF_MEMORY. */
static enum idx_status mix_distinct_hashes(struct idxi_set_store *store, const uint64_t *hashes, size_t count,
                                           uint32_t *distinct_count, uint64_t *sum, struct idx_error *error) {
    uint64_t *mixed_hashes = store->hashes + store->hash_count;
    IDXI_TRY(idxi_members_reset(&store->members, count, error));
    *distinct_count = 0;
    *sum = 0;
    for (size_t i = 0; i < count; i++) {
        const uint64_t mixed = idxi_mix(hashes[i]);
        mixed_hashes[*distinct_count] = mixed; /* the next one takes its place if it is not new */
        if (!idxi_members_add(&store->members, mixed)) continue;
        ++*distinct_count;
        *sum += mixed;
    }
    return IDX_OK;
}

/* Sets store->sets[number] for a set whose `count` members are in memory from store->hashes + store->hash_count on. If
 * an earlier set equals it, it gets the place of that one, and these members are dropped. `sum` is the sum of the
 * members.
 */
static enum idx_status store_or_share_set(struct idxi_set_store *store, uint32_t number, uint32_t count, uint64_t sum,
                                          struct idx_error *error) {
    struct idxi_stored_set set = {store->file_members + store->hash_count, count, number};
    if (count > 0) IDXI_TRY(find_or_add_equal(store, &set, sum, error));
    if (set.first == number) store->hash_count += count;
    store->sets[number] = set;
    store->member_count = store->file_members + store->hash_count;
    return IDX_OK;
}

enum idx_status idxi_set_store_add(struct idxi_set_store *store, const uint64_t *hashes, size_t count,
                                   struct idx_error *error) {
    IDXI_TRY(make_room_for_set(store, count, error));
    uint64_t sum;
    uint32_t distinct_count = (uint32_t)count;
    if (!mix_if_ascending(store->hashes + store->hash_count, hashes, count, &sum))
        IDXI_TRY(mix_distinct_hashes(store, hashes, count, &distinct_count, &sum, error));
    IDXI_TRY(store_or_share_set(store, (uint32_t)store->count, distinct_count, sum, error));
    store->count++;
    return IDX_OK;
}

enum idx_status idxi_set_store_flush(struct idxi_set_store *store, struct idx_error *error) {
    return store->file < 0 || store->hash_count == 0 ? IDX_OK : move_members_to_file(store, error);
}

enum idx_status idxi_set_store_spill(struct idxi_set_store *store, uint64_t *memory, struct idx_error *error) {
    if (store->file >= 0 || store->hash_count == 0) return IDX_OK;
    IDXI_TRY(move_members_to_file(store, error));
    *memory += store->hash_capacity * sizeof *store->hashes;
    idxi_map_release(store->hashes, store->hash_capacity * sizeof *store->hashes);
    store->hashes = NULL;
    store->hash_capacity = 0;
    return IDX_OK;
}

/* ---- Removing members ---- */

void idxi_set_store_count_copies(const struct idxi_set_store *store, uint32_t *copies) {
    memset(copies, 0, store->count * sizeof *copies);
    for (size_t i = 0; i < store->count; i++) copies[store->sets[i].first]++;
}

/* Adds set `number` anew, without the members for which `is_removed` returns true. Its members go to their old place or
 * one before it, so nothing is overwritten that is still to be read. Errors: IDX_OUT_OF_MEMORY, those of files. */
static enum idx_status filter_set(struct idxi_set_store *store, uint32_t number, struct idxi_set_reader *reader,
                                  idxi_hash_test is_removed, const void *context, struct idx_error *error) {
    const struct idxi_stored_set set = store->sets[number];
    const uint64_t *hashes;
    uint64_t sum = 0;
    uint32_t left_count = 0;
    IDXI_TRY(make_room_for_members(store, set.count, error));
    IDXI_TRY(idxi_set_read(reader, set.offset, set.count, &hashes, error));
    uint64_t *left_hashes = store->hashes + store->hash_count;
    for (size_t i = 0; i < set.count; i++) {
        if (is_removed(context, hashes[i])) continue;
        left_hashes[left_count++] = hashes[i];
        sum += hashes[i];
    }
    return store_or_share_set(store, number, left_count, sum, error);
}

enum idx_status idxi_set_store_filter(struct idxi_set_store *store, idxi_hash_test is_removed, const void *context,
                                      struct idx_error *error) {
    const struct idxi_set_store old_store = *store;
    struct idxi_set_reader reader = {.store = &old_store};
    enum idx_status status = IDX_OK;
    if (store->slots.list != NULL) idxi_slots_reset(&store->slots, store->slots.bits, NULL); /* can't fail */
    store->member_count = store->file_members = store->hash_count = 0;
    store->table_freed = false; /* all sets are added anew */
    for (uint32_t i = 0; i < store->count && status == IDX_OK; i++) {
        const uint32_t first = store->sets[i].first;
        if (first == i && store->sets[i].count > 0)
            status = filter_set(store, i, &reader, is_removed, context, error);
        else if (store->sets[first].count > 0)
            store->sets[i] = store->sets[first];
        else
            store->sets[i] = (struct idxi_stored_set){0, 0, i};
    }
    idxi_set_reader_close(&reader);
    return status == IDX_OK ? idxi_set_store_flush(store, error) : status;
}

void idxi_set_store_close(struct idxi_set_store *store) {
    idxi_map_release(store->sets, store->capacity * sizeof *store->sets);
    idxi_map_release(store->hashes, store->hash_capacity * sizeof *store->hashes);
    idxi_slots_free(&store->slots);
    idxi_members_free(&store->members);
    if (store->file >= 0) close(store->file);
    if (store->folder >= 0) close(store->folder);
}

/* ---- Reading ---- */

enum idx_status idxi_set_read(struct idxi_set_reader *reader, uint64_t offset, size_t count, const uint64_t **hashes,
                              struct idx_error *error) {
    const struct idxi_set_store *store = reader->store;
    *hashes = NULL;
    if (count == 0) return IDX_OK; /* The place of an empty set may be the end of the file. */
    *hashes = idxi_set_peek(reader, offset, count);
    if (*hashes != NULL) return IDX_OK;
    /* A caller that reads on where it ended, or near that, gets more at once than it has asked for. */
    const uint64_t end = reader->begin + reader->count;
    size_t wanted = offset >= reader->begin && offset <= end && count < READ_TOGETHER ? READ_TOGETHER : count;
    if (wanted > store->file_members - offset) wanted = (size_t)(store->file_members - offset);
    if (wanted > reader->capacity) {
        free(reader->window);
        reader->window = malloc(wanted * sizeof *reader->window);
        reader->capacity = reader->window == NULL ? 0 : wanted;
    }
    reader->count = 0;
    if (reader->window == NULL) return idxi_fail_memory(error);
    IDXI_TRY(idxi_read_at(store->file, reader->window, wanted * sizeof *reader->window, offset * sizeof *reader->window,
                          store->path, error));
    reader->begin = offset;
    reader->count = wanted;
    *hashes = reader->window;
    return IDX_OK;
}

void idxi_set_reader_close(struct idxi_set_reader *reader) { free(reader->window); }
