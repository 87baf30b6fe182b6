/* document_map.h: a segment's docs.mdb and docs.sum, from fingerprints to documents (SPEC.md, chapter 8). All that
 * libidx does with LMDB is here. */
#ifndef IDX_LIBIDX_DOCUMENT_MAP_H
#define IDX_LIBIDX_DOCUMENT_MAP_H

#include <idx.h>
#include <lmdb.h>
#include <pthread.h>
#include <stdatomic.h>

#include "format/manifest.h"
#include "libidx/document_pages.h"

#define IDXI_DOCUMENTS_NAME "docs.mdb"
#define IDXI_SUMS_NAME "docs.sum"

/* The fingerprint of the most documents: of those with as many, the smallest. */
struct idxi_heaviest {
    uint64_t fingerprint, documents; /* both 0 for no documents */
    uint64_t last, run;              /* the fingerprint that came last, and how often so far */
};

/* Counts a document of a fingerprint; fingerprints must ascend. */
void idxi_heaviest_count(struct idxi_heaviest *heaviest, uint64_t fingerprint);

/* ---- Writing ---- */

struct idxi_map_writer {
    MDB_env *env;
    MDB_txn *txn;
    MDB_dbi docs, ids, meta;
    enum idx_id_type id_type;
    char *path;         /* of docs.mdb */
    size_t batch_bytes; /* put since the last commit, at most */
    struct idxi_heaviest heaviest;
};

/* Creates docs.mdb in the folder at `folder_path`. */
enum idx_status idxi_map_writer_open(struct idxi_map_writer *writer, const char *folder_path, enum idx_id_type id_type,
                                     struct idx_error *error);

/* Keeps the ID of a document number; numbers must ascend. IDX_ID_TEXT only. */
enum idx_status idxi_map_writer_add_id(struct idxi_map_writer *writer, uint64_t number, const void *id, size_t length,
                                       struct idx_error *error);

/* Adds a document (its number, or its ID for IDX_ID_U64) to a fingerprint; (fingerprint, value) must ascend strictly.
 */
enum idx_status idxi_map_writer_add(struct idxi_map_writer *writer, uint64_t fingerprint, uint64_t value,
                                    struct idx_error *error);

/* Writes the meta data, syncs, closes, and writes docs.sum into `folder`, the same folder. Sets *bytes to the size of
 * both. */
enum idx_status idxi_map_writer_finish(struct idxi_map_writer *writer, int folder,
                                       const struct idxf_manifest_segment *segment, uint64_t *bytes,
                                       struct idx_error *error);

/* Closes and frees, finished or not. */
void idxi_map_writer_close(struct idxi_map_writer *writer);

/* ---- Reading ---- */

struct idxi_map {
    MDB_env *env;
    MDB_dbi docs, ids; /* these, their roots and what the map says is heaviest: once ready */
    uint64_t docs_root, ids_root;
    uint64_t heaviest_fingerprint, heaviest_documents;
    char *path;
    uint64_t bytes; /* of docs.mdb and docs.sum */
    struct idxi_pages pages;
    struct idxf_manifest_segment segment;
    enum idx_id_type id_type;
    pthread_mutex_t mutex; /* held while getting ready */
    atomic_bool ready;
};

/* Opens and checks lengths, headers and the pages that LMDB reads on opening. `folder` is the segment's folder and
 * `folder_path` its path; IDX_FOREIGN_FILE where the path leads to another file meanwhile. */
enum idx_status idxi_map_open(struct idxi_map *map, int folder, const char *folder_path,
                              const struct idxf_manifest_segment *segment, enum idx_id_type id_type, bool skip_checks,
                              struct idx_error *error);

/* Before any other use: checks the meta data. Safe to call from any thread, often. */
enum idx_status idxi_map_prepare(struct idxi_map *map, struct idx_error *error);

void idxi_map_close(struct idxi_map *map);

/* After a failed LMDB call on a map that was read. */
enum idx_status idxi_map_fail(const struct idxi_map *map, int result, struct idx_error *error);

#endif
