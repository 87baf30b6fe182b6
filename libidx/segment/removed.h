/* removed.h: a segment's file `removed`, loaded: which documents of older segments it removes (SPEC.md, chapter 11). */
#ifndef IDX_LIBIDX_REMOVED_H
#define IDX_LIBIDX_REMOVED_H

#include <idx.h>

#include "format/removed.h"

#define IDXI_REMOVED_NAME "removed"

/* What removals say about the documents of a fingerprint in older segments. */
enum idxi_removal {
    IDXI_REMOVED_NONE = 0, /* none was removed */
    IDXI_REMOVED_SOME = 1, /* some were removed individually; at least one is left */
    IDXI_REMOVED_ALL = 2,  /* all were removed */
};

/* The loaded file, or nothing where the segment has none. */
struct idxi_removed {
    struct idxf_record_rules rules;
    uint8_t *bytes; /* of the file; NULL for none */
    size_t size;
    size_t count;
    uint64_t *places; /* where in the bytes each removal begins */
};

/* Loads and checks the file of the segment whose folder is `folder` (a descriptor; its path is `folder_path`), unless
 * `segment`, the manifest's entry, counts no removals. `rules` are those of the index's records, and are copied. Call
 * idxi_removed_close even if this fails. Errors: the damaged-file group, IDX_NEW_VERSION,
 * IDX_OUT_OF_MEMORY, IDX_IO_ERROR, IDX_NO_ACCESS. */
enum idx_status idxi_removed_open(struct idxi_removed *removed, int folder, const char *folder_path,
                                  const struct idxf_record_rules *rules, const struct idxf_manifest_segment *segment,
                                  struct idx_error *error);

/* Frees all memory. Accepts a zeroed struct. */
void idxi_removed_close(struct idxi_removed *removed);

/* Returns removal `number`, from 0 to removed->count - 1 in the order of the file. Its ID stays valid until
 * idxi_removed_close. */
struct idxf_record idxi_get_removal(const struct idxi_removed *removed, size_t number);

/* Returns what the file says about the documents of a fingerprint in older segments. */
enum idxi_removal idxi_find_removal_kind(const struct idxi_removed *removed, uint64_t fingerprint);

/* Returns whether the file has a removal of this single document: a fingerprint and an ID of `id_size` bytes, as
 * records have it. It does not look for a removal of all documents of the fingerprint. */
bool idxi_removes_document(const struct idxi_removed *removed, uint64_t fingerprint, const void *id, size_t id_size);

#endif
