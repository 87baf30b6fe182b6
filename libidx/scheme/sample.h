/* sample.h: estimates from a sample how skewed fingerprints are. The sample is the fingerprints with the smallest
 * hashes, so the same set gives the same sample, in whatever order it comes. */
#ifndef IDX_LIBIDX_SAMPLE_H
#define IDX_LIBIDX_SAMPLE_H

#include <idx.h>

/* A sample, and what is known of all fingerprints. */
struct idxi_sample {
    uint64_t *fingerprints, *hashes; /* the sample so far */
    uint64_t *masked, *spare;        /* scratch of idxi_sample_estimate_group_size and of sorting */
    size_t count;
    uint64_t max_hash;    /* no higher hash enters the sample */
    uint64_t total;       /* fingerprints added */
    uint64_t set_bits;    /* set in at least one fingerprint that was added */
    uint64_t dead_bits;   /* the same in all fingerprints that were added; set by idxi_sample_end */
    uint64_t common_bits; /* set in all fingerprints that were added */
};

/* Begins an empty sample. The caller frees it by idxi_sample_free, also after an error. Errors: IDX_OUT_OF_MEMORY. */
enum idx_status idxi_sample_begin(struct idxi_sample *sample, struct idx_error *error);

/* Adds `count` fingerprints. Each distinct fingerprint must be added only once. */
void idxi_sample_add(struct idxi_sample *sample, const uint64_t *fingerprints, size_t count);

/* Completes the sample, after all fingerprints, of `bits` bits, were added. Sets sample->dead_bits. */
void idxi_sample_end(struct idxi_sample *sample, unsigned bits);

/* Returns an estimate of how many other fingerprints have the same bits in `mask` as a fingerprint, on average over all
 * that were added. This is an expected_group of struct idx_plan_options. `context` is the sample, after
 * idxi_sample_end; it has the scratch memory, so only one thread at a time may use it. */
double idxi_sample_estimate_group_size(void *context, uint64_t mask);

/* Frees all memory. Accepts a zeroed struct. */
void idxi_sample_free(struct idxi_sample *sample);

#endif
