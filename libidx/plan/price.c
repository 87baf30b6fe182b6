/* price.c: the cost of a scheme: the size of its tables, with the code for uniform fingerprints, and the time of its
 * probes. */
#include "libidx/plan/price.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "format/bytes.h"
#include "format/directory.h"
#include "libidx/base/binomial.h"
#include "libidx/scheme/cost.h"
#include "libidx/segment/table_reader.h"

/* What probing takes on a core of a typical server, in nanoseconds. */
#define PROBE_TIME 50.0    /* a probe: a line of the directory, and a block of IDX_MIN_BLOCK_SIZE */
#define BYTE_TIME 0.2      /* a probe, for each byte of a block beyond that */
#define BLOCK_TIME 11.0    /* each block after the first */
#define CANDIDATE_TIME 1.9 /* each fingerprint with the prefix */

double idx_chance_matches(uint64_t count, unsigned bits, unsigned k) {
    return ldexp((double)count * idxi_count_patterns(bits, k), -(int)bits);
}

double idx_information_limit(uint64_t count, unsigned bits) {
    return count == 0 ? 0 : bits - log2((double)count) + 1.4427;
}

/* ---- Bytes ---- */

/* What a sum of differences takes on average, and its variance, for each of them. */
struct moments {
    double mean, variance;
};

static struct moments add_up(const double *chances, const double *values) {
    struct moments moments = {0, 0};
    double sum = 0, squares = 0;
    for (unsigned i = 1; i <= IDXF_MAX_BITS; i++) {
        sum += chances[i] * values[i];
        squares += chances[i] * values[i] * values[i];
    }
    moments.mean = sum;
    moments.variance = fmax(squares - sum * sum, 0);
    return moments;
}

/* How likely a sum of so many differences is at most `room`: it is about normally distributed. */
static double chance_to_fit(const struct moments *moments, double count, double room) {
    double deviation = sqrt(2 * count * moments->variance) + 1e-9;
    return 0.5 * erfc((count * moments->mean - room - 0.5) / deviation);
}

/* How likely a difference of evenly spread fingerprints has so many bits, 1 to 64. */
static void find_chances(double count, unsigned bits, double chances[IDXF_MAX_BITS + 1]) {
    double none = log1p(-fmin(ldexp(count, -(int)bits), 1)), above = 1; /* chances that a value is not there */
    chances[0] = 0;
    for (unsigned i = 1; i <= IDXF_MAX_BITS; i++) {
        double next = i < bits ? exp((ldexp(1, (int)i) - 1) * none) : 0;
        chances[i] = above - next;
        above = next;
    }
}

/* What differences take, all in all, and their codes alone; and how likely one has no code, and begins a block. */
struct costs {
    struct moments bits, codes;
    double without;
    bool long_codes;
};

/* By the code that these would be given. */
static struct costs find_costs(double count, const struct idxf_block_form *given) {
    struct idxf_block_form form = *given;
    struct idxf_difference_counts counts;
    struct idxf_encoder encoder;
    double chances[IDXF_MAX_BITS + 1], bits[IDXF_MAX_BITS + 1], codes[IDXF_MAX_BITS + 1], without = 0;
    find_chances(count, form.bits, chances);
    for (unsigned i = 0; i <= IDXF_MAX_BITS; i++) counts.of[i] = (uint64_t)(chances[i] * fmin(count, 1e12) + 0.5);
    idxf_code_choose(&form.code, &counts, form.bits);
    idxf_encoder_init(&encoder, &form);
    bool long_codes = idxf_needs_long_codes(&form, &counts);
    for (unsigned i = idxf_longest_tail(form.bits) + 1; i <= IDXF_MAX_BITS; i++) {
        without += chances[i];
        chances[i] = 0;
    }
    for (unsigned i = 0; i <= IDXF_MAX_BITS; i++) {
        chances[i] /= without < 1 ? 1 - without : 1;
        codes[i] = encoder.of[i].length;
        bits[i] = codes[i] + encoder.of[i].tail;
    }
    return (struct costs){add_up(chances, bits), add_up(chances, codes), without, long_codes};
}

/* Fingerprints that a block holds on average: its key, and as many differences as fit. Each chain but one has a key in
 * place of a difference. */
static double fill_block(double count, unsigned bits, uint32_t block_size) {
    struct idxf_block_form form = {.bits = bits, .block_size = block_size};
    form.anchor_bits = idxf_choose_anchor_bits((uint64_t)count, bits, block_size);
    struct costs costs = find_costs(count, &form);
    double chains = idxf_block_chains(block_size) - 1, room = block_size * 8.0 - 1 - form.anchor_bits, held = 1;
    if (chains > 0) room -= 6 + chains * (form.anchor_bits + log2(block_size * 8.0) - costs.bits.mean);
    double coded = 1;
    for (unsigned i = 1; i < IDXF_MAX_BLOCK_FINGERPRINTS; i++) {
        double fits = (coded *= 1 - costs.without) * chance_to_fit(&costs.bits, i, room);
        if (block_size == IDXF_MIN_BLOCK_SIZE && !costs.long_codes)
            fits *= chance_to_fit(&costs.codes, i, IDXF_MAX_CODES_BITS);
        if (fits < 1e-6) break;
        held += fits;
    }
    return held;
}

