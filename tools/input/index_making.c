/* index_making.c: what commands say before and after they make an index, how they add documents to it, and what `idx
 * add` and `idx remove` have in common. */
#include "tools/input/index_making.h"

#include "tools/shared/folder.h"
#include "tools/shared/temporary.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

/* ---- Before and while an index is made ---- */

/* Warns if the file system of a folder has fewer than `needed_bytes` free. `user` is what may need them, for the
 * message: "the index", for example. Does nothing if the free space is not known. */
static void warn_of_little_space(const char *folder, const char *user, uint64_t needed_bytes) {
    char needed_text[SIZE_TEXT_BYTES], free_text[SIZE_TEXT_BYTES];
    struct statvfs status;
    if (statvfs(folder, &status) != 0) return;
    double free_bytes = (double)status.f_bavail * (double)status.f_frsize;
    if (free_bytes >= (double)needed_bytes) return;
    size_format(needed_text, (double)needed_bytes);
    size_format(free_text, free_bytes);
    complain("the file system of %s has %s free, but %s may need %s there", folder, free_text, user, needed_text);
}

/* Returns whether two paths lead to the same file system. Returns false also if one of them does not exist. */
static bool are_on_same_file_system(const char *a, const char *b) {
    struct stat status_a, status_b;
    return stat(a, &status_a) == 0 && stat(b, &status_b) == 0 && status_a.st_dev == status_b.st_dev;
}

/* Writes a message with what the build is estimated to need. The library's estimate leaves out IDs, so their bytes are
 * added here. */
static void report_estimate(const struct idx_build_estimate *estimate, const struct input_size *size) {
    char memory_text[SIZE_TEXT_BYTES], index_text[SIZE_TEXT_BYTES], peak_text[SIZE_TEXT_BYTES];
    size_format(memory_text, (double)estimate->memory_bytes);
    size_format(index_text, (double)(estimate->index_bytes + size->id_bytes));
    size_format(peak_text, (double)(estimate->peak_bytes + size->id_bytes));
    complain("about %" PRIu64 " documents: up to %s of memory, up to %s of disk, and %s for the index",
             size->document_count, memory_text, peak_text, index_text);
}

void report_build_estimate(const struct idx_build_options *options, const char *path, const struct input_size *size,
                           bool shown) {
    struct idx_build_estimate estimate;
    char *parent = folder_find_parent(path);
    if (parent == NULL || idx_estimate_build(options, size->document_count, &estimate, NULL) != IDX_OK) {
        free(parent);
        return;
    }
    if (shown) report_estimate(&estimate, size);
    /* If the index and temporary files share a file system, their sum counts, which is largest at the peak. */
    const char *temporary_folder = options->temporary_folder;
    if (temporary_folder == NULL || are_on_same_file_system(parent, temporary_folder)) {
        warn_of_little_space(parent, "the build", estimate.peak_bytes + size->id_bytes);
    } else {
        warn_of_little_space(parent, "the index", estimate.index_bytes + size->id_bytes);
        warn_of_little_space(temporary_folder, "temporary files", estimate.temporary_bytes);
    }
    free(parent);
}

bool add_record_to_builder(struct idx_builder *builder, enum idx_id_type id_type, const struct tsv_record *record) {
    struct idx_item item = {.fingerprint = record->fingerprint};
    struct idx_error error;
    if (id_type == IDX_ID_TEXT) {
        item.id = record->id;
        item.id_length = record->id_length;
    } else {
        item.number = record->number;
    }
    return succeeded(idx_builder_add(builder, &item, &error), &error);
}

/* The format of texts for each value of --format of idx build and idx add; FORMAT_FEATURES where it is for fingerprints
 * alone. Their --format names the formats of texts alone behind those of enum input_format. */
static const enum document_format text_format_of_number[] = {
    [INPUT_AUTO] = FORMAT_AUTO,    [INPUT_TSV] = FORMAT_TSV,       [INPUT_U64] = FORMAT_FEATURES,
    [INPUT_NPY] = FORMAT_FEATURES, [INPUT_NPY + 1] = FORMAT_PLAIN, [INPUT_NPY + 2] = FORMAT_HTML,
    [INPUT_NPY + 3] = FORMAT_MAN,  [INPUT_NPY + 4] = FORMAT_JSONL, [INPUT_NPY + 5] = FORMAT_WARC};

bool complete_text_options_for_format(struct text_options *options, int format) {
    enum document_format text_format = text_format_of_number[format];
    if (text_format == FORMAT_FEATURES)
        return complain_of_usage("--format %s is for fingerprints, not for texts", input_format_names[format]);
    return text_options_complete(options, text_format);
}

