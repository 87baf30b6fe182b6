/* index.c: opens and closes an index. */
#include "libidx/view/index.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libidx/base/base.h"
#include "libidx/log/pending.h"
#include "libidx/view/refresh.h"

#define MAX_ATTEMPTS 1000 /* attempts to open an index that is replaced at the same time */

/* ---- The manifest ---- */

enum idx_status idxi_index_open_folder(struct idx_index *index, const char *path, struct idx_error *error) {
    index->path = strdup(path);
    index->manifest_path = idxi_join_path(path, IDXI_MANIFEST_NAME);
    if (index->path == NULL || index->manifest_path == NULL) return idxi_fail_memory(error);
    index->folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (index->folder >= 0) return IDX_OK;
    if (errno == ENOTDIR) return idxi_fail(error, IDX_NOT_AN_INDEX, path, "is not a folder, so it is not an idx index");
    if (errno == ENOENT) return idxi_fail(error, IDX_NOT_FOUND, path, "there is no such index");
    return idxi_fail_system(error, errno, path, "open");
}

/* Reads the manifest into index->manifest, and its scheme into index->scheme, and checks that the scheme covers k.
 * Notes the file, which stays open, in index->origin as the one seen last. Errors: as idxi_index_read_manifest. */
static enum idx_status read_manifest(struct idx_index *index, struct idx_error *error) {
    IDXI_TRY(idxi_manifest_load(index->manifest, index->folder, index->path, &index->origin->manifest_file, error));
    if (fstat(index->origin->manifest_file, &index->origin->seen) != 0)
        return idxi_fail_system(error, errno, index->manifest_path, "stat");
    index->origin->log = index->manifest->log;
    snprintf(index->scheme.name, sizeof index->scheme.name, "%s", index->manifest->scheme);
    index->scheme.bits = index->manifest->bits;
    index->scheme.table_count = index->manifest->table_count;
    for (size_t i = 0; i < index->scheme.table_count; i++)
        index->scheme.tables[i] =
            (struct idx_table){index->manifest->tables[i].mask, index->manifest->tables[i].radius};
    if (idxi_scheme_covers(&index->scheme, index->manifest->k)) return IDX_OK;
    return idxi_fail_fault(error, IDXF_FAULT_COVER, index->manifest_path, 0);
}

enum idx_status idxi_index_read_manifest(struct idx_index *index, struct idx_error *error) {
    index->manifest = calloc(1, sizeof *index->manifest);
    enum idx_status status = index->manifest == NULL ? idxi_fail_memory(error) : read_manifest(index, error);
    if (status == IDX_OK) return IDX_OK;
    free(index->manifest);
    index->manifest = NULL;
    return status;
}

/* ---- Opening and closing ---- */

struct idxf_record_rules idxi_index_get_rules(const struct idx_index *index) {
    struct idxf_record_rules rules = {
        .bits = index->manifest->bits, .id_type = index->manifest->id_type, .sketch = index->manifest->sketch};
    memcpy(rules.uuid, index->manifest->uuid, sizeof rules.uuid);
    return rules;
}

/* Returns whether two views are of one folder, one index, and one scheme, so that they may have segments in common.
 * False also if a folder's status can't be read. */
static bool can_share_segments(const struct idx_index *older, const struct idx_index *index) {
    const struct idxf_manifest *a = older->manifest, *b = index->manifest;
    struct stat older_folder, folder;
    if (fstat(older->folder, &older_folder) != 0 || fstat(index->folder, &folder) != 0) return false;
    bool alike = older_folder.st_dev == folder.st_dev && older_folder.st_ino == folder.st_ino &&
                 memcmp(a->uuid, b->uuid, IDXF_UUID_BYTES) == 0 && a->bits == b->bits && a->k == b->k &&
                 a->id_type == b->id_type && a->by_id == b->by_id && a->table_count == b->table_count;
    for (size_t i = 0; i < a->table_count && alike; i++)
        alike = a->tables[i].mask == b->tables[i].mask && a->tables[i].radius == b->tables[i].radius;
    return alike;
}

/* Sets index->replay: shares that of an older view (may be NULL), or makes a new one if the older one's lacks records
 * behind those of this manifest's segments. Errors: IDX_OUT_OF_MEMORY. */
static enum idx_status open_replay(struct idx_index *index, const struct idx_index *older, struct idx_error *error) {
    const struct idxf_manifest *manifest = index->manifest;
    struct idxf_record_rules rules = idxi_index_get_rules(index);
    if (older == NULL || older->spoilt || !idxi_replay_follow_manifest(older->replay, manifest->sequence)) {
        IDXI_TRY(idxi_replay_new(&index->replay, &rules, idxi_get_max_distance(index), manifest->sequence, error));
    } else {
        index->replay = older->replay;
        idxi_replay_hold(index->replay);
    }
    return IDX_OK;
}

