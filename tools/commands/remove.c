/* remove.c: `idx remove`: removes documents from an index. */
#include "tools/input/index_making.h"
#include "tools/shared/clock.h"

#include <inttypes.h>
#include <stdio.h>

/* The first call of the library removes FIRST_CALL_DOCUMENTS documents, and each next one twice as many, up to
 * UPDATE_BATCH; after a call that took longer than LONG_CALL_NANOSECONDS, the next one removes about half as many. */
#define LONG_CALL_NANOSECONDS 100000000
enum { FIRST_CALL_DOCUMENTS = 16 };

struct remove_job {
    struct update update;
    int format, notation;     /* A notation of -1 is not given. */
    size_t call_size;         /* How many documents the next call removes. */
    struct idx_removal total; /* The sum over all calls. */
};

/* Reads the command line. Returns false after --help, or after a mistake, of which it complains; then *status is the
 * status of the process. */
static bool read_remove_arguments(int argc, char **argv, struct remove_job *job, int *status) {
    struct update *update = &job->update;
    struct strings operands;
    const struct option_rule rules[] = {
#include "options/remove.h" /* the rules made of remove.txt; they set *job and *update */
    };
    const struct grammar grammar = GRAMMAR(remove, rules, "INDEX", 1, SIZE_MAX);
    if (!arguments_read(&grammar, argc, argv, &operands, status)) return false;
    update->path = operands.values[0];
    update->input.paths = (struct strings){operands.values + 1, operands.count - 1};
    update->input.format = (enum input_format)job->format;
    if (!input_resolve_format(&update->input.paths, &update->input.format)) return false;
    if (!arguments_fit_input(input_format_names[update->input.format])) return false;
    update->input.rules.notation = job->notation < 0 ? NOTATION_HEX : (enum notation)job->notation;
    return true;
}

/* Removes `count` documents by one call of the library, and adds what it removed to the total. Items name documents by
 * ID, by fingerprint, or by both, as the options and the index say. Complains and returns false if the library fails;
 * what it removed before is counted all the same. */
static bool remove_items(struct remove_job *job, const struct idx_item *items, size_t count) {
    struct update *update = &job->update;
    struct idx_removal removal = {0};
    struct idx_error error;
    enum idx_removal_key key = IDX_REMOVE_DOCUMENTS;
    if (update->id_alone)
        key = IDX_REMOVE_IDS;
    else if (update->fingerprint_alone || update->properties.id_type == IDX_ID_NONE)
        key = IDX_REMOVE_FINGERPRINTS;
    enum idx_status status = idx_writer_remove(update->writer, key, items, count, &removal, &error);
    job->total.documents += removal.documents;
    job->total.missing += removal.missing;
    return succeeded(status, &error);
}

/* Removes the documents of a batch, some at a time: removing from a fingerprint with many documents takes long, and a
 * signal takes effect only between two calls. Returns false after a complaint or a signal. */
static bool remove_batch(struct remove_job *job) {
    struct update *update = &job->update;
    for (size_t removed_count = 0; removed_count < update->item_count;) {
        size_t left = update->item_count - removed_count, count = job->call_size < left ? job->call_size : left;
        uint64_t begin_nanoseconds = read_nanoseconds();
        if (interrupt_is_noted() || !remove_items(job, update->items + removed_count, count)) return false;
        removed_count += count;
        if (read_nanoseconds() - begin_nanoseconds > LONG_CALL_NANOSECONDS)
            job->call_size = job->call_size / 2 + 1;
        else if (count == job->call_size && job->call_size < UPDATE_BATCH)
            job->call_size *= 2;
    }
    return true;
}

/* Opens the index, and removes the documents that the input names. Returns false after a complaint or a signal; what
 * was read before is removed. */
static bool remove_documents_of_input(struct remove_job *job) {
    struct update *update = &job->update;
    enum input_status status;
    if (!update_open_writer(update)) return false;
    bool has_texts = update->properties.sketch > 0;
    if (has_texts && (update->fingerprint_alone || update->input.format != INPUT_TSV))
        return complain_of_usage("%s has texts, which are removed by lines of their IDs", update->path);
    update->id_alone |= has_texts;
    if (!update_set_rules_and_check_files(update)) return false;
    do {
        status = update_gather_batch(update);
        if (!remove_batch(job)) return false;
    } while (status == INPUT_DOCUMENTS);
    return status == INPUT_END;
}

/* Writes a message with how many documents were removed and not found. If both are 0 and the command failed (`ok` is
 * false), writes none. */
static void say_removed(const struct remove_job *job, bool ok) {
    const struct idx_removal *total = &job->total;
    if (!ok && total->documents + total->missing == 0) return;
    const char *noun = choose_noun(&job->update.properties, total->documents);
    char missing_clause[64] = "";
    if (total->missing > 0) snprintf(missing_clause, sizeof missing_clause, ", did not find %" PRIu64, total->missing);
    complain("removed %" PRIu64 " %s from %s%s", total->documents, noun, job->update.path, missing_clause);
}

/* Runs `idx remove`. Returns ENDS_WELL if all documents were removed, ENDS_WITHOUT if some were not found, and
 * ENDS_BADLY after an error. */
int command_remove(int argc, char **argv) {
    static struct remove_job job; /* Too large for the stack. */
    int status;
    job = (struct remove_job){
        .update = {.compact_records = UINT64_MAX, .threads = 1}, .notation = -1, .call_size = FIRST_CALL_DOCUMENTS};
    if (!read_remove_arguments(argc, argv, &job, &status)) return status;
    interrupt_catch();
    bool ok = remove_documents_of_input(&job);
    if (job.update.writer != NULL) say_removed(&job, ok);
    update_close(&job.update);
    interrupt_end_process();
    if (!ok) return ENDS_BADLY;
    return job.total.missing > 0 ? ENDS_WITHOUT : ENDS_WELL;
}
