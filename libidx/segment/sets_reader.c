/* sets_reader.c: see sets_reader.h. */
#include "libidx/segment/sets_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libidx/base/base.h"
#include "libidx/segment/table_reader.h"

/* ---- Opening ---- */

/* Reads and checks the header, and computes the layout. The file must have the layout's size and the segment's uuid. */
static enum idx_status read_header(struct idxi_sets *sets, int file, const struct idxf_manifest_segment *segment,
                                   struct idx_error *error) {
    uint8_t page[IDXF_PAGE_SIZE];
    uint64_t size;
    uint32_t version;
    IDXI_TRY(idxi_get_file_size(file, &size, sets->path, error));
    size_t available = size < sizeof page ? (size_t)size : sizeof page;
    IDXI_TRY(idxi_read_at(file, page, available, 0, sets->path, error));
    enum idxf_fault fault = idxf_sets_header_read(&sets->header, page, available, &version);
    IDXI_TRY(idxi_check_header(fault, version, size, sizeof page, sets->path, error));
    sets->layout = idxf_sets_lay_out(&sets->header);
    if (size != sets->layout.file_size) return idxi_fail_file_size(error, size, sets->layout.file_size, sets->path);
    if (memcmp(sets->header.uuid, segment->uuid, IDXF_UUID_BYTES) != 0)
        return idxi_fail_foreign_file(error, sets->path);
    return IDX_OK;
}

/* Checks the header and maps the file. Makes the bitmap of checked pages, unless the options skip page checks. */
static enum idx_status check_and_map_file(struct idxi_sets *sets, int file, const struct idxf_manifest_segment *segment,
                                          const struct idx_open_options *options, struct idx_error *error) {
    IDXI_TRY(read_header(sets, file, segment, error));
    void *map = mmap(NULL, (size_t)sets->layout.file_size, PROT_READ, MAP_SHARED, file, 0);
    if (map == MAP_FAILED) return idxi_fail_system(error, errno, sets->path, "map");
    sets->map = map;
    if (options->residence == IDX_RESIDENCE_DISK) madvise(map, (size_t)sets->layout.file_size, MADV_RANDOM);
    size_t bitmap_words = (size_t)(sets->layout.pages / 64 + 1);
    if (options->skip_page_checks) return IDX_OK;
    sets->checked = calloc(bitmap_words, sizeof *sets->checked);
    sets->allocated_bytes = bitmap_words * sizeof *sets->checked;
    return sets->checked == NULL ? idxi_fail_memory(error) : IDX_OK;
}

enum idx_status idxi_sets_open(struct idxi_sets *sets, int folder, const char *folder_path,
                               const struct idxf_manifest_segment *segment, enum idx_id_type id_type,
                               const struct idx_open_options *options, struct idx_error *error) {
    int file;
    *sets =
        (struct idxi_sets){.path = idxi_join_path(folder_path, IDXI_SETS_NAME), .has_numbers = id_type == IDX_ID_TEXT};
    if (sets->path == NULL) return idxi_fail_memory(error);
    IDXI_TRY(idxi_open_index_file(&file, folder, IDXI_SETS_NAME, IDXI_OPEN_FILE, sets->path, error));
    enum idx_status status = check_and_map_file(sets, file, segment, options, error);
    close(file);
    return status;
}

void idxi_sets_close(struct idxi_sets *sets) {
    if (sets->map != NULL) munmap((void *)(uintptr_t)sets->map, (size_t)sets->layout.file_size);
    free((void *)(uintptr_t)sets->checked);
    free(sets->path);
    *sets = (struct idxi_sets){0};
}

/* ---- Pages ---- */

/* Compares page `page` (from 0, after the header) with its checksum, even if that was done before. */
static enum idx_status compare_checksum(const struct idxi_sets *sets, uint64_t page, struct idx_error *error) {
    uint64_t offset = (page + 1) * IDXF_PAGE_SIZE;
    if (idxf_checksum(sets->map + offset, IDXF_PAGE_SIZE) == idxf_load64(sets->map + sets->layout.checksums + page * 8))
        return IDX_OK;
    return idxi_fail_fault(error, IDXF_FAULT_CHECKSUM, sets->path, offset);
}

/* Checks the pages of the bytes from offset `begin` of the file to before `end`, except those that were checked before.
 * `begin` must be behind the header. */
