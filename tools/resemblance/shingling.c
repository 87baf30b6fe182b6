/* shingling.c: reads what shingles are from options and recipes. */
#include "tools/resemblance/shingling.h"

#include "tools/shared/command.h"

#include <string.h>

bool shingling_parse_option(const char *argument, struct idx_text_shingle_options *shingling) {
    static const char characters_prefix[] = "chars:";
    const size_t prefix_length = sizeof characters_prefix - 1;
    const char *number = argument;
    uint64_t width;
    shingling->unit = strncmp(argument, characters_prefix, prefix_length) == 0 ? IDX_TEXT_CHARACTERS : IDX_TEXT_WORDS;
    if (shingling->unit == IDX_TEXT_CHARACTERS) number += prefix_length;
    if (!number_parse_digits(number, strlen(number), &width) || width == 0 || width > IDX_TEXT_MAX_SHINGLE_WIDTH)
        return complain_of_usage("--shingle needs a number of words, 1 to %d, or chars:N, not '%s'",
                                 IDX_TEXT_MAX_SHINGLE_WIDTH, argument);
    shingling->width = (unsigned)width;
    return true;
}

bool shingling_read_recipe(const char *recipe, struct idx_text_shingle_options *shingling) {
    const struct idx_recipe_properties properties = recipe_read(recipe);
    *shingling = (struct idx_text_shingle_options)IDX_TEXT_SHINGLE_OPTIONS_INIT;
    if (properties.method != IDX_RECIPE_MINHASH) return false;
    shingling->width = properties.shingle_width;
    shingling->unit = properties.by_characters ? IDX_TEXT_CHARACTERS : IDX_TEXT_WORDS;
    return true;
}
