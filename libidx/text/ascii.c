/* ascii.c: finds the words of ASCII text by bit arithmetic, with the same result as ICU.
 *
 * For ASCII, NFKC_Casefold turns A to Z into a to z; the other 102 characters stay, and all have boundaries before
 * them. Of the rules of Unicode Standard Annex 29 (word boundaries), those about ASCII characters remain, for the
 * classes ALetter (letters), Numeric (digits), ExtendNumLet (_), MidNumLet (.), Single_Quote ('), MidNum (, ;), and all
 * others. The others include MidLetter (:), because recipes turn `:` and `@` into spaces, and Double_Quote, which joins
 * only Hebrew letters.
 *
 *   - WB5, WB8, WB9, WB10: there is no boundary between letters and digits, in any order. WB13a, WB13b: nor is there
 *     one between any of these and _, nor between _ and _. So runs of the three stay together: `word` below.
 *   - WB6, WB7: letters on both sides keep . and ' . WB11, WB12: digits on both sides keep . ' , and ; . Both need only
 *     the adjacent characters: WB4, which skips characters in between, has no ASCII characters to skip (it excludes CR
 *     and LF; Extend, Format and ZWJ are not ASCII). So two of these marks in a row never belong to a word: `within`
 * below.
 *   - WB999: everything else is a boundary. (WB3 and WB3d join CR with LF, and spaces with spaces; these are no words.)
 *
 * So the segments other than punctuation and white space are the runs of `word | within`. ICU gives them a rule status
 * that makes them words, except a single _, which gets none; `__` gets one. */
#include "libidx/text/ascii.h"

#include <stdbool.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Returns a number with bit `position` alone if the condition holds, or else 0. */
static uint64_t set_bit_if(bool condition, unsigned position) { return (uint64_t)condition << position; }

/* Ranges take one comparison: below them the unsigned differences wrap round to large numbers. */
struct idxt_ascii_block idxt_ascii_classify_plain(const char *bytes, char *folded) {
    struct idxt_ascii_block block = {0};
    for (unsigned i = 0; i < 64; i++) {
        unsigned c = (uint8_t)bytes[i];
        bool is_letter = (c | 0x20) - 'a' < 26; /* 0x20 makes capitals small */
        folded[i] = (char)(is_letter ? c | 0x20 : c);
        block.letters |= set_bit_if(is_letter, i);
        block.digits |= set_bit_if(c - '0' < 10, i);
        block.underscores |= set_bit_if(c == '_', i);
        block.dots |= set_bit_if(c == '.' || c == '\'', i);
        block.commas |= set_bit_if(c == ',' || c == ';', i);
        block.blanks |= set_bit_if(c == ' ' || c - '\t' < 5, i);
        block.non_ascii |= set_bit_if(c >= 0x80, i);
    }
    return block;
}

#ifdef __SSE2__ /* every x86-64 processor has SSE2 */
/* Returns 0xff for each byte from `first` to `first` + `count` - 1, and 0 for others. `first` is at least 1, and the
 * last one below 128. The addition moves the range to the top of the signed bytes, up to 127, and wraps larger bytes
 * round to negative ones, so that one comparison suffices. */
static inline __m128i select_range(__m128i bytes, char first, char count) {
    __m128i shifted = _mm_add_epi8(bytes, _mm_set1_epi8((char)(127 - (first + count - 1))));
    return _mm_cmpgt_epi8(shifted, _mm_set1_epi8((char)(127 - count)));
}

/* Returns 0xff for each byte that is `a` or `b`, and 0 for others. */
static inline __m128i select_either(__m128i bytes, char a, char b) {
    return _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(a)), _mm_cmpeq_epi8(bytes, _mm_set1_epi8(b)));
}

/* Returns the highest bits of 16 bytes: that of byte i as bit `position` + i. */
static inline uint64_t gather_high_bits(__m128i bytes, unsigned position) {
    return (uint64_t)(unsigned)_mm_movemask_epi8(bytes) << position;
}

