/* code.c: chooses the classes, finds the code lengths by package-merge (Larmore and Hirschberg, JACM 1990), and assigns
 * canonical codes. */
#include "format/code.h"

#include <stdbool.h>
#include <string.h>

#include "format/bytes.h"
#include "format/processor.h"

/* ---- Lengths ---- */

/* This is one level of package-merge: classes, and pairs of the level below, in ascending order of weight. */
struct level {
    unsigned count;
    uint64_t weights[2 * IDXF_CLASSES];
    bool is_class[2 * IDXF_CLASSES];
};

/* Merges the classes, ascending by weight, with the pairs of the level below; classes come first among equals. */
static void merge_level(const uint64_t *weights, unsigned class_count, const struct level *below, struct level *level) {
    unsigned next = 0, pair = 0, pairs = below->count / 2;
    level->count = 0;
    while (next < class_count || pair < pairs) {
        uint64_t pair_weight = pair < pairs ? below->weights[2 * pair] + below->weights[2 * pair + 1] : UINT64_MAX;
        bool take_class = next < class_count && weights[next] <= pair_weight;
        level->is_class[level->count] = take_class;
        level->weights[level->count++] = take_class ? weights[next] : pair_weight;
        if (take_class)
            next++;
        else
            pair++;
    }
}

/* Lists the classes by ascending count, those of one count by number, and their counts as weights. */
static void sort_classes(const uint64_t *counts, unsigned class_count, uint8_t *classes, uint64_t *weights) {
    for (unsigned i = 0; i < class_count; i++) {
        unsigned at = i;
        for (; at > 0 && weights[at - 1] > counts[i]; at--) {
            weights[at] = weights[at - 1];
            classes[at] = classes[at - 1];
        }
        weights[at] = counts[i];
        classes[at] = (uint8_t)i;
    }
}

/* Finds lengths, up to IDXF_MAX_CODE_LENGTH, with which these counts of two or more classes, n, take the fewest bits.
 * Of the last level the first 2n - 2 items are taken, and of each level below the items of the pairs taken above. A
 * code is as long as the number of levels in which its class was taken. */
static void choose_lengths(const uint64_t *counts, unsigned class_count, uint8_t lengths[IDXF_CLASSES]) {
    uint8_t classes[IDXF_CLASSES];
    uint64_t weights[IDXF_CLASSES];
    struct level levels[IDXF_MAX_CODE_LENGTH + 1];
    unsigned taken = 2 * class_count - 2;
    memset(lengths, 0, IDXF_CLASSES);
    sort_classes(counts, class_count, classes, weights);
    levels[0].count = 0;
    for (unsigned i = 1; i <= IDXF_MAX_CODE_LENGTH; i++) merge_level(weights, class_count, &levels[i - 1], &levels[i]);
    for (unsigned i = IDXF_MAX_CODE_LENGTH; i > 0 && taken > 0; i--) {
        unsigned classes_taken = 0;
        for (unsigned item = 0; item < taken; item++) {
            if (levels[i].is_class[item]) lengths[classes[classes_taken++]]++;
        }
        taken = 2 * (taken - classes_taken);
    }
}

/* ---- Classes ---- */

/* Returns how many classes have a code, up to the first that has none. */
static unsigned count_classes(const struct idxf_code *code) {
    unsigned count = 0;
    while (count < IDXF_CLASSES && code->lengths[count] > 0) count++;
    return count;
}

/* Returns how many bits the tails of class number `number` have, as struct idxf_code says. */
static unsigned get_tail_bits(unsigned number, unsigned class_count, unsigned near_bits, unsigned bits) {
    if (number == 0) return near_bits;
    return number + 1 == class_count ? idxf_longest_tail(bits) : near_bits + number - 1;
}

/* Sets *code to one with class 0 for differences of up to `near_bits` bits, a class for each number of bits from there
 * up to `most`, and one for all longer ones. Returns the bits that all differences take in it. */
static uint64_t try_classes(struct idxf_code *code, const struct idxf_difference_counts *counts, unsigned near_bits,
                            unsigned most, unsigned bits) {
    unsigned class_count = most - near_bits + 2;
    uint64_t weights[IDXF_CLASSES] = {0}, total = 0;
    for (unsigned length = 1; length <= idxf_longest_tail(bits); length++)
        weights[idxf_class_of(length, near_bits, class_count)] += counts->of[length];
    for (unsigned i = 0; i < class_count; i++) {
        if (weights[i] == 0) weights[i] = 1; /* so that each has a code */
    }
    choose_lengths(weights, class_count, code->lengths);
    code->near_bits = (uint8_t)near_bits;
    for (unsigned i = 0; i < class_count; i++)
        total += weights[i] * (code->lengths[i] + get_tail_bits(i, class_count, near_bits, bits));
    return total;
}

