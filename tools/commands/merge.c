/* merge.c: `idx merge`: makes one index of several, or of the segments of a single one. */
#include "tools/input/index_making.h"

struct merge {
    struct idx_merge_options options;
    struct progress progress;
    bool progress_forced;
    struct strings operands; /* OUTPUT and the INDEXes. */
};

/* Reads the command line. Returns false after --help, or after a mistake, of which it complains; then *status is the
 * status of the process. */
static bool read_merge_arguments(int argc, char **argv, struct merge *merge, int *status) {
    struct idx_merge_options *options = &merge->options;
    const struct option_rule rules[] = {
#include "options/merge.h" /* the rules made of merge.txt; they set *merge and *options */
    };
    const struct grammar grammar = GRAMMAR(merge, rules, "OUTPUT", 1, SIZE_MAX);
    if (!arguments_read(&grammar, argc, argv, &merge->operands, status)) return false;
    return merge->operands.count > 1 || complain_of_usage("INDEX is missing: the indexes to merge");
}

/* Merges the indexes at the paths of the second and later operands into a new one at the path of the first, and writes
 * messages about it. Complains and returns false if that fails; returns false without a complaint after a signal. */
static bool merge_indexes(struct merge *merge) {
    const char *path = merge->operands.values[0];
    const char *const *input_paths = (const char *const *)(merge->operands.values + 1);
    struct idx_build_summary summary;
    struct idx_error error;
    enum idx_status status = idx_merge(path, input_paths, merge->operands.count - 1, &merge->options, &summary, &error);
    progress_end(&merge->progress);
    if (!succeeded(status, &error)) return false;
    report_new_index(path, &summary, &merge->progress);
    return true;
}

/* Runs `idx merge`. Returns ENDS_WELL if the index was published, or else ENDS_BADLY. */
int command_merge(int argc, char **argv) {
    struct merge merge = {.options = IDX_MERGE_OPTIONS_INIT};
    int status;
    merge.options.threads = arguments_get_default_threads();
    merge.options.progress = progress_visit;
    merge.options.context = &merge.progress;
    if (!read_merge_arguments(argc, argv, &merge, &status)) return status;
    progress_start(&merge.progress, merge.progress_forced);
    interrupt_catch();
    bool published = merge_indexes(&merge);
    interrupt_end_process();
    return published ? ENDS_WELL : ENDS_BADLY;
}
