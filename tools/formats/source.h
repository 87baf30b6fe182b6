/* source.h: a source gives the bytes of a file, of standard input or of memory. They are decompressed if they are gzip
 * (any number of members), zstd, xz or bzip2, and checked against the checksums there. It needs bounded memory, and
 * belongs to one thread at a time. A sink writes a new file that is compressed as a source was. */
#ifndef IDX_TOOLS_FORMATS_SOURCE_H
#define IDX_TOOLS_FORMATS_SOURCE_H

#include "tools/shared/output.h"
#include "tools/shared/wording.h"

#define ZLIB_CONST
#include <zlib.h>

/* The most bytes that source_peek can be asked for. */
enum { SOURCE_MOST_PEEKED = 1 << 16 };

struct archive;

struct source {
    /* Set by the caller, or NULL: called before reading waits for further input, as from a pipe. */
    void (*before_wait)(void *context);
    void *context;
    const int *stop_descriptor; /* Set by the caller, or NULL: once it can be read, reading ends as after a signal. */
    bool passes_over_rest;      /* Set by the caller: other data behind gzip or bzip2 is ignored, as browsers do. */

    bool regular_only; /* Set by the caller: source_open refuses all but regular files, as others might make it wait. */

    /* Why the source ended too soon, as `problem` says: the system can't read it, or its compression is broken. */
    bool broken, unreadable;
    bool cut; /* It is broken because it ends within gzip data. */
    struct problem problem;
    uint64_t offset;     /* Offset of the next decompressed byte. */
    uint64_t bytes_read; /* Bytes that were read so far, before decompression, of all files that were opened. */

    /* These are private. */
    struct archive *archive;
    int descriptor;  /* -1: memory. */
    int error;       /* The errno of read(2), ENOMEM, or 0. */
    const char *raw; /* Input that is not decompressed yet, in `input` or in memory. */
    size_t raw_length;
    int64_t passed_bytes;           /* Bytes of the input that libarchive got. */
    bool begun, gzipped, in_member; /* Reading began; the input is gzip; what is read next is within a member. */
    const char *fault;              /* What is wrong with the compressed data, or NULL. */
    z_stream gzip;
    const void *block; /* Decompressed bytes that are not in `buffer` yet. */
    size_t block_length;
    char *input, *inflated, *buffer; /* What was read, what zlib made of it, and what source_peek returns. */
    size_t start, end;               /* Bounds of the bytes in `buffer` that were not skipped yet. */
    bool ended;                      /* No more bytes will come to `buffer`. */
};

/* Returns the length in bytes of the ending of a file's name that stands for a compression: .gz, .zst, .xz or .bz2.
 * Returns 0 without one. */
size_t source_find_ending_length(const char *name);

/* Opens the file at `path`, or standard input for `-`; if that is a terminal, says that it is waiting. The source must
 * be all zero, or closed. Returns false, with source->problem set but no complaint, if the file can't be opened or
 * read, is not regular with regular_only, or if memory ran out; then the source is closed. A file that is not
 * compressed, but named so, is opened, but marked as broken. */
bool source_open(struct source *source, const char *path);

/* Opens bytes in memory, which must stay until the source is closed. The source must be all zero, or closed. Returns
 * false, with source->problem set, if memory ran out; then the source is closed. */
bool source_open_memory(struct source *source, const void *bytes, size_t length);

/* Returns by what filter the open source is compressed, as a code of libarchive: ARCHIVE_FILTER_NONE if it is not. */
int source_get_filter(const struct source *source);

/* Sets *bytes to the next decompressed bytes without consuming them, and returns how many there are: at least
 * `wanted_bytes`, which is 1 to SOURCE_MOST_PEEKED, or fewer at the end of the source. There source_failed says whether
 * it ended too soon. The bytes are valid until the next call that changes the source. */
size_t source_peek(struct source *source, size_t wanted_bytes, const char **bytes);

/* Returns whether the source ended too soon, or can't be read. */
static inline bool source_failed(const struct source *source) { return source->broken || source->unreadable; }

/* Consumes `byte_count` of the bytes that source_peek returned last, which must be at least so many. */
void source_skip(struct source *source, size_t byte_count);

/* Closes the file, but keeps the buffers for the next one. A closed source is accepted. */
void source_close(struct source *source);

/* Closes the source and frees its buffers. */
void source_free(struct source *source);

struct sink {
    struct output output;    /* Its descriptor is -1: the sink is closed. */
    int filter;              /* What source_get_filter returned. */
    struct archive *archive; /* libarchive's writer of the current member; NULL: none was begun. */
};

#define SINK_CLOSED                                                                                                    \
    { .output = OUTPUT_BUFFER }

/* Opens a sink that writes to a file, compressed by a filter that source_get_filter returned. It owns the descriptor,
 * which sink_close closes. Never fails. */
void sink_open(struct sink *sink, int descriptor, int filter);

/* Writes `length` bytes, compressed by the sink's filter, and begins a member for them if none is begun. The first
 * error stays in sink->output.error, without a complaint, and nothing is written after it. */
void sink_write(struct sink *sink, const void *bytes, size_t length);

/* Ends a member of a compressed file; what is written afterwards begins another. Each record of a WARC file is one. */
void sink_end_member(struct sink *sink);

/* Ends the last member, and closes the file in any case. Returns false, with sink->output.error set but no complaint,
 * if not all was written. */
bool sink_close(struct sink *sink);

#endif
