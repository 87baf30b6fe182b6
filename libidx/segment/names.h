/* names.h: the names of the files of an index (SPEC.md, chapter 2). */
#ifndef IDX_LIBIDX_NAMES_H
#define IDX_LIBIDX_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IDXI_MANIFEST_NAME "manifest"
#define IDXI_LOG_NAME "pending.log"

/* What takes the place of either, before it is renamed. */
#define IDXI_NEW_MANIFEST_NAME "manifest.new"
#define IDXI_NEW_LOG_NAME "pending.log.new"

/* What the manifest of any version begins with. */
#define IDXI_MANIFEST_BEGIN "idx-index "

/* Room for the names of a segment's folder and of a table's file. */
#define IDXI_NAME_BYTES 32

void idxi_segment_name(uint32_t number, char name[IDXI_NAME_BYTES]);
void idxi_table_name(size_t number, char name[IDXI_NAME_BYTES]);

/* Whether a name is that of a segment's folder, of a file in such a folder, or of a file in an index's folder. */
bool idxi_is_segment_name(const char *name);
bool idxi_is_segment_file_name(const char *name);
bool idxi_is_index_file_name(const char *name);

#endif
