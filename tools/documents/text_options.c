/* text_options.c: lists the options by which texts become fingerprints, and completes what they set. */
#include "tools/documents/text_options.h"

#include <idx_simhash.h>
#include <stdio.h>
#include <string.h>

const char *const text_format_names[] = {"auto", "plain", "jsonl", "tsv", "warc", "html", "man", NULL};

void text_options_init(struct text_options *options) {
    *options = (struct text_options){.rules = {.bits = IDX_MAX_BITS,
                                               .threads = arguments_get_default_threads(),
                                               .memory_bytes = READING_MEMORY_BYTES,
                                               .shingling = IDX_TEXT_SHINGLE_OPTIONS_INIT,
                                               .extract = {.json.text = "text"}}};
}

bool text_options_set_sketch_recipe(struct text_options *options, int64_t threshold, unsigned *value_count) {
    const struct idx_text_shingle_options *shingling = &options->rules.shingling;
    *value_count = idx_sketch_values(threshold);
    if (*value_count > IDX_MAX_SKETCH)
        return complain_of_usage("--resemble %.4g needs sketches of more than %d values; give 0.17 or more",
                                 (double)threshold / (double)IDX_THRESHOLD_ONE, IDX_MAX_SKETCH);
    snprintf(options->recipe, sizeof options->recipe, "minhash:%u;%s=%u", *value_count,
             shingling->unit == IDX_TEXT_CHARACTERS ? "chars" : "words", shingling->width);
    options->rules.recipe = options->recipe;
    return true;
}

/* Appends the part `;name=value` for the option --name to a recipe, unless `value` is NULL. Returns false, after a
 * complaint, if the recipe has a part `;name=` already or would be too long. */
static bool append_part(char recipe[IDX_MAX_RECIPE_BYTES + 1], const char *name, const char *value) {
    char mark[16];
    size_t length = strlen(recipe), free_bytes = IDX_MAX_RECIPE_BYTES + 1 - length;
    if (value == NULL) return true;
    snprintf(mark, sizeof mark, ";%s=", name);
    if (strstr(recipe, mark) != NULL) return complain_of_usage("give --%s or %s in the recipe, not both", name, mark);
    if ((size_t)snprintf(recipe + length, free_bytes, "%s%s", mark, value) >= free_bytes)
        return complain_of_usage("a recipe can have up to %d bytes, with --%s", IDX_MAX_RECIPE_BYTES, name);
    return true;
}

/* Returns whether the part of a recipe that begins at `part`, and ends before `;` or the recipe's end, is this text. */
static bool part_equals(const char *part, const char *text) {
    size_t length = strcspn(part, ";");
    return length == strlen(text) && memcmp(part, text, length) == 0;
}

/* Checks the parts hash= and ties= of a recipe of features: they need values that the command knows. If `are_hashes`,
 * features are hashes already, and the value of hash= does not matter. Everything else in such a recipe is a name.
 * Recipes of texts are checked by libidxtext. Returns false after a complaint. */
static bool check_feature_recipe(const char *recipe, bool are_hashes) {
    for (const char *part = strchr(recipe, ';'); part != NULL; part = strchr(part, ';')) {
        part++;
        bool ok = are_hashes || strncmp(part, "hash=", 5) != 0;
        for (int kind = 0; !ok && idx_hash_name((enum idx_hash_kind)kind) != NULL; kind++)
            ok = part_equals(part + 5, idx_hash_name((enum idx_hash_kind)kind));
        if (!ok) return complain("recipe '%s': the hashes are hash=xxh3, hash=fnv1, hash=fnv1a and hash=md5", recipe);
        if (strncmp(part, "ties=", 5) == 0 && !part_equals(part, "ties=0") && !part_equals(part, "ties=1"))
            return complain("recipe '%s': ties are ties=0 or ties=1", recipe);
    }
    return true;
}

/* Appends the parts of --hash and --ties to the recipe: to that of --recipe, or else to the default for texts, to
 * "hashes" or to "features". Then sets extract.hash and extract.ties by the whole recipe, since --recipe may have these
 * parts as well. For features without any of the three options, the recipe stays NULL. Returns false after a
 * complaint. */
static bool apply_recipe_options(struct text_options *options) {
    struct reading_rules *rules = &options->rules;
    const char *hash = options->hash == IDX_HASH_XXH3 ? NULL : idx_hash_name((enum idx_hash_kind)options->hash);
    const char *ties = options->ties == 0 ? NULL : "1", *recipe = rules->recipe;
    if (recipe == NULL && !options->features) recipe = text_default_recipe;
    if (recipe == NULL && (hash != NULL || ties != NULL)) recipe = rules->extract.hashes ? "hashes" : "features";
    if (recipe == NULL) return true;
    if (recipe != options->recipe) snprintf(options->recipe, sizeof options->recipe, "%s", recipe);
    if (!append_part(options->recipe, "hash", hash) || !append_part(options->recipe, "ties", ties)) return false;
    if (options->features && !check_feature_recipe(options->recipe, rules->extract.hashes)) return false;
    rules->recipe = options->recipe;
    const struct idx_recipe_properties properties = recipe_read(options->recipe);
    rules->extract.hash = properties.hash;
    rules->extract.ties = properties.ties == 1;
    return true;
}

void text_options_free(struct text_options *options) {
    globs_free(&options->rules.globs);
    strings_free(&options->rules.extract.json.texts);
}

bool text_options_complete(struct text_options *options, enum document_format format) {
    struct reading_rules *rules = &options->rules;
    options->features = options->features || rules->extract.hashes || rules->extract.tokens;
    extract_complete_rules(&rules->extract);
    if (rules->recipe != NULL &&
        (strlen(rules->recipe) > IDX_MAX_RECIPE_BYTES || strpbrk(rules->recipe, "\t\n") != NULL))
        return complain_of_usage("a recipe can have up to %d bytes, without tabs and newlines", IDX_MAX_RECIPE_BYTES);
    rules->format = options->features ? FORMAT_FEATURES : format;
    return apply_recipe_options(options);
}
