/* kept_sets.c: a file of sets that are found by the IDs of their documents. It begins with a header, which says what
 * the sets are made of; frames follow, each written and synced at once. idx-add(1) describes its bytes. */
#include "libidx/kept/kept_sets.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#include "libidx/base/base.h"

/* ---- Bytes ---- */

static const char magic[8] = "idx sets";

enum { VERSION = 1, SHINGLES_BYTES = 40, HEADER_BYTES = 64, FRAME_HEAD = 24, RECORD_HEAD = 8 };

/* Where the fields of the header are; of the head of a frame, which begins with the length of its content; and of the
 * head of a record, which begins with the length of its ID. Each checksum is of all bytes before it, or of content. */
enum { VERSION_AT = 8, ID_TYPE_AT = 12, SHINGLES_AT = 16, HEADER_CHECKSUM_AT = HEADER_BYTES - 8 };
enum { CONTENT_CHECKSUM_AT = 8, HEAD_CHECKSUM_AT = FRAME_HEAD - 8, COUNT_AT = 4 };

/* Returns a length rounded up to a multiple of 8. */
static size_t padded(size_t length) { return (length + 7) / 8 * 8; }

/* A document's set in memory that maps the file. */
struct record {
    const uint8_t *id, *hashes;
    size_t id_length, count, size; /* `count`: of hashes; `size`: bytes of the whole record */
};

/* Reads what the record at `at` begins with, of which only the ID and one hash need to be there; an ID that is a
 * decimal number is read without leading zeros. Returns false where these don't fit before `end`. */
static bool read_record_head(const uint8_t *at, const uint8_t *end, bool decimal, struct record *record) {
    size_t room = (size_t)(end - at);
    if (room < RECORD_HEAD) return false;
    record->id_length = idxf_load32(at);
    record->count = idxf_load32(at + COUNT_AT);
    uint64_t begin = RECORD_HEAD + (uint64_t)padded(record->id_length);
    if (begin + (record->count > 0) * sizeof(uint64_t) > room) return false;
    record->id = at + RECORD_HEAD;
    record->hashes = at + begin;
    record->size = (size_t)begin + record->count * sizeof(uint64_t);
    for (; decimal && record->id_length > 1 && *record->id == '0'; record->id_length--) record->id++;
    return true;
}

/* Reads the record at `at`. Returns false where it does not fit before `end`. */
static bool read_record(const uint8_t *at, const uint8_t *end, bool decimal, struct record *record) {
    return read_record_head(at, end, decimal, record) && record->size <= (size_t)(end - at);
}

static void make_header(const struct idx_kept_sets_options *options, uint8_t header[HEADER_BYTES]) {
    memset(header, 0, HEADER_BYTES);
    memcpy(header, magic, sizeof magic);
    idxf_store32(header + VERSION_AT, VERSION);
    idxf_store32(header + ID_TYPE_AT, (uint32_t)options->id_type);
    memcpy(header + SHINGLES_AT, options->shingles, strlen(options->shingles));
    idxf_store64(header + HEADER_CHECKSUM_AT, idxf_checksum(header, HEADER_CHECKSUM_AT));
}

/* ---- Where each set is ---- */

struct slot {
    uint64_t hash;   /* of the ID */
    uint64_t offset; /* of the record; 0: the slot is free */
};

struct idx_kept_sets {
    struct idx_kept_sets_options options;
    char *path;
    int file;
    pid_t process;         /* the one that opened the file, and alone may write to it */
    bool decimal;          /* the text IDs are those of an index with integer IDs */
    bool failed;           /* writing failed, so that the file can only be closed */
    const uint8_t *bytes;  /* the mapped file */
    uint64_t mapped, size; /* bytes that are mapped; bytes of the header and of all whole frames */
    uint64_t noted;        /* the sets up to here have slots */
    uint64_t cut;          /* bytes after `size` that were no whole frame when the file was opened */
    struct slot *slots;
    size_t slot_count, set_count; /* the former is a power of two */
    uint8_t *added;               /* the frame of what was added, with room for its head */
    size_t added_size, added_room;
    uint64_t *native; /* a set in the order of bytes of this machine, where that is not the file's */
    size_t native_room;
};

