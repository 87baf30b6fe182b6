/* page.h: writes the report as one page of HTML that needs no other file. */
#ifndef IDX_TOOLS_REPORT_PAGE_H
#define IDX_TOOLS_REPORT_PAGE_H

#include "tools/report/findings.h"
#include "tools/shared/json.h"

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

/* Appends the whole page to an output without a file. Complains and returns false if memory ran out. */
bool page_write(struct output *output, const struct findings *findings, const struct page_origin *origin);

/* Returns the data of the page, a JSON object made of the findings, which the caller releases. Returns NULL, without a
 * complaint, if memory ran out. In data.c. */
json_t *data_pack_findings(const struct findings *findings, const struct page_origin *origin);

#endif
