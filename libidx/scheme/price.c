/* price.c: the cost of a scheme: its tables' size, with the code for uniform fingerprints, and its probes' time. */
#include "libidx/scheme/price.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "format/bytes.h"
#include "format/directory.h"
#include "libidx/base/base.h"
#include "libidx/segment/table_reader.h"

/* ---- The time of a query ---- */

/* A query's time is a sum: what its tables, probes, blocks and candidates take with everything in the first caches, and
 * for each line of a directory and each block how long the processor waits for it, which depends on how many bytes of
 * that kind an index has. bench/plan.c measures how good that is. */

#define LINE_BYTES 64

/* Of the wait for a line or a block beside one that was asked for, this share remains. Lines of one block wait no
 * longer than among NEXT_LINE_BYTES, since their page is known. After MAX_NEXT_LINES lines of a probe nothing remains,
 * since processors then fetch ahead. */
#define NEXT_LINE 0.5
#define NEXT_LINE_BYTES 0x1p26
#define MAX_NEXT_LINES 32

/* These are medians of idx_calibrate on a virtual server with AVX-512 (EPYC, Zen 4). */
static const struct idx_calibration typical_calibration = {
    .size = sizeof typical_calibration,
    .table = 10,
    .probe = 33.5,
    .byte = 0.183,
    .block = 12.6,
    .candidate = 1.355,
    .single = 50,
    .loaded_waits = {0.15, 0.2, 1.4, 2.8, 3.6, 4.3, 7, 18, 28, 38},
    .loaded_latencies = {1.6, 2.6, 8.5, 63, 116, 144, 165, 205, 260, 300},
    .mapped_waits = {0.15, 0.2, 1.6, 2.8, 4.4, 9.5, 19, 37, 55, 73},
    .mapped_latencies = {1.6, 2.6, 10, 66, 126, 175, 245, 350, 460, 565},
};

/* ---- Checking ---- */

/* Returns whether all `count` values are from 0 to 1e9. For NaN the comparisons are false, and so is the result. */
static bool are_in_range(const double *values, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (!(values[i] >= 0 && values[i] <= 1e9)) return false;
    }
    return true;
}

enum idx_status idxi_calibration_check(const struct idx_calibration *calibration, struct idx_error *error) {
    struct idx_calibration times = typical_calibration;
    if (calibration == NULL) return IDX_OK;
    IDXI_TRY(idxi_copy_options(&times, calibration, error));
    const double work[] = {times.table, times.probe, times.byte, times.block, times.candidate, times.single};
    if (are_in_range(work, sizeof work / sizeof *work) && times.probe > 0 &&
        are_in_range(times.loaded_waits, IDX_CALIBRATION_SIZES) &&
        are_in_range(times.loaded_latencies, IDX_CALIBRATION_SIZES) &&
        are_in_range(times.mapped_waits, IDX_CALIBRATION_SIZES) &&
        are_in_range(times.mapped_latencies, IDX_CALIBRATION_SIZES))
        return IDX_OK;
    return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL,
                     "a number of the calibration is not from 0 to 1e9, or a probe takes no time: measure it again");
}

/* ---- Time ---- */

/* Returns how many nanoseconds the processor waits for a cache line at random among `bytes` bytes. waits[i] is the wait
 * for 4^i times IDX_CALIBRATION_LEAST bytes; between those it interpolates, and beyond the last one it extrapolates. */
static double interpolate_wait(const double *waits, double bytes) {
    double position = (log2(fmax(bytes, IDX_CALIBRATION_LEAST)) - log2(IDX_CALIBRATION_LEAST)) / 2;
    size_t below = position < IDX_CALIBRATION_SIZES - 2 ? (size_t)position : IDX_CALIBRATION_SIZES - 2;
    return fmax(waits[below] + (waits[below + 1] - waits[below]) * (position - (double)below), 0);
}

/* How long the processor waits for a line if many queries are looked up together (waits), and if one is alone
 * (latencies). Both are arrays for interpolate_wait. */
struct memory_times {
    const double *waits, *latencies;
};

/* Returns the memory times of a calibration for data that is loaded into memory, or that is mapped. */
static struct memory_times choose_memory_times(const struct idx_calibration *calibration, bool is_loaded) {
    return is_loaded ? (struct memory_times){calibration->loaded_waits, calibration->loaded_latencies}
                     : (struct memory_times){calibration->mapped_waits, calibration->mapped_latencies};
}

