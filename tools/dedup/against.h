/* against.h: the texts that `idx dedup --against` names, which were kept before. New documents are compared with these
 * before they are compared with each other. */
#ifndef IDX_TOOLS_DEDUP_AGAINST_H
#define IDX_TOOLS_DEDUP_AGAINST_H

#include "tools/documents/reading.h"
#include "tools/resemblance/resemble.h"

/* Opens the index at `path`, and sets *shingling to that of its texts; but if `is_shingle_given`, --shingle has set it,
 * and must agree. If `path` is NULL or no index, does nothing: *index, which the caller has set to NULL, stays so.
 * Returns false after a complaint, as for an index of fingerprints. The caller closes *index even then. */
bool against_open(struct idx_index **index, const char *path, bool is_shingle_given,
                  struct idx_text_shingle_options *shingling);

/* Adds the texts of the index, or if that is NULL, of the file or folder at `path`, to `resemble`, as its known ones.
 * Returns false after a complaint, or if a signal was noted. */
bool against_read(const struct idx_index *index, const char *path, const struct reading_rules *rules,
                  struct resemble *resemble);

#endif
