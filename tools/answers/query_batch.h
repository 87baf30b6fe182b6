/* query_batch.h: queries that several threads answer together; prints the answers in the queries' order. */
#ifndef IDX_TOOLS_QUERY_BATCH_H
#define IDX_TOOLS_QUERY_BATCH_H

#include "tools/answers/answerer.h"

struct query_batch;

/* A batch that is answered by `threads` threads, this one included. The caller frees it. NULL when memory runs out. */
struct query_batch *query_batch_new(const struct question *question, unsigned threads);

/* Copies a query into the batch. False when memory runs out. */
bool query_batch_add(struct query_batch *batch, const struct query *query);

bool query_batch_is_full(const struct query_batch *batch);

/* Answers the queries, writes to `output`, and empties it. False when the library failed, after the answers to the
 * queries before: *error. */
bool query_batch_answer(struct query_batch *batch, struct output *output, struct idx_error *error);

/* Whether any query had a match so far. */
bool query_batch_found(const struct query_batch *batch);

/* Lets go of the question's index, so that it may be closed, and the question may get another. */
void query_batch_forget(struct query_batch *batch);

void query_batch_free(struct query_batch *batch);

#endif
