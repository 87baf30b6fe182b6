/* forge.h: changes to the files of an index whose checksums agree again afterwards. */
#ifndef IDX_TESTS_LIBIDX_FORGE_H
#define IDX_TESTS_LIBIDX_FORGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/limits.h"

/* Overwrites bytes of a file, and no more. */
void change_bytes(const char *path, size_t offset, const void *bytes, size_t length);

/* Cuts a file, or lengthens it with zeros. */
void change_size(const char *path, size_t size);

/* Makes the checksums of a table file right: of its pages and its header. */
void seal_table(const char *path);

/* Overwrites bytes of a table file and seals it. */
void forge_table(const char *path, size_t offset, const void *bytes, size_t length);

/* Makes the checksums of the bytes of a log right: of its header, its frames, and its slots, whose ends of frames are
 * found by the sizes that the frames say, or where these can't be, by those of `whole`, the log before it was changed.
 * Returns where the frames end. */
size_t seal_log(uint8_t *bytes, const uint8_t *whole, size_t size);

/* A chain of a block, right or wrong: differences, from its last fingerprint downwards, 0 for one that ends it; and
 * what the list of chains says of it, where it is not the highest. */
struct forged_chain {
    const uint64_t *differences;
    size_t count;
    uint64_t offset;
    int moved; /* bits by which its place is said to be behind where it is */
};

struct forged_block {
    uint64_t key;
    bool is_short;  /* the anchor has its low bits alone */
    unsigned count; /* of chains, the highest first; 0 for one without differences */
    struct forged_chain chains[IDXF_MAX_CHAINS];
};

/* Writes block number `number` of a table file anew, and seals it. All must fit. */
void forge_block(const char *path, uint64_t number, const struct forged_block *block);

/* Sets bits of a file, 0 before, and no more; `at` is counted from its beginning. */
void set_bits(const char *path, uint64_t at, uint64_t bits, unsigned length);

/* Writes the docs.sum of a segment's folder for the docs.mdb that is there, and for the segment of that uuid. */
void forge_sums(const char *segment, const uint8_t *uuid);

/* The same of by-id.sum and by-id.mdb. */
void forge_sums_by_id(const char *segment, const uint8_t *uuid);

/* The uuid of the segment that a table file belongs to. */
void read_segment_uuid(const char *table, uint8_t uuid[16]);

/* Writes a manifest of these lines (each with its line end) and their checksum's line. */
void forge_manifest(const char *path, const char *lines);

#endif