static enum idx_status check_pages(const struct idxi_sets *sets, uint64_t begin, uint64_t end,
                                   struct idx_error *error) {
    if (sets->checked == NULL) return IDX_OK;
    for (uint64_t page = begin / IDXF_PAGE_SIZE - 1; (page + 1) * IDXF_PAGE_SIZE < end; page++) {
        _Atomic uint64_t *word = &sets->checked[page / 64];
        uint64_t bit = UINT64_C(1) << page % 64;
        if (atomic_load_explicit(word, memory_order_acquire) & bit) continue;
        IDXI_TRY(compare_checksum(sets, page, error));
        atomic_fetch_or_explicit(word, bit, memory_order_release);
    }
    return IDX_OK;
}

/* Checks that the padding, the bytes from offset `begin` of the file to before `end`, is zeros. */
static enum idx_status check_padding(const struct idxi_sets *sets, uint64_t begin, uint64_t end,
                                     struct idx_error *error) {
    for (uint64_t offset = begin; offset < end; offset++)
        if (sets->map[offset] != 0) return idxi_fail_fault(error, IDXF_FAULT_PADDING, sets->path, offset);
    return IDX_OK;
}

/* Drops mapped pages from memory; they are read again when they are used. */
static void drop_pages(const struct idxi_sets *sets) {
    madvise((void *)(uintptr_t)sets->map, (size_t)sets->layout.file_size, MADV_DONTNEED);
}

enum idx_status idxi_sets_check_all(const struct idxi_sets *sets, struct idx_error *error) {
    const struct idxf_sets_layout *layout = &sets->layout;
    for (uint64_t page = 0; page < layout->pages; page++) {
        if (page * IDXF_PAGE_SIZE % IDXI_DROPPED_BYTES == 0) drop_pages(sets);
        IDXI_TRY(compare_checksum(sets, page, error));
    }
    IDXI_TRY(check_padding(sets, layout->records + sets->header.record_bytes, layout->directory, error));
    return check_padding(sets, layout->directory + sets->header.entries * IDXF_SETS_ENTRY_BYTES, layout->checksums,
                         error);
}

/* ---- Cursors ---- */

void idxi_sets_cursor_begin(struct idxi_sets_cursor *cursor, const struct idxi_sets *sets) {
    *cursor = (struct idxi_sets_cursor){.sets = sets,
                                        .walk = {.records = sets->map + sets->layout.records,
                                                 .directory = sets->map + sets->layout.directory,
                                                 .record_bytes = sets->header.record_bytes,
                                                 .entries = sets->header.entries}};
}

/* Checks the page of entry number `entry` of the directory. Succeeds if there is no such entry. */
static enum idx_status check_entry_page(const struct idxi_sets *sets, uint64_t entry, struct idx_error *error) {
    uint64_t offset = sets->layout.directory + entry * IDXF_SETS_ENTRY_BYTES;
    return entry < sets->header.entries ? check_pages(sets, offset, offset + 1, error) : IDX_OK;
}

enum idx_status idxi_sets_fail(const struct idxi_sets_cursor *cursor, enum idxf_fault fault, struct idx_error *error) {
    return idxi_fail_fault(error, fault, cursor->sets->path, cursor->sets->layout.records + cursor->walk.at);
}

/* Reads the next record into *set, but does not check the pages of its members. On a fault, the cursor stays at the
 * record, so that idxi_sets_fail says where it is. */
static enum idx_status read_record(struct idxi_sets_cursor *cursor, struct idxf_set *set, struct idx_error *error) {
    const struct idxi_sets *sets = cursor->sets;
    struct idxf_sets_walk *walk = &cursor->walk;
    uint64_t left = walk->record_bytes - walk->at, head = left < IDXF_SET_HEAD_BYTES ? left : IDXF_SET_HEAD_BYTES;
    uint64_t offset = sets->layout.records + walk->at;
    IDXI_TRY(check_pages(sets, offset, offset + head, error));
    IDXI_TRY(check_entry_page(sets, walk->entry, error));
    struct idxf_sets_walk walk_before = *walk;
    enum idxf_fault fault = idxf_sets_walk_next(walk, set);
    if (fault == IDXF_OK) return IDX_OK;
    *walk = walk_before;
    return idxi_sets_fail(cursor, fault, error);
}

