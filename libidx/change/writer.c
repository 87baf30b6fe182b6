/* writer.c: adds documents to an index, and removes some. It decides what there is to be recorded, by a view of its
 * own, which sees each record of a batch as soon as it is decided; then the log takes them all in one transaction. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/bytes.h"
#include "libidx/base/check.h"
#include "libidx/base/error.h"
#include "libidx/base/file.h"
#include "libidx/base/parallel.h"
#include "libidx/change/background.h"
#include "libidx/change/index_lock.h"
#include "libidx/log/log_writer.h"
#include "libidx/lookup/nearest.h"
#include "libidx/lookup/search.h"
#include "libidx/pairs/compare.h"
#include "libidx/view/live.h"

/* Documents that are looked up together, before any of them is added: few, since they are compared with each other. */
#define TOGETHER 1024

/* Those that a thread takes at a time. */
#define TAKEN 128

/* Of IDX_COMPACT_BY_SIZE: the part of all documents that may be pending, within these numbers. */
#define PENDING_SHARE 8
#define LEAST_PENDING 100000
#define MOST_PENDING 2000000

struct idx_writer {
    struct idx_index *index; /* the view, which it alone has */
    struct idxi_log_writer *log;
    int lock;
    pid_t process; /* that opened it */
    const struct idxi_compare_way *compare;
    uint64_t compact_records; /* as the options say */
    unsigned compact_segments;
    unsigned threads;
    struct idxi_background background;
    uint64_t next_compaction; /* no earlier than behind this record */
    /* The batch at hand. */
    struct idxf_record *records;
    uint8_t (*numbers)[sizeof(uint64_t)]; /* integer IDs, as records have them */
    size_t count, capacity;
};

/* ---- Opening ---- */

/* Brings the view up to date. It must stay of the index whose lock and log the writer has. */
static enum idx_status refresh(struct idx_writer *writer, struct idx_error *error) {
    struct idx_index *newer;
    IDXI_TRY(idx_refresh(writer->index, &newer, error));
    if (newer == NULL) return IDX_OK;
    if (!idxi_lock_is_of(writer->lock, IDXI_LOCK_NAME, newer)) {
        idx_close(newer);
        return idxi_fail(error, IDX_IO_ERROR, writer->index->path,
                         "is no longer the index that this writer opened: close the writer, and open it again");
    }
    idx_close(writer->index);
    writer->index = newer;
    return IDX_OK;
}

static enum idx_status open_writer(struct idx_writer *writer, const char *path,
                                   const struct idx_writer_options *options, struct idx_error *error) {
    struct idx_open_options open_options = IDX_OPEN_OPTIONS_INIT;
    open_options.residence = options->residence;
    writer->compare = idxi_compare_widest();
    writer->compact_records = options->compact_records;
    writer->compact_segments = options->compact_segments;
    writer->threads = options->threads;
    writer->background.threads = options->threads;
    writer->background.progress = options->progress;
    writer->background.context = options->context;
    IDXI_TRY(idxi_check_threads(options->threads, error));
    IDXI_TRY(idx_open(&writer->index, path, &open_options, error));
    IDXI_TRY(idxi_lock_index(&writer->lock, IDXI_LOCK_NAME, &writer->index, error));
    const struct idx_index *index = writer->index;
    return idxi_log_writer_open(&writer->log, index->folder, index->path, error);
}

enum idx_status idx_writer_open(struct idx_writer **result, const char *path, const struct idx_writer_options *options,
                                struct idx_error *error) {
    struct idx_writer_options own = IDX_WRITER_OPTIONS_INIT;
    idxi_copy_options(&own, options);
    struct idx_writer *writer = calloc(1, sizeof *writer);
    if (writer == NULL) return idxi_fail_memory(error);
    writer->lock = -1;
    writer->process = getpid();
    enum idx_status status = open_writer(writer, path, &own, error);
    if (status == IDX_OK)
        *result = writer;
    else
        idx_writer_close(writer);
    return status;
}

