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

/* Return the names, in static storage, of the file of a map and of the file of its checksums. */
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
    uint64_t fingerprint, documents; /* both 0 for no documents */
    uint64_t last, run;              /* the last fingerprint that was counted, and how often it was */
};

/* Counts a document of a fingerprint; fingerprints must ascend. */
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
    bool ids_differ;                      /* IDXI_MAP_BY_ID: no two IDs have the same hash, because they are integers */
    pthread_mutex_t mutex;                /* held while the map is made ready */
    atomic_bool ready;
};

/* Opens both files of a map, and checks their lengths and headers and the meta pages of LMDB. `folder` is the folder of
 * the segment and `folder_path` its path; `id_type` is that of the index. Call idxi_map_close even if this fails.
 * Errors: the damaged-file group, IDX_NEW_VERSION, IDX_UNSUPPORTED, IDX_OUT_OF_MEMORY, IDX_IO_ERROR, IDX_NO_ACCESS. */
enum idx_status idxi_map_open(struct idxi_map *map, enum idxi_map_kind kind, int folder, const char *folder_path,
                              const struct idxf_manifest_segment *segment, enum idx_id_type id_type,
                              const struct idx_open_options *options, struct idx_error *error);

/* Reads and checks the meta data if no call has done so yet. Any thread may call it; others may use the map after it.
 * Errors: IDX_BAD_CHECKSUM, IDX_BAD_CONTENT; then it may be called again. */
enum idx_status idxi_map_prepare(struct idxi_map *map, struct idx_error *error);

/* Unmaps the files and frees all memory. */
void idxi_map_close(struct idxi_map *map);

/* Opens the group of documents at a cursor that found one. Fails where its key or its header is damaged. */
enum idx_status idxi_map_open_group(const struct idxi_map *map, const struct idxi_page_cursor *cursor,
                                    struct idxf_group *group, struct idx_error *error);

/* Sets *value to a fingerprint's least value that is not below `min_value`, in a ready map, or *found to false if there
 * is none. */
enum idx_status idxi_map_find_value(const struct idxi_map *map, uint64_t fingerprint, uint64_t min_value,
                                    uint64_t *value, bool *found, struct idx_error *error);

/* Fails because the entry at a cursor has a fault. */
enum idx_status idxi_map_fail(const struct idxi_map *map, const struct idxi_page_cursor *cursor, enum idxf_fault fault,
                              struct idx_error *error);

/* Opens the group of IDs at a cursor that found one. Makes *id large enough for each of its IDs, one at a time, and
 * sets *capacity to its bytes. They are NULL and 0 at first; the caller frees *id, also after an error. */
enum idx_status idxi_map_open_ids(const struct idxi_map *map, const struct idxi_page_cursor *cursor,
                                  struct idxf_ids *ids, uint8_t **id, size_t *capacity, struct idx_error *error);

/* ---- Reading all ---- */

/* The documents of a map that is ready, in the order of their keys, with `offset` added to each value. The map stays
 * the caller's. Pages are dropped behind it, so that memory stays bounded. Errors: IDX_BAD_CHECKSUM; IDX_BAD_CONTENT,
 * also where documents don't ascend, or are not as many as the manifest says. */
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
    bool has_last;    /* whether any document was read, so that the last one is above */
    size_t undropped; /* bytes of groups since pages were dropped */
    bool begun;
};

/* Begins a stream at the first document. */
void idxi_map_stream_init(struct idxi_map_stream *stream, const struct idxi_map *map, uint64_t offset);

/* Called for each ID, of `length` bytes, which stay valid during the call; anything but IDX_OK ends the visit. */
typedef enum idx_status (*idxi_id_visitor)(void *context, uint64_t number, const void *id, size_t length,
                                           struct idx_error *error);

/* Visits all text IDs of a map that is ready, by ascending document number. Fails with IDX_BAD_CONTENT unless the
 * numbers are 0 to map->numbers - 1, and with what the visitor returns if that is not IDX_OK. Pages are dropped behind
 * it. */
enum idx_status idxi_map_visit_ids(const struct idxi_map *map, idxi_id_visitor visitor, void *context,
                                   struct idx_error *error);

/* ---- The documents of one fingerprint ---- */

/* A cursor over the documents of one fingerprint in one map, by ascending value. It begins zeroed, but for `map`, which
 * must be ready. */
struct idxi_map_cursor {
    const struct idxi_map *map;
    struct idxi_page_cursor entry; /* whose value is the group of the next document */
    struct idxf_group group;
    uint64_t sought; /* the fingerprint that was sought last, whose first group is `group` */
    bool decoded;    /* whether `fingerprints` are those of `group` */
    size_t next;     /* the next document's place in the group */
    uint64_t left;   /* documents still to come */
    uint64_t value;  /* of the next one, where one is left */
    uint64_t offset; /* the caller's: documents of the segments before */
    uint64_t fingerprints[IDXF_MAX_GROUP_ENTRIES]; /* needs not be zeroed */
};

/* Goes to a fingerprint's first document, and counts them all. Fastest where fingerprints ascend. Errors:
 * IDX_BAD_CHECKSUM, IDX_BAD_CONTENT. */
enum idx_status idxi_map_cursor_find(struct idxi_map_cursor *cursor, uint64_t fingerprint, struct idx_error *error);

/* Goes on to the next document, where one is left; none is left after an error. Errors: as for
 * idxi_map_cursor_find. */
enum idx_status idxi_map_cursor_next(struct idxi_map_cursor *cursor, struct idx_error *error);

#endif
