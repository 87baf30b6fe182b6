/* resemblance.c: how much two texts, or their sets of shingles, have in common. */
#include "libidx/text/resemblance.h"

#include <stdlib.h>
#include <string.h>
#include <unicode/uchar.h>

#include "libidx/text/base.h"
#include "libidx/text/letters.h"

/* ---- Sorting ---- */

/* How hashes are sorted depends on how many there are: up to MAX_BY_INSERTION by insertion alone, up to MAX_SMALL by a
 * digit of six bits and then by insertion, and more of them byte by byte. */
enum { MAX_BY_INSERTION = 12, MAX_SMALL = 128, SIX_BIT_DIGITS = 64, DIGITS = 256 };

/* Sorts hashes in ascending order: in time quadratic in their number, but fast if few of them move far. */
static void sort_by_insertion(uint64_t *hashes, size_t count) {
    for (size_t i = 1; i < count; i++) {
        uint64_t hash = hashes[i];
        size_t place = i;
        for (; place > 0 && hashes[place - 1] > hash; place--) hashes[place] = hashes[place - 1];
        hashes[place] = hash;
    }
}

/* Sorts up to MAX_SMALL hashes that differ only in the bits below `shift` + 8. The hashes of a text are spread evenly,
 * so sorting them by the highest six of these bits moves most of them to their places, and leaves little to insertion.
 */
static void sort_few_hashes(uint64_t *hashes, size_t count, unsigned shift) {
    uint64_t copy[MAX_SMALL];
    uint8_t next[SIX_BIT_DIGITS + 1] = {0}; /* by digit: where its next hash goes; first its count is at digit + 1 */
    if (count > MAX_BY_INSERTION) {
        memcpy(copy, hashes, count * sizeof *hashes);
        for (size_t i = 0; i < count; i++) next[(copy[i] >> (shift + 2)) % SIX_BIT_DIGITS + 1]++;
        for (size_t digit = 1; digit < SIX_BIT_DIGITS; digit++) next[digit] = (uint8_t)(next[digit] + next[digit - 1]);
        for (size_t i = 0; i < count; i++) hashes[next[(copy[i] >> (shift + 2)) % SIX_BIT_DIGITS]++] = copy[i];
    }
    sort_by_insertion(hashes, count);
}

/* Sorts hashes that differ only in the bits below `shift` + 8: by the byte at bit `shift`, and recursively, those with
 * the same byte by the bytes below it. This is an in-place radix sort from the highest byte, in linear time whatever
 * the hashes are. The hash at the next free place of a byte changes places with others until one comes that belongs
 * there. */
static void sort_by_byte(uint64_t *hashes, size_t count, unsigned shift) {
    size_t next[DIGITS], ends[DIGITS] = {0}; /* by byte: where its next hash goes, and where its hashes end */
    if (count <= MAX_SMALL) {
        sort_few_hashes(hashes, count, shift);
        return;
    }
    for (size_t i = 0; i < count; i++) ends[hashes[i] >> shift & 0xff]++;
    for (size_t digit = 0, sum = 0; digit < DIGITS; digit++) {
        next[digit] = sum;
        sum += ends[digit];
        ends[digit] = sum;
    }
    for (size_t digit = 0; digit < DIGITS; digit++) {
        while (next[digit] < ends[digit]) {
            uint64_t hash = hashes[next[digit]];
            size_t byte = hash >> shift & 0xff;
            hashes[next[digit]] = hashes[next[byte]];
            hashes[next[byte]++] = hash;
        }
    }
    if (shift == 0) return;
    for (size_t digit = 0, begin = 0; digit < DIGITS; digit++) {
        sort_by_byte(hashes + begin, ends[digit] - begin, shift - 8);
        begin = ends[digit];
    }
}

size_t idxt_make_set(uint64_t *hashes, size_t count) {
    size_t distinct_count = 0;
    sort_by_byte(hashes, count, 56);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || hashes[i] != hashes[i - 1]) hashes[distinct_count++] = hashes[i];
    return distinct_count;
}

/* ---- Comparing ---- */

