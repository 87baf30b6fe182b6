/* balls.c: see balls.h. The bits are cut into m parts with radii whose sum is k - m + 1. If a pair differed in more
 * bits than the radius in every part, it would differ in at least k - m + 1 + m > k bits (Norouzi, Punjani, Fleet: Fast
 * Search in Hamming Space with Multi-Index Hashing, CVPR 2012; the radii here may be uneven). For each part the
 * fingerprints are sorted into buckets by its bits, and each bucket is compared with all buckets whose values differ in
 * at most the radius. A pair that several parts find belongs to the first of them. */
#include "libidx/fingerprints/balls.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes.h"
#include "format/processor.h"
#include "libidx/fingerprints/sorting.h"
#include "libidx/fingerprints/times.h"

#define MAX_DIRECT ((uint64_t)1 << 20) /* two buckets with more comparisons are cut again, if that seems faster */

/* A tile has 2^TILE_BITS buckets; two tiles with their fingerprints stay in the second cache. */
#define TILE_BITS 10

#define MAX_WIDTH 22 /* bits of a ball's mask */

#define MAX_SAMPLE 64 /* how many fingerprints of each side are sampled, at most */

#define MAX_UNCUT ((size_t)1 << 14) /* fingerprints of arrays that are not cut, however little memory there is */

/* If buckets are no faster, A_CHUNK fingerprints are compared with B_CHUNK others, which stay in the caches, at a time.
 */
#define A_CHUNK ((size_t)1 << 10)
#define B_CHUNK ((size_t)1 << 14)

/* ---- How to cut ---- */

/* How the fingerprints vary, with a sample of each side. */
struct spectrum {
    uint64_t varying; /* the bits in which any two of one side differ */
    unsigned ranked_count;
    unsigned char ranked_bits[64]; /* the varying bits, first those in which the most pairs of the sample differ */
    unsigned max_errors;           /* how many errors a pair may have in the varying bits */
    bool can_be_near;              /* false if all pairs have too many errors in the bits that don't vary */
    uint64_t a[MAX_SAMPLE], b[MAX_SAMPLE]; /* the samples; of `a` twice if it is searched with itself */
    size_t a_sample_count, b_sample_count;
};

/* Copies up to MAX_SAMPLE fingerprints, evenly spread over an array, and returns how many. */
static size_t copy_sample(const uint64_t *from, size_t count, uint64_t sample[MAX_SAMPLE]) {
    size_t sample_count = count < MAX_SAMPLE ? count : MAX_SAMPLE;
    for (size_t i = 0; i < sample_count; i++) sample[i] = from[count * i / sample_count];
    return sample_count;
}

/* Sets *set to the bits that at least one fingerprint of a side has set, and *common to those that all have set. */
static void find_set_and_common_bits(const uint64_t *side, size_t count, uint64_t *set, uint64_t *common) {
    *set = 0;
    *common = ~UINT64_C(0);
    for (size_t i = 0; i < count; i++) {
        *set |= side[i];
        *common &= side[i];
    }
}

/* Sets spectrum->ranked_bits: counts for each bit the pairs of the sample that differ in it, and inserts the varying
 * bits in descending order of these counts. */
static void rank_bits(struct spectrum *spectrum) {
    unsigned differing_pairs[64];
    for (unsigned bit = 0; bit < 64; bit++) {
        unsigned a_set = 0, b_set = 0;
        for (size_t i = 0; i < spectrum->a_sample_count; i++) a_set += (unsigned)(spectrum->a[i] >> bit & 1);
        for (size_t i = 0; i < spectrum->b_sample_count; i++) b_set += (unsigned)(spectrum->b[i] >> bit & 1);
        differing_pairs[bit] =
            a_set * ((unsigned)spectrum->b_sample_count - b_set) + b_set * ((unsigned)spectrum->a_sample_count - a_set);
    }
    spectrum->ranked_count = 0;
    for (uint64_t unranked = spectrum->varying; unranked != 0; unranked &= unranked - 1) {
        unsigned bit = (unsigned)__builtin_ctzll(unranked), place = spectrum->ranked_count++;
        for (; place > 0 && differing_pairs[spectrum->ranked_bits[place - 1]] < differing_pairs[bit]; place--)
            spectrum->ranked_bits[place] = spectrum->ranked_bits[place - 1];
        spectrum->ranked_bits[place] = (unsigned char)bit;
    }
}

