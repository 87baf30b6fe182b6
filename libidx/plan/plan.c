/* plan.c: what a scheme costs, which ones are worth having, and which one `auto` takes. */
#include "libidx/plan/plan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes.h"
#include "format/directory.h"
#include "format/limits.h"
#include "libidx/base/error.h"
#include "libidx/plan/parts.h"
#include "libidx/scheme/cost.h"
#include "libidx/scheme/scheme.h"
#include "libidx/segment/table_reader.h"

/* What probing takes on a core of a typical server, in nanoseconds. */
#define PROBE_TIME 50.0    /* a probe: a line of the directory, and a block of IDX_MIN_BLOCK_SIZE */
#define BYTE_TIME 0.2      /* a probe, for each byte of a block beyond that */
#define BLOCK_TIME 11.0    /* each block after the first */
#define CANDIDATE_TIME 1.9 /* each fingerprint with the prefix */

/* A plan is worth listing where it is this much faster than all smaller ones. */
#define WORTHWHILE 0.95

/* Masks are worth writing out where they are this much faster than a scheme with a name, of as many tables. */
#define WORTH_MASKS 0.98

#define MAX_BLOCKS 10
#define MAX_LEVEL_BLOCKS 6

/* What tables may take where nothing is said: eight times the plain fingerprints, 64 bytes for 64 bits. At k = 3 the
 * schemes taken for 1e6 to 1e9 fingerprints have 33, 36, 45 and 62 bytes; at k = 4 to 6 those for 1e7 are
 * expected to take up to 2.2 times as long as the fastest with any number of tables. The first MiB is not worth saving.
 */
#define DEFAULT_BYTES(bits, count) ((double)(bits) * (double)(count) + (1 << 20))

/* Of the proof of one plan; a tenth of a second. */
#define MAX_STEPS 1000000

