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

#define LEAST_RECORD_BYTES 8 /* of a record in the log, for each of its sequence numbers: more than a fingerprint */

/* How many records are copied into newer memory each time the log is read, and for each new record: a few
 * milliseconds' work, and enough to come to an end long before the next compaction. */
#define COPIED_AT_LEAST 16384
#define COPIED_FOR_EACH 4

#define AHEAD 16 /* what copying touches is prefetched for so many records at a time */

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
    bool settling; /* nothing is copied until `newer` is settled */
    bool spoilt;   /* a text was appended in part, so all records have to be read anew */
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

void idxi_replay_prefetch(const struct idxi_replay *replay, const struct idxf_record *record) {
    if (replay->records != NULL && record->operation != IDXF_ADD_TEXT)
        idxi_pending_prefetch_append(replay->records, record);
}

/* Makes replay->records, unless there are some. About `expected` records are appended before these are settled. */
static enum idx_status ensure_records(struct idxi_replay *replay, uint64_t expected, struct idx_error *error) {
    if (replay->records != NULL) return IDX_OK;
    replay->base = replay->last;
    return idxi_pending_new(&replay->records, &replay->rules, replay->k, replay->last, expected,
                            replay->expected_records, error);
}

/* Appends a record to those in memory. A text ID, or a text, stays in `map`, or is copied if that is NULL. */
static enum idx_status append_record(struct idxi_replay *replay, const struct idxf_record *record,
                                     struct idxi_log_map *map, struct idx_error *error) {
    bool is_text = record->operation == IDXF_ADD_TEXT;
    IDXI_TRY((is_text ? idxi_pending_append_text : idxi_pending_append_record)(&replay->records, record, map, error));
    replay->last += idxf_count_record_numbers(&replay->rules, record);
    replay->removals += record->operation != IDXF_ADD && !is_text;
    return IDX_OK;
}

/* The idxi_record_prefetcher of a replay. */
static void prefetch_record(void *context, const struct idxf_record *record) { idxi_replay_prefetch(context, record); }

/* Appends a record that was read from the log, whose map has its bytes. This is the visitor of idxi_log_visit_records.
 */
static enum idx_status append_read_record(void *context, const struct idxf_record *record, struct idx_error *error) {
    struct idxi_replay *replay = context;
    IDXI_TRY(ensure_records(replay, 0, error));
    enum idx_status status = append_record(replay, record, replay->log.map, error);
    replay->spoilt = status != IDX_OK && record->operation == IDXF_ADD_TEXT;
    return status;
}

/* Returns how many new records the log has at least, by its slots, but no more than its bytes can be. */
static uint64_t estimate_new_records(const struct idxi_replay *replay) {
    const struct idxf_log_place *on_disk = &replay->log.acknowledged, *place = &replay->log.place;
    if (on_disk->sequence <= replay->last || on_disk->offset <= place->offset) return 0;
    uint64_t records = on_disk->sequence - replay->last, limit = (on_disk->offset - place->offset) / LEAST_RECORD_BYTES;
    return records < limit ? records : limit;
}

/* Returns a view of all that is pending, for which the caller has still to hold the records. */
static struct idxi_pending_view make_view(const struct idxi_replay *replay) {
    return (struct idxi_pending_view){replay->records, replay->after, replay->last, replay->removals};
}

/* ---- Dropping what newer manifests have in segments ---- */

/* Frees the newer memory, if there is any, before it has all records: the next copying begins anew. */
static void abandon_copying(struct idxi_replay *replay) {
    idxi_pending_release(replay->newer);
    replay->newer = NULL;
    replay->settling = false;
}

/* Releases all records: those that no view holds are freed. */
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
        struct idxi_pending_view remaining = {replay->records, sequence, replay->last, 0};
        if (sequence == replay->last) drop_records(replay);
        if (replay->removals > 0) replay->removals = idxi_pending_count_removals(&remaining);
        replay->after = sequence;
    }
    pthread_mutex_unlock(&replay->mutex);
    return follows;
}

/* Prefetches what appending a record to the newer memory will touch. */
static enum idx_status prefetch_copy(void *context, uint64_t sequence, const struct idxf_record *record,
                                     struct idx_error *error) {
    const struct idxi_replay *replay = context;
    (void)sequence;
    (void)error;
    idxi_pending_prefetch_append(replay->newer, record);
    return IDX_OK;
}

/* Copies a record to the newer memory, unless it is there already. The first record of a text copies the whole text. */
static enum idx_status copy_record(void *context, uint64_t sequence, const struct idxf_record *record,
                                   struct idx_error *error) {
    struct idxi_replay *replay = context;
    struct idxi_log_map *map = idxi_pending_find_map_of_id(replay->records, record);
    if (sequence <= idxi_pending_get_last(replay->newer)) return IDX_OK;
    if (replay->rules.sketch == 0 || record->operation != IDXF_ADD)
        return idxi_pending_append_record(&replay->newer, record, map, error);
    struct idxf_record text = {.operation = IDXF_ADD_TEXT, .id = record->id, .id_size = record->id_size};
    size_t count;
    text.members = idxf_get_text_members(&replay->rules, record->id, record->id_size, &count);
    text.fingerprint = count;
    return idxi_pending_append_text(&replay->newer, &text, map, error);
}

