/* words.h: the distinct words of a text and how often each occurs. */
#ifndef IDX_TEXT_WORDS_H
#define IDX_TEXT_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct idxt_word {
    uint64_t hash;  /* XXH3, seed 0, of its bytes */
    size_t start;   /* offset of its bytes in idxt_words.bytes */
    size_t length;  /* bytes */
    uint64_t count; /* how often it occurs */
    int64_t weight; /* 0 at first; the set's user keeps it */
    uint64_t key;   /* its place in the hash table */
};

/* Starts as {0}. Buffers are kept from text to text. */
struct idxt_words {
    struct idxt_word *words; /* in order of first occurrence */
    size_t count;
    size_t capacity;
    size_t last; /* number of the word that was counted last */

    char *bytes; /* of all words, one after another */
    size_t byte_count;
    size_t byte_capacity;

    uint64_t *slots;  /* hash table: 0, or 1 + the number of a word, and 32 bits of its key above */
    size_t slot_mask; /* number of slots in use, a power of two, less one */
    size_t slot_capacity;
    uint64_t seed; /* of the keys; 0 when none was drawn yet */
};

/* Empties it. Costs the same however many words it held. Returns false if memory runs out. */
bool idxt_words_begin(struct idxt_words *words);

/* Room for a word of up to `size` bytes, valid until the next call. Returns NULL if memory runs out. */
char *idxt_words_reserve(struct idxt_words *words, size_t size);

/* Counts the word of `length` bytes that was written where idxt_words_reserve said. Returns false if memory runs out.
 */
bool idxt_words_count(struct idxt_words *words, size_t length);

/* Counts a feature that is known by its hash alone: one of length 0. Returns false if memory runs out. */
bool idxt_words_count_hash(struct idxt_words *words, uint64_t hash);

/* Whether the word is in a set that was begun. */
bool idxt_words_hold(const struct idxt_words *words, const char *bytes, size_t length);

void idxt_words_free(struct idxt_words *words);

#endif
