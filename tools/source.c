/* source.c: the bytes of a file, of standard input or of memory, decompressed, over libarchive's filters. Only those
 * filters are allowed that libarchive runs itself: some others start programs. */
#include "tools/source.h"

#include <archive.h>
#include <archive_entry.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { READ_SIZE = 1 << 18, HELD_SIZE = 4 * SOURCE_MOST_PEEKED };

static void wait_for_input(struct source *source) {
    struct pollfd polled = {source->descriptor, POLLIN, 0};
    if (source->before_wait != NULL && poll(&polled, 1, 0) == 0) source->before_wait(source->context);
}

/* libarchive asks for more. */
static la_ssize_t read_more(struct archive *archive, void *context, const void **bytes) {
    struct source *source = context;
    (void)archive;
    if (source->descriptor < 0) {
        *bytes = source->memory;
        source->memory = NULL;
        return *bytes == NULL ? 0 : (la_ssize_t)source->memory_length;
    }
    wait_for_input(source);
    ssize_t got;
    do got = read(source->descriptor, source->input, READ_SIZE);
    while (got < 0 && errno == EINTR);
    if (got < 0) source->error = errno;
    if (got > 0) source->read += (uint64_t)got;
    *bytes = source->input;
    return got;
}

static void note_failure(struct source *source) {
    const char *reason = archive_error_string(source->archive);
    source->ended = true;
    source->unreadable = source->error != 0;
    source->broken = !source->unreadable;
    if (source->unreadable)
        problem_set(&source->problem, "%s", strerror(source->error));
    else
        problem_set(&source->problem, "its compression is broken: %s", reason != NULL ? reason : "no reason is known");
}

/* Opens libarchive over read_more. What holds nothing at all has no header. */
static bool open_archive(struct source *source) {
    struct archive_entry *entry;
    struct archive *archive = source->archive = archive_read_new();
    if (source->input == NULL) source->input = malloc(READ_SIZE);
    if (source->buffer == NULL) source->buffer = malloc(HELD_SIZE);
    if (archive == NULL || source->input == NULL || source->buffer == NULL) {
        source->unreadable = true;
        return problem_set(&source->problem, "%s", strerror(ENOMEM));
    }
    archive_read_support_filter_gzip(archive);
    archive_read_support_filter_bzip2(archive);
    archive_read_support_filter_xz(archive);
    archive_read_support_filter_zstd(archive);
    archive_read_support_format_raw(archive);
    archive_read_support_format_empty(archive);
    int status = archive_read_open(archive, source, NULL, read_more, NULL);
    if (status == ARCHIVE_OK) status = archive_read_next_header(archive, &entry);
    if (status == ARCHIVE_EOF) source->ended = true;
    if (status != ARCHIVE_EOF && status < ARCHIVE_WARN) note_failure(source);
    return true;
}

static void reset(struct source *source) {
    source->broken = source->unreadable = source->ended = false;
    source->offset = 0;
    source->start = source->end = 0;
    source->error = 0;
    source->block = NULL;
    source->block_length = 0;
}

bool source_open(struct source *source, const char *path) {
    bool standard = strcmp(path, "-") == 0;
    reset(source);
    source->descriptor = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (source->descriptor < 0) return problem_set(&source->problem, "%s", strerror(errno));
    if (standard && isatty(STDIN_FILENO)) complain("waiting for standard input; Ctrl-D ends it");
    if (open_archive(source) && !source->unreadable) return true;
    source_close(source);
    return false;
}

bool source_open_memory(struct source *source, const void *bytes, size_t length) {
    reset(source);
    source->descriptor = -1;
    source->memory = bytes;
    source->memory_length = length;
    if (open_archive(source)) return true;
    source_close(source);
    return false;
}

/* Copies some more to the buffer: what libarchive has, not as much as fits, for which it would wait. */
static void read_some(struct source *source) {
    size_t held = source->end - source->start;
    la_int64_t place;
    if (source->block_length == 0) {
        int status = archive_read_data_block(source->archive, &source->block, &source->block_length, &place);
        if (status == ARCHIVE_EOF) source->ended = true;
        if (status == ARCHIVE_EOF || status < ARCHIVE_WARN) source->block_length = 0;
        if (status < ARCHIVE_WARN) note_failure(source);
    }
    if (source->start > 0) memmove(source->buffer, source->buffer + source->start, held);
    size_t count = source->block_length < HELD_SIZE - held ? source->block_length : HELD_SIZE - held;
    if (count > 0) memcpy(source->buffer + held, source->block, count);
    if (count > 0) source->block = (const char *)source->block + count;
    source->block_length -= count;
    source->start = 0;
    source->end = held + count;
}

size_t source_peek(struct source *source, size_t want, const char **bytes) {
    while (source->end - source->start < want && !source->ended) read_some(source);
    *bytes = source->buffer + source->start;
    return source->end - source->start;
}

void source_skip(struct source *source, size_t count) {
    source->start += count;
    source->offset += count;
}

void source_close(struct source *source) {
    archive_read_free(source->archive);
    source->archive = NULL;
    if (source->descriptor > STDIN_FILENO) close(source->descriptor);
    source->descriptor = -1;
}

void source_free(struct source *source) {
    source_close(source);
    free(source->input);
    free(source->buffer);
    source->input = source->buffer = NULL;
}
