/* text.c: the public functions that make fingerprints. */
#include "libidx/text/base.h"
#include "libidx/text/document.h"
#include "libidx/text/table.h"

#include <unicode/uversion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* If the recipe weighs by a table, checks that `table`, which may be NULL, suits it, sets features->table, and makes
 * the recipe name `table_hash`, the hash of the table. `string` is the recipe as it was written, for messages. Errors:
 * IDX_BAD_RECIPE. */
static enum idx_status attach_table(struct idxt_features *features, const char *string,
                                    const struct idx_text_table *table, uint64_t table_hash, struct idx_error *error) {
    struct idxt_recipe *recipe = &features->recipe;
    if (!idxt_recipe_needs_table(recipe)) return IDX_OK;
    struct idxt_recipe features_recipe = idxt_recipe_of_features(recipe);
    char features_name[IDX_MAX_RECIPE_BYTES + 1]; /* what a counted table must be made for */
    idxt_recipe_format(&features_recipe, features_name);
    if (table == NULL && recipe->has_table)
        return idxt_fail(error, IDX_BAD_RECIPE,
                         "recipe '%s' names a table of document frequencies, but none is given: give that table",
                         string);
    if (table == NULL)
        return idxt_fail(error, IDX_BAD_RECIPE,
                         "recipe '%s' needs a table of document frequencies, but none is given: make one with "
                         "recipe '%s', and give it",
                         string, features_name);
    if (table->kind != IDXT_COUNTED && !idxt_recipe_has_single_words(recipe))
        return idxt_fail(
            error, IDX_BAD_RECIPE,
            "recipe '%s': a list of words can weigh single words only: give words:1, segments:N, terms:N or "
            "idf:P",
            string);
    if (table->has_unspaced && recipe->version == 2 && !recipe->by_spaces)
        return idxt_fail(error, IDX_BAD_RECIPE,
                         "recipe '%s': the list has words of scripts that are written without spaces, of which version "
                         "2 takes pairs of characters: add v1 or cut=spaces",
                         string);
    if (table->kind == IDXT_COUNTED && strcmp(features_name, table->features) != 0)
        return idxt_fail(
            error, IDX_BAD_RECIPE,
            "recipe '%s': the table of document frequencies was made with recipe '%s', but must be made with '%s'",
            string, table->features, features_name);
    if (recipe->has_table && recipe->table_hash != table_hash)
        return idxt_fail(error, IDX_BAD_RECIPE,
                         "recipe '%s': the table of document frequencies is not the one it names", string);
    recipe->has_table = true;
    recipe->table_hash = table_hash;
    features->table = table;
    return IDX_OK;
}

/* Parses the recipe, attaches the table, which may be NULL, sets text->recipe, and opens what the recipe needs of ICU.
 * The caller closes the text even after an error. Errors: those of idx_text_open. */
static enum idx_status open_recipe(struct idx_text *text, const char *recipe, const struct idx_text_table *table,
                                   struct idx_error *error) {
    uint64_t table_hash = 0;
    if (table != NULL && !idxt_table_get_hash(table, &table_hash)) return idxt_fail_memory(error);
    const char *fault = idxt_recipe_parse(&text->features.recipe, recipe);
    if (fault != NULL)
        return idxt_fail(error, IDX_BAD_RECIPE, "recipe '%.*s': %s; a valid recipe is '%s'", IDX_MAX_RECIPE_BYTES,
                         recipe, fault, IDX_TEXT_DEFAULT_RECIPE);
    enum idx_status status = attach_table(&text->features, recipe, table, table_hash, error);
    if (status != IDX_OK) return status;
    idxt_recipe_format(&text->features.recipe, text->recipe);
    if (idxt_recipe_asks_dictionaries(&text->features.recipe)) {
        size_t length = strlen(text->recipe);
        UVersionInfo version;
        u_getVersion(version);
        snprintf(text->recipe + length, sizeof text->recipe - length, ";icu=%d", version[0]);
    }
    UErrorCode code = idxt_features_open(&text->features);
    return U_FAILURE(code) ? idxt_fail_icu(error, code) : IDX_OK;
}