/* In a process that was forked from the one that opened it, the lock and the thread that compacts are still that one's.
 */
static bool is_forked(const struct idx_writer *writer) { return writer->process != getpid(); }

static enum idx_status check_process(const struct idx_writer *writer, struct idx_error *error) {
    if (!is_forked(writer)) return IDX_OK;
    return idxi_fail(
        error, IDX_INVALID_ARGUMENT, writer->index->path,
        "has a writer that was opened by process %ld, and can't be used in a process forked from it: close it here",
        (long)writer->process);
}

void idx_writer_close(struct idx_writer *writer) {
    if (writer == NULL) return;
    if (!is_forked(writer)) idxi_background_end(&writer->background, true, NULL);
    idxi_log_writer_close(writer->log);
    if (!is_forked(writer))
        idxi_lock_close(writer->lock);
    else
        close(writer->lock);
    idx_close(writer->index);
    free(writer->records);
    free(writer->numbers);
    free(writer);
}

const struct idx_index *idx_writer_view(const struct idx_writer *writer) { return writer->index; }

/* ---- Compaction ---- */

/* Goes on with what a compaction made, in this process or another, and deletes the records that it took. It may not
 * have come to sync its manifest's name yet: until the disk has that, it needs the records. */
static enum idx_status follow_compaction(struct idx_writer *writer, struct idx_error *error) {
    bool replaced;
    if (atomic_load(&writer->background.ended)) idxi_background_end(&writer->background, false, NULL);
    IDXI_TRY(idx_replaced(writer->index, &replaced, error));
    if (!replaced) return IDX_OK;
    IDXI_TRY(refresh(writer, error));
    IDXI_TRY(idxi_sync_folder(writer->index->folder, writer->index->path, error));
    return idxi_log_trim(writer->log, writer->index->manifest->sequence, error);
}

/* How many pending records are enough; 0: no number is. */
static uint64_t count_enough(const struct idx_writer *writer) {
    const struct idx_index *index = writer->index;
    uint64_t documents = 0;
    if (writer->compact_records != IDX_COMPACT_BY_SIZE) return writer->compact_records;
    for (size_t i = 0; i < index->open_segments; i++) {
        const struct idxf_manifest_segment *entry = &index->segments[i]->entry;
        documents += index->manifest->id_type == IDXF_ID_NONE ? entry->fingerprints : entry->documents;
    }
    documents /= PENDING_SHARE;
    return documents < LEAST_PENDING ? LEAST_PENDING : documents > MOST_PENDING ? MOST_PENDING : documents;
}

/* Begins a compaction where it is time. That of another process is waited for as one that failed is: what was added
 * stands in any case. */
static void compact(struct idx_writer *writer) {
    const struct idxi_pending_view *pending = &writer->index->pending.pending;
    uint64_t last = pending->last, count = last - pending->after, enough = count_enough(writer);
    bool is_full = enough > 0 && count > enough;
    unsigned most = writer->compact_segments == 0 ? IDXF_MAX_SEGMENTS : writer->compact_segments;
    if (writer->background.begun && is_full && count - enough > enough / 2)
        idxi_background_end(&writer->background, false, NULL);
    if (writer->background.begun || last < writer->next_compaction) return;
    if (!is_full && writer->index->open_segments <= most) return;
    writer->next_compaction = last + enough;
    idxi_background_begin(&writer->background, writer->index, most);
}

enum idx_status idx_writer_wait(struct idx_writer *writer, struct idx_error *error) {
    IDXI_TRY(check_process(writer, error));
    return idxi_background_end(&writer->background, false, error);
}

/* ---- Batches ---- */

