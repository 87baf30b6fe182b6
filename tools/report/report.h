/* report.h: makes the page of `--report` about the near-duplicates of an index and of its inputs, for somebody who
 * decides which ones to drop. */
#ifndef IDX_TOOLS_REPORT_H
#define IDX_TOOLS_REPORT_H

#include "tools/answers/cluster_listing.h"
#include "tools/dedup/dedup.h"
#include "tools/report/page.h"
#include "tools/shared/files.h"
#include "tools/text/text.h"

struct report {
    const char *path;              /* The page will be here; NULL: no report is asked for. */
    const struct listing *listing; /* It lists the clusters. */
    struct page_origin origin;

    /* The caller does not touch these. */
    struct findings findings;
    char recipe[IDX_MAX_RECIPE_BYTES + 1]; /* It is the recipe of the index. */
    uint64_t *wanted;       /* It has a bit for each document that was compared, which is set if its text is shown. */
    struct scratch scratch; /* The page is written here first. */
};

/* Checks whether the page can be written at its path, where only a report is replaced. Returns false after a
 * complaint. */
bool report_check(const struct report *report);

/* Notes the next document of the clusters that are asked for. */
void report_note(struct report *report, const struct idx_cluster_member *member);

/* Goes through the index, once its clusters are listed. Returns false after a complaint, and where a signal was
 * noted. */
bool report_gather(struct report *report, const struct idx_index *index);

/* Adds what is known of the inputs. `dropped` has a bit for each document that was compared. So has `known`, which may
 * be NULL, for those that the other index has. Returns false after a complaint. */
bool report_count(struct report *report, struct intake *intake, const uint64_t *dropped, const uint64_t *known);

/* Reads the texts that are shown again, by the journal. Returns false after a complaint, and where a signal was
 * noted. */
bool report_read_texts(struct report *report, struct intake *intake, const struct pipeline_rules *rules);

/* Writes the page to the disk, beside its place. Returns false after a complaint, and where a signal was noted. */
bool report_write(struct report *report);

/* Moves the page to its place. Returns false after a complaint. */
bool report_publish(const struct report *report);

/* Removes a page that was not published. */
void report_close(struct report *report);

#endif
