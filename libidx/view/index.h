/* index.h: an open index: a snapshot of its manifest, scheme, segments and pending records. Immutable once open, except
 * for atomic notes of which pages were checked. */
#ifndef IDX_LIBIDX_INDEX_H
#define IDX_LIBIDX_INDEX_H

#include <idx.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "format/manifest.h"
#include "libidx/scheme/scheme.h"
#include "libidx/segment/document_map.h"
#include "libidx/segment/manifest_file.h"
#include "libidx/segment/removed.h"
#include "libidx/segment/table_reader.h"
#include "libidx/segment/unpacked.h"
#include "libidx/view/replay.h"

/* A segment, which all views that have it share. */
struct idxi_segment {
    atomic_size_t holders;
    struct idxf_manifest_segment entry;
    char *path;
    struct idxi_table *tables; /* as many as the scheme has */
    size_t open_tables;
    uint8_t *loaded; /* what is loaded of all tables, together in huge pages; or NULL */
    size_t loaded_bytes;
    struct idxi_unpacked *unpacked; /* NULL where it is not unpacked, or empty */
    struct idxi_map map, by_id;     /* the latter where the index has a map from IDs */
    bool map_open, by_id_open;
    struct idxi_removed removed; /* which documents of older segments it removes */
};

/* What the views that share one manifest have in common, and change. */
struct idxi_origin {
    atomic_size_t holders; /* the views */
    pthread_mutex_t mutex; /* guards what follows */
    int manifest_file;     /* descriptor of the manifest seen last that differs in nothing but the log. It stays open,
                            * so that no other file gets its inode */
    struct stat seen;      /* the status of that file */
    struct idxf_manifest_log log; /* what that file says of the log */
};

/* Views of one manifest have the same pointers and descriptor, but for those of `pending`; the last one to be closed
 * releases them. */
struct idx_index {
    struct idxi_origin *origin;
    char *path, *manifest_path;
    int folder;                      /* descriptor */
    struct idx_open_options options; /* the residence of the files: IDX_RESIDENCE_NONE where they are unpacked */
    bool unpacks;                    /* opened with IDX_RESIDENCE_UNPACKED */
    struct idxf_manifest *manifest;
    struct idx_scheme scheme;
    struct idxi_probing *probings;  /* of the distances 0 to k */
    struct idxi_segment **segments; /* the oldest first */
    size_t open_segments;
    struct idxi_replay *replay;
    struct idxi_pending_view pending;
    bool removes; /* whether segments or pending records have removals */
    bool spoilt;  /* whether `replay` has records that never came into the log: a newer view reads the log anew */
};

/* Returns an index of which nothing is open yet, to be closed by idx_close, or NULL when memory runs out. */
struct idx_index *idxi_index_new(const struct idx_open_options *options);

/* Opens an index as idx_open does, and shares what can be shared with an older view (may be NULL): segments, where it
 * has the same residence, and pending records. The view of a writer is for the thread of the writer alone. */
enum idx_status idxi_index_open(struct idx_index **result, const char *path, const struct idx_open_options *options,
                                const struct idx_index *older, struct idx_error *error);

/* Opens the folder at `path` as index->folder. Fails with IDX_NOT_FOUND or IDX_NOT_AN_INDEX where there is none. */
enum idx_status idxi_index_open_folder(struct idx_index *index, const char *path, struct idx_error *error);

/* Reads and checks the manifest of an open folder, and that its tables cover its k. */
enum idx_status idxi_index_read_manifest(struct idx_index *index, struct idx_error *error);

/* Reads the records that are pending now, from the log that a manifest means, which differs from the view's in nothing
 * but the log. Errors: as idxi_replay_read. */
enum idx_status idxi_index_read_log(struct idx_index *index, const struct idxf_manifest_log *log,
                                    struct idx_error *error);

/* How the manifest at the path of an index differs from the one that was opened. */
enum idxi_change {
    IDXI_SAME = 0,     /* It is the same one. */
    IDXI_NEW_LOG = 1,  /* It differs only in what it says of the log. */
    IDXI_REPLACED = 2, /* It is that of another version of the index, or there is none. */
};

/* Sets *change to how the manifest differs, and, unless it is IDXI_REPLACED, *log to what that manifest says of the
 * log. Makes one call to the system where it is the same. Errors: as idx_replaced. */
enum idx_status idxi_index_look(const struct idx_index *index, enum idxi_change *change, struct idxf_manifest_log *log,
                                struct idx_error *error);

/* Returns whether there is a log, as the manifest says that was seen last. */
bool idxi_index_has_log(const struct idx_index *index);

/* Returns whether the index changed since it was opened, so that an error of opening it may come from that. */
bool idxi_index_is_outdated(const struct idx_index *index);

/* Returns the largest distance of look-ups: k, or the distance for which the index was unpacked. */
unsigned idxi_index_most_distance(const struct idx_index *index);

/* Returns what all records of the index have in common. */
struct idxf_record_rules idxi_index_rules(const struct idx_index *index);

/* Check that look-ups take a distance, and that the tables in the files do. Errors: IDX_BAD_DISTANCE. */
enum idx_status idxi_check_distance(const struct idx_index *index, unsigned distance, struct idx_error *error);
enum idx_status idxi_check_table_distance(const struct idx_index *index, unsigned distance, struct idx_error *error);

