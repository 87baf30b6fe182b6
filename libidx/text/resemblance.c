/* resemblance.c: how much two texts, or their sets of shingles, have in common, and at which distance fingerprints
 * propose texts that resemble each other. */
#include "libidx/text/error.h"

#include "libidx/text/resemblance.h"

#include <idx_text.h>

#include <stdlib.h>

/* What was measured of `idx dedup --confirm` (bench/DECISIONS.md): distances at which so many pairs of near-duplicates
 * lose a text as idx_text.h says, or the next ones where these barely do. The last row holds for all resemblances
 * beyond it. */
static const struct {
    double resemblance;
    unsigned of_paragraphs, of_documents;
} measurements[] = {{0.5, 12, 10}, {0.6, 11, 10}, {0.7, 11, 9}, {0.8, 10, 9}, {0.9, 10, 7}};

enum { MEASUREMENTS = sizeof measurements / sizeof *measurements };

unsigned idx_text_distance(double resemblance, uint64_t features, const char *recipe, unsigned bits, bool *measured) {
    bool same_icu, is_default = recipe == NULL || idx_recipe_matches(recipe, IDX_TEXT_DEFAULT_RECIPE, &same_icu);
    size_t i = MEASUREMENTS - 1;
    while (i > 0 && !(measurements[i].resemblance <= resemblance)) i--;
    unsigned distance =
        features < IDX_TEXT_DOCUMENT_FEATURES ? measurements[i].of_paragraphs : measurements[i].of_documents;
    distance = (distance * bits + IDX_MAX_BITS - 1) / IDX_MAX_BITS;
    if (measured != NULL) *measured = is_default && bits == IDX_MAX_BITS && resemblance >= measurements[0].resemblance;
    return distance < bits ? distance : bits - 1;
}

double idx_text_jaccard(const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count) {
    size_t shared = idxt_count_shared(a, a_count, b, b_count);
    if (a_count == 0 && b_count == 0) return 1;
    return (double)shared / (double)(a_count - shared + b_count);
}

/* The shingles of a text, to be freed. */
static enum idx_status make_set(const void *utf8, size_t length, const struct idx_text_shingle_options *options,
                                uint64_t **hashes, size_t *count, struct idx_error *error) {
    bool words = options == NULL || options->unit == IDX_TEXT_WORDS;
    size_t room = words ? IDX_TEXT_MAX_WORDS(length) : length + 1;
    *hashes = room > SIZE_MAX / sizeof **hashes ? NULL : malloc(room * sizeof **hashes);
    if (*hashes == NULL) return idxt_fail(error, IDX_OUT_OF_MEMORY, "out of memory while comparing texts");
    return idx_text_shingles(utf8, length, options, *hashes, room, count, error);
}

enum idx_status idx_text_resemblance(const void *a, size_t a_length, const void *b, size_t b_length,
                                     const struct idx_text_shingle_options *options, double *resemblance,
                                     struct idx_error *error) {
    uint64_t *sets[2] = {NULL, NULL};
    size_t counts[2];
    if (resemblance == NULL)
        return idxt_fail(error, IDX_INVALID_ARGUMENT, "idx_text_resemblance needs a pointer for its result");
    enum idx_status status = make_set(a, a_length, options, &sets[0], &counts[0], error);
    if (status == IDX_OK) status = make_set(b, b_length, options, &sets[1], &counts[1], error);
    if (status == IDX_OK) *resemblance = idx_text_jaccard(sets[0], counts[0], sets[1], counts[1]);
    free(sets[0]);
    free(sets[1]);
    return status;
}
