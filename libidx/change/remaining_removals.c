/* remaining_removals.c: writes the file `removed` of a segment: the removals that concern older segments. */
#include "libidx/change/remaining_removals.h"

#include <stdlib.h>
#include <string.h>

#include "format/checksum.h"

/* The removals of pending records and of the segments that become part of the new one; keep_needed_removals leaves only
 * those that the new segment needs. */
struct removals {
    const struct idx_index *index;
    struct idxf_record *records;
    size_t count, capacity;
};

/* Appends a record to the removals if it is a removal. Its ID is not copied. This is an idxi_pending_record_visitor.
 * Errors: IDX_OUT_OF_MEMORY. */
static enum idx_status collect_removal(void *context, uint64_t sequence, const struct idxf_record *record,
                                       struct idx_error *error) {
    struct removals *removals = context;
    (void)sequence;
    if (record->operation == IDXF_ADD) return IDX_OK;
    IDXI_GROW(removals->records, removals->capacity, removals->count + 1, error);
    removals->records[removals->count++] = *record;
    return IDX_OK;
}

/* Compares removals with text IDs, for qsort. */
static int compare_by_text_id(const void *a, const void *b) { return idxf_compare_removals(IDXF_ID_TEXT, a, b); }
/* Compares removals with integer IDs, for qsort. */
static int compare_by_integer_id(const void *a, const void *b) { return idxf_compare_removals(IDXF_ID_U64, a, b); }

/* Sorts the removals, and keeps only those that are needed. Drops repeated removals, removals of single documents whose
 * whole fingerprint is removed as well, and removals of fingerprints that no segment before `first_segment` holds.
 * Errors: as idxi_segment_contains. */
static enum idx_status keep_needed_removals(struct removals *removals, size_t first_segment, struct idx_error *error) {
    int (*compare)(const void *, const void *) =
        removals->index->manifest->id_type == IDXF_ID_TEXT ? compare_by_text_id : compare_by_integer_id;
    const struct idxf_record *last_kept = NULL;
    size_t kept_count = 0;
    if (removals->count > 1) qsort(removals->records, removals->count, sizeof *removals->records, compare);
    for (size_t i = 0; i < removals->count; i++) {
        struct idxf_record record = removals->records[i];
        bool needed = false;
        if (last_kept != NULL && last_kept->fingerprint == record.fingerprint &&
            (last_kept->operation == IDXF_REMOVE_FINGERPRINT || compare(last_kept, &record) == 0))
            continue;
        for (size_t j = 0; j < first_segment && !needed; j++)
            IDXI_TRY(idxi_segment_contains(removals->index, j, record.fingerprint, &needed, error));
        if (!needed) continue;
        removals->records[kept_count] = record;
        last_kept = &removals->records[kept_count++];
    }
    removals->count = kept_count;
    return IDX_OK;
}

/* Encodes a header and the removals in `bytes`, scratch memory whose `size` in bytes is exactly what they need, and
 * writes them to the segment's file of removals. Errors: IDX_OUT_OF_MEMORY, IDX_DISK_FULL, IDX_IO_ERROR. */
static enum idx_status encode_and_write_removals(const struct removals *removals, uint8_t *bytes, size_t size,
                                                 const struct idxf_manifest_segment *segment, int folder,
                                                 const char *folder_path, struct idx_error *error) {
    struct idxf_removed header = {.count = removals->count, .length = size - IDXF_REMOVED_HEADER_BYTES};
    struct idxf_record_rules rules = idxi_index_get_rules(removals->index);
    struct idxi_page_writer writer;
    uint8_t *next = bytes + IDXF_REMOVED_HEADER_BYTES;
    for (size_t i = 0; i < removals->count; i++) next = idxf_record_write(&rules, &removals->records[i], next);
    memcpy(header.uuid, segment->uuid, sizeof header.uuid);
    header.checksum = idxf_checksum(bytes + IDXF_REMOVED_HEADER_BYTES, (size_t)header.length);
    idxf_removed_header_write(&header, bytes);
    enum idx_status status = idxi_page_writer_open(&writer, folder, IDXI_REMOVED_NAME, 0, folder_path, error);
    if (status == IDX_OK) status = idxi_page_writer_write(&writer, bytes, size, error);
    if (status == IDX_OK) status = idxi_page_writer_finish(&writer, bytes, IDXF_REMOVED_HEADER_BYTES, error);
    idxi_page_writer_close(&writer);
    return status;
}

/* Sets segment->removed to the number of removals, and writes the segment's file of them; no file if there are none.
 * Errors: IDX_OUT_OF_MEMORY, IDX_DISK_FULL, IDX_IO_ERROR. */
static enum idx_status write_removals_file(const struct removals *removals, struct idxf_manifest_segment *segment,
                                           int folder, const char *folder_path, struct idx_error *error) {
    size_t size = IDXF_REMOVED_HEADER_BYTES;
    segment->removed = removals->count;
    if (removals->count == 0) return IDX_OK;
    struct idxf_record_rules rules = idxi_index_get_rules(removals->index);
    for (size_t i = 0; i < removals->count; i++) size += idxf_get_record_size(&rules, &removals->records[i]);
    uint8_t *bytes = malloc(size);
    if (bytes == NULL) return idxi_fail_memory(error);
    enum idx_status status = encode_and_write_removals(removals, bytes, size, segment, folder, folder_path, error);
    free(bytes);
    return status;
}

enum idx_status idxi_write_removals(const struct idx_index *index, size_t first_segment,
                                    struct idxf_manifest_segment *segment, int folder, const char *folder_path,
                                    struct idx_error *error) {
    struct removals removals = {.index = index};
    if (first_segment == 0) return IDX_OK; /* there are no older segments */
    enum idx_status status = idxi_pending_visit_records(&index->pending, collect_removal, &removals, error);
    for (size_t i = first_segment; i < index->open_segments && status == IDX_OK; i++) {
        const struct idxi_removed *removed = &index->segments[i]->removed;
        for (size_t j = 0; j < removed->count && status == IDX_OK; j++) {
            struct idxf_record record = idxi_get_removal(removed, j);
            status = collect_removal(&removals, 0, &record, error);
        }
    }
    if (status == IDX_OK) status = keep_needed_removals(&removals, first_segment, error);
    if (status == IDX_OK) status = write_removals_file(&removals, segment, folder, folder_path, error);
    free(removals.records);
    return status;
}
