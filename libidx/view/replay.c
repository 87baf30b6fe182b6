/* replay.c: see replay.h. */
#include "libidx/view/replay.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "libidx/base/base.h"
#include "libidx/log/log_reader.h"
#include "libidx/log/pending.h"
#include "libidx/log/pending_buckets.h"

#define MIN_RECORD_BYTES 8 /* A record in the log has more bytes than this for each of its sequence numbers. */

/* How many records are copied into newer memory each time the log is read, and besides for each new record. That takes
 * a few milliseconds, and is enough to come to an end long before the next compaction. */
#define MIN_COPIED_RECORDS 16384
#define COPIED_PER_NEW_RECORD 4

#define AHEAD 16 /* Memory is prefetched for so many records at a time, before these are copied. */

struct idxi_replay {
    atomic_size_t holders;
    struct idxf_record_rules rules;
    unsigned k;
    atomic_ullong expected_records;  /* about how many are pending before they are compacted; 0: unknown */
    pthread_mutex_t mutex;           /* guards all members below */
    struct idxi_log log;             /* its file is -1 while it is not open */
    uint8_t log_id[IDXF_UUID_BYTES]; /* of the log that was opened last; 0: none was */
    struct idxi_pending *records;    /* NULL while there is none */
    uint64_t base;                   /* `records` are those with a sequence number above this one */
    uint64_t after, last;            /* the newest known manifest's sequence, and that of the last record in memory */
    uint64_t removals;               /* how many of the records behind `after` are removals */
    struct idxi_pending *newer;      /* takes the place of `records` once it has all records behind newer_base */
    uint64_t newer_base;
    bool has_partial_runs; /* whether `newer` has some of its runs; nothing is copied to it until it has all */
    bool spoilt;           /* a text was appended in part, so all records have to be read anew */
};

enum idx_status idxi_replay_new(struct idxi_replay **result, const struct idxf_record_rules *rules, unsigned k,
                                uint64_t sequence, struct idx_error *error) {
    struct idxi_replay *replay = calloc(1, sizeof *replay);
    if (replay == NULL) return idxi_fail_memory(error);
    *replay = (struct idxi_replay){
        .rules = *rules, .k = k, .base = sequence, .after = sequence, .last = sequence, .log = {.file = -1}};
    atomic_init(&replay->holders, 1);
    if (pthread_mutex_init(&replay->mutex, NULL) != 0) {
        free(replay);
        return idxi_fail_memory(error);
    }
    *result = replay;
    return IDX_OK;
}

void idxi_replay_hold(struct idxi_replay *replay) {
    if (replay != NULL) atomic_fetch_add(&replay->holders, 1);
}

void idxi_replay_release(struct idxi_replay *replay) {
    if (replay == NULL || atomic_fetch_sub(&replay->holders, 1) != 1) return;
    idxi_pending_release(replay->records);
    idxi_pending_release(replay->newer);
    idxi_log_close(&replay->log);
    pthread_mutex_destroy(&replay->mutex);
    free(replay);
}

void idxi_replay_expect_records(struct idxi_replay *replay, uint64_t records) { replay->expected_records = records; }

void idxi_replay_prefetch_append(const struct idxi_replay *replay, const struct idxf_record *record) {
    if (replay->records != NULL && record->operation != IDXF_ADD_TEXT)
        idxi_pending_prefetch_append(replay->records, record);
}

/* Makes replay->records, with no record yet, unless they exist. About `expected` records will be appended before their
 * runs are made; 0: unknown. Errors: IDX_OUT_OF_MEMORY. */
static enum idx_status ensure_records(struct idxi_replay *replay, uint64_t expected, struct idx_error *error) {
    if (replay->records != NULL) return IDX_OK;
    replay->base = replay->last;
    return idxi_pending_new(&replay->records, &replay->rules, replay->k, replay->last, expected,
                            replay->expected_records, error);
}

/* Appends a record to replay->records, which must not be NULL. Uses its text ID, or its text, where it is in `map`, or
 * copies it if `map` is NULL. After an error, an IDXF_ADD_TEXT record may have been appended in part. Errors: as
 * idxi_pending_append_record. */
