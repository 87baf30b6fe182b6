/* replay.c: see replay.h. */
#include "libidx/view/replay.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "libidx/base/error.h"
#include "libidx/log/log_reader.h"

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

static enum idx_status append(struct idxi_replay *replay, const struct idxf_record *record, struct idx_error *error) {
    if (replay->records == NULL)
        IDXI_TRY(idxi_pending_new(&replay->records, &replay->rules, replay->k, replay->after, error));
    IDXI_TRY(idxi_pending_append(replay->records, record, error));
    replay->last++;
    replay->removals += record->operation != IDXF_ADD;
    return IDX_OK;
}

static void expect_record(void *context, const struct idxf_record *record) { idxi_replay_expect(context, record); }

static enum idx_status take_record(void *context, const struct idxf_record *record, struct idx_error *error) {
    return append(context, record, error);
}

static void set_view(const struct idxi_replay *replay, struct idxi_pending_view *view) {
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
    return status == IDX_OK ? idxi_log_read(&replay->log, replay->last, expect_record, take_record, replay, error)
                            : status;
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
    IDXI_TRY(append(replay, record, error));
    set_view(replay, view);
    return IDX_OK;
}