/* Copies up to `count` more records to the newer memory. Prefetches and copies AHEAD of them at a time. */
static enum idx_status copy_records(struct idxi_replay *replay, uint64_t count) {
    uint64_t copied = idxi_pending_get_last(replay->newer), left = replay->last - copied,
             goal = copied + (count < left ? count : left);
    for (uint64_t next; copied < goal; copied = idxi_pending_get_last(replay->newer)) {
        next = goal - copied < AHEAD ? goal : copied + AHEAD;
        struct idxi_pending_view piece = {replay->records, copied, next, 0};
        IDXI_TRY(idxi_pending_visit_records(&piece, prefetch_copy, replay, NULL));
        IDXI_TRY(idxi_pending_visit_records(&piece, copy_record, replay, NULL));
    }
    return IDX_OK;
}

/* Goes on with copying the records to newer memory, up to `count` of them, or with settling that memory once it has
 * all. Many calls share the work, so that none takes long. At last the newer memory takes the place of the older. */
static enum idx_status continue_copying(struct idxi_replay *replay, uint64_t count) {
    bool settled;
    if (replay->newer == NULL) {
        replay->newer_base = replay->after;
        IDXI_TRY(idxi_pending_new(&replay->newer, &replay->rules, replay->k, replay->after,
                                  2 * (replay->last - replay->after), replay->expected_records, NULL));
    }
    if (!replay->settling) IDXI_TRY(copy_records(replay, count));
    if (!replay->settling && idxi_pending_get_last(replay->newer) < replay->last) return IDX_OK;
    replay->settling = true;
    IDXI_TRY(idxi_pending_make_next_run(replay->newer, &settled, NULL));
    if (!settled) return IDX_OK;
    replay->settling = false;
    if (idxi_pending_get_last(replay->newer) < replay->last) return IDX_OK;
    idxi_pending_release(replay->records);
    replay->records = replay->newer;
    replay->base = replay->newer_base;
    replay->newer = NULL;
    return IDX_OK;
}

/* Goes on with dropping the records that segments have by now, which is done by copying the others, up to `count` of
 * them a call. When memory runs out, a later call begins anew. */
static void continue_dropping(struct idxi_replay *replay, uint64_t count) {
    if (replay->records == NULL || replay->base == replay->after) return;
    if (continue_copying(replay, count) != IDX_OK) abandon_copying(replay);
}

/* Drops all records and closes the log, so that the next reading begins at its first record. */
static void reset_replay(struct idxi_replay *replay) {
    drop_records(replay);
    idxi_log_close(&replay->log);
    replay->last = replay->after;
    replay->spoilt = false;
}

/* ---- Reading ---- */

/* Returns whether a log gives the records in memory the same numbers: it is the log that was read before, or its
 * successor, or none was read. Of a later successor this is not known, since the logs between may have taken records
 * along that are in no segment of the manifest that this replay knows. */
static bool is_continuation(const struct idxi_replay *replay, const struct idxf_log *header) {
    static const uint8_t none[IDXF_UUID_BYTES];
    const uint8_t *last_id = replay->log_id;
    return memcmp(last_id, none, sizeof none) == 0 || memcmp(last_id, header->id, sizeof none) == 0 ||
           memcmp(last_id, header->before, sizeof none) == 0;
}

/* Opens the log that a manifest means, in place of the open one. That stays if this fails, since another view may know
 * a newer manifest. If the log does not continue the one read before, drops the records in memory, to read them
 * anew. */
static enum idx_status open_log(struct idxi_replay *replay, int folder, const char *folder_path,
                                const struct idxf_manifest_log *entry, struct idx_error *error) {
    struct idxi_log log;
    enum idx_status status = idxi_log_open(&log, folder, folder_path, &replay->rules, entry, replay->last, error);
    bool anew = status == IDX_OK && !is_continuation(replay, &log.header);
    if (anew) status = idxi_log_check_no_gap(&log, replay->after, error);
    if (status != IDX_OK) {
        idxi_log_close(&log);
        return status;
    }
    if (anew) {
        drop_records(replay);
        replay->last = replay->after;
    }
    memcpy(replay->log_id, log.header.id, IDXF_UUID_BYTES);
    idxi_log_close(&replay->log);
    replay->log = log;
    return IDX_OK;
}

/* Reads what is new in the log that a manifest's entry means, if there is one, and opens it first if it is another log
 * than before. Settles the records, so that views can be made. */
static enum idx_status read_log(struct idxi_replay *replay, int folder, const char *folder_path,
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
            ? read_log(replay, folder, folder_path, entry, error)
            : idxi_fail(error, IDX_BAD_CONTENT, folder_path,
                        "has a manifest that ends with record %llu, where one was seen that ends with record %llu: "
                        "open the index again",
                        (unsigned long long)sequence, (unsigned long long)replay->after);
    if (replay->spoilt) reset_replay(replay);
    if (status == IDX_OK) {
        continue_dropping(replay, COPIED_AT_LEAST + (replay->last - old_last) * COPIED_FOR_EACH);
        idxi_pending_hold(replay->records);
        *view = make_view(replay);
    }
    pthread_mutex_unlock(&replay->mutex);
    return status;
}

enum idx_status idxi_replay_append_record(struct idxi_replay *replay, const struct idxf_record *record,
                                          struct idxi_pending_view *view, struct idx_error *error) {
    IDXI_TRY(ensure_records(replay, 0, error));
    IDXI_TRY(idxi_pending_make_runs(replay->records, error));
    IDXI_TRY(append_record(replay, record, NULL, error));
    continue_dropping(replay, COPIED_FOR_EACH);
    struct idxi_pending *former = view->records;
    if (former != replay->records) idxi_pending_hold(replay->records);
    *view = make_view(replay);
    if (former != replay->records) idxi_pending_release(former);
    return IDX_OK;
}
