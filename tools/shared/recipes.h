/* recipes.h: decides whether fingerprints of two recipes can be compared. */
#ifndef IDX_TOOLS_RECIPES_H
#define IDX_TOOLS_RECIPES_H

#include <stdbool.h>
#include <stddef.h>

/* This warns of fingerprints that agree in all but the version of ICU. */
extern const char recipes_icu_warning[];

/* This refuses fingerprints of another recipe than the index's. */
extern const char recipes_differ[];

/* Returns whether `recipe` matches the `length` bytes at `other`, which need no terminating NUL. If they differ in the
 * version of ICU alone, it warns of that once, and sets *warned. */
bool recipes_match(const char *recipe, const char *other, size_t length, bool *warned);

#endif
