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

/* Returns how many lines the directory of `blocks` blocks has. */
static inline uint64_t idxf_directory_lines(uint64_t blocks) {
    return (blocks + IDXF_LINE_BLOCKS - 1) / IDXF_LINE_BLOCKS;
}

__extension__ typedef unsigned __int128 idxf_uint128;

/* A permuted, left-aligned fingerprint falls into a line, at a fraction of the line, which is in units of 2^-64. */
struct idxf_place {
    uint64_t line, part;
};

static inline struct idxf_place idxf_find_place(uint64_t fingerprint, uint64_t lines) {
    idxf_uint128 place = (idxf_uint128)fingerprint * lines;
    return (struct idxf_place){(uint64_t)(place >> 64), (uint64_t)place};
}

/* Returns the leading `bits` bits, 0 to 64, of a fraction. */
static inline uint64_t idxf_leading(uint64_t part, unsigned bits) { return bits == 0 ? 0 : part >> (64 - bits); }

/* ---- Writing ---- */

#define IDXF_LINE_WORDS (IDXF_LINE_CELLS / 64)

/* This is a directory that is being written, line by line, from ascending keys. */
struct idxf_directory_writer {
    uint64_t lines, line;  /* all, and the current one, which is `lines` after the last */
    uint64_t first, count; /* keys before the current line, and in it */
    uint64_t previous;     /* the fraction of the last key of the line */
    uint64_t closest;      /* the least XOR of the fractions of two keys of the line */
    uint64_t list_bytes;   /* of the lists of the lines before */
    bool is_crowded;
    uint64_t words[IDXF_LINE_WORDS];
};

void idxf_directory_begin(struct idxf_directory_writer *writer, uint64_t lines);

/* Adds a key to the current line. Returns false if the key falls into a later line: take this line first. */
bool idxf_directory_add(struct idxf_directory_writer *writer, uint64_t key);

/* Writes the current line to `bytes`, and begins the next one. */
void idxf_directory_take(struct idxf_directory_writer *writer, uint8_t bytes[IDXF_LINE_BYTES]);

/* This is the list of a line, which has the leading bits of the fraction of each of its keys. */
struct idxf_list {
    uint64_t at;    /* byte of the lists */
    uint32_t count; /* keys; 0 if the line has cells */
    unsigned width; /* bits of each */
};

/* Returns how many bytes a list takes. */
static inline uint64_t idxf_list_bytes(const struct idxf_list *list) {
    return ((uint64_t)list->count * list->width + 7) / 8;
}

/* Writes key number `i` of a list, as far as it belongs to `bytes`, which are the bytes `begin` to `end` of all lists,
 * and are 0 before. */
void idxf_list_put(const struct idxf_list *list, uint64_t i, uint64_t part, uint64_t begin, uint64_t end,
                   uint8_t *bytes);

/* ---- Reading ---- */

static inline uint32_t idxf_line_first(const uint8_t *bytes) { return idxf_load32(bytes); }

/* Reads the list of a line without checking it. */
struct idxf_list idxf_line_list(const uint8_t *bytes);

/* Returns how many keys the list of the line has, or 0 if the line has cells. */
static inline uint32_t idxf_line_listed(const uint8_t *bytes) { return idxf_load32(bytes + 4); }

/* This is a directory in memory. */
struct idxf_directory {
    const uint8_t *lines, *lists;
    uint64_t line_count, list_bytes, blocks;
    size_t lists_room;  /* bytes that may be read from `lists` on: more than list_bytes */
    uint64_t cell_step; /* 2^64 / cells, rounded down, plus 1 */
    unsigned (*rank)(const uint8_t *bytes, unsigned cell);
};

/* `lists_room` bytes can be read from `lists` on, at least 8 if there are lists. There is one block or more. */
void idxf_directory_init(struct idxf_directory *directory, const uint8_t *lines, const uint8_t *lists,
                         uint64_t list_bytes, size_t lists_room, uint64_t blocks);

/* This is where the search for a fingerprint begins. */
struct idxf_start {
    uint64_t block; /* all blocks before it have keys below the fingerprint; the number of blocks if all blocks have */
    uint64_t above; /* left-aligned; from the key of the previous block to the key of this one: see block.h */
};

/* Does what idxf_directory_find does, for a line with a list. */
bool idxf_list_find(const struct idxf_directory *directory, uint64_t fingerprint, struct idxf_start *start);

/* Finds where to begin the search for a permuted, left-aligned fingerprint and those above it. Returns false if the
 * directory is damaged. */
static inline bool idxf_directory_find(const struct idxf_directory *directory, uint64_t fingerprint,
                                       struct idxf_start *start) {
    struct idxf_place place = idxf_find_place(fingerprint, directory->line_count);
    const uint8_t *line = directory->lines + place.line * IDXF_LINE_BYTES;
    if (__builtin_expect(idxf_line_listed(line) != 0, 0)) return idxf_list_find(directory, fingerprint, start);
    idxf_uint128 cell = (idxf_uint128)place.part * IDXF_LINE_CELLS;
    start->block = idxf_line_first(line) + directory->rank(line, (unsigned)(cell >> 64));
    /* This is the beginning of the cell, or one less. */
    start->above = fingerprint - (uint64_t)((idxf_uint128)(uint64_t)cell * directory->cell_step >> 64);
    return start->block <= directory->blocks;
}

/* Finds the cell of a block's key, and sets start->above for it. Returns false if the directory is damaged. */
bool idxf_directory_locate(const struct idxf_directory *directory, uint64_t block, struct idxf_start *start);

/* Lists the functions that this processor can run to count the cells before `cell` that hold keys, the fastest last,
 * and returns their number. */
typedef unsigned (*idxf_rank)(const uint8_t *bytes, unsigned cell);
#define IDXF_MAX_RANKS 3
size_t idxf_line_ranks(idxf_rank ranks[IDXF_MAX_RANKS]);

#endif
