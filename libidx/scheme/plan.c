/* plan.c: lists the schemes worth considering, and chooses one for `auto`. */
#include "libidx/scheme/plan.h"
#include "libidx/base/base.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes.h"
#include "format/limits.h"
#include "libidx/scheme/price.h"
#include "libidx/scheme/scheme.h"

/* A plan is worth listing if it takes no more than this share of the time of the fastest plan with fewer tables. */
#define WORTHWHILE 0.95

/* Masks are worth writing out where they take less than this share of the time of a named scheme of as many tables. */
#define WORTH_MASKS 0.98

/* The most blocks of the schemes that are tried: B:C with several blocks in front, and each level of B:C/b:c. */
#define MAX_BLOCKS 10
#define MAX_LEVEL_BLOCKS 6

/* The most bytes of all tables if the options set no limit: eight times the plain fingerprints, 64 bytes for 64 bits,
 * and a MiB. At k = 3 the schemes taken for 1e6 to 1e9 fingerprints have 33, 36, 45 and 62 bytes; at k = 4 to 6 those
 * for 1e7 are expected to take up to 2.2 times as long as the fastest with any number of tables. */
#define DEFAULT_BYTES(bits, count) ((double)(bits) * (double)(count) + (1 << 20))

/* The most steps of the proof of one plan; a tenth of a second. */
#define MAX_STEPS 1000000

/* A scheme, with what it costs. */
struct candidate {
    struct idx_scheme scheme;
    struct idx_plan plan; /* no tables: there is no candidate */
};

/* The state of planning. Tables of an index have the same size, whatever their masks, so only the fastest scheme of
 * each number of tables counts: best[tables]. */
struct planner {
    struct idx_plan_options options;
    struct idxi_table_model model;
    struct candidate best[IDX_MAX_TABLES + 1];
};

/* Makes a scheme the candidate for its number of tables, if there is none yet, or if it takes less than the share
 * `max_time_share` of the candidate's time. */
static void keep_if_faster(struct planner *planner, const struct idx_scheme *scheme, double max_time_share) {
    struct candidate *best = &planner->best[scheme->table_count];
    struct idx_plan plan;
    idxi_price_scheme(&planner->options, &planner->model, scheme, &plan);
    if (best->plan.tables > 0 && plan.nanoseconds >= best->plan.nanoseconds * max_time_share) return;
    best->scheme = *scheme;
    best->plan = plan;
}

/* An idxi_scheme_visitor: keeps a scheme of parts as a candidate, if there is none with as many tables or it takes less
 * than the share WORTH_MASKS of its time. A scheme of parts has no short name: it is written by its masks, and must be
 * worth that. `context` is the struct planner. */
static void try_parts(void *context, const struct idx_scheme *scheme) { keep_if_faster(context, scheme, WORTH_MASKS); }

/* Keeps the scheme of a text, such as `5:2`, as a candidate if it is faster than the one with as many tables. Ignores a
 * scheme with too many tables or more blocks than bits. */
static void try_scheme_text(struct planner *planner, const char *text) {
    struct idx_scheme scheme;
    if (idxi_scheme_parse_unproved(&scheme, text, planner->options.bits)) keep_if_faster(planner, &scheme, 1);
}

/* Tries all schemes B:C and B:C:R of up to MAX_BLOCKS blocks that cover k, and B:1 and B:1:R of any number of
 * blocks. */
static void try_one_level_schemes(struct planner *planner) {
    unsigned k = planner->options.k;
    char text[sizeof planner->best->scheme.name];
    for (unsigned blocks = 1; blocks <= IDX_MAX_K + 1; blocks++) {
        for (unsigned front = 1; front <= (blocks <= MAX_BLOCKS ? blocks : 1); front++) {
            for (unsigned radius = 0; radius <= IDX_MAX_RADIUS && radius <= k; radius++) {
                if (idxi_count_covered_errors(blocks, front, radius) < k) continue;
                snprintf(text, sizeof text, radius > 0 ? "%u:%u:%u" : "%u:%u", blocks, front, radius);
                try_scheme_text(planner, text);
            }
        }
    }
}

/* Tries all schemes B:C/b:c in which each level covers k and no more: B - C and b - c are k. There are none for k = 0,
 * since a first level that has all bits in front would leave none for the second. */