/* How many bytes of a wrong ID a message shows. */
enum { SHOWN_ID_BYTES = 40 };

bool set_item_id(struct idx_item *item, enum idx_id_type id_type, const char *id, size_t length) {
    size_t shown_length = length < SHOWN_ID_BYTES ? length : SHOWN_ID_BYTES;
    *item = id_type == IDX_ID_TEXT ? (struct idx_item){.id = id, .id_length = length} : (struct idx_item){0};
    if (id_type != IDX_ID_U64 || number_parse_digits(id, length, &item->number)) return true;
    return complain("'%.*s': the IDs of this index are decimal numbers below 2^64", (int)shown_length, id);
}

/* ---- After an index was made ---- */

/* Writes messages with what was added, and how large the parts of the index at `path` are. In an index with sets, texts
 * are added, and each value of their sketches counts as a document. */
static void report_index_sizes(const char *path, const struct idx_build_summary *summary,
                               const struct idx_properties *properties) {
    if (properties->sketch > 0)
        complain("added %" PRIu64 " %s to %s: sets of %" PRIu64 " bytes", summary->texts,
                 choose_noun(properties, summary->texts), path, summary->sets_bytes);
    double tables = summary->tables > 0 ? (double)summary->tables : 1;
    struct density density =
        compute_density((double)summary->table_bytes / tables, summary->fingerprints, properties->bits);
    const char *noun = properties->sketch > 0 ? "values of sketches" : choose_noun(properties, summary->documents);
    complain("added %" PRIu64 " %s to %s: %" PRIu64 " distinct fingerprints; scheme %s, %zu table%s of %" PRIu64
             " bytes in total; document map: %" PRIu64 " bytes",
             summary->documents, noun, path, summary->fingerprints, summary->scheme, summary->tables,
             summary->tables == 1 ? "" : "s", summary->table_bytes, summary->documents_bytes);
    if (summary->by_id_bytes > 0) complain("map from IDs: %" PRIu64 " bytes", summary->by_id_bytes);
    complain(DENSITY_MEAN_FORMAT, density.bits, density.ratio);
    complain("%" PRIu64 " bytes went through temporary files", summary->temporary_bytes);
}

/* There are no warnings about an index of fewer fingerprints or documents, which is quick to search anyway. */
#define FINGERPRINTS_WORTH_A_WARNING 1000
/* Probes that search more than this many times the blocks of evenly spread fingerprints are warned of. */
#define SKEW_WORTH_A_WARNING 4

/* How much one probe of each table of a segment searches, and the table with the largest group of equal prefixes. */
struct skew {
    double blocks;                       /* How many blocks the probes search together. */
    double even_blocks;                  /* How many they would search if fingerprints were spread evenly. */
    size_t table;                        /* The number of the table with the largest group. */
    struct idx_table_properties largest; /* Its properties. */
};

/* Sets *skew to that of the first segment, which has `table_count` tables, 1 or more. Returns false, without a
 * complaint, if the library fails. */
static bool measure_skew(const struct idx_index *index, size_t table_count, struct skew *skew) {
    struct idx_table_properties table;
    *skew = (struct skew){0};
    for (size_t i = 0; i < table_count; i++) {
        if (idx_get_table_properties(index, 0, i, &table, NULL) != IDX_OK) return false;
        skew->blocks += table.expected_blocks;
        skew->even_blocks += table.even_blocks;
        if (i > 0 && table.largest_group <= skew->largest.largest_group) continue;
        skew->table = i;
        skew->largest = table;
    }
    return true;
}

/* Warns of dead bits, which are the same in all fingerprints, and of prefixes that many fingerprints share. The dead
 * bits of any one table are those of all, since all tables have the same fingerprints. */
static void warn_of_skew(const struct idx_properties *properties, const struct skew *skew) {
    uint64_t dead_bits = skew->largest.dead_bits;
    char mask[NOTATION_MAX_LENGTH];
    size_t mask_length = notation_format_fingerprint(NOTATION_HEX, properties->bits, dead_bits, mask);
    if (dead_bits != 0)
        complain("%d of %u bits are the same in all fingerprints (mask %.*s): tables with these bits in front are less "
                 "selective; see idx info and idx plan",
                 __builtin_popcountll(dead_bits), properties->bits, (int)mask_length, mask);
    if (skew->blocks > SKEW_WORTH_A_WARNING * skew->even_blocks)
        complain("one probe of each table searches about %.0f blocks, compared with %.0f for evenly spread "
                 "fingerprints: the largest group, in table %zu, has %" PRIu64
                 " fingerprints with the same %u-bit prefix; another --scheme may be better, see idx info",
                 skew->blocks, skew->even_blocks, skew->table, skew->largest.largest_group, skew->largest.prefix);
}

