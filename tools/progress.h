/* progress.h: how far a build is, on standard error: where that is a terminal, or where it was asked for. */
#ifndef IDX_TOOLS_PROGRESS_H
#define IDX_TOOLS_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    bool shown;
    bool terminal; /* one line, overwritten; else a line every few seconds */
    double started, said;
    uint64_t documents;
};

void progress_start(struct progress *progress, bool forced);

/* Counts a document, and says from time to time how many and how fast. */
void progress_document(struct progress *progress);

/* Says a sentence of its own line. */
__attribute__((format(printf, 2, 3))) void progress_say(struct progress *progress, const char *format, ...);

/* Ends the overwritten line, so that something else can be said. */
void progress_end_line(struct progress *progress);

#endif
