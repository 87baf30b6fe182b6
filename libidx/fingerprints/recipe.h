/* recipe.h: recipes as an index compares them. */
#ifndef IDX_LIBIDX_RECIPE_H
#define IDX_LIBIDX_RECIPE_H

#include <idx.h>
#include <stddef.h>

/* Returns how many of a recipe's first bytes are its identity, which recipes with comparable fingerprints share: all
 * but a last part `;icu=` with a decimal number. */
size_t idxi_count_recipe_identity_bytes(const char *recipe);

#endif
