/* limits.h: every number that SPEC.md, chapter 2, fixes, once. A test compares it with SPEC.md and with idx.h. */
#ifndef IDX_FORMAT_LIMITS_H
#define IDX_FORMAT_LIMITS_H

#define IDXF_VERSION 0 /* the one format version that this code reads and writes */

#define IDXF_MAX_BITS 64
#define IDXF_MAX_K 16
#define IDXF_MAX_RADIUS 3
#define IDXF_MAX_TABLES 256
#define IDXF_MAX_SEGMENTS 1024
#define IDXF_MAX_SCHEME_NAME_BYTES 63
#define IDXF_MAX_RECIPE_BYTES 255
#define IDXF_MAX_MANIFEST_BYTES 262144

#define IDXF_PAGE_SIZE 4096
#define IDXF_MIN_BLOCK_SIZE 64
#define IDXF_MAX_BLOCK_SIZE 4096
#define IDXF_BLOCK_HEADER_BYTES 10
#define IDXF_MAX_BLOCKS 4294967295
#define IDXF_LINE_BYTES 64
#define IDXF_LINE_CELLS 448
#define IDXF_LINE_BLOCKS 56
#define IDXF_MAX_DELTA_FINGERPRINTS 1023
#define IDXF_MAX_LOW_BITS 56
#define IDXF_MAX_CODE_LENGTH 11
#define IDXF_GROUP_HEADER_BYTES 9
#define IDXF_MAX_GROUP_BYTES 4096
#define IDXF_MAX_IDS 65535
#define IDXF_MAX_ID_BYTES 4294967294

#endif
