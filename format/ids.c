/* ids.c: encodes and decodes groups of text IDs (SPEC.md, chapter 8). */
#include "format/ids.h"

#include <stdbool.h>
#include <string.h>

#include "format/bytes.h"

/* A token is a byte. Its high half says how many bytes of the ID's own follow. Its low half is the length of the piece
 * behind them less PIECE_OFFSET, or 0 for none, at the ID's end. Behind a half of MAX_HALF, a varint to be added
 * follows. */
enum { MAX_HALF = 15, PIECE_OFFSET = 3, MIN_PIECE = 4, LONG_PIECE = MAX_HALF + PIECE_OFFSET };

/* ---- Encoding ---- */

#define MAX_TRIED 8 /* pieces that are compared with an ID's next bytes, at most */

/* Returns a hash of the first MIN_PIECE bytes of a piece (multiplicative hashing). */
static unsigned hash_piece(const uint8_t *bytes) {
    return idxf_load32(bytes) * 2654435761u >> (32 - IDXF_PIECE_HASH_BITS);
}

void idxf_pieces_init(struct idxf_pieces *pieces, const uint8_t *dictionary, size_t size) {
    pieces->dictionary = dictionary;
    pieces->size = size;
    memset(pieces->last, 0, sizeof pieces->last);
    for (size_t i = 0; i + MIN_PIECE <= size; i++) {
        uint16_t *last = &pieces->last[hash_piece(dictionary + i)];
        pieces->before[i] = *last;
        *last = (uint16_t)(i + 1);
    }
}

/* Returns how many bytes are equal at the beginning of both. */
static size_t count_shared_bytes(const uint8_t *a, size_t a_length, const uint8_t *b, size_t b_length) {
    size_t shared = 0, min_length = a_length < b_length ? a_length : b_length;
    while (shared < min_length && a[shared] == b[shared]) shared++;
    return shared;
}

/* Finds the longest piece that the bytes begin with, among the last MAX_TRIED with their hash, and sets *place to where
 * the dictionary has it. Returns its length, or 0 if there is none of MIN_PIECE bytes or more; then *place means
 * nothing. */
static size_t find_piece(const struct idxf_pieces *pieces, const uint8_t *bytes, size_t size, size_t *place) {
    size_t longest_length = 0;
    if (size < MIN_PIECE) return 0;
    size_t entry = pieces->last[hash_piece(bytes)]; /* a place plus 1, or 0 */
    for (int tried = 0; entry > 0 && tried < MAX_TRIED; tried++, entry = pieces->before[entry - 1]) {
        size_t shared = count_shared_bytes(pieces->dictionary + entry - 1, pieces->size - (entry - 1), bytes, size);
        if (shared <= longest_length) continue;
        longest_length = shared;
        *place = entry - 1;
    }
    return longest_length < MIN_PIECE ? 0 : longest_length;
}

/* Writes a token for `own_length` own bytes and a piece of `piece_length` bytes (0: none), and the varint of a long
 * `own_length`. That of a long piece follows the piece's place instead. Returns how many bytes it wrote. */
static size_t write_token(uint8_t *bytes, size_t own_length, size_t piece_length) {
    size_t low = piece_length == 0 ? 0 : piece_length - PIECE_OFFSET;
    bytes[0] = (uint8_t)((own_length < MAX_HALF ? own_length : MAX_HALF) << 4 | (low < MAX_HALF ? low : MAX_HALF));
    return own_length < MAX_HALF ? 1 : 1 + idxf_write_varint(bytes + 1, own_length - MAX_HALF);
}

/* Writes a token, own bytes, and a piece of `length` bytes (0: none) at `place` of the dictionary. Returns how many
 * bytes it wrote. */
static size_t write_own_and_piece(uint8_t *bytes, const uint8_t *own, size_t own_length, size_t place, size_t length) {
    size_t size = write_token(bytes, own_length, length);
    if (own_length > 0) memcpy(bytes + size, own, own_length);
    size += own_length;
    if (length == 0) return size;
    bytes[size++] = (uint8_t)(place & 255);
    bytes[size++] = (uint8_t)(place >> 8);
    return length < LONG_PIECE ? size : size + idxf_write_varint(bytes + size, length - LONG_PIECE);
}

void idxf_ids_write_count(uint8_t bytes[IDXF_IDS_HEADER_BYTES], size_t count) {
    bytes[0] = (uint8_t)(count & 255);
    bytes[1] = (uint8_t)(count >> 8);
}

