/* shingling.h: what the shingles of texts are, as an option or the recipe of an index says it. */
#ifndef IDX_TOOLS_RESEMBLANCE_SHINGLING_H
#define IDX_TOOLS_RESEMBLANCE_SHINGLING_H

#include <idx_text.h>

/* Reads the argument of --shingle, N words or chars:N, and sets width and unit. Returns false after a complaint. */
bool shingling_read(const char *argument, struct idx_text_shingle_options *shingling);

/* Sets the shingles of the sets of an index by its recipe. Returns false, with the default ones set, if the recipe does
 * not say what they are. */
bool shingling_read_recipe(const char *recipe, struct idx_text_shingle_options *shingling);

#endif
