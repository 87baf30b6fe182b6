/* temporary.h: a file without a name, in a scratch folder. It is written to its end, and then mapped into memory. What
 * was read there stays valid until the file is closed. */
#ifndef IDX_TOOLS_SHARED_TEMPORARY_H
#define IDX_TOOLS_SHARED_TEMPORARY_H

#include "tools/shared/output.h"
#include "tools/shared/scratch.h"

struct temporary {
    struct output output; /* The file is written through this. */
    const char *folder;   /* Its folder, for messages. */

    /* temporary.c alone uses these. */
    const char *mapped;   /* The file's bytes; NULL: not mapped. */
    size_t size;          /* Bytes that are mapped. */
    size_t touched_bytes; /* How many of them may be in memory. */
    bool failed;          /* A complaint was made. */
};

#define TEMPORARY_CLOSED                                                                                               \
    { .output = OUTPUT_BUFFER }

/* Makes the file in the scratch folder, which may be removed afterwards. Messages name the file by `folder`, which must
 * stay valid until the file is closed. Complains and returns false if that fails. */
bool temporary_open(struct temporary *temporary, const struct scratch *scratch, const char *folder);

/* Writes what is still buffered. Complains and returns false if that or an earlier write failed. */
bool temporary_flush(struct temporary *temporary);

/* Writes what is still buffered, and maps all that was written. If the file has grown since it was last mapped, the
 * bytes that were read before are no longer valid. Complains and returns false if that fails. */
bool temporary_map(struct temporary *temporary);

/* Returns the `length` bytes at *offset of the mapped file, valid until it is closed or mapped anew, and moves *offset
 * behind them. *offset must not be beyond the end. Returns NULL, without a complaint, if fewer bytes are left. */
const char *temporary_read_bytes(struct temporary *temporary, uint64_t *offset, size_t length);

/* Maps the file, and appends all bytes that were written to it to the output `target`. Complains and returns false if
 * the file can't be mapped. A failure of the output shows only in its `error`. */
bool temporary_copy(struct temporary *temporary, struct output *target);

/* Closes the file, which disappears, and makes it TEMPORARY_CLOSED. May also be called for TEMPORARY_CLOSED, or after
 * temporary_open failed. */
void temporary_close(struct temporary *temporary);

#endif
