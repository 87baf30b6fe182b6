/* index.c: opens and closes an index, and returns its properties. */
#include "libidx/view/index.h"
#include "libidx/base/check.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libidx/base/error.h"
#include "libidx/base/file.h"
#include "libidx/scheme/cost.h"
#include "libidx/segment/manifest_file.h"
#include "libidx/view/live.h"

/* How often opening starts again because the index was replaced meanwhile. */
#define MAX_ATTEMPTS 1000

/* How often a refresh looks for the log again, which may be replaced as often meanwhile. */
#define REFRESH_ATTEMPTS 10

/* ---- The manifest ---- */

enum idx_status idxi_index_open_folder(struct idx_index *index, const char *path, struct idx_error *error) {
    index->path = strdup(path);
    index->manifest_path = idxi_path(path, IDXI_MANIFEST_NAME);
    if (index->path == NULL || index->manifest_path == NULL) return idxi_fail_memory(error);
    index->folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (index->folder >= 0) return IDX_OK;
    if (errno == ENOTDIR) return idxi_fail(error, IDX_NOT_AN_INDEX, path, "is not a folder, so it is not an idx index");
    if (errno == ENOENT) return idxi_fail(error, IDX_NOT_FOUND, path, "there is no such index");
    return idxi_fail_system(error, errno, path, "open");
}

