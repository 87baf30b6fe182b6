/* estimate.c: estimates what a build needs, before it begins. */
#include <math.h>
#include <string.h>

#include "libidx/base/base.h"
#include "libidx/building/building.h"
#include "libidx/scheme/plan.h"
#include "libidx/scheme/price.h"
#include "libidx/scheme/scheme.h"
#include "libidx/streams/sorter.h"

#include <idx_planning.h>

/* Runs and maps may take so many times what is computed here. */
#define MARGIN 1.05

/* Returns the bytes of a fingerprint of `bits` bits among `count` in Elias-Fano form: two bits above log2 of the mean
 * difference, and what a group of a few hundred spends on its header and its end. */
static double fingerprint_bytes(double bits, double count) {
    double spare = bits - log2(count < 2 ? 2 : count);
    return ((spare < 0 ? 0 : spare) + 2.6) / 8;
}

/* Returns the bytes of a document among `count`, besides those of its ID where that is text. */
static double document_bytes(const struct idx_build_options *options, double count, double numbers) {
    double number = log2(numbers < 2 ? 2 : numbers) / 8, fingerprint = fingerprint_bytes(options->bits, count);
    switch (options->id_type) {
        case IDX_ID_TEXT: return fingerprint + number;
        case IDX_ID_U64: return fingerprint + sizeof(uint64_t);
        default: return fingerprint;
    }
}

/* Returns the bytes of an entry of the map from IDs among `count`. The values of a group have nothing in common. */
static double by_id_bytes(const struct idx_build_options *options, double count) {
    return fingerprint_bytes(64, count) + options->bits / 8.0;
}

/* Returns the bytes that runs of `count` entries take where they don't fit into memory, in which `sorted` are sorted at
 * a time, in as many runs as threads: when a share of the runs was merged into one, and `undropped` bytes of what was
 * read are still there. */
static double run_bytes(double bytes, double count, double sorted, unsigned threads, double fan, double undropped) {
    double runs = ceil(count / sorted) * threads, merged = 1;
    if (count <= sorted) return 0;
    while (merged * fan <= runs) merged *= fan;
    return merged > 1 ? bytes + fmin(bytes * merged / runs, undropped) : bytes;
}

/* Returns the most bytes that runs and what is made of them take together: a run is dropped as it is read, but for
 * `undropped` bytes of all runs that are merged at a time. */
static double while_merging(double runs, double made, double undropped) {
    return fmin(runs + made, fmax(runs, made) + undropped);
}

static uint64_t to_bytes(double bytes) { return bytes < 0x1p64 ? (uint64_t)bytes : UINT64_MAX; }

/* Returns how many tables are sorted at a time. */
static unsigned count_sorted(const struct idx_scheme *scheme, unsigned threads) {
    unsigned sorted = 0;
    for (size_t i = 0; i < scheme->table_count; i++) sorted += !idxi_mask_leads(scheme->tables[i].mask, scheme->bits);
    return sorted < threads ? sorted : threads;
}

static void fill_estimate(const struct idx_build_options *options, const struct idx_scheme *scheme,
                          const struct idx_plan *plan, uint64_t documents, struct idx_build_estimate *estimate) {
    unsigned threads = options->threads, writers = threads < plan->tables ? threads : (unsigned)plan->tables;
    uint64_t memory = idxi_memory_of_arrays(options->memory_bytes, threads);
    uint64_t share = memory >> options->by_id; /* of the sorter of documents, and of that of their IDs */
    double count = (double)documents, sorted = (double)share / (options->id_type == IDX_ID_NONE ? 16 : 32);
    double run = sorted / threads, chunk = (double)(memory / writers) / 16, fan = (double)idxi_sorter_fan(share);
    double undropped = fan * (double)IDXI_RUN_DROP_BYTES;
    double runs = run_bytes(count * document_bytes(options, run, count), count, sorted, threads, fan, undropped);
    double id_runs =
        options->by_id ? run_bytes(count * by_id_bytes(options, run), count, sorted, threads, fan, undropped) : 0;
    bool in_memory = idxi_memory_holds_tables(options->memory_bytes, documents, threads);
    double distinct = in_memory ? 0 : count * fingerprint_bytes(options->bits, count);
    double sorting = count_sorted(scheme, threads), order = count * fingerprint_bytes(64, chunk); /* left-aligned */
    double orders = sorting * run_bytes(order, count, chunk, 1, (double)idxi_sorter_fan(memory / writers), undropped);
    double keys = plan->table_bytes / (double)plan->tables / options->block_size * 8 * writers;
    if (keys <= (double)idxi_memory_of_keys(options->memory_bytes, threads) * writers) keys = 0;
    double map = options->id_type == IDX_ID_NONE ? 0 : count * document_bytes(options, count, count) * 1.05;
    if (options->id_type == IDX_ID_TEXT) map += count * 2.5;
    double by_id = options->by_id ? count * by_id_bytes(options, count) * 1.05 : 0;
    /* Tables are sorted, `sorting` of them at a time, beside the distinct fingerprints, until all have read these. */
    double merging = while_merging(runs, distinct, undropped), orders_left = fmin(orders, undropped * sorting);
    double temporary = fmax(runs + id_runs, fmax(merging, distinct + orders + keys));
    double before = plan->table_bytes * (1 - sorting / (double)plan->tables);
    double writing = fmax(distinct + orders + keys + before, distinct + plan->table_bytes + keys + orders_left);
    double peak = fmax(fmax(runs + id_runs, while_merging(runs, distinct + map, undropped)), map + writing) + by_id;
    *estimate = (struct idx_build_estimate){.memory_bytes = options->memory_bytes,
                                            .index_bytes = to_bytes(plan->table_bytes + map + by_id),
                                            .temporary_bytes = to_bytes(temporary * MARGIN),
                                            .peak_bytes = to_bytes(peak * MARGIN)};
}

enum idx_status idx_estimate_build(const struct idx_build_options *given, uint64_t documents,
                                   struct idx_build_estimate *estimate, struct idx_error *error) {
    struct idx_build_options options = IDX_BUILD_OPTIONS_INIT;
    struct idx_plan_options planning = IDX_PLAN_OPTIONS_INIT;
    struct idx_scheme scheme;
    struct idx_plan plan;
    idxi_copy_options(&options, given);
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
    fill_estimate(&options, &scheme, &plan, documents, estimate);
    return IDX_OK;
}
