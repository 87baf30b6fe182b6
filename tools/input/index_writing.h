/* index_writing.h: what `idx add` and `idx remove` have in common: an index's writer, and lines of documents, gathered
 * into batches. */
#ifndef IDX_TOOLS_INDEX_WRITING_H
#define IDX_TOOLS_INDEX_WRITING_H

#include "tools/input/input.h"
#include "tools/shared/output.h"

#include <idx.h>

/* The most documents of one call of the writer, which waits for the disk once. */
enum { WRITING_BATCH = 8 * INPUT_BATCH };

struct writing {
    /* Set by the caller: of the input, paths, format, notation and skip_bad_lines. */
    const char *path;
    struct input input;
    /* What a line of TSV is, where it isn't a document as the index has them. */
    bool fingerprint_alone, id_alone;
    uint64_t compact; /* compact when so many are pending; 0: never; UINT64_MAX: by default */
    unsigned threads; /* that look up */

    /* The batch. */
    struct idx_item items[WRITING_BATCH];
    size_t count;

    struct idx_writer *writer;
    struct idx_properties properties; /* of the index when it was opened */
    struct output ids;                /* of the batch */
};

/* Opens the writer of the index at `path`, and has lines read as its documents are. Returns false after a complaint. */
bool writing_open(struct writing *writing);

/* Makes a batch of the documents that can be read without waiting, but waits for the first one. If the result is not
 * INPUT_DOCUMENTS, the batch, which may have documents, is the last one. */
enum input_status writing_gather(struct writing *writing);

/* Says how many bad lines were skipped, if any; lets a compaction at work end, and complains of one that failed; closes
 * all. */
void writing_close(struct writing *writing);

#endif
