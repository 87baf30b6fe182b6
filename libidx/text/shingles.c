/* shingles.c: the words by which texts are compared, and hashes of their shingles. */
#include "libidx/text/error.h"
#include "libidx/text/resemblance.h"

#include <idx_text.h>

#include <unicode/utf8.h>

/* ---- Hashes ---- */

static inline uint64_t mix(uint64_t value) {
    value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
    return value ^ value >> 31;
}

/* The hash of a word with one more letter, before mix(); 0 stands for no word. */
static inline uint64_t add_letter(uint64_t word, uint64_t letter) {
    word = (word + 1) * UINT64_C(0x100000001b3) ^ letter;
    return word == 0 ? 1 : word;
}

/* ---- Words ---- */

bool idx_text_next_word(const void *utf8, size_t length, size_t *at, size_t *begin, uint64_t *hash) {
    const uint8_t *bytes = utf8;
    size_t next = *at, end = 0;
    uint64_t word = 0;
    enum idxt_letter letter = IDXT_LETTER_NONE;
    while (next < length && letter != IDXT_LETTER_WHOLE) {
        UChar32 c;
        size_t before = next;
        U8_NEXT_OR_FFFD(bytes, next, length, c);
        letter = idxt_letter(c);
        if (word != 0 && letter != IDXT_LETTER_PART) break;
        if (letter == IDXT_LETTER_NONE) continue;
        if (word == 0) *begin = before;
        word = add_letter(word, idxt_fold(c));
        end = next;
    }
    *at = word == 0 ? length : end;
    if (word != 0 && hash != NULL) *hash = mix(word);
    return word != 0;
}

/* ---- Shingles ---- */

/* The last words or characters are kept by their numbers modulo a power of two. */
enum { RING = 16 };
_Static_assert(RING >= IDX_TEXT_MAX_SHINGLE_WIDTH && (RING & (RING - 1)) == 0, "the ring holds a shingle");

struct shingling {
    uint64_t *hashes;
    size_t capacity;
    size_t shingles; /* how many there are, in the array or not */
    uint64_t width;
    uint64_t items[RING]; /* hashes of words or characters */
    uint64_t count;       /* of all items */
    uint64_t word;        /* before mix(), as far as it was read; 0: no word has begun */
    bool space;           /* of characters: something else has come since the last one */
};

/* The shingle of the last `width` items. */
static inline void add_shingle(struct shingling *shingling, uint64_t width) {
    uint64_t hash = width;
    for (uint64_t i = shingling->count - width; i < shingling->count; i++)
        hash = mix(hash * 31 + shingling->items[i % RING]);
    if (shingling->shingles < shingling->capacity) shingling->hashes[shingling->shingles] = hash;
    shingling->shingles++;
}

static inline void add_item(struct shingling *shingling, uint64_t hash) {
    shingling->items[shingling->count++ % RING] = hash;
    if (shingling->count >= shingling->width) add_shingle(shingling, shingling->width);
}

static inline void end_word(struct shingling *shingling) {
    if (shingling->word == 0) return;
    add_item(shingling, mix(shingling->word));
    shingling->word = 0;
}

static inline void take_word_letter(struct shingling *shingling, enum idxt_letter letter, uint64_t folded) {
    if (letter != IDXT_LETTER_PART) end_word(shingling);
    if (letter != IDXT_LETTER_NONE) shingling->word = add_letter(shingling->word, folded);
    if (letter == IDXT_LETTER_WHOLE) end_word(shingling);
}

static inline void take_character(struct shingling *shingling, enum idxt_letter letter, uint64_t folded) {
    if (letter == IDXT_LETTER_NONE) {
        shingling->space = shingling->count > 0;
        return;
    }
    if (shingling->space) add_item(shingling, mix(' '));
    shingling->space = false;
    add_item(shingling, mix(folded));
}

typedef void (*taker)(struct shingling *shingling, enum idxt_letter letter, uint64_t folded);

static inline void take_text(struct shingling *shingling, const uint8_t *bytes, size_t length, taker take) {
    for (size_t i = 0; i < length;) {
        UChar32 c = bytes[i];
        if (c < 0x80) {
            unsigned folded = idxt_ascii_letter((unsigned)c);
            take(shingling, folded == 0 ? IDXT_LETTER_NONE : IDXT_LETTER_PART, folded);
            i++;
        } else {
            U8_NEXT_OR_FFFD(bytes, i, length, c);
            enum idxt_letter letter = idxt_letter(c);
            take(shingling, letter, letter == IDXT_LETTER_NONE ? 0 : idxt_fold(c));
        }
    }
    if (take == take_word_letter) end_word(shingling);
    if (shingling->count > 0 && shingling->count < shingling->width) add_shingle(shingling, shingling->count);
}

static enum idx_status check_options(const struct idx_text_shingle_options *options, struct idx_error *error) {
    if (options->size != sizeof *options)
        return idxt_fail(error, IDX_INVALID_ARGUMENT, "the size in the options of shingles is not %zu",
                         sizeof *options);
    if (options->width < 1 || options->width > IDX_TEXT_MAX_SHINGLE_WIDTH)
        return idxt_fail(error, IDX_INVALID_ARGUMENT, "a shingle has 1 to %d words or characters, not %u",
                         IDX_TEXT_MAX_SHINGLE_WIDTH, options->width);
    if (options->unit != IDX_TEXT_WORDS && options->unit != IDX_TEXT_CHARACTERS)
        return idxt_fail(error, IDX_INVALID_ARGUMENT, "shingles have words or characters, but no unit %d",
                         (int)options->unit);
    return IDX_OK;
}

enum idx_status idx_text_shingles(const void *utf8, size_t length, const struct idx_text_shingle_options *options,
                                  uint64_t *hashes, size_t capacity, size_t *count, struct idx_error *error) {
    static const struct idx_text_shingle_options defaults = IDX_TEXT_SHINGLE_OPTIONS_INIT;
    if (options == NULL) options = &defaults;
    if ((utf8 == NULL && length > 0) || (hashes == NULL && capacity > 0) || count == NULL)
        return idxt_fail(error, IDX_INVALID_ARGUMENT, "shingles need a text, and an array to put them into");
    enum idx_status status = check_options(options, error);
    if (status != IDX_OK) return status;
    struct shingling shingling = {.hashes = hashes, .capacity = capacity, .width = options->width};
    if (options->unit == IDX_TEXT_WORDS)
        take_text(&shingling, utf8, length, take_word_letter);
    else
        take_text(&shingling, utf8, length, take_character);
    *count = shingling.shingles;
    if (*count > capacity)
        return idxt_fail(error, IDX_INVALID_ARGUMENT,
                         "the text has %zu shingles, and the array has room for %zu: give it room for all", *count,
                         capacity);
    if (*count > 0) *count = idxt_make_set(hashes, *count);
    return IDX_OK;
}
