/* estimate.c: what a build will take, before it begins. */
#include <math.h>
#include <string.h>

#include "libidx/builder.h"
#include "libidx/error.h"
#include "libidx/memory.h"
#include "libidx/plan.h"
#include "libidx/scheme.h"
#include "libidx/sort.h"

/* Bytes of a fingerprint among `count` in Elias-Fano form: two bits above log2 of the mean difference, and what a group
 * of a few hundred spends on its header and its end. */
static double fingerprint_bytes(const struct idx_build_options *options, double count) {
    double spare = options->bits - log2(count < 2 ? 2 : count);
    return ((spare < 0 ? 0 : spare) + 2.6) / 8;
}

/* Bytes of a document among `count`, besides those of its ID where that is text. */
static double document_bytes(const struct idx_build_options *options, double count, double numbers) {
    double number = log2(numbers < 2 ? 2 : numbers) / 8;
    switch (options->id_type) {
        case IDX_ID_TEXT: return fingerprint_bytes(options, count) + number;
        case IDX_ID_U64: return fingerprint_bytes(options, count) + sizeof(uint64_t);
        default: return fingerprint_bytes(options, count);
    }
}

static double at_least(double a, double b) { return a > b ? a : b; }

/* Tables that have to be sorted for. */
static unsigned count_sorted(const struct idx_scheme *scheme) {
    unsigned count = 0;
    for (size_t i = 0; i < scheme->table_count; i++) count += !idxi_mask_leads(scheme->tables[i].mask, scheme->bits);
    return count;
}

static unsigned least(unsigned a, unsigned b) { return a < b ? a : b; }

static void fill(const struct idx_build_options *options, const struct idx_scheme *scheme, const struct idx_plan *plan,
                 double count, struct idx_build_estimate *estimate) {
    unsigned threads = options->threads, writers = least(threads, (unsigned)plan->tables);
    unsigned sorters = least(threads, count_sorted(scheme));
    double arrays = (double)idxi_memory_of_arrays(options->memory_bytes, threads);
    double sorted = arrays / (options->id_type == IDX_ID_NONE ? 16 : 32), chunk = arrays / writers / 16;
    bool in_memory = idxi_memory_holds_tables(options->memory_bytes, (uint64_t)count, threads);
    double runs = count > sorted ? count * document_bytes(options, sorted / threads, count) : 0;
    double distinct = in_memory ? 0 : count * fingerprint_bytes(options, count);
    double orders = count > chunk ? sorters * count * fingerprint_bytes(options, chunk) : 0;
    double keys = plan->table_bytes / (double)plan->tables / options->block_size * 8 * writers;
    if (keys <= (double)idxi_memory_of_keys(options->memory_bytes, threads) * writers) keys = 0;
    double map = options->id_type == IDX_ID_NONE ? 0 : count * document_bytes(options, count, count) * 1.05;
    if (options->id_type == IDX_ID_TEXT) map += count * 2;
    estimate->memory_bytes = options->memory_bytes;
    estimate->index_bytes = (uint64_t)(plan->table_bytes + map);
    estimate->temporary_bytes = (uint64_t)(distinct + at_least(runs, orders + keys));
    estimate->peak_bytes = (uint64_t)(distinct + at_least(runs + map, orders + keys + plan->table_bytes + map));
}

enum idx_status idx_estimate_build(const struct idx_build_options *given, uint64_t documents,
                                   struct idx_build_estimate *estimate, struct idx_error *error) {
    struct idx_build_options options = IDX_BUILD_OPTIONS_INIT;
    struct idx_plan_options planning = IDX_PLAN_OPTIONS_INIT;
    struct idx_scheme scheme;
    struct idx_plan plan;
    memcpy(&options, given, given->size < sizeof options ? given->size : sizeof options);
    IDXI_TRY(idxi_build_options_check(&options, error));
    IDXI_TRY(idxi_memory_settle(&options.memory_bytes, error));
    planning.count = documents;
    planning.bits = options.bits;
    planning.k = options.k;
    planning.block_size = options.block_size;
    planning.max_bytes_per_fingerprint = options.max_bytes_per_fingerprint;
    if (strcmp(options.scheme, IDXI_AUTO) == 0)
        IDXI_TRY(idxi_plan_auto(&planning, &scheme, error));
    else
        IDXI_TRY(idx_scheme_parse(&scheme, options.scheme, options.bits, options.k, documents, error));
    idxi_plan_scheme(&planning, &scheme, &plan);
    fill(&options, &scheme, &plan, (double)documents, estimate);
    return IDX_OK;
}
