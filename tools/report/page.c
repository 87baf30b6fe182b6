/* page.c: writes the page, except for the sections of page_pairs.c. */
#include "tools/report/page.h"

#include <stdio.h>
#include <string.h>

const char page_begin[] = "<!DOCTYPE html>\n<!-- A report of idx. -->\n";

/* ---- The head ---- */

/* Writes the page up to its first section. Its policy forbids scripts, and anything from other files. */
static void put_head(struct output *output, const struct findings *findings, const struct page_origin *origin) {
    const bool by_distance = findings_by_distance(findings);
    output_text(output, page_begin);
    output_text(output,
                "<html lang=\"en\">\n<head><meta charset=\"utf-8\">\n"
                "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
                "'unsafe-inline'\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    output_format(output, "<title>Near-duplicates: report of %s</title>\n<style>\n", origin->command);
    output_text(output, page_style);
    output_text(output, "</style></head>\n<body>\n<header><h1>Near-duplicates</h1>\n");
    output_format(output, "<p class=\"soft\">A report of <code>%s</code> %s</p>\n", origin->command, idx_version());
    output_text(output, "<nav aria-label=\"Sections\"><ul><li><a href=\"#summary\">Summary</a></li>");
    output_text(output, by_distance ? "<li><a href=\"#distances\">Which distance?</a></li>"
                                    : "<li><a href=\"#levels\">Which T?</a></li>");
    output_text(output, "<li><a href=\"#clusters\">Clusters</a></li><li><a href=\"#pairs\">Pairs</a></li>");
    if (by_distance) output_text(output, "<li><a href=\"#chains\">Chains</a></li><li><a href=\"#bits\">Bits</a></li>");
    output_text(output, "</ul></nav></header>\n<main>\n");
}

/* ---- The summary ---- */

static void put_tally(struct output *output, const struct findings *findings, const char *name,
                      const struct tally *tally) {
    char digits[HTML_DIGITS];
    output_format(output, "<tr><th scope=\"row\">%s</th><td>%s</td>", name, html_digits(digits, tally->documents));
    if (findings->has_inputs) output_format(output, "<td>%s</td>", html_digits(digits, tally->bytes));
    output_text(output, "</tr>\n");
}

static void put_tallies(struct output *output, const struct findings *findings, const struct page_origin *origin) {
    const struct tally *kept = &findings->kept, *dropped = &findings->dropped;
    const struct tally all = {kept->documents + dropped->documents, kept->bytes + dropped->bytes};
    const char *what = findings->properties.id_type == IDX_ID_NONE ? "Fingerprints" : "Documents";
    const bool has_inputs = findings->has_inputs;
    output_format(output, "<table><caption>%s%s</caption>\n<thead><tr><td></td><th scope=\"col\">%s</th>", what,
                  has_inputs ? ", and their bytes in the inputs, decompressed" : "", what);
    output_format(output, "%s</tr></thead>\n<tbody>\n", has_inputs ? "<th scope=\"col\">Bytes</th>" : "");
    put_tally(output, findings, "All", &all);
    put_tally(output, findings, "Kept", kept);
    if (has_inputs) put_tally(output, findings, "Kept without being compared", &findings->few);
    put_tally(output, findings, "Dropped", dropped);
    if (origin->against != NULL) put_tally(output, findings, "Dropped as near to --against", &findings->known);
    output_text(output, "</tbody></table>\n");
}

/* The most bytes of a fact as it is written. */
enum { LONGEST_FACT = 2000 };

static void put_fact(struct output *output, const char *name, const char *value) {
    output_format(output, "<tr><th scope=\"row\">%s</th><td>", name);
    html_text(output, value, strlen(value), HTML_ESCAPED_SPACE, LONGEST_FACT);
    output_text(output, "</td></tr>\n");
}

static void put_shingles(struct output *output, const struct page_origin *origin) {
    const struct idx_text_shingle_options *shingling = &origin->shingling;
    char shingle[48];
    snprintf(shingle, sizeof shingle, "%u %s in a row", shingling->width,
             shingling->unit == IDX_TEXT_CHARACTERS ? "characters" : "words");
    put_fact(output, "Shingles (--shingle)", shingle);
    if (origin->ignore_common != NULL)
        put_fact(output, "Those of more documents don't count (--ignore-common)", origin->ignore_common);
}

/* Writes how much texts must have in common, where the options ask for it. */
static void put_thresholds(struct output *output, const struct findings *findings) {
    const int64_t threshold = findings->levels[findings->asked_level].threshold;
    char number[24];
    snprintf(number, sizeof number, "%.4g", page_fraction(threshold));
    if (threshold > 0) put_fact(output, "Resemblance (--resemble)", number);
    snprintf(number, sizeof number, "%.4g", page_fraction(findings->contained));
    if (findings->contained > 0) put_fact(output, "In another text (--contained)", number);
}

static void put_facts(struct output *output, const struct findings *findings, const struct page_origin *origin) {
    char number[24];
    output_text(output, "<table class=\"facts\"><caption>How they were compared</caption>\n<tbody>\n");
    if (!findings_by_distance(findings)) {
        put_thresholds(output, findings);
        put_shingles(output, origin);
    } else {
        snprintf(number, sizeof number, "%u of %u bits", findings->k, findings->properties.bits);
        put_fact(output, "Distance (-k)", number);
        put_fact(output, "Recipe", *origin->recipe == '\0' ? "unknown" : origin->recipe);
        put_fact(output, "Clusters (--method)", origin->method);
    }
    put_fact(output, "What is kept (--representative)", origin->representative);
    if (origin->against != NULL) put_fact(output, "Compared first with (--against)", origin->against);
    output_text(output, "</tbody></table>\n");
}

/* Writes the same options as put_thresholds, as they are on a command line. */
static void put_options(struct output *output, const struct findings *findings) {
    const int64_t threshold = findings->levels[findings->asked_level].threshold;
    output_text(output, ", <code>");
    if (threshold > 0) output_format(output, "--resemble %.4g", page_fraction(threshold));
    if (findings->contained > 0)
        output_format(output, "%s--contained %.4g", threshold > 0 ? " " : "", page_fraction(findings->contained));
    output_text(output, "</code>");
}

static void put_summary(struct output *output, const struct findings *findings, const struct page_origin *origin) {
    const uint64_t all = findings->kept.documents + findings->dropped.documents;
    char kept[HTML_DIGITS], dropped[HTML_DIGITS];
    output_text(output, "<section aria-labelledby=\"summary\"><h2 id=\"summary\">Summary</h2>\n<p>Of ");
    html_count(output, all, findings->properties.id_type == IDX_ID_NONE ? "fingerprint" : "document");
    if (!findings_by_distance(findings))
        put_options(output, findings);
    else
        output_format(output, ", a distance of %u %s", findings->k, findings->k == 1 ? "bit" : "bits");
    output_format(output, " keeps %s and drops %s (%.1f %%). Near-duplicates form ",
                  html_digits(kept, findings->kept.documents), html_digits(dropped, findings->dropped.documents),
                  all == 0 ? 0 : 100 * (double)findings->dropped.documents / (double)all);
    html_count(output, findings->clusters.clusters, "cluster");
    output_text(output, "; one document of each cluster is kept.</p>\n");
    output_text(output, "<div class=\"beside\"><div>");
    put_tallies(output, findings, origin);
    output_text(output, "</div><div>");
    put_facts(output, findings, origin);
    output_text(output, "</div></div></section>\n");
}

/* ---- Distances ---- */

/* Returns the number of pairs at distance d, which beyond k is an estimate from the sample. There, a pair was counted
 * once for each of its two fingerprints that is sampled: twice if all are. */
static uint64_t estimate_pairs(const struct findings *findings, unsigned d) {
    const uint64_t pairs = findings->levels[d].pairs;
    if (d <= findings->k) return pairs;
    if (findings->sampled == 0) return 0;
    return (uint64_t)((double)pairs * (double)findings->fingerprints / (2 * (double)findings->sampled) + 0.5);
}

static bool is_estimated(const struct findings *findings, unsigned d) {
    return d > findings->k && findings->sampled < findings->fingerprints;
}

void page_put_cell(struct output *output, uint64_t number) {
    char digits[HTML_DIGITS];
    output_format(output, "<td>%s</td>", html_digits(digits, number));
}

/* Writes the row of distance d; `within` is how many sampled fingerprints have another one within d. */
static void put_row(struct output *output, const struct findings *findings, unsigned d, uint64_t within) {
    const struct idx_cluster_summary *clusters = &findings->levels[d].clusters;
    char digits[HTML_DIGITS];
    output_format(output, "<tr%s><th scope=\"row\">%u</th><td>%s%s</td>", d == findings->k ? " class=\"chosen\"" : "",
                  d, is_estimated(findings, d) ? "≈ " : "", html_digits(digits, estimate_pairs(findings, d)));
    if (d <= findings->k) {
        page_put_cell(output, clusters->clustered - clusters->clusters);
        page_put_cell(output, clusters->clusters);
        page_put_cell(output, clusters->largest_count > 0 ? clusters->largest[0].documents : 0);
        page_put_cell(output, clusters->far);
    } else {
        output_text(output, "<td>–</td><td>–</td><td>–</td><td>–</td>");
    }
    output_format(output, "<td>%.1f %%</td></tr>\n",
                  findings->sampled == 0 ? 0 : 100 * (double)within / (double)findings->sampled);
}

/* Says what the numbers of the table count, and which of them come from the sample. */
static void put_explanation(struct output *output, const struct findings *findings) {
    output_text(output, "<p>At distance 0, pairs are documents whose fingerprint "
                        "an earlier one has; at others, pairs of fingerprints. Documents are far from the kept one "
                        "where chains lead to them.");
    if (findings->farthest > findings->k) {
        output_text(output, " Beyond the distance that was asked for, pairs are ");
        output_text(output, is_estimated(findings, findings->farthest) ? "estimated by comparing a sample of "
                                                                       : "found by comparing all ");
        html_count(output, findings->sampled, "fingerprint");
        output_text(output, " with all.");
    }
    output_text(output, "</p>\n");
}

/* Writes a row for each distance. The last column adds up the sampled fingerprints whose nearest one is no farther. */
static void put_table(struct output *output, const struct findings *findings) {
    uint64_t within = 0;
    output_format(output, "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Distances\"><table>\n"
                          "<caption>What each distance finds</caption>\n<thead><tr><th scope=\"col\">Distance</th>"
                          "<th scope=\"col\">Pairs</th><th scope=\"col\">Dropped with this -k</th>"
                          "<th scope=\"col\">Clusters</th><th scope=\"col\">Largest</th>"
                          "<th scope=\"col\">Far from the kept one</th>"
                          "<th scope=\"col\">Fingerprints with another one within</th></tr></thead>\n<tbody>\n");
    for (unsigned d = 0; d <= findings->farthest; d++) {
        within += findings->levels[d].nearest;
        put_row(output, findings, d, within);
    }
    output_text(output, "</tbody></table></div>\n");
}

/* Writes the section by which a reader chooses -k: pairs at each distance, as a chart and as a table. */
static void put_distances(struct output *output, const struct findings *findings) {
    struct bar bars[FINDINGS_DISTANCES];
    output_text(output, "<section aria-labelledby=\"distances\"><h2 id=\"distances\">Which distance?</h2>\n"
                        "<div class=\"beside\"><div><p>The larger the distance, the fewer pairs are real "
                        "near-duplicates, and the more are near each other by chance: many times more with each bit. "
                        "Choose a <code>-k</code> below the distance at which the numbers begin to grow fast, "
                        "and look at the <a href=\"#pairs\">pairs</a> on both sides of it.</p>\n");
    for (unsigned d = 0; d <= findings->farthest; d++) {
        bars[d] = (struct bar){.value = estimate_pairs(findings, d), .is_estimate = is_estimated(findings, d)};
        snprintf(bars[d].label, sizeof bars[d].label, d == findings->k ? "-k %u" : "%u", d);
    }
    put_explanation(output, findings);
    output_text(output, "</div><div>");
    chart_put(output, "distances-chart", "Number of pairs at each distance",
              "Bars are as long as the logarithm of the number of pairs. The table below has the same numbers.", bars,
              findings->farthest + 1);
    output_text(output, "</div></div>\n");
    put_table(output, findings);
    output_text(output, "</section>\n");
}

/* ---- Clusters ---- */

void page_put_bars(struct output *output, const char *caption, const char *label, const char *value,
                   const struct bar *bars, size_t count) {
    output_format(output,
                  "<details><summary>%s, as a table</summary><table><thead><tr><th scope=\"col\">%s</th>"
                  "<th scope=\"col\">%s</th></tr></thead>\n<tbody>\n",
                  caption, label, value);
    for (size_t i = 0; i < count; i++) {
        output_format(output, "<tr><th scope=\"row\">%s</th>", bars[i].label);
        page_put_cell(output, bars[i].value);
        output_text(output, "</tr>\n");
    }
    output_text(output, "</tbody></table></details>\n");
}

/* Writes how many clusters there are of each size: bar i counts those of 2^i up to 2^(i + 1) - 1 documents. */
static void put_sizes(struct output *output, const struct findings *findings) {
    enum { SIZES = sizeof findings->clusters.sizes / sizeof *findings->clusters.sizes };
    const uint64_t *sizes = findings->clusters.sizes;
    struct bar bars[SIZES];
    size_t last = 0; /* Bar 0 stays out: it would be of documents in no cluster. */
    for (size_t i = 1; i < SIZES; i++) {
        bars[i] = (struct bar){.value = sizes[i]};
        snprintf(bars[i].label, sizeof bars[i].label, "%llu–%llu", 1ULL << i, (2ULL << i) - 1);
        if (sizes[i] > 0) last = i;
    }
    if (last == 0) return;
    chart_put(output, "sizes-chart", "Clusters of each size",
              "Bars are as long as the logarithm of the number of clusters.", bars + 1, last);
    page_put_bars(output, "Clusters of each size", "Documents", "Clusters", bars + 1, last);
}

/* Writes how many documents were dropped at each distance from their representatives, up to the largest one. */
static void put_dropped(struct output *output, const struct findings *findings) {
    struct bar bars[IDX_MAX_BITS + 1];
    size_t count = 0;
    for (size_t i = 0; i <= IDX_MAX_BITS; i++) {
        bars[i] = (struct bar){.value = findings->distances[i]};
        snprintf(bars[i].label, sizeof bars[i].label, "%zu", i);
        if (findings->distances[i] > 0) count = i + 1;
    }
    if (count == 0) return;
    chart_put(output, "far-chart", "Dropped documents by their distance from the one that is kept",
              "Bars are as long as the logarithm of the number of documents.", bars, count);
    page_put_bars(output, "Dropped documents by distance", "Distance", "Documents", bars, count);
}

static void put_clusters(struct output *output, const struct findings *findings) {
    output_text(output, "<section aria-labelledby=\"clusters\"><h2 id=\"clusters\">Clusters</h2>\n");
    if (findings->clusters.clusters == 0) output_text(output, "<p>There are none of two or more documents.</p>\n");
    output_text(output, "<div class=\"beside\"><div>");
    put_sizes(output, findings);
    output_text(output, "</div><div>");
    if (findings_by_distance(findings))
        put_dropped(output, findings);
    else
        page_put_dropped(output, findings);
    output_text(output, "</div></div></section>\n");
}

/* ---- Bits ---- */

static void put_bits(struct output *output, const struct findings *findings) {
    unsigned bits = findings->properties.bits;
    uint64_t dead = 0;
    output_text(output, "<section aria-labelledby=\"bits\"><h2 id=\"bits\">Bits of the fingerprints</h2>\n"
                        "<div class=\"beside\"><div><p>");
    html_count(output, findings->fingerprints, "distinct fingerprint");
    output_text(output, ". Dead, which is the same in all of them: ");
    for (unsigned bit = 0; bit < bits; bit++) {
        uint64_t ones = findings->ones[bit];
        if (ones == 0 || ones == findings->fingerprints) dead |= (uint64_t)1 << bit;
    }
    html_bits(output, dead);
    output_text(output, ".</p>\n");
    if (dead > 0 && findings->fingerprints > 1)
        output_text(output, "<p>They say nothing, so that distances are those of fewer bits: with many dead bits, "
                            "unrelated documents are near each other by chance.</p>\n");
    output_text(output, "</div><div>");
    if (findings->fingerprints > 0)
        chart_put_bits(output, "How often each bit is 1; the line is one half", findings->ones, bits,
                       findings->fingerprints);
    output_text(output, "</div></div></section>\n");
}

/* ---- All ---- */

bool page_put(struct output *output, const struct findings *findings, const struct page_origin *origin) {
    put_head(output, findings, origin);
    put_summary(output, findings, origin);
    const bool by_distance = findings_by_distance(findings);
    if (by_distance)
        put_distances(output, findings);
    else
        page_put_levels(output, findings);
    put_clusters(output, findings);
    bool ok = page_put_pairs(output, findings);
    if (by_distance) {
        page_put_chains(output, findings);
        put_bits(output, findings);
    }
    output_text(output, "</main>\n</body>\n</html>\n");
    if (ok && output->error != 0) complain("out of memory");
    return ok && output->error == 0;
}
