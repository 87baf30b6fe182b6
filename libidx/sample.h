/* sample.h: what some of the fingerprints, chosen at random, say of all: how skewed they are. */
#ifndef IDX_LIBIDX_SAMPLE_H
#define IDX_LIBIDX_SAMPLE_H

#include <idx.h>

struct idxi_sample {
    uint64_t *fingerprints; /* distinct */
    uint64_t *masked, *spare;
    size_t count;
    double total;       /* the number of all fingerprints */
    uint64_t dead_bits; /* the same in all fingerprints */
};

/* Samples `count` ascending, distinct fingerprints. The caller frees it, also after an error.
 * Errors: IDX_OUT_OF_MEMORY. */
enum idx_status idxi_sample_take(struct idxi_sample *sample, const uint64_t *fingerprints, size_t count, unsigned bits,
                                 struct idx_error *error);

/* How many other fingerprints share a random one's bits of the mask, on average; `context` is the sample. */
double idxi_sample_group(void *context, uint64_t mask);

void idxi_sample_free(struct idxi_sample *sample);

#endif