static enum idx_status read_manifest(struct idx_index *index, struct idx_error *error) {
    IDXI_TRY(idxi_manifest_load(index->manifest, index->folder, index->path, &index->manifest_file, error));
    if (fstat(index->manifest_file, &index->seen) != 0)
        return idxi_fail_system(error, errno, index->manifest_path, "stat");
    snprintf(index->scheme.name, sizeof index->scheme.name, "%s", index->manifest->scheme);
    index->scheme.bits = index->manifest->bits;
    index->scheme.table_count = index->manifest->table_count;
    for (size_t i = 0; i < index->scheme.table_count; i++)
        index->scheme.tables[i] =
            (struct idx_table){index->manifest->tables[i].mask, index->manifest->tables[i].radius};
    if (idx_scheme_covers(&index->scheme, index->manifest->k)) return IDX_OK;
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

/* ---- Segments ---- */

enum idx_status idxi_segment_open_folder(struct idx_index *index, size_t number, int *folder, struct idx_error *error) {
    char name[IDXI_NAME_BYTES];
    struct idxi_segment *segment = calloc(1, sizeof *segment);
    if (segment == NULL) return idxi_fail_memory(error);
    index->segments[number] = segment;
    index->open_segments = number + 1;
    atomic_init(&segment->holders, 1);
    segment->entry = index->manifest->segments[number];
    idxi_segment_name(segment->entry.number, name);
    segment->path = idxi_path(index->path, name);
    segment->tables = calloc(index->scheme.table_count, sizeof *segment->tables);
    if (segment->path == NULL || segment->tables == NULL) return idxi_fail_memory(error);
    *folder = openat(index->folder, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*folder >= 0) return IDX_OK;
    if (errno == ENOENT || errno == ENOTDIR)
        return idxi_fail(error, IDX_MISSING_FILE, segment->path,
                         "is missing: the index is damaged; rebuild it, or restore it from a copy");
    return idxi_fail_system(error, errno, segment->path, "open");
}

static enum idx_status check_table(const struct idx_index *index, const struct idxi_segment *segment, size_t number,
                                   struct idx_error *error) {
    const struct idxi_table *table = &segment->tables[number];
    const struct idxf_table_header *header = &table->header;
    enum idxf_fault fault = IDXF_OK;
    if (memcmp(header->uuid, segment->entry.uuid, IDXF_UUID_BYTES) != 0 || header->number != number)
        return idxi_fail_foreign(error, table->path);
    if (header->bits != index->manifest->bits) fault = IDXF_FAULT_BITS;
    if (header->mask != index->scheme.tables[number].mask) fault = IDXF_FAULT_MASK;
    if (header->radius != index->scheme.tables[number].radius) fault = IDXF_FAULT_RADIUS;
    if (header->fingerprints != segment->entry.fingerprints) fault = IDXF_FAULT_COUNT;
    if (fault == IDXF_OK && number > 0 && segment->tables[0].map != NULL &&
        header->block_size != segment->tables[0].header.block_size)
        fault = IDXF_FAULT_BLOCK_SIZE;
    return fault == IDXF_OK ? IDX_OK : idxi_fail_fault(error, fault, table->path, 0);
}

enum idx_status idxi_segment_open_table(struct idx_index *index, size_t segment_number, size_t table, int folder,
                                        struct idx_error *error) {
    struct idxi_segment *segment = index->segments[segment_number];
    char name[IDXI_NAME_BYTES];
    idxi_table_name(table, name);
    segment->open_tables = table + 1;
    IDXI_TRY(idxi_table_open(&segment->tables[table], folder, segment->path, name, &index->options, error));
    return check_table(index, segment, table, error);
}

enum idx_status idxi_segment_open_map(struct idx_index *index, size_t segment_number, enum idxi_map_kind kind,
                                      int folder, struct idx_error *error) {
    struct idxi_segment *segment = index->segments[segment_number];
    *(kind == IDXI_MAP_BY_ID ? &segment->by_id_open : &segment->map_open) = true;
    return idxi_map_open(kind == IDXI_MAP_BY_ID ? &segment->by_id : &segment->map, kind, folder, segment->path,
                         &segment->entry, (enum idx_id_type)index->manifest->id_type, index->options.skip_page_checks,
                         error);
}

/* Sections of this size and more are worth huge pages. */
#define HUGE_PAGE_BYTES ((size_t)2 << 20)

static enum idx_status load_tables(struct idx_index *index, struct idxi_segment *segment, struct idx_error *error) {
    size_t bytes = 0, at = 0;
    for (size_t i = 0; i < segment->open_tables; i++)
        bytes += idxi_table_load_bytes(&segment->tables[i], index->options.residence);
    size_t alignment = bytes < HUGE_PAGE_BYTES ? IDXF_PAGE_SIZE : HUGE_PAGE_BYTES;
    if (bytes > 0) segment->loaded = aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    if (bytes > 0 && segment->loaded == NULL) return idxi_fail_memory(error);
#ifdef MADV_HUGEPAGE
    if (bytes >= HUGE_PAGE_BYTES) madvise(segment->loaded, bytes, MADV_HUGEPAGE);
#endif
    segment->loaded_bytes = bytes;
    for (size_t i = 0; i < segment->open_tables; i++) {
        struct idxi_table *table = &segment->tables[i];
        IDXI_TRY(idxi_table_load(table, &index->options, bytes > 0 ? segment->loaded + at : NULL, error));
        at += idxi_table_load_bytes(table, index->options.residence);
    }
    return IDX_OK;
}

enum idx_status idxi_segment_open_removed(struct idx_index *index, size_t segment_number, int folder,
                                          struct idx_error *error) {
    struct idxi_segment *segment = index->segments[segment_number];
    struct idxf_record_rules rules = idxi_index_rules(index);
    return idxi_removed_open(&segment->removed, folder, segment->path, &rules, &segment->entry, error);
}

/* Notes which tables have one code, so that their blocks can be searched side by side: mostly all. */
static void note_alike(struct idxi_segment *segment) {
    for (size_t i = 0; i < segment->open_tables; i++) {
        const struct idxf_table_header *header = &segment->tables[i].header;
        size_t first = 0;
        while (first < i && (memcmp(&segment->tables[first].header.code, &header->code, sizeof header->code) != 0 ||
                             segment->tables[first].header.long_codes != header->long_codes))
            first++;
        segment->tables[i].alike = first;
    }
}

static enum idx_status open_segment(struct idx_index *index, size_t number, struct idx_error *error) {
    int folder;
    IDXI_TRY(idxi_segment_open_folder(index, number, &folder, error));
    struct idxi_segment *segment = index->segments[number];
    enum idx_status status = IDX_OK;
    for (size_t table = 0; table < index->scheme.table_count && status == IDX_OK; table++)
        status = idxi_segment_open_table(index, number, table, folder, error);
    note_alike(segment);
    if (status == IDX_OK) status = load_tables(index, segment, error);
    if (status == IDX_OK) status = idxi_segment_open_map(index, number, IDXI_MAP_DOCUMENTS, folder, error);
    if (status == IDX_OK && index->manifest->by_id)
        status = idxi_segment_open_map(index, number, IDXI_MAP_BY_ID, folder, error);
    if (status == IDX_OK) status = idxi_segment_open_removed(index, number, folder, error);
    close(folder);
    return status;
}

static void release_segment(struct idxi_segment *segment) {
    if (segment == NULL || atomic_fetch_sub(&segment->holders, 1) != 1) return;
    for (size_t table = 0; table < segment->open_tables; table++) idxi_table_close(&segment->tables[table]);
    if (segment->map_open) idxi_map_close(&segment->map);
    if (segment->by_id_open) idxi_map_close(&segment->by_id);
    idxi_removed_close(&segment->removed);
    free(segment->tables);
    free(segment->loaded);
    free(segment->path);
    free(segment);
}

/* ---- Opening and closing ---- */

struct idxf_record_rules idxi_index_rules(const struct idx_index *index) {
    struct idxf_record_rules rules = {.bits = index->manifest->bits, .id_type = index->manifest->id_type};
    memcpy(rules.uuid, index->manifest->uuid, sizeof rules.uuid);
    return rules;
}

/* Whether two stand in one folder, and segments of one may be segments of the other. */
static bool are_alike(const struct idx_index *one, const struct idx_index *other) {
    const struct idxf_manifest *a = one->manifest, *b = other->manifest;
    struct stat here, there;
    if (fstat(one->folder, &here) != 0 || fstat(other->folder, &there) != 0) return false;
    bool alike = here.st_dev == there.st_dev && here.st_ino == there.st_ino &&
                 memcmp(a->uuid, b->uuid, IDXF_UUID_BYTES) == 0 && a->bits == b->bits && a->k == b->k &&
                 a->id_type == b->id_type && a->by_id == b->by_id && a->table_count == b->table_count;
    for (size_t i = 0; i < a->table_count && alike; i++)
        alike = a->tables[i].mask == b->tables[i].mask && a->tables[i].radius == b->tables[i].radius;
    return alike;
}

static bool is_of(const struct idxi_segment *segment, const struct idxf_manifest_segment *entry) {
    return memcmp(segment->entry.uuid, entry->uuid, IDXF_UUID_BYTES) == 0 &&
           segment->entry.fingerprints == entry->fingerprints && segment->entry.documents == entry->documents &&
           segment->entry.removed == entry->removed;
}

/* Makes a segment of `older` (may be NULL) segment `number` of the index, too, where it is the one that is meant. */
static bool share_segment(struct idx_index *index, const struct idx_index *older, size_t number) {
    if (older == NULL || older->options.residence != index->options.residence) return false;
    for (size_t i = 0; i < older->open_segments; i++) {
        if (!is_of(older->segments[i], &index->manifest->segments[number])) continue;
        atomic_fetch_add(&older->segments[i]->holders, 1);
        index->segments[number] = older->segments[i];
        index->open_segments = number + 1;
        return true;
    }
    return false;
}

static enum idx_status open_tail(struct idx_index *index, const struct idx_index *older, struct idx_error *error) {
    const struct idxf_manifest *manifest = index->manifest;
    struct idxf_record_rules rules = idxi_index_rules(index);
    if (older == NULL || older->spoilt || older->manifest->sequence != manifest->sequence) {
        IDXI_TRY(idxi_tail_new(&index->tail, &rules, manifest->k, manifest->sequence, error));
    } else {
        index->tail = older->tail;
        idxi_tail_hold(index->tail);
    }
    idxi_tail_set_log(index->tail, &manifest->log);
    return IDX_OK;
}

/* Notes whether matches have to be compared with any removals. */
static void note_removals(struct idx_index *index) {
    index->removes = index->pending.removals > 0;
    for (size_t i = 0; i < index->open_segments; i++) index->removes |= index->segments[i]->removed.count > 0;
}

/* Reads what is pending, up to now. */
static enum idx_status read_tail(struct idx_index *index, struct idx_error *error) {
    IDXI_TRY(idxi_tail_read(index->tail, index->folder, index->path, &index->pending, error));
    note_removals(index);
    return IDX_OK;
}

/* Opens the index, with what it can share with `older` (may be NULL). */
static enum idx_status open_once(struct idx_index *index, const char *path, const struct idx_index *older,
                                 struct idx_error *error) {
    IDXI_TRY(idxi_index_open_folder(index, path, error));
    IDXI_TRY(idxi_index_read_manifest(index, error));
    IDXI_TRY(idxi_probings_make(&index->probings, &index->scheme, index->manifest->k, error));
    if (older != NULL && !are_alike(older, index)) older = NULL;
    index->segments = calloc(index->manifest->segment_count, sizeof(struct idxi_segment *));
    if (index->segments == NULL) return idxi_fail_memory(error);
    for (size_t i = 0; i < index->manifest->segment_count; i++) {
        if (!share_segment(index, older, i)) IDXI_TRY(open_segment(index, i, error));
    }
    IDXI_TRY(open_tail(index, older, error));
    return read_tail(index, error);
}

struct idx_index *idxi_index_new(const struct idx_open_options *options) {
    struct idx_index *index = calloc(1, sizeof *index);
    if (index == NULL) return NULL;
    if (pthread_mutex_init(&index->mutex, NULL) != 0) {
        free(index);
        return NULL;
    }
    index->folder = index->manifest_file = -1;
    index->origin = index;
    atomic_init(&index->holders, 1);
    index->options = *options;
    return index;
}

bool idxi_index_is_outdated(const struct idx_index *index) {
    enum idxi_change change = IDXI_SAME;
    return index->folder >= 0 && idxi_index_look(index, &change, NULL) == IDX_OK && change != IDXI_SAME;
}

enum idx_status idxi_index_open(struct idx_index **result, const char *path, const struct idx_open_options *options,
                                const struct idx_index *older, struct idx_error *error) {
    for (int attempt = 1;; attempt++) {
        struct idx_index *index = idxi_index_new(options);
        if (index == NULL) return idxi_fail_memory(error);
        enum idx_status status = open_once(index, path, older, error);
        if (status == IDX_OK) {
            *result = index;
            return IDX_OK;
        }
        bool again = attempt < MAX_ATTEMPTS && idxi_index_is_outdated(index);
        idx_close(index);
        if (!again) return status;
    }
}

enum idx_status idx_open(struct idx_index **result, const char *path, const struct idx_open_options *options,
                         struct idx_error *error) {
    struct idx_open_options own = IDX_OPEN_OPTIONS_INIT;
    idxi_copy_options(&own, options);
    if ((unsigned)own.residence > IDX_RESIDENCE_DISK)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL, "there is no residence %d", (int)own.residence);
    return idxi_index_open(result, path, &own, NULL, error);
}

