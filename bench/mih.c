/* mih.c: multi-index hashing (Norouzi, Punjani, Fleet, CVPR 2012) in its strongest form: buckets of each substring in a
 * counting-sorted array, queries flipped, nothing reset between queries, waits for memory overlapped. By the pigeonhole
 * refinement only some substrings need the larger radius: where k = parts · r + a, the first a + 1. */
#include "bench/mih.h"

#include "bench/memory.h"
#include "bench/probes.h"

#include <stdio.h>

static void answer(const struct system *system, enum mode mode, const uint64_t *queries, size_t count,
                   struct answers *answers) {
    probes_answer(system->state, mode != MODE_SINGLE, queries, count, answers);
}

static void free_tables(struct system *system) { probes_free(system->state); }

/* A bucket is chosen by the first bits of a substring, no more than there are fingerprints for. Returns how many
 * substrings are probed. */
static size_t plan_substrings(struct probe_table_plan *plans, unsigned parts, unsigned k, unsigned most_bucket_bits) {
    unsigned radius = k / parts, larger = k % parts + 1, end = 64;
    size_t count = 0;
    for (unsigned part = 0; part < parts; part++) {
        unsigned bits = 64 / parts + (part < 64 % parts);
        end -= bits;
        if (part >= larger && radius == 0) break;
        plans[count++] =
            (struct probe_table_plan){((UINT64_C(1) << bits) - 1) << end, part < larger ? radius : radius - 1,
                                      bits < most_bucket_bits ? bits : most_bucket_bits};
    }
    return count;
}

bool mih_build(struct system *system, const struct data *data, unsigned parts, bool wide,
               enum instructions instructions) {
    struct probe_table_plan plans[MAX_PROBE_TABLES];
    const char *name = wide ? "mih wide" : "mih";
    *system = (struct system){.name = name, .answer = answer, .free = free_tables};
    snprintf(system->scheme, sizeof system->scheme, "m=%u", parts);
    size_t count = plan_substrings(plans, parts, data->k, log2_floor(data->count));
    system->table_bytes = probes_bytes(data->count, plans, count, !wide);
    if (!memory_suffices(name, system->scheme, system->table_bytes + (double)data->count * 8)) return false;
    system->state = probes_new(data, plans, count, !wide, instructions);
    return true;
}
