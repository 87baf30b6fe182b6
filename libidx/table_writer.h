/* table_writer.h: writes one table file. */
#ifndef IDX_LIBIDX_TABLE_WRITER_H
#define IDX_LIBIDX_TABLE_WRITER_H

#include <idx.h>

#include "format/table.h"

/* Writes `count` strictly ascending permuted fingerprints as table file `name` of `folder`, synced. `header` gives
 * uuid, number, mask, radius, bits, codec and block size; the rest is filled in. `path` is for messages. */
enum idx_status idxi_table_write(int folder, const char *name, const char *path, struct idxf_table_header *header,
                                 const uint64_t *fingerprints, size_t count, uint64_t *file_size,
                                 struct idx_error *error);

#endif
