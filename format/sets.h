/* sets.h: a segment's file `sets`: the sets of its texts, by document number or integer ID (SPEC.md, chapter 15). */
#ifndef IDX_FORMAT_SETS_H
#define IDX_FORMAT_SETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/fault.h"
#include "format/limits.h"
#include "format/table.h"

struct idxf_sets_header {
    uint8_t uuid[IDXF_UUID_BYTES]; /* of the segment */
    uint64_t sets;
    uint64_t members;      /* of all sets */
    uint64_t record_bytes; /* of all records */
    uint64_t entries;      /* of the directory */
    uint32_t extra;        /* bytes at the end of the file that this version ignores */
};

/* These are the byte offsets of the sections in the file, multiples of the page size. `pages` pages of IDXF_PAGE_SIZE
 * bytes are between the header page and the checksums. */
struct idxf_sets_layout {
    uint64_t records;
    uint64_t directory;
    uint64_t checksums;
    uint64_t pages;
    uint64_t file_size;
};

/* Writes the header page, IDXF_PAGE_SIZE bytes. */
void idxf_sets_header_write(const struct idxf_sets_header *header, uint8_t *page);

/* Reads and checks the header of a file whose first `size` bytes are at `page`. Returns a fault of idxf_header_read, or
 * IDXF_FAULT_COUNT for impossible counts. On IDXF_FAULT_VERSION, *version is set to the version found. After a fault,
 * *header must not be used. */
enum idxf_fault idxf_sets_header_read(struct idxf_sets_header *header, const uint8_t *page, size_t size,
                                      uint32_t *version);

/* Returns the offsets of the sections of a file of sets, and its size. The header must be valid. */
struct idxf_sets_layout idxf_sets_lay_out(const struct idxf_sets_header *header);

/* ---- Records ---- */

/* The most bytes of a record before its members: two varints. */
#define IDXF_SET_HEAD_BYTES 20

/* Writes what a record has before its members: `step` and `count`, the number of members. The step is the record's key
 * less the key of the record before, or 0 if the directory has the key. Returns how many bytes it wrote. */
size_t idxf_set_head_write(uint64_t step, uint64_t count, uint8_t head[IDXF_SET_HEAD_BYTES]);

/* Reads what idxf_set_head_write writes. `bytes` begin with a record, and `size` is how many of them can be read. Sets
 * *head_size to how many bytes precede the members. Returns IDXF_FAULT_COUNT for a number of members outside 1 to
 * IDXF_MAX_MEMBERS, and IDXF_FAULT_OVERRUN if the head or the members don't fit into the bytes. */
enum idxf_fault idxf_set_head_read(const uint8_t *bytes, size_t size, uint64_t *step, uint64_t *count,
                                   size_t *head_size);

/* Returns whether `count` members, little-endian numbers of 8 bytes, ascend strictly. */
bool idxf_members_ascend(const uint8_t *members, size_t count);

/* ---- The directory, and records in turn ---- */

#define IDXF_SETS_ENTRY_BYTES 16

struct idxf_sets_entry {
    uint64_t key;
    uint64_t offset; /* of the record that has the key, from the first record on */
};

/* Writes an entry of the directory. */
void idxf_sets_entry_write(const struct idxf_sets_entry *entry, uint8_t bytes[IDXF_SETS_ENTRY_BYTES]);

/* Reads an entry of the directory, without checking it. */
struct idxf_sets_entry idxf_sets_entry_read(const uint8_t bytes[IDXF_SETS_ENTRY_BYTES]);

struct idxf_set {
    uint64_t key;
    uint64_t count;         /* of members */
    const uint8_t *members; /* within the records */
};

/* A walk along records, from one that has an entry on. The caller sets `records`, `directory`, `record_bytes` and
 * `entries`; the arrays stay the caller's. Then it either zeroes the other members, for a walk from the first record
 * on, or calls idxf_sets_walk_begin. */
struct idxf_sets_walk {
    const uint8_t *records, *directory;
    uint64_t record_bytes, entries;
    uint64_t at, entry;    /* the offset of the next record, and the number of the next entry */
    uint64_t key;          /* of the record before */
    uint64_t entry_offset; /* of the last entry whose record was read, at first of the one to begin with */
};

/* Begins the walk at the record of entry number `entry`, from 0, which the directory must have. */
void idxf_sets_walk_begin(struct idxf_sets_walk *walk, uint64_t entry);

/* Reads and checks the next record, and its entry if it must have one. walk->at must be below walk->record_bytes. Does
 * not check whether the members ascend. Without a fault, sets *set and moves the walk behind the record. The faults are
 * those of idxf_set_head_read, IDXF_FAULT_DIRECTORY if the entry is missing or wrong, and IDXF_FAULT_ORDER if keys
 * descend. */
enum idxf_fault idxf_sets_walk_next(struct idxf_sets_walk *walk, struct idxf_set *set);

/* Once the walk is behind the last record, checks that no entry is left: else returns IDXF_FAULT_DIRECTORY. */
static inline enum idxf_fault idxf_sets_walk_end(const struct idxf_sets_walk *walk) {
    return walk->entry == walk->entries ? IDXF_OK : IDXF_FAULT_DIRECTORY;
}

#endif
