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

/* ---- The manifest ---- */

/* Reads and checks the manifest in the folder of an index (a descriptor, and its path); whether its tables cover its k
 * is for the caller to check. `file` may be NULL; else it is set to the manifest's descriptor, which the caller closes.
 * Errors: IDX_NOT_AN_INDEX, IDX_NEW_VERSION, the damaged-file group, IDX_OUT_OF_MEMORY, IDX_IO_ERROR, IDX_NO_ACCESS. */
enum idx_status idxi_manifest_load(struct idxf_manifest *manifest, int folder, const char *folder_path, int *file,
                                   struct idx_error *error);

/* Writes and syncs a new index's manifest, and the folder. */
enum idx_status idxi_manifest_create(int folder, const char *folder_path, struct idxf_manifest *manifest,
                                     struct idx_error *error);

/* What is to be changed. */
typedef void idxi_manifest_change(void *context, struct idxf_manifest *manifest);

/* Puts a changed manifest in the place of the one that stands, which stays so meanwhile: the writer and a compaction
 * may both come to change it, each what is its own. All that the folder has is on disk before. *switched is set once
 * the new one is there, also where syncing that fails. */
enum idx_status idxi_manifest_switch(int folder, const char *folder_path, idxi_manifest_change *change, void *context,
                                     bool *switched, struct idx_error *error);

#endif
