/* log_reader.c: see log_reader.h. */
#include "libidx/log/log_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libidx/base/base.h"

/* The first read of a call asks for few bytes, since mostly little is new. The reads after it ask for many. */
#define FIRST_READ_BYTES ((size_t)4096)
#define NEXT_READ_BYTES ((size_t)1 << 20)

/* ---- Opening ---- */

/* Reads both slots of the file. Sets log->acknowledged to the valid slot that is farther in the log, unless an earlier
 * call set it farther still. Fails if the file can't be read, or if neither slot is valid and none was before: the
 * writer writes them in turn, so that one is always whole. */
static enum idx_status read_slots(struct idxi_log *log, struct idx_error *error) {
    uint8_t bytes[IDXF_PAGE_SIZE + IDXF_LOG_SLOT_BYTES];
    bool has_valid_slot = log->acknowledged.offset > 0; /* An earlier call has found one. */
    IDXI_TRY(idxi_read_at(log->file, bytes, sizeof bytes, idxf_log_get_slot_offset(0), log->path, error));
    for (unsigned slot = 0; slot < 2; slot++) {
        struct idxf_log_place place;
        if (!idxf_log_slot_read(&log->header, bytes + slot * IDXF_PAGE_SIZE, &place)) continue;
        has_valid_slot = true;
        if (place.offset <= log->acknowledged.offset) continue;
        log->acknowledged = place;
        log->slot = slot;
    }
    return has_valid_slot ? IDX_OK
                          : idxi_fail_fault(error, IDXF_FAULT_CHECKSUM, log->path, idxf_log_get_slot_offset(0));
}

enum idx_status idxi_log_check_no_gap(const struct idxi_log *log, uint64_t after, struct idx_error *error) {
    if (log->header.first <= after) return IDX_OK;
    return idxi_fail(error, IDX_BAD_CONTENT, log->path,
                     "begins with record %llu, but the segments end with record %llu: the records between them are "
                     "missing; restore the index from a copy",
                     (unsigned long long)log->header.first + 1, (unsigned long long)after);
}

/* Reads the header and the slots of a log that was just opened. Fails unless the log is the one that the manifest's
 * `entry` describes, has all records behind number `after`, and is as long as the slots say. */
static enum idx_status read_header(struct idxi_log *log, const struct idxf_manifest_log *entry, uint64_t after,
                                   struct idx_error *error) {
    uint8_t bytes[IDXF_LOG_HEADER_BYTES];
    uint64_t size;
    uint32_t version;
    IDXI_TRY(idxi_get_file_size(log->file, &size, log->path, error));
    IDXI_TRY(idxi_read_at(log->file, bytes, size < sizeof bytes ? size : sizeof bytes, 0, log->path, error));
    enum idxf_fault fault = idxf_log_header_read(&log->header, bytes, size, &version);
    IDXI_TRY(idxi_check_header(fault, version, size, IDXF_LOG_FRAMES, log->path, error));
    if (memcmp(log->header.uuid, log->rules.uuid, IDXF_UUID_BYTES) != 0)
        return idxi_fail_foreign_file(error, log->path);
    if (!idxi_log_belongs_to(log, entry))
        return idxi_fail(error, IDX_FOREIGN_FILE, log->path,
                         "is a different log of this index than the manifest names: restore the manifest and the log "
                         "from the same copy");
    IDXI_TRY(idxi_log_check_no_gap(log, after, error));
    log->place = idxf_log_get_first_place(&log->header);
    log->manifest_last = entry->last;
    IDXI_TRY(read_slots(log, error));
    /* A writer may have made the file longer before it wrote a slot. */
    IDXI_TRY(idxi_get_file_size(log->file, &size, log->path, error));
    if (log->acknowledged.offset > size) return idxi_fail_file_size(error, size, log->acknowledged.offset, log->path);
    return idxf_log_place_agrees(&log->place, &log->acknowledged)
               ? IDX_OK
               : idxi_fail_fault(error, IDXF_FAULT_CHECKSUM, log->path, idxf_log_get_slot_offset(log->slot));
}

