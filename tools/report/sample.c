/* sample.c: samples an index, to see beyond its distance. The fingerprints with the smallest hashes are the sample:
 * which these are depends on nothing else. */
#include "tools/report/gather.h"

#include <limits.h>
#include <stdlib.h>

/* The sample is so large that it makes at most this many pairs with all fingerprints, but at least LEAST_SAMPLED. */
#define SAMPLED_PAIRS ((uint64_t)1 << 32)
enum { LEAST_SAMPLED = 1024 };

struct sampling {
    struct findings *findings;
    uint64_t *fingerprints; /* Candidates for the sample, up to twice as many as it has; in the end, the sample. */
    uint64_t limit;         /* No fingerprint with a greater hash can be in the sample. */
    size_t count, size;     /* How many candidates there are, and how many fingerprints the sample has. */
    size_t query;           /* The sampled fingerprint whose matches were visited last. */
    unsigned nearest;       /* The distance of its nearest other one so far; UINT_MAX: none was found. */
};

/* This is a bijection, so that different fingerprints have different hashes. */
uint64_t sample_hash(uint64_t value) {
    value = (value ^ value >> 32) * UINT64_C(0xd6e8feb86659fd93);
    value = (value ^ value >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return value ^ value >> 32;
}

/* ---- Choosing ---- */

/* Counts fingerprints, and how many of them have each bit set. This is an idx_fingerprints_visitor. */
static bool count_fingerprints(void *context, const uint64_t *fingerprints, size_t fingerprint_count) {
    struct findings *findings = context;
    for (size_t i = 0; i < fingerprint_count; i++)
        for (unsigned bit = 0; bit < findings->properties.bits; bit++)
            findings->ones[bit] += fingerprints[i] >> bit & 1;
    findings->fingerprints += fingerprint_count;
    return !interrupt_is_noted();
}

/* Compares fingerprints by their hashes, for qsort. */
static int compare_hashes(const void *first, const void *second) {
    uint64_t a = sample_hash(*(const uint64_t *)first), b = sample_hash(*(const uint64_t *)second);
    return (a > b) - (a < b);
}

/* Keeps only as many candidates as the sample has, those with the smallest hashes, and lowers the limit to the largest
 * of these. */
static void keep_smallest_hashes(struct sampling *sampling) {
    qsort(sampling->fingerprints, sampling->count, sizeof *sampling->fingerprints, compare_hashes);
    if (sampling->count > sampling->size) sampling->count = sampling->size;
    if (sampling->count == sampling->size) sampling->limit = sample_hash(sampling->fingerprints[sampling->count - 1]);
}

/* Adds the fingerprints that may be in the sample to the candidates. This is an idx_fingerprints_visitor. */
static bool add_candidates(void *context, const uint64_t *fingerprints, size_t fingerprint_count) {
    struct sampling *sampling = context;
    for (size_t i = 0; i < fingerprint_count; i++) {
        if (sample_hash(fingerprints[i]) > sampling->limit) continue;
        sampling->fingerprints[sampling->count++] = fingerprints[i];
        if (sampling->count == 2 * sampling->size) keep_smallest_hashes(sampling);
    }
    return !interrupt_is_noted();
}

/* ---- Comparing ---- */

/* Counts, at the distance of its nearest match, the sampled fingerprint whose matches were visited, if it has any
 * within `farthest`. */
static void count_nearest_of_query(struct sampling *sampling) {
    if (sampling->nearest <= sampling->findings->farthest) sampling->findings->levels[sampling->nearest].nearest++;
    sampling->nearest = UINT_MAX;
}

/* Notes the nearest match of a query, counts those beyond k, and offers them as pairs. This is an idx_batch_visitor,
 * whose queries are the sample. */
static bool count_matches(void *context, size_t query, const struct idx_match *matches, size_t match_count) {
    struct sampling *sampling = context;
    if (query != sampling->query) count_nearest_of_query(sampling);
    sampling->query = query;
    for (size_t i = 0; i < match_count; i++) {
        uint64_t a = matches[i].fingerprint, b = sampling->fingerprints[query];
        unsigned distance = matches[i].distance;
        struct level *level = &sampling->findings->levels[distance];
        if (distance == 0) continue; /* It is the query itself. */
        if (distance < sampling->nearest) sampling->nearest = distance;
        if (distance <= sampling->findings->k) continue; /* find_pairs found it. */
        level->pairs++;
        gather_offer_pair(level, (struct shown_pair){.a = a < b ? a : b, .b = a < b ? b : a});
    }
    return !interrupt_is_noted();
}

struct idx_batch_options sample_make_batch(const struct idx_cluster_options *options, unsigned distance,
                                           struct progress *unseen) {
    struct idx_batch_options comparing = IDX_BATCH_OPTIONS_INIT;
    comparing.distance = distance;
    comparing.threads = options->threads;
    comparing.memory_bytes = options->memory_bytes;
    comparing.temporary_folder = scratch_choose_parent(options->temporary_folder);
    comparing.progress = progress_visit;
    comparing.context = unseen;
    return comparing;
}

/* Looks up the sample in the whole index, up to `farthest`. Returns false after an error or a signal. */
static bool compare_sample(struct sampling *sampling, const struct idx_index *index,
                           const struct idx_cluster_options *options, struct idx_error *error) {
    struct progress unseen = {.shown = false};
    const struct idx_batch_options comparing = sample_make_batch(options, sampling->findings->farthest, &unseen);
    bool ok =
        idx_batch(index, sampling->fingerprints, sampling->count, &comparing, count_matches, sampling, error) == IDX_OK;
    count_nearest_of_query(sampling);
    return ok && !interrupt_is_noted();
}

/* ---- All ---- */

/* Returns the largest distance to look at. It is so large that some pairs within it are not near-duplicates, so that a
 * reader sees where these end; and not below k, however few bits there are, since pairs are counted up to that. */
static unsigned choose_farthest(const struct findings *findings) {
    unsigned farthest = 2 * findings->k + 4, max = findings->properties.bits - 1;
    if (farthest > IDX_MAX_K) farthest = IDX_MAX_K;
    if (farthest > max) farthest = max;
    return farthest > findings->k ? farthest : findings->k;
}

bool sample_index(struct findings *findings, const struct idx_index *index, const struct idx_cluster_options *options,
                  struct idx_error *error) {
    if (idx_visit_part(index, 0, 1, count_fingerprints, findings, error) != IDX_OK || interrupt_is_noted())
        return false;
    uint64_t fingerprint_count = findings->fingerprints;
    findings->farthest = choose_farthest(findings);
    if (fingerprint_count == 0) return true;
    uint64_t size = SAMPLED_PAIRS / fingerprint_count;
    if (size < LEAST_SAMPLED) size = LEAST_SAMPLED;
    if (size > fingerprint_count) size = fingerprint_count;
    struct sampling sampling = {.findings = findings, .size = (size_t)size, .limit = UINT64_MAX, .nearest = UINT_MAX};
    sampling.fingerprints = calloc(2 * sampling.size, sizeof *sampling.fingerprints);
    if (sampling.fingerprints == NULL) return complain("out of memory");
    bool ok = idx_visit_part(index, 0, 1, add_candidates, &sampling, error) == IDX_OK && !interrupt_is_noted();
    if (ok) keep_smallest_hashes(&sampling);
    findings->sampled = sampling.count;
    ok = ok && compare_sample(&sampling, index, options, error);
    free(sampling.fingerprints);
    return ok;
}
