/* matching.c: see matching.h. The bits in which a pair may have some errors are cut into one part more than that, so
 * that each pair agrees in at least one part. The fingerprints are sorted by one part after the other, and those that
 * agree in it are compared all with all, or by balls if they are many. */
#include "libidx/pairs/matching.h"

#include "format/bytes.h"
#include "format/processor.h"

/* Groups are compared all with all if that takes no more comparisons than this. */
#define MAX_ALL_WITH_ALL ((uint64_t)1 << 18)

/* If all groups are shorter than 2 * SHORT_GROUP fingerprints, each fingerprint is compared with those after it until
 * the group ends, without searching for its end first. */
#define SHORT_GROUP 128

/* Parts are made so wide that groups have about 2^GROUP_LOG fingerprints, if there are bits enough. */
#define GROUP_LOG 1

/* The masks of bits by which fingerprints are grouped, in the order in which they are sorted by them. */
struct parts {
    size_t count;
    uint64_t masks[IDX_MAX_K + 1];
};

/* ---- Groups ---- */

/* Returns where the group that begins at `begin` ends, in a side that is sorted by `mask`. */
static size_t find_group_end(const struct idxi_match_side *side, size_t begin, uint64_t mask) {
    uint64_t value = side->values[begin] & mask;
    size_t end = begin + 1;
    while (end < side->count && (side->values[end] & mask) == value) end++;
    return end;
}

/* Finds the pairs between two groups, or within one if `b` is NULL: by balls if that takes many comparisons. */
static void match_group(struct idxi_balls *balls, const uint64_t *a, size_t a_count, const uint64_t *b,
                        size_t b_count) {
    if ((b == NULL ? (uint64_t)a_count * a_count / 2 : (uint64_t)a_count * b_count) > MAX_ALL_WITH_ALL)
        idxi_balls_search_alone(balls, a, a_count, b, b_count);
    else if (b == NULL)
        balls->way->within(&balls->comparison, a, a_count);
    else
        balls->way->between(&balls->comparison, a, a_count, b, b_count);
}

/* Returns whether all groups of a side that is sorted by `mask` surely have fewer than 2 * SHORT_GROUP fingerprints. It
 * looks at every SHORT_GROUP-th fingerprint alone: a longer group would have two successive ones of these. */
static bool has_short_groups(const struct idxi_match_side *a, uint64_t mask) {
    uint64_t least_differing = mask;
    for (size_t i = SHORT_GROUP; i < a->count; i += SHORT_GROUP) {
        uint64_t differing = (a->values[i] ^ a->values[i - SHORT_GROUP]) & mask;
        if (differing < least_differing) least_differing = differing;
    }
    return a->count <= SHORT_GROUP || least_differing > 0;
}

/* Finds the pairs within each group of a side, which is sorted by `mask`. */
static void match_groups_within(struct idxi_balls *balls, const struct idxi_match_side *a, uint64_t mask) {
    if (has_short_groups(a, mask)) {
        balls->way->runs(&balls->comparison, a->values, a->count, mask);
        return;
    }
    for (size_t i = 0, end; i < a->count; i = end) {
        end = find_group_end(a, i, mask);
        match_group(balls, a->values + i, end - i, NULL, 0);
    }
}

/* Finds the pairs between two sides, both sorted by `mask`: merges them, and matches the groups that agree in `mask`.
 */
static void match_groups_between(struct idxi_balls *balls, const struct idxi_match_side *a,
                                 const struct idxi_match_side *b, uint64_t mask) {
    for (size_t i = 0, j = 0, a_end; i < a->count; i = a_end) {
        a_end = find_group_end(a, i, mask);
        while (j < b->count && (b->values[j] & mask) < (a->values[i] & mask)) j++;
        if (j == b->count) return;
        if ((b->values[j] & mask) != (a->values[i] & mask)) continue;
        size_t b_end = find_group_end(b, j, mask);
        match_group(balls, a->values + i, a_end - i, b->values + j, b_end - j);
        j = b_end;
    }
}

/* ---- All ---- */