bool idxi_log_belongs_to(const struct idxi_log *log, const struct idxf_manifest_log *entry) {
    if (memcmp(log->header.id, entry->id, IDXF_UUID_BYTES) == 0) return log->header.first == entry->first;
    return memcmp(log->header.before, entry->id, IDXF_UUID_BYTES) == 0;
}

enum idx_status idxi_log_open(struct idxi_log *log, int folder, const char *folder_path,
                              const struct idxf_record_rules *rules, const struct idxf_manifest_log *entry,
                              uint64_t after, struct idx_error *error) {
    *log = (struct idxi_log){.rules = *rules, .file = -1, .path = idxi_join_path(folder_path, IDXI_LOG_NAME)};
    if (log->path == NULL) return idxi_fail_memory(error);
    log->file = openat(folder, IDXI_LOG_NAME, IDXI_OPEN_FILE);
    if (log->file >= 0) return read_header(log, entry, after, error);
    if (errno == ENOENT)
        return idxi_fail(error, IDX_MISSING_FILE, log->path,
                         "is missing: the index is damaged; rebuild it, or restore it from a copy");
    return idxi_fail_system(error, errno, log->path, "open");
}

void idxi_log_close(struct idxi_log *log) {
    if (log->file >= 0) close(log->file);
    idxi_log_map_release(log->map);
    free(log->path);
    free(log->buffer);
    *log = (struct idxi_log){.file = -1};
}

/* ---- Frames ---- */

void idxi_log_empty_buffer(struct idxi_log *log) { log->buffer_begin = log->buffer_end = 0; }

/* Moves the bytes from log->place on to the beginning of the buffer, and makes its capacity at least `capacity` bytes.
 * Errors: IDX_OUT_OF_MEMORY. */
static enum idx_status reserve_buffer(struct idxi_log *log, size_t capacity, struct idx_error *error) {
    size_t held_bytes = log->buffer_end - log->buffer_begin;
    if (held_bytes > 0) memmove(log->buffer, log->buffer + log->buffer_begin, held_bytes);
    log->buffer_begin = 0;
    log->buffer_end = held_bytes;
    if (capacity <= log->buffer_capacity) return IDX_OK;
    uint8_t *grown = realloc(log->buffer, capacity);
    if (grown == NULL) return idxi_fail_memory(error);
    log->buffer = grown;
    log->buffer_capacity = capacity;
    return IDX_OK;
}

/* Makes the buffer begin at log->place, and reads until it has `size` bytes, or all that the file has from there on.
 * Asks for more than `size` bytes at once, to read ahead. Errors: IDX_OUT_OF_MEMORY, IDX_IO_ERROR. */
static enum idx_status fill_buffer(struct idxi_log *log, size_t size, struct idx_error *error) {
    if (log->buffer_end - log->buffer_begin >= size) return IDX_OK;
    size_t wanted = log->buffer_end == 0 ? FIRST_READ_BYTES : NEXT_READ_BYTES;
    if (wanted < size) wanted = size;
    IDXI_TRY(reserve_buffer(log, wanted, error));
    while (log->buffer_end < size) {
        off_t offset = (off_t)(log->place.offset + log->buffer_end);
        ssize_t got = pread(log->file, log->buffer + log->buffer_end, wanted - log->buffer_end, offset);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return idxi_fail_system(error, errno, log->path, "read");
        if (got == 0) break;
        log->buffer_end += (size_t)got;
    }
    return IDX_OK;
}

/* Reads the frame at log->place into the buffer, where it begins at log->buffer_begin. If the frame is whole, sets
 * *found to true, and moves log->place behind it. Sets *is_nonzero to whether its header has a byte other than 0. A
 * frame with *is_nonzero but not *found is torn, or still being written. Errors: IDX_OUT_OF_MEMORY, IDX_IO_ERROR. */
