/* writer.c: opens and closes a writer, decides when to compact, and records batches. */
#include "libidx/change/writer.h"

#include <stdlib.h>
#include <unistd.h>

#include "format/bytes.h"
#include "libidx/base/base.h"
#include "libidx/change/index_lock.h"
#include "libidx/view/texts.h"

/* With IDX_COMPACT_BY_SIZE, as many records may be pending as the segments have documents, divided by PENDING_DIVISOR,
 * but MIN_PENDING at least, and MAX_PENDING at most. */
#define PENDING_DIVISOR 6
#define MIN_PENDING 100000
#define MAX_PENDING 4000000

/* ---- Opening ---- */

enum idx_status idxi_writer_refresh(struct idx_writer *writer, struct idx_error *error) {
    struct idx_index *newer;
    IDXI_TRY(idx_refresh(writer->index, &newer, error));
    if (newer == NULL) return IDX_OK;
    if (!idxi_lock_belongs_to(writer->lock, IDXI_LOCK_NAME, newer)) {
        idx_close(newer);
        return idxi_fail(error, IDX_IO_ERROR, writer->index->path,
                         "is no longer the index that this writer opened: close the writer, and open it again");
    }
    idx_close(writer->index);
    writer->index = newer;
    return IDX_OK;
}

/* Opens the view, locks the index against other writers, and opens the log, which only the holder of the lock may
 * write. Checks the options. The caller calls idx_writer_close even after an error. Errors: as idx_writer_open. */
static enum idx_status open_lock_and_log(struct idx_writer *writer, const char *path,
                                         const struct idx_writer_options *options, struct idx_error *error) {
    struct idx_open_options open_options = IDX_OPEN_OPTIONS_INIT;
    open_options.residence = options->residence;
    writer->compare = idxi_get_widest_compare_way();
    writer->compact_records = options->compact_records;
    writer->compact_segments = options->compact_segments;
    writer->threads = options->threads;
    writer->background.threads = options->threads;
    writer->background.progress = options->progress;
    writer->background.context = options->context;
    IDXI_TRY(idxi_check_threads(options->threads, error));
    if (options->compact_segments > IDXF_MAX_SEGMENTS)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL, "compact_segments = %u: it must be 0 to %d",
                         options->compact_segments, IDXF_MAX_SEGMENTS);
    IDXI_TRY(idx_open(&writer->index, path, &open_options, error));
    IDXI_TRY(idxi_lock_index(&writer->lock, IDXI_LOCK_NAME, &writer->index, error));
    return idxi_log_writer_open(&writer->log, writer->index->folder, writer->index->path, error);
}

enum idx_status idx_writer_open(struct idx_writer **result, const char *path, const struct idx_writer_options *options,
                                struct idx_error *error) {
    struct idx_writer_options settings = IDX_WRITER_OPTIONS_INIT;
    IDXI_TRY(idxi_copy_options(&settings, options, error));
    struct idx_writer *writer = calloc(1, sizeof *writer);
    if (writer == NULL) return idxi_fail_memory(error);
    writer->lock = -1;
    writer->process = getpid();
    enum idx_status status = open_lock_and_log(writer, path, &settings, error);
    if (status == IDX_OK)
        *result = writer;
    else
        idx_writer_close(writer);
    return status;
}

/* Returns whether this process was forked from the one that opened the writer. Only the latter has the writer's lock
 * and its background thread. */
static bool is_in_forked_process(const struct idx_writer *writer) { return writer->process != getpid(); }

/* Fails with IDX_INVALID_ARGUMENT in a forked process, where the writer may only be closed. */
static enum idx_status check_process(const struct idx_writer *writer, struct idx_error *error) {
    if (!is_in_forked_process(writer)) return IDX_OK;
    return idxi_fail(
        error, IDX_INVALID_ARGUMENT, writer->index->path,
        "has a writer that was opened by process %ld, and can't be used in a process forked from it: close it here",
        (long)writer->process);
}

void idx_writer_close(struct idx_writer *writer) {
    if (writer == NULL) return;
    if (!is_in_forked_process(writer)) idxi_background_cancel(&writer->background);
    idxi_log_writer_close(writer->log);
    if (!is_in_forked_process(writer))
        idxi_lock_close(writer->lock);
    else
        close(writer->lock); /* The other process keeps the lock. */
    idx_close(writer->index);
    free(writer->records);
    free(writer->numbers);
    idxi_arena_free(&writer->members);
    free(writer);
}

