/* words.c: the distinct words of a text and how often each occurs: a hash table with open addressing over an array of
 * words. Two words with one hash stay two, since a recipe speaks of words, not of hashes. */
#include "libidx/text/words.h"

#include "libidx/text/buffer.h"

/* Inlined, because most words are a few bytes, and so that libidxtext needs no library but libidx and ICU. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 1024 };

/* Uses `count` slots, a power of two, and enters all words anew. */
static bool set_slots(struct idxt_words *words, size_t count) {
    uint32_t *slots = idxt_buffer_grow(words->slots, &words->slot_capacity, count, sizeof *slots);
    if (slots == NULL) return false;
    words->slots = slots;
    words->slot_mask = count - 1;
    memset(slots, 0, count * sizeof *slots);
    for (size_t i = 0; i < words->count; i++) {
        size_t slot = words->words[i].hash & words->slot_mask;
        while (slots[slot] != 0) slot = (slot + 1) & words->slot_mask;
        slots[slot] = (uint32_t)(i + 1);
    }
    return true;
}

bool idxt_words_begin(struct idxt_words *words) {
    words->count = 0;
    words->byte_count = 0;
    return set_slots(words, FIRST_SLOTS);
}

char *idxt_words_reserve(struct idxt_words *words, size_t size) {
    if (size > SIZE_MAX - words->byte_count) return NULL;
    char *bytes = idxt_buffer_grow(words->bytes, &words->byte_capacity, words->byte_count + size, 1);
    if (bytes == NULL) return NULL;
    words->bytes = bytes;
    return bytes + words->byte_count;
}

/* The slot that holds the word, or the empty one where it belongs. */
static size_t find_slot(const struct idxt_words *words, uint64_t hash, const char *bytes, size_t length) {
    size_t slot = hash & words->slot_mask;
    for (; words->slots[slot] != 0; slot = (slot + 1) & words->slot_mask) {
        const struct idxt_word *word = &words->words[words->slots[slot] - 1];
        if (word->hash == hash && word->length == length && memcmp(words->bytes + word->start, bytes, length) == 0)
            break;
    }
    return slot;
}

/* Counts the word of this hash whose `length` bytes stand behind those of all words. */
static bool count(struct idxt_words *words, uint64_t hash, size_t length) {
    size_t slot = find_slot(words, hash, words->bytes + words->byte_count, length);
    if (words->slots[slot] != 0) {
        words->last = words->slots[slot] - 1;
        words->words[words->last].count++;
        return true;
    }
    if (words->count == UINT32_MAX - 1) return false;
    struct idxt_word *array = idxt_buffer_grow(words->words, &words->capacity, words->count + 1, sizeof *array);
    if (array == NULL) return false;
    words->words = array;
    array[words->count] = (struct idxt_word){hash, words->byte_count, length, 1, 0};
    words->last = words->count++;
    words->byte_count += length;
    words->slots[slot] = (uint32_t)words->count;
    if (words->count * 2 <= words->slot_mask) return true;
    return set_slots(words, (words->slot_mask + 1) * 2);
}

bool idxt_words_count(struct idxt_words *words, size_t length) {
    return count(words, XXH3_64bits(words->bytes + words->byte_count, length), length);
}

bool idxt_words_count_hash(struct idxt_words *words, uint64_t hash) {
    return idxt_words_reserve(words, 0) != NULL && count(words, hash, 0);
}

bool idxt_words_hold(const struct idxt_words *words, const char *bytes, size_t length) {
    return words->slots[find_slot(words, XXH3_64bits(bytes, length), bytes, length)] != 0;
}

void idxt_words_free(struct idxt_words *words) {
    free(words->words);
    free(words->bytes);
    free(words->slots);
    *words = (struct idxt_words){0};
}
