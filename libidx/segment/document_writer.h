/* document_writer.h: writes a segment's docs.mdb and docs.sum, or its map from IDs (SPEC.md, chapter 8), with LMDB.
 * Readers do not need LMDB (libidx/segment/document_pages.h). */
#ifndef IDX_LIBIDX_DOCUMENT_WRITER_H
#define IDX_LIBIDX_DOCUMENT_WRITER_H

#include <lmdb.h>
#include <sys/types.h>

#include "libidx/segment/document_map.h"

/* The most bytes of a group, so that four nodes fill a page: 4096 bytes, less a header of 16, and for each node a
 * header of 8, its key, and 2 bytes for its place. */
#define IDXI_NODES_A_PAGE 4
#define IDXI_NODE_BYTES ((4096 - 16) / IDXI_NODES_A_PAGE - 2 - 8)
#define IDXI_GROUP_BYTES (IDXI_NODE_BYTES - IDXI_GROUP_KEY_BYTES)
#define IDXI_IDS_BYTES (IDXI_NODE_BYTES - IDXI_IDS_KEY_BYTES)

/* The most documents that wait until they are written in groups. */
#define IDXI_WAITING 8192

/* The most bytes of IDs that wait until the dictionary is made of them. */
#define IDXI_SAMPLED_BYTES ((size_t)4 << 20)

struct idxi_map_writer {
    MDB_env *env;
    MDB_txn *txn;
    MDB_dbi docs, ids, meta;
    enum idxi_map_kind kind;
    enum idx_id_type id_type;
    char *path, *sums_path; /* of the map and its checksums */
    pid_t process;          /* that opened it */
    size_t batch_bytes;     /* an upper bound of the bytes written since the last commit */
    struct idxi_heaviest heaviest;
    uint64_t *fingerprints, *values; /* documents that wait for their group */
    size_t waiting;
    struct idxi_id_packer *packer; /* IDX_ID_TEXT only */
};

/* Creates the map in a folder. `id_type` of a map from IDs is IDX_ID_U64. Call idxi_map_writer_close even if this
 * fails. */
enum idx_status idxi_map_writer_open(struct idxi_map_writer *writer, enum idxi_map_kind kind, const char *folder_path,
                                     enum idx_id_type id_type, struct idx_error *error);

/* Fails in a process that was forked since a builder opened the map: both would write to one temporary folder. All that
 * commits to the map checks this itself. */
enum idx_status idxi_map_writer_check_process(const struct idxi_map_writer *writer, struct idx_error *error);

/* Adds the ID of a document number, of `length` bytes, at most IDXF_MAX_ID_BYTES. Numbers must come as 0, 1, 2 and so
 * on. For IDX_ID_TEXT only. */
enum idx_status idxi_map_writer_add_id(struct idxi_map_writer *writer, uint64_t number, const void *id, size_t length,
                                       struct idx_error *error);

/* Adds documents: fingerprints, and values (their numbers, or their IDs for IDX_ID_U64). Over all calls the pairs must
 * ascend strictly. */
enum idx_status idxi_map_writer_add_documents(struct idxi_map_writer *writer, const uint64_t *fingerprints,
                                              const uint64_t *values, size_t count, struct idx_error *error);

/* Writes the meta data, with the uuid and the counts of `segment`, syncs and closes the map, and writes its checksums
 * into `folder`, the same folder. Sets *bytes to the size of both files. */
enum idx_status idxi_map_writer_finish(struct idxi_map_writer *writer, int folder,
                                       const struct idxf_manifest_segment *segment, uint64_t *bytes,
                                       struct idx_error *error);

/* Closes the map and frees all memory, whether it was finished or not. */
void idxi_map_writer_close(struct idxi_map_writer *writer);

#endif