enum idx_status idx_text_open(struct idx_text **text, const struct idx_text_options *options, struct idx_error *error) {
    static const struct idx_text_options defaults = IDX_TEXT_OPTIONS_INIT;
    if (text == NULL) return idxt_fail(error, IDX_INVALID_ARGUMENT, "idx_text_open needs a pointer for its result");
    if (options == NULL) options = &defaults;
    if (options->size != sizeof *options)
        return idxt_fail(error, IDX_INVALID_ARGUMENT, "the size in the options of idx_text_open is not %zu",
                         sizeof *options);
    struct idx_text *opened = calloc(1, sizeof *opened);
    if (opened == NULL) return idxt_fail_memory(error);
    const char *recipe = options->recipe == NULL ? IDX_TEXT_DEFAULT_RECIPE : options->recipe;
    enum idx_status status = open_recipe(opened, recipe, options->table, error);
    if (status == IDX_OK)
        *text = opened;
    else
        idx_text_close(opened);
    return status;
}

const char *idx_text_recipe(const struct idx_text *text) { return text->recipe; }

enum idx_status idx_text_fingerprints(struct idx_text *text, const struct idx_text_field *fields, size_t field_count,
                                      unsigned bits, uint64_t *fingerprints, size_t capacity, size_t *count,
                                      struct idx_text_counts *counts, struct idx_error *error) {
    if (text == NULL || fingerprints == NULL || count == NULL || (fields == NULL && field_count > 0))
        return idxt_fail(error, IDX_INVALID_ARGUMENT, "fingerprints need a text and an array to put them into");
    if (bits < 1 || bits > IDX_MAX_BITS)
        return idxt_fail(error, IDX_INVALID_ARGUMENT, "a fingerprint has 1 to %d bits, not %u", IDX_MAX_BITS, bits);
    if (bits < IDX_MAX_BITS && text->features.recipe.method == IDXT_MINHASH)
        return idxt_fail(error, IDX_INVALID_ARGUMENT, "recipe '%s' makes fingerprints of %d bits, not %u", text->recipe,
                         IDX_MAX_BITS, bits);
    size_t max_fingerprints = idxt_recipe_max_fingerprints(&text->features.recipe);
    if (capacity < max_fingerprints)
        return idxt_fail(error, IDX_INVALID_ARGUMENT, "the array needs room for %zu fingerprints, but has room for %zu",
                         max_fingerprints, capacity);
    enum idx_status status = idxt_check_fields(fields, field_count, error);
    if (status != IDX_OK) return status;
    uint64_t own_fingerprints[IDX_TEXT_MAX_FINGERPRINTS];
    struct idxt_result result = {.bits = bits, .fingerprints = own_fingerprints};
    status = idxt_fingerprint_document(text, fields, field_count, &result, error);
    if (status != IDX_OK) return status;
    memcpy(fingerprints, own_fingerprints, result.fingerprint_count * sizeof *own_fingerprints);
    *count = result.fingerprint_count;
    if (counts != NULL) *counts = result.counts;
    return IDX_OK;
}

enum idx_status idx_text_fingerprint(struct idx_text *text, const void *utf8, size_t length, unsigned bits,
                                     uint64_t *fingerprint, uint64_t *features, struct idx_error *error) {
    struct idx_text_field body = {"body", utf8, length};
    struct idx_text_counts counts;
    size_t count;
    enum idx_status status = idx_text_fingerprints(text, &body, 1, bits, fingerprint, 1, &count, &counts, error);
    if (status == IDX_OK && features != NULL) *features = counts.features;
    /* A recipe of one segment makes no fingerprint of a text without words. */
    if (status == IDX_OK && count == 0) *fingerprint = 0;
    return status;
}

const char *idx_text_signature(const struct idx_text *text, size_t *length) {
    enum idxt_method method = text->features.recipe.method;
    *length = text->signature.length;
    if (method == IDXT_WORDS || method == IDXT_CHARS || method == IDXT_SEGMENTS || method == IDXT_MINHASH) return NULL;
    return text->signature.length == 0 ? "" : text->signature.bytes;
}

double idx_text_weight_distance(int64_t a, int64_t b) {
    double weight_a = (double)a, weight_b = (double)b, difference = weight_a - weight_b;
    if (a == 0 && b == 0) return 0;
    return difference * difference / (weight_a * weight_a + weight_b * weight_b);
}

void idx_text_close(struct idx_text *text) {
    if (text == NULL) return;
    idxt_features_close(&text->features);
    idxt_signature_free(&text->signature);
    free(text->shingles.hashes);
    free(text);
}

const char *idx_text_icu_version(void) { return U_ICU_VERSION; }
