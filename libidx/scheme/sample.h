/* sample.h: estimates from a sample how skewed fingerprints are. The sample is the fingerprints with the smallest
 * hashes, so the same set gives the same sample, in whatever order it comes. */
#ifndef IDX_LIBIDX_SAMPLE_H
#define IDX_LIBIDX_SAMPLE_H

#include <idx.h>

/* A sample, and what is known of all fingerprints. */
struct idxi_sample {
    uint64_t *fingerprints, *hashes; /* the sample so far */
    uint64_t *masked, *spare;        /* scratch of idxi_sample_estimate_group and of sorting */
    size_t count;
    uint64_t max_hash;    /* no higher hash enters the sample */
    uint64_t total;       /* fingerprints added */
    uint64_t set_bits;    /* set in at least one fingerprint that was added */
    uint64_t dead_bits;   /* the same in all fingerprints that were added; set by idxi_sample_end */
    uint64_t common_bits; /* set in all fingerprints that were added */
};

/* Begins an empty sample. The caller frees it by idxi_sample_free, also after an error. Errors: IDX_OUT_OF_MEMORY. */
enum idx_status idxi_sample_begin(struct idxi_sample *sample, struct idx_error *error);

/* Adds fingerprints that were not added before. */
void idxi_sample_add(struct idxi_sample *sample, const uint64_t *fingerprints, size_t count);

/* Completes the sample of fingerprints of `bits` bits, after all were added and before idxi_sample_estimate_group is
 * called. */
void idxi_sample_end(struct idxi_sample *sample, unsigned bits);

/* Estimates how many other fingerprints share the mask's bits with a fingerprint, on average over all that were added.
 * This is an expected_group of struct idx_plan_options; `context` is the ended sample, used by one thread at a time. */
double idxi_sample_estimate_group(void *context, uint64_t mask);

/* Frees all memory. */
void idxi_sample_free(struct idxi_sample *sample);

#endif
