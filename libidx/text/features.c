/* features.c: the features of a text: words, shingles of words, and n-grams of characters, counted and weighted. A text
 * goes through the segmenter in pieces; shingles and n-grams cross the ends of pieces, so a window holds their items.
 * These move to the front of its buffer only when as many bytes precede them as they have, so that each byte moves
 * about once. Functions that count or append something return false if memory runs out. */
#include "libidx/text/features.h"

#include "libidx/text/base.h"
#include "libidx/text/stop_words.h"
#include "libidx/text/table.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <unicode/uchar.h>
#include <unicode/utf16.h>

#include <stdlib.h>
#include <string.h>

/* Returns the offset of the oldest item in the buffer, or without items, the end of the bytes that are used. */
static size_t find_window_start(const struct idxt_window *window) {
    return window->item_count == 0 ? window->byte_count : window->starts[0];
}

/* Moves the items to the front of the buffer if at least as many bytes precede them as they have. */
static void move_items_to_front(struct idxt_window *window) {
    size_t start = find_window_start(window);
    if (start == 0 || start < window->byte_count - start) return;
    memmove(window->bytes, window->bytes + start, window->byte_count - start);
    window->byte_count -= start;
    for (size_t i = 0; i < window->item_count; i++) window->starts[i] -= start;
}

/* Returns where the caller may write an item of up to `size` bytes, for add_to_window, valid until the next call.
 * Returns NULL if memory runs out. Items may move. */
static char *reserve_in_window(struct idxt_window *window, size_t size) {
    move_items_to_front(window);
    if (size > SIZE_MAX - window->byte_count) return NULL;
    char *bytes = idxt_buffer_grow(window->bytes, &window->capacity, window->byte_count + size, 1);
    if (bytes == NULL) return NULL;
    window->bytes = bytes;
    return bytes + window->byte_count;
}

/* Adds the item of `length` bytes that was written where reserve_in_window said. If there are `max_items` already (1 to
 * IDXT_WINDOW_ITEMS), removes the oldest one first. */
static void add_to_window(struct idxt_window *window, size_t length, size_t max_items) {
    if (window->item_count == max_items) {
        window->item_count--;
        memmove(window->starts, window->starts + 1, window->item_count * sizeof *window->starts);
    }
    window->starts[window->item_count++] = window->byte_count;
    window->byte_count += length;
}

UErrorCode idxt_features_open(struct idxt_features *features) {
    const struct idxt_recipe *recipe = &features->recipe;
    if (!idxt_fill_stop_words(&features->needed_stop, recipe->needed_stop)) return U_MEMORY_ALLOCATION_ERROR;
    if (!idxt_fill_stop_words(&features->dropped_stop, recipe->dropped_stop)) return U_MEMORY_ALLOCATION_ERROR;
    features->segmenter.cut = (struct idxt_cut){.by_dictionary = idxt_recipe_asks_dictionaries(recipe),
                                                .unifies_forms = recipe->version == 2,
                                                .with_singles = idxt_recipe_has_single_words(recipe)};
    return idxt_segmenter_open(&features->segmenter);
}

UErrorCode idxt_features_begin(struct idxt_features *features) {
    features->sequence_length = 0;
    features->hash_count = 0;
    return idxt_words_begin(&features->words) ? U_ZERO_ERROR : U_MEMORY_ALLOCATION_ERROR;
}

/* Returns whether a word, `length` bytes of UTF-8, is a stop word that the recipe drops (stop=). */
static bool is_dropped_word(const struct idxt_features *features, const char *bytes, size_t length) {
    return features->recipe.dropped_stop != 0 && idxt_words_has(&features->dropped_stop, bytes, length);
}

/* Returns whether this word, `length` bytes of UTF-8, makes a shingle a feature: if the recipe needs stop words
 * (words:N,stop=L), only these do; otherwise all words do. */
static bool makes_feature(const struct idxt_features *features, const char *bytes, size_t length) {
    return features->recipe.needed_stop == 0 || idxt_words_has(&features->needed_stop, bytes, length);
}