static enum idx_status read_frame(struct idxi_log *log, struct idxf_frame *frame, bool *found, bool *is_nonzero,
                                  struct idx_error *error) {
    static const uint8_t zero_header[IDXF_FRAME_HEADER_BYTES];
    uint64_t file_size;
    *found = *is_nonzero = false;
    IDXI_TRY(fill_buffer(log, sizeof zero_header, error));
    if (log->buffer_end - log->buffer_begin < sizeof zero_header) return IDX_OK;
    *is_nonzero = memcmp(log->buffer + log->buffer_begin, zero_header, sizeof zero_header) != 0;
    if (!*is_nonzero || !idxf_frame_read_header(&log->place, log->buffer + log->buffer_begin, frame)) return IDX_OK;
    if (frame->size > log->buffer_end - log->buffer_begin) {
        /* A header may claim any size: no more memory is allocated than the file has bytes. */
        IDXI_TRY(idxi_get_file_size(log->file, &file_size, log->path, error));
        if (file_size < log->place.offset + frame->size) return IDX_OK;
        IDXI_TRY(fill_buffer(log, (size_t)frame->size, error));
        if (frame->size > log->buffer_end - log->buffer_begin) return IDX_OK;
    }
    *found = idxf_frame_accept(&log->place, log->buffer + log->buffer_begin, frame);
    return IDX_OK;
}

/* Returns whether the frame that begins at `frame_begin` and ends at log->place is in line with log->acknowledged. A
 * frame that begins before the end of the acknowledged frames must not go beyond it, and if it ends there, must have
 * the same checksum chain. */
static bool agrees_with_slots(const struct idxi_log *log, const struct idxf_log_place *frame_begin) {
    return frame_begin->offset >= log->acknowledged.offset || idxf_log_place_agrees(&log->place, &log->acknowledged);
}

enum idx_status idxi_log_read_frame(struct idxi_log *log, struct idxf_frame *frame, uint8_t **bytes,
                                    struct idx_error *error) {
    struct idxf_log_place frame_begin = log->place;
    for (bool slots_reread = false;; slots_reread = true) {
        bool found, is_nonzero;
        IDXI_TRY(read_frame(log, frame, &found, &is_nonzero, error));
        /* Damaged: a frame that was acknowledged is missing, or the file has another one in its place. */
        bool is_damaged = found ? !agrees_with_slots(log, &frame_begin) : frame_begin.offset < log->acknowledged.offset;
        if (is_damaged) {
            log->place = frame_begin; /* A later call meets the same fault, and does not pass over it. */
            return idxi_fail_fault(error, IDXF_FAULT_CHECKSUM, log->path, frame_begin.offset);
        }
        if (found) {
            *bytes = log->buffer + log->buffer_begin;
            log->buffer_begin += (size_t)frame->size;
            return IDX_OK;
        }
        frame->size = 0;
        log->torn = is_nonzero;
        if (!is_nonzero || slots_reread) return IDX_OK;
        IDXI_TRY(read_slots(log, error)); /* The writer may have completed the frame since. */
        idxi_log_empty_buffer(log);
    }
}

/* ---- Records ---- */

/* Reports that the record with this sequence number breaks the rule of `fault`. Returns the status of that fault. */
static enum idx_status fail_record(const struct idxi_log *log, enum idxf_fault fault, uint64_t sequence,
                                   struct idx_error *error) {
    return idxi_fail(error, idxi_get_fault_status(fault), log->path,
                     "has record %llu, which %s: restore the file from a copy, or rebuild the index",
                     (unsigned long long)sequence, idxf_get_fault_predicate(fault));
}

/* Bytes of zeros behind a map: more than the longest ID, or the longest ID and the largest set, with their lengths. */
#define ZEROS_BEHIND_IDS ((size_t)1 << 25)
#define ZEROS_BEHIND_SETS (ZEROS_BEHIND_IDS + ((size_t)(IDXF_MAX_MEMBERS + 1) * sizeof(uint64_t)))

void idxi_log_map_release(struct idxi_log_map *map) {
    if (map == NULL || atomic_fetch_sub(&map->holders, 1) != 1) return;
    munmap(map->bytes, map->capacity + map->zeros_behind);
    free(map);
}

/* Returns a map, held once, for up to `capacity` bytes of a file, of which it maps none yet; or NULL when memory runs
 * out. `has_sets` is whether records of the log have sets: these need more zeros behind the map. */
