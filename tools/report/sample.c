/* sample.c: see sample.h. The fingerprints with the smallest hashes are the sample: which these are depends on nothing
 * else. */
#include "tools/report/sample.h"

#include "tools/report/gather.h"
#include "tools/shared/interrupt.h"
#include "tools/shared/message.h"
#include "tools/shared/scratch.h"

#include <stdlib.h>

/* As many are sampled as make so many pairs with all fingerprints, but at least as many as follow. */
#define SAMPLED_PAIRS ((uint64_t)1 << 32)
enum { LEAST_SAMPLED = 1024 };

#define SAMPLE_MEMORY ((uint64_t)64 << 20)

struct sampling {
    struct findings *findings;
    uint64_t
        *keys; /* a heap of the smallest hashes, the largest first; and then the sample's fingerprints, ascending */
    size_t count, most;
    unsigned char *nearest;  /* of each: the distance of the nearest other one that was seen; beyond all: none was */
    struct idx_index *index; /* of the sample */
    uint64_t fingerprint;    /* that is looked up there */
    struct idx_error *error;
    bool failed;
};

/* A bijection, so that a fingerprint can be told from its hash. */
uint64_t sample_mix(uint64_t value) {
    value = (value ^ value >> 32) * UINT64_C(0xd6e8feb86659fd93);
    value = (value ^ value >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return value ^ value >> 32;
}

static uint64_t unmix(uint64_t value) {
    const uint64_t inverse = UINT64_C(0xcfee444d8b59a89b); /* modulo 2^64 */
    value = (value ^ value >> 32) * inverse;
    value = (value ^ value >> 32) * inverse;
    return value ^ value >> 32;
}

/* ---- Choosing ---- */

/* An idx_fingerprints_visitor. */
static bool count_bits(void *context, const uint64_t *fingerprints, size_t count) {
    struct findings *findings = context;
    for (size_t i = 0; i < count; i++)
        for (unsigned bit = 0; bit < findings->properties.bits; bit++)
            findings->ones[bit] += fingerprints[i] >> bit & 1;
    findings->fingerprints += count;
    return !interrupt_noted();
}

static void sift_down(uint64_t *heap, size_t count, size_t at) {
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && heap[child + 1] > heap[child]) child++;
        if (heap[at] >= heap[child]) return;
        uint64_t greater = heap[child];
        heap[child] = heap[at];
        heap[at] = greater;
    }
}

/* An idx_fingerprints_visitor. */
static bool choose(void *context, const uint64_t *fingerprints, size_t count) {
    struct sampling *sampling = context;
    for (size_t i = 0; i < count; i++) {
        uint64_t key = sample_mix(fingerprints[i]);
        if (sampling->count < sampling->most) {
            sampling->keys[sampling->count++] = key;
            if (sampling->count < sampling->most) continue;
            for (size_t at = sampling->count / 2; at-- > 0;) sift_down(sampling->keys, sampling->count, at);
        } else if (key < sampling->keys[0]) {
            sampling->keys[0] = key;
            sift_down(sampling->keys, sampling->count, 0);
        }
    }
    return !interrupt_noted();
}

static int compare(const void *first, const void *second) {
    const uint64_t *a = first, *b = second;
    return (*a > *b) - (*a < *b);
}

/* ---- Comparing ---- */

static enum idx_status build(struct sampling *sampling, const char *path, unsigned threads) {
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

/* An idx_match_visitor: a sampled fingerprint that is near to the one at hand. */
static bool take_match(void *context, const struct idx_match *match) {
    struct sampling *sampling = context;
    struct at_distance *at = &sampling->findings->at[match->distance];
    uint64_t a = match->fingerprint, b = sampling->fingerprint;
    if (match->distance == 0) return true;
    const uint64_t *found = bsearch(&a, sampling->keys, sampling->count, sizeof a, compare);
    unsigned char *nearest = &sampling->nearest[found - sampling->keys];
    if (match->distance < *nearest) *nearest = (unsigned char)match->distance;
    if (match->distance <= sampling->findings->k) return true;
    at->pairs++;
    gather_offer(at, a < b ? a : b, a < b ? b : a);
    return true;
}

/* An idx_fingerprints_visitor, of all. */
static bool compare_all(void *context, const uint64_t *fingerprints, size_t count) {
    struct sampling *sampling = context;
    for (size_t i = 0; i < count && !sampling->failed; i++) {
        sampling->fingerprint = fingerprints[i];
        sampling->failed = idx_visit_matches(sampling->index, fingerprints[i], sampling->findings->farthest, take_match,
                                             sampling, sampling->error) != IDX_OK;
    }
    return !sampling->failed && !interrupt_noted();
}

/* The index is gone as soon as it is open. */
static bool open_sample(struct sampling *sampling, const char *folder, unsigned threads) {
    struct scratch scratch = {0};
    if (!scratch_open(&scratch, folder, "--tmpdir")) return false;
    char *path = scratch_path(&scratch, "sample");
    if (path == NULL) complain("out of memory");
    bool opened = path != NULL && build(sampling, path, threads) == IDX_OK &&
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
    sampling->keys = calloc(sampling->most, sizeof *sampling->keys);
    sampling->nearest = malloc(sampling->most);
    bool good = sampling->keys != NULL && sampling->nearest != NULL;
    if (!good) complain("out of memory");
    for (size_t i = 0; i < sampling->most && good; i++) sampling->nearest[i] = UINT8_MAX;
    good = good && idx_visit_part(index, 0, 1, choose, sampling, sampling->error) == IDX_OK && !interrupt_noted();
    for (size_t i = 0; i < sampling->count; i++) sampling->keys[i] = unmix(sampling->keys[i]);
    if (good) qsort(sampling->keys, sampling->count, sizeof *sampling->keys, compare);
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
    struct sampling sampling = {.findings = findings, .most = (size_t)most, .error = error};
    return most == 0 || take_sample(&sampling, index, folder, threads);
}
