/* combine.h: writes one segment from several segments and from entries in memory. It merges what is already sorted,
 * table by table and map by map, and may leave out entries. */
#ifndef IDX_LIBIDX_COMBINE_H
#define IDX_LIBIDX_COMBINE_H

#include "libidx/building/segment_output.h"
#include "libidx/view/index.h"

/* Fingerprints, with values unless `values` is NULL, in arrays that grow. Zeroed, there are none. */
struct idxi_entries {
    uint64_t *fingerprints, *values;
    size_t count, capacity;
};

/* A segment whose contents, without what is left out, become part of the new one. */
struct idxi_source {
    struct idxi_segment *segment;
    const struct idx_index *index; /* that has the segment, as number `segment_number` */
    size_t segment_number;
    /* What to leave out of its document map, of its map from IDs, and of its tables (there without values), each in
     * ascending order. */
    struct idxi_entries left_out_documents, left_out_hashes, left_out_fingerprints;
    /* With text IDs, the numbers of the documents that are left out, ascending, each once, as `fingerprints` without
     * values. */
    struct idxi_entries left_out_numbers;
    uint64_t offset; /* the number that the first document of the segment gets */
};

/* The text ID of a document in memory. */
struct idxi_text_id {
    const void *bytes;
    size_t size;
    uint64_t number; /* of its document */
};

/* What to combine. The arrays are the caller's; purge.c makes them. */
struct idxi_combination {
    /* The new segment gets the bits, scheme and ID type of this index, and the block size of its first segment. */
    const struct idx_index *model;
    struct idxi_source *sources;
    size_t source_count;
    /* The documents in memory, with their final numbers or integer IDs for values; and hashes of their IDs, with
     * fingerprints for values. An entry may be there more than once. */
    struct idxi_entries added, added_hashes;
    struct idxi_text_id *added_ids; /* the text IDs of the documents in memory, by number */
    size_t added_id_count;
    struct idxf_set *added_sets; /* of the texts in memory, by key */
    size_t added_set_count, added_set_capacity;
    uint64_t memory_bytes;
    unsigned threads;
    struct idxi_progress *progress;
    struct idxi_output *output;
    /* The result of combining. */
    uint64_t documents_bytes, table_bytes, sets_bytes;
    struct idxi_by_id_result by_id;
};

/* Writes the segment to combination->output, and sets the results of the combination, which are unspecified after an
 * error. Does not sync the folder of the segment, and does not publish it. The maps of the sources must be ready
 * (idxi_map_prepare). Errors: the damaged-file group, IDX_CANCELLED, IDX_OUT_OF_MEMORY, IDX_DISK_FULL, IDX_IO_ERROR. */
enum idx_status idxi_combine_segments(struct idxi_combination *combination, struct idx_error *error);

#endif
