/* live.h: which fingerprints and documents were not removed, in segments and pending. Code that reads segments must use
 * this: they still have what was removed later. Any thread may call these functions. */
#ifndef IDX_LIBIDX_LIVE_H
#define IDX_LIBIDX_LIVE_H

#include "libidx/streams/stream.h"
#include "libidx/view/index.h"

/* ---- Segments ---- */

/* Does what idxi_get_first_live_segment does, but searches the removals even if index->removes is false. */
size_t idxi_find_first_live_segment(const struct idx_index *index, uint64_t fingerprint);

/* Returns the number of the first segment from which the fingerprint was not removed as a whole, whether or not the
 * segment has it: the number of segments if it was removed from all. It was not removed from later segments either. */
static inline size_t idxi_get_first_live_segment(const struct idx_index *index, uint64_t fingerprint) {
    return index->removes ? idxi_find_first_live_segment(index, fingerprint) : 0;
}

/* Sets *held to whether a segment with a number below `end_segment` holds the fingerprint, which was not removed from
 * there as a whole. Errors: IDX_BAD_CHECKSUM, IDX_BAD_CONTENT. */
enum idx_status idxi_is_held_before(const struct idx_index *index, size_t end_segment, uint64_t fingerprint, bool *held,
                                    struct idx_error *error);

/* Sets *live to false if the fingerprint was removed from all segments that hold it, and to true otherwise. At least
 * one segment must hold it. Errors: as idxi_is_held_before. */
static inline enum idx_status idxi_is_fingerprint_live(const struct idx_index *index, uint64_t fingerprint, bool *live,
                                                       struct idx_error *error) {
    *live = idxi_get_first_live_segment(index, fingerprint) == 0;
    return *live ? IDX_OK : idxi_is_held_before(index, index->open_segments, fingerprint, live, error);
}

/* Sets *repeated to whether a visit of all segments has to skip a fingerprint in this one: it was removed from the
 * segment, or an earlier segment has it as well. `segment` may be the number of segments, which stands for the pending
 * records. Errors: as idxi_is_held_before. */
static inline enum idx_status idxi_is_fingerprint_repeated(const struct idx_index *index, size_t segment,
                                                           uint64_t fingerprint, bool *repeated,
                                                           struct idx_error *error) {
    *repeated = idxi_get_first_live_segment(index, fingerprint) > segment;
    return *repeated ? IDX_OK : idxi_is_held_before(index, segment, fingerprint, repeated, error);
}

/* Returns whether pending records or segments remove single documents of a fingerprint, by their IDs. */
bool idxi_has_single_removals(const struct idx_index *index, uint64_t fingerprint);

/* Returns whether pending records or newer segments remove a document of a segment by its ID. The segment must not be
 * before the first live one of the fingerprint. Integer IDs are 8 bytes, little-endian. */
bool idxi_is_document_removed(const struct idx_index *index, size_t segment, uint64_t fingerprint, const void *id,
                              size_t id_size);

/* Returns whether a document of a segment was removed neither by its ID nor with its whole fingerprint. Integer IDs are
 * 8 bytes, little-endian. */
static inline bool idxi_is_document_live(const struct idx_index *index, size_t segment, uint64_t fingerprint,
                                         const void *id, size_t id_size) {
    return !index->removes || (segment >= idxi_find_first_live_segment(index, fingerprint) &&
                               !idxi_is_document_removed(index, segment, fingerprint, id, id_size));
}

/* Returns whether a set of a segment, in an index with integer IDs, belongs to a text that was not removed. That is so
 * if the document of its ID and its smallest member was not removed. */
bool idxi_is_set_live(const struct idx_index *index, size_t segment, const struct idxf_set *set);

/* ---- Pending ---- */

/* Lists the fingerprints that have a pending document and that no segment holds, ascending, each once: *count of them
 * in *fingerprints, which the caller frees. After an error, both are as before. Errors: IDX_OUT_OF_MEMORY,
 * IDX_BAD_CHECKSUM, IDX_BAD_CONTENT. */
enum idx_status idxi_list_pending_fingerprints(const struct idx_index *index, uint64_t **fingerprints, size_t *count,
                                               struct idx_error *error);

/* ---- Documents ---- */

/* Ascending streams of the fingerprints of documents, and their values: of a segment, and of the pending documents. A
 * value is an integer ID, or the number of a text document, counted through all segments and then through the pending
 * records. */

struct idxi_live_documents {
    struct idxi_stream stream; /* its `values` must not be NULL */
    const struct idx_index *index;
    size_t segment;
    struct idxi_map_stream map;
    struct idx_documents *texts; /* for the IDs of fingerprints that had single documents removed */
};

/* Makes documents->stream the stream of the documents of segment number `segment` that were not removed. Its document
 * map must be ready (idxi_map_prepare). The first text document of the segment has the value `offset`; integer IDs
 * ignore it. Call idxi_live_documents_close even after an error of reading. */
void idxi_live_documents_init(struct idxi_live_documents *documents, const struct idx_index *index, size_t segment,
                              uint64_t offset);

/* Frees what reading the stream has allocated. */
void idxi_live_documents_close(struct idxi_live_documents *documents);

/* The pending documents as a stream, `array`. */
struct idxi_pending_entries {
    struct idxi_array_stream array;
    const struct idx_index *index;
    uint64_t offset; /* of texts' numbers */
    uint64_t *fingerprints, *values;
    size_t count;
};

/* Lists the pending documents in entries->array, sorted by fingerprint and then by value, each once. The first pending
 * record has the value `offset` if the index has text IDs. With IDX_ID_NONE, lists the pending fingerprints that no
 * segment holds, each as its own value. Needs 32 bytes of memory for each document. Call idxi_pending_entries_close
 * even after an error. Errors: IDX_OUT_OF_MEMORY, IDX_BAD_CHECKSUM, IDX_BAD_CONTENT. */
enum idx_status idxi_pending_entries_open(struct idxi_pending_entries *entries, const struct idx_index *index,
                                          uint64_t offset, struct idx_error *error);

/* Frees the arrays of the entries. */
void idxi_pending_entries_close(struct idxi_pending_entries *entries);

#endif
