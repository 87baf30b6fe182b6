/* matching.c: at most d errors leave one of d + 1 parts of a fingerprint unchanged. So fingerprints are sorted by each
 * part in turn, and only those that agree in it are compared: all with all if they are few, else by parts again, of the
 * bits in which they still differ. A pair that several parts find belongs to the first. */
#include "libidx/pairs/matching.h"

#include <string.h>

#include "format/bytes.h"
#include "format/processor.h"

/* Groups of this average size or less are compared all with all. */
#define FEW 128

/* The fingerprints that share a part, as far as its bits can be chosen: about 2 to the power of this. */
#define GROUP_LOG 1

/* The number of fingerprints in which set bits are counted. */
#define SAMPLED 64

/* Masks of bits by which fingerprints are grouped, one after the other. */
struct parts {
    size_t count;
    uint64_t masks[IDX_MAX_K + 1];
};

static void visit(struct idxi_comparison *comparison, uint64_t a, uint64_t b) {
    struct idxi_matching *matching = (struct idxi_matching *)comparison;
    for (size_t i = 0; i < matching->before_count; i++) {
        if (((a ^ b) & matching->before[i]) == 0) return;
    }
    matching->found(matching->context, a, b);
}

void idxi_matching_init(struct idxi_matching *matching, unsigned distance) {
    memset(matching, 0, sizeof *matching);
    matching->way = idxi_compare_widest();
    matching->comparison.distance = distance;
    matching->comparison.visit = visit;
}

/* The bits worth sorting so many fingerprints by. */
static unsigned count_useful_bits(size_t count) {
    unsigned bits = count < 2 ? 1 : 64 - (unsigned)__builtin_clzll(count);
    return bits > GROUP_LOG + 1 ? bits - GROUP_LOG : 1;
}

static size_t most(const struct idxi_matched *a, const struct idxi_matched *b) {
    return b != NULL && b->count > a->count ? b->count : a->count;
}

static bool are_few(const struct idxi_matched *a, const struct idxi_matched *b) {
    if (b == NULL) return a->count <= 2 * FEW;
    return a->count * b->count <= FEW * (a->count + b->count);
}

static void compare_all(struct idxi_matching *matching, const struct idxi_matched *a, const struct idxi_matched *b) {
    if (b == NULL)
        matching->way->within(&matching->comparison, a->at, a->count);
    else
        matching->way->between(&matching->comparison, a->at, a->count, b->at, b->count);
}

/* ---- Parts ---- */

/* How fingerprints vary. */
struct variety {
    uint64_t varying; /* bits */
    unsigned left;    /* errors that a pair may have among these */
    unsigned left_in_prefix;
    bool any; /* whether a pair can be near, and was not found before */
};

static void add_bits(const struct idxi_matched *side, uint64_t *set, uint64_t *common) {
    *set = 0;
    *common = ~UINT64_C(0);
    for (size_t i = 0; i < side->count; i++) {
        *set |= side->at[i];
        *common &= side->at[i];
    }
}

static struct variety find_variety(const struct idxi_matching *matching, const struct idxi_matched *a,
                                   const struct idxi_matched *b) {
    struct variety variety;
    uint64_t set, common, errors = 0;
    add_bits(a, &set, &common);
    variety.varying = set ^ common;
    if (b != NULL) {
        uint64_t other_set, other_common;
        add_bits(b, &other_set, &other_common);
        variety.varying |= other_set ^ other_common;
        errors = (common ^ other_common) & ~variety.varying;
    }
    unsigned distance = matching->comparison.distance, in_all = idxf_count_bits(errors);
    unsigned in_prefix = idxf_count_bits(errors & matching->narrow);
    variety.any = in_all <= distance && in_prefix <= matching->errors;
    for (size_t i = 0; i < matching->before_count; i++)
        variety.any &= ((variety.varying | errors) & matching->before[i]) != 0;
    variety.left = variety.any ? distance - in_all : 0;
    variety.left_in_prefix = variety.any ? matching->errors - in_prefix : 0;
    if (variety.left_in_prefix > variety.left) variety.left_in_prefix = variety.left;
    return variety;
}

/* Counts how often each bit differs from the most frequent value, in a sample. */
static void count_bits(const struct idxi_matched *side, unsigned rare[64]) {
    unsigned set[64] = {0};
    size_t step = side->count / SAMPLED > 0 ? side->count / SAMPLED : 1, taken = 0;
    for (size_t i = 0; i < side->count && taken < SAMPLED; i += step, taken++) {
        for (unsigned bit = 0; bit < 64; bit++) set[bit] += (unsigned)(side->at[i] >> bit & 1);
    }
    for (unsigned bit = 0; bit < 64; bit++) rare[bit] += set[bit] * 2 < taken ? set[bit] : (unsigned)taken - set[bit];
}

