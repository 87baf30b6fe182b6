/* manifest_file.h: the names of the files of an index (SPEC.md, chapter 2), and its file `manifest`: read, written, and
 * changed. */
#ifndef IDX_LIBIDX_MANIFEST_FILE_H
#define IDX_LIBIDX_MANIFEST_FILE_H

#include <idx.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/manifest.h"

#define IDXI_MANIFEST_NAME "manifest"
#define IDXI_LOG_NAME "pending.log"

/* The names of files that are to take the place of these, until they are renamed. */
#define IDXI_NEW_MANIFEST_NAME "manifest.new"
#define IDXI_NEW_LOG_NAME "pending.log.new"

/* The manifest of each format version begins with this. */
#define IDXI_MANIFEST_BEGIN "idx-index "

/* Enough bytes for the name of the folder of a segment, or of the file of a table. */
#define IDXI_NAME_BYTES 32

/* Writes the name of the folder of segment `number` to `name`. */
void idxi_format_segment_name(uint32_t number, char name[IDXI_NAME_BYTES]);

/* Writes the name of the file of table `number`, from 0, to `name`. */
void idxi_format_table_name(size_t number, char name[IDXI_NAME_BYTES]);

/* Return whether a name is that of the folder of a segment, of a file in such a folder, or of a file in the folder of
 * an index. */
bool idxi_is_segment_name(const char *name);
bool idxi_is_segment_file_name(const char *name);
bool idxi_is_index_file_name(const char *name);

/* ---- The manifest ---- */

/* Reads and checks the manifest in the folder of an index (a descriptor, and its path); whether its tables cover its k
 * is for the caller to check. `file` may be NULL; else it is set to the manifest's descriptor, which the caller closes.
 * Errors: IDX_NOT_AN_INDEX, IDX_NEW_VERSION, the damaged-file group, IDX_OUT_OF_MEMORY, IDX_IO_ERROR, IDX_NO_ACCESS. */
enum idx_status idxi_manifest_load(struct idxf_manifest *manifest, int folder, const char *folder_path, int *file,
                                   struct idx_error *error);

/* Writes and syncs a new index's manifest, and the folder. */
enum idx_status idxi_manifest_create(int folder, const char *folder_path, struct idxf_manifest *manifest,
                                     struct idx_error *error);

/* Changes a manifest that was just read. */
typedef void idxi_manifest_change(void *context, struct idxf_manifest *manifest);

/* Reads the manifest of an index, changes it by `change`, and replaces it by rename. The lock of the manifest is held
 * from reading to renaming, since a writer and a compaction may both change it. All files that the new manifest names
 * must be on disk. Sets *switched to whether the new manifest is in place, also if only syncing the folder fails. */
enum idx_status idxi_manifest_switch(int folder, const char *folder_path, idxi_manifest_change *change, void *context,
                                     bool *switched, struct idx_error *error);

#endif
