/* features.c: fingerprints of features that were made elsewhere, one per line, or many with spaces or tabs between
 * them. */
#include "tools/text/features.h"

#include "tools/shared/notation.h"

#include <idx.h>

#include <string.h>

/* Documents have fewer than 2^30 bytes, so that no sum of weights, each up to 10^10, comes near 2^63. */
static bool read_weight(const char *at, size_t length, int64_t *weight, struct bad *bad) {
    return idx_weight_parse(at, length, weight) ||
           bad_set(bad, BAD_FEATURE, "'%.*s' is not a weight: it must be a number from -1000000 to 1000000",
                   length < 40 ? (int)length : 40, at);
}

static bool add_feature(struct idx_simhash *simhash, struct span feature, int64_t weight,
                        const struct extract_rules *rules, struct bad *bad) {
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

/* feature[<TAB>weight] */
static bool add_line(struct idx_simhash *simhash, struct span line, const struct extract_rules *rules, uint64_t *count,
                     struct bad *bad) {
    const char *tab = line.length > 0 ? memchr(line.bytes, '\t', line.length) : NULL;
    struct span feature = {line.bytes, tab == NULL ? line.length : (size_t)(tab - line.bytes)};
    int64_t weight = IDX_DECIMAL_WEIGHT_ONE;
    if (tab != NULL && !read_weight(tab + 1, line.length - feature.length - 1, &weight, bad)) return false;
    ++*count;
    return add_feature(simhash, feature, weight, rules, bad);
}

/* feature:weight. The feature may have colons itself. */
static bool add_token(struct idx_simhash *simhash, struct span token, const struct extract_rules *rules,
                      struct bad *bad) {
    const char *colon = memrchr(token.bytes, ':', token.length);
    int64_t weight;
    if (colon == NULL)
        return bad_set(bad, BAD_FEATURE, "'%.*s' has no weight: tokens must be feature:weight",
                       token.length < 40 ? (int)token.length : 40, token.bytes);
    struct span feature = {token.bytes, (size_t)(colon - token.bytes)};
    return read_weight(colon + 1, token.length - feature.length - 1, &weight, bad) &&
           add_feature(simhash, feature, weight, rules, bad);
}

static bool add_tokens(struct idx_simhash *simhash, struct span line, const struct extract_rules *rules,
                       uint64_t *count, struct bad *bad) {
    for (size_t start = 0, end = 0; end <= line.length; end++) {
        if (end < line.length && line.bytes[end] != ' ' && line.bytes[end] != '\t') continue;
        struct span token = {line.bytes + start, end - start};
        start = end + 1;
        if (token.length == 0) continue;
        if (!add_token(simhash, token, rules, bad)) return false;
        ++*count;
    }
    return true;
}

bool features_fingerprint(struct span lines, const struct extract_rules *rules, unsigned bits, struct span *id,
                          uint64_t *fingerprint, uint64_t *count, struct bad *bad) {
    struct idx_simhash simhash;
    struct span rest;
    idx_simhash_init(&simhash);
    *count = 0;
    while (lines.length > 0) {
        const char *newline = memchr(lines.bytes, '\n', lines.length);
        struct span line = {lines.bytes, newline != NULL ? (size_t)(newline - lines.bytes) : lines.length};
        lines.bytes += line.length + (newline != NULL);
        lines.length -= line.length + (newline != NULL);
        if (!extract_id(line, id, &rest, bad)) return false;
        if (id->length == 0) return bad_set(bad, BAD_ID, "the ID is empty");
        if (!(rules->tokens ? add_tokens : add_line)(&simhash, rest, rules, count, bad)) return false;
    }
    bool ties = rules->ties && *count > 0;
    *fingerprint = idx_simhash_finish(&simhash, bits) | (ties ? idx_simhash_ties(&simhash, bits) : 0);
    return true;
}
