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
#include "libidx/segment/manifest_file.h"
#include "libidx/view/replay.h"
#include "libidx/view/segment.h"

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

/* Returns an index of which nothing is open yet, to be closed by idx_close, or NULL when memory runs out. The options
 * are copied. */
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
 * but the log. Errors: as idxi_replay_read_log. */
enum idx_status idxi_index_read_log(struct idx_index *index, const struct idxf_manifest_log *log,
                                    struct idx_error *error);

/* Returns whether the index changed since it was opened, so that an error of opening it may come from that. False if
 * that could not be found out. */
bool idxi_index_is_outdated(const struct idx_index *index);

/* Returns the largest distance of look-ups: k, or the distance for which the index was unpacked. */
unsigned idxi_get_max_distance(const struct idx_index *index);

/* Returns what all records of the index have in common. */
struct idxf_record_rules idxi_index_get_rules(const struct idx_index *index);

/* Check that look-ups of an index take a distance, and that the tables in its files do, without those that were
 * unpacked. Errors: IDX_BAD_DISTANCE. */
enum idx_status idxi_check_distance(const struct idx_index *index, unsigned distance, struct idx_error *error);
enum idx_status idxi_check_table_distance(const struct idx_index *index, unsigned distance, struct idx_error *error);

/* Checks that the fingerprints of an index can be compared with those of `first`: that both have the same bits and
 * recipe. `joined` is the participle by which the message says what the caller does with both, such as "merged".
 * Errors: IDX_INVALID_ARGUMENT. */
enum idx_status idxi_check_comparable(const struct idx_index *index, const struct idx_index *first, const char *joined,
                                      struct idx_error *error);

/* Checks that no query has more bits than the fingerprints of the index. Errors: IDX_INVALID_ARGUMENT. */
enum idx_status idxi_check_queries(const struct idx_index *index, const uint64_t *queries, size_t count,
                                   struct idx_error *error);

#endif
