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
    MAX_DIGITS = 7,    /* of a number in a recipe */
    DEFAULT_WIDTH = 5, /* words of a shingle of minhash:M */
};

/* Sets *number to the decimal number that follows `name` at the beginning of a string, up to MAX_DIGITS digits. Returns
 * false, and leaves *number, if the string does not begin like this, or if the number is followed by a character that
 * is not one of `terminators`. Example: "v12;x" with the name "v" and the terminators ";" gives 12. */
static bool read_number(const char *string, const char *name, const char *terminators, unsigned *number) {
    size_t length = strlen(name), digits;
    if (strncmp(string, name, length) != 0) return false;
    digits = strspn(string + length, "0123456789");
    if (digits < 1 || digits > MAX_DIGITS || strcspn(string + length + digits, terminators) != 0) return false;
    *number = (unsigned)strtoul(string + length, NULL, 10);
    return true;
}

/* Returns whether a string is `name`, up to its end or to the first character of `terminators`. */
static bool has_name(const char *string, const char *terminators, const char *name) {
    const size_t length = strcspn(string, terminators);
    return strlen(name) == length && memcmp(string, name, length) == 0;
}

/* Sets properties->method by the first part of a recipe, and properties->number if the name is followed by a colon and
 * a number. The method stays IDX_RECIPE_OTHER if the name is unknown, or what follows it has another form. */
static void read_method(const char *recipe, struct idx_recipe_properties *properties) {
    const size_t length = strcspn(recipe, ":;");
    int method = IDX_RECIPE_MINHASH;
    /* IDX_RECIPE_MINHASH is the last method. An unknown name leaves IDX_RECIPE_OTHER, which is 0. */
    while (method > 0 && !has_name(recipe, ":;", methods[method])) method--;
    bool numbered = read_number(recipe + length, ":", method == IDX_RECIPE_WORDS ? ",;" : ";", &properties->number);
    /* All methods need a number, but for descriptions, which have nothing that a colon separates. */
    if (method == IDX_RECIPE_DESCRIPTION ? recipe[length] != ':' : numbered)
        properties->method = (enum idx_recipe_method)method;
}

/* Sets the property that a later part of a recipe is about. The part ends with a semicolon or the recipe. Ignores a
 * part that is about no property. */
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

/* The beginning of the last part of a recipe, if that part says which version of ICU made the fingerprints. */
static const char icu_mark[] = ";icu=";
enum { ICU_MARK_LENGTH = sizeof icu_mark - 1 };

size_t idxi_count_recipe_identity_bytes(const char *recipe) {
    size_t length = strlen(recipe), number_begin = length;
    while (number_begin > 0 && recipe[number_begin - 1] >= '0' && recipe[number_begin - 1] <= '9') number_begin--;
    bool names_icu = number_begin < length && number_begin >= ICU_MARK_LENGTH &&
                     memcmp(recipe + number_begin - ICU_MARK_LENGTH, icu_mark, ICU_MARK_LENGTH) == 0;
    return names_icu ? number_begin - ICU_MARK_LENGTH : length;
}

bool idx_recipe_matches(const char *a, const char *b, bool *same_icu) {
    size_t length = idxi_count_recipe_identity_bytes(a);
    if (idxi_count_recipe_identity_bytes(b) != length || memcmp(a, b, length) != 0) return false;
    if (same_icu != NULL) *same_icu = a[length] == '\0' || b[length] == '\0' || strcmp(a + length, b + length) == 0;
    return true;
}
