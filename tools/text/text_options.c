/* text_options.c: see text_options.h. */
#include "tools/text/text_options.h"

#include "tools/shared/message.h"
#include "tools/text/text.h"

#include <idx.h>

#include <string.h>

void text_options_init(struct text_options *options) {
    *options = (struct text_options){.rules = {.bits = IDX_MAX_BITS,
                                               .threads = arguments_threads(),
                                               .memory_bytes = PIPELINE_MEMORY_BYTES,
                                               .extract = {.json.text = "text", .max_text = DOCUMENT_BYTES}}};
}

void text_options_list(struct text_options *options, struct option_rule list[TEXT_OPTIONS]) {
    struct pipeline_rules *rules = &options->rules;
    struct jsonl_rules *json = &rules->extract.json;
    const struct option_rule filled[TEXT_OPTIONS] = {
        {.name = "text-field", .kind = OPTION_TEXT, .value = &json->text},
        {.name = "id-field", .kind = OPTION_TEXT, .value = &json->id},
        {.name = "title-field", .kind = OPTION_TEXT, .value = &json->title},
        {.name = "main-text", .kind = OPTION_FLAG, .value = &rules->extract.main_text},
        {.name = "max-text",
         .kind = OPTION_COUNT,
         .value = &rules->extract.max_text,
         .least = 1,
         .most = MOST_DOCUMENT_BYTES},
        {.name = "features", .kind = OPTION_FLAG, .value = &options->features},
        {.name = "hashes", .kind = OPTION_FLAG, .value = &rules->extract.hashes},
        {.name = "recipe", .kind = OPTION_TEXT, .value = &rules->recipe},
        {.name = "table", .kind = OPTION_TEXT, .value = &rules->table},
        {.name = "bits", .kind = OPTION_NUMBER, .value = &rules->bits, .least = 1, .most = IDX_MAX_BITS},
        {.name = "min-features", .kind = OPTION_COUNT, .value = &rules->min_features},
        {.name = "strict", .kind = OPTION_FLAG, .value = &rules->strict},
        {.name = "threads", .kind = OPTION_NUMBER, .value = &rules->threads, .least = 1, .most = IDX_MAX_THREADS},
        {.name = "progress", .kind = OPTION_FLAG, .value = &rules->progress},
    };
    memcpy(list, filled, sizeof filled);
}

/* A line of output begins with it. */
static bool is_recipe(const char *recipe) {
    return strlen(recipe) <= IDX_MAX_RECIPE_BYTES && strpbrk(recipe, "\t\n") == NULL;
}

bool text_options_settle(struct text_options *options, enum document_format format) {
    struct pipeline_rules *rules = &options->rules;
    options->features = options->features || rules->extract.hashes;
    if (options->features && format != FORMAT_AUTO)
        complain_of_usage("give %s or --format, not both", rules->extract.hashes ? "--hashes" : "--features");
    else if (options->features && rules->train == NULL && rules->table != NULL)
        complain_of_usage("--table is for texts; omit it with --features and --hashes");
    else if (rules->recipe != NULL && !is_recipe(rules->recipe))
        complain_of_usage("a recipe can have up to %d bytes, without tabs and newlines", IDX_MAX_RECIPE_BYTES);
    else {
        rules->format = options->features ? FORMAT_FEATURES : format;
        if (rules->recipe == NULL && !options->features) rules->recipe = text_default_recipe;
        return true;
    }
    return false;
}
