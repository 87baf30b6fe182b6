/* table_stream.h: the fingerprints of an open table as a stream, in the order of the table: permuted, left-aligned,
 * ascending. */
#ifndef IDX_LIBIDX_TABLE_STREAM_H
#define IDX_LIBIDX_TABLE_STREAM_H

#include "libidx/segment/table_reader.h"
#include "libidx/streams/stream.h"

struct idxi_table_stream {
    struct idxi_stream stream; /* without values */
    struct idxi_blocks blocks;
    size_t room;                       /* that decoding some blocks takes */
    uint64_t given;                    /* fingerprints so far */
    uint64_t dropped;                  /* how often mapped pages were let go */
    uint64_t chunk[IDXF_DECODED_ROOM]; /* decoded where a caller had no room for as many */
    size_t chunk_count, chunk_given;
};

/* The table stays the caller's, and open. Each page is checked before its first use, unless the table was opened
 * otherwise. A fault in a block (IDX_BAD_CHECKSUM, IDX_BAD_CONTENT) ends the stream, and so do fingerprints that don't
 * ascend, and a number of them that is not the header's. The stream drops mapped pages behind it, so it keeps at most a
 * few MiB of the table in memory. Any number of streams may read a table at a time. */
void idxi_table_stream_init(struct idxi_table_stream *stream, const struct idxi_table *table);

#endif
