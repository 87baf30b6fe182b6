/* tail.c: see tail.h. */
#include "libidx/view/tail.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "libidx/base/error.h"
#include "libidx/log/log_reader.h"

struct idxi_tail {
    atomic_size_t holders;
    struct idxf_record_rules rules;
    unsigned k;
    pthread_mutex_t mutex; /* held by who reads, over all below */
    struct idxf_manifest_log entry;
    struct idxi_log log;          /* its file is -1 while it is not open */
    struct idxi_pending *pending; /* NULL while there is no record */
    uint64_t after, last;         /* the manifest's sequence, and the last record in memory */
    uint64_t removals;
};

enum idx_status idxi_tail_new(struct idxi_tail **result, const struct idxf_record_rules *rules, unsigned k,
                              uint64_t sequence, struct idx_error *error) {
    struct idxi_tail *tail = calloc(1, sizeof *tail);
    if (tail == NULL) return idxi_fail_memory(error);
    *tail = (struct idxi_tail){.rules = *rules, .k = k, .after = sequence, .last = sequence, .log = {.file = -1}};
    atomic_init(&tail->holders, 1);
    if (pthread_mutex_init(&tail->mutex, NULL) != 0) {
        free(tail);
        return idxi_fail_memory(error);
    }
    *result = tail;
    return IDX_OK;
}

void idxi_tail_hold(struct idxi_tail *tail) {
    if (tail != NULL) atomic_fetch_add(&tail->holders, 1);
}

void idxi_tail_release(struct idxi_tail *tail) {
    if (tail == NULL || atomic_fetch_sub(&tail->holders, 1) != 1) return;
    idxi_pending_release(tail->pending);
    idxi_log_close(&tail->log);
    pthread_mutex_destroy(&tail->mutex);
    free(tail);
}

void idxi_tail_expect(const struct idxi_tail *tail, const struct idxf_record *record) {
    if (tail->pending != NULL) idxi_pending_expect(tail->pending, record);
}

static enum idx_status append(struct idxi_tail *tail, const struct idxf_record *record, struct idx_error *error) {
    if (tail->pending == NULL) IDXI_TRY(idxi_pending_new(&tail->pending, &tail->rules, tail->k, tail->after, error));
    IDXI_TRY(idxi_pending_append(tail->pending, record, error));
    tail->last++;
    tail->removals += record->operation != IDXF_ADD;
    return IDX_OK;
}

static enum idx_status take_record(void *context, const struct idxf_record *record, struct idx_error *error) {
    idxi_tail_expect(context, record);
    return append(context, record, error);
}

static void set_view(const struct idxi_tail *tail, struct idxi_tail_view *view) {
    *view = (struct idxi_tail_view){{tail->pending, tail->after, tail->last}, tail->removals};
}

void idxi_tail_set_log(struct idxi_tail *tail, const struct idxf_manifest_log *entry) {
    pthread_mutex_lock(&tail->mutex);
    tail->entry = *entry;
    if (tail->log.file >= 0 && !idxi_log_is_of(&tail->log, entry)) idxi_log_close(&tail->log);
    tail->log.least = entry->last;
    pthread_mutex_unlock(&tail->mutex);
}

static enum idx_status read_log(struct idxi_tail *tail, int folder, const char *folder_path, struct idx_error *error) {
    enum idx_status status = IDX_OK;
    if (!tail->entry.exists) return IDX_OK;
    if (tail->log.file < 0) {
        status = idxi_log_open(&tail->log, folder, folder_path, &tail->rules, &tail->entry, tail->last, error);
        if (status != IDX_OK) idxi_log_close(&tail->log);
    }
    return status == IDX_OK ? idxi_log_read(&tail->log, tail->last, take_record, tail, error) : status;
}

enum idx_status idxi_tail_read(struct idxi_tail *tail, int folder, const char *folder_path, struct idxi_tail_view *view,
                               struct idx_error *error) {
    pthread_mutex_lock(&tail->mutex);
    enum idx_status status = read_log(tail, folder, folder_path, error);
    if (status == IDX_OK) set_view(tail, view);
    pthread_mutex_unlock(&tail->mutex);
    return status;
}

bool idxi_tail_has_log(struct idxi_tail *tail) {
    pthread_mutex_lock(&tail->mutex);
    bool has_log = tail->entry.exists;
    pthread_mutex_unlock(&tail->mutex);
    return has_log;
}

enum idx_status idxi_tail_append(struct idxi_tail *tail, const struct idxf_record *record, struct idxi_tail_view *view,
                                 struct idx_error *error) {
    IDXI_TRY(append(tail, record, error));
    set_view(tail, view);
    return IDX_OK;
}
