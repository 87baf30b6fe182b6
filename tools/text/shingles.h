/* shingles.h: the word 5-shingles of a text, by which texts are compared; words.h says what words are. */
#ifndef IDX_TOOLS_SHINGLES_H
#define IDX_TOOLS_SHINGLES_H

#include "tools/shared/output.h"
#include "tools/text/charset.h"

/* Appends the distinct shingles of a text in UTF-8 to an output that keeps them: hashes, as ascending uint64_t. A text
 * of fewer words is one shingle, one of none has none. False: out of memory. */
bool shingles_list(struct span text, struct output *list);

#endif
