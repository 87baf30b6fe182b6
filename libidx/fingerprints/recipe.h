/* recipe.h: recipes as an index compares them. */
#ifndef IDX_LIBIDX_RECIPE_H
#define IDX_LIBIDX_RECIPE_H

#include <idx.h>
#include <stddef.h>

/* Returns how many bytes of a recipe are its identity: all but a last part `;icu=` with a decimal number. */
size_t idxi_recipe_identity(const char *recipe);

#endif
