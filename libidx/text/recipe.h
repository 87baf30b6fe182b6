/* recipe.h: recipes, the strings that say how fingerprints are made: parsing and printing (idx_text.h has the
 * grammar). */
#ifndef IDX_TEXT_RECIPE_H
#define IDX_TEXT_RECIPE_H

#include <idx.h>

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
};

enum idxt_weighing { IDXT_WEIGHT_LOGTF, IDXT_WEIGHT_ONE, IDXT_WEIGHT_TF, IDXT_WEIGHT_TFIDF, IDXT_WEIGHT_IDF };

struct idxt_recipe {
    enum idxt_method method;
    unsigned number;       /* the number after the method's colon */
    uint32_t needed_stop;  /* languages (stop_words.h): only shingles with a stop word of theirs; 0: all shingles */
    uint32_t dropped_stop; /* languages whose stop words are dropped */
    enum idxt_weighing weighing;
    bool has_table;
    uint64_t table;          /* the hash of the table of document frequencies */
    unsigned top;            /* how many features, 0: all */
    unsigned title;          /* weight of the field `title`, 0: it is not taken */
    bool sorted;             /* order=sorted */
    bool by_spaces;          /* cut=spaces: words are what white space separates */
    enum idx_hash_kind hash; /* of features, in a SimHash */
    unsigned manuals;        /* how the texts of manual pages were made, if there are any; 0: there are none */
    bool ties;               /* a bit of a SimHash is 1 where the weights are equal */
};

/* Reads a recipe. NULL when all is well; else what is wrong, the end of a sentence that begins with the recipe. */
const char *idxt_recipe_parse(struct idxt_recipe *recipe, const char *string);

/* Prints a recipe in the one way that is canonical. It fits, with its NUL byte. */
void idxt_recipe_print(const struct idxt_recipe *recipe, char string[IDX_MAX_RECIPE_BYTES + 1]);

/* Whether its weights come from a table of document frequencies. */
bool idxt_recipe_needs_table(const struct idxt_recipe *recipe);

/* Whether its features are single words, so that lists of words fit. */
bool idxt_recipe_has_single_words(const struct idxt_recipe *recipe);

/* The part of a recipe that says which features there are: what a table of document frequencies is made for. */
struct idxt_recipe idxt_recipe_features(const struct idxt_recipe *recipe);

#endif