struct idxi_time idxi_compute_time(const struct idx_calibration *calibration, enum idx_residence residence,
                                   const struct idxi_extent *extent, const struct idxi_work *work) {
    struct idx_calibration times = typical_calibration;
    idxi_copy_options(&times, calibration, NULL); /* which idxi_calibration_check has accepted, so this succeeds */
    struct memory_times line_times = choose_memory_times(&times, residence != IDX_RESIDENCE_NONE);
    struct memory_times block_times = choose_memory_times(&times, residence == IDX_RESIDENCE_ALL);
    double further_blocks = fmax(work->blocks - work->probes, 0); /* blocks of probes after the first of each */
    double line_wait = interpolate_wait(line_times.waits, extent->directory_bytes);
    double next_block = NEXT_LINE * interpolate_wait(times.loaded_waits, extent->block_bytes);
    double next_line = NEXT_LINE * interpolate_wait(times.loaded_waits, fmin(extent->block_bytes, NEXT_LINE_BYTES));
    double lines_of_block = extent->block_size / (double)LINE_BYTES;
    /* the blocks that are waited for: the first one of each probe, and the next ones until processors fetch ahead */
    double waited_blocks = work->probes * fmin(work->blocks / work->probes, fmax(MAX_NEXT_LINES / lines_of_block, 1));
    double work_time = work->tables * times.table + work->probes * times.probe + further_blocks * times.block +
                       work->candidates * times.candidate +
                       work->probes * (extent->block_size - IDX_MIN_BLOCK_SIZE) * times.byte;
    double far_waits = work->far * (line_wait + interpolate_wait(block_times.waits, extent->block_bytes));
    double next_waits = (waited_blocks - work->far) * next_block + waited_blocks * (lines_of_block - 1) * next_line;
    double many = work_time + far_waits + next_waits;
    double single = many + times.single + interpolate_wait(line_times.latencies, extent->directory_bytes) +
                    interpolate_wait(block_times.latencies, extent->block_bytes);
    return (struct idxi_time){.many = many, .single = single};
}

/* ---- The cost of a scheme ---- */

/* An index is taken to have so many tables where waits for memory must be known before its scheme is. */
#define TYPICAL_TABLES 6

#define LOG2_E 1.4427

double idx_chance_matches(uint64_t count, unsigned bits, unsigned k) {
    return ldexp((double)count * idxi_count_patterns(bits, k), -(int)bits);
}

double idx_information_limit(uint64_t count, unsigned bits) {
    return count == 0 ? 0 : bits - log2((double)count) + LOG2_E;
}

/* ---- Bytes ---- */

/* The mean and the variance of a random number, such as the bits of a difference. */
struct moments {
    double mean, variance;
};

/* Returns the moments of a number that is values[i] with the chance chances[i], for i from 1 to IDXF_MAX_BITS. */
static struct moments compute_moments(const double *chances, const double *values) {
    double mean = 0, squares = 0;
    for (unsigned i = 1; i <= IDXF_MAX_BITS; i++) {
        mean += chances[i] * values[i];
        squares += chances[i] * values[i] * values[i];
    }
    return (struct moments){.mean = mean, .variance = fmax(squares - mean * mean, 0)};
}

/* Returns the probability that `count` differences take at most `max_bits` bits together. `moments` are those of the
 * bits of one. Their sum is about normally distributed, and an integer, so all below max_bits + 0.5 counts. */
static double compute_chance_to_fit(const struct moments *moments, double count, double max_bits) {
    double deviation = sqrt(2 * count * moments->variance) + 1e-9; /* times the root of 2, as erfc needs it; never 0 */
    return 0.5 * erfc((count * moments->mean - max_bits - 0.5) / deviation);
}

/* Sets chances[i] to the probability that a difference between successive ones of `count` evenly spread fingerprints,
 * of `bits` bits, has i bits. chances[0] is 0. */