/* Appends the number of the word that was counted last to the sequence of words. Returns false if memory runs out. */
static bool append_to_sequence(struct idxt_features *features) {
    uint32_t *grown = idxt_buffer_grow(features->sequence, &features->sequence_capacity, features->sequence_length + 1,
                                       sizeof *grown);
    if (grown == NULL) return false;
    features->sequence = grown;
    grown[features->sequence_length++] = (uint32_t)features->words.last_counted;
    return true;
}

/* If the recipe names another hash than XXH3 for SimHashes, and the feature that was just counted is new, appends that
 * hash of its bytes to features->hashes. A feature is new if there are more features than hashes. Returns false if
 * memory runs out. */
static bool append_hash_of_new_feature(struct idxt_features *features, const char *bytes, size_t length) {
    if (features->recipe.hash == IDX_HASH_XXH3 || features->words.count == features->hash_count) return true;
    uint64_t *grown =
        idxt_buffer_grow(features->hashes, &features->hash_capacity, features->words.count, sizeof *grown);
    if (grown == NULL) return false;
    features->hashes = grown;
    grown[features->hash_count++] = idx_hash(features->recipe.hash, bytes, length);
    return true;
}

uint64_t idxt_features_get_hash(const struct idxt_features *features, size_t number) {
    return features->recipe.hash == IDX_HASH_XXH3 ? features->words.words[number].hash : features->hashes[number];
}

/* Counts a word as a feature, unless the recipe leaves it out. For segments, also appends it to the sequence. Returns
 * false if memory runs out. */
static bool count_single_word(struct idxt_features *features, struct idxt_span word) {
    char *bytes = idxt_words_reserve_bytes(&features->words, word.length * IDXT_UTF8_PER_UNIT);
    if (bytes == NULL) return false;
    size_t length = idxt_span_write_utf8(word, bytes);
    if (is_dropped_word(features, bytes, length) || !makes_feature(features, bytes, length)) return true;
    if (!idxt_words_count_reserved(&features->words, length, word.halvings) ||
        !append_hash_of_new_feature(features, bytes, length))
        return false;
    return features->recipe.method != IDXT_SEGMENTS || append_to_sequence(features);
}

/* Counts the feature that consists of all items in the window, without the space after the last one if items are words.
 * Returns false if memory runs out. */
static bool count_window_as_feature(struct idxt_features *features) {
    const struct idxt_window *window = &features->window;
    size_t start = find_window_start(window), end = window->byte_count;
    if (features->recipe.method != IDXT_CHARS) end--;
    return idxt_words_count_hash(&features->words, XXH3_64bits(window->bytes + start, end - start)) &&
           append_hash_of_new_feature(features, window->bytes + start, end - start);
}

/* Adds a word to the window, and counts the shingle that it ends, if makes_feature holds for one of its words.
 * *recent_needed, 0 at first, has a bit for each of the last recipe.number words, the lowest for the last one: 1 if
 * makes_feature holds for that word. Returns false if memory runs out. */
static bool count_shingle_of_word(struct idxt_features *features, struct idxt_span word, uint32_t *recent_needed) {
    char *bytes = reserve_in_window(&features->window, word.length * IDXT_UTF8_PER_UNIT + 1);
    if (bytes == NULL) return false;
    size_t length = idxt_span_write_utf8(word, bytes);
    if (is_dropped_word(features, bytes, length)) return true;
    unsigned number = features->recipe.number;
    *recent_needed = (*recent_needed << 1 | makes_feature(features, bytes, length)) & ((UINT32_C(1) << number) - 1);
    bytes[length] = ' ';
    add_to_window(&features->window, length + 1, number);
    return features->window.item_count < number || *recent_needed == 0 || count_window_as_feature(features);
}

/* Counts a word as a feature of its own, or the shingle that it ends, as the recipe says. *recent_needed is that of
 * count_shingle_of_word. Returns false if memory runs out. */
static inline bool count_word(struct idxt_features *features, struct idxt_span word, uint32_t *recent_needed) {
    bool is_single = idxt_recipe_has_single_words(&features->recipe);
    return is_single ? count_single_word(features, word) : count_shingle_of_word(features, word, recent_needed);
}

/* Counts the features of a piece of text that the segmenter cuts into words. *recent_needed, as for
 * count_shingle_of_word, goes on from the piece before. Errors are those of ICU. */