/* Lets go of what views of one manifest share. */
static void release_origin(struct idx_index *origin) {
    if (atomic_fetch_sub(&origin->holders, 1) != 1) return;
    for (size_t i = 0; i < origin->open_segments; i++) release_segment(origin->segments[i]);
    free(origin->segments);
    idxi_tail_release(origin->tail);
    idxi_probings_free(origin->probings);
    free(origin->manifest);
    if (origin->manifest_file >= 0) close(origin->manifest_file);
    if (origin->folder >= 0) close(origin->folder);
    pthread_mutex_destroy(&origin->mutex);
    free(origin->manifest_path);
    free(origin->path);
    free(origin);
}

void idx_close(struct idx_index *index) {
    if (index == NULL) return;
    struct idx_index *origin = index->origin;
    if (origin != index) free(index);
    release_origin(origin);
}

/* ---- Newer views ---- */

/* Whether a file is the one that was seen last, and as it was. */
static bool is_seen(const struct idx_index *index, const struct stat *now) {
    struct idx_index *origin = index->origin;
    pthread_mutex_lock(&origin->mutex);
    const struct stat *seen = &origin->seen;
    bool same = origin->manifest_file >= 0 && now->st_dev == seen->st_dev && now->st_ino == seen->st_ino &&
                now->st_size == seen->st_size && now->st_mtim.tv_sec == seen->st_mtim.tv_sec &&
                now->st_mtim.tv_nsec == seen->st_mtim.tv_nsec;
    pthread_mutex_unlock(&origin->mutex);
    return same;
}

