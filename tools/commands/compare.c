/* compare.c: `idx compare`: prints whether the texts in two files are the same by a recipe, and how far they differ,
 * like `idx fingerprint --compare`. */
#include "tools/text/text.h"

int command_compare(int argc, char **argv) {
    struct text_options texts;
    struct pipeline_rules *rules = &texts.rules;
    struct texts paths;
    int status;
    bool same;
    const struct option_rule options[] = {
        {.name = "recipe", .kind = OPTION_TEXT, .value = &rules->recipe},
        {.name = "table", .kind = OPTION_TEXT, .value = &rules->table},
        {.name = "hash", .kind = OPTION_CHOICE, .value = &texts.hash, .names = text_hash_names},
        {.name = "ties", .kind = OPTION_NUMBER, .value = &texts.ties, .least = 0, .most = 1},
        {.name = "bits", .kind = OPTION_NUMBER, .value = &rules->bits, .least = 1, .most = IDX_MAX_BITS},
        {.name = "main-text", .kind = OPTION_FLAG, .value = &rules->extract.main_text},
        {.name = "max-text", OPTION_COUNT, &rules->extract.max_text, .least = 1, .most = MOST_DOCUMENT_BYTES},
    };
    const struct grammar grammar = {help_compare, options, sizeof options / sizeof *options, "A", 0, 2, NULL};
    text_options_init(&texts);
    if (!arguments_read(&grammar, argc, argv, &paths, &status)) return status;
    if (paths.count != 2) {
        complain_of_usage("give the two files to compare");
        return ENDS_BADLY;
    }
    if (!text_options_settle(&texts, FORMAT_AUTO) || !compare_files(rules, paths.values, &same)) return ENDS_BADLY;
    return same ? ENDS_WELL : ENDS_WITHOUT;
}