static struct idxi_log_map *make_map(size_t capacity, bool has_sets) {
    struct idxi_log_map *map = malloc(sizeof *map);
    if (map == NULL) return NULL;
    atomic_init(&map->holders, 1);
    map->size = 0;
    map->capacity = capacity;
    map->zeros_behind = has_sets ? ZEROS_BEHIND_SETS : ZEROS_BEHIND_IDS;
    map->bytes = mmap(NULL, capacity + map->zeros_behind, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map->bytes != MAP_FAILED) return map;
    free(map);
    return NULL;
}

#define MAX_MAPPED_AHEAD ((uint64_t)1 << 20) /* bytes that are mapped besides twice those that are needed */

/* Maps all frames before log->place into log->map, and at most as many bytes and MAX_MAPPED_AHEAD more behind them, for
 * frames to come: the file may be much larger. If the present map has no capacity for that, the log gets a new map;
 * holders of the old one keep it. Errors: IDX_WRONG_SIZE (the file became shorter), IDX_OUT_OF_MEMORY, IDX_IO_ERROR. */
static enum idx_status map_frames(struct idxi_log *log, struct idx_error *error) {
    uint64_t file_size, limit = 2 * log->place.offset + MAX_MAPPED_AHEAD;
    if (log->map != NULL && log->map->size >= log->place.offset) return IDX_OK;
    IDXI_TRY(idxi_get_file_size(log->file, &file_size, log->path, error));
    /* The file has become shorter since the frames were read. */
    if (file_size < log->place.offset) return idxi_fail_file_size(error, file_size, log->place.offset, log->path);
    uint64_t size = file_size < limit ? file_size : limit;
    if (log->map == NULL || log->map->capacity < size) {
        struct idxi_log_map *map = make_map(2 * (size_t)size, log->rules.sketch > 0);
        if (map == NULL) return idxi_fail_memory(error);
        idxi_log_map_release(log->map);
        log->map = map;
    }
    struct idxi_log_map *map = log->map;
    /* If map->size is within a page, the whole page was mapped before. */
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE), begin = (map->size + page_bytes - 1) / page_bytes * page_bytes;
    if (begin < size && mmap(map->bytes + begin, (size_t)size - begin, PROT_READ, MAP_SHARED | MAP_FIXED, log->file,
                             (off_t)begin) == MAP_FAILED)
        return idxi_fail_system(error, errno, log->path, "map");
    map->size = (size_t)size;
    return IDX_OK;
}

/* The arguments of idxi_log_visit_records. */
struct visit_arguments {
    uint64_t after;
    idxi_record_prefetcher prefetch;
    idxi_record_visitor visit;
    void *context;
};

#define MAX_PREFETCHED 16 /* records that are read and prefetched before the first of them is visited */

/* Returns whether visitors get IDs and sets that are in log->map. Otherwise the IDs are in the buffer, and there are no
 * sets. */
static bool visitors_need_map(const struct idxi_log *log) {
    return log->rules.id_type == IDXF_ID_TEXT || log->rules.sketch > 0;
}

/* Reads the record at *cursor, and moves *cursor behind it; the records of the frame end before `end`. Sets
 * *sequence_count to how many sequence numbers the record takes, from `sequence` on. The frame has `numbers_left`
 * numbers from there on. Returns a fault if the record breaks a rule, takes more numbers than are left, or takes
 * numbers on both sides of `after`. */
static enum idxf_fault read_record(const struct idxi_log *log, const uint8_t **cursor, const uint8_t *end,
                                   uint64_t numbers_left, uint64_t sequence, uint64_t after, struct idxf_record *record,
                                   uint64_t *sequence_count) {
    enum idxf_fault fault = idxf_record_read(&log->rules, cursor, end, record);
    if (fault != IDXF_OK) return fault;
    *sequence_count = idxf_count_sequence_numbers(&log->rules, record);
    if (*sequence_count > numbers_left) return IDXF_FAULT_OVERRUN;
    return sequence <= after && *sequence_count > after - sequence + 1 ? IDXF_FAULT_ORDER : IDXF_OK;
}

