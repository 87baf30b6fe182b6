/* matching.c: see matching.h. The bits of which few may differ are cut into one part more than there may be errors, so
 * that each pair is the same in a part. The fingerprints are sorted by one part after the other, and those that are the
 * same in it are compared all with all, or by balls where they are many. */
#include "libidx/pairs/matching.h"

#include "format/bytes.h"
#include "format/processor.h"

/* Groups with fewer comparisons than this are compared all with all. */
#define FEW ((uint64_t)1 << 18)

/* Groups of less than twice this are compared with those behind each, without a look for where they end. */
#define SHORT 128

/* The fingerprints that share a part, as far as its bits can be chosen: about 2 to the power of this. */
#define GROUP_LOG 1

/* Masks of bits by which fingerprints are grouped, one after the other. */
struct parts {
    size_t count;
    uint64_t masks[IDX_MAX_K + 1];
};

/* ---- Groups ---- */

/* The end of the group that begins at `begin`. */
static size_t find_end(const struct idxi_matched *side, size_t begin, uint64_t mask) {
    uint64_t value = side->at[begin] & mask;
    size_t end = begin + 1;
    while (end < side->count && (side->at[end] & mask) == value) end++;
    return end;
}

/* Compares groups, or where `b` is NULL, one within itself. */
static void match_group(struct idxi_balls *balls, const uint64_t *a, size_t a_count, const uint64_t *b,
                        size_t b_count) {
    if ((b == NULL ? (uint64_t)a_count * a_count / 2 : (uint64_t)a_count * b_count) > FEW)
        idxi_balls_match(balls, a, a_count, b, b_count);
    else if (b == NULL)
        balls->way->within(&balls->comparison, a, a_count);
    else
        balls->way->between(&balls->comparison, a, a_count, b, b_count);
}

/* Whether groups of one side are surely small. */
static bool has_short_runs(const struct idxi_matched *a, uint64_t mask) {
    uint64_t least = mask;
    for (size_t i = SHORT; i < a->count; i += SHORT) {
        uint64_t differing = (a->at[i] ^ a->at[i - SHORT]) & mask;
        if (differing < least) least = differing;
    }
    return a->count <= SHORT || least > 0;
}

/* Matches the groups of fingerprints that are the same in `mask`, by which the side is sorted. */
static void match_within(struct idxi_balls *balls, const struct idxi_matched *a, uint64_t mask) {
    if (has_short_runs(a, mask)) {
        balls->way->runs(&balls->comparison, a->at, a->count, mask);
        return;
    }
    for (size_t i = 0, end; i < a->count; i = end) {
        end = find_end(a, i, mask);
        match_group(balls, a->at + i, end - i, NULL, 0);
    }
}

static void match_between(struct idxi_balls *balls, const struct idxi_matched *a, const struct idxi_matched *b,
                          uint64_t mask) {
    for (size_t i = 0, j = 0, end; i < a->count; i = end) {
        end = find_end(a, i, mask);
        while (j < b->count && (b->at[j] & mask) < (a->at[i] & mask)) j++;
        if (j == b->count) return;
        if ((b->at[j] & mask) != (a->at[i] & mask)) continue;
        size_t other_end = find_end(b, j, mask);
        match_group(balls, a->at + i, end - i, b->at + j, other_end - j);
        j = other_end;
    }
}

/* ---- All ---- */

/* The bits worth sorting so many fingerprints by. */
static unsigned count_useful_bits(size_t count) {
    unsigned bits = count < 2 ? 1 : 64 - (unsigned)__builtin_clzll(count);
    return bits > GROUP_LOG + 1 ? bits - GROUP_LOG : 1;
}

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
    idxi_compare_sort(matching->balls.way, side->at, side->count, mask, side->room, matching->counts);
    return (struct idxi_matched){side->room, side->room, side->count};
}

void idxi_match(struct idxi_matching *matching, const struct idxi_matched *a, const struct idxi_matched *b,
                uint64_t narrow, unsigned errors, bool ascending) {
    struct parts parts;
    struct idxi_balls *balls = &matching->balls;
    if (a->count == 0 || (b != NULL && b->count == 0)) return;
    unsigned useful = count_useful_bits(b != NULL && b->count > a->count ? b->count : a->count);
    size_t before = balls->before_count;
    if (useful > IDXI_SORTED_BITS) useful = IDXI_SORTED_BITS;
    cover(&parts, narrow, errors, ascending && errors == 0 ? 64 : useful);
    for (size_t i = 0; i < parts.count; i++) {
        bool leads = ascending && i == 0;
        struct idxi_matched x = leads ? *a : get_sorted(matching, a, parts.masks[i]);
        if (b == NULL) {
            match_within(balls, &x, parts.masks[i]);
        } else {
            struct idxi_matched y = leads ? *b : get_sorted(matching, b, parts.masks[i]);
            match_between(balls, &x, &y, parts.masks[i]);
        }
        balls->before[balls->before_count++] = (struct idxi_ball){parts.masks[i], 0};
    }
    balls->before_count = before;
}
