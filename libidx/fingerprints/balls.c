/* balls.c: see balls.h. The bits are cut into m parts with radii whose sum is k - m + 1. Were a pair within k bits to
 * differ in more bits than the radius in each part, it would differ in more than k bits (Norouzi, Punjani, Fleet: Fast
 * Search in Hamming Space with Multi-Index Hashing, CVPR 2012; the radii here may be uneven). For each part the
 * fingerprints are sorted into buckets by its bits. Each bucket is compared with all buckets whose values differ in at
 * most the radius. A pair that several parts find belongs to the first one. */
#include "libidx/fingerprints/balls.h"

#include <stdlib.h>
#include <string.h>

#include "format/bytes.h"
#include "format/processor.h"
#include "libidx/base/base.h"

/* Two buckets with more comparisons than this are cut again, if that is expected to pay. */
#define LARGE ((uint64_t)1 << 20)

/* Buckets of a tile: two tiles with their fingerprints stay in the second cache. */
#define TILE_BITS 10

/* A mask has at most so many bits. */
#define MAX_WIDTH 22

#define SAMPLED 64

/* What is expected on one core, in nanoseconds. */
#define SORT_TIME 6.0 /* sorting a fingerprint into its bucket, */
#define CACHED_BITS 16
#define FAR_TIME 1.5    /* and for each bit more than these */
#define VISIT_TIME 12.0 /* going on to the next two buckets */

/* ---- How to cut ---- */

/* How the fingerprints vary. */
struct spectrum {
    uint64_t varying; /* bits */
    unsigned ranked_count;
    unsigned char ranked[64]; /* the varying bits, those first that tell the most apart */
    unsigned left;            /* errors that a pair may have in them */
    bool any;                 /* whether a pair can be within the distance */
    uint64_t a[SAMPLED], b[SAMPLED];
    size_t a_sampled, b_sampled;
};

static size_t take_sample(const uint64_t *from, size_t count, uint64_t sample[SAMPLED]) {
    size_t taken = count < SAMPLED ? count : SAMPLED;
    for (size_t i = 0; i < taken; i++) sample[i] = from[count * i / taken];
    return taken;
}

static void add_bits(const uint64_t *side, size_t count, uint64_t *set, uint64_t *common) {
    *set = 0;
    *common = ~UINT64_C(0);
    for (size_t i = 0; i < count; i++) {
        *set |= side[i];
        *common &= side[i];
    }
}

/* Ranks the varying bits by how often they differ between two of the sample. */
static void rank_bits(struct spectrum *spectrum) {
    unsigned differing[64] = {0};
    for (unsigned bit = 0; bit < 64; bit++) {
        unsigned a_set = 0, b_set = 0;
        for (size_t i = 0; i < spectrum->a_sampled; i++) a_set += (unsigned)(spectrum->a[i] >> bit & 1);
        for (size_t i = 0; i < spectrum->b_sampled; i++) b_set += (unsigned)(spectrum->b[i] >> bit & 1);
        differing[bit] =
            a_set * ((unsigned)spectrum->b_sampled - b_set) + b_set * ((unsigned)spectrum->a_sampled - a_set);
    }
    spectrum->ranked_count = 0;
    for (uint64_t left = spectrum->varying; left != 0; left &= left - 1) {
        unsigned bit = (unsigned)__builtin_ctzll(left), at = spectrum->ranked_count++;
        for (; at > 0 && differing[spectrum->ranked[at - 1]] < differing[bit]; at--)
            spectrum->ranked[at] = spectrum->ranked[at - 1];
        spectrum->ranked[at] = (unsigned char)bit;
    }
}

static void find_spectrum(struct spectrum *spectrum, unsigned distance, const uint64_t *a, size_t a_count,
                          const uint64_t *b, size_t b_count) {
    uint64_t set, common, errors = 0;
    add_bits(a, a_count, &set, &common);
    spectrum->varying = set ^ common;
    spectrum->a_sampled = take_sample(a, a_count, spectrum->a);
    spectrum->b_sampled = take_sample(b == NULL ? a : b, b == NULL ? a_count : b_count, spectrum->b);
    if (b != NULL) {
        uint64_t other_set, other_common;
        add_bits(b, b_count, &other_set, &other_common);
        spectrum->varying |= other_set ^ other_common;
        errors = (common ^ other_common) & ~spectrum->varying;
    }
    spectrum->any = idxf_count_bits(errors) <= distance;
    spectrum->left = spectrum->any ? distance - idxf_count_bits(errors) : 0;
    rank_bits(spectrum);
}

