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

/* Writes the name of the folder of segment `number` to `name`: `000001` for 1. */
void idxi_format_segment_name(uint32_t number, char name[IDXI_NAME_BYTES]);

/* Writes the name of the file of table `number`, from 0, to `name`: `table-00.tbl` for 0. */
void idxi_format_table_name(size_t number, char name[IDXI_NAME_BYTES]);

/* Returns whether a segment's folder can have this name. */
bool idxi_is_segment_name(const char *name);

/* Returns whether a file in a segment's folder can have this name. */
bool idxi_is_segment_file_name(const char *name);

/* Returns whether a file beside the segments' folders, such as the manifest, the log or a lock, can have this name. */
bool idxi_is_index_file_name(const char *name);

/* ---- The manifest ---- */

/* Reads and checks the manifest in the folder of an index. `folder` is a descriptor of it, and `folder_path` its path.
 * The caller checks whether the tables cover k. Sets *file to the manifest's descriptor, which the caller closes;
 * `file` may be NULL. After an error *file is unchanged. Errors: IDX_NOT_AN_INDEX, IDX_NEW_VERSION, the damaged-file
 * group, IDX_OUT_OF_MEMORY, IDX_IO_ERROR, IDX_NO_ACCESS. */
enum idx_status idxi_manifest_load(struct idxf_manifest *manifest, int folder, const char *folder_path, int *file,
                                   struct idx_error *error);

/* Writes the manifest of a new index, which must not exist yet, and syncs it and then the folder. Sets
 * manifest->checksum. Errors: IDX_EXISTS, IDX_OUT_OF_MEMORY, IDX_IO_ERROR, IDX_DISK_FULL, IDX_NO_ACCESS. */
enum idx_status idxi_manifest_create(int folder, const char *folder_path, struct idxf_manifest *manifest,
                                     struct idx_error *error);

/* Changes a manifest that was just read. It can't fail; `context` is what idxi_manifest_switch was called with. */
typedef void idxi_manifest_change(void *context, struct idxf_manifest *manifest);

/* Reads the manifest of an index, calls `change` with it, and replaces the old one by rename. Holds the lock of the
 * manifest from reading to renaming, since a writer and a compaction may both change it. All files that the new
 * manifest names must be on disk. Sets *switched to whether the new manifest is in place, which is also true if only
 * the sync of the folder fails. Errors: those of idxi_manifest_load, of idxi_lock, and IDX_DISK_FULL. */
enum idx_status idxi_manifest_switch(int folder, const char *folder_path, idxi_manifest_change *change, void *context,
                                     bool *switched, struct idx_error *error);

#endif
