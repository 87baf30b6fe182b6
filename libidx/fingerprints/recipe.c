/* recipe.c: what recipes say, as far as an index and its users need it, and which ones have fingerprints that can be
 * compared. Recipes of other programs are names that say nothing. idx_text.h has the grammar. */
#include "libidx/fingerprints/recipe.h"

#include <idx_simhash.h>
#include <stdlib.h>
#include <string.h>

/* ---- What a recipe says ---- */

static const char *const methods[] = {
    [IDX_RECIPE_WORDS] = "words",
    [IDX_RECIPE_CHARS] = "chars",
    [IDX_RECIPE_SEGMENTS] = "segments",
    [IDX_RECIPE_SENTENCES] = "sentences",
    [IDX_RECIPE_DESCRIPTION] = "description",
    [IDX_RECIPE_TERMS] = "terms",
    [IDX_RECIPE_IDF] = "idf",
    [IDX_RECIPE_MINHASH] = "minhash",
};

enum {
    MOST_DIGITS = 7,   /* of a number in a recipe */
    DEFAULT_WIDTH = 5, /* words of a shingle of minhash:M */
};

/* Sets *number to the decimal number behind `name`, with which a string must begin; one of the characters of `ends`, or
 * the end of the string, must follow. Returns false, and leaves *number, if the string has another form. */
static bool read_number(const char *string, const char *name, const char *ends, unsigned *number) {
    size_t length = strlen(name), digits;
    if (strncmp(string, name, length) != 0) return false;
    digits = strspn(string + length, "0123456789");
    if (digits < 1 || digits > MOST_DIGITS || strcspn(string + length + digits, ends) != 0) return false;
    *number = (unsigned)strtoul(string + length, NULL, 10);
    return true;
}

/* Returns whether a string up to the first of the characters of `ends`, or to its end, is this name. */
static bool has_name(const char *string, const char *ends, const char *name) {
    const size_t length = strcspn(string, ends);
    return strlen(name) == length && memcmp(string, name, length) == 0;
}

/* Sets the method of the properties by the first part of a recipe, and the number if the method needs one. The method
 * stays IDX_RECIPE_OTHER if the name is unknown, or what follows it has another form. */
static void read_method(const char *recipe, struct idx_recipe_properties *properties) {
    const size_t length = strcspn(recipe, ":;");
    int method = IDX_RECIPE_MINHASH;
    while (method > 0 && !has_name(recipe, ":;", methods[method])) method--;
    bool numbered = read_number(recipe + length, ":", method == IDX_RECIPE_WORDS ? ",;" : ";", &properties->number);
    if (method == IDX_RECIPE_DESCRIPTION ? recipe[length] != ':' : numbered)
        properties->method = (enum idx_recipe_method)method;
}

/* Sets the properties that a later part of a recipe is about, up to a semicolon or the end. Ignores parts that are
 * about none. */
static void read_part(const char *part, struct idx_recipe_properties *properties) {
    if (read_number(part, "v", ";", &properties->version) || read_number(part, "icu=", ";", &properties->icu) ||
        read_number(part, "man=", ";", &properties->manuals) || read_number(part, "ties=", ";", &properties->ties))
        return;
    for (int kind = 0; strncmp(part, "hash=", 5) == 0 && idx_hash_name(kind) != NULL; kind++) {
        if (has_name(part + 5, ";", idx_hash_name(kind))) properties->hash = (enum idx_hash_kind)kind;
    }
    if (read_number(part, "words=", ";", &properties->shingle_width))
        properties->by_characters = false;
    else if (read_number(part, "chars=", ";", &properties->shingle_width))
        properties->by_characters = true;
    else if (strncmp(part, "w=tfidf", 7) == 0 || strncmp(part, "w=idf", 5) == 0)
        properties->by_table = true;
}

void idx_recipe_read(const char *recipe, struct idx_recipe_properties *properties) {
    *properties = (struct idx_recipe_properties){.fingerprints = 1, .max_k = IDX_MAX_K};
    read_method(recipe, properties);
    if (properties->method == IDX_RECIPE_MINHASH) properties->shingle_width = DEFAULT_WIDTH;
    if (properties->method == IDX_RECIPE_SEGMENTS || properties->method == IDX_RECIPE_MINHASH)
        properties->fingerprints = properties->number;
    if (properties->method >= IDX_RECIPE_SENTENCES) properties->max_k = 0; /* all from there on make hashes */
    properties->by_table = properties->method == IDX_RECIPE_IDF;
    for (const char *end = strchr(recipe, ';'); end != NULL; end = strchr(end + 1, ';')) read_part(end + 1, properties);
}

/* ---- Which recipes have fingerprints that can be compared ---- */

/* What the last part of a recipe begins with, if it says which version of ICU made the fingerprints. */
static const char mark[] = ";icu=";
enum { MARK_LENGTH = sizeof mark - 1 };

size_t idxi_count_recipe_identity_bytes(const char *recipe) {
    size_t length = strlen(recipe), tail = length;
    while (tail > 0 && recipe[tail - 1] >= '0' && recipe[tail - 1] <= '9') tail--;
    bool names_icu =
        tail < length && tail >= MARK_LENGTH && memcmp(recipe + tail - MARK_LENGTH, mark, MARK_LENGTH) == 0;
    return names_icu ? tail - MARK_LENGTH : length;
}

bool idx_recipe_matches(const char *a, const char *b, bool *same_icu) {
    size_t length = idxi_count_recipe_identity_bytes(a);
    if (idxi_count_recipe_identity_bytes(b) != length || memcmp(a, b, length) != 0) return false;
    if (same_icu != NULL) *same_icu = a[length] == '\0' || b[length] == '\0' || strcmp(a + length, b + length) == 0;
    return true;
}