static void compute_width_chances(double count, unsigned bits, double chances[IDXF_MAX_BITS + 1]) {
    /* the logarithm of the chance that a value is not there, and the chance that a difference has i bits or more */
    double log_absent = log1p(-fmin(ldexp(count, -(int)bits), 1)), at_least = 1;
    chances[0] = 0;
    for (unsigned i = 1; i <= IDXF_MAX_BITS; i++) {
        /* more than i bits: none of the 2^i - 1 values after the former fingerprint is there */
        double more = i < bits ? exp((ldexp(1, (int)i) - 1) * log_absent) : 0;
        chances[i] = at_least - more;
        at_least = more;
    }
}

/* What differences cost with a code. */
struct costs {
    struct moments bits, codes; /* bits of a difference in all, and of its code alone */
    double uncoded;             /* the probability that a difference has no code, so that it begins a block */
    bool long_codes;            /* whether some code is long; see idxf_needs_long_codes */
};

/* Returns the costs with the code that suits the differences of `count` evenly spread fingerprints best. The bits and
 * the other members of *block_form but its code must be set. */
static struct costs compute_code_costs(double count, const struct idxf_block_form *block_form) {
    struct idxf_block_form form = *block_form;
    struct idxf_difference_counts counts;
    struct idxf_encoder encoder;
    double chances[IDXF_MAX_BITS + 1], bits[IDXF_MAX_BITS + 1], codes[IDXF_MAX_BITS + 1], uncoded = 0;
    compute_width_chances(count, form.bits, chances);
    for (unsigned i = 0; i <= IDXF_MAX_BITS; i++) counts.of[i] = (uint64_t)(chances[i] * fmin(count, 1e12) + 0.5);
    idxf_code_choose(&form.code, &counts, form.bits);
    idxf_encoder_init(&encoder, &form);
    bool long_codes = idxf_needs_long_codes(&form, &counts);
    for (unsigned i = idxf_get_max_tail_bits(form.bits) + 1; i <= IDXF_MAX_BITS; i++) {
        uncoded += chances[i];
        chances[i] = 0;
    }
    for (unsigned i = 0; i <= IDXF_MAX_BITS; i++) {
        chances[i] /= uncoded < 1 ? 1 - uncoded : 1; /* those of coded differences alone: they add up to 1 again */
        codes[i] = encoder.class_of[i].length;
        bits[i] = codes[i] + encoder.class_of[i].tail;
    }
    return (struct costs){.bits = compute_moments(chances, bits),
                          .codes = compute_moments(chances, codes),
                          .uncoded = uncoded,
                          .long_codes = long_codes};
}

/* Returns how many of `count` evenly spread fingerprints of `bits` bits a block of `block_size` bytes holds on average:
 * 1 for its key, and for each further difference the probability that it fits. Each chain but one has a key in place of
 * a difference. */
static double estimate_block_fingerprints(double count, unsigned bits, uint32_t block_size) {
    struct idxf_block_form form = {.bits = bits, .block_size = block_size};
    form.anchor_bits = idxf_choose_anchor_bits((uint64_t)count, bits, block_size);
    struct costs costs = compute_code_costs(count, &form);
    double chains = idxf_get_max_chains(block_size) - 1; /* but the first */
    double free_bits = block_size * 8.0 - 1 - form.anchor_bits, fingerprints_held = 1;
    /* the list of chains: 6 bits say how wide an offset is, and each entry has an offset and a place */
    if (chains > 0) free_bits -= 6 + chains * (form.anchor_bits + log2(block_size * 8.0) - costs.bits.mean);
    double coded = 1; /* how likely each of the differences so far has a code */
    for (unsigned i = 1; i < IDXF_MAX_BLOCK_FINGERPRINTS; i++) {
        coded *= 1 - costs.uncoded;
        double fits = coded * compute_chance_to_fit(&costs.bits, i, free_bits);
        /* the smallest blocks, unless codes may be long there, also limit the bits of all codes together */
        if (block_size == IDXF_MIN_BLOCK_SIZE && !costs.long_codes)
            fits *= compute_chance_to_fit(&costs.codes, i, IDXF_MAX_CODES_BITS);
        if (fits < 1e-6) break;
        fingerprints_held += fits;
    }
    return fingerprints_held;
}

