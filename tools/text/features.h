/* features.h: fingerprints of features that were made elsewhere. */
#ifndef IDX_TOOLS_FEATURES_H
#define IDX_TOOLS_FEATURES_H

#include "tools/text/extract.h"

/* Makes the fingerprint of a document's lines, ID<TAB>feature[<TAB>weight], all of one ID, or with rules->tokens
 * ID<TAB>feature:weight feature:weight... A weight is what idx_weight_parse reads, 1 where there is none. The rules say
 * how features are hashed, and what ties are. */
bool features_fingerprint(struct span lines, const struct extract_rules *rules, unsigned bits, struct span *id,
                          uint64_t *fingerprint, uint64_t *count, struct bad *bad);

#endif
