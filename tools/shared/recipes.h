/* recipes.h: whether fingerprints of two recipes can be compared, and what is said where they can only almost. */
#ifndef IDX_TOOLS_RECIPES_H
#define IDX_TOOLS_RECIPES_H

#include <stdbool.h>
#include <stddef.h>

/* What is said of fingerprints that agree in all but the version of ICU. */
extern const char recipes_icu_warning[];

/* What is said of fingerprints of another recipe than the index's. */
extern const char recipes_differ[];

/* Whether `recipe` matches the one of `length` bytes at `other`, which ends anywhere. Where they differ in the version
 * of ICU alone, says so, once: then *warned is set. */
bool recipes_match(const char *recipe, const char *other, size_t length, bool *warned);

#endif