enum idx_status idxi_index_read_log(struct idx_index *index, const struct idxf_manifest_log *log,
                                    struct idx_error *error) {
    IDXI_TRY(idxi_replay_read_log(index->replay, index->folder, index->path, index->manifest->sequence, log,
                                  &index->pending, error));
    index->removes = index->pending.removals > 0;
    for (size_t i = 0; i < index->open_segments; i++) index->removes |= index->segments[i]->removed.count > 0;
    return IDX_OK;
}

/* Unpacks the segments that have fingerprints and were not shared unpacked. The memory that the options allow, in
 * bytes, is divided among all segments in proportion to their numbers of fingerprints. Errors: as
 * idxi_memory_choose_limit and idxi_unpacked_make. */
static enum idx_status unpack_segments(struct idx_index *index, struct idx_error *error) {
    struct idxi_progress progress;
    uint64_t memory = index->options.memory_bytes;
    double total = 0;
    IDXI_TRY(idxi_memory_choose_limit(&memory, error));
    idxi_progress_init(&progress, index->options.progress, index->options.context);
    for (size_t i = 0; i < index->open_segments; i++) total += (double)index->segments[i]->entry.fingerprints;
    for (size_t i = 0; i < index->open_segments; i++) {
        struct idxi_segment *segment = index->segments[i];
        if (segment->unpacked != NULL || segment->entry.fingerprints == 0) continue;
        double memory_share = (double)memory * ((double)segment->entry.fingerprints / total);
        struct idxi_unpacking_options unpacking = {.distance = idxi_get_max_distance(index),
                                                   .memory_bytes = (uint64_t)memory_share,
                                                   .threads = index->options.threads,
                                                   .progress = &progress};
        IDXI_TRY(idxi_unpacked_make(&segment->unpacked, &segment->tables[0], &unpacking, error));
    }
    return IDX_OK;
}

/* Opens the index, and shares with `older` (may be NULL) what it can. If the index is replaced at the same time, this
 * may fail, with any error. The caller closes the index, even after an error. */
static enum idx_status open_index_once(struct idx_index *index, const char *path, const struct idx_index *older,
                                       struct idx_error *error) {
    IDXI_TRY(idxi_index_open_folder(index, path, error));
    IDXI_TRY(idxi_index_read_manifest(index, error));
    IDXI_TRY(idxi_probings_make(&index->probings, &index->scheme, index->manifest->k, error));
    if (older != NULL && !can_share_segments(older, index)) older = NULL;
    index->segments = calloc(index->manifest->segment_count, sizeof(struct idxi_segment *));
    if (index->segments == NULL) return idxi_fail_memory(error);
    for (size_t i = 0; i < index->manifest->segment_count; i++)
        if (!idxi_segment_share(index, older, i)) IDXI_TRY(idxi_segment_open(index, i, error));
    if (index->unpacks) IDXI_TRY(unpack_segments(index, error));
    IDXI_TRY(open_replay(index, older, error));
    return idxi_index_read_log(index, &index->manifest->log, error);
}

unsigned idxi_get_max_distance(const struct idx_index *index) {
    unsigned k = index->manifest->k, asked_distance = index->options.distance;
    return index->unpacks && asked_distance != UINT_MAX && asked_distance > k ? asked_distance : k;
}

/* Returns an origin without a manifest, held once, or NULL when memory runs out. */
static struct idxi_origin *make_origin(void) {
    struct idxi_origin *origin = calloc(1, sizeof *origin);
    if (origin == NULL) return NULL;
    if (pthread_mutex_init(&origin->mutex, NULL) != 0) {
        free(origin);
        return NULL;
    }
    origin->manifest_file = -1;
    atomic_init(&origin->holders, 1);
    return origin;
}

struct idx_index *idxi_index_new(const struct idx_open_options *options) {
    struct idx_index *index = calloc(1, sizeof *index);
    if (index == NULL) return NULL;
    index->origin = make_origin();
    if (index->origin == NULL) {
        free(index);
        return NULL;
    }
    index->folder = -1;
    index->options = *options;
    index->unpacks = options->residence == IDX_RESIDENCE_UNPACKED;
    if (index->unpacks) index->options.residence = IDX_RESIDENCE_NONE;
    return index;
}

bool idxi_index_is_outdated(const struct idx_index *index) {
    enum idxi_change change;
    struct idxf_manifest_log log;
    return index->folder >= 0 && idxi_find_change(index, &change, &log, NULL) == IDX_OK && change != IDXI_SAME;
}

