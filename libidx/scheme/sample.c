/* sample.c: estimates from a sample how skewed fingerprints are. */
#include "libidx/scheme/sample.h"

#include <stdlib.h>

#include "format/bytes.h"
#include "libidx/base/base.h"
#include "libidx/streams/sort.h"

/* The size of the sample. Its 2^27 pairs show groups of a few fingerprints among 1e8, and a mask is measured in a
 * millisecond. */
#define SAMPLE_FINGERPRINTS 16384

/* The arrays hold so many fingerprints. Whenever they are full, those with the greatest hashes are dropped. */
#define CAPACITY (4 * SAMPLE_FINGERPRINTS)

enum idx_status idxi_sample_begin(struct idxi_sample *sample, struct idx_error *error) {
    *sample = (struct idxi_sample){.max_hash = UINT64_MAX, .common_bits = UINT64_MAX};
    sample->fingerprints = malloc(CAPACITY * sizeof(uint64_t));
    sample->hashes = malloc(CAPACITY * sizeof(uint64_t));
    sample->masked = malloc(CAPACITY * sizeof(uint64_t));
    sample->spare = malloc(CAPACITY * sizeof(uint64_t));
    bool ok = sample->fingerprints != NULL && sample->hashes != NULL && sample->masked != NULL && sample->spare != NULL;
    return ok ? IDX_OK : idxi_fail_memory(error);
}

/* Drops the fingerprints with the greatest hashes, so that SAMPLE_FINGERPRINTS are left, and sets sample->max_hash to
 * the greatest hash of these. Does nothing if there are no more. */
static void drop_greatest_hashes(struct idxi_sample *sample) {
    if (sample->count <= SAMPLE_FINGERPRINTS) return;
    idxi_sort_pairs(sample->hashes, sample->fingerprints, sample->count, false, sample->masked, sample->spare);
    sample->count = SAMPLE_FINGERPRINTS;
    sample->max_hash = sample->hashes[SAMPLE_FINGERPRINTS - 1];
}

void idxi_sample_add(struct idxi_sample *sample, const uint64_t *fingerprints, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint64_t hash = idxi_hash_fingerprint(fingerprints[i]);
        sample->set_bits |= fingerprints[i];
        sample->common_bits &= fingerprints[i];
        if (hash > sample->max_hash) continue;
        sample->hashes[sample->count] = hash;
        sample->fingerprints[sample->count++] = fingerprints[i];
        if (sample->count == CAPACITY) drop_greatest_hashes(sample);
    }
    sample->total += count;
}

void idxi_sample_end(struct idxi_sample *sample, unsigned bits) {
    drop_greatest_hashes(sample);
    sample->dead_bits = ~(sample->set_bits & ~sample->common_bits) & idxf_low_bits(bits);
}

double idxi_sample_estimate_group_size(void *context, uint64_t mask) {
    struct idxi_sample *sample = context;
    double pairs = 0;
    size_t same_before = 0; /* how many before the current fingerprint have the same bits in the mask */
    if (sample->count < 2) return 0;
    for (size_t i = 0; i < sample->count; i++) sample->masked[i] = sample->fingerprints[i] & mask;
    idxi_sort_pairs(sample->masked, NULL, sample->count, false, sample->spare, NULL);
    for (size_t i = 1; i < sample->count; i++) {
        same_before = sample->masked[i] == sample->masked[i - 1] ? same_before + 1 : 0;
        pairs += (double)same_before;
    }
    /* Each pair counts for both of its fingerprints. The share of the other fingerprints of the sample that are in the
     * same group is taken to be the share of all other fingerprints. */
    return pairs * 2 / (double)(sample->count - 1) / (double)sample->count * ((double)sample->total - 1);
}

void idxi_sample_free(struct idxi_sample *sample) {
    free(sample->fingerprints);
    free(sample->hashes);
    free(sample->masked);
    free(sample->spare);
}
