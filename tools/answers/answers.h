/* answers.h: answers the queries that are at hand by several threads, and prints the answers in the queries' order. */
#ifndef IDX_TOOLS_ANSWERS_H
#define IDX_TOOLS_ANSWERS_H

#include "tools/answers/answer.h"

struct answers;

/* A batch that is answered by `threads` threads, this one included. The caller frees it. NULL when memory runs out. */
struct answers *answers_new(const struct question *question, unsigned threads);

/* Copies a query into the batch. False when memory runs out. */
bool answers_add(struct answers *answers, const struct query *query);

bool answers_is_full(const struct answers *answers);

/* Answers the answers, writes to `output`, and empties it. False when the library failed, after the answers to the
 * queries before: *error. */
bool answers_answer(struct answers *answers, struct output *output, struct idx_error *error);

/* Whether any query had a match so far. */
bool answers_found(const struct answers *answers);

/* Lets go of the question's index, so that it may be closed, and the question may get another. */
void answers_forget(struct answers *answers);

void answers_free(struct answers *answers);

#endif
