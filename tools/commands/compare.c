/* compare.c: `idx compare`: prints whether the texts in two files are the same by a recipe, and how far they differ,
 * like `idx fingerprint --compare`. */
#include "tools/resemblance/compare.h"
#include "tools/documents/text_options.h"

/* Runs `idx compare`. Returns ENDS_WELL if the texts are the same, ENDS_WITHOUT if not, and ENDS_BADLY after an
 * error. */
int command_compare(int argc, char **argv) {
    struct text_options text_options, *texts = &text_options;
    struct strings paths;
    int status;
    bool same;
    const struct option_rule rules[] = {
#include "options/compare.h" /* the rules made of compare.txt; they set *texts */
    };
    const struct grammar grammar = GRAMMAR(compare, rules, "A", 0, 2);
    text_options_init(texts);
    if (!arguments_read(&grammar, argc, argv, &paths, &status)) return status;
    if (paths.count != 2) {
        complain_of_usage("give the two files to compare");
        return ENDS_BADLY;
    }
    if (!text_options_complete(texts, FORMAT_AUTO) || !compare_files(&texts->rules, paths.values, &same))
        return ENDS_BADLY;
    return same ? ENDS_WELL : ENDS_WITHOUT;
}
