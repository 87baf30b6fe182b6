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
    unsigned number;       /* the number after the colon of the method; 0 if that has none */
    uint32_t needed_stop;  /* if not 0, only shingles with a stop word of these languages (words.h) are taken */
    uint32_t dropped_stop; /* languages whose stop words are dropped */
    enum idxt_weighing weighing;
    bool has_table;
    uint64_t table_hash; /* of the table of document frequencies, if has_table */
    unsigned top;        /* how many features are taken, the heaviest; 0: all are */
    unsigned title;      /* the weight of the field `title`; 0: it is not taken */
    bool sorted;         /* order=sorted */
    bool by_spaces;      /* cut=spaces: words are what white space separates */
    unsigned version;    /* 1 or 2; of methods without words 1 */
    unsigned width;      /* for minhash: of how many words or characters a shingle is made, and of which: */
    enum idx_text_shingle_unit unit;
    enum idx_hash_kind hash; /* the hash of features in a SimHash */
    unsigned manuals;        /* how the texts of manual pages were made, if there are any; 0: there are none */
    bool ties;               /* whether a bit of a SimHash is 1 if the weights for 0 and 1 are equal */
};

/* Reads a recipe. Returns NULL if it is valid, or else the end of a sentence that begins with the recipe. */
const char *idxt_recipe_parse(struct idxt_recipe *recipe, const char *string);

/* Returns whether a recipe makes weighted features of a text, which can be listed, and counted in a table. */
bool idxt_recipe_has_features(const struct idxt_recipe *recipe);

/* Returns the most fingerprints that a recipe makes of a document. */
size_t idxt_recipe_max_fingerprints(const struct idxt_recipe *recipe);

/* Prints a recipe in its canonical form, with a NUL byte. It always fits. */
void idxt_recipe_print(const struct idxt_recipe *recipe, char string[IDX_MAX_RECIPE_BYTES + 1]);

/* Returns whether the weights of a recipe come from a table of document frequencies. */
bool idxt_recipe_needs_table(const struct idxt_recipe *recipe);

/* Returns whether the words of a recipe are those that ICU cuts by its dictionaries. */
bool idxt_recipe_asks_dictionaries(const struct idxt_recipe *recipe);

/* Returns whether the features of a recipe are single words, so that a list of words can weigh them. */
bool idxt_recipe_has_single_words(const struct idxt_recipe *recipe);

/* Returns the part of a recipe that says which features there are, with the weight tf. A table of document frequencies
 * is made for such a part. */
struct idxt_recipe idxt_recipe_of_features(const struct idxt_recipe *recipe);

#endif