static UErrorCode count_piece_by_segmenter(struct idxt_features *features, const char *utf8, size_t length,
                                           uint32_t *recent_needed) {
    UErrorCode code = idxt_segmenter_set_text(&features->segmenter, utf8, length);
    if (U_FAILURE(code)) return code;
    struct idxt_span word;
    while (idxt_segmenter_next_word(&features->segmenter, &word)) {
        if (!count_word(features, word, recent_needed)) return U_MEMORY_ALLOCATION_ERROR;
    }
    return U_ZERO_ERROR;
}

/* Returns whether a run of characters without white space has a letter or a digit, and so is a word. */
static bool has_letter_or_digit(struct idxt_span run) {
    for (size_t i = 0; i < run.length;) {
        UChar32 c;
        U16_NEXT_UNSAFE(run.units, i, c);
        if (u_isalnum(c)) return true;
    }
    return false;
}

/* Counts the features of a piece of text in which white space separates words. *recent_needed, as for
 * count_shingle_of_word, goes on from the piece before. Errors are those of ICU. */
static UErrorCode count_piece_by_spaces(struct idxt_features *features, const char *utf8, size_t length,
                                        uint32_t *recent_needed) {
    UErrorCode code = idxt_segmenter_normalize_keeping_marks(&features->segmenter, utf8, length);
    if (U_FAILURE(code)) return code;
    const UChar *units = features->segmenter.units;
    size_t unit_count = features->segmenter.unit_length;
    for (size_t run_begin = 0, i = 0; i <= unit_count; i++) { /* the end of the text ends a run, as white space does */
        if (i < unit_count && !idxt_is_space(units[i])) continue;
        struct idxt_span run = {.units = units + run_begin, .length = i - run_begin};
        run_begin = i + 1;
        if (has_letter_or_digit(run) && !count_word(features, run, recent_needed)) return U_MEMORY_ALLOCATION_ERROR;
    }
    return U_ZERO_ERROR;
}

/* Adds a character to the window, and counts the n-gram that it ends, if there are enough. Returns false if memory runs
 * out. */
static bool count_ngram_of_character(struct idxt_features *features, struct idxt_span character) {
    char *bytes = reserve_in_window(&features->window, character.length * IDXT_UTF8_PER_UNIT);
    if (bytes == NULL) return false;
    add_to_window(&features->window, idxt_span_write_utf8(character, bytes), features->recipe.number);
    return features->window.item_count < features->recipe.number || count_window_as_feature(features);
}

/* Counts the n-grams that end in a piece of text. Collapsing goes on from the piece before, so that white space across
 * the ends of pieces becomes one space. Errors are those of ICU. */
static UErrorCode count_piece_by_characters(struct idxt_features *features, const char *utf8, size_t length) {
    UErrorCode code = idxt_segmenter_normalize(&features->segmenter, utf8, length);
    if (U_FAILURE(code)) return code;
    struct idxt_collapsed *collapsed = &features->collapsed;
    collapsed->length = 0;
    bool ok = idxt_collapsed_add(collapsed, features->segmenter.units, features->segmenter.unit_length);
    for (size_t next_char = 0, char_begin = 0; ok && next_char < collapsed->length; char_begin = next_char) {
        U16_FWD_1_UNSAFE(collapsed->units, next_char);
        struct idxt_span character = {.units = collapsed->units + char_begin, .length = next_char - char_begin};
        ok = count_ngram_of_character(features, character);
    }
    return ok ? U_ZERO_ERROR : U_MEMORY_ALLOCATION_ERROR;
}

/* Counts a text that has words or characters, but fewer than a shingle or n-gram, as one feature; not if the recipe
 * needs stop words, and the text has none. Does nothing for other texts. Returns false if memory runs out. */
static bool count_short_text(struct idxt_features *features, uint32_t recent_needed) {
    if (features->window.item_count == 0 || features->window.item_count >= features->recipe.number) return true;
    return (features->recipe.method != IDXT_CHARS && recent_needed == 0) || count_window_as_feature(features);
}