static enum idx_status append_record(struct idxi_replay *replay, const struct idxf_record *record,
                                     struct idxi_log_map *map, struct idx_error *error) {
    bool is_text = record->operation == IDXF_ADD_TEXT;
    IDXI_TRY(is_text ? idxi_pending_append_text(&replay->records, record, map, error)
                     : idxi_pending_append_record(&replay->records, record, map, error));
    replay->last += idxf_count_sequence_numbers(&replay->rules, record);
    replay->removals += record->operation != IDXF_ADD && !is_text;
    return IDX_OK;
}

/* The idxi_record_prefetcher of a replay. */
static void prefetch_record(void *context, const struct idxf_record *record) {
    idxi_replay_prefetch_append(context, record);
}

/* Appends a record that was read from the log, whose map has its bytes. This is an idxi_record_visitor. */
static enum idx_status append_read_record(void *context, const struct idxf_record *record, struct idx_error *error) {
    struct idxi_replay *replay = context;
    IDXI_TRY(ensure_records(replay, 0, error));
    enum idx_status status = append_record(replay, record, replay->log.map, error);
    replay->spoilt = status != IDX_OK && record->operation == IDXF_ADD_TEXT;
    return status;
}

/* Returns how many new records the log has at least, as its slots say, but no more than its bytes can hold. */
static uint64_t estimate_new_records(const struct idxi_replay *replay) {
    const struct idxf_log_place *on_disk = &replay->log.acknowledged, *place = &replay->log.place;
    if (on_disk->sequence <= replay->last || on_disk->offset <= place->offset) return 0;
    uint64_t records = on_disk->sequence - replay->last, limit = (on_disk->offset - place->offset) / MIN_RECORD_BYTES;
    return records < limit ? records : limit;
}

/* Returns a view of all that is pending. The caller has still to hold the records for it, by idxi_pending_hold. */
static struct idxi_pending_view make_view(const struct idxi_replay *replay) {
    return (struct idxi_pending_view){
        .records = replay->records, .after = replay->after, .last = replay->last, .removals = replay->removals};
}

/* ---- Dropping what newer manifests have in segments ---- */

/* Frees the newer memory, if there is any, though it does not have all records yet: the next copying begins anew. */
static void abandon_copying(struct idxi_replay *replay) {
    idxi_pending_release(replay->newer);
    replay->newer = NULL;
    replay->has_partial_runs = false;
}

/* Releases the replay's hold of all records, which are freed once no view holds them. */
static void drop_records(struct idxi_replay *replay) {
    abandon_copying(replay);
    idxi_pending_release(replay->records);
    replay->records = NULL;
    replay->removals = 0;
}

bool idxi_replay_follow_manifest(struct idxi_replay *replay, uint64_t sequence) {
    pthread_mutex_lock(&replay->mutex);
    bool follows = sequence >= replay->after && sequence <= replay->last;
    if (follows) {
        struct idxi_pending_view remaining = {.records = replay->records, .after = sequence, .last = replay->last};
        if (sequence == replay->last) drop_records(replay);
        if (replay->removals > 0) replay->removals = idxi_pending_count_removals(&remaining);
        replay->after = sequence;
    }
    pthread_mutex_unlock(&replay->mutex);
    return follows;
}

/* Prefetches what appending a record to replay->newer will read and write. This is an idxi_pending_record_visitor. */
static enum idx_status prefetch_copy(void *context, uint64_t sequence, const struct idxf_record *record,
                                     struct idx_error *error) {
    const struct idxi_replay *replay = context;
    (void)sequence;
    (void)error;
    idxi_pending_prefetch_append(replay->newer, record);
    return IDX_OK;
}

/* Copies a record to replay->newer, unless it is there already. For the first record of a text, copies all records of
 * the text. This is an idxi_pending_record_visitor. Errors: as idxi_pending_append_record. */