/* Checks that the fingerprints of an index can be compared with those of `first`, with which it is to be `joined`, as
 * messages say it: that both have the same bits and recipe. Errors: IDX_INVALID_ARGUMENT. */
enum idx_status idxi_check_comparable(const struct idx_index *index, const struct idx_index *first, const char *joined,
                                      struct idx_error *error);

/* Checks that no query has more bits than the fingerprints of the index. Errors: IDX_INVALID_ARGUMENT. */
enum idx_status idxi_check_queries(const struct idx_index *index, const uint64_t *queries, size_t count,
                                   struct idx_error *error);

/* ---- Segments ---- */

/* Opens segment `number`, the next one of index->segments. It belongs to the index, also after an error. */
enum idx_status idxi_segment_open(struct idx_index *index, size_t number, struct idx_error *error);

/* Shares the segment of `older` (may be NULL) that the manifest means by segment `number`. Returns false if `older` has
 * no such segment. */
bool idxi_segment_share(struct idx_index *index, const struct idx_index *older, size_t number);

/* Releases a segment; the last release closes it. Accepts NULL. */
void idxi_segment_release(struct idxi_segment *segment);

/* ---- File by file: for callers that go on after an error ---- */

/* Makes segment `number`, the next one of index->segments, and opens its folder, which the caller closes. */
enum idx_status idxi_segment_open_folder(struct idx_index *index, size_t number, int *folder, struct idx_error *error);

/* Opens one table of a segment and checks that it is the one that the manifest means. */
enum idx_status idxi_segment_open_table(struct idx_index *index, size_t segment, size_t table, int folder,
                                        struct idx_error *error);

/* Opens the document map of a segment, or its map from IDs. */
enum idx_status idxi_segment_open_map(struct idx_index *index, size_t segment, enum idxi_map_kind kind, int folder,
                                      struct idx_error *error);

/* Loads the removals of a segment from older ones. */
enum idx_status idxi_segment_open_removed(struct idx_index *index, size_t segment, int folder, struct idx_error *error);

/* ---- Searching ---- */

/* Sets *contains to whether the segment holds a fingerprint, removed or not. */
enum idx_status idxi_segment_contains(const struct idx_index *index, size_t segment, uint64_t fingerprint,
                                      bool *contains, struct idx_error *error);

/* ---- What was not removed ---- */

/* Code that reads segments must use these: segments still have what was removed later. Any thread may call them. */

/* ---- Segments ---- */

/* Finds what idxi_first_live returns where there are removals. */
size_t idxi_find_first_live(const struct idx_index *index, uint64_t fingerprint);

/* Returns the first segment from which a fingerprint was not removed, whether or not the segment has it, or the number
 * of segments if it was removed from all. */
static inline size_t idxi_first_live(const struct idx_index *index, uint64_t fingerprint) {
    return index->removes ? idxi_find_first_live(index, fingerprint) : 0;
}

/* Sets *held to whether a segment before segment `end` holds the fingerprint, and it was not removed from there.
 * Errors: IDX_BAD_CHECKSUM, IDX_BAD_CONTENT. */
enum idx_status idxi_is_held_before(const struct idx_index *index, size_t end, uint64_t fingerprint, bool *held,
                                    struct idx_error *error);

/* Sets *live to whether a fingerprint that at least one segment holds was not removed from all that hold it. Errors: as
 * idxi_is_held_before. */
static inline enum idx_status idxi_is_live(const struct idx_index *index, uint64_t fingerprint, bool *live,
                                           struct idx_error *error) {
    *live = idxi_first_live(index, fingerprint) == 0;
    return *live ? IDX_OK : idxi_is_held_before(index, index->open_segments, fingerprint, live, error);
}

/* Sets *repeated to whether to skip a fingerprint of a segment, because it was removed from there, or an earlier
 * segment has it as well. Errors: as idxi_is_held_before. */
static inline enum idx_status idxi_is_repeated(const struct idx_index *index, size_t segment, uint64_t fingerprint,
                                               bool *repeated, struct idx_error *error) {
    *repeated = idxi_first_live(index, fingerprint) > segment;
    return *repeated ? IDX_OK : idxi_is_held_before(index, segment, fingerprint, repeated, error);
}

/* Returns whether single documents of a fingerprint were removed. */
bool idxi_removes_some(const struct idx_index *index, uint64_t fingerprint);

/* Returns whether a document of a segment was removed. The segment is the first live one of its fingerprint, or a later
 * one. Integer IDs are 8 bytes, little-endian. */
bool idxi_is_removed(const struct idx_index *index, size_t segment, uint64_t fingerprint, const void *id,
                     size_t id_size);

/* ---- Pending ---- */

static inline bool idxi_has_pending(const struct idx_index *index) { return index->pending.records != NULL; }

/* Lists the fingerprints that have a pending document, ascending, each once; with `alone` only those that no segment
 * holds. The caller frees *fingerprints. Errors: IDX_OUT_OF_MEMORY, IDX_BAD_CHECKSUM, IDX_BAD_CONTENT. */
enum idx_status idxi_list_pending(const struct idx_index *index, bool alone, uint64_t **fingerprints, size_t *count,
                                  struct idx_error *error);

#endif
