/* against.h: the texts that `idx dedup --against` names, which were kept before. New documents are compared with these
 * before they are compared with each other. */
#ifndef IDX_TOOLS_DEDUP_AGAINST_H
#define IDX_TOOLS_DEDUP_AGAINST_H

#include "tools/documents/reading.h"
#include "tools/resemblance/resemble.h"

/* Opens the index at `path`, and sets *shingling to the shingles of its texts. If `is_shingle_given`, --shingle has set
 * *shingling, which must agree. If `path` is NULL, or a file or folder that is no index, does nothing: *index, which
 * the caller has set to NULL, stays so. Returns false, after a complaint, if nothing is at `path`, if the index can't
 * be opened, if it is one of fingerprints, or if the shingles differ. The caller closes *index even then. */
bool against_open_index(struct idx_index **index, const char *path, bool is_shingle_given,
                        struct idx_text_shingle_options *shingling);

/* Adds texts to `resemble` as its known ones: those of `index`, or if that is NULL, those of the file or folder at
 * `path`, read by `rules`. Returns false after a complaint, or if a signal was noted. */
bool against_read(const struct idx_index *index, const char *path, const struct reading_rules *rules,
                  struct resemble *resemble);

#endif
