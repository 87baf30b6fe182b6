/* document_map.h: opens and reads a segment's docs.mdb and docs.sum, the map from fingerprints to documents, and the
 * map from IDs, which has the same form (SPEC.md, chapter 8). document_writer.h writes them. */
#ifndef IDX_LIBIDX_DOCUMENT_MAP_H
#define IDX_LIBIDX_DOCUMENT_MAP_H

#include <idx.h>
#include <pthread.h>
#include <stdatomic.h>

#include "format/group.h"
#include "format/ids.h"
#include "format/manifest.h"
#include "libidx/segment/document_pages.h"
#include "libidx/streams/stream.h"

/* The two maps that a segment may have. The map from IDs has the hash of an ID in place of a fingerprint, and the
 * fingerprint in place of an IDX_ID_U64 document. */
enum idxi_map_kind { IDXI_MAP_DOCUMENTS, IDXI_MAP_BY_ID };

/* Return the name of a map's file, such as `docs.mdb`, and of the file of its checksums, such as `docs.sum`. Both are
 * in static storage. */
const char *idxi_get_map_name(enum idxi_map_kind kind);
const char *idxi_get_sums_name(enum idxi_map_kind kind);

/* The key of a group of documents is its last entry, and that of a group of IDs its last document number: big-endian,
 * since LMDB compares keys as bytes. Two functions make the keys, and one reads the document number from a key. */
#define IDXI_GROUP_KEY_BYTES 16
#define IDXI_IDS_KEY_BYTES 8
void idxi_make_group_key(uint8_t key[IDXI_GROUP_KEY_BYTES], uint64_t fingerprint, uint64_t value);
void idxi_make_ids_key(uint8_t key[IDXI_IDS_KEY_BYTES], uint64_t number);
uint64_t idxi_get_ids_number(const uint8_t key[IDXI_IDS_KEY_BYTES]);

/* Names of meta data. All are little-endian u64, `heaviest` two of them, except for the uuid and the dictionary. */
#define IDXI_META_UUID "uuid"
#define IDXI_META_FINGERPRINTS "fingerprints"
#define IDXI_META_DOCUMENTS "documents"
#define IDXI_META_HEAVIEST "heaviest"
#define IDXI_HEAVIEST_BYTES 16
#define IDXI_META_DICTIONARY "dictionary"

/* The fingerprint with the most documents; of several, the smallest. */
struct idxi_heaviest {
    uint64_t fingerprint, documents;           /* both 0 for no documents */
    uint64_t last_fingerprint, last_documents; /* the fingerprint that was counted last, and its documents so far */
};

/* Counts one more document of a fingerprint. *heaviest begins zeroed, and fingerprints must not descend. */
void idxi_heaviest_add_document(struct idxi_heaviest *heaviest, uint64_t fingerprint);

/* ---- Reading ---- */

/* An open map. The members up to dictionary_size are set once it is ready, by idxi_map_prepare. */
struct idxi_map {
    uint64_t docs_root, ids_root; /* the root pages of its databases */
    uint64_t heaviest_fingerprint, heaviest_documents;
    const uint8_t *dictionary; /* of text IDs, within the pages */
    size_t dictionary_size;
    char *path;
    uint64_t bytes; /* of docs.mdb and docs.sum */
    struct idxi_pages pages;
    enum idxi_map_kind kind;
    struct idxf_manifest_segment segment; /* the entry of the manifest; once ready, IDXI_MAP_BY_ID has its own counts */
    uint64_t numbers;                     /* of documents, or of texts with sets; UINT64_MAX: not known */
    bool is_of_texts;                     /* entries of one text have one number */
    enum idx_id_type id_type;             /* the map's form: IDX_ID_U64 for IDXI_MAP_BY_ID */
    bool hashes_differ;                   /* IDXI_MAP_BY_ID: no two IDs have the same hash, because they are integers */
    pthread_mutex_t mutex;                /* held while the map is made ready */
    atomic_bool ready;
};

/* Opens both files of a map, and checks their lengths and headers and the meta pages of LMDB. `folder` is a descriptor
 * of the segment's folder, and `folder_path` its path. `segment`, the manifest's entry, is copied. `id_type` is that of
 * the index. `options` say whether pages are checked, and how they are read ahead. Call idxi_map_close even if this
 * fails. Errors: the damaged-file group, IDX_NEW_VERSION, IDX_UNSUPPORTED, IDX_OUT_OF_MEMORY, IDX_IO_ERROR,
 * IDX_NO_ACCESS. */
enum idx_status idxi_map_open(struct idxi_map *map, enum idxi_map_kind kind, int folder, const char *folder_path,
                              const struct idxf_manifest_segment *segment, enum idx_id_type id_type,
                              const struct idx_open_options *options, struct idx_error *error);

/* Makes an open map ready: reads and checks its meta data, unless an earlier call has done so. Any number of threads
 * may call it at a time. After an error it may be called again. Errors: IDX_BAD_CHECKSUM, IDX_BAD_CONTENT,
 * IDX_WRONG_SIZE, IDX_FOREIGN_FILE. */
enum idx_status idxi_map_prepare(struct idxi_map *map, struct idx_error *error);

/* Unmaps the files and frees all memory. idxi_map_open must have been called, but may have failed. */
void idxi_map_close(struct idxi_map *map);

