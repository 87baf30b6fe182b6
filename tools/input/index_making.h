/* index_making.h: what commands that make indexes or write to them have in common. */
#ifndef IDX_TOOLS_INPUT_INDEX_MAKING_H
#define IDX_TOOLS_INPUT_INDEX_MAKING_H

#include "tools/documents/text_options.h"
#include "tools/input/input.h"
#include "tools/shared/library.h"
#include "tools/shared/output.h"
#include "tools/shared/progress.h"

/* ---- Index making ---- */

/* Says what a build is expected to need if `shown`, and warns in any case if a file system has less free space.
 * `output` is the path of the index that will be made. Says nothing if the library can't estimate that. */
void making_forecast(const struct idx_build_options *options, const char *output, const struct input_size *size,
                     bool shown);

/* Adds a document to a new index, whose type of IDs says whether the record's ID is text, a number or none. Complains
 * and returns false if that fails. */
bool making_add_document(struct idx_builder *builder, enum idx_id_type id_type, const struct tsv_record *record);

/* Checks and completes the options of texts, of which --format has the format: an enum input_format, or one behind it
 * that texts alone have. Complains and returns false if the format is for fingerprints, or if options don't fit. */
bool making_settle_texts(struct text_options *options, int format);

/* Sets *item to name a document by its ID, which must stay valid. Complains and returns false if the index has integer
 * IDs and this is no number. */
bool making_set_id(struct idx_item *item, enum idx_id_type id_type, const char *id, size_t length);

/* Says what there is to say of a new index at `path`: how large it is and what it took, if progress is shown; how many
 * folders of killed builds were removed; and what is unusual about its fingerprints. */
void making_report(const char *path, const struct idx_build_summary *summary, const struct progress *progress);

/* ---- Index writing ---- */

/* Opens the writer of the index at `path`, whose compaction ends once a signal is noted. `compact` and `threads` as in
 * struct writing. Complains and returns false if that fails. */
bool writing_open_writer(struct idx_writer **writer, const char *path, uint64_t compact, unsigned threads);

/* Waits for a compaction that the writer began, complains if it fails, and closes the writer. NULL is accepted. */
void writing_close_writer(struct idx_writer *writer, const char *path);

/* `idx add` and `idx remove` read documents, gather them into batches, and hand these to an index's writer. */

/* The most documents of a batch. It is one call of the writer, which waits for the disk once. */
enum { WRITING_BATCH = 8 * INPUT_BATCH };

struct writing {
    /* Set by the caller: of the input, paths, format, notation and skip_bad_lines. */
    const char *path; /* That of the index. */
    struct input input;
    bool fingerprint_alone, id_alone; /* A line of TSV is not a document, but only its fingerprint or its ID. */
    bool adds;                        /* Documents are added: an empty index takes the recipe that the input states. */
    uint64_t compact; /* How many pending records make the writer compact; 0: none do; UINT64_MAX: the default. */
    unsigned threads; /* Threads for look-ups. */

    /* The batch. */
    struct idx_item items[WRITING_BATCH];
    size_t count;

    struct idx_writer *writer;
    struct idx_properties properties; /* Those of the index when the batch was begun. */
    struct output ids;                /* The bytes of the IDs of the batch, to which its items point. */
};

/* Opens the writer of the index at `path`, and sets `properties`. Complains and returns false if that fails. The caller
 * calls writing_close in any case. */
bool writing_open(struct writing *writing);

/* Sets by the properties how lines are read. Complains and returns false if a file of the input is not whole, or if
 * documents with text IDs are to come from arrays, which have none. After a signal, returns false without a
 * complaint. */
bool writing_begin(struct writing *writing);

/* Replaces the batch by the next documents that can be read without waiting, but waits for the first one. An empty
 * index gets the recipe that the input states. If the result is not INPUT_DOCUMENTS, the batch is the last one; it may
 * have documents, which precede the end or the error. */
enum input_status writing_gather_batch(struct writing *writing);

/* Says how many bad lines were skipped, waits for a running compaction, and closes and frees everything. */
void writing_close(struct writing *writing);

#endif
