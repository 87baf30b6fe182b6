/* features.h: the features of a text, as a recipe defines them, and their weights. */
#ifndef IDX_LIBIDX_TEXT_FEATURES_H
#define IDX_LIBIDX_TEXT_FEATURES_H

#include "libidx/text/recipe.h"
#include "libidx/text/segmenter.h"
#include "libidx/text/words.h"

enum { IDXT_WINDOW_ITEMS = 32 };

/* The last few items of a text, words or characters, contiguous in memory, so that they can be hashed together as a
 * shingle or n-gram. It starts as {0}, and keeps its buffer from text to text. */
struct idxt_window {
    char *bytes;
    size_t byte_count;
    size_t capacity;
    size_t starts[IDXT_WINDOW_ITEMS]; /* the offsets in `bytes` at which items begin, oldest first */
    size_t item_count;
};

struct idx_text_table;

/* A feature, and the weight and hash that it is ranked by. */
struct idxt_ranked {
    int64_t weight;
    uint64_t hash;
    size_t number; /* its number in idxt_features.words */
};

/* The features of a text. It starts as {0}, and keeps its buffers from text to text. */
struct idxt_features {
    struct idxt_recipe recipe;
    const struct idx_text_table *table; /* document frequencies; NULL if the recipe needs none */
    struct idxt_segmenter segmenter;
    struct idxt_words needed_stop, dropped_stop;

    struct idxt_words words; /* the distinct features; those other than single words are known by hash alone */
    uint64_t *hashes; /* hashes of `words` for a SimHash, in their order; unused if the recipe uses words[].hash */
    size_t hash_count;
    size_t hash_capacity;
    struct idxt_window window;
    struct idxt_collapsed collapsed;

    uint32_t *sequence; /* for segments: the numbers of all words, in the order of the text */
    size_t sequence_length;
    size_t sequence_capacity;

    struct idxt_ranked *ranked;
    size_t ranked_capacity;
};

/* Opens the segmenter, and makes the sets of stop words, as `recipe` says, which the caller has set, as well as
 * `table`. The caller calls idxt_features_close even after an error. Errors, here and below, are those of ICU; if
 * memory ran out, U_MEMORY_ALLOCATION_ERROR. */
UErrorCode idxt_features_open(struct idxt_features *features);

/* Removes all features. Must be called before each document, the first one as well. */
UErrorCode idxt_features_begin(struct idxt_features *features);

/* Finds the features of a text, or of one field of a document, and adds how often each occurs to words[].count. For
 * segments, also appends the numbers of its words to `sequence`. */
UErrorCode idxt_features_count_text(struct idxt_features *features, const char *utf8, size_t length);

/* Returns the hash that represents feature `number`, its index in words.words, in a SimHash. */
uint64_t idxt_features_get_hash(const struct idxt_features *features, size_t number);

/* Adds to the weight of each feature, words[].weight, the weight that the recipe gives its count, times `factor`. Then
 * sets all counts to 0, so that calls for several fields add up. */
void idxt_features_add_weights(struct idxt_features *features, int64_t factor);

/* Adds the distinct words of sequence[start] to sequence[end - 1] to a SimHash, each weighted by how often it occurs
 * there. Returns the sum of these weights, in units of 1/IDX_WEIGHT_ONE. The counts of all words must be 0, and are 0
 * again afterwards. */
int64_t idxt_features_add_range(struct idxt_features *features, size_t start, size_t end, struct idx_simhash *simhash);

/* Sets `ranked` to all features, sorted by descending weight, then ascending hash. Returns false if memory runs out. */
bool idxt_features_rank(struct idxt_features *features);

/* Closes the segmenter, and frees all buffers, even if idxt_features_open has failed. */
void idxt_features_close(struct idxt_features *features);

#endif
