/* estimate.c: estimates what a build needs, before it begins. */
#include <math.h>
#include <string.h>

#include "libidx/base/base.h"
#include "libidx/building/builder.h"
#include "libidx/building/tables.h"
#include "libidx/scheme/plan.h"
#include "libidx/scheme/price.h"
#include "libidx/scheme/scheme.h"
#include "libidx/streams/sorter.h"

#include <idx_planning.h>

/* A build may take so many times what is computed here. */
#define MARGIN 1.05

/* A map takes so many times the bytes of its entries. */
#define MAP_FACTOR 1.05

/* Returns the bytes of each fingerprint of `bits` bits in a sorted sequence of `length` fingerprints, in Elias-Fano
 * form: it takes 2 bits more than log2 of the mean difference, and 0.6 bits of the header and the end of its group,
 * which has a few hundred. */
static double get_fingerprint_bytes(double bits, double length) {
    double difference_bits = bits - log2(length < 2 ? 2 : length);
    return ((difference_bits < 0 ? 0 : difference_bits) + 2.6) / 8;
}

/* Returns the bytes of each document in a sorted sequence of `length` documents, out of `total` in all: those of
 * its fingerprint, and of its integer ID or, with text IDs, of its document number. Text IDs themselves are not
 * counted. */
static double get_document_bytes(const struct idx_build_options *options, double length, double total) {
    double number_bytes = log2(total < 2 ? 2 : total) / 8, bytes = get_fingerprint_bytes(options->bits, length);
    switch (options->id_type) {
        case IDX_ID_TEXT: return bytes + number_bytes;
        case IDX_ID_U64: return bytes + sizeof(uint64_t);
        default: return bytes;
    }
}

/* Returns the bytes of each entry of the map from IDs in a sorted sequence of `length` entries: those of a hash, and
 * all bits of a fingerprint, since the fingerprints of successive hashes have nothing in common. */
static double get_by_id_bytes(const struct idx_build_options *options, double length) {
    return get_fingerprint_bytes(64, length) + options->bits / 8.0;
}

/* Returns the most bytes that the runs of a sorter take on disk, 0 if it sorts all in memory. `bytes` is the size of
 * all `entries` entries in runs. Memory holds `capacity` entries at a time, which become as many runs as threads. At
 * most `fan_in` runs are merged at a time. If there are more, the first ones are merged into one run. While it is
 * written, up to `undropped` bytes of them that were already read are still on disk. */
static double estimate_run_bytes(double bytes, double entries, double capacity, unsigned threads, double fan_in,
                                 double undropped) {
    double runs = ceil(entries / capacity) * threads, merged = 1;
    if (entries <= capacity) return 0;
    while (merged * fan_in <= runs) merged *= fan_in;
    return merged > 1 ? bytes + fmin(bytes * merged / runs, undropped) : bytes;
}

/* Returns the most bytes on disk while `run_bytes` bytes of runs are merged, which writes `written_bytes` bytes. Runs
 * are dropped as they are read, except for up to `undropped` bytes of all runs together. */
static double estimate_merge_peak(double run_bytes, double written_bytes, double undropped) {
    return fmin(run_bytes + written_bytes, fmax(run_bytes, written_bytes) + undropped);
}

/* Returns a number of bytes, 0 or more, as an integer, or UINT64_MAX if it is too large. */
static uint64_t round_bytes_down(double bytes) { return bytes < 0x1p64 ? (uint64_t)bytes : UINT64_MAX; }

/* Returns how many tables of a scheme are sorted at a time, at most one per thread. Tables whose masks are the leading
 * bits need no sorting. */
static unsigned count_sorted_at_once(const struct idx_scheme *scheme, unsigned threads) {
    unsigned sorted_tables = 0;
    for (size_t i = 0; i < scheme->table_count; i++)
        sorted_tables += !idxi_is_leading_mask(scheme->tables[i].mask, scheme->bits);
    return sorted_tables < threads ? sorted_tables : threads;
}

/* The most bytes that each kind of file of a build takes on disk. */
struct footprint {
    double runs, id_runs;         /* of the sorters of documents, and of IDs for a map from IDs */
    double undropped;             /* of runs that are being merged: what was read and may still be on disk */
    double distinct;              /* the distinct fingerprints, 0 where they are in memory */
    double table_runs, runs_left; /* runs of the tables that are sorted at a time; what stays once they were read */
    double keys;                  /* of the tables that are written at a time, 0 where memory holds them */
    double map, by_id;
};

/* Returns the most entries that the document map has of one document: with sets, one for each value of its sketch. */
static unsigned count_entries_of_document(const struct idx_build_options *options) {
    return options->sketch > 0 ? options->sketch : 1;
}

/* Sets runs, id_runs, undropped, map and by_id of *footprint, which must be zeroed, for `count` documents. A sorter
 * takes memory for each entry twice: 8 bytes for a fingerprint, and 8 for a value. */
