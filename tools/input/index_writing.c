/* index_writing.c: what `idx add` and `idx remove` have in common: an index's writer, and lines of documents. */
#include "tools/input/index_making.h"

#include <inttypes.h>
#include <stdlib.h>

/* From this many bytes of IDs on, a batch is full. */
enum { ENOUGH_ID_BYTES = 1 << 20 };

static void set_rules(struct writing *writing) {
    static const enum tsv_ids documents[] = {TSV_ID_TEXT, TSV_ID_U64,
                                             TSV_ID_NONE}; /* In the order of enum idx_id_type. */
    static const enum tsv_ids ids[] = {TSV_ID_TEXT_ALONE, TSV_ID_U64_ALONE, TSV_ID_NONE};
    struct tsv_rules *rules = &writing->input.rules;
    enum idx_id_type id_type = writing->properties.id_type;
    rules->bits = writing->properties.bits;
    rules->ids = writing->id_alone ? ids[id_type] : writing->fingerprint_alone ? TSV_ID_NONE : documents[id_type];
    writing->input.index_recipe = writing->properties.recipe;
}

/* Ends a compaction once a signal is noted. This is an idx_progress_visitor. */
static bool continue_unless_interrupted(void *context, const struct idx_progress *progress) {
    (void)context, (void)progress;
    return !interrupt_noted();
}

bool writing_open(struct writing *writing) {
    struct idx_writer_options options = IDX_WRITER_OPTIONS_INIT;
    struct idx_error error;
    options.progress = continue_unless_interrupted;
    options.threads = writing->threads;
    if (writing->compact != UINT64_MAX) options.compact_records = writing->compact;
    if (writing->compact == 0) options.compact_segments = 0;
    writing->input.reader = (struct reader)READER_INIT;
    writing->ids = (struct output)OUTPUT_KEPT;
    if (!succeeded(idx_writer_open(&writing->writer, writing->path, &options, &error), &error)) return false;
    idx_get_properties(idx_writer_view(writing->writer), &writing->properties);
    set_rules(writing);
    if (!input_files_are_whole(&writing->input)) return false;
    if (writing->input.format == INPUT_TSV || writing->properties.id_type != IDX_ID_TEXT) return true;
    if (writing->fingerprint_alone) return true;
    return complain("%s has text IDs, but rows of arrays have none: give lines of fingerprint, tab, ID instead",
                    writing->path);
}

static void add_records(struct writing *writing, const struct tsv_record *records, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const struct tsv_record *record = &records[i];
        writing->items[writing->count++] =
            (struct idx_item){record->fingerprint, record->number, NULL, record->id_length};
        output_bytes(&writing->ids, record->id, record->id_length);
    }
}

/* Sets the pointers to the IDs of a batch, once it is complete and its IDs don't move any more. */
static void place_ids(struct writing *writing) {
    const char *id = writing->ids.bytes;
    for (size_t i = 0; i < writing->count; i++) {
        if (writing->items[i].id_length == 0) continue;
        writing->items[i].id = id;
        id += writing->items[i].id_length;
    }
}

enum input_status writing_gather(struct writing *writing) {
    const struct tsv_record *records;
    enum input_status status;
    size_t count;
    writing->count = writing->ids.length = 0;
    do {
        writing->input.at_hand = writing->count > 0;
        status = input_next(&writing->input, &records, &count);
        add_records(writing, records, count);
    } while (status == INPUT_DOCUMENTS && writing->count <= WRITING_BATCH - INPUT_BATCH &&
             writing->ids.length < ENOUGH_ID_BYTES);
    if (writing->ids.error != 0) {
        complain("out of memory for the IDs of a batch");
        writing->count = 0;
        return INPUT_FAILED;
    }
    place_ids(writing);
    return status == INPUT_PENDING ? INPUT_DOCUMENTS : status;
}

/* Waits for a compaction that the writer began, and complains if it failed. A signal, or a compaction by another
 * process, is no failure. */
static void wait_for_compaction(const struct writing *writing) {
    struct idx_error error;
    if (writing->writer == NULL || idx_writer_wait(writing->writer, &error) == IDX_OK) return;
    if (error.status == IDX_CANCELLED || error.status == IDX_BUSY) return;
    complain("all additions and removals were kept, but %s could not be compacted: %s", writing->path, error.sentence);
}

void writing_close(struct writing *writing) {
    if (writing->input.skipped > 0)
        complain("skipped %" PRIu64 " bad lines; the first one is reported above", writing->input.skipped);
    wait_for_compaction(writing);
    idx_writer_close(writing->writer);
    input_free(&writing->input);
    free(writing->ids.bytes);
}