/* Takes a manifest's file for the one that was seen last; -1 for none. */
static void see(const struct idx_index *index, int file) {
    struct idx_index *origin = index->origin;
    pthread_mutex_lock(&origin->mutex);
    int before = origin->manifest_file;
    origin->manifest_file = file;
    if (file >= 0 && fstat(file, &origin->seen) != 0) origin->seen = (struct stat){0};
    pthread_mutex_unlock(&origin->mutex);
    if (before >= 0) close(before);
}

/* Compares the manifest in a folder with the open one. */
static enum idx_status compare_manifests(const struct idx_index *index, int folder, enum idxi_change *change,
                                         struct idx_error *error) {
    int file;
    char *text = malloc(IDXF_MAX_MANIFEST_BYTES);
    struct idxf_manifest *manifest = malloc(sizeof *manifest);
    enum idx_status status = text == NULL || manifest == NULL
                                 ? idxi_fail_memory(error)
                                 : idxi_manifest_load(manifest, folder, index->path, &file, error);
    *change = IDXI_REPLACED;
    if (status == IDX_OK) {
        struct idxf_manifest_log log = manifest->log;
        manifest->log = index->manifest->log;
        idxf_manifest_write(manifest, text);
        if (manifest->checksum == index->manifest->checksum) {
            *change = IDXI_NEW_LOG;
            if (index->tail != NULL) idxi_tail_set_log(index->tail, &log);
            see(index, file);
        } else {
            close(file);
        }
    }
    free(text);
    free(manifest);
    bool is_other = status == IDX_NOT_AN_INDEX || status == IDX_NEW_VERSION ||
                    (status >= IDX_MISSING_FILE && status < IDX_OUT_OF_MEMORY);
    return is_other ? IDX_OK : status;
}

