/* names.h: the names of the files of an index (SPEC.md, chapter 1). */
#ifndef IDX_LIBIDX_NAMES_H
#define IDX_LIBIDX_NAMES_H

#include <stddef.h>
#include <stdint.h>

#define IDXI_MANIFEST_NAME "manifest"
#define IDXI_LOG_NAME "pending.log"

/* Room for the names of a segment's folder and of a table's file. */
#define IDXI_NAME_BYTES 32

void idxi_segment_name(uint32_t number, char name[IDXI_NAME_BYTES]);
void idxi_table_name(size_t number, char name[IDXI_NAME_BYTES]);

#endif