/* Sets *spectrum to how the fingerprints of both sides vary; `b` is NULL if `a` is searched with itself. A bit that
 * varies in neither side differs in all pairs or in none. If in all, it is an error of each pair, so fewer are left for
 * the varying bits. */
static void measure_spectrum(struct spectrum *spectrum, unsigned distance, const uint64_t *a, size_t a_count,
                             const uint64_t *b, size_t b_count) {
    uint64_t set, common, errors = 0;
    find_set_and_common_bits(a, a_count, &set, &common);
    spectrum->varying = set ^ common;
    spectrum->a_sample_count = copy_sample(a, a_count, spectrum->a);
    spectrum->b_sample_count = copy_sample(b == NULL ? a : b, b == NULL ? a_count : b_count, spectrum->b);
    if (b != NULL) {
        uint64_t other_set, other_common;
        find_set_and_common_bits(b, b_count, &other_set, &other_common);
        spectrum->varying |= other_set ^ other_common;
        errors = (common ^ other_common) & ~spectrum->varying;
    }
    spectrum->can_be_near = idxf_count_bits(errors) <= distance;
    spectrum->max_errors = spectrum->can_be_near ? distance - idxf_count_bits(errors) : 0;
    rank_bits(spectrum);
}

/* Returns the radius of part `number`, from 0, of `parts`. The radii sum up to distance - parts + 1; the first ones may
 * be greater by 1 than the last ones. */
static unsigned get_part_radius(unsigned distance, unsigned parts, unsigned number) {
    return (distance + 1) / parts - 1 + (number < (distance + 1) % parts ? 1 : 0);
}

/* Returns the nanoseconds to compare `pairs` pairs of fingerprints, in buckets of `members` fingerprints each. The last
 * vector of a bucket is half empty on average. */
static double get_compare_time(const struct idxi_compare_way *way, double pairs, double members) {
    return pairs * way->vector_time / (double)way->lanes * (1 + (double)way->lanes / 2 / (members < 1 ? 1 : members));
}

/* How many fingerprints are compared. With `within`, those of `a` are compared with each other, and `b` equals `a`. */
struct sizes {
    double a, b;
    bool within;
};

/* Returns the nanoseconds of a search by `parts` parts of `width` bits: sorting the fingerprints into buckets, visiting
 * pairs of buckets, and comparing. Bits are assumed to be uniform. */
static double estimate_layout_time(const struct idxi_compare_way *way, const struct sizes *sizes, unsigned distance,
                                   unsigned parts, unsigned width) {
    double values = (double)((uint64_t)1 << width), share = sizes->within ? 0.5 : 1, time = 0;
    double sort_time = IDXI_SORT_TIME + (width > IDXI_CACHED_BITS ? (width - IDXI_CACHED_BITS) * IDXI_FAR_TIME : 0);
    for (unsigned i = 0; i < parts; i++) {
        double visited = idxi_count_patterns(width, get_part_radius(distance, parts, i)) * share; /* for each bucket */
        time += (sizes->a + (sizes->within ? 0 : sizes->b)) * sort_time + visited * values * IDXI_VISIT_TIME;
        time += get_compare_time(way, visited / values * sizes->a * sizes->b, sizes->b / values);
    }
    return time;
}

/* Makes a cut of `parts` balls of `width` bits. Deals the ranked bits to the balls in turn, so that all have about
 * equally good ones. The spectrum must have parts * width ranked bits. */
static void deal_bits(struct idxi_cut *cut, const struct spectrum *spectrum, unsigned parts, unsigned width) {
    cut->count = parts;
    cut->width = width;
    for (unsigned i = 0; i < parts; i++)
        cut->balls[i] = (struct idxi_ball){0, get_part_radius(spectrum->max_errors, parts, i)};
    for (unsigned i = 0; i < parts * width; i++) cut->balls[i % parts].mask |= UINT64_C(1) << spectrum->ranked_bits[i];
}

