/* against.h: the texts that `idx dedup --against` names, which were kept before. New documents are compared with these
 * before they are compared with each other. */
#ifndef IDX_TOOLS_DEDUP_AGAINST_H
#define IDX_TOOLS_DEDUP_AGAINST_H

#include "tools/dedup/resemble.h"
#include "tools/text/pipeline.h"

/* Refuses an index, which has no texts. The path may be NULL. */
bool against_check(const char *path);

/* Adds the texts of the file or folder at `path` to `resemble`, as known ones. Returns false also if a signal was
 * noted. */
bool against_read_texts(const char *path, const struct pipeline_rules *rules, struct resemble *resemble);

#endif