static bool is_record_of(const struct idx_kept_sets *kept, uint64_t offset, const void *id, size_t length) {
    struct record record;
    return read_record(kept->bytes + offset, kept->bytes + kept->size, kept->decimal, &record) &&
           record.id_length == length && (length == 0 || memcmp(record.id, id, length) == 0);
}

/* Returns the slot of an ID: the one that has it, or a free one. */
static struct slot *find_slot(const struct idx_kept_sets *kept, uint64_t hash, const void *id, size_t length) {
    size_t mask = kept->slot_count - 1, at = hash & mask;
    while (kept->slots[at].offset != 0 &&
           (kept->slots[at].hash != hash || !is_record_of(kept, kept->slots[at].offset, id, length)))
        at = (at + 1) & mask;
    return &kept->slots[at];
}

enum { FIRST_SLOTS = 1024 };

/* Makes room for one more set: a third of the slots stays free. */
static enum idx_status make_room_for_set(struct idx_kept_sets *kept, struct idx_error *error) {
    if (kept->set_count + 1 <= kept->slot_count / 3 * 2) return IDX_OK;
    size_t count = kept->slot_count == 0 ? FIRST_SLOTS : 2 * kept->slot_count;
    struct slot *slots = calloc(count, sizeof *slots);
    if (slots == NULL) return idxi_fail_memory(error);
    for (size_t i = 0; i < kept->slot_count; i++) {
        size_t at = kept->slots[i].hash & (count - 1);
        if (kept->slots[i].offset == 0) continue;
        while (slots[at].offset != 0) at = (at + 1) & (count - 1);
        slots[at] = kept->slots[i];
    }
    free(kept->slots);
    kept->slots = slots;
    kept->slot_count = count;
    return IDX_OK;
}

/* Notes where a set is. It replaces an earlier one of the same document. */
static enum idx_status note_record(struct idx_kept_sets *kept, const struct record *record, uint64_t offset,
                                   struct idx_error *error) {
    IDXI_TRY(make_room_for_set(kept, error));
    uint64_t hash = idxf_checksum(record->id, record->id_length);
    struct slot *slot = find_slot(kept, hash, record->id, record->id_length);
    kept->set_count += slot->offset == 0;
    *slot = (struct slot){hash, offset};
    return IDX_OK;
}

/* ---- Reading ---- */

static enum idx_status fail_damage(const struct idx_kept_sets *kept, enum idx_status status, uint64_t offset,
                                   struct idx_error *error) {
    return idxi_fail(error, status, kept->path,
                     "is damaged at byte %llu: restore it from a copy, or make it anew from the texts",
                     (unsigned long long)offset);
}

/* Maps the file up to kept->size, unless that is mapped already. The map has room for the file to grow, whose pages are
 * not touched before they exist. */
static enum idx_status map_file(struct idx_kept_sets *kept, struct idx_error *error) {
    if (kept->size <= kept->mapped) return IDX_OK;
    uint64_t wanted = 2 * kept->size;
    if (wanted > SIZE_MAX) return idxi_fail_memory(error);
    if (kept->bytes != NULL) munmap((void *)(uintptr_t)kept->bytes, (size_t)kept->mapped);
    kept->mapped = 0;
    kept->bytes = NULL;
    void *bytes = mmap(NULL, (size_t)wanted, PROT_READ, MAP_SHARED, kept->file, 0);
    if (bytes == MAP_FAILED) return idxi_fail_system(error, errno, kept->path, "map");
    kept->bytes = bytes;
    kept->mapped = wanted;
    return IDX_OK;
}

/* Notes the records of a frame whose checksum is right. */
static enum idx_status note_frame(struct idx_kept_sets *kept, uint64_t begin, uint64_t end, struct idx_error *error) {
    struct record record;
    for (uint64_t at = begin; at < end; at += record.size) {
        if (!read_record(kept->bytes + at, kept->bytes + end, kept->decimal, &record))
            return fail_damage(kept, IDX_BAD_CONTENT, at, error);
        IDXI_TRY(note_record(kept, &record, at, error));
    }
    return IDX_OK;
}