/* Opens the group of documents at a cursor that found one. *group points into the mapped pages. Errors: IDX_WRONG_SIZE,
 * IDX_BAD_CONTENT. */
enum idx_status idxi_map_open_group(const struct idxi_map *map, const struct idxi_page_cursor *cursor,
                                    struct idxf_group *group, struct idx_error *error);

/* Finds the least value of a fingerprint that is not below `min_value`. The map must be ready. Sets *found to whether
 * there is such a value, and *value to it; if there is none, *value is unspecified. Errors: IDX_BAD_CHECKSUM,
 * IDX_WRONG_SIZE, IDX_BAD_CONTENT. */
enum idx_status idxi_map_find_value(const struct idxi_map *map, uint64_t fingerprint, uint64_t min_value,
                                    uint64_t *value, bool *found, struct idx_error *error);

/* Fails with the status of a fault. The sentence has the path of the map and the offset of the cursor's value. */
enum idx_status idxi_map_fail(const struct idxi_map *map, const struct idxi_page_cursor *cursor, enum idxf_fault fault,
                              struct idx_error *error);

/* Opens the group of IDs at a cursor that found one. *ids points into the mapped pages. *id, an array of *capacity
 * bytes, is replaced by a larger one if it may be too small for one of the group's IDs. At first they are
 * NULL and 0. The caller frees *id, also after an error. Errors: IDX_WRONG_SIZE, IDX_BAD_CONTENT, IDX_OUT_OF_MEMORY. */
enum idx_status idxi_map_open_ids(const struct idxi_map *map, const struct idxi_page_cursor *cursor,
                                  struct idxf_ids *ids, uint8_t **id, size_t *capacity, struct idx_error *error);

/* ---- Reading all ---- */

/* The documents of a map that is ready, in the order of their keys, with `offset` added to each value. The map stays
 * the caller's. Pages that were read are dropped from memory. Errors of reading: IDX_BAD_CHECKSUM; IDX_WRONG_SIZE;
 * IDX_BAD_CONTENT, also if documents don't ascend, or are not as many as the manifest says. */
struct idxi_map_stream {
    struct idxi_stream stream; /* its `values` must not be NULL */
    const struct idxi_map *map;
    uint64_t offset;
    struct idxi_page_cursor cursor;
    struct idxf_group group;
    size_t entries_read; /* of the group */
    uint64_t fingerprints[IDXF_MAX_GROUP_ENTRIES];
    uint64_t documents; /* of the groups so far */
    uint64_t last_fingerprint, last_value;
    bool has_last;          /* whether any document was read, so that last_fingerprint and last_value are set */
    size_t undropped_bytes; /* bytes of groups that were read since pages were dropped */
    bool begun;             /* whether the first group was read */
};

/* Begins a stream at the first document, with `offset` to be added to values. It needs no closing. */
void idxi_map_stream_init(struct idxi_map_stream *stream, const struct idxi_map *map, uint64_t offset);

/* Called for each ID with its document number. The ID, `length` bytes, is valid only during the call. If the visitor
 * returns anything but IDX_OK, the visit ends. */
typedef enum idx_status (*idxi_id_visitor)(void *context, uint64_t number, const void *id, size_t length,
                                           struct idx_error *error);

/* Visits all text IDs of a map that is ready, by ascending document number. `context` is passed to the visitor. Pages
 * that were read are dropped from memory. Errors: what the visitor returns; IDX_BAD_CHECKSUM; IDX_WRONG_SIZE;
 * IDX_BAD_CONTENT, also unless the numbers are 0 to map->numbers - 1; IDX_OUT_OF_MEMORY. */
enum idx_status idxi_map_visit_ids(const struct idxi_map *map, idxi_id_visitor visitor, void *context,
                                   struct idx_error *error);

/* ---- The documents of one fingerprint ---- */

/* A cursor over the documents of one fingerprint in one map, by ascending value. It begins zeroed, but for `map`, which
 * must be ready. */
struct idxi_map_cursor {
    const struct idxi_map *map;
    struct idxi_page_cursor entry; /* whose value is the group of the next document */
    struct idxf_group group;
    uint64_t sought;                               /* the fingerprint of the last search; `group` is its first group */
    bool decoded;                                  /* whether `fingerprints` are those of `group` */
    size_t next;                                   /* the next document's place in the group */
    uint64_t left;                                 /* documents still to come, the next one included */
    uint64_t value;                                /* of the next document, unless `left` is 0 */
    uint64_t offset;                               /* the caller's: documents of the segments before */
    uint64_t fingerprints[IDXF_MAX_GROUP_ENTRIES]; /* needs not be zeroed */
};

/* Goes to the first document of a fingerprint, sets cursor->value, and sets cursor->left to the number of its
 * documents. It is 0 if there are none, and after an error. Fastest if fingerprints ascend from one call to the next.
 * Errors: IDX_BAD_CHECKSUM, IDX_WRONG_SIZE, IDX_BAD_CONTENT. */
enum idx_status idxi_map_cursor_find(struct idxi_map_cursor *cursor, uint64_t fingerprint, struct idx_error *error);

/* Passes over a document, and sets cursor->value to that of the one after it, if there is one. cursor->left must be
 * above 0 before; it becomes 0 after an error. Errors: as for idxi_map_cursor_find. */
enum idx_status idxi_map_cursor_next(struct idxi_map_cursor *cursor, struct idx_error *error);

#endif