/* Sets *entry to the number of the last entry of the directory whose key is below `key`, or to 0 if there is none. */
static enum idx_status find_last_entry_below(const struct idxi_sets *sets, uint64_t key, uint64_t *entry,
                                             struct idx_error *error) {
    uint64_t begin = 0, end = sets->header.entries;
    while (begin < end) {
        uint64_t middle = begin + (end - begin) / 2;
        IDXI_TRY(check_entry_page(sets, middle, error));
        const uint8_t *bytes = sets->map + sets->layout.directory + middle * IDXF_SETS_ENTRY_BYTES;
        if (idxf_sets_entry_read(bytes).key < key)
            begin = middle + 1;
        else
            end = middle;
    }
    *entry = begin > 0 ? begin - 1 : 0;
    return IDX_OK;
}

enum idx_status idxi_sets_cursor_seek(struct idxi_sets_cursor *cursor, const struct idxi_sets *sets, uint64_t key,
                                      struct idx_error *error) {
    struct idxf_set set;
    uint64_t entry;
    idxi_sets_cursor_begin(cursor, sets);
    cursor->number = key; /* document numbers have no gaps, so the first one not below it is the key itself */
    cursor->undropped_bytes = UINT64_MAX;
    if (sets->header.sets == 0) return IDX_OK;
    IDXI_TRY(find_last_entry_below(sets, key, &entry, error));
    IDXI_TRY(check_entry_page(sets, entry, error));
    idxf_sets_walk_begin(&cursor->walk, entry);
    if (cursor->walk.at >= cursor->walk.record_bytes) return idxi_sets_fail(cursor, IDXF_FAULT_DIRECTORY, error);
    while (cursor->walk.at < cursor->walk.record_bytes) {
        struct idxf_sets_walk walk_before = cursor->walk;
        IDXI_TRY(read_record(cursor, &set, error));
        if (set.key < key) continue;
        cursor->walk = walk_before;
        return IDX_OK;
    }
    return IDX_OK;
}

enum idx_status idxi_sets_cursor_next(struct idxi_sets_cursor *cursor, struct idxf_set *set, bool *found,
                                      struct idx_error *error) {
    const struct idxi_sets *sets = cursor->sets;
    uint64_t record_begin = cursor->walk.at;
    *found = record_begin < cursor->walk.record_bytes;
    if (!*found) return IDX_OK;
    IDXI_TRY(read_record(cursor, set, error));
    if (sets->has_numbers && set->key != cursor->number)
        return idxi_fail_fault(error, IDXF_FAULT_ORDER, sets->path, sets->layout.records + record_begin);
    uint64_t record_end = sets->layout.records + cursor->walk.at;
    IDXI_TRY(check_pages(sets, record_end - set->count * sizeof(uint64_t), record_end, error));
    cursor->number++;
    if (cursor->undropped_bytes == UINT64_MAX) return IDX_OK;
    cursor->undropped_bytes += cursor->walk.at - record_begin;
    if (cursor->undropped_bytes < IDXI_DROPPED_BYTES) return IDX_OK;
    drop_pages(sets);
    cursor->undropped_bytes = 0;
    return IDX_OK;
}

/* ---- Members in memory ---- */

enum idx_status idxi_members_to_native(struct idxi_native_members *native, const uint8_t *members, size_t count,
                                       struct idx_error *error) {
    IDXI_GROW(native->hashes, native->capacity, count + 1, error); /* one more, so that it is never NULL */
    for (size_t i = 0; i < count; i++) native->hashes[i] = idxf_load64(members + 8 * i);
    return IDX_OK;
}

enum idx_status idxi_members_to_little_endian(struct idxi_native_members *scratch, const uint64_t *members,
                                              size_t count, const uint8_t **bytes, struct idx_error *error) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    /* swaps the bytes: that is the same in both directions */
    IDXI_TRY(idxi_members_to_native(scratch, (const uint8_t *)members, count, error));
    members = scratch->hashes;
#else
    (void)scratch, (void)count, (void)error;
#endif
    *bytes = (const uint8_t *)members;
    return IDX_OK;
}

enum idx_status idxi_check_set(const struct idx_set *set, struct idx_error *error) {
    if (set->count > IDXF_MAX_MEMBERS)
        return idxi_fail(error, IDX_LIMIT, NULL, "a set has %zu members, but at most %d are possible", set->count,
                         IDXF_MAX_MEMBERS);
    for (size_t i = 1; i < set->count; i++)
        if (set->hashes[i] <= set->hashes[i - 1])
            return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL, "members of a set must ascend, each once");
    return IDX_OK;
}
