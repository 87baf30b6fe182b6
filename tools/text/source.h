/* source.h: the bytes of a file, of standard input or of memory, decompressed where they are gzip's (any number of
 * members), zstd's, xz's or bzip2's, and checked against the sums that are kept there: streamed, in bounded memory. A
 * source belongs to one thread at a time. A sink writes a new file that is compressed as a source was. */
#ifndef IDX_TOOLS_SOURCE_H
#define IDX_TOOLS_SOURCE_H

#include "tools/shared/message.h"
#include "tools/shared/output.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ZLIB_CONST
#include <zlib.h>

/* The most that source_peek can be asked for. */
enum { SOURCE_MOST_PEEKED = 1 << 16 };

struct archive;

struct source {
    /* Set by the caller, or NULL: called before reading waits for more, as from a pipe. */
    void (*before_wait)(void *context);
    void *context;
    bool passes_over_rest; /* set by the caller: what follows the compressed data of gzip or bzip2, and is none itself,
                              is passed over, as browsers do; else it is broken */

    bool regular_only; /* set by the caller: source_open refuses what is no regular file, which could be waited for */

    /* Why it ended too soon: `problem` says so; `unreadable` where the system can't read it, else its compression is
     * broken. */
    bool broken, unreadable;
    struct problem problem;
    uint64_t offset; /* within the decompressed bytes, of the next one */
    uint64_t read;   /* bytes read so far, compressed as they are */

    /* These are private. */
    struct archive *archive;
    int descriptor;  /* -1: memory */
    int error;       /* errno of read(2), or 0 */
    const char *raw; /* input not yet decompressed: in `input`, or the memory */
    size_t raw_length;
    int64_t given;                  /* bytes of it that libarchive was given */
    bool begun, gzipped, in_member; /* read from; gzip's; within a member of it */
    const char *fault;              /* what is wrong with its gzip, or NULL */
    z_stream gzip;
    const void *block; /* decompressed and not yet copied to `buffer` */
    size_t block_length;
    char *input, *inflated, *buffer;
    size_t start, end; /* decompressed and not yet skipped, in `buffer` */
    bool ended;
};

/* The length of the ending by which a file's name says that it is compressed, such as .gz; 0 where it has none. */
size_t source_ending(const char *name);

/* Opens the file at `path`; `-` is standard input, and where that is a terminal, says that it is waiting. A source that
 * is all zero, or was closed, may be opened. Returns false where it can't be: `problem` says why, and source_close
 * needn't be called. */
bool source_open(struct source *source, const char *path);

/* The same over bytes, which have to stay until it is closed. */
bool source_open_memory(struct source *source, const void *bytes, size_t length);

/* How the open source is compressed: a code of libarchive's, ARCHIVE_FILTER_NONE where it isn't. */
int source_filter(const struct source *source);

/* Gives the next bytes without consuming them: at least `want` bytes (up to SOURCE_MOST_PEEKED), fewer only at the end.
 * Valid until the next call. Returns how many; 0 at the end, and then `broken` or `unreadable` may be set. */
size_t source_peek(struct source *source, size_t want, const char **bytes);

/* Consumes `count` of the bytes that source_peek gave last. */
void source_skip(struct source *source, size_t count);

void source_close(struct source *source);

/* Closes it and frees its buffers. */
void source_free(struct source *source);

struct archive;

/* A new file, compressed as a source was. */
struct sink {
    struct output output;    /* its descriptor -1: closed */
    int filter;              /* as source_filter says */
    struct archive *archive; /* of the member that was begun; NULL: none was */
};

#define SINK_CLOSED                                                                                                    \
    { .output = OUTPUT_KEPT }

/* Writes to the descriptor from now on, which is the sink's. */
void sink_open(struct sink *sink, int descriptor, int filter);

/* Errors are kept in sink->output, and nothing more is written after the first one. */
void sink_write(struct sink *sink, const void *bytes, size_t length);

/* Ends a member of compressed files, as each record of WARC is one; what is written after it begins another. */
void sink_end_member(struct sink *sink);

/* False where not all was written: sink->output.error says why. The file is closed whatever comes. */
bool sink_close(struct sink *sink);

#endif