/* Returns how many pairs of the sample are in a ball, summed over the balls, as a share of all its pairs. */
static double measure_ball_share(const struct idxi_cut *cut, const struct spectrum *spectrum, bool within) {
    size_t found_count = 0, compared_count = 0;
    for (size_t i = 0; i < spectrum->a_sample_count; i++) {
        for (size_t j = 0; j < spectrum->b_sample_count; j++) {
            if (within && i == j) continue;
            uint64_t errors = spectrum->a[i] ^ spectrum->b[j];
            for (size_t n = 0; n < cut->count; n++)
                found_count += idxf_count_bits(errors & cut->balls[n].mask) <= cut->balls[n].radius;
            compared_count++;
        }
    }
    return compared_count == 0 ? 0 : (double)found_count / (double)compared_count;
}

/* A cut into so many parts of so many bits, and the nanoseconds that a search by it takes. */
struct layout {
    unsigned parts, width;
    double time;
};

/* Returns the fastest way to cut `bits` uniform bits, or one with 0 parts if comparing all with all is about as fast.
 * Layouts with more than two buckets for each fingerprint are not considered, since most buckets would be empty. */
static struct layout choose_layout(const struct idxi_compare_way *way, const struct sizes *sizes, unsigned distance,
                                   unsigned bits) {
    double pairs = sizes->a * sizes->b * (sizes->within ? 0.5 : 1), uncut_time = get_compare_time(way, pairs, sizes->b);
    struct layout best = {0, 0, uncut_time * IDXI_WORTH};
    for (unsigned parts = 1; parts <= distance + 1 && parts <= bits; parts++) {
        for (unsigned width = 1; width <= MAX_WIDTH && width * parts <= bits; width++) {
            if ((double)((uint64_t)1 << width) > 2 * (sizes->a + sizes->b)) break;
            double time = estimate_layout_time(way, sizes, distance, parts, width);
            if (time < best.time) best = (struct layout){parts, width, time};
        }
    }
    if (best.parts == 0) best.time = uncut_time;
    return best;
}

/* Sets *cut, which is zeroed, to the one that is fastest for uniform bits, unless the sample shows that comparing all
 * with all is about as fast: then cut->count stays 0. */
static void cut_if_faster(struct idxi_cut *cut, const struct idxi_compare_way *way, const struct spectrum *spectrum,
                          const struct sizes *sizes) {
    double pairs = sizes->a * sizes->b * (sizes->within ? 0.5 : 1), uncut_time = get_compare_time(way, pairs, sizes->b);
    struct layout layout = choose_layout(way, sizes, spectrum->max_errors, spectrum->ranked_count);
    if (layout.parts == 0) return;
    deal_bits(cut, spectrum, layout.parts, layout.width);
    double sampled_time = get_compare_time(way, measure_ball_share(cut, spectrum, sizes->within) * pairs, sizes->b);
    if (sampled_time > uncut_time * IDXI_WORTH) cut->count = 0;
}

double idxi_get_cut_time(const struct idxi_compare_way *way, unsigned distance, unsigned bits, double a, double b) {
    struct sizes sizes = {a, b > 0 ? b : a, b <= 0};
    return choose_layout(way, &sizes, distance, bits).time;
}

void idxi_cut_choose(struct idxi_cut *cut, const struct idxi_compare_way *way, unsigned distance, const uint64_t *a,
                     size_t a_count, const uint64_t *b, size_t b_count) {
    struct spectrum spectrum;
    memset(cut, 0, sizeof *cut);
    if (a_count == 0 || (b != NULL && b_count == 0)) return;
    measure_spectrum(&spectrum, distance, a, a_count, b, b_count);
    struct sizes sizes = {(double)a_count, (double)(b == NULL ? a_count : b_count), b == NULL};
    if (spectrum.can_be_near) cut_if_faster(cut, way, &spectrum, &sizes);
}

