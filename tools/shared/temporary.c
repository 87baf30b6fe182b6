/* temporary.c: writes and reads files without names. */
#include "tools/shared/files.h"

#include "tools/shared/wording.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { READ_SIZE = 1 << 16, WINDOW_SIZE = 1 << 12 };

static bool complain_of(struct temporary *temporary, const char *what, int error) {
    if (!temporary->failed) complain("%s: can't %s a temporary file: %s", temporary->folder, what, strerror(error));
    temporary->failed = true;
    return false;
}

bool temporary_open(struct temporary *temporary, const struct scratch *scratch, const char *folder) {
    char *path = scratch_path(scratch, "temporary");
    *temporary = (struct temporary){.output = OUTPUT_KEPT, .folder = folder};
    temporary->output.descriptor = path == NULL ? -1 : open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (temporary->output.descriptor < 0)
        complain_of(temporary, "create", path == NULL ? ENOMEM : errno);
    else
        unlink(path);
    free(path);
    return !temporary->failed;
}

bool temporary_flush(struct temporary *temporary) {
    return output_flush(&temporary->output) || complain_of(temporary, "write", temporary->output.error);
}

void temporary_rewind(struct temporary *temporary) { temporary->at = temporary->start = temporary->end = 0; }

/* Reads up to `length` bytes from the offset on, and returns how many there were. */
static size_t read_some(struct temporary *temporary, char *to, size_t length, uint64_t offset) {
    size_t held = 0;
    while (held < length) {
        ssize_t got = pread(temporary->output.descriptor, to + held, length - held, (off_t)(offset + held));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) complain_of(temporary, "read", errno);
        if (got <= 0) break;
        held += (size_t)got;
    }
    return held;
}

static bool fill_buffer(struct temporary *temporary) {
    if (temporary->bytes == NULL) temporary->bytes = malloc(READ_SIZE);
    if (temporary->bytes == NULL) return complain_of(temporary, "read", ENOMEM);
    temporary->start = 0;
    temporary->end = read_some(temporary, temporary->bytes, READ_SIZE, temporary->at);
    temporary->at += temporary->end;
    return temporary->end > 0 && !temporary->failed;
}

bool temporary_read(struct temporary *temporary, void *to, size_t length) {
    char *at = to;
    while (length > 0) {
        if (temporary->start == temporary->end && !fill_buffer(temporary)) return false;
        size_t held = temporary->end - temporary->start, taken = held < length ? held : length;
        memcpy(at, temporary->bytes + temporary->start, taken);
        temporary->start += taken;
        at += taken;
        length -= taken;
    }
    return true;
}

bool temporary_skip(struct temporary *temporary, uint64_t length) {
    while (length > 0) {
        if (temporary->start == temporary->end && !fill_buffer(temporary)) return complain_of(temporary, "read", EIO);
        size_t held = temporary->end - temporary->start, taken = held < length ? held : (size_t)length;
        temporary->start += taken;
        length -= taken;
    }
    return true;
}

bool temporary_copy(struct temporary *temporary, struct output *to) {
    while (temporary->start < temporary->end || fill_buffer(temporary)) {
        output_bytes(to, temporary->bytes + temporary->start, temporary->end - temporary->start);
        temporary->start = temporary->end;
    }
    return !temporary->failed;
}

/* What is there of `length` bytes from `offset` on, in memory that begins with byte `begin` of the file. */
static bool copy_held(const char *held, uint64_t begin, size_t count, void *to, size_t length, uint64_t offset) {
    if (offset < begin || offset - begin > count || count - (offset - begin) < length) return false;
    if (length > 0) memcpy(to, held + (offset - begin), length);
    return true;
}

/* Reads at one place are mostly followed by some nearby. */
bool temporary_read_at(struct temporary *temporary, void *to, size_t length, uint64_t offset) {
    uint64_t begin = temporary->at - temporary->end;
    if (copy_held(temporary->bytes, begin, temporary->end, to, length, offset) ||
        copy_held(temporary->window, temporary->window_begin, temporary->window_count, to, length, offset))
        return true;
    if (temporary->window == NULL) temporary->window = malloc(WINDOW_SIZE);
    if (temporary->window == NULL) return complain_of(temporary, "read", ENOMEM);
    temporary->window_begin = offset;
    temporary->window_count = read_some(temporary, temporary->window, WINDOW_SIZE, offset);
    if (copy_held(temporary->window, offset, temporary->window_count, to, length, offset)) return true;
    return read_some(temporary, to, length, offset) == length || complain_of(temporary, "read", EIO);
}

void temporary_close(struct temporary *temporary) {
    if (temporary->output.descriptor >= 0) close(temporary->output.descriptor);
    free(temporary->output.bytes);
    free(temporary->bytes);
    free(temporary->window);
    *temporary = (struct temporary)TEMPORARY_CLOSED;
}
