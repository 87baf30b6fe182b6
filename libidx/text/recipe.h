/* recipe.h: what a recipe says: a string, whose grammar is in idx_text.h, that defines how fingerprints are made. */
#ifndef IDX_LIBIDX_TEXT_RECIPE_H
#define IDX_LIBIDX_TEXT_RECIPE_H

#include <idx.h>
#include <idx_text.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum idxt_method {
    IDXT_WORDS,
    IDXT_CHARS,
    IDXT_SEGMENTS,
    IDXT_SENTENCES,
    IDXT_DESCRIPTION,
    IDXT_TERMS,
    IDXT_IDF,
    IDXT_MINHASH,
};

enum idxt_weighing { IDXT_WEIGHT_LOGTF, IDXT_WEIGHT_ONE, IDXT_WEIGHT_TF, IDXT_WEIGHT_TFIDF, IDXT_WEIGHT_IDF };

struct idxt_recipe {
    enum idxt_method method;
    unsigned number;       /* the number after the method's colon, such as N of words:N; 0 if the method has none */
    uint32_t needed_stop;  /* if not 0, only shingles with a stop word of these languages (stop_words.h) are features */
    uint32_t dropped_stop; /* languages whose stop words are dropped */
    enum idxt_weighing weighing;
    bool has_table;
    uint64_t table_hash;   /* of the table of document frequencies, if has_table */
    unsigned max_features; /* top=: how many features make the fingerprint, the heaviest ones; 0: all do */
    unsigned title_weight; /* title=: the factor of the weights of the field `title`; 0: the field is not used */
    bool sorted;           /* order=sorted */
    bool by_spaces;        /* cut=spaces: words are what white space separates */
    unsigned version;      /* 1 or 2; of methods without words 1 */
    unsigned width;        /* for minhash: how many units a shingle has */
    enum idx_text_shingle_unit unit;
    enum idx_hash_kind hash; /* the hash of features in a SimHash */
    unsigned manual_version; /* man=: the version by which the texts of manual pages were made; 0: there are none */
    bool ties;               /* whether a bit of a SimHash is 1 if the weights for 0 and 1 are equal */
};

/* Parses the string of a recipe. Returns NULL if it is valid. Otherwise returns static text that says what is wrong and
 * completes the sentence "recipe 'STRING': ...", such as "it is too long"; then *recipe is unspecified. */
const char *idxt_recipe_parse(struct idxt_recipe *recipe, const char *string);

/* Returns whether a recipe makes weighted features of a text, which can be listed, and counted in a table. */
bool idxt_recipe_has_features(const struct idxt_recipe *recipe);

/* Returns the most fingerprints that a recipe makes of a document: 1 to IDX_TEXT_MAX_FINGERPRINTS. */
size_t idxt_recipe_max_fingerprints(const struct idxt_recipe *recipe);

/* Writes a recipe in its canonical form, without icu=, to `string`, with a NUL byte. It always fits. */
void idxt_recipe_format(const struct idxt_recipe *recipe, char string[IDX_MAX_RECIPE_BYTES + 1]);

/* Returns whether the weights of a recipe come from a table of document frequencies. */
bool idxt_recipe_needs_table(const struct idxt_recipe *recipe);

/* Returns whether a recipe cuts scripts without spaces by ICU's dictionaries, as version 1 does. */
bool idxt_recipe_asks_dictionaries(const struct idxt_recipe *recipe);

/* Returns whether the features of a recipe are single words, so that a list of words can weigh them. */
bool idxt_recipe_has_single_words(const struct idxt_recipe *recipe);

/* Returns the recipe of the features alone, with the weight tf: words:2;w=tf for words:2;w=logtf;top=9. Methods other
 * than words and chars have those of words:1. A table of document frequencies is made for such a recipe. */
struct idxt_recipe idxt_recipe_of_features(const struct idxt_recipe *recipe);

#endif
