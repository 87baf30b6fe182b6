/* huffman.c: code lengths by package-merge (Larmore and Hirschberg, JACM 1990), canonical codes. */
#include "format/huffman.h"

#include <stdbool.h>
#include <string.h>

/* One level of package-merge: symbols and pairs of the level below, ascending by weight. */
struct level {
    unsigned count;
    uint64_t weights[2 * IDXF_SYMBOLS];
    bool is_symbol[2 * IDXF_SYMBOLS];
};

/* Merges the symbols, ascending by weight, with the pairs of the level below; symbols come first among equals. */
static void merge(const uint64_t *weights, unsigned symbol_count, const struct level *below, struct level *level) {
    unsigned symbol = 0, pair = 0, pairs = below->count / 2;
    level->count = 0;
    while (symbol < symbol_count || pair < pairs) {
        uint64_t pair_weight = pair < pairs ? below->weights[2 * pair] + below->weights[2 * pair + 1] : UINT64_MAX;
        bool take_symbol = symbol < symbol_count && weights[symbol] <= pair_weight;
        level->is_symbol[level->count] = take_symbol;
        level->weights[level->count++] = take_symbol ? weights[symbol] : pair_weight;
        if (take_symbol)
            symbol++;
        else
            pair++;
    }
}

/* Lists the symbols that occur, ascending by count, then by symbol. */
static unsigned sort_symbols(const uint64_t counts[IDXF_SYMBOLS], uint8_t symbols[IDXF_SYMBOLS],
                             uint64_t weights[IDXF_SYMBOLS]) {
    unsigned made = 0;
    for (unsigned symbol = 0; symbol < IDXF_SYMBOLS; symbol++) {
        if (counts[symbol] == 0) continue;
        unsigned at = made++;
        for (; at > 0 && weights[at - 1] > counts[symbol]; at--) {
            weights[at] = weights[at - 1];
            symbols[at] = symbols[at - 1];
        }
        weights[at] = counts[symbol];
        symbols[at] = (uint8_t)symbol;
    }
    return made;
}

void idxf_code_lengths(const uint64_t counts[IDXF_SYMBOLS], uint8_t lengths[IDXF_SYMBOLS]) {
    uint8_t symbols[IDXF_SYMBOLS];
    uint64_t weights[IDXF_SYMBOLS];
    unsigned symbol_count = sort_symbols(counts, symbols, weights);
    memset(lengths, 0, IDXF_SYMBOLS);
    if (symbol_count == 1) lengths[symbols[0]] = 1;
    if (symbol_count < 2) return;

    struct level levels[IDXF_MAX_CODE_LENGTH + 1];
    levels[0].count = 0;
    for (unsigned i = 1; i <= IDXF_MAX_CODE_LENGTH; i++) merge(weights, symbol_count, &levels[i - 1], &levels[i]);

    unsigned taken = 2 * symbol_count - 2;
    for (unsigned i = IDXF_MAX_CODE_LENGTH; i > 0 && taken > 0; i--) {
        unsigned symbols_taken = 0;
        for (unsigned item = 0; item < taken; item++) {
            if (levels[i].is_symbol[item]) lengths[symbols[symbols_taken++]]++;
        }
        taken = 2 * (taken - symbols_taken);
    }
}

enum idxf_fault idxf_code_check(const uint8_t lengths[IDXF_SYMBOLS], unsigned bits) {
    unsigned used = 0, total = 0, longest = 0;
    for (unsigned symbol = 0; symbol < IDXF_SYMBOLS; symbol++) {
        unsigned length = lengths[symbol];
        if (length == 0) continue;
        if (length > IDXF_MAX_CODE_LENGTH || symbol >= bits) return IDXF_FAULT_CODE;
        used++;
        total += 1u << (IDXF_MAX_CODE_LENGTH - length);
        if (length > longest) longest = length;
    }
    bool complete = total == 1u << IDXF_MAX_CODE_LENGTH;
    return used == 0 || complete || (used == 1 && longest == 1) ? IDXF_OK : IDXF_FAULT_CODE;
}

static uint16_t reverse(unsigned code, unsigned length) {
    unsigned reversed = 0;
    for (unsigned i = 0; i < length; i++) reversed |= (code >> i & 1) << (length - 1 - i);
    return (uint16_t)reversed;
}

void idxf_codes(const uint8_t lengths[IDXF_SYMBOLS], uint16_t codes[IDXF_SYMBOLS]) {
    unsigned code = 0;
    for (unsigned length = 1; length <= IDXF_MAX_CODE_LENGTH; length++) {
        for (unsigned symbol = 0; symbol < IDXF_SYMBOLS; symbol++) {
            if (lengths[symbol] == length) codes[symbol] = reverse(code++, length);
        }
        code <<= 1;
    }
}
