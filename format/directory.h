/* directory.h: the directory of a table (SPEC.md, chapter 7). It holds in memory as many leading bits of the blocks'
 * keys as are needed to find the block of a permuted fingerprint; a key is a block's last fingerprint. A directory line
 * is one cache line. It has a cell for each part of an interval of values, and a cell is set if a key falls into it.
 * After the lines follow lists of the keys that would share cells. */
#ifndef IDX_FORMAT_DIRECTORY_H
#define IDX_FORMAT_DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/bytes.h"
#include "format/limits.h"

/* Returns how many lines the directory of `blocks` blocks has: one for IDXF_LINE_BLOCKS blocks, so that most keys have
 * a cell of their own. */
static inline uint64_t idxf_directory_count_lines(uint64_t blocks) {
    return (blocks + IDXF_LINE_BLOCKS - 1) / IDXF_LINE_BLOCKS;
}

__extension__ typedef unsigned __int128 idxf_uint128;

/* A left-aligned fingerprint's place in a directory: a line, and a fraction of its interval, in units of 2^-64. */
struct idxf_place {
    uint64_t line, part;
};

/* Returns the place of a left-aligned fingerprint in a directory of `lines` lines, which divide all values evenly. */
static inline struct idxf_place idxf_find_place(uint64_t fingerprint, uint64_t lines) {
    idxf_uint128 place = (idxf_uint128)fingerprint * lines;
    return (struct idxf_place){(uint64_t)(place >> 64), (uint64_t)place};
}

/* Returns the highest `bits` bits, 0 to 64, of a fraction of 64 bits, as a number. */
static inline uint64_t idxf_get_top_bits(uint64_t part, unsigned bits) { return bits == 0 ? 0 : part >> (64 - bits); }

/* ---- Writing ---- */

#define IDXF_LINE_WORDS (IDXF_LINE_CELLS / 64)

/* This is a directory that is being written, line by line, from ascending keys. */
struct idxf_directory_writer {
    uint64_t lines, line;            /* all, and the current one, which is `lines` after the last */
    uint64_t keys_before, key_count; /* keys before the current line, and in it */
    uint64_t previous_fraction;      /* that of the last key of the line */
    uint64_t min_xor;                /* of the fractions of two keys of the line; UINT64_MAX for fewer keys */
    uint64_t list_bytes;             /* of the lists of the lines before */
    bool is_crowded;                 /* two keys of the line share a cell, so it gets a list in place of cells */
    uint64_t words[IDXF_LINE_WORDS]; /* the cells of the line, a bit each */
};

/* Begins a directory of `lines` lines, which must be idxf_directory_count_lines of the table's blocks. */
void idxf_directory_begin(struct idxf_directory_writer *writer, uint64_t lines);

/* Adds a left-aligned key, which must be above those before it, to the current line. Returns false, and adds nothing,
 * if the key falls into a later line: then the current line is to be written first. */
bool idxf_directory_add_key(struct idxf_directory_writer *writer, uint64_t key);

/* Writes the current line to `bytes`, with the cells of its keys, or if two keys would share one, with the place of a
 * list. Begins the next line. The caller writes the keys of lists (idxf_list_write_key). */
void idxf_directory_write_line(struct idxf_directory_writer *writer, uint8_t bytes[IDXF_LINE_BYTES]);

/* This is the list of a line, which has the leading bits of the fraction of each of its keys. */
struct idxf_list {
    uint64_t at;    /* byte of the lists */
    uint32_t count; /* keys; 0 if the line has cells */
    unsigned width; /* bits of each */
};

/* Returns how many bytes a list takes. Its last byte may have unused bits. */
static inline uint64_t idxf_list_count_bytes(const struct idxf_list *list) {
    return ((uint64_t)list->count * list->width + 7) / 8;
}

/* Writes key number `number`, from 0, of a list: the leading list->width bits of its `fraction`. `bytes` is a
 * window: it has bytes [begin, end) of all lists, and must be 0 where no key is written yet. Bits of the key outside
 * the window are skipped. */
