/* names.c: has the names of idx.h's enums, and decides whether fingerprints of two recipes can be compared. */
#include "tools/shared/command.h"

#include <stdio.h>
#include <string.h>

/* ---- Names ---- */

const char *const id_type_names[] = {[IDX_ID_TEXT] = "text", [IDX_ID_U64] = "u64", [IDX_ID_NONE] = "none", NULL};

const char *const cluster_method_names[] = {[IDX_CLUSTER_COMPONENTS] = "components", [IDX_CLUSTER_STAR] = "star", NULL};

const char *const representative_names[] = {[IDX_REPRESENTATIVE_FIRST] = "first",
                                            [IDX_REPRESENTATIVE_MOST_DOCUMENTS] = "most-documents",
                                            [IDX_REPRESENTATIVE_SMALLEST_ID] = "smallest-id",
                                            NULL};

const char *choose_noun(const struct idx_properties *properties, uint64_t count) {
    if (properties->sketch > 0) return count == 1 ? "text" : "texts";
    if (properties->id_type == IDX_ID_NONE) return count == 1 ? "fingerprint" : "fingerprints";
    return count == 1 ? "document" : "documents";
}

/* ---- Recipes ---- */

struct idx_recipe_properties recipe_read(const char *recipe) {
    struct idx_recipe_properties properties;
    idx_recipe_read(recipe, &properties);
    return properties;
}

const char recipes_icu_warning[] =
    "these fingerprints were made with several versions of ICU (see icu= in their recipes): where these divide words "
    "of Chinese, Japanese, Thai and the like differently, equal texts differ in some bits";

void recipes_explain_difference(struct problem *problem, enum recipe_owner owner, const char *recipe,
                                const char *other_recipe, size_t other_length) {
    static const struct {
        const char *name, *advice;
    } owners[] = {
        [RECIPE_OF_INDEX] = {"those of the index", "make them by the recipe of the index, or make the index anew"},
        [RECIPE_OF_QUERIES] = {"the queries", "make both by one recipe"},
        [RECIPE_OF_THOSE_BEFORE] = {"those before", "make all by one, or give --recipe for all of them"},
    };
    char copy[IDX_MAX_RECIPE_BYTES + 1];
    snprintf(copy, sizeof copy, "%.*s", (int)(other_length < sizeof copy ? other_length : sizeof copy), other_recipe);
    bool reads_manuals_anew = recipe_read(recipe).manuals == 1 && recipe_read(copy).manuals == 2;
    problem_set(problem, "these fingerprints have the recipe '%s', and %s '%s', so they can't be compared; %s", copy,
                owners[owner].name, recipe,
                reads_manuals_anew
                    ? "manual pages are read without headers and footers now (man=2), so make the index anew"
                    : owners[owner].advice);
}

bool recipes_match(const char *recipe, const char *other_recipe, size_t other_length, bool *warned) {
    char copy[IDX_MAX_RECIPE_BYTES + 1];
    bool same_icu;
    if (other_length > IDX_MAX_RECIPE_BYTES || memchr(other_recipe, '\0', other_length) != NULL) return false;
    memcpy(copy, other_recipe, other_length);
    copy[other_length] = '\0';
    if (!idx_recipe_matches(recipe, copy, &same_icu)) return false;
    if (!same_icu && !*warned) complain("%s", recipes_icu_warning);
    *warned = *warned || !same_icu;
    return true;
}
