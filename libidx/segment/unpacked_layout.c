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

/* Of a bucket, LINES_AHEAD lines are asked for ahead. Each line behind them takes LATE_LINE_TIME more if it is in a
 * cache that all cores share, which is where layouts of MIN_SHARED to MAX_SHARED bytes are. In memory farther away, all
 * lines take the same time. */
#define LINES_AHEAD 8
#define LATE_LINE_TIME 2.5
#define MIN_SHARED 8e6
#define MAX_SHARED 128e6

#define LINE_BYTES 64
#define LINE_FINGERPRINTS 8.0
#define LINE_STARTS_BITS 4

/* Returns the value for `bytes` bytes of memory, where values[i] is that for 2^(16 + 2i) bytes. Interpolates linearly
 * by the logarithm of the bytes. Below the first and above the last size, returns the value of that. */
static double interpolate(const double *nanoseconds, double bytes) {
    double position = fmin(fmax((log2(bytes) - 16) / 2, 0), SIZES - 1);
    unsigned below = (unsigned)fmin(position, SIZES - 2);
    return nanoseconds[below] + (nanoseconds[below + 1] - nanoseconds[below]) * (position - below);
}

/* Returns how many distinct cache lines a query reads that probes a part with all patterns of up to `errors` bits.
 * Values of the part that differ only in their last `bits_within` bits share a line. */
static double count_distinct_lines(const struct idxi_part *part, unsigned errors, double bits_within) {
    unsigned within = (unsigned)fmin(fmax(bits_within, 0), part->bits);
    return idxi_count_patterns(part->bits - within, errors);
}

/* Returns how many nanoseconds the probes of a part for up to `errors` errors take, with `count` fingerprints. All
 * tables of the layout have `bytes` bytes, and `starts_bytes` of them are the arrays of where buckets begin. */
static double get_probing_time(uint64_t count, const struct idxi_part *part, unsigned errors, double starts_bytes,
                               double bytes) {
    double candidates = (double)count / exp2(part->bits);
    double lines = 0.9 + candidates / LINE_FINGERPRINTS; /* of a bucket, which may begin anywhere in a line */
    double patterns = idxi_count_patterns(part->bits, errors);
    double time = patterns * (PROBE_TIME + lines * interpolate(line_times, bytes));
    if (bytes > MIN_SHARED && bytes < MAX_SHARED) time += patterns * fmax(lines - LINES_AHEAD, 0) * LATE_LINE_TIME;
    time += count_distinct_lines(part, errors, LINE_STARTS_BITS) * interpolate(waits, starts_bytes);
    return time + count_distinct_lines(part, errors, log2(LINE_FINGERPRINTS / candidates)) * interpolate(waits, bytes);
}

#define MAX_PATTERNS 100000.0 /* of a part: more would be too many to list */

#define BYTES_BESIDES 4096 /* about as many as an unpacked segment has besides its tables */

/* Returns the bytes of the arrays of all parts that say where buckets begin. */
static uint64_t count_starts_bytes(const struct idxi_layout *layout) {
    uint64_t bytes = 0;
    for (unsigned i = 0; i < layout->count; i++)
        bytes += (((uint64_t)1 << layout->parts[i].bits) + 1) * sizeof(uint32_t);
    return bytes;
}

/* Sets a layout's bytes and nanoseconds with `count` fingerprints. Returns false if a part has too many patterns for
 * the layout to be used; then nanoseconds is not set. */
static bool set_costs(struct idxi_layout *layout, uint64_t count) {
    uint64_t starts_bytes = count_starts_bytes(layout);
    layout->bytes = BYTES_BESIDES + layout->count * count * sizeof(uint64_t) + starts_bytes;
    for (unsigned i = 0; i < layout->count; i++) {
        double patterns = idxi_count_patterns(layout->parts[i].bits, layout->parts[i].radius);
        if (patterns > MAX_PATTERNS) return false;
        layout->bytes += (uint64_t)patterns * sizeof(uint32_t);
    }
    layout->nanoseconds = QUERY_TIME;
    for (unsigned i = 0; i < layout->count; i++) {
        const struct idxi_part *part = &layout->parts[i];
        layout->nanoseconds += get_probing_time(count, part, part->radius, (double)starts_bytes, (double)layout->bytes);
    }
    return true;
}

/* Returns a layout of parts whose radii, each plus one, sum up to the distance plus one. Where these can't be equal,
 * the first (distance + 1) % parts parts have `first_width` bits and a radius that is greater by one; all others have
 * `second_width` bits. For example, distance 3 in 3 parts gives the radii 1, 0, 0. */