const struct idx_index *idx_writer_view(const struct idx_writer *writer) { return writer->index; }

/* ---- Compaction ---- */

/* If a compaction has replaced the manifest, refreshes the view, and trims the log of the records that are in segments
 * now. Before that, syncs the folder: until the new manifest's name is on disk, the records are needed. Errors: as
 * idxi_writer_refresh, idxi_sync_folder and idxi_log_trim_records. */
static enum idx_status follow_compaction(struct idx_writer *writer, struct idx_error *error) {
    bool replaced;
    if (atomic_load(&writer->background.ended)) idxi_background_wait(&writer->background, NULL);
    IDXI_TRY(idx_replaced(writer->index, &replaced, error));
    if (!replaced) return IDX_OK;
    IDXI_TRY(idxi_writer_refresh(writer, error));
    IDXI_TRY(idxi_sync_folder(writer->index->folder, writer->index->path, error));
    return idxi_log_trim_records(writer->log, writer->index->manifest->sequence, error);
}

/* Returns how many records may be pending before a compaction is due; 0 if none is ever due for their number. */
static uint64_t choose_max_pending(const struct idx_writer *writer) {
    const struct idx_index *index = writer->index;
    uint64_t documents = 0;
    if (writer->compact_records != IDX_COMPACT_BY_SIZE) return writer->compact_records;
    for (size_t i = 0; i < index->open_segments; i++) {
        const struct idxf_manifest_segment *entry = &index->segments[i]->entry;
        documents += index->manifest->id_type == IDXF_ID_NONE ? entry->fingerprints : entry->documents;
    }
    uint64_t max_pending = documents / PENDING_DIVISOR;
    if (max_pending < MIN_PENDING) return MIN_PENDING;
    return max_pending < MAX_PENDING ? max_pending : MAX_PENDING;
}

/* Begins a compaction in the background if one is due, because more than max_pending records are pending, or there are
 * too many segments. If one is running, but 1.5 times max_pending are pending, waits for it first. After one began, the
 * next begins only max_pending records later, so that failing ones are not repeated for each batch. Errors are ignored,
 * because what was added is in the log. */
static void compact_if_due(struct idx_writer *writer) {
    const struct idxi_pending_view *pending = &writer->index->pending;
    uint64_t last = pending->last, pending_count = idxi_pending_count_records(pending);
    uint64_t max_pending = choose_max_pending(writer);
    bool is_full = max_pending > 0 && pending_count > max_pending;
    unsigned max_segments = writer->compact_segments == 0 ? IDXF_MAX_SEGMENTS : writer->compact_segments;
    if (writer->background.has_thread && is_full && pending_count - max_pending > max_pending / 2)
        idxi_background_wait(&writer->background, NULL);
    if (writer->background.has_thread || last < writer->next_compaction) return;
    if (!is_full && writer->index->open_segments <= max_segments) return;
    writer->next_compaction = last + max_pending;
    idxi_background_begin(&writer->background, writer->index, max_segments);
}

enum idx_status idx_writer_wait(struct idx_writer *writer, struct idx_error *error) {
    IDXI_TRY(check_process(writer, error));
    return idxi_background_wait(&writer->background, error);
}

/* ---- Batches ---- */

/* Refreshes the view if it has records of an abandoned batch. Then checks that the view and the log end with the same
 * record. Errors: IDX_IO_ERROR (another process has written to the log), and as idxi_writer_refresh. */
static enum idx_status update_spoilt_view(struct idx_writer *writer, struct idx_error *error) {
    if (writer->index->spoilt) IDXI_TRY(idxi_writer_refresh(writer, error));
    if (writer->index->pending.last == idxi_log_writer_get_last_sequence(writer->log)) return IDX_OK;
    return idxi_fail(error, IDX_IO_ERROR, writer->index->path,
                     "has pending records that this writer did not write: close the writer, and open it again");
}

/* Makes the capacity of the batch at least `capacity` records. Both arrays may move, so idxi_writer_end_batch sets
 * again where the integer IDs of records are. Errors: IDX_OUT_OF_MEMORY. */