void idxi_cut_evenly(struct idxi_cut *cut, unsigned width, unsigned distance, const uint64_t *fingerprints,
                     size_t count) {
    struct spectrum spectrum;
    memset(cut, 0, sizeof *cut);
    if (count == 0) return;
    measure_spectrum(&spectrum, distance, fingerprints, count, NULL, 0);
    unsigned max_width = spectrum.ranked_count / (distance + 1);
    if (max_width > 0) deal_bits(cut, &spectrum, distance + 1, width < max_width ? width : max_width);
}

/* ---- Two sorted sides ---- */

/* This is idxi_comparison.match_large: searches two large buckets by balls of their own. The comparison is the first
 * member of struct idxi_balls, so its address is that of the thread's state. */
static void match_large(struct idxi_comparison *comparison, const uint64_t *a, size_t a_count, const uint64_t *b,
                        size_t b_count) {
    struct idxi_balls *balls = (struct idxi_balls *)comparison;
    if (balls->goes_on(balls->comparison.context)) idxi_balls_search_alone(balls, a, a_count, b, b_count);
}

void idxi_balls_init(struct idxi_balls *balls, unsigned distance) {
    memset(balls, 0, sizeof *balls);
    balls->way = idxi_get_widest_compare_way();
    balls->comparison = (struct idxi_comparison){
        .distance = distance, .before = balls->before, .match_large = match_large, .max_comparisons = MAX_DIRECT};
}

/* Fingerprints of both sides, sorted by the `width` bits of a ball, and its radius. */
struct sorted_sides {
    struct idxi_buckets a, b;
    bool within; /* pairs of `a` alone are searched, and `b` is `a` */
    unsigned width, radius;
};

/* Returns the next greater number with as many bits set; `bits` is not 0. The highest bit of the lowest run of set bits
 * moves up by one place, and the others of the run move to the lowest places: 0110 is followed by 1001. */
static uint64_t get_next_combination(uint64_t bits) {
    uint64_t lowest = bits & -bits, ripple = bits + lowest;
    return ripple | ((bits ^ ripple) >> 2) / lowest;
}

/* Returns how many of the highest bits of a value are the number of its tile. */
static unsigned count_tile_number_bits(const struct sorted_sides *sorted) {
    return sorted->width > TILE_BITS ? sorted->width - TILE_BITS : 0;
}

/* Returns in how many ways at most `radius` bits of a tile's number can be flipped. */
static size_t count_high_flips(const struct sorted_sides *sorted) {
    return (size_t)(idxi_count_patterns(count_tile_number_bits(sorted), sorted->radius) + 0.5);
}

/* Returns in how many steps a ball is searched: one for each tile and each way to flip bits of its number. */
static size_t count_steps(const struct sorted_sides *sorted) {
    return count_high_flips(sorted) << count_tile_number_bits(sorted);
}

/* Sets `low_flips` to the numbers with at most `radius` bits set among the bits of a value within a tile, and returns
 * how many there are. */
static size_t list_low_flips(const struct sorted_sides *sorted, unsigned radius, uint16_t low_flips[1 << TILE_BITS]) {
    unsigned bits = sorted->width < TILE_BITS ? sorted->width : TILE_BITS;
    uint64_t end = UINT64_C(1) << bits;
    size_t count = 0;
    for (unsigned errors = 0; errors <= radius && errors <= bits; errors++) {
        for (uint64_t low = idxf_low_bits(errors); low < end; low = low == 0 ? end : get_next_combination(low))
            low_flips[count++] = (uint16_t)low;
    }
    return count;
}

/* Compares the buckets of the tile that begins at value `begin` with those of the tile that begins at `begin` with the
 * bits of `high` flipped. These flips leave radius - popcount(high) errors for the bits within a tile. */