static double choose(unsigned n, unsigned r) {
    double product = 1;
    for (unsigned i = 0; i < r; i++) product = product * (n - i) / (i + 1);
    return r > n ? 0 : product;
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

/* What is the same for all tables of an index. */
struct table_model {
    double block_fingerprints, blocks;
    double file_bytes, resident_bytes;
};

static struct table_model model_table(const struct idx_plan_options *options) {
    double count = fmax(fmin((double)options->count, ldexp(1, (int)options->bits)), 1);
    double held = fmin(fill_block(count, options->bits, options->block_size), count);
    double blocks = ceil(count / held);
    double lines = ceil(blocks / IDXF_LINE_BLOCKS);
    double directory_pages = ceil(lines * IDXF_LINE_BYTES / IDXF_PAGE_SIZE);
    double pages = ceil(blocks * options->block_size / IDXF_PAGE_SIZE) + directory_pages;
    double bitmap = ceil(pages / 64) * 8;
    return (struct table_model){
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

static void add_probes(const struct idx_plan_options *options, const struct table_model *model, uint64_t mask,
                       double probes, struct idx_plan *plan) {
    double group = expected_group(options, mask);
    plan->probes += probes;
    plan->candidates += probes * group;
    plan->blocks += probes * fmin(idxi_expected_blocks(group, model->block_fingerprints), model->blocks);
}

/* All patterns of fewer flipped bits than the radius are probed for all values of the spared bits; see search.c. */
static void add_table(const struct idx_plan_options *options, const struct table_model *model, uint64_t mask,
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
    add_probes(options, model, flipped, ball(prefix - spared, radius - 1), plan);
    add_probes(options, model, mask, choose(prefix - spared, radius), plan);
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

static void price(const struct idx_plan_options *options, const struct table_model *model,
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
    struct table_model model = model_table(options);
    price(options, &model, scheme, plan);
}

static void fill_times(const struct idx_plan_options *options, const struct table_model *model,
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

/* ---- Plans ---- */

struct candidate {
    struct idx_scheme scheme; /* without tables: there is none */
    struct idx_plan plan;
};

/* Tables of an index are of one size, whatever their masks: so the fastest of each number of tables is kept. */
struct planner {
    struct idx_plan_options options;
    struct table_model model;
    struct candidate best[IDX_MAX_TABLES + 1];
};

/* Takes a scheme where it is faster than the one of as many tables. */
static void take(struct planner *planner, const struct idx_scheme *scheme, double worth) {
    struct candidate *best = &planner->best[scheme->table_count];
    struct idx_plan plan;
    price(&planner->options, &planner->model, scheme, &plan);
    if (best->plan.tables > 0 && plan.nanoseconds >= best->plan.nanoseconds * worth) return;
    best->scheme = *scheme;
    best->plan = plan;
}

static void take_masks(void *context, const struct idx_scheme *scheme) { take(context, scheme, WORTH_MASKS); }

static void take_text(struct planner *planner, const char *text) {
    struct idx_scheme scheme;
    if (idxi_scheme_read(&scheme, text, planner->options.bits)) take(planner, &scheme, 1);
}

/* B:C and B:C:R of up to 10 blocks, and k + 1 blocks. */
static void take_one_level(struct planner *planner) {
    unsigned k = planner->options.k;
    char text[sizeof planner->best->scheme.name];
    for (unsigned blocks = 1; blocks <= IDX_MAX_K + 1; blocks++) {
        for (unsigned front = 1; front <= blocks && (front == 1 || blocks <= MAX_BLOCKS); front++) {
            for (unsigned radius = 0; radius <= IDX_MAX_RADIUS && radius <= k; radius++) {
                if (idxi_parts_cover(blocks, front, radius) < k) continue;
                snprintf(text, sizeof text, radius > 0 ? "%u:%u:%u" : "%u:%u", blocks, front, radius);
                take_text(planner, text);
            }
        }
    }
}

/* B:C/b:c, both levels of which cover k and no more. */
static void take_two_levels(struct planner *planner) {
    unsigned k = planner->options.k;
    char text[sizeof planner->best->scheme.name];
    for (unsigned first = 1; k > 0 && k + first <= MAX_LEVEL_BLOCKS; first++) {
        for (unsigned second = 1; k + second <= MAX_LEVEL_BLOCKS; second++) {
            snprintf(text, sizeof text, "%u:%u/%u:%u", k + first, first, k + second, second);
            take_text(planner, text);
        }
    }
}

static enum idx_status take_all(struct planner *planner, struct idx_error *error) {
    struct idxi_times times;
    uint64_t all = idxf_low_bits(planner->options.bits), live = all & ~planner->options.dead_bits;
    double (*measured)(void *, uint64_t) = planner->options.expected_group;
    planner->options.expected_group = NULL; /* it takes long */
    take_one_level(planner);
    take_two_levels(planner);
    fill_times(&planner->options, &planner->model, &times);
    enum idx_status status = idxi_parts_find(planner->options.bits, live != 0 ? live : all, planner->options.k, &times,
                                             take_masks, planner, error);
    planner->options.expected_group = measured;
    return status;
}

static bool fits(const struct planner *planner, const struct idx_plan *plan) {
    const struct idx_plan_options *options = &planner->options;
    double most = options->max_bytes_per_fingerprint > 0
                      ? (double)options->max_bytes_per_fingerprint * (double)options->count
                      : DEFAULT_BYTES(options->bits, options->count);
    return plan->table_bytes + plan->resident_bytes <= most;
}

/* Drops what is not worth listing; but with `keep_fitting` nothing that `auto` may take. */
static void keep_worthwhile(struct planner *planner, bool keep_fitting) {
    double least = INFINITY;
    for (size_t i = 0; i <= IDX_MAX_TABLES; i++) {
        struct idx_plan *plan = &planner->best[i].plan;
        if (plan->tables == 0) continue;
        if (plan->nanoseconds <= least * WORTHWHILE)
            least = plan->nanoseconds;
        else if (!keep_fitting || !fits(planner, plan))
            plan->tables = 0;
    }
}

static void prove(struct planner *planner) {
    for (size_t i = 0; i <= IDX_MAX_TABLES; i++) {
        struct candidate *best = &planner->best[i];
        uint64_t steps = MAX_STEPS;
        if (best->plan.tables > 0 && !idxi_scheme_covers_within(&best->scheme, planner->options.k, &steps))
            best->plan.tables = 0;
    }
}

/* The fastest that fits, or else the first. */
static void choose_plan(struct planner *planner) {
    struct idx_plan *chosen = NULL;
    for (size_t i = 0; i <= IDX_MAX_TABLES; i++) {
        struct idx_plan *plan = &planner->best[i].plan;
        if (plan->tables > 0 && (chosen == NULL || fits(planner, plan))) chosen = plan;
    }
    if (chosen != NULL) chosen->chosen = true;
}

static enum idx_status make_plans(struct planner *planner, struct idx_error *error) {
    IDXI_TRY(take_all(planner, error));
    /* What is slow for even data may be the fastest for these. */
    keep_worthwhile(planner, planner->options.expected_group != NULL);
    if (planner->options.expected_group != NULL) {
        for (size_t i = 0; i <= IDX_MAX_TABLES; i++) {
            struct candidate *best = &planner->best[i];
            if (best->plan.tables > 0) price(&planner->options, &planner->model, &best->scheme, &best->plan);
        }
        keep_worthwhile(planner, false);
    }
    prove(planner);
    choose_plan(planner);
    return IDX_OK;
}

static enum idx_status planner_open(struct planner **planner, const struct idx_plan_options *options,
                                    struct idx_error *error) {
    *planner = calloc(1, sizeof **planner);
    if (*planner == NULL) return idxi_fail_memory(error);
    (*planner)->options = *options;
    (*planner)->model = model_table(options);
    enum idx_status status = make_plans(*planner, error);
    if (status != IDX_OK) free(*planner);
    return status;
}

enum idx_status idxi_plan_auto(const struct idx_plan_options *options, struct idx_scheme *scheme,
                               struct idx_error *error) {
    struct planner *planner;
    IDXI_TRY(planner_open(&planner, options, error));
    for (size_t i = 0; i <= IDX_MAX_TABLES; i++) {
        if (planner->best[i].plan.chosen) *scheme = planner->best[i].scheme;
    }
    free(planner);
    return IDX_OK;
}

static enum idx_status check(const struct idx_plan_options *options, struct idx_error *error) {
    uint32_t size = options->block_size;
    IDXI_TRY(idxi_scheme_check(options->bits, options->k, error));
    if (size < IDX_MIN_BLOCK_SIZE || size > IDX_MAX_BLOCK_SIZE || (size & (size - 1)) != 0)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL, "block size %u: it must be a power of two from %d to %d",
                         size, IDX_MIN_BLOCK_SIZE, IDX_MAX_BLOCK_SIZE);
    if (model_table(options).blocks > (double)IDXF_MAX_BLOCKS)
        return idxi_fail(error, IDX_LIMIT, NULL,
                         "%llu fingerprints take more blocks of %u bytes than the %lld that a table can hold: choose "
                         "larger blocks, or several indexes",
                         (unsigned long long)options->count, size, (long long)IDXF_MAX_BLOCKS);
    return IDX_OK;
}

enum idx_status idx_plan(const struct idx_plan_options *given, struct idx_plan *plans, size_t capacity,
                         size_t *plan_count, struct idx_error *error) {
    struct idx_plan_options options = IDX_PLAN_OPTIONS_INIT;
    struct planner *planner;
    size_t count = 0;
    memcpy(&options, given, given->size < sizeof options ? given->size : sizeof options);
    IDXI_TRY(check(&options, error));
    IDXI_TRY(planner_open(&planner, &options, error));
    for (size_t i = 0; i <= IDX_MAX_TABLES; i++) {
        const struct idx_plan *plan = &planner->best[i].plan;
        if (plan->tables == 0) continue;
        if (count < capacity) plans[count] = *plan;
        count++;
    }
    free(planner);
    *plan_count = count;
    return IDX_OK;
}

/* ---- Reading a scheme ---- */

/* What `auto` stands for where only the number of fingerprints is known. */
static enum idx_status settle_auto(struct idx_scheme *scheme, unsigned bits, unsigned k, uint64_t count,
                                   struct idx_error *error) {
    struct idx_plan_options options = IDX_PLAN_OPTIONS_INIT;
    options.count = count;
    options.bits = bits;
    options.k = k;
    return idxi_plan_auto(&options, scheme, error);
}

enum idx_status idx_scheme_parse(struct idx_scheme *scheme, const char *text, unsigned bits, unsigned k, uint64_t count,
                                 struct idx_error *error) {
    IDXI_TRY(idxi_scheme_check(bits, k, error));
    if (text == NULL) return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL, "no scheme is given: use auto");
    if (strcmp(text, IDXI_AUTO) == 0) return settle_auto(scheme, bits, k, count, error);
    if (!idxi_scheme_read(scheme, text, bits))
        return idxi_fail(error, IDX_BAD_SCHEME, NULL,
                         "scheme '%.200s' is none for fingerprints of %u bits: use auto, 4, 10, 16, 20, B:C, B:C:R, "
                         "B:C/b:c or masks @hex[:R],…, with at most %d tables and a radius of at most %d",
                         text, bits, IDX_MAX_TABLES, IDX_MAX_RADIUS);
    if (!idx_scheme_covers(scheme, k))
        return idxi_fail(error, IDX_WEAK_SCHEME, NULL,
                         "scheme '%.200s' does not cover k = %u: some pairs at that distance would be missed; take "
                         "more blocks, a larger radius, or auto",
                         text, k);
    return IDX_OK;
}
