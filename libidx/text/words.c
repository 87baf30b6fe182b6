/* words.c: the distinct words of a text and how often each occurs: a hash table with open addressing over an array of
 * words. Its keys are seeded, unlike the words' hashes. Two words with the same hash or key stay two words, because a
 * recipe is about words, not hashes. */
#include "libidx/text/words.h"

#include "libidx/text/base.h"

/* xxHash is inlined, because most words are a few bytes, and so that libidxtext needs no library but libidx and ICU. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum {
    FIRST_SLOTS = 1024,
    MAX_WORDS = 1 << 30, /* more than any text has; there are then 2^32 slots, as many as keys */
};

/* Sets words->seed to a number that nobody can foresee. Otherwise somebody could write a text of words with equal keys,
 * which would take hours to count. The seed is odd, since 0 means that none was drawn yet. */
static void draw_seed(struct idxt_words *words) {
    uint64_t seed;
    if (getentropy(&seed, sizeof seed) != 0) seed = (uintptr_t)words;
    words->seed = seed | 1;
}

/* Makes the table have `slot_count` slots, a power of two, and enters all words into them anew. Returns false if memory
 * runs out. */
static bool rebuild_word_slots(struct idxt_words *words, size_t slot_count) {
    uint64_t *slots = idxt_buffer_grow(words->slots, &words->slot_capacity, slot_count, sizeof *slots);
    if (slots == NULL) return false;
    words->slots = slots;
    words->slot_mask = slot_count - 1;
    memset(slots, 0, slot_count * sizeof *slots);
    for (size_t i = 0; i < words->count; i++) {
        size_t slot = words->words[i].key & words->slot_mask;
        while (slots[slot] != 0) slot = (slot + 1) & words->slot_mask;
        slots[slot] = (uint64_t)words->words[i].key << 32 | (i + 1); /* i + 1, since 0 is an empty slot */
    }
    return true;
}

bool idxt_words_begin(struct idxt_words *words) {
    words->count = 0;
    words->byte_count = 0;
    if (words->seed == 0) draw_seed(words);
    return rebuild_word_slots(words, FIRST_SLOTS);
}

char *idxt_words_reserve_bytes(struct idxt_words *words, size_t size) {
    if (size > SIZE_MAX - words->byte_count) return NULL;
    char *bytes = idxt_buffer_grow(words->bytes, &words->byte_capacity, words->byte_count + size, 1);
    if (bytes == NULL) return NULL;
    words->bytes = bytes;
    return bytes + words->byte_count;
}

/* Returns 8 bytes as a number, in the order of the machine. */
static inline uint64_t load_u64(const char *bytes) {
    uint64_t number;
    memcpy(&number, bytes, sizeof number);
    return number;
}

/* Returns 4 bytes as a number, in the order of the machine. */
static inline uint32_t load_u32(const char *bytes) {
    uint32_t number;
    memcpy(&number, bytes, sizeof number);
    return number;
}

/* Returns whether two words of `length` bytes have the same bytes. Calling memcmp would double the time of counting. In
 * a word of 1 to 3 bytes, the first, middle and last byte are all. In longer words, the last 4 or 8 bytes may overlap
 * those compared before. */
static inline bool are_bytes_equal(const char *a, const char *b, size_t length) {
    if (length < 4)
        return length == 0 || (a[0] == b[0] && a[length / 2] == b[length / 2] && a[length - 1] == b[length - 1]);
    if (length < 8) return load_u32(a) == load_u32(b) && load_u32(a + length - 4) == load_u32(b + length - 4);
    for (size_t i = 0; i < length - 8; i += 8) {
        if (load_u64(a + i) != load_u64(b + i)) return false;
    }
    return load_u64(a + length - 8) == load_u64(b + length - 8);
}

/* Returns the key of a word: the seeded hash of its `length` bytes. For a feature of which only the hash is known, the
 * bytes are those of that hash. */
static inline uint32_t compute_key(const struct idxt_words *words, const void *bytes, size_t length) {
    return (uint32_t)XXH3_64bits_withSeed(bytes, length, words->seed);
}

