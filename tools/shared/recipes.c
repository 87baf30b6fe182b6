/* recipes.c: decides whether fingerprints of two recipes can be compared. */
#include "tools/shared/recipes.h"

#include "tools/shared/message.h"

#include <idx.h>

#include <string.h>

const char recipes_icu_warning[] =
    "these fingerprints were made with several versions of ICU (see icu= in their recipes): where these divide words "
    "of Chinese, Japanese, Thai and the like differently, equal texts differ in some bits";

const char recipes_differ[] =
    "the recipe of these fingerprints is not that of the index (see idx info), so they can't be compared";

bool recipes_match(const char *recipe, const char *other, size_t length, bool *warned) {
    char copy[IDX_MAX_RECIPE_BYTES + 1];
    bool same_icu;
    if (length > IDX_MAX_RECIPE_BYTES || memchr(other, '\0', length) != NULL) return false;
    memcpy(copy, other, length);
    copy[length] = '\0';
    if (!idx_recipe_matches(recipe, copy, &same_icu)) return false;
    if (!same_icu && !*warned) complain("%s", recipes_icu_warning);
    *warned = *warned || !same_icu;
    return true;
}
