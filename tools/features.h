/* features.h: fingerprints of features that were made elsewhere. */
#ifndef IDX_TOOLS_FEATURES_H
#define IDX_TOOLS_FEATURES_H

#include "tools/extract.h"

/* Makes the fingerprint of a document's lines, ID<TAB>feature[<TAB>weight], all of one ID. A weight is a decimal number
 * (1 where there is none), perhaps negative, with up to 4 digits behind the point; it is taken in fixed point, rounded
 * to the nearest 1/65536, halves away from 0. The weights of a document may sum up to 2^46, signs apart. */
bool features_fingerprint(struct span lines, unsigned bits, struct span *id, uint64_t *fingerprint, uint64_t *count,
                          struct bad *bad);

#endif
