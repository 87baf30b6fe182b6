/* lookups.h: what is near to fingerprints, or to the documents of an ID. */
#ifndef IDX_TOOLS_SERVE_LOOKUPS_H
#define IDX_TOOLS_SERVE_LOOKUPS_H

#include "tools/serve/request.h"

/* GET /lookup/HEX. */
void lookups_answer_one(struct request *request);
bool lookups_answer_one_quickly(struct request *request);

/* POST /lookup: lines of JSON, or fingerprints as they are in memory. */
void lookups_answer_many(struct request *request);

/* GET /documents?id=ID. */
void lookups_answer_id(struct request *request);

#endif
