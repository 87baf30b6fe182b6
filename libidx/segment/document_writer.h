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
#define IDXI_MAX_WAITING 8192

/* The most bytes of IDs that wait until the dictionary is made of them. */
#define IDXI_MAX_SAMPLED_BYTES ((size_t)4 << 20)

struct idxi_map_writer {
    MDB_env *env;
    MDB_txn *txn;
    MDB_dbi docs, ids, meta;
    enum idxi_map_kind kind;
    enum idx_id_type id_type;
    char *path, *sums_path; /* of the map and its checksums */
    pid_t process;          /* the process that opened it */
    size_t batch_bytes;     /* an upper bound of the bytes written since the last commit */
    struct idxi_heaviest heaviest;
    uint64_t *fingerprints, *values; /* documents that wait for their group */
    size_t waiting_count;            /* how many do */
    struct idxi_id_packer *packer;   /* IDX_ID_TEXT only */
};

/* Creates the map's file in the folder at `folder_path`. `id_type` is that of the index, but IDX_ID_U64 for a map from
 * IDs. Call idxi_map_writer_close even if this fails. The errors of this function and those below are IDX_IO_ERROR,
 * IDX_DISK_FULL, IDX_NO_ACCESS, IDX_OUT_OF_MEMORY, IDX_BAD_CONTENT (LMDB refuses), and others of system calls. */
enum idx_status idxi_map_writer_open(struct idxi_map_writer *writer, enum idxi_map_kind kind, const char *folder_path,
                                     enum idx_id_type id_type, struct idx_error *error);

/* Fails with IDX_INVALID_ARGUMENT in any process but the one that opened the map. A forked process would write to its
 * parent's files. Functions that commit to the map check this themselves. */
enum idx_status idxi_map_writer_check_process(const struct idxi_map_writer *writer, struct idx_error *error);

/* Adds the ID of document `number`; it is copied, and has `length` bytes, at most IDXF_MAX_ID_BYTES. Numbers must come
 * as 0, 1, 2 and so on. For IDX_ID_TEXT only. */
enum idx_status idxi_map_writer_add_id(struct idxi_map_writer *writer, uint64_t number, const void *id, size_t length,
                                       struct idx_error *error);

/* Adds `count` documents: document i has fingerprints[i] and values[i], which is its ID for IDX_ID_U64, and otherwise
 * its number. Over all calls the pairs of both must ascend strictly. */
enum idx_status idxi_map_writer_add_documents(struct idxi_map_writer *writer, const uint64_t *fingerprints,
                                              const uint64_t *values, size_t count, struct idx_error *error);

/* Writes what was added and the meta data, with the uuid and the counts of `segment`. Syncs and closes the map, and
 * writes its file of checksums. `folder` is a descriptor of the map's folder. Sets *total_bytes to the size of both
 * files together. */
enum idx_status idxi_map_writer_finish(struct idxi_map_writer *writer, int folder,
                                       const struct idxf_manifest_segment *segment, uint64_t *total_bytes,
                                       struct idx_error *error);

/* Closes the map, finished or not, frees all memory, and zeroes *writer. Accepts a zeroed struct. */
void idxi_map_writer_close(struct idxi_map_writer *writer);

#endif
