/* index_making.h: what the commands that make indexes have in common: what a build is expected to take, how documents
 * are added, and what is said of the index that was made. */
#ifndef IDX_TOOLS_INDEX_MAKING_H
#define IDX_TOOLS_INDEX_MAKING_H

#include "tools/input/input.h"
#include "tools/input/tsv.h"
#include "tools/shared/progress.h"

#include <idx.h>

/* Says what a build is expected to take where `shown`, and warns in any case where a file system has less space free.
 * `output` is the path of the index that will be made. */
void forecast(const struct idx_build_options *options, const char *output, const struct input_size *size, bool shown);

/* Complains of what ended a build or a merge; but a signal that was noted needs no words. */
void making_failed(const struct idx_error *error);

/* Adds a document. Returns false after a complaint. */
bool making_add(struct idx_builder *builder, enum idx_id_type id_type, const struct tsv_record *record);

/* Says of the index at `path`: where progress is shown, how large it is and what it took; which folders
 * of killed builds were removed; what is odd about its fingerprints. */
void making_report(const char *path, const struct idx_build_summary *summary, const struct progress *progress);

#endif