void idxf_list_write_key(const struct idxf_list *list, uint64_t number, uint64_t fraction, uint64_t begin, uint64_t end,
                         uint8_t *bytes);

/* ---- Reading ---- */

/* Returns the number of the block with the line's first key, which equals the number of keys of all lines before. */
static inline uint32_t idxf_get_first_block(const uint8_t *line) { return idxf_load32(line); }

/* Reads the place, count and width of a line's list, without checking them. If the line has cells, the count is 0 and
 * the others mean nothing. */
struct idxf_list idxf_line_read_list(const uint8_t *line);

/* Returns how many keys the list of the line has, or 0 if the line has cells. */
static inline uint32_t idxf_count_listed_keys(const uint8_t *line) { return idxf_load32(line + 4); }

/* Returns how many keys a line has before cell number `cell`, which is how many of these cells are set. */
typedef unsigned (*idxf_key_counter)(const uint8_t *line, unsigned cell);

struct idxf_directory {
    const uint8_t *lines, *lists;
    uint64_t line_count, list_bytes, blocks;
    size_t readable;                    /* bytes from `lists` on, more than list_bytes */
    uint64_t cell_step;                 /* from cell to cell: 2^64 / cells of all lines, rounded down, plus 1 */
    idxf_key_counter count_keys_before; /* the fastest for this processor */
};

/* Prepares the directory of a table of `blocks` (1 or more) blocks for reading, without checking it. `lines` and
 * `lists` stay the caller's, and must outlive it. The lists have `list_bytes` bytes. From `lists` on, `readable` bytes
 * can be read, at least 8 if there are lists. */
void idxf_directory_init(struct idxf_directory *directory, const uint8_t *lines, const uint8_t *lists,
                         uint64_t list_bytes, size_t readable, uint64_t blocks);

struct idxf_start {
    uint64_t block; /* all blocks before it have keys below the fingerprint; the number of blocks if all blocks have */
    uint64_t above; /* left-aligned; from the key of the previous block to the key of this one: see block.h */
};

/* Does what idxf_directory_find_start does for a fingerprint whose line has a list. Only idxf_directory_find_start
 * calls it. */
bool idxf_find_in_list(const struct idxf_directory *directory, uint64_t fingerprint, struct idxf_start *start);

/* Finds where to begin the search for a permuted, left-aligned fingerprint and those above it, and sets *start. Returns
 * false if the directory is damaged; then *start is unspecified. */
static inline bool idxf_directory_find_start(const struct idxf_directory *directory, uint64_t fingerprint,
                                             struct idxf_start *start) {
    struct idxf_place place = idxf_find_place(fingerprint, directory->line_count);
    const uint8_t *line = directory->lines + place.line * IDXF_LINE_BYTES;
    if (__builtin_expect(idxf_count_listed_keys(line) != 0, 0)) return idxf_find_in_list(directory, fingerprint, start);
    idxf_uint128 cell = (idxf_uint128)place.part * IDXF_LINE_CELLS;
    start->block = (uint64_t)idxf_get_first_block(line) + directory->count_keys_before(line, (unsigned)(cell >> 64));
    /* The fingerprint less how far it is behind the beginning of its cell, rounded up: so `above` is that beginning, or
     * one less. */
    start->above = fingerprint - (uint64_t)((idxf_uint128)(uint64_t)cell * directory->cell_step >> 64);
    return start->block <= directory->blocks;
}

/* Finds what the directory says of block number `block`, which the table must have. Sets start->block to it, and
 * start->above to the least key that the directory allows it. Returns false if the directory is damaged; then *start is
 * unspecified. */
bool idxf_directory_get_block_start(const struct idxf_directory *directory, uint64_t block, struct idxf_start *start);

/* Sets `counters` to the implementations that this processor can run, the fastest last, and returns their number, 1 to
 * IDXF_MAX_KEY_COUNTERS. */
#define IDXF_MAX_KEY_COUNTERS 3
size_t idxf_list_key_counters(idxf_key_counter counters[IDXF_MAX_KEY_COUNTERS]);

#endif
