/* forge.c: see forge.h. */
#include "tests/libidx/forge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "format/bytes.h"
#include "format/checksum.h"
#include "format/document_sums.h"
#include "format/log.h"
#include "format/table.h"
#include "tests/libidx/support.h"

#define HEADER_SUM (IDXF_PAGE_SIZE - 8)

void change_bytes(const char *path, size_t offset, const void *bytes, size_t length) {
    size_t size;
    uint8_t *content = read_file(path, &size);
    assert_true(offset <= size && length <= size - offset);
    memcpy(content + offset, bytes, length);
    write_file(path, content, size);
    free(content);
}

void change_size(const char *path, size_t size) { assert_int_equal(truncate(path, (off_t)size), 0); }

void seal_table(const char *path) {
    size_t size;
    uint8_t *content = read_file(path, &size);
    size_t pages = (size - IDXF_PAGE_SIZE) / (IDXF_PAGE_SIZE + 8);
    uint8_t *sums = content + (pages + 1) * IDXF_PAGE_SIZE;
    assert_int_equal(size, IDXF_PAGE_SIZE + pages * (IDXF_PAGE_SIZE + 8));
    for (size_t page = 0; page < pages; page++)
        idxf_store64(sums + page * 8, idxf_checksum(content + (page + 1) * IDXF_PAGE_SIZE, IDXF_PAGE_SIZE));
    idxf_store64(content + HEADER_SUM, idxf_checksum(content, HEADER_SUM));
    write_file(path, content, size);
    free(content);
}

/* A slot at the place where frames end: the checksum of the frame before it becomes right. */
static void seal_slots(uint8_t *bytes, uint64_t end, uint64_t chain) {
    for (unsigned slot = 0; slot < 2; slot++) {
        uint8_t *at = bytes + idxf_log_get_slot_offset(slot);
        if (idxf_load64(at) == end) idxf_store64(at + 16, chain);
        idxf_store64(at + 24, XXH3_64bits_withSeed(at, 24, idxf_load64(bytes + IDXF_LOG_HEADER_BYTES - 8)));
    }
}

size_t seal_log(uint8_t *bytes, const uint8_t *whole, size_t size) {
    const size_t least = IDXF_FRAME_HEADER_BYTES + IDXF_FRAME_CHECKSUM_BYTES;
    uint64_t chain = idxf_checksum(bytes, IDXF_LOG_HEADER_BYTES - 8);
    size_t at = IDXF_LOG_FRAMES;
    idxf_store64(bytes + IDXF_LOG_HEADER_BYTES - 8, chain);
    seal_slots(bytes, at, chain);
    while (size - at > least) {
        uint64_t frame = idxf_load64(bytes + at);
        if (frame < least || frame > size - at) frame = idxf_load64(whole + at);
        if (frame < least || frame > size - at) break;
        uint8_t *sum = bytes + at + frame - IDXF_FRAME_CHECKSUM_BYTES;
        chain = XXH3_64bits_withSeed(bytes + at, (size_t)frame - IDXF_FRAME_CHECKSUM_BYTES, chain);
        idxf_store64(sum, chain);
        at += (size_t)frame;
        seal_slots(bytes, at, chain);
    }
    return at;
}

void forge_table(const char *path, size_t offset, const void *bytes, size_t length) {
    change_bytes(path, offset, bytes, length);
    seal_table(path);
}

static void put_bits(uint8_t *bytes, uint64_t at, uint64_t bits, unsigned length) {
    for (unsigned i = 0; i < length; i++) bytes[(at + i) / 8] |= (uint8_t)((bits >> i & 1) << (at + i) % 8);
}

void set_bits(const char *path, uint64_t at, uint64_t bits, unsigned length) {
    size_t size;
    uint8_t *content = read_file(path, &size);
    put_bits(content, at, bits, length);
    write_file(path, content, size);
    free(content);
}

#define OFFSET_BITS 40 /* of chains, in the list */

/* Writes a chain from bit `at` to bit `end`, or as short as it can be, where that is 0. Returns where it ends. */
static uint64_t put_chain(const struct idxf_encoder *encoder, const struct forged_chain *chain, uint64_t at,
                          uint64_t end, uint8_t *bytes) {
    if (end == 0) {
        end = at;
        for (size_t i = 0; i < chain->count; i++) {
            struct idxf_class class = encoder->class_of[idxf_bit_length(chain->differences[i])];
            end += class.length + class.tail;
        }
    }
    uint64_t back = end;
    for (size_t i = 0; i < chain->count; i++) {
        struct idxf_class class = encoder->class_of[idxf_bit_length(chain->differences[i])];
        assert_true(at + class.length + class.tail <= back);
        put_bits(bytes, at, class.code, class.length);
        put_bits(bytes, back -= class.tail, chain->differences[i], class.tail);
        at += class.length;
    }
    return end;
}

