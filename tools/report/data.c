/* data.c: makes of the findings the data that the page of a report draws. What is unknown is null. Each function named
 * pack_… returns a new value, which the caller releases, or NULL if memory ran out. */
#include "tools/report/page.h"

#include <stdio.h>
#include <string.h>

/* The most bytes of all texts in the page together. */
enum { MAX_TOTAL_TEXT_BYTES = 1 << 21 };

/* Converts a share from units of 1/IDX_THRESHOLD_ONE to a number up to 1. */
static double share_to_double(int64_t share) { return (double)share / (double)IDX_THRESHOLD_ONE; }

/* Returns the share of an option as a number up to 1, or null for 0, which means that the option was not given. */
static json_t *pack_share(int64_t share) { return share > 0 ? json_real(share_to_double(share)) : json_null(); }

/* Returns an integer, which must be below 2^63, since those of JSON are signed here. */
static json_t *pack_number(uint64_t number) { return json_integer((json_int_t)number); }

/* Returns an integer, which must be below 2^63, or null unless `is_known`. */
static json_t *pack_if_known(bool is_known, uint64_t number) { return is_known ? pack_number(number) : json_null(); }

/* ---- The summary ---- */

/* Returns an object with the options of the command: those for fingerprints that are compared by distance, or those for
 * texts that are compared by resemblance. */
static json_t *pack_options(const struct findings *findings, const struct page_origin *origin) {
    const struct idx_text_shingle_options *shingling = &origin->shingling;
    char shingle[48];
    if (findings_are_by_distance(findings))
        return json_pack("{s:i,s:i,s:s,s:s,s:s}", "k", (int)findings->k, "bits", (int)findings->properties.bits,
                         "recipe", *origin->recipe == '\0' ? "unknown" : origin->recipe, "method", origin->method,
                         "representative", origin->representative);
    snprintf(shingle, sizeof shingle, "%u %s in a row", shingling->width,
             shingling->unit == IDX_TEXT_CHARACTERS ? "characters" : "words");
    return json_pack(
        "{s:o,s:o,s:o,s:s,s:s?,s:s,s:o}", "resemble", pack_share(findings->levels[findings->asked_level].threshold),
        "contained", pack_share(findings->contained), "min_shingles", pack_number(findings->contained_size), "shingle",
        shingle, "ignore_common", origin->ignore_common, "representative", origin->representative, "against",
        origin->against == NULL ? json_null() : json_from_bytes(origin->against, strlen(origin->against)));
}

/* Appends to the array `fates` an object: the name of a fate, how many documents had it, and how many bytes these have
 * in the inputs, or null without inputs. Returns the array, or NULL if it is NULL or memory ran out; it is released
 * then. */
static json_t *append_fate(json_t *fates, const struct findings *findings, const char *fate, struct tally tally) {
    return json_append_value(fates, json_pack("{s:s,s:o,s:o}", "fate", fate, "documents", pack_number(tally.documents),
                                              "bytes", pack_if_known(findings->has_inputs, tally.bytes)));
}

/* Returns an array of what became of the documents. Only documents of inputs can be kept without being compared,
 * because they are too short, and only with --against can they resemble known documents. */
static json_t *pack_fates(const struct findings *findings, const struct page_origin *origin) {
    const struct tally *kept = &findings->kept, *dropped = &findings->dropped;
    const struct tally all = {kept->documents + dropped->documents, kept->bytes + dropped->bytes};
    json_t *fates = append_fate(json_array(), findings, "all", all);
    fates = append_fate(fates, findings, "kept", *kept);
    if (findings->has_inputs) fates = append_fate(fates, findings, "few", findings->kept_uncompared);
    fates = append_fate(fates, findings, "dropped", *dropped);
    return origin->against == NULL ? fates : append_fate(fates, findings, "known", findings->known);
}

/* ---- Levels ---- */

/* Returns an object for the level of a distance. Beyond k, its pairs are an estimate from the sample, unless the sample
 * has all fingerprints. There, a pair was counted once for each of its two fingerprints that is in the sample, so that
 * the estimate is counted * fingerprints / (2 * sampled). `within_count` is how many sampled fingerprints have another
 * one within this distance. */
static json_t *pack_distance_level(const struct findings *findings, unsigned distance, uint64_t within_count) {
    const struct idx_cluster_summary *clusters = &findings->levels[distance].clusters;
    const bool is_known = distance <= findings->k;
    uint64_t pairs = findings->levels[distance].pair_count;
    if (!is_known && findings->sampled_count > 0)
        pairs = (uint64_t)((double)pairs * (double)findings->fingerprint_count / (2 * (double)findings->sampled_count) +
                           0.5);
    return json_pack("{s:i,s:o,s:b,s:o,s:o,s:o,s:o,s:o}", "distance", (int)distance, "pairs", pack_number(pairs),
                     "estimated", !is_known && findings->sampled_count < findings->fingerprint_count, "dropped",
                     pack_if_known(is_known, clusters->clustered - clusters->clusters), "clusters",
                     pack_if_known(is_known, clusters->clusters), "largest",
                     pack_if_known(is_known, clusters->largest_count > 0 ? clusters->largest[0].documents : 0), "far",
                     pack_if_known(is_known, clusters->far), "within", pack_number(within_count));
}

