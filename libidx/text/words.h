/* words.h: the distinct words of a text and how often each occurs. */
#ifndef IDX_LIBIDX_TEXT_WORDS_H
#define IDX_LIBIDX_TEXT_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct idxt_word {
    uint64_t hash;     /* XXH3, seed 0, of its bytes */
    size_t start;      /* offset of its bytes in idxt_words.bytes */
    size_t length;     /* in bytes */
    uint64_t count;    /* how often it occurs */
    int64_t weight;    /* 0 at first; for the set's user */
    uint32_t key;      /* a seeded hash, which determines the slot */
    unsigned halvings; /* as idxt_span has it (segmenter.h) */
};

/* A set of words. It starts as {0}, keeps its buffers from text to text, and is freed by idxt_words_free. */
struct idxt_words {
    struct idxt_word *words; /* in order of first occurrence */
    size_t count;
    size_t capacity;
    size_t last_counted; /* number of the word that was counted last */

    char *bytes; /* the bytes of all words, one after another */
    size_t byte_count;
    size_t byte_capacity;

    uint64_t *slots;  /* a hash table: 0, or 1 + the number of a word, with its key in the upper 32 bits */
    size_t slot_mask; /* number of slots in use, a power of two, less one */
    size_t slot_capacity;
    uint64_t seed; /* the seed of the keys; 0 if none was drawn yet */
};

/* Makes the set empty and ready for words, in the same time however many it held. Returns false if memory runs out. */
bool idxt_words_begin(struct idxt_words *words);

/* Returns where the caller may write a word of up to `size` bytes, for idxt_words_count_reserved. The place is valid
 * until the next call that changes the set. A word that is not counted leaves no trace. Returns NULL if memory runs
 * out. */
char *idxt_words_reserve_bytes(struct idxt_words *words, size_t size);

/* Counts the word of `length` bytes that the caller has written where idxt_words_reserve_bytes said, and adds it to the
 * set if it is new. `halvings`, as idxt_span has it, must be the same whenever the word is counted. Returns false if
 * memory runs out, or the set has 2^30 words. */
bool idxt_words_count_reserved(struct idxt_words *words, size_t length, unsigned halvings);

/* Counts a feature of which only the hash is known: a word of length 0 in the set. Returns false if memory runs out, or
 * the set has 2^30 words. */
bool idxt_words_count_hash(struct idxt_words *words, uint64_t hash);

/* Returns whether a word is in the set. idxt_words_begin must have been called. */
bool idxt_words_has(const struct idxt_words *words, const char *bytes, size_t length);

/* Frees the buffers, and leaves the set as {0}. */
void idxt_words_free(struct idxt_words *words);

#endif
