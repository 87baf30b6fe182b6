/* recipe.h: recipes as an index compares them. */
#ifndef IDX_RECIPE_H
#define IDX_RECIPE_H

#include <stddef.h>

/* The bytes of a recipe that are its identity: all but a last part `;icu=` and a decimal number. */
size_t idxi_recipe_identity(const char *recipe);

#endif
