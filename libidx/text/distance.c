/* distance.c: at which distance fingerprints propose texts that resemble each other. */
#include <idx_text.h>

/* What bench/dedup measured of `idx dedup --confirm`: distances at which so many pairs of near-duplicates lose a text
 * as idx_text.h says, or the next ones where these barely do. The last row holds for all resemblances beyond it. */
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
