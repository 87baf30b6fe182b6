/* report.h: the report of `idx dedup` and `idx clusters`, from its options to its file. */
#ifndef IDX_TOOLS_REPORT_REPORT_H
#define IDX_TOOLS_REPORT_REPORT_H

#include "tools/documents/reading.h"
#include "tools/report/page.h"
#include "tools/shared/scratch.h"

struct report {
    const char *path;              /* Where the page will be; NULL: no report is asked for. */
    const struct listing *listing; /* The listing of the same clusters. */
    struct page_origin origin;

    /* The caller does not touch these. */
    struct findings findings;
    uint64_t *wanted;       /* A bit for each document that was compared: its text is to be read. */
    struct scratch scratch; /* The page is written here first. */
};

/* Checks, before all the work, that the page can be written at its path, where only a report is replaced. Returns false
 * after a complaint. */
bool report_check(const struct report *report);

/* Notes the next document of the listing's clusters, with its distance. */
void report_add_member(struct report *report, const struct idx_cluster_member *member);

/* Finds in the index what the page says, once the clusters are listed. Returns false also if a signal was noted. */
bool report_gather(struct report *report, const struct idx_index *index);

/* Finds what the page says where documents are compared by resemblance: asks `resemble` about other thresholds than its
 * own. Returns false also if a signal was noted. */
bool report_gather_levels(struct report *report, struct resemble *resemble);

/* Adds how much of the inputs was kept and dropped; `dropped` has a bit for each document that was compared. Returns
 * false, after a complaint, if the journal can't be read. */
bool report_count_inputs(struct report *report, struct intake *intake, const uint64_t *dropped);

/* Reads again the texts that are shown. Returns false also if a signal was noted. */
bool report_read_texts(struct report *report, struct intake *intake, const struct reading_rules *rules);

/* Writes the page to the disk, beside its place. Returns false also if a signal was noted. */
bool report_write(struct report *report);

/* Moves the page to its place. Returns false after a complaint. */
bool report_publish(const struct report *report);

/* Removes a page that was not published, and frees the findings. */
void report_close(struct report *report);

#endif
