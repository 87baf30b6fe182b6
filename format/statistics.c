/* statistics.c: computes the statistics in a table's header. */
#include "format/statistics.h"

#include <stdbool.h>

void idxf_statistics_begin(struct idxf_statistics_counter *counter, unsigned prefix) {
    *counter = (struct idxf_statistics_counter){.statistics.common_bits = UINT64_MAX, .prefix = prefix};
}

/* Fingerprints added at a time: few enough that their pairs, below SLICE * 2^42, do not overflow. Tables have less than
 * 2^42 (2^32 * 2^10) fingerprints. */
#define SLICE ((size_t)1 << 16)

/* Adds up to SLICE fingerprints. Counts in local variables, which stay in registers. */
static void add_slice(struct idxf_statistics_counter *counter, const uint64_t *fingerprints, size_t count) {
    struct idxf_statistics sums = counter->statistics;
    uint64_t group_span = UINT64_C(1) << (64 - counter->prefix); /* above the XOR of any two of a group */
    uint64_t previous = counter->previous, group_size = counter->group_size, pairs = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t fingerprint = fingerprints[i];
        sums.set_bits |= fingerprint;
        sums.common_bits &= fingerprint;
        /* group_size becomes 0, without a branch, if the prefix differs. Each new member makes a pair with each of the
         * others. */
        group_size &= -(uint64_t)((fingerprint ^ previous) < group_span);
        pairs += group_size++;
        if (__builtin_expect(group_size > sums.largest_group, 0)) sums.largest_group = group_size;
        previous = fingerprint;
    }
    if (__builtin_add_overflow(sums.pairs, pairs, &sums.pairs)) sums.pairs = UINT64_MAX; /* on overflow */
    *counter = (struct idxf_statistics_counter){
        .statistics = sums, .prefix = counter->prefix, .group_size = group_size, .previous = previous};
}

void idxf_statistics_add(struct idxf_statistics_counter *counter, const uint64_t *fingerprints, size_t count) {
    for (size_t done = 0; done < count; done += SLICE)
        add_slice(counter, fingerprints + done, count - done < SLICE ? count - done : SLICE);
}

struct idxf_statistics idxf_statistics_end(const struct idxf_statistics_counter *counter,
                                           const struct idxf_permutation *permutation) {
    struct idxf_statistics statistics = counter->statistics;
    if (counter->group_size == 0) statistics.common_bits = 0; /* there are no fingerprints */
    statistics.set_bits = idxf_unpermute(permutation, statistics.set_bits);
    statistics.common_bits = idxf_unpermute(permutation, statistics.common_bits);
    return statistics;
}
