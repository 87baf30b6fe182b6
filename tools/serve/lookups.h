/* lookups.h: answers GET /lookup/HEX, POST /lookup with lines of JSON or raw fingerprints, and GET /documents?id=ID. */
#ifndef IDX_TOOLS_SERVE_LOOKUPS_H
#define IDX_TOOLS_SERVE_LOOKUPS_H

#include "tools/serve/request.h"

/* Answers GET /lookup/HEX. */
void lookups_answer_one(struct request *request);

/* Does the same, unless the answer could take long: then it is left to lookups_answer_one, and false is returned. */
bool lookups_answer_one_quickly(struct request *request);

/* Answers POST /lookup. Raw fingerprints have 8 bytes each, little-endian. The answer to n of them is n + 1 offsets and
 * as many fingerprints as the last offset says, of 8 bytes each as well, and then one byte for the distance of each
 * fingerprint. The matches of query i begin at offset i and end before offset i + 1. */
void lookups_answer_many(struct request *request);

/* Answers GET /documents?id=ID. */
void lookups_answer_id(struct request *request);

#endif