/* Deals the bits of `bits`, those first that tell the most apart, to `count` parts, up to `width` to each. */
static void deal(struct parts *parts, uint64_t bits, size_t count, unsigned width, const unsigned rare[64]) {
    memset(parts, 0, sizeof *parts);
    parts->count = count;
    for (size_t dealt = 0; dealt < count * width; dealt++) {
        unsigned best = (unsigned)__builtin_ctzll(bits);
        for (uint64_t left = bits; left != 0; left &= left - 1) {
            unsigned bit = (unsigned)__builtin_ctzll(left);
            if (rare[bit] >= rare[best]) best = bit;
        }
        bits &= ~(UINT64_C(1) << best);
        parts->masks[dealt % count] |= UINT64_C(1) << best;
    }
}

/* How many bits each part has that `bits` are cut into. */
static unsigned get_width(uint64_t bits, unsigned errors, unsigned useful) {
    unsigned width = idxf_count_bits(bits) / (errors + 1);
    if (width > IDXI_SORTED_BITS) width = IDXI_SORTED_BITS;
    return width < useful ? width : useful;
}

/* Cuts fingerprints into one part more than there can be errors: among the varying bits of the prefix, where these are
 * as wide as those of all varying bits would be. No parts where even single bits are too few: then all pairs are near.
 */
static void cut(struct parts *parts, const struct idxi_matching *matching, const struct variety *variety,
                const struct idxi_matched *a, const struct idxi_matched *b) {
    unsigned rare[64] = {0}, useful = count_useful_bits(most(a, b));
    uint64_t in_prefix = variety->varying & matching->narrow;
    unsigned width = get_width(variety->varying, variety->left, useful);
    unsigned prefix_width = get_width(in_prefix, variety->left_in_prefix, useful);
    parts->count = 0;
    if (width == 0) return;
    count_bits(a, rare);
    if (b != NULL) count_bits(b, rare);
    if (prefix_width >= width)
        deal(parts, in_prefix, variety->left_in_prefix + 1, prefix_width, rare);
    else
        deal(parts, variety->varying, variety->left + 1, width, rare);
}

/* ---- Groups ---- */

static void match(struct idxi_matching *matching, const struct idxi_matched *a, const struct idxi_matched *b);

/* The end of the group that begins at `begin`. */
static size_t find_end(const struct idxi_matched *side, size_t begin, uint64_t mask) {
    uint64_t value = side->at[begin] & mask;
    size_t end = begin + 1;
    while (end < side->count && (side->at[end] & mask) == value) end++;
    return end;
}

static struct idxi_matched get_group(const struct idxi_matched *side, size_t begin, size_t end) {
    return (struct idxi_matched){side->at + begin, side->room + begin, side->more_room + begin, end - begin};
}

/* Copies a group that must stay as it is. */
static void copy_group(struct idxi_matched *group) {
    memcpy(group->room, group->at, group->count * sizeof *group->room);
    group->at = group->room;
    group->room = group->more_room;
}

static void match_group(struct idxi_matching *matching, struct idxi_matched *a, struct idxi_matched *b, bool keep) {
    if (are_few(a, b)) {
        compare_all(matching, a, b);
        return;
    }
    if (keep) copy_group(a);
    if (keep && b != NULL) copy_group(b);
    match(matching, a, b);
}

/* Whether groups of one side are surely small. */
static bool has_short_runs(const struct idxi_matched *a, uint64_t mask) {
    uint64_t least = mask;
    for (size_t i = FEW; i < a->count; i += FEW) {
        uint64_t differing = (a->at[i] ^ a->at[i - FEW]) & mask;
        if (differing < least) least = differing;
    }
    return a->count <= FEW || least > 0;
}

/* Matches the groups of fingerprints that are the same in `mask`, by which both sides are sorted. With `keep` the
 * sides stay as they are; else their order within groups is lost. */
static void match_groups(struct idxi_matching *matching, const struct idxi_matched *a, const struct idxi_matched *b,
                         uint64_t mask, bool keep) {
    if (b == NULL && has_short_runs(a, mask)) {
        matching->way->runs(&matching->comparison, a->at, a->count, mask);
        return;
    }
    for (size_t i = 0, j = 0; i < a->count;) {
        size_t end = find_end(a, i, mask);
        struct idxi_matched group = get_group(a, i, end);
        if (b == NULL) {
            if (end - i > 1) match_group(matching, &group, NULL, keep);
        } else {
            while (j < b->count && (b->at[j] & mask) < (a->at[i] & mask)) j++;
            if (j == b->count) return;
            if ((b->at[j] & mask) == (a->at[i] & mask)) {
                size_t other_end = find_end(b, j, mask);
                struct idxi_matched other = get_group(b, j, other_end);
                match_group(matching, &group, &other, keep);
                j = other_end;
            }
        }
        i = end;
    }
}