static void try_two_level_schemes(struct planner *planner) {
    unsigned k = planner->options.k;
    char text[sizeof planner->best->scheme.name];
    for (unsigned first_front = 1; k > 0 && k + first_front <= MAX_LEVEL_BLOCKS; first_front++) {
        for (unsigned second_front = 1; k + second_front <= MAX_LEVEL_BLOCKS; second_front++) {
            snprintf(text, sizeof text, "%u:%u/%u:%u", k + first_front, first_front, k + second_front, second_front);
            try_scheme_text(planner, text);
        }
    }
}

/* Sets the candidates to the fastest schemes if fingerprints are spread evenly over the bits that are not dead. Does
 * not call options.expected_group. Errors: IDX_OUT_OF_MEMORY. */
static enum idx_status try_all_schemes(struct planner *planner, struct idx_error *error) {
    struct idxi_table_times times;
    uint64_t all_bits = idxf_low_bits(planner->options.bits), live = all_bits & ~planner->options.dead_bits;
    double (*measured_group)(void *, uint64_t) = planner->options.expected_group;
    planner->options.expected_group = NULL; /* it takes too long for so many schemes */
    try_one_level_schemes(planner);
    try_two_level_schemes(planner);
    idxi_price_tables(&planner->options, &planner->model, &times);
    enum idx_status status = idxi_parts_find(planner->options.bits, live != 0 ? live : all_bits, planner->options.k,
                                             &times, try_parts, planner, error);
    planner->options.expected_group = measured_group;
    return status;
}

/* Returns whether the tables of a plan take no more bytes, in files and in memory together, than the options allow. */
static bool fits_byte_limit(const struct planner *planner, const struct idx_plan *plan) {
    const struct idx_plan_options *options = &planner->options;
    double max_bytes = options->max_bytes_per_fingerprint > 0
                           ? (double)options->max_bytes_per_fingerprint * (double)options->count
                           : DEFAULT_BYTES(options->bits, options->count);
    return plan->table_bytes + plan->resident_bytes <= max_bytes;
}

/* Drops the plans that are hardly faster than one with fewer tables, and so not worth listing. With `keep_fitting`,
 * keeps those within the limit of bytes, because `auto` may choose any of them. */
static void drop_slow_plans(struct planner *planner, bool keep_fitting) {
    double least_time = INFINITY;
    for (size_t i = 0; i <= IDX_MAX_TABLES; i++) {
        struct idx_plan *plan = &planner->best[i].plan;
        if (plan->tables == 0) continue;
        if (plan->nanoseconds <= least_time * WORTHWHILE)
            least_time = plan->nanoseconds;
        else if (!keep_fitting || !fits_byte_limit(planner, plan))
            plan->tables = 0;
    }
}

/* Drops the plans whose schemes can't be proved to cover k in MAX_STEPS steps. */
static void drop_unproved_plans(struct planner *planner) {
    for (size_t i = 0; i <= IDX_MAX_TABLES; i++) {
        struct candidate *best = &planner->best[i];
        uint64_t steps = MAX_STEPS;
        if (best->plan.tables > 0 && !idxi_scheme_covers_within(&best->scheme, planner->options.k, &steps))
            best->plan.tables = 0;
    }
}

/* Marks the plan that `auto` chooses: the one with the most tables that is within the limit of bytes, or if there is
 * none, the one with the fewest tables. Of the plans that are left, one with more tables is faster. */
static void mark_chosen_plan(struct planner *planner) {
    struct idx_plan *chosen = NULL;
    for (size_t i = 0; i <= IDX_MAX_TABLES; i++) {
        struct idx_plan *plan = &planner->best[i].plan;
        if (plan->tables > 0 && (chosen == NULL || fits_byte_limit(planner, plan))) chosen = plan;
    }
    if (chosen != NULL) chosen->chosen = true;
}

/* Sets planner->best to the plans that are worth listing, and marks the one that `auto` chooses. planner->options and
 * ->model must be set, and the rest be zeroed. Errors: IDX_OUT_OF_MEMORY. */
