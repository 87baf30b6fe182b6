/* columns.h: fingerprints as they are in memory, and their matches in columns. */
#ifndef IDX_TOOLS_SERVE_COLUMNS_H
#define IDX_TOOLS_SERVE_COLUMNS_H

#include "tools/serve/answers.h"

/* The body is n fingerprints, of 8 bytes each, little-endian. The answer is n + 1 offsets and as many fingerprints as
 * the last offset says, all alike, and then a byte for the distance of each. Matches of query i are those from
 * offset i on, before offset i + 1. */
void columns_answer(struct answers *answers);

#endif