/* Returns an object for level i, from 0, of a comparison by resemblance. What is not known is null. How many documents
 * the asked threshold drops is always exact. */
static json_t *pack_threshold_level(const struct findings *findings, size_t i) {
    const struct level *level = &findings->levels[i];
    const bool is_decided = i < findings->decided_count || i == findings->asked_level;
    return json_pack("{s:f,s:o,s:b,s:o,s:o,s:o}", "threshold", share_to_double(level->threshold), "pairs",
                     pack_number(level->pair_count), "estimated", i >= findings->exact_count, "dropped",
                     pack_number(level->dropped_count), "clusters", pack_if_known(is_decided, level->clusters.clusters),
                     "largest", pack_if_known(is_decided, level->largest));
}

/* Returns how many levels the findings have: one for each distance from 0 to `farthest_distance`, or one for each
 * threshold. */
static size_t count_levels(const struct findings *findings) {
    return findings_are_by_distance(findings) ? findings->farthest_distance + 1 : findings->threshold_count;
}

/* Returns an array of the objects of all levels, as pack_distance_level or pack_threshold_level makes them. */
static json_t *pack_levels(const struct findings *findings) {
    json_t *levels = json_array();
    uint64_t within_count = 0; /* Sampled fingerprints whose nearest other one is at this level or before. */
    for (unsigned i = 0; i < count_levels(findings); i++) {
        within_count += findings->levels[i].nearest_count;
        levels = json_append_value(levels, findings_are_by_distance(findings)
                                               ? pack_distance_level(findings, i, within_count)
                                               : pack_threshold_level(findings, i));
    }
    return levels;
}

/* ---- Clusters ---- */

/* Returns an array of how many clusters have 2^i up to 2^(i + 1) - 1 documents, for each i from 1 up to that of the
 * largest cluster. */
static json_t *pack_cluster_sizes(const struct findings *findings) {
    const uint64_t *sizes = findings->clusters.sizes;
    size_t size_count = sizeof findings->clusters.sizes / sizeof *sizes;
    json_t *packed = json_array();
    while (size_count > 1 && sizes[size_count - 1] == 0) size_count--;
    for (size_t i = 1; i < size_count; i++) /* The first one would be of documents in no cluster. */
        packed = json_append_value(packed, json_pack("{s:I,s:I,s:I}", "from", (json_int_t)1 << i, "to",
                                                     ((json_int_t)2 << i) - 1, "number", (json_int_t)sizes[i]));
    return packed;
}

/* Returns an array of how many documents were dropped at each distance from the document that is kept, or at each level
 * of resemblance to it, up to the last level that has any. A document that is contained in the kept one is dropped
 * whatever its resemblance: if that is below all thresholds, the document counts behind the last level. */
static json_t *pack_dropped_counts(const struct findings *findings) {
    const bool by_distance = findings_are_by_distance(findings);
    const size_t first_level = by_distance ? 0 : findings_find_first_level(findings);
    size_t end_level = IDX_MAX_BITS + 1;
    json_t *counts = json_array();
    while (end_level > first_level && findings->dropped_counts[end_level - 1] == 0) end_level--;
    for (size_t i = first_level; i < end_level; i++) {
        double from = (double)i, to = from;
        if (!by_distance) {
            /* A level goes from its own threshold, 0 behind the last level, to that of the level before. */
            from = share_to_double(findings->levels[i].threshold);
            to = share_to_double(findings->levels[i > first_level ? i - 1 : i].threshold);
        }
        counts = json_append_value(counts, json_pack("{s:f,s:f,s:o}", "from", from, "to", to, "number",
                                                     pack_number(findings->dropped_counts[i])));
    }
    return counts;
}

/* ---- Documents ---- */

/* Returns a fingerprint as a string of hex digits, as many as its bits take. */
static json_t *pack_fingerprint(const struct findings *findings, uint64_t fingerprint) {
    char hex[NOTATION_MAX_LENGTH];
    return json_stringn(hex, notation_format_fingerprint(NOTATION_HEX, findings->properties.bits, fingerprint, hex));
}

/* Returns the ID of a document: an integer ID as a string of digits, a text ID as json_from_bytes returns it, and null
 * if the index keeps no IDs. */
static json_t *pack_id(const struct findings *findings, const struct shown_document *shown) {
    char number[NOTATION_MAX_LENGTH];
    if (findings->properties.id_type == IDX_ID_NONE) return json_null();
    if (findings->properties.id_type == IDX_ID_U64)
        return json_stringn(number, notation_format_decimal(shown->number, number));
    return json_from_bytes(shown->id, shown->id_length);
}

/* Returns an object for a document of a pair, with its ID. By distance, it also has its fingerprint; by resemblance, up
 * to `max_bytes` bytes of its text, if that was read. */