struct idxt_ascii_block idxt_ascii_classify(const char *bytes, char *folded) {
    struct idxt_ascii_block block = {0};
    for (unsigned i = 0; i < 64; i += 16) {
        __m128i sixteen = _mm_loadu_si128((const __m128i *)(const void *)(bytes + i));
        __m128i case_bit = _mm_set1_epi8(0x20);
        __m128i letters = select_range(_mm_or_si128(sixteen, case_bit), 'a', 26);
        _mm_storeu_si128((__m128i *)(void *)(folded + i), _mm_or_si128(sixteen, _mm_and_si128(letters, case_bit)));
        __m128i blanks = _mm_or_si128(select_range(sixteen, '\t', 5), _mm_cmpeq_epi8(sixteen, _mm_set1_epi8(' ')));
        block.letters |= gather_high_bits(letters, i);
        block.digits |= gather_high_bits(select_range(sixteen, '0', 10), i);
        block.underscores |= gather_high_bits(_mm_cmpeq_epi8(sixteen, _mm_set1_epi8('_')), i);
        block.dots |= gather_high_bits(select_either(sixteen, '.', '\''), i);
        block.commas |= gather_high_bits(select_either(sixteen, ',', ';'), i);
        block.blanks |= gather_high_bits(blanks, i);
        block.non_ascii |= gather_high_bits(sixteen, i);
    }
    return block;
}
#else
struct idxt_ascii_block idxt_ascii_classify(const char *bytes, char *folded) {
    return idxt_ascii_classify_plain(bytes, folded);
}
#endif

/* Each of these three functions returns a bit for each character of a block: 1 if the character before it, the one
 * after it, or both are in a set. `set` has the characters of the block that are in the set; `previous` and `next` have
 * those of the blocks before and after. */
static uint64_t mark_after(uint64_t set, uint64_t previous) { return set << 1 | previous >> 63; }

static uint64_t mark_before(uint64_t set, uint64_t next) { return set >> 1 | next << 63; }

static uint64_t mark_between(uint64_t set, uint64_t previous, uint64_t next) {
    return mark_after(set, previous) & mark_before(set, next);
}

/* Returns which characters of a block are letters, digits or _, whose runs are words: `word` in the rules above. */
static uint64_t select_word_parts(const struct idxt_ascii_block *block) {
    return block->letters | block->digits | block->underscores;
}

/* Returns which characters of `block` belong to words, by the rules at the beginning of this file. `previous` and
 * `next` are the blocks before and after it, without any classes at the ends of the text. */
static uint64_t mark_words(const struct idxt_ascii_block *previous, const struct idxt_ascii_block *block,
                           const struct idxt_ascii_block *next) {
    uint64_t word = select_word_parts(block);
    uint64_t between_letters = mark_between(block->letters, previous->letters, next->letters);
    uint64_t between_digits = mark_between(block->digits, previous->digits, next->digits);
    uint64_t within = (block->dots & between_letters) | ((block->dots | block->commas) & between_digits);
    uint64_t neighbours = mark_after(word, select_word_parts(previous)) | mark_before(word, select_word_parts(next));
    uint64_t lone_underscores = block->underscores & ~neighbours;
    return (word | within) & ~lone_underscores;
}

/* Classifies the 64 bytes of a text from byte `begin` on, and writes them, with A to Z as a to z, to folded + begin.
 * `begin` is at most `length`. Bytes past the end of the text are in no class. */
static struct idxt_ascii_block classify_block(const char *text, size_t length, size_t begin, char *folded) {
    if (length - begin >= 64) return idxt_ascii_classify(text + begin, folded + begin);
    char padded[64] = {0};
    memcpy(padded, text + begin, length - begin);
    return idxt_ascii_classify(padded, folded + begin);
}

void idxt_ascii_map(const char *text, size_t length, char *folded, uint64_t *edges, uint64_t *blanks,
                    uint64_t *non_ascii) {
    const size_t block_count = idxt_ascii_map_size(length);
    struct idxt_ascii_block previous = {0}, block = classify_block(text, length, 0, folded), next;
    uint64_t previous_words = 0;
    for (size_t i = 0; i < block_count; i++) {
        next = i + 1 < block_count ? classify_block(text, length, 64 * (i + 1), folded) : (struct idxt_ascii_block){0};
        uint64_t words = mark_words(&previous, &block, &next);
        edges[i] = words ^ mark_after(words, previous_words); /* where a bit differs from the one before it */
        blanks[i] = block.blanks;
        non_ascii[i] = block.non_ascii;
        previous_words = words;
        previous = block;
        block = next;
    }
}
