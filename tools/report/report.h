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
    uint64_t *wanted;       /* A bit for each document that was compared, set if its text is to be read. */
    struct scratch scratch; /* The page is written here first. */
};

/* Checks, before all the work, that the page can be written at report->path: nothing is there yet, or a report, which
 * it will replace. Complains and returns false if not. */
bool report_check(const struct report *report);

/* Notes the next document of the listing's clusters, with its distance from the representative. All documents of a
 * cluster must come together. */
void report_add_member(struct report *report, const struct idx_cluster_member *member);

/* Finds in the index what the page says. Call this after report_add_member was called for all documents. Returns false
 * after a complaint, or if a signal was noted. */
bool report_gather_by_distance(struct report *report, const struct idx_index *index);

/* Finds what the page says where documents are compared by resemblance: asks `resemble` about other thresholds than its
 * own. Returns false after a complaint, or if a signal was noted. */
bool report_gather_by_resemblance(struct report *report, struct resemble *resemble);

/* Adds to the findings how many documents and bytes of the inputs were kept and dropped, by the journal of the intake.
 * `dropped_bits` has a bit for each document that was compared. Call this after report_gather_by_resemblance. Complains
 * and returns false if the journal can't be read. */
bool report_count_inputs(struct report *report, struct intake *intake, const uint64_t *dropped_bits);

/* Reads the inputs again for the texts of the documents that are shown, and stores copies of them, by the rules of the
 * first reading. Call this after report_gather_by_resemblance. Returns false after a complaint, or if a signal was
 * noted. */
bool report_read_texts(struct report *report, struct intake *intake, const struct reading_rules *rules);

/* Writes the page to the disk, into a scratch folder beside report->path. Returns false after a complaint, or if a
 * signal was noted. */
bool report_write(struct report *report);

/* Moves the page that report_write wrote to report->path, and syncs the folder there. Complains and returns false if
 * that fails. */
bool report_publish(const struct report *report);

/* Removes the scratch folder, with a page that was written but not published, and frees the findings. May be called for
 * a report that is all zero. */
void report_close(struct report *report);

#endif
