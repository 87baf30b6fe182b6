/* against.h: the texts that `idx dedup --against` names, which were kept before. New documents are compared with these
 * before they are compared with each other. */
#ifndef IDX_TOOLS_DEDUP_AGAINST_H
#define IDX_TOOLS_DEDUP_AGAINST_H

#include "tools/documents/reading.h"
#include "tools/resemblance/resemble.h"

/* Opens the index at `path`, if that is one of texts; otherwise *index stays as it is, which is NULL. Sets the
 * shingling to that of the index; but if `is_shingle_given`, --shingle has set it, and must agree. Refuses an index
 * without sets. The path may be NULL. Returns false after a complaint. The caller closes *index even then. */
bool against_open(struct idx_index **index, const char *path, bool is_shingle_given,
                  struct idx_text_shingle_options *shingling);

/* Adds the texts of the index, or of the file or folder at `path`, to `resemble`, as known ones. Returns false also if
 * a signal was noted. */
bool against_read(const struct idx_index *index, const char *path, const struct reading_rules *rules,
                  struct resemble *resemble);

#endif
