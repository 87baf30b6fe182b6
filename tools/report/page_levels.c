/* page_levels.c: writes what differs where documents are compared by their resemblance: the section by which a reader
 * chooses the threshold, and the chart of how much what was dropped resembles what is kept. */
#include "tools/report/page.h"

#include <stdio.h>

double page_fraction(int64_t share) { return (double)share / (double)IDX_THRESHOLD_ONE; }

const char *page_name_level(char name[PAGE_LEVEL], const struct findings *findings, size_t level, const char *to) {
    const size_t first = findings_first_level(findings);
    if (level <= first)
        snprintf(name, PAGE_LEVEL, level < first ? "contained" : "1");
    else
        snprintf(name, PAGE_LEVEL, "%.4g%s%.4g", page_fraction(findings->levels[level].threshold), to,
                 page_fraction(findings->levels[level - 1].threshold));
    return name;
}

/* Writes a number, which is marked as an estimate unless it is exact, as a cell of a table. */
static void put_maybe_estimate(struct output *output, uint64_t number, bool is_exact) {
    char digits[HTML_DIGITS];
    output_format(output, "<td>%s%s</td>", is_exact ? "" : "≈ ", html_digits(digits, number));
}

/* Writes the row of level i; `pairs` are those of this level and all before it. What was dropped with the threshold
 * that was asked for is never an estimate. */
static void put_row(struct output *output, const struct findings *findings, size_t i, uint64_t pairs) {
    const struct level *level = &findings->levels[i];
    const bool is_asked = i == findings->asked_level, is_decided = i < findings->decided_count || is_asked;
    output_format(output, "<tr%s><th scope=\"row\">", is_asked ? " class=\"chosen\"" : "");
    if (level->threshold > 0)
        output_format(output, "%.4g</th>", page_fraction(level->threshold));
    else
        output_text(output, "none</th>");
    put_maybe_estimate(output, pairs, i < findings->exact_count);
    put_maybe_estimate(output, level->dropped, is_decided);
    if (is_decided) {
        page_put_cell(output, level->clusters.clusters);
        page_put_cell(output, level->largest);
    } else {
        output_text(output, "<td>–</td><td>–</td>");
    }
    output_text(output, "</tr>\n");
}

static void put_table(struct output *output, const struct findings *findings) {
    uint64_t pairs = 0;
    output_format(output,
                  "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Thresholds\"><table>\n"
                  "<caption>What each T finds</caption>\n<thead><tr><th scope=\"col\" class=\"text\">T</th>"
                  "<th scope=\"col\">Pairs of T or more%s</th><th scope=\"col\">Dropped with this T</th>"
                  "<th scope=\"col\">Clusters</th><th scope=\"col\">Largest</th></tr></thead>\n<tbody>\n",
                  findings->contained > 0 ? ", or contained" : "");
    for (size_t i = 0; i < findings->threshold_count; i++) {
        pairs += findings->levels[i].pairs;
        put_row(output, findings, i, pairs);
    }
    output_text(output, "</tbody></table></div>\n");
}

/* Says which numbers are estimates, and why, if there are any. */
static void put_sampling(struct output *output, const struct findings *findings) {
    if (findings->exact_count == findings->threshold_count) return;
    output_text(output, "<p>≈ marks estimates from a sample: ");
    html_count(output, findings->sampled, "document");
    output_text(output, ", compared with each other. ");
    if (findings->levels[findings->exact_count].threshold > 0)
        output_format(output, "From T = %.4g down", page_fraction(findings->levels[findings->exact_count].threshold));
    else
        output_text(output, "Even without T");
    output_text(output, ", there are more pairs of all documents than ");
    output_text(output, "<code>--memory</code> allows, or finding them would take long.");
    if (findings->decided_count < findings->threshold_count)
        output_text(output, " So would finding what is dropped: documents have fewer near-duplicates in a sample than "
                            "among all, so that these estimates are low.");
    output_text(output, "</p>\n");
}

/* Says what changes where texts that are contained in others are dropped, too. */
static void put_contained(struct output *output, const struct findings *findings) {
    if (findings->contained == 0) return;
    const double share = page_fraction(findings->contained);
    char digits[HTML_DIGITS];
    output_format(output,
                  "<p>Each row is of <code>--resemble T</code> together with <code>--contained %.4g</code>, the first "
                  "one of <code>--contained</code> alone. So pairs are also those where both have %.4g or more of the "
                  "shingles of the text that has fewer, if it has %s or more (<code>--min-words</code>). Look at "
                  "<a href=\"#level-0\">those pairs</a>, too: what only one of two texts has is lost if the other is "
                  "kept.</p>\n",
                  share, share, html_digits(digits, findings->contained_size));
}

void page_put_levels(struct output *output, const struct findings *findings) {
    struct bar bars[FINDINGS_THRESHOLDS];
    output_text(output,
                "<section aria-labelledby=\"levels\"><h2 id=\"levels\">Which T?</h2>\n<div class=\"beside\"><div>"
                "<p><code>--resemble T</code> drops a document that resembles a kept one by T or more. The lower T is, "
                "the more documents are dropped that share no more than a licence, a menu or a form. Look at the "
                "<a href=\"#pairs\">pairs</a>: choose the lowest T above which they are near-duplicates to you.</p>\n"
                "<p>Pairs are those of documents whose texts differ in some run of words, and of each further copy "
                "with the first.</p>\n");
    put_contained(output, findings);
    put_sampling(output, findings);
    output_text(output, "</div><div>");
    for (size_t i = 0; i < findings->threshold_count; i++) {
        bars[i] = (struct bar){.value = findings->levels[i].pairs, .is_estimate = i >= findings->exact_count};
        page_name_level(bars[i].label, findings, i, "–");
    }
    chart_put(output, "levels-chart", "Number of pairs by resemblance",
              "Bars are as long as the logarithm of the number of pairs. The table below has their sums.", bars,
              findings->threshold_count);
    output_text(output, "</div></div>\n");
    put_table(output, findings);
    output_text(output, "</section>\n");
}

/* Contained documents are dropped whatever their resemblance, and are counted behind the last level if it is less. */
void page_put_dropped(struct output *output, const struct findings *findings) {
    const size_t last = findings->contained > 0 ? findings->threshold_count : findings->asked_level;
    struct bar bars[FINDINGS_THRESHOLDS];
    uint64_t all = 0;
    size_t count = 0;
    for (size_t i = findings_first_level(findings); i <= last; i++) {
        bars[count] = (struct bar){.value = findings->distances[i]};
        page_name_level(bars[count++].label, findings, i, "–");
        all += findings->distances[i];
    }
    if (all == 0) return;
    chart_put(output, "dropped-chart", "Dropped documents by their resemblance to the one that is kept",
              "Bars are as long as the logarithm of the number of documents.", bars, count);
    page_put_bars(output, "Dropped documents by resemblance", "Resemblance", "Documents", bars, count);
}