/* Notes the records of the frames that were written since the last call, so that they are found. */
static enum idx_status note_written(struct idx_kept_sets *kept, struct idx_error *error) {
    if (kept->noted == kept->size) return IDX_OK;
    IDXI_TRY(map_file(kept, error));
    while (kept->noted < kept->size) {
        uint64_t begin = kept->noted + FRAME_HEAD, length = idxf_load64(kept->bytes + kept->noted);
        IDXI_TRY(note_frame(kept, begin, begin + length, error));
        kept->noted = begin + length;
    }
    return IDX_OK;
}

static bool is_zero(const uint8_t *bytes, uint64_t size) {
    for (uint64_t i = 0; i < size; i++)
        if (bytes[i] != 0) return false;
    return true;
}

/* Sets *found to whether the index has the document of a record: whether it is among those that have the first value of
 * the set. An integer ID may be decimal text in the file. */
static enum idx_status find_in_index(const struct idx_kept_sets *kept, const struct record *record, bool *found,
                                     struct idx_error *error) {
    const uint64_t value = idxf_load64(record->hashes);
    struct idx_document_lists lists;
    *found = false;
    IDXI_TRY(idx_document_lists_make(kept->options.index, &value, 1, NULL, &lists, error));
    for (int64_t i = 0; i < lists.offsets[1] && !*found; i++) {
        char digits[24];
        uint8_t number[8];
        const void *id = number;
        size_t length = sizeof number;
        if (lists.numbers == NULL) {
            id = lists.ids + lists.id_offsets[i];
            length = (size_t)(lists.id_offsets[i + 1] - lists.id_offsets[i]);
        } else if (kept->options.id_type == IDX_ID_TEXT) {
            id = digits;
            length = (size_t)snprintf(digits, sizeof digits, "%" PRIu64, lists.numbers[i]);
        } else {
            idxf_store64(number, lists.numbers[i]);
        }
        *found = record->id_length == length && (length == 0 || memcmp(record->id, id, length) == 0);
    }
    idx_document_lists_free(&lists);
    return IDX_OK;
}

/* Fails if the index has a document of a frame that is cut off, and the file has no other set of it: what the index has
 * was acknowledged, after its frame was on disk, so the file was cut later. */
static enum idx_status check_lost(struct idx_kept_sets *kept, const uint8_t *at, const uint8_t *end,
                                  struct idx_error *error) {
    struct record record;
    if (kept->options.index == NULL || end - at <= FRAME_HEAD) return IDX_OK;
    for (at += FRAME_HEAD; read_record_head(at, end, kept->decimal, &record); at += record.size) {
        const struct slot *slot =
            find_slot(kept, idxf_checksum(record.id, record.id_length), record.id, record.id_length);
        bool lost = false;
        if (record.count > 0 && slot->offset == 0) IDXI_TRY(find_in_index(kept, &record, &lost, error));
        if (lost)
            return idxi_fail(error, IDX_BAD_CONTENT, kept->path,
                             "was cut off at byte %llu, in sets of documents that the index has: restore it from a "
                             "copy, or make both anew from the texts",
                             (unsigned long long)(kept->size + kept->cut));
        if (record.size > (size_t)(end - at)) break;
    }
    return IDX_OK;
}

/* Notes the sets of all whole frames of a file of `size` bytes, and sets kept->size to where they end. A frame that
 * reaches beyond the end of the file was not whole when its writer was killed; nor was one of zeros, which a system
 * that failed may leave. A frame's head has a checksum of its own, so that damage there is not taken for that. */
static enum idx_status read_frames(struct idx_kept_sets *kept, uint64_t size, struct idx_error *error) {
    uint64_t at = HEADER_BYTES;
    kept->size = size;
    IDXI_TRY(map_file(kept, error));
    while (size - at >= FRAME_HEAD && !is_zero(kept->bytes + at, size - at)) {
        const uint8_t *head = kept->bytes + at;
        uint64_t length = idxf_load64(head);
        if (idxf_checksum(head, HEAD_CHECKSUM_AT) != idxf_load64(head + HEAD_CHECKSUM_AT))
            return fail_damage(kept, IDX_BAD_CHECKSUM, at, error);
        if (length > size - at - FRAME_HEAD) break;
        if (idxf_checksum(head + FRAME_HEAD, (size_t)length) != idxf_load64(head + CONTENT_CHECKSUM_AT))
            return fail_damage(kept, IDX_BAD_CHECKSUM, at, error);
        IDXI_TRY(note_frame(kept, at + FRAME_HEAD, at + FRAME_HEAD + length, error));
        at += FRAME_HEAD + length;
    }
    kept->size = kept->noted = at;
    kept->cut = size - at;
    return check_lost(kept, kept->bytes + at, kept->bytes + size, error);
}

