/* remove.c: `idx remove`: removes documents from an index. */
#include "tools/input/index_making.h"
#include "tools/shared/clock.h"

#include <inttypes.h>
#include <stdio.h>

/* The first call of the library removes FIRST_CALL_DOCUMENTS documents, and each next one twice as many, up to
 * WRITING_BATCH; after a call that took longer than LONG_CALL_NANOSECONDS, the next one removes about half as many. */
#define LONG_CALL_NANOSECONDS 100000000
enum { FIRST_CALL_DOCUMENTS = 16 };

struct removing {
    struct writing writing;
    int format, notation;     /* A notation of -1 is not given. */
    size_t call_size;         /* How many documents the next call removes. */
    struct idx_removal total; /* The sum over all calls. */
};

/* Reads the command line. Returns false after --help, or after a mistake, of which it complains; then *status is the
 * status of the process. */
static bool read_remove_arguments(int argc, char **argv, struct removing *removing, int *status) {
    struct writing *writing = &removing->writing;
    struct strings operands;
    const struct option_rule rules[] = {
#include "options/remove.h" /* the rules that the build makes of remove.txt */
    };
    const struct grammar grammar = GRAMMAR(remove, rules, "INDEX", 1, SIZE_MAX);
    if (!arguments_read(&grammar, argc, argv, &operands, status)) return false;
    writing->path = operands.values[0];
    writing->input.paths = (struct strings){operands.values + 1, operands.count - 1};
    writing->input.format = (enum input_format)removing->format;
    if (!input_resolve_format(&writing->input.paths, &writing->input.format)) return false;
    if (!arguments_fit_input(input_format_names[writing->input.format])) return false;
    writing->input.rules.notation = removing->notation < 0 ? NOTATION_HEX : (enum notation)removing->notation;
    return true;
}

/* Removes `count` documents by one call of the library, and adds what it removed to the total. Items name documents by
 * ID, by fingerprint, or by both. Complains and returns false if that fails. */
static bool remove_items(struct removing *removing, const struct idx_item *items, size_t count) {
    struct writing *writing = &removing->writing;
    struct idx_removal removal = {0};
    struct idx_error error;
    enum idx_removal_key key = IDX_REMOVE_DOCUMENTS;
    if (writing->id_alone)
        key = IDX_REMOVE_IDS;
    else if (writing->fingerprint_alone || writing->properties.id_type == IDX_ID_NONE)
        key = IDX_REMOVE_FINGERPRINTS;
    enum idx_status status = idx_writer_remove(writing->writer, key, items, count, &removal, &error);
    removing->total.documents += removal.documents;
    removing->total.missing += removal.missing;
    return succeeded(status, &error);
}

/* Removes the documents of a batch, some at a time: removing from a fingerprint with many documents takes long, and a
 * signal takes effect only between two calls. Returns false after a complaint or a signal. */
static bool remove_batch(struct removing *removing) {
    struct writing *writing = &removing->writing;
    for (size_t removed_count = 0; removed_count < writing->count;) {
        size_t left = writing->count - removed_count, count = removing->call_size < left ? removing->call_size : left;
        uint64_t begin_nanoseconds = read_nanoseconds();
        if (interrupt_is_noted() || !remove_items(removing, writing->items + removed_count, count)) return false;
        removed_count += count;
        if (read_nanoseconds() - begin_nanoseconds > LONG_CALL_NANOSECONDS)
            removing->call_size = removing->call_size / 2 + 1;
        else if (count == removing->call_size && removing->call_size < WRITING_BATCH)
            removing->call_size *= 2;
    }
    return true;
}

/* Opens the index, and removes the documents that the input names. Returns false after a complaint or a signal; what
 * was read before is removed. */
static bool remove_documents_of_input(struct removing *removing) {
    struct writing *writing = &removing->writing;
    enum input_status status;
    if (!writing_open(writing)) return false;
    bool has_texts = writing->properties.sketch > 0;
    if (has_texts && (writing->fingerprint_alone || writing->input.format != INPUT_TSV))
        return complain_of_usage("%s has texts, which are removed by lines of their IDs", writing->path);
    writing->id_alone |= has_texts;
    if (!writing_prepare_input(writing)) return false;
    do {
        status = writing_gather_batch(writing);
        if (!remove_batch(removing)) return false;
    } while (status == INPUT_DOCUMENTS);
    return status == INPUT_END;
}

/* Writes a message with how many documents were removed and not found. If both are 0 and the command failed (`ok` is
 * false), writes none. */
static void say_removed(const struct removing *removing, bool ok) {
    const struct idx_removal *total = &removing->total;
    if (!ok && total->documents + total->missing == 0) return;
    const char *noun = choose_noun(&removing->writing.properties, total->documents);
    char missing_clause[64] = "";
    if (total->missing > 0) snprintf(missing_clause, sizeof missing_clause, ", did not find %" PRIu64, total->missing);
    complain("removed %" PRIu64 " %s from %s%s", total->documents, noun, removing->writing.path, missing_clause);
}

/* Runs `idx remove`. Returns ENDS_WELL if all documents were removed, ENDS_WITHOUT if some were not found, and
 * ENDS_BADLY after an error. */
int command_remove(int argc, char **argv) {
    static struct removing removing; /* Too large for the stack. */
    int status;
    removing = (struct removing){
        .writing = {.compact = UINT64_MAX, .threads = 1}, .notation = -1, .call_size = FIRST_CALL_DOCUMENTS};
    if (!read_remove_arguments(argc, argv, &removing, &status)) return status;
    interrupt_catch();
    bool ok = remove_documents_of_input(&removing);
    if (removing.writing.writer != NULL) say_removed(&removing, ok);
    writing_close(&removing.writing);
    interrupt_end_process();
    if (!ok) return ENDS_BADLY;
    return removing.total.missing > 0 ? ENDS_WITHOUT : ENDS_WELL;
}