static void compare_tiles(struct idxi_balls *balls, const struct sorted_sides *sorted, uint64_t begin, uint64_t high) {
    uint16_t lows[1 << TILE_BITS];
    unsigned bits = sorted->width < TILE_BITS ? sorted->width : TILE_BITS;
    struct idxi_bucket_pairs pairs = {.a = sorted->a.fingerprints,
                                      .b = sorted->b.fingerprints,
                                      .a_starts = sorted->a.starts,
                                      .b_starts = sorted->b.starts,
                                      .first_value = begin,
                                      .end_value = begin + (UINT64_C(1) << bits),
                                      .high_flips = high,
                                      .low_flips = lows,
                                      .low_count = list_low_flips(sorted, sorted->radius - idxf_count_bits(high), lows),
                                      .within = sorted->within};
    balls->way->buckets(&balls->comparison, &pairs);
}

/* Returns combination number `number` of `bits` bits, from 0. They are ordered by how many bits are set, then by value.
 */
static uint64_t find_combination(unsigned bits, size_t number) {
    unsigned chosen = 0;
    for (size_t count; number >= (count = (size_t)(idxi_count_combinations(bits, chosen) + 0.5)); chosen++)
        number -= count;
    uint64_t combination = idxf_low_bits(chosen);
    for (; number > 0; number--) combination = get_next_combination(combination);
    return combination;
}

/* Searches one pair of tiles. The low bits of `step` are the number of the first tile. The others are the number of the
 * combination of its bits that are flipped to get the second tile. */
static void search_tile_pair(struct idxi_balls *balls, const struct sorted_sides *sorted, size_t step) {
    unsigned high_bits = count_tile_number_bits(sorted);
    uint64_t tile = step & idxf_low_bits(high_bits), flip = find_combination(high_bits, step >> high_bits);
    if (sorted->within && (tile ^ flip) < tile) return; /* The pair is searched from the other tile. */
    compare_tiles(balls, sorted, tile << TILE_BITS, flip << TILE_BITS);
}

/* ---- Search ---- */

/* The fingerprints of one side, as they came, and sorted into the buckets of a ball. */
struct side {
    const uint64_t *fingerprints;
    size_t count;
    struct idxi_buckets buckets;
};

/* A search by all threads of a team, with progress; or of two buckets by one thread, without progress. */
struct ball_search {
    struct idxi_balls *const *team; /* one for each thread */
    unsigned threads;
    struct idxi_progress *progress;
    double work;       /* what the whole search adds to the progress */
    double all_pairs;  /* how many pairs there are to compare, all with all */
    double done_pairs; /* how many of these are in the parts that were searched before */
    uint64_t memory;   /* bytes, for all threads together */
    struct side a, b;  /* the parts that are searched; if b.fingerprints is NULL, within `a` */
    struct idxi_cut cut;
    uint32_t *counts; /* for sorting on several threads; may be NULL */
    struct sorted_sides sorted;
    size_t ball, step_count; /* the number of the ball that is searched, and how many steps that has */
    atomic_size_t next;      /* the next step */
};

/* Returns whether the search goes on: false once goes_on of the first thread returns false. */
static bool is_going_on(const struct ball_search *search) {
    return search->team[0]->goes_on(search->team[0]->comparison.context);
}

/* Returns how many pairs there are between two sides, or if `b` is NULL, within one. */
static double count_pairs(size_t a_count, const uint64_t *b, size_t b_count) {
    return b == NULL ? (double)a_count * ((double)a_count - 1) / 2 : (double)a_count * (double)b_count;
}

/* Sets search->next to 0, and runs a task once on each thread. The calls share the work by counting up search->next. */
static enum idx_status run_on_team(struct ball_search *search, idxi_plain_task task, struct idx_error *error) {
    search->next = 0;
    if (search->threads == 1) return task(search, 0, error);
    return idxi_run_parallel(search->threads, search->threads, task, search, search->progress, error);
}

/* Adds to the progress one share of the work on search->a and search->b: number `share`, from 0, of `share_count`
 * equal ones. Does nothing without progress. Errors: IDX_CANCELLED. */
