/* sample.c: see sample.h. */
#include "libidx/sample.h"

#include <stdlib.h>
#include <string.h>

#include "format/bytes.h"
#include "libidx/error.h"
#include "libidx/sort.h"

/* Their pairs, 2^27, show groups of a few among 1e8 fingerprints; a mask is measured in a millisecond. */
#define SAMPLE_FINGERPRINTS 16384

static uint64_t find_dead_bits(const uint64_t *fingerprints, size_t count, unsigned bits) {
    uint64_t differing = 0;
    for (size_t i = 1; i < count; i++) differing |= fingerprints[i] ^ fingerprints[0];
    return ~differing & idxf_low_bits(bits);
}

/* Takes each of `wanted` at random: of sorted fingerprints every hundredth would share fewer prefixes. One that comes
 * twice is taken once. */
static void choose(struct idxi_sample *sample, const uint64_t *fingerprints, size_t count) {
    uint64_t state = 1;
    for (size_t i = 0; i < SAMPLE_FINGERPRINTS; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407); /* Knuth's MMIX */
        sample->masked[i] = fingerprints[(size_t)((state >> 32) * count >> 32)];
    }
    idxi_sort_pairs(sample->masked, NULL, SAMPLE_FINGERPRINTS, false, sample->spare, NULL);
    for (size_t i = 0; i < SAMPLE_FINGERPRINTS; i++) {
        if (i == 0 || sample->masked[i] != sample->masked[i - 1])
            sample->fingerprints[sample->count++] = sample->masked[i];
    }
}

enum idx_status idxi_sample_take(struct idxi_sample *sample, const uint64_t *fingerprints, size_t count, unsigned bits,
                                 struct idx_error *error) {
    *sample = (struct idxi_sample){.total = (double)count};
    sample->dead_bits = find_dead_bits(fingerprints, count, bits);
    sample->fingerprints = malloc(SAMPLE_FINGERPRINTS * sizeof(uint64_t));
    sample->masked = malloc(SAMPLE_FINGERPRINTS * sizeof(uint64_t));
    sample->spare = malloc(SAMPLE_FINGERPRINTS * sizeof(uint64_t));
    if (sample->fingerprints == NULL || sample->masked == NULL || sample->spare == NULL) return idxi_fail_memory(error);
    if (count > SAMPLE_FINGERPRINTS) {
        choose(sample, fingerprints, count);
    } else if (count > 0) {
        memcpy(sample->fingerprints, fingerprints, count * sizeof *fingerprints);
        sample->count = count;
    }
    return IDX_OK;
}

double idxi_sample_group(void *context, uint64_t mask) {
    struct idxi_sample *sample = context;
    double pairs = 0;
    size_t group = 0;
    if (sample->count < 2) return 0;
    for (size_t i = 0; i < sample->count; i++) sample->masked[i] = sample->fingerprints[i] & mask;
    idxi_sort_pairs(sample->masked, NULL, sample->count, false, sample->spare, NULL);
    for (size_t i = 1; i < sample->count; i++) {
        group = sample->masked[i] == sample->masked[i - 1] ? group + 1 : 0;
        pairs += (double)group;
    }
    return pairs * 2 / (double)(sample->count - 1) / (double)sample->count * (sample->total - 1);
}

void idxi_sample_free(struct idxi_sample *sample) {
    free(sample->fingerprints);
    free(sample->masked);
    free(sample->spare);
}
