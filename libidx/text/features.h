/* features.h: the features of a text, as a recipe defines them, and their weights. */
#ifndef IDX_TEXT_FEATURES_H
#define IDX_TEXT_FEATURES_H

#include "libidx/text/recipe.h"
#include "libidx/text/segmenter.h"
#include "libidx/text/words.h"

#include <stdbool.h>
#include <stddef.h>

enum { IDXT_WINDOW_ITEMS = 32 };

/* The last few items of a stream, words or characters, contiguous in memory, so that each run of them can be hashed:
 * shingles and n-grams. It starts as {0}, and keeps its buffer from text to text. */
struct idxt_window {
    char *bytes;
    size_t byte_count;
    size_t capacity;
    size_t starts[IDXT_WINDOW_ITEMS]; /* where items begin, oldest first */
    size_t items;
};

struct idx_text_table;

/* A feature by its weight. */
struct idxt_ranked {
    int64_t weight;
    uint64_t hash;
    size_t number; /* in idxt_features.words */
};

/* Starts as {0}. Buffers are kept from text to text. */
struct idxt_features {
    struct idxt_recipe recipe;
    const struct idx_text_table *table; /* of document frequencies; NULL where the recipe has none */
    struct idxt_segmenter segmenter;
    struct idxt_words needed_stop, dropped_stop;

    struct idxt_words words; /* the distinct features; those other than single words are known by hash alone */
    uint64_t *hashes;        /* of them in a SimHash, in the order of `words`; none where words[].hash is that */
    size_t hash_count;
    size_t hash_capacity;
    struct idxt_window window;
    struct idxt_folding folding;

    uint32_t *sequence; /* for segments: numbers of all words, in the order of the text */
    size_t sequence_length;
    size_t sequence_capacity;

    struct idxt_ranked *ranked;
    size_t ranked_capacity;
};

/* Errors of these: ICU's, as the segmenter's. `recipe` and `table` are set before. */
UErrorCode idxt_features_open(struct idxt_features *features);

/* Forgets the features of the text before. */
UErrorCode idxt_features_begin(struct idxt_features *features);

/* Counts the features of a text, or of one field of it: words[].count. */
UErrorCode idxt_features_count(struct idxt_features *features, const char *utf8, size_t length);

/* The hash that stands for feature `number` in a SimHash. */
uint64_t idxt_features_hash(const struct idxt_features *features, size_t number);

/* Adds to words[].weight what the counts weigh, `factor` times, and sets the counts to 0. */
void idxt_features_weigh(struct idxt_features *features, int64_t factor);

/* Adds the words from `start` to before `end` of the sequence, weighed by what occurs there. Returns their weight. The
 * counts, which are used for it, are 0 before and behind. */
int64_t idxt_features_add_part(struct idxt_features *features, size_t start, size_t end, struct idx_simhash *simhash);

/* Makes `ranked`: all features, the heaviest first, of equal ones those of the smaller hash. Returns false if memory
 * runs out. */
bool idxt_features_rank(struct idxt_features *features);

void idxt_features_close(struct idxt_features *features);

#endif