static struct idxi_layout cut_into_parts(unsigned parts, unsigned distance, unsigned bits, unsigned first_width,
                                         unsigned second_width) {
    struct idxi_layout layout = {.count = parts};
    unsigned first_part_count = (distance + 1) % parts, shift = bits;
    for (unsigned i = 0; i < parts; i++) {
        struct idxi_part *part = &layout.parts[i];
        bool is_first = i < first_part_count;
        part->bits = is_first ? first_width : second_width;
        part->radius = (distance + 1) / parts - (is_first ? 0 : 1);
        part->shift = shift -= part->bits;
    }
    return layout;
}

/* Returns a layout of halves: the leading `half_bits` bits of each half of the bits are cut into IDXI_HALF_PARTS
 * blocks, and each two of these are a part. */
static struct idxi_layout cut_halves_into_blocks(unsigned bits, unsigned half_bits) {
    struct idxi_layout layout = {.of_halves = true};
    for (unsigned half = 0; half < 2; half++) {
        unsigned shifts[IDXI_HALF_PARTS], widths[IDXI_HALF_PARTS], shift = bits - half * (bits / 2);
        for (unsigned i = 0; i < IDXI_HALF_PARTS; i++) {
            widths[i] = half_bits / IDXI_HALF_PARTS + (i < half_bits % IDXI_HALF_PARTS);
            shift -= widths[i];
            shifts[i] = shift;
        }
        for (unsigned i = 0; i < IDXI_HALF_PARTS; i++) {
            unsigned next = (i + 1) % IDXI_HALF_PARTS;
            layout.parts[layout.count++] = (struct idxi_part){.shift = shifts[i],
                                                              .bits = widths[i] + widths[next],
                                                              .low_shift = shifts[next],
                                                              .low_bits = widths[next]};
        }
    }
    return layout;
}

/* Returns whether layout `a` is faster than `b`, or smaller if one of them has more than `max_bytes` bytes. */
static bool is_better_layout(const struct idxi_layout *a, const struct idxi_layout *b, uint64_t max_bytes) {
    if (a->bytes > max_bytes || b->bytes > max_bytes) return a->bytes < b->bytes;
    return a->nanoseconds < b->nanoseconds;
}

/* Returns the best layout of parts, not of halves, as is_better_layout says. Tries all numbers of parts, and all widths
 * of the first and of the other parts. */
static struct idxi_layout choose_layout_of_parts(uint64_t count, unsigned bits, unsigned distance, uint64_t max_bytes) {
    struct idxi_layout best = cut_into_parts(1, distance, bits, 0, 0);
    set_costs(&best, count);
    for (unsigned parts = 1; parts <= IDXI_MAX_PARTS && parts <= distance + 1; parts++) {
        unsigned first_part_count = (distance + 1) % parts;
        unsigned min_first_width = first_part_count == 0 ? IDXI_MAX_PART_BITS : 0; /* no part has it: one is tried */
        for (unsigned first_width = min_first_width; first_width <= IDXI_MAX_PART_BITS; first_width++) {
            for (unsigned second_width = 0; second_width <= IDXI_MAX_PART_BITS; second_width++) {
                if (first_part_count * first_width + (parts - first_part_count) * second_width > bits) break;
                struct idxi_layout layout = cut_into_parts(parts, distance, bits, first_width, second_width);
                if (set_costs(&layout, count) && is_better_layout(&layout, &best, max_bytes)) best = layout;
            }
        }
    }
    return best;
}

/* The most bytes that are worth their gain, the greatest of three: MAX_PER_FINGERPRINT per fingerprint; MAX_PER_CACHED
 * per fingerprint, but no more than CACHED_BYTES, which a core's own cache holds; and SMALL_BYTES. */
#define MAX_PER_FINGERPRINT 39
#define MAX_PER_CACHED 57
#define CACHED_BYTES ((uint64_t)570 << 10)
#define SMALL_BYTES ((uint64_t)64 << 10)

/* A layout of halves, which is only for HALVES_DISTANCE, may take up to so many bytes, per fingerprint and in all, if
 * its time is at most the share WORTH_HALVES of that of the best parts. */
#define HALVES_DISTANCE 3
#define MAX_PER_FINGERPRINT_OF_HALVES 56
#define MAX_BYTES_OF_HALVES ((uint64_t)1 << 30)
#define WORTH_HALVES 0.67

