/* against.h: the texts that `idx dedup --against` names, which were kept before. New documents are compared with these
 * before they are compared with each other. */
#ifndef IDX_TOOLS_DEDUP_AGAINST_H
#define IDX_TOOLS_DEDUP_AGAINST_H

#include "tools/documents/reading.h"
#include "tools/resemblance/resemble.h"

/* Opens the index at `path`, if that is one of texts; otherwise *index stays NULL. Takes the shingles of the index, or
 * if --shingle gave others, complains. Refuses an index without sets. The path may be NULL. */
bool against_open(struct idx_index **index, const char *path, bool is_given,
                  struct idx_text_shingle_options *shingling);

/* Adds the texts of the index, or of the file or folder at `path`, to `resemble`, as known ones. Returns false also if
 * a signal was noted. */
bool against_read(const struct idx_index *index, const char *path, const struct reading_rules *rules,
                  struct resemble *resemble);

#endif
