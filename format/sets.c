/* sets.c: writes and reads the parts of a file of sets. */
#include "format/sets.h"

#include "format/bytes.h"
#include "format/header.h"

static const struct idxf_field fields[] = {
    IDXF_FIELD(12, struct idxf_sets_header, extra),        IDXF_FIELD(16, struct idxf_sets_header, uuid),
    IDXF_FIELD(32, struct idxf_sets_header, sets),         IDXF_FIELD(40, struct idxf_sets_header, members),
    IDXF_FIELD(48, struct idxf_sets_header, record_bytes), IDXF_FIELD(56, struct idxf_sets_header, entries),
};

static const struct idxf_header_form form = {"idx-sets", IDXF_PAGE_SIZE, sizeof fields / sizeof *fields, fields};

#define MAX_RECORD_BYTES (UINT64_C(1) << 56) /* of records, so that no sum of sizes exceeds 64 bits */

void idxf_sets_header_write(const struct idxf_sets_header *header, uint8_t *page) {
    idxf_header_write(&form, header, page);
}

/* Whether counts are possible. Each set has a record, with at least 2 bytes before its members, and one member or more.
 * The first record has an entry, and others have one only if they begin IDXF_SETS_INTERVAL bytes or more behind the
 * record of the entry before. */
static bool are_counts_possible(const struct idxf_sets_header *header) {
    uint64_t bytes = header->record_bytes, sets = header->sets;
    if (bytes > MAX_RECORD_BYTES || sets > header->members || header->members > bytes / sizeof(uint64_t)) return false;
    if (bytes < header->members * sizeof(uint64_t) + 2 * sets || (bytes == 0) != (sets == 0)) return false;
    if (sets == 0 || header->entries == 0) return header->entries == sets;
    return header->entries <= sets && header->entries - 1 <= (bytes - 1) / IDXF_SETS_INTERVAL;
}

enum idxf_fault idxf_sets_header_read(struct idxf_sets_header *header, const uint8_t *page, size_t size,
                                      uint32_t *version) {
    enum idxf_fault fault = idxf_header_read(&form, page, size, header, version);
    if (fault != IDXF_OK) return fault;
    return are_counts_possible(header) ? IDXF_OK : IDXF_FAULT_COUNT;
}

struct idxf_sets_layout idxf_sets_lay_out(const struct idxf_sets_header *header) {
    struct idxf_sets_layout layout;
    layout.records = IDXF_PAGE_SIZE;
    layout.directory = idxf_round_to_page(layout.records + header->record_bytes);
    layout.checksums = idxf_round_to_page(layout.directory + header->entries * IDXF_SETS_ENTRY_BYTES);
    layout.pages = (layout.checksums - layout.records) / IDXF_PAGE_SIZE;
    layout.file_size = layout.checksums + layout.pages * 8 + header->extra;
    return layout;
}

/* ---- Records ---- */

/* Reads the varint at *offset, and moves *offset behind it. Returns false where it does not end within the `size`
 * bytes, or is 2^64 or more. */
static bool read_varint(const uint8_t *bytes, size_t size, size_t *offset, uint64_t *number) {
    *number = 0;
    for (unsigned shift = 0; *offset < size && shift < 64; shift += 7) {
        uint8_t byte = bytes[(*offset)++];
        uint64_t digit = byte & 127;
        if (shift == 63 && digit > 1) return false; /* only one bit is left */
        *number |= digit << shift;
        if (byte < 128) return true;
    }
    return false;
}

size_t idxf_set_head_write(uint64_t step, uint64_t count, uint8_t head[IDXF_SET_HEAD_BYTES]) {
    size_t size = idxf_write_varint(head, step);
    return size + idxf_write_varint(head + size, count);
}

enum idxf_fault idxf_set_head_read(const uint8_t *bytes, size_t size, uint64_t *step, uint64_t *count,
                                   size_t *head_size) {
    *head_size = 0;
    if (!read_varint(bytes, size, head_size, step) || !read_varint(bytes, size, head_size, count))
        return IDXF_FAULT_OVERRUN;
    if (*count == 0 || *count > IDXF_MAX_MEMBERS) return IDXF_FAULT_COUNT;
    return *count > (size - *head_size) / sizeof(uint64_t) ? IDXF_FAULT_OVERRUN : IDXF_OK;
}

bool idxf_members_ascend(const uint8_t *members, size_t count) {
    for (size_t i = 1; i < count; i++)
        if (idxf_load64(members + 8 * i) <= idxf_load64(members + 8 * (i - 1))) return false;
    return true;
}

/* ---- The directory ---- */

void idxf_sets_entry_write(const struct idxf_sets_entry *entry, uint8_t bytes[IDXF_SETS_ENTRY_BYTES]) {
    idxf_store64(bytes, entry->key);
    idxf_store64(bytes + 8, entry->offset);
}

struct idxf_sets_entry idxf_sets_entry_read(const uint8_t bytes[IDXF_SETS_ENTRY_BYTES]) {
    return (struct idxf_sets_entry){idxf_load64(bytes), idxf_load64(bytes + 8)};
}

/* Returns entry number `number`, from 0, of the directory, which must have it. */
static struct idxf_sets_entry read_entry(const struct idxf_sets_walk *walk, uint64_t number) {
    return idxf_sets_entry_read(walk->directory + number * IDXF_SETS_ENTRY_BYTES);
}

void idxf_sets_walk_begin(struct idxf_sets_walk *walk, uint64_t entry) {
    struct idxf_sets_entry first = read_entry(walk, entry);
    walk->entry = entry;
    walk->at = walk->entry_offset = first.offset;
    walk->key = 0;
}

/* Sets walk->key to the key of the record at walk->at, which has this step. The record that the walk begins with must
 * have an entry, and each that is IDXF_SETS_INTERVAL bytes or more behind the last record with one. Then the step is 0,
 * the entry has the key, and the walk goes on to the next entry. */
static enum idxf_fault advance_key(struct idxf_sets_walk *walk, uint64_t step) {
    uint64_t key_before = walk->key;
    walk->key += step;
    bool must_have_entry = walk->at == walk->entry_offset || walk->at - walk->entry_offset >= IDXF_SETS_INTERVAL;
    if (must_have_entry) {
        if (walk->entry == walk->entries || step != 0) return IDXF_FAULT_DIRECTORY;
        struct idxf_sets_entry entry = read_entry(walk, walk->entry++);
        if (entry.offset != walk->at) return IDXF_FAULT_DIRECTORY;
        walk->key = entry.key;
        walk->entry_offset = entry.offset;
    }
    return walk->key < key_before ? IDXF_FAULT_ORDER : IDXF_OK; /* also where the sum has wrapped */
}

enum idxf_fault idxf_sets_walk_next(struct idxf_sets_walk *walk, struct idxf_set *set) {
    uint64_t step, bytes_left = walk->record_bytes - walk->at;
    size_t head_size;
    enum idxf_fault fault = idxf_set_head_read(walk->records + walk->at, bytes_left, &step, &set->count, &head_size);
    if (fault == IDXF_OK) fault = advance_key(walk, step);
    if (fault != IDXF_OK) return fault;
    set->key = walk->key;
    set->members = walk->records + walk->at + head_size;
    walk->at += head_size + set->count * sizeof(uint64_t);
    return IDXF_OK;
}
