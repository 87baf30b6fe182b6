/* manifest.h: the manifest, a text that says what an index is and lists its segments (SPEC.md, chapter 3). */
#ifndef IDX_FORMAT_MANIFEST_H
#define IDX_FORMAT_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/fault.h"
#include "format/limits.h"
#include "format/table.h"

#define IDXF_UUID_TEXT_BYTES 36

enum idxf_id_type { IDXF_ID_TEXT = 0, IDXF_ID_U64 = 1, IDXF_ID_NONE = 2, IDXF_ID_TYPE_COUNT };

struct idxf_manifest_table {
    uint64_t mask;
    uint8_t radius;
};

struct idxf_manifest_segment {
    uint32_t number; /* 1 to 999999; its folder's name has six digits */
    uint8_t uuid[IDXF_UUID_BYTES];
    uint64_t fingerprints;
    uint64_t documents;
    uint64_t removed; /* documents of older segments, and fingerprints with all theirs */
};

struct idxf_manifest_log {
    bool exists;
    uint8_t id[IDXF_UUID_BYTES];
    uint64_t first; /* the sequence number before that of the log's first record */
    uint64_t last;  /* a sequence number: the log has all records up to it, and may have more */
};

struct idxf_manifest {
    uint8_t uuid[IDXF_UUID_BYTES];
    uint8_t bits;
    uint8_t k;
    enum idxf_id_type id_type;
    bool by_id;           /* there is a map from IDs, which IDXF_ID_NONE can't have */
    uint8_t sketch;       /* the index needs sets: so many members of each are fingerprints; 0: it has no sets */
    uint16_t resemblance; /* with sets: that which look-ups ask for by default, in ten-thousandths */
    char recipe[IDXF_MAX_RECIPE_BYTES + 1]; /* empty: not known */
    char scheme[IDXF_MAX_SCHEME_NAME_BYTES + 1];
    uint32_t table_count;
    struct idxf_manifest_table tables[IDXF_MAX_TABLES];
    uint64_t sequence; /* of the last record that is in the segments */
    struct idxf_manifest_log log;
    uint32_t segment_count;
    struct idxf_manifest_segment segments[IDXF_MAX_SEGMENTS]; /* the oldest first */
    uint64_t checksum;                  /* set by reading and by writing: differs between versions of an index */
    char need[IDXF_MAX_NEED_BYTES + 1]; /* set with IDXF_FAULT_NEEDS: the addition that the reader does not know */
};

/* Writes a valid manifest into `text`, of IDXF_MAX_MANIFEST_BYTES bytes, which suffice, without a terminator. Returns
 * its length in bytes. Sets manifest->checksum. */
size_t idxf_manifest_write(struct idxf_manifest *manifest, char *text);

/* Reads and checks a manifest of `size` bytes, which need no terminator. Whether the tables cover k is for the caller
 * to check. On a fault, nothing of *manifest may be used but what is listed here:
 * - *line is set to the line that has the fault, from 1; 0: the manifest as a whole.
 * - On IDXF_FAULT_VERSION, *version is set to the version found.
 * - On IDXF_FAULT_NEEDS, manifest->need is set to the addition to the format that is missing. */
enum idxf_fault idxf_manifest_read(struct idxf_manifest *manifest, const char *text, size_t size, unsigned *line,
                                   uint32_t *version);

/* Writes a uuid as text of IDXF_UUID_TEXT_BYTES characters and a NUL. */
void idxf_uuid_write(const uint8_t uuid[IDXF_UUID_BYTES], char text[IDXF_UUID_TEXT_BYTES + 1]);

#endif