/* Returns how many hashes two sets share; each ascends, without repetitions. The loop has no branch that depends on the
 * hashes, since the processor could not predict it: adding a comparison adds 0 or 1. */
static size_t count_shared_hashes(const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count) {
    size_t shared = 0;
    for (size_t i = 0, j = 0; i < a_count && j < b_count;) {
        uint64_t x = a[i], y = b[j];
        shared += x == y;
        i += x <= y;
        j += y <= x;
    }
    return shared;
}

/* ---- Hashes ---- */

/* Returns `value` with its bits mixed, so that each bit of the result depends on all of them. Different values give
 * different results. These are the last steps of SplitMix64. */
static inline uint64_t mix_bits(uint64_t value) {
    value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
    return value ^ value >> 31;
}

/* Returns the hash of a word with one more letter. `word_hash` is that of the word so far, 0 for no letters. Both
 * hashes are unmixed: the caller applies mix_bits() once the word ends. This is FNV-1, but it never returns 0, which
 * means that no word has begun. */
static inline uint64_t hash_letter(uint64_t word_hash, uint64_t letter) {
    word_hash = (word_hash + 1) * UINT64_C(0x100000001b3) ^ letter;
    return word_hash == 0 ? 1 : word_hash;
}

/* ---- Words ---- */

struct word_reader {
    struct idx_text_word word; /* `hash` before mix_bits() is applied, and 0 if no word has begun */
    idx_text_word_visitor visit;
    void *context;
    bool stopped; /* the visitor has returned false */
};

/* Ends the word that is being read, if one has begun, and calls the visitor for it. Sets reader->stopped. */
static void end_and_visit_word(struct word_reader *reader) {
    if (reader->word.hash == 0) return;
    reader->word.hash = mix_bits(reader->word.hash);
    reader->stopped = !reader->visit(reader->context, &reader->word);
    reader->word.hash = 0;
}

/* Reads the next folded character, which is of this run. As `letter` says, it ends the word that is being read, is
 * added to it, or is a word by itself. Visits words that end, and sets reader->stopped. A word reaches from the
 * beginning of its first run to the end of its last one. */
static void read_folded_character(struct word_reader *reader, const struct idxt_run *run, enum idxt_letter letter,
                                  UChar32 folded) {
    if (letter != IDXT_LETTER_PART) end_and_visit_word(reader);
    if (letter == IDXT_LETTER_NONE || reader->stopped) return;
    if (reader->word.hash == 0) reader->word.begin = run->begin;
    reader->word.hash = hash_letter(reader->word.hash, (uint64_t)folded);
    reader->word.end = run->end;
    if (letter == IDXT_LETTER_WHOLE) end_and_visit_word(reader);
}

enum idx_status idx_text_visit_words(const void *utf8, size_t length, idx_text_word_visitor visit, void *context,
                                     struct idx_error *error) {
    struct word_reader reader = {.visit = visit, .context = context};
    struct idxt_run run;
    UChar32 folded;
    enum idxt_letter letter;
    if ((utf8 == NULL && length > 0) || visit == NULL)
        return idxt_fail(error, IDX_INVALID_ARGUMENT, "words need a text, and a visitor that gets them");
    idxt_run_init(&run);
    for (size_t position = 0; position < length && !reader.stopped; position = run.end) {
        if (!idxt_run_read(&run, utf8, length, position)) return idxt_fail_icu(error, run.code);
        while (!reader.stopped && idxt_run_next_folded(&run, &letter, &folded))
            read_folded_character(&reader, &run, letter, folded);
    }
    if (!reader.stopped) end_and_visit_word(&reader);
    return IDX_OK;
}

/* ---- Shingles ---- */

/* The last words or characters are in a ring, by their numbers modulo this power of two. */
enum { RING = 16 };
_Static_assert(RING >= IDX_TEXT_MAX_SHINGLE_WIDTH && (RING & (RING - 1)) == 0, "the ring holds a shingle");