static enum idx_status make_plans(struct planner *planner, struct idx_error *error) {
    IDXI_TRY(try_all_schemes(planner, error));
    /* What is slow for evenly spread fingerprints may be the fastest for these, so what fits is priced again. */
    drop_slow_plans(planner, planner->options.expected_group != NULL);
    if (planner->options.expected_group != NULL) {
        for (size_t i = 0; i <= IDX_MAX_TABLES; i++) {
            struct candidate *best = &planner->best[i];
            if (best->plan.tables > 0)
                idxi_price_scheme(&planner->options, &planner->model, &best->scheme, &best->plan);
        }
        drop_slow_plans(planner, false);
    }
    drop_unproved_plans(planner);
    mark_chosen_plan(planner);
    return IDX_OK;
}

/* Makes a planner with its plans for valid options. The caller frees *planner by free(); after an error there is
 * nothing to free. Errors: IDX_OUT_OF_MEMORY. */
static enum idx_status make_planner(struct planner **planner, const struct idx_plan_options *options,
                                    struct idx_error *error) {
    *planner = calloc(1, sizeof **planner);
    if (*planner == NULL) return idxi_fail_memory(error);
    (*planner)->options = *options;
    (*planner)->model = idxi_make_table_model(options);
    enum idx_status status = make_plans(*planner, error);
    if (status != IDX_OK) free(*planner);
    return status;
}

enum idx_status idxi_plan_auto(const struct idx_plan_options *caller_options, struct idx_scheme *scheme,
                               struct idx_error *error) {
    struct idx_plan_options options = *caller_options;
    struct planner *planner;
    options.calibration = NULL; /* an index is the same whatever machine built it */
    options.residence = IDX_RESIDENCE_DIRECTORY;
    IDXI_TRY(make_planner(&planner, &options, error));
    for (size_t i = 0; i <= IDX_MAX_TABLES; i++) {
        if (planner->best[i].plan.chosen) *scheme = planner->best[i].scheme;
    }
    free(planner);
    return IDX_OK;
}

/* Checks the options of a plan. Errors: IDX_INVALID_ARGUMENT; IDX_LIMIT if the fingerprints need more blocks than a
 * table can have. */
static enum idx_status check_plan_options(const struct idx_plan_options *options, struct idx_error *error) {
    IDXI_TRY(idxi_check_bits_and_k(options->bits, options->k, error));
    IDXI_TRY(idxi_check_block_size(options->block_size, error));
    IDXI_TRY(idxi_calibration_check(options->calibration, error));
    if (options->residence > IDX_RESIDENCE_DISK)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL, "residence %d is unknown", (int)options->residence);
    if (idxi_make_table_model(options).blocks > (double)IDXF_MAX_BLOCKS)
        return idxi_fail(error, IDX_LIMIT, NULL,
                         "%llu fingerprints need more blocks of %u bytes than the %lld that a table can have: choose "
                         "larger blocks, or several indexes",
                         (unsigned long long)options->count, options->block_size, (long long)IDXF_MAX_BLOCKS);
    return IDX_OK;
}

/* Returns whether two schemes, which must have the same number of tables, have the same tables in the same order. */
static bool have_same_tables(const struct idx_scheme *a, const struct idx_scheme *b) {
    for (size_t i = 0; i < a->table_count; i++)
        if (a->tables[i].mask != b->tables[i].mask || a->tables[i].radius != b->tables[i].radius) return false;
    return true;
}

/* Marks the scheme that `auto` chooses in the planner's list. The list is for one machine, but that choice is the same
 * on every machine, so the list may lack it: then sets *unlisted to its plan, marked. */
static enum idx_status mark_auto_plan(struct planner *planner, struct idx_plan *unlisted, struct idx_error *error) {
    struct idx_scheme scheme;
    IDXI_TRY(idxi_plan_auto(&planner->options, &scheme, error));
    for (size_t i = 0; i <= IDX_MAX_TABLES; i++) planner->best[i].plan.chosen = false;
    struct candidate *listed = &planner->best[scheme.table_count];
    if (listed->plan.tables > 0 && have_same_tables(&listed->scheme, &scheme)) {
        listed->plan.chosen = true;
        return IDX_OK;
    }
    idxi_price_scheme(&planner->options, &planner->model, &scheme, unlisted);
    unlisted->chosen = true;
    return IDX_OK;
}