void idxf_code_choose(struct idxf_code *code, const struct idxf_difference_counts *counts, unsigned bits) {
    unsigned first = 1, last = idxf_longest_tail(bits);
    uint64_t least = UINT64_MAX;
    while (last > 1 && counts->of[last] == 0) last--;
    while (first < last && counts->of[first] == 0) first++;
    for (unsigned near_bits = 0; near_bits <= last; near_bits++) {
        /* If class 0 has no difference, only no tail, or one up to just below the least difference, is tried for it. */
        if (near_bits > 0 && near_bits + 1 < first) continue;
        for (unsigned most = near_bits; most <= last; most++) {
            struct idxf_code tried;
            uint64_t total = try_classes(&tried, counts, near_bits, most, bits);
            if (total >= least) continue;
            least = total;
            *code = tried;
        }
    }
}

struct idxf_code_cost idxf_code_cost(const struct idxf_code *code, const struct idxf_difference_counts *counts,
                                     unsigned bits) {
    struct idxf_code_cost cost = {0, 0};
    unsigned class_count = count_classes(code);
    for (unsigned length = 1; length <= idxf_longest_tail(bits); length++) {
        unsigned number = idxf_class_of(length, code->near_bits, class_count);
        cost.codes += counts->of[length] * code->lengths[number];
        cost.tails += counts->of[length] * get_tail_bits(number, class_count, code->near_bits, bits);
    }
    return cost;
}

void idxf_count_differences(struct idxf_difference_counts *counts, uint64_t previous, const uint64_t *fingerprints,
                            size_t count, unsigned bits) {
    for (size_t i = 0; i < count; i++) {
        uint64_t difference = (fingerprints[i] - previous) >> (64 - bits);
        previous = fingerprints[i];
        counts->of[idxf_bit_length(difference)]++;
    }
}

/* ---- Codes ---- */

enum idxf_fault idxf_code_check(const struct idxf_code *code, unsigned bits) {
    unsigned class_count = count_classes(code), total = 0;
    if (class_count < 2 || code->near_bits + class_count - 2 > idxf_longest_tail(bits)) return IDXF_FAULT_CODE;
    for (unsigned i = 0; i < IDXF_CLASSES; i++) {
        unsigned length = code->lengths[i];
        if (length > (i < class_count ? IDXF_MAX_CODE_LENGTH : 0)) return IDXF_FAULT_CODE;
        if (length > 0) total += IDXF_CLASSES >> length;
    }
    return total == IDXF_CLASSES ? IDXF_OK : IDXF_FAULT_CODE;
}

/* Assigns shorter codes first, and among those of one length lower classes first, as DEFLATE does. */
static void assign_codes(const struct idxf_code *code, unsigned class_count, struct idxf_class *classes) {
    unsigned next = 0;
    for (unsigned length = 1; length <= IDXF_MAX_CODE_LENGTH; length++, next <<= 1) {
        for (unsigned i = 0; i < class_count; i++) {
            if (code->lengths[i] != length) continue;
            for (unsigned bit = 0; bit < length; bit++)
                classes[i].code |= (uint8_t)((next >> (length - 1 - bit) & 1) << bit);
            next++;
        }
    }
}

/* At last all codes are xored with that of class 0, so that this one has 0 bits alone: 0 bits, which are behind a
 * chain's codes, then read as the difference 0, which ends it. */
unsigned idxf_code_classes(const struct idxf_code *code, unsigned bits, struct idxf_class classes[IDXF_CLASSES]) {
    unsigned class_count = count_classes(code);
    for (unsigned i = 0; i < class_count; i++) {
        unsigned tail = get_tail_bits(i, class_count, code->near_bits, bits);
        bool leads = i > 0 && i + 1 < class_count;
        classes[i] = (struct idxf_class){0, code->lengths[i], (uint8_t)tail, leads};
    }
    assign_codes(code, class_count, classes);
    for (unsigned i = class_count; i-- > 0;)
        classes[i].code = (uint8_t)((classes[i].code ^ classes[0].code) & idxf_low_bits(classes[i].length));
    return class_count;
}