/* The view must have what the log has. */
static enum idx_status check_view(struct idx_writer *writer, struct idx_error *error) {
    if (writer->index->spoilt) IDXI_TRY(refresh(writer, error));
    if (writer->index->pending.pending.last == idxi_log_writer_last(writer->log)) return IDX_OK;
    return idxi_fail(error, IDX_IO_ERROR, writer->index->path,
                     "has pending records that this writer did not write: close the writer, and open it again");
}

/* Makes room for so many records in all. */
static enum idx_status reserve(struct idx_writer *writer, size_t most, struct idx_error *error) {
    if (most <= writer->capacity) return IDX_OK;
    if (most > SIZE_MAX / 2 / sizeof *writer->records) return idxi_fail_memory(error);
    struct idxf_record *records = realloc(writer->records, most * sizeof *records);
    if (records == NULL) return idxi_fail_memory(error);
    writer->records = records;
    uint8_t(*numbers)[sizeof(uint64_t)] = realloc(writer->numbers, most * sizeof *numbers);
    if (numbers == NULL) return idxi_fail_memory(error);
    writer->numbers = numbers;
    writer->capacity = most;
    return IDX_OK;
}

/* Begins a batch of about so many records. */
static enum idx_status begin(struct idx_writer *writer, size_t count, struct idx_error *error) {
    IDXI_TRY(check_process(writer, error));
    IDXI_TRY(idxi_log_check(writer->log, error));
    IDXI_TRY(follow_compaction(writer, error));
    IDXI_TRY(check_view(writer, error));
    IDXI_TRY(reserve(writer, count, error));
    writer->count = 0;
    return IDX_OK;
}

/* Ends a batch, which went well so far or not. */
static enum idx_status end(struct idx_writer *writer, enum idx_status status, struct idx_error *error) {
    bool has_numbers = writer->index->manifest->id_type == IDXF_ID_U64;
    for (size_t i = 0; i < writer->count && has_numbers; i++) /* which may have moved */
        if (writer->records[i].id_size > 0) writer->records[i].id = writer->numbers[i];
    if (status == IDX_OK) status = idxi_log_append(writer->log, writer->records, writer->count, error);
    if (status == IDX_OK) compact(writer);
    if (status == IDX_OK || writer->count == 0) return status;
    writer->index->spoilt = true;
    refresh(writer, NULL); /* where that fails, the next batch tries again */
    return status;
}

/* A record of an item; `number` is where its integer ID may be. */
static struct idxf_record make_record(const struct idx_writer *writer, enum idxf_operation operation,
                                      const struct idx_item *item, uint8_t number[sizeof(uint64_t)]) {
    enum idxf_id_type id_type = writer->index->manifest->id_type;
    struct idxf_record record = {operation, item->fingerprint, NULL, 0};
    if (operation == IDXF_REMOVE_FINGERPRINT || id_type == IDXF_ID_NONE) return record;
    if (id_type == IDXF_ID_TEXT) {
        record.id = item->id;
        record.id_size = item->id_length;
    } else {
        idxf_store64(number, item->number);
        record.id = number;
        record.id_size = sizeof(uint64_t);
    }
    return record;
}

/* Makes a record of an item the batch's next one, which the view has from now on. */
static enum idx_status decide(struct idx_writer *writer, enum idxf_operation operation, const struct idx_item *item,
                              struct idx_error *error) {
    if (writer->count == writer->capacity) IDXI_TRY(reserve(writer, 2 * writer->capacity + 1, error));
    struct idxf_record *record = &writer->records[writer->count];
    *record = make_record(writer, operation, item, writer->numbers[writer->count]);
    writer->count++; /* also where this fails, since it must be abandoned then */
    IDXI_TRY(idxi_tail_append(writer->index->tail, record, &writer->index->pending, error));
    writer->index->removes |= operation != IDXF_ADD;
    return IDX_OK;
}

/* Records ahead of which memory is asked for what appending them takes. */
#define AHEAD 8

