/* recipe.c: decides whether fingerprints of two recipes can be compared. libidx knows nothing else about recipes. */
#include "libidx/fingerprints/recipe.h"

#include <idx.h>

#include <string.h>

static const char mark[] = ";icu=";
enum { MARK_LENGTH = sizeof mark - 1 };

size_t idxi_recipe_identity(const char *recipe) {
    size_t length = strlen(recipe), end = length;
    while (end > 0 && recipe[end - 1] >= '0' && recipe[end - 1] <= '9') end--;
    bool named = end < length && end >= MARK_LENGTH && memcmp(recipe + end - MARK_LENGTH, mark, MARK_LENGTH) == 0;
    return named ? end - MARK_LENGTH : length;
}

bool idx_recipe_matches(const char *a, const char *b, bool *same_icu) {
    size_t length = idxi_recipe_identity(a);
    if (idxi_recipe_identity(b) != length || memcmp(a, b, length) != 0) return false;
    if (same_icu != NULL) *same_icu = a[length] == '\0' || b[length] == '\0' || strcmp(a + length, b + length) == 0;
    return true;
}
