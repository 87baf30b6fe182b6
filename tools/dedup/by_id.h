/* by_id.h: the features of documents of an index whose texts are among some inputs, where their IDs find them. */
#ifndef IDX_TOOLS_BY_ID_H
#define IDX_TOOLS_BY_ID_H

#include "tools/dedup/sets.h"
#include "tools/text/pipeline.h"

/* All zeros: no document is wanted. */
struct by_id {
    uint64_t *wanted; /* hashes of the IDs, some of them several times; ascending once the texts were read */
    size_t count, capacity;
};

/* What an ID is known by: also the number of its document in the sets. */
uint64_t by_id_hash(const void *id, size_t length);

/* Has the document of this ID read. False after a complaint. */
bool by_id_want(struct by_id *by_id, uint64_t hash);

/* Reads the inputs, and adds what the recipe makes of the documents that are wanted to the sets. False after a
 * complaint, or where a signal was noted. */
bool by_id_read(struct by_id *by_id, const struct pipeline_rules *rules, const char *recipe, const struct texts *inputs,
                struct sets *sets);

/* How many of the documents that are wanted have no text in the sets, which are mapped. */
uint64_t by_id_count_missing(const struct by_id *by_id, const struct sets *sets);

void by_id_free(struct by_id *by_id);

#endif
