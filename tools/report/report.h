/* report.h: `--report`: a page about the near-duplicates of an index and of what it was made from, for somebody who is
 * to decide which to drop. */
#ifndef IDX_TOOLS_REPORT_H
#define IDX_TOOLS_REPORT_H

#include "tools/answers/cluster_listing.h"
#include "tools/dedup/intake.h"
#include "tools/report/page.h"
#include "tools/shared/scratch.h"
#include "tools/text/pipeline.h"

struct report {
    const char *path;              /* where it will be; NULL: it isn't asked for */
    const struct listing *listing; /* of the clusters */
    struct page_origin origin;

    /* Within. */
    struct findings findings;
    char recipe[IDX_MAX_RECIPE_BYTES + 1]; /* of the index */
    uint64_t *wanted;                      /* a bit for each document that was compared: its text is shown */
    struct scratch scratch;                /* where it is written */
};

/* Whether it can be written: a file at its path is replaced only if it is a report. False after a complaint. */
bool report_check(const struct report *report);

/* Takes the next document of the clusters that are asked for. */
void report_note(struct report *report, const struct idx_cluster_member *member);

/* Goes through the index, once its clusters are listed. False after a complaint, or where a signal was noted. */
bool report_gather(struct report *report, const struct idx_index *index);

/* Adds what is known of the inputs: `dropped` has a bit for each document that was compared; and so has
 * `known`, unless it is NULL, of those that the other index has. */
bool report_count(struct report *report, struct intake *intake, const uint64_t *dropped, const uint64_t *known);

/* Reads the texts that are shown once more, by the journal. False after a complaint, or where a signal was noted. */
bool report_read_texts(struct report *report, struct intake *intake, const struct pipeline_rules *rules);

/* Writes it beside its place, up to the disk. False after a complaint, or where a signal was noted. */
bool report_write(struct report *report);

/* Puts what was written in its place. False after a complaint. */
bool report_publish(const struct report *report);

/* Removes what was not published. */
void report_close(struct report *report);

#endif