UErrorCode idxt_features_count_text(struct idxt_features *features, const char *utf8, size_t length) {
    UErrorCode code = U_ZERO_ERROR;
    uint32_t recent_needed = 0;
    features->window.item_count = features->window.byte_count = 0;
    idxt_collapsed_begin(&features->collapsed);
    while (length > 0 && U_SUCCESS(code)) {
        size_t piece = idxt_find_piece_length(utf8, length);
        if (features->recipe.method == IDXT_CHARS)
            code = count_piece_by_characters(features, utf8, piece);
        else if (features->recipe.by_spaces)
            code = count_piece_by_spaces(features, utf8, piece, &recent_needed);
        else
            code = count_piece_by_segmenter(features, utf8, piece, &recent_needed);
        utf8 += piece;
        length -= piece;
    }
    if (U_FAILURE(code)) return code;
    return count_short_text(features, recent_needed) ? U_ZERO_ERROR : U_MEMORY_ALLOCATION_ERROR;
}

/* Returns the weight, in units of 1/IDX_WEIGHT_ONE, of the feature with this XXH3 hash that occurs `count` times, at
 * least once. Halvings are not applied. */
static int64_t compute_unhalved_weight(const struct idxt_features *features, uint64_t hash, uint64_t count) {
    switch (features->recipe.weighing) {
        case IDXT_WEIGHT_LOGTF: return idxt_log_weight(count);
        case IDXT_WEIGHT_ONE: return IDX_WEIGHT_ONE;
        case IDXT_WEIGHT_TF: return (int64_t)count * IDX_WEIGHT_ONE;
        case IDXT_WEIGHT_TFIDF: return (int64_t)count * idxt_table_get_idf(features->table, hash);
        case IDXT_WEIGHT_IDF: break;
    }
    return idxt_table_get_idf(features->table, hash);
}

/* Returns the weight of a word by its count, in units of 1/IDX_WEIGHT_ONE, halved word->halvings times and rounded
 * down. */
static int64_t compute_weight(const struct idxt_features *features, const struct idxt_word *word) {
    return compute_unhalved_weight(features, word->hash, word->count) >> word->halvings;
}

void idxt_features_add_weights(struct idxt_features *features, int64_t factor) {
    for (size_t i = 0; i < features->words.count; i++) {
        struct idxt_word *word = &features->words.words[i];
        if (word->count > 0) word->weight += factor * compute_weight(features, word);
        word->count = 0;
    }
}

int64_t idxt_features_add_range(struct idxt_features *features, size_t start, size_t end, struct idx_simhash *simhash) {
    struct idxt_word *words = features->words.words;
    int64_t weight_sum = 0;
    for (size_t i = start; i < end; i++) words[features->sequence[i]].count++;
    for (size_t i = start; i < end; i++) {
        struct idxt_word *word = &words[features->sequence[i]];
        if (word->count == 0) continue; /* it was added at an earlier occurrence */
        int64_t weight = compute_weight(features, word);
        idx_simhash_add_hash(simhash, idxt_features_get_hash(features, features->sequence[i]), weight);
        weight_sum += weight;
        word->count = 0;
    }
    return weight_sum;
}

/* Orders features for qsort: by descending weight, then ascending hash and number, so that the order is the same on
 * every machine. */
static int compare_ranked(const void *ranked_a, const void *ranked_b) {
    const struct idxt_ranked *a = ranked_a, *b = ranked_b;
    if (a->weight != b->weight) return a->weight > b->weight ? -1 : 1;
    if (a->hash != b->hash) return a->hash < b->hash ? -1 : 1;
    return a->number < b->number ? -1 : 1;
}

bool idxt_features_rank(struct idxt_features *features) {
    size_t count = features->words.count;
    struct idxt_ranked *ranked = idxt_buffer_grow(features->ranked, &features->ranked_capacity, count, sizeof *ranked);
    if (ranked == NULL) return false;
    features->ranked = ranked;
    for (size_t i = 0; i < count; i++) {
        const struct idxt_word *word = &features->words.words[i];
        ranked[i] = (struct idxt_ranked){.weight = word->weight, .hash = word->hash, .number = i};
    }
    qsort(ranked, count, sizeof *ranked, compare_ranked);
    return true;
}

void idxt_features_close(struct idxt_features *features) {
    idxt_segmenter_close(&features->segmenter);
    idxt_words_free(&features->needed_stop);
    idxt_words_free(&features->dropped_stop);
    idxt_words_free(&features->words);
    free(features->window.bytes);
    idxt_collapsed_free(&features->collapsed);
    free(features->hashes);
    free(features->sequence);
    free(features->ranked);
}
