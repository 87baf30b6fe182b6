/* compact.c: `idx compact`: makes one segment of what is pending and of the newest segments, or of all segments. */
#include "tools/shared/command.h"
#include "tools/shared/library.h"
#include "tools/shared/progress.h"
#include "tools/shared/wording.h"

#include <inttypes.h>

struct compact {
    struct idx_compact_options options;
    struct progress progress;
    bool progress_forced;
    struct strings operands; /* INDEX. */
};

/* Reads the command line. Returns false after --help, or after a mistake, of which it complains; then *status is the
 * status of the process. */
static bool read_compact_arguments(int argc, char **argv, struct compact *compact, int *status) {
    struct idx_compact_options *options = &compact->options;
    const struct option_rule rules[] = {
#include "options/compact.h" /* the rules made of compact.txt; they set *compact and *options */
    };
    const struct grammar grammar = GRAMMAR(compact, rules, "INDEX", 1, 1);
    return arguments_read(&grammar, argc, argv, &compact->operands, status);
}

/* Writes a message with how many segments of killed compactions were removed, if any were. */
static void report_removed_segments(const char *path, size_t segment_count) {
    if (segment_count == 1)
        complain("%s: removed a segment that a killed compaction had left", path);
    else if (segment_count > 1)
        complain("%s: removed %zu segments that killed compactions had left", path, segment_count);
}

/* Writes messages about removed leftovers and, if progress is shown, about what was moved. */
static void say_moved(const char *path, const struct idx_compact_summary *summary, const struct progress *progress) {
    report_removed_segments(path, summary->leftovers);
    if (!progress->shown) return;
    if (summary->changed)
        complain("moved %" PRIu64 " pending records and %zu segments of %s into one segment: %" PRIu64
                 " documents, %" PRIu64 " distinct fingerprints; segments now: %zu",
                 summary->records, summary->merged, path, summary->documents, summary->fingerprints, summary->segments);
    else
        complain("moved nothing in %s: it is compact already; segments: %zu", path, summary->segments);
}

/* Compacts the index at the path of the operand, and writes messages about what was done. Complains and returns false
 * if that fails; returns false without a complaint after a signal. */
static bool compact_index(struct compact *compact) {
    const char *path = compact->operands.values[0];
    struct idx_compact_summary summary;
    struct idx_error error;
    enum idx_status status = idx_compact(path, &compact->options, &summary, &error);
    progress_end(&compact->progress);
    if (!succeeded(status, &error)) return false;
    say_moved(path, &summary, &compact->progress);
    return true;
}

/* Runs `idx compact`. Returns ENDS_WELL if the index is compact now, or else ENDS_BADLY. */
int command_compact(int argc, char **argv) {
    struct compact compact = {.options = IDX_COMPACT_OPTIONS_INIT};
    int status;
    compact.options.threads = arguments_get_default_threads();
    compact.options.progress = progress_visit;
    compact.options.context = &compact.progress;
    if (!read_compact_arguments(argc, argv, &compact, &status)) return status;
    progress_start(&compact.progress, compact.progress_forced);
    interrupt_catch();
    bool ok = compact_index(&compact);
    interrupt_end_process();
    return ok ? ENDS_WELL : ENDS_BADLY;
}