struct idxi_table_model idxi_make_table_model(const struct idx_plan_options *options) {
    double count = fmax(fmin((double)options->count, ldexp(1, (int)options->bits)), 1);
    double block_fingerprints = fmin(estimate_block_fingerprints(count, options->bits, options->block_size), count);
    double blocks = ceil(count / block_fingerprints);
    double lines = ceil(blocks / IDXF_LINE_BLOCKS);
    double directory_pages = ceil(lines * IDXF_LINE_BYTES / IDXF_PAGE_SIZE);
    double pages = ceil(blocks * options->block_size / IDXF_PAGE_SIZE) + directory_pages;
    double bitmap = ceil(pages / 64) * 8;
    return (struct idxi_table_model){
        .block_fingerprints = block_fingerprints,
        .blocks = blocks,
        .directory_bytes = lines * IDXF_LINE_BYTES,
        .file_bytes = IDXF_PAGE_SIZE + pages * (IDXF_PAGE_SIZE + 8),
        .resident_bytes =
            directory_pages * IDXF_PAGE_SIZE + bitmap + sizeof(struct idxi_table) + sizeof(struct idxf_decoder),
    };
}

/* ---- Time ---- */

/* Returns how many fingerprints are expected to have the same bits in `mask` as a query: by options->expected_group, or
 * if that is NULL, as if they were spread evenly over the bits that are not dead. */
static double estimate_group_size(const struct idx_plan_options *options, uint64_t mask) {
    if (options->expected_group != NULL) return options->expected_group(options->context, mask);
    return ldexp((double)options->count, -__builtin_popcountll(mask & ~options->dead_bits));
}

/* The state of pricing a scheme: `work` is what a query does in the tables so far. */
struct pricing {
    const struct idx_plan_options *options;
    const struct idxi_table_model *model;
    struct idxi_work work;
};

/* Adds `probes` probes of a table to the work, each for the fingerprints that have the same bits in `mask` as the
 * pattern. `far_probes` of them are far from the probe before, so they wait for memory. */
static void add_probes(struct pricing *pricing, uint64_t mask, double probes, double far_probes) {
    double group_size = estimate_group_size(pricing->options, mask);
    double probe_blocks = idxi_estimate_probe_blocks(group_size, pricing->model->block_fingerprints);
    pricing->work.probes += probes;
    pricing->work.far += far_probes;
    pricing->work.candidates += probes * group_size;
    pricing->work.blocks += probes * fmin(probe_blocks, pricing->model->blocks);
}

/* Returns how many of the `flipped` leading bits of a prefix are so far behind that flipping them moves a probe by less
 * than a page of the table. */
static unsigned count_near_bits(const struct pricing *pricing, unsigned flipped) {
    double page_fingerprints = IDXF_PAGE_SIZE / pricing->options->block_size * pricing->model->block_fingerprints;
    double bits = log2(page_fingerprints / ldexp(fmax((double)pricing->options->count, 1), -(int)flipped));
    return (unsigned)fmin(fmax(bits, 0), flipped);
}

/* Adds the probes of a table with this mask and radius to the work. A pattern of fewer flipped bits than the radius
 * takes one probe for all values of the spared bits; see lookup/search.c. */
static void add_table_work(struct pricing *pricing, uint64_t mask, unsigned radius) {
    unsigned prefix_bits = (unsigned)__builtin_popcountll(mask);
    unsigned flipped_bits = prefix_bits - idxi_count_spared_bits(pricing->options->count, prefix_bits);
    uint64_t flipped_mask = mask;
    pricing->work.tables += 1;
    if (radius == 0) {
        add_probes(pricing, mask, 1, 1);
        return;
    }
    for (unsigned i = flipped_bits; i < prefix_bits; i++) flipped_mask &= flipped_mask - 1;
    unsigned far_bits = flipped_bits - count_near_bits(pricing, flipped_bits);
    add_probes(pricing, flipped_mask, idxi_count_patterns(flipped_bits, radius - 1),
               idxi_count_patterns(far_bits, radius - 1));
    add_probes(pricing, mask, idxi_count_combinations(flipped_bits, radius), idxi_count_combinations(far_bits, radius));
}

/* Returns the time of a query that does the pricing's work in an index of `tables` tables. */
static struct idxi_time compute_query_time(const struct pricing *pricing, double tables) {
    const struct idxi_table_model *model = pricing->model;
    const struct idx_plan_options *options = pricing->options;
    struct idxi_extent extent = {.block_size = options->block_size,
                                 .block_bytes = tables * model->blocks * options->block_size,
                                 .directory_bytes = tables * model->directory_bytes};
    return idxi_compute_time(options->calibration, options->residence, &extent, &pricing->work);
}

