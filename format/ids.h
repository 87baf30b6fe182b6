/* ids.h: groups of text IDs, those of documents numbered one after the other (SPEC.md, chapter 8). Each ID stands as
 * the bytes that it does not share with the one before. */
#ifndef IDX_FORMAT_IDS_H
#define IDX_FORMAT_IDS_H

#include <stddef.h>
#include <stdint.h>

#include "format/fault.h"
#include "format/limits.h"

/* Before the first ID: their number. */
#define IDXF_IDS_HEADER_BYTES 2

/* The bytes that an ID takes besides those of its own, at most. */
#define IDXF_ID_HEADER_BYTES 10

/* ---- Encoding ---- */

/* Writes the header of a group of `count` IDs (1 to IDXF_MAX_IDS). */
void idxf_ids_put_count(uint8_t bytes[IDXF_IDS_HEADER_BYTES], size_t count);

/* How many bytes an ID shares with the one before, from the first on. */
size_t idxf_ids_shared(const uint8_t *before, size_t before_length, const uint8_t *id, size_t length);

/* Writes what stands in front of an ID's own bytes: how many it shares with the one before (0 for a group's first), and
 * how many it has besides, `rest`. Their sum is up to IDXF_MAX_ID_BYTES. Returns the bytes written. */
size_t idxf_ids_put_start(uint8_t bytes[IDXF_ID_HEADER_BYTES], size_t shared, size_t rest);

/* ---- Decoding ---- */

/* A group being decoded. */
struct idxf_ids {
    const uint8_t *at, *end;
    size_t count;
    size_t left;   /* of its IDs, still to come */
    size_t length; /* of the ID given last, bytes */
};

/* Begins with a group of `size` bytes, whatever they are. */
enum idxf_fault idxf_ids_open(struct idxf_ids *ids, const uint8_t *bytes, size_t size);

/* Decodes the next ID, of those left, into `id`, which holds the one before and has room for as many bytes as the group
 * has; sets ids->length. After the last one, nothing may be left. */
enum idxf_fault idxf_ids_next(struct idxf_ids *ids, uint8_t *id);

#endif
