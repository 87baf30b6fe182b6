/* sets_writer.c: see sets_writer.h. */
#include "libidx/segment/sets_writer.h"

#include <stdlib.h>
#include <string.h>

#include "libidx/segment/sets_reader.h"

enum idx_status idxi_sets_writer_open(struct idxi_sets_writer *writer, int folder, const char *folder_path,
                                      struct idx_error *error) {
    *writer = (struct idxi_sets_writer){.pages = {.fd = -1}, .path = idxi_join_path(folder_path, IDXI_SETS_NAME)};
    if (writer->path == NULL) return idxi_fail_memory(error);
    return idxi_page_writer_open(&writer->pages, folder, IDXI_SETS_NAME, IDXF_PAGE_SIZE, writer->path, error);
}

/* Appends an entry to the directory, for the record that is written next, which has this key. */
static enum idx_status append_entry(struct idxi_sets_writer *writer, uint64_t key, struct idx_error *error) {
    struct idxf_sets_entry entry = {.key = key, .offset = writer->header.record_bytes};
    size_t position = (size_t)writer->header.entries++ * IDXF_SETS_ENTRY_BYTES;
    IDXI_GROW(writer->directory, writer->directory_capacity, position + IDXF_SETS_ENTRY_BYTES, error);
    idxf_sets_entry_write(&entry, writer->directory + position);
    writer->last_entry_offset = entry.offset;
    return IDX_OK;
}

enum idx_status idxi_sets_writer_add(struct idxi_sets_writer *writer, const struct idxf_set *set,
                                     struct idx_error *error) {
    struct idxf_sets_header *header = &writer->header;
    uint8_t head[IDXF_SET_HEAD_BYTES];
    /* the head of a record with an entry has no difference of keys, since the entry has the key */
    bool has_entry = header->sets == 0 || header->record_bytes - writer->last_entry_offset >= IDXF_SETS_INTERVAL;
    if (has_entry) IDXI_TRY(append_entry(writer, set->key, error));
    size_t head_bytes = idxf_set_head_write(has_entry ? 0 : set->key - writer->last_key, set->count, head);
    size_t member_bytes = (size_t)set->count * sizeof(uint64_t);
    IDXI_TRY(idxi_page_writer_write(&writer->pages, head, head_bytes, error));
    IDXI_TRY(idxi_page_writer_write(&writer->pages, set->members, member_bytes, error));
    writer->last_key = set->key;
    header->sets++;
    header->members += set->count;
    header->record_bytes += head_bytes + member_bytes;
    return IDX_OK;
}

enum idx_status idxi_sets_writer_finish(struct idxi_sets_writer *writer, const uint8_t uuid[IDXF_UUID_BYTES],
                                        uint64_t *file_bytes, struct idx_error *error) {
    uint8_t page[IDXF_PAGE_SIZE];
    size_t used_bytes = (size_t)writer->header.entries * IDXF_SETS_ENTRY_BYTES;
    memcpy(writer->header.uuid, uuid, IDXF_UUID_BYTES);
    IDXI_TRY(idxi_page_writer_pad(&writer->pages, error));
    if (used_bytes > 0) IDXI_TRY(idxi_page_writer_write(&writer->pages, writer->directory, used_bytes, error));
    IDXI_TRY(idxi_page_writer_pad(&writer->pages, error));
    IDXI_TRY(idxi_page_writer_write_checksums(&writer->pages, error));
    idxf_sets_header_write(&writer->header, page);
    IDXI_TRY(idxi_page_writer_finish(&writer->pages, page, sizeof page, error));
    *file_bytes = writer->pages.written;
    return IDX_OK;
}

void idxi_sets_writer_close(struct idxi_sets_writer *writer) {
    if (writer->path != NULL) idxi_page_writer_close(&writer->pages);
    free(writer->directory);
    free(writer->path);
    *writer = (struct idxi_sets_writer){0};
}