static enum idx_status add_share_to_progress(const struct ball_search *search, double share, double share_count,
                                             struct idx_error *error) {
    if (search->progress == NULL) return IDX_OK;
    double side_pairs = count_pairs(search->a.count, search->b.fingerprints, search->b.count);
    double work_per_pair = search->all_pairs > 0 ? search->work / search->all_pairs : search->work;
    uint64_t work_before = (uint64_t)((search->done_pairs + side_pairs * share / share_count) * work_per_pair);
    uint64_t work_after = (uint64_t)((search->done_pairs + side_pairs * (share + 1) / share_count) * work_per_pair);
    return idxi_progress_add(search->progress, work_after - work_before, error);
}

/* Sorts a side into its buckets, by the mask of the ball that is searched. */
static enum idx_status sort_side(const struct ball_search *search, const struct side *side, struct idx_error *error) {
    struct idxi_sorting sorting = {.way = search->team[0]->way,
                                   .threads = search->threads,
                                   .progress = search->progress,
                                   .counts = search->counts,
                                   .from = side->fingerprints,
                                   .count = side->count,
                                   .mask = search->cut.balls[search->ball].mask,
                                   .to = side->buckets};
    return idxi_sort_into_buckets(&sorting, error);
}

/* An idxi_plain_task: searches steps of the current ball that no other thread has taken, until none is left or the
 * search is ended. Each step adds an equal share to the progress. */
static enum idx_status search_remaining_steps(void *context, size_t thread, struct idx_error *error) {
    struct ball_search *search = context;
    double share_count = (double)search->step_count * (double)search->cut.count;
    size_t step;
    while (is_going_on(search) && (step = atomic_fetch_add(&search->next, 1)) < search->step_count) {
        search_tile_pair(search->team[thread], &search->sorted, step);
        IDXI_TRY(add_share_to_progress(search, (double)(search->ball * search->step_count + step), share_count, error));
    }
    return IDX_OK;
}

/* Searches ball number search->ball of the cut, and adds it to those in which all pairs were found. */
static enum idx_status search_current_ball(struct ball_search *search, struct idx_error *error) {
    struct idxi_ball ball = search->cut.balls[search->ball];
    bool within = search->b.fingerprints == NULL;
    IDXI_TRY(sort_side(search, &search->a, error));
    if (!within) IDXI_TRY(sort_side(search, &search->b, error));
    search->sorted = (struct sorted_sides){.a = search->a.buckets,
                                           .b = within ? search->a.buckets : search->b.buckets,
                                           .within = within,
                                           .width = search->cut.width,
                                           .radius = ball.radius};
    search->step_count = count_steps(&search->sorted);
    IDXI_TRY(run_on_team(search, search_remaining_steps, error));
    for (unsigned i = 0; i < search->threads; i++) idxi_balls_add_searched(search->team[i], ball);
    return IDX_OK;
}

/* Searches the balls of the cut, one after the other, each without the pairs of earlier balls. Then forgets these
 * balls, also after an error, but not those that were searched before the call. */
static enum idx_status search_all_balls(struct ball_search *search, struct idx_error *error) {
    enum idx_status status = IDX_OK;
    size_t earlier_ball_count = search->team[0]->comparison.before_count;
    for (search->ball = 0; search->ball < search->cut.count && is_going_on(search) && status == IDX_OK; search->ball++)
        status = search_current_ball(search, error);
    for (unsigned i = 0; i < search->threads; i++) search->team[i]->comparison.before_count = earlier_ball_count;
    return status;
}

/* Compares all of `a` with all of `b`, as many of `b` at a time as stay in the caches, until the search is ended. */
static void compare_in_chunks(struct idxi_balls *balls, const uint64_t *a, size_t a_count, const uint64_t *b,
                              size_t b_count) {
    for (size_t i = 0; i < b_count && balls->goes_on(balls->comparison.context); i += B_CHUNK)
        balls->way->between(&balls->comparison, a, a_count, b + i, idxi_min(b_count - i, B_CHUNK));
}

/* An idxi_plain_task: compares all of search->a and search->b with each other, without buckets. In each step a thread
 * takes a chunk of `a`, and compares it with a chunk of `b`; or within one side, with itself and all that follow in
 * `a`. */
