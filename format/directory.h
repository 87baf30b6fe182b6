/* directory.h: the directory of a table, which leads from a permuted fingerprint to the block to begin with (SPEC.md,
 * chapter 5): lines of one cache line each, with a cell for each part of the values, set where a block's key falls. */
#ifndef IDX_FORMAT_DIRECTORY_H
#define IDX_FORMAT_DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/bytes.h"
#include "format/limits.h"

/* The lines that a directory of so many blocks has. */
static inline uint64_t idxf_directory_lines(uint64_t blocks) {
    return (blocks + IDXF_LINE_BLOCKS - 1) / IDXF_LINE_BLOCKS;
}

/* Where a permuted, left-aligned fingerprint falls. */
struct idxf_cell {
    uint64_t line;
    unsigned cell; /* in the line */
};

__extension__ typedef unsigned __int128 idxf_uint128;

static inline struct idxf_cell idxf_find_cell(uint64_t fingerprint, uint64_t lines) {
    idxf_uint128 place = (idxf_uint128)fingerprint * lines;
    return (struct idxf_cell){(uint64_t)(place >> 64),
                              (unsigned)((idxf_uint128)(uint64_t)place * IDXF_LINE_CELLS >> 64)};
}

/* ---- Writing ---- */

#define IDXF_LINE_WORDS (IDXF_LINE_CELLS / 64)

/* A directory being made, line by line, from ascending keys as they come. */
struct idxf_directory_writer {
    uint64_t lines, line;  /* all; and the one at hand, `lines` after the last */
    uint64_t first, count; /* keys before this line, and in it */
    bool is_crowded;
    uint64_t words[IDXF_LINE_WORDS];
};

void idxf_directory_begin(struct idxf_directory_writer *writer, uint64_t lines);

/* Adds a key to the line at hand. False where it falls into a later one: take this line first. */
bool idxf_directory_add(struct idxf_directory_writer *writer, uint64_t key);

/* Gives the line at hand, and goes to the next one. */
void idxf_directory_take(struct idxf_directory_writer *writer, uint8_t bytes[IDXF_LINE_BYTES]);

/* ---- Reading ---- */

static inline uint32_t idxf_line_first(const uint8_t *bytes) { return idxf_load32(bytes); }

/* 0, or the keys of a line that has two in a cell. */
static inline uint32_t idxf_line_crowded(const uint8_t *bytes) { return idxf_load32(bytes + 4); }

/* The cells before `cell` that hold keys. */
typedef unsigned (*idxf_rank)(const uint8_t *bytes, unsigned cell);

/* The ways that this processor has to count them, the fastest last; returns their number. */
#define IDXF_MAX_RANKS 3
size_t idxf_line_ranks(idxf_rank ranks[IDXF_MAX_RANKS]);

#endif
