/* temporary.h: a file without a name, in a scratch folder. It is written to its end, and then read from its beginning,
 * as often as necessary. */
#ifndef IDX_TOOLS_TEMPORARY_H
#define IDX_TOOLS_TEMPORARY_H

#include "tools/shared/output.h"
#include "tools/shared/scratch.h"

struct temporary {
    struct output output; /* The file is written through it. */
    const char *folder;   /* Messages name it. */

    /* These are for reading. */
    char *bytes;
    size_t start, end; /* They bound the bytes in `bytes` that were read and not yet returned. */
    uint64_t at;       /* The file is read on from this offset. */
    char *window;      /* temporary_read_at read these bytes last. */
    uint64_t window_begin;
    size_t window_count;
    bool failed; /* A complaint was made. */
};

#define TEMPORARY_CLOSED                                                                                               \
    { .output = OUTPUT_KEPT }

/* Makes the file in the folder, which has to stay only for that; but `folder`, its parent, has to stay for messages.
 * False after a complaint. */
bool temporary_open(struct temporary *temporary, const struct scratch *scratch, const char *folder);

/* Writes what is still buffered. False after a complaint, also about what could not be written before. */
bool temporary_flush(struct temporary *temporary);

/* Goes back to the beginning for reading. */
void temporary_rewind(struct temporary *temporary);

/* Reads the next `length` bytes. False at the end, and after a complaint: `failed` tells which. */
bool temporary_read(struct temporary *temporary, void *to, size_t length);

/* Passes over the next `length` bytes. False after a complaint. */
bool temporary_skip(struct temporary *temporary, uint64_t length);

/* Reads `length` bytes from `offset` on, without moving. False after a complaint. */
bool temporary_read_at(struct temporary *temporary, void *to, size_t length, uint64_t offset);

/* Appends what is left to be read to an output. False after a complaint. */
bool temporary_copy(struct temporary *temporary, struct output *to);

/* Closes the file, which disappears. */
void temporary_close(struct temporary *temporary);

#endif
