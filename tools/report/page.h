/* page.h: writes the report as one page of HTML that needs no other file. */
#ifndef IDX_TOOLS_REPORT_PAGE_H
#define IDX_TOOLS_REPORT_PAGE_H

#include "tools/report/findings.h"
#include "tools/report/html.h"

/* What the page says of how it was made. */
struct page_origin {
    const char *command; /* idx dedup or idx clusters. */
    const char *representative;

    /* Of fingerprints that are compared by their distance. */
    char recipe[IDX_MAX_RECIPE_BYTES + 1]; /* "": not known. */
    const char *method;

    /* Of texts that are compared by their resemblance. */
    const char *against; /* What --against names, or NULL. */
    struct idx_text_shingle_options shingling;
    const char *ignore_common; /* The argument of --ignore-common, or NULL. */
};

/* Every report begins with this text, by which report.c recognizes the files that it may replace. */
extern const char page_begin[];

/* The style sheet of the page, which the build makes of style.css. */
extern const char page_style[];

/* Appends the page to an output in memory. If the findings have no thresholds, documents were compared by the
 * distance of their fingerprints, and the page has sections of distances, chains and bits. */
bool page_put(struct output *output, const struct findings *findings, const struct page_origin *origin);

void page_put_cell(struct output *output, uint64_t number);

/* Writes the bars of a chart as a table, for those who can't see the chart. */
void page_put_bars(struct output *output, const char *caption, const char *label, const char *value,
                   const struct bar *bars, size_t count);

/* page_levels.c has what differs where documents are compared by their resemblance: the section by which a reader
 * chooses the threshold, and the chart of what was dropped. */
void page_put_levels(struct output *output, const struct findings *findings);
void page_put_dropped(struct output *output, const struct findings *findings);

/* Returns a share in units of 1/IDX_THRESHOLD_ONE, such as a threshold, as a fraction up to 1. */
double page_fraction(int64_t share);

/* Sets and returns the name of a level by resemblance: its bounds with `to` in between, or "1", or "contained". */
enum { PAGE_LEVEL = 24 };
const char *page_name_level(char name[PAGE_LEVEL], const struct findings *findings, size_t level, const char *to);

/* page_pairs.c has the sections that show pairs, and chains of pairs. Each call appends its section to the output. */
bool page_put_pairs(struct output *output, const struct findings *findings);
void page_put_chains(struct output *output, const struct findings *findings);

#endif
