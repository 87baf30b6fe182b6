/* log_writer.c: see log_writer.h. A frame is written over zeros that are on disk already, and synced. Then one of the
 * two slots notes that the frame is on disk; the next sync brings the slot to disk. */
#include "libidx/log/log_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libidx/base/base.h"
#include "libidx/log/log_reader.h"
#include "libidx/segment/manifest_file.h"

/* The file is extended by an eighth of its size at a time, but by this number of bytes at least and at most. */
#define MIN_SPARE_BYTES ((uint64_t)64 << 10)
#define MAX_SPARE_BYTES ((uint64_t)4 << 20)

#define MAX_REUSED_BYTES ((size_t)1 << 20) /* buffers of up to so many bytes serve the next frame as well */

struct idxi_log_writer {
    struct idxi_log log; /* its file is open for writing; the next frame comes at its place */
    int folder;
    char *folder_path;
    uint64_t size;                  /* bytes of the file, which are 0 from the place on */
    uint64_t manifest_last;         /* the last record that the manifest knows of */
    bool failed;                    /* whether a sync failed, so that nobody knows what is on disk */
    bool slot_due;                  /* whether a slot has still to note the last frame */
    bool new_log_due;               /* whether open_new_log has still to open the log that took this one's place */
    struct idxf_manifest_log entry; /* what the manifest says of the log until open_new_log has opened it */
    pid_t process;
    uint8_t *buffer; /* for a frame */
    size_t buffer_capacity;
};

static const uint8_t zeros[65536];

/* Syncs the log's file. A failure sets writer->failed: the writer can only be closed then. Errors: IDX_IO_ERROR. */
static enum idx_status sync_log(struct idxi_log_writer *writer, struct idx_error *error) {
    if (fdatasync(writer->log.file) == 0) return IDX_OK;
    writer->failed = true;
    idxi_fail_system(error, errno, writer->log.path, "sync");
    /* A full disk gives this status, too, and not IDX_DISK_FULL: a failed sync leaves unknown what is on disk. */
    if (error != NULL) error->status = IDX_IO_ERROR;
    return IDX_IO_ERROR;
}

/* Notes in a slot of the file, and in log->acknowledged, that all frames up to log->place are on disk. Overwrites the
 * older one of the two slots: while it is written, the newer one stays valid. Does not sync the slot. Errors:
 * IDX_DISK_FULL, IDX_IO_ERROR. */
static enum idx_status write_slot(struct idxi_log_writer *writer, struct idx_error *error) {
    struct idxi_log *log = &writer->log;
    uint8_t bytes[IDXF_LOG_SLOT_BYTES];
    unsigned slot = 1 - log->slot;
    idxf_log_slot_write(&log->header, &log->place, bytes);
    IDXI_TRY(idxi_write_at(log->file, bytes, sizeof bytes, idxf_log_get_slot_offset(slot), log->path, error));
    log->acknowledged = log->place;
    log->slot = slot;
    return IDX_OK;
}

/* ---- The manifest ---- */

/* Sets the manifest's entry of the log to what the log is now. `context` is the writer. This is an
 * idxi_manifest_change. */
static void set_manifest_entry(void *context, struct idxf_manifest *manifest) {
    const struct idxi_log *log = &((const struct idxi_log_writer *)context)->log;
    manifest->log = (struct idxf_manifest_log){.exists = true, .first = log->header.first, .last = log->place.sequence};
    memcpy(manifest->log.id, log->header.id, IDXF_UUID_BYTES);
}

/* Notes in the manifest which log this is, and its last record, so that readers notice if records are missing. Errors:
 * as idxi_manifest_switch. */
static enum idx_status update_manifest(struct idxi_log_writer *writer, struct idx_error *error) {
    bool switched; /* not needed: after an error, a later call writes the manifest again in any case */
    IDXI_TRY(idxi_manifest_switch(writer->folder, writer->folder_path, set_manifest_entry, writer, &switched, error));
    writer->manifest_last = writer->log.place.sequence;
    return IDX_OK;
}

/* ---- Making a log ---- */

/* Makes the header of the log that is to replace `old`, for the records behind number `after`. Sets new_log->header,
 * and new_log->place to where the first frame begins, and encodes the header in new_log->buffer, which must have
 * IDXF_LOG_FRAMES bytes. The log gets a random ID and salt. Errors: as idxi_make_uuid. */
