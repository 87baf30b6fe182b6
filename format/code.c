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
    unsigned next_class = 0, pair = 0, pair_count = below->count / 2;
    level->count = 0;
    while (next_class < class_count || pair < pair_count) {
        uint64_t pair_weight = pair < pair_count ? below->weights[2 * pair] + below->weights[2 * pair + 1] : UINT64_MAX;
        bool takes_class = next_class < class_count && weights[next_class] <= pair_weight;
        level->is_class[level->count] = takes_class;
        level->weights[level->count++] = takes_class ? weights[next_class] : pair_weight;
        if (takes_class)
            next_class++;
        else
            pair++;
    }
}

/* Sets `classes` to the numbers of all classes by ascending counts, then by number, and `weights` to the counts in that
 * order. */
static void sort_classes(const uint64_t *counts, unsigned class_count, uint8_t *classes, uint64_t *weights) {
    for (unsigned i = 0; i < class_count; i++) {
        unsigned place = i;
        for (; place > 0 && weights[place - 1] > counts[i]; place--) {
            weights[place] = weights[place - 1];
            classes[place] = classes[place - 1];
        }
        weights[place] = counts[i];
        classes[place] = (uint8_t)i;
    }
}

/* Sets lengths[i], up to IDXF_MAX_CODE_LENGTH, so that the sum of counts[i] * lengths[i] is least, and those behind the
 * last class to 0. With n classes (2 or more), package-merge selects the first 2n - 2 items of the last level. Each
 * pair among them selects two items of the level below. A code is as long as the number of levels that select its
 * class. */
static void choose_lengths(const uint64_t *counts, unsigned class_count, uint8_t lengths[IDXF_CLASSES]) {
    uint8_t classes[IDXF_CLASSES];
    uint64_t weights[IDXF_CLASSES];
    struct level levels[IDXF_MAX_CODE_LENGTH + 1];
    unsigned selected_items = 2 * class_count - 2;
    memset(lengths, 0, IDXF_CLASSES);
    sort_classes(counts, class_count, classes, weights);
    levels[0].count = 0;
    for (unsigned i = 1; i <= IDXF_MAX_CODE_LENGTH; i++) merge_level(weights, class_count, &levels[i - 1], &levels[i]);
    for (unsigned i = IDXF_MAX_CODE_LENGTH; i > 0 && selected_items > 0; i--) {
        unsigned selected_classes = 0;
        for (unsigned item = 0; item < selected_items; item++) {
            /* The classes of a level are in ascending order, so the first of them are selected. */
            if (levels[i].is_class[item]) lengths[classes[selected_classes++]]++;
        }
        selected_items = 2 * (selected_items - selected_classes);
    }
}

/* ---- Classes ---- */

/* Returns how many classes have a code, up to the first that has none. */
static unsigned count_classes(const struct idxf_code *code) {
    unsigned count = 0;
    while (count < IDXF_CLASSES && code->lengths[count] > 0) count++;
    return count;
}

/* Returns how many bits the tails of a class have, as struct idxf_code says. Classes are numbered from 0. */
static unsigned get_tail_bits(unsigned class_number, unsigned class_count, unsigned near_bits, unsigned bits) {
    if (class_number == 0) return near_bits;
    return class_number + 1 == class_count ? idxf_get_max_tail_bits(bits) : near_bits + class_number - 1;
}

/* Sets *code to one with class 0 for differences of up to `near_bits` bits, a class for each number of bits from there
 * up to `last_own_length`, and one for all longer ones. Returns how many bits all differences take in it, as if each
 * class had one difference or more. */
static uint64_t make_code(struct idxf_code *code, const struct idxf_difference_counts *counts, unsigned near_bits,
                          unsigned last_own_length, unsigned bits) {
    unsigned class_count = last_own_length - near_bits + 2;
    uint64_t weights[IDXF_CLASSES] = {0}, total_bits = 0;
    for (unsigned length = 1; length <= idxf_get_max_tail_bits(bits); length++)
        weights[idxf_get_class_number(length, near_bits, class_count)] += counts->of[length];
    for (unsigned i = 0; i < class_count; i++) {
        if (weights[i] == 0) weights[i] = 1; /* so that each has a code */
    }
    choose_lengths(weights, class_count, code->lengths);
    code->near_bits = (uint8_t)near_bits;
    for (unsigned i = 0; i < class_count; i++)
        total_bits += weights[i] * (code->lengths[i] + get_tail_bits(i, class_count, near_bits, bits));
    return total_bits;
}

