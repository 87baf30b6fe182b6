/* map_cursor.h: goes through the documents of one fingerprint in one document map, by ascending value. */
#ifndef IDX_LIBIDX_MAP_CURSOR_H
#define IDX_LIBIDX_MAP_CURSOR_H

#include "libidx/segment/document_map.h"

/* Zeroed, but for `map`, which must be ready. */
struct idxi_map_cursor {
    const struct idxi_map *map;
    struct idxi_page_cursor at; /* the group of the next document */
    struct idxf_group group;
    uint64_t sought; /* the fingerprint that was sought last, whose first group is the one below */
    bool decoded;    /* what follows is of `group` */
    uint64_t fingerprints[IDXF_MAX_GROUP_ENTRIES];
    size_t next;     /* the next document's place in the group */
    uint64_t left;   /* documents still to come */
    uint64_t value;  /* of the next one, where one is left */
    uint64_t offset; /* the caller's: documents of the segments before */
};

/* Goes to a fingerprint's first document, and counts them all. Fastest where fingerprints ascend. Errors:
 * IDX_BAD_CHECKSUM, IDX_BAD_CONTENT. */
enum idx_status idxi_map_cursor_find(struct idxi_map_cursor *cursor, uint64_t fingerprint, struct idx_error *error);

/* Goes on to the next document, where one is left; none is left after an error. Errors: as above. */
enum idx_status idxi_map_cursor_next(struct idxi_map_cursor *cursor, struct idx_error *error);

#endif