static enum idx_status compare_all_pairs(void *context, size_t thread, struct idx_error *error) {
    struct ball_search *search = context;
    struct idxi_balls *balls = search->team[thread];
    const struct side *a = &search->a, *b = &search->b;
    bool within = b->fingerprints == NULL;
    size_t a_steps = (a->count - 1) / A_CHUNK + 1, steps = within ? a_steps : ((b->count - 1) / B_CHUNK + 1) * a_steps;
    size_t step;
    while (is_going_on(search) && (step = atomic_fetch_add(&search->next, 1)) < steps) {
        size_t begin = step % a_steps * A_CHUNK, count = idxi_min(a->count - begin, A_CHUNK);
        size_t b_begin = step / a_steps * B_CHUNK; /* in `b`, whose part stays in the caches for many steps */
        const uint64_t *from = a->fingerprints + begin;
        if (within) {
            balls->way->within(&balls->comparison, from, count);
            compare_in_chunks(balls, from, count, from + count, a->count - begin - count);
        } else {
            compare_in_chunks(balls, from, count, b->fingerprints + b_begin, idxi_min(b->count - b_begin, B_CHUNK));
        }
        IDXI_TRY(add_share_to_progress(search, (double)step, (double)steps, error));
    }
    return IDX_OK;
}

/* ---- Parts ---- */

/* Allocates the buckets of a side. Returns false if memory runs out; the caller calls free_buckets in either case. The
 * arrays of a search with progress may be large: these are reserved and populated at once. Others are small and
 * frequent. */
static bool allocate_buckets(const struct ball_search *search, struct side *side) {
    bool large = search->progress != NULL;
    side->buckets.fingerprints = large ? idxi_array_reserve(side->count) : malloc((side->count + 1) * sizeof(uint64_t));
    side->buckets.starts = malloc((((size_t)1 << search->cut.width) + 2) * sizeof(uint32_t));
    if (large && side->buckets.fingerprints != NULL) idxi_array_populate(side->buckets.fingerprints, side->count);
    return side->buckets.fingerprints != NULL && side->buckets.starts != NULL;
}

/* Frees the buckets of a side, as far as they were allocated. */
static void free_buckets(const struct ball_search *search, struct side *side) {
    if (search->progress != NULL)
        idxi_array_release(side->buckets.fingerprints, side->count);
    else
        free(side->buckets.fingerprints);
    free(side->buckets.starts);
}

/* Searches search->a and search->b by the balls of the cut, with `memory` bytes besides those of the sides' buckets. If
 * memory runs out, the search fails; but one without progress, which is of two buckets and can't fail, compares all
 * with all instead. */
static enum idx_status search_by_cut(struct ball_search *search, uint64_t memory, struct idx_error *error) {
    unsigned threads = search->threads;
    size_t count_bytes = threads * idxi_get_counts_bytes(search->cut.width);
    bool within = search->b.fingerprints == NULL;
    search->counts = threads > 1 && count_bytes < memory / 2 ? malloc(count_bytes) : NULL;
    if (search->counts != NULL) memory -= count_bytes;
    for (unsigned i = 0; i < threads; i++) search->team[i]->memory = memory / threads;
    bool has_buckets = allocate_buckets(search, &search->a) && (within || allocate_buckets(search, &search->b));
    enum idx_status status;
    if (has_buckets)
        status = search_all_balls(search, error);
    else
        status = search->progress == NULL ? run_on_team(search, compare_all_pairs, error) : idxi_fail_memory(error);
    free(search->counts);
    free_buckets(search, &search->a);
    if (!within) free_buckets(search, &search->b);
    return status;
}

/* Searches two sides, or if `b` is NULL, one within itself: by balls if they are expected to be faster, else by
 * comparing all with all. Sides whose buckets don't fit the memory are halved first. */
static enum idx_status search_sides(struct ball_search *search, const uint64_t *a, size_t a_count, const uint64_t *b,
                                    size_t b_count, struct idx_error *error);

/* Halves the larger side, and searches each half with the other side; or if `b` is NULL, halves `a`, and searches each
 * half within itself and both with each other. */