/* Visits the records of the frame in `bytes`, which begins at `frame_begin` of the log: those behind record number
 * arguments->after, up to the first record that breaks a rule. If visitors_need_map is true, log->map must have the
 * frame. Reads and prefetches MAX_PREFETCHED records at a time, and then visits them. Errors: as fail_record; those of
 * the visitor.
 */
static enum idx_status visit_frame(const struct idxi_log *log, const struct idxf_frame *frame, const uint8_t *bytes,
                                   const struct idxf_log_place *frame_begin, const struct visit_arguments *arguments,
                                   struct idx_error *error) {
    uint64_t frame_offset = frame_begin->offset, sequence = frame_begin->sequence + 1;
    const uint8_t *cursor = bytes + IDXF_FRAME_HEADER_BYTES, *end = bytes + frame->size - IDXF_FRAME_CHECKSUM_BYTES;
    for (uint64_t numbers_left = frame->count; numbers_left > 0;) {
        struct idxf_record records[MAX_PREFETCHED];
        enum idxf_fault fault = IDXF_OK;
        uint64_t sequence_counts[MAX_PREFETCHED], count = 0, next = sequence;
        for (; count < MAX_PREFETCHED && numbers_left > 0; count++) {
            struct idxf_record *record = &records[count];
            fault =
                read_record(log, &cursor, end, numbers_left, next, arguments->after, record, &sequence_counts[count]);
            if (fault != IDXF_OK) break;
            if (visitors_need_map(log)) {
                record->id = log->map->bytes + (frame_offset + (uint64_t)(record->id - bytes));
                record->members = record->id + record->id_size;
            }
            if (next > arguments->after && arguments->prefetch != NULL) arguments->prefetch(arguments->context, record);
            next += sequence_counts[count];
            numbers_left -= sequence_counts[count];
        }
        for (uint64_t i = 0; i < count; i++) {
            if (sequence > arguments->after) IDXI_TRY(arguments->visit(arguments->context, &records[i], error));
            sequence += sequence_counts[i];
        }
        if (fault != IDXF_OK) return fail_record(log, fault, sequence, error);
    }
    return cursor == end ? IDX_OK : fail_record(log, IDXF_FAULT_SIZE, sequence - 1, error);
}

/* Is called when all frames were read: frees a buffer that was made for a large frame, and fails with IDX_BAD_CONTENT
 * if the last record of the log is before the last one that the manifest lists. */
static enum idx_status finish_reading(struct idxi_log *log, struct idx_error *error) {
    if (log->buffer_capacity > NEXT_READ_BYTES) {
        free(log->buffer);
        log->buffer = NULL;
        log->buffer_capacity = 0;
    }
    if (log->place.sequence >= log->manifest_last) return IDX_OK;
    return idxi_fail(error, IDX_BAD_CONTENT, log->path,
                     "ends with record %llu, but there were records up to %llu: the others are missing; restore the "
                     "index from a copy",
                     (unsigned long long)log->place.sequence, (unsigned long long)log->manifest_last);
}

enum idx_status idxi_log_visit_records(struct idxi_log *log, uint64_t after, idxi_record_prefetcher prefetch,
                                       idxi_record_visitor visit, void *context, struct idx_error *error) {
    const struct visit_arguments arguments = {.after = after, .prefetch = prefetch, .visit = visit, .context = context};
    idxi_log_empty_buffer(log);
    for (;;) {
        struct idxf_frame frame;
        struct idxf_log_place frame_begin = log->place;
        uint8_t *bytes;
        IDXI_TRY(idxi_log_read_frame(log, &frame, &bytes, error));
        if (frame.size == 0) return finish_reading(log, error);
        if (log->place.sequence <= after) continue;
        enum idx_status status = visitors_need_map(log) ? map_frames(log, error) : IDX_OK;
        if (status == IDX_OK) status = visit_frame(log, &frame, bytes, &frame_begin, &arguments, error);
        if (status == IDX_OK) continue;
        log->place = frame_begin; /* A later call visits the records of this frame that were not visited. */
        return status;
    }
}