static enum idx_status make_header(struct idxi_log *new_log, const struct idxi_log *old, uint64_t after,
                                   struct idx_error *error) {
    uint8_t salt[IDXF_UUID_BYTES];
    IDXI_TRY(idxi_make_uuid(new_log->header.id, error));
    IDXI_TRY(idxi_make_uuid(salt, error));
    memcpy(new_log->header.uuid, old->rules.uuid, IDXF_UUID_BYTES);
    memcpy(new_log->header.before, old->header.id, IDXF_UUID_BYTES);
    memcpy(&new_log->header.salt, salt, sizeof new_log->header.salt);
    new_log->header.first = after;
    idxf_log_header_write(&new_log->header, new_log->buffer);
    new_log->place = idxf_log_get_first_place(&new_log->header);
    return IDX_OK;
}

/* Makes the header of a new log as make_header does. If `old` has a file, writes to `file` those of its frames from
 * old->place on that have records behind number `sequence`, and moves old->place behind the last one. The frames get
 * new checksums, since a checksum depends on all frames before. Errors: as make_header, idxi_log_read_frame and
 * idxi_page_writer_write. */
static enum idx_status copy_frames(struct idxi_log *new_log, struct idxi_log *old, uint64_t sequence,
                                   struct idxi_page_writer *file, struct idx_error *error) {
    struct idxf_frame frame = {0, 0};
    bool has_header = false;
    idxi_log_empty_buffer(old);
    while (old->file >= 0) {
        uint8_t *bytes;
        uint64_t last_before_frame = old->place.sequence;
        IDXI_TRY(idxi_log_read_frame(old, &frame, &bytes, error));
        if (frame.size == 0) break;
        if (old->place.sequence <= sequence) continue;
        if (!has_header) IDXI_TRY(make_header(new_log, old, last_before_frame, error));
        has_header = true;
        idxf_frame_write(&new_log->place, bytes, (size_t)frame.size, frame.count);
        IDXI_TRY(idxi_page_writer_write(file, bytes, (size_t)frame.size, error));
    }
    return has_header ? IDX_OK : make_header(new_log, old, sequence, error);
}

/* Writes a new log to the file IDXI_NEW_LOG_NAME in `folder` (a descriptor), which nobody reads yet: a header, and the
 * frames of `old` that have records behind number `sequence`; none if `old` has no file. After an error there is no
 * such file. Errors: as copy_frames and those of the page writer. */
static enum idx_status write_new_log(struct idxi_log *old, uint64_t sequence, int folder, struct idx_error *error) {
    struct idxi_page_writer file = {.fd = -1};
    uint8_t *header_bytes = calloc(1, IDXF_LOG_FRAMES);
    if (header_bytes == NULL) return idxi_fail_memory(error);
    struct idxi_log new_log = {.buffer = header_bytes};
    unlinkat(folder, IDXI_NEW_LOG_NAME, 0); /* A writer that was killed may have left one. */
    enum idx_status status = idxi_page_writer_open(&file, folder, IDXI_NEW_LOG_NAME, IDXF_LOG_FRAMES, old->path, error);
    if (status == IDX_OK) status = copy_frames(&new_log, old, sequence, &file, error);
    if (status == IDX_OK) status = idxi_page_writer_write(&file, zeros, sizeof zeros, error);
    idxf_log_slot_write(&new_log.header, &new_log.place, header_bytes + idxf_log_get_slot_offset(0));
    if (status == IDX_OK) status = idxi_page_writer_finish(&file, header_bytes, IDXF_LOG_FRAMES, error);
    if (status != IDX_OK && file.fd >= 0) unlinkat(folder, IDXI_NEW_LOG_NAME, 0);
    idxi_page_writer_close(&file);
    free(header_bytes);
    return status;
}

/* Closes the log's file, opens it again for writing, and sets writer->size to its size in bytes. Fails with
 * IDX_NO_ACCESS if it is a symbolic link, which may lead to a file of any kind, or can't be opened. */