enum idx_status idxi_index_open(struct idx_index **result, const char *path, const struct idx_open_options *options,
                                const struct idx_index *older, struct idx_error *error) {
    for (int attempt = 1;; attempt++) {
        struct idx_index *index = idxi_index_new(options);
        if (index == NULL) return idxi_fail_memory(error);
        enum idx_status status = open_index_once(index, path, older, error);
        if (status == IDX_OK) {
            *result = index;
            return IDX_OK;
        }
        bool may_retry = attempt < MAX_ATTEMPTS && idxi_index_is_outdated(index);
        idx_close(index);
        if (!may_retry) return status;
    }
}

enum idx_status idx_open(struct idx_index **result, const char *path, const struct idx_open_options *options,
                         struct idx_error *error) {
    struct idx_open_options settings = IDX_OPEN_OPTIONS_INIT;
    IDXI_TRY(idxi_copy_options(&settings, options, error));
    IDXI_TRY(idxi_check_threads(settings.threads, error));
    if ((unsigned)settings.residence > IDX_RESIDENCE_UNPACKED)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL, "there is no residence %d", (int)settings.residence);
    if (settings.distance == UINT_MAX) return idxi_index_open(result, path, &settings, NULL, error);
    if (settings.residence != IDX_RESIDENCE_UNPACKED)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL,
                         "a distance is for unpacked tables: other residences have that of the index");
    IDXI_TRY(idxi_check_distance_limit(settings.distance, IDX_INVALID_ARGUMENT, error));
    return idxi_index_open(result, path, &settings, NULL, error);
}

/* Frees what the views of one manifest share. `index` is the last of them, and may have been opened only in part. */
static void free_shared_parts(struct idx_index *index) {
    for (size_t i = 0; i < index->open_segments; i++) idxi_segment_release(index->segments[i]);
    free(index->segments);
    idxi_replay_release(index->replay);
    idxi_probings_free(index->probings);
    free(index->manifest);
    if (index->folder >= 0) close(index->folder);
    free(index->manifest_path);
    free(index->path);
    if (index->origin->manifest_file >= 0) close(index->origin->manifest_file);
    pthread_mutex_destroy(&index->origin->mutex);
    free(index->origin);
}

void idx_close(struct idx_index *index) {
    if (index == NULL) return;
    idxi_pending_release(index->pending.records);
    if (atomic_fetch_sub(&index->origin->holders, 1) == 1) free_shared_parts(index);
    free(index);
}

/* ---- Checks of arguments ---- */

enum idx_status idxi_check_distance(const struct idx_index *index, unsigned distance, struct idx_error *error) {
    if (distance <= idxi_get_max_distance(index)) return IDX_OK;
    if (index->unpacks && distance <= IDX_MAX_K)
        return idxi_fail(error, IDX_BAD_DISTANCE, index->path,
                         "was unpacked for distances up to %u, not %u: use a smaller distance, or open it for %u",
                         idxi_get_max_distance(index), distance, distance);
    return idxi_check_table_distance(index, distance, error);
}

enum idx_status idxi_check_table_distance(const struct idx_index *index, unsigned distance, struct idx_error *error) {
    if (distance <= index->manifest->k) return IDX_OK;
    if (distance > IDX_MAX_K)
        return idxi_fail(
            error, IDX_BAD_DISTANCE, index->path,
            "supports distances up to %u, not %u, which is too large for any index: use a smaller distance",
            index->manifest->k, distance);
    return idxi_fail(error, IDX_BAD_DISTANCE, index->path,
                     "supports distances up to %u, not %u: use a smaller distance, or build an index with k = %u",
                     index->manifest->k, distance, distance);
}

enum idx_status idxi_check_queries(const struct idx_index *index, const uint64_t *queries, size_t count,
                                   struct idx_error *error) {
    return idxi_check_fingerprints(queries, count, index->manifest->bits, error);
}

/* Returns an index's recipe for messages: the string, or "not known" if it is empty. */
static const char *get_recipe_name(const struct idx_index *index) {
    return index->manifest->recipe[0] == '\0' ? "not known" : index->manifest->recipe;
}

enum idx_status idxi_check_comparable(const struct idx_index *index, const struct idx_index *other,
                                      const char *participle, struct idx_error *error) {
    if (index->manifest->bits != other->manifest->bits)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, index->path,
                         "can't be %s with %s, because they differ in their bits: rebuild one of them", participle,
                         other->path);
    if (idx_recipe_matches(index->manifest->recipe, other->manifest->recipe, NULL)) return IDX_OK;
    return idxi_fail(error, IDX_INVALID_ARGUMENT, index->path,
                     "can't be %s with %s, because they differ in their recipe, '%s' here and '%s' there: rebuild one "
                     "of them by the recipe of the other",
                     participle, other->path, get_recipe_name(index), get_recipe_name(other));
}
