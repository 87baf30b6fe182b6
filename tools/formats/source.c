/* source.c: reads the bytes of a file, of standard input or of memory, decompressed by libarchive's filters. Only
 * filters that libarchive runs itself are allowed, since some others start programs. gzip is decompressed before them,
 * by zlib, since libarchive neither checks its checksums nor returns what precedes an error. */
#include "tools/formats/source.h"

#include "tools/shared/command.h"

#include <archive.h>
#include <archive_entry.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* The sizes of the buffers in bytes: of those that are read and inflated into, and of the one that source_peek shows.
 */
enum { READ_SIZE = 1 << 18, BUFFER_SIZE = 4 * SOURCE_MOST_PEEKED };

/* Waits until the input can be read, and calls before_wait first unless it can be already. Returns false if a signal
 * was noted, or if stop_descriptor can be read. */
static bool wait_for_input(struct source *source) {
    const int stop = source->stop_descriptor == NULL ? -1 : *source->stop_descriptor; /* poll ignores -1 */
    struct pollfd polled[3] = {
        {source->descriptor, POLLIN, 0}, {interrupt_get_descriptor(), POLLIN, 0}, {stop, POLLIN, 0}};
    if (source->before_wait != NULL && poll(polled, 1, 0) == 0) source->before_wait(source->context);
    poll(polled, 3, -1);
    return !interrupt_is_noted() && polled[2].revents == 0;
}

/* Reads further input behind the raw_length bytes at `raw`, none of which may have been consumed unless raw_length is
 * 0. Returns how many bytes were read; 0 at the end, or after a signal; or -1, with `error` set. */
static ssize_t read_further_input(struct source *source) {
    ssize_t byte_count;
    if (source->descriptor < 0) return 0;
    if (source->raw_length == 0) source->raw = source->input;
    do {
        if (!wait_for_input(source)) return 0; /* As at the end, since the command ends without a result. */
        byte_count = read(source->descriptor, source->input + source->raw_length, READ_SIZE - source->raw_length);
    } while (byte_count < 0 && (errno == EINTR || errno == EAGAIN));
    if (byte_count < 0) source->error = errno;
    if (byte_count <= 0) return byte_count;
    source->bytes_read += (uint64_t)byte_count;
    source->raw_length += (size_t)byte_count;
    return byte_count;
}

/* ---- gzip ---- */

/* Finds out whether the input is gzip, by its first bytes, and prepares zlib if so. Sets `begun`, and for gzip
 * `gzipped` and `in_member`. Returns false, with `error` set, if the input can't be read or memory ran out. */
static bool detect_gzip(struct source *source) {
    static const char mark[] = {'\x1f', '\x8b', 8};
    ssize_t byte_count = 1;
    source->begun = true;
    while (byte_count > 0 && source->raw_length < sizeof mark) byte_count = read_further_input(source);
    if (byte_count < 0) return false;
    if (source->raw_length < sizeof mark || memcmp(source->raw, mark, sizeof mark) != 0) return true;
    source->gzip = (z_stream){0};
    if (source->inflated == NULL) source->inflated = malloc(READ_SIZE);
    /* Adding 16 makes zlib read gzip. */
    source->gzipped = source->inflated != NULL && inflateInit2(&source->gzip, 16 + MAX_WBITS) == Z_OK;
    source->in_member = source->gzipped;
    if (!source->gzipped) source->error = ENOMEM;
    return source->gzipped;
}

/* Decompresses some of what was read. Returns the number of decompressed bytes, which are in `inflated`; 0 if there are
 * none yet, or if the data is wrong, which sets `fault`; or -1 if memory ran out, which sets `error`. */
static ssize_t inflate_some_input(struct source *source) {
    z_stream *gzip = &source->gzip;
    gzip->next_in = (const Bytef *)source->raw;
    gzip->avail_in = (uInt)source->raw_length;
    gzip->next_out = (Bytef *)source->inflated;
    gzip->avail_out = READ_SIZE;
    int status = inflate(gzip, Z_NO_FLUSH);
    source->raw += source->raw_length - gzip->avail_in;
    source->raw_length = gzip->avail_in;
    source->in_member = status != Z_STREAM_END;
    /* If there was an error, the next call gets it again. */
    if (gzip->avail_out < READ_SIZE) return (ssize_t)(READ_SIZE - gzip->avail_out);
    if (status == Z_OK || status == Z_BUF_ERROR || status == Z_STREAM_END) return 0;
    if (status == Z_MEM_ERROR) {
        source->error = ENOMEM;
        return -1;
    }
    source->fault = gzip->msg != NULL ? gzip->msg : "not in gzip format";
    return 0;
}