/* ---- Opening ---- */

/* Returns whether a file that begins with these bytes can be a file of sets, or one that was cut. */
static bool has_magic(const uint8_t *bytes, size_t count) {
    return memcmp(bytes, magic, count < sizeof magic ? count : sizeof magic) == 0;
}

/* Checks the header, of which the file has `count` bytes, and that it is the one that the options call for. */
static enum idx_status check_header(const struct idx_kept_sets *kept, const uint8_t *found, size_t count,
                                    struct idx_error *error) {
    uint8_t expected[HEADER_BYTES];
    if (count == 0 || !has_magic(found, count))
        return idxi_fail(error, IDX_BAD_CONTENT, kept->path, "is no file of sets, which --keep-sets makes");
    if (count < HEADER_BYTES)
        return idxi_fail(error, IDX_BAD_CONTENT, kept->path,
                         "was cut off at byte %zu, before its first set: restore it from a copy, or make it anew from "
                         "the texts",
                         count);
    if (idxf_load32(found + VERSION_AT) != VERSION)
        return idxi_fail_version(error, idxf_load32(found + VERSION_AT), kept->path);
    if (idxf_checksum(found, HEADER_CHECKSUM_AT) != idxf_load64(found + HEADER_CHECKSUM_AT))
        return fail_damage(kept, IDX_BAD_CHECKSUM, 0, error);
    make_header(&kept->options, expected);
    if (memcmp(found, expected, HEADER_BYTES) == 0) return IDX_OK;
    return idxi_fail(error, IDX_INVALID_ARGUMENT, kept->path,
                     "has sets of '%.*s' by %s IDs, but the index needs '%s' by %s IDs", SHINGLES_BYTES,
                     (const char *)found + SHINGLES_AT,
                     idxf_load32(found + ID_TYPE_AT) == IDX_ID_TEXT ? "text" : "integer", kept->options.shingles,
                     kept->options.id_type == IDX_ID_TEXT ? "text" : "integer");
}

