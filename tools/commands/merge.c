/* merge.c: `idx merge`: makes one index of several, or of the segments of one. */
#include "tools/input/making.h"
#include "tools/shared/arguments.h"
#include "tools/shared/command.h"
#include "tools/shared/interrupt.h"
#include "tools/shared/message.h"
#include "tools/shared/progress.h"

#include <idx.h>

static const char help[] =
    "Usage: idx merge [OPTION…] OUTPUT INDEX…\n"
    "Merge all INDEXes, all segments of each and what is pending, less what was removed, into an index of one "
    "segment,\n"
    "the folder OUTPUT, without sorting again. They must have the same bits, k, ID type, recipe and tables, and all or "
    "none a map from IDs. Text IDs come in "
    "the\n"
    "order of the INDEXes; of integer IDs the same one twice on one fingerprint is one document.\n"
    "\n"
    "  --memory SIZE          memory to use (default: half of what is free)\n"
    "  --threads N            tables merged at a time (default: the processors, up to 16)\n"
    "  --force                replace the index that stands at OUTPUT, atomically; it may be one of the INDEXes\n"
    "  --progress             say how far it is, and what it took, even where standard error is no terminal\n"
    "\n"
    "The INDEXes are not changed, and are checked as they are read. They may grow meanwhile, but for one that is "
    "replaced.\n"
    "Nothing is published unless all went well.\n"
    "\n"
    "Examples:\n"
    "  idx merge all.idx shard-1.idx shard-2.idx\n"
    "  idx merge --force docs.idx docs.idx new.idx\n"
    "\n"
    "Exit status: 0 the index stands at OUTPUT; 2 error.\n";

struct merge {
    struct idx_merge_options options;
    struct progress progress;
    bool progress_forced;
    struct texts operands; /* OUTPUT, and the INDEXes */
};

static bool read_arguments(int argc, char **argv, struct merge *merge, int *status) {
    struct idx_merge_options *options = &merge->options;
    const struct option_rule rules[] = {
        {.name = "memory", .kind = OPTION_COUNT, .value = &options->memory_bytes, .least = IDX_MIN_MEMORY_BYTES},
        {.name = "threads", .kind = OPTION_NUMBER, .value = &options->threads},
        {.name = "force", .kind = OPTION_FLAG, .value = &options->replace},
        {.name = "progress", .kind = OPTION_FLAG, .value = &merge->progress_forced},
    };
    const struct grammar grammar = {help, rules, sizeof rules / sizeof *rules, "OUTPUT", 1, SIZE_MAX};
    if (!arguments_read(&grammar, argc, argv, &merge->operands, status)) return false;
    if (merge->operands.count == 1) complain_of_usage("INDEX is missing: what is to be merged");
    return merge->operands.count > 1;
}

static bool run(struct merge *merge) {
    const char *output = merge->operands.values[0];
    const char *const *inputs = (const char *const *)(merge->operands.values + 1);
    struct idx_build_summary summary;
    struct idx_error error;
    enum idx_status status = idx_merge(output, inputs, merge->operands.count - 1, &merge->options, &summary, &error);
    progress_end(&merge->progress);
    if (status == IDX_OK)
        making_report(output, &summary, &merge->progress);
    else
        making_failed(&error);
    return status == IDX_OK;
}

int command_merge(int argc, char **argv) {
    struct merge merge = {.options = IDX_MERGE_OPTIONS_INIT};
    int status;
    merge.options.threads = arguments_threads();
    merge.options.progress = progress_visit;
    merge.options.context = &merge.progress;
    if (!read_arguments(argc, argv, &merge, &status)) return status;
    progress_start(&merge.progress, merge.progress_forced);
    interrupt_catch();
    bool published = run(&merge);
    interrupt_obey();
    return published ? ENDS_WELL : ENDS_BADLY;
}
