/* sample.c: samples an index, to see beyond its distance. The fingerprints with the smallest hashes are the sample:
 * which these are depends on nothing else. */
#include "tools/report/page.h"

#include "tools/shared/command.h"
#include "tools/shared/files.h"
#include "tools/shared/wording.h"

#include <stdlib.h>

/* The sample makes so many pairs with all fingerprints, but has at least LEAST_SAMPLED. */
#define SAMPLED_PAIRS ((uint64_t)1 << 32)
enum { LEAST_SAMPLED = 1024 };

#define SAMPLE_MEMORY ((uint64_t)64 << 20)

struct sampling {
    struct findings *findings;
    uint64_t *keys; /* These are the hashes, and then the sample's fingerprints, ascending. */
    uint64_t limit; /* No greater hash can be of the sample. */
    size_t count, most;
    unsigned char *nearest;  /* It has the distance of each to the nearest other one that was seen, or UINT8_MAX. */
    struct idx_index *index; /* It has the sample. */
    uint64_t fingerprint;    /* It is being looked up in that index. */
    struct idx_error *error;
    bool failed;
};

/* This is a bijection, so that unmix can compute the fingerprint from its hash. */
uint64_t sample_mix(uint64_t value) {
    value = (value ^ value >> 32) * UINT64_C(0xd6e8feb86659fd93);
    value = (value ^ value >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return value ^ value >> 32;
}

static uint64_t unmix(uint64_t value) {
    const uint64_t inverse = UINT64_C(0xcfee444d8b59a89b); /* It is the inverse modulo 2^64. */
    value = (value ^ value >> 32) * inverse;
    value = (value ^ value >> 32) * inverse;
    return value ^ value >> 32;
}

/* ---- Choosing ---- */

/* This is an idx_fingerprints_visitor. */
static bool count_bits(void *context, const uint64_t *fingerprints, size_t count) {
    struct findings *findings = context;
    for (size_t i = 0; i < count; i++)
        for (unsigned bit = 0; bit < findings->properties.bits; bit++)
            findings->ones[bit] += fingerprints[i] >> bit & 1;
    findings->fingerprints += count;
    return !interrupt_noted();
}

static int compare_numbers(const void *first, const void *second) {
    const uint64_t *a = first, *b = second;
    return (*a > *b) - (*a < *b);
}

/* Drops all hashes but the smallest. */
static void drop_others(struct sampling *sampling) {
    qsort(sampling->keys, sampling->count, sizeof *sampling->keys, compare_numbers);
    if (sampling->count > sampling->most) sampling->count = sampling->most;
    if (sampling->count == sampling->most) sampling->limit = sampling->keys[sampling->count - 1];
}

/* This is an idx_fingerprints_visitor. */
static bool choose_sample(void *context, const uint64_t *fingerprints, size_t count) {
    struct sampling *sampling = context;
    for (size_t i = 0; i < count; i++) {
        uint64_t key = sample_mix(fingerprints[i]);
        if (key > sampling->limit) continue;
        sampling->keys[sampling->count++] = key;
        if (sampling->count == 2 * sampling->most) drop_others(sampling);
    }
    return !interrupt_noted();
}

/* ---- Comparing ---- */

static enum idx_status build_sample(struct sampling *sampling, const char *path, unsigned threads) {
    const struct findings *findings = sampling->findings;
    struct idx_build_options options = IDX_BUILD_OPTIONS_INIT;
    struct idx_builder *builder;
    options.bits = findings->properties.bits;
    options.k = findings->farthest;
    options.id_type = IDX_ID_NONE;
    options.threads = threads;
    options.memory_bytes = SAMPLE_MEMORY;
    enum idx_status status = idx_builder_open(&builder, path, &options, sampling->error);
    if (status != IDX_OK) return status;
    for (size_t i = 0; i < sampling->count && status == IDX_OK; i++)
        status = idx_builder_add_u64(builder, sampling->keys[i], 0, sampling->error);
    if (status == IDX_OK) status = idx_builder_finish(builder, NULL, sampling->error);
    idx_builder_close(builder);
    return status;
}

/* An idx_match_visitor, which is called with a sampled fingerprint near to sampling->fingerprint. */
static bool take_match(void *context, const struct idx_match *match) {
    struct sampling *sampling = context;
    struct at_distance *at = &sampling->findings->at[match->distance];
    uint64_t a = match->fingerprint, b = sampling->fingerprint;
    if (match->distance == 0) return true;
    const uint64_t *found = bsearch(&a, sampling->keys, sampling->count, sizeof a, compare_numbers);
    unsigned char *nearest = &sampling->nearest[found - sampling->keys];
    if (match->distance < *nearest) *nearest = (unsigned char)match->distance;
    if (match->distance <= sampling->findings->k) return true;
    at->pairs++;
    gather_offer(at, a < b ? a : b, a < b ? b : a);
    return true;
}

/* This is an idx_fingerprints_visitor for all fingerprints. */
static bool compare_all(void *context, const uint64_t *fingerprints, size_t count) {
    struct sampling *sampling = context;
    for (size_t i = 0; i < count && !sampling->failed; i++) {
        sampling->fingerprint = fingerprints[i];
        sampling->failed = idx_visit_matches(sampling->index, fingerprints[i], sampling->findings->farthest, take_match,
                                             sampling, sampling->error) != IDX_OK;
    }
    return !sampling->failed && !interrupt_noted();
}

/* The folder of the index is removed as soon as the index is open. */
static bool open_sample(struct sampling *sampling, const char *folder, unsigned threads) {
    struct scratch scratch = {0};
    if (!scratch_open(&scratch, folder, "--tmpdir")) return false;
    char *path = scratch_path(&scratch, "sample");
    if (path == NULL) complain("out of memory");
    bool opened = path != NULL && build_sample(sampling, path, threads) == IDX_OK &&
                  idx_open(&sampling->index, path, NULL, sampling->error) == IDX_OK;
    scratch_remove(&scratch);
    free(path);
    return opened;
}

static bool compare_with(struct sampling *sampling, const struct idx_index *index) {
    struct findings *findings = sampling->findings;
    bool compared = idx_visit_part(index, 0, 1, compare_all, sampling, sampling->error) == IDX_OK && !sampling->failed;
    idx_close(sampling->index);
    for (size_t i = 0; i < sampling->count; i++)
        if (sampling->nearest[i] <= findings->farthest) findings->at[sampling->nearest[i]].nearest++;
    return compared && !interrupt_noted();
}

/* ---- All ---- */

/* Distances that nobody would take for near-duplicates are among them, to see where these end. */
static unsigned choose_farthest(const struct findings *findings) {
    unsigned farthest = 2 * findings->k + 4, most = findings->properties.bits - 1;
    if (farthest > IDX_MAX_K) farthest = IDX_MAX_K;
    return farthest < most ? farthest : most;
}

static bool take_sample(struct sampling *sampling, const struct idx_index *index, const char *folder,
                        unsigned threads) {
    sampling->keys = calloc(2 * sampling->most, sizeof *sampling->keys);
    sampling->nearest = malloc(sampling->most);
    bool good = sampling->keys != NULL && sampling->nearest != NULL;
    if (!good) complain("out of memory");
    for (size_t i = 0; i < sampling->most && good; i++) sampling->nearest[i] = UINT8_MAX;
    good =
        good && idx_visit_part(index, 0, 1, choose_sample, sampling, sampling->error) == IDX_OK && !interrupt_noted();
    if (good) drop_others(sampling);
    for (size_t i = 0; i < sampling->count; i++) sampling->keys[i] = unmix(sampling->keys[i]);
    if (good) qsort(sampling->keys, sampling->count, sizeof *sampling->keys, compare_numbers);
    sampling->findings->sampled = sampling->count;
    good = good && open_sample(sampling, folder, threads) && compare_with(sampling, index);
    free(sampling->keys);
    free(sampling->nearest);
    return good;
}

bool sample_far(struct findings *findings, const struct idx_index *index, const char *folder, unsigned threads,
                struct idx_error *error) {
    if (idx_visit_part(index, 0, 1, count_bits, findings, error) != IDX_OK || interrupt_noted()) return false;
    uint64_t count = findings->fingerprints, most = count == 0 ? 0 : SAMPLED_PAIRS / count;
    findings->farthest = choose_farthest(findings);
    if (most < LEAST_SAMPLED) most = LEAST_SAMPLED;
    if (most > count) most = count;
    struct sampling sampling = {.findings = findings, .most = (size_t)most, .limit = UINT64_MAX, .error = error};
    return most == 0 || take_sample(&sampling, index, folder, threads);
}