/* A fingerprint is warned of if at least documents / HEAVY_DOCUMENTS_DIVISOR documents have it. */
#define HEAVY_DOCUMENTS_DIVISOR 100

/* Warns of the fingerprint that the most documents have, if they are many. Does nothing if the library fails. */
static void warn_of_heaviest_fingerprint(const struct idx_index *index, const struct idx_properties *properties) {
    uint64_t fingerprint, document_count;
    char hex[NOTATION_MAX_LENGTH];
    if (idx_get_heaviest(index, &fingerprint, &document_count, NULL) != IDX_OK) return;
    if (document_count < properties->documents / HEAVY_DOCUMENTS_DIVISOR) return;
    size_t length = notation_format_fingerprint(NOTATION_HEX, properties->bits, fingerprint, hex);
    complain("%" PRIu64 " of %" PRIu64 " documents have the fingerprint %.*s: such documents are often empty pages, or "
             "nothing but menus; idx lookup lists them",
             document_count, properties->documents, (int)length, hex);
}

/* Writes a message with the number of folders of killed builds that were removed, if any were. */
static void report_removed_folders(const char *path, size_t folder_count) {
    if (folder_count == 1)
        complain("removed a folder that a killed build had left beside %s", path);
    else if (folder_count > 1)
        complain("removed %zu folders that killed builds had left beside %s", folder_count, path);
}

/* Warns of what makes look-ups in the index slow, if it has enough fingerprints for that to matter. */
static void warn_of_slow_look_ups(const struct idx_index *index, const struct idx_properties *properties) {
    struct skew skew;
    if (properties->fingerprints >= FINGERPRINTS_WORTH_A_WARNING &&
        measure_skew(index, properties->scheme->table_count, &skew))
        warn_of_skew(properties, &skew);
    if (properties->documents >= FINGERPRINTS_WORTH_A_WARNING) warn_of_heaviest_fingerprint(index, properties);
}

/* The index is opened only to say more about it. If that fails, less is said, and it is no error, since the index has
 * been published. What is wrong or unusual is said without a progress display as well. */
void report_new_index(const char *path, const struct idx_build_summary *summary, const struct progress *progress) {
    struct idx_open_options options = IDX_OPEN_OPTIONS_INIT;
    struct idx_index *index = NULL;
    struct idx_properties properties;
    options.residence = IDX_RESIDENCE_NONE;
    bool is_open = idx_open(&index, path, &options, NULL) == IDX_OK;
    if (is_open) idx_get_properties(index, &properties);
    if (is_open && progress->shown) report_index_sizes(path, summary, &properties);
    if (progress->shown) progress_print_phases(progress);
    report_removed_folders(path, summary->leftovers);
    if (summary->mixed_icu) complain("%s", recipes_icu_warning);
    if (is_open && properties.sketch == 0) warn_of_slow_look_ups(index, &properties);
    if (is_open) idx_close(index);
}

/* ---- Writing to an index ---- */

/* From this many bytes of IDs on, a batch is full. */
enum { ENOUGH_ID_BYTES = 1 << 20 };

/* Returns whether a compaction is to continue: no signal is noted. This is an idx_progress_visitor. */
static bool continue_unless_interrupted(void *context, const struct idx_progress *progress) {
    (void)context, (void)progress;
    return !interrupt_is_noted();
}

/* Waits for a compaction that the writer began, and complains if it failed. A signal, or a compaction by another
 * process, is no failure. A writer of NULL is accepted. */
static void wait_for_compaction(struct idx_writer *writer, const char *path) {
    struct idx_error error;
    if (writer == NULL || idx_writer_wait(writer, &error) == IDX_OK) return;
    if (error.status == IDX_CANCELLED || error.status == IDX_BUSY) return;
    complain("all additions and removals are on disk, but %s could not be compacted: %s", path, error.sentence);
}

/* Sets how lines are read, by the properties of the index and whether lines are documents, IDs or fingerprints. Sets
 * also whether the index adopts the recipe that they state. */
