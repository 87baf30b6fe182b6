/* replay.c: see replay.h. */
#include "libidx/view/replay.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "libidx/base/error.h"
#include "libidx/log/log_reader.h"

/* What a record in the log takes at least: an operation and a fingerprint. */
#define LEAST_RECORD_BYTES 9

struct idxi_replay {
    atomic_size_t holders;
    struct idxf_record_rules rules;
    unsigned k;
    pthread_mutex_t mutex; /* held while reading, over all below */
    struct idxf_manifest_log entry;
    struct idxi_log log;          /* its file is -1 while it is not open */
    struct idxi_pending *records; /* NULL while there is none */
    uint64_t after, last;         /* the manifest's sequence, and the last record in memory */
    uint64_t removals;
};

enum idx_status idxi_replay_new(struct idxi_replay **result, const struct idxf_record_rules *rules, unsigned k,
                                uint64_t sequence, struct idx_error *error) {
    struct idxi_replay *replay = calloc(1, sizeof *replay);
    if (replay == NULL) return idxi_fail_memory(error);
    *replay = (struct idxi_replay){.rules = *rules, .k = k, .after = sequence, .last = sequence, .log = {.file = -1}};
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
    idxi_log_close(&replay->log);
    pthread_mutex_destroy(&replay->mutex);
    free(replay);
}

void idxi_replay_expect(const struct idxi_replay *replay, const struct idxf_record *record) {
    if (replay->records != NULL) idxi_pending_expect(replay->records, record);
}

/* Makes sure that there are records to append to, of which about `expected` come before they are settled. */
static enum idx_status begin_records(struct idxi_replay *replay, uint64_t expected, struct idx_error *error) {
    if (replay->records != NULL) return IDX_OK;
    return idxi_pending_new(&replay->records, &replay->rules, replay->k, replay->after, expected, error);
}

static enum idx_status append(struct idxi_replay *replay, const struct idxf_record *record, struct idx_error *error) {
    IDXI_TRY(idxi_pending_append(&replay->records, record, error));
    replay->last++;
    replay->removals += record->operation != IDXF_ADD;
    return IDX_OK;
}

static void expect_record(void *context, const struct idxf_record *record) { idxi_replay_expect(context, record); }

static enum idx_status take_record(void *context, const struct idxf_record *record, struct idx_error *error) {
    IDXI_TRY(begin_records(context, 0, error));
    return append(context, record, error);
}

/* The records that a log has at least, by what it says of itself: no more than its bytes can be. */
static uint64_t count_expected(const struct idxi_replay *replay) {
    const struct idxf_log_place *known = &replay->log.acknowledged, *place = &replay->log.place;
    if (known->sequence <= replay->last || known->offset <= place->offset) return 0;
    uint64_t records = known->sequence - replay->last, most = (known->offset - place->offset) / LEAST_RECORD_BYTES;
    return records < most ? records : most;
}

/* Views hold their records. */
static void set_view(const struct idxi_replay *replay, struct idxi_pending_view *view) {
    idxi_pending_hold(replay->records);
    *view = (struct idxi_pending_view){replay->records, replay->after, replay->last, replay->removals};
}

void idxi_replay_set_log(struct idxi_replay *replay, const struct idxf_manifest_log *entry) {
    pthread_mutex_lock(&replay->mutex);
    replay->entry = *entry;
    if (replay->log.file >= 0 && !idxi_log_is_of(&replay->log, entry)) idxi_log_close(&replay->log);
    replay->log.least = entry->last;
    pthread_mutex_unlock(&replay->mutex);
}

static enum idx_status read_log(struct idxi_replay *replay, int folder, const char *folder_path,
                                struct idx_error *error) {
    enum idx_status status = IDX_OK;
    if (!replay->entry.exists) return IDX_OK;
    if (replay->log.file < 0) {
        status = idxi_log_open(&replay->log, folder, folder_path, &replay->rules, &replay->entry, replay->last, error);
        if (status != IDX_OK) idxi_log_close(&replay->log);
    }
    IDXI_TRY(status);
    if (count_expected(replay) > 0) IDXI_TRY(begin_records(replay, count_expected(replay), error));
    IDXI_TRY(idxi_log_read(&replay->log, replay->last, expect_record, take_record, replay, error));
    return replay->records != NULL ? idxi_pending_settle(replay->records, error) : IDX_OK;
}

enum idx_status idxi_replay_read(struct idxi_replay *replay, int folder, const char *folder_path,
                                 struct idxi_pending_view *view, struct idx_error *error) {
    pthread_mutex_lock(&replay->mutex);
    enum idx_status status = read_log(replay, folder, folder_path, error);
    if (status == IDX_OK) set_view(replay, view);
    pthread_mutex_unlock(&replay->mutex);
    return status;
}

bool idxi_replay_has_log(struct idxi_replay *replay) {
    pthread_mutex_lock(&replay->mutex);
    bool has_log = replay->entry.exists;
    pthread_mutex_unlock(&replay->mutex);
    return has_log;
}

enum idx_status idxi_replay_append(struct idxi_replay *replay, const struct idxf_record *record,
                                   struct idxi_pending_view *view, struct idx_error *error) {
    IDXI_TRY(begin_records(replay, 0, error));
    IDXI_TRY(idxi_pending_settle(replay->records, error));
    IDXI_TRY(append(replay, record, error));
    struct idxi_pending *former = view->records;
    set_view(replay, view);
    idxi_pending_release(former);
    return IDX_OK;
}