static enum idx_status copy_record(void *context, uint64_t sequence, const struct idxf_record *record,
                                   struct idx_error *error) {
    struct idxi_replay *replay = context;
    struct idxi_log_map *map = idxi_pending_find_map_of_id(replay->records, record);
    if (sequence <= idxi_pending_get_last_sequence(replay->newer)) return IDX_OK;
    if (replay->rules.sketch == 0 || record->operation != IDXF_ADD)
        return idxi_pending_append_record(&replay->newer, record, map, error);
    struct idxf_record text = {.operation = IDXF_ADD_TEXT, .id = record->id, .id_size = record->id_size};
    size_t count;
    text.members = idxf_get_text_members(&replay->rules, record->id, record->id_size, &count);
    text.fingerprint = count;
    return idxi_pending_append_text(&replay->newer, &text, map, error);
}

/* Copies `count` more records to the newer memory, or all that are left, and the rest of the last text. Prefetches and
 * copies AHEAD of them at a time. Errors: as idxi_pending_append_record. */
static enum idx_status copy_records(struct idxi_replay *replay, uint64_t count) {
    /* Sequence numbers: of the last record that was copied, and of the last one to copy in this call. */
    uint64_t last_copied = idxi_pending_get_last_sequence(replay->newer), left = replay->last - last_copied;
    uint64_t last_to_copy = last_copied + (count < left ? count : left);
    for (; last_copied < last_to_copy; last_copied = idxi_pending_get_last_sequence(replay->newer)) {
        uint64_t last = last_to_copy - last_copied < AHEAD ? last_to_copy : last_copied + AHEAD;
        struct idxi_pending_view piece = {.records = replay->records, .after = last_copied, .last = last};
        IDXI_TRY(idxi_pending_visit_records(&piece, prefetch_copy, replay, NULL));
        IDXI_TRY(idxi_pending_visit_records(&piece, copy_record, replay, NULL));
    }
    return IDX_OK;
}

/* Does the next part of moving the records behind replay->after to newer memory: copies up to `count` of them, or once
 * it has all, makes the next of its runs. Many calls share the work, so that none takes long. When that is complete,
 * the newer memory takes the place of replay->records. Errors: as idxi_pending_append_record. */
static enum idx_status continue_copying(struct idxi_replay *replay, uint64_t count) {
    bool is_complete;
    if (replay->newer == NULL) {
        replay->newer_base = replay->after;
        IDXI_TRY(idxi_pending_new(&replay->newer, &replay->rules, replay->k, replay->after,
                                  2 * (replay->last - replay->after), replay->expected_records, NULL));
    }
    if (!replay->has_partial_runs) IDXI_TRY(copy_records(replay, count));
    if (!replay->has_partial_runs && idxi_pending_get_last_sequence(replay->newer) < replay->last) return IDX_OK;
    replay->has_partial_runs = true;
    IDXI_TRY(idxi_pending_make_next_run(replay->newer, &is_complete, NULL));
    if (!is_complete) return IDX_OK;
    replay->has_partial_runs = false;
    /* Later calls copy the records that were appended while the runs were made. */
    if (idxi_pending_get_last_sequence(replay->newer) < replay->last) return IDX_OK;
    idxi_pending_release(replay->records);
    replay->records = replay->newer;
    replay->base = replay->newer_base;
    replay->newer = NULL;
    return IDX_OK;
}

/* Does the next step of dropping records that segments have by now, if there are any: copies up to `count` of the other
 * records, as continue_copying does. If that fails, because memory runs out, a later call begins anew. */
static void continue_dropping(struct idxi_replay *replay, uint64_t count) {
    if (replay->records == NULL || replay->base == replay->after) return;
    if (continue_copying(replay, count) != IDX_OK) abandon_copying(replay);
}

/* ---- Reading ---- */

/* Returns whether the log with this header surely gives the records in memory the same numbers. That is so if it is the
 * log that was read before, or its successor, or if none was read. Of a later successor it is not known: the logs
 * between may have dropped records that are in no segment of the manifest that this replay knows. */
static bool is_continuation(const struct idxi_replay *replay, const struct idxf_log *header) {
    static const uint8_t no_id[IDXF_UUID_BYTES];
    const uint8_t *last_id = replay->log_id;
    return memcmp(last_id, no_id, sizeof no_id) == 0 || memcmp(last_id, header->id, sizeof no_id) == 0 ||
           memcmp(last_id, header->before, sizeof no_id) == 0;
}