/* The radius of part `number` of `parts`. */
static unsigned get_radius(unsigned distance, unsigned parts, unsigned number) {
    return (distance + 1) / parts - 1 + (number < (distance + 1) % parts ? 1 : 0);
}

/* What comparing takes, where a share of all pairs is compared in buckets of these sizes. */
static double get_compare_time(const struct idxi_compare_way *way, double pairs, double bucket) {
    return pairs * way->vector_time / (double)way->lanes * (1 + (double)way->lanes / 2 / (bucket < 1 ? 1 : bucket));
}

struct sizes {
    double a, b;
    bool within;
};

static double get_time(const struct idxi_compare_way *way, const struct sizes *sizes, unsigned distance, unsigned parts,
                       unsigned width) {
    double values = (double)((uint64_t)1 << width), half = sizes->within ? 0.5 : 1, time = 0;
    double sort = SORT_TIME + (width > CACHED_BITS ? (width - CACHED_BITS) * FAR_TIME : 0);
    for (unsigned i = 0; i < parts; i++) {
        double ball = idxi_count_patterns(width, get_radius(distance, parts, i)) * half;
        time += (sizes->a + (sizes->within ? 0 : sizes->b)) * sort + ball * values * VISIT_TIME;
        time += get_compare_time(way, ball / values * sizes->a * sizes->b, sizes->b / values);
    }
    return time;
}

/* Deals the ranked bits to the balls. */
static void deal(struct idxi_cut *cut, const struct spectrum *spectrum, unsigned parts, unsigned width) {
    cut->count = parts;
    cut->width = width;
    for (unsigned i = 0; i < parts; i++) cut->balls[i] = (struct idxi_ball){0, get_radius(spectrum->left, parts, i)};
    for (unsigned i = 0; i < parts * width; i++) cut->balls[i % parts].mask |= UINT64_C(1) << spectrum->ranked[i];
}

/* The share of all pairs that are in a ball, in the sample, summed over the balls. */
static double get_sampled_share(const struct idxi_cut *cut, const struct spectrum *spectrum, bool within) {
    size_t found = 0, compared = 0;
    for (size_t i = 0; i < spectrum->a_sampled; i++) {
        for (size_t j = 0; j < spectrum->b_sampled; j++) {
            if (within && i == j) continue;
            uint64_t errors = spectrum->a[i] ^ spectrum->b[j];
            for (size_t n = 0; n < cut->count; n++)
                found += idxf_count_bits(errors & cut->balls[n].mask) <= cut->balls[n].radius;
            compared++;
        }
    }
    return compared == 0 ? 0 : (double)found / (double)compared;
}

/* Cutting is given up where it is expected to save less than a third of the comparisons. This also bounds what is
 * compared again and again where most fingerprints are near to each other. */
#define WORTH 0.66

struct layout {
    unsigned parts, width;
    double time;
};

/* The fastest way to cut so many bits; without parts where comparing all with all is as fast. */
static struct layout choose_layout(const struct idxi_compare_way *way, const struct sizes *sizes, unsigned distance,
                                   unsigned bits) {
    double pairs = sizes->a * sizes->b * (sizes->within ? 0.5 : 1);
    struct layout best = {0, 0, get_compare_time(way, pairs, sizes->b) * WORTH};
    for (unsigned parts = 1; parts <= distance + 1 && parts <= bits; parts++) {
        for (unsigned width = 1; width <= MAX_WIDTH && width * parts <= bits; width++) {
            if ((double)((uint64_t)1 << width) > 2 * (sizes->a + sizes->b)) break;
            double time = get_time(way, sizes, distance, parts, width);
            if (time < best.time) best = (struct layout){parts, width, time};
        }
    }
    if (best.parts == 0) best.time /= WORTH;
    return best;
}

static void choose(struct idxi_cut *cut, const struct idxi_compare_way *way, const struct spectrum *spectrum,
                   const struct sizes *sizes) {
    double pairs = sizes->a * sizes->b * (sizes->within ? 0.5 : 1), all = get_compare_time(way, pairs, sizes->b);
    struct layout layout = choose_layout(way, sizes, spectrum->left, spectrum->ranked_count);
    if (layout.parts == 0) return;
    deal(cut, spectrum, layout.parts, layout.width);
    double compared = get_compare_time(way, get_sampled_share(cut, spectrum, sizes->within) * pairs, sizes->b);
    if (compared > all * WORTH) cut->count = 0;
}