static enum idx_status reserve_records(struct idx_writer *writer, size_t capacity, struct idx_error *error) {
    if (capacity <= writer->capacity) return IDX_OK;
    if (capacity > SIZE_MAX / 2 / sizeof *writer->records) return idxi_fail_memory(error);
    struct idxf_record *records = realloc(writer->records, capacity * sizeof *records);
    if (records == NULL) return idxi_fail_memory(error);
    writer->records = records;
    struct idxi_stored_number *numbers = realloc(writer->numbers, capacity * sizeof *numbers);
    if (numbers == NULL) return idxi_fail_memory(error);
    writer->numbers = numbers;
    writer->capacity = capacity;
    return IDX_OK;
}

enum idx_status idxi_writer_begin_batch(struct idx_writer *writer, size_t count, struct idx_error *error) {
    IDXI_TRY(check_process(writer, error));
    IDXI_TRY(idxi_log_make_ready(writer->log, error));
    IDXI_TRY(follow_compaction(writer, error));
    IDXI_TRY(update_spoilt_view(writer, error));
    IDXI_TRY(reserve_records(writer, count, error));
    /* No more than 1.5 times as many will be pending: compact_if_due waits for the compaction then. */
    idxi_replay_expect_records(writer->index->replay, choose_max_pending(writer) / 2 * 3);
    writer->count = 0;
    return IDX_OK;
}

enum idx_status idxi_writer_end_batch(struct idx_writer *writer, enum idx_status status, struct idx_error *error) {
    bool has_numbers = writer->index->manifest->id_type == IDXF_ID_U64;
    /* The array of numbers may have moved since records were added. */
    for (size_t i = 0; i < writer->count && has_numbers; i++)
        if (writer->records[i].id_size > 0) writer->records[i].id = writer->numbers[i].bytes;
    if (status == IDX_OK) status = idxi_log_append_records(writer->log, writer->records, writer->count, error);
    idxi_arena_free(&writer->members);
    if (status == IDX_OK) compact_if_due(writer);
    if (status == IDX_OK || writer->count == 0) return status;
    writer->index->spoilt = true;
    idxi_writer_refresh(writer, NULL); /* if this fails, the next batch tries again */
    return status;
}

/* Returns the record of an operation on an item, without members. Stores an integer ID in *number, which must live as
 * long as the record; a text ID stays the caller's. The record of IDXF_REMOVE_FINGERPRINT has no ID. */
static struct idxf_record make_record(const struct idx_writer *writer, enum idxf_operation operation,
                                      const struct idx_item *item, struct idxi_stored_number *number) {
    enum idxf_id_type id_type = writer->index->manifest->id_type;
    struct idxf_record record = {.operation = operation, .fingerprint = item->fingerprint};
    if (operation == IDXF_REMOVE_FINGERPRINT || id_type == IDXF_ID_NONE) return record;
    if (id_type == IDXF_ID_TEXT) {
        record.id = item->id;
        record.id_size = item->id_length;
    } else {
        idxf_store64(number->bytes, item->number);
        record.id = number->bytes;
        record.id_size = sizeof number->bytes;
    }
    return record;
}

/* Appends the record of an operation on an item, without members, to the batch. Sets *record to its place in the batch,
 * which is valid until the next one is appended. Errors: IDX_OUT_OF_MEMORY. */
static enum idx_status append_record(struct idx_writer *writer, enum idxf_operation operation,
                                     const struct idx_item *item, struct idxf_record **record,
                                     struct idx_error *error) {
    if (writer->count == writer->capacity) IDXI_TRY(reserve_records(writer, 2 * writer->capacity + 1, error));
    *record = &writer->records[writer->count];
    **record = make_record(writer, operation, item, &writer->numbers[writer->count]);
    writer->count++; /* even if adding it fails, so that the batch is abandoned */
    return IDX_OK;
}

enum idx_status idxi_writer_add_record(struct idx_writer *writer, enum idxf_operation operation,
                                       const struct idx_item *item, struct idx_error *error) {
    struct idxf_record *record;
    IDXI_TRY(append_record(writer, operation, item, &record, error));
    IDXI_TRY(idxi_replay_append_record(writer->index->replay, record, &writer->index->pending, error));
    writer->index->removes |= operation != IDXF_ADD;
    return IDX_OK;
}

/* Sets *bytes to the members of a set, little-endian: the caller's own, or on a big-endian machine a copy that lives
 * until the batch ends. Errors: IDX_OUT_OF_MEMORY. */