static void set_input_rules(struct update *update) {
    /* Both are in the order of enum idx_id_type. */
    static const enum tsv_ids ids_behind_fingerprints[] = {TSV_ID_TEXT, TSV_ID_U64, TSV_ID_NONE};
    static const enum tsv_ids ids_alone[] = {TSV_ID_TEXT_ALONE, TSV_ID_U64_ALONE, TSV_ID_NONE};
    struct tsv_rules *rules = &update->input.rules;
    enum idx_id_type id_type = update->properties.id_type;
    rules->bits = update->properties.bits;
    rules->ids = update->id_alone ? ids_alone[id_type] : ids_behind_fingerprints[id_type];
    if (update->fingerprint_alone && !update->id_alone) rules->ids = TSV_ID_NONE;
    update->input.index_adopts_recipe =
        update->adds_documents && update->properties.is_empty && *update->properties.recipe == '\0';
}

/* Sets the recipe of an index that has none, once, to the one that the input has stated, before the index gets any
 * document. Does nothing if the input has stated none so far. Complains and returns false if that fails. */
static bool set_recipe_of_empty_index(struct update *update) {
    struct idx_error error;
    if (!update->input.index_adopts_recipe || update->input.recipe == NULL) return true;
    update->input.index_adopts_recipe = false;
    return succeeded(idx_writer_set_recipe(update->writer, update->input.recipe, &error), &error);
}

bool update_open_writer(struct update *update) {
    struct idx_writer_options options = IDX_WRITER_OPTIONS_INIT;
    struct idx_error error;
    update->input.reader = (struct reader)READER_INIT;
    update->ids = (struct output)OUTPUT_BUFFER;
    options.progress = continue_unless_interrupted;
    options.threads = update->threads;
    if (update->compact_records != UINT64_MAX) options.compact_records = update->compact_records;
    if (update->compact_records == 0) options.compact_segments = 0;
    if (!succeeded(idx_writer_open(&update->writer, update->path, &options, &error), &error)) return false;
    idx_get_properties(idx_writer_view(update->writer), &update->properties);
    return true;
}

bool update_set_rules_and_check_files(struct update *update) {
    set_input_rules(update);
    if (!input_files_are_whole(&update->input)) return false;
    if (update->input.format == INPUT_TSV || update->properties.id_type != IDX_ID_TEXT) return true;
    if (update->fingerprint_alone) return true;
    return complain("%s has text IDs, but rows of arrays have none: give lines of fingerprint, tab, ID instead",
                    update->path);
}

/* Appends `count` documents to the batch, which must have room for them, with copies of their IDs. If memory runs out,
 * ids.error says so. set_id_pointers sets the pointers to the IDs once the batch is complete, since the memory of the
 * IDs may still move. */
static void append_records_to_batch(struct update *update, const struct tsv_record *records, size_t count) {
    bool has_text_ids = update->properties.id_type == IDX_ID_TEXT;
    for (size_t i = 0; i < count; i++) {
        const struct tsv_record *record = &records[i];
        struct idx_item *item = &update->items[update->item_count++];
        *item = (struct idx_item){.fingerprint = record->fingerprint};
        if (has_text_ids) {
            item->id_length = record->id_length;
            output_bytes(&update->ids, record->id, record->id_length);
        } else {
            item->number = record->number;
        }
    }
}

/* Points the items of a complete batch to their IDs, which follow each other in `ids` in the order of the items. Items
 * without a text ID are left as they are. */
static void set_id_pointers(struct update *update) {
    const char *id = update->ids.bytes;
    for (size_t i = 0; i < update->item_count; i++) {
        if (update->items[i].id_length == 0) continue;
        update->items[i].id = id;
        id += update->items[i].id_length;
    }
}

enum input_status update_gather_batch(struct update *update) {
    const struct tsv_record *records;
    enum input_status status;
    size_t count;
    update->item_count = update->ids.length = 0;
    /* A batch may have changed the writer's view, and with it the properties. */
    idx_get_properties(idx_writer_view(update->writer), &update->properties);
    update->input.required_recipe = update->properties.recipe;
    do {
        update->input.never_waits = update->item_count > 0;
        status = input_read_records(&update->input, &records, &count);
        if (!set_recipe_of_empty_index(update)) {
            update->item_count = 0;
            return INPUT_FAILED;
        }
        append_records_to_batch(update, records, count);
    } while (status == INPUT_DOCUMENTS && update->item_count <= UPDATE_BATCH - INPUT_BATCH &&
             update->ids.length < ENOUGH_ID_BYTES);
    if (update->ids.error != 0) {
        complain("out of memory for the IDs of a batch");
        update->item_count = 0;
        return INPUT_FAILED;
    }
    set_id_pointers(update);
    return status == INPUT_PENDING ? INPUT_DOCUMENTS : status;
}

void update_close(struct update *update) {
    input_report_skipped_lines(&update->input);
    wait_for_compaction(update->writer, update->path);
    idx_writer_close(update->writer);
    input_free(&update->input);
    free(update->ids.bytes);
}