/* Asks memory for what adding an item that comes soon takes, where there is one. */
static void expect(const struct idx_writer *writer, const struct idx_item *items, size_t i, size_t count) {
    uint8_t number[sizeof(uint64_t)];
    if (i >= count) return;
    struct idxf_record record = make_record(writer, IDXF_ADD, &items[i], number);
    idxi_tail_expect(writer->index->tail, &record);
}

/* Whether items may be recorded so. */
static enum idx_status check_items(const struct idx_writer *writer, const struct idx_item *items, size_t count,
                                   struct idx_error *error) {
    bool has_text = writer->index->manifest->id_type == IDXF_ID_TEXT;
    for (size_t i = 0; i < count; i++) {
        IDXI_TRY(idxi_check_queries(writer->index, &items[i].fingerprint, 1, error));
        if (has_text) IDXI_TRY(idxi_check_id(items[i].id_length, error));
    }
    return IDX_OK;
}

/* ---- Adding ---- */

enum idx_status idx_writer_add(struct idx_writer *writer, const struct idx_item *items, size_t count,
                               struct idx_error *error) {
    enum idx_status status = IDX_OK;
    IDXI_TRY(check_items(writer, items, count, error));
    IDXI_TRY(begin(writer, count, error));
    for (size_t i = 0; i < count && status == IDX_OK; i++) {
        expect(writer, items, i + AHEAD, count);
        status = decide(writer, IDXF_ADD, &items[i], error);
    }
    return end(writer, status, error);
}

/* Some documents that are looked up together: first in what there was before them, then among those of them that were
 * added. */
struct checking {
    struct idxi_comparison comparison;
    const struct idx_index *index;
    struct idxi_nearest nearest;
    size_t count;
    size_t query; /* that is compared */
    uint64_t queries[TOGETHER];
    uint64_t added[TOGETHER];
    size_t added_count;
};

static void take_added(struct idxi_comparison *comparison, uint64_t query, uint64_t added) {
    struct checking *checking = (struct checking *)comparison;
    struct idx_match match = {added, idx_distance(query, added)};
    idxi_nearest_take(&checking->nearest, checking->query, &match);
}

static enum idx_status add_new(struct idx_writer *writer, struct checking *checking, const struct idx_item *items,
                               size_t count, struct idx_error *error) {
    for (size_t i = 0; i < count; i++) {
        checking->query = i;
        expect(writer, items, i + AHEAD, count);
        writer->compare->between(&checking->comparison, &checking->queries[i], 1, checking->added,
                                 checking->added_count);
        idxi_nearest_sort(&checking->nearest, i);
        if (checking->nearest.counts[i] > 0) continue;
        IDXI_TRY(decide(writer, IDXF_ADD, &items[i], error));
        checking->added[checking->added_count++] = items[i].fingerprint;
    }
    return IDX_OK;
}

static enum idx_status look_up(void *context, size_t number, struct idx_error *error) {
    struct checking *checking = context;
    struct idxi_search search;
    size_t begin = number * TAKEN, end = checking->count - begin < TAKEN ? checking->count : begin + TAKEN;
    idxi_search_init(&search, checking->index, checking->comparison.distance, checking->queries, idxi_nearest_take,
                     &checking->nearest, error);
    return idxi_search_queries(&search, begin, end);
}

static enum idx_status check_and_add(struct idx_writer *writer, const struct idx_item *items, size_t count,
                                     unsigned distance, struct idxi_nearest nearest, struct idx_error *error) {
    struct checking checking = {
        .comparison = {distance, take_added}, .index = writer->index, .nearest = nearest, .count = count};
    for (size_t i = 0; i < count; i++) {
        checking.queries[i] = items[i].fingerprint;
        nearest.counts[i] = 0;
    }
    IDXI_TRY(idxi_parallel((count + TAKEN - 1) / TAKEN, writer->threads, look_up, &checking, NULL, error));
    return add_new(writer, &checking, items, count, error);
}

