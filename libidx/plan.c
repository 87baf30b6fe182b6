/* plan.c: which schemes fit a number of fingerprints and a k, and what they cost on uniform fingerprints. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "format/bytes.h"
#include "format/limits.h"
#include "format/table.h"
#include "libidx/error.h"
#include "libidx/scheme.h"

static double choose(unsigned n, unsigned r) {
    double product = 1;
    for (unsigned i = 0; i < r; i++) product = product * (n - i) / (i + 1);
    return product;
}

static double ball(unsigned bits, unsigned radius) {
    double sum = 0;
    for (unsigned i = 0; i <= radius && i <= bits; i++) sum += choose(bits, i);
    return sum;
}

double idx_chance_matches(uint64_t count, unsigned bits, unsigned k) {
    return ldexp((double)count * ball(bits, k), -(int)bits);
}

double idx_information_limit(uint64_t count, unsigned bits) {
    return count == 0 ? 0 : bits - log2((double)count) + 1.4427;
}

/* ---- auto ---- */

/* Tables cost bytes, candidates cost time: the fewest tables whose probes find up to this many fingerprints, a few
 * blocks of them, but never more tables than that. */
#define AUTO_MAX_CANDIDATES 128
#define AUTO_MAX_TABLES 64

void idxi_scheme_auto(struct idx_scheme *scheme, unsigned bits, unsigned k, uint64_t count) {
    idxi_scheme_choose(scheme, bits, k + 1, 1, 0);
    for (unsigned front = 2; k + front <= bits; front++) {
        struct idx_scheme next;
        unsigned prefix = bits / (k + front - 1) * (front - 1);
        if (ldexp((double)count, -(int)prefix) <= AUTO_MAX_CANDIDATES) return;
        if (!idxi_scheme_choose(&next, bits, k + front, front, 0) || next.table_count > AUTO_MAX_TABLES) return;
        *scheme = next;
    }
}

/* ---- Plans ---- */

/* Bytes a fingerprint of one table's file, and of its keys and directory, with the delta codec. */
static void table_cost(uint64_t count, unsigned bits, uint32_t block_size, double *file, double *resident) {
    double each = fmax(idx_information_limit(count, bits) + 0.1, 1.0);
    double in_block = (block_size - IDXF_BLOCK_HEADER_BYTES) * 8.0 / each - 0.5 + 1;
    double blocks = ceil(fmax((double)count, 1) / in_block);
    unsigned directory_bits = idxf_directory_bits((uint64_t)blocks);
    double directory = directory_bits > 0 ? ldexp(4, (int)directory_bits) + 4 : 0;
    double held = blocks * 8 + directory;
    double pages = ceil(blocks * block_size / IDXF_PAGE_SIZE) + ceil(held / IDXF_PAGE_SIZE);
    *file = (IDXF_PAGE_SIZE + pages * (IDXF_PAGE_SIZE + 8)) / fmax((double)count, 1);
    *resident = held / fmax((double)count, 1);
}

static void plan_scheme(const struct idx_scheme *scheme, uint64_t count, uint32_t block_size, struct idx_plan *plan) {
    double file, resident;
    memset(plan, 0, sizeof *plan);
    snprintf(plan->scheme, sizeof plan->scheme, "%.31s", scheme->name);
    plan->tables = scheme->table_count;
    plan->min_prefix = scheme->bits;
    for (size_t i = 0; i < scheme->table_count; i++) {
        unsigned prefix = (unsigned)__builtin_popcountll(scheme->tables[i].mask);
        double probes = ball(prefix, scheme->tables[i].radius);
        if (prefix < plan->min_prefix) plan->min_prefix = prefix;
        if (prefix > plan->max_prefix) plan->max_prefix = prefix;
        plan->probes += probes;
        plan->candidates += ldexp((double)count * probes, -(int)prefix);
    }
    plan->max_candidates = ldexp((double)count, -(int)plan->min_prefix);
    plan->min_candidates = ldexp((double)count, -(int)plan->max_prefix);
    table_cost(count, scheme->bits, block_size, &file, &resident);
    plan->table_bytes = file * (double)scheme->table_count;
    plan->resident_bytes = resident * (double)scheme->table_count;
}

/* The texts of the schemes worth listing for k: the paper's kinds, and fewer blocks with flipped bits. */
#define MAX_TEXTS 32

static size_t list_schemes(unsigned k, char texts[MAX_TEXTS][32]) {
    size_t made = 0;
    for (unsigned front = 1; front <= 4; front++) snprintf(texts[made++], 32, "%u:%u", k + front, front);
    snprintf(texts[made++], 32, "%u:1/%u:1", k + 1, k + 1);
    for (unsigned radius = 1; radius <= IDX_MAX_RADIUS; radius++) {
        unsigned blocks = k / (radius + 1) + 1;
        bool needs_radius = blocks > 1 && blocks * radius <= k;
        if (needs_radius) snprintf(texts[made++], 32, "%u:1:%u", blocks, radius);
    }
    return made;
}

static bool is_listed(const struct idx_plan *plans, size_t count, const struct idx_plan *plan) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(plans[i].scheme, plan->scheme) == 0) return true;
    }
    return false;
}

enum idx_status idx_plan(uint64_t count, unsigned bits, unsigned k, uint32_t block_size, struct idx_plan *plans,
                         size_t capacity, size_t *plan_count, struct idx_error *error) {
    char texts[MAX_TEXTS][32];
    struct idx_plan made[MAX_TEXTS];
    struct idx_scheme scheme;
    size_t made_count = 0;
    if (block_size < IDX_MIN_BLOCK_SIZE || block_size > IDX_MAX_BLOCK_SIZE || (block_size & (block_size - 1)) != 0)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL, "block size %u: it must be a power of two from %d to %d",
                         block_size, IDX_MIN_BLOCK_SIZE, IDX_MAX_BLOCK_SIZE);
    IDXI_TRY(idx_scheme_parse(&scheme, "auto", bits, k, count, error));
    size_t text_count = list_schemes(k, texts);
    for (size_t i = 0; i < text_count; i++) {
        struct idx_plan plan;
        if (idx_scheme_parse(&scheme, texts[i], bits, k, count, NULL) != IDX_OK) continue;
        plan_scheme(&scheme, count, block_size, &plan);
        if (is_listed(made, made_count, &plan)) continue;
        size_t at = made_count++;
        for (; at > 0 && made[at - 1].tables > plan.tables; at--) made[at] = made[at - 1];
        made[at] = plan;
    }
    for (size_t i = 0; i < made_count && i < capacity; i++) plans[i] = made[i];
    *plan_count = made_count;
    return IDX_OK;
}