/* Writes the header of a new file, and brings this and the file's name to disk. */
static enum idx_status begin_file(struct idx_kept_sets *kept, struct idx_error *error) {
    uint8_t header[HEADER_BYTES];
    char *copy = strdup(kept->path), *slash = copy == NULL ? NULL : strrchr(copy, '/');
    if (copy == NULL) return idxi_fail_memory(error);
    if (slash != NULL) slash[1] = '\0';
    make_header(&kept->options, header);
    enum idx_status status = idxi_write_at(kept->file, header, sizeof header, 0, kept->path, error);
    if (status == IDX_OK && fsync(kept->file) != 0) status = idxi_fail_system(error, errno, kept->path, "sync");
    int folder = open(slash == NULL ? "." : copy, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (status == IDX_OK && folder >= 0) status = idxi_sync_folder(folder, kept->path, error);
    if (folder >= 0) close(folder);
    free(copy);
    return status;
}

/* Opens the file, checks its header, and notes its sets. If it is to be written, it is made if there is none, locked,
 * and cut off after its last whole frame. */
static enum idx_status open_file(struct idx_kept_sets *kept, struct idx_error *error) {
    uint8_t header[HEADER_BYTES];
    uint64_t size;
    bool writes = kept->options.writes;
    kept->file = open(kept->path, writes ? O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK : IDXI_OPEN_FILE, 0666);
    if (kept->file < 0) return idxi_fail_system(error, errno, kept->path, "open");
    if (writes && flock(kept->file, LOCK_EX | LOCK_NB) != 0)
        return errno == EWOULDBLOCK ? idxi_fail(error, IDX_BUSY, kept->path,
                                                "is being written to by another process: wait until it ends")
                                    : idxi_fail_system(error, errno, kept->path, "lock");
    IDXI_TRY(idxi_file_size(kept->file, &size, kept->path, error));
    size_t known = size < HEADER_BYTES ? (size_t)size : HEADER_BYTES;
    IDXI_TRY(idxi_read_at(kept->file, header, known, 0, kept->path, error));
    if (writes && known < HEADER_BYTES && has_magic(header, known)) {
        IDXI_TRY(begin_file(kept, error));
        size = HEADER_BYTES;
    } else {
        IDXI_TRY(check_header(kept, header, known, error));
    }
    IDXI_TRY(read_frames(kept, size, error));
    if (writes && kept->size < size && ftruncate(kept->file, (off_t)kept->size) != 0)
        return idxi_fail_system(error, errno, kept->path, "cut");
    return IDX_OK;
}

enum idx_status idx_kept_sets_open(struct idx_kept_sets **result, const char *path,
                                   const struct idx_kept_sets_options *options, struct idx_error *error) {
    struct idx_kept_sets *kept = calloc(1, sizeof *kept);
    if (kept == NULL) return idxi_fail_memory(error);
    kept->options = (struct idx_kept_sets_options)IDX_KEPT_SETS_OPTIONS_INIT;
    kept->file = -1;
    kept->process = getpid();
    idxi_copy_options(&kept->options, options);
    if (kept->options.index != NULL) {
        struct idx_properties properties;
        idx_get_properties(kept->options.index, &properties);
        kept->decimal = kept->options.id_type == IDX_ID_TEXT && properties.id_type == IDX_ID_U64;
    }
    const char *shingles = kept->options.shingles;
    enum idx_status status = IDX_OK;
    if (shingles == NULL || strlen(shingles) >= SHINGLES_BYTES || (unsigned)kept->options.id_type > IDX_ID_U64)
        status = idxi_fail(error, IDX_INVALID_ARGUMENT, NULL,
                           "a file of sets needs text or integer IDs, and a name of shingles of fewer than %d bytes",
                           SHINGLES_BYTES);
    kept->path = strdup(path);
    kept->options.shingles = shingles == NULL ? NULL : strdup(shingles);
    if (status == IDX_OK && (kept->path == NULL || kept->options.shingles == NULL)) status = idxi_fail_memory(error);
    if (status == IDX_OK) status = make_room_for_set(kept, error);
    if (status == IDX_OK) status = open_file(kept, error);
    if (status == IDX_OK)
        *result = kept;
    else
        idx_kept_sets_close(kept);
    return status;
}

void idx_kept_sets_close(struct idx_kept_sets *kept) {
    if (kept == NULL) return;
    if (kept->bytes != NULL) munmap((void *)(uintptr_t)kept->bytes, (size_t)kept->mapped);
    /* The lock ends here also for processes that were forked since; one of those leaves it to this process. */
    if (kept->file >= 0 && kept->options.writes && kept->process == getpid()) flock(kept->file, LOCK_UN);
    if (kept->file >= 0) close(kept->file);
    free((void *)(uintptr_t)kept->options.shingles);
    free(kept->path);
    free(kept->slots);
    free(kept->added);
    free(kept->native);
    free(kept);
}

uint64_t idx_kept_sets_cut(const struct idx_kept_sets *kept) { return kept->cut; }

/* ---- Finding ---- */

/* Sets *id and *length to the bytes by which a document is found: its text ID or, in `bytes`, its number. */
static void name_document(const struct idx_kept_sets *kept, const void *given, size_t given_length, uint64_t number,
                          uint8_t bytes[8], const void **id, size_t *length) {
    bool is_text = kept->options.id_type == IDX_ID_TEXT;
    idxf_store64(bytes, number);
    *id = is_text ? given : bytes;
    *length = is_text ? given_length : sizeof number;
}

enum idx_status idx_kept_sets_find(void *context, const struct idx_document *document, struct idx_set *set,
                                   struct idx_error *error) {
    struct idx_kept_sets *kept = context;
    uint8_t bytes[8];
    const void *id;
    size_t length;
    struct record record;
    IDXI_TRY(note_written(kept, error));
    name_document(kept, document->id, document->id_length, document->number, bytes, &id, &length);
    const struct slot *slot = find_slot(kept, idxf_checksum(id, length), id, length);
    bool found =
        slot->offset != 0 && read_record(kept->bytes + slot->offset, kept->bytes + kept->size, kept->decimal, &record);
    if (!found) return IDX_OK;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    IDXI_GROW(kept->native, kept->native_room, record.count + 1, error);
    for (size_t i = 0; i < record.count; i++) kept->native[i] = idxf_load64(record.hashes + 8 * i);
    *set = (struct idx_set){kept->native, record.count};
#else
    *set = (struct idx_set){(const uint64_t *)(const void *)record.hashes, record.count};
#endif
    return IDX_OK;
}

/* ---- Adding ---- */

/* Fails where this process can't write, or can't write any more. */
static enum idx_status check_writing(const struct idx_kept_sets *kept, struct idx_error *error) {
    if (!kept->options.writes) return idxi_fail(error, IDX_INVALID_ARGUMENT, kept->path, "is open for reading alone");
    if (kept->failed)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, kept->path, "could not be written: it can only be closed");
    if (kept->process == getpid()) return IDX_OK;
    return idxi_fail(error, IDX_INVALID_ARGUMENT, kept->path,
                     "was opened by process %ld, and can't be written in a process forked from it: close it here",
                     (long)kept->process);
}

