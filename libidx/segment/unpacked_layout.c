/* unpacked_layout.c: see unpacked_layout.h. */
#include "libidx/segment/unpacked_layout.h"

#include <math.h>
#include <stdbool.h>

#include "libidx/base/base.h"

/* What look-ups take, in nanoseconds, measured on a server of 2022: a query, a probe, and each vector of eight
 * fingerprints that is compared. */
#define QUERY_TIME 30.0
#define PROBE_TIME 2.5
#define VECTOR_TIME 1.0
#define LANES 8.0

/* What remains of the wait for a cache line, of which many are asked for together, where so many bytes are used. */
static double get_wait(double bytes) {
    if (bytes < 512e3) return 0.3;
    if (bytes < 2e6) return 1.0;
    return bytes < 24e6 ? 2.5 : 7.0;
}

/* Fingerprints behind each other in memory arrive faster than those at random places. */
#define NEXT_LINE_TIME 1.5

/* A probe of a part of so many bits, where all parts take `bytes`. */
static double get_probe_time(uint64_t count, unsigned bits, double bytes) {
    double candidates = (double)count / exp2(bits);
    double vectors = 0.6 + candidates / LANES;
    return PROBE_TIME + 2 * get_wait(bytes) + vectors * VECTOR_TIME + candidates / LANES * NEXT_LINE_TIME;
}

/* Patterns of a radius that would be too many to list. */
#define MOST_PATTERNS 100000.0

static uint64_t get_bytes(const struct idxi_layout *layout, uint64_t count) {
    uint64_t bytes = 0;
    for (unsigned i = 0; i < layout->count; i++)
        bytes += count * sizeof(uint64_t) + (((uint64_t)1 << layout->parts[i].bits) + 1) * sizeof(uint32_t);
    return bytes;
}

static bool set_costs(struct idxi_layout *layout, uint64_t count) {
    layout->bytes = get_bytes(layout, count);
    layout->nanoseconds = QUERY_TIME;
    for (unsigned i = 0; i < layout->count; i++) {
        const struct idxi_part *part = &layout->parts[i];
        double patterns = idxi_count_patterns(part->bits, part->radius);
        if (patterns > MOST_PATTERNS) return false;
        layout->nanoseconds += patterns * get_probe_time(count, part->bits, (double)layout->bytes);
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

static bool is_better(const struct idxi_layout *a, const struct idxi_layout *b, uint64_t most) {
    if (a->bytes > most || b->bytes > most) return a->bytes < b->bytes;
    return a->nanoseconds < b->nanoseconds;
}

struct idxi_layout idxi_layout_choose(uint64_t count, unsigned bits, unsigned distance, uint64_t most) {
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

/* Adds one error at a time where it takes the least: as patterns become more with each, that is the least in all. */
double idxi_layout_radii(const struct idxi_layout *layout, uint64_t count, unsigned distance,
                         int radii[IDXI_MAX_PARTS]) {
    double sum = QUERY_TIME;
    for (unsigned i = 0; i < layout->count; i++) radii[i] = -1;
    for (unsigned error = 0; error <= distance; error++) {
        unsigned best = layout->count;
        double least = 0;
        for (unsigned i = 0; i < layout->count; i++) {
            const struct idxi_part *part = &layout->parts[i];
            if (radii[i] == (int)part->radius) continue;
            double time = idxi_choose(part->bits, (unsigned)(radii[i] + 1)) *
                          get_probe_time(count, part->bits, (double)layout->bytes);
            if (best < layout->count && time >= least) continue;
            best = i;
            least = time;
        }
        radii[best]++;
        sum += least;
    }
    return sum;
}