/* Returns the larger of two numbers. */
static uint64_t get_larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

struct idxi_layout idxi_layout_choose(uint64_t count, unsigned bits, unsigned distance, uint64_t max_bytes) {
    uint64_t cached_bytes = idxi_min(count * MAX_PER_CACHED, CACHED_BYTES);
    uint64_t worth_bytes = get_larger(get_larger(count * MAX_PER_FINGERPRINT, cached_bytes), SMALL_BYTES);
    uint64_t halves_bytes = idxi_min(idxi_min(count * MAX_PER_FINGERPRINT_OF_HALVES, MAX_BYTES_OF_HALVES), max_bytes);
    struct idxi_layout best = choose_layout_of_parts(count, bits, distance, idxi_min(worth_bytes, max_bytes));
    double max_nanoseconds = best.nanoseconds * WORTH_HALVES;
    unsigned max_half_bits = distance == HALVES_DISTANCE ? bits / 2 : 0;
    for (unsigned half_bits = max_half_bits; half_bits >= IDXI_HALF_PARTS; half_bits--) {
        struct idxi_layout layout = cut_halves_into_blocks(bits, half_bits);
        if (!set_costs(&layout, count) || layout.bytes > halves_bytes || layout.nanoseconds > max_nanoseconds) continue;
        best = layout;
        max_nanoseconds = layout.nanoseconds;
    }
    return best;
}

/* The nanoseconds to decode a fingerprint, and to count it and copy it to its bucket, with all in the first caches. */
#define READ_TIME 5.0
#define SORT_TIME 2.0

double idxi_layout_estimate_seconds(const struct idxi_layout *layout, uint64_t count) {
    double time = READ_TIME;
    for (unsigned i = 0; i < layout->count; i++) {
        double buckets = exp2(layout->parts[i].bits);
        /* the lines that are written to: each bucket has one at a time */
        double written_bytes = fmin(buckets * LINE_BYTES, (double)count * sizeof(uint64_t));
        time += SORT_TIME + 2 * interpolate(waits, buckets * sizeof(uint32_t)) + interpolate(waits, written_bytes);
    }
    return (double)count * time / 1e9;
}

/* Does the work of idxi_layout_choose_radii for a layout of halves. All radii are 0 or -1. With distance 0, it probes
 * one part of the first half; with 1, one part of each half; with 2, all of the first half and one of the other; with
 * 3, all. */
static double choose_radii_of_halves(const struct idxi_layout *layout, uint64_t count, unsigned distance, int *radii) {
    double time = QUERY_TIME, starts_bytes = (double)count_starts_bytes(layout);
    for (unsigned i = 0; i < layout->count; i++) {
        unsigned half = i / IDXI_HALF_PARTS, min_distance = i % IDXI_HALF_PARTS == 0 ? half : half + 2;
        radii[i] = distance >= min_distance ? 0 : -1;
        if (radii[i] == 0) time += get_probing_time(count, &layout->parts[i], 0, starts_bytes, (double)layout->bytes);
    }
    return time;
}

/* Begins with no part probed (-1), and raises one radius by 1 at a time, where this takes the least time: each further
 * step in a part takes more than the last one, so the sum is the least there is. By the pigeonhole principle,
 * `distance` + 1 steps suffice, and the radii of all parts, each plus one, are at least as many. */
double idxi_layout_choose_radii(const struct idxi_layout *layout, uint64_t count, unsigned distance,
                                int radii[IDXI_MAX_PARTS]) {
    double nanoseconds = QUERY_TIME, starts_bytes = (double)count_starts_bytes(layout), bytes = (double)layout->bytes;
    if (layout->of_halves) return choose_radii_of_halves(layout, count, distance, radii);
    for (unsigned i = 0; i < layout->count; i++) radii[i] = -1;
    for (unsigned step = 0; step <= distance; step++) {
        unsigned best = layout->count;
        double least_time = 0;
        for (unsigned i = 0; i < layout->count; i++) {
            const struct idxi_part *part = &layout->parts[i];
            if (radii[i] == (int)part->radius) continue;
            double time = get_probing_time(count, part, (unsigned)(radii[i] + 1), starts_bytes, bytes);
            if (radii[i] >= 0) time -= get_probing_time(count, part, (unsigned)radii[i], starts_bytes, bytes);
            if (best < layout->count && time >= least_time) continue;
            best = i;
            least_time = time;
        }
        radii[best]++;
        nanoseconds += least_time;
    }
    return nanoseconds;
}
