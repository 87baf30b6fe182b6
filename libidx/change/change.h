/* change.h: what compactions, merges and writers share. */
#ifndef IDX_LIBIDX_CHANGE_H
#define IDX_LIBIDX_CHANGE_H

#include <idx.h>
#include <pthread.h>
#include <stdatomic.h>

#include "libidx/base/base.h"
#include "libidx/building/building.h"
#include "libidx/view/index.h"

/* ---- Entries ---- */

/* Entries are fingerprints, with or without values, in arrays that grow. */

/* Zeroed, there are none. Either all entries have values, or `values` is NULL. */
struct idxi_entries {
    uint64_t *fingerprints, *values;
    size_t count, capacity;
};

/* ---- Combining ---- */

/* Combining writes one segment from several segments and from entries in memory. It merges what is already sorted,
 * table by table and map by map, and may leave out entries. */

struct idxi_source {
    struct idxi_segment *segment;
    /* What to leave out of its document map, of its map from IDs, and of its tables (fingerprints, no values). */
    struct idxi_entries documents, hashes, gone;
    /* With text IDs, the numbers of the documents that are left out, ascending, as `fingerprints` without values. */
    struct idxi_entries numbers;
    uint64_t offset; /* the number that the first document of the segment gets */
};

struct idxi_text_id {
    const void *bytes;
    size_t size;
    uint64_t number; /* of its document */
};

/* What to combine. The arrays are the caller's; purge.c makes them. */
struct idxi_combination {
    const struct idx_index *form; /* its bits, scheme and ID type are used, and the block size of its first segment */
    struct idxi_source *sources;
    size_t source_count;
    /* The documents in memory, with their final numbers or integer IDs for values; and hashes of their IDs, with
     * fingerprints for values. An entry may be there more than once. */
    struct idxi_entries added, added_hashes;
    struct idxi_text_id *added_ids; /* the text IDs of the documents in memory, by number */
    size_t added_id_count;
    uint64_t memory_bytes;
    unsigned threads;
    struct idxi_progress *progress;
    struct idxi_output *output;
    /* The result of combining. */
    uint64_t documents_bytes, table_bytes;
    struct idxi_by_id_made by_id;
};

/* Writes the segment, but does not sync its folder or publish. The maps of the sources must be ready. Errors: the
 * damaged-file group, and as writing. */
enum idx_status idxi_combine(struct idxi_combination *combination, struct idx_error *error);

/* ---- Purging ---- */

/* Purging finds what segments leave out when they are combined, and which pending documents are added. */

/* Sets the arrays of a combination, which are zeroed. They are to be freed also after an error.
 * They have, for each of `count` views in turn, the segments from `first` on, without what newer segments or records
 * removed, and then the pending documents. Documents are numbered in this order. Needs memory in proportion to what is
 * pending and what was removed. The views must outlive the combination. Errors: the damaged-file group, IDX_CANCELLED,
 * IDX_OUT_OF_MEMORY, IDX_IO_ERROR. */
enum idx_status idxi_purge_views(struct idx_index *const *views, size_t count, size_t first,
                                 struct idxi_combination *combination, struct idx_error *error);

/* Frees what idxi_purge_views made. A zeroed combination is fine. */
void idxi_purge_free(struct idxi_combination *combination);

/* ---- Removals that are kept ---- */

/* A compaction keeps the removals that concern segments older than those that it combines. */

/* Writes the file `removed` of a segment into its folder (a descriptor, and its path): what pending records and the
 * segments from `first` on remove from the segments before. Sets segment->removed to how many there are. Writes no file
 * if there are none. */
enum idx_status idxi_removals_write(const struct idx_index *index, size_t first, struct idxf_manifest_segment *segment,
                                    int folder, const char *folder_path, struct idx_error *error);

/* ---- Compaction ---- */

/* Compacts the index of a view as idx_compact does, and closes the view, whose pending records need not be read again.
 * If another compaction came first, there is nothing to do. */
enum idx_status idxi_compact(struct idx_index *index, const struct idx_compact_options *options,
                             struct idx_error *error);

/* ---- Compaction in the background ---- */

/* A writer runs a compaction in a thread of its own. */

/* Zeroed, no compaction is running. One thread at a time calls the functions below. */
struct idxi_background {
    bool begun;
    atomic_bool ended, cancelled;
    pthread_t thread;
    struct idx_index *index;
    unsigned max_segments;
    unsigned threads;              /* set by the caller */
    idx_progress_visitor progress; /* may be NULL; set by the caller, with its context */
    void *context;
    enum idx_status status; /* of the last compaction that has ended */
    struct idx_error error;
};

/* Begins to compact the index of a view, unless a compaction is running; shares the pending records with the view.
 * Called by the view's thread. idxi_background_end returns errors. */
void idxi_background_begin(struct idxi_background *background, const struct idx_index *index, unsigned max_segments);

/* Waits for the compaction to end, or with `cancel` makes it end soon, without effect. Returns its status, or if none
 * is running, the status of the last one, or why it could not begin. IDX_OK if there was none. */
enum idx_status idxi_background_end(struct idxi_background *background, bool cancel, struct idx_error *error);

/* ---- The locks of an open index ---- */

/* Locks the index of a view, and refreshes the view. If another index replaces it at the same time, locks that one. The
 * view must belong to the caller alone. Errors: as idxi_lock and idx_refresh. */
enum idx_status idxi_lock_index(int *lock, const char *name, struct idx_index **index, struct idx_error *error);

/* Returns whether a lock is that of the index of a view. It is not where another index has replaced that one. */
bool idxi_lock_belongs_to(int lock, const char *name, const struct idx_index *index);

#endif
