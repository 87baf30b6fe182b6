/* unpacked_layout.c: see unpacked_layout.h. */
#include "libidx/segment/unpacked_layout.h"

#include <math.h>

#include "libidx/base/base.h"

/* What look-ups take, in nanoseconds, measured on a server of 2024 (EPYC, Zen 5): a query; a probe, with everything in
 * the first caches. By where memory of 64 KiB · 4^i is: what remains of the wait for a cache line at random, of which
 * many are asked for together, and each line of a bucket. */
#define QUERY_TIME 25.0
#define PROBE_TIME 1.0
#define SIZES 10
static const double waits[SIZES] = {0.1, 0.3, 1.2, 2.0, 3.2, 3.8, 4.6, 8, 12, 16};
static const double line_times[SIZES] = {2.6, 2.6, 2.6, 2.6, 2.2, 2.4, 6, 6.2, 6.4, 6.6};

/* Lines of a bucket that are asked for ahead, and what each one behind them takes besides, where it is in a cache that
 * all cores share; farther memory is no faster for the others. */
#define LINES_AHEAD 8
#define LATE_LINE_TIME 2.5
#define LEAST_SHARED 8e6
#define MOST_SHARED 128e6

#define LINE_BYTES 64
#define LINE_FINGERPRINTS 8.0
#define LINE_STARTS_BITS 4

/* For so many bytes, between those of the table. */
static double look_up(const double *values, double bytes) {
    double at = fmin(fmax((log2(bytes) - 16) / 2, 0), SIZES - 1);
    unsigned below = (unsigned)fmin(at, SIZES - 2);
    return values[below] + (values[below + 1] - values[below]) * (at - below);
}

/* Of a part's patterns, those whose cache line is not that of another one, where so many of the last bits choose within
 * a line. */
static double count_lines(const struct idxi_part *part, unsigned errors, double bits_within) {
    unsigned within = (unsigned)fmin(fmax(bits_within, 0), part->bits);
    return idxi_count_patterns(part->bits - within, errors);
}

/* The probes of a part for up to so many errors. `starts`: the bytes that say where all parts' buckets begin. */
static double get_part_time(uint64_t count, const struct idxi_part *part, unsigned errors, double starts,
                            double bytes) {
    double candidates = (double)count / exp2(part->bits), lines = 0.9 + candidates / LINE_FINGERPRINTS;
    double patterns = idxi_count_patterns(part->bits, errors);
    double time = patterns * (PROBE_TIME + lines * look_up(line_times, bytes));
    if (bytes > LEAST_SHARED && bytes < MOST_SHARED) time += patterns * fmax(lines - LINES_AHEAD, 0) * LATE_LINE_TIME;
    time += count_lines(part, errors, LINE_STARTS_BITS) * look_up(waits, starts);
    return time + count_lines(part, errors, log2(LINE_FINGERPRINTS / candidates)) * look_up(waits, bytes);
}

/* Patterns of a radius that would be too many to list. */
#define MOST_PATTERNS 100000.0

/* Of an unpacked segment, with the ends of its arrays. */
#define BYTES_BESIDES 4096

static uint64_t count_starts_bytes(const struct idxi_layout *layout) {
    uint64_t bytes = 0;
    for (unsigned i = 0; i < layout->count; i++)
        bytes += (((uint64_t)1 << layout->parts[i].bits) + 1) * sizeof(uint32_t);
    return bytes;
}

static bool set_costs(struct idxi_layout *layout, uint64_t count) {
    uint64_t starts = count_starts_bytes(layout);
    layout->bytes = BYTES_BESIDES + layout->count * count * sizeof(uint64_t) + starts;
    for (unsigned i = 0; i < layout->count; i++) {
        double patterns = idxi_count_patterns(layout->parts[i].bits, layout->parts[i].radius);
        if (patterns > MOST_PATTERNS) return false;
        layout->bytes += (uint64_t)patterns * sizeof(uint32_t);
    }
    layout->nanoseconds = QUERY_TIME;
    for (unsigned i = 0; i < layout->count; i++) {
        const struct idxi_part *part = &layout->parts[i];
        layout->nanoseconds += get_part_time(count, part, part->radius, (double)starts, (double)layout->bytes);
    }
    return true;
}

/* The first `wide` parts have one more error than the others, and bits of their own number. */
static struct idxi_layout cut(unsigned parts, unsigned distance, unsigned bits, const unsigned widths[2]) {
    struct idxi_layout layout = {.count = parts};
    unsigned more = (distance + 1) % parts, shift = bits;
    for (unsigned i = 0; i < parts; i++) {
        struct idxi_part *part = &layout.parts[i];
        part->bits = widths[i < more ? 0 : 1];
        part->radius = (distance + 1) / parts - (i < more ? 0 : 1);
        shift -= part->bits;
        part->shift = shift;
    }
    return layout;
}

/* Each half is cut into blocks, of so many bits together. */
static struct idxi_layout cut_halves(unsigned bits, unsigned half_bits) {
    struct idxi_layout layout = {.of_halves = true};
    for (unsigned half = 0; half < 2; half++) {
        unsigned shifts[IDXI_HALF_PARTS], widths[IDXI_HALF_PARTS], shift = bits - half * (bits / 2);
        for (unsigned i = 0; i < IDXI_HALF_PARTS; i++) {
            widths[i] = half_bits / IDXI_HALF_PARTS + (i < half_bits % IDXI_HALF_PARTS);
            shifts[i] = shift -= widths[i];
        }
        for (unsigned i = 0; i < IDXI_HALF_PARTS; i++) {
            unsigned other = (i + 1) % IDXI_HALF_PARTS;
            layout.parts[layout.count++] =
                (struct idxi_part){shifts[i], widths[i] + widths[other], shifts[other], widths[other], 0};
        }
    }
    return layout;
}

