/* shingling.h: what the shingles of texts are, as an option or the recipe of an index says it. */
#ifndef IDX_TOOLS_RESEMBLANCE_SHINGLING_H
#define IDX_TOOLS_RESEMBLANCE_SHINGLING_H

#include <idx_text.h>

/* Parses the argument of --shingle: N, a number of words, or chars:N. Sets width and unit. Returns false after a
 * complaint; then the unit may have changed. */
bool shingling_parse_option(const char *argument, struct idx_text_shingle_options *shingling);

/* Sets *shingling to what the recipe of an index with sets says. Returns false, with the default shingles set, if the
 * recipe does not say what they are. */
bool shingling_read_recipe(const char *recipe, struct idx_text_shingle_options *shingling);

#endif
