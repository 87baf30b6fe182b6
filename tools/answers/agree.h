/* agree.h: `idx lookup --agree`: of recipes that make several fingerprints of a document, which documents are near to
 * how many of them. Answerers keep records of what they find; these are counted in the order of the queries. */
#ifndef IDX_TOOLS_AGREE_H
#define IDX_TOOLS_AGREE_H

#include "tools/shared/output.h"

#include <idx.h>

struct query;
struct question;

/* Appends the record of a query, or of a document near to the query before it, to an output that keeps them. */
void agree_put_query(const struct question *question, const struct query *query, struct output *records);
void agree_put_document(const struct idx_document *document, struct output *records);

/* Consecutive queries of one ID are a run, and one without an ID is a run of its own. Made with AGREE_INIT; one
 * thread's. */
struct agree {
    const struct question *question;
    struct output records; /* to be taken */
    bool found;            /* whether a document was printed so far */

    /* The run that is counted; used by agree.c alone. */
    struct output query, ids, entries;
    bool has_id;
    uint64_t ordinal; /* of its last query, from 1; 0: no run yet */
};

#define AGREE_INIT(question)                                                                                           \
    { question, OUTPUT_KEPT, false, OUTPUT_KEPT, OUTPUT_KEPT, OUTPUT_KEPT, false, 0 }

/* Takes the records, and writes of each run that they end the documents that enough of its queries are near to. Where
 * memory runs out, that is an error of `output`. */
void agree_take(struct agree *agree, struct output *output);

/* The same of the last run, once there are no more records. */
void agree_end(struct agree *agree, struct output *output);

void agree_free(struct agree *agree);

#endif