/* Opens the log of a manifest's entry, and then closes the one that was open. If this fails, that one stays open, since
 * another view may know a newer manifest. If the new log does not continue the one read before, drops the records in
 * memory, so that they are read anew. */
static enum idx_status open_log(struct idxi_replay *replay, int folder, const char *folder_path,
                                const struct idxf_manifest_log *entry, struct idx_error *error) {
    struct idxi_log log;
    enum idx_status status = idxi_log_open(&log, folder, folder_path, &replay->rules, entry, replay->last, error);
    bool reads_anew = status == IDX_OK && !is_continuation(replay, &log.header);
    if (reads_anew) status = idxi_log_check_no_gap(&log, replay->after, error);
    if (status != IDX_OK) {
        idxi_log_close(&log);
        return status;
    }
    if (reads_anew) {
        drop_records(replay);
        replay->last = replay->after;
    }
    memcpy(replay->log_id, log.header.id, IDXF_UUID_BYTES);
    idxi_log_close(&replay->log);
    replay->log = log;
    return IDX_OK;
}

/* Appends to replay->records what is new in the log of a manifest's entry, if the entry says that there is one. Opens
 * it first if it is another log than before. Makes the runs of the records, so that there can be views. Errors: as
 * idxi_log_open and idxi_log_visit_records; IDX_LIMIT. */
static enum idx_status read_new_records(struct idxi_replay *replay, int folder, const char *folder_path,
                                        const struct idxf_manifest_log *entry, struct idx_error *error) {
    if (!entry->exists) return IDX_OK;
    if (replay->log.file < 0 || !idxi_log_belongs_to(&replay->log, entry))
        IDXI_TRY(open_log(replay, folder, folder_path, entry, error));
    replay->log.manifest_last = entry->last;
    if (estimate_new_records(replay) > 0) IDXI_TRY(ensure_records(replay, estimate_new_records(replay), error));
    IDXI_TRY(idxi_log_visit_records(&replay->log, replay->last, prefetch_record, append_read_record, replay, error));
    return replay->records != NULL ? idxi_pending_make_runs(replay->records, error) : IDX_OK;
}

enum idx_status idxi_replay_read_log(struct idxi_replay *replay, int folder, const char *folder_path, uint64_t sequence,
                                     const struct idxf_manifest_log *entry, struct idxi_pending_view *view,
                                     struct idx_error *error) {
    pthread_mutex_lock(&replay->mutex);
    uint64_t old_last = replay->last;
    enum idx_status status =
        sequence == replay->after
            ? read_new_records(replay, folder, folder_path, entry, error)
            : idxi_fail(error, IDX_BAD_CONTENT, folder_path,
                        "has a manifest that ends with record %llu, where one was seen that ends with record %llu: "
                        "open the index again",
                        (unsigned long long)sequence, (unsigned long long)replay->after);
    if (replay->spoilt) { /* The next call reads the log anew from its first record. */
        drop_records(replay);
        idxi_log_close(&replay->log);
        replay->last = replay->after;
        replay->spoilt = false;
    }
    if (status == IDX_OK) {
        continue_dropping(replay, MIN_COPIED_RECORDS + (replay->last - old_last) * COPIED_PER_NEW_RECORD);
        idxi_pending_hold(replay->records);
        *view = make_view(replay);
    }
    pthread_mutex_unlock(&replay->mutex);
    return status;
}

enum idx_status idxi_replay_append_record(struct idxi_replay *replay, const struct idxf_record *record,
                                          struct idxi_pending_view *view, struct idx_error *error) {
    IDXI_TRY(ensure_records(replay, 0, error)); /* Only the writer's thread uses its replay: no lock is needed. */
    IDXI_TRY(idxi_pending_make_runs(replay->records, error));
    IDXI_TRY(append_record(replay, record, NULL, error));
    continue_dropping(replay, COPIED_PER_NEW_RECORD);
    struct idxi_pending *former = view->records;
    if (former != replay->records) idxi_pending_hold(replay->records);
    *view = make_view(replay);
    if (former != replay->records) idxi_pending_release(former);
    return IDX_OK;
}