enum idx_status idx_writer_check_and_add(struct idx_writer *writer, const struct idx_item *items, size_t count,
                                         unsigned distance, struct idx_match *matches, size_t capacity,
                                         size_t *match_counts, struct idx_error *error) {
    enum idx_status status = IDX_OK;
    IDXI_TRY(idxi_check_distance(writer->index, distance, error));
    IDXI_TRY(check_items(writer, items, count, error));
    IDXI_TRY(begin(writer, count, error));
    for (size_t i = 0; i < count && status == IDX_OK; i += TOGETHER) {
        size_t some = count - i < TOGETHER ? count - i : TOGETHER;
        struct idxi_nearest nearest = {capacity == 0 ? NULL : matches + i * capacity, capacity, match_counts + i};
        status = check_and_add(writer, items + i, some, distance, nearest, error);
    }
    return end(writer, status, error);
}

/* ---- Removing ---- */

/* Whether the fingerprint has a document, or with IDX_ID_NONE is there. */
static enum idx_status find_fingerprint(const struct idx_writer *writer, uint64_t fingerprint, bool *found,
                                        struct idx_error *error) {
    const struct idx_index *index = writer->index;
    *found = idxi_has_pending(index) && idxi_pending_holds(&index->pending.pending, fingerprint);
    return *found ? IDX_OK : idxi_is_before(index, index->open_segments, fingerprint, found, error);
}

static bool has_id(const struct idx_writer *writer, const struct idx_document *document, const struct idx_item *item) {
    if (writer->index->manifest->id_type == IDXF_ID_U64) return document->number == item->number;
    return document->id_length == item->id_length &&
           (item->id_length == 0 || memcmp(document->id, item->id, item->id_length) == 0);
}

/* Counts a fingerprint's documents: those with the item's ID, or all for NULL; and whether there are others. */
static enum idx_status count_documents(const struct idx_writer *writer, struct idx_documents *documents,
                                       uint64_t fingerprint, const struct idx_item *item, uint64_t *count, bool *others,
                                       struct idx_error *error) {
    struct idx_document document;
    bool found;
    *count = 0;
    *others = false;
    IDXI_TRY(idx_documents_find(documents, fingerprint, NULL, error));
    for (;;) {
        IDXI_TRY(idx_documents_next(documents, &document, &found, error));
        if (!found) return IDX_OK;
        bool is_it = item == NULL || has_id(writer, &document, item);
        *count += is_it;
        *others |= !is_it;
    }
}

/* Removes one document, or where it was the last, its fingerprint. */
static enum idx_status remove_item(struct idx_writer *writer, struct idx_documents *documents,
                                   const struct idx_item *item, struct idx_removal *removal, struct idx_error *error) {
    uint64_t count = 0;
    bool found, others = false;
    IDXI_TRY(find_fingerprint(writer, item->fingerprint, &found, error));
    if (found) IDXI_TRY(count_documents(writer, documents, item->fingerprint, item, &count, &others, error));
    removal->documents += count;
    removal->missing += count == 0;
    if (count == 0) return IDX_OK;
    return decide(writer, others ? IDXF_REMOVE_DOCUMENT : IDXF_REMOVE_FINGERPRINT, item, error);
}

static enum idx_status remove_fingerprint(struct idx_writer *writer, struct idx_documents *documents,
                                          const struct idx_item *item, struct idx_removal *removal,
                                          struct idx_error *error) {
    uint64_t fingerprint = item->fingerprint, count = 1;
    bool found, others;
    IDXI_TRY(find_fingerprint(writer, fingerprint, &found, error));
    removal->missing += !found;
    if (!found) return IDX_OK;
    if (writer->index->manifest->id_type != IDXF_ID_NONE)
        IDXI_TRY(count_documents(writer, documents, fingerprint, NULL, &count, &others, error));
    removal->documents += count;
    return decide(writer, IDXF_REMOVE_FINGERPRINT, item, error);
}

