/* lookups.h: answers GET /lookup/HEX, POST /lookup with lines of JSON or raw fingerprints, and GET /documents?id=ID. */
#ifndef IDX_TOOLS_SERVE_LOOKUPS_H
#define IDX_TOOLS_SERVE_LOOKUPS_H

#include "tools/serve/request.h"

/* Answers GET /lookup/HEX with the matches of that fingerprint, as JSON, or fails the request. */
void lookups_answer_one(struct request *request);

/* Answers GET /lookup/HEX if that takes almost no time, and returns true. If there are too many matches or documents
 * for that, writes nothing, and returns false: the caller has lookups_answer_one answer in a job. */
bool lookups_answer_one_quickly(struct request *request);

/* Answers POST /lookup: lines of JSON with lines of JSON, or raw fingerprints, of 8 bytes each, little-endian, with
 * columns. The columns for n queries are n + 1 offsets of 8 bytes, as many fingerprints of 8 bytes as the last offset
 * says, and as many distances of one byte. The matches of query i begin at offset i and end before offset i + 1. */
void lookups_answer_many(struct request *request);

/* Answers GET /documents?id=ID with the matches of each fingerprint that a document with this ID has. Fails the request
 * with status 409 if the index has no map from IDs, 404 if no document has the ID, or 400 if it is no ID of the index's
 * type. */
void lookups_answer_id(struct request *request);

#endif