static enum idx_status search_halves(struct ball_search *search, const uint64_t *a, size_t a_count, const uint64_t *b,
                                     size_t b_count, struct idx_error *error) {
    size_t half = (a_count >= b_count ? a_count : b_count) / 2;
    if (b != NULL && a_count < b_count) {
        IDXI_TRY(search_sides(search, a, a_count, b, half, error));
        return search_sides(search, a, a_count, b + half, b_count - half, error);
    }
    IDXI_TRY(search_sides(search, a, half, b, b_count, error));
    if (b == NULL) IDXI_TRY(search_sides(search, a, half, a + half, a_count - half, error));
    return search_sides(search, a + half, a_count - half, b, b_count, error);
}

static enum idx_status search_sides(struct ball_search *search, const uint64_t *a, size_t a_count, const uint64_t *b,
                                    size_t b_count, struct idx_error *error) {
    struct idxi_balls *balls = search->team[0];
    if (!is_going_on(search) || a_count == 0 || (b != NULL && b_count == 0)) return IDX_OK;
    memset(&search->cut, 0, sizeof search->cut); /* no cut: all are compared with all */
    if (balls->depth < IDXI_MAX_BALL_DEPTH)
        idxi_cut_choose(&search->cut, balls->way, balls->comparison.distance, a, a_count, b, b_count);
    uint64_t bytes = idxi_get_buckets_bytes(a_count, search->cut.width);
    if (b != NULL) bytes += idxi_get_buckets_bytes(b_count, search->cut.width);
    bool fits = bytes <= search->memory;
    if (search->cut.count > 0 && !fits && (a_count > MAX_UNCUT || b_count > MAX_UNCUT))
        return search_halves(search, a, a_count, b, b_count, error);
    search->a = (struct side){.fingerprints = a, .count = a_count};
    search->b = (struct side){.fingerprints = b, .count = b_count};
    enum idx_status status = search->cut.count > 0 && fits ? search_by_cut(search, search->memory - bytes, error)
                                                           : run_on_team(search, compare_all_pairs, error);
    IDXI_TRY(status);
    search->done_pairs += count_pairs(a_count, b, b_count);
    return IDX_OK;
}

/* ---- All ---- */

enum idx_status idxi_balls_search(struct idxi_balls *const *team, unsigned threads, uint64_t memory,
                                  struct idxi_progress *progress, uint64_t work, const uint64_t *a, size_t a_count,
                                  const uint64_t *b, size_t b_count, struct idx_error *error) {
    struct ball_search search = {.team = team,
                                 .threads = threads,
                                 .memory = memory,
                                 .progress = progress,
                                 .work = (double)work,
                                 .all_pairs = count_pairs(a_count, b, b_count)};
    return search_sides(&search, a, a_count, b, b_count, error);
}

/* Returns whether all fingerprints have the same bits in the mask of a ball of balls->before: then all their pairs were
 * found. Without `b`, b_count is 0, and only the bits of `a` count. */
static bool were_all_pairs_found(const struct idxi_balls *balls, const uint64_t *a, size_t a_count, const uint64_t *b,
                                 size_t b_count) {
    uint64_t a_set, a_common, b_set, b_common;
    find_set_and_common_bits(a, a_count, &a_set, &a_common);
    find_set_and_common_bits(b, b_count, &b_set, &b_common);
    uint64_t varying = (a_set | b_set) ^ (a_common & b_common);
    for (size_t i = 0; i < balls->comparison.before_count; i++) {
        if ((varying & balls->before[i].mask) == 0) return true;
    }
    return false;
}

void idxi_balls_search_alone(struct idxi_balls *balls, const uint64_t *a, size_t a_count, const uint64_t *b,
                             size_t b_count) {
    uint64_t memory = balls->memory;
    if (b == NULL) b_count = 0;
    if (were_all_pairs_found(balls, a, a_count, b, b_count)) return;
    balls->depth++;
    (void)idxi_balls_search(&balls, 1, memory, NULL, 0, a, a_count, b, b_count, NULL);
    balls->depth--;
    balls->memory = memory;
}
