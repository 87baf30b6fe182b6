/* log_reader.c: see log_reader.h. */
#include "libidx/log/log_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libidx/base/base.h"

/* The first read of a call has few bytes, since mostly little is new. Those after it have many. */
#define LEAST_READ ((size_t)4096)
#define MOST_READ ((size_t)1 << 20)

/* ---- Opening ---- */

/* Sets log->acknowledged to the farther of the two slots, unless it is farther already. Fails if neither slot is valid
 * and none was before: the writer writes them in turn, so that one is always whole. */
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

/* Reads the header and the slots of a log that was just opened, and checks that the log is the one of the manifest's
 * `entry`, has all records behind number `after`, and is as long as the slots say. */
static enum idx_status read_header(struct idxi_log *log, const struct idxf_manifest_log *entry, uint64_t after,
                                   struct idx_error *error) {
    uint8_t bytes[IDXF_LOG_HEADER_BYTES];
    uint64_t size;
    uint32_t version;
    IDXI_TRY(idxi_get_file_size(log->file, &size, log->path, error));
    IDXI_TRY(idxi_read_at(log->file, bytes, size < sizeof bytes ? size : sizeof bytes, 0, log->path, error));
    enum idxf_fault fault = idxf_log_read(&log->header, bytes, size, &version);
    IDXI_TRY(idxi_check_header(fault, version, size, IDXF_LOG_FRAMES, log->path, error));
    if (memcmp(log->header.uuid, log->rules.uuid, IDXF_UUID_BYTES) != 0) return idxi_fail_foreign(error, log->path);
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
    if (log->acknowledged.offset > size) return idxi_fail_size(error, size, log->acknowledged.offset, log->path);
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

void idxi_log_start_reading(struct idxi_log *log) { log->buffer_begin = log->buffer_end = 0; }

/* Moves the bytes from the place on to the beginning of the buffer, which gets room for `size` bytes in all. */
static enum idx_status make_buffer_room(struct idxi_log *log, size_t size, struct idx_error *error) {
    size_t held = log->buffer_end - log->buffer_begin;
    if (held > 0) memmove(log->buffer, log->buffer + log->buffer_begin, held);
    log->buffer_begin = 0;
    log->buffer_end = held;
    if (size <= log->buffer_capacity) return IDX_OK;
    uint8_t *grown = realloc(log->buffer, size);
    if (grown == NULL) return idxi_fail_memory(error);
    log->buffer = grown;
    log->buffer_capacity = size;
    return IDX_OK;
}

/* Reads until the buffer has `size` bytes from the place on, or all that the file has, and reads some more ahead. */
static enum idx_status fill_buffer(struct idxi_log *log, size_t size, struct idx_error *error) {
    if (log->buffer_end - log->buffer_begin >= size) return IDX_OK;
    size_t wanted = log->buffer_end == 0 ? LEAST_READ : MOST_READ;
    IDXI_TRY(make_buffer_room(log, size < wanted ? wanted : size, error));
    while (log->buffer_end < size) {
        off_t offset = (off_t)(log->place.offset + log->buffer_end);
        ssize_t got =
            pread(log->file, log->buffer + log->buffer_end, (size < wanted ? wanted : size) - log->buffer_end, offset);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return idxi_fail_system(error, errno, log->path, "read");
        if (got == 0) break;
        log->buffer_end += (size_t)got;
    }
    return IDX_OK;
}

/* Reads the frame at the place into the buffer. If there is a whole one, sets *found and moves the place behind it;
 * log->buffer_begin stays before it. Sets *is_nonzero to whether the frame's header is not all zeros: without *found,
 * the frame is torn, or still being written. */
static enum idx_status read_frame(struct idxi_log *log, struct idxf_frame *frame, bool *found, bool *is_nonzero,
                                  struct idx_error *error) {
    static const uint8_t no_header[IDXF_FRAME_HEADER_BYTES];
    uint64_t file_size;
    *found = *is_nonzero = false;
    IDXI_TRY(fill_buffer(log, sizeof no_header, error));
    if (log->buffer_end - log->buffer_begin < sizeof no_header) return IDX_OK;
    *is_nonzero = memcmp(log->buffer + log->buffer_begin, no_header, sizeof no_header) != 0;
    if (!*is_nonzero || !idxf_frame_read_header(&log->place, log->buffer + log->buffer_begin, frame)) return IDX_OK;
    if (frame->size > log->buffer_end - log->buffer_begin) { /* No more memory is taken than the file has bytes. */
        IDXI_TRY(idxi_get_file_size(log->file, &file_size, log->path, error));
        if (file_size < log->place.offset + frame->size) return IDX_OK;
        IDXI_TRY(fill_buffer(log, (size_t)frame->size, error));
        if (frame->size > log->buffer_end - log->buffer_begin) return IDX_OK;
    }
    *found = idxf_frame_accept(&log->place, log->buffer + log->buffer_begin, frame);
    return IDX_OK;
}

/* Returns whether a frame, which begins at `frame_begin` and ends at the place, agrees with what is known to be on
 * disk. If it reaches the end of the acknowledged frames, it must end there, with the same chain. */
static bool agrees_with_slots(const struct idxi_log *log, const struct idxf_log_place *frame_begin) {
    return frame_begin->offset >= log->acknowledged.offset || idxf_log_place_agrees(&log->place, &log->acknowledged);
}

enum idx_status idxi_log_read_frame(struct idxi_log *log, struct idxf_frame *frame, uint8_t **bytes,
                                    struct idx_error *error) {
    struct idxf_log_place frame_begin = log->place;
    for (bool slots_reread = false;; slots_reread = true) {
        bool found, is_nonzero;
        IDXI_TRY(read_frame(log, frame, &found, &is_nonzero, error));
        /* Whether a frame that was acknowledged is missing, or the file has another one in its place. */
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
        idxi_log_start_reading(log);
    }
}

/* ---- Records ---- */

/* Fails because the record with this sequence number breaks a rule, which `fault` names. Returns that status. */
static enum idx_status fail_record(const struct idxi_log *log, enum idxf_fault fault, uint64_t sequence,
                                   struct idx_error *error) {
    return idxi_fail(error, idxi_get_fault_status(fault), log->path,
                     "has record %llu, which %s: restore the file from a copy, or rebuild the index",
                     (unsigned long long)sequence, idxf_get_fault_predicate(fault));
}

/* Zeros behind a map: more than the longest ID and the largest set have, with their lengths. */
#define BEHIND_MAP ((size_t)1 << 25)
#define BEHIND_MAP_OF_SETS (BEHIND_MAP + ((size_t)(IDXF_MAX_MEMBERS + 1) * sizeof(uint64_t)))

void idxi_log_map_release(struct idxi_log_map *map) {
    if (map == NULL || atomic_fetch_sub(&map->holders, 1) != 1) return;
    munmap(map->bytes, map->room + map->zeros_behind);
    free(map);
}

/* Returns a map, held once, with room for `room` bytes of a file, none of which it has yet; NULL when memory runs out.
 * `has_sets` is whether records of the log have sets, behind which more zeros are needed. */
static struct idxi_log_map *make_map(size_t room, bool has_sets) {
    struct idxi_log_map *map = malloc(sizeof *map);
    if (map == NULL) return NULL;
    atomic_init(&map->holders, 1);
    map->size = 0;
    map->room = room;
    map->zeros_behind = has_sets ? BEHIND_MAP_OF_SETS : BEHIND_MAP;
    map->bytes = mmap(NULL, room + map->zeros_behind, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map->bytes != MAP_FAILED) return map;
    free(map);
    return NULL;
}

#define MAP_AHEAD ((uint64_t)1 << 20) /* bytes that are mapped at most, besides twice those that are needed */

/* Maps all frames up to the place, and some bytes more, but not the whole file, which may pretend to be of any size. */
static enum idx_status map_frames(struct idxi_log *log, struct idx_error *error) {
    uint64_t file_size, limit = 2 * log->place.offset + MAP_AHEAD;
    if (log->map != NULL && log->map->size >= log->place.offset) return IDX_OK;
    IDXI_TRY(idxi_get_file_size(log->file, &file_size, log->path, error));
    /* The file has become shorter since the frames were read. */
    if (file_size < log->place.offset) return idxi_fail_size(error, file_size, log->place.offset, log->path);
    uint64_t size = file_size < limit ? file_size : limit;
    if (log->map == NULL || log->map->room < size) {
        struct idxi_log_map *map = make_map(2 * (size_t)size, log->rules.sketch > 0);
        if (map == NULL) return idxi_fail_memory(error);
        idxi_log_map_release(log->map);
        log->map = map;
    }
    struct idxi_log_map *map = log->map;
    size_t page = (size_t)sysconf(_SC_PAGESIZE), from = (map->size + page - 1) / page * page;
    if (from < size && mmap(map->bytes + from, (size_t)size - from, PROT_READ, MAP_SHARED | MAP_FIXED, log->file,
                            (off_t)from) == MAP_FAILED)
        return idxi_fail_system(error, errno, log->path, "map");
    map->size = (size_t)size;
    return IDX_OK;
}

/* The arguments of idxi_log_visit_records. */
struct reading {
    uint64_t after;
    idxi_record_prefetcher prefetch;
    idxi_record_visitor visit;
    void *context;
};

#define PREFETCHED 16 /* records that are read and prefetched before the first of them is visited */

/* Returns whether records are used where they are mapped: text IDs, and sets. */
static bool uses_map(const struct idxi_log *log) { return log->rules.id_type == IDXF_ID_TEXT || log->rules.sketch > 0; }

/* Reads the record at *cursor, of a frame whose records end at `end`, and moves *cursor behind it. Its first sequence
 * number is `sequence`, from which on the frame has `left` numbers. Sets *numbers to how many numbers the record has. A
 * record with more than are left, or with numbers on both sides of `after`, is a fault. */
static enum idxf_fault read_record(const struct idxi_log *log, const uint8_t **cursor, const uint8_t *end,
                                   uint64_t left, uint64_t sequence, uint64_t after, struct idxf_record *record,
                                   uint64_t *numbers) {
    enum idxf_fault fault = idxf_record_read(&log->rules, cursor, end, record);
    if (fault != IDXF_OK) return fault;
    *numbers = idxf_count_record_numbers(&log->rules, record);
    if (*numbers > left) return IDXF_FAULT_OVERRUN;
    return sequence <= after && *numbers > after - sequence + 1 ? IDXF_FAULT_ORDER : IDXF_OK;
}

/* Visits the records of a frame that begins at `frame_begin`, those behind number `after` alone, up to the first one
 * that breaks a rule. If they are used where they are mapped, the map must have the frame. */
static enum idx_status visit_frame(const struct idxi_log *log, const struct idxf_frame *frame, const uint8_t *bytes,
                                   const struct idxf_log_place *frame_begin, const struct reading *reading,
                                   struct idx_error *error) {
    uint64_t frame_offset = frame_begin->offset, sequence = frame_begin->sequence + 1;
    const uint8_t *cursor = bytes + IDXF_FRAME_HEADER_BYTES, *end = bytes + frame->size - IDXF_FRAME_CHECKSUM_BYTES;
    for (uint64_t left = frame->count; left > 0;) {
        struct idxf_record records[PREFETCHED];
        enum idxf_fault fault = IDXF_OK;
        uint64_t numbers[PREFETCHED], count = 0, next = sequence;
        for (; count < PREFETCHED && left > 0; count++) {
            struct idxf_record *record = &records[count];
            fault = read_record(log, &cursor, end, left, next, reading->after, record, &numbers[count]);
            if (fault != IDXF_OK) break;
            if (uses_map(log)) {
                record->id = log->map->bytes + (frame_offset + (uint64_t)(record->id - bytes));
                record->members = record->id + record->id_size;
            }
            if (next > reading->after && reading->prefetch != NULL) reading->prefetch(reading->context, record);
            next += numbers[count];
            left -= numbers[count];
        }
        for (uint64_t i = 0; i < count; sequence += numbers[i++])
            if (sequence > reading->after) IDXI_TRY(reading->visit(reading->context, &records[i], error));
        if (fault != IDXF_OK) return fail_record(log, fault, sequence, error);
    }
    return cursor == end ? IDX_OK : fail_record(log, IDXF_FAULT_SIZE, sequence - 1, error);
}

/* Ends a reading of all frames: frees a buffer made for a large frame, and fails with IDX_BAD_CONTENT if records are
 * missing that the manifest knows of. */
static enum idx_status end_reading(struct idxi_log *log, struct idx_error *error) {
    if (log->buffer_capacity > MOST_READ) {
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
    const struct reading reading = {after, prefetch, visit, context};
    idxi_log_start_reading(log);
    for (;;) {
        struct idxf_frame frame;
        struct idxf_log_place frame_begin = log->place;
        uint8_t *bytes;
        IDXI_TRY(idxi_log_read_frame(log, &frame, &bytes, error));
        if (frame.size == 0) return end_reading(log, error);
        if (log->place.sequence <= after) continue;
        enum idx_status status = uses_map(log) ? map_frames(log, error) : IDX_OK;
        if (status == IDX_OK) status = visit_frame(log, &frame, bytes, &frame_begin, &reading, error);
        if (status == IDX_OK) continue;
        log->place = frame_begin; /* A later call visits the records of this frame that were not visited. */
        return status;
    }
}