/* Skips zeros, which pad tapes and disks, and begins the next gzip member if there is one. Anything else is ignored
 * with passes_over_rest, and otherwise sets `fault`. */
static void begin_gzip_member(struct source *source) {
    while (source->raw_length > 0 && *source->raw == '\0') {
        source->raw++;
        source->raw_length--;
    }
    if (source->raw_length == 0) return;
    source->in_member = *source->raw == '\x1f';
    if (source->in_member)
        inflateReset(&source->gzip);
    else if (source->passes_over_rest)
        source->raw_length = 0;
    else
        source->fault = "the data after a member is not gzip";
}

/* Decompresses further bytes to `inflated`. Returns how many; 0 at the end, or if the data is wrong, which sets
 * `fault`; or -1 after an error. libarchive gets a fault as the end, since after an error it would not return what it
 * got before. */
static ssize_t read_inflated(struct source *source) {
    while (source->fault == NULL) {
        ssize_t inflated = source->in_member ? inflate_some_input(source) : 0;
        if (inflated != 0 || source->fault != NULL) return inflated;
        ssize_t byte_count = source->raw_length > 0 ? (ssize_t)source->raw_length : read_further_input(source);
        if (byte_count <= 0) {
            source->cut = byte_count == 0 && source->in_member;
            if (source->cut) source->fault = "truncated gzip input";
            return byte_count;
        }
        if (!source->in_member) begin_gzip_member(source);
    }
    return 0;
}

/* ---- libarchive ---- */

/* Sets *bytes to the next bytes for libarchive. Returns their number, 0 at the end, or -1 after an error. This is an
 * archive_read_callback. */
static la_ssize_t read_for_libarchive(struct archive *archive, void *context, const void **bytes) {
    struct source *source = context;
    (void)archive;
    if (!source->begun && !detect_gzip(source)) return -1;
    *bytes = source->inflated; /* Of gzip; what is not gzip is passed on as it is. */
    if (source->gzipped) return read_inflated(source);
    if (source->raw_length == 0 && read_further_input(source) < 0) return -1;
    la_ssize_t length = (la_ssize_t)source->raw_length;
    *bytes = source->raw;
    source->raw_length = 0;
    source->passed_bytes += length;
    return length;
}

/* Sets `fault` if other data follows the data of bzip2: then libarchive has read fewer bytes than it got. It does not
 * report that itself. */
static void find_fault_behind_bzip2(struct source *source) {
    bool is_bzip2 = archive_filter_code(source->archive, 0) == ARCHIVE_FILTER_BZIP2;
    if (is_bzip2 && !source->passes_over_rest && source->passed_bytes > archive_filter_bytes(source->archive, -1))
        source->fault = "the data after a stream is not bzip2";
}

/* Ends the source when libarchive has returned `status`: ARCHIVE_EOF, or an error. Sets `unreadable` or `broken`, and
 * `problem`, if the source ends too soon. An error for which libarchive gives no reason means that memory ran out. */
static void end_source(struct source *source, int status) {
    if (status == ARCHIVE_EOF && source->fault == NULL) find_fault_behind_bzip2(source);
    const char *reason = source->fault;
    if (reason == NULL && status < ARCHIVE_WARN) {
        reason = archive_error_string(source->archive);
        bool no_memory = reason == NULL || archive_errno(source->archive) == ENOMEM;
        if (no_memory && source->error == 0) source->error = ENOMEM;
    }
    source->ended = true;
    source->unreadable = source->error != 0;
    source->broken = !source->unreadable && (status < ARCHIVE_WARN || source->fault != NULL);
    if (source->unreadable)
        problem_set(&source->problem, "%s", strerror(source->error));
    else if (source->broken)
        problem_set(&source->problem, "the compressed data is broken: %s", reason);
}

/* Enables the filters that libarchive runs itself, for data in no archive's format, or none. gzip is not among them,
 * since zlib reads it before (read_inflated). Returns false if memory ran out. */
static bool enable_filters_and_formats(struct archive *archive) {
    return archive_read_support_filter_bzip2(archive) >= ARCHIVE_WARN &&
           archive_read_support_filter_xz(archive) >= ARCHIVE_WARN &&
           archive_read_support_filter_zstd(archive) >= ARCHIVE_WARN &&
           archive_read_support_format_raw(archive) >= ARCHIVE_WARN &&
           archive_read_support_format_empty(archive) >= ARCHIVE_WARN;
}

