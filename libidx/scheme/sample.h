/* sample.h: estimates from a sample how skewed fingerprints are. The sample is the fingerprints with the smallest
 * hashes, so the same set gives the same sample, in whatever order it comes. */
#ifndef IDX_LIBIDX_SAMPLE_H
#define IDX_LIBIDX_SAMPLE_H

#include <idx.h>

struct idxi_sample {
    uint64_t *fingerprints, *hashes; /* the sample so far */
    uint64_t *masked, *spare;
    size_t count;
    uint64_t limit;     /* no higher hash enters the sample */
    uint64_t total;     /* fingerprints added */
    uint64_t set_bits;  /* of all of them, ORed */
    uint64_t dead_bits; /* once ended: the same in all of them */
    uint64_t common_bits;
};

/* The caller frees it, also after an error. Errors: IDX_OUT_OF_MEMORY. */
enum idx_status idxi_sample_begin(struct idxi_sample *sample, struct idx_error *error);

/* Adds fingerprints that were not added before. */
void idxi_sample_add(struct idxi_sample *sample, const uint64_t *fingerprints, size_t count);

/* Before idxi_sample_group, and after all were added. */
void idxi_sample_end(struct idxi_sample *sample, unsigned bits);

/* How many other fingerprints share a random one's bits of the mask, on average; `context` is the sample. */
double idxi_sample_group(void *context, uint64_t mask);

void idxi_sample_free(struct idxi_sample *sample);

#endif
