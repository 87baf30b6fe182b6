/* batch.h: answers the queries that are at hand by several threads, and prints the answers in the queries' order. */
#ifndef IDX_TOOLS_BATCH_H
#define IDX_TOOLS_BATCH_H

#include "tools/answer.h"

struct batch;

/* A batch that is answered by `threads` threads, this one included. The caller frees it. NULL when memory runs out. */
struct batch *batch_new(const struct question *question, unsigned threads);

/* Copies a query into the batch. False when memory runs out. */
bool batch_add(struct batch *batch, const struct query *query);

bool batch_is_full(const struct batch *batch);

/* Answers the batch, writes to `output`, and empties it. False when the library failed, after the answers to the
 * queries before: *error. */
bool batch_answer(struct batch *batch, struct output *output, struct idx_error *error);

/* Whether any query had a match so far. */
bool batch_found(const struct batch *batch);

void batch_free(struct batch *batch);

#endif
