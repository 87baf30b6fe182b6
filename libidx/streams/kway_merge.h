/* kway_merge.h: a k-way merge makes one ascending stream, with each entry once, from several. */
#ifndef IDX_LIBIDX_KWAY_MERGE_H
#define IDX_LIBIDX_KWAY_MERGE_H

#include "libidx/streams/stream.h"

struct idxi_kway_merge;

/* Opens a merge of `count` ascending streams, which stay the caller's and must outlive it; the array `inputs` need not.
 * `with_values`: entries have values, and equal fingerprints are ordered by them; else the streams have fingerprints
 * alone. Takes about 32 KiB per input, twice that with values. Sets *result, which the caller closes; after an error it
 * is not set. Errors: IDX_OUT_OF_MEMORY. */
enum idx_status idxi_kway_merge_open(struct idxi_kway_merge **result, struct idxi_stream *const *inputs, size_t count,
                                     bool with_values, struct idx_error *error);

/* Returns the stream of all entries, each once, which ends with the merge. It fails as its inputs do. It can be rewound
 * if all its inputs can. */
struct idxi_stream *idxi_kway_merge_get_stream(struct idxi_kway_merge *merge);

/* Frees the merge, but not the streams that it reads. Accepts NULL. */
void idxi_kway_merge_close(struct idxi_kway_merge *merge);

#endif
