/* index_making.h: what commands that make indexes or write to them have in common. */
#ifndef IDX_TOOLS_INPUT_INDEX_MAKING_H
#define IDX_TOOLS_INPUT_INDEX_MAKING_H

#include "tools/documents/text_options.h"
#include "tools/input/input.h"
#include "tools/shared/library.h"
#include "tools/shared/output.h"
#include "tools/shared/progress.h"

/* ---- Index making ---- */

/* Estimates the memory and disk space that idx_builder needs with these options for inputs of this size. If `shown`,
 * writes a message with the estimate. In any case, warns if the file system of `path`, the path of the new index, or
 * that of temporary files has less free space. Does nothing if memory ran out or the library can't estimate it. */
void report_build_estimate(const struct idx_build_options *options, const char *path, const struct input_size *size,
                           bool shown);

/* Adds a record to a new index as a document. Its ID is the record's `id` if `id_type`, that of the index, is
 * IDX_ID_TEXT, or else the record's `number`. Complains and returns false if the library fails. */
bool add_record_to_builder(struct idx_builder *builder, enum idx_id_type id_type, const struct tsv_record *record);

/* Checks and completes the options of texts. `format` is the number of the value of --format: one of enum input_format,
 * or INPUT_NPY + 1, INPUT_NPY + 2 and so on for the formats that only texts have. Complains and returns false if the
 * format is for fingerprints alone, or if text_options_complete does. */
bool complete_text_options_for_format(struct text_options *options, int format);

/* Sets *item to a document with the ID of `length` bytes at `id`, and no fingerprint. `id_type` is that of the index;
 * with IDX_ID_NONE, the item has no ID. A text ID is not copied, and must stay valid while the item is used. Complains
 * and returns false if the index has integer IDs and this is not a decimal number below 2^64. */
bool set_item_id(struct idx_item *item, enum idx_id_type id_type, const char *id, size_t length);

/* Writes messages about a new index at `path`, by the summary that the library returned: how large it is and how long
 * it took, if progress is shown; how many folders of killed builds were removed; and what is unusual about its
 * fingerprints. */
void report_new_index(const char *path, const struct idx_build_summary *summary, const struct progress *progress);

/* ---- Index updates ---- */

/* `idx add` and `idx remove` read documents, gather them into batches, and pass these to an index's writer. */

/* The most documents of a batch. It is one call of the writer, which waits for the disk once. */
enum { UPDATE_BATCH = 8 * INPUT_BATCH };

struct update {
    /* These are set by the caller; of `input`: paths, format, notation, skip_bad_lines and partial. */
    const char *path; /* That of the index. */
    struct input input;
    bool fingerprint_alone, id_alone; /* A line of TSV is not a document, but only its fingerprint or its ID. */
    bool adds_documents;              /* Documents are added: an empty index gets the recipe that the input states. */
    uint64_t compact_records; /* How many pending records make the writer compact; 0: none; UINT64_MAX: the default. */
    unsigned threads;         /* Threads for look-ups. */

    /* The batch. */
    struct idx_item items[UPDATE_BATCH];
    size_t item_count;

    struct idx_writer *writer;
    struct idx_properties properties; /* Those of the index when the batch was begun. */
    struct output ids;                /* The bytes of the IDs of the batch, to which its items point. */
};

/* Opens the writer of the index at update->path, and sets `properties`. A signal ends the writer's compactions.
 * Complains and returns false if the library fails. The caller calls update_close in any case. */
bool update_open_writer(struct update *update);

/* Sets, by the properties of the index, how lines are read, and checks the files of the input. update_open_writer must
 * have succeeded. Complains and returns false if a file is not whole, or if the index has text IDs and the input is
 * arrays, which have no IDs; fingerprint_alone allows that. After a signal, returns false without a complaint. */
bool update_set_rules_and_check_files(struct update *update);

/* Replaces the batch by the next documents: waits for the first one, and reads others as long as it need not wait. With
 * `adds_documents`, an empty index gets the recipe that the input states. Returns INPUT_DOCUMENTS, with one document or
 * more, if another call may follow. With INPUT_END, INPUT_INTERRUPTED or, after a complaint, INPUT_FAILED, the batch is
 * the last one; it may have documents, which precede the end or the error. */
enum input_status update_gather_batch(struct update *update);

/* Writes messages about skipped bad lines and, if it fails, about a running compaction, for which it waits. Closes the
 * writer and frees what the struct holds. */
void update_close(struct update *update);

#endif
