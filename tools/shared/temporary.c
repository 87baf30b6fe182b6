/* temporary.c: see temporary.h. */
#include "tools/shared/temporary.h"

#include "tools/shared/message.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { READ_SIZE = 1 << 16 };

static bool fail(struct temporary *temporary, const char *what, int error) {
    if (!temporary->failed) complain("%s: can't %s a temporary file: %s", temporary->folder, what, strerror(error));
    temporary->failed = true;
    return false;
}

bool temporary_open(struct temporary *temporary, const struct scratch *scratch, const char *folder) {
    char *path = scratch_path(scratch, "temporary");
    *temporary = (struct temporary){.output = OUTPUT_KEPT, .folder = folder};
    temporary->output.descriptor = path == NULL ? -1 : open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (temporary->output.descriptor < 0)
        fail(temporary, "create", path == NULL ? ENOMEM : errno);
    else
        unlink(path);
    free(path);
    return !temporary->failed;
}

bool temporary_is_open(const struct temporary *temporary) { return temporary->output.descriptor >= 0; }

bool temporary_flush(struct temporary *temporary) {
    return output_flush(&temporary->output) || fail(temporary, "write", temporary->output.error);
}

void temporary_rewind(struct temporary *temporary) { temporary->at = temporary->start = temporary->end = 0; }

/* Returns how many bytes there are from the offset on, up to `length`. */
static size_t read_some(struct temporary *temporary, char *to, size_t length, uint64_t offset) {
    size_t held = 0;
    while (held < length) {
        ssize_t got = pread(temporary->output.descriptor, to + held, length - held, (off_t)(offset + held));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) fail(temporary, "read", errno);
        if (got <= 0) break;
        held += (size_t)got;
    }
    return held;
}

static bool fill(struct temporary *temporary) {
    if (temporary->bytes == NULL) temporary->bytes = malloc(READ_SIZE);
    if (temporary->bytes == NULL) return fail(temporary, "read", ENOMEM);
    temporary->start = 0;
    temporary->end = read_some(temporary, temporary->bytes, READ_SIZE, temporary->at);
    temporary->at += temporary->end;
    return temporary->end > 0 && !temporary->failed;
}

bool temporary_read(struct temporary *temporary, void *to, size_t length) {
    char *at = to;
    while (length > 0) {
        if (temporary->start == temporary->end && !fill(temporary)) return false;
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
        if (temporary->start == temporary->end && !fill(temporary)) return fail(temporary, "read", EIO);
        size_t held = temporary->end - temporary->start, taken = held < length ? held : (size_t)length;
        temporary->start += taken;
        length -= taken;
    }
    return true;
}

bool temporary_copy(struct temporary *temporary, struct output *to) {
    while (temporary->start < temporary->end || fill(temporary)) {
        output_bytes(to, temporary->bytes + temporary->start, temporary->end - temporary->start);
        temporary->start = temporary->end;
    }
    return !temporary->failed;
}

bool temporary_read_at(struct temporary *temporary, void *to, size_t length, uint64_t offset) {
    if (read_some(temporary, to, length, offset) == length) return true;
    return fail(temporary, "read", EIO);
}

void temporary_close(struct temporary *temporary) {
    if (temporary->output.descriptor >= 0) close(temporary->output.descriptor);
    free(temporary->output.bytes);
    free(temporary->bytes);
    *temporary = (struct temporary)TEMPORARY_CLOSED;
}
