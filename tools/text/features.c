/* features.c: fingerprints of features that were made elsewhere: ID<TAB>feature[<TAB>weight]. */
#include "tools/text/features.h"

#include "tools/shared/notation.h"

#include <idx.h>

#include <string.h>

/* Documents have fewer than 2^30 bytes, so that no sum of weights, each up to 10^10, comes near 2^63. */
static bool add_feature(struct idx_simhash *simhash, struct span feature, const struct extract_rules *rules,
                        struct bad *bad) {
    const char *tab = feature.length > 0 ? memchr(feature.bytes, '\t', feature.length) : NULL;
    int64_t weight = IDX_DECIMAL_WEIGHT_ONE;
    if (tab != NULL) {
        size_t length = (size_t)(tab - feature.bytes), rest = feature.length - length - 1;
        feature.length = length;
        if (!idx_weight_parse(tab + 1, rest, &weight))
            return bad_set(bad, BAD_FEATURE,
                           "'%.*s' is not a weight: it must be a number from -1000000 to 1000000, with up to 4 digits "
                           "after the point",
                           rest < 40 ? (int)rest : 40, tab + 1);
    }
    if (feature.length == 0) return bad_set(bad, BAD_FEATURE, "a feature is empty");
    if (!rules->hashes) {
        idx_simhash_add_hash(simhash, idx_hash(rules->hash, feature.bytes, feature.length), weight);
        return true;
    }
    uint64_t hash;
    struct problem problem;
    if (!notation_parse(NOTATION_HEX, IDX_MAX_BITS, feature.bytes, feature.length, &hash, &problem))
        return bad_set(bad, BAD_FEATURE, "'%.*s' is not a hash of 16 hex digits",
                       feature.length < 40 ? (int)feature.length : 40, feature.bytes);
    idx_simhash_add_hash(simhash, hash, weight);
    return true;
}

bool features_fingerprint(struct span lines, const struct extract_rules *rules, unsigned bits, struct span *id,
                          uint64_t *fingerprint, uint64_t *count, struct bad *bad) {
    struct idx_simhash simhash;
    struct span feature;
    idx_simhash_init(&simhash);
    for (*count = 0; lines.length > 0; (*count)++) {
        const char *newline = memchr(lines.bytes, '\n', lines.length);
        struct span line = {lines.bytes, newline != NULL ? (size_t)(newline - lines.bytes) : lines.length};
        lines.bytes += line.length + (newline != NULL);
        lines.length -= line.length + (newline != NULL);
        if (!extract_id(line, id, &feature, bad)) return false;
        if (id->length == 0) return bad_set(bad, BAD_ID, "the ID is empty");
        if (!add_feature(&simhash, feature, rules, bad)) return false;
    }
    *fingerprint = idx_simhash_finish(&simhash, bits) | (rules->ties ? idx_simhash_ties(&simhash, bits) : 0);
    return true;
}
