/* fingerprint.c: `idx fingerprint`: makes lines of texts that `idx build` and `idx lookup` read. */
#include "tools/documents/text_options.h"
#include "tools/resemblance/compare.h"
#include "tools/shared/command.h"
#include "tools/shared/library.h"
#include "tools/shared/wording.h"

#include <sys/stat.h>

/* Complains and returns false if the file of --train exists and is not a regular file, but a device, for example, or a
 * link like /dev/stdout: the table would replace it. */
static bool check_train_path(const struct text_options *texts) {
    const struct reading_rules *rules = &texts->rules;
    struct stat status;
    if (rules->train == NULL || lstat(rules->train, &status) != 0 || S_ISREG(status.st_mode)) return true;
    return complain_of_usage("--train %s: this is not a regular file, and the table would replace it", rules->train);
}

/* Compares the texts at the two paths, and prints how far they differ. Complains if there are not two paths. Returns
 * the status of the process. */
static int compare_two_texts(const struct reading_rules *rules, const struct strings *paths) {
    bool same;
    if (paths->count != 2) {
        complain_of_usage("--compare needs two files of text or HTML");
        return ENDS_BADLY;
    }
    if (!compare_files(rules, paths->values, &same)) return ENDS_BADLY;
    return same ? ENDS_WELL : ENDS_WITHOUT;
}

/* Completes and checks the options, and fingerprints all texts or, if `compares` is set, compares two. Returns the
 * status of the process. */
static int compare_or_fingerprint_texts(struct text_options *texts, enum document_format format, bool compares,
                                        const struct strings *paths) {
    struct reading_rules *rules = &texts->rules;
    if (!text_options_complete(texts, format) || !check_train_path(texts)) return ENDS_BADLY;
    if (rules->train != NULL) rules->threads = 1; /* So that the table is the same every time. */
    if (compares) return compare_two_texts(rules, paths);
    return reading_print(rules, paths) == READING_WELL ? ENDS_WELL : ENDS_BADLY;
}

/* Runs `idx fingerprint`. Returns ENDS_WELL if all texts were fingerprinted, or else ENDS_BADLY; with --compare, the
 * same as `idx compare`. */
int command_fingerprint(int argc, char **argv) {
    struct text_options text_options, *texts = &text_options;
    struct strings paths;
    int status, format = FORMAT_AUTO;
    bool compares = false;
    const struct option_rule rules[] = {
#include "options/fingerprint.h" /* the rules made of fingerprint.txt; they set *texts, `format` and `compares` */
    };
    const struct grammar grammar = GRAMMAR(fingerprint, rules, "FILE", 0, SIZE_MAX);
    text_options_init(texts);
    if (arguments_read(&grammar, argc, argv, &paths, &status))
        status = compare_or_fingerprint_texts(texts, (enum document_format)format, compares, &paths);
    text_options_free(texts);
    return status;
}