struct idxi_table_model idxi_table_model_make(const struct idx_plan_options *options) {
    double count = fmax(fmin((double)options->count, ldexp(1, (int)options->bits)), 1);
    double held = fmin(fill_block(count, options->bits, options->block_size), count);
    double blocks = ceil(count / held);
    double lines = ceil(blocks / IDXF_LINE_BLOCKS);
    double directory_pages = ceil(lines * IDXF_LINE_BYTES / IDXF_PAGE_SIZE);
    double pages = ceil(blocks * options->block_size / IDXF_PAGE_SIZE) + directory_pages;
    double bitmap = ceil(pages / 64) * 8;
    return (struct idxi_table_model){
        .block_fingerprints = held,
        .blocks = blocks,
        .file_bytes = IDXF_PAGE_SIZE + pages * (IDXF_PAGE_SIZE + 8),
        .resident_bytes =
            directory_pages * IDXF_PAGE_SIZE + bitmap + sizeof(struct idxi_table) + sizeof(struct idxf_decoder),
    };
}

/* ---- Time ---- */

static double expected_group(const struct idx_plan_options *options, uint64_t mask) {
    if (options->expected_group != NULL) return options->expected_group(options->context, mask);
    return ldexp((double)options->count, -__builtin_popcountll(mask & ~options->dead_bits));
}

static double time_of(const struct idx_plan_options *options, const struct idx_plan *plan) {
    double probe = PROBE_TIME + (options->block_size - IDX_MIN_BLOCK_SIZE) * BYTE_TIME;
    return plan->probes * probe + fmax(plan->blocks - plan->probes, 0) * BLOCK_TIME + plan->candidates * CANDIDATE_TIME;
}

static void add_probes(const struct idx_plan_options *options, const struct idxi_table_model *model, uint64_t mask,
                       double probes, struct idx_plan *plan) {
    double group = expected_group(options, mask);
    plan->probes += probes;
    plan->candidates += probes * group;
    plan->blocks += probes * fmin(idxi_expected_blocks(group, model->block_fingerprints), model->blocks);
}

/* All patterns of fewer flipped bits than the radius are probed for all values of the spared bits; see search.c. */
static void add_table(const struct idx_plan_options *options, const struct idxi_table_model *model, uint64_t mask,
                      unsigned radius, struct idx_plan *plan) {
    unsigned prefix = (unsigned)__builtin_popcountll(mask), spared = idxi_spared_bits(options->count, prefix);
    uint64_t flipped = mask;
    if (prefix < plan->min_prefix) plan->min_prefix = prefix;
    if (prefix > plan->max_prefix) plan->max_prefix = prefix;
    if (radius == 0) {
        add_probes(options, model, mask, 1, plan);
        return;
    }
    for (unsigned i = 0; i < spared; i++) flipped &= flipped - 1;
    add_probes(options, model, flipped, idxi_count_patterns(prefix - spared, radius - 1), plan);
    add_probes(options, model, mask, idxi_choose(prefix - spared, radius), plan);
}

static void write_masks(const struct idx_scheme *scheme, char *text, size_t size) {
    int digits = (int)(scheme->bits + 3) / 4;
    size_t used = 0;
    for (size_t i = 0; i < scheme->table_count && used < size; i++) {
        const struct idx_table *table = &scheme->tables[i];
        used += (size_t)snprintf(text + used, size - used, "%s@%0*llx", i > 0 ? "," : "", digits,
                                 (unsigned long long)table->mask);
        if (table->radius > 0 && used < size) used += (size_t)snprintf(text + used, size - used, ":%u", table->radius);
    }
}

void idxi_price_scheme(const struct idx_plan_options *options, const struct idxi_table_model *model,
                       const struct idx_scheme *scheme, struct idx_plan *plan) {
    *plan = (struct idx_plan){.tables = scheme->table_count, .min_prefix = IDX_MAX_BITS};
    if (strcmp(scheme->name, "masks") == 0)
        write_masks(scheme, plan->scheme, sizeof plan->scheme);
    else
        strcpy(plan->scheme, scheme->name);
    for (size_t i = 0; i < scheme->table_count; i++) {
        const struct idx_table *table = &scheme->tables[i];
        add_table(options, model, table->mask, table->radius < options->k ? table->radius : options->k, plan);
    }
    plan->nanoseconds = time_of(options, plan);
    plan->table_bytes = model->file_bytes * (double)plan->tables;
    plan->resident_bytes = model->resident_bytes * (double)plan->tables;
}

void idxi_plan_scheme(const struct idx_plan_options *options, const struct idx_scheme *scheme, struct idx_plan *plan) {
    struct idxi_table_model model = idxi_table_model_make(options);
    idxi_price_scheme(options, &model, scheme, plan);
}

void idxi_price_tables(const struct idx_plan_options *options, const struct idxi_table_model *model,
                       struct idxi_times *times) {
    struct idx_plan_options uniform = *options;
    uniform.dead_bits = 0;
    uniform.expected_group = NULL;
    for (unsigned radius = 0; radius <= IDX_MAX_RADIUS; radius++) {
        for (unsigned prefix = 1; prefix <= IDX_MAX_BITS; prefix++) {
            struct idx_plan plan = {0};
            add_table(&uniform, model, idxf_low_bits(prefix), radius, &plan);
            times->of[radius][prefix] = time_of(options, &plan);
        }
    }
}
