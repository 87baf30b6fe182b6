/* ids.h: groups of text IDs, of consecutive document numbers (SPEC.md, chapter 8). Each ID is stored as the number of
 * bytes that it shares with the ID before, then bytes of its own and pieces of the map's dictionary. */
#ifndef IDX_FORMAT_IDS_H
#define IDX_FORMAT_IDS_H

#include <stddef.h>
#include <stdint.h>

#include "format/fault.h"
#include "format/limits.h"

/* The bytes before the first ID, which have the number of IDs. */
#define IDXF_IDS_HEADER_BYTES 2

/* Returns how many bytes of a group an ID of `length` bytes takes at most: its own bytes, fewer than 12 for two
 * numbers and a token, and length / 64 more. A piece may take more bytes than it replaces, but only behind 64 or
 * more own ones. */
static inline size_t idxf_ids_get_max_bytes(size_t length) { return length + length / 64 + 12; }

/* ---- Encoding ---- */

/* A hash table that finds pieces in a dictionary by the hash of their first bytes: `last` has the last place with each
 * hash, and `before` for each place the one before it with the same hash. Places are stored plus 1; 0 is none. */
#define IDXF_PIECE_HASH_BITS 15
struct idxf_pieces {
    const uint8_t *dictionary; /* stays the caller's */
    size_t size;
    uint16_t last[1u << IDXF_PIECE_HASH_BITS], before[IDXF_MAX_DICTIONARY_BYTES];
};

/* Makes the hash table of a dictionary of `size` (up to IDXF_MAX_DICTIONARY_BYTES) bytes, which must outlive it. */
void idxf_pieces_init(struct idxf_pieces *pieces, const uint8_t *dictionary, size_t size);

/* Writes the header of a group of `count` IDs (1 to IDXF_MAX_IDS). */
void idxf_ids_write_count(uint8_t bytes[IDXF_IDS_HEADER_BYTES], size_t count);

/* Encodes an ID of up to IDXF_MAX_PIECED_BYTES bytes that follows the ID `previous` (empty for the first ID of its
 * group). Writes up to idxf_ids_get_max_bytes bytes, and returns how many. */
size_t idxf_ids_encode_id(const struct idxf_pieces *pieces, const uint8_t *previous, size_t previous_length,
                          const uint8_t *id, size_t length, uint8_t *bytes);

/* Writes the bytes that precede an ID of any `length` that is the first of its group and is stored without pieces of
 * the dictionary. The caller writes the ID itself behind them. Returns how many bytes it wrote. */
#define IDXF_PLAIN_BYTES 7
size_t idxf_ids_write_plain_head(size_t length, uint8_t bytes[IDXF_PLAIN_BYTES]);

/* ---- Decoding ---- */

struct idxf_ids {
    const uint8_t *at, *end, *dictionary; /* `at`: the next byte of the group */
    size_t dictionary_size;
    size_t count;  /* of the group's IDs */
    size_t left;   /* IDs not decoded yet */
    size_t length; /* of the ID that was decoded last, bytes */
};

/* Begins decoding a group of `size` bytes, whatever they are, with the dictionary of its map, of `dictionary_size`
 * bytes. Both stay the caller's. Returns IDXF_FAULT_SIZE if the group has no header, and IDXF_FAULT_COUNT if it has no
 * IDs. */
enum idxf_fault idxf_ids_open(struct idxf_ids *ids, const uint8_t *bytes, size_t size, const uint8_t *dictionary,
                              size_t dictionary_size);

/* Returns how many bytes the `id` of idxf_ids_next needs for a group of `size` bytes. */
static inline size_t idxf_ids_get_buffer_bytes(size_t size) { return size + IDXF_MAX_PIECED_BYTES; }

/* Decodes the next ID into `id`, of idxf_ids_get_buffer_bytes bytes, and sets ids->length. ids->left must not be 0.
 * Between calls `id` must keep the previous ID. Returns IDXF_FAULT_OVERRUN for a malformed ID, and IDXF_FAULT_SIZE if
 * bytes are left behind the last ID. After a fault nothing more can be decoded. */
enum idxf_fault idxf_ids_next(struct idxf_ids *ids, uint8_t *id);

#endif
