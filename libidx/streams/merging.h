/* merging.h: one ascending stream of several, each entry once. */
#ifndef IDX_LIBIDX_MERGING_H
#define IDX_LIBIDX_MERGING_H

#include "libidx/streams/stream.h"

struct idxi_merging;

/* Makes a stream of what `count` streams give, which stay the caller's and must outlive it. `with_values`: whether
 * entries have values, by which equal fingerprints are ordered then. Equal entries are given once. Takes about 16 KiB a
 * stream, twice that with values. The caller frees *merging. Errors: IDX_OUT_OF_MEMORY. */
enum idx_status idxi_merging_open(struct idxi_merging **merging, struct idxi_stream *const *inputs, size_t count,
                                  bool with_values, struct idx_error *error);

struct idxi_stream *idxi_merging_stream(struct idxi_merging *merging);

/* NULL is accepted. */
void idxi_merging_close(struct idxi_merging *merging);

#endif
