/* writer_recipe.c: gives a recipe to an index that has none, before its first document. */
#include <string.h>

#include "libidx/base/base.h"
#include "libidx/building/builder.h"
#include "libidx/change/writer.h"

/* Sets the manifest's recipe to the string `context`, of at most IDX_MAX_RECIPE_BYTES bytes, unless it has a recipe by
 * now. This is an idxi_manifest_change. */
static void set_recipe_if_missing(void *context, struct idxf_manifest *manifest) {
    if (manifest->recipe[0] == '\0') strcpy(manifest->recipe, context);
}

enum idx_status idx_writer_set_recipe(struct idx_writer *writer, const char *recipe, struct idx_error *error) {
    char recipe_copy[IDX_MAX_RECIPE_BYTES + 1];
    struct idx_properties properties;
    bool switched;                   /* not needed: nothing has to be undone after an error */
    if (recipe == NULL) recipe = ""; /* not known */
    IDXI_TRY(idxi_writer_begin_batch(writer, 0, error));
    const struct idx_index *index = writer->index;
    idx_get_properties(index, &properties);
    IDXI_TRY(idxi_recipe_check(recipe, properties.k, error));
    if (strcmp(properties.recipe, recipe) == 0) return IDX_OK;
    if (properties.recipe[0] != '\0')
        return idxi_fail(error, IDX_INVALID_ARGUMENT, index->path,
                         "has the recipe '%s' already: build a new index for fingerprints of '%s'", properties.recipe,
                         recipe);
    if (!properties.is_empty)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, index->path,
                         "has had documents, whose recipe is not known: build a new index with the recipe");
    strcpy(recipe_copy, recipe); /* idxi_recipe_check has checked the length. The context must not be const. */
    IDXI_TRY(idxi_manifest_switch(index->folder, index->path, set_recipe_if_missing, recipe_copy, &switched, error));
    return idxi_writer_refresh(writer, error);
}
