/* page_pairs.c: writes the sections that show pairs, and chains of pairs. */
#include "tools/report/excerpt.h"
#include "tools/report/page.h"

#include <stdio.h>
#include <string.h>

/* ---- A pair ---- */

/* Returns whether two texts are equal, as far as they are stored. */
static bool are_equal(const struct shown *two) {
    return two[0].text_length == two[1].text_length && memcmp(two[0].text, two[1].text, two[0].text_length) == 0;
}

static bool is_whole(const struct shown *shown) { return shown->text_length == shown->text_bytes; }

/* Rounds a share down to hundredths, so that it is 1 only if all is shared. 1e-9 is added because 0.29 is a little less
 * as a binary fraction, but shall stay 0.29. */
static double round_share(double share) { return (double)(unsigned)(share * 100 + 1e-9) / 100; }

static void put_measures(struct output *output, const struct shown *two) {
    output_format(output, "; resemblance %.2f", round_share(two->resemblance));
    if (two->contained > 0) output_format(output, ", contained %.2f", round_share(two->contained));
}

/* Writes how many words of two texts differ, and how much is shared unless all is. */
static void put_verdict(struct output *output, const struct excerpt *excerpt) {
    const struct side *a = &excerpt->sides[0], *b = &excerpt->sides[1];
    const bool has_equal_words = a->differing + b->differing == 0;
    const char *how_far = is_whole(a->shown) && is_whole(b->shown) ? "" : " as far as they are compared";
    char digits[HTML_DIGITS];
    if (are_equal(a->shown)) {
        output_format(output, "the texts are equal%s", how_far);
    } else if (has_equal_words) {
        output_format(output, "the words are equal%s, ", how_far);
        html_count(output, a->count, "word");
    } else {
        output_format(output, "%s of ", html_digits(digits, a->differing));
        html_count(output, a->count, "word");
        output_format(output, " and %s of ", html_digits(digits, b->differing));
        output_format(output, "%s differ", html_digits(digits, b->count));
    }
    if (!has_equal_words || a->shown->resemblance < 1) put_measures(output, a->shown);
}

/* Writes two texts side by side, in an element that readers open and close, and that is open at first if `open` says
 * so. */
static bool put_pair(struct output *output, const struct findings *findings, const struct shown *two, bool open) {
    struct excerpt excerpt = {.sides = {{.count = 0}}};
    bool ok = excerpt_make(&excerpt, two);
    output_format(output, "<details class=\"pair\"%s><summary>", open ? " open" : "");
    html_id(output, findings, &two[0]);
    output_text(output, " and ");
    html_id(output, findings, &two[1]);
    output_text(output, ": ");
    if (ok) put_verdict(output, &excerpt);
    output_text(output, "</summary>\n");
    output_text(output, "<div class=\"two\">\n");
    for (size_t i = 0; i < 2 && ok; i++) {
        output_text(output, "<div><h4>");
        html_id(output, findings, &two[i]);
        output_text(output, "</h4>\n<p dir=\"auto\">");
        excerpt_put(output, &excerpt, i);
        output_text(output, "</p></div>\n");
    }
    output_text(output, "</div></details>\n");
    excerpt_free(&excerpt);
    return ok;
}

static bool have_texts(const struct shown *two) { return two[0].text != NULL && two[1].text != NULL; }

static void put_row(struct output *output, const struct findings *findings, const struct shown *two) {
    output_text(output, "<tr><td class=\"text\">");
    html_id(output, findings, &two[0]);
    output_text(output, "</td><td class=\"text\">");
    html_id(output, findings, &two[1]);
    if (findings_by_distance(findings)) {
        output_text(output, "</td><td>");
        html_fingerprint(output, findings, two[0].fingerprint);
        output_text(output, "</td><td>");
        html_fingerprint(output, findings, two[1].fingerprint);
        output_text(output, "</td><td class=\"text\">");
        html_bits(output, two[0].fingerprint ^ two[1].fingerprint);
    } else {
        output_format(output, "</td><td>%.2f", round_share(two[0].resemblance));
        if (findings->contained > 0) output_format(output, "</td><td>%.2f", round_share(two[0].contained));
    }
    output_text(output, "</td></tr>\n");
}