void idxf_code_choose(struct idxf_code *code, const struct idxf_difference_counts *counts, unsigned bits) {
    unsigned min_length = 1, max_length = idxf_get_max_tail_bits(bits);
    uint64_t least_bits = UINT64_MAX;
    while (max_length > 1 && counts->of[max_length] == 0) max_length--;
    while (min_length < max_length && counts->of[min_length] == 0) min_length++;
    for (unsigned near_bits = 0; near_bits <= max_length; near_bits++) {
        /* If class 0 has no difference, two tails are tried for it: none, and the longest with which it stays empty. */
        if (near_bits > 0 && near_bits + 1 < min_length) continue;
        for (unsigned last_own_length = near_bits; last_own_length <= max_length; last_own_length++) {
            struct idxf_code candidate;
            uint64_t total_bits = make_code(&candidate, counts, near_bits, last_own_length, bits);
            if (total_bits >= least_bits) continue;
            least_bits = total_bits;
            *code = candidate;
        }
    }
}

struct idxf_code_cost idxf_code_compute_cost(const struct idxf_code *code, const struct idxf_difference_counts *counts,
                                             unsigned bits) {
    struct idxf_code_cost cost = {0, 0};
    unsigned class_count = count_classes(code);
    for (unsigned length = 1; length <= idxf_get_max_tail_bits(bits); length++) {
        unsigned class_number = idxf_get_class_number(length, code->near_bits, class_count);
        cost.codes += counts->of[length] * code->lengths[class_number];
        cost.tails += counts->of[length] * get_tail_bits(class_number, class_count, code->near_bits, bits);
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
    unsigned class_count = count_classes(code), kraft_sum = 0;
    if (class_count < 2 || code->near_bits + class_count - 2 > idxf_get_max_tail_bits(bits)) return IDXF_FAULT_CODE;
    for (unsigned i = 0; i < IDXF_CLASSES; i++) {
        unsigned length = code->lengths[i];
        if (length > (i < class_count ? IDXF_MAX_CODE_LENGTH : 0)) return IDXF_FAULT_CODE;
        if (length > 0) kraft_sum += IDXF_CLASSES >> length;
    }
    return kraft_sum == IDXF_CLASSES ? IDXF_OK : IDXF_FAULT_CODE;
}

/* Sets the codes of `classes`, which must be 0. Codes ascend with their lengths; among codes of one length, with the
 * class number, as in DEFLATE. The first bit of a code, its highest, is stored as bit 0. */
static void assign_codes(const struct idxf_code *code, unsigned class_count, struct idxf_class *classes) {
    unsigned next_code = 0;
    for (unsigned length = 1; length <= IDXF_MAX_CODE_LENGTH; length++, next_code <<= 1) {
        for (unsigned i = 0; i < class_count; i++) {
            if (code->lengths[i] != length) continue;
            for (unsigned bit = 0; bit < length; bit++)
                classes[i].code |= (uint8_t)((next_code >> (length - 1 - bit) & 1) << bit);
            next_code++;
        }
    }
}

/* All codes are XORed with that of class 0 at last, so that class 0 has the code 0. Bits behind a chain's codes are 0,
 * so they are read as the difference 0, which ends the chain. */
unsigned idxf_code_list_classes(const struct idxf_code *code, unsigned bits, struct idxf_class classes[IDXF_CLASSES]) {
    unsigned class_count = count_classes(code);
    for (unsigned i = 0; i < class_count; i++) {
        unsigned tail = get_tail_bits(i, class_count, code->near_bits, bits);
        bool leads = i > 0 && i + 1 < class_count;
        classes[i] = (struct idxf_class){0, code->lengths[i], (uint8_t)tail, leads};
    }
    assign_codes(code, class_count, classes);
    for (unsigned i = class_count; i-- > 0;) /* class 0 last, since the others need its code */
        classes[i].code = (uint8_t)((classes[i].code ^ classes[0].code) & idxf_low_bits(classes[i].length));
    return class_count;
}