static void make_block(const struct idxf_encoder *encoder, const struct forged_block *block, uint8_t *bytes) {
    const struct idxf_block_form *form = &encoder->form;
    unsigned most = idxf_get_max_chains(form->block_size), place_bits = idxf_bit_length(form->block_size) + 2;
    uint64_t at = 1 + (block->is_short ? form->anchor_bits : form->bits), entry = at + 6;
    put_bits(bytes, 0, !block->is_short, 1);
    put_bits(bytes, 1, block->key, (unsigned)at - 1);
    if (most > 1) {
        put_bits(bytes, at, OFFSET_BITS, 6);
        at = entry + (most - 1) * (OFFSET_BITS + place_bits);
    }
    for (unsigned i = 0; i < block->count; i++) {
        const struct forged_chain *chain = &block->chains[i];
        if (i > 0) {
            put_bits(bytes, entry, chain->offset, OFFSET_BITS);
            put_bits(bytes, entry + OFFSET_BITS, at + (uint64_t)chain->moved, place_bits);
            entry += OFFSET_BITS + place_bits;
        }
        at = put_chain(encoder, chain, at, i + 1 == block->count ? form->block_size * 8 : 0, bytes);
    }
}

void forge_block(const char *path, uint64_t number, const struct forged_block *block) {
    struct idxf_table_header header;
    struct idxf_encoder encoder;
    uint32_t version;
    size_t size;
    uint8_t *content = read_file(path, &size), bytes[IDXF_MAX_BLOCK_SIZE] = {0};
    assert_int_equal(idxf_table_header_read(&header, content, size, &version), IDXF_OK);
    assert_true(number < header.blocks);
    struct idxf_block_form form = idxf_table_get_block_form(&header);
    idxf_encoder_init(&encoder, &form);
    make_block(&encoder, block, bytes);
    free(content);
    forge_table(path, 4096 + number * header.block_size, bytes, header.block_size);
}

static void write_sums(const char *map, const char *sums_path, const uint8_t *uuid) {
    struct idxf_document_sums sums = {.extra = 0};
    size_t size;
    uint8_t *content = read_file(map, &size);
    memcpy(sums.uuid, uuid, sizeof sums.uuid);
    sums.length = size;
    size_t pages = (size_t)idxf_document_sums_count_pages(&sums);
    uint8_t *made = malloc(IDXF_DOCUMENT_SUMS_HEADER_BYTES + pages * 8);
    assert_non_null(made);
    idxf_document_sums_header_write(&sums, made);
    for (size_t page = 0; page < pages; page++) {
        size_t at = page * IDXF_PAGE_SIZE, length = size - at < IDXF_PAGE_SIZE ? size - at : IDXF_PAGE_SIZE;
        idxf_store64(made + IDXF_DOCUMENT_SUMS_HEADER_BYTES + page * 8, idxf_checksum(content + at, length));
    }
    write_file(sums_path, made, IDXF_DOCUMENT_SUMS_HEADER_BYTES + pages * 8);
    free(content);
    free(made);
}

void forge_sums(const char *segment, const uint8_t *uuid) {
    write_sums(path_in(segment, "docs.mdb"), path_in(segment, "docs.sum"), uuid);
}

void forge_sums_by_id(const char *segment, const uint8_t *uuid) {
    write_sums(path_in(segment, "by-id.mdb"), path_in(segment, "by-id.sum"), uuid);
}

void read_segment_uuid(const char *table, uint8_t uuid[16]) {
    size_t size;
    uint8_t *content = read_file(table, &size);
    memcpy(uuid, content + 16, 16);
    free(content);
}

void forge_manifest(const char *path, const char *lines) {
    size_t length = strlen(lines), room = length + 32;
    char *text = malloc(room);
    assert_non_null(text);
    int size = snprintf(text, room, "%schecksum %016llx\n", lines, (unsigned long long)idxf_checksum(lines, length));
    write_file(path, text, (size_t)size);
    free(text);
}