static void estimate_documents(const struct idx_build_options *options, double count, struct footprint *footprint) {
    uint64_t memory = idxi_memory_of_arrays(options->memory_bytes, options->threads);
    uint64_t sorter_bytes = options->by_id ? memory / 2 : memory; /* of documents, and as many of their IDs */
    double capacity = (double)sorter_bytes / (options->id_type == IDX_ID_NONE ? 16 : 32);
    double run_length = capacity / options->threads, fan_in = (double)idxi_sorter_get_fan_in(sorter_bytes);
    footprint->undropped = fan_in * (double)IDXI_RUN_DROP_BYTES;
    footprint->runs = estimate_run_bytes(count * get_document_bytes(options, run_length, count), count, capacity,
                                         options->threads, fan_in, footprint->undropped);
    if (options->id_type != IDX_ID_NONE)
        footprint->map = count * get_document_bytes(options, count, count) * MAP_FACTOR;
    /* 2.5: the bytes that a text ID takes beside its own. With sets, the entries of a text share it. */
    if (options->id_type == IDX_ID_TEXT) footprint->map += count / count_entries_of_document(options) * 2.5;
    if (!options->by_id) return;
    footprint->id_runs = estimate_run_bytes(count * get_by_id_bytes(options, run_length), count, capacity,
                                            options->threads, fan_in, footprint->undropped);
    footprint->by_id = count * get_by_id_bytes(options, count) * MAP_FACTOR;
}

/* Sets table_runs, runs_left and keys of *footprint for tables of `count` fingerprints, of which `sorters` are
 * sorted at a time. Uses footprint->undropped. */
static void estimate_tables(const struct idx_build_options *options, const struct idx_plan *plan, double count,
                            double sorters, struct footprint *footprint) {
    unsigned threads = options->threads, writers = threads < plan->tables ? threads : (unsigned)plan->tables;
    uint64_t writer_memory = idxi_memory_of_arrays(options->memory_bytes, threads) / writers;
    double run_length = (double)writer_memory / 16, fan_in = (double)idxi_sorter_get_fan_in(writer_memory);
    double run_bytes = count * get_fingerprint_bytes(64, run_length); /* of one table; left-aligned */
    footprint->table_runs = sorters * estimate_run_bytes(run_bytes, count, run_length, 1, fan_in, footprint->undropped);
    footprint->runs_left = fmin(footprint->table_runs, footprint->undropped * sorters);
    footprint->keys = plan->table_bytes / (double)plan->tables / options->block_size * 8 * writers;
    if (footprint->keys <= (double)idxi_get_keys_memory(options->memory_bytes, threads) * writers) footprint->keys = 0;
}

/* Sets *estimate for a build of `documents` entries with the plan of its scheme. Adds up what is on disk at once in
 * each phase: documents and IDs are sorted, documents are merged, and tables are written. */
static void fill_estimate(const struct idx_build_options *options, const struct idx_scheme *scheme,
                          const struct idx_plan *plan, uint64_t documents, struct idx_build_estimate *estimate) {
    double count = (double)documents, sorters = count_sorted_at_once(scheme, options->threads);
    struct footprint disk = {0};
    estimate_documents(options, count, &disk);
    estimate_tables(options, plan, count, sorters, &disk);
    if (!idxi_memory_holds_tables(options->memory_bytes, documents, options->threads))
        disk.distinct = count * get_fingerprint_bytes(options->bits, count);
    /* Tables are sorted, `sorters` of them at a time, beside the distinct fingerprints, until all have read these. */
    double sorting_tables = disk.distinct + disk.table_runs + disk.keys;
    double first_table_bytes = plan->table_bytes * (1 - sorters / (double)plan->tables); /* all but the last ones */
    double merging = estimate_merge_peak(disk.runs, disk.distinct, disk.undropped);
    double temporary = fmax(disk.runs + disk.id_runs, fmax(merging, sorting_tables));
    double writing =
        fmax(sorting_tables + first_table_bytes, disk.distinct + plan->table_bytes + disk.keys + disk.runs_left);
    double mapping = estimate_merge_peak(disk.runs, disk.distinct + disk.map, disk.undropped);
    double peak = fmax(fmax(disk.runs + disk.id_runs, mapping), disk.map + writing) + disk.by_id;
    *estimate = (struct idx_build_estimate){.memory_bytes = options->memory_bytes,
                                            .index_bytes = round_bytes_down(plan->table_bytes + disk.map + disk.by_id),
                                            .temporary_bytes = round_bytes_down(temporary * MARGIN),
                                            .peak_bytes = round_bytes_down(peak * MARGIN)};
}

enum idx_status idx_estimate_build(const struct idx_build_options *caller_options, uint64_t documents,
                                   struct idx_build_estimate *estimate, struct idx_error *error) {
    struct idx_build_options options = IDX_BUILD_OPTIONS_INIT;
    struct idx_plan_options planning = IDX_PLAN_OPTIONS_INIT;
    struct idx_scheme scheme;
    struct idx_plan plan;
    IDXI_TRY(idxi_copy_options(&options, caller_options, error));
    IDXI_TRY(idxi_build_options_check(&options, error));
    IDXI_TRY(idxi_memory_choose_limit(&options.memory_bytes, error));
    const unsigned entries = count_entries_of_document(&options);
    documents = documents > UINT64_MAX / entries ? UINT64_MAX : documents * entries;
    planning.count = documents;
    planning.bits = options.bits;
    planning.k = options.k;
    planning.block_size = options.block_size;
    planning.max_bytes_per_fingerprint = options.max_bytes_per_fingerprint;
    if (strcmp(options.scheme, IDXI_AUTO) == 0)
        IDXI_TRY(idxi_plan_auto(&planning, &scheme, error));
    else
        IDXI_TRY(idx_scheme_parse(&scheme, options.scheme, options.bits, options.k, documents, error));
    idxi_price_single_scheme(&planning, &scheme, &plan);
    fill_estimate(&options, &scheme, &plan, documents, estimate);
    return IDX_OK;
}
