/* fingerprint.c: `idx fingerprint`: makes lines of texts that `idx build` and `idx lookup` read. */
#include "tools/answers/resembling.h"
#include "tools/shared/command.h"
#include "tools/shared/library.h"
#include "tools/shared/wording.h"
#include "tools/text/compare.h"
#include "tools/text/text_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/* Checks --train. Its table replaces that file, which must therefore not be a device, or a link like /dev/stdout. */
static bool check_train(const struct text_options *texts) {
    const struct pipeline_rules *rules = &texts->rules;
    struct stat there;
    if (rules->train == NULL) return true;
    if (lstat(rules->train, &there) == 0 && !S_ISREG(there.st_mode))
        return complain_of_usage("--train %s: this is not a regular file, and the table would replace it",
                                 rules->train);
    return true;
}

/* Compares two texts. Returns the status of the process. */
static int compare(const struct pipeline_rules *rules, const struct strings *paths) {
    bool same;
    if (paths->count != 2) {
        complain_of_usage("--compare needs two files of text or HTML");
        return ENDS_BADLY;
    }
    if (!compare_files(rules, paths->values, &same)) return ENDS_BADLY;
    return same ? ENDS_WELL : ENDS_WITHOUT;
}

/* Prints fingerprints, and adds each document's set to the file at `path`. Returns the status of the process. */
static int fingerprint_and_keep(struct pipeline_rules *rules, const char *path, const struct strings *paths) {
    struct idx_kept_sets_options options = IDX_KEPT_SETS_OPTIONS_INIT;
    struct set_keeping keeping = {NULL, 0};
    struct sketch sketch;
    struct idx_error error;
    char *recipe = rules->recipe == NULL ? NULL : text_canonical_recipe(rules->recipe);
    bool makes_sketches = recipe != NULL && recipe_read_sketch(recipe, &sketch);
    free(recipe);
    if (!makes_sketches) {
        complain_of_usage("--keep-sets is for sketches: give --recipe minhash:M, or --resemble");
        return ENDS_BADLY;
    }
    options.shingles = sketch.shingles;
    options.writes = true;
    if (!open_kept_sets(&keeping.kept, path, &options)) return ENDS_BADLY;
    rules->visit = set_keeping_add;
    rules->sketch_values = sketch.values;
    rules->makes = MAKES_SHINGLES;
    rules->shingling = (struct shingling){sketch.width, sketch.by_characters, false};
    rules->context = &keeping;
    bool ok = pipeline_run(rules, paths) == PIPELINE_WELL;
    ok = succeeded(idx_kept_sets_sync(keeping.kept, &error), &error) && ok;
    idx_kept_sets_close(keeping.kept);
    return ok ? ENDS_WELL : ENDS_BADLY;
}

/* Does with the texts what the options ask for: compares two, or fingerprints all. `sets` is the file of --keep-sets,
 * or NULL. Returns the status of the process. */
static int fingerprint_texts(struct text_options *texts, enum document_format format, bool compares, const char *sets,
                             const struct strings *paths) {
    struct pipeline_rules *rules = &texts->rules;
    if (!text_options_settle(texts, format) || !check_train(texts)) return ENDS_BADLY;
    if (rules->train != NULL) rules->threads = 1; /* So the table is the same every time. */
    if (compares) return compare(rules, paths);
    if (sets != NULL) return fingerprint_and_keep(rules, sets, paths);
    return pipeline_run(rules, paths) == PIPELINE_WELL ? ENDS_WELL : ENDS_BADLY;
}

int command_fingerprint(int argc, char **argv) {
    struct text_options text_options, *texts = &text_options;
    struct strings paths;
    int status, format = FORMAT_AUTO;
    bool compares = false;
    const char *sets = NULL;
    int64_t threshold = 0; /* That of --resemble; 0: not given. */
    const struct option_rule rules[] = {
#include "options/fingerprint.h"
    };
    const struct grammar grammar = GRAMMAR(fingerprint, rules, "FILE", 0, SIZE_MAX);
    text_options_init(texts);
    if (arguments_read(&grammar, argc, argv, &paths, &status)) {
        unsigned values;
        bool chosen = threshold == 0 || text_options_choose_sketch(texts, threshold, &values);
        status = chosen ? fingerprint_texts(texts, (enum document_format)format, compares, sets, &paths) : ENDS_BADLY;
    }
    globs_free(&texts->rules.globs);
    strings_free(&texts->rules.extract.json.texts);
    return status;
}