double idxi_cut_expect(const struct idxi_compare_way *way, unsigned distance, unsigned bits, double a, double b) {
    struct sizes sizes = {a, b > 0 ? b : a, b <= 0};
    return choose_layout(way, &sizes, distance, bits).time;
}

void idxi_cut_choose(struct idxi_cut *cut, const struct idxi_compare_way *way, unsigned distance, const uint64_t *a,
                     size_t a_count, const uint64_t *b, size_t b_count) {
    struct spectrum spectrum;
    memset(cut, 0, sizeof *cut);
    if (a_count == 0 || (b != NULL && b_count == 0)) return;
    find_spectrum(&spectrum, distance, a, a_count, b, b_count);
    struct sizes sizes = {(double)a_count, (double)(b == NULL ? a_count : b_count), b == NULL};
    if (spectrum.any) choose(cut, way, &spectrum, &sizes);
}

/* ---- Search ---- */

static void visit(struct idxi_comparison *comparison, uint64_t a, uint64_t b) {
    struct idxi_balls *balls = (struct idxi_balls *)comparison;
    for (size_t i = 0; i < balls->before_count; i++) {
        uint64_t errors = (a ^ b) & balls->before[i].mask;
        if (errors == 0 || idxf_count_bits(errors) <= balls->before[i].radius) return;
    }
    balls->found(balls->context, a, b);
}

static void match_large(struct idxi_comparison *comparison, const uint64_t *a, size_t a_count, const uint64_t *b,
                        size_t b_count) {
    struct idxi_balls *balls = (struct idxi_balls *)comparison;
    if (balls->goes_on(balls->context)) idxi_balls_match(balls, a, a_count, b, b_count);
}

void idxi_balls_init(struct idxi_balls *balls, unsigned distance) {
    memset(balls, 0, sizeof *balls);
    balls->way = idxi_compare_widest();
    balls->comparison = (struct idxi_comparison){distance, visit, match_large, LARGE};
}

static void compare_all(struct idxi_balls *balls, const uint64_t *a, size_t a_count, const uint64_t *b,
                        size_t b_count) {
    /* Some at a time, so that the search can end early. */
    for (size_t i = 0; i < a_count && balls->goes_on(balls->context); i += 1024) {
        size_t some = a_count - i < 1024 ? a_count - i : 1024;
        if (b == NULL) {
            balls->way->within(&balls->comparison, a + i, some);
            balls->way->between(&balls->comparison, a + i, some, a + i + some, a_count - i - some);
        } else {
            balls->way->between(&balls->comparison, a + i, some, b, b_count);
        }
    }
}

/* The next number with as many bits set. */
static uint64_t get_next_combination(uint64_t bits) {
    uint64_t lowest = bits & -bits, ripple = bits + lowest;
    return ripple | ((bits ^ ripple) >> 2) / lowest;
}

/* The bits of a value that tell tiles apart. */
static unsigned get_high_bits(const struct idxi_sorted *sorted) {
    return sorted->width > TILE_BITS ? sorted->width - TILE_BITS : 0;
}

/* The number of combinations of at most `radius` of the high bits. */
static size_t count_high_flips(const struct idxi_sorted *sorted) {
    return (size_t)(idxi_count_patterns(get_high_bits(sorted), sorted->radius) + 0.5);
}

size_t idxi_sorted_steps(const struct idxi_sorted *sorted) { return count_high_flips(sorted) << get_high_bits(sorted); }

/* Calls the kernel for the tile `first` and the one with its high bits flipped, with each combination of low bits. */
static void search_tiles(struct idxi_balls *balls, const struct idxi_sorted *sorted, uint64_t first, uint64_t high) {
    unsigned bits = sorted->width < TILE_BITS ? sorted->width : TILE_BITS;
    uint64_t end = UINT64_C(1) << bits;
    unsigned left = sorted->radius - idxf_count_bits(high);
    for (unsigned errors = 0; errors <= left && errors <= bits; errors++) {
        for (uint64_t low = idxf_low_bits(errors); low < end; low = low == 0 ? end : get_next_combination(low)) {
            struct idxi_bucket_pairs pairs = {sorted->a.fingerprints,
                                              sorted->b.fingerprints,
                                              sorted->a.starts,
                                              sorted->b.starts,
                                              first,
                                              first + end,
                                              high | low,
                                              sorted->within};
            balls->way->buckets(&balls->comparison, &pairs);
        }
    }
}

