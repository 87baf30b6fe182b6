/* combine.h: one segment made of several, and of entries in memory, table by table and map by map, by merging what is
 * in order already; some of them may be left out. */
#ifndef IDX_LIBIDX_COMBINE_H
#define IDX_LIBIDX_COMBINE_H

#include "libidx/build/output.h"
#include "libidx/view/index.h"

/* Entries, ascending. */
struct idxi_entries {
    uint64_t *fingerprints, *values;
    size_t count, capacity;
};

/* A segment that goes in. */
struct idxi_source {
    struct idxi_segment *segment;
    /* What is left out of its document map, of its map from IDs, and of its tables: fingerprints, no values. */
    struct idxi_entries documents, hashes, gone;
    /* Text IDs: the numbers of documents that are left out, ascending, and what its first one's becomes. */
    struct idxi_entries numbers; /* fingerprints: the numbers; no values */
    uint64_t offset;
};

struct idxi_text_id {
    const void *bytes;
    size_t size;
    uint64_t number; /* of its document */
};

/* What goes in. The arrays are the caller's; purge.h makes them. */
struct idxi_combination {
    const struct idx_index *form; /* whose bits, scheme, IDs, and first segment's block size it gets */
    struct idxi_source *sources;
    size_t source_count;
    /* Documents in memory: with their final numbers, or integer IDs; hashes of their IDs, with fingerprints. Entries
     * may come more than once. */
    struct idxi_entries added, added_hashes;
    struct idxi_text_id *added_ids; /* the documents' text IDs, by number */
    size_t added_id_count;
    uint64_t memory_bytes;
    unsigned threads;
    struct idxi_progress *progress;
    struct idxi_output *output;
    /* What came of it. */
    uint64_t documents_bytes, table_bytes;
    struct idxi_by_id_made by_id;
};

/* Writes the segment: all but syncing its folder, and publishing. The maps of the sources must be ready.
 * Errors: the damaged-file group, and as writing. */
enum idx_status idxi_combine(struct idxi_combination *combination, struct idx_error *error);

#endif
