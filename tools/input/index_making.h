/* index_making.h: what the commands have in common that make indexes, or write to them. */
#ifndef IDX_TOOLS_INPUT_INDEX_MAKING_H
#define IDX_TOOLS_INPUT_INDEX_MAKING_H

#include "tools/input/input.h"
#include "tools/shared/library.h"
#include "tools/shared/output.h"
#include "tools/shared/progress.h"

#include <idx.h>

/* ---- Index making ---- */

/* The commands that make indexes have in common what a build is expected to take, how documents are added, and what is
 * said of the index that was made. */

/* Says what a build is expected to take where `shown`, and warns in any case where a file system has less space free.
 * `output` is the path of the index that will be made. */
void forecast(const struct idx_build_options *options, const char *output, const struct input_size *size, bool shown);

/* Adds a document. Returns false after a complaint. */
bool making_add(struct idx_builder *builder, enum idx_id_type id_type, const struct tsv_record *record);

/* Says of the index at `path`: where progress is shown, how large it is and what it took; which folders
 * of killed builds were removed; what is odd about its fingerprints. */
void making_report(const char *path, const struct idx_build_summary *summary, const struct progress *progress);

/* ---- Index writing ---- */

/* The commands `idx add` and `idx remove` have in common an index's writer, and lines of documents, gathered into
 * batches. */

/* The most documents of one call of the writer, which waits for the disk once. */
enum { WRITING_BATCH = 8 * INPUT_BATCH };

struct writing {
    /* Set by the caller: of the input, paths, format, notation and skip_bad_lines. */
    const char *path;
    struct input input;
    /* What a line of TSV is, where it isn't a document as the index has them. */
    bool fingerprint_alone, id_alone;
    uint64_t compact; /* The index is compacted when so many are pending; 0: never; UINT64_MAX: by default. */
    unsigned threads; /* So many threads look up. */

    /* The batch. */
    struct idx_item items[WRITING_BATCH];
    size_t count;

    struct idx_writer *writer;
    struct idx_properties properties; /* They are the index's when it was opened. */
    struct output ids;                /* They are the IDs of the batch. */
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