enum idx_status idx_kept_sets_add(struct idx_kept_sets *kept, const struct idx_item *item, const struct idx_set *set,
                                  struct idx_error *error) {
    uint8_t bytes[8];
    const void *id;
    size_t length;
    IDXI_TRY(check_writing(kept, error));
    name_document(kept, item->id, item->id_length, item->number, bytes, &id, &length);
    IDXI_TRY(idxi_check_id(length, error));
    if (set->count > IDX_MAX_SET_MEMBERS)
        return idxi_fail(error, IDX_LIMIT, kept->path, "takes no sets of more than 2^30 hashes");
    if (kept->added_size == 0) kept->added_size = FRAME_HEAD;
    size_t size = RECORD_HEAD + padded(length) + set->count * sizeof(uint64_t);
    IDXI_GROW(kept->added, kept->added_room, kept->added_size + size, error);
    uint8_t *at = kept->added + kept->added_size;
    memset(at, 0, RECORD_HEAD + padded(length));
    idxf_store32(at, (uint32_t)length);
    idxf_store32(at + COUNT_AT, (uint32_t)set->count);
    if (length > 0) memcpy(at + RECORD_HEAD, id, length);
    at += RECORD_HEAD + padded(length);
    for (size_t i = 0; i < set->count; i++) idxf_store64(at + 8 * i, set->hashes[i]);
    kept->added_size += size;
    return IDX_OK;
}

size_t idxi_kept_sets_added(const struct idx_kept_sets *kept) { return kept->added_size; }

void idxi_kept_sets_forget(struct idx_kept_sets *kept, size_t added) { kept->added_size = added; }

/* Completes the frame of what was added, writes it behind the last one, and syncs it. */
static enum idx_status write_frame(struct idx_kept_sets *kept, struct idx_error *error) {
    uint64_t length = kept->added_size - FRAME_HEAD;
    idxf_store64(kept->added, length);
    idxf_store64(kept->added + CONTENT_CHECKSUM_AT, idxf_checksum(kept->added + FRAME_HEAD, (size_t)length));
    idxf_store64(kept->added + HEAD_CHECKSUM_AT, idxf_checksum(kept->added, HEAD_CHECKSUM_AT));
    IDXI_TRY(idxi_write_at(kept->file, kept->added, kept->added_size, kept->size, kept->path, error));
    if (fdatasync(kept->file) != 0) return idxi_fail_system(error, errno, kept->path, "sync");
    kept->size += kept->added_size;
    return IDX_OK;
}

enum idx_status idx_kept_sets_sync(struct idx_kept_sets *kept, struct idx_error *error) {
    if (kept->options.writes) IDXI_TRY(check_writing(kept, error));
    if (kept->added_size <= FRAME_HEAD) return IDX_OK;
    uint64_t size = kept->size;
    enum idx_status status = write_frame(kept, error);
    kept->added_size = 0;
    kept->failed = status != IDX_OK;
    if (kept->failed && ftruncate(kept->file, (off_t)size) != 0) errno = 0; /* A frame cut short does no harm. */
    return status;
}