/* Opens libarchive, which reads the beginning of the input. Returns false, with `problem` set, if the input can't be
 * read or memory ran out. An empty input ends at once. */
static bool open_archive(struct source *source) {
    struct archive_entry *entry;
    struct archive *archive = source->archive = archive_read_new();
    if (source->input == NULL) source->input = malloc(READ_SIZE);
    if (source->buffer == NULL) source->buffer = malloc(BUFFER_SIZE);
    if (archive == NULL || source->input == NULL || source->buffer == NULL || !enable_filters_and_formats(archive)) {
        source->unreadable = true;
        source->error = ENOMEM;
        return problem_set(&source->problem, "%s", strerror(ENOMEM));
    }
    int status = archive_read_open(archive, source, NULL, read_for_libarchive, NULL);
    if (status == ARCHIVE_OK) status = archive_read_next_header(archive, &entry);
    if (status == ARCHIVE_EOF || status < ARCHIVE_WARN) end_source(source, status);
    return !source->unreadable;
}

/* Sets a closed source to zero, except what the caller set, its buffers, and the number of bytes that it has read. */
static void clear_closed_source(struct source *source) {
    *source = (struct source){.before_wait = source->before_wait,
                              .context = source->context,
                              .stop_descriptor = source->stop_descriptor,
                              .passes_over_rest = source->passes_over_rest,
                              .regular_only = source->regular_only,
                              .bytes_read = source->bytes_read,
                              .input = source->input,
                              .inflated = source->inflated,
                              .buffer = source->buffer};
}

size_t source_find_ending_length(const char *name) {
    static const char *const endings[] = {".gz", ".zst", ".xz", ".bz2"};
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t ending_length = strlen(endings[i]);
        if (length > ending_length && strcasecmp(name + length - ending_length, endings[i]) == 0) return ending_length;
    }
    return 0;
}

int source_get_filter(const struct source *source) {
    return source->gzipped ? ARCHIVE_FILTER_GZIP : archive_filter_code(source->archive, 0);
}

/* Marks an open source as broken if the file's name says that it is compressed, but the content is not: its first bytes
 * may be damaged, and it must not be taken for text. */
static void mark_misnamed_as_broken(struct source *source, const char *path) {
    if (source_get_filter(source) != ARCHIVE_FILTER_NONE || source_find_ending_length(path) == 0) return;
    source->ended = source->broken = true;
    problem_set(&source->problem, "the name says that the file is compressed, but its content is not; get it again, or "
                                  "rename it");
}

bool source_open(struct source *source, const char *path) {
    bool is_standard_input = strcmp(path, "-") == 0;
    struct stat status;
    clear_closed_source(source);
    /* Opening a FIFO does not wait for its writer here; reading does, and notices signals meanwhile. */
    source->descriptor = is_standard_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (source->descriptor < 0) return problem_set(&source->problem, "%s", strerror(errno));
    if (source->regular_only && (fstat(source->descriptor, &status) != 0 || !S_ISREG(status.st_mode))) {
        source_close(source);
        return problem_set(&source->problem, "it was replaced while it was read; run the command again");
    }
    if (is_standard_input && isatty(STDIN_FILENO)) complain("waiting for standard input; Ctrl-D ends it");
    if (open_archive(source)) {
        mark_misnamed_as_broken(source, path);
        return true;
    }
    source_close(source);
    return false;
}

bool source_open_memory(struct source *source, const void *bytes, size_t length) {
    clear_closed_source(source);
    source->descriptor = -1;
    source->raw = bytes;
    source->raw_length = length;
    if (open_archive(source)) return true;
    source_close(source);
    return false;
}

/* Copies to the buffer as many bytes of libarchive's current block as fit. If all of that block was copied before, gets
 * the next one first, but only one, since libarchive might have to wait for another. Ends the source if there is
 * none. */
static void add_to_buffer(struct source *source) {
    size_t held_bytes = source->end - source->start;
    la_int64_t block_offset;
    if (source->block_length == 0) {
        int status = archive_read_data_block(source->archive, &source->block, &source->block_length, &block_offset);
        if (status == ARCHIVE_EOF || status < ARCHIVE_WARN) {
            source->block_length = 0;
            end_source(source, status);
        }
    }
    if (source->start > 0) memmove(source->buffer, source->buffer + source->start, held_bytes);
    size_t copied = source->block_length < BUFFER_SIZE - held_bytes ? source->block_length : BUFFER_SIZE - held_bytes;
    if (copied > 0) memcpy(source->buffer + held_bytes, source->block, copied);
    if (copied > 0) source->block = (const char *)source->block + copied;
    source->block_length -= copied;
    source->start = 0;
    source->end = held_bytes + copied;
}