static enum idx_status compare_folders(const struct idx_index *index, enum idxi_change *change,
                                       struct idx_error *error) {
    struct stat ours, theirs;
    int folder = open(index->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0 && (errno == ENOENT || errno == ENOTDIR)) {
        *change = IDXI_REPLACED;
        return IDX_OK;
    }
    if (folder < 0) return idxi_fail_system(error, errno, index->path, "open");
    enum idx_status status = IDX_OK;
    if (fstat(folder, &theirs) != 0 || fstat(index->folder, &ours) != 0)
        status = idxi_fail_system(error, errno, index->path, "stat");
    else if (ours.st_dev != theirs.st_dev || ours.st_ino != theirs.st_ino)
        *change = IDXI_REPLACED;
    else if (index->manifest == NULL)
        *change = IDXI_SAME;
    else
        status = compare_manifests(index, folder, change, error);
    close(folder);
    return status;
}

enum idx_status idxi_index_look(const struct idx_index *index, enum idxi_change *change, struct idx_error *error) {
    struct stat now;
    *change = IDXI_SAME;
    if (stat(index->manifest_path, &now) == 0 && is_seen(index, &now)) return IDX_OK;
    return compare_folders(index, change, error);
}

enum idx_status idx_replaced(const struct idx_index *index, bool *replaced, struct idx_error *error) {
    enum idxi_change change;
    IDXI_TRY(idxi_index_look(index, &change, error));
    *replaced = change == IDXI_REPLACED;
    return IDX_OK;
}

/* A view with what is pending up to now; NULL where that is no more than the index has. */
static enum idx_status view_tail(const struct idx_index *index, struct idx_index **newer, struct idx_error *error) {
    struct idx_index *view = malloc(sizeof *view);
    if (view == NULL) return idxi_fail_memory(error);
    memcpy(view, index, offsetof(struct idx_index, holders)); /* the rest is the origin's */
    enum idx_status status = read_tail(view, error);
    if (status != IDX_OK || view->pending.pending.last == index->pending.pending.last) {
        free(view);
        *newer = NULL;
        return status;
    }
    atomic_fetch_add(&index->origin->holders, 1);
    *newer = view;
    return IDX_OK;
}

enum idx_status idx_refresh(const struct idx_index *index, struct idx_index **newer, struct idx_error *error) {
    enum idxi_change change = IDXI_REPLACED;
    enum idx_status status = IDX_OK;
    if (!index->spoilt) IDXI_TRY(idxi_index_look(index, &change, error));
    for (int attempt = 1; change != IDXI_REPLACED; attempt++) {
        status = view_tail(index, newer, error);
        if (status == IDX_OK || attempt == REFRESH_ATTEMPTS) return status;
        see(index, -1); /* another log may have taken the place of the one that is known */
        if (idxi_index_look(index, &change, NULL) != IDX_OK) return status;
    }
    return idxi_index_open(newer, index->path, &index->options, index, error);
}

/* ---- Properties ---- */

void idx_get_properties(const struct idx_index *index, struct idx_properties *properties) {
    const struct idxf_manifest *manifest = index->manifest;
    memset(properties, 0, sizeof *properties);
    properties->format_version = IDXF_VERSION;
    idxf_uuid_write(manifest->uuid, properties->uuid);
    properties->bits = manifest->bits;
    properties->k = manifest->k;
    properties->id_type = (enum idx_id_type)manifest->id_type;
    properties->recipe = manifest->recipe;
    properties->scheme = &index->scheme;
    properties->by_id = manifest->by_id;
    properties->segments = manifest->segment_count;
    properties->resident_bytes = sizeof *index + sizeof *manifest;
    properties->pending_removals = index->pending.removals;
    properties->pending_documents =
        index->pending.pending.last - index->pending.pending.after - index->pending.removals;
    if (index->pending.pending.pending != NULL)
        properties->resident_bytes += idxi_pending_bytes(index->pending.pending.pending);
    for (size_t i = 0; i < manifest->segment_count; i++) {
        const struct idxi_segment *segment = index->segments[i];
        properties->fingerprints += segment->entry.fingerprints;
        properties->documents += segment->entry.documents;
        properties->removals += segment->entry.removed;
        properties->documents_bytes += segment->map.bytes;
        properties->by_id_bytes += segment->by_id.bytes;
        properties->resident_bytes += sizeof *segment + segment->loaded_bytes + segment->map.pages.allocated_bytes +
                                      segment->by_id.pages.allocated_bytes;
        for (size_t table = 0; table < index->scheme.table_count; table++) {
            properties->table_bytes += segment->tables[table].layout.file_size;
            properties->resident_bytes += segment->tables[table].allocated_bytes + sizeof segment->tables[table];
        }
    }
}

