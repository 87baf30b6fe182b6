/* uncompressed.c: idx's schemes over sorted tables that are not compressed, each with a directory of its top bits: the
 * floor that memory allows. */
#include "bench/uncompressed.h"

#include "bench/memory.h"
#include "bench/probes.h"

#include <idx.h>
#include <stdio.h>

static void answer(const struct system *system, enum mode mode, const uint64_t *queries, size_t count,
                   struct answers *answers) {
    probes_answer(system->state, mode != MODE_SINGLE, queries, count, answers);
}

static void free_tables(struct system *system) { probes_free(system->state); }

bool uncompressed_build(struct system *system, const struct data *data, const char *scheme, unsigned directory_bits,
                        enum instructions instructions) {
    struct probe_table_plan plans[MAX_PROBE_TABLES];
    struct idx_scheme parsed;
    struct idx_error error;
    if (idx_scheme_parse(&parsed, scheme, 64, data->k, data->count, &error) != IDX_OK) die("%s", error.sentence);
    /* One to two fingerprints a cell. Twice to four times as many cells measure within 3 % of that, as do half as many;
     * a quarter is slower. Cells are then so small that nothing is left to interpolate. */
    if (directory_bits == 0) directory_bits = log2_floor(data->count);
    for (size_t t = 0; t < parsed.table_count; t++) {
        unsigned prefix = (unsigned)__builtin_popcountll(parsed.tables[t].mask);
        plans[t] = (struct probe_table_plan){parsed.tables[t].mask, parsed.tables[t].radius,
                                             prefix < directory_bits ? prefix : directory_bits};
    }
    double bytes = probes_bytes(data->count, plans, parsed.table_count, false);
    if (!memory_suffices("uncompressed", scheme, bytes + (double)data->count * 8)) return false;
    *system = (struct system){.name = "uncompressed", .table_bytes = bytes, .answer = answer, .free = free_tables};
    snprintf(system->scheme, sizeof system->scheme, "%.63s", scheme);
    system->state = probes_new(data, plans, parsed.table_count, false, instructions);
    return true;
}