static enum idx_status reopen_for_writing(struct idxi_log_writer *writer, struct idx_error *error) {
    struct idxi_log *log = &writer->log;
    close(log->file);
    log->file = openat(writer->folder, IDXI_LOG_NAME, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    if (log->file < 0 && errno == ELOOP)
        return idxi_fail(error, IDX_NO_ACCESS, log->path,
                         "is a symbolic link, and writers do not follow links: put the file itself in its place");
    if (log->file < 0) return idxi_fail_system(error, errno, log->path, "open");
    return idxi_get_file_size(log->file, &writer->size, log->path, error);
}

/* Opens the log of the manifest's `entry`, or the log that has replaced it, for reading and writing, in place of the
 * open one, and checks all its frames. Fails unless it has all records behind number `sequence`. */
static enum idx_status open_log(struct idxi_log_writer *writer, const struct idxf_manifest_log *entry,
                                uint64_t sequence, struct idx_error *error) {
    struct idxf_record_rules rules = writer->log.rules;
    idxi_log_close(&writer->log);
    IDXI_TRY(idxi_log_open(&writer->log, writer->folder, writer->folder_path, &rules, entry, sequence, error));
    /* Checks all frames, but visits no records, since none is behind the highest number. */
    IDXI_TRY(idxi_log_visit_records(&writer->log, IDXF_MAX_SEQUENCE, NULL, NULL, NULL, error));
    IDXI_TRY(reopen_for_writing(writer, error));
    writer->manifest_last = entry->last;
    /* If this writer, or one that was killed, has replaced the log, the manifest does not name the new one yet. */
    return memcmp(entry->id, writer->log.header.id, IDXF_UUID_BYTES) == 0 ? IDX_OK : update_manifest(writer, error);
}

/* Opens the log that replace_log put in the place of this one. If that fails, for lack of memory, say,
 * writer->new_log_due stays, and a later call tries again. This writer made the log, so it is not checked for missing
 * records again. */
static enum idx_status open_new_log(struct idxi_log_writer *writer, struct idx_error *error) {
    IDXI_TRY(open_log(writer, &writer->entry, IDXF_MAX_SEQUENCE, error));
    writer->new_log_due = false;
    return IDX_OK;
}

/* Writes a log of the frames that have records behind number `sequence`, replaces the current log by it, if there is
 * one, and opens it. An error after the rename leaves the new log in place: then writer->new_log_due or writer->failed
 * is true. Errors: as write_new_log and open_log; IDX_IO_ERROR. */
static enum idx_status replace_log(struct idxi_log_writer *writer, uint64_t sequence, struct idx_error *error) {
    struct idxi_log old = writer->log; /* reads the same file from its first frame, with a buffer of its own */
    old.place = idxf_log_get_first_place(&old.header);
    old.buffer = NULL;
    old.buffer_begin = old.buffer_end = old.buffer_capacity = 0;
    enum idx_status status = write_new_log(&old, sequence, writer->folder, error);
    free(old.buffer);
    if (status != IDX_OK) return status;
    if (renameat(writer->folder, IDXI_NEW_LOG_NAME, writer->folder, IDXI_LOG_NAME) != 0) {
        status = idxi_fail_system(error, errno, writer->log.path, "replace");
        unlinkat(writer->folder, IDXI_NEW_LOG_NAME, 0);
        return status;
    }
    writer->new_log_due = true;
    writer->entry = (struct idxf_manifest_log){.exists = true, .last = writer->log.place.sequence};
    if (writer->entry.last < sequence) writer->entry.last = sequence;
    memcpy(writer->entry.id, writer->log.header.id, IDXF_UUID_BYTES); /* The new log names this one as its former. */
    status = idxi_sync_folder(writer->folder, writer->folder_path, error);
    writer->failed = status != IDX_OK;
    return writer->failed ? status : open_new_log(writer, error);
}

enum idx_status idxi_log_trim_records(struct idxi_log_writer *writer, uint64_t sequence, struct idx_error *error) {
    IDXI_TRY(idxi_log_make_ready(writer, error));
    return writer->log.header.first >= sequence ? IDX_OK : replace_log(writer, sequence, error);
}

/* ---- Opening ---- */

/* Opens an existing log. Replaces it by a new one of its whole frames in three cases:
 * - The last frame was not acknowledged. After a failed sync, the system may serve it though it is not on disk.
 * - A torn frame follows the last one.
 * - The segments have records with higher numbers than the log. These numbers must not be used again.
 * Otherwise trims the log of the records in segments. Errors of that are ignored, since it can wait. */
static enum idx_status open_existing_log(struct idxi_log_writer *writer, const struct idxf_manifest *manifest,
                                         struct idx_error *error) {
    const struct idxi_log *log = &writer->log;
    IDXI_TRY(open_log(writer, &manifest->log, manifest->sequence, error));
    if (log->place.offset > log->acknowledged.offset || log->torn || log->place.sequence < manifest->sequence)
        return replace_log(writer, manifest->sequence, error);
    idxi_log_trim_records(writer, manifest->sequence, NULL);
    return idxi_log_make_ready(writer, error);
}

/* Opens the log that the manifest names, or makes one if it names none. Sets writer->log.rules. *manifest is scratch
 * memory to load the manifest into. Errors: as idxi_manifest_load, open_existing_log and replace_log. */
static enum idx_status open_or_make_log(struct idxi_log_writer *writer, struct idxf_manifest *manifest,
                                        struct idx_error *error) {
    IDXI_TRY(idxi_manifest_load(manifest, writer->folder, writer->folder_path, NULL, error));
    writer->log.rules =
        (struct idxf_record_rules){.bits = manifest->bits, .id_type = manifest->id_type, .sketch = manifest->sketch};
    memcpy(writer->log.rules.uuid, manifest->uuid, IDXF_UUID_BYTES);
    return manifest->log.exists ? open_existing_log(writer, manifest, error)
                                : replace_log(writer, manifest->sequence, error);
}

enum idx_status idxi_log_writer_open(struct idxi_log_writer **result, int folder, const char *folder_path,
                                     struct idx_error *error) {
    struct idxi_log_writer *writer = calloc(1, sizeof *writer);
    struct idxf_manifest *manifest = malloc(sizeof *manifest);
    if (writer == NULL || manifest == NULL) {
        free(writer);
        free(manifest);
        return idxi_fail_memory(error);
    }
    writer->process = getpid();
    writer->log.file = -1;
    writer->log.path = idxi_join_path(folder_path, IDXI_LOG_NAME);
    writer->folder_path = strdup(folder_path);
    writer->folder = fcntl(folder, F_DUPFD_CLOEXEC, 0);
    enum idx_status status;
    if (writer->folder_path == NULL || writer->log.path == NULL)
        status = idxi_fail_memory(error);
    else if (writer->folder < 0)
        status = idxi_fail_system(error, errno, folder_path, "open");
    else
        status = open_or_make_log(writer, manifest, error);
    free(manifest);
    writer->failed |= status != IDX_OK;
    if (status == IDX_OK)
        *result = writer;
    else
        idxi_log_writer_close(writer);
    return status;
}

void idxi_log_writer_close(struct idxi_log_writer *writer) {
    if (writer == NULL) return;
    bool is_outdated = !writer->failed && !writer->new_log_due && getpid() == writer->process &&
                       writer->manifest_last < writer->log.place.sequence;
    if (is_outdated && sync_log(writer, NULL) == IDX_OK) update_manifest(writer, NULL);
    idxi_log_close(&writer->log);
    if (writer->folder >= 0) close(writer->folder);
    free(writer->folder_path);
    free(writer->buffer);
    free(writer);
}

uint64_t idxi_log_writer_get_last_sequence(const struct idxi_log_writer *writer) {
    return writer->new_log_due ? writer->entry.last : writer->log.place.sequence;
}

enum idx_status idxi_log_make_ready(struct idxi_log_writer *writer, struct idx_error *error) {
    if (getpid() != writer->process)
        return idxi_fail(
            error, IDX_INVALID_ARGUMENT, writer->log.path,
            "was opened by another process, from which this one was forked: open a writer in this process");
    if (!writer->failed) return writer->new_log_due ? open_new_log(writer, error) : IDX_OK;
    return idxi_fail(error, IDX_IO_ERROR, writer->log.path,
                     "could not be written earlier, so it is unknown whether the last changes are on disk: close the "
                     "writer, and open it again");
}

/* ---- Appending ---- */

/* Makes sure that the file has zeros on disk for a frame of frame_bytes bytes at log.place, and extends it if needed. A
 * frame is written over zeros, so that syncing it changes nothing else, such as the size of the file. Errors:
 * IDX_DISK_FULL, IDX_IO_ERROR; after them the file has its old size, or only zeros more. */
static enum idx_status extend_with_zeros(struct idxi_log_writer *writer, size_t frame_bytes, struct idx_error *error) {
    uint64_t new_size = writer->log.place.offset + frame_bytes, spare_bytes = writer->size / 8;
    if (new_size <= writer->size) return IDX_OK;
    if (spare_bytes < MIN_SPARE_BYTES) spare_bytes = MIN_SPARE_BYTES;
    if (spare_bytes > MAX_SPARE_BYTES) spare_bytes = MAX_SPARE_BYTES;
    new_size = idxf_round_to_page(new_size + spare_bytes);
    enum idx_status status = IDX_OK;
    for (uint64_t offset = writer->size; offset < new_size && status == IDX_OK; offset += sizeof zeros) {
        size_t bytes = new_size - offset < sizeof zeros ? (size_t)(new_size - offset) : sizeof zeros;
        status = idxi_write_at(writer->log.file, zeros, bytes, offset, writer->log.path, error);
    }
    if (status != IDX_OK) {
        /* If this fails, zeros stay behind the last frame, and do no harm. */
        if (ftruncate(writer->log.file, (off_t)writer->size) != 0) errno = 0;
        return status;
    }
    IDXI_TRY(sync_log(writer, error));
    writer->size = new_size;
    return IDX_OK;
}

/* Makes the buffer large enough for a frame of `size` bytes. Its former contents are lost. Errors: IDX_OUT_OF_MEMORY.
 */
static enum idx_status reserve_frame_buffer(struct idxi_log_writer *writer, size_t size, struct idx_error *error) {
    if (size <= writer->buffer_capacity) return IDX_OK;
    free(writer->buffer);
    writer->buffer = malloc(size);
    writer->buffer_capacity = writer->buffer == NULL ? 0 : size;
    return writer->buffer == NULL ? idxi_fail_memory(error) : IDX_OK;
}

/* Checks `count` records. Sets *frame_bytes to the bytes of a frame of them, and *sequence_count to how many sequence
 * numbers they take. Errors: IDX_INVALID_ARGUMENT (a record breaks a rule), IDX_LIMIT (there are not so many numbers
 * left). */
static enum idx_status measure_frame(const struct idxi_log_writer *writer, const struct idxf_record *records,
                                     size_t count, size_t *frame_bytes, size_t *sequence_count,
                                     struct idx_error *error) {
    const struct idxf_record_rules *rules = &writer->log.rules;
    *frame_bytes = IDXF_FRAME_HEADER_BYTES + IDXF_FRAME_CHECKSUM_BYTES;
    *sequence_count = 0;
    for (size_t i = 0; i < count; i++) {
        enum idxf_fault fault = idxf_record_check(rules, &records[i]);
        if (fault != IDXF_OK)
            return idxi_fail(error, IDX_INVALID_ARGUMENT, writer->log.path,
                             "can't take record %zu of the batch, which %s", i + 1, idxf_get_fault_predicate(fault));
        *frame_bytes += idxf_get_record_size(rules, &records[i]);
        *sequence_count += (size_t)idxf_count_sequence_numbers(rules, &records[i]);
    }
    if (*sequence_count > IDXF_MAX_SEQUENCE - writer->log.place.sequence)
        return idxi_fail(error, IDX_LIMIT, writer->log.path, "has no sequence numbers left: build the index again");
    return IDX_OK;
}

/* Completes the frame of `frame_bytes` bytes in the buffer, whose records take `sequence_count` sequence numbers, by
 * its header and checksum. Writes it to the log, and syncs it. Then moves log->place behind it, and notes it in a slot;
 * if only the slot fails, sets writer->slot_due. Errors: IDX_DISK_FULL, IDX_IO_ERROR. */
static enum idx_status write_frame(struct idxi_log_writer *writer, size_t frame_bytes, size_t sequence_count,
                                   struct idx_error *error) {
    struct idxi_log *log = &writer->log;
    struct idxf_log_place place_behind = log->place;
    idxf_frame_write(&place_behind, writer->buffer, frame_bytes, sequence_count);
    IDXI_TRY(idxi_write_at(log->file, writer->buffer, frame_bytes, log->place.offset, log->path, error));
    IDXI_TRY(sync_log(writer, error));
    log->place = place_behind;
    writer->slot_due = write_slot(writer, NULL) != IDX_OK; /* The frame is on disk even if this fails. */
    return IDX_OK;
}

enum idx_status idxi_log_append_records(struct idxi_log_writer *writer, const struct idxf_record *records, size_t count,
                                        struct idx_error *error) {
    size_t frame_bytes, sequence_count;
    if (count == 0) return IDX_OK;
    IDXI_TRY(idxi_log_make_ready(writer, error));
    if (writer->slot_due) IDXI_TRY(write_slot(writer, error));
    writer->slot_due = false;
    IDXI_TRY(measure_frame(writer, records, count, &frame_bytes, &sequence_count, error));
    IDXI_TRY(extend_with_zeros(writer, frame_bytes, error));
    IDXI_TRY(reserve_frame_buffer(writer, frame_bytes, error));
    uint8_t *next_record = writer->buffer + IDXF_FRAME_HEADER_BYTES;
    for (size_t i = 0; i < count; i++) next_record = idxf_record_write(&writer->log.rules, &records[i], next_record);
    enum idx_status status = write_frame(writer, frame_bytes, sequence_count, error);
    if (writer->buffer_capacity > MAX_REUSED_BYTES) {
        free(writer->buffer);
        writer->buffer = NULL;
        writer->buffer_capacity = 0;
    }
    return status;
}