static enum idx_status find_id(const struct idx_writer *writer, const struct idx_item *item, uint64_t *fingerprints,
                               size_t capacity, size_t *count, struct idx_error *error) {
    if (writer->index->manifest->id_type == IDXF_ID_U64)
        return idx_find_id_u64(writer->index, item->number, fingerprints, capacity, count, error);
    return idx_find_id(writer->index, item->id, item->id_length, fingerprints, capacity, count, error);
}

/* Removes all documents with the item's ID, whatever their fingerprints. */
static enum idx_status remove_id(struct idx_writer *writer, struct idx_documents *documents,
                                 const struct idx_item *item, struct idx_removal *removal, struct idx_error *error) {
    uint64_t *fingerprints = NULL;
    size_t capacity = 0, count;
    IDXI_TRY(find_id(writer, item, NULL, 0, &count, error));
    enum idx_status status = IDX_OK;
    if (count > 0) {
        capacity = count;
        fingerprints = malloc(capacity * sizeof *fingerprints);
        status = fingerprints == NULL ? idxi_fail_memory(error)
                                      : find_id(writer, item, fingerprints, capacity, &count, error);
    }
    for (size_t i = 0; i < count && status == IDX_OK; i++) {
        struct idx_item one = *item;
        one.fingerprint = fingerprints[i];
        status = remove_item(writer, documents, &one, removal, error);
    }
    removal->missing += count == 0;
    free(fingerprints);
    return status;
}

/* What a call removes. */
typedef enum idx_status (*removing)(struct idx_writer *writer, struct idx_documents *documents,
                                    const struct idx_item *item, struct idx_removal *removal, struct idx_error *error);

/* Removes items, or fingerprints where those are NULL, one after the other. They were checked. */
static enum idx_status remove_all(struct idx_writer *writer, removing remove_one, const struct idx_item *items,
                                  const uint64_t *fingerprints, size_t count, struct idx_removal *removal,
                                  struct idx_error *error) {
    struct idx_removal own = {0, 0};
    struct idx_documents *documents;
    IDXI_TRY(begin(writer, count, error));
    IDXI_TRY(idx_documents_open(writer->index, &documents, error));
    enum idx_status status = IDX_OK;
    for (size_t i = 0; i < count && status == IDX_OK; i++) {
        struct idx_item bare = {.fingerprint = items == NULL ? fingerprints[i] : 0};
        status = remove_one(writer, documents, items == NULL ? &bare : &items[i], &own, error);
    }
    idx_documents_close(documents);
    IDXI_TRY(end(writer, status, error));
    if (removal != NULL) *removal = own;
    return IDX_OK;
}

enum idx_status idx_writer_remove(struct idx_writer *writer, const struct idx_item *items, size_t count,
                                  struct idx_removal *removal, struct idx_error *error) {
    if (writer->index->manifest->id_type == IDXF_ID_NONE)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, writer->index->path,
                         "has no documents, only fingerprints: remove fingerprints instead");
    IDXI_TRY(check_items(writer, items, count, error));
    return remove_all(writer, remove_item, items, NULL, count, removal, error);
}

enum idx_status idx_writer_remove_fingerprints(struct idx_writer *writer, const uint64_t *fingerprints, size_t count,
                                               struct idx_removal *removal, struct idx_error *error) {
    IDXI_TRY(idxi_check_queries(writer->index, fingerprints, count, error));
    return remove_all(writer, remove_fingerprint, NULL, fingerprints, count, removal, error);
}

enum idx_status idx_writer_remove_ids(struct idx_writer *writer, const struct idx_item *items, size_t count,
                                      struct idx_removal *removal, struct idx_error *error) {
    if (!writer->index->manifest->by_id)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, writer->index->path,
                         "has no map from IDs: give fingerprints as well, or build it with such a map");
    return remove_all(writer, remove_id, items, NULL, count, removal, error);
}