static enum idx_status encode_members(struct idx_writer *writer, const struct idx_set *set, const uint8_t **bytes,
                                      struct idx_error *error) {
    *bytes = (const uint8_t *)set->hashes;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    uint8_t *copy = idxi_arena_allocate(&writer->members, set->count * sizeof(uint64_t), sizeof(uint64_t));
    if (copy == NULL) return idxi_fail_memory(error);
    for (size_t i = 0; i < set->count; i++) idxf_store64(copy + 8 * i, set->hashes[i]);
    *bytes = copy;
#endif
    (void)writer;
    (void)error;
    return IDX_OK;
}

enum idx_status idxi_writer_add_text_record(struct idx_writer *writer, const struct idx_item *item,
                                            const struct idx_set *set, struct idx_error *error) {
    struct idxf_record *record;
    IDXI_TRY(append_record(writer, IDXF_ADD_TEXT, item, &record, error));
    record->fingerprint = set->count;
    IDXI_TRY(encode_members(writer, set, &record->members, error));
    return idxi_replay_append_record(writer->index->replay, record, &writer->index->pending, error);
}

enum idx_status idxi_writer_check_without_sets(const struct idx_writer *writer, struct idx_error *error) {
    if (writer->index->manifest->sketch == 0) return IDX_OK;
    return idxi_fail(error, IDX_INVALID_ARGUMENT, writer->index->path,
                     "has the sets of its texts: add texts with their sets, and remove them by their IDs");
}

#define AHEAD 8 /* The memory that adding an item needs is prefetched so many items ahead. */

void idxi_writer_prefetch_add(const struct idx_writer *writer, const struct idx_item *items, size_t i, size_t count) {
    struct idxi_stored_number number;
    if (count - i <= AHEAD) return;
    struct idxf_record record = make_record(writer, IDXF_ADD, &items[i + AHEAD], &number);
    idxi_replay_prefetch_append(writer->index->replay, &record);
}

enum idx_status idxi_writer_check_ids(const struct idx_writer *writer, const struct idx_item *items, size_t count,
                                      struct idx_error *error) {
    enum idx_id_type type = (enum idx_id_type)writer->index->manifest->id_type;
    for (size_t i = 0; i < count; i++) {
        if (!idxi_item_fits_id_type(&items[i], type))
            return idxi_fail(error, IDX_INVALID_ARGUMENT, writer->index->path, "has IDs of another type than an item");
        if (type == IDX_ID_TEXT) IDXI_TRY(idxi_check_id_length(items[i].id_length, error));
    }
    return IDX_OK;
}

enum idx_status idxi_writer_check_items(const struct idx_writer *writer, const struct idx_item *items, size_t count,
                                        struct idx_error *error) {
    IDXI_TRY(idxi_writer_check_without_sets(writer, error));
    for (size_t i = 0; i < count; i++) IDXI_TRY(idxi_check_queries(writer->index, &items[i].fingerprint, 1, error));
    return idxi_writer_check_ids(writer, items, count, error);
}

/* ---- Adding ---- */

enum idx_status idx_writer_add(struct idx_writer *writer, const struct idx_item *items, size_t count,
                               struct idx_error *error) {
    enum idx_status status = IDX_OK;
    IDXI_TRY(idxi_writer_check_items(writer, items, count, error));
    IDXI_TRY(idxi_writer_begin_batch(writer, count, error));
    for (size_t i = 0; i < count && status == IDX_OK; i++) {
        idxi_writer_prefetch_add(writer, items, i, count);
        status = idxi_writer_add_record(writer, IDXF_ADD, &items[i], error);
    }
    return idxi_writer_end_batch(writer, status, error);
}

enum idx_status idx_writer_add_texts(struct idx_writer *writer, const struct idx_item *items,
                                     const struct idx_set *sets, size_t count, struct idx_error *error) {
    enum idx_status status = IDX_OK;
    IDXI_TRY(idxi_check_has_sets(writer->index, error));
    for (size_t i = 0; i < count; i++) IDXI_TRY(idxi_check_set(&sets[i], error));
    IDXI_TRY(idxi_writer_check_ids(writer, items, count, error));
    IDXI_TRY(idxi_writer_begin_batch(writer, count, error));
    for (size_t i = 0; i < count && status == IDX_OK; i++)
        if (sets[i].count > 0) status = idxi_writer_add_text_record(writer, &items[i], &sets[i], error);
    return idxi_writer_end_batch(writer, status, error);
}