/* The shingles of a text that is being read. Their items are words or characters. */
struct shingle_builder {
    uint64_t *hashes;
    size_t capacity;
    size_t shingle_count; /* of all shingles, also those for which the array has no place */
    uint64_t width;
    uint64_t items[RING]; /* hashes of the last items */
    uint64_t item_count;  /* of all items so far */
    uint64_t word_hash;   /* hash, before mix_bits(), of the word that is being read; 0 if none has begun */
    bool space_pending;   /* with characters: whether white space came since the last one */
};

/* Appends the hash of the shingle of the last `width` items, 1 to RING, if the array has a place for it, and counts the
 * shingle in any case. The items' own hashes are mixed already, so mixing their combination once suffices. */
static inline void add_shingle(struct shingle_builder *builder, uint64_t width) {
    uint64_t hash = width;
    for (uint64_t i = builder->item_count - width; i < builder->item_count; i++)
        hash = hash * UINT64_C(0x9e3779b97f4a7c15) + builder->items[i % RING];
    if (builder->shingle_count < builder->capacity) builder->hashes[builder->shingle_count] = mix_bits(hash);
    builder->shingle_count++;
}

/* Adds the hash of a word or character as an item, and the shingle that it ends, if there are `width` items. */
static inline void add_item(struct shingle_builder *builder, uint64_t hash) {
    builder->items[builder->item_count++ % RING] = hash;
    if (builder->item_count >= builder->width) add_shingle(builder, builder->width);
}

/* Adds the word that is being read as an item, if one has begun. */
static inline void end_word(struct shingle_builder *builder) {
    if (builder->word_hash == 0) return;
    add_item(builder, mix_bits(builder->word_hash));
    builder->word_hash = 0;
}

/* Adds the next character of a text, given by its kind and its folded form, to the shingles: add_letter_to_word or
 * add_character_item. */
typedef void (*character_adder)(struct shingle_builder *builder, enum idxt_letter letter, uint64_t folded);

/* This is the character_adder for shingles of words: an item is a word, added once the word ends. */
__attribute__((always_inline)) static inline void add_letter_to_word(struct shingle_builder *builder,
                                                                     enum idxt_letter letter, uint64_t folded) {
    if (letter != IDXT_LETTER_PART) end_word(builder);
    if (letter != IDXT_LETTER_NONE) builder->word_hash = hash_letter(builder->word_hash, folded);
    if (letter == IDXT_LETTER_WHOLE) end_word(builder);
}

/* Returns whether a character has the property White_Space of Unicode; ICU is not asked about ASCII. */
static inline bool is_space(UChar32 c) {
    return c < 0x80 ? c == ' ' || (c >= '\t' && c <= '\r') : u_isUWhiteSpace(c) != 0;
}

/* This is the character_adder for shingles of characters: an item is a character, and all white space between two
 * others is one item, a space. */
__attribute__((always_inline)) static inline void add_character_item(struct shingle_builder *builder,
                                                                     enum idxt_letter letter, uint64_t folded) {
    if (letter == IDXT_LETTER_NONE && is_space((UChar32)folded)) {
        builder->space_pending = builder->item_count > 0;
        return;
    }
    if (builder->space_pending) add_item(builder, mix_bits(' '));
    builder->space_pending = false;
    add_item(builder, mix_bits(folded));
}

/* Calls `add` for `length` ASCII characters, which fold each by itself. */
__attribute__((always_inline)) static inline void
add_ascii_characters(struct shingle_builder *builder, const uint8_t *bytes, size_t length, character_adder add) {
    for (size_t i = 0; i < length; i++) {
        unsigned lower = idxt_fold_ascii_letter(bytes[i]);
        add(builder, lower == 0 ? IDXT_LETTER_NONE : IDXT_LETTER_PART, lower == 0 ? bytes[i] : lower);
    }
}

/* Adds all shingles of a text: calls `add` for each character, and ends the last word. A text of fewer items than
 * `width` is one shingle. Errors are those of ICU. This function and `add` are inlined, so that no character costs a
 * call by pointer. */