static json_t *pack_document(const struct findings *findings, const struct shown_document *shown, size_t max_bytes) {
    if (findings_are_by_distance(findings))
        return json_pack("{s:o,s:o}", "id", pack_id(findings, shown), "fingerprint",
                         pack_fingerprint(findings, shown->fingerprint));
    if (shown->text == NULL) return json_pack("{s:o}", "id", pack_id(findings, shown));
    const size_t compared_bytes = printable_find_cut(shown->text, shown->text_length, max_bytes);
    return json_pack("{s:o,s:o,s:o,s:o}", "id", pack_id(findings, shown), "bytes", pack_number(shown->text_bytes),
                     "compared", pack_number(compared_bytes), "text", json_from_bytes(shown->text, compared_bytes));
}

/* Returns how many bytes of each text may be in the page: READING_MAX_BODY_BYTES, which no text exceeds, halved until
 * all texts together have at most MAX_TOTAL_TEXT_BYTES. */
static size_t choose_text_bytes(const struct findings *findings) {
    size_t max_bytes = 2 * READING_MAX_BODY_BYTES;
    uint64_t total_bytes;
    do {
        max_bytes /= 2;
        total_bytes = 0;
        for (size_t i = 0; i < findings->shown_count; i++)
            total_bytes += findings->shown[i].text_length < max_bytes ? findings->shown[i].text_length : max_bytes;
    } while (total_bytes > MAX_TOTAL_TEXT_BYTES);
    return max_bytes;
}

/* Returns an array of the shown pairs of all levels. With inputs, pairs whose two texts were not both read again are
 * left out. */
static json_t *pack_pairs(const struct findings *findings) {
    const size_t max_bytes = choose_text_bytes(findings);
    json_t *pairs = json_array();
    for (size_t i = 0; i < count_levels(findings); i++) {
        for (size_t j = 0; j < findings->levels[i].shown_count; j++) {
            /* Each of the two documents has the figures of the pair. */
            const struct shown_document *first = findings->levels[i].shown[j].documents, *second = first + 1;
            if (findings->has_inputs && (first->text == NULL || second->text == NULL)) continue;
            pairs = json_append_value(pairs, json_pack("{s:i,s:f,s:o,s:[o,o]}", "level", (int)i, "resemblance",
                                                       first->resemblance, "contained",
                                                       first->contained > 0 ? json_real(first->contained) : json_null(),
                                                       "documents", pack_document(findings, first, max_bytes),
                                                       pack_document(findings, second, max_bytes)));
        }
    }
    return pairs;
}

/* ---- Chains ---- */

/* Returns an array of the stored steps of a chain, each with its number among all steps of the chain. */
static json_t *pack_steps(const struct findings *findings, const struct chain *chain) {
    json_t *steps = json_array();
    for (size_t i = 0; i < chain->step_count; i++) {
        const struct step *step = &chain->steps[i];
        /* Of a chain that is longer, the steps between the first half and the last half are not stored. */
        const size_t number = i < FINDINGS_STEPS / 2 ? i : i + chain->length - chain->step_count;
        steps = json_append_value(steps, json_pack("{s:o,s:o,s:o,s:i}", "step", pack_number(number), "id",
                                                   pack_id(findings, &step->document), "fingerprint",
                                                   pack_fingerprint(findings, step->fingerprint), "distance",
                                                   (int)step->distance));
    }
    return steps;
}

/* Returns an array of the chains, each with its steps, the size of its cluster, how many documents of that are beyond k
 * from the representative, and the distance of the farthest one. */
static json_t *pack_chains(const struct findings *findings) {
    json_t *chains = json_array();
    for (size_t i = 0; i < findings->chain_count; i++) {
        const struct chain *chain = &findings->chains[i];
        chains = json_append_value(chains,
                                   json_pack("{s:o,s:o,s:i,s:o}", "documents", pack_number(chain->ends.size.documents),
                                             "far", pack_number(chain->ends.size.far), "distance",
                                             (int)chain->ends.distance, "steps", pack_steps(findings, chain)));
    }
    return chains;
}

/* ---- All ---- */

/* Returns an array of how many fingerprints have each bit set, the least significant bit first. */
static json_t *pack_bit_counts(const struct findings *findings) {
    json_t *counts = json_array();
    for (unsigned i = 0; i < findings->properties.bits; i++)
        counts = json_append_value(counts, pack_number(findings->bit_counts[i]));
    return counts;
}

json_t *data_pack_findings(const struct findings *findings, const struct page_origin *origin) {
    return json_pack("{s:o,s:b,s:b,s:o,s:o,s:o,s:o,s:o,s:o,s:i,s:o,s:o,s:o,s:o}", "options",
                     pack_options(findings, origin), "has_ids", findings->properties.id_type != IDX_ID_NONE,
                     "has_texts", findings->has_inputs, "fates", pack_fates(findings, origin), "clusters",
                     pack_number(findings->clusters.clusters), "sampled", pack_number(findings->sampled_count),
                     "levels", pack_levels(findings), "sizes", pack_cluster_sizes(findings), "joined",
                     pack_dropped_counts(findings), "most_pairs", FINDINGS_PAIRS, "pairs", pack_pairs(findings),
                     "chains", pack_chains(findings), "fingerprints", pack_number(findings->fingerprint_count), "ones",
                     pack_bit_counts(findings));
}