/* Lists the pairs of a level whose texts are not known. */
static void put_table(struct output *output, const struct findings *findings, const struct level *level) {
    output_text(output, "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"pairs\"><table>"
                        "<thead><tr><th scope=\"col\" class=\"text\">Document</th>"
                        "<th scope=\"col\" class=\"text\">Near-duplicate</th>");
    if (findings_by_distance(findings))
        output_text(output, "<th scope=\"col\">Fingerprint</th><th scope=\"col\">Fingerprint</th>"
                            "<th scope=\"col\" class=\"text\">Bits that differ</th>");
    else
        output_text(output, "<th scope=\"col\">Resemblance</th>");
    if (findings->contained > 0) output_text(output, "<th scope=\"col\">Contained</th>");
    output_text(output, "</tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < level->shown_count; i++) put_row(output, findings, level->shown[i].documents);
    output_text(output, "</tbody></table></div>\n");
}

/* ---- All pairs ---- */

/* Writes the heading of the pairs of a level: of one distance, or from one threshold to the next. */
static void put_heading(struct output *output, const struct findings *findings, size_t level) {
    char name[PAGE_LEVEL];
    const bool has_threshold = findings->levels[findings->asked_level].threshold > 0;
    const char *beyond = has_threshold ? ", below <code>--resemble</code>" : ", only with <code>--resemble</code>";
    if (level < findings_first_level(findings))
        output_format(output, "<h3 id=\"level-0\">Contained %.4g or more</h3>\n", page_fraction(findings->contained));
    else if (!findings_by_distance(findings))
        output_format(output, "<h3 id=\"level-%zu\">Resemblance %s%s</h3>\n", level,
                      page_name_level(name, findings, level, " to "), level > findings->asked_level ? beyond : "");
    else
        output_format(output, "<h3 id=\"distance-%zu\">Distance %zu%s</h3>\n", level, level,
                      level > findings->k ? ", beyond <code>-k</code>" : "");
}

/* Says which pairs the first section has, and the others don't. */
static void put_contained(struct output *output, const struct findings *findings) {
    const double share = page_fraction(findings->contained);
    output_format(output,
                  "<p>All pairs, whatever their resemblance, where both have %.4g or more of the shingles of the text "
                  "that has fewer. The sections below have only the others. Pairs whose resemblance is below %.4g come "
                  "first here.</p>\n",
                  share, share);
}

/* Writes the pairs of level `which`: those with texts side by side, or a table where there are no texts. */
static bool put_level(struct output *output, const struct findings *findings, size_t which) {
    const struct level *level = &findings->levels[which];
    bool ok = true;
    put_heading(output, findings, which);
    if (which < findings_first_level(findings)) put_contained(output, findings);
    for (size_t i = 0; i < level->shown_count && ok && findings->has_inputs; i++)
        if (have_texts(level->shown[i].documents)) ok = put_pair(output, findings, level->shown[i].documents, i == 0);
    if (!findings->has_inputs && level->shown_count > 0) put_table(output, findings, level);
    if (level->shown_count == 0) output_text(output, "<p>None were found.</p>\n");
    return ok;
}

bool page_put_pairs(struct output *output, const struct findings *findings) {
    const bool by_distance = findings_by_distance(findings);
    const size_t levels = by_distance ? findings->farthest + 1 : findings->threshold_count;
    bool ok = true;
    output_format(output,
                  "<section aria-labelledby=\"pairs\"><h2 id=\"pairs\">Pairs to look at</h2>\n<p>Up to %d pairs "
                  "are shown of each %s, chosen at random, but the same in every run.%s</p>\n",
                  FINDINGS_PAIRS,
                  by_distance               ? "distance"
                  : findings->contained > 0 ? "section"
                                            : "tenth",
                  by_distance ? " Of documents that share a fingerprint, the first is shown." : "");
    if (!by_distance) {
        output_text(output, "<p>");
        if (findings->has_inputs)
            output_text(output, "Words that only the first text has are marked <del>like this</del>, and those that "
                                "only the second has <ins>like this</ins>. Upper and lower case count as equal. Bytes "
                                "that can’t be shown are written as <span class=\"byte\">\\xNN</span>. ");
        output_text(output, "Resemblance is the share of shingles, such as runs of five words, that both texts have, "
                            "of all that either has, as <code>--resemble</code> counts it.");
        if (findings->contained > 0)
            output_text(output, " Contained is their share of the shingles of the text that has fewer.");
        output_text(output, "</p>\n");
    }
    for (size_t i = 0; i < levels && ok; i++) ok = put_level(output, findings, i);
    output_text(output, "</section>\n");
    return ok;
}

/* ---- Chains ---- */

/* Writes step i of a chain, and before the second half how many steps between the halves are not shown. */
static void put_step(struct output *output, const struct findings *findings, const struct chain *chain, size_t i) {
    const struct step *step = &chain->steps[i];
    char digits[HTML_DIGITS];
    const size_t half = FINDINGS_STEPS / 2, left_out = chain->length - chain->step_count;
    if (i == half && left_out > 0) {
        output_text(output, "<tr><td colspan=\"4\" class=\"text\">… ");
        html_count(output, left_out, "more document");
        output_text(output, " …</td></tr>\n");
    }
    output_format(output, "<tr><td>%s</td><td class=\"text\">", html_digits(digits, i < half ? i : i + left_out));
    html_id(output, findings, &step->document);
    output_text(output, "</td><td>");
    html_fingerprint(output, findings, step->fingerprint);
    output_format(output, "</td><td>%u</td></tr>\n", step->distance);
}

/* Writes a chain as a table. */
static void put_chain(struct output *output, const struct findings *findings, size_t which) {
    const struct chain *chain = &findings->chains[which];
    char digits[HTML_DIGITS];
    output_format(output, "<h3>Chain %zu: ", which + 1);
    html_count(output, chain->ends.size.documents, "document");
    output_format(output,
                  "</h3>\n<p>%s of them differ from the representative in more than %u %s, the farthest in %u.</p>\n",
                  html_digits(digits, chain->ends.size.far), findings->k, findings->k == 1 ? "bit" : "bits",
                  chain->ends.distance);
    if (chain->length == 0) {
        output_text(output, "<p>The cluster is so large that the way to the farthest was not followed.</p>\n");
    } else {
        output_text(output, "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"chain\"><table><caption>"
                            "The shortest way from the representative to the farthest document, each step a "
                            "near-duplicate</caption>\n<thead><tr><th scope=\"col\">Step</th><th scope=\"col\" "
                            "class=\"text\">Document</th><th scope=\"col\">Fingerprint</th><th scope=\"col\">Bits from "
                            "the representative</th></tr></thead>\n<tbody>\n");
        for (size_t i = 0; i < chain->step_count; i++) put_step(output, findings, chain, i);
        output_text(output, "</tbody></table></div>\n");
    }
}

void page_put_chains(struct output *output, const struct findings *findings) {
    output_text(output, "<section aria-labelledby=\"chains\"><h2 id=\"chains\">The largest chains</h2>\n");
    if (findings->chain_count == 0)
        output_text(output, "<p>There are none: every document in a cluster is within the distance of the one that is "
                            "kept.</p>\n");
    else
        output_text(output,
                    "<p>Near-duplicates of near-duplicates are in one cluster, whose ends may have little in "
                    "common. A smaller <code>-k</code> chains less; <code>--method star</code> doesn’t, nor does "
                    "<code>idx dedup</code>, which compares texts.</p>\n");
    for (size_t i = 0; i < findings->chain_count; i++) put_chain(output, findings, i);
    output_text(output, "</section>\n");
}
