/* temporary.c: writes files without names, and maps them into memory to read them. */
#include "tools/shared/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The bytes of a mapped file that may be touched before they are given back; and the bytes that each access touches
 * besides its own, because the system maps neighbouring pages as well. */
enum { MAX_TOUCHED_BYTES = 32 << 20, NEIGHBOUR_BYTES = 16 << 10 };

/* Complains that the errno `error` came of an action on the file, a verb such as "create"; but only once for each file.
 * Returns false always. */
static bool complain_once(struct temporary *temporary, const char *action, int error) {
    if (!temporary->failed) complain("%s: can't %s a temporary file: %s", temporary->folder, action, strerror(error));
    temporary->failed = true;
    return false;
}

bool temporary_open(struct temporary *temporary, const struct scratch *scratch, const char *folder) {
    char *path = scratch_join(scratch, "temporary");
    *temporary = (struct temporary){.output = OUTPUT_BUFFER, .folder = folder};
    temporary->output.descriptor = path == NULL ? -1 : open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (temporary->output.descriptor < 0)
        complain_once(temporary, "create", path == NULL ? ENOMEM : errno);
    else
        unlink(path);
    free(path);
    return !temporary->failed;
}

bool temporary_flush(struct temporary *temporary) {
    return output_flush(&temporary->output) || complain_once(temporary, "write", temporary->output.error);
}

/* Removes the mapping, if there is one, and with it the bytes that temporary_read_bytes returned. */
static void unmap_file(struct temporary *temporary) {
    if (temporary->mapped != NULL) munmap((void *)(uintptr_t)temporary->mapped, temporary->size);
    temporary->mapped = NULL;
    temporary->size = 0;
}

bool temporary_map(struct temporary *temporary) {
    if (!temporary_flush(temporary)) return false;
    off_t size = lseek(temporary->output.descriptor, 0, SEEK_END);
    if (size < 0) return complain_once(temporary, "read", errno);
    if ((size_t)size == temporary->size) return true; /* All is mapped; or the file is empty, and can't be mapped. */
    unmap_file(temporary);
    void *mapped = mmap(NULL, (size_t)size, PROT_READ, MAP_SHARED, temporary->output.descriptor, 0);
    if (mapped == MAP_FAILED) return complain_once(temporary, "read", errno);
    temporary->mapped = mapped;
    temporary->size = (size_t)size;
    return true;
}

/* Counts bytes as touched, and gives all mapped pages back to the system once there are many. Until then, touched pages
 * count as the process's memory. They can still be read afterwards, from the page cache or the file. */
static void note_touched_bytes(struct temporary *temporary, size_t newly_touched_bytes) {
#ifdef IDX_LINUX
    temporary->touched_bytes += newly_touched_bytes + NEIGHBOUR_BYTES;
    if (temporary->touched_bytes < MAX_TOUCHED_BYTES) return;
    madvise((void *)(uintptr_t)temporary->mapped, temporary->size, MADV_DONTNEED);
    temporary->touched_bytes = 0;
#else
    (void)temporary, (void)newly_touched_bytes;
#endif
}

const char *temporary_read_bytes(struct temporary *temporary, uint64_t *offset, size_t length) {
    if (length > temporary->size - *offset) return NULL;
    note_touched_bytes(temporary, length);
    *offset += length;
    return temporary->mapped + (*offset - length);
}

bool temporary_copy(struct temporary *temporary, struct output *target) {
    enum { CHUNK_BYTES = 1 << 16 };
    uint64_t offset = 0;
    if (!temporary_map(temporary)) return false;
    while (offset < temporary->size) {
        size_t length = temporary->size - offset < CHUNK_BYTES ? temporary->size - (size_t)offset : CHUNK_BYTES;
        output_bytes(target, temporary_read_bytes(temporary, &offset, length), length);
    }
    return true;
}

void temporary_close(struct temporary *temporary) {
    unmap_file(temporary);
    if (temporary->output.descriptor >= 0) close(temporary->output.descriptor);
    free(temporary->output.bytes);
    *temporary = (struct temporary)TEMPORARY_CLOSED;
}
