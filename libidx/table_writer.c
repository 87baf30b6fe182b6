/* table_writer.c: two passes over a sorted table: count the positions and make the code, then encode the blocks. */
#include "libidx/table_writer.h"

#include <stdlib.h>

#include "format/bytes.h"
#include "libidx/error.h"
#include "libidx/file.h"

struct keys {
    uint64_t *items;
    size_t count, capacity;
};

static void make_code(struct idxf_table_header *header, const uint64_t *fingerprints, size_t count) {
    uint64_t counts[IDXF_SYMBOLS] = {0};
    enum idxf_codec codec = (enum idxf_codec)header->codec;
    for (size_t i = 1; i < count; i++) counts[idxf_position(codec, fingerprints[i - 1], fingerprints[i])]++;
    idxf_code_lengths(counts, header->lengths);
}

static enum idx_status add_key(struct keys *keys, uint64_t key, struct idx_error *error) {
    if (keys->count == IDXF_MAX_BLOCKS)
        return idxi_fail(error, IDX_LIMIT, NULL, "a table can hold %lld blocks at most: choose larger blocks",
                         (long long)IDXF_MAX_BLOCKS);
    if (keys->count == keys->capacity) {
        size_t capacity = keys->capacity * 2 + 1024;
        uint64_t *grown = realloc(keys->items, capacity * sizeof *grown);
        if (grown == NULL) return idxi_fail_memory(error);
        keys->items = grown;
        keys->capacity = capacity;
    }
    keys->items[keys->count++] = key;
    return IDX_OK;
}

static enum idx_status write_blocks(struct idxi_page_writer *writer, const struct idxf_table_header *header,
                                    const uint64_t *fingerprints, size_t count, struct keys *keys,
                                    struct idx_error *error) {
    struct idxf_encoder encoder;
    uint8_t block[IDXF_MAX_BLOCK_SIZE];
    idxf_encoder_init(&encoder, (enum idxf_codec)header->codec, header->bits, header->block_size, header->lengths);
    for (size_t done = 0; done < count;) {
        done += idxf_block_encode(&encoder, fingerprints + done, count - done, block);
        IDXI_TRY(add_key(keys, fingerprints[done - 1], error));
        IDXI_TRY(idxi_page_writer_write(writer, block, header->block_size, error));
    }
    return idxi_page_writer_pad(writer, error);
}

static enum idx_status write_keys(struct idxi_page_writer *writer, const struct keys *keys, struct idx_error *error) {
    for (size_t i = 0; i < keys->count; i++) {
        uint8_t bytes[8];
        idxf_store64(bytes, keys->items[i]);
        IDXI_TRY(idxi_page_writer_write(writer, bytes, sizeof bytes, error));
    }
    return IDX_OK;
}

static enum idx_status write_directory(struct idxi_page_writer *writer, const struct keys *keys, unsigned bits,
                                       struct idx_error *error) {
    size_t block = 0;
    if (bits == 0) return IDX_OK;
    for (uint64_t entry = 0; entry <= UINT64_C(1) << bits; entry++) {
        uint8_t bytes[4];
        while (block < keys->count && keys->items[block] >> (64 - bits) < entry) block++;
        idxf_store32(bytes, (uint32_t)block);
        IDXI_TRY(idxi_page_writer_write(writer, bytes, sizeof bytes, error));
    }
    return IDX_OK;
}

static enum idx_status write_sections(struct idxi_page_writer *writer, struct idxf_table_header *header,
                                      const uint64_t *fingerprints, size_t count, struct keys *keys,
                                      struct idx_error *error) {
    uint8_t page[IDXF_PAGE_SIZE];
    make_code(header, fingerprints, count);
    IDXI_TRY(write_blocks(writer, header, fingerprints, count, keys, error));
    header->fingerprints = count;
    header->blocks = keys->count;
    header->directory_bits = (uint8_t)idxf_directory_bits(keys->count);
    IDXI_TRY(write_keys(writer, keys, error));
    IDXI_TRY(write_directory(writer, keys, header->directory_bits, error));
    IDXI_TRY(idxi_page_writer_pad(writer, error));
    IDXI_TRY(idxi_page_writer_write_checksums(writer, error));
    idxf_table_header_write(header, page);
    return idxi_page_writer_finish(writer, page, sizeof page, error);
}

enum idx_status idxi_table_write(int folder, const char *name, const char *path, struct idxf_table_header *header,
                                 const uint64_t *fingerprints, size_t count, uint64_t *file_size,
                                 struct idx_error *error) {
    struct idxi_page_writer writer;
    struct keys keys = {0};
    enum idx_status status = idxi_page_writer_open(&writer, folder, name, IDXF_PAGE_SIZE, path, error);
    if (status == IDX_OK) status = write_sections(&writer, header, fingerprints, count, &keys, error);
    if (status == IDX_OK) *file_size = writer.written;
    idxi_page_writer_close(&writer);
    free(keys.items);
    return status;
}
