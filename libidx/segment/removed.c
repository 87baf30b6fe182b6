/* removed.c: loads and checks the file `removed` of a segment, and searches it. */
#include "libidx/segment/removed.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/checksum.h"
#include "libidx/base/base.h"

/* ---- Opening ---- */

/* Reads the whole file into removed->bytes, which idxi_removed_close frees, also after an error. */
static enum idx_status read_file(struct idxi_removed *removed, int file, const char *path, struct idx_error *error) {
    uint64_t size;
    IDXI_TRY(idxi_get_file_size(file, &size, path, error));
    if (size > SIZE_MAX - 1) return idxi_fail_memory(error);
    removed->size = (size_t)size;
    removed->bytes = malloc(removed->size + 1); /* not NULL for an empty file */
    if (removed->bytes == NULL) return idxi_fail_memory(error);
    return idxi_read_at(file, removed->bytes, removed->size, 0, path, error);
}

/* Reads *header from the loaded bytes, and checks it. Its uuid and its count must be those of the manifest's entry, and
 * its checksum that of all removals. */
static enum idx_status check_header(const struct idxi_removed *removed, const struct idxf_manifest_segment *segment,
                                    struct idxf_removed *header, const char *path, struct idx_error *error) {
    uint32_t version;
    enum idxf_fault fault = idxf_removed_header_read(header, removed->bytes, removed->size, &version);
    uint64_t needed = IDXF_REMOVED_HEADER_BYTES + header->length + header->extra;
    IDXI_TRY(idxi_check_header(fault, version, removed->size, needed, path, error));
    if (memcmp(header->uuid, segment->uuid, IDXF_UUID_BYTES) != 0) return idxi_fail_foreign_file(error, path);
    if (header->count != segment->removed) return idxi_fail_fault(error, IDXF_FAULT_COUNT, path, 0);
    const uint8_t *removals = removed->bytes + IDXF_REMOVED_HEADER_BYTES;
    return idxf_checksum(removals, (size_t)header->length) == header->checksum
               ? IDX_OK
               : idxi_fail_fault(error, IDXF_FAULT_CHECKSUM, path, IDXF_REMOVED_HEADER_BYTES);
}

/* Checks all removals, and notes in removed->places where each begins. A removal takes more bytes than a fingerprint:
 * that limits how much memory is allocated for a false count. */
static enum idx_status note_removal_places(struct idxi_removed *removed, const struct idxf_removed *header,
                                           const char *path, struct idx_error *error) {
    struct idxf_removals removals;
    struct idxf_record record;
    uint64_t max_count = idxi_min(header->count, header->length / sizeof(uint64_t));
    removed->places = malloc((size_t)(max_count + 1) * sizeof *removed->places); /* not NULL for none */
    if (removed->places == NULL) return idxi_fail_memory(error);
    idxf_removals_open(&removals, &removed->rules, header, removed->bytes + IDXF_REMOVED_HEADER_BYTES);
    while (removals.left > 0) {
        uint64_t place = (uint64_t)(removals.at - removed->bytes);
        enum idxf_fault fault = idxf_removals_next(&removals, &record);
        if (fault != IDXF_OK) return idxi_fail_fault(error, fault, path, place);
        removed->places[removed->count++] = place;
    }
    return IDX_OK;
}

/* Does the work of idxi_removed_open, for a segment that has the file; `path` is the file's. */
static enum idx_status load_file(struct idxi_removed *removed, int folder, const struct idxf_manifest_segment *segment,
                                 const char *path, struct idx_error *error) {
    struct idxf_removed header = {0};
    int file;
    IDXI_TRY(idxi_open_index_file(&file, folder, IDXI_REMOVED_NAME, IDXI_OPEN_FILE, path, error));
    enum idx_status status = read_file(removed, file, path, error);
    close(file);
    if (status == IDX_OK) status = check_header(removed, segment, &header, path, error);
    return status == IDX_OK ? note_removal_places(removed, &header, path, error) : status;
}

enum idx_status idxi_removed_open(struct idxi_removed *removed, int folder, const char *folder_path,
                                  const struct idxf_record_rules *rules, const struct idxf_manifest_segment *segment,
                                  struct idx_error *error) {
    *removed = (struct idxi_removed){.rules = *rules};
    if (segment->removed == 0) return IDX_OK;
    char *path = idxi_join_path(folder_path, IDXI_REMOVED_NAME);
    if (path == NULL) return idxi_fail_memory(error);
    enum idx_status status = load_file(removed, folder, segment, path, error);
    free(path);
    return status;
}

void idxi_removed_close(struct idxi_removed *removed) {
    free(removed->bytes);
    free(removed->places);
}

/* ---- Looking up ---- */

/* All removals were read when the file was opened, so none has a fault now. */
struct idxf_record idxi_get_removal(const struct idxi_removed *removed, size_t number) {
    struct idxf_removals removals = {.rules = &removed->rules, .left = 1, .end = removed->bytes + removed->size};
    removals.at = removed->bytes + removed->places[number];
    struct idxf_record record = {0};
    idxf_removals_next(&removals, &record);
    return record;
}

/* Returns the number of the first removal that is not before `wanted` in the order of the file, or removed->count if
 * there is none. */
static size_t find_removal_not_before(const struct idxi_removed *removed, const struct idxf_record *wanted) {
    size_t begin = 0, end = removed->count;
    while (begin < end) {
        size_t middle = begin + (end - begin) / 2;
        struct idxf_record middle_removal = idxi_get_removal(removed, middle);
        if (idxf_compare_removals(removed->rules.id_type, &middle_removal, wanted) < 0)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

enum idxi_removal idxi_find_removal_kind(const struct idxi_removed *removed, uint64_t fingerprint) {
    struct idxf_record wanted = {.operation = IDXF_REMOVE_FINGERPRINT, .fingerprint = fingerprint};
    /* The removal of all documents of a fingerprint comes before those of single ones: so it is enough to look at the
     * first removal of the fingerprint. */
    size_t number = find_removal_not_before(removed, &wanted);
    if (number == removed->count) return IDXI_REMOVED_NONE;
    struct idxf_record record = idxi_get_removal(removed, number);
    if (record.fingerprint != fingerprint) return IDXI_REMOVED_NONE;
    return record.operation == IDXF_REMOVE_FINGERPRINT ? IDXI_REMOVED_ALL : IDXI_REMOVED_SOME;
}

bool idxi_removes_document(const struct idxi_removed *removed, uint64_t fingerprint, const void *id, size_t id_size) {
    struct idxf_record wanted = {
        .operation = IDXF_REMOVE_DOCUMENT, .fingerprint = fingerprint, .id = id, .id_size = id_size};
    size_t number = find_removal_not_before(removed, &wanted);
    if (number == removed->count) return false;
    struct idxf_record record = idxi_get_removal(removed, number);
    return idxf_compare_removals(removed->rules.id_type, &record, &wanted) == 0;
}