/* Sets plans[*count] to a plan, unless *count is `capacity` or more, and adds 1 to *count in any case. */
static void append_plan(const struct idx_plan *plan, struct idx_plan *plans, size_t capacity, size_t *count) {
    if (*count < capacity) plans[*count] = *plan;
    ++*count;
}

enum idx_status idx_plan(const struct idx_plan_options *caller_options, struct idx_plan *plans, size_t capacity,
                         size_t *plan_count, struct idx_error *error) {
    struct idx_plan_options options = IDX_PLAN_OPTIONS_INIT;
    struct planner *planner;
    struct idx_plan unlisted = {.chosen = false};
    enum idx_status status = IDX_OK;
    size_t count = 0;
    IDXI_TRY(idxi_copy_options(&options, caller_options, error));
    IDXI_TRY(check_plan_options(&options, error));
    IDXI_TRY(make_planner(&planner, &options, error));
    if (options.calibration != NULL || options.residence != IDX_RESIDENCE_DIRECTORY)
        status = mark_auto_plan(planner, &unlisted, error);
    for (size_t i = 0; i <= IDX_MAX_TABLES; i++) {
        const struct idx_plan *plan = &planner->best[i].plan;
        if (unlisted.chosen && unlisted.tables == i) append_plan(&unlisted, plans, capacity, &count);
        if (plan->tables > 0) append_plan(plan, plans, capacity, &count);
    }
    free(planner);
    if (status == IDX_OK) *plan_count = count;
    return status;
}

/* Fails with IDX_WEAK_SCHEME, because the scheme does not cover k. `text` is the scheme's, for the sentence. */
static enum idx_status fail_weak_scheme(struct idx_error *error, const char *text, unsigned k) {
    return idxi_fail(error, IDX_WEAK_SCHEME, NULL,
                     "scheme '%.200s' does not cover k = %u: some pairs at that distance would be missed; use more "
                     "blocks, a larger radius, or auto",
                     text, k);
}

enum idx_status idx_plan_scheme(const struct idx_plan_options *caller_options, const struct idx_scheme *scheme,
                                struct idx_plan *plan, struct idx_error *error) {
    struct idx_plan_options options = IDX_PLAN_OPTIONS_INIT;
    IDXI_TRY(idxi_copy_options(&options, caller_options, error));
    IDXI_TRY(check_plan_options(&options, error));
    if (scheme->bits != options.bits)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL, "a scheme of %u bits for fingerprints of %u bits",
                         scheme->bits, options.bits);
    if (!idxi_scheme_covers(scheme, options.k)) return fail_weak_scheme(error, scheme->name, options.k);
    idxi_price_single_scheme(&options, scheme, plan);
    return IDX_OK;
}

/* ---- Reading a scheme ---- */

/* Sets *scheme to the one that `auto` chooses if only the number of fingerprints, `count`, is known, not how they are
 * spread. */
static enum idx_status make_auto_scheme(struct idx_scheme *scheme, unsigned bits, unsigned k, uint64_t count,
                                        struct idx_error *error) {
    struct idx_plan_options options = IDX_PLAN_OPTIONS_INIT;
    options.count = count;
    options.bits = bits;
    options.k = k;
    return idxi_plan_auto(&options, scheme, error);
}

enum idx_status idx_scheme_parse(struct idx_scheme *scheme, const char *text, unsigned bits, unsigned k, uint64_t count,
                                 struct idx_error *error) {
    IDXI_TRY(idxi_check_bits_and_k(bits, k, error));
    if (text == NULL) return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL, "no scheme is given: use auto");
    if (strcmp(text, IDXI_AUTO) == 0) return make_auto_scheme(scheme, bits, k, count, error);
    if (!idxi_scheme_parse_unproved(scheme, text, bits))
        return idxi_fail(
            error, IDX_BAD_SCHEME, NULL,
            "scheme '%.200s' is not valid for fingerprints of %u bits: use auto, 4, 10, 16, 20, B:C, B:C:R, "
            "B:C/b:c or masks @hex[:R],…, with at most %d tables and a radius of at most %d",
            text, bits, IDX_MAX_TABLES, IDX_MAX_RADIUS);
    return idxi_scheme_covers(scheme, k) ? IDX_OK : fail_weak_scheme(error, text, k);
}
