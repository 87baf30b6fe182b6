/* features.c: fingerprints of features that were made elsewhere: ID<TAB>feature[<TAB>weight]. */
#include "tools/features.h"

#include "tools/number.h"

#include <idx.h>

#include <string.h>

enum { MOST_FRACTION_DIGITS = 4, MOST_WHOLE_DIGITS = 13 };

/* The sum of 2^46 weights of one is 2^62, and fits a simhash's sums. */
#define MOST_WEIGHT ((int64_t)1 << 46)

static bool parse_fraction(struct span text, uint64_t *ten_thousandths) {
    *ten_thousandths = 0;
    if (text.length == 0 || text.length > MOST_FRACTION_DIGITS) return false;
    if (!number_parse_digits(text.bytes, text.length, ten_thousandths)) return false;
    for (size_t i = text.length; i < MOST_FRACTION_DIGITS; i++) *ten_thousandths *= 10;
    return true;
}

/* In fixed point. */
static bool parse_weight(struct span text, int64_t *weight) {
    uint64_t whole, fraction = 0;
    bool negative = text.length > 0 && text.bytes[0] == '-';
    if (negative) text.bytes++, text.length--;
    const char *point = text.length > 0 ? memchr(text.bytes, '.', text.length) : NULL;
    size_t digits = point != NULL ? (size_t)(point - text.bytes) : text.length;
    if (digits > MOST_WHOLE_DIGITS || !number_parse_digits(text.bytes, digits, &whole)) return false;
    if (point != NULL && !parse_fraction((struct span){point + 1, text.length - digits - 1}, &fraction)) return false;
    *weight = (int64_t)whole * IDX_WEIGHT_ONE + (int64_t)((fraction * (uint64_t)IDX_WEIGHT_ONE + 5000) / 10000);
    if (negative) *weight = -*weight;
    return true;
}

/* `sum` is that of the weights so far, signs apart, in fixed point. */
static bool add_feature(struct idx_simhash *simhash, struct span feature, uint64_t *sum, struct bad *bad) {
    const char *tab = feature.length > 0 ? memchr(feature.bytes, '\t', feature.length) : NULL;
    int64_t weight = IDX_WEIGHT_ONE;
    if (tab != NULL) {
        size_t length = (size_t)(tab - feature.bytes);
        struct span text = {tab + 1, feature.length - length - 1};
        feature.length = length;
        if (!parse_weight(text, &weight))
            return bad_set(bad, BAD_FEATURE, "'%.*s' is no weight: a decimal number, up to 4 digits behind the point",
                           text.length < 40 ? (int)text.length : 40, text.bytes);
    }
    if (feature.length == 0) return bad_set(bad, BAD_FEATURE, "a feature is empty");
    *sum += (uint64_t)(weight < 0 ? -weight : weight);
    if (*sum > (uint64_t)MOST_WEIGHT << 16) return bad_set(bad, BAD_FEATURE, "its weights sum up to more than 2^46");
    idx_simhash_add(simhash, feature.bytes, feature.length, weight);
    return true;
}

bool features_fingerprint(struct span lines, unsigned bits, struct span *id, uint64_t *fingerprint, uint64_t *count,
                          struct bad *bad) {
    struct idx_simhash simhash;
    struct span feature;
    uint64_t sum = 0;
    idx_simhash_init(&simhash);
    for (*count = 0; lines.length > 0; (*count)++) {
        const char *newline = memchr(lines.bytes, '\n', lines.length);
        struct span line = {lines.bytes, newline != NULL ? (size_t)(newline - lines.bytes) : lines.length};
        lines.bytes += line.length + (newline != NULL);
        lines.length -= line.length + (newline != NULL);
        if (!extract_id(line, id, &feature, bad)) return false;
        if (id->length == 0) return bad_set(bad, BAD_ID, "its ID is empty");
        if (!add_feature(&simhash, feature, &sum, bad)) return false;
    }
    *fingerprint = idx_simhash_finish(&simhash, bits);
    return true;
}
