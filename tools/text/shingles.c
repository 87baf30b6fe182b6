/* shingles.c: see shingles.h. */
#include "tools/text/shingles.h"

#include "tools/text/words.h"

#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include <stdlib.h>

enum { WORDS = 5 };

struct shingling {
    struct output *list;
    uint64_t words[WORDS]; /* the last ones, by their numbers modulo WORDS */
    uint64_t count;        /* of words */
    uint64_t word;         /* the hash of the one at hand; 0: there is none */
};

static uint64_t mix(uint64_t value) {
    value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
    return value ^ value >> 31;
}

/* The shingle of the last `length` words. */
static void add_shingle(struct shingling *shingling, uint64_t length) {
    uint64_t hash = length;
    for (uint64_t i = shingling->count - length; i < shingling->count; i++)
        hash = mix(hash * 31 + shingling->words[i % WORDS]);
    output_bytes(shingling->list, &hash, sizeof hash);
}

static void end_word(struct shingling *shingling) {
    if (shingling->word == 0) return;
    shingling->words[shingling->count++ % WORDS] = mix(shingling->word);
    shingling->word = 0;
    if (shingling->count >= WORDS) add_shingle(shingling, WORDS);
}

static void add_letter(struct shingling *shingling, UChar32 letter) {
    shingling->word = (shingling->word + 1) * UINT64_C(0x100000001b3) ^ (uint64_t)letter;
    if (shingling->word == 0) shingling->word = 1;
}

static void take(struct shingling *shingling, UChar32 c) {
    enum letter letter = words_letter(c);
    if (letter != LETTER_PART) end_word(shingling);
    if (letter != LETTER_NONE) add_letter(shingling, u_foldCase(c, U_FOLD_CASE_DEFAULT));
    if (letter == LETTER_WHOLE) end_word(shingling);
}

static void take_ascii(struct shingling *shingling, unsigned char c) {
    unsigned char lower = c | 0x20;
    if (lower >= 'a' && lower <= 'z')
        add_letter(shingling, lower);
    else if (c >= '0' && c <= '9')
        add_letter(shingling, c);
    else
        end_word(shingling);
}

static int compare(const void *first, const void *second) {
    const uint64_t *a = first, *b = second;
    return (*a > *b) - (*a < *b);
}

/* Sorts those from `begin` on, and leaves each once. */
static void make_distinct(struct output *list, size_t begin) {
    uint64_t *hashes = (void *)(list->bytes + begin);
    size_t count = (list->length - begin) / sizeof *hashes, distinct = 0;
    qsort(hashes, count, sizeof *hashes, compare);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || hashes[i] != hashes[i - 1]) hashes[distinct++] = hashes[i];
    list->length = begin + distinct * sizeof *hashes;
}

bool shingles_list(struct span text, struct output *list) {
    struct shingling shingling = {.list = list};
    const uint8_t *bytes = (const uint8_t *)text.bytes;
    size_t begin = list->length;
    for (size_t i = 0; i < text.length;) {
        UChar32 c = bytes[i];
        if (c < 0x80) {
            take_ascii(&shingling, (unsigned char)c);
            i++;
        } else {
            U8_NEXT_OR_FFFD(bytes, i, text.length, c);
            take(&shingling, c);
        }
    }
    end_word(&shingling);
    if (shingling.count > 0 && shingling.count < WORDS) add_shingle(&shingling, shingling.count);
    if (list->error != 0) return false;
    if (list->length > begin) make_distinct(list, begin);
    return true;
}
