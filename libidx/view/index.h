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

/* Returns an index that has no file open yet, with a copy of these options, or NULL when memory runs out. Close it by
 * idx_close. */
struct idx_index *idxi_index_new(const struct idx_open_options *options);

/* Opens an index as idx_open does, but does not check the options. Shares with an older view (may be NULL) what can be
 * shared: pending records, and if the older view has the same residence, segments. A view that a writer appends records
 * to may be `older` on the writer's thread only. Errors: as idx_open. */
enum idx_status idxi_index_open(struct idx_index **result, const char *path, const struct idx_open_options *options,
                                const struct idx_index *older, struct idx_error *error);

/* Opens the folder at `path` as index->folder, and sets index->path and index->manifest_path. idx_close frees them,
 * even after an error. Errors: IDX_NOT_FOUND, IDX_NOT_AN_INDEX (it is no folder), IDX_OUT_OF_MEMORY, IDX_IO_ERROR,
 * IDX_NO_ACCESS. */
enum idx_status idxi_index_open_folder(struct idx_index *index, const char *path, struct idx_error *error);

/* Sets index->manifest and index->scheme from the manifest in the open folder. index->manifest stays NULL after an
 * error. Errors: as idxi_manifest_load; IDX_BAD_CONTENT (the tables do not cover k). */
enum idx_status idxi_index_read_manifest(struct idx_index *index, struct idx_error *error);

/* Reads what is new in the log that `log` names, and sets index->pending and index->removes. `log` is the entry of a
 * manifest that may differ from the view's in nothing but this entry. Errors: as idxi_replay_read_log. */
enum idx_status idxi_index_read_log(struct idx_index *index, const struct idxf_manifest_log *log,
                                    struct idx_error *error);

/* Returns whether the index at index->path has changed since this one was opened, maybe only in part: then an error of
 * opening it may come from the change. Returns false if that can't be found out. */
bool idxi_index_is_outdated(const struct idx_index *index);

/* Returns the largest distance of look-ups: k, or the distance for which the index was unpacked. */
unsigned idxi_get_max_distance(const struct idx_index *index);

/* Returns the rules that all records of the index keep: its bits, ID type, sketch and UUID. */
struct idxf_record_rules idxi_index_get_rules(const struct idx_index *index);

/* Checks that a distance is not above idxi_get_max_distance. Errors: IDX_BAD_DISTANCE. */
enum idx_status idxi_check_distance(const struct idx_index *index, unsigned distance, struct idx_error *error);

/* Checks that a distance is not above k: that the tables in the files can answer it. Errors: IDX_BAD_DISTANCE. */
enum idx_status idxi_check_table_distance(const struct idx_index *index, unsigned distance, struct idx_error *error);

/* Checks that the fingerprints of an index can be compared with those of `other`: that both indexes have the same
 * number of bits, and recipes that match (idx_recipe_matches). `participle` completes the message "can't be ... with":
 * it says what the caller does with both, such as "merged". Errors: IDX_INVALID_ARGUMENT. */
enum idx_status idxi_check_comparable(const struct idx_index *index, const struct idx_index *other,
                                      const char *participle, struct idx_error *error);

/* Checks that no query has more bits than the fingerprints of the index. Errors: IDX_INVALID_ARGUMENT. */
enum idx_status idxi_check_queries(const struct idx_index *index, const uint64_t *queries, size_t count,
                                   struct idx_error *error);

#endif
