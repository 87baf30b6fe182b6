/* table_writer.c: two passes over a sorted table: count what its header says, then encode the blocks. */
#include "libidx/table_writer.h"

#include <stdlib.h>
#include <string.h>

#include "format/directory.h"
#include "format/table.h"
#include "libidx/error.h"
#include "libidx/file.h"

struct keys {
    uint64_t *items;
    size_t count, capacity;
};

static void make_code(struct idxf_table_header *header, const uint64_t *fingerprints, size_t count) {
    uint64_t counts[IDXF_SYMBOLS] = {0};
    memset(header->lengths, 0, sizeof header->lengths);
    if (header->codec != IDXF_CODEC_XOR) return;
    for (size_t i = 1; i < count; i++) counts[idxf_position(fingerprints[i - 1], fingerprints[i])]++;
    idxf_code_lengths(counts, header->lengths);
}

static void count_statistics(struct idxf_table_header *header, const uint64_t *fingerprints, size_t count) {
    struct idxf_statistics_counter counter;
    struct idxf_permutation permutation;
    idxf_permutation_init(&permutation, header->mask, header->bits);
    idxf_statistics_begin(&counter, (unsigned)__builtin_popcountll(header->mask));
    idxf_statistics_add(&counter, fingerprints, count);
    header->statistics = idxf_statistics_end(&counter, &permutation);
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

static enum idx_status write_directory(struct idxi_page_writer *writer, const struct keys *keys,
                                       struct idx_error *error) {
    uint64_t lines = idxf_directory_lines(keys->count);
    size_t first = 0;
    for (uint64_t line = 0; line < lines; line++) {
        uint8_t bytes[IDXF_LINE_BYTES];
        first += idxf_line_write(bytes, line, lines, keys->items, first, keys->count);
        IDXI_TRY(idxi_page_writer_write(writer, bytes, sizeof bytes, error));
    }
    return idxi_page_writer_pad(writer, error);
}

static enum idx_status write_sections(struct idxi_page_writer *writer, struct idxf_table_header *header,
                                      const uint64_t *fingerprints, size_t count, struct keys *keys,
                                      struct idx_error *error) {
    uint8_t page[IDXF_PAGE_SIZE];
    make_code(header, fingerprints, count);
    count_statistics(header, fingerprints, count);
    IDXI_TRY(write_blocks(writer, header, fingerprints, count, keys, error));
    header->fingerprints = count;
    header->blocks = keys->count;
    IDXI_TRY(write_directory(writer, keys, error));
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
