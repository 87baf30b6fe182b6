/* recipe.h: recipes as an index compares them. */
#ifndef IDX_LIBIDX_RECIPE_H
#define IDX_LIBIDX_RECIPE_H

#include <idx.h>
#include <stddef.h>

/* Returns how many of the first bytes of a recipe are its identity: all but a last part `;icu=` with a decimal number.
 * Recipes with the same identity make comparable fingerprints. */
size_t idxi_count_recipe_identity_bytes(const char *recipe);

#endif