void idxi_sorted_search(struct idxi_balls *balls, const struct idxi_sorted *sorted, size_t step) {
    unsigned high_bits = get_high_bits(sorted);
    uint64_t tile = step & idxf_low_bits(high_bits), flip = 0;
    size_t number = step >> high_bits;
    for (unsigned errors = 0;; errors++) {
        size_t count = (size_t)(idxi_choose(high_bits, errors) + 0.5);
        if (number >= count) {
            number -= count;
            continue;
        }
        flip = idxf_low_bits(errors);
        for (; number > 0; number--) flip = get_next_combination(flip);
        break;
    }
    if (sorted->within && (tile ^ flip) < tile) return;
    search_tiles(balls, sorted, tile << TILE_BITS, flip << TILE_BITS);
}

/* ---- All ---- */

uint64_t idxi_buckets_bytes(size_t count, unsigned width) {
    return (uint64_t)count * sizeof(uint64_t) + (((uint64_t)1 << width) + 2) * sizeof(uint32_t);
}

static bool make_buckets(struct idxi_buckets *buckets, size_t count, unsigned width) {
    buckets->fingerprints = malloc((count + 1) * sizeof *buckets->fingerprints);
    buckets->starts = malloc((((size_t)1 << width) + 2) * sizeof *buckets->starts);
    return buckets->fingerprints != NULL && buckets->starts != NULL;
}

static void free_buckets(struct idxi_buckets *buckets) {
    free(buckets->fingerprints);
    free(buckets->starts);
}

static void search_ball(struct idxi_balls *balls, const struct idxi_sorted *sorted) {
    size_t steps = idxi_sorted_steps(sorted);
    for (size_t step = 0; step < steps && balls->goes_on(balls->context); step++)
        idxi_sorted_search(balls, sorted, step);
}

void idxi_buckets_fill(const struct idxi_compare_way *way, struct idxi_buckets *buckets, const uint64_t *from,
                       size_t count, uint64_t mask) {
    buckets->starts[0] = 0;
    idxi_compare_sort(way, from, count, mask, buckets->fingerprints, buckets->starts + 1);
}

static void search_balls(struct idxi_balls *balls, const struct idxi_cut *cut, struct idxi_sorted *sorted,
                         const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count) {
    size_t before = balls->before_count;
    for (size_t i = 0; i < cut->count; i++) {
        sorted->radius = cut->balls[i].radius;
        idxi_buckets_fill(balls->way, &sorted->a, a, a_count, cut->balls[i].mask);
        if (b != NULL) idxi_buckets_fill(balls->way, &sorted->b, b, b_count, cut->balls[i].mask);
        if (b == NULL) sorted->b = sorted->a;
        search_ball(balls, sorted);
        balls->before[balls->before_count++] = cut->balls[i];
    }
    balls->before_count = before;
}

/* Whether all have the same bits in a ball that was searched before. */
static bool were_found(const struct idxi_balls *balls, const uint64_t *a, size_t a_count, const uint64_t *b,
                       size_t b_count) {
    uint64_t a_set, a_common, b_set, b_common;
    add_bits(a, a_count, &a_set, &a_common);
    add_bits(b, b == NULL ? 0 : b_count, &b_set, &b_common);
    uint64_t varying = (a_set | b_set) ^ (a_common & b_common);
    for (size_t i = 0; i < balls->before_count; i++) {
        if ((varying & balls->before[i].mask) == 0) return true;
    }
    return false;
}

void idxi_balls_match(struct idxi_balls *balls, const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count) {
    struct idxi_cut cut = {0};
    struct idxi_sorted sorted = {.within = b == NULL};
    if (were_found(balls, a, a_count, b, b_count)) return;
    if (balls->depth < IDXI_MAX_BALL_DEPTH)
        idxi_cut_choose(&cut, balls->way, balls->comparison.distance, a, a_count, b, b_count);
    uint64_t bytes = idxi_buckets_bytes(a_count, cut.width) + (b == NULL ? 0 : idxi_buckets_bytes(b_count, cut.width));
    uint64_t memory = balls->memory;
    sorted.width = cut.width;
    balls->depth++;
    if (bytes <= memory) balls->memory -= bytes;
    if (cut.count > 0 && bytes <= memory && make_buckets(&sorted.a, a_count, cut.width) &&
        (b == NULL || make_buckets(&sorted.b, b_count, cut.width)))
        search_balls(balls, &cut, &sorted, a, a_count, b, b_count);
    else
        compare_all(balls, a, a_count, b, b_count);
    balls->depth--;
    balls->memory = memory;
    free_buckets(&sorted.a);
    if (b != NULL) free_buckets(&sorted.b);
}