/* Returns how many bits are worth sorting `count` fingerprints by: more would only make groups empty. */
static unsigned count_useful_bits(size_t count) {
    unsigned bits = count < 2 ? 1 : 64 - (unsigned)__builtin_clzll(count);
    return bits > GROUP_LOG + 1 ? bits - GROUP_LOG : 1;
}

/* Chooses masks of `bits`, each of at most `max_bits` bits, such that fingerprints that differ in up to `errors` of
 * `bits` agree in at least one mask. By the pigeonhole principle, errors + 1 disjoint masks suffice. For one error
 * these are two halves, or if halves have clearly fewer than `max_bits` bits, three masks that each leave out a third.
 * If there are too few bits for so many masks, a single mask of no bits makes one group of all. The first mask has the
 * highest bits, so that ascending fingerprints are in its order. */
static void choose_masks(struct parts *parts, uint64_t bits, unsigned errors, unsigned max_bits) {
    unsigned bit_count = idxf_count_bits(bits);
    size_t mask_count = errors + 1;
    bool leaves_one_out = errors == 1 && bit_count / 2 + 3 < max_bits && bit_count >= 3;
    if (leaves_one_out) mask_count = 3;
    uint64_t rest_bits = bits;
    parts->count = mask_count <= bit_count ? mask_count : 1;
    for (size_t i = 0; i < parts->count; i++) {
        uint64_t part = idxi_keep_highest_bits(rest_bits, bit_count / (unsigned)mask_count);
        if (leaves_one_out && i == 2) part = rest_bits;
        parts->masks[i] = mask_count <= bit_count ? part : 0;
        rest_bits &= ~part;
    }
    for (size_t i = 0; i < parts->count && leaves_one_out; i++) parts->masks[i] = bits & ~parts->masks[i];
    if (leaves_one_out) { /* The mask that leaves out the lowest third has the highest bits. */
        uint64_t leading = parts->masks[2];
        parts->masks[2] = parts->masks[0];
        parts->masks[0] = leading;
    }
    for (size_t i = 0; i < parts->count; i++) parts->masks[i] = idxi_keep_highest_bits(parts->masks[i], max_bits);
}

/* Copies a side to its `spare`, sorted by `mask`, and returns the copy. That has no memory of its own to be sorted
 * again. */
static struct idxi_match_side copy_sorted(struct idxi_matching *matching, const struct idxi_match_side *side,
                                          uint64_t mask) {
    idxi_sort_by_mask(matching->balls.way, side->values, side->count, mask, side->spare, matching->counts);
    return (struct idxi_match_side){.values = side->spare, .spare = side->spare, .count = side->count};
}

void idxi_match_sides(struct idxi_matching *matching, const struct idxi_match_side *a, const struct idxi_match_side *b,
                      uint64_t error_mask, unsigned max_errors, bool ascending) {
    struct parts parts;
    struct idxi_balls *balls = &matching->balls;
    if (a->count == 0 || (b != NULL && b->count == 0)) return;
    unsigned max_bits = count_useful_bits(b != NULL && b->count > a->count ? b->count : a->count);
    size_t earlier_ball_count = balls->comparison.before_count;
    if (max_bits > IDXI_SORTED_BITS) max_bits = IDXI_SORTED_BITS;
    /* Without errors, sides that ascend are in order by all bits already, so that more bits cost no sorting. */
    choose_masks(&parts, error_mask, max_errors, ascending && max_errors == 0 ? 64 : max_bits);
    for (size_t i = 0; i < parts.count; i++) {
        bool is_sorted = ascending && i == 0;
        struct idxi_match_side sorted_a = is_sorted ? *a : copy_sorted(matching, a, parts.masks[i]);
        if (b == NULL) {
            match_groups_within(balls, &sorted_a, parts.masks[i]);
        } else {
            struct idxi_match_side sorted_b = is_sorted ? *b : copy_sorted(matching, b, parts.masks[i]);
            match_groups_between(balls, &sorted_a, &sorted_b, parts.masks[i]);
        }
        idxi_balls_add_searched(balls, (struct idxi_ball){parts.masks[i], 0});
    }
    balls->comparison.before_count = earlier_ball_count;
}