__attribute__((always_inline)) static inline UErrorCode
add_shingles_of_text(struct shingle_builder *builder, const uint8_t *bytes, size_t length, character_adder add) {
    struct idxt_run run;
    idxt_run_init(&run);
    for (size_t position = 0; position < length; position = run.end) {
        size_t ascii_end = idxt_find_ascii_end(bytes, length, position);
        add_ascii_characters(builder, bytes + position, ascii_end - position, add);
        if (ascii_end == length) break;
        if (!idxt_run_read(&run, bytes, length, ascii_end)) return run.code;
        enum idxt_letter letter;
        for (UChar32 folded; idxt_run_next_folded(&run, &letter, &folded);) add(builder, letter, (uint64_t)folded);
    }
    if (add == add_letter_to_word) end_word(builder);
    if (builder->item_count > 0 && builder->item_count < builder->width) add_shingle(builder, builder->item_count);
    return U_ZERO_ERROR;
}

/* Checks the size, width and unit of the options. Errors: IDX_INVALID_ARGUMENT. */
static enum idx_status check_shingle_options(const struct idx_text_shingle_options *options, struct idx_error *error) {
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
    enum idx_status status = check_shingle_options(options, error);
    if (status != IDX_OK) return status;
    struct shingle_builder builder = {.hashes = hashes, .capacity = capacity, .width = options->width};
    UErrorCode code = options->unit == IDX_TEXT_WORDS
                          ? add_shingles_of_text(&builder, utf8, length, add_letter_to_word)
                          : add_shingles_of_text(&builder, utf8, length, add_character_item);
    if (U_FAILURE(code)) return idxt_fail_icu(error, code);
    *count = builder.shingle_count;
    if (*count > capacity)
        return idxt_fail(error, IDX_INVALID_ARGUMENT,
                         "the text has %zu shingles, and the array has room for %zu: give it room for all", *count,
                         capacity);
    if (!options->in_text_order) *count = idxt_make_set(hashes, *count);
    return IDX_OK;
}

/* ---- Resemblance ---- */

double idx_text_jaccard(const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count) {
    size_t shared = count_shared_hashes(a, a_count, b, b_count);
    if (a_count == 0 && b_count == 0) return 1;
    return (double)shared / (double)(a_count - shared + b_count);
}

/* The first capacity is enough for ASCII and most other texts. If it is not, idx_text_shingles fails, but sets `count`
 * to how many there are, so that the second call succeeds. */
enum idx_status idxt_append_shingles(struct idxt_hashes *list, const void *utf8, size_t length,
                                     const struct idx_text_shingle_options *options, struct idx_error *error) {
    enum idx_status status = IDX_OK;
    size_t capacity = 0, count = (options == NULL || options->unit == IDX_TEXT_WORDS ? length / 2 : length) + 1;
    while (capacity < count) {
        uint64_t *hashes = idxt_buffer_grow(list->hashes, &list->capacity, list->count + count, sizeof *list->hashes);
        if (hashes == NULL) return idxt_fail(error, IDX_OUT_OF_MEMORY, "out of memory for the shingles of a text");
        capacity = count;
        list->hashes = hashes;
        status = idx_text_shingles(utf8, length, options, hashes + list->count, capacity, &count, error);
    }
    if (status == IDX_OK) list->count += count;
    return status;
}

enum idx_status idx_text_resemblance(const void *a, size_t a_length, const void *b, size_t b_length,
                                     const struct idx_text_shingle_options *options, double *resemblance,
                                     struct idx_error *error) {
    struct idxt_hashes sets[2] = {{0}, {0}};
    if (resemblance == NULL)
        return idxt_fail(error, IDX_INVALID_ARGUMENT, "idx_text_resemblance needs a pointer for its result");
    enum idx_status status = idxt_append_shingles(&sets[0], a, a_length, options, error);
    if (status == IDX_OK) status = idxt_append_shingles(&sets[1], b, b_length, options, error);
    if (status == IDX_OK) *resemblance = idx_text_jaccard(sets[0].hashes, sets[0].count, sets[1].hashes, sets[1].count);
    free(sets[0].hashes);
    free(sets[1].hashes);
    return status;
}