/* Every fingerprint is the random one as likely, so groups count by their squares. */
static void measure_skew(const struct idxi_table *table, struct idx_table_properties *properties) {
    const struct idxf_statistics *statistics = &table->header.statistics;
    double count = (double)table->header.fingerprints, blocks = (double)table->header.blocks;
    properties->dead_bits = ~(statistics->set_bits ^ statistics->common_bits) & idxf_low_bits(table->header.bits);
    properties->largest_group = statistics->largest_group;
    if (count == 0) return;
    properties->mean_group = 1 + 2 * (double)statistics->pairs / count;
    double even_group = ldexp(count, -(int)table->prefix), each = count / blocks;
    properties->expected_blocks = fmin(idxi_expected_blocks(properties->mean_group, each), blocks);
    properties->even_blocks = fmin(idxi_expected_blocks(even_group, each), blocks);
}

enum idx_status idx_get_table_properties(const struct idx_index *index, size_t segment, size_t table,
                                         struct idx_table_properties *properties, struct idx_error *error) {
    if (segment >= index->manifest->segment_count || table >= index->scheme.table_count)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, index->path, "has no table %zu in segment %zu", table, segment);
    const struct idxi_table *reader = &index->segments[segment]->tables[table];
    *properties = (struct idx_table_properties){
        .mask = reader->header.mask,
        .radius = reader->header.radius,
        .prefix = reader->prefix,
        .block_size = reader->header.block_size,
        .fingerprints = reader->header.fingerprints,
        .blocks = reader->header.blocks,
        .file_bytes = reader->layout.file_size,
        .directory_bytes = reader->layout.lists - reader->layout.directory + reader->header.list_bytes,
    };
    measure_skew(reader, properties);
    return IDX_OK;
}

/* Takes what has more documents, or as many and is smaller. */
static void take_heavier(struct idxi_heaviest *heaviest, uint64_t fingerprint, uint64_t documents) {
    if (documents < heaviest->documents) return;
    if (documents == heaviest->documents && fingerprint >= heaviest->fingerprint) return;
    heaviest->fingerprint = fingerprint;
    heaviest->documents = documents;
}

static enum idx_status weigh_pending(const struct idx_index *index, struct idxi_heaviest *heaviest,
                                     struct idx_error *error) {
    uint64_t *fingerprints;
    size_t count, id_size;
    const uint8_t *id;
    if (!idxi_has_pending(index) || index->manifest->id_type == IDXF_ID_NONE) return IDX_OK;
    IDXI_TRY(idxi_sort_pending(index, false, &fingerprints, &count, error));
    for (size_t i = 0; i < count; i++) {
        struct idxi_pending_cursor cursor;
        uint64_t documents = 0;
        idxi_pending_documents(&index->pending.pending, fingerprints[i], &cursor);
        while (idxi_pending_next(&cursor, &id, &id_size)) documents++;
        take_heavier(heaviest, fingerprints[i], documents);
    }
    free(fingerprints);
    return IDX_OK;
}

enum idx_status idx_get_heaviest(const struct idx_index *index, uint64_t *fingerprint, uint64_t *documents,
                                 struct idx_error *error) {
    struct idxi_heaviest heaviest = {0};
    for (size_t i = 0; i < index->open_segments; i++) {
        struct idxi_map *map = &index->segments[i]->map;
        IDXI_TRY(idxi_map_prepare(map, error));
        if (idxi_first_live(index, map->heaviest_fingerprint) <= i)
            take_heavier(&heaviest, map->heaviest_fingerprint, map->heaviest_documents);
    }
    IDXI_TRY(weigh_pending(index, &heaviest, error));
    *fingerprint = heaviest.fingerprint;
    *documents = heaviest.documents;
    return IDX_OK;
}
