/* index_making.h: what commands that make indexes or write to them have in common. */
#ifndef IDX_TOOLS_INPUT_INDEX_MAKING_H
#define IDX_TOOLS_INPUT_INDEX_MAKING_H

#include "tools/documents/text_options.h"
#include "tools/input/input.h"
#include "tools/shared/library.h"
#include "tools/shared/output.h"
#include "tools/shared/progress.h"

/* ---- Index making ---- */

/* Estimates what a build of an index at the path `output` needs. If `shown`, writes a message about it; in any case,
 * warns if a file system has less free space. Does nothing if memory ran out or the library can't estimate it. */
void report_build_estimate(const struct idx_build_options *options, const char *output, const struct input_size *size,
                           bool shown);

/* Adds the document of a record to a new index. `id_type`, that of the index, says which of the record's `id` and
 * `number` is its ID. Complains and returns false if that fails. */
bool add_record_to_builder(struct idx_builder *builder, enum idx_id_type id_type, const struct tsv_record *record);

/* Checks and completes the options of texts. `format` is the number of --format's value: of enum input_format, or of
 * those behind it that only texts have. Complains and returns false if the format is for fingerprints, or if options
 * don't fit. */
bool complete_text_options_for_format(struct text_options *options, int format);

/* Sets *item to a document with this ID, without a fingerprint. The ID is not copied, and must stay valid while the
 * item is used; without IDs in the index, it is left out. Complains and returns false if the index has integer IDs and
 * this is no number. */
bool set_item_id(struct idx_item *item, enum idx_id_type id_type, const char *id, size_t length);

/* Writes messages about a new index at `path`: how large it is and how long it took, if progress is shown; how many
 * folders of killed builds were removed; and what is unusual about its fingerprints. */
void report_new_index(const char *path, const struct idx_build_summary *summary, const struct progress *progress);

/* ---- Index writing ---- */

/* `idx add` and `idx remove` read documents, gather them into batches, and pass these to an index's writer. */

/* The most documents of a batch. It is one call of the writer, which waits for the disk once. */
enum { WRITING_BATCH = 8 * INPUT_BATCH };

struct writing {
    /* These are set by the caller; of `input`: paths, format, notation, skip_bad_lines and partial. */
    const char *path; /* That of the index. */
    struct input input;
    bool fingerprint_alone, id_alone; /* A line of TSV is not a document, but only its fingerprint or its ID. */
    bool adds;                        /* Documents are added: an empty index gets the recipe that the input states. */
    uint64_t compact; /* How many pending records make the writer compact; 0: none do; UINT64_MAX: the default. */
    unsigned threads; /* Threads for look-ups. */

    /* The batch. */
    struct idx_item items[WRITING_BATCH];
    size_t count;

    struct idx_writer *writer;
    struct idx_properties properties; /* Those of the index when the batch was begun. */
    struct output ids;                /* The bytes of the IDs of the batch, to which its items point. */
};

/* Opens the writer of the index at writing->path, whose compaction ends once a signal is noted, and sets `properties`.
 * Complains and returns false if that fails. The caller calls writing_close in any case. */
bool writing_open(struct writing *writing);

/* Sets by the properties of the index how lines are read, and checks the files of the input. writing_open comes before.
 * Complains and returns false if a file is not whole, or if documents with text IDs are to come from arrays, which have
 * no IDs. After a signal, returns false without a complaint. */
bool writing_prepare_input(struct writing *writing);

/* Replaces the batch by the next documents: waits for the first one, and reads others as long as it need not wait. With
 * `adds`, an empty index gets the recipe that the input states. If the result is not INPUT_DOCUMENTS, the batch is the
 * last one; it may have documents, which precede the end or the error. */
enum input_status writing_gather_batch(struct writing *writing);

/* Writes messages about skipped bad lines and, if it fails, about a running compaction, for which it waits. Closes the
 * writer and frees what the struct holds. */
void writing_close(struct writing *writing);

#endif
