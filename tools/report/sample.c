/* sample.c: samples an index, to see beyond its distance. The fingerprints with the smallest hashes are the sample:
 * which these are depends on nothing else. */
#include "tools/report/gather.h"

#include <limits.h>
#include <stdlib.h>

/* The sample makes at most this many pairs with all fingerprints; but it has at least MIN_SAMPLED fingerprints, if
 * there are so many. */
#define MAX_SAMPLE_PAIRS ((uint64_t)1 << 32)
enum { MIN_SAMPLED = 1024 };

struct sampling {
    struct findings *findings;
    uint64_t *fingerprints; /* Candidates for the sample, up to twice as many as it has; in the end, the sample. */
    uint64_t max_hash;      /* No fingerprint with a greater hash can be in the sample. */
    size_t candidate_count, sample_size; /* How many candidates there are, and how many fingerprints the sample has. */
    size_t last_query;                   /* The sampled fingerprint whose matches were visited last. */
    unsigned nearest; /* The distance of its nearest other fingerprint so far; UINT_MAX: none was found. */
};

/* Each step is a bijection: an XOR with the upper half, and a multiplication by an odd number. */
uint64_t sample_hash(uint64_t value) {
    value = (value ^ value >> 32) * UINT64_C(0xd6e8feb86659fd93);
    value = (value ^ value >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return value ^ value >> 32;
}

/* ---- Choosing ---- */

/* Counts fingerprints, and how many of them have each bit set. Returns false once a signal is noted. This is an
 * idx_fingerprints_visitor. */
static bool count_fingerprints(void *context, const uint64_t *fingerprints, size_t fingerprint_count) {
    struct findings *findings = context;
    for (size_t i = 0; i < fingerprint_count; i++)
        for (unsigned bit = 0; bit < findings->properties.bits; bit++)
            findings->bit_counts[bit] += fingerprints[i] >> bit & 1;
    findings->fingerprint_count += fingerprint_count;
    return !interrupt_is_noted();
}

/* Orders the two fingerprints that `first` and `second` point to by their hashes, ascending, for qsort. */
static int compare_hashes(const void *first, const void *second) {
    uint64_t a = sample_hash(*(const uint64_t *)first), b = sample_hash(*(const uint64_t *)second);
    return (a > b) - (a < b);
}

/* Keeps only the sample_size candidates with the smallest hashes, if there are more, and lowers max_hash to the largest
 * of their hashes. */
static void keep_smallest_hashes(struct sampling *sampling) {
    qsort(sampling->fingerprints, sampling->candidate_count, sizeof *sampling->fingerprints, compare_hashes);
    if (sampling->candidate_count > sampling->sample_size) sampling->candidate_count = sampling->sample_size;
    if (sampling->candidate_count == sampling->sample_size)
        sampling->max_hash = sample_hash(sampling->fingerprints[sampling->candidate_count - 1]);
}

/* Adds to the candidates those of the fingerprints that may be in the sample. Returns false once a signal is noted.
 * This is an idx_fingerprints_visitor. */
static bool add_candidates(void *context, const uint64_t *fingerprints, size_t fingerprint_count) {
    struct sampling *sampling = context;
    for (size_t i = 0; i < fingerprint_count; i++) {
        if (sample_hash(fingerprints[i]) > sampling->max_hash) continue;
        sampling->fingerprints[sampling->candidate_count++] = fingerprints[i];
        if (sampling->candidate_count == 2 * sampling->sample_size) keep_smallest_hashes(sampling);
    }
    return !interrupt_is_noted();
}

/* ---- Comparing ---- */

/* Counts the last query at the level of its nearest match, once all its matches were visited. Does nothing if none was
 * found within `farthest_distance`. */
static void count_nearest_of_last_query(struct sampling *sampling) {
    if (sampling->nearest <= sampling->findings->farthest_distance)
        sampling->findings->levels[sampling->nearest].nearest_count++;
    sampling->nearest = UINT_MAX;
}

/* Notes the nearest match of a query, and counts and offers as pairs its matches beyond k. All matches of a query must
 * come one after the other. Returns false once a signal is noted. This is an idx_batch_visitor, whose queries are the
 * sample. */
static bool count_and_offer_matches(void *context, size_t query, const struct idx_match *matches, size_t match_count) {
    struct sampling *sampling = context;
    if (query != sampling->last_query) count_nearest_of_last_query(sampling);
    sampling->last_query = query;
    for (size_t i = 0; i < match_count; i++) {
        uint64_t a = matches[i].fingerprint, b = sampling->fingerprints[query];
        unsigned distance = matches[i].distance;
        struct level *level = &sampling->findings->levels[distance];
        if (distance == 0) continue; /* It is the query itself. */
        if (distance < sampling->nearest) sampling->nearest = distance;
        if (distance <= sampling->findings->k) continue; /* find_pairs_within_k found it. */
        level->pair_count++;
        gather_offer_pair(level, (struct shown_pair){.a = a < b ? a : b, .b = a < b ? b : a});
    }
    return !interrupt_is_noted();
}

struct idx_batch_options sample_get_batch_options(const struct idx_cluster_options *options, unsigned distance,
                                                  struct progress *hidden_progress) {
    struct idx_batch_options batch_options = IDX_BATCH_OPTIONS_INIT;
    batch_options.distance = distance;
    batch_options.threads = options->threads;
    batch_options.memory_bytes = options->memory_bytes;
    batch_options.temporary_folder = scratch_choose_parent(options->temporary_folder);
    batch_options.progress = progress_visit;
    batch_options.context = hidden_progress;
    return batch_options;
}

/* Looks up the sample in the whole index at distances up to `farthest_distance`. Returns false after an error of the
 * library, with *error set, or after a signal. */
static bool compare_sample(struct sampling *sampling, const struct idx_index *index,
                           const struct idx_cluster_options *options, struct idx_error *error) {
    struct progress hidden_progress = {.shown = false};
    const struct idx_batch_options batch_options =
        sample_get_batch_options(options, sampling->findings->farthest_distance, &hidden_progress);
    bool ok = idx_batch(index, sampling->fingerprints, sampling->candidate_count, &batch_options,
                        count_and_offer_matches, sampling, error) == IDX_OK;
    count_nearest_of_last_query(sampling);
    return ok && !interrupt_is_noted();
}

/* ---- All ---- */

/* Returns the largest distance at which the sample is compared. It is well above k, so that a reader of the report sees
 * where near-duplicates end, but below the number of bits; and never below k, since pairs are counted up to that. */
static unsigned choose_farthest_distance(const struct findings *findings) {
    unsigned farthest = 2 * findings->k + 4, max_distance = findings->properties.bits - 1;
    if (farthest > IDX_MAX_K) farthest = IDX_MAX_K;
    if (farthest > max_distance) farthest = max_distance;
    return farthest > findings->k ? farthest : findings->k;
}

bool sample_index(struct findings *findings, const struct idx_index *index, const struct idx_cluster_options *options,
                  struct idx_error *error) {
    if (idx_visit_part(index, 0, 1, count_fingerprints, findings, error) != IDX_OK || interrupt_is_noted())
        return false;
    findings->farthest_distance = choose_farthest_distance(findings);
    if (findings->fingerprint_count == 0) return true;
    uint64_t sample_size = MAX_SAMPLE_PAIRS / findings->fingerprint_count;
    if (sample_size < MIN_SAMPLED) sample_size = MIN_SAMPLED;
    if (sample_size > findings->fingerprint_count) sample_size = findings->fingerprint_count;
    struct sampling sampling = {
        .findings = findings, .sample_size = (size_t)sample_size, .max_hash = UINT64_MAX, .nearest = UINT_MAX};
    sampling.fingerprints = calloc(2 * sampling.sample_size, sizeof *sampling.fingerprints);
    if (sampling.fingerprints == NULL) return complain("out of memory");
    bool ok = idx_visit_part(index, 0, 1, add_candidates, &sampling, error) == IDX_OK && !interrupt_is_noted();
    if (ok) keep_smallest_hashes(&sampling);
    findings->sampled_count = sampling.candidate_count;
    ok = ok && compare_sample(&sampling, index, options, error);
    free(sampling.fingerprints);
    return ok;
}