/* Returns the first slot, from `slot` on, that is empty or has a word with this key. A new word with this key belongs
 * into the empty one. `slot` may be any number, such as a key: only its low bits count. */
static inline size_t find_slot_of_key(const struct idxt_words *words, uint32_t key, size_t slot) {
    for (slot &= words->slot_mask;; slot = (slot + 1) & words->slot_mask) {
        if (words->slots[slot] == 0 || words->slots[slot] >> 32 == key) return slot;
    }
}

/* Returns the index in words->words of the word in a slot, which must not be empty. */
static inline size_t get_word_number(const struct idxt_words *words, size_t slot) {
    return (words->slots[slot] & UINT32_MAX) - 1;
}

/* Returns the slot of a word, or the empty one where it belongs. Words with the same key are in different slots. */
static inline size_t find_word_slot(const struct idxt_words *words, uint32_t key, const char *bytes, size_t length) {
    size_t slot = find_slot_of_key(words, key, key);
    for (; words->slots[slot] != 0; slot = find_slot_of_key(words, key, slot + 1)) {
        const struct idxt_word *word = &words->words[get_word_number(words, slot)];
        if (word->length == length && are_bytes_equal(words->bytes + word->start, bytes, length)) break;
    }
    return slot;
}

/* Counts the word in a slot once more. */
static inline void count_word_again(struct idxt_words *words, size_t slot) {
    words->last_counted = get_word_number(words, slot);
    words->words[words->last_counted].count++;
}

/* Adds a word, counted once, to the empty slot `slot`, which find_word_slot or find_slot_of_key has found for its key.
 * The caller has written its word.length bytes where idxt_words_reserve_bytes said. Doubles the slots once more than
 * half of them are used. Returns false if memory runs out, or there are MAX_WORDS. */
static bool add_word_to_slot(struct idxt_words *words, size_t slot, struct idxt_word word) {
    if (words->count == MAX_WORDS) return false;
    struct idxt_word *grown = idxt_buffer_grow(words->words, &words->capacity, words->count + 1, sizeof *grown);
    if (grown == NULL) return false;
    words->words = grown;
    word.start = words->byte_count;
    word.count = 1;
    grown[words->count] = word;
    words->last_counted = words->count++;
    words->byte_count += word.length;
    words->slots[slot] = (uint64_t)word.key << 32 | words->count;
    if (words->count * 2 <= words->slot_mask) return true;
    return rebuild_word_slots(words, (words->slot_mask + 1) * 2);
}

bool idxt_words_count_reserved(struct idxt_words *words, size_t length, unsigned halvings) {
    const char *bytes = words->bytes + words->byte_count;
    uint32_t key = compute_key(words, bytes, length);
    size_t slot = find_word_slot(words, key, bytes, length);
    if (words->slots[slot] == 0)
        return add_word_to_slot(
            words, slot,
            (struct idxt_word){.hash = XXH3_64bits(bytes, length), .length = length, .key = key, .halvings = halvings});
    count_word_again(words, slot);
    return true;
}

bool idxt_words_count_hash(struct idxt_words *words, uint64_t hash) {
    uint32_t key = compute_key(words, &hash, sizeof hash);
    size_t slot = find_slot_of_key(words, key, key);
    for (; words->slots[slot] != 0; slot = find_slot_of_key(words, key, slot + 1)) {
        const struct idxt_word *word = &words->words[get_word_number(words, slot)];
        if (word->length == 0 && word->hash == hash) {
            count_word_again(words, slot);
            return true;
        }
    }
    return add_word_to_slot(words, slot, (struct idxt_word){.hash = hash, .key = key});
}

bool idxt_words_has(const struct idxt_words *words, const char *bytes, size_t length) {
    return words->slots[find_word_slot(words, compute_key(words, bytes, length), bytes, length)] != 0;
}

void idxt_words_free(struct idxt_words *words) {
    free(words->words);
    free(words->bytes);
    free(words->slots);
    *words = (struct idxt_words){0};
}