size_t idxf_ids_encode_id(const struct idxf_pieces *pieces, const uint8_t *previous, size_t previous_length,
                          const uint8_t *id, size_t length, uint8_t *bytes) {
    size_t place = 0, shared = count_shared_bytes(previous, previous_length, id, length);
    if (find_piece(pieces, id, length, &place) > shared) shared = 0; /* a longer piece replaces these bytes */
    size_t size = idxf_write_varint(bytes, shared), own_begin = shared;
    for (size_t at = shared; at < length;) {
        size_t piece_length = find_piece(pieces, id + at, length - at, &place);
        if (piece_length > 0) {
            size += write_own_and_piece(bytes + size, id + own_begin, at - own_begin, place, piece_length);
            own_begin = at + piece_length;
        }
        at += piece_length > 0 ? piece_length : 1;
    }
    return size + write_own_and_piece(bytes + size, id + own_begin, length - own_begin, 0, 0);
}

size_t idxf_ids_write_plain_head(size_t length, uint8_t bytes[IDXF_PLAIN_BYTES]) {
    size_t size = idxf_write_varint(bytes, 0);
    return size + write_token(bytes + size, length, 0);
}

/* ---- Decoding ---- */

enum idxf_fault idxf_ids_open(struct idxf_ids *ids, const uint8_t *bytes, size_t size, const uint8_t *dictionary,
                              size_t dictionary_size) {
    if (size < IDXF_IDS_HEADER_BYTES) return IDXF_FAULT_SIZE;
    size_t count = (size_t)bytes[0] | (size_t)bytes[1] << 8;
    *ids = (struct idxf_ids){.at = bytes + IDXF_IDS_HEADER_BYTES,
                             .end = bytes + size,
                             .dictionary = dictionary,
                             .dictionary_size = dictionary_size,
                             .count = count,
                             .left = count};
    return count == 0 ? IDXF_FAULT_COUNT : IDXF_OK;
}

/* Returns how many bytes of the group are not read yet. */
static size_t count_bytes_left(const struct idxf_ids *ids) { return (size_t)(ids->end - ids->at); }

/* Reads a varint and adds it to *sum. Returns false if the group ends too early, or the number is 2^32 or more. */
static bool read_and_add_varint(struct idxf_ids *ids, size_t *sum) {
    uint64_t number = 0;
    for (unsigned shift = 0; ids->at < ids->end && shift < 35; shift += 7) {
        uint8_t byte = *ids->at++;
        number |= (uint64_t)(byte & 127) << shift;
        if (byte > 127) continue;
        *sum += (size_t)number;
        return number <= UINT32_MAX;
    }
    return false;
}

/* Appends own bytes to the ID: `length` of them, the high half of a token, plus a varint that follows MAX_HALF. Returns
 * false if the group does not have so many, or the ID gets too long. */
static bool append_own_bytes(struct idxf_ids *ids, size_t length, uint8_t *id) {
    if (length == MAX_HALF && !read_and_add_varint(ids, &length)) return false;
    if (length > count_bytes_left(ids) || length > IDXF_MAX_ID_BYTES - ids->length) return false;
    memcpy(id + ids->length, ids->at, length);
    ids->at += length;
    ids->length += length;
    return true;
}

/* Appends a piece of `length` bytes to the ID. A `length` of LONG_PIECE is followed by a varint to be added. Returns
 * false if the group ends too early, the dictionary does not have the piece, or the ID gets too long for pieces. */
static bool append_piece(struct idxf_ids *ids, size_t length, uint8_t *id) {
    if (count_bytes_left(ids) < 2) return false;
    size_t place = (size_t)ids->at[0] | (size_t)ids->at[1] << 8;
    ids->at += 2;
    if (length == LONG_PIECE && !read_and_add_varint(ids, &length)) return false;
    if (place > ids->dictionary_size || length > ids->dictionary_size - place) return false;
    if (ids->length > IDXF_MAX_PIECED_BYTES || length > IDXF_MAX_PIECED_BYTES - ids->length) return false;
    memcpy(id + ids->length, ids->dictionary + place, length);
    ids->length += length;
    return true;
}

enum idxf_fault idxf_ids_next(struct idxf_ids *ids, uint8_t *id) {
    size_t shared = 0;
    if (!read_and_add_varint(ids, &shared) || shared > ids->length) return IDXF_FAULT_OVERRUN;
    ids->length = shared;
    for (unsigned piece = 1; piece != 0;) { /* `piece`: the low half of the token */
        if (ids->at == ids->end) return IDXF_FAULT_OVERRUN;
        unsigned token = *ids->at++;
        piece = token & MAX_HALF;
        if (!append_own_bytes(ids, token >> 4, id) || (piece != 0 && !append_piece(ids, piece + PIECE_OFFSET, id)))
            return IDXF_FAULT_OVERRUN;
    }
    ids->left--;
    return ids->left > 0 || ids->at == ids->end ? IDXF_OK : IDXF_FAULT_SIZE;
}