/* Sorts into the room, which becomes what it is at. */
static void sort(struct idxi_matching *matching, struct idxi_matched *side, uint64_t mask) {
    uint64_t *from = (uint64_t *)(uintptr_t)side->at;
    idxi_compare_sort(matching->way, from, side->count, mask, side->room, matching->counts);
    side->at = side->room;
    side->room = from;
    side->more_room = side->room;
}

/* Brings a side back to where it was. Its order is another. */
static void bring_back(const struct idxi_matched *now, const struct idxi_matched *before) {
    if (now->at != before->at) memcpy((uint64_t *)(uintptr_t)before->at, now->at, now->count * sizeof *now->at);
}

/* Matches sides of any size, whose order is lost: each may be exchanged with its room. */
static void match(struct idxi_matching *matching, const struct idxi_matched *a, const struct idxi_matched *b) {
    struct variety variety = find_variety(matching, a, b);
    struct parts parts;
    if (!variety.any || !matching->goes_on(matching->context)) return;
    cut(&parts, matching, &variety, a, b);
    if (parts.count == 0) compare_all(matching, a, b);
    if (parts.count == 0) return;
    struct idxi_matched x = *a, y = b == NULL ? (struct idxi_matched){0} : *b;
    for (size_t i = 0; i < parts.count; i++) {
        sort(matching, &x, parts.masks[i]);
        if (b != NULL) sort(matching, &y, parts.masks[i]);
        match_groups(matching, &x, b == NULL ? NULL : &y, parts.masks[i], false);
        matching->before[matching->before_count++] = parts.masks[i];
    }
    matching->before_count -= parts.count;
    bring_back(&x, a);
    if (b != NULL) bring_back(&y, b);
}

/* ---- All ---- */

/* The highest `count` bits of a set, or all. */
static uint64_t get_highest(uint64_t bits, unsigned count) {
    while (idxf_count_bits(bits) > count) bits &= bits - 1;
    return bits;
}

/* Chooses masks, so that errors in `bits` leave at least one of them unchanged, and none has more bits than are useful.
 * With one error: all of three parts but one, if half of the bits would not suffice. The first masks lead. */
static void cover(struct parts *parts, uint64_t bits, unsigned errors, unsigned useful) {
    unsigned all = idxf_count_bits(bits);
    size_t count = errors + 1;
    bool leaves_one_out = errors == 1 && all / 2 + 3 < useful && all >= 3;
    if (leaves_one_out) count = 3;
    uint64_t rest = bits;
    parts->count = count <= all ? count : 1;
    for (size_t i = 0; i < parts->count; i++) {
        uint64_t part = get_highest(rest, all / (unsigned)count);
        if (leaves_one_out && i == 2) part = rest;
        parts->masks[i] = count <= all ? part : 0;
        rest &= ~part;
    }
    for (size_t i = 0; i < parts->count && leaves_one_out; i++) parts->masks[i] = bits & ~parts->masks[i];
    if (leaves_one_out) {
        uint64_t leading = parts->masks[2];
        parts->masks[2] = parts->masks[0];
        parts->masks[0] = leading;
    }
    for (size_t i = 0; i < parts->count; i++) parts->masks[i] = get_highest(parts->masks[i], useful);
}

/* A side's copy, sorted. */
static struct idxi_matched get_sorted(struct idxi_matching *matching, const struct idxi_matched *side, uint64_t mask) {
    idxi_compare_sort(matching->way, side->at, side->count, mask, side->room, matching->counts);
    return (struct idxi_matched){side->room, side->more_room, side->more_room, side->count};
}

void idxi_match(struct idxi_matching *matching, const struct idxi_matched *a, const struct idxi_matched *b,
                uint64_t narrow, unsigned errors, bool ascending) {
    struct parts parts;
    if (a->count == 0 || (b != NULL && b->count == 0)) return;
    unsigned useful = count_useful_bits(most(a, b)), sorted = useful < IDXI_SORTED_BITS ? useful : IDXI_SORTED_BITS;
    size_t before = matching->before_count;
    matching->narrow = narrow;
    matching->errors = errors;
    cover(&parts, narrow, errors, ascending && errors == 0 ? 64 : sorted);
    for (size_t i = 0; i < parts.count; i++) {
        bool leads = ascending && i == 0;
        struct idxi_matched x = *a, y = b == NULL ? *a : *b;
        if (!leads) x = get_sorted(matching, a, parts.masks[i]);
        if (!leads && b != NULL) y = get_sorted(matching, b, parts.masks[i]);
        match_groups(matching, &x, b == NULL ? NULL : &y, parts.masks[i], leads);
        matching->before[matching->before_count++] = parts.masks[i];
    }
    matching->before_count = before;
}
