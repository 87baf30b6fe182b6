/* lookups.h: answers GET /lookup/HEX, POST /lookup with lines of JSON or raw fingerprints, and GET /documents?id=ID. */
#ifndef IDX_TOOLS_SERVE_LOOKUPS_H
#define IDX_TOOLS_SERVE_LOOKUPS_H

#include "tools/serve/request.h"

/* Answers GET /lookup/HEX with the matches of that fingerprint, as JSON. */
void lookups_answer_one(struct request *request);

/* Does the same, unless the answer could take long. Then it writes nothing, and returns false: the caller has
 * lookups_answer_one do it in a job. */
bool lookups_answer_one_quickly(struct request *request);

/* Answers POST /lookup. Raw fingerprints have 8 bytes each, little-endian. The answer to n of them is n + 1 offsets and
 * as many fingerprints as the last offset says, of 8 bytes each as well, and then one byte for the distance of each
 * fingerprint. The matches of query i begin at offset i and end before offset i + 1. */
void lookups_answer_many(struct request *request);

/* Answers GET /documents?id=ID with the matches of each fingerprint that a document with this ID has. */
void lookups_answer_id(struct request *request);

#endif
