/* page.h: writes the report as one page of HTML that needs no other file. */
#ifndef IDX_TOOLS_PAGE_H
#define IDX_TOOLS_PAGE_H

#include "tools/report/findings.h"
#include "tools/shared/output.h"

/* The page says that it was made in this way. */
struct page_origin {
    const char *command; /* It is idx dedup or idx clusters. */
    const char *recipe;  /* "": it is not known; NULL: the index has it. */
    const char *method, *representative;
    const char *threshold; /* --confirm has it; NULL: --confirm was not given. */
    const char *against;   /* It is the path of an index, or NULL. */
    bool of_index;         /* Only an index was read: nothing is known of inputs. */
};

/* Every report begins with this text. */
extern const char page_begin[];

/* Appends the page to an output that is kept. Returns false after a complaint. */
bool page_put(struct output *output, const struct findings *findings, const struct page_origin *origin);

/* page_pairs.c has the sections that show pairs, and chains of pairs. Each call appends its section to the output, and
 * returns false after a complaint. */
bool page_put_pairs(struct output *output, const struct findings *findings);
bool page_put_chains(struct output *output, const struct findings *findings);

#endif