size_t source_peek(struct source *source, size_t wanted_bytes, const char **bytes) {
    while (source->end - source->start < wanted_bytes && !source->ended) add_to_buffer(source);
    *bytes = source->buffer + source->start;
    return source->end - source->start;
}

void source_skip(struct source *source, size_t byte_count) {
    source->start += byte_count;
    source->offset += byte_count;
}

void source_close(struct source *source) {
    archive_read_free(source->archive);
    source->archive = NULL;
    if (source->gzipped) inflateEnd(&source->gzip);
    source->gzipped = false;
    if (source->descriptor > STDIN_FILENO) close(source->descriptor);
    source->descriptor = -1;
}

void source_free(struct source *source) {
    source_close(source);
    free(source->input);
    free(source->inflated);
    free(source->buffer);
    source->input = source->inflated = source->buffer = NULL;
}

/* ---- Writing ---- */

void sink_open(struct sink *sink, int descriptor, int filter) {
    *sink = (struct sink){.output = OUTPUT_BUFFER, .filter = filter};
    sink->output.descriptor = descriptor;
}

/* Notes the first error of a sink. An error of 0 is one for which libarchive gives no reason: memory ran out. */
static void note_sink_error(struct sink *sink, int error) {
    if (sink->output.error == 0) sink->output.error = error == 0 ? ENOMEM : error;
}

/* Writes what libarchive compressed to the sink's output. Returns `length`, or -1 after an error, which
 * sink->output.error tells. This is an archive_write_callback. */
static la_ssize_t write_to_output(struct archive *archive, void *context, const void *bytes, size_t length) {
    struct sink *sink = context;
    (void)archive;
    output_bytes(&sink->output, bytes, length);
    return sink->output.error == 0 ? (la_ssize_t)length : -1;
}

/* Opens a new archive to write a member to the sink. The member has no time in it, so that the same input makes the
 * same bytes. Returns false if that fails; archive_errno says why. */
static bool open_archive_for_member(struct sink *sink, struct archive *archive) {
    if (archive_write_set_format_raw(archive) != ARCHIVE_OK) return false;
    if (archive_write_add_filter(archive, sink->filter) != ARCHIVE_OK) return false;
    if (sink->filter == ARCHIVE_FILTER_GZIP &&
        archive_write_set_filter_option(archive, "gzip", "timestamp", NULL) != ARCHIVE_OK)
        return false;
    if (archive_write_set_bytes_in_last_block(archive, 1) != ARCHIVE_OK) return false;
    if (archive_write_open(archive, sink, NULL, write_to_output, NULL) != ARCHIVE_OK) return false;
    struct archive_entry *entry = archive_entry_new();
    if (entry == NULL) return false;
    archive_entry_set_pathname(entry, "data");
    archive_entry_set_filetype(entry, AE_IFREG);
    bool begun = archive_write_header(archive, entry) == ARCHIVE_OK;
    archive_entry_free(entry);
    return begun;
}

/* Begins the next member of a sink, in a new archive. If that fails, sets the sink's error and returns false, without a
 * complaint. */
static bool begin_sink_member(struct sink *sink) {
    sink->archive = archive_write_new();
    if (sink->archive == NULL || !open_archive_for_member(sink, sink->archive))
        note_sink_error(sink, sink->archive == NULL ? ENOMEM : archive_errno(sink->archive));
    return sink->output.error == 0;
}

void sink_write(struct sink *sink, const void *bytes, size_t length) {
    if (sink->output.error != 0 || length == 0) return;
    if (sink->filter == ARCHIVE_FILTER_NONE) {
        output_bytes(&sink->output, bytes, length);
        return;
    }
    if (sink->archive == NULL && !begin_sink_member(sink)) return;
    if (archive_write_data(sink->archive, bytes, length) != (la_ssize_t)length)
        note_sink_error(sink, archive_errno(sink->archive));
}

void sink_end_member(struct sink *sink) {
    if (sink->archive == NULL) return;
    if (archive_write_close(sink->archive) != ARCHIVE_OK) note_sink_error(sink, archive_errno(sink->archive));
    archive_write_free(sink->archive);
    sink->archive = NULL;
}

bool sink_close(struct sink *sink) {
    sink_end_member(sink);
    output_flush(&sink->output);
    if (close(sink->output.descriptor) != 0 && errno != EINTR) note_sink_error(sink, errno);
    free(sink->output.bytes);
    sink->output.bytes = NULL;
    sink->output.descriptor = -1;
    return sink->output.error == 0;
}