/* Writes the masks of a scheme to `text`, `size` bytes, as idx_scheme_parse reads them: `@hex[:R],…`. Writes an empty
 * text if they don't fit. */
static void format_masks(const struct idx_scheme *scheme, char *text, size_t size) {
    int digits = (int)(scheme->bits + 3) / 4;
    size_t used = 0;
    for (size_t i = 0; i < scheme->table_count && used < size; i++) {
        const struct idx_table *table = &scheme->tables[i];
        used += (size_t)snprintf(text + used, size - used, "%s@%0*llx", i > 0 ? "," : "", digits,
                                 (unsigned long long)table->mask);
        if (table->radius > 0 && used < size) used += (size_t)snprintf(text + used, size - used, ":%u", table->radius);
    }
    if (used >= size) text[0] = '\0';
}

/* Sets plan->min_prefix and plan->max_prefix to the fewest and the most bits that a mask of the scheme has. max_prefix
 * must be 0 before. */
static void set_prefix_range(const struct idx_scheme *scheme, struct idx_plan *plan) {
    plan->min_prefix = IDX_MAX_BITS;
    for (size_t i = 0; i < scheme->table_count; i++) {
        unsigned prefix = (unsigned)__builtin_popcountll(scheme->tables[i].mask);
        if (prefix < plan->min_prefix) plan->min_prefix = prefix;
        if (prefix > plan->max_prefix) plan->max_prefix = prefix;
    }
}

/* Returns about how many pages of blocks a query reads. Probes that move by less than a page share it, and the further
 * blocks of a probe may be in the next page. */
static double estimate_pages(const struct idx_plan_options *options, const struct idxi_work *work) {
    double further_blocks = fmax(work->blocks / work->probes - 1, 0);
    return work->far * (1 + further_blocks * options->block_size / IDXF_PAGE_SIZE);
}

void idxi_price_scheme(const struct idx_plan_options *options, const struct idxi_table_model *model,
                       const struct idx_scheme *scheme, struct idx_plan *plan) {
    struct pricing pricing = {.options = options, .model = model};
    *plan = (struct idx_plan){.tables = scheme->table_count};
    if (strcmp(scheme->name, "masks") == 0)
        format_masks(scheme, plan->scheme, sizeof plan->scheme);
    else
        strcpy(plan->scheme, scheme->name);
    set_prefix_range(scheme, plan);
    for (size_t i = 0; i < scheme->table_count; i++) {
        const struct idx_table *table = &scheme->tables[i];
        add_table_work(&pricing, table->mask, table->radius < options->k ? table->radius : options->k);
    }
    struct idxi_time time = compute_query_time(&pricing, (double)plan->tables);
    plan->probes = pricing.work.probes;
    plan->candidates = pricing.work.candidates;
    plan->blocks = pricing.work.blocks;
    plan->pages = estimate_pages(options, &pricing.work);
    plan->nanoseconds = time.many;
    plan->single_nanoseconds = time.single;
    plan->table_bytes = model->file_bytes * (double)plan->tables;
    plan->resident_bytes = model->resident_bytes * (double)plan->tables;
}

void idxi_price_single_scheme(const struct idx_plan_options *options, const struct idx_scheme *scheme,
                              struct idx_plan *plan) {
    struct idxi_table_model model = idxi_make_table_model(options);
    idxi_price_scheme(options, &model, scheme, plan);
}

void idxi_price_tables(const struct idx_plan_options *options, const struct idxi_table_model *model,
                       struct idxi_table_times *times) {
    struct idx_plan_options uniform_options = *options;
    uniform_options.dead_bits = 0;
    uniform_options.expected_group = NULL;
    for (unsigned radius = 0; radius <= IDX_MAX_RADIUS; radius++) {
        for (unsigned prefix = 1; prefix <= IDX_MAX_BITS; prefix++) {
            struct pricing pricing = {.options = &uniform_options, .model = model};
            add_table_work(&pricing, idxf_low_bits(prefix), radius);
            times->of[radius][prefix] = compute_query_time(&pricing, TYPICAL_TABLES).many;
        }
    }
}
