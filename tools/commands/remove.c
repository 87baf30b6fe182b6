/* remove.c: `idx remove`: removes documents from an index. */
#include "tools/input/writing.h"
#include "tools/shared/arguments.h"
#include "tools/shared/command.h"
#include "tools/shared/interrupt.h"

#include <inttypes.h>

static const char help[] =
    "Usage: idx remove [OPTION…] INDEX [INPUT…]\n"
    "Remove the documents of all INPUTs from INDEX, and say how many they were. No INPUT, or -, is standard input. A "
    "line\n"
    "is a fingerprint, a tab and an ID, as idx build reads it; of an INDEX with --id-type none, a fingerprint alone.\n"
    "\n"
    "  --by-fingerprint       a line is a fingerprint alone: all of its documents are removed\n"
    "  --by-id                a line is an ID alone: of an INDEX that was built with --by-id\n"
    "  --fingerprints HOW     lines have them as hex (default), dec (unsigned) or signed (two's complement)\n"
    "  --skip-bad-lines       count bad lines and go on\n"
    "  --compact N            compact INDEX meanwhile when N are pending, 0: never (default: an eighth of the\n"
    "                         documents, but 100000 to 2000000); see idx compact\n"
    "\n"
    "What has been read is removed, on disk, whenever there is nothing more at hand. A bad line ends it, and names\n"
    "FILE:LINE; the documents of those before it are removed. A fingerprint without documents is no match any more.\n"
    "\n"
    "Examples:\n"
    "  printf '9f86d081884c7d65\\tdocs/a.txt\\n' | idx remove docs.idx\n"
    "  idx remove --by-id docs.idx gone.txt\n"
    "\n"
    "Exit status: 0 all were there, and are removed; 1 some were not there; 2 error.\n";

struct removing {
    struct writing writing;
    int notation;
    struct idx_removal total;
};

static bool read_arguments(int argc, char **argv, struct removing *removing, int *status) {
    struct writing *writing = &removing->writing;
    struct texts operands;
    const struct option_rule rules[] = {
        {.name = "by-fingerprint", .kind = OPTION_FLAG, .value = &writing->fingerprint_alone},
        {.name = "by-id", .kind = OPTION_FLAG, .value = &writing->id_alone},
        {.name = "fingerprints", .kind = OPTION_CHOICE, .value = &removing->notation, .names = notation_names},
        {.name = "skip-bad-lines", .kind = OPTION_FLAG, .value = &writing->input.skip_bad_lines},
        {.name = "compact", .kind = OPTION_COUNT, .value = &writing->compact},
    };
    const struct grammar grammar = {help, rules, sizeof rules / sizeof *rules, "INDEX", 1, SIZE_MAX};
    if (!arguments_read(&grammar, argc, argv, &operands, status)) return false;
    *status = ENDS_BADLY;
    if (writing->fingerprint_alone && writing->id_alone) {
        complain_of_usage("give --by-fingerprint or --by-id, not both");
        return false;
    }
    if (writing->id_alone && removing->notation >= 0) {
        complain_of_usage("--fingerprints does nothing with --by-id; leave it out");
        return false;
    }
    writing->path = operands.values[0];
    writing->input.paths = (struct texts){operands.values + 1, operands.count - 1};
    writing->input.rules.notation = removing->notation < 0 ? NOTATION_HEX : (enum notation)removing->notation;
    return true;
}

static enum idx_status remove_fingerprints(struct writing *writing, struct idx_removal *removal,
                                           struct idx_error *error) {
    static uint64_t fingerprints[WRITING_BATCH];
    for (size_t i = 0; i < writing->count; i++) fingerprints[i] = writing->items[i].fingerprint;
    return idx_writer_remove_fingerprints(writing->writer, fingerprints, writing->count, removal, error);
}

static bool remove_batch(struct removing *removing) {
    struct writing *writing = &removing->writing;
    struct idx_removal removal = {0, 0};
    struct idx_error error;
    enum idx_status status = IDX_OK;
    if (writing->count == 0) return true;
    if (writing->id_alone)
        status = idx_writer_remove_ids(writing->writer, writing->items, writing->count, &removal, &error);
    else if (writing->fingerprint_alone || writing->properties.id_type == IDX_ID_NONE)
        status = remove_fingerprints(writing, &removal, &error);
    else
        status = idx_writer_remove(writing->writer, writing->items, writing->count, &removal, &error);
    if (status != IDX_OK) complain("%s", error.sentence);
    removing->total.documents += removal.documents;
    removing->total.missing += removal.missing;
    return status == IDX_OK;
}

static bool remove_all(struct removing *removing) {
    enum input_status status;
    if (!writing_open(&removing->writing)) return false;
    do {
        status = writing_gather(&removing->writing);
        if (!remove_batch(removing)) return false;
    } while (status == INPUT_DOCUMENTS);
    return status == INPUT_END;
}

static void report(const struct removing *removing) {
    const struct idx_removal *total = &removing->total;
    const char *what = removing->writing.properties.id_type == IDX_ID_NONE ? "fingerprints" : "documents";
    complain("%s removed: %" PRIu64 ", not there: %" PRIu64, what, total->documents, total->missing);
}

int command_remove(int argc, char **argv) {
    static struct removing removing; /* some hundred KiB */
    int status;
    removing = (struct removing){.writing = {.compact = UINT64_MAX, .threads = 1}, .notation = -1};
    if (!read_arguments(argc, argv, &removing, &status)) return status;
    interrupt_catch();
    bool whole = remove_all(&removing);
    if (removing.writing.writer != NULL) report(&removing);
    writing_close(&removing.writing);
    interrupt_obey();
    if (!whole) return ENDS_BADLY;
    return removing.total.missing > 0 ? ENDS_WITHOUT : ENDS_WELL;
}