static bool is_better(const struct idxi_layout *a, const struct idxi_layout *b, uint64_t most) {
    if (a->bytes > most || b->bytes > most) return a->bytes < b->bytes;
    return a->nanoseconds < b->nanoseconds;
}

static struct idxi_layout choose_parts(uint64_t count, unsigned bits, unsigned distance, uint64_t most) {
    struct idxi_layout best = cut(1, distance, bits, (const unsigned[2]){0, 0});
    set_costs(&best, count);
    for (unsigned parts = 1; parts <= IDXI_MAX_PARTS && parts <= distance + 1; parts++) {
        unsigned more = (distance + 1) % parts;
        for (unsigned first = more == 0 ? IDXI_MAX_PART_BITS : 0; first <= IDXI_MAX_PART_BITS; first++) {
            for (unsigned second = 0; second <= IDXI_MAX_PART_BITS; second++) {
                unsigned widths[2] = {first, second};
                if (more * first + (parts - more) * second > bits) break;
                struct idxi_layout layout = cut(parts, distance, bits, widths);
                if (set_costs(&layout, count) && is_better(&layout, &best, most)) best = layout;
            }
        }
    }
    return best;
}

/* The most memory that is worth its gain: for large segments; for those that a core's own cache holds; and what is
 * not worth saving. */
#define MOST_PER_FINGERPRINT 39
#define MOST_PER_CACHED 57
#define CACHED_BYTES ((uint64_t)570 << 10)
#define SMALL_BYTES ((uint64_t)64 << 10)

/* Halves, up to so much, where they are so much faster than parts that take less. */
#define HALVES_DISTANCE 3
#define MOST_PER_FINGERPRINT_OF_HALVES 56
#define MOST_BYTES_OF_HALVES ((uint64_t)1 << 30)
#define WORTH_HALVES 0.67

static uint64_t get_less(uint64_t a, uint64_t b) { return a < b ? a : b; }
static uint64_t get_more(uint64_t a, uint64_t b) { return a > b ? a : b; }

struct idxi_layout idxi_layout_choose(uint64_t count, unsigned bits, unsigned distance, uint64_t most) {
    uint64_t cached = get_less(count * MOST_PER_CACHED, CACHED_BYTES);
    uint64_t worth = get_more(get_more(count * MOST_PER_FINGERPRINT, cached), SMALL_BYTES);
    uint64_t of_halves = get_less(get_less(count * MOST_PER_FINGERPRINT_OF_HALVES, MOST_BYTES_OF_HALVES), most);
    struct idxi_layout best = choose_parts(count, bits, distance, get_less(worth, most));
    double least = best.nanoseconds * WORTH_HALVES;
    for (unsigned half_bits = bits / 2; distance == HALVES_DISTANCE && half_bits >= IDXI_HALF_PARTS; half_bits--) {
        struct idxi_layout layout = cut_halves(bits, half_bits);
        if (!set_costs(&layout, count) || layout.bytes > of_halves || layout.nanoseconds > least) continue;
        best = layout;
        least = layout.nanoseconds;
    }
    return best;
}

/* A fingerprint that is decoded; and one that is counted and put into its bucket, with everything in the first caches.
 */
#define READ_TIME 5.0
#define SORT_TIME 2.0

double idxi_layout_opening(const struct idxi_layout *layout, uint64_t count) {
    double time = READ_TIME;
    for (unsigned i = 0; i < layout->count; i++) {
        double buckets = exp2(layout->parts[i].bits);
        double ends = fmin(buckets * LINE_BYTES, (double)count * sizeof(uint64_t));
        time += SORT_TIME + 2 * look_up(waits, buckets * sizeof(uint32_t)) + look_up(waits, ends);
    }
    return (double)count * time / 1e9;
}

/* A half is probed by one part for no error, and by all for one. */
static double set_radii_of_halves(const struct idxi_layout *layout, uint64_t count, unsigned distance, int *radii) {
    double sum = QUERY_TIME, starts = (double)count_starts_bytes(layout);
    for (unsigned i = 0; i < layout->count; i++) {
        unsigned half = i / IDXI_HALF_PARTS, least = i % IDXI_HALF_PARTS == 0 ? half : half + 2;
        radii[i] = distance >= least ? 0 : -1;
        if (radii[i] == 0) sum += get_part_time(count, &layout->parts[i], 0, starts, (double)layout->bytes);
    }
    return sum;
}

/* Adds one error at a time where it takes the least: as patterns become more with each, that is the least in all. */
double idxi_layout_radii(const struct idxi_layout *layout, uint64_t count, unsigned distance,
                         int radii[IDXI_MAX_PARTS]) {
    double sum = QUERY_TIME, starts = (double)count_starts_bytes(layout), bytes = (double)layout->bytes;
    if (layout->of_halves) return set_radii_of_halves(layout, count, distance, radii);
    for (unsigned i = 0; i < layout->count; i++) radii[i] = -1;
    for (unsigned error = 0; error <= distance; error++) {
        unsigned best = layout->count;
        double least = 0;
        for (unsigned i = 0; i < layout->count; i++) {
            const struct idxi_part *part = &layout->parts[i];
            if (radii[i] == (int)part->radius) continue;
            double time = get_part_time(count, part, (unsigned)(radii[i] + 1), starts, bytes);
            if (radii[i] >= 0) time -= get_part_time(count, part, (unsigned)radii[i], starts, bytes);
            if (best < layout->count && time >= least) continue;
            best = i;
            least = time;
        }
        radii[best]++;
        sum += least;
    }
    return sum;
}
