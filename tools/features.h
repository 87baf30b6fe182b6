/* features.h: fingerprints of features that were made elsewhere. */
#ifndef IDX_TOOLS_FEATURES_H
#define IDX_TOOLS_FEATURES_H

#include "tools/extract.h"

/* Makes the fingerprint of a document's lines, ID<TAB>feature[<TAB>weight], all of one ID. A weight is a decimal number
 * is what idx_weight_parse reads, 1 where there is none. */
bool features_fingerprint(struct span lines, unsigned bits, struct span *id, uint64_t *fingerprint, uint64_t *count,
                          struct bad *bad);

#endif
