/* sink.h: a new file, compressed as a source was. */
#ifndef IDX_TOOLS_SINK_H
#define IDX_TOOLS_SINK_H

#include "tools/shared/output.h"

struct archive;

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
